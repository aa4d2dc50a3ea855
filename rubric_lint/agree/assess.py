"""Decide what linting, rubric tests and judged data together say about a rubric and each of its criteria.

No statistic is computed here: the rules on judged data and the comparison of verdicts with labels have them all.
"""

import math
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_lint.agree.bounds import Bounded, bound
from rubric_lint.agree.comparison import Gate
from rubric_lint.agree.intervals import Share, count_deciding
from rubric_lint.agree.judged.outcomes import Untested
from rubric_lint.agree.judged.run import NO_RESULTS, Review
from rubric_lint.agree.pass_rate import Chosen
from rubric_lint.finding import Finding, Severity
from rubric_lint.format.criterion import Shape
from rubric_lint.rules import JUDGED_RULES
from rubric_lint.rules.rows import find_row
from rubric_lint.scoring.grading import OVERALL
from rubric_lint.scoring.loading import Loaded
from rubric_lint.text.path import Path, list_above
from rubric_lint.text.source import Source, stem_of

if TYPE_CHECKING:
    from rubric_lint.agree.history import History
    from rubric_lint.agree.probes import Probes

_ERROR = Fraction(1, 40)
"""The probability with which each bound may be wrong: that of one side of an interval of 95%."""

_BLOCKING = frozenset({Severity.ERROR, Severity.WARNING})


class Standing(StrEnum):
    """What to do with a criterion."""

    KEEP = "keep"
    MEND = "mend"
    UNKNOWN = "cannot say yet"


class Trust(StrEnum):
    """The answer for a rubric."""

    TRUSTED = "trusted"
    NOT_TRUSTED = "not trusted"
    UNDECIDED = "undecided"


class Reason(StrEnum):
    """Why the answer for a rubric is what it is."""

    ERRORS = "errors"
    TO_MEND = "to-mend"
    MISSES_BAD = "misses-bad"
    FAILS_GOOD = "fails-good"
    NOT_JUDGED = "not-judged"
    INVALID = "invalid"
    UNUSABLE = "unusable"
    NO_LABELS = "no-labels"
    BY_VERDICT = "by-verdict"
    FEW_LABELS = "few-labels"
    REPEATED = "repeated"
    UNSCORED = "unscored"
    DISPUTED = "disputed"
    SHARES_REACHED = "shares-reached"


class Asked(NamedTuple):
    """What is asked: the share of bad answers to catch and of good ones to pass, and which look at the data this is.

    `judges` are compared with the labels, each by itself.
    """

    target: Fraction = Fraction(4, 5)
    look: int = 1
    judges: int = 1

    @property
    def level(self) -> float:
        """The probability with which each bound may be wrong; several looks and judges share it (Bonferroni)."""
        return float(_ERROR / self.look / self.judges)


class Evidence(NamedTuple):
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
        """Whether it makes a criterion one to mend."""
        return self.severity in _BLOCKING

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        _, *values, _ = self
        return dict(zip(("rule", "severity", "message", "file", "line", "column"), values, strict=True))


class Assessed(NamedTuple):
    """What is known of a criterion. `untested` is what rules on judged data cannot decide, what lacks most first."""

    id: str
    line: int
    column: int
    standing: Standing
    findings: tuple[Evidence, ...] = ()
    untested: tuple[Untested, ...] = ()
    nothing_found_by: tuple[str, ...] = ()


class Treated(NamedTuple):
    """How a judge treats the answers that people fail and those that they pass."""

    judge: str
    bad_caught: Bounded
    good_passed: Bounded

    def is_below(self, target: Fraction) -> bool:
        """Return whether one of the shares is surely below a target."""
        return min(self.bad_caught.high, self.good_passed.high) < target


class Assessment(NamedTuple):
    """What is known of a rubric. `needed` is the least number of labels that would decide, if any can be said.

    `alike` answers were given one and the same value on every criterion; 0 if the values differ. `evidence` is what is
    about no single criterion, `judges` how each judge treats bad and good answers, the worst one first, `probes` what
    answers made worse show (None: none were made), and
    `history` how earlier wordings measured (None: nobody asked).
    """

    file: str
    rubric: str
    line: int
    trust: Trust
    reasons: tuple[Reason, ...]
    asked: Asked
    review: Review
    criteria: tuple[Assessed, ...]
    evidence: tuple[Evidence, ...] = ()
    judges: tuple[Treated, ...] = ()
    needed: int | None = None
    alike: int = 0
    probes: "Probes | None" = None
    history: "History | None" = None

    @property
    def caught(self) -> Bounded | None:
        """The share of bad answers that the worst judge caught; None without labels."""
        return self.judges[0].bad_caught if self.judges else None

    @property
    def passed(self) -> Bounded | None:
        """The share of good answers that the worst judge passed; None without labels."""
        return self.judges[0].good_passed if self.judges else None

    def list(self, standing: Standing) -> list[Assessed]:
        """Return the criteria of one standing."""
        return [each for each in self.criteria if each.standing is standing]

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        review = self.review
        return {
            "file": self.file,
            "rubric": self.rubric,
            "rubric_hash": review.hash or None,
            "line": self.line,
            "answer": self.trust,
            "reasons": self.reasons,
            **{name: getattr(review, name) for name in ("answers", "judges", "labelled", "people", "chosen")},
            "target": float(self.asked.target),
            "look": self.asked.look,
            "bad_caught": self.caught,
            "good_passed": self.passed,
            "each_judge": self.judges,
            "labels_needed": self.needed,
            "repeated": sum(review.doubt.repeated),
            "unscored": sum(review.doubt.invalid),
            "disputed": review.doubt.disputed,
            "criteria": self.criteria,
            "findings": self.evidence,
            "probes": self.probes,
            "history": self.history,
            "invalid": review.invalid,
            "left_out": review.left_out,
            "fault": review.fault or None,
        }


