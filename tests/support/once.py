"""What costs seconds to make is made by one of the parallel test workers and used by all of them."""

import fcntl
from collections.abc import Callable
from pathlib import Path


def make_once(folder: Path, key: str, make: Callable[[Path], None]) -> Path:
    """`folder` as `make` filled it; filled again only when `key` is another one than at the last time."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / "made-from"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != key:
            make(folder)
            stamp.write_text(key, encoding="utf-8")
    return folder
