"""What editors are offered in half-typed, odd and faulty texts."""

from collections import Counter

import pytest
from completing import FILLINGS, LACKING, accept, ask, see
from typed import offer

from rubric_lint.format.criterion import SHAPE_FIELDS
from rubric_lint.format.schema import schema_for
from rubric_lint.rules import BY_NAME

YAML, JSON = "/a.rubric.yaml", "/a.rubric.json"
CRITERION = "rubrics:\n  - id: a\n    expected_outcome: Says so\n"
SOUND = {"id": "a", "expected_outcome": "Says so"}
ANY = [
    name
    for name, field in schema_for().entry_fields.items()
    if "deprecated" not in field and name != "required_min_level"  # which needs `levels`
]
CHECK = [name for name in ANY if name not in SHAPE_FIELDS]
STRINGS = [name for name in CHECK if name != "id" and schema_for().is_valid_entry({**SOUND, name: "Says so"})]
MORE = [name for name in ANY if name not in {"id", "expected_outcome", "score_range"}]
URL = "https://rubric-lint.github.io/schemas/"
WHOLE = ["checklist criterion", "criterion with score ranges", "criterion with levels", "band of a holistic scale"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CRITERION + "    wei¦\n", MORE),
        (CRITERION + "    wei¦ght\n", MORE),
        (CRITERION + "    ¦ # a comment\n", MORE),
        (CRITERION + '    "wei¦"\n', MORE),
        (CRITERION.replace("\n", "\r\n") + "    ¦\r\n", MORE),
        ("\ufeff" + CRITERION + "    ¦\n", MORE),
        (CRITERION + "    ¦\n---\n" + CRITERION, MORE),
        ("rubrics:\n  -   id: a\n      expected_outcome: Says so\n      ¦\n", MORE),
        ("rubrics:\n  - {id: a, wei¦, expected_outcome: Says so}\n", MORE),
        (
            "x: &d {weight: 2}\nrubrics:\n  - <<: *d\n    id: a\n    expected_outcome: Says so\n    ¦\n",
            [name for name in MORE if name != "weight"],
        ),
        ("rubrics: [¦]\n", [*ANY, *WHOLE]),
        ("rubrics: [{¦}]\n", [*ANY, *WHOLE]),
        ("rubrics: [{id: a, expected_outcome: Says so}, ¦]\n", [*CHECK, WHOLE[0]]),
        (CRITERION + "    wei¦ght: 1\n", ["weight", "required_min_score"]),
        (CRITERION + '    "wei¦ght": 1\n', ["weight", "required_min_score"]),
        ("rubrics:\n  - {id: a, ¦expected_outcome: Says so}\n", STRINGS),
        (CRITERION + "    sco¦: [{score_range: [0, 4], expected_outcome: No}]\n", ["score_ranges"]),
        (CRITERION + "    ¦: {1: No, 2: Yes}\n", ["levels"]),
        (CRITERION + "    score_ranges:\n    ¦\n", [name for name in MORE if name in CHECK]),
        (CRITERION + "    score_rang¦\n      - {score_range: [0, 10], expected_outcome: Says so}\n", ["score_ranges"]),
        ("rubrics:\n- ¦\n  - {id: a, expected_outcome: Says so}\n", []),
        ("# $schema: ¦\n" + CRITERION, [f"{URL}rubric-v2.schema.json", f"{URL}suite-v2.schema.json"]),
        ("rubrics:\n  - {id: a, weight:¦ 1}\n", []),
        (CRITERION + "¦\n    weight: 1\n", []),
        (CRITERION + "  ¦\n", []),
        (CRITERION + "      ¦\n", []),
        (CRITERION + "\t¦\n", []),
        (CRITERION + '    "wei¦\n', []),
        (CRITERION.replace("Says so", "|\n      wei¦"), []),
        (CRITERION.replace("Says so", "|\n      # rubric-lint: ¦"), []),
        (CRITERION.replace("Says so", "|\n      # rubric-lint: ignore[¦]"), []),
        (CRITERION.replace("Says so", "|\n      # $schema: ¦"), []),
        (CRITERION.replace("Says so", '"Says # rubric-lint: ignore[¦"'), []),
        (CRITERION.replace("Says so", "'Says\n      ¦\n      so'"), []),
        (CRITERION.replace("Says so", "Says\n      wei¦"), []),
        (CRITERION.replace("Says so", '"Says # so" # rubric-lint: ignore[¦]'), sorted(BY_NAME)),
    ],
)
def test_only_what_fits_is_offered_in_yaml(text, expected):
    assert sorted(offer(text, name=YAML)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"rubrics": [{"id": "a", "expected_outcome": "x", "we¦"}]}', MORE),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x", ¦}]}', MORE),
        ('{"rubrics": [{"id": "a", ¦ "expected_outcome": "x"}]}', MORE),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x, }",\n "we¦",\n}]}', MORE),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x", "¦"},]}', MORE),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x", "we¦": 1}]}', ["weight", "required_min_score"]),
        ('{"rubrics": [¦]}', [*ANY, *WHOLE]),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x"\n  "we¦"\n}]}', MORE),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x"} ¦]}', [*CHECK, WHOLE[0]]),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x ¦"}]}', []),
    ],
)
def test_only_what_fits_is_offered_in_json(text, expected):
    assert sorted(offer(text, name=JSON)) == sorted(expected)


OTHER = '{"rubrics": [{"id": "a", "expected_outcome": "x"}]}\n'


