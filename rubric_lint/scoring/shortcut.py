"""The fast way from an entry to its result, for what is plainly in order; all else goes the slow way.

msgspec reads an output into the very fields and types that are expected, in a fraction of the time that the standard
library needs; but it keeps the last of two equal keys in silence, so the quotes of the text are counted beside those of
what was read. What answers come to is remembered as text.
"""

import json
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring as _quote
from typing import Any, NamedTuple

from rubric_lint.criterion import Shape
from rubric_lint.scoring.blanks import BLANK, JSON_BLANK
from rubric_lint.scoring.candidates import Extract, read_quotable, squeeze
from rubric_lint.scoring.extract import MOST_DIGITS, OutputError
from rubric_lint.scoring.grading import Answer, CriterionResult, ScoringCriterion, ScoringRubric, Verdict
from rubric_lint.scoring.ids import make_key
from rubric_lint.scoring.output import form_of
from rubric_lint.scoring.records import RESERVED, SHOWN, read_judged_by

try:
    from msgspec import MsgspecError, Raw, ValidationError, defstruct, field
    from msgspec.json import Decoder
except ImportError:  # it is compiled, and not for every system; the slow way then does everything
    IS_OPEN = False
else:
    IS_OPEN = True
    _read = Decoder().decode
    _read_record = Decoder(dict[str, Raw]).decode

_CONSTANTS = {None: "null", True: "true", False: "false"}
_QUOTE, _BACKSLASH = b'"\\'  # as numbers: searched for as bytes, they would be taken for numbers first, and refused
_EXACT = 1e15
"""Below it, a double is what was written to the last digit that is printed."""

_MEANINGS = ("judge", "rubric_hash")
_TAKEN = ("id", "rubric", "rubric_hash")
"""The fields that say by which meaning a record was judged, and those that a result does not carry through."""

_MOST_REMEMBERED = 20_000

Answers = tuple[Answer, ...]
"""The answers of an output, in the rubric's order."""


class Tally(NamedTuple):
    """How often a rubric got these answers."""

    rubric: ScoringRubric
    answers: Answers
    times: int


class _Piece(NamedTuple):
    """An answer to one criterion: what it is worth, and its part of the result as text."""

    points: int
    gate_met: bool
    text: str


class Worth(NamedTuple):
    """What a result comes to, without its parts; the score is `points` of `full`."""

    verdict: Verdict
    points: int
    full: int


class _Known:
    """What answers come to: their result as text, and how often they were met."""

    __slots__ = ("count", "text", "worth")

    def __init__(self, text: str, worth: Worth) -> None:
        self.text = text
        self.worth = worth
        self.count = 0


