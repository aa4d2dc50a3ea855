"""Say in plain words whether a rubric and its judge can be trusted, what that rests on, and what is not known."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from rubric_lint.assess.agreement.label_scale import DoubtedLabels, Suspicion
from rubric_lint.assess.agreement.left_out import NO_VERDICT
from rubric_lint.assess.agreement.units import AnswerContext
from rubric_lint.assess.assess import (
    AssessedCriterion,
    Assessment,
    Evidence,
    Standing,
    find_void,
    is_against,
)
from rubric_lint.assess.judged.outcomes import at_least, at_most
from rubric_lint.assess.judged.review import Review, UnmatchedRecords
from rubric_lint.assess.judged.rules import explain_missing_labels, explain_unmeasured
from rubric_lint.assess.measure.bounds import BoundedShare
from rubric_lint.assess.measure.decision import (
    OF_INVALID,
    OF_LABELS,
    TARGET,
    Reason,
    format_missing,
    format_open,
    format_slips,
    format_target,
    format_unsettled,
    format_wrong,
    lacks_outputs,
)
from rubric_lint.assess.measure.groups import ERROR, JudgeShares, find_level, format_ungrouped
from rubric_lint.assess.measure.labelled import BY_CHANCE, count_units, find_tail, format_ungrouped_outputs
from rubric_lint.assess.measure.needed import find_least_units
from rubric_lint.assess.measure.pass_rate import LabelSelection
from rubric_lint.assess.measure.shares import LEAST_DOUBLE, PeopleAgreement, Shares
from rubric_lint.judge.account import LimitedRun
from rubric_lint.model.finding import Severity
from rubric_lint.model.messages import Causes, counted, join_words, list_names, pluralize
from rubric_lint.model.suggest import Value
from rubric_lint.scoring.grading import Verdict, stops

_FEW = 30
"""The fewest answers from which no word of caution is added: fewer test no rule on samples."""

_MOST_REFUSED = 4
"""The most names of rubrics in records to say on the first screen."""

_COPIED = 20
"""The fewest equal labels that make a copy of the judge's outputs likely."""


class RunInputs(NamedTuple):
    """What the run was given: the files, notes on records, and how many findings are ignored.

    Findings are ignored for comments in the file of the rubrics; the rules in `off` are switched off by settings.
    `unread` is what is wrong with files of records and belongs to no record. `fault_of_judge` and `fault_of_labels` say
    why a model cannot judge the answers, and why `labels` cannot draw from them. `refused` says for which names records
    belong to no rubric. `settings`, `mapping` and `endpoint` are options that suggested commands repeat, and `again` is
    the command of this run, if it has a model judge. `ending` is how a limit ended the judging before all was judged.
    """

    rubric: str
    answers: str
    results: Sequence[str] = ()
    labels: Sequence[str] = ()
    records: Sequence[str] = ()
    unmatched: Sequence[UnmatchedRecords] = ()
    ignored: int = 0
    off: Sequence[str] = ()
    unread: Sequence[str] = ()
    fault_of_judge: str = ""
    fault_of_labels: str = ""
    refused: Sequence[str] = ()
    settings: Mapping[str, Value] = MappingProxyType({})
    mapping: Sequence[str] = ()
    endpoint: Mapping[str, Value] = MappingProxyType({})
    again: str = ""
    ending: LimitedRun | None = None


_REASONS = OF_LABELS | {
    Reason.ERRORS: "{errors} to fix first",
    Reason.BELOW_IN_GROUP: "{judge} is not good enough where {groups}",
    Reason.NOT_JUDGED: "nothing is judged yet",
    Reason.INVALID: "no judge output could be used ({invalid} invalid)",
    Reason.UNUSABLE: "the results cannot be used ({fault})",
    Reason.NO_LABELS: "{faults} in {answers}; without human labels nobody can say more",
    Reason.FEW_LABELS: "{more}",
}

_OF_DATA = frozenset({Reason.MISSES_BAD, Reason.FAILS_GOOD, Reason.FEW_LABELS, Reason.NO_LABELS})
"""The reasons that a judge gives that does not tell answers apart."""


def format_headline(found: Assessment) -> str:
    """Return the answer in one sentence."""
    return f"{str(found.trust).upper()}: {_format_reasons(found)}."


