"""Carry what a suite says beside its rubrics to another system, and list what that has no place for."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rubric_lint.dialects.export.suite import (
    AGENTV_4,
    AGENTV_5,
    ASSERTION_LISTS,
    FIELD_NAMES,
    LISTS_OF_VALUES,
    OTHER_CHECKS,
    OURS,
    PROMPTFOO,
    SAME_CHECKS,
    USUAL_THRESHOLD,
    LostTextError,
    Suite,
    SuiteCase,
    as_text,
    as_value,
    case_fields,
    check_value,
    is_chat,
    suite_fields,
)
from rubric_lint.dialects.export.target import Carried, CarriedCase, ExportTarget, Part, SuiteLoss, is_plain
from rubric_lint.dialects.search.agentv_suites import find_unread, load_tables
from rubric_lint.dialects.tables.markdown_file import unescape as unescape_markdown
from rubric_lint.messages import escape as escape_markdown
from rubric_lint.text.nunjucks import is_template


def split_gate(assertion: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assertion in which `required` is true or false, as AgentV 5 reads it, and the gate is `min_score`."""
    share = assertion.get("required")
    if not isinstance(share, int | float) or isinstance(share, bool):
        return {**assertion}
    return {"min_score": share, **assertion, "required": True}


def _find_difference(value: dict[str, Any], kind: str, source: str, target: str, title: str) -> str:
    """Return why the target has no assertion that means the same; empty if it has one."""
    is_agentv = PROMPTFOO not in {source, target}
    if kind in OTHER_CHECKS and not is_agentv:
        return OTHER_CHECKS[kind]
    if kind not in SAME_CHECKS and kind not in OTHER_CHECKS:
        return f"{title} has none that is known to mean the same"
    needs = SAME_CHECKS.get(kind, "value")
    needs = FIELD_NAMES[source].get(needs, needs)
    content = value.get(needs) if needs else None
    if needs in {"threshold", "budget"}:
        is_right = isinstance(content, int | float) and not isinstance(content, bool) and content >= 0
    elif kind in LISTS_OF_VALUES:
        is_right = isinstance(content, list) and bool(content) and all(isinstance(e, str) and e for e in content)
    elif needs:
        is_right = isinstance(content, str) and bool(content)
    else:
        is_right = "value" not in value and "schema" not in value
    if not is_right:
        return f"its `{needs or 'value'}` means something else in {title}, or nothing"
    texts = content if isinstance(content, list) else [content]
    if any(isinstance(text, str) and text.startswith("file://") for text in texts):
        return "promptfoo reads the file that it names, and AgentV does not"
    if kind == "regex" and "flags" in value and not is_agentv:
        return "promptfoo has no flags for it"
    return ""


