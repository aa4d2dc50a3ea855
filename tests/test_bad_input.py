"""What is wrong in a file is one clear finding; nothing that a file holds makes the engine raise."""

import codecs
import json
import re
import sys
from pathlib import Path

import pytest
import warm
from pages import unnamed

from rubric_lint.format.criterion import SHAPE_FIELDS
from rubric_lint.format.schema import schema_for
from rubric_lint.lint.engine import lint
from rubric_lint.project.settings import FileSettings

ROOT = Path(__file__).parents[1]
DEEP = 30_000


def findings(data, name="a.yaml", settings=None):
    data = data if isinstance(data, bytes) else data.encode()
    result = lint(name, data, settings or FileSettings())
    return [
        (finding.rule, str(result.source.position(finding.span.start).line), result.source.slice(finding.span))
        for finding in result.findings
    ]


TOO_DEEP = "nested more than 250 levels deep; a rubric needs fewer than ten"
NO_VERSION = "the version in this directive is not known; write `%YAML 1.2`"
NO_NAME = "`&` and `*` need a name directly after them; put a string that begins with one in quotes"
BOMB = "x: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"x{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 12)
)

# Text that is not YAML, or is more than anybody can mean: the text at the fault, its line, and the message.
SYNTAX = {
    "Latin-1": (
        b"rubrics:\n  - caf\xe9\n",
        "�",
        2,
        "byte e9 at byte offset 16 is not UTF-8 (invalid continuation byte); save the file as UTF-8",
    ),
    "NUL": ("rubrics:\n  - a\0b\n", "\0", 2, "a NUL character is not allowed in YAML; is this a text file?"),
    "a control character": (
        "rubrics:\n  - a\x07b\n",
        "\x07",
        2,
        "character U+0007 is not allowed in YAML; write it as an escape in double quotes",
    ),
    "a tab before a dash": ("rubrics:\n\t- a\n", "\t", 2, "a tab cannot indent YAML; use spaces"),
    "a tab before a key": (
        "rubrics:\n  - id: a\n\t  expected_outcome: b\n",
        "\t",
        3,
        "a tab cannot indent YAML; use spaces",
    ),
    "an unclosed double quote": ('rubrics:\n  - "a\n  - b\n', '"', 2, "this quote is never closed"),
    "an unclosed single quote": ("rubrics:\n  - 'a\n  - b\n", "'", 2, "this quote is never closed"),
    "an unclosed bracket": ("rubrics:\n  - id: [a\n", "[", 2, "this `[` is never closed"),
    "a bracket at the end": ("rubrics:\n  - id: [", "[", 2, "this `[` is never closed"),
    "a bracket in a bracket": ("rubrics:\n  - id: [[a], {b: [c],\n", "{", 2, "this `{` is never closed"),
    "an unclosed pair": ("rubrics: [a: b\n", "[", 1, "this `[` is never closed"),
    "an anchored bracket": ("rubrics: &a [b,\n", "[", 1, "this `[` is never closed"),
    "an endless version": (f"%YAML 1.{'1' * 5000}\n---\nrubrics: [a]\n", "%YAML", 1, NO_VERSION),
    "a bracket that the next key leaves open": (
        "rubrics: [a, b\n  c: d\ne: f\n",
        "[",
        1,
        "this `[` is not closed before line 2, where something else begins",
    ),
    "a bracket left open in a later document": (
        "x: 1\n---\nrubrics: [a\nother: b\n",
        "[",
        3,
        "this `[` is not closed before line 4, where something else begins",
    ),
    "a bracket closed by a brace": (
        "rubrics: [a}\n",
        "}",
        1,
        "a comma or the closing bracket is missing here; quote strings that contain brackets or commas",
    ),
    "a bracket too many": (
        "rubrics: [a]]\n",
        "]",
        1,
        "this `]` closes nothing; remove it, or quote the string that has it",
    ),
    "a bracket behind the document": (
        "{rubrics: [a]}\n]\n",
        "]",
        2,
        "this `]` closes nothing; remove it, or quote the string that has it",
    ),
    "a bracket for a value": (
        "rubrics: ]\n",
        "]",
        1,
        "a value is missing before this; write it, or quote the string",
    ),
    "a key without a colon": (
        "rubrics:\n  - id: a\n    expected\n    weight: 1\n",
        "e",
        3,
        "a key without its `:`; write the `:`, or quote the string, or check the indentation",
    ),
    "an unclosed brace": ("rubrics:\n  - {id: a\n", "{", 2, "this `{` is never closed"),
    "a colon in a text": (
        "rubrics:\n  - id: a: b\n",
        ":",
        2,
        "`: ` is not allowed here; quote the string that has it, or check the indentation",
    ),
    "a backtick": ("rubrics:\n  - `a`\n", "`", 2, 'a plain string cannot begin with "`"; put it in quotes'),
    "an unknown escape": (
        'rubrics:\n  - "a\\d"\n',
        "d",
        2,
        "`\\d` is not an escape in double quotes; write `\\\\d`, or use single quotes",
    ),
    "half a surrogate pair": (
        'rubrics:\n  - "\\ud83d"\n',
        '"',
        2,
        "an escape in this string is half a surrogate pair, not a character; write both halves or neither",
    ),
    "an escape beyond Unicode": (
        'rubrics:\n  - "\\U00110000"\n',
        "\\U00110000",
        2,
        "this escape is beyond the last character, U+10FFFF",
    ),
    "open brackets": (f"rubrics: {'[' * DEEP}", "[", 1, TOO_DEEP),
    "open braces": (f"rubrics: {'{' * DEEP}", "{", 1, TOO_DEEP),
    "closed brackets": (f"rubrics: {'[' * DEEP}{']' * DEEP}", "[", 1, TOO_DEEP),
    "nested mappings": (f"rubrics: {'{a: ' * DEEP}{'}' * DEEP}", "{", 1, TOO_DEEP),
    "nested dashes": (f"rubrics:\n  {'- ' * DEEP}a\n", "-", 2, TOO_DEEP),
    "nested question marks": (f"rubrics:\n  {'? ' * DEEP}a\n", "?", 2, TOO_DEEP),
    "an anchor without a name": (
        "rubrics:\n  - &",
        "",
        2,
        NO_NAME,
    ),
    "an alias of nothing": ("rubrics:\n  - *a\n", "*a", 2, "alias `*a` has no anchor `&a` before it"),
    "an alias of everything": ("*a\n# expected_outcome\n", "*a", 1, "alias `*a` has no anchor `&a` before it"),
    "an alias inside its anchor": (
        "rubrics: &a\n  - *a\n",
        "*a",
        2,
        "alias `*a` is inside the value that it repeats",
    ),
    "an alias bomb": (
        f"{BOMB}rubrics: *a11\n",
        "*a5",
        7,
        "the aliases up to `*a5` stand for more than 1,000,000 values",
    ),
    "a merge-key bomb": (
        f"x: &a {{{', '.join(f'k{key}: 1' for key in range(5000))}}}\nrubrics:\n" + "  - <<: *a\n" * 5000,
        "<",
        202,
        "the aliases in this value stand for more than 1,000,000 values",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("data", "found", "line", "message"), SYNTAX.values(), ids=SYNTAX)
def test_text_that_is_not_yaml_is_one_finding(data, found, line, message):
    result = lint("a.yaml", data if isinstance(data, bytes) else data.encode())
    actual = [
        (
            finding.rule,
            result.source.slice(finding.span),
            result.source.position(finding.span.start).line,
            finding.message,
        )
        for finding in result.findings
    ]
    assert actual == [("syntax", found, line, message)]


JSON = {
    "a comma too many": ('{"rubrics": ["a"],}', ",", "not JSON: a comma after the last item; remove it"),
    "a comment": ('{"rubrics": ["a"]} // a', "/", "not JSON: JSON has no comments"),
    "single quotes": ("{'rubrics': ['a']}", "'", "not JSON: expected a field name in double quotes"),
    "two values": ('{"rubrics": ["a"]} {}', "{", "not JSON: text after the end of the value"),
    "a control character": (
        '{"rubrics": ["a\x01"]}',
        "\x01",
        "not JSON: a control character inside a string; write it as an escape, such as \\n",
    ),
    "an unclosed quote": ('{"rubrics": ["a]}', '"', "not JSON: this quote is never closed"),
    "NaN": ('{"rubrics": [{"weight": NaN}]}', "NaN", "`NaN` is not JSON; a number here must be finite"),
    "an infinity": ('{"rubrics": [-Infinity]}', "-Infinity", "`-Infinity` is not JSON; a number here must be finite"),
    "half a surrogate pair": (
        '{"rubrics": ["\\ud83d"]}',
        '"',
        "an escape in this string is half a surrogate pair, not a character; write both halves or neither",
    ),
    "open brackets": (f'{{"rubrics": {"[" * DEEP}', "[", TOO_DEEP),
    "open braces": (f'{{"rubrics": {"{" * DEEP}', "{", TOO_DEEP),
    "closed brackets": (f'{{"rubrics": {"[" * DEEP}{"]" * DEEP}}}', "[", TOO_DEEP),
    "nested objects": ('{"rubrics": ' * DEEP + "1" + "}" * DEEP, "{", TOO_DEEP),
}


@pytest.mark.parametrize(("text", "found", "message"), JSON.values(), ids=JSON)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_text_that_is_not_json_is_one_finding(text, found, message, name):
    sound = '{"cases": [{"rubrics": ["Says it"]}]}\n'
    result = lint(name, ((sound if name == "a.jsonl" else "") + text).encode())
    actual = [(finding.rule, result.source.slice(finding.span), finding.message) for finding in result.findings]
    assert actual == [("syntax", found, message)]


CRITERION = "rubrics:\n  - id: a\n    expected_outcome: It is said.\n    {}\n"
DECIMAL = "those that know decimal numbers only; write it as a plain decimal number"
FIELDS = ", ".join(f"`{name}`" for name in schema_for().fields_of_shape(frozenset()) if name not in SHAPE_FIELDS)
BANDS = "expected a list of bands, or a map from lower bound to outcome"
TWICE = "duplicate key `id`, first at line 2; most readers keep only the last, so remove one"
VALUES = {
    "weight: .nan": ("weight", ".nan", "`weight` is not a number, expected a finite number of at least 0"),
    "weight: .inf": (
        "weight",
        ".inf",
        "`weight` is infinite or too large to read, expected a finite number of at least 0",
    ),
    "weight: 1e400": (
        "weight",
        "1e400",
        "`weight` is infinite or too large to read, expected a finite number of at least 0",
    ),
    "weight: -.inf": ("weight", "-.inf", "`weight` is -.inf, expected at least 0"),
    "weight: -1": ("weight", "-1", "`weight` is -1, expected at least 0"),
    "weight: heavy": ("schema", "heavy", '`weight` is the string "heavy", expected a number'),
    "weight:": ("schema", "weight", "`weight` is empty, expected a number"),
    "weight: [1]": ("schema", "[1]", "`weight` is a list, expected a number"),
    "weight: true": ("schema", "true", "`weight` is true, expected a number"),
    "required_min_score: 11": ("bounds", "11", "`required_min_score` is 11, expected an integer from 0 to 10"),
    "required_min_score: 7.5": ("bounds", "7.5", "`required_min_score` is 7.5, expected an integer from 0 to 10"),
    "required_min_score: 1e400": ("bounds", "1e400", "`required_min_score` is 1e400, expected an integer from 0 to 10"),
    "required_min_score: .nan": ("bounds", ".nan", "`required_min_score` is .nan, expected an integer from 0 to 10"),
    "required_min_score: '8'": (
        "bounds",
        "'8'",
        '`required_min_score` is the string "8", expected an integer from 0 to 10',
    ),
    "required_min_score: {a: b}": (
        "bounds",
        "{a: b}",
        "`required_min_score` is a mapping, expected an integer from 0 to 10",
    ),
    f"required_min_score: {'9' * 5000}": (
        "bounds",
        "9" * 5000,
        f"`required_min_score` is {'9' * 39}…, expected an integer from 0 to 10",
    ),
    "required_min_score: 0x0A": (
        "ambiguous-scalar",
        "0x0A",
        f"`0x0A` is the number 10 to most readers but a string to {DECIMAL}",
    ),
    "[a, b]: c": (
        "unknown-field",
        "[a, b]",
        f"unknown field `[a, b]`; known here are {FIELDS}",
    ),
    "score_ranges:": ("schema", "score_ranges", f"`score_ranges` is empty, {BANDS}"),
    "score_ranges: []": ("schema", "[]", f"`score_ranges` is an empty list, {BANDS}"),
    "score_ranges: {}": ("schema", "{}", f"`score_ranges` is an empty mapping, {BANDS}"),
    "levels: 3": ("schema", "3", "`levels` is 3, expected a list of levels, or a map from level to outcome"),
    "id: b": ("duplicate-key", "id", TWICE),
}  # fmt: skip


def said(result):
    return [(each.rule, result.source.slice(each.span), unnamed(each.message)) for each in result.findings]


@pytest.mark.parametrize("field", VALUES)
def test_a_wrong_value_is_one_finding(field):
    result = lint("a.yaml", CRITERION.format(field).encode())
    actual = [
        (finding.rule, result.source.slice(finding.span), unnamed(finding.message)) for finding in result.findings
    ]
    assert actual == [VALUES[field]]


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
        found = [each for each in lint("a.yaml", text.encode()).findings if each.rule == "schema"]
        assert [advice in each.message for each in found] == [True]


def test_names_as_keys_of_levels_are_one_error():
    text = "rubrics: [{id: a, expected_outcome: Names it, levels: {low: No city, high: A city}}]\n"
    assert [(each.rule, each.pointer) for each in lint("a.yaml", text.encode()).findings] == [
        ("schema", "/rubrics/0/levels/low")
    ]


# In place of the first of two bands that cover 0..10, split where no verdict changes.
RANGES = {
    "[0, 5, 5]": [("schema", "[0, 5, 5]", "`score_range` has 3 items, expected two integers, [lowest, highest]")],
    "[0]": [("schema", "[0]", "`score_range` has 1 item, expected two integers, [lowest, highest]")],
    "[]": [("schema", "[]", "`score_range` is an empty list, expected two integers, [lowest, highest]")],
    "5": [("schema", "5", "`score_range` is 5, expected two integers, [lowest, highest]")],
    "null": [("schema", "null", "`score_range` is empty, expected two integers, [lowest, highest]")],
    "5-0": [("schema", "5-0", '`score_range` is the string "5-0", expected two integers, [lowest, highest]')],
    "0-5": [
        (
            "schema",
            "0-5",
            '`score_range` is the string "0-5", expected two integers, [lowest, highest]; write `[0, 5]`',
        )
    ],
    "{0: 5}": [("schema", "{0: 5}", "`score_range` is a mapping, expected two integers, [lowest, highest]")],
    "['0', '5']": [
        ("bounds", "'0'", '`score_range` has the string "0", expected an integer from 0 to 10'),
        ("bounds", "'5'", '`score_range` has the string "5", expected an integer from 0 to 10'),
    ],
    "[5, 0]": [("bounds", "[5, 0]", "the lower bound 5 is above the upper bound 0; did you mean [0, 5]?")],
    "[0, 1e400]": [("bounds", "1e400", "`score_range` has 1e400, expected an integer from 0 to 10")],
    "[.nan, 5]": [("bounds", ".nan", "`score_range` has .nan, expected an integer from 0 to 10")],
    "[0, [5]]": [("bounds", "[5]", "`score_range` has a list, expected an integer from 0 to 10")],
    "[0, null]": [("bounds", "null", "`score_range` has an empty item, expected an integer from 0 to 10")],
    "[false, 5]": [("bounds", "false", "`score_range` has false, expected an integer from 0 to 10")],
    "[0, 0x05]": [
        (
            "ambiguous-scalar",
            "0x05",
            f"`0x05` is the number 5 to most readers but a string to {DECIMAL}",
        )
    ],
    "[0.0, 5.0]": [],
}


@pytest.mark.parametrize("written", RANGES)
@pytest.mark.parametrize("shape", ["score ranges", "holistic"])
def test_a_wrong_range_sets_off_nothing_else(written, shape):
    bands = [f"score_range: {written}", "expected_outcome: It is not said."]
    more = [("[6, 7]", "It is hinted at."), ("[8, 10]", "It is said.")]
    lines = [
        f"- {bands[0]}\n  {bands[1]}",
        *(f"- score_range: {range_}\n  expected_outcome: {it}" for range_, it in more),
    ]
    text = "\n".join(lines).replace("\n", "\n      ")
    if shape == "score ranges":
        text = f"rubrics:\n  - id: a\n    score_ranges:\n      {text}\n"
    else:
        text = f"rubrics:\n      {text}\n"
    result = lint("a.yaml", text.encode())
    actual = [
        (finding.rule, result.source.slice(finding.span), unnamed(finding.message)) for finding in result.findings
    ]
    assert actual == RANGES[written]


def test_ids_that_differ_only_in_their_unicode_form():
    criteria = ["{id: caf\u00e9, expected_outcome: It is said.}", "{id: cafe\u0301, expected_outcome: So is this.}"]
    text = f"rubrics: [{', '.join(criteria)}]\n"
    (finding,) = lint("a.yaml", text.encode()).findings
    assert (finding.rule, text[slice(*finding.span)], [text[slice(*place.span)] for place in finding.related]) == (
        "duplicate-id",
        "cafe\u0301",
        ["caf\u00e9"],
    )


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# nothing\n# but comments\n", codecs.BOM_UTF8, codecs.BOM_UTF16_LE])
@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.jsonl"])
def test_nothing_is_no_fault(data, name):
    assert findings(data, name) == []


def test_utf_16_with_a_mark_is_read():
    text = "rubrics:\n  - id: a\n    wieght: 1\n    expected_outcome: Größe 👍\n"
    for encoding in ("utf-16", "utf-32", "utf-8-sig"):
        assert findings(text.encode(encoding)) == [("unknown-field", "3", "wieght")]


def test_a_huge_key_is_not_quoted_whole():
    text = f"rubrics:\n  - id: a\n    expected_outcome: It is said.\n    {'k' * 1000}: 1\n"
    (finding,) = lint("a.yaml", text.encode()).findings
    assert finding.message.startswith(f"criterion `a`: unknown field `{'k' * 39}…`; known here are `id`,")


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
    program = "import sys; sys.argv[0] = 'rubric-lint'; from rubric_lint.cli.lint.lint import main; main()"
    command = [sys.executable, "-c", program, "--format", "concise", "a.yaml", "b.yaml"]
    done = warm.run(command, cwd=tmp_path, text=True)
    assert (done.returncode, done.stdout.splitlines()[0].split(":")[:3]) == (
        2,
        ["a.yaml", "2", "5 error unknown-field"],
    )
    assert "b.yaml: cannot be read: it has 100.0 MB" in done.stderr


UNSOUND = [
    *(
        "a: b: c",
        "- a\n b",
        "a\nb: c",
        "a: @b",
        "a: `b`",
        'a: "\\d"',
        'a: "\\x1"',
        "a: 'b",
        "a: [b",
        "a: {b",
        "a: [b}",
        "a: b]",
    ),
    *(
        "a: &\n",
        "a: *\n",
        "a: *b",
        "a: ! b: c",
        "a: !<b c",
        "a: !c!d e",
        "%YAML",
        "%TAG a",
        "%YAML 2.0\n---\na",
        "%A\nb: c",
    ),
    *(
        "a: |0\n b",
        "a: |x\n b",
        "a: |\n  b\n c",
        "a: >\n\tb",
        "? a: b: c",
        "a: - b",
        "a: ? b",
        "- - a\n  b: c\n d",
        "[a, b: ]]",
    ),
    *(
        "a: 'b'c",
        'a: "b"c',
        "a: b\n---\n c: d\n- e",
        "a: b\n... c",
        "{a: b, c",
        "{a b: c: d}",
        "a: [b c: d: e]",
        "\ta: b",
        "a:\n\t- b",
    ),
    *(
        "a: \x01",
        "a: b\n  c: d",
        "!a\n",
        "--- a\nb: c",
        "a: {b: c}}",
        "? |\na",
        "'a\n---\n'",
        "a: %b",
        "- [a\n- b]",
        "a: ,b",
        "a: }b",
    ),
]
FOREIGN = re.compile(
    r"while (?:scanning|parsing)|<block|<document|, but (?:found|got)|could not find|found character|stream|Expecting"
)


@pytest.mark.parametrize("text", UNSOUND)
def test_no_message_is_in_the_words_of_a_parser(text):
    result = lint("a.yaml", f"# expected_outcome\n{text}".encode())
    for finding in result.findings:
        assert FOREIGN.search(finding.message) is None
        assert finding.span.start < len(result.source.text) + 1


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ('!!int "5"', "remove the tag `!!int` and put it in quotes"),
        ("!!int 5", "remove the tag `!!int` and put it in quotes"),
        ("!!float &a 5", "remove the tag `!!float` and put it in quotes"),
        ("5", "put it in quotes"),
        ("&a 5", "put it in quotes"),
    ],
)
def test_a_number_for_an_id_gets_advice_that_makes_it_a_string(value, advice):
    (finding,) = lint("a.yaml", f"rubrics:\n- id: {value}\n  expected_outcome: Says it\n".encode()).findings
    assert finding.rule == "schema"
    assert finding.message.endswith(f", expected a string; {advice}")
