"""Write changed data back into the document it was read from: `track` it, change it as plain Python, `write` it.

What was kept, moved or renamed is known by identity, so every other byte, comment and quote stays as it is.
"""

from rubric_lint.patch.tracked import Style, drop, former_path, like, plain, put, rename, rewrite, track, written
from rubric_lint.patch.write import Refused, edits_between, write, write_all

__all__ = [
    "Refused",
    "Style",
    "drop",
    "edits_between",
    "former_path",
    "like",
    "plain",
    "put",
    "rename",
    "rewrite",
    "track",
    "write",
    "write_all",
    "written",
]
