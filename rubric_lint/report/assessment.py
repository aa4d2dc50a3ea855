"""Write an assessment for people who know no statistics: as text, as Markdown for a pull request, and as JSON."""

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rubric_lint.assess.agreement.analysis import list_among_people
from rubric_lint.assess.agreement.left_out import NO_RESULT, REFUSALS
from rubric_lint.assess.assess import (
    MOST_LOOKS,
    Assessment,
    Evidence,
    Standing,
    Trust,
    find_void,
    is_against,
)
from rubric_lint.assess.assess import AssessedCriterion as Criterion
from rubric_lint.assess.measure.decision import USUAL, MeasureOptions, Reason
from rubric_lint.assess.measure.groups import ERROR, JudgeShares
from rubric_lint.assess.measure.labelled import count_units
from rubric_lint.assess.measure.needed import MOST_LABELS, count_to_least, find_rare, is_beyond
from rubric_lint.assess.probes import PROBES, ProbeOutcome, ProbeResult, RubricProbes, format_most, name_measures
from rubric_lint.model.finding import Severity
from rubric_lint.model.messages import counted, join_words, list_names, render_report, visible
from rubric_lint.model.suggest import Value, suggest
from rubric_lint.report.terminal import Style, Write, cut, wrap
from rubric_lint.report.trust import (
    RunInputs,
    count_more,
    count_without_verdict,
    find_least_of,
    format_faults,
    format_headline,
    format_lack,
    format_notes,
    format_shares,
    list_evidence,
    list_unlabelled,
)
from rubric_lint.rules.rows import find_row
from rubric_lint.scoring.ids import Key

VERSION = 1
"""The version of the JSON report."""

_WIDEST = 80
"""The most columns of the page."""

_MOST = 6
"""The most lines of one kind on the first screen; the details have them all."""

_USUAL_SAMPLES = 2
"""The outputs for each answer that `assess` has a model give."""

_USUAL_SAMPLE = 60
"""The labels to start with: the fewest with which every rule that compares judge and people can decide."""

_FEWEST = 10
"""The fewest labels to add before another look."""

_ROLES = {Trust.TRUSTED: "fix", Trust.NOT_TRUSTED: "error", Trust.UNDECIDED: "warning"}


class NextStep(NamedTuple):
    """What to do next, and the command for it, if there is one."""

    text: str
    command: str = ""


def format_probes(found: Assessment) -> Iterator[tuple[str, str]]:
    """Yield each way in which answers were made worse, and what the judge made of that."""
    if found.probes and found.probes.answers:
        for probed in found.probes.kinds:
            yield probed.kind, "; ".join(_list_effects(probed))


def _list_effects(probed: ProbeResult) -> list[str]:
    """Describe how judgements move if answers are made worse in one way."""
    n = probed.most.n
    parts = []
    if probed.rewarded:
        most = max(probed.find(name).rose for name in probed.rewarded)
        parts.append(f"rewarded by {name_measures(probed.rewarded)} (better in {most} of {n})")
    if probed.fell:
        most = max(probed.find(name).fell for name in probed.fell)
        parts.append(f"noticed by {name_measures(probed.fell)} (worse in {most} of {n})")
    others = [name for name in probed.rose if name not in probed.rewarded]
    if others:
        parts.append(f"{name_measures(others)} better: look whether that is right")
    if probed.outcome in {ProbeOutcome.UNNOTICED, ProbeOutcome.RESISTED}:
        effect = "not rewarded" if PROBES[probed.kind].adds else "nothing notices it"
        parts.append(f"{effect}: {format_most(probed)}")
    if parts:
        return parts
    if probed.outcome is ProbeOutcome.NOT_MADE:
        return ["no answer can be changed in this way"]
    return [_format_undecided(probed)] if n else ["no variant has a valid output"]


