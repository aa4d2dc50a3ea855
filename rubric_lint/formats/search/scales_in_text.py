"""Read the bands or levels that an author has written into one text for a judge, if the lines leave no doubt."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.formats.home_made.direction import find_reversal, format_fall
from rubric_lint.model.criterion import ASKED, HIGHEST, JudgeQuestion
from rubric_lint.model.messages import shorten
from rubric_lint.model.view import Dialect, View, ViewBuilder
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
    (?:[:：](?:\*\*)?|=|->|→|(?<=[ \t])[-–—](?=[ \t]))[ \t]*+(?P<text>\S.*)$""",  # noqa: RUF001
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_BULLET = re.compile(r"([ \t]*)[-*•+][ \t]")
_OF_SCALES = re.compile(r"\b(?:scor(?:e|es|ing)|scale|rat(?:e|ing)|grade|grading|points?)\b", re.IGNORECASE)
_WHOLE = Decimal(1)


class ScaleLine(NamedTuple):
    """One line of a scale: the lowest and the highest number that it is for, and its text."""

    low: Decimal
    high: Decimal
    text: str


class WrittenScale(NamedTuple):
    """A scale that is written into a text: its lines in ascending order, and the text before it."""

    task: str
    lines: tuple[ScaleLine, ...]

    @property
    def bands(self) -> list[tuple[int, int, str]] | None:
        """The bands on our scale from 0 to 10, for ranges of 0 to 10 or of tenths from 0 to 1; else None."""
        if all(line.low == line.high for line in self.lines):
            return None
        factor = HIGHEST if self.lines[-1].high == _WHOLE else 1
        bands: list[tuple[int, int, str]] = []
        for line in self.lines:
            low, high = line.low * factor, line.high * factor
            if low != int(low) or high != int(high):
                return None
            bands.append((int(low), int(high), line.text))
        return bands if bands[-1][1] == HIGHEST else None

    @property
    def levels(self) -> list[tuple[int, str]] | None:
        """The levels, numbered by the smallest integers in the same proportion; None if a line is for a range."""
        if any(line.low != line.high for line in self.lines):
            return None
        digits = max(0, *(-int(line.low.normalize().as_tuple().exponent) for line in self.lines))
        return [(int(line.low.scaleb(digits)), line.text) for line in self.lines]

    @property
    def ends(self) -> tuple[Decimal, Decimal]:
        """The lowest and the highest number."""
        return self.lines[0].low, max(line.high for line in self.lines)

    def as_data(self, task: str = "") -> list[dict[str, Any]]:
        """Return the bands, or one criterion with the levels and what is judged on them."""
        bands = self.bands
        if bands:
            return [{"score_range": [low, high], "expected_outcome": outcome} for low, high, outcome in bands]
        levels = [{"level": number, "expected_outcome": outcome} for number, outcome in self.levels or ()]
        criterion = {"expected_outcome": task, "levels": levels} if task else {"levels": levels}
        return [criterion]


def find_labels(text: str) -> list[int]:
    """Return where the lines of a text begin that look like those of a scale."""
    return [label.start() for label in _LABEL.finditer(text)]


def find_scale(text: str) -> WrittenScale | None:
    """Return the scale in a text: lines such as `1: ...`, `Score 2 - ...` or `0.8-1.0: ...`, in order, nothing twice.

    Numbers without a word such as `score` count if there are three and the text mentions a scale. Numbered lists
    (`1.`, `2)`) never do.
    """
    if "\n" not in text:
        return None
    labels = list(_LABEL.finditer(text))
    is_bare = not all(label["word"] for label in labels)
    if len(labels) < 2 or (is_bare and not (len(labels) > 2 and _OF_SCALES.search(text))):
        return None
    ends = [*(label.start() for label in labels[1:]), len(text)]
    lines = [_read_line(label, text[label.end() : end]) for label, end in zip(labels, ends, strict=True)]
    lows = [line.low for line in lines]
    if lows != sorted(set(lows)):
        lines.reverse()
        lows.reverse()
    if lows != sorted(set(lows)) or any(line.low > line.high for line in lines):
        return None
    scale = WrittenScale(text[: labels[0].start()].strip(), tuple(lines))
    return scale if scale.bands or scale.levels else None


def _read_line(label: re.Match[str], rest: str) -> ScaleLine:
    """Return a line of a scale; `rest` is the text from its end to the next one, of which a paragraph belongs to it."""
    more = rest.partition("\n\n")[0]
    bullet = _BULLET.match(label[0])
    if bullet:  # another item of the same list is not about this number
        more = re.split(rf"\n[ \t]{{0,{len(bullet[1])}}}[-*•+][ \t]", more, maxsplit=1)[0]
    name = label["name"] or label["bold"] or label["after"]
    start = f"{name}: " if name else ""
    text = " ".join(f"{start}{label['text']} {more}".split())
    if label["mark"] == "**" and text.count("**") % 2:  # the end of bold type that begins before the number
        text = text.replace("**", "", 1)
    return ScaleLine(Decimal(label["low"]), Decimal(label["high"] or label["low"]), text)


SHARE = JudgeQuestion("a score from 0 to 1", 1)
"""What promptfoo and AgentV ask a judge for that gets one text."""


def view_scale(
    document: Document,
    place: Path,
    scale: WrittenScale,
    asked: JudgeQuestion,
    dialect: Dialect,
    *,
    name: str = "",
    threshold: Decimal | None = None,
    more: Mapping[str, Any],
) -> View:
    """Return the rubric of the text at `place`, where all its bands or levels are; `more` are fields of the view."""
    draft = ViewBuilder(document, place)
    lowest, highest = scale.ends
    doubts = (*more.get("doubts", ()), *find_reversed(place, document.value(place), scale))
    more = {**more, "doubts": doubts}
    said = f"{lowest} to {highest}" if highest > asked.highest or highest < lowest else ""
    data = scale.as_data(scale.task)
    data[0][ASKED] = asked._replace(said=said)
    for index in range(len(data)):
        draft.put((index,), place)
    return draft.finish(dialect, data, name=name, task=scale.task, threshold=threshold, is_text=True, **more)


def find_reversed(place: Path, text: str, scale: WrittenScale) -> Iterator[tuple[Path, str]]:
    """Find what says in a text at a place that the lowest score of its scale is the best, with the reason."""
    lowest, highest = scale.ends
    fall = find_fall([(line.low, line.text) for line in scale.lines])
    quote = find_reversal(text, [(Fraction(lowest), Fraction(highest))])
    if quote:
        yield place, f'this text says "{shorten(quote)}", but the highest score is read as the best; {_TURN}'
    elif fall:
        yield place, f"{format_fall(fall)}; {_TURN}"


_TURN = "turn the scale around"
