"""An outcome that is a label and not an observable result."""

import re
from collections.abc import Iterator
from functools import lru_cache

from rubric_lint.finding import Problem, Severity
from rubric_lint.format.rubric import LONGEST_LABEL, Outcome, Rubric, is_placeholder, is_template
from rubric_lint.rules.rule import Rule

# Words that grade instead of describing: a judge who reads only these has to invent the standard.
_GRADES = frozenset(
    """
    good bad poor fair great excellent outstanding exceptional superb perfect average mediocre adequate inadequate
    okay ok acceptable unacceptable satisfactory unsatisfactory sufficient insufficient decent weak strong terrible
    awful best worst better worse high medium low pass passes passed passing fail fails failed failing failure success
    successful unsuccessful borderline proficient competent novice expert exemplary ideal nice horrible amazing
    brilliant fantastic wonderful flawless lacking subpar meh correct incorrect right wrong partial incomplete complete
    suitable unsuitable appropriate inappropriate reasonable superior inferior marginal passable optimal suboptimal
    helpful unhelpful useful useless clear unclear accurate inaccurate coherent incoherent thorough
    """.split()  # noqa: SIM905 (a paragraph reads better than fifty lines)
)
# Grades too, except in a checklist, where they may quote the answer.
_GRADES_OF_SCALES = frozenset(
    """
    complete advanced intermediate beginner beginning developing accomplished limited basic minimal standard fine solid
    expected met unmet done satisfied achieved none other default
    """.split()  # noqa: SIM905
)
# Judge too, but alone they may be all that one answer has and another has not.
_TRAITS = frozenset(
    """
    polite impolite friendly unfriendly concise professional unprofessional readable unreadable
    precise imprecise consistent inconsistent comprehensive informative engaging insightful respectful
    """.split()  # noqa: SIM905
)
_PADDING = frozenset(
    """
    a an the is are was it its this that very quite rather really extremely mostly somewhat fairly pretty not too so
    below above enough completely totally entirely fully largely highly barely just nearly almost only overall
    generally partially partly well moderately slightly possible model's assistant's
    response responses answer answers output outputs result results quality performance work effort attempt submission
    job score scores rating level grade mark tone structure style wording and but or
    """.split()  # noqa: SIM905
)
_JUDGING = _GRADES | _TRAITS | _PADDING
"""The words of which a label consists; one of them at least is a grade."""

_PHRASES = frozenset(
    phrase.strip()
    for line in """
    n/a, na, yes, no, true, false, positive, negative, none, other, unknown, unsure, undefined, not applicable
    not available, pass/fail, thumbs up, thumbs down, well done, so so, see rubric, top tier, first class, zero
    below par, above par, on par, met, not met, unmet, partially met, achieved, not achieved, satisfied, not satisfied
    """.splitlines()
    for phrase in line.split(",")
    if phrase.strip()
)
_FORMS = re.compile(
    r"""
    (?:(?:does|do|did|not|doesn't|don't|didn't|partially|partly|fully|mostly|largely|barely|just|almost)\s){0,3}
      (?:meets?|meeting|met|exceeds?|exceed(?:ing|ed)|below|above|approach(?:es|ing)?|satisf(?:y|ies)|fails\sto\smeet)\s
      (?:(?:all|most|some|no|none|of|the|any|basic|minimum|our)\s){0,3}
      (?:expectations?|standards?|requirements?|criteria|criterion|bar|threshold)
    | (?:full|partial|half|no|some|extra|minimal|maximum|minimum|zero|low|high|top|max|min)\s
      (?:credit|marks?|points?|scores?)
    | (?:needs?|requires?)\s(?:(?:some|more|much|major|minor|significant|a|lot|of)\s){0,3}(?:improvement|work)
    | (?:(?:some|much|significant)\s)?room\sfor\simprovement
    | (?:(?:not|exactly|better|worse|more|less)\s){0,2}(?:as|than)\sexpected
    """,
    re.VERBOSE,
)
_NUMBER = r"(?:\d{1,4}(?:\.\d{1,2})?|one|two|three|four|five|six|seven|eight|nine|ten|zero)"
_UNIT = r"(?:points?|pts?|stars?|marks?|%|percent)"
_COUNTED = r"(?:score|level|grade|rating|mark|band|tier|points|stars|option|category|rank)"
_NUMERIC = re.compile(
    rf"(?:{_NUMBER}\s?/\s?\d{{1,4}}|{_NUMBER}\s?(?:out\s)?of\s\d{{1,4}}|{_NUMBER}[\s-]?{_UNIT}|[a-f][+-]"
    rf"|{_COUNTED}\s?(?:of|=|:|\#)?\s?(?:{_NUMBER}|[a-f][+-]?\b))(?:\s{_UNIT})?[.!]?"
)
_BARE = re.compile(r"(?:\d{1,4}(?:\.\d{1,2})?|[a-f])[.!]?")
_WORD = re.compile(r"[^\W_]+(?:['/][^\W_]+)*")
_BEGINS = (
    _GRADES | _GRADES_OF_SCALES | _TRAITS | _PADDING
    | {phrase.split(" ")[0] for phrase in _PHRASES}
    | set(
        """
        does do did doesn't don't didn't meets meet meeting exceeds exceed exceeding exceeded approaches
        approaching approach satisfies satisfy full half some extra maximum minimum top max min needs need
        requires require room exactly more less as than points stars option category rank band tier one two
        three four five six seven eight nine ten
        """.split()  # noqa: SIM905
    )
)  # fmt: skip
"""The first words of labels; for most outcomes, looking one word up is enough."""


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find labels among the short outcomes; the task of a scale may be a single word."""
    for outcome, opening in zip(rubric.outcomes, rubric.openings, strict=True):
        if not (_may_begin(opening) or outcome.name is not None):
            continue
        if len(outcome.text) <= LONGEST_LABEL and outcome.of != "task" and _is_label(outcome):
            yield Problem("label", outcome.path, values={"text": outcome.text.strip()})


@lru_cache(maxsize=1 << 12)
def _may_begin(opening: str) -> bool:
    """Return whether a label may begin with a word, given in lower case with the punctuation after it."""
    return not opening.isalpha() or len(opening) == 1 or opening in _BEGINS


def _is_label(outcome: Outcome) -> bool:
    folded = outcome.text.casefold().replace("’", "'").strip()  # noqa: RUF001 (an apostrophe of prose)
    first = _WORD.search(folded)
    if first is None:
        return False
    begin = first[0]
    if not (begin in _BEGINS or outcome.name is not None or begin[0].isdigit() or len(begin) == 1):
        return False
    words = _WORD.findall(folded)
    is_name = outcome.name is not None and words == _WORD.findall(outcome.name.casefold())
    if not (is_name or _says_nothing(folded, words, is_of_scale=outcome.is_of_scale)):
        return False
    return not (is_template(folded) or is_placeholder(folded))


def _says_nothing(folded: str, words: list[str], *, is_of_scale: bool) -> bool:
    said = " ".join(words)
    if said in _PHRASES or _NUMERIC.fullmatch(folded) or _FORMS.fullmatch(said):
        return True
    if is_of_scale and (said in _GRADES_OF_SCALES or _BARE.fullmatch(folded)):
        return True
    if said in _GRADES_OF_SCALES or not all(word in _JUDGING for word in words):
        return False
    return any(word in _GRADES for word in words)


RULE = Rule(
    "vague-outcome",
    Severity.WARNING,
    {"label": '"{text}" is a label; say what an observer sees in an answer that earns it'},
    check,
)
