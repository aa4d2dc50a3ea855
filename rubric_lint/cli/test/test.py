"""Define `rubric-test`, which runs the tests of rubrics on recorded judge outputs."""

import re
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.commands import DefaultGroup, Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import JUDGING, check_watch, command, write_figures
from rubric_lint.cli.options import watch as watch_files
from rubric_lint.cli.output import (
    YAML,
    choose_by_ending,
    choose_format,
    escape_what_cannot_be_encoded,
    make_style,
    open_report,
    protect_rubrics,
)
from rubric_lint.cli.score.judge_options import find_access, make_plan
from rubric_lint.lint.project.files import File, Skipped, Unreadable, find, tidy
from rubric_lint.lint.project.paths import is_same, relate
from rubric_lint.lint.project.settings import SettingsFinder
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.messages import UserError, counted, join_first, join_words, list_names, visible
from rubric_lint.model.suggest import format_need, suggest
from rubric_lint.report import REPORTERS

if TYPE_CHECKING:
    from rubric_lint.assess.rubric_tests.running import Runner, TestedRubric, UnrecordedTest
    from rubric_lint.assess.rubric_tests.starting import RecordedResult, StarterTests
    from rubric_lint.lint.run.batch import FileOutcome
    from rubric_lint.lint.run.summary import Summary


_MOST_MISSING = 6


@command(
    "rubric outputs?",
    "output:tests force | config isolated",
    short="Write tests to start from.",
    examples={
        "rubric-lint test init examples/summary.rubric.yaml examples/summary.outputs.jsonl": "Test these outputs",
        "rubric-lint test init examples/explanation.rubric.yaml -o -": "Print one test for each level to fill in",
    },
    exits={Exit.USAGE: "usage error, a file that cannot be read, or no output that counts"},
)
def init(given: Given) -> int:
    """Write tests of a rubric to start from: of recorded OUTPUTS those that reach each band, level and verdict.

    RUBRIC is a file, or FILE#NAME for one of several rubrics. OUTPUTS are files as for `score`. Without them, one test
    for each band is written, whose answer is yours to write.
    """
    from rubric_lint.assess.rubric_tests.reading import is_test_file, locate_outputs
    from rubric_lint.assess.rubric_tests.running import Runner
    from rubric_lint.assess.rubric_tests.starting import start_from_outputs, start_outline

    choose_by_ending(given.output, YAML, "yaml", advice="")
    path, name = given.rubric, ""
    # The name of a file may have a # of its own.
    if not Path(path).is_file():
        path, _, name = path.partition("#")
    target = given.output or _name_tests(path, name)
    if target != "-" and Path(target).exists() and not given.force:
        raise click.UsageError(f"{target} already exists; name another file with --output, or use --force")
    tested = Runner(given.finder()).open_rubric(path, name)
    if isinstance(tested, str):
        raise UserError(tested)
    reference = _relate(path, target)
    if name:
        reference += f"#{name}"
    if given.outputs is None:
        start = start_outline(tested, reference)
    else:
        recorded = _read(given.outputs, tested)
        if not recorded:
            raise UserError(
                f"{given.outputs}: no recorded output that counts for this rubric, so there is nothing to test"
            )
        outputs: str | None = _relate(given.outputs, target)
        if is_test_file(target) and is_same(locate_outputs(target), given.outputs):
            outputs = None  # the name of the test file says where its outputs are
        start = start_from_outputs(tested, recorded, reference, outputs)
    _write_tests(given, target, start)
    if start.missing:
        complain(f"no recorded output has {join_first(start.missing, _MOST_MISSING, 'or')}")
    return Exit.CLEAN


