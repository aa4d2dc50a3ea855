"""Score Parquet files in parts on a cluster, such that a run can stop at any point and resume."""

NEEDS_RAY = "--engine ray needs Ray; install it with the extra `ray`: rubric-lint[ray]"
"""What `--engine ray` says without Ray, or without what it needs."""