def _format_undecided(probed: ProbeResult) -> str:
    """Describe what may be chance: the criterion that moves most, and how often it moves to each side."""
    n = probed.most.n
    if PROBES[probed.kind].adds:
        most = max(probed.counts, key=lambda count: count.rose)
        moves = f"better in {most.rose} of {n} answers and worse in {most.fell}"
    else:
        most = max(probed.counts, key=lambda count: count.fell)
        moves = f"worse in {most.fell} of {n} answers and better in {most.rose}"
    text = f"inconclusive: {name_measures([most.criterion])} {moves}, which may be chance"
    if probed.needed and probed.needed <= MOST_LABELS:
        text += f"; {probed.needed} answers would decide"
    return text


def _head_probes(probes: RubricProbes) -> str:
    answers = counted(probes.answers, "answer") if probes.answers else "no answer"
    parts = [f"Probes: {answers} made worse on purpose"]
    for count, noun, why in (
        (probes.unjudged, "answer", "without a valid output to compare with"),
        (probes.unchanged, "answer", "that cannot be changed, as in messages or without a letter"),
        (probes.invalid, "variant", "without a valid output"),
    ):
        if count:
            parts.append(f"not counted: {counted(count, noun)} {why}")
    return "; ".join(parts)


_UNITS = {
    "such answers": "answers that miss one of two criteria (or meet it, if that is rarer)",
    "answers judged with `--shuffle`": "answers judged in shuffled order, as `--model` does it,",
    "answers in which one of two criteria is on the rarer side": "answers in which it is judged otherwise",
}
"""Plainer words for what there must be more of."""


def list_steps(found: Assessment, given: RunInputs) -> Iterator[NextStep]:
    """Yield what to do next."""
    review, reasons = found.review, set(found.reasons)
    again = _repeat(found, given)
    has_unnamed = any(records.rubric is None for records in given.unmatched if records.file in given.results)
    if Reason.ERRORS in reasons:
        errors = [evidence for evidence in list_evidence(found) if evidence.severity is Severity.ERROR]
        tests = dict.fromkeys(error.file for error in errors if error.rule == "unmet-expectation")
        command = suggest("test", *tests, **given.settings) if tests else suggest("check", found.file, **given.settings)
        yield NextStep("Fix the errors, then run this again.", command)
    elif Reason.INVALID in reasons and given.results:
        yield _ask_again(given)
    elif given.ending:
        # The first answers of a file are no random sample to label.
        if given.ending.goes_on:
            text = "Have the answers judged that are left, with the same command, before people label any."
            yield NextStep(text, given.again)
        else:
            yield NextStep("Have the answers judged that are left: it says above what has to change first.")
        yield from _list_fixes(found)
    elif Reason.NOT_JUDGED in reasons and has_unnamed:
        text = "Say in `rubric` of each record which rubric of the file it is of, then run this again."
        yield NextStep(text, suggest("assess", given.rubric, given.answers, **again, labels=given.labels))
    elif {Reason.NOT_JUDGED, Reason.INVALID} & reasons:
        text = "Have a model judge the answers, or name recorded outputs with --results."
        yield _judge_all(text, found, given)
    elif found.indistinct:
        text = "Try another model. Rewording the rubric, or `improve`, will not help before that."
        # The command of this run would ask the same model.
        yield _judge_all(text, found, given._replace(again=""))
    else:
        if any(record.outputs for record in review.invalid):
            yield _ask_again(given)
        if found.worst and found.worst.shares.unasked and Reason.SHARES_REACHED not in reasons:
            yield _judge_all(_format_unasked(found, found.worst, given), found, given)
        yield from _list_fixes(found)
        yield from _list_steps_of_labels(found, given, again)
        yield from _list_steps_by_group(found, given, again)


def _list_fixes(found: Assessment) -> Iterator[NextStep]:
    if found.list(Standing.FIX) or any(is_against(evidence, found) for evidence in found.evidence):
        yield NextStep("Fix what was found, then judge the answers again.")


