"""Score where tables live: columns in memory, Arrow, SQL, and clusters."""
