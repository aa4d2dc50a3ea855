"""Read how outcomes begin: with what they ask for, or with what an answer does not do."""

import re

from rubric_lint.model.wording import ADVERB, DUTY, NEGATION, NOT, SUBJECT


def opening(form: str) -> str:
    """Return the pattern of an outcome that begins with a form, in the group `said`, whoever is said to do it."""
    return rf"(?i)\s*{SUBJECT}{ADVERB}(?P<said>{form})(?![\w-])"


# "Should the user ask" is a condition, "Should have asked" a complaint, and "Avoids answering" what a bad answer does.
_CONDITION = r"\s+(?:(?:the|an?|it|they|you|this|that|these|any|he|she|there)\b|have\s+\w+(?:ed|en)\b)"
_EVADED = (
    r"\s+(?:(?:answering|addressing|responding|engaging|discussing|mentioning|acknowledging|explaining|stating|naming)\b|"
    r"giving\s+(?:(?:an?|any)\s+)?(?:\w+\s+)?(?:answer|reason)|"
    r"(?:the|an?|any|this)\s+(?:question|topic|issue|request|subject|problem)\b)"
)
# Strings, which are compiled when they are needed: few rubrics have penalties.
_DEMAND = opening(
    rf"{DUTY}{NOT}?(?!{_CONDITION})|(?:avoid(?:s|ing)?|refrain(?:s|ing)?\s+from)(?!{_EVADED})|(?<!\w\s)do{NOT}"
)
_TAKEN_BACK = (
    rf"(?i)\b(?:but|yet|however|though|instead)\b(?:[\s,]{{1,3}}\w+){{0,3}}?[\s,]{{1,3}}(?:instead|{NEGATION})\b"
)
_NONE = (
    r"(?P<none>(?!(?:misses|lacks|omits|overlooks|ignores)\b)(?P<verb>[a-z]+s)\s+no)\b(?!\s+(?:longer|more|matter)\b)"
)
_NEGATION = rf"{opening(NEGATION)}|\s*{SUBJECT}{ADVERB}{_NONE}"


def find_demand(text: str) -> str:
    """Return how an outcome begins to ask for what a good answer does, such as "Should not"; empty if it does not.

    It does not if it takes that back: "Should ask for the age but fails to".
    """
    found = re.match(_DEMAND, text)
    if found is None or re.search(_TAKEN_BACK, text[found.end() :]):
        return ""
    return " ".join(found["said"].split())


def find_negation(text: str) -> str:
    """Return how an outcome begins to say what an answer does not do, such as "Fails to"; empty if it does not."""
    found = match_negation(text)
    return " ".join((found["said"] or found["none"]).split()) if found else ""


def match_negation(text: str) -> re.Match[str] | None:
    """Match what negates a whole outcome, at its start; the group `verb` is that of "names no source"."""
    return re.match(_NEGATION, text)