class _Path:
    """The fast way for one rubric. `decode` reads an output, or what a judge wrote as text."""

    def __init__(self, rubric: ScoringRubric, extract: Extract) -> None:
        self.rubric = rubric
        self.unwrap = _unwrap if extract is Extract.STANDARD else _strip
        output = _output_type(rubric.shape) | str
        self.decode = Decoder(output).decode
        self.decode_record = Decoder(_define("Record", ("id", str), ("output", output))).decode
        self.ids = [criterion.id for criterion in rubric.criteria]
        self.known: dict[Answers, _Known] = {}
        self.pieces = [_render_pieces(criterion) for criterion in rubric.criteria]
        self.head = (
            f'"rubric": {_quote(rubric.name)}, "rubric_hash": "{rubric.hash}", "shape": "{rubric.shape}", "score": '
        )
        self.read = self._read_holistic if rubric.shape is Shape.HOLISTIC else self._read_checks

    def find(self, output: Any, quotes: int, shown: str = "") -> _Known | None:
        """What an output comes to, if each of its keys stands once: then it has so many `quotes`.

        A raw text is left to the slow way where it might be a quote of what the judge was shown.
        """
        if type(output) is str and quotes == 2:
            found = self.unwrap(output)
            if shown and squeeze(found) in squeeze(shown):
                return None
            text = found.encode()
            output, quotes = self.decode(text), _count_quotes(text)
        answers = None if type(output) is str else self.read(output, quotes)
        if answers is None:
            return None
        known = self.known.get(answers) or self.learn(answers)
        if known:
            known.count += 1
        return known

    def _read_checks(self, output: Any, quotes: int) -> Answers | None:
        """The answers of an output that has these ids, and each key once; whether they are allowed is not known."""
        ids = []
        answers = []
        texts = 1 if output.overall_reasoning is None else 3
        for check in output.checks:
            ids.append(check.id)
            answers.append(check.answer)
            texts += 3 if check.reasoning is None else 5
        if quotes != 2 * texts:
            return None
        if ids != self.ids:
            found = dict(zip(ids, answers, strict=True))
            if len(found) != len(ids) or found.keys() != set(self.ids):
                return None
            answers = [found[name] for name in self.ids]
        return tuple(answers)

    def _read_holistic(self, output: Any, quotes: int) -> Answers | None:
        return (output.score,) if quotes == (2 if output.reasoning is None else 6) else None

    def learn(self, answers: Answers) -> _Known | None:
        """What answers come to that were not met before; None when one is not allowed."""
        pieces = [graded.get(answer) for graded, answer in zip(self.pieces, answers, strict=True)]
        if None in pieces:
            return None
        points = sum(piece.points for piece in pieces if piece)
        verdict = self.rubric.verdict(points, gates_met=all(piece.gate_met for piece in pieces if piece))
        criteria = ", ".join(piece.text for piece in pieces if piece)
        score = points / self.rubric.full  # of integers, so it is the nearest float as well
        text = f'{self.head}{score!r}, "verdict": "{verdict}", "criteria": [{criteria}]'
        known = _Known(text, Worth(verdict, points, self.rubric.full))
        self.known[answers] = known
        return known


class Shortcut:
    """Scores entries that are in order, and counts their answers."""

    def __init__(self, rubrics: Mapping[str, ScoringRubric], extract: Extract = Extract.STANDARD) -> None:
        self._paths = {name: _Path(rubric, extract) for name, rubric in rubrics.items()} if IS_OPEN else {}
        self.worth = Worth(Verdict.FAIL, 0, 1)
        self._name = next(iter(rubrics), "")
        self._only: Any = next(iter(self._paths.values())) if len(self._paths) == 1 else None

    worth: Worth
    """What the last result comes to that `score` returned."""

    key: int | None = None
    """What stands for the id of the record that was scored last, None where it has none."""

    def score(self, entry: bytes | OutputError) -> str | None:
        """The result as a line of JSON; None when the slow way has to decide."""
        if not self._paths:
            return None
        try:
            return self._score_usual(entry) if self._only else self._score_any(entry)
        except (MsgspecError, ValueError, LookupError, TypeError, RecursionError):
            return (
                None  # refused, not UTF-8, a rubric that there is not, a key of a result, nested a thousand times, ...
            )

    def _score_usual(self, entry: Any) -> str | None:
        """The result where an entry is most likely a record with nothing but a text as `id` and the output."""
        try:
            record = self._only.decode_record(entry)
        except ValidationError:
            return self._score_any(entry)
        self.key = hash((self._name, record.id))  # as make_key
        known = self._only.find(record.output, _count_quotes(entry) - 6)
        if known is None:
            return None
        self.worth = known.worth
        return f'{{"id": {_quote(record.id)}, {known.text}}}'

    def _score_any(self, entry: Any) -> str | None:
        """The result of any record, or of an output that is in none."""
        record = _read_record(entry)
        head, rest, path, texts, output = "{", "", self._only, 0, record.get("output")
        self.key = None
        if output is not None:
            head, rest, path, texts = self._open(record)
        if path is None:
            return None
        if "id" in record:
            self.key = make_key(path.rubric.name, _read(record["id"]))
        read = path.decode(entry if output is None else output)
        shown = ""
        if type(read) is str and output is not None:
            shown = read_quotable(*[_read(record[name]) for name in SHOWN if name in record])
        known = path.find(read, _count_quotes(entry) - 2 * texts, shown)
        if known is None:
            return None
        self.worth = known.worth
        return f"{head}{known.text}{rest}}}"

    def _open(self, record: "dict[str, Raw]") -> tuple[str, str, _Path | None, int]:
        """What stands before a result and behind it, the way that it goes, and how many texts are around the output.

        Raises:
            MsgspecError, ValueError, LookupError, TypeError: for a record that is not in order.
        """
        head, rest, path = "{", "", self._only
        texts = len(record)
        values: dict[str, Any] = {}
        for name, raw in record.items():
            if name == "output":
                continue
            value = _read(raw)
            texts += 1 if type(value) is str else _count_texts(value)
            if name == "id":
                head = f'{{"id": {_render(value)}, '
            elif name == "rubric":
                path = self._paths[value]
            elif name in _MEANINGS:
                values[name] = value
            elif name in RESERVED or name == "outputs":
                raise ValueError
            if name not in _TAKEN:
                rest += f", {_quote(name)}: {_render(value)}"
        if values and path and read_judged_by(values) not in (None, path.rubric.hash):
            raise ValueError
        if type(judge := values.get("judge")) is dict and type(judge.get("fault")) is str:
            raise ValueError
        return head, rest, path, texts

    @property
    def is_full(self) -> bool:
        """Whether so many outputs are remembered that they should be taken."""
        return sum(len(path.known) for path in self._paths.values()) > _MOST_REMEMBERED

    def take_tallies(self) -> Iterator[Tally]:
        """What was counted since the last time; it is forgotten with that."""
        for path in self._paths.values():
            for answers, known in path.known.items():
                yield Tally(path.rubric, answers, known.count)
            path.known.clear()


