"""The fast way from an entry to its result, for what is plainly in order; all else goes the slow way.

The reader hands out each object as a tuple of pairs, which costs less than a mapping and hides no key that stands
twice. What is taken here has the very fields and types that are expected, each once, so nothing is left to check
but that the ids are there and the answers may be given; and what was given is remembered, with its result as text.
"""

import json
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring as _quote
from typing import Any, NamedTuple

from rubric_lint.rubric import Shape
from rubric_lint.scoring.extract import MOST_DIGITS, read_constant, read_float
from rubric_lint.scoring.grading import Answer, CriterionResult, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.output import form_of
from rubric_lint.scoring.records import RESERVED

# The scanner, without the Python around it; integers are read by C, so those with too many digits are told later.
_DECODER: Any = json.JSONDecoder(object_pairs_hook=tuple, parse_constant=read_constant, parse_float=read_float)
_read = _DECODER.scan_once
_CONSTANTS = {None: "null", True: "true", False: "false"}
_BLANK = " \t\r\n"
_HOLISTIC = {"score", "reasoning"}
_MOST_REMEMBERED = 20_000

_Pairs = tuple[tuple[str, Any], ...]
"""An object as it is read."""

Given = tuple[Any, ...]
"""The ids and answers of an output in its own order: id, answer, id, answer, ...; of a holistic one the answer."""


class Tally(NamedTuple):
    """How often a rubric got these answers."""

    rubric: ScoringRubric
    answers: tuple[Answer, ...]
    times: int


class _Piece(NamedTuple):
    """An answer to one criterion: what it is worth, and its part of the result as text."""

    points: int
    gate_met: bool
    text: str


class _Known:
    """What was given: its answers in the rubric's order, its result as text, and how often it was met."""

    __slots__ = ("answers", "count", "text")

    def __init__(self, answers: tuple[Answer, ...], text: str) -> None:
        self.answers = answers
        self.text = text
        self.count = 0