def _format_unasked(found: Assessment, worst: JudgeShares, given: RunInputs) -> str:
    """Return which labelled answers to have judged; whether one that is in no record exists, only the reader knows."""
    lacking = "no output" if found.options.runs == 1 else f"fewer than {found.options.runs} outputs"
    names = list_names(worst.name_all(worst.shares.missing))
    text = f"Have the labelled answers judged that have {lacking}: {names}."
    reasons = {left_out.reason for left_out in found.review.left_out}
    if given.answers in given.results and NO_RESULT in reasons:
        text += " If they are not of these answers, remove the labels."
    return text


def _repeat(found: Assessment, given: RunInputs) -> dict[str, Value]:
    """Return the options that assess the same answers and results, and ask for the same."""
    usual = f"{given.answers.removesuffix('.jsonl')}.judged.jsonl"
    is_known = tuple(given.results) in {(), (usual,), (given.answers,)}  # the answers name the results then
    return {"results": () if is_known else given.results, **_list_options(found.options, given)}


def _list_options(asked: MeasureOptions, given: RunInputs) -> dict[str, Value]:
    """Return the options that say how to read the files, ask for other than the usual, and choose the settings."""
    usual, options = USUAL, dict[str, Value](map=given.mapping)
    if asked.target != usual.target:
        options["target"] = f"{float(asked.target):.10g}"
    if asked.line is not usual.line:
        options["fail_on"] = asked.line
    if asked.runs != usual.runs:
        options["runs"] = str(asked.runs)
    if asked.label_scales:
        options["label_scale"] = _list_label_scales(asked)
    return {**options, **given.settings}


def _list_label_scales(asked: MeasureOptions) -> list[str]:
    scales = asked.label_scales.items()
    return [f"{person}={low}..{high}" if person else f"{low}..{high}" for person, (low, high) in scales]


def _list_steps_of_labels(found: Assessment, given: RunInputs, again: Mapping[str, Value]) -> Iterator[NextStep]:
    """Yield the steps that labels need: more of them, others, or a second person."""
    reasons, worst = set(found.reasons), found.worst
    files, labelled = (given.rubric, given.answers), {**again, "labels": given.labels or [_name_sheet(given)]}
    compared = {"labels": given.labels, "by": found.options.by or None, **_list_options(found.options, given)}
    if Reason.LABEL_SCALE in reasons and found.doubted:
        options = {**labelled, "label_scale": [*_list_label_scales(found.options), found.doubted.proposed]}
        yield NextStep("Say on which scale the labels are.", suggest("assess", *files, **options))
    elif Reason.LABELS_REFUSED in reasons:
        corrections = [REFUSALS[left_out.reason] for left_out in found.review.left_out if left_out.reason in REFUSALS]
        if any(record.is_label for record in found.review.invalid):
            corrections.append("correct the values")
        text = f"Correct the labels that are refused ({join_words(corrections)}), then run this again."
        yield NextStep(text, suggest("assess", *files, **labelled))
    elif Reason.PEOPLE_DISAGREE in reasons and worst:
        names = worst.name_all(worst.shares.people.split)
        ratings = found.review.ratings
        count = len(list_among_people(ratings, found.options.line, all_split=True)) if ratings else 0
        text = f"Read these {len(names)} answers together first: {list_names(names, 5)}."
        yield NextStep(text, suggest("agree", given.rubric, *given.results, **compared, worst=str(count)))
    elif {Reason.MISSES_BAD, Reason.FAILS_GOOD, Reason.BELOW_IN_GROUP} & reasons and worst:
        yield from _list_steps_where_differing(worst, suggest("agree", given.rubric, *given.results, **compared))
    unused = {record.file for record in found.review.invalid} | {record.file for record in given.unmatched}
    are_unusable = bool(given.labels) and (bool(found.review.left_out) or not unused.isdisjoint(given.labels))
    if Reason.NO_LABELS in reasons and are_unusable:
        text = "No label could be used: correct the labels, then run this again."
        yield NextStep(text, suggest("assess", *files, **labelled))
    elif {Reason.NO_LABELS, Reason.BY_VERDICT, Reason.SEPARATE} & reasons:
        # At best half of them are bad, and each class needs the least number.
        count = min(max(_USUAL_SAMPLE, 2 * find_least_of(found)), found.review.answers)
        yield _draw(found, given, count, "answer")
        command = suggest("assess", *files, **again, labels=_name_sheet(given))
        next_command = "" if _is_undrawable(found, given) else command
        yield NextStep("Run this again with the labels.", next_command)
    elif Reason.FEW_LABELS in reasons:
        yield from _list_steps_to_more(found, given, labelled)


