"""Fix the criteria of a rubric one by one: propose, have judged anew, decide, and go on from what is offered."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from rubric_lint.assess.agreement.ratings import Ratings, combine_people
from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.assess.assess import AssessedCriterion, Assessment, Evidence, Standing
from rubric_lint.assess.improve.proposals import (
    MODEL,
    ProposalWriter,
    Refusal,
    RefusedProposalError,
    RubricState,
    ShownAnswer,
    apply_fix,
    find_findings,
    list_wordings,
)
from rubric_lint.assess.improve.trial import (
    ASIDE,
    CriterionFault,
    PairedJudgements,
    PartPlaces,
    TrialReason,
    TrialResult,
    can_gain,
    decide_trial,
    join_parts,
    join_splits,
    keep_answers,
)
from rubric_lint.assess.rubric_tests.running import ScoredTest, find_unmet
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.prompt import JudgedCase, Message
from rubric_lint.lint.fix import Applied, Fixed
from rubric_lint.model.messages import join_words
from rubric_lint.scoring.grading import CriterionResult
from rubric_lint.scoring.ids import Key, make_id_key
from rubric_lint.scoring.loading import RubricPlaces
from rubric_lint.scoring.scorer import Scorer
from rubric_lint.source.edits.intents import Fix

_LEAST_TO_WRITE = 10
"""The fewest answers to write from."""

NEEDED = ASIDE + _LEAST_TO_WRITE
"""The fewest answers with which a wording can be proved."""

_SEED = 1
"""The seed of the hash that divides the answers, fixed so that a second run asks for nothing again."""

_MOST_SHOWN = 6
"""The most answers that a model is shown."""

_MOST_QUOTED = 500
"""The most characters of a reply that cannot be read."""


class StopReason(StrEnum):
    """Why nothing was tried for a criterion, or no more."""

    FEW = "too-few-answers"
    FEW_WRONG = "too-few-wrong-answers"
    FEW_OUTPUTS = "too-few-outputs"
    FIX_FIRST = "fix-first"
    NOT_WRITABLE = "cannot-be-written"
    LIMIT = "limit"
    NO_REPLY = "no-reply"
    INTERRUPTED = "interrupted"


class EndedError(Exception):
    """Nothing more can be asked; the arguments are why, and details."""


class CriterionStoppedError(Exception):
    """Nothing more is tried for a criterion; the arguments are why, and details."""


class ModelAsker(Protocol):
    """What asks models; both methods raise `EndedError` if a limit or an endpoint forbids it."""

    def judge(self, answers: Sequence[Answer], what: str) -> list[Mapping[str, Any]]:
        """Return the records of answers, as far as they get any; `what` says what is judged."""

    def write(self, messages: tuple[Message, ...], schema: Mapping[str, Any], number: int) -> str:
        """Return the reply of the model that proposes; the `number` tells equal requests apart."""


@dataclass(frozen=True)
class TriedProposal:
    """A proposal: its origin, its texts, and why it was rejected, or the trial it passed or failed."""

    origin: str
    title: str
    texts: Mapping[str, str]
    parts: tuple[str, ...] = ()
    refused: RefusedProposalError | None = None
    decided: TrialResult | None = None
    fixed: Fixed | None = None

    @property
    def is_offered(self) -> bool:
        """Whether it is offered."""
        return bool(self.decided and self.decided.is_better)

    @property
    def reason(self) -> str:
        """The code of the reason for which it was rejected or offered; empty before."""
        if self.refused:
            return str(self.refused.why)
        return str(self.decided.reason) if self.decided else ""


@dataclass
class CriterionImprovement:
    """A criterion to fix: what was found, what was tried, and why nothing more was.

    `proposals` is the number of tests that share the level of error, 0 if it came to none. `contradicting` counts the
    answers to prove on for which as many people say one thing as another.
    """

    assessed: AssessedCriterion
    texts: Mapping[str, str] = field(default_factory=dict)
    tried: list[TriedProposal] = field(default_factory=list)
    left: StopReason | None = None
    detail: str = ""
    proposals: int = 0
    contradicting: int = 0

    @property
    def offered(self) -> TriedProposal | None:
        """The proposal that is offered."""
        return next((tried for tried in self.tried if tried.is_offered), None)


@dataclass
class Improvement:
    """What came of one rubric: the answers to write from, those to prove on, and each criterion to fix."""

    assessment: Assessment
    written_from: int
    proved_on: int
    outcomes: list[CriterionImprovement]
    unasked_tests: int = 0

    @property
    def whole(self) -> list[Evidence]:
        """The evidence against the rubric as a whole, which no wording of one criterion fixes."""
        return [evidence for evidence in self.assessment.evidence if evidence.is_blocking]


@dataclass(frozen=True)
class PassedTest:
    """A rubric test that held before, and the case that a judge is shown; None if the test has no answer."""

    ran: ScoredTest
    case: JudgedCase | None


def divide_answers(keys: Sequence[Key], texts: Mapping[Key, object]) -> tuple[set[Key], set[Key]]:
    """Divide answers by a hash of their ids: those to write from, and those to prove on, half but at least `ASIDE`.

    Answers with one text stay together, by the first of their ids: what is proved must not have been read.
    """
    first: dict[object, Key] = {}
    for key in keys:
        first.setdefault(texts.get(key) or key, key)
    order: dict[Key, list[Key]] = {}
    for key in keys:
        # Answers without a text are not one answer, so that these stay apart.
        order.setdefault(first[texts.get(key) or key], []).append(key)
    proved = set[Key]()
    for leader in sorted(order, key=lambda key: hashlib.sha256(json.dumps([_SEED, key]).encode()).digest()):
        if len(proved) >= max(ASIDE, len(keys) // 2):
            break
        proved |= set(order[leader])
    return set(keys) - proved, proved


class Improver:
    """Improves one rubric. `base` is the file with what is offered so far; `found` is kept up to date."""

    def __init__(
        self,
        assessment: Assessment,
        base: RubricState,
        answers: Sequence[Answer],
        tests: Sequence[PassedTest],
        asker: ModelAsker,
    ) -> None:
        self.base = base
        self._asker = asker
        self._tests = tests
        self._rubric, self._loaded = base.rubric, base.loaded
        ratings = assessment.review.ratings or Ratings(base.rubric, {}, {})
        self._answers = {make_id_key(answer.record["id"]): answer for answer in answers}
        judged = set[Key]().union(*ratings.judges.values()) & self._answers.keys()
        texts = {key: " ".join(self._answers[key].case.answer.split()) for key in judged}
        writing, proving = divide_answers(sorted(judged, key=str), texts)
        self._written = keep_answers(ratings, writing)
        self._before = keep_answers(ratings, proving)
        self._fold: PartPlaces = tuple((place,) for place in range(len(base.ids)))
        outcomes = [CriterionImprovement(criterion) for criterion in assessment.list(Standing.FIX)]
        unasked = sum(test.case is None for test in tests)
        self.found = Improvement(assessment, len(writing), len(proving), outcomes, unasked)

    def run(self, tries: int) -> None:
        """Try to fix each criterion, with at most `tries` proposals of a model for each."""
        outcomes = self.found.outcomes
        for number, outcome in enumerate(outcomes):
            try:
                self._improve(outcome, tries)
            except CriterionStoppedError as stop:
                outcome.left, outcome.detail = stop.args
            except EndedError as end:
                for waiting in outcomes[number:]:
                    waiting.left, waiting.detail = end.args
                return
            except BaseException:  # Ctrl+C: what was found stays
                for waiting in outcomes[number:]:
                    waiting.left = StopReason.INTERRUPTED
                raise

    def _improve(self, outcome: CriterionImprovement, tries: int) -> None:
        """Look for a better wording of a criterion.

        Raises:
            CriterionStoppedError: if it cannot be looked for, or not any more.
        """
        name = outcome.assessed.id
        base = self.base
        outcome.texts = {text.key: text.text for text in list_wordings(base.loaded, name)}
        fixable = {finding.rule for finding in find_findings(base, name) if finding.fix is not None}
        if fixable:
            raise CriterionStoppedError(StopReason.FIX_FIRST, join_words(sorted(fixable)))
        answers = self.found.written_from + self.found.proved_on
        if answers < NEEDED:
            raise CriterionStoppedError(StopReason.FEW, str(answers))
        place = [criterion.id for criterion in self.found.assessment.criteria].index(name)
        choices = list(self._list_choices(outcome))
        outcome.proposals = len(choices) + tries
        rules = frozenset(finding.rule for finding in outcome.assessed.findings if finding.is_blocking)
        fault = CriterionFault(place, rules, outcome.proposals)
        outcome.contradicting = PairedJudgements(self._before, self._before.judges).count_contradicting(place)
        # No request is sent where not even a perfect wording could be shown to be better. Without choices,
        # `_ask_model` sees to that, after the reasons that hold with any number of answers.
        if choices:
            self._require_gain(fault)
        if not any(self._try(outcome, tried, made, fault) for tried, made in choices):
            self._ask_model(outcome, fault, tries)

    def _ask_model(self, outcome: CriterionImprovement, fault: CriterionFault, tries: int) -> None:
        """Have a model write the criterion anew, until a wording is better."""
        faults = [finding.plain for finding in outcome.assessed.findings]
        writer = ProposalWriter(self.base, outcome.assessed.id, faults, list(self._choose_shown(fault.place)))
        try:
            lasting = writer.find_lasting() if tries else set()
        except RefusedProposalError as refused:
            raise CriterionStoppedError(StopReason.NOT_WRITABLE, refused.detail) from None
        if lasting:
            raise CriterionStoppedError(StopReason.FIX_FIRST, join_words(sorted(lasting)))
        self._require_gain(fault)
        for number in range(1, tries + 1):
            if self._try_model(outcome, writer, fault, number):
                break

    def _require_gain(self, fault: CriterionFault) -> None:
        if not can_gain(self._before, fault):
            raise CriterionStoppedError(StopReason.FEW_WRONG, str(self.found.proved_on))

    def _list_choices(self, outcome: CriterionImprovement) -> Iterator[tuple[TriedProposal, RubricState]]:
        """Yield the choices of the fixer that can be judged; keep the others as rejected."""
        name, base = outcome.assessed.id, self.base
        choices = [(finding.rule, fix) for finding in find_findings(base, name) for fix in finding.choices]
        for rule, fix in choices:
            try:
                made = apply_fix(base, name, fix, may_split=True)
            except RefusedProposalError as refused:
                outcome.tried.append(TriedProposal(rule, fix.title, {}, refused=refused))
            else:
                yield self._describe(rule, fix, made), made

    def _try_model(
        self, outcome: CriterionImprovement, writer: ProposalWriter, fault: CriterionFault, number: int
    ) -> bool:
        name, base = writer.criterion, writer.base
        earlier = [f"{' / '.join(tried.parts or tried.texts.values())}: {tried.reason}" for tried in outcome.tried]
        reply = self._asker.write(writer.ask(earlier), writer.schema, number)
        tried = TriedProposal(MODEL, "write it anew", {"reply": reply.strip()[:_MOST_QUOTED]})
        try:
            texts, parts = writer.read(reply)
            tried = replace(tried, texts=texts, parts=parts)
            fix = writer.make_fix(texts, parts)
            tried = replace(tried, title=fix.title)
            made = apply_fix(base, name, fix, may_split=bool(parts))
        except RefusedProposalError as refused:
            outcome.tried.append(replace(tried, refused=refused))
            return False
        tried = replace(self._describe(MODEL, fix, made), texts=texts, parts=parts)
        return self._try(outcome, tried, made, fault)

    def _describe(self, origin: str, fix: Fix, made: RubricState) -> TriedProposal:
        """Return a proposal that can be judged, with the criteria that a split adds, and the change of the file."""
        old = self.base.examined.result.source
        fixed = Fixed(old, old.to_bytes(old.text), made.examined.result, (Applied(origin, fix.title),))
        added = [criterion for criterion in made.ids if criterion not in self.base.ids]
        texts = {name: text.text for name in added for text in list_wordings(made.loaded, name)}
        return TriedProposal(origin, fix.title, texts, fixed=fixed)

    def _try(
        self, outcome: CriterionImprovement, tried: TriedProposal, made: RubricState, fault: CriterionFault
    ) -> bool:
        """Have the answers to prove on judged anew, and keep the change if it is better."""
        text = made.examined.result.source.text
        if any(
            earlier.decided and earlier.fixed and earlier.fixed.result.source.text == text for earlier in outcome.tried
        ):
            outcome.tried.append(replace(tried, refused=RefusedProposalError(Refusal.REPEATED)))
            return False
        name = outcome.assessed.id
        added = [criterion for criterion in made.ids if criterion not in self.base.ids]
        named = [[self.base.ids[part] for part in parts] for parts in self._fold]
        named[fault.place] += added
        places = tuple(tuple(map(made.ids.index, names)) for names in named)
        keys = set[Key]().union(*self._before.judges.values())
        answers = [answer._replace(rubric=made.rubric) for key, answer in self._answers.items() if key in keys]
        number = sum(earlier.decided is not None for earlier in outcome.tried) + 1
        records = self._asker.judge(answers, f"`{name}`, proposal {number} of at most {outcome.proposals}")
        reader = RatingReader({made.rubric.name: made.rubric})
        reader.read_records("held-out", ((number, dict(record)) for number, record in enumerate(records, 1)))
        judges = next((ratings.judges for ratings in reader.gather()), {})  # without records that have no valid output
        pairs = PairedJudgements(self._before, join_splits(judges, places))
        decided = decide_trial(pairs, fault)
        failed = self._run_tests(made, places, name) if decided.is_better else ()
        if failed:
            decided = replace(decided, reason=TrialReason.FAILS_TEST, failed_tests=failed)
        outcome.tried.append(replace(tried, decided=decided))
        if decided.reason is TrialReason.FEW:  # the next trial would have as few
            raise CriterionStoppedError(StopReason.FEW_OUTPUTS, str(decided.answers))
        if decided.is_better:
            self.base, self._fold, self._before = made, places, pairs.after
        return decided.is_better

    def _run_tests(self, made: RubricState, places: PartPlaces, name: str) -> tuple[str, ...]:
        """Return the rubric tests that held before, and no longer do."""
        asked: dict[str, ScoredTest] = {}
        answers = []
        for passed in self._tests:
            if passed.case is not None:
                record_id = f"test {len(asked)}"
                asked[record_id] = passed.ran
                answers.append(Answer(json.dumps(record_id), made.rubric, passed.case, {"id": record_id}))
        if not answers:
            return ()
        records = {record["id"]: record for record in self._asker.judge(answers, f"`{name}`, rubric tests")}
        scorer, failed = Scorer({made.rubric.name: made.rubric}), []
        spots = RubricPlaces(self._loaded)
        for record_id, ran in asked.items():
            test, document = ran.test, ran.file.document
            record = records.get(record_id, {})
            result = scorer.score_record({key: value for key, value in record.items() if key != "rubric"}).result
            if result is None:
                failed.append(str(test.id))
                continue
            criteria = []  # those of the first rubric; what was split is met if all its parts are
            for criterion, parts in zip(self._rubric.criteria, places, strict=True):
                given = [result.criteria[place] for place in parts]
                answer = join_parts([part.grade.answer for part in given])
                grade = None if answer is None else criterion.grade(answer)
                if grade:
                    criteria.append(CriterionResult(criterion, grade, given[0].reasoning))
            result = replace(result, criteria=tuple(criteria), samples=())
            if next(find_unmet(test, document, result, spots), None):
                failed.append(str(test.id))
        return tuple(failed)

    def _choose_shown(self, place: int) -> Iterator[ShownAnswer]:
        """Yield the answers to write from that tell most: people say otherwise, or samples differ."""
        pairs = PairedJudgements(self._written, self._written.judges)
        if not pairs.keys:
            return
        column = pairs.tables[0].columns[place]
        names, find = column.measure.scale.names, column.measure.find
        people = combine_people(self._written.people, self._written.rubric) if self._written.people else {}
        ranked: list[tuple[int, Key, str]] = []
        for number, key in enumerate(pairs.keys):
            samples = list[int | None]()
            for judge in self._written.judges.values():
                if key in judge:
                    samples += map(find, judge[key].samples or (judge[key].given,))
            given = ["does not apply" if position is None else names[position] for position in samples]
            statements = f"judge: {', '.join(given)}"
            rank = len(set(samples)) - 1
            label = find(people[key].given) if key in people else None
            if label is not None:
                statements += f"; people: {names[label]}"
                if label != column.given[number]:
                    rank += 2
            ranked.append((rank, key, statements))
        ranked.sort(key=lambda entry: (-entry[0], str(entry[1])))
        for _, key, statements in ranked[:_MOST_SHOWN]:
            yield ShownAnswer(self._answers[key].case, statements)
