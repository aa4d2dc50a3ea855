"""Compare two runs, answer by answer: another judge, model or version of the rubric."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from rubric_lint.assess.agreement.left_out import NO_ID, OTHER_TYPE, LeftOut
from rubric_lint.assess.agreement.scales import VERDICTS
from rubric_lint.assess.measure.intervals import DiscordantPairs
from rubric_lint.model.messages import find_cause
from rubric_lint.scoring.flat import require_judgements
from rubric_lint.scoring.grading import (
    NOT_APPLICABLE,
    AnswerValue,
    Grade,
    Scored,
    ScoringCriterion,
    ScoringRubric,
    Verdict,
    is_unscored,
)
from rubric_lint.scoring.ids import Key, RecordId, change_type, find_id, make_id_key, name_key
from rubric_lint.scoring.output import RecordResult
from rubric_lint.scoring.records.decoding import Content
from rubric_lint.scoring.records.parse_options import DEFAULT_OPTIONS, ParseOptions
from rubric_lint.scoring.records.streams import PLAIN, StreamOptions, read_entries
from rubric_lint.scoring.results import is_result, is_row, read_result, read_row
from rubric_lint.scoring.scorer import Scorer

NOW, BEFORE, BOTH = "now", "before", "both"
"""The runs in JSON reports."""

NAMES_OF_RUNS = {NOW: "this run", BEFORE: "the other run", BOTH: "both runs"}

REPEATED = "the id of an earlier record, which is compared"
ONLY = "only one run has the id"
OTHER_RUBRIC = "the runs have the id for different rubrics"

_INVALID_SIDES = {"invalid_now": (False, True), "invalid_before": (True, False), "invalid_both": (True, True)}
"""Says in which runs an answer is invalid, before and now."""

MOST_FLIPS = 1000
"""The most answers to list in each direction."""

_MOST_PAIRS = 20_000

Side = Scored | str
"""What one run has of an answer: its result, or why it has none."""


@dataclass(eq=False, slots=True)
class OtherAnswer:
    """What the other run has of an answer: the number of its record, its line, and its result or why it has none.

    `joined` is the id of the record of this run that was joined with it, None without one; then `absence` says why.
    """

    record: int
    line: int
    side: Side
    joined: RecordId | None = None
    absence: str = ONLY

    @property
    def result(self) -> Scored | None:
        """Its result; None if it is invalid."""
        return None if isinstance(self.side, str) else self.side


class Flip(NamedTuple):
    """An answer whose result differs: its id, and both results."""

    id: Any
    was: Scored
    now: Scored

    @property
    def graded(self) -> Iterator[tuple[ScoringCriterion, Grade, Grade]]:
        """The criteria of both runs, with both grades."""
        theirs = {result.criterion.id: result.grade for result in self.was.criteria}
        for result in self.now.criteria:
            if result.criterion.id in theirs:
                yield result.criterion, theirs[result.criterion.id], result.grade

    @property
    def applying(self) -> Iterator[tuple[ScoringCriterion, Grade, Grade]]:
        """The criteria that apply in both runs, with both grades."""
        return (graded for graded in self.graded if NOT_APPLICABLE not in (graded[1].answer, graded[2].answer))

    @property
    def changed(self) -> list[tuple[ScoringCriterion, AnswerValue, AnswerValue]]:
        """The criteria with another value, and both values."""
        return [(criterion, was.answer, now.answer) for criterion, was, now in self.graded if was.answer != now.answer]

    @property
    def groups_missed(self) -> list[str]:
        """The groups whose gates the answer misses now."""
        return [group.group.id for group in self.now.groups if not group.gate_met]

    def to_json(self) -> dict[str, Any]:
        """Return the answer as in the JSON report, with the criteria that got worse."""
        fields = {
            "id": self.id,
            "rubric": self.now.rubric.name,
            "old": {"verdict": self.was.verdict, "score": float(self.was.score)},
            "new": {"verdict": self.now.verdict, "score": float(self.now.score)},
            "criteria": [
                {"id": criterion.id, "old": was.answer, "new": now.answer, "gate_missed": not now.gate_met}
                for criterion, was, now in self.applying
                if find_direction(criterion, was, now) < 0
            ],
        }
        missed = self.groups_missed
        if missed:
            fields["groups_missed"] = missed
        return fields


class Flips:
    """The answers whose results changed in one direction; those that changed most are listed."""

    def __init__(self) -> None:
        self._changes: list[tuple[int, float, Flip]] = []

    @property
    def count(self) -> int:
        """The number of answers."""
        return len(self._changes)

    def add(self, steps: int, change: float, flip: Flip) -> None:
        """Add an answer whose verdict changed by so many steps, and its score by so much."""
        self._changes.append((steps, change, flip))

    def __iter__(self) -> Iterator[Flip]:
        """Yield the answers that changed most, these first."""
        ordered = sorted(self._changes, key=itemgetter(0, 1), reverse=True)
        return iter([flip for *_, flip in ordered[:MOST_FLIPS]])


def find_direction(criterion: ScoringCriterion, was: Grade, now: Grade) -> int:
    """Return -1 if a criterion got worse, 1 if it got better; the score of one that costs points gets worse upward."""
    old_met, old_score = criterion.merit(was)
    new_met, new_score = criterion.merit(now)
    # Another run has its scores as they are printed, rounded to a float.
    before, after = (old_met, float(old_score)), (new_met, float(new_score))
    if after == before:
        return 0
    return 1 if after > before else -1


@dataclass(slots=True)
class CriterionPair:
    """One criterion in both runs, over the answers that both have.

    `higher` and `lower` count the answers whose value rose or fell from the other run to this one, `better` and `worse`
    those for which that is good or bad. Sums are of normalized scores. `pending` counts grades that are not added yet.
    """

    criterion: ScoringCriterion
    answers: int = 0
    higher: int = 0
    lower: int = 0
    better: int = 0
    worse: int = 0
    sum_was: Fraction = Fraction(0)
    sum_now: Fraction = Fraction(0)
    missed_was: int = 0
    missed_now: int = 0
    pending: Counter[tuple[Grade, Grade]] = field(default_factory=Counter)

    def settle(self) -> None:
        """Add what is pending."""
        for (was, now), times in self.pending.items():
            direction = find_direction(self.criterion, was, now)
            if direction > 0:
                self.better += times
            elif direction < 0:
                self.worse += times
            self.answers += times
            if now.answer > was.answer:
                self.higher += times
            elif now.answer < was.answer:
                self.lower += times
            self.sum_was += was.score * times
            self.sum_now += now.score * times
            if not was.gate_met:
                self.missed_was += times
            if not now.gate_met:
                self.missed_now += times
        self.pending.clear()

    def to_json(self) -> dict[str, Any]:
        """Return the criterion as in the JSON report, after `settle`."""
        return {
            "id": self.criterion.id,
            "answers": self.answers,
            "worse": self.worse,
            "better": self.better,
            "old_mean": float(self.sum_was / self.answers),
            "new_mean": float(self.sum_now / self.answers),
            "old_gates_missed": self.missed_was,
            "new_gates_missed": self.missed_now,
        }


@dataclass(slots=True)
class _ResultPair:
    """Both results of some answers, how many there are, and the change of the verdict, in steps, and of the score."""

    was: Scored
    now: Scored
    times: int = 0
    change: tuple[int, float] = (0, 0)

    def __post_init__(self) -> None:
        # Scores are equal as they are printed: another run has them as floats.
        steps = VERDICTS.index(self.now.verdict) - VERDICTS.index(self.was.verdict)
        self.change = steps, float(self.now.score) - float(self.was.score)


class RunComparison:
    """Two runs, joined answer by answer.

    `verdicts` counts (verdict before or None, verdict now or None) of the answers of both runs. `left_out` has the
    records that are not compared, by run and reason.
    """

    def __init__(self) -> None:
        self.left_out: dict[tuple[str, str], LeftOut] = {}
        self.verdicts: Counter[tuple[Verdict | None, Verdict | None]] = Counter()
        self.sum_was = self.sum_now = Fraction(0)
        self.other_version = 0
        self.criteria: dict[tuple[str, str], CriterionPair] = {}
        self.worse, self.better = Flips(), Flips()
        self._pairs: dict[tuple[int, int], _ResultPair] = {}

    def leave_out(self, run: str, reason: str, name: Any, place: str) -> None:
        """Count a record that is not compared."""
        record = place if name is None else f"{name_key(make_id_key(name))} ({place})"
        self.left_out.setdefault((run, find_cause(reason)), LeftOut(reason)).add(record)

    def join(self, name: Any, was: Side, now: Side) -> tuple[str, str] | None:
        """Compare both results of one answer; if one is invalid, return the run in which it is, and the reason."""
        before, after = (None if isinstance(side, str) else side.verdict for side in (was, now))
        self.verdicts[before, after] += 1
        if isinstance(now, str):
            where = BOTH if isinstance(was, str) else NOW
            return where, now
        if isinstance(was, str):
            return BEFORE, was
        # Most answers share a few results, and identities take less time to compare than values.
        # The pair keeps both alive, so that neither id is given to another result.
        pair = self._pairs.get((id(was), id(now)))
        if pair is None:
            if len(self._pairs) >= _MOST_PAIRS:
                self._settle_pairs()
            pair = self._pairs[id(was), id(now)] = _ResultPair(was, now)
        pair.times += 1
        if pair.change < (0, 0):
            steps, change = pair.change
            self.worse.add(-steps, -change, Flip(name, was, now))
        elif pair.change > (0, 0):
            self.better.add(*pair.change, Flip(name, was, now))
        return None

    def _settle_pairs(self) -> None:
        for pair in self._pairs.values():
            was, now, times = pair.was, pair.now, pair.times
            self.sum_was += was.score * times
            self.sum_now += now.score * times
            if was.rubric.hash not in {"", now.rubric.hash}:
                self.other_version += times
            for criterion, before, after in Flip(None, was, now).applying:
                both = self.criteria.setdefault((now.rubric.name, criterion.id), CriterionPair(criterion))
                both.pending[before, after] += times
        self._pairs.clear()

    def settle(self) -> None:
        """Add up what was counted since the last call; `criteria` and the sums are complete then."""
        self._settle_pairs()
        for pair in self.criteria.values():
            pair.settle()

    def _count(self, test: Callable[[Verdict, Verdict], bool]) -> int:
        """Count the answers that are valid in both runs and whose verdicts, before and now, pass a test."""
        count = 0
        for (was, now), times in self.verdicts.items():
            if was is not None and now is not None and test(was, now):
                count += times
        return count

    @property
    def both(self) -> int:
        """The number of answers that are valid in both runs."""
        return self._count(lambda _was, _now: True)

    @property
    def same(self) -> int:
        """The number of answers with the same verdict and score in both runs."""
        return self.both - self.worse.count - self.better.count

    def count_flips(self) -> tuple[int, int]:
        """Return how many verdicts got worse and better."""
        rank = VERDICTS.index
        worse = self._count(lambda was, now: rank(now) < rank(was))
        return worse, self._count(lambda was, now: rank(now) > rank(was))

    def passes(self) -> DiscordantPairs:  # the page of scores calls it
        """Return how many answers pass only in the other run, and only in this one."""
        only_was = self._count(lambda was, now: was is Verdict.PASS is not now)
        return DiscordantPairs(only_was, self._count(lambda was, now: now is Verdict.PASS is not was))

    def list_left_out(self) -> Iterator[tuple[str, LeftOut]]:
        """Yield the records that are not compared, with their run."""
        for (run, _), left_out in self.left_out.items():
            yield run, left_out

    def count_to_json(self) -> dict[str, Any]:
        """Return the counts as in JSON reports."""
        invalid = dict.fromkeys(_INVALID_SIDES.values(), 0)
        for (was, now), count in self.verdicts.items():
            if was is None or now is None:
                invalid[was is None, now is None] += count
        return {
            "answers": self.both,
            "worse": self.worse.count,
            "better": self.better.count,
            "same": self.same,
            **{name: invalid[sides] for name, sides in _INVALID_SIDES.items()},
            "left_out": [{"run": run, **left_out.to_json()} for run, left_out in self.list_left_out()],
        }


def _name_place(result: RecordResult) -> str:
    return f"line {result.line:,}" if result.file is None else f"{result.file}:{result.line}"


def read_side(result: RecordResult) -> Side:
    """Return the result of a record, or why it has none."""
    if result.scored is not None:
        return result.scored
    reason = result.error.message if result.error else "no reason given"
    return reason if is_unscored(reason) else f"invalid: {reason}"


class _OtherScorer(Scorer):
    """A scorer of another run; results are read as they were written, by whichever rubric."""

    def _score(self, value: dict[str, Any]) -> RecordResult:
        if is_result(value):
            scored = read_result(value)
        elif is_row(value):
            only = self.only.rubric if self.only else None
            scored = read_row(value, self._rubrics.get(value.get("rubric", ""), only))
        else:
            return super()._score(value)
        return RecordResult(scored, record=value, rubric=scored.rubric.name)


class OtherRun(RunComparison):
    """The answers of another run, to join with those of this one: its outputs, scored by our rubrics, or results.

    Of records with one id the first counts. `keep_text` gets what each entry holds, in order.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        reading: ParseOptions = DEFAULT_OPTIONS,
        keep_text: Callable[[Content], object] = lambda _: None,
    ) -> None:
        super().__init__()
        self.only_here = 0
        self._ours = rubrics
        self._keep_text = keep_text
        self._scorer = _OtherScorer(rubrics, reading)
        self._records = 0
        self._found: dict[RecordId, OtherAnswer] = {}
        self._names: dict[str, None] = {}
        self._rubrics: dict[int, ScoringRubric] = {}

    def read(self, chunks: Iterable[bytes], options: StreamOptions = PLAIN) -> int:
        """Read its file as asked, and return the number of records."""
        wanted = require_judgements(self._ours.values(), is_shared=True)
        for line, content in read_entries(chunks, options._replace(wanted=wanted)):
            self._scorer.forget()
            self._keep_text(content)
            self._keep(self._scorer.score(content, line))
        return self._records

    def _keep(self, result: RecordResult) -> None:
        side, name = read_side(result), result.id
        answer = OtherAnswer(self._records, result.line, side)
        self._records += 1
        if answer.result:
            self._rubrics[id(answer.result.rubric)] = answer.result.rubric
        rubric = result.rubric
        if rubric is None:
            named = result.record.get("rubric")
            only = next(iter(self._ours)) if len(self._ours) == 1 and result.record else ""
            rubric = named if isinstance(named, str) else only
        self._names[rubric] = None
        if name is None:
            reason = side if isinstance(side, str) else NO_ID
            self.leave_out(BEFORE, reason, name, _name_place(result))
        elif self._found.setdefault((rubric, make_id_key(name)), answer) is not answer:
            self.leave_out(BEFORE, REPEATED, name, _name_place(result))

    def add(self, result: RecordResult, _content: Content = b"") -> OtherAnswer | None:
        """Join a result of this run; return what the other run has of the answer, if anything."""
        name, now = result.id, read_side(result)
        if name is None:
            reason = now if isinstance(now, str) else NO_ID
            self.leave_out(NOW, reason, name, _name_place(result))
            return None
        key = make_id_key(name)
        record_id = self._name(result.rubric or ""), key
        same = find_id(record_id, self._found)
        if same is None:
            self.only_here += 1
            reason = self._explain_absence(key)
            if isinstance(now, str):
                reason = now
            self.leave_out(NOW, reason, name, _name_place(result))
            return None
        answer = self._found[same]
        if answer.joined:
            reason = REPEATED if answer.joined == record_id else OTHER_TYPE
            self.leave_out(NOW, reason, name, _name_place(result))
            return None
        answer.joined = record_id
        missing = self.join(name, answer.side, now)
        if missing:
            run, reason = missing
            place = f"line {answer.line:,}" if run == BEFORE else _name_place(result)
            self.leave_out(run, reason, name, place)
        return answer

    def _explain_absence(self, key: Key) -> str:
        """Return why the other run lacks an answer; the record that nearly is one gets the same reason."""
        answer = self._by_key.get(key)
        if answer is None:
            return ONLY
        answer.absence = OTHER_RUBRIC
        return OTHER_RUBRIC

    @cached_property
    def _by_key(self) -> dict[Key, OtherAnswer]:
        return {key: answer for (_, key), answer in self._found.items()}

    def _name(self, rubric: str) -> str:
        """Return the other run's name of a rubric; the only one on both sides is the same, whatever it is named."""
        if rubric not in self._names and len(self._ours) == len(self._names) == 1:
            return next(iter(self._names))
        return rubric

    def list_left_out(self) -> Iterator[tuple[str, LeftOut]]:
        """Yield the records that are not compared, with their run, after all answers of this run were joined."""
        yield from super().list_left_out()
        by_cause: dict[str, LeftOut] = {}
        for record_id, answer in self._found.items():
            if answer.joined:
                continue
            other = self._found.get(change_type(record_id))
            reason = answer.absence
            if isinstance(answer.side, str):
                reason = answer.side
            elif other and other.joined:
                reason = OTHER_TYPE
            left_out = by_cause.setdefault(find_cause(reason), LeftOut(reason))
            left_out.add(f"{name_key(record_id[1])} (line {answer.line:,})")
        for left_out in by_cause.values():
            yield BEFORE, left_out

    def format_left_out(self, most: int) -> Iterator[str]:
        """Yield the first reasons why records are not compared, but not of those that only one run has."""
        listed = [
            f"{NAMES_OF_RUNS[run]}: {left_out}" for run, left_out in self.list_left_out() if left_out.reason != ONLY
        ]
        yield from listed[:most]
        if len(listed) > most:
            yield f"{len(listed) - most:,} more reasons; --format json lists them"

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as in the JSON report, after all answers of this run were joined."""
        self.settle()
        both, worse = self.both, list(self.worse)
        names = [(rubric.name, criterion.id) for rubric in self._ours.values() for criterion in rubric.criteria]
        return {
            **self.count_to_json(),
            "only_now": self.only_here,
            "only_before": self.only_there,
            "other_version": self.other_version,
            "old_mean": float(self.sum_was / both) if both else None,
            "new_mean": float(self.sum_now / both) if both else None,
            "worse_answers": worse,
            "worse_answers_left_out": self.worse.count - len(worse),
            "criteria": [
                {"rubric": rubric, **self.criteria[rubric, criterion].to_json()}
                for rubric, criterion in names
                if (rubric, criterion) in self.criteria
            ],
        }

    def warnings(self) -> Iterator[str]:
        """Yield warnings about its records, after all answers of this run were joined."""
        if not self.verdicts:
            yield "no answer of this run has the rubric and id of one of its records, so nothing is compared"
        ours = {rubric.hash for rubric in self._ours.values()}
        others = {rubric.hash for rubric in self.rubrics if rubric.hash} - ours
        if others:
            yield f"scored by another version of the rubric (`rubric_hash` {min(others)}), which changes scores too"

    @property
    def only_there(self) -> int:
        """The number of ids that only the other run has."""
        return sum(answer.joined is None for answer in self._found.values())

    def unmatched(self) -> Iterator[tuple[str, OtherAnswer]]:
        """Yield the ids that only the other run has, each with what it has of the answer."""
        for (_, key), answer in self._found.items():
            if not answer.joined:
                yield name_key(key), answer

    @property
    def rubrics(self) -> list[ScoringRubric]:
        """The rubrics of its results, with each version of them."""
        return list(self._rubrics.values())

    def find_criteria(self, rubric: str, criterion: str) -> Iterator[ScoringCriterion]:
        """Yield a criterion in each version of one of our rubrics that the other run used."""
        name = self._name(rubric)
        for rubric_version in self.rubrics:
            if rubric_version.name == name:
                yield from (own for own in rubric_version.criteria if own.id == criterion)

    @property
    def is_by_our_rubrics(self) -> bool:
        """Whether all its results are by the versions of the rubrics that this run uses."""
        ours = {(rubric.name, rubric.hash) for rubric in self._ours.values()}
        return all((rubric.name, rubric.hash) in ours for rubric in self.rubrics)
