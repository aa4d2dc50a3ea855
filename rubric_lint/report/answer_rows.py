"""Pack every answer of a run into blocks for the script of the HTML report, in bounded memory.

A page with a row in HTML for each answer would take minutes to open. The blocks hold columns of numbers and the ids,
compressed; the records themselves follow in blocks of their own, which the script unpacks when it shows one.
`report.js` reads what this module writes; no character of a foreign text is in the page as it is.
"""

import json
import struct
import sys
import zlib
from array import array
from base64 import b64encode
from collections.abc import Iterator, Sequence
from fractions import Fraction
from tempfile import SpooledTemporaryFile
from typing import Any

from rubric_lint.agree.runs import NOWHERE, OtherRun
from rubric_lint.report.markup import name_id
from rubric_lint.scoring.grading import AnswerValue, ScoringRubric, Verdict
from rubric_lint.scoring.output import Known
from rubric_lint.scoring.scorer import Outcome

_MOST_ROWS = 8192
"""The most answers in a block."""

_LEVEL = 3
"""The level of compression: a higher one takes twice the time for a tenth of the size."""

_TEXT_BLOCK = 1 << 18
"""The number of bytes of records in a block."""

MOST_TEXT = 48 << 20
"""The most characters that the records take in the page; a browser opens a page with more too slowly."""

_IN_MEMORY = 4 << 20
_CODES = {Verdict.FAIL: 0, Verdict.BORDERLINE: 1, Verdict.PASS: 2}
_INVALID, _ABSENT = 3, 4
_NO_RUBRIC = 0xFFFFFFFF
_MOST_SAMPLED = 20_000


class Records:
    """The texts of records, packed into script elements of one kind as they arrive; `rows` counts those in the page."""

    def __init__(self, kind: str, most: int = MOST_TEXT) -> None:
        self.rows = 0
        self._kind, self._left = kind, most
        self._waiting: list[bytes] = []
        self._size = 0
        self._spool = SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="ascii", newline="\n")  # noqa: SIM115

    def add(self, texts: Sequence[bytes]) -> None:
        """Add the text of some records, a line for each; after the limit there is none for any."""
        if self._left <= 0:
            return
        self._waiting += [text.replace(b"\n", b" ").replace(b"\r", b" ") for text in texts]
        self._size += sum(map(len, texts))
        if self._size >= _TEXT_BLOCK:
            self._flush()

    def _flush(self) -> None:
        packed = _pack(b"\n".join(self._waiting))
        self._left = self._left - len(packed) if len(packed) <= self._left else 0
        if self._left:
            rows = f'data-from="{self.rows}" data-rows="{len(self._waiting)}"'
            self._spool.write(f'<script type="text/x-{self._kind}" {rows}>{packed}</script>\n')
            self.rows += len(self._waiting)
        self._waiting, self._size = [], 0

    def finish(self) -> None:
        """Pack the last records; `rows` is complete then."""
        if self._waiting:
            self._flush()

    def read(self) -> Iterator[str]:
        """Yield what was packed; afterwards nothing is left of it."""
        yield from _read_spool(self._spool)

    def close(self) -> None:
        """Remove what was packed."""
        self._spool.close()


def _read_spool(spool: Any) -> Iterator[str]:
    """Yield what was written to a temporary file, and remove it."""
    spool.seek(0)
    while part := spool.read(1 << 20):
        yield part
    spool.close()


