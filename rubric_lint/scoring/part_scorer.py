"""Score the parts of inputs one after the other, and keep what a run needs of each until it is taken."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from json.encoder import encode_basestring as quote
from typing import Any, NamedTuple, Protocol

from rubric_lint.outputs.blocks import Part
from rubric_lint.outputs.candidates import Extract
from rubric_lint.outputs.extract import OutputError
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.ids import make_key
from rubric_lint.scoring.merging import ResultScorer
from rubric_lint.scoring.output import Known
from rubric_lint.scoring.records import OtherVersionError, Outcome
from rubric_lint.scoring.run_warnings import Others
from rubric_lint.scoring.scorer import Run, Scorer
from rubric_lint.scoring.totals import Totals


class Observer(Protocol):
    """An observer of all results: most arrive as counts, and in full only those that it wants."""

    def add(self, outcome: Outcome, text: bytes) -> None:
        """Add the full outcome of one entry, whose text is `text`."""

    def wants(self, known: Known) -> bool:
        """Return whether to `keep` a full outcome with this result; after one no, it is always no."""

    def keep(self, outcome: Outcome) -> None:
        """Keep a full outcome; `count` counts it separately."""

    def count(self, known: Known) -> None:
        """Count the results with these answers."""

    def list(
        self, found: Sequence[tuple[Any, Known]], line: int, file: str | None, text: bytes, about: Any = None
    ) -> None:
        """List the results that `count` counts, in order: ids (None without one) and results from this line on.

        `text` has their entries, one on each line if there are several; `about` is what a record says of its judge.
        """


class Results(NamedTuple):
    """The results of some entries of one file, in order.

    `keys` has the keys of ids on consecutive lines, each list with its first line. `line` is the last entry's line, 0
    without one. `judged` counts the outputs whose judge used a rubric with another meaning, `scored` the results by
    another version of the rubric.
    """

    lines: list[str]
    keys: list[tuple[int, Sequence[int]]]
    line: int
    judged: Others
    scored: Others


class PartScorer:
    """A scorer of parts, which counts in `totals`; `file` is the file that errors name, `pending` what is not taken.

    With `merges`, the entries are results, which it checks and takes over.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        totals: Totals,
        extract: Extract,
        observer: Observer | None = None,
        *,
        merges: bool = False,
    ) -> None:
        self.file: str | None = None
        self.pending: list[str] = []
        self.totals = totals
        self._scorer = ResultScorer(rubrics) if merges else Scorer(rubrics, extract)
        self._observer = observer
        self._line = 0
        self._keys: list[tuple[int, Sequence[int]]] = []
        self._judged = self._scored = Others()

    def score(self, part: Part, is_stopped: Callable[[], bool] = lambda: False) -> bool:
        """Score a part; return False if it was stopped after an entry."""
        for entries in chain.from_iterable(map(self._scorer.scan, part.blocks())):
            if isinstance(entries, Run):
                self._take_run(entries)
            else:
                self._score(entries.text, entries.line)
            if is_stopped():
                return False
        return True

    def take(self) -> Results:
        """Return the results since the last call."""
        if self._scorer.is_full:
            self.count()
        taken = Results(self.pending, self._keys, self._line, self._judged, self._scored)
        self.pending, self._keys = [], []
        self._line = 0
        self._judged = self._scored = Others()
        return taken

    def count(self) -> None:
        """Add what is counted by answers to the totals."""
        for known in self._scorer.reset_counts():
            self.totals.count(known, known.count)
            if self._observer:
                self._observer.count(known)

    def _take_run(self, run: Run) -> None:
        """Count a run of records that a glance scored."""
        found, line = run.found, run.line
        rubric = found[0][1].rubric.name
        self._line = line + len(found) - 1
        if self._observer:
            self._observer.list(found, line, self.file, b"\n".join(run.lines))
        self._keys.append((line, array("q", [hash((rubric, name)) for name, _ in found])))  # as make_key
        self.pending += [f'{{"id": {quote(name)}, {known.text}}}' for name, known in found]
        for _, known in found:
            known.count += 1
        if self._observer:
            for place, (_, known) in enumerate(found):
                if known.may_be_wanted and self._is_wanted(known):
                    self._observer.keep(self._scorer.tell(run.lines[place], line + place, self.file))

    def _is_wanted(self, known: Known) -> bool:
        known.may_be_wanted = self._observer is not None and self._observer.wants(known)
        return known.may_be_wanted

    def _score(self, text: bytes | OutputError, line: int) -> None:
        """Score and count an entry."""
        self._line = line
        try:
            entry = self._scorer.score(text)
        except OutputError as fault:
            self._take(self._scorer.explain(text, fault, line, self.file), text)
            return
        if entry.judged is None or entry.has_other_meaning:
            self._take(entry.tell(line, self.file), text)
            return
        self._remember(entry.key, entry.render())
        known = entry.judged.known
        known.count += 1
        if self._observer and isinstance(text, bytes):
            value = entry.value if entry.is_record else {}
            self._observer.list([(value.get("id"), known)], line, self.file, text, value.get("judge"))
        if known.may_be_wanted and self._is_wanted(known) and self._observer:
            self._observer.keep(entry.tell(line, self.file))

    def _remember(self, key: int | None, result: str) -> None:
        if key is not None:
            self._keys.append((self._line, (key,)))
        self.pending.append(result)

    def _take(self, outcome: Outcome, text: bytes | OutputError) -> None:
        """Count an outcome."""
        named = outcome.name if "id" in outcome.head else None
        self._remember(None if named is None else make_key(named, outcome.head["id"]), outcome.render())
        if outcome.has_other_meaning:
            self._judged = self._judged.count_at(outcome.line)
        if isinstance(outcome.error, OtherVersionError):
            self._scored = self._scored.count_at(outcome.line)
        if outcome.result:
            self.totals.take(outcome.result)
        else:
            self.totals.invalid += 1
        if self._observer:
            self._observer.add(outcome, text if isinstance(text, bytes) else b"")
