"""Rubrics of other systems: which dialects there are, and what a document holds of them."""

import re
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rubric_lint.document import Document
    from rubric_lint.finding import Path
    from rubric_lint.interop.view import Dialect, View


class _Family(NamedTuple):
    """The dialects of one module, and what each text that holds one of them has in it."""

    module: str
    dialects: tuple[str, ...]
    sign: re.Pattern[str]


# A sign is only a reason to load the module; whether a rubric is there its shape tells. What an earlier family takes, a
# later one leaves alone.
_FAMILIES = (
    _Family("lightspeed", ("lightspeed",), re.compile(r"\bgeval:")),
    _Family("confident_ai", ("confident-ai",), re.compile(r"\bscoreRange\b")),
    _Family("ragas", ("ragas",), re.compile(r"\b(?:orig_)?score-?[0-9]+(?:_description)?[\"']?\s*:")),
    _Family("healthbench", ("healthbench",), re.compile(r"\bcriterion[\"']?\s*:")),
    _Family("autoevals", ("autoevals",), re.compile(r"\bchoice_scores\b")),
    _Family(
        "agentv",
        ("agentv-a3", "agentv-a4", "agentv-a6", "agentv-a7"),
        re.compile(
            r"(?<!expected_)\b(?:outcome|min_score)[\"']?\s*:|\btype[\"']?\s*:\s*[\"']?(?:rubrics|llm-rubric)\b"
        ),
    ),
    _Family("promptfoo", ("promptfoo",), re.compile(r"\bllm-rubric\b")),
)

DIALECTS: tuple[str, ...] = tuple(name for family in _FAMILIES for name in family.dialects)
"""The names of all dialects."""


def load_dialect(name: str) -> "Dialect":
    """The dialect of that name."""
    module = next(family.module for family in _FAMILIES if name in family.dialects)
    dialects: tuple[Dialect, ...] = import_module(f"rubric_lint.interop.{module}").DIALECTS
    return next(dialect for dialect in dialects if dialect.name == name)


def find_views(document: "Document") -> list["View"]:
    """The rubrics of a document that are written in a dialect, in the order of the dialects."""
    found: dict[Path, View] = {}
    for family in _FAMILIES:
        if family.sign.search(document.source.text):
            for view in import_module(f"rubric_lint.interop.{family.module}").find(document):
                found.setdefault(view.path, view)
    return list(found.values())