def _list_entries(loaded: Loaded) -> Iterator[tuple[Path, str]]:
    rubric = loaded.rubric
    if rubric.shape is Shape.HOLISTIC:
        yield rubric.path, OVERALL
    else:
        yield from ((path, entry.id) for path, entry in rubric.entries_by_place.items())


def sort_findings(source: Source, findings: Sequence[Finding], rubrics: Sequence[Loaded]) -> list[list[Evidence]]:
    """Return for each rubric the findings about it; those about none of them are about all."""
    owners: dict[str, list[int]] = {}
    names: list[dict[str, str]] = []
    for number, loaded in enumerate(rubrics):
        document = loaded.document
        owners.setdefault(document.pointer(loaded.rubric.path), []).append(number)
        names.append({document.pointer(path): name for path, name in _list_entries(loaded)})
    found: list[list[Evidence]] = [[] for _ in rubrics]
    for finding in findings:
        above = [*list_above(finding.pointer), finding.pointer][::-1]
        whole = next(filter(owners.__contains__, above), None)
        for number in range(len(rubrics)) if whole is None else owners[whole]:
            criterion = next((names[number][place] for place in above if place in names[number]), None)
            found[number].append(tell(source, finding, criterion))
    return found


def tell(source: Source, finding: Finding, criterion: str | None) -> Evidence:
    """Return a finding as evidence about a criterion, or about the whole rubric (None)."""
    line, column, _ = source.position(finding.span.start)
    judged = ""
    if finding.rule in JUDGED_RULES:
        judged = find_row(finding.rule).write_plainly(finding.code.rpartition(".")[2], finding.values)
    return Evidence(criterion, finding.rule, finding.severity, finding.message, source.name, line, column, judged)


_NAME = re.compile(r"^criterion (?:`[^`]*`|[0-9]+): ")
"""Matches the criterion that a message begins with."""


def of_test(source: Source, finding: Finding) -> Evidence:
    """Return an expectation of a rubric test that is not met; one on a verdict or a score is about the whole rubric."""
    criterion = finding.values.get("criterion")
    return tell(source, finding, criterion if isinstance(criterion, str) else None)


def of_probes(loaded: Loaded, probes: "Probes") -> Iterator[Evidence]:
    """Yield what answers made worse on purpose show against a rubric."""
    source, document = loaded.document.source, loaded.document
    places = {name: path for path, name in _list_entries(loaded)}
    for criterion, rule, severity, message, plain in probes.list_against():
        path = places[criterion] if criterion else loaded.rubric.path
        line, column, _ = source.position(document.span(path).start)
        yield Evidence(criterion, rule, severity, message, source.name, line, column, plain)


def refuse(source: Source, findings: Sequence[Finding], asked: Asked) -> Assessment:
    """Return the assessment of a file whose errors hide its rubrics."""
    evidence = tuple(tell(source, each, None) for each in findings)
    name = stem_of(source.name)
    review = Review(name, fault=NO_RESULTS)
    return Assessment(source.name, name, 1, Trust.NOT_TRUSTED, (Reason.ERRORS,), asked, review, (), evidence)


def assess(loaded: Loaded, evidence: Sequence[Evidence], review: Review, asked: Asked) -> Assessment:
    """Assess a rubric and its criteria by the findings about them and the review of its judged data."""
    criteria = tuple(_assess_criteria(loaded, evidence, review))
    known = {each.id for each in criteria}
    others = tuple(each for each in evidence if each.criterion not in known)
    table = review.table
    alike = table.answers if table and all(len(column.used) == 1 for column in table.columns) else 0
    asked = asked._replace(judges=max(len(review.gates), 1))
    judges = [
        Treated(name, bound(*gate.bad_caught, asked.level), bound(*gate.good_passed, asked.level))
        for name, gate in review.gates.items()
    ]
    # A rubric is as good as the worst of its judges: the combined verdict of several runs is nobody's.
    judges.sort(key=lambda each: (not each.is_below(asked.target), min(each.bad_caught.low, each.good_passed.low)))
    trust, reasons = _decide(evidence, review, judges[0] if judges else None, asked)
    needed = None
    if trust is Trust.UNDECIDED and Reason.FEW_LABELS in reasons:
        needed = count_labels(review.gates[judges[0].judge], asked._replace(look=asked.look + 1))
    source, start = loaded.document.source, loaded.document.span(loaded.rubric.path).start
    about = source.name, loaded.name, source.position(start).line
    return Assessment(*about, trust, reasons, asked, review, criteria, others, tuple(judges), needed, alike)