def _known(kind: str, source: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield the fields that both have, by their names in the source, with those in the target."""
    ours, theirs = FIELD_NAMES[source], FIELD_NAMES[target]
    if needs := SAME_CHECKS.get(kind, "value"):
        yield ours.get(needs, needs), theirs.get(needs, needs)
    yield ours["label"], theirs["label"]
    yield "weight", "weight"
    if PROMPTFOO not in {source, target}:
        yield from (("required", "required"), ("min_score", "min_score"), ("flags", "flags"))


FIELDS = ("input", "expected_output")
"""The texts of a case, by AgentV's names."""


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
    pieces, names = _SIMPLE.split(text), set()
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


class _LostError(Exception):
    """Says why a part is lost; without a message, the target has no field for it."""


def carry(suite: Suite, target: ExportTarget) -> Carried:
    """Return a suite in the words of a target and what is lost; a target without cases gets the texts that it shows."""
    carrier = _Carrier(suite, target)
    read_case = carrier.carry_case if target.has_cases else carrier.show_case
    cases = {case.key: read_case(case) for case in suite.cases}
    fields: dict[str, Any] = {}
    for part in suite.others:
        carrier.lose(part)
    if target.has_cases:
        fields = carrier.carry_suite()
        for part in suite.shared:
            message = f"that the criteria in `{part.path[0]}` count in every test"
            carrier.lose(part, f"{message}: {target.title} gets them as a test of their own")
    else:
        for name, part in suite.fields.items():
            if not (name == "prompts" and carrier.shows_texts):  # reported case by case
                carrier.lose(part)
    return Carried(fields, cases, tuple(carrier.losses))


def _put(written: dict[str, Any], fields: dict[str, Any]) -> None:
    """Put fields into a case or suite; those below `execution` and `vars` go beside others there."""
    for name, value in fields.items():
        are_both = name in {"execution", "vars"} and isinstance(value, dict) and isinstance(written.get(name), dict)
        written[name] = {**written[name], **value} if are_both else value


_PROMPT = "{{ input }}"
_FILE = "file://"
_NOT = "not-"
_SIMPLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


class _Carrier:
    """Carries a suite to one target."""

    def __init__(self, suite: Suite, target: ExportTarget) -> None:
        self.suite = suite
        self.source = suite.system
        self.target = target.name
        self.title = target.title
        self.shows = target.shows
        self.shows_texts = "expected_output" in target.shows
        self.losses: list[SuiteLoss] = []
        self.has_sets = target.has_cases and self.target == self.source
        self.is_template = self.target in {AGENTV_5, PROMPTFOO}
        self.as_written = self.target in {OURS, self.source}

    def lose(self, part: Part, message: str = "") -> None:
        """Report a field or an assertion as lost."""
        name = next((step for step in reversed(part.path) if isinstance(step, str)), "")
        if not part.path:
            message = f"a document without rubrics and cases: {self.title} has no place for it"
        elif not message:
            told = f"`{name}`" if isinstance(part.path[-1], str) else f"an item of `{name}`" if name else "an item"
            message = f"{told}: {self.title} has no field for it"
        self.losses.append((part.number, part.path, message))

    def show_case(self, case: SuiteCase) -> CarriedCase:
        """Return the texts of a case that a target without cases shows."""
        texts = read_texts(self.suite, case) if self.shows_texts and case.names_rubrics else {}
        shown = {"id"} & self.shows if case.names_rubrics and self.source != PROMPTFOO else set[str]()
        shown |= {"input"} if self.shows == {"input"} and case.names_rubrics else set()
        for name, text in texts.items():
            shown |= text.uses
            if self.target == "markdown" and unescape_markdown(escape_markdown(text.text)) != text.text:
                message = f"white space and invisible characters of `{name}`, which Markdown cannot show"
                self.lose(text.part, message)
        prompts = self.suite.fields.get("prompts")
        if prompts and self.shows_texts and case.names_rubrics and "input" not in texts:
            self.lose(prompts, f"the prompt of `{case.name}`, which is not one plain text")
        for name, part in case.fields.items():
            if name not in shown:
                is_text = self.shows_texts and case.names_rubrics and part.path[-1] in FIELDS
                self.lose(part, f"`{part.path[-1]}`: it is not one plain text" if is_text else "")
        for part in (*case.others, *case.checks):
            self.lose(part)
        self._lose_sets(case)
        return CarriedCase(case.name, {name: text.text for name, text in texts.items()})

    def _lose_sets(self, case: SuiteCase) -> None:
        """Report what changes in the score without the sets of assertions."""
        for part in case.sets:
            self.lose(
                part, f"the set of assertions: {self.title} counts each of them by itself, so the score may change"
            )
            for inner in part.items():
                name, value = inner.path[-1], inner.value
                if name not in {"type", *ASSERTION_LISTS}:
                    shown = f" {value}" if isinstance(value, str | int | float) else ""
                    self.lose(inner, f"the {name}{shown} of the set of assertions: {self.title} has no sets")

    def carry_suite(self) -> dict[str, Any]:
        """Return the fields of the suite that the target has."""
        written: dict[str, Any] = {}
        for name, part in self.suite.fields.items():
            try:
                _put(written, self._carry_suite_field(name, part))
            except _LostError as lost:
                self.lose(part, str(lost))
        return {"prompts": [_PROMPT], **written} if self.is_template and not self.suite.is_template else written

    def _carry_suite_field(self, name: str, part: Part) -> dict[str, Any]:
        if not is_plain(part.value):
            raise _LostError
        if name == "threshold":
            return self._threshold(part.value, is_suite=True)
        if name == "prompts":
            return self._carry_prompts(part.value)
        if name.startswith("execution.") and self.as_written:
            return {"execution": {name.partition(".")[2]: part.value}}
        if self.target == OURS or name in suite_fields(self.source, self.target):
            return self._copy(name, part.value)
        raise _LostError

    def carry_case(self, case: SuiteCase) -> CarriedCase:
        """Return the fields and assertions of a case that the target has."""
        for part in case.others:
            self.lose(part)
        if not self.has_sets:
            self._lose_sets(case)
        written: dict[str, Any] = {}
        for name, part in case.fields.items():
            try:
                _put(written, self._carry_field(case, name, part))
            except _LostError as lost:
                self.lose(part, str(lost))
        self._carry_input(case, written)
        written |= self._carry_average(case)
        checks = tuple(self._carry_checks(case))
        return CarriedCase(case.name, written, checks, case.sets if self.has_sets else ())

    def _carry_field(self, case: SuiteCase, name: str, part: Part) -> dict[str, Any]:
        holder, _, inner = name.partition(".")
        if not is_plain(part.value):
            raise _LostError
        if name == "id":
            return {"id": part.value}
        if name == "threshold":
            return self._threshold(part.value, is_suite=False)
        if self.as_written:
            is_inner = inner and holder in {"vars", "execution"}
            return {holder: {inner: part.value}} if is_inner else {name: part.value}
        if name in FIELDS or (inner and holder == "vars"):
            return self._carry_text(case, name, part)
        if name in case_fields(self.source, self.target):
            return self._copy(name, part.value)
        if name == "criteria":
            told = "which the judge of AgentV sees"
            raise _LostError(f"`criteria`, {told}: {self.title} has no field for it beside its assertions")
        raise _LostError

    def _copy(self, name: str, value: Any) -> dict[str, Any]:
        if name == "name" and self.target in {AGENTV_4, AGENTV_5}:
            of_names = {"properties": {name: load_tables()[0]["suite"]["properties"][name]}}
            for _, reason, *_ in find_unread({name: value}, of_names, self.title):
                raise _LostError(f"`{name}`: {reason}")
        try:
            return {name: self._as_value(value)}
        except LostTextError as lost:
            if self.target == OURS:
                return {name: value}
            raise _LostError(f"`{name}`: {lost}: {self.title} uses it as plain text") from None

    def _threshold(self, value: Any, *, is_suite: bool) -> dict[str, Any]:
        is_of_4 = self.target == AGENTV_4 or (self.target == OURS and self.source == AGENTV_4)
        if is_of_4 or (self.target == AGENTV_5 and not is_suite):  # no AgentV reads a `threshold` of a test itself
            return {"execution": {"threshold": value}}
        return {"defaultTest": {"threshold": value}} if is_suite and self.target == PROMPTFOO else {"threshold": value}

    def _carry_prompts(self, value: Any) -> dict[str, Any]:
        """Carry the prompts: AgentV 4 has them in the input of each case."""
        texts = value if isinstance(value, list) else [value]
        if not self.as_written and not all(isinstance(text, str) and not text.startswith(_FILE) for text in texts):
            raise _LostError(f"`prompts` with files or mappings: {self.title} reads only texts")
        if self.as_written or self.is_template:
            return {"prompts": value}
        if self._asks() is None:
            raise _LostError(f"`prompts`: {self.title} has one input for each case, without filters and tags")
        return {}

    def _asks(self) -> str | None:
        """Return the one prompt if AgentV 4 can fill it in: it replaces names and knows nothing else."""
        prompt = self.suite.prompt()
        if not isinstance(prompt, str) or prompt.startswith(_FILE):
            return None
        return None if re.search(r"\{[{%#]", _SIMPLE.sub("", prompt)) else prompt

    def _carry_text(self, case: SuiteCase, name: str, part: Part) -> dict[str, Any]:
        """Carry an input, a reference or a variable as the target fills it in."""
        known = {each.partition(".")[2] for each in case.fields if each.startswith("vars.")}
        try:
            check_value(part.value, self.source, self.target)
            value = as_text(part.value, self.source, self.target, known)
        except LostTextError as lost:
            raise _LostError(f"`{part.path[-1]}`: it is {lost}, and {self.title} does not") from None
        own = name.removeprefix("vars.")
        if self.is_template and own == "expected_output" and not self.suite.is_template:
            told = f"`{part.path[-1]}` is kept as a variable, which the judge of {self.title} sees only if a text "
            self.lose(part, f"{told}names it")
        is_field = own == name or (own == "expected_output" and self.source == AGENTV_5)
        return {own: value} if is_field and not self.is_template else {"vars": {own: value}}

    def _carry_input(self, case: SuiteCase, written: dict[str, Any]) -> None:
        """Write the prompt of a suite with templates as the input that AgentV 4 has."""
        if self.target != AGENTV_4 or not self.suite.is_template or (prompt := self._asks()) is None:
            return
        variables = written.get("vars", {})
        missing = sorted(set(_SIMPLE.findall(prompt)) - variables.keys())
        if prompt.strip() in {_PROMPT, "{{input}}"}:
            if "input" in variables:
                value = variables.pop("input")
                written["input"] = json.loads(value) if is_chat(value) else value
        elif missing:
            message = f"the prompt of `{case.name}`: the case has no text for {', '.join(missing)}"
            self.lose(self.suite.fields["prompts"]._replace(number=case.key[0]), message)
        else:
            written["input"] = prompt
        if not variables:
            written.pop("vars", None)

    def _carry_checks(self, case: SuiteCase) -> Iterator[Part]:
        for part in case.checks:
            try:
                yield part if self.as_written else part._replace(value=self._carry_check(part))
            except _LostError as lost:
                self.lose(part, str(lost))

    def _carry_check(self, part: Part) -> dict[str, Any]:
        """Return an assertion in the words of the target, and report the fields that this does not have."""
        value = part.value
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            raise _LostError(f"an assertion without a type: {self.title} has no field for it")
        kind, is_negated = value["type"], value.get("negate") is True
        if self.source == PROMPTFOO and kind.startswith(_NOT):
            kind, is_negated = kind.removeprefix(_NOT), True
        if reason := _find_difference(value, kind, self.source, self.target, self.title):
            raise _LostError(f"the assertion `{value['type']}`: {reason}")
        names = {"type", "negate"}
        written: dict[str, Any] = {"type": f"{_NOT}{kind}" if is_negated and self.target == PROMPTFOO else kind}
        for own, theirs in _known(kind, self.source, self.target):
            if own in value and is_plain(value[own]):
                names.add(own)
                try:
                    written[theirs] = self._as_value(value[own])
                except LostTextError as lost:
                    message = f"the assertion `{value['type']}`: it has {lost}, and {self.title} does not"
                    raise _LostError(message) from None
        if is_negated and self.target != PROMPTFOO:
            written["negate"] = True
        for name in value.keys() - names:
            self.lose(part.inner(name))
        return split_gate(written) if self.target == AGENTV_5 else written

    def _as_value(self, value: Any) -> Any:
        return as_value(value, from_template=self.suite.is_template, to_template=self.is_template)

    def _carry_average(self, case: SuiteCase) -> dict[str, Any]:
        """Say how a test passes where the target would decide otherwise.

        AgentV passes a test by the average of its assertions, promptfoo by all of them unless there is a threshold.
        """
        if "threshold" in case.fields or "threshold" in self.suite.fields:
            return {}
        if self.target == PROMPTFOO and (self.source == AGENTV_5 or (self.source == AGENTV_4 and case.checks)):
            return {"threshold": USUAL_THRESHOLD}
        if self.source == PROMPTFOO and self.target in {AGENTV_4, AGENTV_5} and case.checks:
            message = f"that every assertion of `{case.name}` must pass: {self.title} takes their average"
            self.losses.append((*case.key, message))
        return {}
