"""Carry what a suite says beside its rubrics to another system, and list what that has no place for."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from rubric_lint.dialects.export.suite import (
    AGENTV_4,
    AGENTV_5,
    ASSERTION_LISTS,
    CASE_FIELDS,
    FIELD_NAMES,
    LISTS_OF_VALUES,
    MARKDOWN,
    OTHER_CHECKS,
    OURS,
    PROMPTFOO,
    SAME_CHECKS,
    SUITE_FIELDS,
    USUAL_THRESHOLD,
    Suite,
    SuiteCase,
)
from rubric_lint.dialects.export.target import Carried, CarriedCase, ExportTarget, Part, SuiteLoss, is_plain
from rubric_lint.dialects.search.agentv_suites import find_unread, load_tables
from rubric_lint.dialects.tables.markdown_file import unescape as unescape_markdown
from rubric_lint.messages import escape as escape_markdown
from rubric_lint.text.nunjucks import escape, is_template, unescape
from rubric_lint.text.path import Path

_NAME = re.compile(r"(\{\{\s*[A-Za-z_]\w*\s*\}\})")
_VARIABLE = re.compile(r"\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}")


class LostTextError(Exception):
    """Refuses a text that would mean something else in the target, with the reason."""


def as_value(value: Any, *, from_template: bool, to_template: bool) -> Any:
    """Return a value so that the target uses it as the source does.

    Raises:
        LostTextError: if the source fills it in and the target does not, or the other way round.
    """
    if from_template == to_template:
        return value
    if to_template:
        if has_variable(value):
            raise LostTextError("an environment variable, which AgentV 4 fills in")
        return escape(value)
    if is_template(value):
        raise LostTextError("a template, which its system fills in")
    if has_variable(value):
        raise LostTextError("a text that AgentV 4 takes for an environment variable")
    return _unescape(value)


def as_text(value: Any, source: str, target: str, known: Collection[str]) -> Any:
    """Return an input, a reference or a variable so that the target fills it in as the source does.

    AgentV 4 fills in the variables that a case has, by their names alone. promptfoo takes a list as several values, so
    messages are JSON.

    Raises:
        LostTextError: if it cannot.
    """
    from_template, to_template = source != AGENTV_4, target != AGENTV_4
    if target == PROMPTFOO and isinstance(value, list | dict):
        if not is_messages(value):
            raise LostTextError("a value that is neither text nor messages of texts, which AgentV fills in")
        value = json.dumps(value, ensure_ascii=False)
        return value if from_template else as_value(value, from_template=False, to_template=True)
    if not isinstance(value, str) or from_template == to_template:
        return as_value(value, from_template=from_template, to_template=to_template)
    pieces = _NAME.split(value)
    for place, piece in enumerate(pieces):
        if not (place % 2 and piece.strip("{} \t\n") in known):
            pieces[place] = as_value(piece, from_template=from_template, to_template=to_template)
    return "".join(pieces)


def check_value(value: Any, source: str, target: str) -> None:
    """Refuse an input or a variable that promptfoo takes for a file or for several values, and AgentV does not.

    Raises:
        LostTextError: if it is one.
    """
    if isinstance(value, str) and value.startswith("file://") and PROMPTFOO in {source, target}:
        raise LostTextError("a file, which promptfoo reads in its place")
    if source == PROMPTFOO and isinstance(value, list):
        raise LostTextError("a list, for which promptfoo runs the case once for each value")


def is_messages(value: Any) -> bool:
    """Return whether a value is a list of messages with texts."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(each, dict) and each.keys() == {"role", "content"} and all(map(_is_text, each.values()))
            for each in value
        )
    )


def is_chat(value: Any) -> bool:
    """Return whether a value is messages as JSON, which promptfoo sends as a conversation."""
    if not isinstance(value, str) or not value.startswith("["):
        return False
    try:
        return is_messages(json.loads(value))
    except ValueError:
        return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def has_variable(value: Any) -> bool:
    """Return whether AgentV 4 would put an environment variable into a text of a value."""
    match value:
        case str():
            return _VARIABLE.search(value) is not None
        case list():
            return any(map(has_variable, value))
        case dict():
            return any(map(has_variable, value.values()))
    return False


def _unescape(value: Any) -> Any:
    match value:
        case str():
            return unescape(value)
        case list():
            return [_unescape(each) for each in value]
        case dict():
            return {name: _unescape(each) for name, each in value.items()}
    return value


JudgeField = list[tuple[Path, str]]
"""What is lost: paths in the assertion, with messages."""

_NOT = "not-"


