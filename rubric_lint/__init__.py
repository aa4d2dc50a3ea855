"""Checks, fixes and scores the YAML rubrics that language models are judged by.

`load_rubrics(name, data)` reads the rubrics of a file, and `score(rubric, output)` scores what a judge returned.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rubric_lint.scoring import OutputError, RubricError, load_rubrics, score

__all__ = ["OutputError", "RubricError", "load_rubrics", "score"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Whoever only lints does not pay for the scorer.
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415

        return getattr(import_module("rubric_lint.scoring"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
