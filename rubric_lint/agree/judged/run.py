"""Add what judge outputs show about rubrics to the results of a run over files."""

# Paths are str here, as in settings.py.
# ruff: noqa: PTH120

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rubric_lint.agree.judged.look import JudgedLook
from rubric_lint.agree.judged.review import Review, Reviewer
from rubric_lint.agree.judged.sources import RecordFile, Shelf, Sources, open_sources
from rubric_lint.agree.reading import Invalid
from rubric_lint.finding import Result
from rubric_lint.lint.engine import examine
from rubric_lint.project.files import File, Unreadable, read
from rubric_lint.project.settings import FileSettings, SettingsFinder, shorten
from rubric_lint.rules import JUDGED_RULES
from rubric_lint.run.batch import FileOutcome
from rubric_lint.text.source import Source, UndecodableError

Pair = tuple[File | Unreadable, FileOutcome]
Paths = tuple[tuple[str, ...], tuple[str, ...]]
"""The files of results, and those of labels."""


class Unmatched(NamedTuple):
    """Records of a file that belong to no rubric of the run; `rubric` is the name that they state, if any."""

    file: str
    rubric: str | None
    records: int


class Reviewed(NamedTuple):
    """The review of a rubric, its file, and its sources; `is_only` if nameless records are its own."""

    file: str
    review: Review
    sources: Sources
    is_only: bool


class JudgedRun:
    """Looks at rubrics with the results in `given`, or else with those that the settings of their files name.

    `reviewed` has the rubrics in order, `unreadable` the files of records that could not be read, with the reasons.
    """

    def __init__(self, finder: SettingsFinder, given: Paths, shelf: Shelf, reviewer: Reviewer) -> None:
        self._finder = finder
        self._given = given
        self._shelf = shelf
        self._reviewer = reviewer
        self._sources: dict[Paths, Sources] = {}
        self.reviewed: list[Reviewed] = []
        self.unreadable: dict[str, str] = {}
        if given[0]:
            self._open(given)

    def judge_all(self, outcomes: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the outcomes, with what results show about the rubrics in them.

        They wait for the last one: whether a record that names no rubric has only one to belong to is known then.
        """
        held = [(file, outcome, self._find_paths(file, outcome)) for file, outcome in outcomes]
        counts: Counter[Paths] = Counter()
        for _, outcome, paths in held:
            if paths and isinstance(outcome, Result):
                counts[paths] += outcome.rubrics
        for file, outcome, paths in held:
            if paths and isinstance(file, File):
                yield file, self._judge(file, self._open(paths), is_only=counts[paths] == 1)
            else:
                yield file, outcome

    def _find_paths(self, file: File | Unreadable, outcome: FileOutcome) -> Paths | None:
        """Return the files of records for a file, or None if it has no rubrics or no records."""
        if not isinstance(file, File) or not isinstance(outcome, Result) or not outcome.rubrics:
            return None
        if self._given[0]:
            return self._given
        settings = self._finder.for_folder(os.path.dirname(file.name))
        return (_shorten(settings.judged), _shorten(settings.labels)) if settings.judged else None

    def _open(self, paths: Paths) -> Sources:
        if paths not in self._sources:
            self._sources[paths] = sources = open_sources(self._shelf, *paths)
            self.unreadable.update(sources.unreadable)
        return self._sources[paths]

    def _judge(self, file: File, sources: Sources, *, is_only: bool) -> FileOutcome:
        data = read(file)
        if isinstance(data, Unreadable):
            return data
        look = JudgedLook(self._reviewer, sources, file.name, is_only=is_only)
        try:
            result = examine(Source.from_bytes(file.name, data), file.settings, also=look).result
        except UndecodableError as fault:  # it has changed since it was linted
            return Unreadable(file.name, fault.message)
        except Exception as fault:
            return fault
        self.reviewed += [
            Reviewed(file.name, _keep_enabled(review, file.settings), sources, is_only) for review in look.reviews
        ]
        return result._replace(judged=list_tested(look.reviews))

    @property
    def files(self) -> list[RecordFile]:
        """The files of records that were read, each once."""
        return list({file.path: file for sources in self._sources.values() for file in sources.files}.values())

    @property
    def invalid(self) -> list[Invalid]:
        """The records that cannot be read or scored."""
        of_files = [invalid for file in self.files for invalid in file.invalid]
        return of_files + [invalid for each in self.reviewed for invalid in each.review.invalid]

    @property
    def unmatched(self) -> list[Unmatched]:
        """The records that no rubric of the run has a claim to."""
        return [each for file in self.files for each in self._find_unmatched(file)]

    def _find_unmatched(self, file: RecordFile) -> Iterator[Unmatched]:
        claims = [each for each in self.reviewed if any(file is one for one in each.sources.files)]
        names, hashes = {each.review.rubric for each in claims}, {each.review.hash for each in claims}
        takes_unnamed = any(each.is_only or each.review.rubric == file.stem for each in claims)
        for name, lines in file.lines.items():
            if name is None:
                count = sum(line.hash not in hashes and (line.hash is not None or not takes_unnamed) for line in lines)
            else:
                count = 0 if name in names else len(lines)
            if count:
                yield Unmatched(file.path, name, count)

    def to_json(self) -> dict[str, Any]:
        """Return everything as in the JSON report."""
        return {
            "rubrics": [each.review.to_json(each.file) for each in self.reviewed],
            "invalid": [each._asdict() for each in self.invalid],
            "unmatched": [each._asdict() for each in self.unmatched],
            "unreadable": [{"file": file, "reason": reason} for file, reason in self.unreadable.items()],
        }


def list_tested(reviews: Sequence[Review]) -> frozenset[str]:
    """Return the rules that had data enough for everything that they test in the rubrics of a file."""
    lacking = {untested.rule for review in reviews for untested in review.untested}
    return frozenset() if any(review.fault for review in reviews) else JUDGED_RULES - lacking


def _keep_enabled(review: Review, settings: FileSettings) -> Review:
    """Leave out what rules that do not run cannot decide."""
    enabled = JUDGED_RULES if settings.enabled is None else settings.enabled
    return review._replace(untested=tuple(each for each in review.untested if each.rule in enabled))


def _shorten(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(shorten, paths))