def _format_reasons(found: Assessment) -> str:
    if found.indistinct and set(found.reasons) <= _OF_DATA:
        return f"{_name_judge(found)} does not tell your answers apart"
    review, worst = found.review, found.worst
    groups = dict.fromkeys(f"`{found.options.by}` is `{group.group}`" for group in found.below)
    values = {
        "errors": counted(sum(evidence.severity is Severity.ERROR for evidence in list_evidence(found)), "error"),
        "judge": _name_judge(found),
        "groups": " or ".join(groups),
        "invalid": counted(len([record for record in review.invalid if not record.is_label]), "record"),
        "fault": review.fault,
        "faults": _count_faults(found),
        "answers": counted(review.answers, "answer"),
        "more": "",
        "target": format_target(found.options.target),
    }
    if worst:
        values = {**review.doubts.format_values(worst.shares.people), **values, "more": _format_needed(found)}
    reasons = _REASONS
    ratings = review.ratings
    if ratings and ratings.people and not ratings.has_joined_labels:
        reasons = {**_REASONS, Reason.NO_LABELS: "no label is of a judged answer, as their ids differ"}
    if worst and ratings and ratings.has_invalid_outputs(worst.judge):
        reasons = {**_REASONS, **OF_INVALID}
    return "; ".join(reasons[reason].format_map(values) for reason in found.reasons)


def _count_faults(found: Assessment) -> str:
    fixes = len(found.list(Standing.FIX))
    if fixes:
        return f"{counted(fixes, 'criterion', 'criteria')} to fix"
    if any(is_against(evidence, found) for evidence in found.evidence):
        return "the rubric as a whole to fix"
    return "no fault found"


def _name_judge(found: Assessment) -> str:
    name = found.worst.judge if found.worst else next(iter(found.review.judges), "")
    return f"the judge `{name}`" if name else "the judge"


def _format_needed(found: Assessment) -> str:
    """Return how many labels decide, with a chance of 4 in 5."""
    more, worst, missing = count_more(found), found.worst, list_unlabelled(found)
    if missing:
        labels = counted(count_without_verdict(found), "label")
        return f"{labels} cannot come to a verdict without a value for {list_names(missing)}"
    if worst is None or not worst.shares.people.labelled:
        return "no label comes to a verdict"
    if worst.shares.open:
        return format_open(worst.shares, is_verdict=True)
    if found.lacks_outputs:
        lacking = format_missing(worst.shares, found.options.runs, is_verdict=True)
        return f"{lacking}, so more labels would not settle it"
    if more is None:
        words = {"judge": _name_judge(found), "when": f" at look {found.options.look + 1}"}
        level = find_level(found.options.look + 1, len(found.judges))
        return format_unsettled(worst.shares, found.options.target, level, are_questions=found.has_questions, **words)
    what = f"labels of answers to {counted(more, 'more question')}" if found.has_questions else f"{more} more labels"
    return f"if the judge goes on as so far, {what}, drawn at random, decide with a chance of 4 in 5"


def count_more(found: Assessment) -> int | None:
    """Return how many more units would decide; None if no number can be said."""
    return None if found.needed is None or found.worst is None else found.needed - found.worst.shares.units


def list_evidence(found: Assessment) -> list[Evidence]:
    """Return all findings."""
    findings = list(found.evidence)
    for criterion in found.criteria:
        findings += criterion.findings
    return findings


def format_shares(found: Assessment) -> Iterator[str]:
    """Yield what the labels show of each judge, and what that means."""
    if found.by_verdict:
        words = found.by_verdict.words
        yield f"{words[0].upper()}{words[1:]}."
    if found.worst is None or find_void(found) or not found.worst.shares.people.labelled:
        return
    people = "fail, not borderline ones"
    if stops(Verdict.BORDERLINE, found.options.line):
        people = "fail or call borderline"
    yield f"Bad are answers that people {people}; {_format_verdicts(found)}."
    several = len(found.judges) > 1
    if several:
        yield f"Each of {counted(len(found.judges), 'judge')} is assessed by itself, and the worst one decides."
    for of_judge in found.judges:
        judge = f"the judge `{of_judge.judge}`" if several else "the judge"
        yield _format_share(found, of_judge.shares.bad_caught, judge, is_bad=True)
        yield _format_share(found, of_judge.shares.good_passed, judge, is_bad=False)
    if Reason.SHARES_REACHED in found.reasons:
        less, checks = f"catches or passes fewer than {format_target(found.options.target)}", int(1 / ERROR)
        yield f"A judge that {less} would be called trusted in at most 1 of {checks} such checks."
    for group in found.groups:
        yield _format_group(found, group)
    ungrouped = ""
    if found.review.ratings:
        ungrouped = format_ungrouped(found.review.ratings, found.worst.keys, found.options.by)
    if ungrouped:
        yield ungrouped
    runs = "one run" if found.options.runs == 1 else f"{found.options.runs} runs together"
    see = pluralize(len(found.review.people), "sees", "see")
    seen = f"{list_names(found.review.people, 3)} {see} them"
    yield f"This is about {runs} of the judge and answers like these, drawn at random, as {seen}."


