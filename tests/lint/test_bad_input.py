"""What is wrong in a file is one clear finding; nothing that a file holds makes the engine raise."""

import codecs
import json
import re

import commands
import pytest
from cases import read_cases
from faulty_rubrics import DEEP, SYNTAX
from found import codes

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.schema_files import BASE

RANGES = read_cases(__file__)["RANGES"]


def findings(data, name="a.yaml", settings=None):
    """The code of each finding, its line, and the text that it marks."""
    result = lint(name, data if isinstance(data, bytes) else data.encode(), settings or FileSettings())
    at = result.source.position
    return [
        (finding.code, at(finding.span.start).line, result.source.slice(finding.span)) for finding in result.findings
    ]


def unreadable(name, data):
    """The only finding, which says why the text cannot be read: its line, the text that it marks, and the message."""
    result = lint(name, data if isinstance(data, bytes) else data.encode())
    (found,) = result.findings
    assert found.code in {"syntax.unreadable", "syntax.encoding"}
    return result.source.position(found.span.start).line, result.source.slice(found.span), found.message


@pytest.mark.slow
@pytest.mark.parametrize(("data", "found", "line"), SYNTAX.values(), ids=SYNTAX)
def test_text_that_is_not_yaml_is_one_finding(data, found, line, said):
    at, marked, told = unreadable("a.yaml", data)
    assert (at, marked) == (line, found)
    said(told)


JSON = {
    "a comma too many": ('{"rubrics": ["a"],}', ","),
    "a comment": ('{"rubrics": ["a"]} // a', "/"),
    "single quotes": ("{'rubrics': ['a']}", "'"),
    "two values": ('{"rubrics": ["a"]} {}', "{"),
    "a control character": ('{"rubrics": ["a\x01"]}', "\x01"),
    "an unclosed quote": ('{"rubrics": ["a]}', '"'),
    "NaN": ('{"rubrics": [{"weight": NaN}]}', "NaN"),
    "an infinity": ('{"rubrics": [-Infinity]}', "-Infinity"),
    "half a surrogate pair": ('{"rubrics": ["\\ud83d"]}', '"'),
    "open braces": (f'{{"rubrics": {"{" * DEEP}', "{"),
    "closed brackets": (f'{{"rubrics": {"[" * DEEP}{"]" * DEEP}}}', "["),
}


@pytest.mark.parametrize(("text", "found"), JSON.values(), ids=JSON)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_text_that_is_not_json_is_one_finding(text, found, name, said):
    sound = '{"cases": [{"rubrics": ["Says it"]}]}\n'
    _, marked, told = unreadable(name, (sound if name == "a.jsonl" else "") + text)
    assert marked == found
    said(told)


CRITERION = "rubrics:\n  - id: a\n    expected_outcome: It is said.\n    {}\n"
# A field, the code of its finding, and the text that it marks, if that is not the value.
VALUES = [
    ("weight: .nan", "weight.infinite"),
    ("weight: .inf", "weight.infinite"),
    ("weight: 1e400", "weight.infinite"),
    ("weight: -.inf", "weight.minimum"),
    ("weight: -1", "weight.below-zero"),
    ("weight: heavy", "schema.unexpected"),
    ("weight: yes", "schema.unexpected"),  # that YAML 1.1 reads it as true adds nothing
    ("weight:", "schema.unexpected", "weight"),
    ("weight: [1]", "schema.unexpected"),
    ("weight: true", "schema.unexpected"),
    ("required_min_score: 11", "bounds.unexpected"),
    ("required_min_score: 7.5", "bounds.unexpected"),
    ("required_min_score: 1e400", "bounds.unexpected"),
    ("required_min_score: .nan", "bounds.unexpected"),
    ("required_min_score: '8'", "bounds.unexpected"),
    ("required_min_score: {a: b}", "bounds.unexpected"),
    (f"required_min_score: {'9' * 5000}", "bounds.unexpected"),
    ("required_min_score: 0x0A", "ambiguous-scalar.two-readings"),
    ("[a, b]: c", "unknown-field.unknown", "[a, b]"),
    ("score_ranges:", "schema.unexpected", "score_ranges"),
    ("score_ranges: []", "schema.empty"),
    ("score_ranges: {}", "schema.empty"),
    ("levels: 3", "schema.unexpected"),
    ("id: b", "duplicate-key.repeated", "id"),
]


