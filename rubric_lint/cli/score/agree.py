"""Define `agree`, which measures how well judges agree with people and with each other, and `labels`, its sheets."""

import gc
import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import command, open_page, require_file_name
from rubric_lint.cli.output import (
    choose_by_ending,
    columns,
    escape_what_cannot_be_encoded,
    open_report,
    refuse_same_file,
)
from rubric_lint.cli.score.options import (
    check_answer_fields,
    check_field,
    check_label_scale,
    check_people,
    check_reading,
    check_runs,
    find_labels,
    load,
    refuse_own_labels,
    require_existing,
)
from rubric_lint.lint.project.opening import STDIN, explain_os_error, name_input, read_chunks
from rubric_lint.lint.project.paths import is_same
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.messages import UserError, point_to_known, visible
from rubric_lint.model.suggest import suggest
from rubric_lint.report.terminal import Style

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rubric_lint.assess.agreement.analysis import AgreementLimit
    from rubric_lint.assess.agreement.ratings import Ratings
    from rubric_lint.assess.agreement.reading import RatingReader
    from rubric_lint.judge.answers import Answer
    from rubric_lint.report.agreement import AgreementReport
    from rubric_lint.scoring.grading import ScoringRubric
    from rubric_lint.scoring.records.parse_options import ParseOptions


ON_A_PAGE = 200
"""The disagreements to list on a page, unless --worst says it."""


def measure_agreement(
    rubrics: "Mapping[str, ScoringRubric]",
    results: tuple[str, ...],
    labels: tuple[str, ...],
    reading: "ParseOptions",
    mapping: "Mapping[str, str]",
) -> "AgreementReport":
    """Compare results with labels as `rubric-score agree` does by default.

    `mapping` has for each field of the results the column that it has in their files.

    Raises:
        UserError: if a file cannot be read, or nothing can be compared.
    """
    from rubric_lint.assess.agreement.analysis import analyse_all
    from rubric_lint.assess.agreement.reading import RatingReader, UnusableRatingsError
    from rubric_lint.assess.measure.decision import MeasureOptions
    from rubric_lint.report.agreement import AgreementReport

    reader = RatingReader(rubrics, reading, mapping=mapping)
    read_files(reader, results, labels, mapping)
    try:
        ratings = reader.join()
    except UnusableRatingsError as unusable:
        complain_of_records(reader, labels)
        raise UserError(f"--labels: {unusable}") from None
    plan = MeasureOptions(worst=ON_A_PAGE)
    complain_of_records(reader, labels)
    return AgreementReport(analyse_all(ratings, plan), (), reader.invalid, reader.left_out)


def read_files(
    reader: "RatingReader",
    results: tuple[str, ...],
    labels: tuple[str, ...],
    mapping: "Mapping[str, str]",
) -> None:
    """Read all files; raise UserError if one is named twice, cannot be read or has no records."""
    from rubric_lint.scoring.records.mapping import HUMAN, JUDGE, RequiredColumns, list_own_fields, select_side
    from rubric_lint.scoring.records.streams import StreamOptions

    refuse_own_labels(labels, results, mapping)
    for names, are_labels in ((results, False), (labels, True)):
        for place, name in enumerate(names):
            label = name_input(name)
            if any(is_same(name, other) for other in names[:place]):
                raise UserError(f"{label}: is named twice, so it would be compared with itself; name it once")
            try:
                side = HUMAN if are_labels else JUDGE
                own = list_own_fields(mapping, side, names)
                asked = StreamOptions(select_side(mapping, side), name, wanted=RequiredColumns(own=own))
                found = reader.read(label, read_chunks(name), labels=are_labels, options=asked)
            except (OSError, ValueError) as fault:
                raise UserError(f"{label}: {explain_os_error(name, fault)}") from None
            if not found:
                raise UserError(f"{label}: no records found")


