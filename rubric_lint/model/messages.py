"""Format messages: lists, numbers and values as text, near-matches of names, and text that is safe to print."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any
from unicodedata import category

if TYPE_CHECKING:
    from fractions import Fraction

HOME = "https://rubric-lint.github.io/"
"""The address of the site, below which schemas and the pages of rules are."""


class UserError(Exception):
    """An error in what a user gave, such as a file or a setting: a command prints `lines` and exits with 2."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def name_scores(scores: Iterable[int]) -> str:
    """Write scores in words, with ranges joined: `score 3`, `scores 3 and 4`, `scores 0 to 2, 5 and 10`."""
    ordered = sorted(scores)
    return f"{pluralize(len(ordered), 'score')} {list_scores(ordered)}"


def list_scores(scores: Iterable[int]) -> str:
    """Write scores without the noun: `3 and 4`."""
    runs: list[list[int]] = []
    for score in sorted(scores):
        step = 1 if isinstance(score, int) else 0.01  # of a scale with a decimal point
        if runs and round(score - runs[-1][-1], 3) == step:
            runs[-1].append(score)
        else:
            runs.append([score])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(score) for score in run]
    return join_words(parts)


def join_words(words: Sequence[str], conjunction: str = "and") -> str:
    """Join words: `a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


class Causes:
    """Errors, counted by cause: numbers and what is quoted may differ; `firsts` has the first message of each."""

    def __init__(self, messages: Iterable[str] = ()) -> None:
        self.counts: Counter[str] = Counter()
        self.firsts: dict[str, str] = {}
        self._varying: set[str] = set()
        for message in messages:
            self.add(message)

    def add(self, message: str) -> tuple[str, str]:
        """Count an error; return its cause, and the message without the number of further errors in its output."""
        message = _OTHERS.sub("", message)
        cause = find_cause(message)
        self.counts[cause] += 1
        if self.firsts.setdefault(cause, message) != message:
            self._varying.add(cause)
        return cause, message

    def word(self, most: int = 3) -> str:
        """Return the commonest causes, each with its number and its first message, and how many errors are left."""
        named = self.counts.most_common(most)
        causes = []
        for cause, count in named:
            times = f"{count:,} times" if count > 1 else "once"
            if cause in self._varying:
                times += ", also with other names or values"
            causes.append(f"{self.firsts[cause]} ({times})")
        others = self.counts.total() - sum(count for _, count in named)
        if others:
            causes.append(f"{others:,} with other errors")
        return join_words(causes)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the causes as in JSON reports, the commonest first."""
        return [{"message": self.firsts[cause], "outputs": count} for cause, count in self.counts.most_common()]


def find_cause(message: str) -> str:
    """Return the cause of an error: its message without what may differ between errors of one cause."""
    return _VARYING.sub("#", _OTHERS.sub("", message))


_VARYING = re.compile(r'"[^"]*"|`[^`]*`|[0-9]+')
"""Matches the parts that may differ between errors of one cause."""

_OTHERS = re.compile(r" \(and [0-9]+ more errors?\)\Z")
"""Matches the number of further errors in one output."""


def quote_names(names: Iterable[str], conjunction: str = "and") -> str:
    """List all names, those that are long cut: "`a`, `b` and `c`"."""
    return join_words([f"`{shorten(name)}`" for name in names], conjunction)


def list_names(names: Collection[str], most: int = 5) -> str:
    """List the first names and the number of others: "`a`, `b` and 3 more"."""
    return join_first([f"`{name}`" for name in names], most)


def join_first(words: Sequence[str], most: int, conjunction: str = "and") -> str:
    """Join the first words and the number of the others: `a, b and 3 more`."""
    left = len(words) - most
    if left > 0:
        words = [*words[:most], f"{left:,} more"]
    return join_words(words, conjunction)


def percent(part: "Fraction") -> str:
    """Write a part of 1 in percent with one decimal, or none if that is exact: `66.7%`, `50%`."""
    return f"{float(part) * 100:.{int((part * 100).denominator > 1)}f}%"


_LINE_ENDS = str.maketrans({"\n": "\\n", "\r": "\\r"})


def shorten(text: str, most: int = 40) -> str:
    """Shorten a quoted text to `most` characters, with line ends as escapes."""
    shown = text[: most + 1].translate(_LINE_ENDS)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def describe(value: Any, written: str) -> str:
    """Describe a value in a few words, with numbers as they are written."""
    match value:
        case None:
            return "empty"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return shorten(written or str(value))
        case str():
            return f'the string "{shorten(value)}"'
        case list():
            return "a list"
        case _:
            return "a mapping"


