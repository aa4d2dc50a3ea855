"""Write an assessment for people who know no statistics: as text, as Markdown for a pull request, and as JSON."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rubric_lint.agree.assess import Assessed as Criterion
from rubric_lint.agree.assess import Assessment, Evidence, Reason, Standing, Trust
from rubric_lint.agree.history import Traced, Versus, Wording
from rubric_lint.agree.intervals import MOST_LABELS, Share, count_deciding
from rubric_lint.agree.judged.outcomes import Untested, at_least, at_most
from rubric_lint.agree.judged.run import Doubt, Review, Unmatched
from rubric_lint.agree.probes import PROBES, Outcome, Probes, name_measures, word_most
from rubric_lint.agree.reading import NO_RESULT
from rubric_lint.finding import Severity
from rubric_lint.messages import Causes, list_names, to_data, visible, visible_json
from rubric_lint.report.terminal import Style, Write, cut, wrap
from rubric_lint.rules import JUDGED_RULES
from rubric_lint.rules.rows import find_row
from rubric_lint.run.summary import counted

VERSION = 1
"""The version of the JSON report."""

_WIDEST = 80
"""The most columns of the page."""

_MOST = 6
"""The most lines of one kind on the first screen; the details have them all."""

_FEW = 30
"""The fewest answers from which no word of caution is added: fewer test no rule on samples."""

_USUAL_SAMPLE = 60
"""The labels to start with: the fewest with which every rule that compares judge and people can decide."""

_ROLES = {Trust.TRUSTED: "fix", Trust.NOT_TRUSTED: "error", Trust.UNDECIDED: "warning"}


class Given(NamedTuple):
    """What the run was given: the files, what is told of records that were not used, and how many findings are ignored.

    Findings are ignored for comments in the file of the rubrics; the rules in `off` are switched off by settings.
    `unread` is what is wrong with files of records and belongs to no record.
    """

    rubric: str
    answers: str
    results: Sequence[str] = ()
    labels: Sequence[str] = ()
    records: Sequence[str] = ()
    unmatched: Sequence[Unmatched] = ()
    ignored: int = 0
    off: Sequence[str] = ()
    unread: Sequence[str] = ()


class Step(NamedTuple):
    """What to do next, and the command for it, if there is one."""

    text: str
    command: str = ""


_REASONS = {
    Reason.ERRORS: "{errors} to fix first",
    Reason.TO_MEND: "{mend} to mend",
    Reason.MISSES_BAD: "the judge lets too many bad answers pass",
    Reason.FAILS_GOOD: "the judge fails too many good answers",
    Reason.NOT_JUDGED: "nothing is judged yet",
    Reason.INVALID: "no output can be used: {invalid}",
    Reason.UNUSABLE: "the results cannot be used ({fault})",
    Reason.NO_LABELS: "no fault found in {answers}; without labels of people nobody can say more",
    Reason.BY_VERDICT: "the labels were chosen by the judge's verdict, so they do not stand for all answers",
    Reason.SHARES_REACHED: (
        "the judge catches at least {target} of bad answers and passes as many of the good ones, and no rule found a "
        "fault"
    ),
    Reason.FEW_LABELS: "{more} would decide",
    Reason.REPEATED: "too many labelled answers have the text of another one",
    Reason.UNSCORED: "too many labelled answers have no valid output",
    Reason.DISPUTED: "on too many answers as many people pass as fail",
}


def word_headline(found: Assessment) -> str:
    """Return the answer in one sentence."""
    review = found.review
    mend = len(found.list(Standing.MEND))
    lacks_class = any(each is not None and not each.n for each in (found.caught, found.passed))
    more = f"{'at least ' * lacks_class}{counted(_count_more(found), 'more label')}"
    values = {
        "errors": counted(sum(each.severity is Severity.ERROR for each in _list_evidence(found)), "error"),
        "mend": f"{mend} of {counted(len(found.criteria), 'criterion', 'criteria')}"
        if mend
        else "the rubric as a whole",
        "fault": review.fault,
        "invalid": _word_causes(review),
        "answers": counted(review.answers, "answer"),
        "target": _share(found),
        "more": f"no number of labels up to {MOST_LABELS:,}" if found.needed is None else more,
    }
    return f"{str(found.trust).upper()}: {'; '.join(_REASONS[each].format_map(values) for each in found.reasons)}."


def word_probes(found: Assessment) -> Iterator[tuple[str, str]]:
    """Yield each way in which answers were made worse, and what the judge made of that."""
    for each in found.probes.kinds if found.probes and found.probes.answers else ():
        n = each.most.n
        parts = []
        if each.rewarded:
            most = max(each.find(name).rose for name in each.rewarded)
            parts.append(f"rewarded by {name_measures(each.rewarded)} (better in {most} of {n})")
        if each.fell:
            most = max(each.find(name).fell for name in each.fell)
            parts.append(f"noticed by {name_measures(each.fell)} (worse in {most} of {n})")
        if others := [name for name in each.rose if name not in each.rewarded]:
            parts.append(f"{name_measures(others)} better: look whether that is right")
        if each.outcome in {Outcome.UNNOTICED, Outcome.RESISTED}:
            parts.append(f"{'not rewarded' if PROBES[each.kind].adds else 'nothing notices it'}: {word_most(each)}")
        elif not parts and each.outcome is Outcome.NOT_MADE:
            parts.append("no answer can be changed in this way")
        elif not parts and not n:
            parts.append("no variant has a valid output")
        elif not parts:
            does = "better" if PROBES[each.kind].adds else "worse"
            more = f"; {each.needed} answers would decide" if each.needed else ""
            parts.append(f"cannot say yet: anything is {does} in {each.most.x} of {n} answers{more}")
        yield each.kind, "; ".join(parts)


def _head_probes(probes: Probes) -> str:
    parts = [f"Probes: {counted(probes.answers, 'answer') if probes.answers else 'no answer'} made worse on purpose"]
    for count, noun, why in (
        (probes.unjudged, "answer", "without a valid output to compare with"),
        (probes.unchanged, "answer", "that cannot be changed, as in messages or without a letter"),
        (probes.invalid, "variant", "without a valid output"),
    ):
        parts += [f"not counted: {counted(count, noun)} {why}"] if count else []
    return "; ".join(parts)


def word_history(found: Assessment) -> Iterator[tuple[int, str]]:
    """Yield what is known of earlier wordings, each line with its depth, which is 1 for a criterion."""
    past = found.history
    if past is None:
        return
    several = [each for each in past.criteria if len(each.wordings) > 1]
    yield 0, f"History: {counted(past.versions, 'version')} of the rubric, {past.measured} of them with results"
    for each in several:
        yield 1, f"{each.criterion}: {_word_best(each)}"
        for wording in each.wordings:
            yield 2, f"{_name_version(wording)}: {wording.text}"
            apart, pairs = wording.apart
            parts = [counted(len(wording.step), "answer")]
            if wording.right:
                parts.append(f"right on {sum(wording.right.values())} of {len(wording.right)} labelled")
            if wording.flips:
                parts.append(f"samples differ on {sum(wording.flips.values())} of {len(wording.flips)}")
            yield 3, "; ".join([*parts, f"tells {apart:,} of {counted(pairs, 'pair')} apart"])
        for versus in each.comparisons:
            first, second = (_name_version(each.wordings[number]) for number in (versus.first, versus.second))
            yield 2, f"{first} and {second}: {_word_versus(versus)}"
    if not several:
        yield 1, "no criterion has two measured wordings"
    for note in past.notes:
        yield 1, note


def _name_version(wording: Wording) -> str:
    return f"{wording.commit[:10]} ({wording.date})" if wording.commit else "not committed"


def _word_best(each: Traced) -> str:
    if each.best is not None:
        return f"{_name_version(each.wordings[each.best])} measured best"
    if not any(versus.common for versus in each.comparisons):
        return "cannot say which wording is best: no common answers with labels or several samples"
    return "no wording is shown to be best"


def _word_versus(versus: Versus) -> str:
    if not versus.common:
        return "no common answers with labels or several samples"
    what = "right" if versus.by == "labels" else "the same in all samples"
    shown = "no answer differs" if versus.p is None else f"p = {versus.p:.2g}"
    only = f"only the first is {what} on {versus.only_first}, only the second on {versus.only_second}"
    blunt = ", but tells fewer pairs of answers apart" if versus.is_blunter else ""
    return f"of {counted(versus.common, 'common answer')} {only} ({shown}){blunt}"


def _share(found: Assessment) -> str:
    return f"{float(found.asked.target):.3g}" if found.asked.target * 100 % 1 else f"{float(found.asked.target):.0%}"


def _count_more(found: Assessment) -> int:
    """Return how many more labels would decide, as far as that can be said."""
    return max((found.needed or 0) - _count_labelled(found), 1)


def _count_labelled(found: Assessment) -> int:
    """Return the answers with a label of the verdict, which are those that decide."""
    return sum(each.n for each in (found.caught, found.passed) if each is not None)


def _list_evidence(found: Assessment) -> list[Evidence]:
    return [*found.evidence, *(each for criterion in found.criteria for each in criterion.findings)]


def word_shares(found: Assessment) -> Iterator[str]:
    """Yield a sentence on bad answers caught, and one on good answers passed, if there are labels."""
    if found.caught is None or found.passed is None:
        return
    several = len(found.judges) > 1
    if several:
        yield f"Each of {counted(len(found.judges), 'judge')} is assessed by itself, and the worst one decides."
    rows = [
        row
        for name, caught, passed in found.judges
        for row in (
            (caught, "fail", f"judge {f'`{name}` ' * several}failed"),
            (passed, "pass", f"judge {f'`{name}` ' * several}passed"),
        )
    ]
    target = _share(found)
    for share, people, judge in rows:
        if not share.n:
            yield f"No labelled answer is one that people {people}, so nothing shows how the judge treats these."
            continue
        bound = at_most(share.high) if share.high < found.asked.target else at_least(share.low)
        answers = counted(share.n, "answer")
        yield f"Of {answers} that people {people}, the {judge} {share.x}: {bound} of all ({target} asked)."


def word_notes(found: Assessment, given: Given) -> Iterator[str]:
    """Yield what makes the page show less than it seems to."""
    review = found.review
    yield from _word_unseen(given)
    if 1 < found.alike == review.answers:
        what = f"All {found.alike} answers were judged exactly alike"
        yield f"{what}, so they do not show that the judge tells good from bad."
    if review.answers and review.answers < _FEW:
        yield f"{counted(review.answers, 'answer')} can show a gross fault, but not that there is none."
    if review.invalid and Reason.INVALID not in found.reasons:
        yield f"{counted(len(review.invalid), 'record')} not counted: {_word_causes(review)}."
    for each in review.left_out:
        yield f"{counted(each.count, each.noun)} left out: {each.reason}."
    if missing := _list_unlabelled(found):
        yield f"No label has a value for {list_names(missing)}, so the labels come to no verdict."
    yield from _word_doubt(review.doubt)
    if found.caught and review.chosen is None and (skew := review.doubt.chosen):
        told = "The labels do not say how they were chosen, but people labelled {} of {} answers that the judge fails"
        yield f"{told.format(*skew[0])}, and {skew[1].x} of {skew[1].n} others."
    elif found.caught and review.chosen is None:
        yield "The labels do not all say how they were chosen; the shares hold only if they were drawn at random."
    if found.asked.look > 1:
        yield f"Look {found.asked.look}: each bound may be wrong with a probability of {found.asked.level:.2g}."


def _list_unlabelled(found: Assessment) -> list[str]:
    """Return the criteria without any label, if no label comes to a verdict for that."""
    table = found.review.table
    if table is None or not table.labelled or _count_labelled(found):
        return []
    return [column.name for column in table.columns if not any(label is not None for label in column.labels)]


def _word_unseen(given: Given) -> Iterator[str]:
    if given.ignored:
        are = "is" if given.ignored == 1 else "are"
        yield f"{counted(given.ignored, 'finding')} of the file {are} ignored for comments in it, and not counted here."
    if given.off:
        are = "is" if len(given.off) == 1 else "are"
        yield f"{counted(len(given.off), 'rule')} {are} switched off by the settings: {list_names(given.off, 3)}."
    if given.unread:
        yield f"Not all of the files was read: {Causes(given.unread).word()}."


def _word_doubt(doubt: Doubt) -> Iterator[str]:
    if count := sum(doubt.repeated):
        yield f"{counted(count, 'labelled answer')} with the text of another one: what is repeated shows nothing new."
    if count := sum(doubt.invalid):
        yield f"{counted(count, 'labelled answer')} without a valid output, which the shares above leave out."
    if doubt.disputed:
        yield f"On {counted(doubt.disputed, 'answer')} as many people pass as fail; the worse verdict counts."


def _word_causes(review: Review) -> str:
    return Causes(each.message for each in review.invalid).word()


def word_faults(evidence: Iterable[Evidence]) -> str:
    """Return the faults that criteria are to be mended for, in plain words and without statistics."""
    return "; ".join(dict.fromkeys(each.plain for each in evidence if each.is_blocking))


def word_lack(criterion: Criterion, found: Assessment) -> str:
    """Return what would decide about a criterion."""
    if not found.review.answers:
        return "not judged yet"
    if criterion.untested:
        return _word_untested(criterion.untested[0], found)
    hint = next(each for each in criterion.findings if each.rule in JUDGED_RULES)
    return f"{hint.found}; add answers that differ"


def _word_untested(untested: Untested, found: Assessment) -> str:
    have = {"answers": found.review.answers, "labelled answers": found.review.labelled}.get(untested.unit)
    now = "" if have is None else f" (now {have})"
    unit = _UNITS.get(untested.unit, untested.unit)
    return f"{untested.needed} {unit}{now} would show {find_row(untested.rule).shows}"


_UNITS = {
    "such answers": "answers that miss one of two criteria (or meet it, if that is rarer)",
    "answers judged with `--shuffle`": "answers judged in shuffled order, as `--model` does it,",
    "answers in which one of two criteria is on the rarer side": "answers in which it is judged otherwise",
}
"""Plainer words for what there must be more of."""


def list_steps(found: Assessment, given: Given) -> Iterator[Step]:
    """Yield what to do next."""
    review, reasons = found.review, found.reasons
    beside = f"{given.answers.removesuffix('.jsonl')}.judged.jsonl"
    is_known = tuple(given.results) in {(), (beside,), (given.answers,)}  # the answers name the results then
    named = [] if is_known else [word for name in given.results for word in ("--results", name)]
    again = ["rubric-lint", "assess", given.rubric, given.answers, *named]
    sheets = given.labels or (_name_sheet(given),)
    labelled = [*again, *(word for name in sheets for word in ("--labels", name))]
    if Reason.ERRORS in reasons:
        errors = [each for each in _list_evidence(found) if each.severity is Severity.ERROR]
        tests = any(each.rule == "unmet-expectation" for each in errors)
        yield Step(
            "Fix the errors, then run this again.", shlex.join(["rubric-lint", *(["test"] if tests else []), "."])
        )
        return
    if Reason.INVALID in reasons and given.results:
        yield _ask_again(given)
        return
    if {Reason.NOT_JUDGED, Reason.INVALID} & set(reasons) or (Reason.TO_MEND in reasons and not review.answers):
        text = "Have a model judge the answers, or name recorded outputs with --results."
        yield Step(text, shlex.join([*again, "--model", "MODEL"]))
        return
    yield from _list_steps_of_doubt(found, given, again)
    if Reason.TO_MEND in reasons:
        yield Step("Mend what is listed above, then judge the answers again.")
    if {Reason.MISSES_BAD, Reason.FAILS_GOOD, Reason.DISPUTED} & set(reasons):
        files = [*given.results, *(word for name in given.labels for word in ("--labels", name))]
        command = shlex.join(["rubric-lint", "agree", given.rubric, *files])
        who = "people" if Reason.DISPUTED in reasons else "people and the judge"
        yield Step(f"Read the answers on which {who} differ.", command)
    unused = {each.file for each in review.invalid} | {each.file for each in given.unmatched}
    are_unusable = given.labels and (review.left_out or not unused.isdisjoint(given.labels))
    if Reason.NO_LABELS in reasons and are_unusable:
        yield Step("No label could be used: correct the labels, then run this again.", shlex.join(labelled))
    elif Reason.NO_LABELS in reasons or Reason.BY_VERDICT in reasons:
        least = count_deciding(Share(0, 0), found.asked.target, found.asked.level) or 0
        count = min(max(_USUAL_SAMPLE, 2 * least), review.answers)
        yield _draw(found, given, count, "answer")
        yield Step("Run this again with the labels.", shlex.join([*again, "--labels", _name_sheet(given)]))
    elif Reason.FEW_LABELS in reasons and found.needed is not None:
        yield from _list_steps_to_more(found, given, labelled)


def _list_steps_to_more(found: Assessment, given: Given, labelled: Sequence[str]) -> Iterator[Step]:
    """Yield the steps to the labels that decide: those of answers that are judged first."""
    if missing := _list_unlabelled(found):
        text = f"Add {list_names(missing)} to the labels, or a column `verdict`, then run this again."
        yield Step(text, shlex.join(labelled))
        return
    more, spare = _count_more(found), found.review.answers - _count_labelled(found)
    command = ""
    if spare > 0:
        yield _draw(found, given, min(more, spare), "more answer")
        look = ["--labels", _name_sheet(given), "--look", str(found.asked.look + 1)]
        command = shlex.join([*labelled, *look])
    if more > spare:
        also = " besides" if spare > 0 else ""
        yield Step(f"Collect {counted(more - spare, 'more answer')}{also}, and have all of them judged and labelled.")
    text = f"Run this again with all labels and --look {found.asked.look + 1}, as these data were seen before."
    yield Step(text, command)


def _list_steps_of_doubt(found: Assessment, given: Given, again: Sequence[str]) -> Iterator[Step]:
    if Reason.REPEATED in found.reasons:
        yield Step("Have answers judged and labelled that differ from each other.")
    if any(each.file in given.results for each in found.review.invalid):
        yield _ask_again(given)
    if Reason.UNSCORED not in found.reasons:
        return
    if any(each.reason == NO_RESULT for each in found.review.left_out):
        yield Step("Have the labelled answers judged that have no result.", shlex.join([*again, "--model", "MODEL"]))


def _name_sheet(given: Given) -> str:
    """Return a name for a sheet to draw that no sheet of labels has."""
    taken = set(given.labels)
    names = ("labels.csv", *(f"labels-{number}.csv" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _ask_again(given: Given) -> Step:
    command = ["rubric-lint", "judge", given.rubric, given.results[0], "--again", "--model", "MODEL"]
    return Step("Ask again for the invalid outputs, with the options of the first run.", shlex.join(command))


def _draw(found: Assessment, given: Given, count: int, what: str) -> Step:
    """Return the step to label answers; the command draws them, which results without their texts do not allow."""
    text = f"Let people label {counted(count, what)} drawn at random"
    table = found.review.table
    if given.answers in given.results and table and None in table.lengths:
        return Step(f"{text}. `{given.answers}` has no text in `answer`: `rubric-lint labels` needs a file with them.")
    labels = given.labels if Reason.FEW_LABELS in found.reasons else ()  # others are of no use, or not random
    known = [("--results", name) for name in given.results] + [("--labels", name) for name in labels]
    options = [*(word for pair in known for word in pair), "--sample", str(count), "-o", _name_sheet(given)]
    command = shlex.join(["rubric-lint", "labels", given.rubric, given.answers, *options])
    rare = ""
    if found.caught and found.passed and _count_labelled(found):
        rare = "" if found.caught.n and found.passed.n else "pass" if found.caught.n else "fail"
    warning = f" Of those labelled so far people {rare} none, so the draw may hold none either." if rare else ""
    return Step(f"{text}.{warning}", command)


def as_text(several: Sequence[Assessment], given: Given, look: Style, write: Write) -> None:
    """Write the page: first the answers, what to mend and what to do, then the evidence."""
    room = min(look.columns, _WIDEST)
    for number, found in enumerate(several):
        write("\n" * (number > 0))
        for line in _write_first(found, given, look, room):
            write(f"{line}\n")
    details = [line for found in several for line in _write_details(found, room)]
    details += [line for text in given.records for line in wrap(visible(text), room, "  ")]
    if details:
        write("\nDetails\n")
        for line in details:
            write(f"{line}\n")


def _write_first(found: Assessment, given: Given, look: Style, room: int) -> Iterator[str]:
    review = found.review
    yield cut(visible(f"{found.file}:{found.line}: {found.rubric}"), room)
    if review.answers:
        labelled = max(review.labelled, _count_labelled(found))
        people = f", {labelled} labelled by {list_names(review.people, 2)}" if labelled else ""
        judges = list_names(review.judges, 2)
        yield from wrap(visible(f"{counted(review.answers, 'answer')} judged by {judges}{people}"), room)
    yield ""
    for line in wrap(visible(word_headline(found)), room):
        yield look.paint(_ROLES[found.trust], line)
    for text in (*word_shares(found), *word_notes(found, given)):
        yield from wrap(visible(text), room, "  ")
    yield ""
    yield from _write_standings(found, look, room)
    yield ""
    if found.probes:
        yield from wrap(_head_probes(found.probes), room)
        for kind, text in word_probes(found):
            first, *others = (line[_NAMED:] for line in wrap(visible(text), room, " " * _NAMED))
            yield f"{f'  {kind}':<{_NAMED}}{first}"
            yield from (f"{' ' * _NAMED}{line}" for line in others)
        yield ""
    for depth, text in word_history(found):
        yield from wrap(visible(text), room, "  " * depth)
    if found.history:
        yield ""
    for number, step in enumerate(list_steps(found, given)):
        yield from wrap(visible(f"{'Then' if number else 'Next'}: {step.text}"), room)
        if step.command:
            yield f"  {visible(step.command)}"


def _write_standings(found: Assessment, look: Style, room: int) -> Iterator[str]:
    rows = [f"line {each.line}: {each.id}: {word_faults(each.findings)}" for each in found.list(Standing.MEND)]
    rows += [f"line {each.line}: {word_faults([each])}" for each in found.evidence if each.is_blocking]
    yield from _write_rows(Standing.MEND, _shorten(rows), look.paint("error", "mend"), room)
    groups: dict[str, list[str]] = {}
    for each in found.list(Standing.UNKNOWN):
        groups.setdefault(word_lack(each, found), []).append(each.id)
    unknown = [f"{list_names(names, 4)}: {lack}" for lack, names in groups.items()]
    yield from _write_rows(Standing.UNKNOWN, _shorten(unknown), look.paint("warning", "cannot say yet"), room)
    if keep := [each.id for each in found.list(Standing.KEEP)]:
        yield from _write_rows(Standing.KEEP, [list_names(keep, 8)], look.paint("fix", "keep"), room)


def _shorten(rows: list[str]) -> list[str]:
    return [*rows[:_MOST], f"... and {len(rows) - _MOST} more below"] if len(rows) > _MOST else rows


def _write_rows(standing: Standing, rows: Sequence[str], painted: str, room: int) -> Iterator[str]:
    """Yield rows below the word that they stand for."""
    width = len(Standing.UNKNOWN) + 2
    for number, text in enumerate(rows):
        first, *others = (line[width:] for line in wrap(visible(text), room - len(_CUT), " " * width))
        start = f"{painted}{' ' * (width - len(standing))}" if number == 0 else " " * width
        yield f"{start}{first}"
        if others:
            yield f"{' ' * width}{others[0]}{_CUT * (len(others) > 1)}"


_CUT = " ..."

_NAMED = 22
"""The columns for the name of a probe."""


def _write_details(found: Assessment, room: int) -> Iterator[str]:
    """Yield every finding, then what is not tested yet and what was, each once with the criteria."""
    for each in _list_evidence(found):
        yield from wrap(visible(_word_evidence(each)), room, "  ")
    lacks: dict[str, list[str]] = {}
    quiet: dict[str, list[str]] = {}
    for criterion in found.criteria:
        for lack in criterion.untested:
            text = f"{lack.reason}; {_word_untested(lack, found)} ({lack.rule})"
            names = lacks.setdefault(text, [])
            names += [] if criterion.id in names else [criterion.id]
        for rule in criterion.nothing_found_by:
            quiet.setdefault(rule, []).append(criterion.id)
    for text, names in lacks.items():
        yield from wrap(visible(f"not tested yet: {list_names(names)}: {text}"), room, "  ")
    for rule, names in quiet.items():
        yield from wrap(visible(f"nothing found by {rule}: {list_names(names)}"), room, "  ")


def _word_evidence(each: Evidence) -> str:
    return f"{each.file}:{each.line}:{each.column} {each.severity} {each.rule}: {each.statement}"


class Assessed(NamedTuple):
    """The assessments of the rubrics of a file, and what the run was given."""

    assessments: Sequence[Assessment]
    given: Given


_MOST_RUBRICS = 20
_CLASSES: dict[Trust | Standing, str] = {
    Trust.TRUSTED: "pass",
    Trust.UNDECIDED: "borderline",
    Trust.NOT_TRUSTED: "fail",
    Standing.KEEP: "pass",
    Standing.UNKNOWN: "borderline",
    Standing.MEND: "fail",
}
"""The colors of a page."""


def describe_assessments(assessed: Assessed) -> dict[str, Any]:
    """Return what the template of a page shows: the first rubrics, those that are not trusted before the others."""
    several, given = assessed
    order = [Trust.NOT_TRUSTED, Trust.UNDECIDED, Trust.TRUSTED]
    ranked = sorted(several, key=lambda found: order.index(found.trust))
    shown = [
        {
            "rubric": found.rubric,
            "trust": found.trust,
            "headline": word_headline(found).partition(": ")[2],
            "told": [*word_shares(found), *word_notes(found, given)],
            "criteria": [
                (each, _why(each, found), [_word_evidence(one) for one in each.findings])
                for standing in (Standing.MEND, Standing.UNKNOWN, Standing.KEEP)
                for each in found.list(standing)
            ],
            "evidence": [_word_evidence(each) for each in found.evidence],
            "steps": [*list_steps(found, given)],
        }
        for found in ranked[:_MOST_RUBRICS]
    ]
    return {"shown": shown, "all": len(several), "classes": _CLASSES, "records": given.records}


_SPECIAL = re.compile(r"([\\|<>*_\[\]#])")


def _quote(text: str) -> str:
    """Escape a text for a cell of a Markdown table; names in backticks stay code."""
    parts = visible(" ".join(text.split())).split("`")
    return "`".join(part if number % 2 else _SPECIAL.sub(r"\\\1", part) for number, part in enumerate(parts)).replace(
        "@", "@\N{ZERO WIDTH SPACE}"
    )


_MARKS = {Trust.TRUSTED: "✅", Trust.NOT_TRUSTED: "❌", Trust.UNDECIDED: "❔"}


def as_markdown(several: Sequence[Assessment], given: Given, _look: Style, write: Write) -> None:
    """Write a comment for a pull request."""
    for found in several:
        write(f"### {_MARKS[found.trust]} {_quote(found.rubric)}: {found.trust}\n\n")
        write(f"{_quote(word_headline(found))}\n\n")
        for text in (*word_shares(found), *word_notes(found, given)):
            write(f"- {_quote(text)}\n")
        write("\n| | criterion | why |\n|---|---|---|\n")
        for standing in (Standing.MEND, Standing.UNKNOWN, Standing.KEEP):
            for each in found.list(standing):
                write(f"| {standing} | {_quote(each.id)} (line {each.line}) | {_quote(_why(each, found))} |\n")
        _write_more(found, write)
        for step in list_steps(found, given):
            write(f"\n{_quote(step.text)}\n" + (f"\n```sh\n{visible(step.command)}\n```\n" if step.command else ""))
        write("\n")
    if given.records:
        write("<details><summary>Records that were not used</summary>\n\n")
        for record in given.records:
            write(f"- {_quote(record)}\n")
        write("\n</details>\n")


def _write_more(found: Assessment, write: Write) -> None:
    """Write what was asked for beside the assessment."""
    if found.probes:
        write(f"\n{_head_probes(found.probes)}\n\n| probe | shows |\n|---|---|\n")
        for kind, text in word_probes(found):
            write(f"| {kind} | {_quote(text)} |\n")
    for depth, text in word_history(found):
        write(f"{'  ' * (depth - 1)}- {_quote(text)}\n" if depth else f"\n{_quote(text)}\n\n")


def _why(criterion: Criterion, found: Assessment) -> str:
    if criterion.standing is Standing.KEEP:
        return f"nothing found by {len(criterion.nothing_found_by)} rules"
    if criterion.standing is Standing.UNKNOWN:
        return word_lack(criterion, found)
    return word_faults(criterion.findings)


def as_json(several: Sequence[Assessment], given: Given, _look: Style, write: Write) -> None:
    """Write the JSON report."""
    rubrics = [{**found.to_json(), "next": list(list_steps(found, given))} for found in several]
    report = {"version": VERSION, "rubrics": rubrics, "ignored": given.ignored, "unmatched": given.unmatched}
    write(visible_json(json.dumps(to_data(report), ensure_ascii=False, indent=1)) + "\n")


FORMATS = {"full": as_text, "json": as_json, "markdown": as_markdown}
"""The formats by name."""