def carry_check(value: Any, source: str, target: str, title: str) -> tuple[dict[str, Any] | None, JudgeField]:
    """Return an assertion in the words of a target, and what is lost; None if the target has none like it."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return None, [((), f"an assertion without a type: {title} has no field for it")]
    kind, is_negated = value["type"], value.get("negate") is True
    if source == PROMPTFOO and kind.startswith(_NOT):
        kind, is_negated = kind.removeprefix(_NOT), True
    if reason := _find_difference(value, kind, source, target, title):
        return None, [((), f"the assertion `{value['type']}`: {reason}")]
    told: JudgeField = []
    names: set[str] = {"type", "negate"}
    written: dict[str, Any] = {"type": f"{_NOT}{kind}" if is_negated and target == PROMPTFOO else kind}
    for own, name, content in _rename(value, kind, source, target):
        names.add(own)
        try:
            to_template = target != "agentv-4"
            written[name] = as_value(content, from_template=source != "agentv-4", to_template=to_template)
        except LostTextError as lost:
            return None, [((), f"the assertion `{value['type']}`: it has {lost}, and {title} does not")]
    if is_negated and target != PROMPTFOO:
        written["negate"] = True
    if target == AGENTV_5:
        written = split_gate(written)
    told += [((name,), f"`{name}`: {title} has no field for it") for name in value if name not in names]
    return written, told


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


def _rename(value: dict[str, Any], kind: str, source: str, target: str) -> Iterator[tuple[str, str, Any]]:
    for own, theirs in _known(kind, source, target):
        if own in value and is_plain(value[own]):
            yield own, theirs, value[own]


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


def carry(suite: Suite, target: ExportTarget) -> Carried:
    """Return a suite in the words of a target; of one without cases, only what is lost."""
    carrier = _Carrier(suite, target)
    cases = {case.key: carrier.carry_case(case) for case in suite.cases}
    of_cases, carrier.losses = carrier.losses, []
    fields = carrier.carry_suite()
    for part in suite.shared if target.has_cases else ():
        message = f"that the criteria in `{part.path[0]}` count in every test"
        carrier.lose(part.number, part, f"{message}: {target.title} gets them as a test of their own")
    return Carried(fields, cases, (*carrier.losses, *of_cases))


def _put(written: dict[str, Any], fields: dict[str, Any]) -> None:
    """Put fields into a case or suite, those below `execution` beside others there."""
    for name, value in fields.items():
        written[name] = {**written[name], **value} if name == "execution" and name in written else value


_PROMPT = "{{ input }}"
_FILE = "file://"
_SIMPLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


class _Carrier:
    """Carries a suite to one target."""

    def __init__(self, suite: Suite, target: ExportTarget) -> None:
        self.suite = suite
        self.source = suite.system
        self.target = target.name
        self.title = target.title
        self.shows = target.shows
        self.losses: list[SuiteLoss] = []
        self.has_cases = target.has_cases
        self.is_template = target.name in {AGENTV_5, PROMPTFOO}
        self.as_written = target.name in {OURS, self.source}

    def lose(self, number: int | None, part: Part, message: str = "") -> None:
        """Report a field or an assertion as lost."""
        if not part.path:
            self.losses.append((number, (), f"a document without rubrics and cases: {self.title} has no place for it"))
            return
        name = next((step for step in reversed(part.path) if isinstance(step, str)), "")
        told = f"`{name}`" if isinstance(part.path[-1], str) else f"an item of `{name}`" if name else "an item"
        self.losses.append((number, part.path, message or f"{told}: {self.title} has no field for it"))

    def carry_suite(self) -> dict[str, Any]:
        """Return the fields of the suite that the target has."""
        suite = self.suite
        written: dict[str, Any] = {}
        names = SUITE_FIELDS.get((self.source, self.target), frozenset())
        for name, part in suite.fields.items():
            number = part.number
            if name == "prompts" and "expected_output" in self.shows:
                continue  # reported case by case
            if not is_plain(part.value) or not self.has_cases:
                self.lose(number, part)
            elif name == "threshold":
                _put(written, self._threshold(part.value, is_suite=True))
            elif name == "prompts":
                written |= self._prompts(number, part)
            elif name.startswith("execution.") and self.as_written:
                written.setdefault("execution", {})[name.partition(".")[2]] = part.value
            elif self.target == OURS or name in names:
                written |= self._copy(number, name, part)
            else:
                self.lose(number, part)
        for part in suite.others:
            self.lose(part.number, part)
        if self.is_template and not suite.is_template:
            written = {"prompts": [_PROMPT], **written}
        return written

    def carry_case(self, case: SuiteCase) -> CarriedCase:
        """Return the fields and assertions of a case that the target has."""
        number = case.key[0]
        for part in case.others:
            self.lose(number, part)
        has_sets = self.has_cases and self.target == self.source
        for part in () if has_sets else case.sets:
            self._lose_set(number, part)
        if not self.has_cases:
            is_named = "id" in self.shows and case.names_rubrics and self.source != PROMPTFOO
            texts = self._read_texts(case)
            uses = frozenset[str]().union(*(text.uses for text in texts.values()))
            uses |= {"input"} if self.shows == {"input"} and case.names_rubrics else frozenset()
            lost = (part for name, part in case.fields.items() if name not in uses and not (name == "id" and is_named))
            for part in (*lost, *case.checks):
                is_text = "expected_output" in self.shows and case.names_rubrics and part.path[-1] in FIELDS
                self.lose(number, part, f"`{part.path[-1]}`: it is not one plain text" if is_text else "")
            return CarriedCase(case.name, {name: text.text for name, text in texts.items()})
        written: dict[str, Any] = {}
        for name, part in case.fields.items():
            if not is_plain(part.value):
                self.lose(number, part)
            elif name == "id":
                written["id"] = part.value
            elif self.as_written:
                self._write_as_is(written, name, part)
            else:
                self._carry_field(case, name, part, written)
        self._carry_input(case, written)
        checks = tuple(self._carry_checks(case))
        return CarriedCase(case.name, self._average(case, written), checks, case.sets if has_sets else ())

    def _read_texts(self, case: SuiteCase) -> dict[str, CaseText]:
        """Return the texts of a case that has rubrics, if the target shows them."""
        if "expected_output" not in self.shows or not case.names_rubrics:
            return {}
        texts = read_texts(self.suite, case)
        prompts = self.suite.fields.get("prompts")
        if prompts and "input" not in texts:
            self.lose(prompts.number, prompts, f"the prompt of `{case.name}`, which is not one plain text")
        for name, text in texts.items():
            if self.target == MARKDOWN and unescape_markdown(escape_markdown(text.text)) != text.text:
                message = f"white space and invisible characters of `{name}`, which Markdown cannot show"
                self.lose(text.part.number, text.part, message)
        return texts

    def _lose_set(self, number: int | None, part: Part) -> None:
        """Report what changes in the score without a set of assertions."""
        told = f"the set of assertions: {self.title} counts each of them by itself, so the score may change"
        self.losses.append((number, part.path, told))
        for name, value in part.value.items():
            if name not in {"type", *ASSERTION_LISTS}:
                own = Part((*part.path, name), value)
                shown = f" {value}" if isinstance(value, str | int | float) else ""
                self.lose(number, own, f"the {name}{shown} of the set of assertions: {self.title} has no sets")

    def _carry_field(self, case: SuiteCase, name: str, part: Part, written: dict[str, Any]) -> None:
        if name == "threshold":
            _put(written, self._threshold(part.value, is_suite=False))
        elif name in {"input", "expected_output"} or name.startswith("vars."):
            self._carry_text(case, name, part, written)
        elif name in CASE_FIELDS[self.source, self.target]:
            written |= self._copy(case.key[0], name, part)
        else:
            self.lose(case.key[0], part, self._why_lost(name))

    def _why_lost(self, name: str) -> str:
        if name == "criteria":
            return f"`criteria`, which the judge of AgentV sees: {self.title} has no field for it beside its assertions"
        return ""

    def _write_as_is(self, written: dict[str, Any], name: str, part: Part) -> None:
        holder, _, inner = name.partition(".")
        if name == "threshold":
            _put(written, self._threshold(part.value, is_suite=False))
        elif inner and holder in {"vars", "execution"}:
            written.setdefault(holder, {})[inner] = part.value
        else:
            written[name] = part.value

    def _copy(self, number: int | None, name: str, part: Part) -> dict[str, Any]:
        if name == "name" and self.target in {AGENTV_4, AGENTV_5}:
            of_names = {"properties": {name: load_tables()[0]["suite"]["properties"][name]}}
            for _, reason, _, _ in find_unread({name: part.value}, of_names, self.title):
                self.lose(number, part, f"`{name}`: {reason}")
                return {}
        try:
            own = {name: as_value(part.value, from_template=self.suite.is_template, to_template=self.is_template)}
        except LostTextError as lost:
            if self.target != OURS:
                self.lose(number, part, f"`{name}`: {self._word(lost)}")
                return {}
            own = {name: part.value}
        return own

    def _word(self, lost: LostTextError) -> str:
        return f"{lost}: {self.title} uses it as plain text"

    def _threshold(self, value: Any, *, is_suite: bool) -> dict[str, Any]:
        is_of_4 = self.target == AGENTV_4 or (self.target == OURS and self.source == AGENTV_4)
        if is_of_4 or (self.target == AGENTV_5 and not is_suite):  # no AgentV reads a `threshold` of a test itself
            return {"execution": {"threshold": value}}
        return {"defaultTest": {"threshold": value}} if is_suite and self.target == PROMPTFOO else {"threshold": value}

    def _prompts(self, number: int | None, part: Part) -> dict[str, Any]:
        """Carry the prompts: AgentV 4 has them in the input of each case."""
        texts = part.value if isinstance(part.value, list) else [part.value]
        if self.as_written:
            return {"prompts": part.value}
        is_plain_text = all(isinstance(text, str) and not text.startswith(_FILE) for text in texts)
        if not is_plain_text:
            self.lose(number, part, f"`prompts` with files or mappings: {self.title} reads only texts")
        elif self.is_template:
            return {"prompts": part.value}
        elif self._asks() is None:
            self.lose(number, part, f"`prompts`: {self.title} has one input for each case, without filters and tags")
        return {}

    def _asks(self) -> str | None:
        """Return the one prompt if AgentV 4 can fill it in: it replaces names and knows nothing else."""
        prompt = self.suite.prompt()
        if not isinstance(prompt, str) or prompt.startswith(_FILE):
            return None
        return None if re.search(r"\{[{%#]", _SIMPLE.sub("", prompt)) else prompt

    def _carry_text(self, case: SuiteCase, name: str, part: Part, written: dict[str, Any]) -> None:
        """Carry an input, a reference or a variable as the target fills it in."""
        known = {each.partition(".")[2] for each in case.fields if each.startswith("vars.")}
        try:
            check_value(part.value, self.suite.system, self.target)
            value = as_text(part.value, self.suite.system, self.target, known)
        except LostTextError as lost:
            self.lose(case.key[0], part, f"`{part.path[-1]}`: it is {lost}, and {self.title} does not")
            return
        own = name.removeprefix("vars.")
        if self.is_template:
            written.setdefault("vars", {})[own] = value
            if own == "expected_output" and not self.suite.is_template:
                told = f"`{part.path[-1]}` is kept as a variable, which the judge of {self.title} sees only if a text "
                self.lose(case.key[0], part, f"{told}names it")
        elif (name == "vars.expected_output" and self.source == AGENTV_5) or not name.startswith("vars."):
            written[own] = value
        else:
            written.setdefault("vars", {})[own] = value

    def _carry_input(self, case: SuiteCase, written: dict[str, Any]) -> None:
        """Write the prompt of a suite with templates as the input that AgentV 4 has."""
        if self.target != AGENTV_4 or not self.suite.is_template:
            return
        prompt = self._asks()
        variables = written.get("vars", {})
        if prompt is None:
            return
        names = set(_SIMPLE.findall(prompt))
        if prompt.strip() in {_PROMPT, "{{input}}"}:
            if "input" in variables:
                value = variables.pop("input")
                written["input"] = json.loads(value) if is_chat(value) else value
        elif names <= variables.keys():
            written["input"] = prompt
        else:
            missing = ", ".join(sorted(names - variables.keys()))
            part = self.suite.fields["prompts"]
            self.lose(case.key[0], part, f"the prompt of `{case.name}`: the case has no text for {missing}")
        if not variables:
            written.pop("vars", None)

    def _carry_checks(self, case: SuiteCase) -> Iterator[Part]:
        for part in case.checks:
            if self.as_written:
                yield part
                continue
            found, messages = carry_check(part.value, self.source, self.target, self.title)
            for path, message in messages:
                self.losses.append((case.key[0], (*part.path, *path), message))
            if found is not None:
                yield Part(part.path, found)

    def _average(self, case: SuiteCase, written: dict[str, Any]) -> dict[str, Any]:
        """Say how a test passes where the target would decide otherwise.

        AgentV passes a test by the average of its assertions, promptfoo by all of them unless there is a threshold.
        """
        threshold = "threshold" in case.fields or "threshold" in self.suite.fields
        if self.target == PROMPTFOO and self.source == AGENTV_5 and not threshold:
            return {**written, "threshold": USUAL_THRESHOLD}
        if self.target == PROMPTFOO and self.source == AGENTV_4 and case.checks and not threshold:
            return {**written, "threshold": USUAL_THRESHOLD}
        if self.source == PROMPTFOO and self.target in {AGENTV_4, AGENTV_5} and case.checks and not threshold:
            message = f"that every assertion of `{case.name}` must pass: {self.title} takes their average"
            self.losses.append((*case.key, message))
        return written
