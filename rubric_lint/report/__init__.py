"""Every output format, for people and for programs.

`REPORTERS` has the formats of findings by their names; the other commands have a module each, `html` the page.
"""

from collections.abc import Callable, Mapping
from importlib import import_module

from rubric_lint.lint.run.summary import Reporter
from rubric_lint.report.terminal import Style, Write
from rubric_lint.report.text import Concise, Full, Statistics

MakeReporter = Callable[[Write, Style], Reporter]


def _late(module: str, name: str) -> MakeReporter:
    """Return a reporter factory that imports its module on first use."""

    def make(write: Write, look: Style) -> Reporter:
        reporter: Reporter = getattr(import_module(f"rubric_lint.report.{module}"), name)(write, look)
        return reporter

    return make


REPORTERS: Mapping[str, MakeReporter] = {
    "full": Full,
    "concise": Concise,
    "json": _late("machine", "Json"),
    "sarif": _late("machine", "Sarif"),
    "github": _late("machine", "GitHub"),
    "gitlab": _late("machine", "GitLab"),
    "junit": _late("machine", "JUnit"),
    "agent": _late("machine", "AgentLines"),
    "vscode": _late("machine", "VSCode"),
}
"""The formats, by their `--format` names."""

WITH_EDITS = frozenset({"json", "sarif", "agent"})
"""The formats that show the edits of fixes; a run in another one does not make them."""

__all__ = ["REPORTERS", "WITH_EDITS", "Statistics", "Style", "Write"]
