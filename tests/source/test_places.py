"""The text at each reported place is the faulty text, whatever the file's line ends, encoding, style or notation."""

import codecs
import json
import math
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from cases import read_cases
from pages import read_pages

from rubric_lint.formats.home_made.candidate import TITLE
from rubric_lint.formats.search.locate import find_claim
from rubric_lint.lint.engine import examine_file, lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.rules import BY_NAME
from rubric_lint.source.path import Part
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)


ROOT = Path(__file__).parents[2]


class File(NamedTuple):
    label: str
    name: str
    text: str
    settings: FileSettings = FileSettings()

    def lint(self, data=None):
        return lint(self.name, self.text.encode() if data is None else data, self.settings)

    @property
    def documents(self):
        return read_documents(Source(self.name, self.text))[0]


def find_files():
    for page in read_pages():
        for example in (*page.flagged, *page.accepted):
            yield File(example.label, example.name, example.text)
    for path in [*sorted(ROOT.glob("examples/**/*.*")), *sorted(ROOT.glob("tests/suites/*.*"))]:
        ours = path.name.endswith(".rubric.yaml")
        settings = FileSettings(claimed=ours, is_rubric_file=ours)
        if path.suffix in {".yaml", ".yml", ".json", ".jsonl"}:
            yield File(path.name, path.name, path.read_text("utf-8"), settings)


FOUND = [(file, {finding.rule for finding in file.lint().findings}) for file in find_files()]
FAULTY = [file for file, rules in FOUND if rules]
IN_YAML = [file for file in FAULTY if file.name.endswith("l") and not file.name.endswith(".jsonl")]

SYNTAX = {"syntax", "duplicate-key", "unused-ignore"}
# Whether a scalar is ambiguous is a matter of how it is written, and so is a repeated key.
OF_WRITING = {*SYNTAX, "ambiguous-scalar"}


def each(files):
    return pytest.mark.parametrize("file", files, ids=[file.label for file in files])


def unify(text):
    return re.sub(r"\r\n?", "\n", text)


def places(result, within=0):
    """All that findings say and mark, with the text that stands at each place."""
    return [
        (
            finding.rule,
            finding.pointer,
            finding.message,
            unify(result.source.slice(finding.span)),
            [(place.message, unify(result.source.slice(place.span))) for place in finding.related],
            [tuple(map(unify, (result.source.slice(span), text))) for span, text in finding.fix.edits]
            if finding.fix
            else None,
            result.source.position(finding.span.start).line - within,
        )
        for finding in result.findings
    ]


WRITINGS = {
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "a BOM": lambda text: codecs.BOM_UTF8 + text.encode(),
    "two BOMs": lambda text: codecs.BOM_UTF8 * 2 + text.encode(),
    "a BOM and CRLF": lambda text: codecs.BOM_UTF8 + text.replace("\n", "\r\n").encode(),
    "UTF-16": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "UTF-32": lambda text: codecs.BOM_UTF32_BE + text.encode("utf-32-be"),
}


@pytest.mark.slow
@each(FAULTY)
def test_bytes_do_not_move_a_place(file):
    found = {name: places(file.lint(write(file.text))) for name, write in WRITINGS.items()}
    assert found == dict.fromkeys(WRITINGS, places(file.lint()))


@pytest.mark.spread(3)
@each(IN_YAML)
def test_what_stands_before_does_not_move_a_place(file):
    before = "# 👩‍👩‍👧 Ärger 日本\r\n# 👍\n"
    result = file.lint((before + file.text).encode())
    message = re.compile(r"(?<=line )\d+")
    shifted = [
        (rule, pointer, message.sub(lambda line: str(int(line[0]) - 2), told), *rest)
        for rule, pointer, told, *rest in places(result, within=2)
    ]
    assert [tuple(each) for each in shifted] == places(file.lint())


@pytest.mark.spread(3)
@each(IN_YAML)
def test_emoji_inside_do_not_move_a_place(file):
    emoji = file.text.replace(" is ", " 👍 ").replace("States", "👩‍👩‍👧")
    plain = file.text.replace(" is ", " + ").replace("States", "=")
    swap = str.maketrans({"👍": "+"})
    found = [
        (rule, where, text.translate(swap).replace("👩‍👩‍👧", "="))
        for rule, where, _, text, *_ in places(file.lint(emoji.encode()))
    ]
    assert found == [(rule, where, text) for rule, where, _, text, *_ in places(file.lint(plain.encode()))]


