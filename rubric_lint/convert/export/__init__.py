"""Export rubrics to other systems, and to our own format.

`load_target` returns the writer of a target and loads its module. A writer gets an `ExportContext`, returns the content
of a file, and reports what the target cannot express. `suite.convert_suite` converts what a file says next to its
rubrics; `entries.make_sound` refuses a rubric whose meaning would change.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rubric_lint.convert.export.target import ExportTarget

_TARGETS: Mapping[str, tuple[str, str]] = {
    "rubric": ("suites", "RUBRIC"),
    "markdown": ("tables", "MARKDOWN"),
    "csv": ("tables", "CSV"),
    "xlsx": ("tables", "EXCEL"),
    "deepeval": ("metrics", "DEEPEVAL"),
    "ragas": ("criteria", "RAGAS"),
    "agentv-4": ("suites", "AGENTV_4"),
    "agentv-5": ("suites", "AGENTV_5"),
    "promptfoo": ("suites", "PROMPTFOO"),
    "agent-skills": ("criteria", "AGENT_SKILLS"),
    "inspect": ("inspect", "INSPECT"),
    "json": ("neutral", "JSON"),
}
"""The module and the variable of each target."""

TARGETS = tuple(_TARGETS)
"""The names of the targets."""


TARGET_BY_ENDING = {".yaml": "rubric", ".yml": "rubric", ".csv": "csv", ".md": "markdown", ".xlsx": "xlsx"}
"""The target of a file whose ending leaves only one."""

ENDINGS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(TARGETS, (".yaml", ".yml")),
    **dict.fromkeys(("ragas", "agent-skills", "json"), (".json",)),
    **dict.fromkeys(("deepeval", "inspect"), (".py",)),
    "markdown": (".md", ".markdown"),
    "csv": (".csv",),
    "xlsx": (".xlsx",),
}
"""The endings of the files that are written for each target."""


def load_target(name: str) -> "ExportTarget":
    """Return the target of this name."""
    module, variable = _TARGETS[name]
    target: ExportTarget = getattr(import_module(f"{__name__}.{module}"), variable)
    return target
