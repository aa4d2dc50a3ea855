"""Lock a file for other runs."""


def lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; return False if another process has locked it."""
    try:
        import fcntl  # noqa: PLC0415  (missing on Windows, where files are not locked)
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
