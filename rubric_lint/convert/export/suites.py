"""Write suites: a test for each case, with its rubrics. For our own format, AgentV 4 and 5, and promptfoo."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from rubric_lint.convert.export.cases import VARIABLE
from rubric_lint.convert.export.entries import Data, as_entries, as_number, bounds, report_uncovered, sort_levels
from rubric_lint.convert.export.target import (
    ConvertedCase,
    ExportContext,
    ExportError,
    ExportSource,
    ExportTarget,
    TargetError,
    find_evaluator,
    find_holder,
)
from rubric_lint.convert.export.texts import CommentedItem, to_yaml
from rubric_lint.convert.export.version_3 import (
    has_own_mark,
    is_written_in_version_3,
    needs_version_3,
    write_version_3,
)
from rubric_lint.formats.agentv.suites import ASSERTION_LISTS
from rubric_lint.model.criterion import HIGHEST, USUAL_THRESHOLDS, Criterion, Mark, Shape, to_fraction
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema_files import CURRENT, VERSION_3, newest
from rubric_lint.source.document import Document
from rubric_lint.source.nunjucks import escape
from rubric_lint.source.path import Path
from rubric_lint.source.values import as_mapping


class _CaseRubric(NamedTuple):
    """A rubric of a case: its full name, the rubric, and its source, which has its name within the case."""

    name: str
    rubric: Rubric
    source: ExportSource

    @property
    def path(self) -> Path:
        """The place in the document of its first criterion."""
        return self.rubric.place(self.rubric.entries[0].path) if self.rubric.entries else self.rubric.path

    def weight_beside(self, case: "_ExportCase", extras: Mapping[str, Any]) -> dict[str, Any]:
        """Return the weight of several texts among other assertions: together they count as each does by itself."""
        is_joined = self.rubric.view is not None and bool(self.rubric.view.around)
        total = sum((criterion.weight or Decimal(0) for criterion in self.rubric.criteria), Decimal(0))
        if not is_joined or "weight" in extras or total == 1 or len(case.rubrics) + len(case.converted.checks) == 1:
            return {}
        return {"weight": as_number(total)}


class _ExportCase(NamedTuple):
    """A case, its rubrics, and what else it says in the words of the target; `start` is the length of its path."""

    name: str
    rubrics: tuple[_CaseRubric, ...]
    converted: ConvertedCase
    start: int

    def assertions(self) -> list[tuple[Path, _CaseRubric | Any]]:
        """Return the rubrics and the other assertions with their paths, in the order in which they are written."""
        assertions: list[tuple[Path, _CaseRubric | Any]] = [(member.path, member) for member in self.rubrics]
        assertions += [(check.path, check.value) for check in self.converted.checks]
        return sorted(assertions, key=lambda assertion: self._order(assertion[0]))

    def write_assertions(self, write: Callable[[_CaseRubric], Any]) -> list[Any]:
        """Return the assertions, with rubrics as `write` makes them."""
        return [write(content) if isinstance(content, _CaseRubric) else content for _, content in self.assertions()]

    def _order(self, path: Path) -> Path:
        """Return the indexes of an assertion in its case; -1 for the case's own rubrics."""
        path = path[self.start :]
        if path and path[0] not in {*ASSERTION_LISTS, "execution"} and not isinstance(path[0], int):
            return (-1,)
        return tuple(step for step in path if isinstance(step, int)) or (-1,)


def group_cases(context: ExportContext) -> Iterator[_ExportCase]:
    """Group rubrics by case, in the order of the file; a rubric without a case gets its own.

    With a suite, its cases without rubrics are among them.
    """
    cases = context.suite.cases if context.suite else {}
    groups: dict[Any, list[_CaseRubric]] = {key: [] for key in cases}
    for name, rubric in context.rubrics.items():
        source = context.source(name)
        key: Any = source.case or name
        if source.place in cases:
            key = source.place
        groups.setdefault(key, []).append(_CaseRubric(name, rubric, source))
    for key, rubrics in groups.items():
        converted = cases.get(key)
        if converted:
            yield _ExportCase(converted.name, tuple(rubrics), converted, len(key[1]))
        else:
            name = key if len(rubrics) > 1 else rubrics[0].name
            yield _ExportCase(name, tuple(rubrics), ConvertedCase(name, {}), 0)