class AnswerRows:
    """A collector of all answers in order; `rows` counts them."""

    def __init__(self, rubrics: Sequence[ScoringRubric], other: OtherRun | None = None) -> None:
        self.rows = 0
        self.files: list[tuple[str, int]] = []
        self._other = other
        self._rubrics = {rubric.name: place for place, rubric in enumerate(rubrics)}
        self._places = [
            [{grade.answer: place for place, grade in enumerate(criterion.grades)} for criterion in rubric.criteria]
            for rubric in rubrics
        ]
        self._kinds = 0
        self._sampled: dict[tuple[Any, ...], int] = {}
        self._spool = SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="ascii", newline="\n")  # noqa: SIM115
        self._start()

    def _start(self) -> None:
        """Begin an empty block."""
        self._line = 0
        self._ids: list[str | None] = []
        self._of_json: list[int] = []  # the rows whose id is not a string, but the JSON of one
        self._errors: dict[int, tuple[str, str]] = {}
        self._of_rows, self._lines = array("I"), array("i")
        self._others, self._other_records = array("I"), array("I")
        self._scores, self._kind_rubrics = array("d"), array("I")
        self._shown, self._verdicts, self._answers = array("H"), array("H"), array("H")

    def add_known(self, found: Sequence[tuple[Any, Known]], line: int, file: str | None) -> None:
        """Add results on consecutive lines."""
        self._begin_file(file)
        for name, known in found:
            if known.number < 0:
                score = Fraction(known.points, known.rubric.full)
                known.number = self._add_kind(known.rubric.name, score, _CODES[known.verdict], known.answers)
            other = self._other.match(known.rubric.name, name, known) if self._other else NOWHERE
            self._add(name, known.number, line, other)
            line += 1

    def add_outcome(self, outcome: Outcome) -> None:
        """Add a full outcome: an invalid one, or one of several samples."""
        self._begin_file(outcome.file)
        result, name = outcome.result, outcome.head.get("id")
        other = self._other.match(outcome.name, name, result) if self._other else NOWHERE
        if result:
            answers = tuple(each.grade.answer for each in result.criteria)
            key = result.rubric.name, result.score, result.verdict, answers
            if len(self._sampled) > _MOST_SAMPLED:
                self._sampled.clear()
            kind = self._sampled.get(key)
            if kind is None:
                kind = self._add_kind(result.rubric.name, result.score, _CODES[result.verdict], answers)
                self._sampled[key] = kind
        else:
            kind = self._add_kind(outcome.name, Fraction(0), _INVALID, ())
            error = outcome.error
            self._errors[len(self._ids)] = (error.path, error.message) if error else ("", "")
        self._add(name, kind, outcome.line, other)

    def _begin_file(self, file: str | None) -> None:
        if not self.files or self.files[-1][0] != (file or ""):
            self.files.append((file or "", self.rows))

    def _add_kind(self, rubric: str | None, score: Fraction, verdict: int, answers: Sequence[AnswerValue]) -> int:
        """Add a combination of answers with its result, which rows refer to by number."""
        place = self._rubrics.get(rubric or "", _NO_RUBRIC)
        self._kind_rubrics.append(place)
        self._scores.append(float(score))
        self._shown.append(int(f"{float(score):.3f}".replace(".", "")))
        self._verdicts.append(verdict)
        if answers:
            self._answers.extend([places[answer] for places, answer in zip(self._places[place], answers, strict=True)])
        self._kinds += 1
        return self._kinds - 1

    def _add(self, name: Any, kind: int, line: int, other: tuple[int, int]) -> None:
        if not (name is None or isinstance(name, str)):
            self._of_json.append(len(self._ids))
            name = name_id(name)
        self._ids.append(name)
        self._of_rows.append(kind)
        self._lines.append(max(min(line - self._line, 0x7FFFFFFF), -0x80000000))
        self._line = line
        self._others.append(other[0])
        self._other_records.append(other[1])
        self.rows += 1
        if len(self._ids) >= _MOST_ROWS:
            self._flush_rows()

    def _flush_rows(self) -> None:
        if not self._ids:
            return
        extra = json.dumps({"ids": self._ids, "json": self._of_json, "errors": self._errors}).encode()
        sizes = len(self._ids), len(self._scores), len(self._answers), len(extra)
        columns = (
            *(self._scores, self._of_rows, self._lines, self._others, self._other_records),
            *(self._kind_rubrics, self._shown, self._verdicts, self._answers),
        )
        block = b"".join([struct.pack("<4I", *sizes), *map(_as_bytes, columns), extra])
        self._spool.write(f'<script type="text/x-answers">{_pack(block)}</script>\n')
        self._start()

    def finish(self) -> int:
        """Write the last block, and a row for each answer that only the other run has; return their number."""
        rows = self.rows
        if self._other:
            kind = self._add_kind(None, Fraction(0), _ABSENT, ())
            for name, *other in self._other.unmatched():
                self._add(name, kind, 0, (other[0], other[1]))
        self._flush_rows()
        found, self.rows = self.rows - rows, rows
        return found

    def read(self) -> Iterator[str]:
        """Yield what was written, as script elements that no browser runs; afterwards nothing is left of it."""
        yield from _read_spool(self._spool)

    def close(self) -> None:
        """Remove what was written."""
        self._spool.close()

    def describe_others(self) -> str:
        """Return the results of the other run as a script element: one for each different result."""
        if not self._other:
            return ""
        kinds = self._other.known.kinds
        data = {
            "scores": [float(kind.score) for kind in kinds],
            "shown": [int(f"{float(kind.score):.3f}".replace(".", "")) for kind in kinds],
            "verdicts": [_CODES[kind.verdict] for kind in kinds],
            "rubrics": [kind.rubric for kind in kinds],
            "answers": [kind.answers for kind in kinds],
        }
        return f'<script type="text/x-others">{_pack(json.dumps(data).encode())}</script>\n'


def _as_bytes(column: Any) -> bytes:
    """Return the bytes of an array, little-endian as browsers have them."""
    if sys.byteorder == "big":
        column.byteswap()
    data: bytes = column.tobytes()
    return data


def _pack(data: bytes) -> str:
    return b64encode(zlib.compress(data, _LEVEL)).decode("ascii")


def as_data(value: Any) -> str:
    """Return JSON that can stand in a script element: ASCII, without `<`."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
