"""The fast way from an entry to its result, for what is plainly in order; all else goes the slow way.

The reader hands out each object as a tuple of pairs, which costs less than a mapping and hides no key that stands
twice. What is taken here has the very fields and types that are expected, each once, so nothing is left to check
but that the answers may be given; and which answers may be given together is remembered, with the result as text.
"""

import json
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from rubric_lint.rubric import Shape
from rubric_lint.scoring.grading import Answer, JudgeOutput, ScoringRubric
from rubric_lint.scoring.output import form_of
from rubric_lint.scoring.records import RESERVED

_read = json.JSONDecoder(object_pairs_hook=tuple).raw_decode
_BLANK = " \t\r\n"
_MOST_REMEMBERED = 20_000


class Tally(NamedTuple):
    """How often a rubric got these answers."""

    rubric: ScoringRubric
    answers: tuple[Answer, ...]
    times: int


class _Known:
    """A set of answers: its result as text, and how often it was met."""

    __slots__ = ("count", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.count = 0


class _Path:
    """The fast way for one rubric."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self.rubric = rubric
        self.field = form_of(rubric.shape).field
        self.kind: type = bool if rubric.shape is Shape.CHECKLIST else int
        self.places = {criterion.id: place for place, criterion in enumerate(rubric.criteria)}
        self.known: dict[tuple[Answer, ...], _Known] = {}

    def read(self, output: tuple[tuple[str, Any], ...]) -> tuple[Answer, ...] | None:
        """The answers that pairs hold, in the rubric's order."""
        fields = dict(output)
        if len(fields) != len(output):
            return None
        if self.rubric.shape is Shape.HOLISTIC:
            return self._read_holistic(fields)
        checks = fields.pop("checks", None)
        overall = fields.pop("overall_reasoning", "")
        if fields or type(overall) is not str or type(checks) is not list:
            return None
        return self._read_checks(checks)

    def _read_checks(self, checks: list[Any]) -> tuple[Answer, ...] | None:  # noqa: PLR0911 (the hot path: a call a check would cost a tenth of all time)
        field, kind, places = self.field, self.kind, self.places
        answers: list[Any] = [None] * len(places)
        if len(checks) != len(answers):
            return None
        for check in checks:
            if type(check) is not tuple:
                return None
            if len(check) == 3:
                (first, name), (second, answer), (third, reason) = check
                if second == "reasoning":
                    second, answer, third, reason = third, reason, second, answer
                if third != "reasoning" or type(reason) is not str:
                    return None
            elif len(check) == 2:
                (first, name), (second, answer) = check
            else:
                return None
            if first != "id" or second != field or type(answer) is not kind or type(name) is not str:
                return None
            place = places.get(name)
            if place is None or answers[place] is not None:
                return None
            answers[place] = answer
        return tuple(answers)

    def _read_holistic(self, fields: dict[str, Any]) -> tuple[Answer, ...] | None:
        answer = fields.pop("score", None)
        reason = fields.pop("reasoning", "")
        if fields or type(answer) is not int or type(reason) is not str:
            return None
        return (answer,)

    def render(self, answers: tuple[Answer, ...]) -> _Known | None:
        """The result of answers that were not met before; None when they may not be given."""
        pairs = zip(self.rubric.criteria, answers, strict=True)
        if not all(criterion.grade(answer) for criterion, answer in pairs):
            return None
        result = self.rubric.grade(JudgeOutput(answers, (None,) * len(answers)))
        known = self.known[answers] = _Known(json.dumps(result.to_json(), ensure_ascii=False)[1:-1])
        return known


class Shortcut:
    """Scores entries that are in order, and counts their answers."""

    def __init__(self, rubrics: Mapping[str, ScoringRubric]) -> None:
        self._paths = {name: _Path(rubric) for name, rubric in rubrics.items()}
        self._only = next(iter(self._paths.values())) if len(rubrics) == 1 else None

    def score(self, entry: bytes) -> str | None:
        """The result as a line of JSON; None when the slow way has to decide."""
        try:
            return self._score(entry.decode())
        except (ValueError, RecursionError):  # not UTF-8, not JSON, a number with thousands of digits
            return None

    def _score(self, text: str) -> str | None:  # noqa: C901, PLR0911, PLR0912 (the hot path: a call a check would cost a tenth of all time)
        top, end = _read(text)
        if type(top) is not tuple or (end != len(text) and text[end:].strip(_BLANK)):
            return None
        head, rest, path = "{", "", self._only
        output: Any = top
        for name, value in top:
            if name == "output":
                output = value
        if output is not top:
            if len(dict(top)) != len(top):
                return None
            for name, value in top:
                if name == "output":
                    continue
                if name == "rubric":
                    path = self._paths.get(value) if type(value) is str else None
                elif name == "id" and type(value) is str:
                    head = f'{{"id": {encode_basestring(value)}, '
                elif name in RESERVED or (rendered := _render_plain(value)) is None:
                    return None
                elif name == "id":
                    head = f'{{"id": {rendered}, '
                else:
                    rest += f", {encode_basestring(name)}: {rendered}"
            if type(output) is str:
                output = _read_raw(output)
        if path is None or type(output) is not tuple:
            return None
        answers = path.read(output)
        if answers is None:
            return None
        known = path.known.get(answers) or path.render(answers)
        if known is None:
            return None
        known.count += 1
        return f"{head}{known.text}{rest}}}"

    @property
    def is_full(self) -> bool:
        """Whether so many sets of answers are remembered that they should be taken."""
        return sum(len(path.known) for path in self._paths.values()) > _MOST_REMEMBERED

    def take_tallies(self) -> Iterator[Tally]:
        """What was counted since the last time; it is forgotten with that."""
        for path in self._paths.values():
            for answers, known in path.known.items():
                yield Tally(path.rubric, answers, known.count)
            path.known.clear()


def _read_raw(text: str) -> Any:
    """The pairs of a text that is nothing but one object, perhaps in a fence."""
    body = text.strip(_BLANK)
    if body.endswith("```"):
        body = body.removeprefix("```json").removeprefix("```").removesuffix("```").strip(_BLANK)
    value, end = _read(body)
    return value if end == len(body) else None


def _render_plain(value: Any) -> str | None:
    """A value of a record that is carried through, if it is a plain one."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if value is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if kind is int else None