def _write_rubric(context: ExportContext) -> str:
    """Write a rubric file, or for several rubrics or a suite a suite with its cases; in version 3 if one needs it."""
    written = {name: _write_own(context, name, rubric) for name, rubric in context.rubrics.items()}
    first = next(iter(context.rubrics))
    above = "".join(f"{comment}\n" for comment in context.source(first).comments.get(-1, ()))
    is_version_2 = all(isinstance(rubric, list) for rubric in written.values())
    is_version_2 = is_version_2 and not any(map(is_written_in_version_3, context.rubrics.values()))
    version = CURRENT if is_version_2 else VERSION_3
    if len(context.rubrics) == 1 and context.suite is None:
        name, rubric = context.only
        holder = find_holder(rubric)
        for field in context.source(name).fields:
            if field.path[:-1] == holder and field.name_in("rubric"):
                message = f"`{field.path[-1]}` of an evaluator: a rubric file has no field for it"
                context.report_loss(name, field.path, message)
        data = written[name]
        if isinstance(data, list):
            context.report_name(name)
            data = {"rubrics": data}
        return newest("rubric", version).modeline + above + to_yaml(data)
    cases = [dict(_write_case(context, case, written)) for case in group_cases(context)]
    suite = {**(context.suite.fields if context.suite else {}), "tests": cases}
    return newest("suite", version).modeline + above + to_yaml(suite)


def _write_own(context: ExportContext, name: str, rubric: Rubric) -> Any:
    """Return a rubric as a list of version 2 if that says all of it, else as a mapping of version 3."""
    view, comments = rubric.view, context.source(name).comments
    if view and is_written_in_version_3(rubric):
        places = [view.place(entry.path) for entry in rubric.entries]
        return _copy(view.document, view.path, {places[at]: texts for at, texts in comments.items() if at >= 0})
    if view and view.dialect.cuts_mean:
        context.report_loss(name, (), "that a mean over answers counts scores below 0: here each score is at least 0")
    mark = view.threshold_path if view and view.threshold is not None else None
    is_of_suite = context.suite and rubric.dialect.startswith("agentv-") and mark and not find_evaluator(mark)
    has_mark = has_own_mark(rubric) and not is_of_suite  # which keeps the mark
    if not needs_version_3(rubric, has_mark=has_mark):
        return _note(as_entries(rubric), comments)
    context.headed.add(name)
    data, changed = write_version_3(name, rubric, has_mark=has_mark)
    for path, message in changed:
        context.report_loss(name, path, message)
    return {**data, "criteria": _note(data["criteria"], comments)}


def _copy(document: Document, path: Path, comments: Mapping[Path, Sequence[str]]) -> Any:
    """Return a value of a document with its numbers as they are written, and the comments of items by their places."""
    value = document.value(path)
    if isinstance(value, dict):
        return {key: _copy(document, (*path, key), comments) for key in value if key != "$schema"}
    if isinstance(value, list):
        places = [(*path, at) for at in range(len(value))]
        items = [_copy(document, place, comments) for place in places]
        return _note(items, {at: comments[place] for at, place in enumerate(places) if place in comments})
    return document.decimal(path) if isinstance(value, float) else value


def _note(entries: list[Any], comments: Mapping[int, Sequence[str]]) -> list[Any]:
    """Return the entries of a rubric with the comments of each."""
    return [CommentedItem(entry, comments[at]) if at in comments else entry for at, entry in enumerate(entries)]


