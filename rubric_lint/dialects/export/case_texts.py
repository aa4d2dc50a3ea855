"""Read the question and the reference of a case as plain texts, for targets that fill in no variables."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from rubric_lint.dialects.export.case_words import AGENTV_4, AGENTV_5
from rubric_lint.dialects.export.suite import Part, Suite, SuiteCase
from rubric_lint.dialects.export.template_texts import LostTextError, as_value
from rubric_lint.text.nunjucks import is_template

FIELDS = ("input", "expected_output")
"""The texts of a case, by AgentV's names."""

_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


class CaseText(NamedTuple):
    """A text of a case, the place that says it, and the fields of the case that it holds."""

    text: str
    part: Part
    uses: frozenset[str]


def read_texts(suite: Suite, case: SuiteCase) -> dict[str, CaseText]:
    """Return the texts of a case by field, with variables filled in; those that are something else are left out."""
    fields = {name: part._replace(number=case.key[0]) for name, part in case.fields.items()}
    known = {name.removeprefix("vars."): part.value for name, part in fields.items() if name.startswith("vars.")}
    found: dict[str, CaseText] = {}
    if suite.is_template:
        prompt, part = suite.prompt(), suite.fields.get("prompts")
        own = next((name for name in ("vars.input", "input") if name in fields), "")
        texts = {"input": (prompt, part, frozenset[str]())} if part else {}
        if not part and own:
            texts = {"input": (fields[own].value, fields[own], frozenset({own}))}
        if suite.system == AGENTV_5 and (reference := fields.get("vars.expected_output")):
            texts["expected_output"] = (reference.value, reference, frozenset({"vars.expected_output"}))
    else:
        texts = {name: (part.value, part, frozenset({name})) for name in FIELDS if (part := fields.get(name))}
    for name, (text, part, uses) in texts.items():
        try:
            filled, names = _fill_in(text, known, suite)
        except LostTextError:
            continue
        if filled.strip():
            found[name] = CaseText(filled, part, uses | {f"vars.{each}" for each in names})
    return found


def _fill_in(text: object, known: Mapping[str, object], suite: Suite) -> tuple[str, set[str]]:
    """Return a text with its variables filled in, and their names.

    Raises:
        LostTextError: if it is not a text, or has more than names to fill in.
    """
    if not isinstance(text, str) or text.startswith("file://"):
        raise LostTextError("not a text")
    pieces, names = _NAME.split(text), set()
    for at, piece in enumerate(pieces):
        if at % 2 == 0:
            pieces[at] = as_value(piece, from_template=suite.is_template, to_template=False)
            continue
        value = known.get(piece)
        if isinstance(value, str) and not is_template(value) and not value.startswith("file://"):
            pieces[at] = as_value(value, from_template=suite.is_template, to_template=False)
            names.add(piece)
        elif suite.system == AGENTV_4 and piece not in known:
            pieces[at] = f"{{{{ {piece} }}}}"  # AgentV 4 leaves it as it is
        else:
            raise LostTextError("a variable without a text")
    return "".join(pieces), names