def complain_of_records(reader: "RatingReader", files: Sequence[str] | None = None) -> None:
    """Say which records are invalid, in all files or in these, and which are left out."""
    from rubric_lint.assess.agreement.left_out import list_invalid

    invalid = [record for record in reader.invalid if files is None or record.file in files]
    lines = [*list_invalid(invalid), *map(str, reader.left_out)]
    if files is None:
        lines += [*reader.passed_over.format_lines(), *reader.list_notes()]
    for line in lines:
        complain(line)


_FILES = "examples/summary.rubric.yaml examples/summary.outputs.jsonl"


@command(
    "rubric results*",
    "labels map:sides rater format:agree output:text report worst fail-below allow-invalid"
    " | chosen any-version extract extra-fields grades target by fail-on:line runs look label-scale config isolated",
    examples={
        f"rubric-lint agree {_FILES} --labels labels.jsonl": "Compare a judge with people",
        f"rubric-lint agree {_FILES} other.jsonl": "Compare two judges",
        f"rubric-lint agree {_FILES} --labels labels.jsonl --fail-below alpha=0.6": "Fail a CI job",
    },
    exits={
        Exit.CLEAN: "no invalid record, and no statistic below --fail-below",
        Exit.FOUND: "a statistic is below --fail-below or undefined, or a record is invalid without --allow-invalid",
        Exit.USAGE: "usage error, a file that cannot be read or has errors, or nothing to compare",
    },
)
def agree(given: Given) -> int:
    """Measure how well judges agree with people and with each other.

    RESULTS are judge outputs as for `score`, or results of it, one file for each judge; - is stdin. Labels are the
    same records with a "rater", or a sheet (CSV, Excel) with a column for each criterion. Records are joined by
    "rubric" and "id".
    """
    from rubric_lint.assess.agreement.reading import RatingReader, UnusableRatingsError
    from rubric_lint.assess.measure.pass_rate import LabelSelection
    from rubric_lint.scoring.records.parse_options import ParseOptions

    if not given.results and not given.labels:
        raise click.UsageError("name a file of results or --labels")
    rubrics = load(given.rubric, given)
    check_reading(given, rubrics)
    given.labels = find_labels(given, given.results)
    check_label_scale(given, rubrics)
    known = _list_limited(rubrics)
    conditions = [_read_condition(text, known) for text in given.fail_below]
    escape_what_cannot_be_encoded()
    inputs = [given.rubric, *given.results, *given.labels]
    for name in inputs:
        refuse_same_file(name, given.output)
    given.form = given.form or choose_by_ending(given.output, {".json": "json", ".txt": "table"}, "table")
    # Collect no garbage: everything that is read stays.
    gc.freeze()
    gc.disable()
    reader = RatingReader(
        rubrics,
        ParseOptions.of(given.extract, given.extra_fields, given.grades),
        any_version=given.any_version,
        label_scales=given.label_scales,
        mapping=given.mapping,
    )
    with open_page(given.report, *inputs) as page:
        read_files(reader, given.results, given.labels, given.mapping)
        try:
            chosen = LabelSelection(given.chosen) if given.chosen else None
            ratings = reader.join(given.raters, chosen)
        except UnusableRatingsError as unusable:
            complain_of_records(reader)
            raise UserError(str(unusable)) from None
        report = _analyse(given, reader, ratings, conditions, has_page=page is not None)
        _write_report(given, report, page)
    if given.form != "json":
        complain_of_records(reader)
    for breach in report.breaches:
        complain(str(breach))
    is_invalid = report.invalid and not given.allow_invalid
    return Exit.FOUND if report.breaches or is_invalid else Exit.CLEAN


def _list_limited(rubrics: "Mapping[str, ScoringRubric]") -> list[str]:
    """Return the names that --fail-below takes before a colon: the verdict, all rubrics together, and criteria."""
    from rubric_lint.assess.agreement.analysis import TOGETHER

    names = ["verdict"]
    if len(rubrics) > 1:
        names.append(TOGETHER)
    for rubric in rubrics.values():
        names += [criterion.id for criterion in rubric.criteria]
    return list(dict.fromkeys(names))