def _define(name: str, *fields: Any) -> Any:
    return defstruct(name, fields, forbid_unknown_fields=True, gc=False)


def _output_type(shape: Shape) -> Any:
    """What a judge output has by the shape of its rubric: these fields and types, and no others."""
    reason = (str | None, None)
    if shape is Shape.HOLISTIC:
        return _define("Output", ("score", int), ("reasoning", *reason))
    kind = bool if shape is Shape.CHECKLIST else int
    check = _define("Check", ("id", str), ("answer", kind, field(name=form_of(shape).field)), ("reasoning", *reason))
    return _define("Output", ("checks", list[check]), ("overall_reasoning", *reason))  # type: ignore[valid-type]


def _render_pieces(criterion: ScoringCriterion) -> dict[Answer, _Piece]:
    return {
        grade.answer: _Piece(
            grade.points,
            grade.gate_met,
            json.dumps(CriterionResult(criterion, grade).to_json(), ensure_ascii=False),
        )
        for grade in criterion.grades
    }


def _count_texts(value: Any) -> int:
    """How many texts a value is made of, keys and values."""
    kind = type(value)
    if kind is str:
        return 1
    if kind is dict:
        return len(value) + sum(map(_count_texts, value.values()))
    return sum(map(_count_texts, value)) if kind is list else 0


def _count_quotes(text: bytes) -> int:
    """How many quotes begin or end a text in JSON."""
    if _BACKSLASH not in text:
        return text.count(_QUOTE)
    rest = text.replace(b"\\\\", b"")
    return rest.count(_QUOTE) - rest.count(b'\\"')


def _unwrap(text: str) -> str:
    """The content of a fence, if the text as a whole is one."""
    body = text.strip(BLANK)
    if not body.endswith("```"):
        return body
    return body[8:-3] if body.startswith("```json\n") else body[4:-3] if body.startswith("```\n") else body


def _strip(text: str) -> str:
    return text.strip(JSON_BLANK)


def _render(value: Any) -> str:
    """A value as the slow way writes it.

    Raises:
        ValueError: for a number that may not be what was written.
    """
    kind = type(value)
    if kind is str:
        return _quote(value)
    if kind is int and len(text := str(value)) <= MOST_DIGITS:
        return text
    if kind is float and abs(value) < _EXACT:
        return repr(value)
    if kind is list:
        return f"[{', '.join([_render(item) for item in value])}]"
    if kind is dict:
        return f"{{{', '.join([f'{_quote(name)}: {_render(item)}' for name, item in value.items()])}}}"
    if value is None or kind is bool:
        return _CONSTANTS[value]
    raise ValueError