def _format_share(found: Assessment, share: BoundedShare, judge: str, *, is_bad: bool) -> str:
    kind, people, did = ("bad", "fail", "caught") if is_bad else ("good", "pass", "passed")
    if not share.n:
        none = f"No labelled answer is {kind}: people {people} none"
        return f"{none}, so nothing shows how {judge} treats {kind} answers."
    bound = _format_bound(share, found.options.target)
    units = count_units(share.n, is_bad=is_bad, are_questions=found.has_questions)
    mean = " (each counted by its average)" if share.x != int(share.x) else ""
    target = format_target(found.options.target)
    return f"Of {units} {judge} {did} {share.shown}{mean}: {bound} of all such; {target} is asked."


def _format_bound(share: BoundedShare, target: Fraction) -> str:
    return at_most(share.high, target) if share.high < target else at_least(share.low, target)


def _format_group(found: Assessment, group: JudgeShares) -> str:
    bad, good = group.shares.bad_caught, group.shares.good_passed
    head = f"{found.options.by} `{group.group}`: "
    if len(found.judges) > 1:
        head += f"`{group.judge}`: "
    if group.shares.is_below(found.options.target):
        head += "not trusted here: "
    parts = []
    for share, kind, did in ((bad, "bad", "caught"), (good, "good", "passed")):
        if share.n:
            bound = _format_bound(share, found.options.target)
            parts.append(f"{did} {share.shown} of {share.n} {kind} ({bound})")
        else:
            parts.append(f"none is {kind}")
    text = head + ", ".join(parts)
    least = find_least_units(found.options.target, find_level(found.options.look, len(found.groups)))
    if bad.n < least:
        text += f"; fewer than {least} bad ones never clear a group"
    return f"{text}."


def find_least_of(found: Assessment, look: int | None = None) -> int:
    """Return the fewest units of a class that can reach the target that is asked for, at this look or another one."""
    return find_least_units(found.options.target, find_level(look or found.options.look, max(len(found.judges), 1)))


def _format_verdicts(found: Assessment) -> str:
    order = (Verdict.FAIL, Verdict.BORDERLINE, Verdict.PASS)
    counts = ", ".join(f"{found.verdicts.get(verdict, 0):,} {verdict}" for verdict in order)
    whose = "the judge's outputs"
    if found.worst and len(found.judges) > 1:
        whose = f"the outputs of `{found.worst.judge}`"
    return f"the verdicts of {whose} are {counts}"


def format_notes(found: Assessment, given: RunInputs) -> Iterator[str]:
    """Yield what makes the page show less than it seems to."""
    review = found.review
    if found.indistinct:
        pairs = "Two outputs for one answer differ as often as outputs for two different answers"
        yield f"{pairs}, on {found.indistinct} of {counted(len(found.criteria), 'criterion', 'criteria')}."
    yield from _format_unseen(given)
    yield from _format_refused(found, given)
    if 1 < found.alike == review.answers:
        what = f"All {found.alike} answers were judged exactly alike"
        yield f"{what}, so they do not show that the judge tells good from bad."
    if review.answers and review.answers < _FEW:
        yield f"{counted(review.answers, 'answer')} can show a gross fault, but not that there is none."
    yield from _format_invalid(review)
    for note in review.notes:
        yield f"{note}."
    for left_out in review.left_out:
        yield f"{counted(left_out.count, left_out.noun)} left out: {left_out.reason}."
    missing = list_unlabelled(found)
    if missing:
        yield f"No label has a value for {list_names(missing)}."
    if found.worst:
        yield from _format_people(found, found.worst)
        if find_void(found) is None:
            yield from _format_units(found, found.worst)
        yield from _format_chosen(found)
        yield from _format_inapplicable(found)
    if found.options.look > 1:
        yield f"Look {found.options.look}: each bound may be wrong with a probability of {found.level:.2g}."


