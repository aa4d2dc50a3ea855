"""Assess rubrics by the findings of their file, its tests, and what recorded outputs show."""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import click

from rubric_lint.assess.agreement.left_out import LeftOut
from rubric_lint.assess.agreement.reading import bare_text
from rubric_lint.assess.agreement.units import AnswerContext, read_context
from rubric_lint.assess.assess import (
    Assessment,
    Evidence,
    assess,
    assess_faulty_file,
    list_probe_evidence,
    make_test_evidence,
    sort_findings,
)
from rubric_lint.assess.judged.review import (
    NO_RESULTS,
    JudgedRun,
    RecordCache,
    RecordFile,
    RecordLine,
    RecordSources,
    Review,
    UnmatchedRecords,
    read_records,
)
from rubric_lint.assess.measure.decision import MeasureOptions
from rubric_lint.assess.probes import (
    PROBES,
    RubricProbes,
    compare_variants,
    draw_answers,
    has_result,
    make_variants,
    read_scored,
)
from rubric_lint.assess.rubric_tests.reading import find_needed, is_test_file
from rubric_lint.assess.rubric_tests.recordings import Recordings
from rubric_lint.assess.rubric_tests.running import Runner, ScoredTest
from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given, repeat_command
from rubric_lint.cli.output import JSON_LINES, choose_by_ending, escape_what_cannot_be_encoded, make_style, open_report
from rubric_lint.cli.score.judge import JudgeWork, judge_answers, name_results, open_account
from rubric_lint.cli.score.judge_options import SEED, find_access, make_plan
from rubric_lint.cli.score.judging import holds_secrets
from rubric_lint.cli.score.options import (
    check_field,
    check_label_scale,
    check_mapping,
    check_people,
    check_runs,
    find_labels,
    refuse_own_labels,
    require_existing,
)
from rubric_lint.judge.account import LimitedRun
from rubric_lint.judge.answers import AnswersError, check_answers
from rubric_lint.judge.journal import encode
from rubric_lint.lint.engine import examine_file
from rubric_lint.lint.project.files import File, Unreadable, read
from rubric_lint.lint.project.opening import STDIN, explain_os_error, read_chunks
from rubric_lint.lint.project.paths import is_same, name_sibling
from rubric_lint.lint.project.settings import SettingsFinder, shorten_path
from rubric_lint.lint.run.console import Progress
from rubric_lint.model.finding import Result
from rubric_lint.model.messages import UserError, counted, join_words, list_names, visible
from rubric_lint.model.suggest import Value
from rubric_lint.report import assessment, trust
from rubric_lint.report.judged import format_records, format_unmatched
from rubric_lint.rules import BY_NAME
from rubric_lint.scoring.flat import OF_TABLE, is_judged
from rubric_lint.scoring.grading import ScoringRubric, read_line
from rubric_lint.scoring.ids import Key, find_id, make_id_key, name_key
from rubric_lint.scoring.loading import (
    InvalidRubricError,
    LoadedRubric,
    load_examined,
    name_rubrics,
    refuse_other_kind,
    with_deciding,
)
from rubric_lint.scoring.records.mapping import JUDGE, RequiredColumns, has_side, select_side