@pytest.mark.parametrize("row", VALUES, ids=[row[0][:40] for row in VALUES])
def test_a_wrong_value_is_one_finding(row):
    field, code, *marked = row
    assert findings(CRITERION.format(field)) == [(code, 4, marked[0] if marked else field.partition(": ")[2])]


MAPPINGS = {
    "criteria by name": ("{a: {expected_outcome: Names the city}}", "each key as the `id` of a criterion"),
    "one criterion": ("{id: a, expected_outcome: Names the city}", "put this criterion in a list"),
    "scores": ("{0: Names another city, 5: Names the city}", "these as its `score_ranges` or `levels`"),
    "ranges": ("{0-4: Names another city, 5-10: Names the city}", "these as its `score_ranges` or `levels`"),
}


@pytest.mark.parametrize(("written", "advice"), MAPPINGS.values(), ids=MAPPINGS)
def test_a_mapping_in_the_place_of_criteria_says_how_to_write_a_list(written, advice):
    claimed = f"# $schema: rubric-v2.schema.json\nrubrics: {written}\n"
    suite = f"tests:\n- {{id: a, rubrics: [{{id: x, expected_outcome: Yes}}]}}\n- {{id: b, rubrics: {written}}}\n"
    for text in (claimed, suite):
        found = [finding for finding in lint("a.yaml", text.encode()).findings if finding.rule == "schema"]
        assert [(each.code, advice in each.message) for each in found] == [("schema.not-a-list", True)]


def test_names_as_keys_of_levels_are_one_error():
    text = "rubrics: [{id: a, expected_outcome: Names it, levels: {low: No city, high: A city}}]\n"
    assert [(finding.rule, finding.pointer) for finding in lint("a.yaml", text.encode()).findings] == [
        ("schema", "/rubrics/0/levels/low")
    ]


@pytest.mark.parametrize("written", RANGES)
@pytest.mark.parametrize("shape", ["score ranges", "holistic"])
def test_a_wrong_range_sets_off_nothing_else(written, shape):
    bands = {written: "It is not said.", "[6, 7]": "It is hinted at.", "[8, 10]": "It is said."}
    text = "".join(f"      - score_range: {at}\n        expected_outcome: {it}\n" for at, it in bands.items())
    head = "  - id: a\n    score_ranges:\n" if shape == "score ranges" else ""
    found = findings(f"rubrics:\n{head}{text}")
    assert [[code, marked] for code, _, marked in found] == RANGES[written]


def test_ids_that_differ_only_in_their_unicode_form():
    criteria = ["{id: caf\u00e9, expected_outcome: It is said.}", "{id: cafe\u0301, expected_outcome: So is this.}"]
    text = f"rubrics: [{', '.join(criteria)}]\n"
    (finding,) = lint("a.yaml", text.encode()).findings
    assert (finding.rule, text[slice(*finding.span)], [text[slice(*place.span)] for place in finding.related]) == (
        "duplicate-id",
        "cafe\u0301",
        ["caf\u00e9"],
    )


@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.jsonl"])
def test_nothing_is_no_fault(name):
    for data in (b"", b"# nothing\n# but comments\n", codecs.BOM_UTF8, codecs.BOM_UTF16_LE):
        assert findings(data, name) == []


def test_utf_16_with_a_mark_is_read():
    text = "rubrics:\n  - id: a\n    wieght: 1\n    expected_outcome: Größe 👍\n"
    for encoding in ("utf-16", "utf-32", "utf-8-sig"):
        assert findings(text.encode(encoding)) == [("unknown-field.misspelt", 3, "wieght")]


def test_a_huge_key_is_not_quoted_whole():
    text = f"rubrics:\n  - id: a\n    expected_outcome: It is said.\n    {'k' * 1000}: 1\n"
    (finding,) = lint("a.yaml", text.encode()).findings
    assert (finding.code, finding.values["field"]) == ("unknown-field.unknown", f"{'k' * 39}…")


@pytest.mark.slow
def test_wide_files_take_time_in_proportion():
    criteria = [{"id": f"a{index}", "expected_outcome": f"It says {index}."} for index in range(20_000)]
    result = lint("a.json", json.dumps({"rubrics": criteria}).encode())
    assert (result.criteria, result.findings) == (20_000, ())