def _format_inapplicable(found: Assessment) -> Iterator[str]:
    """Yield to how many labelled answers conditional criteria do not apply, and what that counts as."""
    counts = {criterion.id: criterion.inapplicable for criterion in found.criteria if criterion.inapplicable}
    people = [f"{list_names([name])} to {answers.people:,}" for name, answers in counts.items() if answers.people]
    judge = [f"{list_names([name])} to {answers.judge:,}" for name, answers in counts.items() if answers.judge]
    if people:
        yield f"By people some criteria do not apply: {join_words(people)} labelled answers, which say nothing of them."
    if judge:
        by_judge = "By the judge alone some criteria do not apply"
        yield f"{by_judge}: {join_words(judge)} labelled answers, which lower bounds count as wrong for them."


def _format_invalid(review: Review) -> Iterator[str]:
    """Yield how many judge outputs are invalid and what they count as, then which invalid records are left out."""
    outputs = [record for record in review.invalid if record.outputs]
    count = sum(record.outputs for record in outputs)
    if count:
        outputs_are = counted(count, "judge output is", "judge outputs are")
        yield f"{outputs_are} invalid: {Causes(record.message for record in outputs).word()}."
    if count and review.people:
        verdict = "For the verdict of a labelled answer an invalid output counts as a wrong one"
        yield f"{verdict}; of a criterion it says nothing."
    labels = [record.message for record in review.invalid if record.is_label]
    if labels:
        yield f"{counted(len(labels), 'invalid label')} left out: {Causes(labels).word()}."
    reasons = dict.fromkeys(record.reason for record in review.invalid if record.reason)
    for reason in reasons:
        records = [record.message for record in review.invalid if record.reason == reason]
        yield f"{counted(len(records), 'invalid record')} left out ({reason}): {Causes(records).word()}."


def _format_people(found: Assessment, worst: JudgeShares) -> Iterator[str]:
    people, shares = worst.shares.people, worst.shares
    if found.doubted:
        yield _format_doubt(found.doubted)
    if Reason.PEOPLE_DISAGREE in found.reasons:
        yield f"They differ on {counted(len(people.split), 'answer')}. Nothing can be said about the judge."
    elif people.tied:
        how = "the page leaves them out"
        if 2 * people.double < people.labelled:
            how = f"lower bounds count them as `{people.main}` does, and all else leaves them out"
        yield f"On {people.tied} of {people.labelled} answers people are split; {how}."
    yield from _format_unshared(found, people)
    yield from _format_uneven(people)
    yield from _format_outputs(found, shares)
    if shares.slips and not find_void(found):
        yield format_slips(shares, people.main)
    if _is_copy(found):
        yield "All labels are the judge's own values. If they are a copy of its outputs, they show nothing."


def _format_doubt(doubted: DoubtedLabels) -> str:
    """Ask whether the labels of a person are on another scale, and say which option says so."""
    if doubted.suspicion is Suspicion.REVERSED:
        sign = f"The labels of `{doubted.person}` fall as the judge's values rise"
    else:
        sign = f"No label of `{doubted.person}` is above {doubted.greatest}, but a quarter of the judge's values are"
    if not doubted.low:
        sign += f" (of 0 to {doubted.high})"
    advice = f"Say --label-scale {doubted.proposed}; if not, --label-scale {doubted.own}"
    return f"{sign}. Are they from {doubted.seems.replace('..', ' to ')}? {advice}."


def _format_unshared(found: Assessment, people: PeopleAgreement) -> Iterator[str]:
    """Yield that people agree on few of the answers that several labelled, if most have one label."""
    alike, single = people.double - len(people.split), people.labelled - people.double
    is_low = people.double >= LEAST_DOUBLE and alike < found.options.target * people.double
    if is_low and people.double < single and not find_void(found):
        shared = f"Of {people.double:,} answers that several people labelled, they agree on {alike:,}"
        yield f"{shared}. A second label on some of the {single:,} others, drawn at random, shows whether people agree."


