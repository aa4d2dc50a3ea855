"""One yes-or-no criterion that asks for two actions."""

import re
from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.repairs import SPLIT, split_outcome
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.wording import (
    ACTIONS_OR_THINGS,
    ADVERB,
    DUTY,
    OBJECTS,
    ORDERED,
    QUESTION,
    STATED,
    SUBJECT,
    third_person,
)
from rubric_lint.rules.rule import Rule
from rubric_lint.source.edits.intents import Repair

_THINGS_TOO = ACTIONS_OR_THINGS | frozenset(map(third_person, ACTIONS_OR_THINGS)) | {"correct", "express", "stress"}
_FIRST = re.compile(
    rf"\s*(?:(?P<question>{QUESTION})|{SUBJECT}(?P<duty>{DUTY}\s+)?){ADVERB}(?P<verb>[a-z]+)\s+(?P<next>[\w'’]*)",  # noqa: RUF001
    re.IGNORECASE,
)
_SECOND = re.compile(rf"(?:,|(?<!\s))\s+and\s+(?P<rest>{ADVERB}(?P<verb>[a-z]+)\s+(?P<next>[\w'’]+))")  # noqa: RUF001
# The end of what the first verb may be joined to: a clause has verbs of its own, and a quotation its own words.
_CLAUSE = r"[.;:?!](?:\s|\Z)|[(\"“`]|\s['‘]|\b(?:that|which|who|whose|whom|where|when|while|if|whether|how|why|what)\b"  # noqa: RUF001
_END = re.compile(_CLAUSE, re.IGNORECASE)
# In an order, a verb behind "to" has the same form: "Ask the user to check the cable and describe the light".
_END_OF_ORDER = re.compile(
    rf"{_CLAUSE}|\bto\s+(?!(?:{'|'.join(sorted(OBJECTS))})\b)[a-z]|\b(?:can|could|may|might|must|should|will|would)\b",
    re.IGNORECASE,
)
_STATE = re.compile(r"\b(?:is|are|was|were|has|have|had|can|cannot|could|may|might|must|should|will|would)\b")
# What one thing does; only an order goes on without an -s: "how the lock works and name the key".
_OF_ONE = re.compile(r"\b(?:is|was|has|does)\b|\b(?:the|an?|this|each)\s+\w*[^\Ws]\s+[a-z]+s\b")
_TO_READERS = frozenset(
    """
    advises apologizes apologises asks encourages explains invites offers reassures recommends reminds suggests urges
    warns
    """.split()  # noqa: SIM905
)
_ALONE = frozenset({"apologizes", "apologises", "apologize", "apologise", "respond", "responds", "refuse", "refuses"})
"""Verbs that need no object."""

_STEPS = frozenset(
    """
    calculate classify compare compute confirm correct define determine evaluate highlight interpret notify
    refuse respond summarize summarise translate validate verify write
    """.split()  # noqa: SIM905
)
"""Verbs that also stand before a noun, as the names of what programs do: "the read and write path"."""

_WITHOUT_NOUN = re.compile(
    rf"(?:\A|\b(?:{'|'.join(sorted(OBJECTS))}|no|some|of|for|to|in|on|at|by|from|with|about|between)|['’]s)\s+"  # noqa: RUF001
    r"(?:[a-z/-]{1,20},\s){0,4}[a-z/-]*(?:[^\Ws]|ss)\Z|\bread\Z"
)
"""A word in the singular, or a list of some, behind an article or a preposition: it may need the noun behind "and"."""

_LONGEST_PHRASE = 60
"""How far before "and" such a word and its article are looked for."""

_OPENS_OBJECT = OBJECTS | frozenset(
    """
    about against another as at by for from how if in more my no on one only our some three to two with your
    """.split()  # noqa: SIM905
)
"""What stands behind a verb and not between a verb and its noun, as in "the read and write path"."""