def _list_steps_where_differing(worst: JudgeShares, command: str) -> Iterator[NextStep]:
    """Yield the steps for answers on which people and the judge differ, which `command` lists."""
    names = worst.name_all(worst.shares.single)
    if names:
        differ = f"The judge and `{worst.shares.people.main}` differ on {counted(len(names), 'answer')}"
        second = "Let a second person label these before you blame the judge"
        yield NextStep(f"{differ}. {second}: {list_names(names, 5)}.")
    if worst.shares.differing:
        yield NextStep("Read the answers on which people and the judge differ.", command)


def _list_steps_to_more(found: Assessment, given: RunInputs, labelled: Mapping[str, Value]) -> Iterator[NextStep]:
    """Yield the steps to the labels that decide: first to what those that there are lack."""
    missing = list_unlabelled(found)
    if missing:
        text = f"Add {list_names(missing)} to the labels, or a column `verdict`, then run this again."
        yield NextStep(text, suggest("assess", given.rubric, given.answers, **labelled))
        return
    without_verdict = count_without_verdict(found)
    if without_verdict:
        look = found.options.look + 1
        command = suggest("assess", given.rubric, given.answers, **labelled, look=str(look))
        text = f"Fill in the empty cells of {counted(without_verdict, 'label')}, then run this again."
        next_command = command if look <= MOST_LOOKS else ""
        yield NextStep(text, next_command)
        return
    if found.lacks_outputs:
        return
    more = count_more(found)
    if more is None and found.worst:
        bad, good = found.worst.shares.bad_caught.n, found.worst.shares.good_passed.n
        least = find_least_of(found, found.options.look + 1)
        rare = find_rare(bad, good, least)
        if rare:
            yield NextStep(f"Collect more answers that are {rare}, and have all of them judged and labelled.")
            return
        if min(bad, good) < least and not is_beyond(least):
            more = max(count_to_least(bad, good, least) - bad - good, _FEWEST)
    if more is None:
        yield NextStep("Ask for less with --target, fix the rubric, or change the judge.")
        return
    if found.options.look >= MOST_LOOKS:
        yield NextStep(f"This was look {MOST_LOOKS}, the last one: start anew with other answers.")
        return
    yield from _list_steps_to_label(found, given, labelled, more)


def _list_steps_to_label(
    found: Assessment, given: RunInputs, labelled: Mapping[str, Value], more: int
) -> Iterator[NextStep]:
    """Yield the steps to `more` labels: first of judged answers without one, then of new answers."""
    look, ratings, command = found.options.look + 1, found.review.ratings, ""
    unlabelled = found.review.answers
    if ratings:
        unlabelled -= len(ratings.judged & set[Key]().union(*ratings.people.values()))
    if unlabelled > 0:
        yield _draw(found, given, min(more, unlabelled), "more answer")
        if not _is_undrawable(found, given):
            options = {**labelled, "labels": [*given.labels, _name_sheet(given)], "look": str(look)}
            command = suggest("assess", given.rubric, given.answers, **options)
    if more > unlabelled:
        what = counted(more - unlabelled, "more answer")
        if found.has_questions:
            what = f"answers to {counted(more - unlabelled, 'more question')}"
        if unlabelled > 0:
            what += " besides"
        yield NextStep(f"Collect {what}{_format_rarer(found)}, and have all of them judged and labelled.")
    yield NextStep(f"Run this again with all labels and --look {look}, as these data were seen before.", command)


