"""Write changed data back into the document it was read from: `track` it, change it as plain Python, `write` it.

What was kept, moved or renamed is known by identity, so every other byte, comment and quote stays as it is.
"""

from rubric_lint.source.patch.layout import Layouts
from rubric_lint.source.patch.plan import find_within
from rubric_lint.source.patch.tracked import (
    drop,
    duplicate,
    former_path,
    in_brackets,
    like,
    plain,
    put,
    rename,
    track,
    written,
)
from rubric_lint.source.patch.write import RefusedChange, edits_between, explain_text, write

__all__ = [
    "Layouts",
    "RefusedChange",
    "drop",
    "duplicate",
    "edits_between",
    "explain_text",
    "find_within",
    "former_path",
    "in_brackets",
    "like",
    "plain",
    "put",
    "rename",
    "track",
    "write",
    "written",
]
