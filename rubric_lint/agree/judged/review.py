"""Apply all rules on judged data to the results of one rubric."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rubric_lint.agree.judged.decision import Decision, Outcomes, Untested
from rubric_lint.agree.judged.disagreement import find_disagreement
from rubric_lint.agree.judged.relations import find_inverse, find_redundant
from rubric_lint.agree.judged.sources import Line, RecordFile, Sources
from rubric_lint.agree.judged.spread import find_constant, find_unused
from rubric_lint.agree.judged.stability import find_unstable
from rubric_lint.agree.judged.table import Table, build_table
from rubric_lint.agree.ratings import Ratings
from rubric_lint.agree.reading import Invalid, LeftOut, Reader, UnusableError
from rubric_lint.scoring.grading import ScoringRubric

FINDERS: tuple[Callable[[Table], Outcomes], ...] = (
    find_constant,
    find_unused,
    find_unstable,
    find_redundant,
    find_inverse,
    find_disagreement,
)
"""What each rule finds in a table."""

OTHER_VERSION = "judged by another version of the rubric, as `rubric_hash` says; judge again"


class Review(NamedTuple):
    """What the results of one rubric show.

    `labelled` answers have a label by one of `people`. `fault` says why nothing was tested, if so.
    """

    rubric: str
    hash: str = ""
    answers: int = 0
    judges: tuple[str, ...] = ()
    samples: tuple[int, ...] = ()
    labelled: int = 0
    people: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    untested: tuple[Untested, ...] = ()
    invalid: tuple[Invalid, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    fault: str = ""

    def to_json(self, file: str) -> dict[str, Any]:
        """Return the review as in the JSON report; `file` has the rubric."""
        return {
            "file": file,
            "rubric": self.rubric,
            "rubric_hash": self.hash or None,
            "answers": self.answers,
            "judges": list(self.judges),
            "labelled": self.labelled,
            "people": list(self.people),
            "untested": [each.to_json() for each in self.untested],
            "left_out": [each.to_json() for each in self.left_out],
            "fault": self.fault or None,
        }


NO_RESULTS = "no results"


class Reviewer:
    """Reviews rubrics, and keeps the reviews while neither the meaning of a rubric nor its records change."""

    def __init__(self) -> None:
        self._kept: dict[object, tuple[Sources, Review]] = {}

    def review(self, rubric: ScoringRubric, sources: Sources, *, takes_unnamed: bool) -> Review:
        """Review a rubric; with `takes_unnamed` records without a name and a hash are its own.

        They are as well if their file is named as the rubric is, such as `refund.judged.jsonl`.
        """
        key = (rubric.name, rubric.hash, rubric.pass_from, rubric.borderline_from, rubric.full, takes_unnamed)
        kept = self._kept.get(key)
        if kept is None or any(one is not two for one, two in zip(kept[0].files, sources.files, strict=False)):
            kept = None
        if kept is None or len(kept[0].files) != len(sources.files):
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            kept = self._kept[key] = sources, _review(rubric, sources, takes_unnamed=takes_unnamed)
        return kept[1]


_MOST_KEPT = 1000


def _review(rubric: ScoringRubric, sources: Sources, *, takes_unnamed: bool) -> Review:
    reader = Reader({rubric.name: rubric})
    others = LeftOut(OTHER_VERSION)
    for files, are_labels in ((sources.results, False), (sources.labels, True)):
        for file in files:
            unnamed = takes_unnamed or file.stem == rubric.name
            lines = _keep(file, file.select(rubric.name, rubric.hash, unnamed=unnamed), rubric.hash, others)
            reader.read_texts(file.path, ((line.number, line.text) for line in lines), labels=are_labels)
    head = Review(rubric.name, rubric.hash)
    try:
        gathered = reader.gather()
    except UnusableError as fault:
        gathered, head = [], head._replace(fault=str(fault))
    left_out = (*([others] if others.count else ()), *reader.left_out)
    head = head._replace(invalid=tuple(reader.invalid), left_out=left_out)
    ratings = gathered[0] if gathered else Ratings(rubric, {}, {})
    if not ratings.judges:
        return head._replace(fault=head.fault or NO_RESULTS)
    table = build_table(ratings, rubric)
    outcomes = [outcome for find in FINDERS for outcome in find(table)]
    return head._replace(
        answers=table.answers,
        judges=tuple(ratings.judges),
        samples=table.samples,
        labelled=table.labelled,
        people=tuple(ratings.people),
        decisions=tuple(each for each in outcomes if isinstance(each, Decision)),
        untested=tuple(each for each in outcomes if isinstance(each, Untested)),
    )


def _keep(file: RecordFile, lines: "Sequence[Line] | Any", meaning: str, others: LeftOut) -> "list[Line]":
    """Return the records by this version of the rubric, and count the others."""
    kept = []
    for line in lines:
        if line.hash in (None, meaning):
            kept.append(line)
        else:
            others.add(f"{file.path}:{line.number}")
    return kept