def _format_uneven(people: PeopleAgreement) -> Iterator[str]:
    """Yield from whom the judge differs much more than from others, if hardly an answer shows whether they agree."""
    if people.double >= LEAST_DOUBLE:
        return
    for person, (differing, labels) in people.differing.items():
        others = [counts for name, counts in people.differing.items() if name != person]
        other, of_other = sum(differing_of_other for differing_of_other, _ in others), sum(of for _, of in others)
        # Multiplied out, since there may be no labels of others to divide by.
        if differing * of_other > other * labels and find_tail(differing, labels, other, of_other) < BY_CHANCE:
            seen = f"The judge differs from `{person}` on {differing} of {labels} answers, from others on {other} of"
            yield f"{seen} {of_other}. Let people label the same answers before you blame the judge."


def _format_outputs(found: Assessment, shares: Shares) -> Iterator[str]:
    """Yield what does not count of the outputs for labelled answers, and of their labels."""
    yield from format_wrong(shares, found.options.runs)
    if found.ungrouped_outputs:
        yield format_ungrouped_outputs(found.ungrouped_outputs, found.options.runs)
    if shares.open:
        answers = counted(shares.open, "labelled answer")
        yield f"{answers} without a verdict by people, which lower bounds count against the judge."
    if not find_void(found):
        yield from _format_empty(found)


def _format_empty(found: Assessment) -> Iterator[str]:
    """Yield on which criteria labelled answers have no value, if others have one."""
    parts = []
    for criterion in found.criteria:
        shares = criterion.shares
        if shares and shares.people.labelled and shares.open:
            parts.append(f"{shares.open:,} of `{criterion.id}`")
    if len(parts) > _MOST_NAMED:
        parts[_MOST_NAMED:] = [f"some of {counted(len(parts) - _MOST_NAMED, 'other criterion', 'other criteria')}"]
    if parts:
        what = "Labelled answers without a value for a criterion, which its lower bounds count against the judge"
        yield f"{what}: {join_words(parts)}."


_MOST_NAMED = 3
"""The most criteria that a note names."""


def _is_copy(found: Assessment) -> bool:
    """Return whether every label repeats a judge's output in all criteria, reasons included."""
    ratings = found.review.ratings
    if ratings is None or len(ratings.people) != 1:
        return False
    labels = next(iter(ratings.people.values()))
    for judge in ratings.judges.values():
        pairs = [(labels[key], judge[key]) for key in labels.keys() & judge.keys()]
        # Equal values alone may be plain agreement; people do not write a judge's reasons.
        if len(pairs) < _COPIED or not any(label.reasons for label, _ in pairs):
            continue
        if all(label.given == output.given and label.reasons == output.reasons for label, output in pairs):
            return True
    return False


def _format_units(found: Assessment, worst: JudgeShares) -> Iterator[str]:
    labelled, least = worst.shares.people.labelled - worst.shares.people.tied, find_least_of(found)
    abouts = found.review.ratings.about if found.review.ratings else {}
    known = [abouts.get(key, AnswerContext()) for key in worst.keys]
    bare = sum(answer.question is None and answer.answer is None for answer in known)
    if bare:
        answers = counted(bare, "labelled answer")
        yield f"Neither text nor question of {answers} is known: each counts by itself, whatever its question."
    elif Reason.SHARES_REACHED in found.reasons and not found.has_questions:
        yield "No record has a `question`: answers to one question count apart unless their texts are nearly the same."
    bad, good = worst.shares.bad_caught.n, worst.shares.good_passed.n
    if found.has_questions:
        link = ", but" if bad + good < labelled else ":"
        questions = f"{counted(bad, 'question')} with bad answers and {good} with good ones"
        if min(bad, good) < least and Reason.FEW_LABELS in found.reasons:
            questions += ": too few to speak of other questions"
        yield f"{counted(labelled, 'labelled answer')}{link} {questions}."
    if found.copies:
        of = counted(worst.shares.people.labelled, "labelled answer")
        how = "which equal others, or differ from them in digits or a few words, and count with them"
        yield f"Near-copies: {found.copies} of {of}, {how}."


def _format_chosen(found: Assessment) -> Iterator[str]:
    ways = found.review.doubts.ways
    if found.review.chosen in {LabelSelection.RANDOM, LabelSelection.BY_VERDICT} or LabelSelection.SEPARATE in ways:
        return
    if found.review.doubts.skew:
        stopped, of_stopped, passed, of_passed = found.review.doubts.skew
        labels = "Not all labels" if len(ways) > 1 else "The labels do not"
        counts = f"{stopped} of {of_stopped} answers that the judge stops, and {passed} of {of_passed} others"
        yield f"{labels} say how they were chosen, but people labelled {counts}."
    else:
        yield "Not all labels say that they were drawn at random; the shares hold only if they were."