class LintedFile:
    """A file of rubrics, its findings, and then what recorded outputs show.

    `examined` is the file as it was linted. `judged` and `labels` are the files of records that the settings name.
    `records` says which records were not used and why, `unmatched` which belong to no rubric, and `refused` why.
    `ignored` is the number of findings that comments silence, `off` has the rules that the settings switch off,
    `unread` what is wrong with files of records as a whole. `ran` has the rubric tests that `assess` ran, by rubric,
    with the recordings that they use.

    Raises:
        UserError: if the file cannot be read, or has no rubric that can be assessed.
    """

    def __init__(self, name: str, finder: SettingsFinder) -> None:
        settings = finder.for_file(name)
        self.file = File(name, with_deciding(settings))
        self.records: list[str] = []
        self.unmatched: list[UnmatchedRecords] = []
        self.refused: list[str] = []
        self.ignored = 0
        enabled = self.file.settings.enabled
        off = () if enabled is None else BY_NAME.keys() - enabled
        self.off = tuple(sorted(off))
        self.unread: list[str] = []
        self.has_errors = False
        of_folder = finder.find_nearest(name)
        self.judged, self.labels = (tuple(map(shorten_path, names)) for names in (of_folder.judged, of_folder.labels))
        self.ran: dict[str, list[tuple[ScoredTest, Recordings | None]]] = {}
        self._finder = finder
        self._loaded: dict[str, LoadedRubric] = {}
        data = read(self.file._replace(settings=settings._replace(claimed=True)))  # whole, whatever signs it shows
        if isinstance(data, Unreadable):
            raise UserError(f"{data.path}: {data.reason}")
        try:
            refuse_other_kind(name)
            self.examined = examine_file(name, data, self.file.settings)
            self._loaded = load_examined(name, self.examined)
        except InvalidRubricError:
            self.has_errors = True

    def prepare(self) -> dict[str, ScoringRubric]:
        """Return the rubrics by name, ready for scoring."""
        return {name: loaded.prepare() for name, loaded in self._loaded.items()}

    def assess(
        self,
        results: Sequence[str],
        labels: Sequence[str],
        asked: MeasureOptions,
        probes: Mapping[str, RubricProbes] = {},
    ) -> list[Assessment]:
        """Assess each rubric of the file; `probes` has what answers made worse show, by the rubric.

        If answers are known, only results with their ids count.

        Raises:
            UserError: if a file of records cannot be read.
        """
        result, reviews = self.examined.result, list[Review]()
        if results and not self.has_errors:
            cache = _AmongAnswers(asked) if asked.about else RecordCache(asked)
            result, reviews = self._review(cache, results, labels)
        self.ignored = result.ignored
        rubrics = name_rubrics(self.file.name, self.examined.rubrics)
        if not rubrics:
            return [assess_faulty_file(result.source, result.findings, asked)]
        reviews = reviews or [Review(loaded.name, fault=NO_RESULTS) for loaded in rubrics]
        findings = sort_findings(result.source, result.findings, rubrics)
        assessments = []
        for loaded, evidence, review in zip(rubrics, findings, reviews, strict=True):
            if not self.has_errors:
                evidence.extend(self._test(loaded.name))
            of_rubric = probes.get(loaded.name)
            if of_rubric is not None:
                evidence.extend(list_probe_evidence(loaded, of_rubric))
            assessments.append(assess(loaded, evidence, review, asked)._replace(probes=of_rubric))
        return assessments

    def _review(self, cache: RecordCache, results: Sequence[str], labels: Sequence[str]) -> tuple[Result, list[Review]]:
        """Return the findings with those that recorded outputs show, and what they show of each rubric."""
        run = JudgedRun(self._finder, (tuple(results), tuple(labels)), cache)
        if run.unreadable:
            raise UserError(*(f"{name}: {reason}" for name, reason in run.unreadable.items()))
        ((_, outcome),) = run.judge_all([(self.file, self.examined.result)])
        if isinstance(outcome, Unreadable):
            raise UserError(f"{outcome.path}: {outcome.reason}")
        if isinstance(outcome, Exception):
            raise outcome
        reviews = [reviewed.review for reviewed in run.reviewed]
        if isinstance(cache, _AmongAnswers):
            for place, review in enumerate(reviews):
                others = [found for name, found in cache.left_out.items() if name in {None, review.rubric}]
                reviews[place] = replace(review, left_out=(*review.left_out, *others))
        of_rubrics = {invalid for review in reviews for invalid in review.invalid}
        self.unread = [invalid.message for invalid in run.invalid if invalid not in of_rubrics]
        self.records, self.unmatched = list(format_records(run)), run.unmatched
        self.refused = list(format_unmatched(run))
        return outcome, reviews

    def _test(self, rubric: str) -> Iterator[Evidence]:
        """Yield the expectations that the rubric does not meet, of the rubric tests in its folder."""
        siblings = Path(self.file.name).parent.iterdir()
        for other in sorted(path.name for path in siblings if is_test_file(path.name)):
            path = name_sibling(self.file.name, other)
            # The first file that tests need is their rubric.
            if not any(is_same(rubric_file, self.file.name) for rubric_file in find_needed(path)[:1]):
                continue
            runner = Runner(self._finder)
            result = runner.run(File(path, self._finder.for_file(path)))
            if isinstance(result, Unreadable):
                self.records.append(f"{result.path}: {result.reason}")
                continue
            tested = runner.tested.get((self.file.name, rubric))
            if tested is None and len(self.examined.rubrics) > 1:
                continue
            if tested:
                for ran in tested.ran:
                    recordings = runner.recordings.get((ran.file.outputs, rubric, ran.file.mapping))
                    self.ran.setdefault(rubric, []).append((ran, recordings))
            for finding in result.findings:
                if finding.rule == "unmet-expectation":
                    yield make_test_evidence(result.source, finding)
                else:
                    line = result.source.position(finding.span.start).line
                    self.records.append(f"{path}:{line}: {finding.message}")


