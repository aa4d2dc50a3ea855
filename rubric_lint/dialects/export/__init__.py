"""Export our rubrics to other systems; each target is a module that is loaded when needed."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rubric_lint.dialects.export.target import ExportTarget
    from rubric_lint.format.criterion import Shape

_TARGETS: Mapping[str, tuple[str, str]] = {
    "rubric": ("v2", "TARGET"),
    "markdown": ("markdown", "TARGET"),
    "csv": ("csv_table", "TARGET"),
    "xlsx": ("excel", "TARGET"),
    "deepeval": ("deepeval", "TARGET"),
    "deepeval-json": ("deepeval_json", "TARGET"),
    "ragas": ("ragas", "TARGET"),
    "agentv-4": ("agentv", "AGENTV_4"),
    "agentv-5": ("agentv", "AGENTV_5"),
    "promptfoo": ("promptfoo", "TARGET"),
    "lightspeed": ("lightspeed", "TARGET"),
    "verifiers": ("verifiers", "TARGET"),
    "adk": ("adk", "TARGET"),
    "harbor": ("harbor", "TARGET"),
    "pydantic-evals": ("pydantic_evals", "TARGET"),
    "requirement": ("requirement", "TARGET"),
    "trpc-agent": ("trpc_agent", "TARGET"),
    "tolokaforge": ("tolokaforge", "TARGET"),
    "autoevals": ("autoevals", "TARGET"),
    "agent-skills": ("agent_skills", "TARGET"),
}

TARGETS = tuple(_TARGETS)
"""The names of the targets."""


def load_target(name: str) -> "ExportTarget":
    """Return the target of this name."""
    module, variable = _TARGETS[name]
    target: ExportTarget = getattr(import_module(f"{__name__}.{module}"), variable)
    return target


def find_targets(shape: "Shape") -> tuple[str, ...]:
    """Return the names of the targets that have a shape."""
    return tuple(name for name in TARGETS if shape in load_target(name).shapes)
