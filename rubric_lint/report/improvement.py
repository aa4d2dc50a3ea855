"""Write what came of improving rubrics: each offer as a diff with its evidence, and what was tried and rejected."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rubric_lint.assess.improve.proposals import MODEL, Refusal
from rubric_lint.assess.improve.run import NEEDED, CriterionImprovement, Improvement, StopReason, TriedProposal
from rubric_lint.assess.improve.trial import ASIDE, LEAST, Gain, TrialReason, TrialResult
from rubric_lint.judge.spending import Prices, Spending, format_cost, format_requests, write_amount
from rubric_lint.lint.fix import SAFE
from rubric_lint.lint.fix.run import FixOutcome
from rubric_lint.model.messages import counted, join_words, list_names, render_report, shorten, visible
from rubric_lint.model.suggest import suggest
from rubric_lint.report.fixes import write_diff
from rubric_lint.report.terminal import Style, Write, cut, wrap

VERSION = 1
"""The version of the JSON report."""

_WIDEST = 80
_LONGEST = 160
"""The most columns of the page, and the most characters of a rejected text."""


class ImprovementPage(NamedTuple):
    """What came of the rubrics of a file, what it cost, and whether it was written or stopped.

    `again` is the command that goes on with a run that was stopped, or else writes what is offered.
    """

    several: Sequence[Improvement]
    spending: Spending
    prices: Prices | None
    is_written: bool
    is_stopped: bool
    again: str = ""

    @property
    def has_enough_answers(self) -> bool:
        """Whether every rubric has answers enough to find something to fix."""
        return all(improvement.assessment.review.answers >= NEEDED for improvement in self.several)


def format_headline(found: Improvement) -> str:
    """Say for how many criteria something is offered."""
    if not found.outcomes:
        answers = found.assessment.review.answers
        headline = f"no criterion to fix in {counted(answers, 'answer')}"
        return f"{headline}; fewer than {NEEDED} show little" if answers < NEEDED else headline
    offered = sum(outcome.offered is not None for outcome in found.outcomes)
    return f"a wording that measures better for {offered} of {counted(len(found.outcomes), 'criterion', 'criteria')}"


_TESTS = {
    Gain.STEADY: "samples of one answer differ",
    Gain.CAUGHT: "bad answers caught",
    Gain.PASSED: "good answers passed",
    Gain.NEARER: "judged as people do",
    Gain.APART: "pairs of answers told apart in all samples",
}

_LEFT = {
    StopReason.FEW: f"{{detail}} judged answers; {NEEDED} are needed, {ASIDE} of them to prove a wording on",
    StopReason.FEW_WRONG: (
        "of the {detail} answers to prove a wording on, so few are judged wrong, or differently each time, that not "
        "even a perfect wording could be shown to be better; judge more answers, or label more of them"
    ),
    StopReason.FEW_OUTPUTS: (
        "no other wording is tried: only {detail} answers had valid outputs, and the next one would have as few; "
        "another --model may do better"
    ),
    StopReason.FIX_FIRST: "fix {detail} first, which no wording fixes: `{check}` says how",
    StopReason.NOT_WRITABLE: "no other wording can be written: {detail}",
    StopReason.LIMIT: "not tried, or not all of it: stopped at {detail}",
    StopReason.NO_REPLY: "not tried, or not all of it: {detail}",
    StopReason.INTERRUPTED: "not tried, or not all of it: interrupted",
}

_REFUSALS = {
    Refusal.SAME: "says what the criterion says already",
    Refusal.REPEATED: "says what an earlier proposal says, which was judged",
    Refusal.INVALID: "not a reply of the form asked for: {detail}",
    Refusal.OTHER_FIELDS: "changes more than texts: {detail}",
    Refusal.LINT: "the linter finds {detail}",
    Refusal.COPIED: 'copies an answer: "{detail}"',
    Refusal.LANGUAGE: "another language, or another subject: {detail}",
    Refusal.LONG: "too long: {detail}; longer wording makes judges agree less",
    Refusal.NOT_WRITABLE: "cannot be written: {detail}",
}

_REASONS = {
    TrialReason.FEW: f"only {{n}} answers have outputs before and after; {LEAST} are needed",
    TrialReason.STILL: "{rules} still found",
    TrialReason.NO_BETTER: "no better",
    TrialReason.WORSE: "worse",
    TrialReason.TIES: "steadier, but it tells fewer answers apart",
    TrialReason.OTHER_MEANING: "steadier, but nothing shows that it still judges the same thing",
    TrialReason.OTHERS_WORSE: "better, but {others} got worse",
    TrialReason.FAILS_TEST: "better, but rubric tests no longer hold: {failed}",
}


def format_reason(tried: TriedProposal) -> str:
    """Say why a proposal was rejected."""
    if tried.refused:
        return _REFUSALS[tried.refused.why].format(detail=tried.refused.detail)
    decided = tried.decided
    if decided is None:
        return "not decided"
    own = decided.figures[0].of if decided.figures else ""
    others = list_names([figure.of or "the verdict" for figure in decided.figures if figure.of != own], 3)
    values = {"n": decided.answers, "rules": join_words(list(decided.rules)), "others": others}
    return _REASONS[decided.reason].format(failed=list_names(decided.failed_tests, 3), **values)


def as_text(page: ImprovementPage, look: Style, write: Write) -> None:
    """Write the page for readers."""
    room = min(look.columns, _WIDEST)
    for number, found in enumerate(page.several):
        if number:
            write("\n")
        for line in _write_rubric(found, look, room):
            # A diff has line ends of its own.
            ended = line if line.endswith("\n") else f"{line}\n"
            write(ended)
    spent = [format_requests(page.spending)]
    if page.prices:
        spent += format_cost(page.spending.find_cost(page.prices), page.prices.currency)
    for line in ["", *wrap(visible("; ".join(spent)), room), *_list_last_lines(page, room)]:
        write(f"{line}\n")


def _list_last_lines(page: ImprovementPage, room: int) -> Iterator[str]:
    """Yield what was written, and the command to run next."""
    command = [f"  {page.again}"] if page.again else []
    if page.is_stopped:
        yield from wrap("Stopped; nothing was written. Run the same command to go on.", room)
        yield from command
    elif page.is_written:
        yield from wrap("Written. Outputs recorded before are of the old wording: judge again, and record tests.", room)
    elif any(outcome.offered for found in page.several for outcome in found.outcomes):
        yield from wrap("Nothing was written. Next: the same command with --write; replies come from the cache.", room)
        yield from command


def _write_rubric(found: Improvement, look: Style, room: int) -> Iterator[str]:
    about = found.assessment
    yield cut(visible(f"{about.file}:{about.line}: {about.rubric}"), room)
    if found.outcomes and found.proved_on >= LEAST:
        judges = list_names(about.review.judges, 2)
        sets = f"training set {found.written_from}, held-out set {found.proved_on}, judged by {judges}"
        yield from wrap(visible(sets), room)
    yield ""
    is_good = all(outcome.offered for outcome in found.outcomes)
    for line in wrap(visible(format_headline(found)), room):
        kind = "fix" if is_good else "warning"
        yield look.paint(kind, line)
    if found.whole:
        rules = join_words(list(dict.fromkeys(finding.rule for finding in found.whole)))
        yield from wrap(f"also found in the rubric as a whole, of which no criterion is changed: {rules}", room, "  ")
    if found.unasked_tests:
        what = counted(found.unasked_tests, "rubric test")
        yield from wrap(f"{what} without an answer cannot be judged again", room, "  ")
    for outcome in found.outcomes:
        yield ""
        yield from _write_outcome(outcome, about.file, look, room)


def _write_outcome(outcome: CriterionImprovement, file: str, look: Style, room: int) -> Iterator[str]:
    criterion = outcome.assessed
    yield from wrap(visible(f"line {criterion.line}: {criterion.id}"), room)
    for finding in criterion.findings:
        if finding.is_blocking:
            yield from wrap(visible(f"found by {finding.rule}: {finding.plain}"), room, "  ")
    if outcome.contradicting:
        quoted = counted(outcome.contradicting, "answer")
        yield from wrap(f"people contradict each other on {quoted}, which labels then leave out", room, "  ")
    offered = outcome.offered
    if offered and offered.decided and offered.fixed:
        yield from wrap(visible(f"offered: {_format_origin(offered)}"), room, "  ")
        yield from _write_evidence(offered.decided, outcome, room)
        yield write_diff(FixOutcome(offered.fixed, SAFE), color=bool(look.color))
    elif outcome.left:
        detail = _LEFT[outcome.left].format(detail=outcome.detail, check=suggest("check", file))
        yield from wrap(visible(f"nothing offered: {detail}"), room, "  ")
    else:
        yield "  nothing offered"
    rejected = [tried for tried in outcome.tried if not tried.is_offered]
    for number, tried in enumerate(rejected, 1):
        texts = tried.parts or [text for key, text in tried.texts.items() if text != outcome.texts.get(key)]
        rejection = f"rejected {number}: {_format_origin(tried)}"
        if texts:
            rejection += f': "{shorten(" / ".join(texts), _LONGEST)}"'
        yield from wrap(visible(rejection), room, "  ")
        yield from wrap(visible(format_reason(tried)), room, "    ")
        if tried.decided:
            yield from _write_evidence(tried.decided, outcome, room)


def _format_origin(tried: TriedProposal) -> str:
    origin = "by the model" if tried.origin == MODEL else f"the fix of {tried.origin}"
    return f"{tried.title}, {origin}"


def _write_evidence(decided: TrialResult, outcome: CriterionImprovement, room: int) -> Iterator[str]:
    own = decided.figures[0].of if decided.figures else ""
    for figure in decided.figures:
        before, after = figure.before, figure.after
        line = f"{_TESTS[figure.test]}: {after.x:,} of {after.n:,}, was {before.x:,} of {before.n:,}"
        if figure.of != own:
            line = f"{figure.of or 'verdict'}: {line}"
        # Of pairs only the difference is known, which both counts show already.
        if figure.test is not Gain.APART:
            line += f"; {figure.better} better, {figure.worse} worse"
        if figure.p is not None:
            line += f"; p = {figure.p:.2g}"
        yield from wrap(visible(line), room, "    ")
    if decided.figures:
        proposals = counted(outcome.proposals, "proposal")
        yield from wrap(
            f"on {decided.answers} answers; a gain counts from p = {decided.level:.2g} ({proposals})", room, "    "
        )


def as_json(page: ImprovementPage, _look: Style, write: Write) -> None:
    """Write the JSON report."""
    amount = most = None
    if page.prices:
        cost = page.spending.find_cost(page.prices)
        amount, most = write_amount(cost.amount), cost.find_most()
    report = {
        "version": VERSION,
        "rubrics": [_describe_improvement(found) for found in page.several],
        "requests": page.spending.requests,
        "without_usable_reply": page.spending.unusable,
        "cost": amount,
        "cost_at_most": None if most is None else write_amount(most),
        "written": page.is_written,
        "stopped": page.is_stopped,
    }
    write(render_report(report))


def _describe_improvement(found: Improvement) -> dict[str, Any]:
    assessment = found.assessment
    return {
        "file": assessment.file,
        "rubric": assessment.rubric,
        "rubric_hash": assessment.review.hash or None,
        "line": assessment.line,
        "answers": assessment.review.answers,
        "written_from": found.written_from,
        "proved_on": found.proved_on,
        "tests_not_asked": found.unasked_tests,
        "criteria": [_describe_outcome(outcome) for outcome in found.outcomes],
        "findings": found.whole,
    }


def _describe_outcome(outcome: CriterionImprovement) -> dict[str, Any]:
    criterion = outcome.assessed
    return {
        "id": criterion.id,
        "line": criterion.line,
        "column": criterion.column,
        "texts": outcome.texts,
        "findings": criterion.findings,
        "proposals": outcome.proposals,
        "contradicting_labels": outcome.contradicting,
        "offered": _describe_tried(outcome.offered) if outcome.offered else None,
        "rejected": [_describe_tried(tried) for tried in outcome.tried if not tried.is_offered],
        "not_tried": outcome.left,
        "detail": outcome.detail,
    }


def _describe_tried(tried: TriedProposal) -> dict[str, Any]:
    return {
        "origin": tried.origin,
        "title": tried.title,
        "texts": tried.texts,
        "parts": tried.parts,
        "reason": tried.reason,
        "detail": tried.refused.detail if tried.refused else "",
        "trial": tried.decided,
        "diff": write_diff(FixOutcome(tried.fixed, SAFE), color=False) if tried.fixed else "",
    }


FORMATS = {"full": as_text, "json": as_json}
"""The formats by name."""
