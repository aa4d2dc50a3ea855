"""An outcome that is a label and not an observable result."""

import re
from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.rubric import LONGEST_LABEL, Rubric, is_placeholder, is_template
from rubric_lint.model.triggers import may_begin_label
from rubric_lint.model.wording import GRADES, GRADES_OF_SCALES, PADDING, TRAITS
from rubric_lint.rules.rule import Rule

_JUDGING = GRADES | TRAITS | PADDING
"""The words of which a label consists; one of them at least is a grade."""

_VERBS = frozenset(
    """
    should must shall needs need has have be to shows show demonstrates demonstrate uses use follows follow adheres
    adhere complies comply provides provide gives give maintains maintain keeps keep displays display exhibits exhibit
    contains contain remains remain reads sounds feels looks
    """.split()  # noqa: SIM905
)
_ESSENCES = frozenset(
    """
    understanding clarity professionalism insight professionally clearly correctly expected
    """.split()  # noqa: SIM905
)
"""Words of praise in a sentence that are not grades when they stand alone."""
_AROUND = frozenset(
    """
    as of for in with by way manner context audience task question purpose situation user reader language information
    content relevant practices standards needed necessary appropriate explanation summary code text reply written done
    long short
    """.split()  # noqa: SIM905
)
"""Words that say nothing in a sentence that only praises."""

_CHOSEN = re.compile(r"\b(?:right|correct|wrong) language\b|\bworst\b")
"""What grades say when they choose between things: "in the right language"."""
_MANNERS = frozenset({"tone", "style", "language", "manner", "way"})
_OF_PRAISE = _JUDGING | _VERBS | _AROUND | _ESSENCES
_OF_ANSWERS = (GRADES | _ESSENCES) - {"relevant", "irrelevant"}

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
    | (?:(?:the|this)\s)?(?:answer|response|reply|output|work|task|job|explanation)\s(?:is|was)\s
      (?:well\sdone|top\stier|first\sclass|(?:above|below|on)\spar|up\sto\s(?:standard|par))
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
_FLAWS = re.compile(
    r"(?:major|minor|some|no|few|many|several|significant|serious|critical)\s(?:issues|errors|problems|mistakes|flaws)"
)
_BARE = re.compile(r"(?:\d{1,4}(?:\.\d{1,2})?|[a-f])[.!]?")
_WORD = re.compile(r"[^\W_]+(?:['/][^\W_]+)*")


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find labels among the short outcomes; the task of a scale may be a single word."""
    penalties = {criterion.outcome_path for criterion in rubric.criteria if criterion.is_penalty}
    for outcome in rubric.outcomes:
        text, name = outcome.text, outcome.name
        if len(text) > LONGEST_LABEL or outcome.of == "task":
            continue
        folded = text.casefold().replace("’", "'").strip()  # noqa: RUF001 (an apostrophe of prose)
        first = _WORD.search(folded)
        if first is None or not (name is not None or may_begin_label(first[0])):
            continue
        words = _WORD.findall(folded)
        is_name = name is not None and words == _WORD.findall(name.casefold())
        if is_name or _says_nothing(folded, words, is_of_scale=outcome.is_of_scale):
            code = "label"
        elif may_begin_label(first[0]) and _only_praises(words):
            code = "praise"
        else:
            continue
        if not (is_template(text) or is_placeholder(text)):
            code = "complaint" if outcome.path in penalties else code
            yield Problem(code, outcome.path, values={"text": text.strip()})


def _says_nothing(folded: str, words: list[str], *, is_of_scale: bool) -> bool:
    said = " ".join(words)
    if said in _PHRASES or _NUMERIC.fullmatch(folded) or _FORMS.fullmatch(said):
        return True
    if is_of_scale and (said in GRADES_OF_SCALES or _BARE.fullmatch(folded) or _FLAWS.fullmatch(said)):
        return True
    if said in GRADES_OF_SCALES or not all(word in _JUDGING for word in words):
        return False
    return any(word in GRADES for word in words)


def _only_praises(words: list[str]) -> bool:
    """Return whether a sentence holds words of praise and no word that could be seen in an answer."""
    if not _OF_PRAISE.issuperset(words) or words[0] in GRADES_OF_SCALES or "or" in words:
        return False
    if ("best" in words and "practices" not in words) or _CHOSEN.search(" ".join(words)):
        return False
    is_manner = words[0] in _VERBS and not _MANNERS.isdisjoint(words)
    return not _OF_ANSWERS.isdisjoint(words) or (is_manner and not TRAITS.isdisjoint(words))


RULE = Rule(
    "vague-outcome",
    Severity.WARNING,
    {
        "label": '"{text}" is a label; say what an observer sees in an answer that earns it',
        "praise": '"{text}" only praises; say what an observer sees in an answer that earns it',
        "complaint": (
            '"{text}" judges and does not describe; say what an observer sees in an answer that it counts against'
        ),
    },
    check,
)
