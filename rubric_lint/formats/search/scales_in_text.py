"""Read the bands or levels that an author has written into one text for a judge, if the lines leave no doubt."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.formats.home_made.direction import find_reversal, format_fall
from rubric_lint.model.criterion import ASKED, HIGHEST, Asked
from rubric_lint.model.messages import shorten
from rubric_lint.model.view import Dialect, Draft, View
from rubric_lint.rules.inverted_scale import find_fall
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

_WORD = r"(?:scores?|level|rating|grade|band)"
_NUMBER = r"\d{1,3}(?:\.\d{1,3})?"
_LABEL = re.compile(
    rf"""^[ \t]*+(?:[-*•+][ \t]++)?(?P<mark>\*\*|[`"'(\[]|)
    (?P<word>{_WORD}\b[ \t]*+(?:of|=|:|)[ \t]*+)?
    (?P<low>{_NUMBER})(?:[ \t]*+(?:-|–|—|to)[ \t]*+(?P<high>{_NUMBER}))?(?:[ \t]*+(?:points?|分))?
    (?:[ \t]*+\((?P<name>[^()\n]{{1,60}})\)|[ \t]++[-–—][ \t]++(?P<bold>[^*\n]{{1,60}}?)(?=[:：]?\*\*))?+
    (?:\*\*|[`"')\]]|)[ \t]*+(?:\((?P<after>[^()\n]{{1,60}})\)[ \t]*+)?
    (?:[:：](?:\*\*)?|=|->|→|(?<=[ \t])[-–—](?=[ \t]))[ \t]*+(?P<said>\S.*)$""",  # noqa: RUF001
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_BULLET = re.compile(r"([ \t]*)[-*•+][ \t]")
_OF_SCALES = re.compile(r"\b(?:scor(?:e|es|ing)|scale|rat(?:e|ing)|grade|grading|points?)\b", re.IGNORECASE)
_WHOLE = Decimal(1)


class Step(NamedTuple):
    """One line of a scale: the lowest and the highest number that it is for, and what it says."""

    low: Decimal
    high: Decimal
    said: str


class WrittenScale(NamedTuple):
    """A scale that is written into a text: its steps in ascending order, and the text before it."""

    task: str
    steps: tuple[Step, ...]

    @property
    def bands(self) -> list[tuple[int, int, str]] | None:
        """The bands on our scale from 0 to 10, for ranges of 0 to 10 or of tenths from 0 to 1; else None."""
        if all(step.low == step.high for step in self.steps):
            return None
        factor = HIGHEST if self.steps[-1].high == _WHOLE else 1
        bounds = [(step.low * factor, step.high * factor) for step in self.steps]
        if bounds[-1][1] != HIGHEST or any(each != each.to_integral_value() for pair in bounds for each in pair):
            return None
        return [(int(low), int(high), step.said) for (low, high), step in zip(bounds, self.steps, strict=True)]

    @property
    def levels(self) -> list[tuple[int, str]] | None:
        """The levels, numbered by the smallest integers in the same proportion; None if a step is a range."""
        if any(step.low != step.high for step in self.steps):
            return None
        digits = max(0, *(-int(step.low.normalize().as_tuple().exponent) for step in self.steps))
        return [(int(step.low.scaleb(digits)), step.said) for step in self.steps]

    def as_data(self, task: str = "") -> list[dict[str, Any]]:
        """Return the bands, or one criterion with the levels and what is judged on them."""
        if bands := self.bands:
            return [{"score_range": [low, high], "expected_outcome": outcome} for low, high, outcome in bands]
        levels = [{"level": number, "expected_outcome": outcome} for number, outcome in self.levels or ()]
        return [{**({"expected_outcome": task} if task else {}), "levels": levels}]


def find_steps(text: str) -> list[int]:
    """Return where the lines of a text begin that look like a step of a scale."""
    return [found.start() for found in _LABEL.finditer(text)]


def find_scale(text: str) -> WrittenScale | None:
    """Return the scale in a text: lines such as `1: ...`, `Score 2 - ...` or `0.8-1.0: ...`, in order, nothing twice.

    Numbers without a word such as `score` count if there are three and the text speaks of a scale. Numbered lists
    (`1.`, `2)`) never do.
    """
    if "\n" not in text:
        return None
    found = list(_LABEL.finditer(text))
    is_bare = not all(each["word"] for each in found)
    if len(found) < 2 or (is_bare and not (len(found) > 2 and _OF_SCALES.search(text))):
        return None
    steps = []
    for index, each in enumerate(found):
        low, high = Decimal(each["low"]), Decimal(each["high"] or each["low"])
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        more = text[each.end() : end].partition("\n\n")[0]
        if bullet := _BULLET.match(each[0]):  # another item of the same list is not about this step
            more = re.split(rf"\n[ \t]{{0,{len(bullet[1])}}}[-*•+][ \t]", more, maxsplit=1)[0]
        name = each["name"] or each["bold"] or each["after"]
        said = " ".join(f"{f'{name}: ' if name else ''}{each['said']} {more}".split())
        if each["mark"] == "**" and said.count("**") % 2:  # the end of bold type that begins before the number
            said = said.replace("**", "", 1)
        steps.append(Step(low, high, said))
    lows = [step.low for step in steps]
    if lows != sorted(set(lows)):
        steps.reverse()
        lows.reverse()
    if lows != sorted(set(lows)) or any(step.low > step.high for step in steps):
        return None
    scale = WrittenScale(text[: found[0].start()].strip(), tuple(steps))
    return scale if scale.bands or scale.levels else None


SHARE = Asked("a score from 0 to 1", 1)
"""What promptfoo and AgentV ask a judge for that gets one text."""


def view_scale(
    document: Document,
    place: Path,
    scale: WrittenScale,
    asked: Asked,
    dialect: Dialect,
    *,
    name: str = "",
    threshold: Decimal | None = None,
    more: Mapping[str, Any],
) -> View:
    """Return the rubric of the text at `place`, where all its bands or levels are; `more` are fields of the view."""
    draft = Draft(document, place)
    lowest, highest = scale.steps[0].low, max(step.high for step in scale.steps)
    doubts = (*more.get("doubts", ()), *find_turned(place, document.value(place), scale))
    more = {**more, "doubts": doubts}
    said = f"{lowest} to {highest}" if highest > asked.highest or highest < lowest else ""
    data = scale.as_data(scale.task)
    data[0][ASKED] = asked._replace(said=said)
    for index in range(len(data)):
        draft.put((index,), place)
    return draft.finish(dialect, data, name=name, task=scale.task, threshold=threshold, is_text=True, **more)


def find_turned(place: Path, text: str, scale: WrittenScale) -> Iterator[tuple[Path, str]]:
    """Find what says in a text at a place that the lowest score of its scale is the best, with the reason."""
    ends = (Fraction(scale.steps[0].low), Fraction(max(step.high for step in scale.steps)))
    fall = find_fall([(step.low, step.said) for step in scale.steps])
    if quote := find_reversal(text, [ends]):
        yield place, f'this text says "{shorten(quote)}", but the highest score is read as the best; {_TURN}'
    elif fall:
        yield place, f"{format_fall(fall)}; {_TURN}"


_TURN = "turn the scale around"
