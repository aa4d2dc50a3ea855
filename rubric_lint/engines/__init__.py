"""Score where tables live: columns in memory, Arrow, and clusters."""

NEEDS_RAY = "--engine ray needs Ray; install it with the extra `ray`: rubric-lint[ray]"
"""What `--engine ray` says without Ray, or without what it needs."""