_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|these|those|such|same|so|both|either|each|"
    r"former|latter|one|ones|there|accordingly|therefore|thereby|too|instead|otherwise)\b",
    re.IGNORECASE,
)
"""What a second half says of the first one: alone, a judge could not tell what is meant."""


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find an outcome that begins with what an answer does, and has a second such verb behind "and"."""
    for criterion in rubric.criteria:
        text = criterion.outcome
        if not text or not criterion.is_check:
            continue
        first = _FIRST.match(text)
        verbs = _find_form(first) if first else None
        second = _find_second(text, first, verbs) if first and verbs else None
        if first is None or second is None:
            continue
        values = {"first": first["verb"], "second": second["verb"]}
        if criterion.is_penalty:
            yield Problem("penalty", criterion.outcome_path, values=values)
            continue
        choices: tuple[Repair, ...] = ()
        if not first["question"] and not _POINTS_BACK.search(text, second.start("rest")):
            choices = tuple(split_outcome(rubric, criterion, (text[: second.start()], text[second.start("rest") :])))
        yield Problem("both", criterion.outcome_path, values=values, choices=choices)


def _find_form(first: re.Match[str]) -> frozenset[str] | None:
    """Return the verbs in the form in which an outcome begins, as statements or orders; None for other outcomes."""
    verb = first["verb"].lower()
    if verb in STATED and not first["question"] and not first["duty"]:
        return STATED
    return ORDERED if verb in ORDERED and _is_verb(verb, first["next"]) else None


def _find_second(text: str, first: re.Match[str], verbs: frozenset[str]) -> re.Match[str] | None:
    """Find the verb that asks for a second thing; two verbs side by side have one object, and are one thing."""
    start = first.end("verb")
    pattern = _END if verbs is STATED else _END_OF_ORDER
    ending = pattern.search(text, start)
    end = ending.start() if ending else len(text)
    for second in _SECOND.finditer(text, start):
        if second.end("verb") > end and not (ending and _follows_clause(text[start : ending.start()], ending, second)):
            break
        shares_object = second.start() == start and first["verb"].lower() not in _ALONE
        is_verb = second["verb"] in verbs and _is_verb(second["verb"], second["next"])
        before = text[max(start, second.start() - _LONGEST_PHRASE) : second.start()]
        if is_verb and not shares_object and not _is_part_of_noun(before, second):
            return second
    return None


def _follows_clause(before: str, ending: re.Match[str], second: re.Match[str]) -> bool:
    """Return whether a verb is joined to the first one over a clause, which has its own: as "that ... is ..."."""
    clause = second.string[ending.end() : second.start()]
    is_object = f"{before}{ending[0]}".strip().isalpha()  # the clause begins right behind the first verb
    if second["verb"] in ORDERED:
        return is_object and bool(_OF_ONE.search(clause)) and not _END_OF_ORDER.search(clause)
    return is_object and second["verb"] in _TO_READERS and bool(_STATE.search(clause)) and not _END.search(clause)


def _is_part_of_noun(before: str, second: re.Match[str]) -> bool:
    """Return whether what looks like a second verb belongs to a noun: "the read and write path", "the writes of"."""
    verb, following = second["verb"], second["next"].lower()
    if following == "of":
        return verb not in ("tell", "tells", "warn", "warns")
    if verb not in _STEPS or following in _OPENS_OBJECT or following.endswith("ly") or not following.isalpha():
        return False
    begins_clause = not second["rest"].startswith(verb) or (second[0][0] == "," and "," not in before)
    return not begins_clause and _WITHOUT_NOUN.search(before.lower()) is not None


def _is_verb(word: str, following: str) -> bool:
    return word not in _THINGS_TOO or following.lower() in OBJECTS


RULE = Rule(
    "two-actions",
    Severity.WARNING,
    {
        "both": (
            'it asks for two things, "{first}" and "{second}", and an answer may do one of them; split it into two '
            "criteria"
        ),
        "penalty": (
            'it takes points for two things done together, "{first}" and "{second}", and one of them may be harmless; '
            "make a criterion of each thing that is to cost points"
        ),
    },
    check,
    choices={SPLIT: "make a criterion of each of the two things; a weight is shared between them"},
)
