"""Decide what linting, rubric tests and judged data together say about a rubric and each of its criteria.

No statistic is computed here: `shares` measures a judge, `needed` counts labels, and the rules on judged data have the
rest.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_lint.assess.agreement.label_scale import DoubtedLabels
from rubric_lint.assess.agreement.left_out import NO_OUTPUT
from rubric_lint.assess.agreement.ratings import Judgements, Ratings
from rubric_lint.assess.agreement.scales import measures_of_criteria
from rubric_lint.assess.judged.outcomes import Untested
from rubric_lint.assess.judged.review import NO_RESULTS, Review
from rubric_lint.assess.judged.table import JudgedTable
from rubric_lint.assess.measure.by_verdict import VerdictBounds, bound_by_verdict
from rubric_lint.assess.measure.decision import (
    TARGET,
    MeasureOptions,
    Reason,
    count_needed_units,
    decide_shares,
    lacks_outputs,
    list_against,
)
from rubric_lint.assess.measure.gates import GateMeasure, GateStandard, measure_gate
from rubric_lint.assess.measure.groups import ERROR, JudgeShares, find_level, list_grouping_fields, measure_groups
from rubric_lint.assess.measure.labelled import Cut, InapplicableAnswers, count_indistinct, count_ungrouped, list_judges
from rubric_lint.assess.measure.shares import Shares, measure_shares
from rubric_lint.model.criterion import Shape
from rubric_lint.model.finding import Finding, Severity
from rubric_lint.rules import JUDGED_RULES
from rubric_lint.rules.rows import find_row
from rubric_lint.scoring.grading import OVERALL, Verdict
from rubric_lint.scoring.loading import LoadedRubric
from rubric_lint.source.path import Path, list_above
from rubric_lint.source.source import Source, stem_of

if TYPE_CHECKING:
    from rubric_lint.assess.probes import RubricProbes

MOST_LOOKS = 10
"""The most looks at growing data: each gets an equal part of the probability of an error."""

_BLOCKING = frozenset({Severity.ERROR, Severity.WARNING})


class Standing(StrEnum):
    """What to do with a criterion."""

    KEEP = "keep"
    FIX = "fix"
    INCONCLUSIVE = "inconclusive"


class Trust(StrEnum):
    """The answer for a rubric."""

    TRUSTED = "trusted"
    NOT_TRUSTED = "not trusted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Evidence:
    """A finding at its place; `criterion` is the id of the one that it is about, None for the whole rubric.

    `judged` is what judged data show in plain words, empty for other findings.
    """

    criterion: str | None
    rule: str
    severity: Severity
    message: str
    file: str
    line: int
    column: int
    judged: str = ""

    @property
    def statement(self) -> str:
        """The message without the criterion that it begins with."""
        return _NAME.sub("", self.message)

    @property
    def plain(self) -> str:
        """What it says to people who know no statistics."""
        return self.judged or self.statement

    @property
    def found(self) -> str:
        """What judged data show, without what is so of this criterion only."""
        return self.judged.partition(": ")[0]

    @property
    def is_blocking(self) -> bool:
        """Whether it makes a criterion one to fix."""
        return self.severity in _BLOCKING

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        names = ("rule", "severity", "message", "file", "line", "column")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class AssessedCriterion:
    """A criterion with its standing and the evidence. `untested` is what rules on judged data cannot decide.

    `shares` are those of the worst judge, None without labels; `needed` is the number of labels in all that decide with
    a chance of 4 in 5, None if none can be said. With `is_silenced`, a judge surely errs too often on it, but the
    finding is ignored. Without a gate, labels have a `cut`. `inapplicable` counts the labelled answers to which a
    conditional criterion does not apply.
    """

    id: str
    line: int
    column: int
    standing: Standing
    findings: tuple[Evidence, ...] = ()
    untested: tuple[Untested, ...] = ()
    nothing_found_by: tuple[str, ...] = ()
    shares: Shares | None = None
    needed: int | None = None
    is_silenced: bool = False
    cut: Cut | None = None
    inapplicable: InapplicableAnswers | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        names = ("id", "line", "column", "standing", "findings", "untested", "nothing_found_by")
        fields = {name: getattr(self, name) for name in names}
        fields["bad_caught"] = self.shares and self.shares.bad_caught
        fields["good_passed"] = self.shares and self.shares.good_passed
        fields["labels_needed"] = self.needed
        if self.inapplicable:
            fields["not_applicable"] = self.inapplicable
        return fields


class Assessment(NamedTuple):
    """The answer for a rubric, with its reasons and the evidence.

    `evidence` is what is about no single criterion, `judges` how each judge treats bad and good answers, the worst one
    first, and `groups` the same for each value of the field that was asked for. Each bound of `judges` may be wrong
    with the probability `level`. `needed` is the least number of units in all that decides with a chance of 4 in 5, if
    any does; units are questions if `has_questions`, and `copies` labelled answers are near-copies of others.
    `ungrouped_outputs` of labelled answers are left over, as they are too few for a run.
    `by_verdict` has the bounds that labels chosen by the verdict give. `indistinct` is the number of criteria on which
    no judge tells answers apart, 0 if one does, and `alike` the number of answers that were all given one and the same
    value on every criterion. `verdicts` counts the outputs of the worst judge, without labels of the first one, by
    their verdict. `fields` are those by which answers could be grouped. `probes` have what answers made worse show
    (None: none were made).
    """

    file: str
    rubric: str
    line: int
    trust: Trust
    reasons: tuple[Reason, ...]
    options: MeasureOptions
    review: Review
    criteria: tuple[AssessedCriterion, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    judges: tuple[JudgeShares, ...] = ()
    groups: tuple[JudgeShares, ...] = ()
    level: float = float(ERROR)
    needed: int | None = None
    has_questions: bool = False
    copies: int = 0
    ungrouped_outputs: int = 0
    by_verdict: VerdictBounds | None = None
    indistinct: int = 0
    alike: int = 0
    verdicts: Mapping[Verdict, int] = {}
    fields: tuple[str, ...] = ()
    probes: "RubricProbes | None" = None

    @property
    def doubted(self) -> DoubtedLabels | None:
        """Whose labels seem to be on another scale."""
        return self.review.doubts.doubted

    @property
    def worst(self) -> JudgeShares | None:
        """How the worst judge treats answers; None without labels."""
        return self.judges[0] if self.judges else None

    @property
    def lacks_outputs(self) -> bool:
        """Whether outputs of the worst judge are missing, and not labels."""
        return self.worst is not None and lacks_outputs(self.worst.shares, self.options.target, self.needed)

    @property
    def below(self) -> list[JudgeShares]:
        """The groups in which a judge is surely below the target."""
        return [group for group in self.groups if group.shares.is_below(self.options.target)]

    def list(self, standing: Standing) -> list[AssessedCriterion]:
        """Return the criteria of one standing."""
        return [criterion for criterion in self.criteria if criterion.standing is standing]

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        review, options, worst = self.review, self.options, self.worst
        shares = worst.shares if worst else None
        people = shares.people if shares else None
        return {
            "file": self.file,
            "rubric": self.rubric,
            "rubric_hash": review.hash or None,
            "line": self.line,
            "answer": self.trust,
            "reasons": self.reasons,
            **{name: getattr(review, name) for name in ("answers", "judges", "labelled", "people", "chosen")},
            "target": float(options.target),
            "look": options.look,
            "runs": options.runs,
            "fail_on": options.line,
            "level": self.level,
            "unit": "question" if self.has_questions else "answer",
            "near_copies": self.copies,
            "ungrouped_outputs": self.ungrouped_outputs,
            "verdicts": {verdict: self.verdicts.get(verdict, 0) for verdict in Verdict},
            "bad_caught": shares and shares.bad_caught,
            "good_passed": shares and shares.good_passed,
            "by_verdict": self.by_verdict,
            "each_judge": self.judges,
            "groups": self.groups,
            "labels_needed": self.needed,
            "people_agree": None if people is None or people.agree is None else float(people.agree),
            "tied": people.tied if people else 0,
            "slips": shares.slips if shares else 0,
            "unscored": shares.unscored if shares else 0,
            "to_label_again": worst.name_all(worst.shares.single) if worst else [],
            "label_scale": self.doubted and {"person": self.doubted.person, "seems": self.doubted.suspicion},
            "not_told_apart": self.indistinct,
            "criteria": self.criteria,
            "findings": self.evidence,
            "probes": self.probes,
            "invalid": review.invalid,
            "left_out": review.left_out,
            "fault": review.fault or None,
        }


def _list_entries(loaded: LoadedRubric) -> Iterator[tuple[Path, str]]:
    """Yield the place and the id of each criterion; of a holistic rubric, those of the whole."""
    rubric = loaded.rubric
    if rubric.shape is Shape.HOLISTIC:
        yield rubric.path, OVERALL
    else:
        yield from ((path, entry.id) for path, entry in rubric.entries_by_place.items())


def sort_findings(source: Source, findings: Sequence[Finding], rubrics: Sequence[LoadedRubric]) -> list[list[Evidence]]:
    """Return for each rubric the findings about it; those about none of them are about all."""
    owners: dict[str, list[int]] = {}
    names: list[dict[str, str]] = []
    for number, loaded in enumerate(rubrics):
        document = loaded.document
        owners.setdefault(document.pointer(loaded.rubric.path), []).append(number)
        names.append({document.pointer(path): name for path, name in _list_entries(loaded)})
    by_rubric: list[list[Evidence]] = [[] for _ in rubrics]
    for finding in findings:
        if finding.code == "judged-disagrees.verdict":  # the page itself says it, by the target that is asked for
            continue
        above = [*list_above(finding.pointer), finding.pointer][::-1]
        whole = next(filter(owners.__contains__, above), None)
        concerned = range(len(rubrics)) if whole is None else owners[whole]
        for number in concerned:
            criterion = next((names[number][place] for place in above if place in names[number]), None)
            by_rubric[number].append(make_evidence(source, finding, criterion))
    return by_rubric


def make_evidence(source: Source, finding: Finding, criterion: str | None) -> Evidence:
    """Return a finding as evidence about a criterion, or about the whole rubric (None)."""
    line, column, _ = source.position(finding.span.start)
    judged = ""
    if finding.rule in JUDGED_RULES:
        judged = find_row(finding.rule).write_plainly(finding.code.rpartition(".")[2], finding.values)
    return Evidence(criterion, finding.rule, finding.severity, finding.message, source.name, line, column, judged)


_NAME = re.compile(r"^criterion (?:`[^`]*`|[0-9]+): ")
"""Matches the criterion that a message begins with."""


def make_test_evidence(source: Source, finding: Finding) -> Evidence:
    """Return an expectation of a rubric test that is not met; one on a verdict or a score is about the whole rubric."""
    criterion = finding.values.get("criterion")
    name = criterion if isinstance(criterion, str) else None
    return make_evidence(source, finding, name)


def list_probe_evidence(loaded: LoadedRubric, probes: "RubricProbes") -> Iterator[Evidence]:
    """Yield what answers made worse on purpose show against a rubric."""
    source, document = loaded.document.source, loaded.document
    places = {name: path for path, name in _list_entries(loaded)}
    for criterion, rule, severity, message, plain in probes.list_against():
        path = places[criterion] if criterion else loaded.rubric.path
        line, column, _ = source.position(document.span(path).start)
        yield Evidence(criterion, rule, severity, message, source.name, line, column, plain)


def assess_faulty_file(source: Source, findings: Sequence[Finding], options: MeasureOptions) -> Assessment:
    """Return the assessment of a file whose errors hide its rubrics."""
    evidence = tuple(make_evidence(source, finding, None) for finding in findings)
    name = stem_of(source.name)
    review = Review(name, fault=NO_RESULTS)
    return Assessment(source.name, name, 1, Trust.NOT_TRUSTED, (Reason.ERRORS,), options, review, evidence=evidence)


def assess(loaded: LoadedRubric, evidence: Sequence[Evidence], review: Review, options: MeasureOptions) -> Assessment:
    """Assess a rubric and its criteria by the findings about them and the review of its judged data."""
    source, start = loaded.document.source, loaded.document.span(loaded.rubric.path).start
    line = source.position(start).line
    assessment = Assessment(source.name, loaded.name, line, Trust.UNDECIDED, (), options, review)
    if review.ratings is not None and review.table is not None:
        assessment = _add_measures(assessment, review.ratings, review.table)
    criteria = tuple(_assess_criteria(loaded, evidence, assessment))
    ids = {criterion.id for criterion in criteria}
    others = tuple(item for item in evidence if item.criterion not in ids)
    trust, reasons = _decide(evidence, assessment)
    needed = None
    if Reason.FEW_LABELS in reasons and assessment.worst:
        # With more labels it is the next look at the data, whose bounds are wider.
        level = find_level(options.look + 1, len(assessment.judges))
        needed = count_needed_units(assessment.worst.shares, options.target, level)
    return assessment._replace(trust=trust, reasons=reasons, criteria=criteria, evidence=others, needed=needed)


def _add_measures(assessment: Assessment, ratings: Ratings, table: JudgedTable) -> Assessment:
    """Return an assessment with all that the judged data show of the verdicts."""
    options = assessment.options
    alike = table.answers if all(len(column.used) == 1 for column in table.columns) else 0
    criteria = ratings.rubric.criteria if ratings.rubric else ()
    scales = measures_of_criteria(ratings.rubric) if ratings.rubric else []
    judges = list_judges(ratings)
    indistinct = min((count_indistinct(judgements, scales, criteria) for judgements in judges.values()), default=0)
    verdicts = _count_verdicts(next(iter(judges.values()), {}))
    fields = tuple(list_grouping_fields(ratings))
    assessment = assessment._replace(alike=alike, indistinct=indistinct, fields=fields, verdicts=verdicts)
    if not ratings.has_joined_labels:
        return assessment
    labelled = {name: by_place[None] for name, by_place in table.compared.items()}
    level = find_level(options.look, len(judges))
    shares = [
        JudgeShares(name, measure_shares(answers.answers, level), answers.keys) for name, answers in labelled.items()
    ]
    # A rubric is as good as the worst of its judges: the combined verdict of several runs is nobody's.
    shares.sort(key=lambda of_judge: (not of_judge.shares.is_below(options.target), _find_least(of_judge.shares)))
    assessment = assessment._replace(
        judges=tuple(shares),
        verdicts=_count_verdicts(judges[shares[0].judge]),
        groups=tuple(measure_groups(ratings, labelled, options.by, options.look)),
        level=level,
        has_questions=any(answers.are_questions for answers in labelled.values()),
        copies=max(answers.copies for answers in labelled.values()),
        ungrouped_outputs=count_ungrouped(ratings, options.runs),
    )
    people = shares[0].shares.people
    if len(judges) > 1 or not assessment.review.doubts.are_by_verdict_alone(people, options.target):
        return assessment
    ((name, judge),) = judges.items()
    bounds = bound_by_verdict(labelled[name], judge, options.line, options.runs, level)
    return assessment._replace(by_verdict=bounds)


def _find_least(shares: Shares) -> float:
    """Return the smaller lower bound of the two shares."""
    return min(shares.bad_caught.low, shares.good_passed.low)


def _count_verdicts(judgements: Judgements) -> Counter[Verdict]:
    """Count the verdicts of the outputs of a judge."""
    outputs = (output for judgement in judgements.values() for output in judgement.samples or (judgement.given,))
    return Counter(verdict for _, verdict in outputs if verdict is not None)


def _assess_criteria(
    loaded: LoadedRubric, evidence: Sequence[Evidence], assessment: Assessment
) -> Iterator[AssessedCriterion]:
    review = assessment.review
    outcomes = {outcome.criterion: outcome for outcome in review.criteria}
    columns = review.table.columns if review.table else ()
    places = {column.name: place for place, column in enumerate(columns)}
    for path, name in _list_entries(loaded):
        own = tuple(item for item in evidence if item.criterion == name)
        gates = _measure_gates(assessment, places[name]) if name in places else []
        standing = _find_standing(own, gates, assessment)
        line, column, _ = loaded.document.source.position(loaded.document.span(path).start)
        criterion = AssessedCriterion(name, line, column, standing, own)
        if name in outcomes:
            outcome = outcomes[name]
            criterion = replace(criterion, untested=outcome.untested, nothing_found_by=outcome.quiet)
        if gates:
            worst = min(gates, key=lambda gate: _find_least(gate.shares))
            needed = worst.needed if standing is Standing.INCONCLUSIVE else None
            criterion = replace(
                criterion,
                shares=worst.shares,
                needed=needed,
                is_silenced=standing is not Standing.FIX and any(gate.is_against for gate in gates),
                cut=worst.cut,
                inapplicable=worst.inapplicable,
            )
        yield criterion


def _measure_gates(assessment: Assessment, place: int) -> list[GateMeasure]:
    """Return how each judge decides on a criterion, as `agree` measures it."""
    table = assessment.review.table
    if table is None:
        return []
    standard = GateStandard(TARGET, assessment.options.look, len(table.compared), len(table.columns))
    void = find_void(assessment)
    return [measure_gate(answers[place], standard, void) for answers in table.compared.values() if place in answers]


def _find_standing(own: Sequence[Evidence], gates: Sequence[GateMeasure], assessment: Assessment) -> Standing:
    """Return the standing of a criterion; judged data count only if the labels, and the judge, can say anything."""
    if any(is_against(item, assessment) for item in own):
        return Standing.FIX
    reach = [gate.reasons == (Reason.SHARES_REACHED,) for gate in gates]
    return Standing.KEEP if reach and all(reach) and not assessment.indistinct else Standing.INCONCLUSIVE


def is_against(evidence: Evidence, assessment: Assessment) -> bool:
    """Return whether a finding calls for a fix: not if it is of a judge that tells nothing, or of void labels."""
    is_void = assessment.indistinct > 0 or (evidence.rule == "judged-disagrees" and find_void(assessment) is not None)
    return evidence.is_blocking and not (is_void and evidence.rule in JUDGED_RULES)


def find_void(assessment: Assessment) -> Reason | None:
    """Return the reason for which labels say nothing about a judge, None if they do."""
    if assessment.worst is None:
        return Reason.NO_LABELS
    return assessment.review.doubts.find_void(assessment.worst.shares.people, assessment.options.target)


def _decide(evidence: Sequence[Evidence], assessment: Assessment) -> tuple[Trust, tuple[Reason, ...]]:
    """Return the answer and its reasons, by the worst judge: the first that holds."""
    review, target, worst = assessment.review, assessment.options.target, assessment.worst
    if any(item.severity is Severity.ERROR and item.rule not in JUDGED_RULES for item in evidence):
        return Trust.NOT_TRUSTED, (Reason.ERRORS,)
    if review.fault:
        if review.fault != NO_RESULTS:
            return Trust.UNDECIDED, (Reason.UNUSABLE,)
        invalid = [record for record in review.invalid if not record.is_label and record.reason != NO_OUTPUT]
        reason = Reason.INVALID if invalid else Reason.NOT_JUDGED
        return Trust.UNDECIDED, (reason,)
    void = find_void(assessment)
    if worst is None or void is not None:
        return Trust.UNDECIDED, (void or Reason.NO_LABELS,)
    against = list_against(worst.shares, target)
    if against or assessment.below:
        return Trust.NOT_TRUSTED, tuple(against) or (Reason.BELOW_IN_GROUP,)
    trust = Trust.TRUSTED if worst.shares.reaches(target) else Trust.UNDECIDED
    return trust, decide_shares(worst.shares, target)
