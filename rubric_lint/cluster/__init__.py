"""Score Parquet files in parts on a cluster, such that a run can stop at any point and resume."""
