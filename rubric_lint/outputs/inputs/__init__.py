"""Read outputs from files of every kind."""
