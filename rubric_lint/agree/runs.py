"""Compare a run with another one, answer by answer: another judge, model or version of the rubric."""

import heapq
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.agree.intervals import Sides
from rubric_lint.agree.ratings import Key, make_id_key, name_key
from rubric_lint.agree.reading import NO_ID, LeftOut
from rubric_lint.agree.scales import VERDICTS
from rubric_lint.outputs.decoding import Content, OutputError
from rubric_lint.outputs.mapping import Wanted
from rubric_lint.outputs.streams import PLAIN, Asked, read_entries
from rubric_lint.outputs.verdict import DEFAULT_READING, Reading
from rubric_lint.scoring.flat import list_fields
from rubric_lint.scoring.grading import AnswerValue, Grade, Scored, ScoringCriterion, ScoringRubric, Verdict
from rubric_lint.scoring.output import Known, RecordResult
from rubric_lint.scoring.results import OtherCriterion, OtherGrade, OtherKind, OtherRubrics, is_result, read_result
from rubric_lint.scoring.scorer import Scorer

_INVALID = -1
"""Takes the place of the number of a result: the output is invalid."""

_NOW, _BEFORE = "now", "before"
"""The two runs in the JSON report."""

NAMES_OF_RUNS = {_NOW: "this run", _BEFORE: "the other run"}

REPEATED = "the id of an earlier record, which is compared"

_INVALID_SIDES = {"invalid_now": (False, True), "invalid_before": (True, False), "invalid_both": (True, True)}
"""Says in which runs an answer is invalid, before and now."""

MOST_FLIPS = 1000
"""The most answers to keep in each direction."""

_MOST_PAIRS = 20_000
_MOST_FAULTS = 20


class Before(NamedTuple):
    """What the other run has of an answer: its result, None if it is invalid, and the number of its record."""

    result: OtherKind | None
    record: int


class Flip(NamedTuple):
    """An answer whose result differs: its id, and both results."""

    id: Any
    was: OtherKind
    now: Known | Scored
    graded: Sequence[tuple[ScoringCriterion, OtherGrade, Grade]]
    """The criteria of both runs, with both grades."""

    @property
    def changed(self) -> list[tuple[ScoringCriterion, AnswerValue, AnswerValue]]:
        """The criteria with another value, and both values."""
        return [(each, was.answer, now.answer) for each, was, now in self.graded if was.answer != now.answer]

    def to_json(self) -> dict[str, Any]:
        """Return the answer as in the JSON report, with the criteria that got worse."""
        return {
            "id": self.id,
            "rubric": self.now.rubric.name,
            "old": {"verdict": self.was.verdict, "score": float(self.was.score)},
            "new": {"verdict": self.now.verdict, "score": read_float(self.now)},
            "criteria": [
                {"id": each.id, "old": was.answer, "new": now.answer, "gate_missed": not now.gate_met}
                for each, was, now in self.graded
                if find_direction(each, was, now) < 0
            ],
        }


class Flips:
    """The answers whose results changed in one direction; only those that changed most are kept."""

    def __init__(self) -> None:
        self.count = 0
        self.heap: list[tuple[int, float, int, Any, OtherKind, Known | Scored]] = []

    def add(self, steps: int, change: float, name: Any, was: OtherKind, now: Known | Scored) -> None:
        """Add an answer whose verdict changed by so many steps, and its score by so much."""
        self.count += 1
        entry = steps, change, -self.count, name, was, now
        if len(self.heap) < MOST_FLIPS:
            heapq.heappush(self.heap, entry)
        elif entry > self.heap[0]:  # the count differs, so nothing behind it is compared
            heapq.heapreplace(self.heap, entry)


def find_direction(criterion: ScoringCriterion, was: OtherGrade | Grade, now: Grade) -> int:
    """Return -1 if a criterion got worse, 1 if it got better; the score of one that costs points gets worse upward."""
    # Another run has its scores as they are printed, rounded to a float.
    before, after = (
        (met, float(score))
        for met, score in (criterion.merit(each.score, gate_met=each.gate_met) for each in (was, now))
    )
    return (after > before) - (after < before)


