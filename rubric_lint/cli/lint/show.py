"""Define `show`, which describes the rubrics in files and what answers to them score, and `diff`, what changed."""

import sys
from typing import TYPE_CHECKING

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import command
from rubric_lint.cli.output import (
    choose_by_ending,
    escape_what_cannot_be_encoded,
    make_style,
    open_report,
    refuse_same_file,
)
from rubric_lint.lint.run.console import Progress, complain

if TYPE_CHECKING:
    from rubric_lint.scoring.show import Shown


@command(
    "paths*",
    "format:show output:text color | stdin-filename force-exclude config isolated",
    short="Show rubrics: weight shares, must-pass gates, example scores.",
    examples={
        "rubric-lint show": "Show all rubrics in the current folder and below",
        "rubric-lint show examples/summary.rubric.yaml": "Show those of one file",
        "rubric-lint show --format json examples": "Write them for a program",
    },
    exits={Exit.CLEAN: "rubrics shown, also if they have findings", Exit.FOUND: "no rubrics found"},
)
def show(given: Given) -> int:
    """Show the rubrics in files and folders: criteria, weight shares, must-pass gates, and what examples score.

    Also shows what is nearly a rubric, and why it is not read. PATHS defaults to the current folder; - reads stdin.
    """
    # --help and completion do not load the engine.
    from rubric_lint.report.show import SHOW_FORMATS, format_summary
    from rubric_lint.scoring.show.source import ShowRun

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr, "reading")
    form = given.form or choose_by_ending(given.output, {".json": "json", ".txt": "full"}, "full")
    look = make_style(given.color, is_file=given.output is not None)
    finder = given.finder()
    with open_report(given.output, progress, look) as write:
        report = SHOW_FORMATS[form](write, look)

        names: list[str] = []

        def add(shown: "Shown") -> None:
            names.append(shown.file)
            report.add(shown)

        run = ShowRun(add, progress)
        summary = run.show_all(given.paths or (".",), given.stdin_filename or "<stdin>", finder)
        for name in names:
            refuse_same_file(name, given.output)
        report.end(summary)
    if form == "json" and not summary.rubrics:
        for line in format_summary(summary).splitlines():
            complain(line)
    return Exit.of(crashed=summary.faults, failed=summary.unreadable, found=not summary.rubrics)


_FILE = "examples/summary.rubric.yaml"


@command(
    "old? new?",
    "rubric outputs map format:diff output:markdown | stdin-filename color config isolated",
    short="Report changes in meaning of a branch, or between two files.",
    examples={
        "rubric-lint diff": "Report what this branch changes",
        "rubric-lint diff --format markdown HEAD": "Write a comment for a pull request",
        f"rubric-lint diff HEAD:{_FILE} {_FILE}": "Compare with the last commit",
        f"rubric-lint diff --outputs examples/summary.outputs.jsonl HEAD:{_FILE} {_FILE}": "Show whose verdict changes",
    },
    exits={
        Exit.CLEAN: "no change in meaning",
        Exit.FOUND: "changes in meaning; of a branch, also findings on changed lines, or tests that do not hold",
        Exit.USAGE: "usage error, a file that cannot be read or has errors, or a branch without a base",
    },
    writes_at_end=True,
)
def diff(given: Given) -> int:
    """Report what a branch changes in the meaning of rubrics, or what differs between two files.

    Without NEW, OLD is a Git revision; all rubrics are compared with what they were where the branch left it. By
    default, that is the base of the pull request, or the main branch. Findings on changed lines and rubric tests that
    no longer hold are listed too. With NEW, both are files, - for stdin, or REV:PATH for a file in a revision. Changes
    of comments, order, notation and line breaks are ignored.
    """
    from rubric_lint.cli.lint.diff import report_changes

    return report_changes(given)