def _analyse(
    given: Given,
    reader: "RatingReader",
    ratings: "Sequence[Ratings]",
    conditions: "Sequence[AgreementLimit]",
    *,
    has_page: bool,
) -> "AgreementReport":
    """Return the agreement in the ratings that were read.

    Raises:
        UserError: if --runs, --label-scale or --by does not fit the ratings.
    """
    from rubric_lint.assess.agreement.analysis import analyse_all, find_breaches
    from rubric_lint.assess.measure.decision import MeasureOptions
    from rubric_lint.report.agreement import AgreementReport
    from rubric_lint.scoring.grading import read_line

    most: int | None = given.worst
    if most is None and given.form != "json":
        most = ON_A_PAGE if has_page else _IN_A_TABLE
    check_runs(given.runs, ratings)
    check_people(given, ratings)
    line, by = read_line(given.fail_on), given.by or ""
    plan = MeasureOptions(Fraction(str(given.target)), given.look, line, given.runs, by, given.label_scales, most)
    if given.by:
        check_field(given.by, [about for of_rubric in ratings for about in of_rubric.about.values()])
    agreements = analyse_all(ratings, plan)
    breaches = [breach for condition in conditions for breach in find_breaches(agreements, condition)]
    return AgreementReport(agreements, breaches, reader.invalid, reader.left_out)


def _write_report(given: Given, report: "AgreementReport", page: TextIO | None) -> None:
    from rubric_lint.report.agreement import as_json, as_text

    with open_report(given.output, Progress(sys.stderr), Style()) as write:
        if given.form == "json":
            write(as_json(report))
        else:
            most = _IN_A_TABLE if given.worst is None else given.worst
            write("\n".join(as_text(report, columns(), most)) + "\n")
    if page:
        from rubric_lint.report.html import render_agreement

        names = [Path(name_input(name)).name for name in [*given.results, *given.labels]]
        page.write(render_agreement(report, f"{Path(given.rubric).name}: {', '.join(names)}"))


_IN_A_TABLE = 10
"""The disagreements to list in a table, unless --worst says it."""


def _read_condition(text: str, known: Sequence[str]) -> "AgreementLimit":
    """Read a limit such as `alpha=0.6` or `accuracy:alpha=0.6`; raise click.UsageError when it is not one."""
    from rubric_lint.assess.agreement.analysis import STATISTICS, AgreementLimit

    left, _, right = text.rpartition("=")
    where, _, statistic = left.rpartition(":")
    try:
        limit = float(right)
    except ValueError:
        limit = math.nan
    if not left or not math.isfinite(limit):
        raise click.UsageError(f"--fail-below: {text!r} is not STATISTIC=VALUE, such as alpha=0.6")
    if statistic in _DROPPED:
        raise click.UsageError(
            f"--fail-below: `{statistic}` can no longer be a limit; use `alpha`, which every comparison has with an "
            "interval: for two raters it is close to kappa, so the same value is a fair start"
        )
    if statistic not in STATISTICS:
        raise click.UsageError(
            f"--fail-below: no statistic is named `{statistic}`; {point_to_known(statistic, STATISTICS)}"
        )
    if where and where not in known:
        raise click.UsageError(f"--fail-below: no criterion is named `{where}`; {point_to_known(where, known)}")
    return AgreementLimit(statistic, limit, where or None)


_DROPPED = {"kappa", "ac", "ac1", "ac2"}
"""The coefficients that were limits once."""

_LABELS_CALL = "rubric-lint labels examples/summary.rubric.yaml answers.jsonl"


