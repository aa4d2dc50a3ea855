"""Lint one file: turn its bytes into findings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.dialects.search.byte_signs import could_hold_rubrics
from rubric_lint.dialects.search.locate import Location, Search, find_meant, locate, search, speaks_of_rubrics
from rubric_lint.dialects.search.lost_rubrics import find_lost
from rubric_lint.dialects.search.near_misses import count_signs, find_unread, word_lost
from rubric_lint.finding import (
    Finding,
    Problem,
    Related,
    Result,
    Severity,
    Unread,
    pointer,
)
from rubric_lint.format.criterion import Shape
from rubric_lint.format.rubric import Rubric, SharedEntries, build_rubric
from rubric_lint.format.thresholds import Thresholds
from rubric_lint.lint.case_names import find_repeated
from rubric_lint.lint.found import Also, Found, Look, find_duplicate_keys
from rubric_lint.lint.message_context import name_criterion
from rubric_lint.lint.missing_rubrics import find_absence
from rubric_lint.lint.rubric_tests import count_tests, look_at_tests
from rubric_lint.project.settings import FileSettings
from rubric_lint.rules import BY_NAME, JUDGED_RULES, RULES
from rubric_lint.text.deadline import Clock, check_time
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path as DataPath
from rubric_lint.text.reading import read_documents, without_collections
from rubric_lint.text.source import Source, Span, UndecodableError
from rubric_lint.text.tree import SyntaxFaultError

if TYPE_CHECKING:
    from rubric_lint.lint.mending import Mending


class RuleError(Exception):
    """A rule crashed: a bug in rubric-lint, not an error in the file."""


class Examined(NamedTuple):
    """The result for one text, with its documents, their rubrics, and the errors of the parts that cannot be read."""

    result: Result
    documents: list[Document]
    rubrics: list[tuple[Document, Rubric]]
    faults: Sequence[SyntaxFaultError] = ()


DEFAULTS = FileSettings()


NameLine = Callable[[int], str]
"""A function that names the line of a related place in a message, given its number."""


def name_line(number: int) -> str:
    """Name a line of the text."""
    return f"line {number}"


@without_collections()  # until the documents are freed: collecting them would take as long as reading them
def lint(name: str, data: bytes, settings: FileSettings = DEFAULTS) -> Result:
    """Lint one file; the suffix of `name` selects YAML, JSON or JSON Lines.

    Raises:
        RuleError: if a rule crashes; no content of `data` should cause this.
    """
    return examine_file(name, data, settings).result


def examine_file(name: str, data: bytes, settings: FileSettings = DEFAULTS) -> Examined:
    """Lint one file, and return its documents and rubrics with the result; see `lint`.

    Raises:
        RuleError: if a rule crashes; no content of `data` should cause this.
    """
    if not settings.claimed and not could_hold_rubrics(data, name):
        return Examined(Result(Source(name, ""), ()), [], [])
    try:
        source = Source.from_bytes(name, data)
    except UndecodableError as fault:
        return Examined(report_faults(fault.source, [(fault.message, fault.span)], settings, "encoding"), [], [])
    return examine(source, settings)


@without_collections()
def examine(
    source: Source,
    settings: FileSettings = DEFAULTS,
    *,
    name_line: NameLine = name_line,
    look: Look | None = None,
    also: Also | None = None,
) -> Examined:
    """Lint one text, or `look` at it otherwise. `name_line` names the lines of related places in messages.

    `also` finds more than the rules do; the time limit does not apply to it.

    Raises:
        RuleError: if a rule crashes; no content of the text should cause this.
    """
    clock, held = Clock(settings.time_limit), Held([], [])
    documents, faults, found, findings = list[Document](), list[SyntaxFaultError](), list[Found](), list[Finding]()
    rubrics = held.rubrics
    with clock.phase():
        documents, faults = read_documents(source)
        problems = find_problems(documents, settings, held) if look is None else look.find(documents)
        for each in problems if documents or not faults else ():
            found.append(each)
            check_time()
    if faults and not documents:
        result = report_faults(source, [(fault.message, fault.span) for fault in faults], settings)
        return Examined(result, documents, [], faults)
    if also is not None:
        found.extend(also(rubrics, found))
    with clock.phase():
        findings = _make_findings(clock.take(_hand_over(found)), rubrics, settings, name_line)
    if told := [(fault.message, fault.span) for fault in faults if _is_of_rubrics(source, fault, among=rubrics)]:
        findings += report_faults(source, told, settings).findings
    ignored = 0
    if MARK in source.text.lower() and (findings or rubrics or settings.claimed):
        findings, ignored = _silence(source, documents, findings, settings, _LINTED if look is None else look.rules)
    result = Result(
        source=source,
        findings=tuple(sorted(findings, key=_order)),
        rubrics=len(rubrics),
        criteria=_count_criteria(rubrics),
        ignored=ignored,
        unread=tuple(held.unread),
        tests=count_tests(documents) if settings.is_test_file else 0,
    )
    return Examined(_stop(result, clock, settings) if clock.is_over else result, documents, rubrics, faults)


def _hand_over(found: list[Found]) -> Iterator[Found]:
    """Yield the items of a list and forget them, so that a problem and its finding are not kept at once."""
    found.reverse()
    while found:
        yield found.pop()


def _is_of_rubrics(source: Source, fault: SyntaxFaultError, *, among: Sequence[object]) -> bool:
    """Return whether a syntax error is that of a rubric: in a file with others, or in a cell that speaks of some."""
    if fault.within is None:
        return bool(among)
    return speaks_of_rubrics(Source(source.name, source.slice(fault.within)))


def _stop(result: Result, clock: Clock, settings: FileSettings) -> Result:
    """Mark the result as incomplete because time is up; if the file has rubrics, also add a finding."""
    if not (result.rubrics or settings.claimed or speaks_of_rubrics(result.source)):
        return result._replace(unread=(Unread(clock.message, 1, 1, is_known=False),), is_stopped=True)
    span = Span(0, min(1, len(result.source.text)))
    finding = _make_fault("time-limit", Severity.ERROR, clock.message, span)
    return result._replace(findings=(finding, *result.findings), is_stopped=True)


def find_problems(documents: Sequence[Document], settings: FileSettings, held: "Held") -> Iterator[Found]:
    """Find the problems in the documents of a file; add their rubrics to `held`."""
    if settings.is_test_file:
        yield from look_at_tests(documents)
        return
    searches = [search(document, version=settings.version, claimed=settings.claimed) for document in documents]
    for document, found in zip(documents, searches, strict=True):
        located = _build(document, found.rubrics, settings)
        held.rubrics.extend((document, rubric) for rubric in located)
        yield from find_duplicate_keys(document, located)
    lost = list(_find_lost(documents, searches, held, is_told=is_enabled("lost-rubric", settings)))
    yield from lost
    if not held.rubrics and not lost and not any(found.is_foreign for found in searches):
        for document, problem in find_absence(documents, settings):
            yield Found("schema", problem, document)
    for document, rubric in held.rubrics:
        check_time()
        if not isinstance(rubric.entries, SharedEntries):  # what is wrong with them is told once
            yield from _check(document, rubric)
    yield from find_repeated(held.rubrics, {(each.document, each.problem.path) for each in lost})


class Held(NamedTuple):
    """The rubrics and near-rubrics in the documents of a file."""

    rubrics: list[tuple[Document, Rubric]]
    unread: list[Unread]


def _find_lost(
    documents: Sequence[Document], searches: Sequence[Search], held: Held, *, is_told: bool
) -> Iterator[Found]:
    """Find the containers that lose their rubrics; add those that are not findings to `held`.

    Without `is_told`, the rule for them does not run, so none of them is a finding.
    """
    located = {document: found.rubrics for document, found in zip(documents, searches, strict=True)}
    in_suite, of_agentv = find_meant(located)
    for document, found in zip(documents, searches, strict=True):
        is_ours, has_any = in_suite or found.is_claimed, in_suite or (found.is_claimed and bool(found.rubrics))
        lost = list(find_lost(document, found, in_suite=has_any, of_agentv=of_agentv)) if is_ours else []
        yield from (Found("lost-rubric", problem, document) for problem in lost)
        paths = {problem.path for problem in lost}
        held.unread.extend(find_unread(document, found, paths, in_suite=is_ours, of_agentv=of_agentv))
        if lost and not is_told:
            held.unread.extend(word_lost(document, found, lost))


def _count_criteria(rubrics: list[tuple[Document, Rubric]]) -> int:
    models = (rubric.entries.first if isinstance(rubric.entries, SharedEntries) else rubric for _, rubric in rubrics)
    return sum(1 if model.shape is Shape.HOLISTIC else len(model.entries) for model in models)


MARK = "rubric-lint:"
"""The start of every comment that rubric-lint reads."""


_LINTED = frozenset(rule.name for rule in RULES if rule.command == "rubric-lint")


def _silence(
    source: Source, documents: list[Document], findings: list[Finding], settings: FileSettings, rules: frozenset[str]
) -> tuple[list[Finding], int]:
    """Remove the findings that ignore comments silence, and report comments on `rules` that silence nothing."""
    from rubric_lint.lint.ignore_comments import apply_ignores, find_ignores, find_unused  # noqa: PLC0415  (few files have any)

    ignores = find_ignores(source, documents)
    kept, silenced = apply_ignores(ignores, findings)
    if is_enabled("unused-ignore", settings):
        in_use = [name for name in rules if is_enabled(name, settings)]
        kept += find_unused(source, ignores, set(silenced), in_use, severity_of("unused-ignore", settings), kept=kept)
    return kept, len(silenced)


def _order(finding: Finding) -> tuple[int, int, str, str]:
    return finding.span.start, finding.span.end, finding.rule, finding.message


def severity_of(rule: str, settings: FileSettings) -> Severity:
    """Return the severity that a rule has under these settings."""
    return settings.severities.get(rule) or BY_NAME[rule].severity


def is_enabled(rule: str, settings: FileSettings) -> bool:
    """Return whether a rule runs under these settings."""
    return settings.enabled is None or rule in settings.enabled


def report_faults(
    source: Source, faults: Iterable[tuple[str, Span]], settings: FileSettings, code: str = "unreadable"
) -> Result:
    """Return the findings of an unreadable file, if it seems to contain rubrics."""
    if not (settings.claimed or speaks_of_rubrics(source)):
        message, span = next(iter(faults))
        line, column, _ = source.position(span.start)
        reason, signs = f"it cannot be read: {message}", count_signs(source.name)
        return Result(source, (), unread=(Unread(reason, line, column, is_known=False, signs=signs),))
    severity = severity_of("syntax", settings)
    return Result(source, tuple(_make_fault(code, severity, message, span) for message, span in faults))


def _make_fault(code: str, severity: Severity, reason: str, span: Span) -> Finding:
    return Finding("syntax", severity, reason, span, "", code=f"syntax.{code}", values={"reason": reason})


def build_rubrics(document: Document, settings: FileSettings) -> list[Rubric]:
    """Build the models of the rubrics of a document, in document order."""
    return _build(document, locate(document, version=settings.version, claimed=settings.claimed), settings)


def _build(document: Document, locations: Iterable[Location], settings: FileSettings) -> list[Rubric]:
    thresholds = Thresholds(settings.pass_at, settings.borderline_at)
    build = partial(build_rubric, document, thresholds=thresholds, implicit_required=settings.implicit_required)
    if not document.may_borrow:
        return [build(path, version, view=view) for path, version, view in locations]
    built: list[Rubric] = []
    first: dict[tuple[int, str], Rubric] = {}
    for path, version, view in locations:
        key = (id(document.value(path)), version)
        if view is None and (same := first.get(key)) is not None:
            entries = SharedEntries(same, partial(build, path, version))
            built.append(same._replace(path=path, entries=entries, ambiguous=()))
            continue
        built.append(build(path, version, view=view))
        if view is None:
            first[key] = built[-1]
    return built


def find_shape_problems(document: Document, rubric: Rubric) -> Iterator[tuple[str, Problem]]:
    """Find the violations of the JSON Schema: the names of the rules, and the problems."""
    value, schema = document.value(rubric.path), rubric.schema
    if not schema.is_valid(value):
        from rubric_lint.format.schema_problems import find_violations  # noqa: PLC0415  (sound rubrics need no words)

        tells_others = rubric.view is not None and rubric.view.dialect.tells_others
        for rule, problem in find_violations(schema, document, rubric.path, value):
            if not (tells_others and rule == "unknown-field" and not schema.knows(str(problem.path[-1]))):
                yield rule, problem
    if rubric.view:
        from rubric_lint.lint.foreign_fields import find_around  # noqa: PLC0415  (our own rubrics have none)

        yield from find_around(document, rubric, rubric.view)


def _check(document: Document, rubric: Rubric) -> Iterator[Found]:
    view = rubric.view
    without = view.dialect.without if view else ()
    for rule, problem in find_shape_problems(document, rubric):
        yield Found(rule, problem, document, rubric)
    for rule, problem in view.problems if view else ():
        yield Found(rule, problem, document, rubric)
    for name, _, _, check, *_ in RULES:
        if check is None or name in without:
            continue
        try:
            for problem in check(rubric):
                yield Found(name, view.translate(problem) if view else problem, document, rubric)
        except Exception as fault:
            raise RuleError(f"rule {name}: {type(fault).__name__}: {fault}") from fault


def _make_findings(
    found: Iterable[Found], rubrics: list[tuple[Document, Rubric]], settings: FileSettings, name_line: NameLine
) -> list[Finding]:
    """Turn problems into findings with places; an error that aliases repeat is one finding, at its definition."""
    mending: Mending | None = None
    findings: dict[tuple[str, Span, str], Finding] = {}
    enabled = {
        rule.name: settings.severities.get(rule.name) or rule.severity
        for rule in RULES
        if is_enabled(rule.name, settings)
    }
    for rule, problem, document, rubric in found:
        severity = enabled.get(rule)
        if severity is None:
            continue
        span = problem.span or document.span(problem.path, problem.part)
        template, values = BY_NAME[rule].messages[problem.code], problem.values
        related = _relate(document, problem) if problem.related else ()
        if "{line}" in template:
            line = name_line(document.source.position(related[0].span.start).line)
            values = {**values, "line": line}
        message, name = template.format_map(values), name_criterion(problem, rubric)
        key = (rule, span, name + message if rule in JUDGED_RULES else message)  # about one criterion
        if key not in findings:
            findings[key] = Finding(
                rule=rule,
                severity=severity,
                message=name + message,
                span=span,
                pointer=pointer(_number(problem.path, document)),
                related=related,
                code=f"{rule}.{problem.code}",
                values=values,
            )
            if problem.repair is not None or problem.choices:
                mending = mending or _start_mending(rubrics, settings)
                findings[key] = mending.mend(document, problem, findings[key])
    if all(rule != "ambiguous-scalar" for rule, _, _ in findings):
        return list(findings.values())  # nothing else can be an echo
    wanted: dict[Span, list[str]] = {}
    for finding in findings.values():
        if finding.severity is Severity.ERROR:
            wanted.setdefault(finding.span, []).append(str(finding.values.get("expected")))
    return [finding for finding in findings.values() if not _is_echo(finding, wanted.get(finding.span, []))]


def _start_mending(rubrics: list[tuple[Document, Rubric]], settings: FileSettings) -> "Mending":
    from rubric_lint.lint.mending import Mending  # noqa: PLC0415  (clean files need no fix)

    paths: dict[Document, list[DataPath]] = {}
    for document, rubric in rubrics:
        paths.setdefault(document, []).append(rubric.path)
    return Mending(paths, is_claimed=settings.claimed)


def _relate(document: Document, problem: Problem) -> tuple[Related, ...]:
    places = (
        (place.message, place.span or document.span(place.path, place.part), place.source) for place in problem.related
    )
    return tuple(Related(message, span, source) for message, span, source in places)


def _is_echo(finding: Finding, wanted: list[str]) -> bool:
    """Return whether an ambiguous-scalar finding adds nothing to the errors on its scalar.

    `wanted` is what each of the errors expects.
    """
    if finding.rule != "ambiguous-scalar" or not wanted:
        return False
    readings = f" is {finding.values['readings']}"
    is_boolean = " is true in " in readings or " is false in " in readings
    kind = "true or false" if is_boolean else "a number" if " is the number " in readings else "a string"
    return not any(expected.startswith(kind) for expected in wanted)


def _number(path: DataPath, document: Document) -> DataPath:
    return path if document.number is None else (document.number, *path)
