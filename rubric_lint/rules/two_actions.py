"""One yes-or-no criterion that asks for two actions."""

import re
from collections.abc import Iterator

from rubric_lint.edits.intents import Repair
from rubric_lint.finding import Problem, Severity
from rubric_lint.format.criterion import Shape
from rubric_lint.format.repairs import SPLIT, split_outcome
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.signs import SUBJECT
from rubric_lint.rules.rule import Rule

# What an answer does, as a criterion says it. The words of the second set are nouns as well.
_VERBS = frozenset(
    """
    acknowledges admits advises affirms apologizes apologises argues asks assesses avoids calculates cites clarifies
    classifies compares computes concludes confirms considers corrects defines demonstrates describes determines
    discusses distinguishes emphasizes emphasises encourages evaluates explains expresses gives highlights identifies
    illustrates includes indicates informs inquires instructs interprets introduces invites justifies mentions notifies
    prioritizes prioritises proposes provides reassures recognizes recognises recommends refers refuses reminds responds
    says specifies stresses suggests summarizes summarises tells translates urges validates verifies warns writes
    """.split()  # noqa: SIM905
)
_NOUNS_TOO = frozenset(
    """
    addresses checks lists names notes offers outlines points quotes reports requests states
    """.split()  # noqa: SIM905
)
_ADVERB = r"(?:(?:also|then|[a-z]+ly)\s+)?"
_FIRST = re.compile(rf"\s*{SUBJECT}{_ADVERB}(?P<verb>[A-Za-z]+s)\s", re.IGNORECASE)
_SECOND = re.compile(rf"(?:,|(?<!\s))\s+and\s+(?P<rest>{_ADVERB}(?P<verb>[a-z]+s)\s+(?P<next>[\w'’]+))")  # noqa: RUF001
_OBJECTS = frozenset(
    """
    the a an that whether how why what when which who it its their his her this these those them any each every
    """.split()  # noqa: SIM905
)
# The end of what the first verb may be joined to: a clause has verbs of its own, and a quotation its own words.
_END = re.compile(
    r"[.;:?!](?:\s|\Z)|[(\"“`]|\s['‘]|\b(?:that|which|who|whose|whom|where|when|while|if|whether|how|why|what)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_STATE = re.compile(r"\b(?:is|are|was|were|has|have|had|can|cannot|could|may|might|must|should|will|would)\b")
_TO_READERS = frozenset(
    """
    advises apologizes apologises asks encourages explains invites offers reassures recommends reminds suggests urges
    warns
    """.split()  # noqa: SIM905
)
_ALONE = frozenset({"apologizes", "apologises", "responds", "refuses"})
"""Verbs that need no object."""


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find an outcome that begins with what an answer does, and has a second such verb behind "and"."""
    for criterion in rubric.criteria:
        text = criterion.outcome
        if not text or criterion.shapes != (Shape.CHECKLIST,):
            continue
        first = _FIRST.match(text)
        if first is None or not _is_verb(first["verb"].lower()):
            continue
        end = found.start() if (found := _END.search(text, first.end("verb"))) else len(text)
        for second in _SECOND.finditer(text, first.end() - 1):
            if second.end("verb") > end and not (found and _follows_clause(text, first.end(), found.end(), second)):
                break
            if _is_verb(second["verb"], second["next"]):
                values = {"first": first["verb"], "second": second["verb"]}
                choices: tuple[Repair, ...] = ()
                if second.start() > first.end("verb") or first["verb"].lower() in _ALONE:  # else they share an object
                    choices = tuple(
                        split_outcome(rubric, criterion, (text[: second.start()], text[second.start("rest") :]))
                    )
                yield Problem("both", criterion.outcome_path, values=values, choices=choices)
                break


def _follows_clause(text: str, end: int, start: int, second: re.Match[str]) -> bool:
    """Return whether a verb is joined to the first one over "that ... is ...": something only an answer does."""
    clause = text[start : second.start()]
    is_object = text[end:start].isalpha()  # the clause begins right behind the first verb
    return bool(is_object and second["verb"] in _TO_READERS and _STATE.search(clause) and not _END.search(clause))


def _is_verb(word: str, following: str = "the") -> bool:
    return word in _VERBS or (word in _NOUNS_TOO and following in _OBJECTS)


RULE = Rule(
    "two-actions",
    Severity.WARNING,
    {
        "both": (
            'it asks for two things, "{first}" and "{second}", and an answer may do one of them; split it into two '
            "criteria"
        )
    },
    check,
    choices={SPLIT: "make a criterion of each of the two things; a weight is shared between them"},
)