def _format_rarer(found: Assessment) -> str:
    """Return how many of the rarer class would be enough, if only that one is missing; else nothing."""
    shares = found.worst.shares if found.worst else None
    least = find_least_of(found, found.options.look + 1)
    if shares is None or found.needed is not None:
        return ""
    bad, good = shares.bad_caught.n, shares.good_passed.n
    if min(bad, good) >= least or max(bad, good) < least:
        return ""
    missing = count_units(least - min(bad, good), is_bad=bad < good, are_questions=found.has_questions)
    return f", or {missing}"


def _list_steps_by_group(found: Assessment, given: RunInputs, again: Mapping[str, Value]) -> Iterator[NextStep]:
    """Yield the step to look at groups of answers, if there are any and nobody has."""
    if found.worst and found.fields and not found.options.by:
        command = suggest("assess", given.rubric, given.answers, **again, labels=given.labels, by=found.fields[0])
        names = join_words([f"`{name}`" for name in found.fields[:4]], "or")
        yield NextStep(f"See whether the judge is as good in each group of answers, by {names}.", command)


def _name_sheet(given: RunInputs) -> str:
    """Return a name for a sheet to draw that no sheet of labels has."""
    return _name_new("labels", ".csv", given.labels)


def _name_new(stem: str, ending: str, used: Collection[str] = ()) -> str:
    """Return a name that no file has yet."""
    name, numbers = f"{stem}{ending}", itertools.count(2)
    while name in used or Path(name).exists():
        name = f"{stem}-{next(numbers)}{ending}"
    return name


def _ask_again(given: RunInputs) -> NextStep:
    """Return the step for invalid outputs; with other options than before, `judge` needs a new file of results."""
    text = "Have the answers judged into a new file, with --per-criterion, a larger --max-tokens, or another model"
    options = {"map": given.mapping, **given.settings, "output": _name_new("again", ".jsonl"), **given.endpoint}
    command = suggest("judge", given.rubric, given.answers, **options, model="MODEL", per_criterion=True)
    return _judge(f"{text}; asking again the same way will not help.", command, given)


def _judge_all(text: str, found: Assessment, given: RunInputs) -> NextStep:
    """Return the step to have the answers judged: as in this run, or into a file that no other judge has written."""
    options = _repeat(found, given)
    if given.results:
        options["results"] = _name_new("judged", ".jsonl")
    if found.options.runs > _USUAL_SAMPLES:
        options["samples"] = str(found.options.runs)
    options |= {"labels": given.labels, **given.endpoint}
    command = suggest("assess", given.rubric, given.answers, **options, model="MODEL")
    return _judge(text, given.again or command, given)


def _judge(text: str, command: str, given: RunInputs) -> NextStep:
    """Return a step to judge answers, with a command only for those that can be read: results are no answers."""
    if given.answers in given.results:
        return NextStep(text)
    if given.fault_of_judge:
        return NextStep(f"{text} `--model` cannot read the answers yet: {given.fault_of_judge}.")
    return NextStep(text, command)


def _lack_texts(found: Assessment, given: RunInputs) -> bool:
    """Return whether the answers are results without their texts."""
    table = found.review.table
    return given.answers in given.results and table is not None and None in table.lengths


def _is_undrawable(found: Assessment, given: RunInputs) -> bool:
    """Return whether no sheet can be drawn from the answers, for more than that their texts are elsewhere."""
    return bool(given.fault_of_labels) and not _lack_texts(found, given)


def _draw(found: Assessment, given: RunInputs, count: int, what: str) -> NextStep:
    """Return the step to label answers; the command draws them from answers that it can read."""
    text = f"Let people label {counted(count, what)} drawn at random"
    if _lack_texts(found, given):
        return NextStep(f"{text}. `{given.answers}` has no text in `answer`: `labels` needs a file with them.")
    if given.fault_of_labels:
        return NextStep(f"{text}. `labels` cannot read the answers yet: {given.fault_of_labels}.")
    # Others are of no use, or not random. Labels that are left out, too, may leave no answer to draw.
    left_out = sum(left_out_records.count for left_out_records in found.review.left_out)
    are_known = Reason.FEW_LABELS in found.reasons and left_out < found.review.answers - found.review.labelled
    labels = given.labels if are_known else ()
    options = {"results": given.results, "labels": labels, "map": given.mapping}
    options |= {"sample": str(count), "output": _name_sheet(given)}
    command = suggest("labels", given.rubric, given.answers, **options, **given.settings)
    return NextStep(f"{text}.{_warn_of_unseen(found)}", command)


