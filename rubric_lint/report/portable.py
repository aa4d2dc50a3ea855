"""What all formats for programs have in common: JSON that every reader takes, and where something stands."""

from __future__ import annotations

from typing import Any, NamedTuple

from rubric_lint.source import Source, Span


class Range(NamedTuple):
    """A span as lines and columns, 1-based and in code points; `end_column` is the first one behind it."""

    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, source: Source, span: Span) -> Range:
        """Where a span stands."""
        start, end = source.position(span.start), source.position(span.end)
        return cls(start.line, start.column, end.line, end.column)


def dump(value: object, **style: Any) -> str:
    """JSON in ASCII, so that every encoding of standard output carries it."""
    import json  # noqa: PLC0415  (formats for people do without)

    # `##[` and `##vso[` are commands of CI systems wherever they stand in a log.
    return json.dumps(value, **style).replace("##", r"#\u0023")


def whole(text: str) -> str:
    """The text without lone surrogates, which JSON readers refuse: files can escape them, file names hold them."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