@dataclass(slots=True)
class CriterionPair:
    """One criterion in both runs, over the answers that both have.

    `higher` and `lower` count the answers whose value rose or fell from the other run to this one, `better` and `worse`
    those for which that is good or bad. Sums are of normalized scores.
    """

    answers: int = 0
    higher: int = 0
    lower: int = 0
    better: int = 0
    worse: int = 0
    sum_was: Fraction = Fraction(0)
    sum_now: Fraction = Fraction(0)
    missed_was: int = 0
    missed_now: int = 0

    def add(self, criterion: ScoringCriterion, was: OtherGrade, now: Grade, times: int) -> None:
        """Count answers with these values."""
        direction = find_direction(criterion, was, now)
        self.better += times * (direction > 0)
        self.worse += times * (direction < 0)
        self.answers += times
        self.higher += times * (now.answer > was.answer)
        self.lower += times * (now.answer < was.answer)
        self.sum_was += was.score * times
        self.sum_now += now.score * times
        self.missed_was += times * (not was.gate_met)
        self.missed_now += times * (not now.gate_met)


class _OtherScorer(Scorer):
    """Scores outputs of another run; its results are compared as they were written, by whichever rubric."""

    def _score_again(self, value: dict[str, Any]) -> RecordResult:
        raise OutputError("a result", record=value)