def _write_tests(given: Given, target: str, start: "StarterTests") -> None:
    from rubric_lint.lint.project.writing import WriteError, open_whole

    if target == "-":
        click.echo(start.text, nl=False)
        return
    try:
        with open_whole(target) as stream:
            stream.write(start.text)
    except WriteError as fault:
        raise click.UsageError(f"cannot write {target}: {fault}") from None
    click.echo(f"Wrote {counted(start.tests, 'test')} to {visible(target)}. Run them:", err=True)
    # A name that is shown with escapes cannot be copied into a shell.
    place = target if visible(target) == target else "."
    click.echo(f"  {suggest('test', place, **given.settings)}", err=True)


def _read(outputs: str, tested: "TestedRubric") -> "list[RecordedResult]":
    """Return the records with a result; report the others."""
    from rubric_lint.assess.rubric_tests.recordings import read_recordings
    from rubric_lint.assess.rubric_tests.starting import RecordedResult

    try:
        recordings = read_recordings(outputs, tested.rubric.name)
    except (OSError, ValueError) as fault:
        raise click.UsageError(f"{outputs}: {getattr(fault, 'strerror', None) or fault}") from None
    for line, reason in recordings.broken:
        complain(f"{outputs}:{line}: skipped: {reason}")
    found = []
    for key, recording in recordings.found.items():
        verified = tested.verifier.verify(recording)
        if key in recordings.twice:
            lines = join_words([str(line) for line in recordings.twice[key]])
            complain(f"{outputs}: skipped: lines {lines} have the same id {key}")
        elif verified.result is None:
            complain(f"{outputs}:{recording.line}: skipped: {verified.fault}")
        else:
            found.append(RecordedResult(recording.record, verified.result))
    return found


def _name_tests(path: str, name: str) -> str:
    stem = re.sub(r"(?i)(?:(?:\.rubric)?\.(?:ya?ml|json)|\.jsonl)\Z", "", path)
    if name:
        stem += "." + "".join(char if char.isalnum() or char in "-_" else "-" for char in name)
    return f"{stem}.rubric-test.yaml"


def _relate(path: str, target: str) -> str:
    """Return a path relative to the folder of the test file, with slashes."""
    return relate(path, Path(target).parent).as_posix()


def record_outputs(files: Iterable[File | Unreadable], runner: "Runner", given: Given) -> Exit:
    """Have models judge what the tests of files need, and return the exit code of that; say the requests before."""
    from rubric_lint.assess.rubric_tests import recorder
    from rubric_lint.scoring.panel import name_models

    for file in files:
        if isinstance(file, File):
            # A run collects in `runner.tested` what the tests lack.
            runner.run(file)
    tasks = _list_recordable(runner)
    if not tasks:
        click.echo("Nothing to record: every test has a recorded output that counts, or cannot be judged.", err=True)
        return Exit.CLEAN
    from rubric_lint.cli.score.judge import open_account
    from rubric_lint.cli.score.judging import run_judge

    access, plan = find_access(given.models, vars(given)), make_plan(vars(given))
    account = open_account(given, access)
    names = name_models((call.model, call.endpoint) for call in access.calls)
    tasks = [
        (path, tested, [recorder.widen(need, tested, names, plan.samples) for need in needed])
        for path, tested, needed in tasks
    ]
    for path, tested, needed in tasks:
        requests = recorder.describe_requests(needed, tested, len(given.models), plan)
        click.echo(f"{visible(path)}: {requests}", err=True)

    code = Exit.CLEAN
    for path, tested, needed in tasks:
        results = recorder.Recorder(path, tested, needed)
        try:
            panel = access.connect(account)
        except ImportError:
            complain(f"judging {format_need('judge')}")
            code = Exit.USAGE
            continue
        code = max(code, run_judge(panel, results, results.list_answers(), len(needed), plan, has_verdicts=False))
    return Exit.USAGE if code == Exit.USAGE else Exit.CLEAN  # the tests themselves say what is still missing


