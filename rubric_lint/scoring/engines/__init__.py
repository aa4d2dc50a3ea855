"""Score where tables live: columns in memory, Arrow, and clusters."""
