"""An outcome that refers to another one instead of describing what is seen."""

import re
from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.wording import POINTERS
from rubric_lint.rules.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find outcomes that only make sense with another one, or with what the judge is not shown."""
    if rubric.view:
        yield from _find_unseen(rubric)
    for outcome in rubric.outcomes:
        text = outcome.text
        folded = text.casefold()
        if not any(map(folded.__contains__, POINTERS)):
            continue
        found = (
            _ANYWHERE.search(folded) or _MENTIONED.match(folded) or (outcome.is_of_scale and _IN_SCALES.search(folded))
        )
        if found:
            said = found["said"]
            if len(folded) == len(text):  # else folding has moved the place
                said = text[slice(*found.span("said"))]
            yield Problem("other-outcome", outcome.path, values={"said": said})


def _find_unseen(rubric: Rubric) -> Iterator[Problem]:
    """Find outcomes about what the judge of a dialect is not shown."""
    for entry in rubric.entries:
        if entry.asked is None:
            continue
        for option in entry.asked.unseen:
            unseen = _UNSEEN[option].search(entry.outcome or "")
            if unseen:
                yield Problem("not-shown", entry.outcome_path, values={"said": unseen[0], "option": option})


_UNSEEN = {
    "include_input": re.compile(
        r"\b(?:the|user's) (?:user's )?(?:question|input|query|request)\b(?! field)", re.IGNORECASE
    ),
    "include_expected_output": re.compile(
        r"\b(?:the )?(?:expected|reference|golden) (?:answer|output|response|result)s?\b|\bground truth\b",
        re.IGNORECASE,
    ),
}
"""What outcomes call something that a system shows its judge only with an option."""


_BEGIN = r"(?:^\s*|[(\[]|[.:;!?,]\s)"
_END = r"(?=\s*(?:$|[)\].,;:!?–—]|-(?!\w)|(?:but|plus|and|with|except|yet|or)\b))"  # noqa: RUF001
_POINTER = r"(?:above|below|before|previous(?:\sone)?|preceding(?:\sone)?|prior(?:\sone)?)"
_UNIT = r"(?:level|band|tier|criterion|criteria|score\srange|score\sband|score\slevel|rubric\sitem|outcome)"
_SEEN = r"(?:see|same\sas|the\ssame\sas|identical\sto|similar\sto|as\sin|as\sfor|like(?:\sin)?)"
_ANYWHERE = re.compile(
    rf"""{_BEGIN}(?P<said>
        (?:the\s)?same\s(?:as\s)?(?:the\s)?{_POINTER}
      | (?:as|see|like)\s{_POINTER} | (?:as|see)\s\w{{1,12}}\s(?:above|below)
      | ditto | idem | same | (?:all|any|none|everything)\s(?:of\s)?(?:the\s)?above
      | {_SEEN}\s(?:the\s)?(?:previous|preceding|prior|last|next)\s{_UNIT}s?
      | {_SEEN}\s(?:the\s)?{_UNIT}\s(?:above|below|before|no\.?\s?\d{{1,9}}|\#?\d{{1,9}})
    ){_END}""",
    re.VERBOSE,
)
# In a later sentence, "the above steps" may be those of the first one.
_SAID = r"(?:mentioned|described|listed|named|stated|noted|discussed|defined|specified|outlined|given)"
_MENTIONED = re.compile(
    rf"""[^.;:!?\n]*?\b(?P<said>
        (?<!none\sof\s)(?<!any\sof\s)the\s(?:(?:above|previously|before)[\s-]{_SAID}|above|aforementioned|foregoing)
          (?=\s(?!the\b|an?\b|and\b|or\b|is\b|are\b)[a-z])
      | {_SAID}\s(?:above|previously){_END}
    )""",
    re.VERBOSE,
)
# The bands and levels of a scale refer to each other; `the next level` in a checklist may be one of a game.
_IN_SCALES = re.compile(
    rf"""\b(?P<said>
        (?:than|of|in|from|for|at|meets|satisfies|plus|includes|exceeds|beyond|everything|as)\s(?:all\s)?
        (?:the\s|those\sof\s(?:the\s)?|that\sof\s(?:the\s)?)?
        (?:(?:previous|preceding|next)\s{_UNIT}s? | {_UNIT}s?\s(?:above|below))
      | (?:everything|all|same)\s(?:\w{{1,12}}\s){{0,2}}(?:in|of|from|for)\s{_UNIT}s?\s\#?\d{{1,9}}
    ){_END}""",
    re.VERBOSE,
)

RULE = Rule(
    "not-self-contained",
    Severity.WARNING,
    {
        "other-outcome": (
            '"{said}" points to another outcome, which a judge may not see; say in full what an observer sees'
        ),
        "not-shown": '"{said}" is not shown to the judge without `{option}: true`; set it, or write it out',
    },
    check,
)