def _warn_of_unseen(found: Assessment) -> str:
    """Warn if people failed, or passed, none of the answers labelled so far: a random draw may hold none either."""
    if not found.worst or not found.worst.shares.people.labelled:
        return ""
    if not found.worst.shares.bad_caught.n:
        unseen = "fail"
    elif not found.worst.shares.good_passed.n:
        unseen = "pass"
    else:
        return ""
    return f" Of those labelled so far people {unseen} none, so the draw may hold none either."


def as_text(several: Sequence[Assessment], given: RunInputs, look: Style, write: Write) -> None:
    """Write the page: first the answers, what to fix and what to do, then the evidence."""
    room = min(look.columns, _WIDEST)
    for number, found in enumerate(several):
        if number:
            write("\n")
        for line in _write_first(found, given, look, room):
            write(f"{line}\n")
    details: list[str] = []
    for found in several:
        details += _write_details(found, room)
    for text in given.records:
        details += wrap(visible(text), room, "  ")
    if details:
        write("\nDetails\n")
        for line in details:
            write(f"{line}\n")


def _write_first(found: Assessment, given: RunInputs, look: Style, room: int) -> Iterator[str]:
    review = found.review
    yield cut(visible(f"{found.file}:{found.line}: {found.rubric}"), room)
    if review.answers:
        judged = f"{counted(review.answers, 'answer')} judged by {list_names(review.judges, 2)}"
        labelled = review.labelled
        if found.worst:
            labelled = max(labelled, found.worst.shares.people.labelled)
        if labelled:
            judged += f", {labelled} labelled by {list_names(review.people, 2)}"
        yield from wrap(visible(judged), room)
    yield ""
    for line in wrap(visible(format_headline(found)), room):
        yield look.paint(_ROLES[found.trust], line)
    for text in [*format_shares(found), *format_notes(found, given)]:
        yield from wrap(visible(text), room, "  ")
    yield ""
    yield from _write_standings(found, look, room)
    yield ""
    if found.probes:
        yield from wrap(_head_probes(found.probes), room)
        for kind, text in format_probes(found):
            indent = " " * _NAMED
            first, *others = wrap(visible(text), room, indent)
            yield f"  {kind}".ljust(_NAMED) + first.removeprefix(indent)
            yield from (indent + line.removeprefix(indent) for line in others)
        yield ""
    for number, step in enumerate(list_steps(found, given)):
        order = "Then" if number else "Next"
        yield from wrap(visible(f"{order}: {step.text}"), room)
        if step.command:
            yield f"  {step.command}"


def _write_standings(found: Assessment, look: Style, room: int) -> Iterator[str]:
    rows = [
        f"line {criterion.line}: {criterion.id}: {format_faults(criterion.findings)}"
        for criterion in found.list(Standing.FIX)
    ]
    against = [evidence for evidence in found.evidence if is_against(evidence, found)]
    rows += [f"line {evidence.line}: {format_faults([evidence])}" for evidence in against]
    yield from _write_rows(Standing.FIX, _shorten(rows), look.paint("error", "fix"), room)
    groups: dict[str, list[str]] = {}
    for criterion in found.list(Standing.INCONCLUSIVE):
        groups.setdefault(format_lack(criterion, found), []).append(criterion.id)
    unknown = [f"{list_names(names, 4)}: {lack}" for lack, names in groups.items()]
    yield from _write_rows(Standing.INCONCLUSIVE, _shorten(unknown), look.paint("warning", "inconclusive"), room)
    keep = [criterion.id for criterion in found.list(Standing.KEEP)]
    if keep:
        yield from _write_rows(Standing.KEEP, [list_names(keep, 8)], look.paint("fix", "keep"), room)


