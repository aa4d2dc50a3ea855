"""Run `rubric-lint diff`: report changes in meaning of a branch or between two files, and their effects."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click

from rubric_lint.assess.diff.rubric_diff import (
    Change,
    OutputEffects,
    RubricPair,
    add_places,
    compare_rubrics,
    pair_rubrics,
    prepare_all,
    score_both,
)
from rubric_lint.assess.rubric_tests.reading import find_needed
from rubric_lint.assess.rubric_tests.running import Runner
from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import load_argument_rubrics, require_rubric
from rubric_lint.cli.output import choose_by_ending, escape_what_cannot_be_encoded, open_report, wants_color
from rubric_lint.cli.score.options import check_mapping
from rubric_lint.cli.test.test import find_tests
from rubric_lint.lint.project.files import File, find
from rubric_lint.lint.project.opening import STDIN, name_input, read_chunks, stat_path
from rubric_lint.lint.project.paths import follow_links, is_there, relate
from rubric_lint.lint.project.settings import SettingsFinder
from rubric_lint.lint.run.argument import UnusableFileError, load_argument
from rubric_lint.lint.run.batch import lint_files
from rubric_lint.lint.run.console import Progress
from rubric_lint.lint.run.git import Branch, ChangedLinesFilter, GitError, read_branch, read_changes
from rubric_lint.model.finding import Finding, Result
from rubric_lint.report import Style
from rubric_lint.report.changes import DiffReport, as_json, as_markdown, as_text
from rubric_lint.scoring.flat import require_judgements
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.loading import InvalidRubricError, LoadedRubric, RubricError
from rubric_lint.scoring.records.mapping import JUDGE, select_side
from rubric_lint.scoring.records.streams import StreamOptions, read_entries
from rubric_lint.source.source import SUFFIXES, Source


def report_changes(given: Given) -> int:
    """Report what changed, and return the exit code; see `diff`."""
    escape_what_cannot_be_encoded()
    form = given.form or choose_by_ending(given.output, {".json": "json", ".md": "markdown", ".txt": "text"}, "text")
    comparison = _compare_files(given) if given.new else _compare_branch(given)
    in_color = wants_color(given.color) and given.output is None
    if form == "json":
        text = as_json(comparison)
    elif form == "markdown":
        text = "\n".join(as_markdown(comparison)) + "\n"
    else:
        text = "\n".join(as_text(comparison, color=in_color)) + "\n"
    with open_report(given.output, Progress(sys.stderr), Style(in_color)) as write:
        write(text)
    return Exit.CLEAN if comparison.is_clean else Exit.FOUND


def _compare_files(given: Given) -> DiffReport:
    finder = given.finder()
    files = [load_argument(name, given.stdin_filename) for name in (given.old, given.new)]
    try:
        old = load_argument_rubrics(files[0], finder)
    except InvalidRubricError as wrong:
        fix = f"fix {files[0].label}"
        if files[0].path not in (files[0].label, STDIN):  # a revision
            fix = f"save it with `git show {shlex.quote(files[0].label)} > FILE`, fix FILE"
        advice = f"{fix} (`rubric-lint` says how), then compare again"
        raise UnusableFileError(*wrong.lines, f"OLD has errors, so its scores are undefined: {advice}") from None
    new = load_argument_rubrics(files[1], finder)
    pairs = pair_rubrics(prepare_all(old), prepare_all(new))
    if given.name is not None:
        require_rubric(given.name, dict.fromkeys(rubric.name for rubric in _list_rubrics(pairs)))
        pairs = _choose(pairs, given.name)
    effects = _score(given, pairs) if given.outputs else None
    changes = tuple(add_places(change, old, new) for change in compare_rubrics(pairs))
    return DiffReport(files[0].label, files[1].label, changes, effects)


def _list_rubrics(pairs: list[RubricPair]) -> list[ScoringRubric]:
    return [rubric for pair in pairs for rubric in pair if rubric]


def _choose(pairs: list[RubricPair], name: str) -> list[RubricPair]:
    """Return the pairs of which a side has this name."""
    return [pair for pair in pairs if any(rubric and rubric.name == name for rubric in pair)]


def _compare_branch(given: Given) -> DiffReport:
    """Compare the rubrics of all changed files with what they were where the branch left its base."""
    if given.old is not None and is_there(given.old):
        raise click.UsageError(f"{given.old} is a file; name what to compare it with too, such as HEAD:{given.old}")
    try:
        branch = read_branch(given.old)
    except GitError as fault:
        raise click.UsageError(str(fault)) from None
    finder = given.finder()
    changes: list[Change] = []
    pairs: list[RubricPair] = []
    skipped: list[str] = []
    checked = _list_checked(branch, finder)
    for old, new in branch.files:
        # No search finds a file that is gone, so that only its ending says whether it may have had rubrics.
        is_deleted_rubric = new is None and old is not None and old.lower().endswith(_RUBRIC_SUFFIXES)
        if new not in checked and not is_deleted_rubric:
            continue
        try:
            before, after = _load_sides(branch, old, new, finder)
        except UnusableFileError as wrong:
            skipped += wrong.lines[:1]
            continue
        of_file = pair_rubrics(prepare_all(before), prepare_all(after))
        if given.name is not None:
            of_file = _choose(of_file, given.name)
        changes += (add_places(change, before, after) for change in compare_rubrics(of_file))
        pairs += of_file
    effects = None
    if given.outputs and pairs:
        _require_different_names(pairs)
        effects = _score(given, pairs)
    findings, tests = _find_findings(branch, checked, finder), _find_failures(branch, finder)
    return DiffReport(branch.base, "", tuple(changes), effects, findings, tests, tuple(skipped), is_branch=True)


_RUBRIC_SUFFIXES = (*SUFFIXES, ".toml")


def _require_different_names(pairs: list[RubricPair]) -> None:
    """Refuse rubrics of one name, as an output could be of any; raise click.UsageError if there are some."""
    rubrics = [new or old for old, new in pairs]
    names = [rubric.name for rubric in rubrics if rubric]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"--outputs: several files have a rubric named `{name}`; compare one file")


def _name(branch: Branch, path: str) -> str:
    """Return the name, from the current folder, of a file in the repository."""
    return str(relate(branch.root / path, follow_links(Path())))


def _list_checked(branch: Branch, finder: SettingsFinder) -> frozenset[str]:
    """Return the changed files that a run over the repository reads, by their paths in it."""
    changed = {branch.root / new: new for _, new in branch.files if new}
    start = str(relate(branch.root, Path()))
    found = (follow_links(file.name) for file in find([start], finder) if isinstance(file, File))
    return frozenset(changed[name] for name in found if name in changed)


def _load_sides(
    branch: Branch, old: str | None, new: str | None, finder: SettingsFinder
) -> tuple[dict[str, LoadedRubric], dict[str, LoadedRubric]]:
    """Return the rubrics of both sides by name; raise UnusableFileError when a side cannot be read or has errors."""
    sides: list[dict[str, LoadedRubric]] = []
    for path, is_old in ((old, True), (new, False)):
        if path is None:
            sides.append({})
            continue
        name = _name(branch, path)
        if is_old:
            data = load_argument(f"{branch.commit}:{path}")._replace(label=name, path=name)
        else:
            data = load_argument(name)
        try:
            sides.append(load_argument_rubrics(data, finder))
        except InvalidRubricError as wrong:
            where = f"{name} in {branch.base}" if is_old else data.label
            raise UnusableFileError(f"{where}: has errors, so its scores are undefined: {wrong.lines[0]}") from None
        except RubricError:  # no rubrics
            sides.append({})
    return sides[0], sides[1]


def _find_findings(
    branch: Branch, checked: frozenset[str], finder: SettingsFinder
) -> tuple[tuple[Source, Finding], ...]:
    """Return the findings on changed lines."""
    if not checked:
        return ()
    changed_lines = ChangedLinesFilter(read_changes(branch.commit))
    names = sorted(_name(branch, path) for path in checked)
    found = []
    for file, outcome in lint_files(File(name, finder.for_file(name)) for name in names):
        if isinstance(outcome, Result) and isinstance(file, File):
            result = changed_lines.filter(outcome, file.settings)
            found += [(result.source, finding) for finding in result.findings]
    return tuple(found)


def _find_failures(branch: Branch, finder: SettingsFinder) -> tuple[tuple[Source, Finding], ...]:
    """Return the findings of the rubric tests that a changed file bears on."""
    changed = {branch.root / path for pair in branch.files for path in pair if path}
    runner = Runner(finder)
    found: list[tuple[Source, Finding]] = []
    for file in find_tests([str(relate(branch.root, Path()))], finder):
        if not isinstance(file, File):
            continue
        files = [file.name, *find_needed(file.name)]
        if changed.isdisjoint(map(follow_links, files)):
            continue
        result = runner.run(file)
        if isinstance(result, Result):
            found += [(result.source, finding) for finding in result.findings]
    return tuple(found)


def _score(given: Given, pairs: list[RubricPair]) -> OutputEffects:
    effects, name, size = OutputEffects(), given.outputs, None
    rubrics = _list_rubrics(pairs)
    check_mapping(given, {rubric.hash: rubric for rubric in rubrics})
    options = StreamOptions(select_side(given.mapping, JUDGE), name, wanted=require_judgements(rubrics))
    with suppress(OSError, ValueError):
        size = None if name == STDIN else stat_path(name).st_size
    progress = Progress(sys.stderr, "scoring", "outputs", size)
    try:
        for effect in score_both(read_entries(_read_chunks(name, progress), options), pairs):
            progress.done += 1
            effects.add(effect)
    except (OSError, ValueError) as fault:
        raise UnusableFileError(f"{name}: {getattr(fault, 'strerror', None) or fault}") from None
    finally:
        progress.clear()
    if not effects.outputs:
        raise UnusableFileError(f"{name_input(name)}: contains no outputs")
    return effects


def _read_chunks(name: str, progress: Progress) -> Iterator[bytes]:
    if name == STDIN and sys.stdin is None:
        raise UnusableFileError("stdin is closed")
    for chunk in read_chunks(name):
        progress.advance(len(chunk))
        yield chunk
