"""Find the triggers of rules in a rubric, so that a rule runs only where it may find something."""

import re
from functools import lru_cache
from itertools import chain

from rubric_lint.model.rubric import LONGEST_LABEL, Rubric, may_be_placeholder
from rubric_lint.model.wording import (
    ADVERB,
    FAILURES,
    GRADES,
    GRADES_OF_SCALES,
    ORDERED,
    PADDING,
    POINTERS,
    STATED,
    TRAITS,
)

Trigger = str
"""What a rubric may show, as `find_triggers` names it; each shows `any`."""

_BEGINS = GRADES | GRADES_OF_SCALES | TRAITS | PADDING | frozenset(
    """
    approach approaches approaching as band category critical did do does eight error exactly exceed exceeded exceeding
    exceeds extra factually false first five four full half less major max maximum meet meeting meets min
    minimum minor more na need needs negative nine no off on one option points positive rank require requires room
    satisfies satisfy see serious seven six some stars ten than three thumbs tier top true two undefined unknown unsure
    yes zero demonstrates displays exhibits feels follows looks maintains must reads remains shall should show shows
    sounds uses explanation summary code text reply of with few minor several many serious significant be
    otherwise adheres adhere complies comply follow use demonstrate display exhibit maintain
    neglects forgets
    """.split()  # noqa: SIM905
)  # fmt: skip
_ENDS = ".,;:!?()"
# What rules look for behind "and": what an answer does, and a second "that".
_BEHIND_AND = re.compile(rf"\sand\s+{ADVERB}([a-z]+)")
_JOINED = ORDERED | STATED | {"that"}
_NO_GATE = frozenset({None})
_DIGITS = "0123456789"
_SCORES = ("score", "point", "pt", "10", "level", "scale", "rate")


@lru_cache(maxsize=1 << 12)
def may_begin_label(word: str) -> bool:
    """Return whether a label or a grade may begin with a word, given in lower case; most outcomes begin with others."""
    return not word.isalpha() or len(word) == 1 or word in _BEGINS


def find_triggers(rubric: Rubric) -> frozenset[Trigger]:
    """Return the signs that a rubric shows: all whose rules would find something, and few others."""
    criteria, scales = rubric.criteria, rubric.scales
    own = [criterion.outcome for criterion in criteria if criterion.outcome is not None]
    levels = chain.from_iterable(criterion.levels or () for criterion in criteria)
    of_levels = [level.outcome for level in levels if level.outcome is not None]
    of_scales = [[band.outcome for band in scale.bands if band.outcome is not None] for scale in scales]
    groups = [own, of_levels, *of_scales]
    texts = list(chain.from_iterable(groups))
    begins = [[_first_word(text) for text in group] for group in groups]
    distinct = set(chain.from_iterable(begins))
    of_labels = set(filter(may_begin_label, distinct))
    folded = "\n".join(["", *texts]).casefold()
    has = folded.__contains__
    weights = [criterion.weight for criterion in criteria]
    has_penalty = any(weight is not None and weight < 0 for weight in weights)
    has_levels = any(criterion.levels for criterion in criteria)
    has_view = rubric.view is not None
    shown: dict[Trigger, bool] = {
        "any": True,
        "ambiguous": bool(rubric.ambiguous),
        "conjunction": has(" and ") and not _JOINED.isdisjoint(_BEHIND_AND.findall("\n".join(own))),
        "flawed scale": False in [scale.is_whole for scale in scales]
        or rubric.thresholds.borderline_at > rubric.thresholds.pass_at,
        "gate": has_view or not _NO_GATE.issuperset([criterion.gate for criterion in criteria]),
        "graded": has_levels or not all(map(of_labels.isdisjoint, begins[2:])),
        "label": has_levels
        or (
            len(of_labels) > 0
            and any(
                begin in of_labels and len(text) <= LONGEST_LABEL
                for begin, text in zip(chain.from_iterable(begins), texts, strict=True)
            )
        ),
        "levels": has_levels,
        "list": has("following"),
        "mixed": rubric.is_mixed,
        "no id": False in ["id" in criterion.fields for criterion in criteria if criterion.fields is not None],
        "odd weight": has_penalty or None in weights or 0 in weights,
        "old field": bool(rubric.outdated) or (rubric.implicit_required and bool(rubric.replacements)),
        "one band": 1 in [len(scale.bands) for scale in scales],
        "signed": has_penalty or has_view or any(map(has, FAILURES[:2])),
        "penalty": has_penalty or (has_view and any(criterion.is_negated for criterion in criteria)),
        "placeholder": "" in distinct or any(map(may_be_placeholder, distinct)),
        "pointer": has_view or any(map(has, POINTERS)),
        "same ids": len(rubric.ids) < len(criteria),
        "score in text": has_view or (any(map(has, _SCORES)) and any(map(has, _DIGITS))),
        "threshold": (len(scales) == 1 and len(criteria) <= 1)
        or not _NO_GATE.issuperset([scale.gate for scale in scales]),
    }
    return frozenset([trigger for trigger, is_shown in shown.items() if is_shown])


def _first_word(text: str) -> str:
    """Return the first word in lower case, without the punctuation after it; empty without any."""
    words = text.split(None, 1)
    return words[0].casefold().rstrip(_ENDS) if words else ""