class _Path:
    """The fast way for one rubric."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self.rubric = rubric
        self.field = form_of(rubric.shape).field
        self.kind: type = bool if rubric.shape is Shape.CHECKLIST else int
        self.known: dict[Given, _Known] = {}
        self.pieces = {criterion.id: _render_pieces(criterion) for criterion in rubric.criteria}
        self.head = f'"rubric": {_quote(rubric.name)}, "shape": "{rubric.shape}", "score": '
        self.read = self._read_holistic if rubric.shape is Shape.HOLISTIC else self._read_checks

    def _read_checks(self, output: _Pairs) -> Given | None:  # noqa: C901, PLR0911, PLR0912 (the hot path: a call a check would cost a tenth of all time)
        """What pairs hold, if each field is one of these and stands once; nothing is said of the ids and answers."""
        if len(output) == 2:
            (first, checks), (second, reason) = output
            if first == "overall_reasoning":
                first, checks, second, reason = second, reason, first, checks
            if second != "overall_reasoning" or type(reason) is not str:
                return None
        elif len(output) == 1:
            ((first, checks),) = output
        else:
            return None
        if first != "checks" or type(checks) is not list:
            return None
        field, kind = self.field, self.kind
        given: list[Any] = []
        add = given.append
        for check in checks:
            if type(check) is not tuple:
                return None
            if len(check) == 3:
                (first, name), (second, answer), (third, reason) = check
                if third != "reasoning":
                    second, answer, third, reason = third, reason, second, answer
                    if third != "reasoning":
                        return None
                if type(reason) is not str:
                    return None
            elif len(check) == 2:
                (first, name), (second, answer) = check
            else:
                return None
            if first != "id" or second != field or type(answer) is not kind or type(name) is not str:
                return None
            add(name)
            add(answer)
        return tuple(given)

    def _read_holistic(self, output: _Pairs) -> Given | None:
        fields = dict(output)
        answer, reason = fields.get("score"), fields.get("reasoning", "")
        if (
            len(fields) != len(output)
            or fields.keys() - _HOLISTIC
            or type(answer) is not int
            or type(reason) is not str
        ):
            return None
        return (answer,)

    def learn(self, given: Given) -> _Known | None:
        """What was not met before; None when an id is missing, unknown or there twice, or an answer not allowed."""
        answers = given
        if self.rubric.shape is not Shape.HOLISTIC:
            found = dict(zip(given[::2], given[1::2], strict=True))
            if len(found) * 2 != len(given) or found.keys() != self.pieces.keys():
                return None
            answers = tuple(found[name] for name in self.pieces)
        pieces = [graded.get(answer) for graded, answer in zip(self.pieces.values(), answers, strict=True)]
        if None in pieces:
            return None
        points = sum(piece.points for piece in pieces if piece)
        verdict = self.rubric.verdict(points, gates_met=all(piece.gate_met for piece in pieces if piece))
        criteria = ", ".join(piece.text for piece in pieces if piece)
        score = points / self.rubric.full  # of integers, so it is the nearest float as well
        text = f'{self.head}{score!r}, "verdict": "{verdict}", "criteria": [{criteria}]'
        known = self.known[given] = _Known(answers, text)
        return known


class Shortcut:
    """Scores entries that are in order, and counts their answers."""

    def __init__(self, rubrics: Mapping[str, ScoringRubric]) -> None:
        self._paths = {name: _Path(rubric) for name, rubric in rubrics.items()}
        self._only = next(iter(self._paths.values())) if len(rubrics) == 1 else None

    def score(self, entry: bytes) -> str | None:
        """The result as a line of JSON; None when the slow way has to decide."""
        try:
            text = entry.decode()
            top, end = _read(text, 0)
            if type(top) is not tuple or (end != len(text) and text[end:].strip(_BLANK)):
                return None
            head, rest, output, path = self._open(top)
            given = path.read(output) if path and type(output) is tuple else None
        except (ValueError, RecursionError, StopIteration):  # not UTF-8, not JSON, a number of thousands of digits, ...
            return None
        known = given and path and (path.known.get(given) or path.learn(given))
        if not known:
            return None
        known.count += 1
        return f"{head}{known.text}{rest}}}"

    def _open(self, top: _Pairs) -> tuple[str, str, Any, _Path | None]:
        """What stands before a result and behind it, the output, and the way that it goes.

        Raises:
            ValueError: for a record that is not in order.
        """
        if len(top) == 2:  # the commonest record
            (first, name), (second, output) = top
            if first == "id" and second == "output" and type(name) is str:
                return f'{{"id": {_quote(name)}, ', "", _read_raw(output) if type(output) is str else output, self._only
        record = dict(top)
        if "output" not in record:
            return "{", "", top, self._only
        if len(record) != len(top):
            raise ValueError
        head, rest, output, path = "{", "", record["output"], self._only
        for name, value in top:
            if name == "id":
                head = f'{{"id": {_quote(value) if type(value) is str else _render(value)}, '
            elif name == "rubric":
                path = self._paths.get(value) if type(value) is str else None
            elif name in RESERVED:
                raise ValueError
            elif name != "output":
                rest += f", {_quote(name)}: {_render(value)}"
        return head, rest, _read_raw(output) if type(output) is str else output, path

    @property
    def is_full(self) -> bool:
        """Whether so many outputs are remembered that they should be taken."""
        return sum(len(path.known) for path in self._paths.values()) > _MOST_REMEMBERED

    def take_tallies(self) -> Iterator[Tally]:
        """What was counted since the last time; it is forgotten with that."""
        for path in self._paths.values():
            for known in path.known.values():
                yield Tally(path.rubric, known.answers, known.count)
            path.known.clear()


def _render_pieces(criterion: ScoringCriterion) -> dict[Answer, _Piece]:
    return {
        grade.answer: _Piece(
            grade.points,
            grade.gate_met,
            json.dumps(CriterionResult(criterion, grade).to_json(), ensure_ascii=False),
        )
        for grade in criterion.grades
    }


def _read_raw(text: str) -> Any:
    """The pairs of a text that is nothing but one object, perhaps in a fence."""
    body = text.strip(_BLANK)
    if body.endswith("```"):
        body = body.removeprefix("```json").removeprefix("```").removesuffix("```").strip(_BLANK)
    value, end = _read(body, 0)
    return value if end == len(body) else None


def _render(value: Any) -> str:
    """A value as the slow way writes it; ValueError for one that JSON does not have, or that has a key twice."""
    kind = type(value)
    if kind is str:
        return _quote(value)
    if kind is int and len(text := str(value)) <= MOST_DIGITS:
        return text
    if kind is float:
        return repr(value)
    if kind is list:
        return f"[{', '.join([_render(item) for item in value])}]"
    if kind is tuple and len(dict(value)) == len(value):
        return f"{{{', '.join([f'{_quote(name)}: {_render(item)}' for name, item in value])}}}"
    if value is None or kind is bool:
        return _CONSTANTS[value]
    raise ValueError