@pytest.mark.parametrize("text", ["¦" + OTHER, OTHER + "¦", OTHER + "not JSON\n¦" + OTHER])
def test_only_what_fits_is_offered_in_json_lines(text):
    record = '{"rubrics": [{"id": "a", "expected_outcome": "x", "we¦"}]}\n'
    assert sorted(offer(text.replace("¦", record), name="/a.jsonl")) == sorted(MORE)


@pytest.mark.parametrize(
    ("text", "name", "label", "inserted"),
    [
        ("rubrics: [¦]\n", YAML, "weight", "{weight: ${1:1}}"),
        ("rubrics: [¦ {id: a}]\n", YAML, "weight", "{weight: ${1:1}}, "),
        ('{"rubrics": [¦]}', JSON, "weight", '{"weight": ${1:1}}'),
        (CRITERION + "    lev¦\n      1: Says no\n      2: Says so\n", YAML, "levels", "levels:"),
        ("$schema: https://rub¦\n", YAML, "https://rubric-lint.github.io/schemas/rubric-v2.schema.json", None),
        ('{"$schema": "https://rub¦"}', JSON, "https://rubric-lint.github.io/schemas/rubric-v2.schema.json", None),
        ("tests: [{id: a, ¦}]\n", "/a.rubric-test.yaml", "expect", "expect: {verdict: ${1|pass,borderline,fail|}}"),
        ("tests:\n  - expect:\n      ¦\n", "/a.rubric-test.yaml", "gates", "gates:\n  ${1:name}: ${2|met,missed|}"),
    ],
)
def test_what_is_taken_fits_its_place(text, name, label, inserted):
    assert ask(text.replace("¦", ""), name, text.index("¦"))[label].text_edit.new_text == (inserted or label)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('rubrics:\n  - {id: a, expected_outcome: "é😀", wei¦}\n', YAML),
        ('\ufeff{"rubrics": [{"id": "é😀", "expected_outcome": "x", "we¦"}]}', JSON),
        ('[[criterion]]\ndescription = "é😀"\ntype = "likert"\nannotations = {"é😀" = 1}\nwei¦ # 😀\n', "/judge.toml"),
    ],
)
def test_what_is_taken_replaces_what_was_typed_in_every_encoding(text, name, encoding):
    at = text.index("¦")
    line = text[:at].rpartition("\n")[2]
    units = {"utf-8": len(line.encode()), "utf-16": len(line.encode("utf-16-le")) // 2, "utf-32": len(line)}
    item = offer(text, snippets=False, name=name, encoding=encoding)["weight"]
    text = text.replace("¦", "")
    taken = accept(text, item, at) if encoding == "utf-16" else None
    start, end = (units[encoding] - each.character for each in (item.text_edit.range.start, item.text_edit.range.end))
    assert (start, end) == ((3, -1) if '"we' in text else (3, 0))
    assert taken is None or '"we"' not in taken


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CRITERION + "    ¦\n", YAML),
        ("rubrics: [{id: a, expected_outcome: Says so}, ¦]\n", YAML),
        ("rubrics:\n  - id: a\n    score_ranges: [{score_range: [0, 4], expected_outcome: No}, ¦]\n", YAML),
        (CRITERION + "    wei¦: 2\n", YAML),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x"}, ¦]}', JSON),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x"} ¦]}', JSON),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x"\n  "¦"\n}]}', JSON),
        ('{"rubrics": [{"id": "a", "expected_outcome": "x" "we¦": 2}]}', JSON),
        ("rubric: a.yaml\ntests:\n  - id: a\n    expect: {verdict: fail, ¦}\n", "/a.rubric-test.yaml"),
        ("rubric: a.yaml\ntests:\n  - id: a\n    expect: {verdict: fail}\n    ¦\n", "/a.rubric-test.yaml"),
        ("rubric: a.yaml\n¦\n", "/a.rubric-test.yaml"),
        ("rubric: a.yaml\ntests:\n  - ¦\n", "/a.rubric-test.yaml"),
        ('{"rubric": "a.yaml", "tests": [¦]}', "/a.rubric-test.json"),
    ],
)
def test_no_offer_breaks_what_is_there(text, name):
    at, text = text.index("¦"), text.replace("¦", "")
    known = _find_errors(name, text)
    offered = ask(text, name, at)
    assert offered
    for label, item in offered.items():
        assert any(not _find_errors(name, accept(text, item, at, words)) - known for words in FILLINGS), label


def _find_errors(name, text):
    """How often each rule finds an error that is not about what is still to be written."""
    return Counter(each[:2] for each in see(name, text).errors if each[1] not in LACKING)


AGENTV = """\
execution: {target: llm}
tests:
  - id: a
    criteria: Summarises the release
    input: Summarise release 4.2
    assertions:
      - ¦
      - type: rubrics
        criteria: [{id: date, outcome: States the date, operator: correctness}]
"""


@pytest.mark.parametrize("begun", ["type: ¦", "{type: ¦}", "name: new\n        type: ru¦"])
def test_an_assertion_is_offered_as_one_with_criteria_before_it_has_them(begun):
    offered = offer(AGENTV.replace("¦", begun), name="/a.eval.yaml")
    assert {"rubrics", "llm-grader"} <= set(offered)


def test_a_choice_holds_only_what_fits():
    text = AGENTV.replace("- type: rubrics", "- ¦").replace("      - ¦\n", "", 1)
    words = ask(text.replace("¦", ""), "/a.eval.yaml", text.index("¦"))["type"].text_edit.new_text
    assert words == "type: ${1:rubrics}"