def _write_case(context: ExportContext, case: _ExportCase, written: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Write a case: its own rubric, and an evaluator for each further one and for each other assertion.

    A rubric next to which an evaluator has a name or a weight stays in one. `written` are the rubrics by their names.
    """
    yield "id", case.name
    yield from ((name, value) for name, value in case.converted.fields.items() if name != "id")
    extras = {member.name: context.extras(member.name) for member in case.rubrics}
    plain = [member for member in case.rubrics if not extras[member.name]]
    own = next((member for member in plain if len(case.rubrics) == 1 or not member.source.label), None)
    if own:
        yield "rubrics", written[own.name]
    evaluators = []
    for _, content in case.assertions():
        if not isinstance(content, _CaseRubric):
            evaluators.append(content)
        elif content is not own:
            named = {"name": content.source.label} if content.source.label else {}
            evaluators.append({**named, **extras[content.name], "rubrics": written[content.name]})
    if evaluators:
        yield "evaluators", evaluators


@dataclass(frozen=True, slots=True)
class _AgentV:
    """A release of AgentV: its list of assertions, the type and the field that hold criteria, the field for the name.

    With `is_template`, the strings of assertions are templates, and the question is a variable.
    """

    assertions: str
    kind: str
    criteria: str
    label: str
    is_template: bool

    def write(self, context: ExportContext) -> str:
        """Write tests with an assertion for each rubric and for each assertion of the suite."""
        tests: list[dict[str, Any]] = []
        for case in group_cases(context):
            if not self.is_template:
                _refuse_variables(context, case.rubrics)
            tests.append(self._test(context, case, _choose_mark(context, case)))
        fields: Mapping[str, Any] = {"prompts": _PROMPTS} if self.is_template else {}
        without_question: list[str] = []
        unreadable: list[str] = []
        if context.suite:
            fields = context.suite.fields
            if not self.is_template or fields.get("prompts") == _PROMPTS:
                without_question = self._fill_questions(tests)
        else:
            for name in context.rubrics:
                source = context.source(name)
                if not source.question:
                    without_question.append(name)
                elif not self._question(source):
                    unreadable.append(name)
        for names, reason in (
            (without_question, "the file has none, so it is left empty"),
            (unreadable, "not plain text, so it is left empty; copy it from the case"),
        ):
            if names:
                context.todo.append(f"`input`, the question, of {', '.join(names)}: {reason}")
        return to_yaml({**fields, "tests": tests})

    def _fill_questions(self, tests: Iterable[dict[str, Any]]) -> list[str]:
        """Give an empty question to each test that has none, and return the ids of these."""
        names = []
        for test in tests:
            holder = test.setdefault("vars", {}) if self.is_template else test
            if "input" not in holder:
                holder["input"] = ""
                names.append(test["id"])
        return names

    def _question(self, source: ExportSource) -> str:
        """Return the question of a case as the release reads it; empty if it would read another one."""
        text = source.question
        if not isinstance(text, str) or (not self.is_template and VARIABLE.search(text)):
            return ""
        return str(escape(text)) if self.is_template and not source.is_template else text

    def _test(self, context: ExportContext, case: _ExportCase, pass_at: Mark | None) -> dict[str, Any]:
        written = {"id": case.name, **case.converted.fields}
        if case.rubrics and not case.rubrics[0].source.place:
            fields: dict[str, Any] = {"input": self._question(case.rubrics[0].source)}
            if self.is_template:
                fields = {"vars": fields}
            written |= fields
        if pass_at not in {None, USUAL_THRESHOLDS.pass_at}:
            options = context.suite.fields if context.suite else {}
            if not self.is_template:
                options = options.get("execution", {})
            if str(as_number(pass_at)) != str(options.get("threshold")):
                written["execution"] = {"threshold": as_number(pass_at), **written.get("execution", {})}
        assertions = case.write_assertions(partial(self._assertion, context, case))
        if assertions:
            written[self.assertions] = assertions
        return written

    def _assertion(self, context: ExportContext, case: _ExportCase, member: _CaseRubric) -> dict[str, Any]:
        rubric = member.rubric
        _report_open_gates(context, member)
        extras = context.extras(member.name)
        if member.source.label and self.label not in extras:
            extras = {self.label: member.source.label, **extras}
        criteria = []
        for criterion in rubric.criteria:
            own = context.extras(member.name, rubric.place(criterion.path))
            criteria.append({**dict(_write_criterion(criterion)), **own})
        if self.is_template:
            extras = _split_gate(extras)
            criteria = escape(criteria)
            extras = extras if member.source.is_template else escape(extras)
        return {"type": self.kind, **member.weight_beside(case, extras), **extras, self.criteria: criteria}


def _choose_mark(context: ExportContext, case: _ExportCase) -> Mark | None:
    """Return the pass mark of a test, and report those of further rubrics; None if assertions hold all of them."""
    first: Mark | None = None
    for member in case.rubrics:
        if _holds_mark(context, member):
            continue
        own = member.rubric.thresholds.pass_at
        if first is None:
            first = own
        elif own != first:
            message = f"the threshold {own}: the test has only one, {first}"
            context.report_loss(member.name, member.rubric.path, message)
    return first


def _report_open_gates(context: ExportContext, member: _CaseRubric) -> None:
    """Report the gates of a rubric that an answer can miss and still pass: AgentV passes a test by its score."""
    criteria = member.rubric.criteria
    weights = [Fraction(1) if criterion.weight is None else to_fraction(criterion.weight) for criterion in criteria]
    total = sum(weights)
    pass_at = to_fraction(member.rubric.thresholds.pass_at)
    for criterion, weight in zip(criteria, weights, strict=True):
        if not criterion.gate:
            continue
        missed = best = Fraction(0)  # the most that the criterion, and the rubric, can get with the gate missed
        if criterion.scale:
            missed = Fraction(criterion.gate - 1, HIGHEST)
        if total:
            best = 1 - weight * (1 - missed) / total
        if best >= pass_at:
            effect = f"passes a test by its score, which reaches {float(best):.3g} with the gate missed"
            context.report_gate(member.name, criterion, f"{context.title} {effect}")


def _split_gate(assertion: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assertion in which `required` is true or false, as AgentV 5 reads it, and the gate is `min_score`."""
    share = assertion.get("required")
    if not isinstance(share, int | float) or isinstance(share, bool):
        return {**assertion}
    return {"min_score": share, **assertion, "required": True}


def _holds_mark(context: ExportContext, member: _CaseRubric) -> bool:
    """Return whether the assertion of a rubric holds its pass mark as a gate, so that it is none of the test."""
    extras = _split_gate(context.extras(member.name))
    mark = member.rubric.thresholds.pass_at
    return extras.get("required") is True and str(extras.get("min_score")) == str(as_number(mark))


_PROMPTS = ["{{ input }}"]


def _refuse_variables(context: ExportContext, rubrics: Iterable[_CaseRubric]) -> None:
    """Refuse a string in which AgentV 4 would insert an environment variable: it has no escape for that."""
    for member in rubrics:
        for criterion in member.rubric.criteria:
            texts = [(criterion.path, criterion.id), (criterion.path, criterion.outcome)]
            if criterion.scale:
                texts += [(band.path, band.outcome) for band in criterion.scale.bands]
            for path, text in texts:
                variable = VARIABLE.search(text or "")
                if variable:
                    message = f"{context.title} inserts an environment variable for `{variable[0]}`; reword the text"
                    raise ExportError(member.name, path, message)


def _write_criterion(criterion: Criterion) -> Iterator[tuple[str, Any]]:
    yield "id", criterion.id
    if criterion.outcome is not None:
        yield "outcome", criterion.outcome
    if criterion.weight is not None:
        yield "weight", as_number(criterion.weight)
    # Nothing can miss a gate of 0, and AgentV requires `min_score` to be above 0.
    if criterion.scale is None:
        yield "required", bool(criterion.gate)
    else:
        if criterion.gate:
            yield "min_score", as_number(Decimal(criterion.gate) / HIGHEST)
        bands = criterion.scale.bands
        yield "score_ranges", [{"score_range": list(bounds(band)), "outcome": band.outcome} for band in bands]


_ASKED = {
    Shape.CHECKLIST: "Each criterion is met or not. The score is the weighted share of the criteria that are met.",
    Shape.SCORE_RANGES: "Give each criterion a whole number from 0 to 10, in the range whose outcome describes the "
    "output best. The score is the weighted average of these numbers, divided by 10.",
    Shape.HOLISTIC: "Give the output a whole number from 0 to 10, in the range whose outcome describes it best. The "
    "score is that number, divided by 10.",
    Shape.LEVELS: "Choose for each criterion the level whose outcome describes the output best. A level is worth "
    "(level - lowest level) / (highest level - lowest level); the score is the weighted average of that.",
}
_WEIGHTS = " A criterion without `weight` has the weight 1."
_GATES = " A criterion below its `required_min_score` or `required_min_level` fails the output, whatever the score."


def _write_promptfoo(context: ExportContext) -> str:
    """Write a test for each case; the grader gets the rubric itself, so every shape works.

    Each assertion has a threshold: without one, a score of 0 can pass. promptfoo shows the description of a test, so
    the name of the case goes there, or into `metadata` if there is a description.
    """
    tests: list[dict[str, Any]] = []
    for case in group_cases(context):
        fields = dict(case.converted.fields)
        name = escape(str(fields.pop("id", case.name)))
        if fields.get("description"):
            fields["metadata"] = {"id": name, **as_mapping(fields.get("metadata"))}
        test = {"description": name, **fields}
        assertions = case.write_assertions(partial(_write_assertion, context, case))
        if assertions:
            test["assert"] = assertions
        tests.append(test)
    suite_fields = context.suite.fields if context.suite else {}
    return to_yaml({**suite_fields, "tests": tests})


def _format_scale(criterion: Criterion) -> str | None:
    """Write a criterion for a grader that gives a score from 0 to 1; None if a level is worth no short decimal.

    A level such as 1/3 would get another score than here.
    """
    lines = []
    if criterion.scale:
        for band in sorted(criterion.scale.bands, key=bounds):
            tenths = [f"{(Decimal(score) / HIGHEST).normalize():f}" for score in bounds(band)]
            lines.append(f"Score {' to '.join(dict.fromkeys(tenths))}: {band.outcome}")
    elif criterion.levels:
        levels = sort_levels(criterion)
        numbers = [level.number or 0 for level in levels]
        for level, number in zip(levels, numbers, strict=True):
            worth = Decimal(number - numbers[0]) / (numbers[-1] - numbers[0])
            if worth != round(worth, 2):
                return None
            named = f" ({level.name})" if level.name else ""
            lines.append(f"Score {worth.normalize():f}{named}: {level.outcome}")
    else:
        return criterion.outcome or ""
    paragraphs = ["Judge the output by this scale, and give the score that describes it best."]
    if criterion.outcome:
        paragraphs.append(criterion.outcome)
    return "\n\n".join([*paragraphs, "\n".join(lines)])


def _write_assertion(context: ExportContext, case: _ExportCase, member: _CaseRubric) -> dict[str, Any]:
    """Write several criteria as a set with an assertion for each, and other rubrics as one text for the grader.

    promptfoo passes a set with a threshold by the weighted average of its assertions, and one without if all of them
    pass. So a set keeps the average exactly; it has no gates but the threshold, nor can it stand in a set. A list
    would reach the grader as `[object Object]` or JSON without line ends, and promptfoo loads what begins with
    `file://`.
    """
    rubric = member.rubric
    label = {"metric": escape(member.source.label)} if member.source.label else {}
    extras = context.extras(member.name)
    written = extras if member.source.is_template else escape(extras)
    extras = {**label, **member.weight_beside(case, extras), **written}
    threshold = {"threshold": as_number(rubric.thresholds.pass_at)}
    has_gates = any(criterion.gate for criterion in rubric.criteria)
    are_required = all(criterion.gate and criterion.is_check for criterion in rubric.criteria)
    texts = [_format_scale(criterion) for criterion in rubric.criteria]
    if len(texts) > 1 and (are_required or not has_gates) and all(map(_is_text_for_grader, texts)):
        for scale in rubric.scales:
            report_uncovered(context, member.name, scale)
        checks = [_write_check(*pair) for pair in zip(as_entries(rubric, "promptfoo"), texts, strict=True)]
        if not are_required:
            return {"type": "assert-set", **extras, **threshold, "assert": checks}
        # Without a threshold of its own, an assertion passes with a score of 0 if the judge does not say `pass: false`.
        return {"type": "assert-set", **extras, "assert": [{**check, **threshold} for check in checks]}
    _report_grader(context, member, texts)
    instruction = _ASKED[rubric.shape or Shape.CHECKLIST]
    if rubric.shape is not Shape.HOLISTIC:
        instruction += _WEIGHTS
    if has_gates:
        instruction += _GATES
    prompt = f"Judge the output by this rubric, and give a score from 0 to 1. {instruction}\n\n"
    prompt += to_yaml({"rubrics": as_entries(rubric, "promptfoo")})
    return {"type": "llm-rubric", **extras, "value": escape(prompt), **threshold}


def _write_check(entry: Data | str, text: str | None) -> dict[str, Any]:
    """Write an assertion of a set for an entry of a rubric, whose grader gets the text."""
    check: dict[str, Any] = {"type": "llm-rubric"}
    if isinstance(entry, dict) and "id" in entry:
        check["metric"] = escape(entry["id"])
    if isinstance(entry, dict) and "weight" in entry:
        check["weight"] = entry["weight"]
    return {**check, "value": escape(text)}


def _report_grader(context: ExportContext, member: _CaseRubric, texts: Collection[str | None]) -> None:
    """Report what is lost if one grader gets a whole rubric, the `texts` of whose criteria are no set.

    Raises:
        TargetError: if the rubric has criteria of several shapes.
    """
    rubric = member.rubric
    if rubric.is_mixed:
        if any(criterion.gate for criterion in rubric.criteria):
            what = "gates"
        elif None in texts:
            what = "levels that are worth no decimal of two digits"
        else:
            what = "texts that begin with `file://`"
        message = f"criteria of several shapes, of which some have {what}: {context.title} has no set for them"
        raise TargetError(member.name, rubric.path, message)
    if len(rubric.criteria) > 1:
        effect = "the grader sees the weights and gives the score itself"
        context.report_loss(member.name, rubric.path, f"the exact average of the criteria: {effect}")
    for criterion in rubric.criteria:
        if criterion.gate:
            context.report_gate(member.name, criterion, f"{context.title} tells the grader, but does not enforce it")


def _is_text_for_grader(text: str | None) -> bool:
    """Return whether promptfoo gives a text to its grader as it is; it loads what begins with `file://`."""
    return text is not None and not text.startswith("file://")


RUBRIC = ExportTarget(
    "rubric",
    "rubric-lint",
    _write_rubric,
    has_cases=True,
    has_version_3=True,
    keeps_comments=True,
    keeps={"pass", "borderline"},
    writes_mark=True,
)
AGENTV_4 = ExportTarget(
    "agentv-4",
    "AgentV 4",
    _AgentV("assertions", "rubrics", "criteria", "name", is_template=False).write,
    shapes=(Shape.CHECKLIST, Shape.SCORE_RANGES),
    limit="its rubrics have checklist criteria or score ranges",
    has_cases=True,
    keeps={"pass"},
    writes_mark=True,
)
AGENTV_5 = replace(
    AGENTV_4,
    name="agentv-5",
    title="AgentV 5",
    writer=_AgentV("assert", "llm-rubric", "value", "metric", is_template=True).write,
)
PROMPTFOO = ExportTarget(
    "promptfoo",
    "promptfoo",
    _write_promptfoo,
    has_cases=True,
    mixes=True,
    keeps={"pass"},
    writes_mark=True,
)