def test_a_file_of_100_megabytes_is_refused_and_the_others_are_linted(tmp_path):
    (tmp_path / "a.yaml").write_text("rubrics:\n  - wieght: 1\n    id: a\n    expected_outcome: It is said.\n")
    with (tmp_path / "b.yaml").open("wb") as large:
        large.write(b"rubrics:\n  - It is said.\n")
        large.seek(100_000_000)
        large.write(b"\n")
    done = commands.run("rubric-lint", "--format", "concise", "a.yaml", "b.yaml", cwd=tmp_path)
    places = done.stdout.splitlines()[0].split(":")[:3]
    assert (done.returncode, places) == (2, ["a.yaml", "2", "5 error unknown-field"])
    assert "b.yaml: cannot be read: it has 100.0 MB" in done.stderr


UNSOUND = [
    "a: b: c", "- a\n b", "a\nb: c", "a: @b", "a: `b`", 'a: "\\d"', 'a: "\\x1"', "a: 'b", "a: [b", "a: {b", "a: [b}",
    "a: b]", "a: &\n", "a: *\n", "a: *b", "a: ! b: c", "a: !<b c", "a: !c!d e", "%YAML", "%TAG a", "%YAML 2.0\n---\na",
    "%A\nb: c", "a: |0\n b", "a: |x\n b", "a: |\n  b\n c", "a: >\n\tb", "? a: b: c", "a: - b", "a: ? b",
    "- - a\n  b: c\n d", "[a, b: ]]", "a: 'b'c", 'a: "b"c', "a: b\n---\n c: d\n- e", "a: b\n... c", "{a: b, c",
    "{a b: c: d}", "a: [b c: d: e]", "\ta: b", "a:\n\t- b", "a: \x01", "a: b\n  c: d", "!a\n", "--- a\nb: c",
    "a: {b: c}}", "? |\na", "'a\n---\n'", "a: %b", "- [a\n- b]", "a: ,b", "a: }b",
]  # fmt: skip
FOREIGN = re.compile(
    r"while (?:scanning|parsing)|<block|<document|, but (?:found|got)|could not find|found character|stream|Expecting"
)


def test_no_message_is_in_the_words_of_a_parser():
    results = [lint("a.yaml", f"# expected_outcome\n{text}".encode()) for text in UNSOUND]
    for result in results:
        assert [finding.message for finding in result.findings if FOREIGN.search(finding.message)] == []
        assert [finding for finding in result.findings if finding.span.start > len(result.source.text)] == []


TAGGED, BARE = "schema.tagged", "schema.unquoted"


@pytest.mark.parametrize(
    ("value", "code"),
    [('!!int "5"', TAGGED), ("!!int 5", TAGGED), ("!!float &a 5", TAGGED), ("5", BARE), ("&a 5", BARE)],
)
def test_a_number_for_an_id_gets_advice_that_makes_it_a_string(value, code):
    ((found, _, _),) = findings(f"rubrics:\n- id: {value}\n  expected_outcome: Says it\n")
    assert found == code


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("a.yaml", "# Mine\nrubrics:\n- {id: a\n", id="rubrics"),
        pytest.param("a.yaml", "# Mine\ntests:\n- id: t\n  rubrics: [Names it\n", id="a suite"),
        pytest.param("a.yaml", f"# Mine\n# $schema: {BASE}rubric-v2.schema.json\nx: [a\n", id="a schema comment"),
        pytest.param("a.toml", "# Mine\n[[criterion]]\ndescription = 'Names it\n", id="a table of TOML"),
        pytest.param("a.yaml", "# Mine\n---\nx: 1\n...\n---\nrubrics:\n- {id: a\n", id="a later document"),
    ],
)
def test_broken_text_that_speaks_of_rubrics_is_an_error_with_any_line_ends(name, text):
    """The comment above them matters: a pattern that knows line feeds only begins no other line after it."""
    for end in ("\n", "\r", "\r\n"):
        assert codes(lint(name, text.replace("\n", end).encode()).findings) == ["syntax.unreadable"]


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
def test_what_ends_no_line_of_yaml_leaves_a_comment_that_holds_all(end):
    """YAML 1.2 has line feeds and carriage returns only; the command says that such a file holds nothing."""
    result = lint("a.yaml", f"# Mine{end}rubrics:{end}- Names it{end}".encode())
    assert (result.rubrics, result.findings) == (0, ())


def test_a_form_feed_is_named_as_what_it_is(said):
    said(
        [
            finding.message
            for finding in lint("a.yaml", b"# Mine\n\frubrics:\n- {id: a, expected_outcome: It}\n").findings
        ]
    )
