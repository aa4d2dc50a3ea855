"""Lint one file: turn its bytes into findings."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.formats.search.documents import SUFFIXES as DOCUMENTS
from rubric_lint.formats.search.documents import find_in_document, is_document
from rubric_lint.formats.search.locate import (
    Location,
    Search,
    count_signs,
    find_claim,
    find_claim_span,
    find_intended_tools,
    holds_rubrics,
    may_be_missed,
    mentions_rubrics,
    search,
)
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import Criterion, Shape, Thresholds
from rubric_lint.model.finding import Finding, Problem, Related, RelatedPlace, Result, Severity, Unread
from rubric_lint.model.messages import find_near, join_words, shorten
from rubric_lint.model.recognition import CRITERIA, FIELD, Around
from rubric_lint.model.repairs import rename_fields
from rubric_lint.model.rubric import Rubric, SharedEntries, apply_threshold, build_rubric
from rubric_lint.model.schema import RubricSchema, schema_of
from rubric_lint.model.schema_files import VERSION_3, catalogue
from rubric_lint.model.suggest import name_in
from rubric_lint.model.triggers import find_triggers
from rubric_lint.rules import BY_NAME, JUDGED_RULES, RULES, checks_for
from rubric_lint.source.deadline import Clock, check_time
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.reading import read_documents, without_collections
from rubric_lint.source.source import DATA, Source, Span, UndecodableError
from rubric_lint.source.tree import SyntaxFaultError

if TYPE_CHECKING:
    from rubric_lint.lint.fix_builder import Fixes
    from rubric_lint.model.view import View


class FoundProblem(NamedTuple):
    """A problem that the rule of this name found in a document, and the rubric that it is in, if any."""

    rule: str
    problem: Problem
    document: Document
    rubric: Rubric | None = None


class ProblemFinder(NamedTuple):
    """Another way to look at a text: `find` yields problems in its documents, which rules named in `rules` report."""

    find: Callable[[Sequence[Document]], Iterable[FoundProblem]]
    rules: frozenset[str]


FindMore = Callable[[Sequence[tuple[Document, Rubric]], Sequence[FoundProblem]], Iterable[FoundProblem]]
"""A function that finds more problems in the rubrics of a text, given those that the rules found."""


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
    if not settings.is_named and not could_hold_rubrics(data, name):
        return Examined(Result(Source(name, ""), ()), [], [])
    try:
        source = Source.from_bytes(name, data)
    except UndecodableError as fault:
        return Examined(report_faults(fault.source, [fault], settings), [], [])
    if name.endswith(DOCUMENTS) and is_document(name) and not settings.claimed:
        return Examined(Result(source, (), unread=find_in_document(source)), [], [])
    return examine(source, settings)


@without_collections()
def examine(
    source: Source,
    settings: FileSettings = DEFAULTS,
    *,
    name_line: NameLine = name_line,
    problem_finder: ProblemFinder | None = None,
    find_more: FindMore | None = None,
) -> Examined:
    """Lint one text by all rules, or by `problem_finder`. `name_line` names the lines of related places in messages.

    `find_more` finds more than the rules do; the time limit does not apply to it.

    Raises:
        RuleError: if a rule crashes; no content of the text should cause this.
    """
    clock, located = Clock(settings.time_limit), LocatedRubrics([], [])
    documents: list[Document] = []
    faults: list[SyntaxFaultError] = []
    found: list[FoundProblem] = []
    findings: list[Finding] = []
    rubrics = located.rubrics
    with clock:
        documents, faults = read_documents(source)
        problems: Iterable[FoundProblem]
        if problem_finder is None:
            problems = find_problems(documents, settings, located)
        else:
            problems = problem_finder.find(documents)
        problems = problems if documents or not faults else ()
        for problem in problems:
            found.append(problem)
            check_time()
    if faults and not documents:
        return Examined(report_faults(source, faults, settings), documents, [], faults)
    if find_more is not None:
        found.extend(find_more(rubrics, found))
    with clock:
        findings = _make_findings(clock.take(found), rubrics, settings, name_line)
    if faults and (rubrics or settings.part):  # a syntax error in a file with rubrics is that of one
        findings += report_faults(source, faults, settings).findings
    ignored = 0
    if MARK in source.text.lower() and (findings or rubrics or settings.is_named):
        rules = None if problem_finder is None else problem_finder.rules
        findings, ignored = _silence(source, documents, findings, settings, rules)
    findings.sort(key=lambda finding: (*finding.span, finding.rule, finding.message))
    if clock.is_over:
        if rubrics or settings.is_named or mentions_rubrics(source):
            span = Span(0, min(1, len(source.text)))
            findings.insert(0, _make_fault("time-limit", Severity.ERROR, clock.message, span))
        else:
            located.unread[:] = [Unread(clock.message, 1, 1, is_known=False)]
    unread = tuple(place._replace(reason=name_in(place.reason, source.name)) for place in located.unread)
    criteria = sum(_count_criteria(rubric) for _, rubric in rubrics)
    result = Result(source, tuple(findings), len(rubrics), criteria, ignored, unread, clock.is_over)
    if settings.is_test_file:
        from rubric_lint.lint.rubric_tests import count_tests  # noqa: PLC0415  (most files hold no tests)

        result = result._replace(tests=count_tests(documents))
    return Examined(result, documents, rubrics, faults)


def _count_criteria(rubric: Rubric) -> int:
    """Count the criteria of a rubric; a holistic one, whose entries are bands, has one."""
    model = rubric.entries.first if isinstance(rubric.entries, SharedEntries) else rubric
    has_bands = len(model.criteria) < len(model.entries)
    return 1 if has_bands and model.shape is Shape.HOLISTIC else len(model.entries)


def find_problems(
    documents: Sequence[Document], settings: FileSettings, located_rubrics: "LocatedRubrics"
) -> Iterator[FoundProblem]:
    """Find the problems in the documents of a file; add their rubrics to `located_rubrics`."""
    if settings.is_test_file:
        yield from check_test_files(documents)
        return
    rubrics = located_rubrics.rubrics
    searches = [_search(document, settings) for document in documents]
    for document, found in zip(documents, searches, strict=True):
        located = _build(document, found.rubrics, settings)
        rubrics.extend((document, rubric) for rubric in located)
        yield from find_duplicate_keys(document, located)
    lost = list(_find_lost(documents, searches, located_rubrics, is_finding=is_enabled("lost-rubric", settings)))
    yield from lost
    is_complete = settings.is_followed or not any(rubric.dialect.startswith("agentv") for _, rubric in rubrics)
    if settings.part or settings.unfollowed or not is_complete:
        yield from _find_unfollowed(documents, settings, located_rubrics)
    if not rubrics and not lost and not any(found.is_foreign for found in searches):
        for document, problem in _find_absence(documents, settings):
            yield FoundProblem("schema", problem, document)
    for document, rubric in rubrics:
        check_time()
        if not isinstance(rubric.entries, SharedEntries):  # what is wrong with them is reported once
            yield from _check(document, rubric)
    if len(rubrics) > 1:
        from rubric_lint.lint.case_names import find_repeated  # noqa: PLC0415  (one rubric repeats no other)

        known = {(finding.document, finding.problem.path) for finding in lost}
        for problem, document in find_repeated(rubrics, known):
            yield FoundProblem("repeated-case", problem, document)


def _search(document: Document, settings: FileSettings) -> Search:
    """Find the rubrics of a document as its settings say."""
    return search(
        document, version=settings.version, claimed=settings.claimed, shapes=settings.shapes, part=settings.part
    )


def check_test_files(documents: Sequence[Document]) -> Iterator[FoundProblem]:
    """Find what is wrong in the form of a file with rubric tests."""
    from rubric_lint.lint.rubric_tests import check_tests  # noqa: PLC0415  (most files hold no tests)

    for document in documents:
        yield from find_duplicate_keys(document, [], is_ours=True)
    yield from (FoundProblem(*problem) for problem in check_tests(documents))


def find_duplicate_keys(document: Document, located: list[Rubric], *, is_ours: bool = False) -> Iterator[FoundProblem]:
    """Find keys that are written twice in one mapping, in a document that is ours or holds rubrics."""
    duplicates = document.duplicates
    is_relevant = is_ours or bool(located) or any(holds_rubrics({one.key: one.shadowed}) for one in duplicates)
    if not duplicates or not is_relevant:
        return
    holders = {rubric.path: rubric for rubric in reversed(located)}
    for _, owner, key, first, second, _ in duplicates:
        related = (RelatedPlace("the first one", (), span=first),)
        problem = Problem("repeated", (*owner, key), values={"key": key}, span=second, related=related)
        above = (owner[:length] for length in range(len(owner) + 1))
        holder = next((holders[path] for path in above if path in holders), None)
        yield FoundProblem("duplicate-key", problem, document, holder)


def _find_absence(documents: Sequence[Document], settings: FileSettings) -> Iterator[tuple[Document, Problem]]:
    """Find documents without rubrics whose file name or schema promises some, or whose schema version is unknown."""
    if settings.shapes:
        from rubric_lint.formats.home_made.reading import find_lack  # noqa: PLC0415  (few settings describe a format)

        yield from ((document, find_lack(document, settings.shapes[0])) for document in documents[:1])
        return
    for document in documents:
        claim = find_claim(document)
        if claim and not claim.is_known:
            span = find_claim_span(document)
            if span is None:
                continue  # the comment above the first document, where it is said
            known = join_words(sorted({entry.version for entry in catalogue() if entry.name == claim.name}))
            values = {"known": known, "version": claim.version}
            yield document, Problem("unknown-version", (), values=values, span=span)
        elif settings.is_rubric_file or (claim and claim.name == "rubric"):
            near = find_near(FIELD, document.data) if isinstance(document.data, dict) else []
            if near:
                yield document, Problem("no-rubrics-misspelt", (near[0],), Part.KEY, {"near": near[0]})
            else:
                yield document, _explain_no_rubrics(document)
            return


def _explain_no_rubrics(document: Document) -> Problem:
    from rubric_lint.model.schema_problems import format_claim  # noqa: PLC0415  (few files lack their rubric)
    from rubric_lint.model.version_3 import holds_rubric  # noqa: PLC0415  (as above)

    if document.kind not in DATA:
        return Problem("no-rubrics-kind", (), Part.HEAD)
    claim = find_claim(document)
    if claim and claim.version == VERSION_3:
        return Problem("no-criteria-version-3", (), Part.HEAD)
    if not (holds_rubric(document.data) and document.data[CRITERIA]):
        return Problem("no-rubrics", (), Part.HEAD)
    return Problem("no-rubrics-version-3", (CRITERIA,), Part.KEY, {"how": format_claim(document, ())})


class LocatedRubrics(NamedTuple):
    """The rubrics and near-rubrics in the documents of a file."""

    rubrics: list[tuple[Document, Rubric]]
    unread: list[Unread]


def _find_lost(
    documents: Sequence[Document], searches: Sequence[Search], located_rubrics: LocatedRubrics, *, is_finding: bool
) -> Iterator[FoundProblem]:
    """Find the containers that lose their rubrics; add those that are not findings to `located_rubrics`.

    Without `is_finding`, the rule for them does not run, so none of them is a finding.
    """
    if not any(map(may_be_missed, documents, searches)):
        return
    located = {document: found.rubrics for document, found in zip(documents, searches, strict=True)}
    in_suite, of_agentv = find_intended_tools(located)
    from rubric_lint.formats.search.near_misses import find_lost, find_unread, list_lost  # noqa: PLC0415  (few files)

    for document, found in zip(documents, searches, strict=True):
        is_ours, has_any = in_suite or found.is_claimed, in_suite or (found.is_claimed and bool(found.rubrics))
        lost = list(find_lost(document, found, in_suite=has_any, of_agentv=of_agentv)) if is_ours else []
        yield from (FoundProblem("lost-rubric", problem, document) for problem in lost)
        paths = {problem.path for problem in lost}
        located_rubrics.unread.extend(find_unread(document, found, paths, in_suite=is_ours, of_agentv=of_agentv))
        if lost and not is_finding:
            located_rubrics.unread.extend(list_lost(document, found, lost))


def _find_unfollowed(
    documents: Sequence[Document], settings: FileSettings, located_rubrics: LocatedRubrics
) -> Iterator[FoundProblem]:
    """Find the files that AgentV cannot load with a suite; add those that are only not read to the near misses."""
    from rubric_lint.formats.agentv.files import (  # noqa: PLC0415  (few suites name files)
        Effect,
        find_ignored,
        find_misshapen_cases,
        find_unfollowed,
        find_values,
        format_unread,
    )

    for document in documents:
        for path, found in find_misshapen_cases(document):
            yield FoundProblem("lost-rubric", Problem("agentv-cases", path, Part.HEAD, {"found": found}), document)
        if settings.is_for_five:
            for problem in find_ignored(document):
                yield FoundProblem("lost-rubric", problem, document)
        for other, why in find_unfollowed(document, settings.unfollowed, is_followed=settings.is_followed):
            if why.effect is Effect.LOST and is_enabled("lost-rubric", settings):
                values = find_values(other, why)
                yield FoundProblem("lost-rubric", Problem("agentv-file", other.path, values=values), document)
            elif why.effect is not Effect.EXCLUDED:
                line, column, _ = document.source.position(document.span(other.path).start)
                located_rubrics.unread.append(Unread(format_unread(other, why), line, column, is_known=True))


MARK = "rubric-lint:"
"""The start of every comment that rubric-lint reads."""


def _silence(
    source: Source,
    documents: list[Document],
    findings: list[Finding],
    settings: FileSettings,
    rules: frozenset[str] | None,
) -> tuple[list[Finding], int]:
    """Remove the findings that ignore comments silence, and report comments on `rules` that silence nothing.

    Without `rules`, it is about all that linting reports.
    """
    from rubric_lint.lint.ignore_comments import apply_ignores, find_ignores, find_unused  # noqa: PLC0415  (few files)

    ignores = find_ignores(source, documents)
    kept, silenced = apply_ignores(ignores, findings)
    if is_enabled("unused-ignore", settings):
        linted = [rule.name for rule in RULES if rule.command == "rubric-lint"] if rules is None else rules
        in_use = [name for name in linted if is_enabled(name, settings)]
        kept += find_unused(source, ignores, set(silenced), in_use, severity_of("unused-ignore", settings), kept=kept)
    return kept, len(silenced)


def severity_of(rule: str, settings: FileSettings) -> Severity:
    """Return the severity that a rule has under these settings."""
    return settings.severities.get(rule) or BY_NAME[rule].severity


def is_enabled(rule: str, settings: FileSettings) -> bool:
    """Return whether a rule runs under these settings."""
    return settings.enabled is None or rule in settings.enabled


def report_faults(
    source: Source, faults: Sequence[SyntaxFaultError | UndecodableError], settings: FileSettings
) -> Result:
    """Return the findings of an unreadable file, if it seems to contain rubrics."""
    if not (settings.is_named or mentions_rubrics(source)):
        line, column, _ = source.position(faults[0].span.start)
        reason, signs = f"it cannot be read: {faults[0].message}", count_signs(source.name)
        return Result(source, (), unread=(Unread(reason, line, column, is_known=False, signs=signs),))
    severity = severity_of("syntax", settings)
    code = "encoding" if isinstance(faults[0], UndecodableError) else "unreadable"
    return Result(source, tuple(_make_fault(code, severity, fault.message, fault.span) for fault in faults))


def _make_fault(code: str, severity: Severity, reason: str, span: Span) -> Finding:
    return Finding("syntax", severity, reason, span, "", code=f"syntax.{code}", values={"reason": reason})


def build_rubrics(document: Document, settings: FileSettings) -> list[Rubric]:
    """Build the models of the rubrics of a document, in document order."""
    return _build(document, _search(document, settings).rubrics, settings)


def _build(document: Document, locations: Iterable[Location], settings: FileSettings) -> list[Rubric]:
    thresholds = Thresholds(settings.pass_at, settings.borderline_at)
    implicit_required = settings.implicit_required

    def build(path: Path, version: str, view: "View | None", around: Around) -> Rubric:
        return build_rubric(document, path, version, thresholds, around, implicit_required=implicit_required, view=view)

    if not document.may_borrow:
        return [build(*location) for location in locations]
    built: list[Rubric] = []
    first: dict[tuple[int, str], Rubric] = {}
    for path, version, view, around in locations:
        key = (id(document.value(path)), version)
        same = first.get(key) if view is None else None
        if same is not None:
            entries = SharedEntries(same, partial(build, path, version, None, around))
            own = apply_threshold(thresholds, around.threshold, is_gate=around.is_gate)
            built.append(same._replace(path=path, entries=entries, ambiguous=(), thresholds=own, doubts=around.doubts))
            continue
        built.append(build(path, version, view, around))
        if view is None:
            first[key] = built[-1]
    return built


def find_shape_problems(document: Document, rubric: Rubric) -> Iterator[tuple[str, Problem]]:
    """Find the violations of JSON Schemas, and misspelt fields: the names of the rules, and the problems."""
    value, schema = rubric.read_value(document), rubric.schema
    if not schema.is_valid(value):
        from rubric_lint.model.schema_problems import find_violations  # noqa: PLC0415  (sound rubrics need no words)

        reports_unread_fields = rubric.view is not None and rubric.view.dialect.reports_unread_fields
        for rule, problem in find_violations(schema, document, rubric.path, value):
            if not (reports_unread_fields and rule == "unknown-field" and not schema.knows(str(problem.path[-1]))):
                yield rule, problem
    if rubric.path[-1:] == (FIELD,) and not rubric.dialect:
        yield from _find_misplaced(document, rubric)
    view = rubric.view
    if view is None or not view.dialect.name:
        return
    for place in dict.fromkeys(view.place(entry.path) for entry in rubric.entries):
        yield from _find_misspelt(schema, "entry", document, place, view)
    reference = (
        view.holder_definition or view.dialect.holder_definition
    )  # what the mapping follows that holds the rubric
    if reference:
        from rubric_lint.model.schema_problems import find_in  # noqa: PLC0415  (our own rubrics need nothing there)

        around = schema_of(reference)
        path = view.path[:-1] if view.holder_path is None else view.holder_path
        yield from find_in(around, around.whole, document, path, document.value(path))
        yield from _find_misspelt(around, around.whole, document, path, view)


def _find_misplaced(document: Document, rubric: Rubric) -> Iterator[tuple[str, Problem]]:
    """Find what is wrong with the siblings of `rubrics` in a file that follows version 3, or says it follows 2."""
    holder = rubric.path[:-1]
    if rubric.version != VERSION_3 and (holder or _OF_VERSION_3.isdisjoint(document.data)):
        return
    from rubric_lint.model.schema_problems import find_misplaced, format_claim  # noqa: PLC0415  (few files have any)

    claim = find_claim(document)
    if rubric.version == VERSION_3:
        in_suite = bool(holder) or (claim is not None and claim.name != "rubric")
        found = find_misplaced(rubric.schema, document, rubric.path, in_suite=in_suite)
        yield from (("schema", problem) for problem in found)
        return
    if not claim or claim.name != "rubric":
        return
    for name in document.data:
        if name in _OF_VERSION_3:
            values = {"field": name, "how": format_claim(document, rubric.path)}
            yield "unknown-field", Problem("version-3", (name,), Part.KEY, values)


_OF_VERSION_3 = frozenset(
    {"scale", "criteria", "pass_threshold", "borderline_threshold", "grades", "critical_failures"}
)
"""The fields of a rubric of version 3, which in a file of version 2 that says so are a slip."""


def _find_misspelt(
    schema: RubricSchema, definition: str, document: Document, path: Path, view: "View"
) -> Iterator[tuple[str, Problem]]:
    """Find the fields of a mapping that are unknown, but like a known one; where unknown ones are errors, none."""
    value = document.value(path)
    if not isinstance(value, dict) or schema.definitions.get(definition, {}).get("additionalProperties") is False:
        return
    known = schema.fields_of(definition)
    meant: dict[str, str] = {}
    for name in value:
        near = find_near(name, known) if name not in known else []
        if near:
            meant[name] = near[0]
    counts = Counter(meant.values())
    for name, field in meant.items():
        if field not in value:
            values = {"field": shorten(name), "system": view.dialect.title, "near": field}
            repair = None
            if counts[field] == 1:  # two may mean it, and only one can have it
                renamed = {field if key == name else key: item for key, item in value.items()}
                if all(fault.path[:1] != (field,) for fault in schema.find_faults(definition, renamed)):
                    repair = rename_fields([((*path, name), field)])
            yield "unknown-field", Problem("ignored", (*path, name), Part.KEY, values, repair=repair)


def _check(document: Document, rubric: Rubric) -> Iterator[FoundProblem]:
    view = rubric.view
    without = view.dialect.without if view else ()
    for name, problem in find_shape_problems(document, rubric):
        if name not in without:
            yield FoundProblem(name, problem, document, rubric)
    if view:
        for name, problem in view.problems:
            yield FoundProblem(name, problem, document, rubric)
    for name, check in checks_for(find_triggers(rubric)):
        if name in without:
            continue
        is_placed = name == "ambiguous-scalar" and view is not None and not view.has_own_scalars
        try:
            for problem in check(rubric):
                placed = view.translate(problem, is_placed=is_placed) if view else problem
                yield FoundProblem(name, placed, document, rubric)
        except Exception as fault:
            raise RuleError(f"rule {name}: {type(fault).__name__}: {fault}") from fault


def _make_findings(
    found: Iterable[FoundProblem], rubrics: list[tuple[Document, Rubric]], settings: FileSettings, name_line: NameLine
) -> list[Finding]:
    """Turn problems into findings with places; an error that aliases repeat is one finding, at its definition."""
    builder = None
    findings: dict[tuple[str, Span, str], Finding] = {}
    may_be_echo = False
    for rule, problem, document, rubric in found:
        if settings.enabled is not None and rule not in settings.enabled:
            continue
        code, path, part, values, places, repair, span, choices, _, obstacle = problem
        span = span or document.span(path, part)
        template = BY_NAME[rule].messages[code]
        has_line = "{line}" in template
        criterion = _find_criterion(path, rubric) if rubric is not None else None
        name = f"{criterion.label}: " if criterion is not None else _name_group(path, rubric)
        # Without the line: what several aliases of one text lack is one finding, and the line is another for each.
        shown_values = {**values, "line": ""} if has_line else values
        message = template.format_map(shown_values)
        text = name + message if rule in JUDGED_RULES else message
        key = (rule, span, text)  # about one criterion
        if key in findings:
            continue
        related = tuple([_relate(document, place) for place in places]) if places else ()
        fixes: Fixes = (None, obstacle, ())
        if repair is not None or choices:
            if builder is None:
                from rubric_lint.lint.fix_builder import FixBuilder  # noqa: PLC0415  (clean files need no fix)

                builder = FixBuilder(rubrics, is_claimed=settings.claimed)
            fixes = builder.build(document, problem)
        if has_line:
            values = {**values, "line": name_line(document.source.position(related[0].span.start).line)}
            message = template.format_map(values)
        severity, place = severity_of(rule, settings), document.pointer(path)
        findings[key] = Finding(
            rule,
            severity,
            name + message,
            span,
            place,
            related,
            *fixes,
            code=f"{rule}.{code}",
            values=values,
            criterion=_identify(document, criterion),
        )
        may_be_echo = may_be_echo or rule == "ambiguous-scalar"
    return _leave_out_echoes(findings.values()) if may_be_echo else list(findings.values())


def _relate(document: Document, place: RelatedPlace) -> Related:
    span = place.span or document.span(place.path, place.part)
    return Related(place.message, span, place.source, place.path)


def _find_criterion(path: Path, rubric: Rubric) -> Criterion | None:
    """Find the innermost criterion at the place of a problem; bands of a holistic rubric are none."""
    criteria = rubric.entries_by_place
    found = None
    if rubric.view is None:
        found = criteria.get(path[: len(rubric.path) + 1])  # its entries are directly below it
    else:
        prefixes = (path[:length] for length in range(len(path), -1, -1))
        found = next((criteria[prefix] for prefix in prefixes if prefix in criteria), None)
    return None if found is None or found.shapes[0] is Shape.HOLISTIC else found


def _name_group(path: Path, rubric: Rubric | None) -> str:
    """Name the innermost group at the place of a problem that is in no criterion; empty if there is none."""
    groups = rubric.groups if rubric else ()
    around = [group for group in groups if path[: len(group.path)] == group.path]
    if not around:
        return ""
    innermost = max(around, key=lambda group: len(group.path))
    return f"group `{shorten(innermost.id)}`: "


def _identify(document: Document, criterion: Criterion | None) -> tuple[str, ...]:
    """Return the signs that identify a criterion: its place, its id and its text."""
    if criterion is None:
        return ()
    return document.pointer(criterion.path), f"id {criterion.id}", f"text {criterion.first_text}"


def _leave_out_echoes(findings: Collection[Finding]) -> list[Finding]:
    """Leave out the ambiguous-scalar findings that add nothing to the errors on their scalars."""
    expected: dict[Span, list[str]] = {}
    for finding in findings:
        if finding.severity is Severity.ERROR:
            expected.setdefault(finding.span, []).append(str(finding.values.get("expected")))
    return [finding for finding in findings if not _is_echo(finding, expected.get(finding.span, []))]


def _is_echo(finding: Finding, expected: list[str]) -> bool:
    """Return whether a finding only says that a scalar is ambiguous where errors expect another kind of value."""
    if finding.rule != "ambiguous-scalar" or not expected:
        return False
    readings = f" is {finding.values['readings']}"
    is_boolean = " is true in " in readings or " is false in " in readings
    kind = "a string"
    if is_boolean:
        kind = "true or false"
    elif " is the number " in readings:
        kind = "a number"
    return not any(description.startswith(kind) for description in expected)
