"""Read results and labels for `rubric-score agree`, and for the report of `rubric-score --labels`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from fractions import Fraction
from typing import TYPE_CHECKING

from rubric_lint.project.files import STDIN
from rubric_lint.project.opening import open_stream
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rubric_lint.agree.ratings import Ratings
    from rubric_lint.agree.reading import Reader
    from rubric_lint.report.agreement import Findings
    from rubric_lint.scoring.grading import ScoringRubric

ON_A_PAGE = 200
"""The disagreements to list on a page, unless --worst says it."""


def measure_agreement(
    rubrics: "Mapping[str, ScoringRubric]",
    results: tuple[str, ...],
    labels: tuple[str, ...],
    extract: str,
    mapping: "Mapping[str, str]",
) -> "Findings | None":
    """Compare results with labels as `rubric-score agree` does by default; None, after saying why, if that fails.

    `mapping` has for each field of the results the column that it has in their files.
    """
    from rubric_lint.agree.analysis import Plan, analyse_all  # noqa: PLC0415
    from rubric_lint.agree.comparison import Draws  # noqa: PLC0415
    from rubric_lint.agree.intervals import DRAWS  # noqa: PLC0415
    from rubric_lint.agree.reading import Reader, UnusableError  # noqa: PLC0415
    from rubric_lint.outputs.verdict import Extract  # noqa: PLC0415
    from rubric_lint.report.agreement import Findings  # noqa: PLC0415

    reader = Reader(rubrics, Extract(extract))
    if not read_files(reader, results, labels, mapping):
        return None
    try:
        ratings = reader.join()
    except UnusableError as unusable:
        complain_of_records(reader, labels)
        complain(f"--labels: {unusable}")
        return None
    warn_of_time(ratings, DRAWS)
    plan = Plan(Draws(DRAWS, 1), Fraction(4, 5), ON_A_PAGE)
    complain_of_records(reader, labels)
    return Findings(analyse_all(ratings, plan), plan, reader.invalid, reader.left_out, ())


def read_files(
    reader: "Reader", results: tuple[str, ...], labels: tuple[str, ...], mapping: "Mapping[str, str] | None" = None
) -> bool:
    """Read all files; return whether each could be read and has records."""
    from rubric_lint.outputs.streams import Asked  # noqa: PLC0415

    for names, are_labels in ((results, False), (labels, True)):
        for name in names:
            label = "stdin" if name == STDIN else name
            try:
                asked = Asked(mapping={} if are_labels or mapping is None else mapping, name=name)
                found = reader.read(label, read_chunks(name), labels=are_labels, asked=asked)
            except (OSError, ValueError) as fault:
                complain(f"{label}: {getattr(fault, 'strerror', None) or fault}")
                return False
            if not found:
                complain(f"{label}: no records found")
                return False
    return True


def read_chunks(name: str) -> Iterator[bytes]:
    """Yield the bytes of a file, or of stdin.

    Raises:
        OSError: if it cannot be read.
        ValueError: if stdin is closed.
    """
    from rubric_lint.outputs.streams import CHUNK  # noqa: PLC0415

    if name == STDIN and sys.stdin is None:
        raise ValueError("stdin is closed")
    with nullcontext(sys.stdin.buffer) if name == STDIN else open_stream(name) as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


def complain_of_records(reader: "Reader", files: Sequence[str] | None = None) -> None:
    """Say which records are invalid, in all files or in these, and which are left out."""
    from rubric_lint.agree.reading import list_invalid  # noqa: PLC0415

    invalid = [each for each in reader.invalid if files is None or each.file in files]
    for line in list_invalid(invalid):
        complain(line)
    for left_out in reader.left_out:
        complain(str(left_out))


_SLOW = 30_000_000
"""The random numbers that take about half a minute without NumPy."""


def warn_of_time(ratings: "list[Ratings]", draws: int) -> None:
    """Say that the bootstrap takes long, if it does."""
    from importlib.util import find_spec  # noqa: PLC0415

    answers = max(len(set().union(*each.judges.values(), *each.people.values())) for each in ratings)
    if answers * draws > _SLOW and find_spec("numpy") is None:
        complain(
            f"the bootstrap of {answers:,} answers takes minutes without NumPy; install `rubric-lint[stats]`, or leave "
            "intervals out with --bootstrap 0"
        )