@command(
    "rubric answers",
    "output:sheet! sample labels:done results:valid seed:draw map:answers | config isolated",
    short="Write the sheet in which people judge answers.",
    examples={
        f"{_LABELS_CALL} -o labels.xlsx": "Write a sheet for 60 answers, drawn at random",
        f"{_LABELS_CALL} -o labels.csv --sample 100": "Write 100 of them as CSV",
        f"{_LABELS_CALL} -o labels-2.csv --labels labels.csv": "Write others, without those that are labelled",
    },
    exits={Exit.USAGE: "usage error, or a file that cannot be read, has errors or exists already"},
)
def labels(given: Given) -> None:
    """Draw answers at random, and write the sheet in which people judge them.

    ANSWERS are those of `judge`: {"id", "answer", "question"}, or its results. The sheet has the answers
    and an empty column for each criterion. Give each person a copy, named after the person, then pass the copies as
    --labels.
    """
    from rubric_lint.assess.agreement.reading import UnusableRatingsError
    from rubric_lint.assess.agreement.sheets import SheetError, make_rows, write_csv, write_excel
    from rubric_lint.formats.sheets.excel_file import NEEDS, has_openpyxl
    from rubric_lint.judge.answers import AnswersError

    require_file_name(given.output, "--output")
    is_excel = choose_by_ending(given.output, {".xlsx": "excel", ".csv": "csv"}, advice="") == "excel"
    if is_excel and not has_openpyxl():
        raise click.UsageError(f"--output: writing an Excel file {NEEDS}")
    check_answer_fields(given)
    rubrics = load(given.rubric, given)
    try:
        drawn, total = _draw(given, rubrics)
        rows = make_rows(drawn, rubrics)
        data = write_excel(rows, rubrics.values()) if is_excel else write_csv(rows)
    except UnusableRatingsError as wrong:
        raise UserError(str(wrong)) from None
    except AnswersError as wrong:
        raise UserError(*(f"{given.answers}: {fault}" for fault in wrong.faults)) from None
    except SheetError as wrong:
        raise UserError(f"{given.output}: {wrong}") from None
    try:
        with Path(given.output).open("xb") as stream:
            stream.write(data)
    except FileExistsError:
        raise click.UsageError(f"{given.output} already exists and may be filled in; name another file") from None
    except OSError as fault:
        raise click.UsageError(f"cannot write {given.output}: {fault.strerror}") from None
    chosen = "all answers"
    if len(drawn) < total:
        chosen = f"{len(drawn):,} of {total:,} answers, drawn at random (seed {given.seed})"
    elif given.labels or given.results:
        chosen = f"all {total:,} that are open"
    click.echo(f"Wrote {visible(given.output)}: {chosen}. Fill it in, then run:", err=True)
    rubric = "RUBRIC" if given.rubric == STDIN else given.rubric  # `assess` also reads the tests in its folder
    options = {"results": given.results, "labels": [*given.labels, given.output], "map": given.map, **given.settings}
    click.echo(f"  {suggest('assess', rubric, given.named_answers, **options)}", err=True)


def _draw(given: Given, rubrics: "Mapping[str, ScoringRubric]") -> "tuple[Sequence[Answer], int]":
    """Return answers drawn from those without labels and with a valid result, and the number of those."""
    from rubric_lint.assess.agreement.sheets import draw_sample, find_open
    from rubric_lint.judge.answers import check_answers, read_answers

    # They are checked before they are read, and stdin cannot be read twice.
    chunks = list(read_chunks(given.answers))
    check_answers(chunks, rubrics, given.mapping, name=given.answers, reserved=frozenset(), may_repeat=True)
    require_existing(given.results)
    require_existing(given.labels)
    results = {name: read_chunks(name) for name in given.results}
    labelled = {name: read_chunks(name) for name in given.labels}
    is_open = find_open(rubrics, results, labelled)
    answers = read_answers(chunks, rubrics, given.mapping, name=given.answers)
    drawn, total = draw_sample(filter(is_open, answers), given.sample, given.seed)
    if not drawn:
        raise UserError(f"{given.answers}: no answer is left to label")
    return drawn, total