def write_number(number: float) -> str:
    """Write a number shortly: a float with at most six digits, and the start of a long integer."""
    written = f"{number:g}" if isinstance(number, float) else str(number)
    return shorten(written)


def describe_infinite(value: float) -> str:
    """Describe a float that is not a finite number."""
    return "infinite or too large to read" if value in (inf, -inf) else "not a number"


_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}


def list_types(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a schema names, whether it names one, several or none."""
    types: str | list[str] = schema.get("type", [])
    if isinstance(types, str):
        return [types]
    return types


def expected_of(schema: Mapping[str, Any]) -> str:
    """Describe the values that a schema expects, in its own words or by type and range."""
    if "x-expected" in schema:
        return str(schema["x-expected"])
    described = " or ".join(_TYPES[name] for name in list_types(schema))
    if "minimum" in schema and "maximum" in schema:
        described += f" from {schema['minimum']} to {schema['maximum']}"
    return described


def visible(text: str) -> str:
    r"""Escape `text` for printing on a terminal and in the log of a CI system.

    Control, bidirectional and other invisible characters become escapes, such as `\x1b` and `\u202e`, and so does one
    character of each marker that makes a CI system run a log line as a command.
    """
    if not text.isprintable():
        text = _escape(text, _escape_unicode)
    return re.sub(_COMMAND, _disarm, text) if "::" in text or "##" in text else text


# GitHub obeys `::` at the start of a line, and `##[` anywhere in it, as Azure Pipelines does `##vso[`.
_COMMAND = r"(?m)^(?P<start>[^\S\r\n]*+):(?=:)|#(?P<mark>#)(?=\[|vso\[)"


def visible_json(line: str) -> str:
    """Escape a line of JSON for printing: the characters that `visible` escapes, as JSON escapes."""
    if not line.replace("\n", "").isprintable():
        import json  # noqa: PLC0415  (few lines need it)

        line = _escape(line, lambda char: json.dumps(char)[1:-1], kept="\n")
    return re.sub(_MARK, r"#\\u0023", line) if "##" in line else line


def render_report(report: Any) -> str:
    """Return a report as JSON with a line for each value, as `visible_json` does."""
    import json  # noqa: PLC0415  (few runs need it)

    data = to_data(report)
    try:
        from msgspec.json import format as indent  # noqa: PLC0415  (eight times as fast as json with an indent)
    except ImportError:  # it is compiled, and not for every system
        return visible_json(json.dumps(data, ensure_ascii=False, indent=1)) + "\n"
    text = json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return visible_json(indent(text, indent=1).decode("utf-8", "surrogatepass")) + "\n"


def visible_yaml(text: str) -> str:
    """Escape YAML for printing; every character that `visible` escapes must be in double quotes."""
    if not text.replace("\n", "").isprintable():
        text = _escape(text, _escape_unicode, kept="\n")
    return re.sub(_MARK, r"#\\x23", text) if "##" in text else text


_MARK = r"##(?=\[|vso\[)"


def _disarm(found: re.Match[str]) -> str:
    return r"#\x23" if found["mark"] else found["start"] + r"\x3a"


def is_obeyed(line: str) -> bool:
    """Return whether a CI system would run a log line, or a part of it, as a command."""
    return re.search(_COMMAND, line) is not None


def whole(text: str) -> str:
    """Replace lone surrogates, which JSON readers refuse; escapes and file names can contain them."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def make_whole(value: Any) -> Any:
    """Return JSON data whose strings every JSON reader accepts."""
    match value:
        case str():
            return whole(value)
        case list():
            return [make_whole(item) for item in value]
        case dict():
            return {make_whole(key): make_whole(item) for key, item in value.items()}
    return value


def to_data(value: Any) -> Any:
    """Return a value as in JSON reports: all fields of a dataclass or a named tuple, or what its `to_json` says.

    A fraction is the nearest double.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if hasattr(value, "denominator"):  # a fraction
        return float(value)
    if hasattr(value, "to_json"):
        value = value.to_json()
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return fields_to_data(value)
    return [to_data(item) for item in value] if isinstance(value, list | tuple) else value


def fields_to_data(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with these fields as in JSON reports."""
    return {name: to_data(value) for name, value in values.items()}


def _escape(text: str, escape: Callable[[str], str], kept: str = "") -> str:
    """Escape the characters that nobody sees, but those that are `kept`."""
    return text.translate({ord(char): escape(char) for char in {*text}.difference(kept) if _unseen(char)})


def _escape_unicode(char: str) -> str:
    return char.encode("unicode_escape").decode()


def _unseen(char: str) -> bool:
    kind = category(char)
    return kind in {"Cc", "Cs", "Zl", "Zp"} or (
        kind == "Cf" and char not in {"\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}"}
    )


_HUMP = r"(?<=[a-z0-9])(?=[A-Z])"
_LEAST = 0.8


def find_near(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are a typing error or another spelling away from `name`, the nearest first."""
    words = tuple(known)
    if len(words) < _MANY:
        return list(_find_near(name, words))
    return list(_find_near.__wrapped__(name, words))


_MANY = 100


@lru_cache(4096)  # a file has the same few fields again and again
def _find_near(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    spelt = _fold(re.sub(_HUMP, "_", name).replace(" ", "_"))
    ratios = ((_compare(spelt, _fold(word)), word) for word in known)
    near = sorted((item for item in ratios if item[0] >= _LEAST), key=lambda item: (-item[0], item[1]))
    # An exact match in another spelling is certain.
    return tuple(word for ratio, word in near if ratio == near[0][0] or near[0][0] < 1)


def point_to_known(name: str, known: Collection[str]) -> str:
    """Return a hint for an unknown name: the name that it may mean, or else the known names."""
    # Side by side the two look the same, so "did you mean" would not help.
    alike = [word for word in known if unicodedata.normalize("NFC", word) == unicodedata.normalize("NFC", name)]
    if alike:
        return f"`{alike[0]}` looks the same but is made of other Unicode characters"
    near = find_near(name, known)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"there {pluralize(len(known), 'is', 'are')} {list_names(known)}"


@lru_cache(16_384)
def _compare(spelt: str, word: str) -> float:
    """Return the similarity of two names, or 0 if a quick test shows that it is too low."""
    total = len(spelt) + len(word)
    if 2 * min(len(spelt), len(word)) < _LEAST * total:
        return 0
    if 2 * sum(min(spelt.count(letter), word.count(letter)) for letter in set(word)) < _LEAST * total:
        return 0
    if _is_swapped(spelt, word):
        return 1 - 1 / total
    from difflib import SequenceMatcher  # noqa: PLC0415  (only misspelt names need it)

    return SequenceMatcher(None, spelt, word).ratio()


def _is_swapped(spelt: str, word: str) -> bool:
    """Return whether two neighboring letters are swapped and the rest is equal: one typing error."""
    differing = [at for at, (one, other) in enumerate(zip(spelt, word, strict=False)) if one != other]
    if len(spelt) != len(word) or len(differing) != 2:
        return False
    first, second = differing
    return second == first + 1 and spelt[first : second + 1] == word[second] + word[first]


@lru_cache(16_384)
def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).replace("-", "_").lower()


# Within a line; `_` or `#` inside a word, and `&` without an entity, are not markup.
_MARKUP = (
    r"[\\`*\[\]<|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?[A-Za-z0-9]+;)|(?<!\S)#|#(?!\S)|^(?:[-+>]|=+)(?=\s|$)"
)
_NUMBERED = r"^(\d+)([.)])(?=\s|$)"
# Forges turn these into links and mentions after they parse Markdown, whether or not a backslash precedes them.
_REFERENCE = r"@(?=\w)|[#!](?=\d)|(?i:\bGH-)(?=\d)|:(?=//)|(?i:\bwww)(?=\.)"
_BREAK = "&#8203;"


def escape(text: str) -> str:
    """Escape a text so that Markdown shows it unchanged, on one line, without mentions and links."""
    return "<br>".join(_escape_line(visible(" ".join(line.split()))) for line in text.split("\n"))


def _escape_line(line: str) -> str:
    escaped = re.sub(_MARKUP, r"\\\g<0>", line)
    escaped = re.sub(_NUMBERED, r"\1\\\2", escaped)
    return re.sub(_REFERENCE, rf"\g<0>{_BREAK}", escaped)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table whose cells show the texts unchanged."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(escape, row))} |"


def list_never_missed_values(gate: object, kind: str, *, is_falling: bool) -> dict[str, Any]:
    """Return the values of the message on a gate at the worst end of a scale, which falls if lower is better."""
    end, change = ("highest", "lower") if is_falling else ("lowest", "raise")
    return {"gate": str(gate), "end": end, "kind": kind, "change": change}


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 file`, `2,000 files`."""
    return f"{count:,} {pluralize(count, one, many)}"


def pluralize(count: int, one: str, many: str = "") -> str:
    """Return the form of a noun or verb for a count; without `many`, the plural is `one` with an s."""
    if count == 1:
        return one
    return many or f"{one}s"
