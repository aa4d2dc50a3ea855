"""Define `rubric-lint show`, which describes the rubrics in files and what answers to them score."""

import sys

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import Given, command
from rubric_lint.cli.output import escape_what_cannot_be_encoded, make_style
from rubric_lint.run.console import Progress, complain


@command(
    "paths*",
    "format=full,json color | stdin-filename force-exclude config isolated",
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
    from rubric_lint.show.run import ShowRun  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr, "reading")
    look = make_style(given.color)
    finder = given.finder(Overrides(force_exclude=given.force_exclude))
    with open_report(None, progress, look) as write:
        report = SHOW_FORMATS[given.form](write, look)
        summary = ShowRun(report.add, progress).show_all(
            given.paths or (".",), given.stdin_filename or "<stdin>", finder
        )
        report.end(summary)
    if given.form == "json" and not summary.rubrics:
        for line in word_summary(summary).splitlines():
            complain(line)
    if summary.faults:
        return Exit.FAULT
    if summary.unreadable:
        return Exit.USAGE
    return Exit.CLEAN if summary.rubrics else Exit.FOUND