class _AmongAnswers(RecordCache):
    """Reads only the results of answers with certain ids; `left_out` has the others, by the rubric that they name.

    A result without the question or the text of its answer gets that of the answer.
    All results of runs of AgentV count, whose ids are of another kind.
    """

    def __init__(self, options: MeasureOptions) -> None:
        super().__init__(options)
        self._answers = {("", key): about for key, about in options.about.items()}
        self.left_out: dict[str | None, LeftOut] = {}

    def load(self, paths: tuple[tuple[str, ...], tuple[str, ...]]) -> RecordSources:
        """Load files of results and labels, and leave out other results.

        Raises:
            UserError: if no result is of one of the answers.
        """
        found = super().load(paths)
        results = tuple(map(self._narrow, found.results))
        if results and not any(lines for file in results for lines in file.lines.values()):
            others = [record for left_out in self.left_out.values() for record in left_out.records]
            names = ", ".join(file.path for file in results)
            known = sorted(name_key(key) for _, key in self._answers)
            raise UserError(
                f"{names}: no result has the id of an answer: results are {join_words(others[:3])}, answers "
                f"{list_names(known, 3)}; name the results of these answers with --results"
            )
        return replace(found, results=results)

    def _narrow(self, file: RecordFile) -> RecordFile:
        lines: dict[str | None, list[RecordLine]] = {}
        others: list[tuple[str | None, str]] = []
        own = {("", make_id_key(line.record.get("id"))) for line in chain.from_iterable(file.lines.values())}
        for name, every in file.lines.items():
            kept = lines.setdefault(name, [])
            for line in every:
                given = line.record.get("id")
                found = find_id(("", make_id_key(given)), self._answers, own)
                if "agentv" in line.record or given is None:
                    kept.append(line)
                elif found:
                    about = self._answers[found]
                    texts = {"question": about.question, "answer": about.answer}
                    known = {field: text for field, text in texts.items() if text and field not in line.record}
                    kept.append(replace(line, record={**known, **line.record}))
                else:
                    others.append((name, f"{file.path}:{line.line} ({name_key(make_id_key(given))})"))
        for name, place in others:
            self.left_out.setdefault(name, LeftOut("ANSWERS has no answer with the id of the result")).add(place)
        return replace(file, lines=lines)