def _shorten(rows: list[str]) -> list[str]:
    return [*rows[:_MOST], f"... and {len(rows) - _MOST} more below"] if len(rows) > _MOST else rows


def _write_rows(standing: Standing, rows: Sequence[str], painted: str, room: int) -> Iterator[str]:
    """Yield rows below the word that they stand for."""
    width = len(Standing.INCONCLUSIVE) + 2
    indent = " " * width
    start = painted + " " * (width - len(standing))
    for text in rows:
        first, *others = (line[width:] for line in wrap(visible(text), room - len(_CUT), indent))
        yield f"{start}{first}"
        start = indent
        if len(others) > 1:
            yield f"{indent}{others[0]}{_CUT}"
        elif others:
            yield f"{indent}{others[0]}"


_CUT = " ..."

_NAMED = 17
"""The columns for the name of a probe."""


def _format_cuts(found: Assessment) -> Iterator[str]:
    """Yield which labels are bad where no gate says it."""
    cuts: dict[str, list[str]] = {}
    if find_void(found) is None:
        for criterion in found.criteria:
            if criterion.cut:
                cuts.setdefault(criterion.cut.describe(is_bad=True), []).append(criterion.id)
    for values, names in cuts.items():
        yield f"without a gate, labels {values} are bad: {list_names(names)}"


def _write_details(found: Assessment, room: int) -> Iterator[str]:
    """Yield every finding, then what is not tested yet and what was, each once with the criteria."""
    notes = [_format_evidence(evidence) for evidence in list_evidence(found)]
    keep = len(found.list(Standing.KEEP))
    if keep:
        wrong = f"{float(ERROR * keep):.3g} of {counted(keep, 'criterion', 'criteria')} to keep"
        notes.append(f"each `keep` is wrong in at most 1 of {1 / ERROR} such checks: {wrong} at worst")
    notes += [*_format_cuts(found), *_list_tests(found)]
    for note in notes:
        yield from wrap(visible(note), room, "  ")


def _list_tests(found: Assessment) -> Iterator[str]:
    """Yield which rules had too few data for which criteria, and which rules found nothing."""
    untested: dict[str, dict[str, None]] = {}
    quiet: dict[str, list[str]] = {}
    tested = [(criterion.id, criterion.untested, criterion.nothing_found_by) for criterion in found.criteria]
    tested += [(_WHOLE, review.untested, review.quiet) for review in found.review.criteria if review.criterion is None]
    for name, lacks, rules in tested:
        for lack in lacks:
            unit = _UNITS.get(lack.unit, lack.unit)
            if lack.unit == "answers":
                unit += f" (now {found.review.answers})"
            text = f"{lack.reason}; {lack.needed} {unit} would show {find_row(lack.rule).shows} ({lack.rule})"
            untested.setdefault(text, {})[name] = None
        for rule in rules:
            quiet.setdefault(rule, []).append(name)
    for text, names in untested.items():
        yield f"not tested yet: {_name_tested(names)}: {text}"
    for rule, of_criteria in quiet.items():
        yield f"nothing found by {rule}: {_name_tested(of_criteria)}"


def _format_evidence(evidence: Evidence) -> str:
    return (
        f"{evidence.file}:{evidence.line}:{evidence.column} {evidence.severity} {evidence.rule}: {evidence.statement}"
    )


_WHOLE = "the rubric as a whole"


def _name_tested(names: Collection[str]) -> str:
    """List criteria as code, and the rubric as a whole in words."""
    return list_names(names).replace(f"`{_WHOLE}`", _WHOLE)


class AssessmentReport(NamedTuple):
    """The assessments of the rubrics of a file, and what the run was given."""

    assessments: Sequence[Assessment]
    given: RunInputs


_MOST_RUBRICS = 20
_CLASSES: dict[Trust | Standing, str] = {
    Trust.TRUSTED: "pass",
    Trust.UNDECIDED: "borderline",
    Trust.NOT_TRUSTED: "fail",
    Standing.KEEP: "pass",
    Standing.INCONCLUSIVE: "borderline",
    Standing.FIX: "fail",
}
"""The colors of a page."""