def _list_recordable(runner: "Runner") -> "list[tuple[str, TestedRubric, list[UnrecordedTest]]]":
    """Return the tests to record, by the file of outputs and the rubric.

    Raises:
        UserError: if a file of outputs is read by a mapping, with which nothing can be recorded in it.
    """
    from rubric_lint.assess.rubric_tests import recorder

    tasks = []
    for tested in runner.tested.values():
        for path, group in recorder.group_by_file(tested):
            needed = _keep_possible(path, group)
            if needed:
                tasks.append((path, tested, needed))
    for path, _, needed in tasks:
        for need in needed:
            if need.file.mapping:
                raise UserError(
                    f"{need.file.name}: {path} is read by `map`, so nothing is recorded in it; name another file in "
                    "`outputs` and remove `map`"
                )
    return tasks


def _keep_possible(path: str, needed: "list[UnrecordedTest]") -> "list[UnrecordedTest]":
    """Return the tests that a model can judge, and say which it cannot."""
    from rubric_lint.assess.rubric_tests.recorder import find_case
    from rubric_lint.assess.rubric_tests.starting import is_to_write

    if not path.lower().endswith(".jsonl"):
        complain(f"{path}: outputs are recorded as JSON Lines; give the file a name that ends in .jsonl")
        return []
    without_answer, unwritten, possible = [], [], []
    for need in needed:
        case = find_case(need)
        if case is None:
            without_answer.append(need)
        elif is_to_write(case.answer):
            unwritten.append(need)
        else:
            possible.append(need)
    _complain_of_unjudged(without_answer, "as a judge needs the `answer`")
    _complain_of_unjudged(unwritten, "as the `answer` is a placeholder; write one")
    return possible


def _complain_of_unjudged(needed: "list[UnrecordedTest]", reason: str) -> None:
    if needed:
        tests = list_names([str(need.test.id) for need in needed])
        complain(f"{needed[0].file.name}: not recorded, {reason}: {tests}")


_OF_MODELS = f"model samples shuffle {JUDGING} max-requests max-cost prices".split()
_CLASHES = "\n".join(f"--{name} needs --record; without it no model is asked" for name in _OF_MODELS)
_CLASHES += """
    --max-cost needs --prices; it has the prices of the models
    --record needs --model; it names the model that judges
    --watch excludes --record; record separately
"""

NO_TESTS = (
    "no rubric tests found; their files are named NAME.rubric-test.yaml. `rubric-lint test init RUBRIC` writes one"
)


@command(
    "paths*",
    "coverage mutate catch-rate record model fail-on format:findings output:report quiet"
    f" | watch color samples {JUDGING} max-requests max-cost prices shuffle force-exclude config isolated version",
    examples={
        "rubric-lint test": "Run all tests in the current folder and below",
        "rubric-lint test --coverage --mutate examples/": "Also report what the tests miss",
        "rubric-lint test --catch-rate examples/refund.rubric-test.yaml": "Count the bad answers that are caught",
        "rubric-lint test --record --model gpt-5": "Have a model judge answers without recorded output first",
    },
    exits={
        Exit.CLEAN: "all tests passed, and no findings as severe as --fail-on",
        Exit.FOUND: "a test failed, or findings as severe as --fail-on",
        Exit.USAGE: "usage error, invalid settings, a file that cannot be read, or no tests",
    },
    clashes=_CLASHES,
)
def run_tests(given: Given) -> int:
    """Test rubrics on recorded judge outputs; only --record asks a model.

    PATHS are files named NAME.rubric-test.yaml and folders with such files, by default the current folder.
    """
    if "-" in given.paths:
        raise click.UsageError("tests cannot be read from stdin, as they name other files; name a file")
    if given.watch:
        check_watch(given.form, has_file=given.output is not None)

    from rubric_lint.assess.rubric_tests.reading import find_needed
    from rubric_lint.assess.rubric_tests.reviewing import format_figures, list_figures
    from rubric_lint.assess.rubric_tests.running import Runner
    from rubric_lint.lint.run.linting import LintRun

    escape_what_cannot_be_encoded()
    given.paths = given.paths or (".",)
    progress = Progress(sys.stderr)
    look = make_style(given.color, quiet=given.quiet, is_file=given.output is not None)
    chosen = choose_format(given.form, given.output)
    figures = {"coverage": given.coverage, "mutation": given.mutate, "catch_rate": given.catch_rate}
    requested = [name for name, is_requested in figures.items() if is_requested]
    code = Exit.CLEAN

    def run(finder: SettingsFinder) -> "Summary":
        runner = Runner(finder)
        with open_report(given.output, progress, look) as write:
            reporter = REPORTERS[chosen](write, look)
            lint = protect_rubrics(given.output, lambda files: _run_all(runner, files, requested))
            engine = LintRun(reporter, progress, find=find_tests, lint=lint, undone="the rest was not checked")
            summary = engine.lint_all(given.paths, "", finder)
            summary = summary._replace(review=tuple(list_figures(runner, requested)))
            reporter.end(summary)
            write_figures(format_figures(runner, requested), chosen, write)
        if not given.quiet:
            for line in _list_notes(runner):
                complain(line)
        return summary

    if given.watch:
        return watch_files(given, run, progress, find=find_tests, needs=lambda name, _finder: find_needed(name))
    finder = given.finder()
    if given.record:
        code = record_outputs(find_tests(given.paths, finder), Runner(finder), given)
    summary = run(finder)
    if given.output is not None and not given.quiet:
        click.echo(summary)
    return max(code, _judge_summary(summary, given.fail_on, may_be_empty=given.force_exclude))


