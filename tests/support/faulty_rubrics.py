"""Rubrics in which each criterion has one fault at most, written in every notation of YAML and JSON."""

from typing import NamedTuple

from styles import Styler, chances, write_json


class Faulty(NamedTuple):
    """A file: its name, its bytes, the criteria that it holds, and its comments."""

    name: str
    data: bytes
    criteria: list
    comments: list


OUTCOMES = (
    "Cites nothing",
    "Cites a blog: one",
    'Quotes "it"',
    "Zitiert zwei 🙂",
    "Cites two, both primary",
    "Cites it all",
)


def bands(*ranges):
    """A list of bands, each with an outcome of its own."""
    return [
        {"score_range": list(item), "expected_outcome": outcome}
        for item, outcome in zip(ranges, OUTCOMES[: len(ranges)], strict=True)
    ]


SOUND = ((0, 3), (4, 6), (7, 10))
LISTS = (
    SOUND,
    ((0, 3), (6, 10)),
    ((1, 3), (5, 6), (9, 9)),
    ((0, 3), (4, 8)),
    ((0, 5), (4, 10)),
    ((0, 5), (4, 7), (6, 10)),
    ((0, 3), (4, 10), (8, 10)),
    ((0, 3), (0, 10)),
    ((3, 0), (4, 10)),
    ((4, 10), (0, 3)),
)
"""Bands that are sound, or have gaps, overlaps or ends in the wrong order."""
MAPS = ((0, 4, 8), (2, 5, 8), (5, 0, 8))
"""The same by their lower ends: sound, from 2, unsorted."""


def _make_criterion(by, number):
    """A criterion with an id of its own and one fault at most."""
    criterion = {"id": f"c{number}"}
    match by.one_of("list", "list", "map", "gate", "empty", "number", "double", "none"):
        case "list":
            return criterion | {"score_ranges": bands(*by.one_of(*LISTS))}
        case "map":
            return criterion | {"score_ranges": dict(zip(by.one_of(*MAPS), OUTCOMES[:3], strict=True))}
        case "gate":
            ranges = by.one_of(bands(*SOUND), dict(zip((0, 4, 7), OUTCOMES[:3], strict=True)))
            return criterion | {"required_min_score": by.one_of(5, 9), "score_ranges": ranges}
        case "empty":
            ranges = bands(*SOUND)
            ranges[1]["expected_outcome"] = by.one_of("", " ", None)
            return criterion | {"score_ranges": ranges}
        case "number":
            criterion["id"] = by.one_of(*(7, 7.5, True))
        case "double":
            criterion["id"] = "c0"
        case "none":
            del criterion["id"]
    return criterion | {"score_ranges": bands(*SOUND)}


def _write(random):
    by = Styler(random)
    whole = [_make_criterion(by, number) for number in range(random.randint(1, 3))]
    form = by.one_of("yaml", "yaml", "yaml", "json", "jsonl")
    data = {"rubrics": whole}
    text = (
        by.finish(by.fields(data, 0)) if form == "yaml" else write_json(random, data, is_line=form == "jsonl").encode()
    )
    return Faulty(f"a.rubric.{form}", text, whole, by.comments)


faulty_rubrics = chances.map(_write)
"""Files with a rubric in which each criterion has one fault at most."""


DEEP = 30_000
BOMB = "x: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"x{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 12)
)
MERGES = f"x: &a {{{', '.join(f'k{key}: 1' for key in range(5000))}}}\nrubrics:\n" + "  - <<: *a\n" * 5000
# Text that is not YAML, or is more than anybody can mean: the text at the fault, and its line.
SYNTAX = {
    "Latin-1": (b"rubrics:\n  - caf\xe9\n", "�", 2),
    "NUL": ("rubrics:\n  - a\0b\n", "\0", 2),
    "a control character": ("rubrics:\n  - a\x07b\n", "\x07", 2),
    "a tab before a dash": ("rubrics:\n\t- a\n", "\t", 2),
    "a tab before a key": ("rubrics:\n  - id: a\n\t  expected_outcome: b\n", "\t", 3),
    "an unclosed double quote": ('rubrics:\n  - "a\n  - b\n', '"', 2),
    "an unclosed single quote": ("rubrics:\n  - 'a\n  - b\n", "'", 2),
    "an unclosed bracket": ("rubrics:\n  - id: [a\n", "[", 2),
    "a bracket at the end": ("rubrics:\n  - id: [", "[", 2),
    "a bracket in a bracket": ("rubrics:\n  - id: [[a], {b: [c],\n", "{", 2),
    "an unclosed pair": ("rubrics: [a: b\n", "[", 1),
    "an anchored bracket": ("rubrics: &a [b,\n", "[", 1),
    "an unclosed brace": ("rubrics:\n  - {id: a\n", "{", 2),
    "an endless version": (f"%YAML 1.{'1' * 5000}\n---\nrubrics: [a]\n", "%YAML", 1),
    "a bracket that the next key leaves open": ("rubrics: [a, b\n  c: d\ne: f\n", "[", 1),
    "a bracket left open later": ("x: 1\n---\nrubrics: [a\nother: b\n", "[", 3),
    "a bracket closed by a brace": ("rubrics: [a}\n", "}", 1),
    "a bracket too many": ("rubrics: [a]]\n", "]", 1),
    "a bracket behind the document": ("{rubrics: [a]}\n]\n", "]", 2),
    "a bracket for a value": ("rubrics: ]\n", "]", 1),
    "a key without a colon": ("rubrics:\n  - id: a\n    expected\n    weight: 1\n", "e", 3),
    "a colon in a text": ("rubrics:\n  - id: a: b\n", ":", 2),
    "a backtick": ("rubrics:\n  - `a`\n", "`", 2),
    "an unknown escape": ('rubrics:\n  - "a\\d"\n', "d", 2),
    "half a surrogate pair": ('rubrics:\n  - "\\ud83d"\n', '"', 2),
    "an escape beyond Unicode": ('rubrics:\n  - "\\U00110000"\n', "\\U00110000", 2),
    "an escape beyond any integer of C": (
        'rubrics:\n  - "\\UFFFFFFFF"\n',
        "\\UFFFFFFFF",
        2,
    ),
    "open brackets": (f"rubrics: {'[' * DEEP}", "[", 1),
    "open braces": (f"rubrics: {'{' * DEEP}", "{", 1),
    "closed brackets": (f"rubrics: {'[' * DEEP}{']' * DEEP}", "[", 1),
    "nested mappings": (f"rubrics: {'{a: ' * DEEP}{'}' * DEEP}", "{", 1),
    "nested dashes": (f"rubrics:\n  {'- ' * DEEP}a\n", "-", 2),
    "nested question marks": (f"rubrics:\n  {'? ' * DEEP}a\n", "?", 2),
    "an anchor without a name": ("rubrics:\n  - &", "", 2),
    "an alias of nothing": ("rubrics:\n  - *a\n", "*a", 2),
    "an alias of everything": ("*a\n# expected_outcome\n", "*a", 1),
    "an alias inside its anchor": ("rubrics: &a\n  - *a\n", "*a", 2),
    "an alias bomb": (f"{BOMB}rubrics: *a11\n", "*a5", 7),
    "a merge-key bomb": (MERGES, "<", 202),
}
