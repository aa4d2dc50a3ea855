"""How findings are written: for people and for programs."""

from collections.abc import Callable, Mapping

from rubric_lint.report.base import Look, Reporter, Write
from rubric_lint.report.json_report import Json
from rubric_lint.report.summary import Summary, counted
from rubric_lint.report.text import Concise, Full, Statistics

REPORTERS: Mapping[str, Callable[[Write, Look], Reporter]] = {"full": Full, "concise": Concise, "json": Json}
"""The formats by the name that `--format` knows them by."""

__all__ = ["REPORTERS", "Look", "Reporter", "Statistics", "Summary", "Write", "counted"]