def _judge_summary(summary: "Summary", fail_on: str, *, may_be_empty: bool) -> Exit:
    """Return the exit code; `may_be_empty` if a hook runs, also where there are no tests."""
    if summary.faults:
        return Exit.FAULT
    if summary.unreadable:
        return Exit.USAGE
    if not (summary.tests or summary.findings or may_be_empty):
        complain(NO_TESTS)
        return Exit.USAGE
    failing = {"error": summary.errors, "warning": summary.errors + summary.warnings, "never": 0}
    return Exit.FOUND if failing[fail_on] else Exit.CLEAN


def find_tests(
    paths: Iterable[str], finder: SettingsFinder, skipped: Skipped | None = None
) -> Iterator[File | Unreadable]:
    """Find the files with rubric tests; a named file of another name is an error."""
    from rubric_lint.assess.rubric_tests.reading import is_test_file

    paths = list(paths)
    named = {tidy(path) for path in paths}
    for file in find(paths, finder, skipped):
        if isinstance(file, Unreadable) or is_test_file(file.name):
            yield file
        elif file.name in named:
            yield Unreadable(file.name, "not a file with rubric tests; these are named NAME.rubric-test.yaml")


def _run_all(
    runner: "Runner", files: Iterable[File | Unreadable], requested: Collection[str]
) -> "Iterator[tuple[File | Unreadable, FileOutcome]]":
    """Run every test file, then look at the rubrics that they test."""
    from rubric_lint.assess.rubric_tests.reviewing import review

    for file in files:
        try:
            outcome = file if isinstance(file, Unreadable) else runner.run(file)
            yield file, outcome
        except Exception as fault:
            yield file, fault
    yield from review(runner, requested)


def _list_notes(runner: "Runner") -> Iterator[str]:
    """Yield what was not tested or could not be compared."""
    for path, count in runner.idle.items():
        if count:
            yield f"{path}: {counted(count, 'recorded output has', 'recorded outputs have')} no test"
    for path, count in runner.unhashed.items():
        outputs = counted(count, "recorded output does", "recorded outputs do")
        yield (
            f"{path}: {outputs} not say which meaning of the rubric the judge saw (`rubric_hash`), so "
            "changes of the rubric cannot be found"
        )


cli = DefaultGroup("test", default=run_tests, commands=[init])
"""The program, and the command of `rubric-lint`."""
