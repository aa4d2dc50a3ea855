"""Convert what a file says apart from its rubrics to a target: its cases, their texts, and their other assertions.

Our own format, and the system that a suite is for, keep its other fields as they are written. What a target has no
place for is lost. Suites for another release of AgentV are not written here: `migrate` rewrites them.

Which assertions of AgentV and promptfoo mean the same is known from AgentV 4.42.4 (its graders and its importer of
promptfoo files), AgentV at 58f316ca2 (`graders/assertions.ts`, `latency.ts`, `cost.ts`), and promptfoo
(`src/assertions/contains.ts`, `regex.ts`, `json.ts`, `latency.ts`, `cost.ts`).
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from rubric_lint.convert.export.cases import (
    AGENTV_4,
    AGENTV_5,
    OURS,
    PROMPTFOO,
    TEMPLATES,
    TEXTS,
    Case,
    FileRubric,
    Suite,
    has_variable,
    is_messages,
    read_suite,
)
from rubric_lint.convert.export.target import (
    ConvertedCase,
    ConvertedSuite,
    ExportTarget,
    PlacedValue,
    Sources,
    SuiteLoss,
    find_mark,
    is_plain,
)
from rubric_lint.formats.agentv.suites import ASSERTION_LISTS
from rubric_lint.formats.sheets.markdown_file import unescape as unescape_markdown
from rubric_lint.model.criterion import is_number
from rubric_lint.model.messages import escape as escape_markdown
from rubric_lint.source.document import Document
from rubric_lint.source.nunjucks import escape, is_template, unescape
from rubric_lint.source.path import Path
from rubric_lint.source.values import as_list

# The assertions that mean the same in AgentV and promptfoo, and the field that each needs, by AgentV's name.
_CHECKS = {
    "contains": "value",
    "icontains": "value",
    "regex": "value",
    "contains-any": "value",
    "contains-all": "value",
    "icontains-any": "value",
    "icontains-all": "value",
    "is-json": "",
    "latency": "threshold",
    "cost": "budget",
}
_BUDGETS = {AGENTV_4: "budget", AGENTV_5: "budget", PROMPTFOO: "threshold"}
_LABELS = {AGENTV_4: "name", AGENTV_5: "metric", PROMPTFOO: "metric"}
_NOT = "not-"


_PROMPT = "{{ input }}"


def convert_suite(
    documents: Iterable[Document], rubrics: Sequence[FileRubric], target: ExportTarget
) -> tuple[ConvertedSuite, Sources]:
    """Return all that a file says apart from its rubrics in the words of a target, and what of it is lost.

    A target without cases gets the texts that it shows. Also return the sources of the rubrics that are written, with
    their cases and questions.
    """
    suite, sources = read_suite(documents, rubrics, target)
    marks = [(member.document.number, find_mark(member.rubric)) for member in rubrics if member.source]
    written_marks = marks if target.writes_mark else ()
    converter = _SuiteConverter(suite, target, written_marks)
    read_case = converter.convert_case if target.has_cases else converter.show_case
    cases = {case.key: read_case(case) for case in suite.cases}
    fields = converter.convert_fields()
    return ConvertedSuite(fields, cases, tuple(converter.losses)), sources


_NAME = re.compile(r"(\{\{\s*[A-Za-z_]\w*\s*\}\})")
_FILE = "file://"


class _LostError(Exception):
    """Says why a part is lost; without a message, the target has no field for it."""


class _CaseText(NamedTuple):
    """A text of a case as a model or a judge gets it, or an error that says why there is none.

    It is from `part`, and `fields` are the fields of the case whose texts it holds.
    """

    value: Any
    part: PlacedValue
    fields: set[str]


def _put(written: dict[str, Any], path: Iterable[Any], value: Any) -> None:
    """Put a value into nested mappings, next to what is there."""
    *holders, name = path
    for holder in holders:
        written = written.setdefault(holder, {})
    written[name] = value


class _SuiteConverter:
    """The conversion of one suite: what it needs to know of both systems, and what is lost.

    `marks` are the places of pass marks that the target writes as those of the rubrics.
    """

    def __init__(self, suite: Suite, target: ExportTarget, marks: Collection[tuple[int | None, Path | None]]) -> None:
        self.suite = suite
        self.marks = marks
        self.source = suite.system
        self.target = target.name
        self.title = target.title
        self.has_cases = target.has_cases
        self.shows_id = "id" in target.shows and (self.source != PROMPTFOO or target.names_cases)
        self.shows_texts = "expected_output" in target.shows
        self.losses: list[SuiteLoss] = []
        self.to_template = self.target in TEMPLATES
        self.from_template = self.source in TEMPLATES
        self.keeps = suite.is_whole and self.target in {OURS, self.source}
        """Whether the target has all fields as they are written."""

    def report_loss(self, part: PlacedValue, message: object = "") -> None:
        """Report a part as lost; without a message, the target has no field for it, unless it is a pass mark."""
        name = next((step for step in reversed(part.path) if isinstance(step, str)), "")
        if not str(message):
            if (part.number, part.path) in self.marks:
                return
            if not part.path:
                what = "a document without rubrics and cases"
            elif not name:
                what = "an item"
            elif name == part.path[-1]:
                what = f"`{name}`"
            else:
                what = f"an item of `{name}`"
            if part.path and name in {"criteria", "expected_outcome"} and self.suite.is_whole:
                what += ", which the judge of AgentV sees"
            message = f"{what}: {self.title} has no field for it"
        elif isinstance(message, _LostError):
            message = f"`{name}`: {message}"
        self.losses.append((part.number, part.path, str(message)))

    # Values

    def decode(self, value: Any) -> Any:
        """Return a value of the source as plain text; refuse one that its system would fill in."""
        if self.from_template and is_template(value):
            raise _LostError("it is a template, which its system fills in")
        if self.source == AGENTV_4 and has_variable(value):
            raise _LostError("it has an environment variable, which AgentV 4 fills in")
        return unescape(value) if self.from_template else value

    def encode(self, value: Any) -> Any:
        """Return a plain value as the target writes it; refuse one that it would fill in."""
        if self.target == AGENTV_4 and has_variable(value):
            raise _LostError("AgentV 4 would take it for an environment variable")
        return escape(value) if self.to_template else value

    def translate(self, value: Any) -> Any:
        """Return a value of the source as the target writes it."""
        if not is_plain(value):
            raise _LostError
        self.refuse_file(value)
        is_same = self.keeps or (self.from_template and self.to_template)
        return value if is_same else self.encode(self.decode(value))

    def refuse_file(self, value: Any) -> None:
        """Refuse a text in whose place promptfoo reads a file."""
        is_of_promptfoo = PROMPTFOO in {self.source, self.target} and not self.keeps
        if is_of_promptfoo and isinstance(value, str) and value.startswith(_FILE):
            raise _LostError("promptfoo reads the file that it names, and other systems do not")

    def pack(self, value: Any) -> Any:
        """Return the value of a variable as promptfoo has it: a text, in which messages are JSON."""
        if self.target != PROMPTFOO or not isinstance(value, list | dict):
            return value
        if not is_messages(value):
            raise _LostError("promptfoo has only texts and messages of texts")
        return json.dumps(value, ensure_ascii=False)

    def read_texts(self, case: Case) -> Iterator[tuple[str, _CaseText]]:
        """Yield the question and the reference of a case, with variables filled in."""
        variables = case.variables
        for name in TEXTS:
            part, fields = case.fields.get(name), {name}
            if self.from_template:
                part = variables.get(name, part)
                fields = {f"vars.{name}"} if name in variables else fields
            if self.from_template and name == "input" and "prompts" in self.suite.fields:
                part, fields = self.suite.fields["prompts"]._replace(number=case.key[0]), set()
            if part is None or (self.source == PROMPTFOO and name == "expected_output"):  # it has no reference
                continue
            content = part.value
            if part.path[-1] == "prompts" and len(as_list(content)) == 1:
                content = content[0]
            try:
                value = self.fill_in(content, variables, fields)
                yield name, _CaseText(value, part, fields)
            except _LostError as lost:
                yield name, _CaseText(lost, part, fields)

    def fill_in(self, value: Any, variables: Mapping[str, PlacedValue], fields: set[str]) -> Any:
        """Return a text or messages as plain text with variables filled in, and add the fields of these."""
        if isinstance(value, list):
            return [self.fill_in(item, variables, fields) for item in value]
        if isinstance(value, dict):
            return {key: self.fill_in(item, variables, fields) for key, item in value.items()}
        if not isinstance(value, str):
            return value
        self.refuse_file(value)
        pieces = _NAME.split(value)
        for at, piece in enumerate(pieces):
            name = piece.strip("{} \t\n")
            known = variables[name].value if name in variables else None
            if at % 2 == 0:
                pieces[at] = self.decode(piece)
            elif isinstance(known, str):
                self.refuse_file(known)
                pieces[at] = self.decode(known)
                fields.add(f"vars.{name}")
            elif self.from_template or name in variables:
                raise _LostError(f"the case has no text for `{name}`")
        text = "".join(pieces)
        if self.source == PROMPTFOO and text.startswith("["):  # it sends messages in JSON as such
            with suppress(ValueError):
                messages = json.loads(text)
                return messages if is_messages(messages) else text
        return text

    # Cases

    def show_case(self, case: Case) -> ConvertedCase:
        """Return the texts of a case that a target without cases shows."""
        texts: dict[str, str] = {}
        shown = {"id"} if case.names_rubrics and self.shows_id else set[str]()
        case_texts = self.read_texts(case) if self.shows_texts and case.names_rubrics else ()
        for name, text in case_texts:
            if not (isinstance(text.value, str) and text.value.strip()):
                shown |= self.report_text(case, text)
                continue
            texts[name] = text.value
            shown |= text.fields
            if self.target == "markdown" and unescape_markdown(escape_markdown(text.value)) != text.value:
                self.report_loss(
                    text.part, f"white space and invisible characters of `{name}`, which Markdown cannot show"
                )
        for name, part in case.fields.items():
            if name not in shown:
                self.report_loss(part)
        for part in (*case.others, *case.checks):
            self.report_loss(part)
        self.report_sets(case)
        return ConvertedCase(case.name, texts)

    def report_text(self, case: Case, text: _CaseText) -> set[str]:
        """Report a text as lost, and return its own field, if it has one."""
        reason = text.value if isinstance(text.value, _LostError) else "it is not one plain text"
        name = text.part.path[-1]
        what = f"the prompt of `{case.name}`" if name == "prompts" else f"`{name}`"
        self.report_loss(text.part, f"{what}: {reason}")
        return {field for field in text.fields if field.removeprefix("vars.") == name or field in TEXTS}

    def report_sets(self, case: Case) -> None:
        """Report what changes in the score without the sets of assertions."""
        for part in case.sets:
            effect = f"{self.title} counts each of them by itself, so the score may change"
            self.report_loss(part, f"the set of assertions: {effect}")
            for name in part.value.keys() - {"type", *ASSERTION_LISTS}:
                self.report_loss(part.inner(name), f"the {name} of the set of assertions: {self.title} has no sets")

    def convert_case(self, case: Case) -> ConvertedCase:
        """Return the fields and assertions of a case that the target has."""
        written: dict[str, Any] = {}
        done: set[str] = set()
        if not (self.keeps or (self.from_template and self.to_template)):
            for name, text in self.read_texts(case):
                done |= self._convert_text(case, name, text, written)
        for name, part in case.fields.items():
            if name not in done:
                try:
                    _put(written, *self._convert_field(name, part))
                except _LostError as lost:
                    self.report_loss(part, lost)
        for part in case.others:
            self._keep(written, part.path[len(case.key[1]) :], part)
        self.report_sets(case)
        checks = []
        for part in case.checks:
            try:
                check = part
                if not self.keeps:
                    check = part._replace(value=self._convert_check(part))
                checks.append(check)
            except _LostError as lost:
                self.report_loss(part, str(lost))
        return ConvertedCase(case.name, {**written, **self._convert_pass_rule(case)}, tuple(checks))

    def _convert_text(self, case: Case, name: str, text: _CaseText, written: dict[str, Any]) -> set[str]:
        """Write a text with variables filled in; return the fields that are done."""
        try:
            value = self._check_text(case, text)
        except _LostError as lost:
            return self.report_text(case, text._replace(value=lost))
        place = ("vars", name) if self.to_template else (name,)
        _put(written, place, value)
        if self.to_template and name == "expected_output":
            message = f"`{text.part.path[-1]}` is kept as a variable, which the judge of {self.title} sees"
            self.report_loss(text.part, f"{message} only if a text names it")
        return text.fields

    def _check_text(self, case: Case, text: _CaseText) -> Any:
        if isinstance(text.value, _LostError):
            raise text.value
        names = {piece.strip("{} \t\n") for piece in _NAME.findall(str(text.value))}
        if self.target == AGENTV_4 and any(f"vars.{name}" in case.fields.keys() - text.fields for name in names):
            raise _LostError("AgentV 4 would fill in a variable")
        return self.encode(self.pack(text.value))

    def _convert_field(self, name: str, part: PlacedValue) -> tuple[tuple[str, ...], Any]:
        """Return where the target has a field, and its value."""
        holder, _, inner = name.partition(".")
        if name in TEXTS and self.from_template and self.to_template:  # a suite that is written for two releases
            holder, inner = "vars", name
        if holder == "vars":
            if self.source == PROMPTFOO and isinstance(part.value, list) and not self.keeps:
                raise _LostError("promptfoo runs the case once for each item of this list")
            value = part.value if self.keeps else self.pack(part.value)
            return (holder, inner), self.translate(value)
        if name == "threshold" and self.target != PROMPTFOO:
            return ("execution", name), self.translate(part.value)  # no AgentV reads a `threshold` of a test itself
        has_field = name in {"id", "metadata", "threshold"} or (name == "description" and self.target != AGENTV_4)
        if not self.keeps and not has_field:
            raise _LostError
        value = part.value if name == "id" else self.translate(part.value)
        return (name,), value

    def _keep(self, written: dict[str, Any], names: Path, part: PlacedValue) -> None:
        """Keep a field that only some systems have where all are kept, and report it as lost elsewhere."""
        if self.keeps and is_plain(part.value) and names and all(isinstance(name, str) for name in names):
            _put(written, names, part.value)
        else:
            self.report_loss(part)

    def _convert_check(self, part: PlacedValue) -> dict[str, Any]:
        """Return an assertion in the words of the target, and report the fields that this does not have."""
        value = part.value
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            raise _LostError(f"an assertion without a type: {self.title} has no field for it")
        kind, is_negated = value["type"], value.get("negate") is True
        if self.source == PROMPTFOO and kind.startswith(_NOT):
            kind, is_negated = kind.removeprefix(_NOT), True
        content = _CHECKS.get(kind, "type")
        own, new = content, content
        if content == "budget":
            own, new = _BUDGETS[self.source], _BUDGETS[self.target]
        names = {own: new, _LABELS[self.source]: _LABELS[self.target], "weight": "weight"}
        written: dict[str, Any] = {}
        try:
            _check_content(value, kind, own, self.title)
            written = {names[name]: self.translate(value[name]) for name in names if name in value}
        except _LostError as lost:
            raise _LostError(f"the assertion `{value['type']}`: {lost}") from None
        for name in value.keys() - names.keys() - {"type", "negate"}:
            self.report_loss(part.inner(name))
        if not is_negated:
            return {"type": kind, **written}
        if self.target == PROMPTFOO:
            return {"type": f"{_NOT}{kind}", **written}
        return {"type": kind, **written, "negate": True}

    def _convert_pass_rule(self, case: Case) -> dict[str, Any]:
        """Say how a test passes where the target would decide otherwise.

        AgentV passes a test by the average of its assertions, promptfoo by all of them unless there is a threshold.
        """
        if "threshold" in case.fields or "threshold" in self.suite.fields or self.keeps:
            return {}
        is_average = self.source == AGENTV_5 or (self.source == AGENTV_4 and bool(case.checks))
        if self.target == PROMPTFOO and is_average:
            return {"threshold": 0.8}  # the average from which AgentV passes a test that says nothing else
        if self.source == PROMPTFOO and self.target in {AGENTV_4, AGENTV_5} and case.checks:
            message = f"that every assertion of `{case.name}` must pass: {self.title} takes their average"
            self.losses.append((*case.key, message))
        return {}

    def convert_fields(self) -> dict[str, Any]:
        """Return the fields of the suite that the target has."""
        written: dict[str, Any] = {}
        if self.has_cases:
            for part in self.suite.shared:
                message = f"that the criteria in `{part.path[-1]}` count in every test"
                self.report_loss(part, f"{message}: {self.title} gets them as a test of their own")
        if self.to_template and self.source != PROMPTFOO:
            written["prompts"] = [_PROMPT]
        for name, part in self.suite.fields.items():
            try:
                _put(written, *self._convert_suite_field(name, part.value))
            except _LostError as lost:
                is_reported = name == "prompts" and (self.target == AGENTV_4 or self.shows_texts)  # case by case
                if not is_reported:
                    self.report_loss(part, lost)
        for part in self.suite.others:
            self._keep(written, part.path, part)
        return written

    def _convert_suite_field(self, name: str, value: Any) -> tuple[tuple[str, ...], Any]:
        if not self.has_cases or (name == "prompts" and not (self.keeps or self.to_template)):
            raise _LostError
        if name == "prompts" and not self.keeps:
            texts = value if isinstance(value, list) else [value]
            if not all(isinstance(text, str) and not text.startswith(_FILE) for text in texts):
                raise _LostError(f"{self.title} gets no files or mappings")
        path: tuple[str, ...] = (name,)
        if name == "threshold" and self.target != AGENTV_5:
            holder = "defaultTest" if self.target == PROMPTFOO else "execution"
            path = (holder, name)
        return path, self.translate(value)


def _check_content(value: dict[str, Any], kind: str, name: str, title: str) -> None:
    """Raise _LostError if a check may mean something else in the other system. `name` is its content."""
    content = value.get(name)
    if kind not in _CHECKS:
        raise _LostError(f"{title} has none that is known to mean the same")
    if kind == "regex" and "flags" in value:
        raise _LostError("promptfoo has no flags for it")
    if name in {"threshold", "budget"}:
        is_right = is_number(content) and content >= 0
    elif name:
        texts = [content]
        if kind.endswith(("-any", "-all")):
            texts = as_list(content)
        is_right = bool(texts) and all(isinstance(text, str) and text for text in texts)
        if any(isinstance(text, str) and text.startswith(_FILE) for text in texts):
            raise _LostError("promptfoo reads the file that it names, and other systems do not")
    else:
        is_right = "value" not in value and "schema" not in value
    if not is_right:
        raise _LostError(f"its `{name or 'value'}` means something else in {title}, or nothing")
