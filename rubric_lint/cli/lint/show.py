"""Define `rubric-lint show`, which describes the rubrics in files and what answers to them score."""

import sys
from typing import TYPE_CHECKING

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import Given, command
from rubric_lint.cli.output import choose_by_ending, escape_what_cannot_be_encoded, make_style, refuse_same_file
from rubric_lint.run.console import Progress, complain

if TYPE_CHECKING:
    from rubric_lint.show import Shown


@command(
    "paths*",
    "format:show output:show color | stdin-filename force-exclude config isolated",
    short="Show rubrics: criteria, shares, gates, what examples score.",
    examples={
        "rubric-lint show": "Show all rubrics in the current folder and below",
        "rubric-lint show examples/summary.rubric.yaml": "Show those of one file",
        "rubric-lint show --format json examples": "Write them for a program",
    },
    exits={Exit.CLEAN: "rubrics shown, also if they have findings", Exit.FOUND: "no rubrics found"},
)
def show(given: Given) -> int:
    """Show the rubrics in files and folders: criteria, shares, gates, and what examples score.

    Also shows what is nearly a rubric, and why it is not read. PATHS defaults to the current folder; - reads stdin.
    """
    # --help and completion do not load the engine.
    from rubric_lint.cli.output import open_report  # noqa: PLC0415
    from rubric_lint.project.settings import Overrides  # noqa: PLC0415
    from rubric_lint.report.show import SHOW_FORMATS, word_summary  # noqa: PLC0415
    from rubric_lint.show.source import ShowRun  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr, "reading")
    form = given.form or choose_by_ending(given.output, {".json": "json", ".txt": "full"}, "full")
    look = make_style(given.color, is_file=given.output is not None)
    finder = given.finder(Overrides(force_exclude=given.force_exclude))
    with open_report(given.output, progress, look) as write:
        report = SHOW_FORMATS[form](write, look)
        told: list[str] = []  # the files that the report must not replace

        def add(shown: "Shown") -> None:
            told.append(shown.file)
            report.add(shown)

        summary = ShowRun(add if given.output else report.add, progress).show_all(
            given.paths or (".",), given.stdin_filename or "<stdin>", finder
        )
        for name in told:
            refuse_same_file(name, given.output)
        report.end(summary)
    if form == "json" and not summary.rubrics:
        for line in word_summary(summary).splitlines():
            complain(line)
    return Exit.of(crashed=summary.faults, failed=summary.unreadable, found=not summary.rubrics)