def _describe_answers(given: Given, recorded: Sequence[str]) -> dict[Key, AnswerContext]:
    """Describe each answer by its id: what is known of it besides its results.

    It is empty if the answers are on stdin, or are the results: then one that is not there may lack a judge output.

    Raises:
        UserError: if the file cannot be read.
    """
    if not recorded or given.answers in {STDIN, *recorded}:
        return {}
    records = _decode_records(given.answers, select_side(given.mapping, ""))
    with_id = (record for record in records if record.get("id") is not None)
    return {make_id_key(record["id"]): read_context(record, _KNOWN) for record in with_id}


_KNOWN = frozenset({"id", "answer", "question", "reference", "rubric"})
"""The fields of an answer that have a meaning of their own."""


def _decode_records(name: str, mapping: Mapping[str, str], *, is_shared: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the records that can be decoded, with our names of fields; raise UserError if the file cannot be read."""
    try:
        file = read_records(name, mapping=mapping, wanted=RequiredColumns(is_shared=is_shared))
    except OSError as fault:
        raise UserError(f"{name}: {fault.strerror or fault}") from None
    yield from (line.record for line in chain.from_iterable(file.lines.values()))


def refuse_other_texts(answers: str, mapping: Mapping[str, str], results: Sequence[str]) -> None:
    """Refuse results of other texts than the answers with their ids have, as when answers are written anew.

    Raises:
        UserError: if there are any, or a file cannot be read.
    """
    texts = _read_texts(_decode_records(answers, select_side(mapping, "")))
    if not texts:
        return
    for name in results:
        judged = _read_texts(_decode_records(name, select_side(mapping, JUDGE), is_shared=True))
        others = [name_key(at[1]) for at, text in judged.items() if texts.get(at, text) != text]
        if others:
            raise UserError(
                f"{name}: the text of {list_names(others)} is not that in {answers}; have these answers "
                "judged, or name their results with --results"
            )


def _read_texts(records: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, Key], str]:
    """Return the letters and digits of each answer of some records, by rubric and id."""
    found: dict[tuple[Any, Key], str] = {}
    for record in records:
        text = bare_text(record.get("answer"))
        if text is not None:
            found[record.get("rubric"), make_id_key(record.get("id"))] = text
    return found


def run_assess(given: Given) -> int:
    """Assess the rubrics of a file, and return the exit code; see `assess`."""
    _check(given)
    endings = {".json": "json", ".md": "markdown", ".markdown": "markdown", ".txt": "full"}
    given.form = given.form or choose_by_ending(given.output, endings, "full")
    escape_what_cannot_be_encoded()
    linted = LintedFile(given.rubric, given.finder())
    if not linted.has_errors:
        check_label_scale(given, linted.prepare())
        check_mapping(given, linted.prepare())
    recorded: tuple[str, ...] = ()
    probes: dict[str, RubricProbes] = {}
    ending: LimitedRun | None = None
    if not linted.has_errors and given.models:
        code, recorded, probes, ending = _judge(given, linted)
        if code == Exit.USAGE:
            return code
    elif not linted.has_errors:
        recorded = given.results or _find_results(given, linted.prepare().values()) or linted.judged
        if given.answers not in recorded:
            refuse_other_texts(given.answers, given.mapping, recorded)
    line, target = read_line(given.fail_on), Fraction(str(given.target))
    asked = MeasureOptions(target, given.look, line, given.runs, given.by or "", given.label_scales)
    saved = f"; {recorded[0]} has what was judged" if given.models and recorded else ""
    with Progress(sys.stderr).reporting_interrupt(lambda: f"before the report was written{saved}"):
        labels = find_labels(given, [given.answers], linted.labels)
        asked = asked._replace(about=_describe_answers(given, recorded), mapping=given.mapping)
        found = linted.assess(recorded, labels, asked, probes)
        _check_assessed(found, given)
    inputs = _describe_run(given, linted, recorded, labels)._replace(ending=ending)
    style = make_style(given.color, is_file=given.output is not None)
    with open_report(given.output, Progress(sys.stderr), style) as write:
        assessment.FORMATS[given.form](found, inputs, style, write)
    if given.output is not None:
        for assessed in found:
            click.echo(f"{visible(assessed.rubric)}: {visible(trust.format_headline(assessed))}")
    return _EXITS[max((assessed.trust for assessed in found), key=list(_EXITS).index)]


def _describe_run(
    given: Given, linted: LintedFile, recorded: tuple[str, ...], labels: tuple[str, ...]
) -> trust.RunInputs:
    """Return the files and notes for reports, and the options that suggested commands repeat."""
    inputs = trust.RunInputs(
        given.rubric,
        given.named_answers,
        recorded,
        labels,
        linted.records,
        linted.unmatched,
        linted.ignored,
        linted.off,
        linted.unread,
        refused=linted.refused,
        settings=given.settings,
        mapping=given.map,
    )
    context = click.get_current_context()
    if given.models and not holds_secrets(context):
        inputs = inputs._replace(endpoint=_list_options_of_endpoint(given, context), again=repeat_command(context))
    if not linted.has_errors:
        inputs = inputs._replace(
            fault_of_judge=_find_fault(given, linted, is_to_judge=True),
            fault_of_labels=_find_fault(given, linted, is_to_judge=False),
        )
    return inputs


def _list_options_of_endpoint(given: Given, context: click.Context) -> dict[str, Value]:
    """Return the options of this run that say how another model is called, and what it may spend."""
    is_given = context.get_parameter_source("base_url") is click.core.ParameterSource.COMMANDLINE
    limits = {"max_requests": given.max_requests, "max_cost": given.max_cost, "max_tokens": given.max_tokens}
    return {
        "base_url": given.base_url if is_given else None,
        "api_key_env": [name for name in given.api_key_env if "=" not in name],  # others are for models of this run
        "prices": given.prices,
        **{name: str(limit) for name, limit in limits.items() if limit is not None},
    }


def _find_fault(given: Given, linted: LintedFile, *, is_to_judge: bool) -> str:
    """Return why another command cannot read the answers, to have them judged or to draw from them; empty if it can."""
    if given.answers == STDIN:
        return "standard input is read only once; save them in a file"
    try:
        mapping = select_side(given.mapping, "")
        # Labels may be of answers that `judge` refuses: results of a model, and several answers with one id.
        how: dict[str, Any] = {} if is_to_judge else {"reserved": frozenset(), "may_repeat": True}
        check_answers(read_chunks(given.answers), linted.prepare(), mapping, name=given.answers, **how)
    except AnswersError as wrong:
        return f"{given.answers}: {wrong.faults[0]}"
    except (OSError, ValueError) as fault:
        return f"{given.answers}: {explain_os_error(given.answers, fault)}"
    return ""


def _check_assessed(found: Sequence[Assessment], given: Given) -> None:
    """Refuse more outputs for a run than any answer has, and a field that no answer has.

    Raises:
        UserError: if that is so.
    """
    all_ratings = [assessed.review.ratings for assessed in found if assessed.review.ratings]
    check_runs(given.runs, all_ratings)
    check_people(given, all_ratings)
    if given.by and all_ratings:
        check_field(given.by, [about for ratings in all_ratings for about in ratings.about.values()])


def _check(given: Given) -> None:
    """Refuse stdin where it cannot be used, several files to write, and files that do not exist."""
    if given.probe and given.answers == STDIN:
        raise click.UsageError("--probe reads ANSWERS twice, so they cannot come from stdin; name a file")
    if given.models:
        check_results(given.results)
    if given.rubric == STDIN:
        raise click.UsageError("RUBRIC cannot be read from stdin, as its tests and results are next to it; name a file")
    if given.answers == STDIN and not given.models:
        raise click.UsageError("without --model, ANSWERS cannot come from stdin; write them to a file and name it")
    needed = [name for name in given.labels if name != STDIN]
    if not given.models:  # a model writes its results into a file that need not exist
        needed += given.results
    require_existing(needed)


def check_results(names: Sequence[str]) -> None:
    """Refuse several files, stdin, or another kind of file than JSON Lines for the results of a model."""
    if len(names) > 1:
        raise click.UsageError("--results: with --model, name one file")
    if STDIN in names:
        require_existing(names)
    for name in names:
        choose_by_ending(name, JSON_LINES, "jsonl", option="--results", advice="")


def _judge(given: Given, linted: LintedFile) -> tuple[int, tuple[str, ...], dict[str, RubricProbes], LimitedRun | None]:
    """Judge the answers, and variants of some.

    Return the exit code, the file of results, what variants show, and how a limit ended the judging of the answers.
    """
    output = Path(given.results[0]) if given.results else name_results(given.answers, None, "--results")
    refuse_own_labels(find_labels(given, [given.answers], linted.labels), [str(output)], given.mapping)
    access, plan = find_access(given.models, vars(given)), make_plan({**vars(given), "shuffle": SEED})
    account = open_account(given, access)
    work = JudgeWork(given, output, linted.prepare(), access, plan, account, option="--results")
    if given.probe:
        most = given.probe * len(work.rubrics) * len(PROBES) * plan.samples * len(access.calls)
        click.echo(f"up to {most:,} more requests for --probe, after the answers are judged", err=True)
    code = judge_answers(work)
    ending = account.ending
    # A limit may end the run before its first result, and a file without records would be refused.
    recorded = (str(output),) if output.stat().st_size else ()
    if code == Exit.USAGE or not given.probe:
        return code, recorded, {}, ending
    code, probes = _probe(work, given.probe)
    return code, recorded, probes, ending


def _probe(work: JudgeWork, count: int) -> tuple[int, dict[str, RubricProbes]]:
    """Have variants of some answers judged, and return the exit code and what they show, by the rubric."""
    with ExitStack() as opened:
        drawn = draw_answers(work.open_answers(opened).read(), count, SEED)
    judged = read_scored(str(work.output), work.rubrics)
    variants = [record for answer in drawn if has_result(answer, judged) for record in make_variants(answer)]
    output = Path(f"{str(work.output).removesuffix('.jsonl').removesuffix('.judged')}.probed.jsonl")
    code: int = Exit.CLEAN
    if variants:
        work_to_do = f"{counted(len(variants), 'variant')} of {counted(len(drawn), 'answer')} to judge"
        click.echo(visible(f"probing: {work_to_do}, with results in {output}"), err=True)
        made = b"".join(encode(record) + b"\n" for record in variants)
        code = judge_answers(work._replace(made=made, output=output))
    found = read_scored(str(output), work.rubrics) if output.is_file() else {}
    return code, {name: compare_variants(rubric, drawn, judged, found) for name, rubric in work.rubrics.items()}


_EXITS = {"trusted": Exit.CLEAN, "undecided": Exit.UNDECIDED, "not trusted": Exit.FOUND}
"""The exit codes; of several rubrics the one that is last here counts."""


def _find_results(given: Given, rubrics: Collection[ScoringRubric]) -> tuple[str, ...]:
    """Return the results next to the answers, or the file of answers if it has judgements; none if neither is."""
    answers = given.answers
    journal = name_results(answers, None, "--results")
    if journal.is_file():
        return (str(journal),)
    if has_side(given.mapping, JUDGE):
        return (answers,)
    file = read_records(answers, mapping=select_side(given.mapping, ""))
    # `checks` without `output` cannot be read, and the page says so, as `score` does.
    fields = {"output", "outputs", "checks"}
    for lines in file.lines.values():
        if not fields.isdisjoint(lines[0].record):
            return (answers,)
        for line in lines:
            is_row = rubrics and line.record.keys() >= OF_TABLE
            if is_row or any(is_judged(line.record, rubric) for rubric in rubrics):
                return (answers,)
    return ()