def list_unlabelled(found: Assessment) -> list[str]:
    """Return the criteria without any label, if labels come to no verdict for that."""
    table = found.review.table
    if table is None or not table.labelled or not count_without_verdict(found):
        return []
    return [column.name for column in table.columns if all(label is None for label in column.labels)]


def count_without_verdict(found: Assessment) -> int:
    """Return how many labels come to no verdict, as their empty cells decide it."""
    return sum(left_out.count for left_out in found.review.left_out if left_out.reason == NO_VERDICT)


def _format_unseen(given: RunInputs) -> Iterator[str]:
    if given.ending:
        yield f"{counted(given.ending.left, 'answer is', 'answers are')} not judged: {given.ending.words}."
    if given.ignored:
        are = pluralize(given.ignored, "is", "are")
        yield f"{counted(given.ignored, 'finding')} of the file {are} ignored for comments in it, and not counted here."
    if given.off:
        rules_are = counted(len(given.off), "rule is", "rules are")
        yield f"{rules_are} switched off by the settings: {list_names(given.off, 3)}."
    if given.unread:
        yield f"Not all of the files was read: {Causes(given.unread).word()}."


def _format_refused(found: Assessment, given: RunInputs) -> Iterator[str]:
    """Yield which records belong to no rubric, where outputs or labels are missing."""
    review = found.review
    is_complete = review.answers and (review.labelled or not given.labels)
    if is_complete and not (found.worst and found.worst.shares.unasked):
        return
    yield from (f"{text}." for text in given.refused[:_MOST_REFUSED])
    if len(given.refused) > _MOST_REFUSED:
        yield f"{counted(len(given.refused) - _MOST_REFUSED, 'more name')} of which no record is used: see below."


def format_faults(evidence: Iterable[Evidence]) -> str:
    """Return the faults for which to fix criteria, in plain words and without statistics."""
    return "; ".join(dict.fromkeys(finding.plain for finding in evidence if finding.is_blocking))


# Why no labels are compared with the judge at all.
_VOID = {
    Reason.NO_LABELS: "no human labels",
    Reason.BY_VERDICT: "labels were chosen by the judge's verdict",
    Reason.SEPARATE: "labels were not drawn from these answers",
    Reason.LABELS_REFUSED: "too many labels are refused",
    Reason.LABEL_SCALE: "the labels seem to be on another scale",
    Reason.PEOPLE_DISAGREE: "people disagree with each other",
}


def format_lack(criterion: AssessedCriterion, found: Assessment) -> str:  # noqa: PLR0911 (one return a reason)
    """Return why nothing is known of a criterion yet, and what would decide."""
    void, shares = find_void(found), criterion.shares
    if not found.review.answers:
        return "not judged yet"
    if found.indistinct:
        return "the wording cannot be judged with this model"
    if void is not None:
        return _VOID[void]
    table = found.review.table
    column = next((column for column in table.columns if column.name == criterion.id), None) if table else None
    if column:
        missing = explain_missing_labels(column)
        if missing:
            return missing
    if shares is None:
        return explain_unmeasured(column) if column else _VOID[Reason.NO_LABELS]
    if criterion.is_silenced:
        return "the judge and people differ on it, but that finding is ignored"
    if shares.people.disagree(TARGET):
        return "people disagree on it"
    return _format_lack_of_labels(criterion, shares, found)


def _format_lack_of_labels(criterion: AssessedCriterion, shares: Shares, found: Assessment) -> str:
    """Say why the labels of a criterion decide nothing yet, and how many more would."""
    if shares.open:
        return format_open(shares, is_verdict=False)
    if lacks_outputs(shares, TARGET, criterion.needed):
        left_out = criterion.inapplicable.judge if criterion.inapplicable else 0
        return format_missing(shares, found.options.runs, is_verdict=False, left_out=left_out)
    if criterion.needed is not None:
        more = criterion.needed - shares.units
        units = "questions" if found.has_questions else "labels"
        return f"{more} more {units}, drawn at random, decide with a chance of 4 in 5"
    following = found.options.look + 1
    level, when = find_level(following, max(len(found.judges), 1)), f" at look {following}"
    return format_unsettled(shares, TARGET, level, when=when, are_questions=found.has_questions)