def describe_assessments(assessed: AssessmentReport) -> dict[str, Any]:
    """Return the values of the template of a page: the first rubrics, those that are not trusted before the others."""
    several, given = assessed
    order = [Trust.NOT_TRUSTED, Trust.UNDECIDED, Trust.TRUSTED]
    ranked = sorted(several, key=lambda found: order.index(found.trust))
    shown = [
        {
            "rubric": found.rubric,
            "trust": found.trust,
            "headline": format_headline(found).partition(": ")[2],
            "notes": [*format_shares(found), *format_notes(found, given)],
            "criteria": [
                (criterion, _why(criterion, found), [_format_evidence(one) for one in criterion.findings])
                for standing in (Standing.FIX, Standing.INCONCLUSIVE, Standing.KEEP)
                for criterion in found.list(standing)
            ],
            "evidence": [_format_evidence(evidence) for evidence in found.evidence],
            "steps": list(list_steps(found, given)),
        }
        for found in ranked[:_MOST_RUBRICS]
    ]
    return {"shown": shown, "all": len(several), "classes": _CLASSES, "records": given.records}


_SPECIAL = re.compile(r"([\\|<>*_\[\]#])")


def _quote(text: str) -> str:
    """Escape a text for a cell of a Markdown table; names in backticks stay code."""
    parts = visible(" ".join(text.split())).split("`")
    parts[::2] = [_SPECIAL.sub(r"\\\1", part) for part in parts[::2]]
    # Else GitHub would notify whoever has a name that a text mentions.
    return "`".join(parts).replace("@", "@\N{ZERO WIDTH SPACE}")


_MARKS = {Trust.TRUSTED: "✅", Trust.NOT_TRUSTED: "❌", Trust.UNDECIDED: "❔"}


def as_markdown(  # noqa: C901 (one section after the other)
    several: Sequence[Assessment], given: RunInputs, _look: Style, write: Write
) -> None:
    """Write a comment for a pull request."""
    for found in several:
        write(f"### {_MARKS[found.trust]} {_quote(found.rubric)}: {found.trust}\n\n")
        write(f"{_quote(format_headline(found))}\n\n")
        for text in [*format_shares(found), *format_notes(found, given)]:
            write(f"- {_quote(text)}\n")
        write("\n| | criterion | why |\n|---|---|---|\n")
        for standing in (Standing.FIX, Standing.INCONCLUSIVE, Standing.KEEP):
            for criterion in found.list(standing):
                place = f"{_quote(criterion.id)} (line {criterion.line})"
                write(f"| {standing} | {place} | {_quote(_why(criterion, found))} |\n")
        if found.probes:
            write(f"\n{_head_probes(found.probes)}\n\n| probe | shows |\n|---|---|\n")
            for kind, text in format_probes(found):
                write(f"| {kind} | {_quote(text)} |\n")
        for step in list_steps(found, given):
            write(f"\n{_quote(step.text)}\n")
            if step.command:
                write(f"\n```sh\n{step.command}\n```\n")
        write("\n")
    if given.records:
        write("<details><summary>Notes on records</summary>\n\n")
        for record in given.records:
            write(f"- {_quote(record)}\n")
        write("\n</details>\n")


def _why(criterion: Criterion, found: Assessment) -> str:
    if criterion.standing is Standing.KEEP:
        return "catches enough bad answers and passes enough good ones on it"
    if criterion.standing is Standing.INCONCLUSIVE:
        return format_lack(criterion, found)
    return format_faults(criterion.findings)


def as_json(several: Sequence[Assessment], given: RunInputs, _look: Style, write: Write) -> None:
    """Write the JSON report."""
    rubrics = [{**found.to_json(), "next": list(list_steps(found, given))} for found in several]
    report = {"version": VERSION, "rubrics": rubrics, "ignored": given.ignored, "unmatched": given.unmatched}
    write(render_report(report))


FORMATS = {"full": as_text, "json": as_json, "markdown": as_markdown}
"""The formats by name."""
