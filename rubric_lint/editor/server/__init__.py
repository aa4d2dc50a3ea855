"""Hold the open documents and their findings, and talk to the editor."""