def value_of(text, column=1):
    """What a piece of YAML or JSON means, its first line indented as it was."""
    documents, faults = read_documents(Source("a.yaml", " " * (column - 1) + text))
    assert not faults, text
    return documents[0].data


def meaning_at(result, span):
    """What the text at a place means; the first line of a block gets its indentation back."""
    return value_of(result.source.slice(span), result.source.position(span.start).column)


def resolve(documents, pointer):
    """The value at a pointer and the last step to it."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    data = [document.data for document in documents]
    data = data[int(steps.pop(0))] if len(data) > 1 else data[0]
    for step in steps:
        data = data[int(step)] if isinstance(data, list) else data[step]
    return data, steps[-1] if steps else None


def same(one, other):
    return json.dumps(one) == json.dumps(other)


@pytest.mark.spread(3)
@each([file for file, rules in FOUND if rules - SYNTAX])
def test_the_place_holds_what_the_pointer_names(file):
    result = file.lint()
    wrong = []
    for finding in result.findings:
        if finding.rule in SYNTAX:
            continue
        value, step = resolve(file.documents, finding.pointer)
        meant = {
            Part.KEY: step,
            Part.VALUE: value,
            Part.HEAD: next(iter(value), None) if isinstance(value, dict) else value,
        }
        if value is None:  # nothing is written there, so its key has to serve
            meant[Part.VALUE] = step
        marked = meaning_at(result, finding.span)
        marked = marked if isinstance(marked, dict | list) or same(marked, value) else result.source.slice(finding.span)
        text = marked.strip("\"'") if isinstance(marked, str) else marked
        if not any(same(meant[part], marked) or same(meant[part], text) for part in BY_NAME[finding.rule].marks):
            wrong.append((finding.rule, finding.pointer, marked))
    assert wrong == []


def in_flow(value):
    """A value in flow style."""
    match value:
        case dict():
            return "{" + ", ".join(f"{in_flow(key)}: {in_flow(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(in_flow, value)) + "]"
        case float() if not math.isfinite(value):
            return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
        case None:
            return ""
        case _:
            return json.dumps(value, ensure_ascii=False)


def in_block(value, indent="\n"):
    """A value in block style, all texts plain or in single quotes."""
    match value:
        case dict() if value:
            return "".join(f"{indent}{in_quotes(key)}:{in_block(item, indent + '  ')}" for key, item in value.items())
        case list() if value:
            return "".join(f"{indent}-{in_block(item, indent + '   ')}" for item in value)
        case str():
            return f" {in_quotes(value)}"
        case _:
            return f" {in_flow(value)}"


def in_quotes(text):
    """A text in single quotes, which know no escapes, if it has no line end."""
    return json.dumps(text) if "\n" in text else "'" + text.replace("'", "''") + "'"


NOTATIONS = {
    "flow.yaml": lambda data: "\n--- ".join(map(in_flow, data)),
    "block.yaml": lambda data: "\n---".join(map(in_block, data)),
    "lines.jsonl": lambda data: "\n".join(json.dumps(value, allow_nan=False) for value in data),
    "indented.json": lambda data: json.dumps(data[0], indent=2, ensure_ascii=False, allow_nan=False),
}


def has_finite_numbers(data):
    try:
        json.dumps(data, allow_nan=False)
    except ValueError:
        return False
    return True


def is_mere_data(file):
    """Whether the data is all there is to a file: no aliases, no comments to the linter, no key twice."""
    documents = file.documents
    spoken = any(document.duplicates or document.has_aliases or document.merging for document in documents)
    return bool(documents) and not spoken and "rubric-lint:" not in file.text


MERE_DATA = [file for file in FAULTY if is_mere_data(file)]


def meanings(result, documents):
    """The findings with what stands at their places, as data."""
    found = []
    for finding in result.findings:
        if finding.rule in OF_WRITING:
            continue
        # What is empty is marked by its key where it is not written at all.
        is_empty = resolve(documents, finding.pointer)[0] is None
        marked = None if is_empty else meaning_at(result, finding.span)
        related = [(place.message, str(meaning_at(result, place.span))) for place in finding.related]
        found.append((finding.rule, finding.pointer, str(marked), related))
    return sorted(found)


def notations_for(data):
    """The notations that can hold the documents: JSON knows no infinite number, and no second document."""
    for name, write in NOTATIONS.items():
        if not ("json" in name and not has_finite_numbers(data)) and not (name.endswith(".json") and len(data) > 1):
            yield name, write(data)


def is_home_made(file):
    """Whether a rubric of a file is in a form that only its structure shows."""
    examined = examine_file(file.name, file.text.encode(), file.settings)
    return any(rubric.view and rubric.view.dialect.title == TITLE for _, rubric in examined.rubrics)


@pytest.mark.spread(6)
@each(MERE_DATA)
def test_notations_do_not_change_what_is_marked(file):
    documents = file.documents
    data = [document.data for document in documents]
    claim = find_claim(documents[0])
    settings = (
        file.settings
        if claim is None
        else FileSettings(None, {}, claim.version, claimed=True, is_rubric_file=claim.name == "rubric")
    )
    expected = meanings(file.lint(), documents)
    for name, text in notations_for(data):
        result = lint(name, text.encode(), settings)
        assert repr([document.data for document in read_documents(Source(name, text))[0]]) == repr(data), name
        if name.endswith(".jsonl") and is_home_made(file):
            assert result.rubrics == 0  # a home-made rubric is the whole of a file, and no line of one
            continue
        assert meanings(result, documents) == expected, name


SUITE = TABLES["SUITE"]

RELATED = [
    ("overlap", (6, 22), "[3, 10]", [("also covers 3 and 4", (4, 22), "[0, 4]")]),
    ("duplicate-id", (8, 9), "*id", [("the first one", (2, 13), "first")]),
    ("band-order", (9, 36), "0", [("starts higher", (9, 20), "8")]),
    ("duplicate-outcome", (9, 39), "it  is said", [("the same outcome", (9, 23), "It is said.")]),
    ("split-band", (13, 7), "4", [("the gate", (11, 25), "5")]),
    ("band-order", (14, 7), "0", [("starts higher", (13, 7), "4")]),
    ("missing-id", (16, 5), "expected_outcome", []),
    ("mixing", (16, 5), "expected_outcome", [("a criterion with `score_ranges`", (2, 5), "id")]),
    ("conflicting-field", (17, 5), "description", [("`expected_outcome` is here", (16, 5), "expected_outcome")]),
    ("conflicting-field", (18, 5), "required", [("`required_min_score` is here", (19, 5), "required_min_score")]),
    ("duplicate-criterion", (20, 5), "*twice", [("the first one", (16, 5), "expected_outcome")]),
    ("duplicate-criterion", (22, 5), "id", [("the first one", (16, 5), "expected_outcome")]),
    ("duplicate-id", (22, 9), "rubric-4", [("gets the id `rubric-4` from its place", (16, 5), "expected_outcome")]),
    ("duplicate-criterion", (24, 5), "id", [("the first one", (16, 5), "expected_outcome")]),
    ("duplicate-id", (24, 9), "*id", [("the first one", (2, 13), "first")]),
    ("duplicate-id", (26, 5), "*named", [("the first one", (25, 17), "z")]),
    ("duplicate-id", (27, 5), "<<: *named", [("the first one", (25, 17), "z")]),
    ("duplicate-id", (28, 5), "weight", [("the first one", (25, 17), "z")]),
    ("mixing", (30, 5), "id", [("a criterion with `score_ranges`", (2, 5), "id")]),
    ("levels", (33, 17), "1", [("the first one", (32, 17), "1")]),
    ("duplicate-outcome", (33, 38), "It is in one  place", [("the same outcome", (32, 38), "It is in one place.")]),
]


def test_an_outcome_that_an_alias_repeats_is_told_at_the_alias():
    result = lint("a.yaml", b"rubrics: [{id: a, score_ranges: {0: &x Names it, 6: *x}}]\n")
    (found,) = (finding for finding in result.findings if finding.rule == "duplicate-outcome")
    assert [result.source.slice(span) for span in (found.span, found.related[0].span)] == ["*x", "Names it"]


@pytest.mark.parametrize("outcome", ["3 facts are named", "Names 3 facts", "yes"])
def test_an_outcome_that_is_written_twice_is_told_at_the_outcome(outcome):
    result = lint(
        "a.yaml",
        f"rubrics:\n- {{id: a, expected_outcome: {outcome}}}\n- {{id: b, expected_outcome: {outcome}}}".encode(),
    )
    (found,) = (finding for finding in result.findings if finding.rule == "duplicate-criterion")
    assert [result.source.slice(span) for span in (found.span, found.related[0].span)] == [outcome, outcome]


def test_related_places():
    result = lint("a.yaml", SUITE.encode())

    def at(span):
        return result.source.position(span.start)[:2], result.source.slice(span)

    actual = [
        (finding.rule, *at(finding.span), [(place.message, *at(place.span)) for place in finding.related])
        for finding in result.findings
    ]
    assert actual == RELATED