class OtherRun:
    """The answers of another run: its outputs, scored by our rubrics, or results of `rubric-score` as they are.

    Of records with one id the first counts. `keep_text` gets what each entry holds, in order. `verdicts` counts
    (other verdict or None, this verdict or None) of the answers of both runs. `left_out` has the records that cannot be
    joined, by run and reason.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        reading: Reading = DEFAULT_READING,
        keep_text: Callable[[Content], object] = lambda _: None,
    ) -> None:
        self.known = OtherRubrics()
        self.records = self.invalid = self.only_here = 0
        self.left_out: dict[tuple[str, str], LeftOut] = {}
        self.faults: list[tuple[int, str]] = []
        self.verdicts: Counter[tuple[Verdict | None, Verdict | None]] = Counter()
        self.sum_was = self.sum_now = Fraction(0)
        self.criteria: dict[tuple[str, str], CriterionPair] = {}
        self.worse, self.better = Flips(), Flips()
        self._ours = rubrics
        self._keep_text = keep_text
        self._scorer = _OtherScorer(rubrics, reading)
        self._found: dict[tuple[str, Key], int] = {}  # the numbers of records
        self._results = array("q")  # the number of the result of each record, or `_INVALID`
        self._joined = bytearray()  # 1 for each record that this run has too
        self._has_other_types = False
        self._names: dict[str, None] = {}
        self._values: dict[tuple[str, str], Counter[tuple[OtherGrade, AnswerValue]]] = defaultdict(Counter)
        self._pairs: Counter[tuple[Known, int]] = Counter()

    def read(self, chunks: Iterable[bytes], asked: Asked = PLAIN) -> int:
        """Read its file as asked, and return the number of records."""
        wanted = Wanted(judgements=list_fields(self._ours.values()), is_shared=True)
        for line, content in read_entries(chunks, asked._replace(wanted=wanted)):
            self._scorer.forget()
            self._keep_text(content)
            found = self._scorer.score(content, line)
            if found.known:
                self._keep(found.known.rubric.name, found.id, self.known.number_known(found.known), line)
            else:
                self._read_result(found)
        return self.records

    def _read_result(self, found: RecordResult) -> None:
        """Read a record that is not a valid output: a result, or an invalid one of either."""
        record, fault = found.record, found.error
        named = record.get("rubric")
        only = next(iter(self._ours)) if len(self._ours) == 1 and record else ""
        rubric = named if isinstance(named, str) else only
        number = _INVALID
        if is_result(record):
            try:
                number = self.known.number_result(read_result(record))
            except OutputError as wrong:
                fault = wrong
        if number == _INVALID and fault:
            self.invalid += 1
            if len(self.faults) < _MOST_FAULTS:
                self.faults.append((found.line, fault.message))
        self._keep(rubric, found.id, number, found.line)

    def _leave_out(self, run: str, reason: str, name: Any, place: str) -> None:
        record = place if name is None else f"{name_key(make_id_key(name))} ({place})"
        self.left_out.setdefault((run, reason), LeftOut(reason)).add(record)

    def _keep(self, rubric: str, name: Any, number: int, line: int) -> None:
        self.records += 1
        self._results.append(number)
        self._joined.append(False)
        self._names[rubric] = None
        if name is None:
            self._leave_out(_BEFORE, NO_ID, name, f"line {line:,}")
            return
        key = rubric, make_id_key(name)
        if key in self._found:
            self._leave_out(_BEFORE, REPEATED, name, f"line {line:,}")
        else:
            self._found[key] = self.records - 1

    def match(
        self, rubric: str | None, name: Any, given: Known | Scored | None, line: int, file: str | None
    ) -> Before | None:
        """Join one result of this run, None if it is invalid; return what the other run has of it, if anything."""
        place = f"line {line:,}" if file is None else f"{file}:{line}"
        if name is None:
            self._leave_out(_NOW, NO_ID, name, place)
            return None
        key = self._name(rubric or ""), make_id_key(name)
        record = self._found.get(key)
        if record is None:
            self.only_here += 1
            other_type = (key[1],) if isinstance(key[1], str) else name_key(key[1])
            self._has_other_types |= (key[0], other_type) in self._found
            return None
        if self._joined[record]:
            self._leave_out(_NOW, REPEATED, name, place)
            return None
        self._joined[record] = True
        before = self._describe(record)
        was, number = before.result, self._results[record]
        verdict = given.verdict if given else None
        self.verdicts[was.verdict if was else None, verdict] += 1
        if was is None or given is None:
            return before
        self._keep_flip(name, was, given)
        if isinstance(given, Known):
            self._pairs[given, number] += 1
            if len(self._pairs) > _MOST_PAIRS:
                self.settle()
        else:
            self._tally(given, was, 1)
        return before

    def _describe(self, record: int) -> Before:
        number = self._results[record]
        return Before(None if number == _INVALID else self.known.kinds[number], record)

    def _name(self, rubric: str) -> str:
        """Return the other run's name of a rubric; the only one on both sides is the same, whatever it is named."""
        if rubric not in self._names and len(self._ours) == len(self._names) == 1:
            return next(iter(self._names))
        return rubric

    def settle(self) -> None:
        """Add up what was counted since the last call; `criteria` and the sums are complete then."""
        for (given, number), times in self._pairs.items():
            self._tally(given, self.known.kinds[number], times)
        self._pairs.clear()
        for (name, named), values in self._values.items():
            criterion = next(each for each in self._ours[name].criteria if each.id == named)
            pair = self.criteria.setdefault((name, named), CriterionPair())
            for (other, answer), times in values.items():
                grade = criterion.grade(answer)
                if grade:
                    pair.add(criterion, other, grade, times)
        self._values.clear()

    def _tally(self, given: Known | Scored, was: OtherKind, times: int) -> None:
        """Count a pair of results, and the pairs of values of its criteria."""
        self.sum_was += was.score * times
        self.sum_now += read_score(given) * times
        theirs = self.known.rubrics[was.rubric].places
        for criterion, answer in zip(given.rubric.criteria, read_answers(given), strict=True):
            at = theirs.get(criterion.id)
            if at is not None:
                self._values[given.rubric.name, criterion.id][was.grades[at], answer] += times

    def _keep_flip(self, name: Any, was: OtherKind, given: Known | Scored) -> None:
        """Keep an answer if its verdict or, of equal verdicts, its score differs, as printed."""
        steps = VERDICTS.index(given.verdict) - VERDICTS.index(was.verdict)
        change = read_float(given) - float(was.score)
        if (steps, change) < (0, 0):
            self.worse.add(-steps, -change, name, was, given)
        elif (steps, change) > (0, 0):
            self.better.add(steps, change, name, was, given)

    @property
    def both(self) -> int:
        """The number of answers that are valid in both runs."""
        return sum(count for pair, count in self.verdicts.items() if None not in pair)

    def count_flips(self) -> tuple[int, int]:
        """Return how many verdicts got worse and better."""
        worse = better = 0
        for (was, now), count in self.verdicts.items():
            if was is not None and now is not None:
                worse += count * (VERDICTS.index(now) < VERDICTS.index(was))
                better += count * (VERDICTS.index(now) > VERDICTS.index(was))
        return worse, better

    def passes(self) -> Sides:  # the page of scores calls it
        """Return how many answers pass only in the other run, and only in this one."""
        only = [0, 0]
        for (was, now), count in self.verdicts.items():
            if was is not None and now is not None and (was is Verdict.PASS) is not (now is Verdict.PASS):
                only[now is Verdict.PASS] += count
        return Sides(*only)

    def list_flips(self, flips: Flips) -> Iterator[Flip]:
        """Yield the answers that are kept, those that changed most first."""
        for *_, name, was, given in sorted(flips.heap, key=lambda entry: entry[:3], reverse=True):
            theirs = self.known.rubrics[was.rubric]
            graded = [
                (each, was.grades[theirs.places[each.id]], grade)
                for each, answer in zip(given.rubric.criteria, read_answers(given), strict=True)
                if each.id in theirs.places and (grade := each.grade(answer))
            ]
            yield Flip(name, was, given, graded)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as in the JSON report, after all answers of this run were matched."""
        self.settle()
        both = self.both
        worse = list(self.list_flips(self.worse))
        return {
            "answers": both,
            "worse": self.worse.count,
            "better": self.better.count,
            "same": both - self.worse.count - self.better.count,
            **{
                name: sum(times for (was, now), times in self.verdicts.items() if (was is None, now is None) == sides)
                for name, sides in _INVALID_SIDES.items()
            },
            "only_now": self.only_here,
            "only_before": self.only_there,
            "left_out": [{"run": run, **left_out.to_json()} for (run, _), left_out in self.left_out.items()],
            "old_mean": float(self.sum_was / both) if both else None,
            "new_mean": float(self.sum_now / both) if both else None,
            "worse_answers": worse,
            "worse_answers_left_out": self.worse.count - len(worse),
            "criteria": [
                {
                    "rubric": rubric,
                    "id": name,
                    "answers": pair.answers,
                    "worse": pair.worse,
                    "better": pair.better,
                    "old_mean": float(pair.sum_was / pair.answers),
                    "new_mean": float(pair.sum_now / pair.answers),
                    "old_gates_missed": pair.missed_was,
                    "new_gates_missed": pair.missed_now,
                }
                for (rubric, name), pair in self.criteria.items()
                if pair.answers
            ],
        }

    def warnings(self) -> Iterator[str]:
        """Yield warnings about its records, after all answers of this run were matched."""
        if self.invalid:
            line, message = self.faults[0]
            count = f"{self.invalid:,} of {self.records:,} records without a score"
            yield f"{count}; line {line:,}: {message}"
        if self._has_other_types:
            yield 'some ids differ between the runs in their type alone: 1 is not "1", and CSV and Parquet have texts'
        if not self.verdicts:
            yield "no answer of this run has the rubric and id of one of its records, so nothing is compared"
        ours = {each.hash for each in self._ours.values()}
        if strange := {each.hash for each in self.known.rubrics if each.hash} - ours:
            yield f"scored by another version of the rubric (`rubric_hash` {min(strange)}), which changes scores too"

    @property
    def only_there(self) -> int:
        """The number of ids that only the other run has."""
        return sum(not self._joined[record] for record in self._found.values())

    def unmatched(self) -> Iterable[tuple[str, Before]]:
        """Yield the ids that only the other run has, each with what it has of the answer."""
        for (_, key), record in self._found.items():
            if not self._joined[record]:
                yield name_key(key), self._describe(record)

    def find_criteria(self, rubric: str, criterion: str) -> Iterator[OtherCriterion]:
        """Yield a criterion in each version of one of our rubrics that the other run used."""
        name = self._name(rubric)
        for each in self.known.rubrics:
            if each.name == name:
                yield from (found for found in each.criteria if found.id == criterion)

    @property
    def is_by_our_rubrics(self) -> bool:
        """Whether all its results are by the versions of the rubrics that this run uses."""
        return {(each.name, each.hash) for each in self.known.rubrics} <= {
            (each.name, each.hash) for each in self._ours.values()
        }


class Matcher:
    """An observer that joins each result with that of the other run; a page does that itself."""

    def __init__(self, other: OtherRun) -> None:
        self._other = other

    def add(self, result: RecordResult, _content: Content) -> None:
        """Join a result."""
        self._other.match(result.rubric, result.id, result.median or result.known, result.line, result.file)


def read_float(given: Known | Scored) -> float:
    """Return the score as it is printed; correctly rounded, as of the exact one."""
    return float(given.score) if isinstance(given, Scored) else given.points / given.rubric.full


def read_score(given: Known | Scored) -> Fraction:
    """Return the exact score of a result."""
    return given.score if isinstance(given, Scored) else Fraction(given.points, given.rubric.full)


def read_answers(given: Known | Scored) -> Sequence[AnswerValue]:
    """Return the answers of a result, in the order of the criteria."""
    return [each.grade.answer for each in given.criteria] if isinstance(given, Scored) else given.answers