def _assess_criteria(loaded: Loaded, evidence: Sequence[Evidence], review: Review) -> Iterator[Assessed]:
    outcomes = {each.criterion: each for each in review.criteria}
    have = {"answers": review.answers, "labelled answers": review.labelled}
    by_name: dict[str | None, list[Evidence]] = {}
    for each in evidence:
        by_name.setdefault(each.criterion, []).append(each)
    for path, name in _list_entries(loaded):
        own = tuple(by_name.get(name, ()))
        outcome = outcomes.get(name)
        # What no number of answers can test, such as the direction of two criteria, decides nothing.
        untested = [each for each in (outcome.untested if outcome else ()) if each.unit != "criteria"]
        untested.sort(key=lambda each: have.get(each.unit, 0) - each.needed)
        hints = any(each.rule in JUDGED_RULES for each in own)
        if any(each.is_blocking for each in own):
            standing = Standing.MEND
        elif outcome is None or untested or hints:
            standing = Standing.UNKNOWN
        else:
            standing = Standing.KEEP
        line, column, _ = loaded.document.source.position(loaded.document.span(path).start)
        quiet = outcome.quiet if outcome else ()
        yield Assessed(name, line, column, standing, own, tuple(untested), quiet)


def _decide(
    evidence: Sequence[Evidence], review: Review, worst: Treated | None, asked: Asked
) -> tuple[Trust, tuple[Reason, ...]]:
    """Return the answer and its reasons by the worst judge; None without labels."""
    against = []
    target = asked.target
    is_biased = review.chosen is Chosen.BY_VERDICT or (review.chosen is None and review.doubt.chosen is not None)
    if any(each.severity is Severity.ERROR and each.rule not in JUDGED_RULES for each in evidence):
        against.append(Reason.ERRORS)
    elif any(each.is_blocking for each in evidence):
        against.append(Reason.TO_MEND)
    if worst and not is_biased:
        against += [Reason.MISSES_BAD] if worst.bad_caught.high < target else []
        against += [Reason.FAILS_GOOD] if worst.good_passed.high < target else []
    if against:
        return Trust.NOT_TRUSTED, tuple(against)
    if review.fault:
        unjudged = Reason.INVALID if review.invalid else Reason.NOT_JUDGED
        return Trust.UNDECIDED, (unjudged if review.fault == NO_RESULTS else Reason.UNUSABLE,)
    if worst is None:
        return Trust.UNDECIDED, (Reason.NO_LABELS,)
    if is_biased:
        return Trust.UNDECIDED, (Reason.BY_VERDICT,)
    if min(worst.bad_caught.low, worst.good_passed.low) < target:
        return Trust.UNDECIDED, (Reason.FEW_LABELS,)
    doubt = review.doubt
    shares = doubt.at_worst(*(Share(int(each.x), each.n) for each in (worst.bad_caught, worst.good_passed)))
    least = min(bound(*share, asked.level).low for share in shares)
    doubts = {Reason.REPEATED: doubt.repeated, Reason.UNSCORED: doubt.invalid, Reason.DISPUTED: (doubt.disputed,)}
    against = [reason for reason, counts in doubts.items() if any(counts) and least < target]
    return (Trust.UNDECIDED, tuple(against)) if against else (Trust.TRUSTED, (Reason.SHARES_REACHED,))


def count_labels(gate: Gate, asked: Asked) -> int | None:
    """Return the least number of labels in all that would decide, at the shares seen so far; None if none would.

    A share below the one that is asked for decides as soon as its upper bound is below it; else both lower bounds must
    reach it. Of a class without any answer, nobody knows how rare it is: then it is what both classes need at the very
    least, the missing one if all were right.
    """
    shares = gate.bad_caught, gate.good_passed
    sides = [(share, count_deciding(share, asked.target, asked.level)) for share in shares]
    below = [(share, count) for share, count in sides if share.n and Fraction(*share) < asked.target]
    if not below and any(count is None for _, count in sides):
        return None
    if not below and not all(share.n for share in shares):
        return sum(count or 0 for _, count in sides)
    total = sum(share.n for share in shares)
    found = [math.ceil(Fraction(count * total, share.n)) for share, count in below or sides if count is not None]
    return (min(found) if below else max(found)) if found else None
