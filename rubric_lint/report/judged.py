"""Write what judged data show in addition to findings: what they rest on, and what cannot be tested yet."""

from collections.abc import Iterator

from rubric_lint.assess.agreement.left_out import list_invalid
from rubric_lint.assess.judged.review import NO_RESULTS, JudgedRun
from rubric_lint.model.messages import counted, join_words, list_names, pluralize, visible

_MOST = 10
"""The most lines of one kind about records; the rest is counted."""


def format_reviews(run: JudgedRun) -> Iterator[str]:
    """Yield for each rubric what its results are and what they are too few for."""
    for reviewed in run.reviewed:
        review = reviewed.review
        if review.fault:
            if review.fault != NO_RESULTS:
                yield visible(f"{review.rubric}: results not looked at: {review.fault}")
            continue
        judges, people = list_names(review.judges), list_names(review.people)
        line = f"{review.rubric}: {counted(review.answers, 'answer')} judged by {judges}"
        if review.labelled:
            line += f", {review.labelled} with labels by {people}"
        if len(review.judges) > 1 and review.labelled:
            compared = "the panel" if review.ratings and review.ratings.panels else "each of them"
            line += f"; labels are compared with {compared}, and for other rules the median of outputs counts"
        elif len(review.judges) > 1:
            line += "; the median of their outputs counts"
        end = "; not enough data for:" if review.untested else "."
        yield visible(f"{line}{end}")
        for untested in review.untested:
            what = untested.rule
            if untested.names:
                what += f" of {list_names(untested.names)}"
            yield visible(f"  {what}: {untested.reason}; {untested.needed} {untested.unit} would do")
    without = [reviewed.review.rubric for reviewed in run.reviewed if reviewed.review.fault == NO_RESULTS]
    if without:
        yield visible(f"No results for {counted(len(without), 'rubric')}: {list_names(without)}.")


def format_records(run: JudgedRun) -> Iterator[str]:
    """Yield what is wrong with records: unreadable files, invalid records, and those that were left out."""
    for file, reason in run.unreadable.items():
        yield f"{file}: {reason}"
    yield from list_invalid(run.invalid)
    lines = [str(left_out) for reviewed in run.reviewed for left_out in reviewed.review.left_out]
    for reviewed in run.reviewed:
        review = reviewed.review
        lines += [f"{review.rubric}: {note}" for note in [*review.passed_over, *review.notes]]
    lines += format_unmatched(run)
    yield from lines[:_MOST]
    if len(lines) > _MOST:
        yield f"... and {join_words([counted(len(lines) - _MOST, 'more line')])}; --format json has all"


def format_unmatched(run: JudgedRun) -> Iterator[str]:
    """Yield how many records of a file belong to no rubric of the run, and why."""
    known = [reviewed.review.rubric for reviewed in run.reviewed]
    verb = pluralize(len(known), "is", "are")
    there = f"there {verb} {list_names(known)}" if known else "there are none"
    for file, rubric, records in run.unmatched:
        if rubric is None:
            what = counted(records, "record names", "records name")
            yield f"{file}: {what} no rubric, and nothing else shows which one is meant; name it in `rubric`: {there}"
        else:
            what = counted(records, "record is", "records are")
            yield f"{file}: {what} for the rubric `{rubric}`, which is not in the files; {there}"
