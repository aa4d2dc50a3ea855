"""Outcomes: the texts that a judge compares an answer with, where each is written, and what its words alone show."""

import re
from typing import Literal, NamedTuple

from rubric_lint.finding import Path


class Outcome(NamedTuple):
    """One text that says what is seen.

    `of` says what it belongs to: a band (`scores` are those that lie in it for certain), a level (`level` is its
    number, `name` what it is called), a criterion, or, as its task, a criterion whose bands or levels say the rest.
    """

    text: str
    path: Path
    of: Literal["band", "level", "criterion", "task"]
    scores: range = range(0)
    level: int | None = None
    name: str | None = None

    @property
    def is_of_scale(self) -> bool:
        """Whether it is one of the outcomes that a judge chooses between."""
        return self.of in ("band", "level")


LONGEST_LABEL = 60
"""How long a text can be, in characters, and still be no more than a label or a placeholder."""

# What a template engine replaces before a judge reads it: {{low}}, ${HIGH}, {% if %}, <%= low %>, %(low)s, {low}, $low.
_TEMPLATE = re.compile(r"\{\{|\$\{|\{%|<%|%\(\w|\A\s*(?:\{[\w.-]+\}|\$\w+|%\w+%|@@?\w+@@?|__[^\W_]\w*__)\s*\Z")
_MARKS_OF_TEMPLATES = ("{", "$", "%", "@", "__")


def is_template(text: str) -> bool:
    """Return whether the text is written for a template engine, so that nothing can be said of what it will be."""
    return any(mark in text for mark in _MARKS_OF_TEMPLATES) and _TEMPLATE.search(text) is not None


_STAND_INS = re.compile(
    r"""
    (?: to[ -]?do | tb[dac] | fix[ -]?me | x{2,5} | placeholder | lorem\ ipsum\b.{0,60} | fill\ (?:me\ |this\ )?in
      | to\ be\ (?:done|defined|determined|decided|added|written|completed|filled\ in|confirmed|announced)
      | (?:insert|enter|write|add|put|describe|your|the)\ [\w ]{0,30}\ ?here
      | not\ (?:yet\ )?(?:written|defined)(?:\ yet)?
    ) (?: \s*[.!…]+ )?
    | (?: to[ -]?do | tb[dac] | fix[ -]?me | xxx ) \s* [:(\[-] .*
    | <[^<>]*> | \[\s*(?:insert|enter|write|add|put|describe|your|to[ -]?do|tb[dac]|fill|placeholder)\b[^\[\]]*\]
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_WORD = re.compile(r"[^\W_]")


def is_placeholder(text: str) -> bool:
    """Return whether the text only keeps the place of an outcome: punctuation, TODO, TBD, `<...>`."""
    words = text.split(None, 1)
    if not words:
        return False
    begin = words[0].casefold()
    if begin[0].isalnum() and begin not in _BEGINS and begin.rstrip(".!…") not in _BEGINS and begin[:4] not in _STARTS:
        return False
    stripped = text.strip()
    if len(stripped) > LONGEST_LABEL and begin[:4] not in _STARTS:
        return False
    return not is_template(stripped) and (_WORD.search(stripped) is None or _STAND_INS.fullmatch(stripped) is not None)


_STARTS = frozenset(["todo", "to-d", "tbd:", "tba:", "tbc:", "tbd(", "fixm", "fix-", "xxx:", "xxx("])
_BEGINS = frozenset(
    """
    to tbd tba tbc fix xx xxx xxxx xxxxx placeholder lorem fill insert enter write add put describe your the not
    """.split()  # noqa: SIM905 (it reads better)
)
"""What the first word of a stand-in can be: one look at it is all that most outcomes cost."""
