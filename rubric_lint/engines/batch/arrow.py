"""Import pyarrow, or say how to install it."""

try:
    import pyarrow as pa
except ImportError as fault:
    raise ImportError("Arrow needs pyarrow; install it with the extra `arrow`: rubric-lint[arrow]") from fault

__all__ = ["pa"]
