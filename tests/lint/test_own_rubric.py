"""Criteria of another shape move to a rubric of their own: byte by byte, with their comments, or not at all."""

import re
from copy import deepcopy

import pytest
from cases import read_cases
from faulty_rubrics import bands
from hypothesis import given
from hypothesis import strategies as st
from styles import NOTE, Styler, as_json, chances, read_data, write_json

from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import find_trouble, fix
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import Severity
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.source.source import splice

TABLES = read_cases(__file__)

OWN = "own-rubric"
CASES = TABLES["CASES"]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_criteria_move_with_their_comments_and_nothing_else_changes(case, said):
    name, text = case
    settings = FileSettings(claimed=".rubric." in name)
    moved = {}
    for end in ("\n", "\r\n"):
        fixed = fix(name, text.replace("\n", end).encode("utf-16"), settings, choices=[OWN])
        assert (fixed.doubt, [*fixed.left(choices=[OWN])]) == ("", [])
        assert "mixing" not in {finding.rule for finding in fixed.result.findings}
        moved[end] = fixed.data.decode("utf-16")
    assert moved["\r\n"] == moved["\n"].replace("\n", "\r\n")
    assert moved["\n"].endswith("\n") is text.endswith("\n")
    said(moved["\n"])


DEPTH = "{id: d, levels: {1: Names none, 2: Names one}}"
BANDS = "score_ranges: {0: Names none, 6: Names one}"
UNUSUAL = TABLES["UNUSUAL"]


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_notations_move_as_they_are(text, said):
    settings = FileSettings(claimed=True, enabled=frozenset({"mixing"}))
    said(repr(fix("a.yaml", text.encode(), settings, choices=[OWN]).text))


@pytest.mark.slow
def test_each_of_many_documents_is_split():
    document = f"rubrics: [Names one, Names two, {{id: c, {BANDS}}}]\n"
    fixed = fix("a.yaml", "---\n".join([document] * 23).encode(), FileSettings(claimed=True), choices=[OWN])
    kept, moved = "rubrics: [Names one, Names two]\n", f"rubrics: [{{id: c, {BANDS}}}]\n"
    assert fixed.text.split("---\n") == [kept] * 23 + [moved] * 23


MIXED = """\
rubrics:
  - id: a
    expected_outcome: Names one
  - id: b
    expected_outcome: Names two
  - id: c
    score_ranges: {0: Names none, 6: Names one}
"""


def test_it_is_done_only_if_asked_for_and_the_title_says_that_scores_change():
    fixed = fix("a.rubric.yaml", MIXED.encode(), FileSettings(claimed=True), unsafe=True)
    assert fixed.text == MIXED
    assert ["--choose own-rubric" in left.reason for left in fixed.left(unsafe=True)] == [True]
    suite = f"tests:\n  - evaluators:\n      - {MIXED.replace(chr(10), chr(10) + '        ')}"
    bands = suite.replace(
        "- id: c\n            score_ranges: {0: Names none, 6: Names one}", "- {score_range: [0, 10]}"
    )
    several = f"rubrics: [a, b, c, {', '.join([DEPTH.replace('d', each) for each in 'de'])}]\n"
    several = suite.replace(MIXED.replace("\n", "\n        "), several)
    for text, what in {suite: "criterion `c`", bands: "this band", several: "the 2 criteria with `levels`"}.items():
        (finding,) = (finding for finding in lint("a.yaml", text.encode()).findings if finding.rule == "mixing")
        assert [choice.title.startswith(f"move {what} to a new rubric") for choice in finding.choices] == [True]


def test_each_rubric_has_a_name_and_a_score_of_its_own():
    _, text = CASES["of two assertions of AgentV 4 to one beside each"]
    fixed = fix("a.eval.yaml", text.encode(), choices=[OWN])
    assert {
        name: [criterion.id for criterion in rubric.criteria]
        for name, rubric in load_rubrics("a.eval.yaml", fixed.data).items()
    } == {
        "refund/assertions/0": ["period", "rubric-2", "rubric-3"],
        "refund/assertions/1": ["detail"],
        "refund": ["rubric-1"],
        "refund/assertions/3": ["a", "rubric-2"],
        "refund/assertions/4": ["b"],
    }


SUITE = """\
tests:
  - id: t
    evaluators:
      - name: grade
        rubrics:
          - Names one
          - Names two
          - id: c
            score_ranges: {0: Names none, 6: Names one}
"""
STRINGS = "rubrics: [{id: a, score_ranges: {0: No, 6: Yes}}, Names it]\n"
MOVED = "- id: c\n            score_ranges"
SIGNED = "# $schema: rubric-v2.schema.json"
REFUSED = {
    "an anchor in what moves": ("a.yaml", SUITE.replace("ranges: {", "ranges: &s {")),
    "an anchor in what is copied": ("a.yaml", SUITE.replace("name: grade", "name: &n grade")),
    "an evaluator that others repeat": ("a.yaml", SUITE.replace("- name", "- &e\n        name") + "      - *e\n"),
    "an alias in what moves to another document": (
        "a.rubric.yaml",
        MIXED.replace("Names two", "&two Names two").replace("6: Names one", "6: *two"),
    ),
    "a comment above the first criterion": (
        "a.yaml",
        SUITE.replace("          - Names one\n          - Names two\n", "          # All of them\n").rstrip()
        + "\n          - Names one\n          - Names two\n",
    ),
    "a comment between two criteria": (
        "a.yaml",
        SUITE.replace(f"          {MOVED}", f"          # Of the text\n\n          {MOVED}"),
    ),
    "a comment below the last criterion": ("a.yaml", f"{SUITE}          # Of the last one?\n"),
    "a file of JSON": (
        "a.rubric.json",
        '{"rubrics": ["Names one", "Names two", {"id": "c", "score_ranges": {"0": "Names none", "6": "Names one"}}]}',
    ),
    "strings in a file that names no schema": ("a.yaml", f"# Of the text\n{STRINGS}"),
    "criteria that leave strings in a file that names no schema": (
        "a.yaml",
        STRINGS.replace("Names it]", "Names it, Names two]"),
    ),
    "criteria of a document that alone names its schema in a comment": (
        "a.yaml",
        f"rubrics: [Names it]\n---\n{SIGNED}\n{STRINGS}",
    ),
    "a text that would get blank lines at its end": (
        "a.yaml",
        SUITE.replace("- Names two", "- |+\n            Names two\n\n") + "\n      - {name: b, rubrics: [Names it]}\n",
    ),
    "a comment between brackets": (
        "a.rubric.yaml",
        "rubrics: [\n  Names one,  # one\n  Names two,\n  {id: c, score_ranges: {0: Names none, 6: Names one}}]\n",
    ),
    "an explicit key": ("a.rubric.yaml", MIXED.replace("rubrics:", "? rubrics\n:")),
    "a suite with rubrics at the top": ("a.rubric.yaml", MIXED + "tests: []\n"),
    "an evaluator with two rubrics": (
        "a.yaml",
        SUITE + "        then:\n          rubrics: [{id: d, expected_outcome: Names it}]\n",
    ),
    "an error beside the criteria, by the proof": (
        "a.yaml",
        SUITE.replace("name: grade", "name: grade\n        name: grade"),
    ),
}


def test_a_copy_has_a_name_of_its_own_where_the_name_is_an_alias(said):
    text = SUITE.replace("id: t", "id: &n t").replace("name: grade", "name: *n")
    said(fix("a.yaml", text.encode(), choices=[OWN]).text)


def test_a_document_is_added_below_a_comment_that_ends_the_file_without_a_line_end(said):
    text = MIXED.rstrip() + "\n  - |\n    Names three\n# the end"
    said(fix("a.rubric.yaml", text.encode(), choices=[OWN]).text)


@pytest.mark.parametrize(("head", "copied"), [(f"{SIGNED}\n", ""), ("$schema: rubric-v2.schema.json\n",) * 2])
def test_strings_move_if_what_names_the_schema_covers_a_new_document_too(head, copied):
    fixed = fix("a.yaml", f"{head}{STRINGS}".encode(), choices=[OWN])
    assert fixed.text == f"{head}{STRINGS.replace(', Names it', '')}---\n{copied}rubrics: [Names it]\n"
    assert [*fixed.left(choices=[OWN])] == []


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_cannot_move_stays_with_the_reason(case, said):
    name, text = case
    fixed = fix(name, text.encode(), FileSettings(claimed=".rubric." in name), choices=[OWN])
    (found,) = (left.reason for left in fixed.left(choices=[OWN]) if left.finding.rule == "mixing")
    assert fixed.text == text
    said(found)


@pytest.mark.parametrize(
    "text",
    [
        SUITE.replace("    evaluators:\n      - name: grade\n        rubrics:", "    rubrics:").replace(
            "\n          ", "\n      "
        ),
        f"defaults:\n  {MIXED.replace(chr(10), chr(10) + '  ')}",
        "rubrics:\n  - id: a\n    score_ranges: {0: No, 6: Yes}\n    levels: {1: No, 2: Yes}\n",
    ],
    ids=["a case", "defaults", "one criterion"],
)
def test_where_the_format_has_no_place_for_a_second_rubric_nothing_is_offered(text):
    found = [finding for finding in lint("a.yaml", text.encode()).findings if finding.rule == "mixing"]
    assert [(each.choices, each.fix, each.obstacle) for each in found] == [((), None, "")]


ERROR = "score_ranges: {3: Names none, 6: Names one}"
EVALUATOR = f"""\
      - name: n
        rubrics:
          - Names one
          - Names two
          - id: c
            {ERROR}
"""
FAULTY = {
    "in two evaluators of one list": (
        "a.yaml",
        (
            f"tests:\n  - evaluators:\n{EVALUATOR}{EVALUATOR.replace('name: n', 'name: m')}"
            "      - rubrics: [{id: d, score_ranges: {1: Names one}}]\n"
        ),
        [f"/tests/0/evaluators/{index}/rubrics/0/score_ranges" for index in (1, 3, 4)],
    ),
    "in the only document": (
        "a.rubric.yaml",
        (
            "rubrics:\n  - id: a\n    levels: {1: Names none, 2: Names one}\n"
            f"  - id: b\n    {ERROR}\n  - id: c\n    {ERROR}\n"
        ),
        ["/0/rubrics/0/score_ranges", "/0/rubrics/1/score_ranges"],
    ),
    "in the first of two documents": (
        "a.rubric.yaml",
        f"rubrics:\n  - Names one\n  - id: b\n    {ERROR}\n  - Names two\n---\nrubrics:\n  - id: c\n    {ERROR}\n",
        ["/1/rubrics/0/score_ranges", "/2/rubrics/0/score_ranges"],
    ),
}


@pytest.mark.parametrize("case", FAULTY.values(), ids=FAULTY)
def test_errors_in_the_criteria_are_known_where_they_are_then(case):
    name, text, places = case
    fixed = fix(name, text.encode(), FileSettings(claimed=".rubric." in name), choices=[OWN])
    errors = [finding for finding in fixed.result.findings if finding.severity is Severity.ERROR]
    assert [(place.rule, place.pointer) for place in errors] == [("coverage", place) for place in places]
    assert fixed.is_changed


SHAPES = {
    "checklist": [{"expected_outcome": "Names it: all"}, "Says why", "Zitiert 🙂"],
    "score_ranges": [
        {"score_ranges": bands((0, 4), (5, 10))},
        {"score_ranges": {0: "Names none", 6: "Names # two"}},
    ],
    "levels": [{"levels": {1: "Names none", 3: "Names one"}, "weight": 2.5}],
}


@st.composite
def mixed_rubrics(draw):
    """A file with one rubric of two shapes: its name, its bytes, its data, and what the data is once one has moved."""
    usual, odd = draw(st.permutations(sorted(SHAPES)))[:2]
    count = draw(st.integers(1, 3))
    kinds = draw(st.permutations([usual] * (count + 1) + [odd] * count))
    items = []
    for number, kind in enumerate(kinds):
        item = deepcopy(draw(st.sampled_from(SHAPES[kind])))
        items.append({"id": f"c{number}"} | item if isinstance(item, dict) else item)
    kept, moved = ([item for item, kind in zip(items, kinds, strict=True) if kind == each] for each in (usual, odd))
    is_file = draw(st.booleans())
    more = draw(st.sampled_from([{}, {"name": "it's"}, {"name": "grade", "weight": 1.5}]))
    below = {} if is_file else draw(st.sampled_from([{}, {"note": "Zwei"}, {"config": {"a": ["b", {"c": 1}]}}]))

    def holder(criteria, number=0):
        name = {"name": f"{more['name']}-2"} if number and "name" in more else {}
        return more | name | {"rubrics": criteria} | below

    def suite(*evaluators):
        return {"tests": [{"id": "t", "evaluators": [{"name": "first"}, *evaluators, {"type": "last"}], "input": "x"}]}

    random = draw(chances)
    writer = Styler(random, gap_rate=0.2)
    if is_file:
        name, data, expected = "a.rubric.yaml", holder(items), [holder(kept), holder(moved, 1)]
    else:
        name = draw(st.sampled_from(["a.yaml", "a.yaml", "a.json", "a.jsonl"]))
        data, expected = suite(holder(items)), [suite(holder(kept), holder(moved, 1))]
    if name.endswith("yaml"):
        return name, writer.finish(writer.fields(data, 0)), [data], expected
    return name, write_json(random, data, is_line=name == "a.jsonl").encode(), [data], expected


UNCLEAR = re.compile(r"line \d+: (it is unclear whether|it is unclear which|this comment may be about all)")


@pytest.mark.slow
@given(mixed_rubrics())
def test_the_data_is_what_it_should_be_and_all_other_lines_stay(mixed):
    name, data, before, expected = mixed
    settings = FileSettings(claimed=".rubric." in name)
    assert as_json(read_data(name, data)) == as_json(before)
    result = lint(name, data, settings)
    (finding,) = (finding for finding in result.findings if finding.rule == "mixing")
    if not finding.choices:
        assert UNCLEAR.match(finding.obstacle)
        return
    (repair,) = finding.choices
    assert find_trouble(result, [(finding, repair)], settings) == ""
    new = result.source._replace(text=splice(result.source.text, repair.edits))
    assert as_json(read_data(name, new.to_bytes(new.text))) == as_json(expected)
    assert all(finding.rule != "mixing" for finding in lint(name, new.to_bytes(new.text), settings).findings)
    texts = [each.splitlines() for each in (result.source.text, new.text)]
    assert sorted(NOTE.findall(result.source.text)) == sorted(NOTE.findall(new.text))
    cut = repair.edits[0].span
    above = result.source.text.count("\n", 0, cut.start)
    assert texts[1][:above] == texts[0][:above]
    before = result.source.text[: cut.start]
    if before.count("[") == before.count("]"):
        assert {*texts[0]} - {*texts[1]} - {""} == set()  # no line in block style is written otherwise
    assert new.text.count("\r\n") == (new.text.count("\n") if "\r" in result.source.text else 0)


def test_of_many_documents_those_that_cannot_be_split_each_have_their_own_reason():
    sound = "---\nrubrics:\n- {id: a, expected_outcome: Names it}\n- {id: b, score_ranges: {0: No, 5: Half, 9: All}}\n"
    weightless = sound.replace("id: b,", "id: b, weight: 0,")
    fixed = fix("a.rubric.yaml", (sound + weightless + sound + weightless).encode(), choices=(OWN,))
    assert [fixed.text.count(each.removeprefix("---\n")) for each in (sound, weightless)] == [0, 2]
    assert (len(fixed.applied), fixed.text.count("---\n")) == (2, 6)
    mixed = [(finding.pointer, finding.choices) for finding in fixed.result.findings if finding.rule == "mixing"]
    assert (mixed, fixed.refused) == ([("/1/rubrics/1", ()), ("/3/rubrics/1", ())], {})


def test_a_second_rubric_of_a_case_does_not_hide_that_two_cases_share_an_id():
    text = """\
tests:
- {id: a, input: x, assertions: [{type: rubrics, criteria: [{id: x, outcome: Names it}]}]}
- id: a
  input: x
  assertions:
  - type: rubrics
    criteria:
    - {id: b, outcome: Names that}
    - {id: c, score_ranges: [{score_range: [0, 10], outcome: Names none}]}
"""
    fixed = fix("suite.yaml", text.encode(), choices=[OWN])
    assert [applied.rule for applied in fixed.applied] == ["mixing"]
    assert "repeated-case.second-case" in [finding.code for finding in fixed.result.findings]


@pytest.mark.parametrize(
    ("weights", "is_offered"),
    [
        ((1, 1, 1), True),
        ((1, 1, 0), False),
        ((0, 0, 1), False),
        ((0, 1, 1), True),
        ((0, 0, 0), False),
        ((1, 1, "x"), True),
    ],
)
def test_no_rubric_without_weight_is_offered(weights, is_offered):
    fields = ["expected_outcome: Names one", "expected_outcome: Names two", BANDS]
    entries = [
        f"- {{id: c{n}, weight: {each}, {field}}}\n"
        for n, (each, field) in enumerate(zip(weights, fields, strict=True))
    ]
    result = lint("a.rubric.yaml", f"rubrics:\n{''.join(entries)}".encode(), FileSettings(claimed=True))
    (found,) = (finding for finding in result.findings if finding.rule == "mixing")
    assert [choice.choice for choice in found.choices] == ([OWN] if is_offered else [])


@pytest.mark.parametrize(
    ("ranges", "is_offered"),
    [
        (("[0, 5]", "[6, 10]"), True),
        (("[0, 5]", "[7, 10]"), False),
        (("[0, 6]", "[6, 10]"), False),
        (("[0, 10]",), True),
    ],
)
def test_bands_are_offered_a_rubric_of_their_own_only_if_they_have_each_score_once(ranges, is_offered):
    bands = "".join(f"- {{score_range: {each}, expected_outcome: Names {at}}}\n" for at, each in enumerate(ranges))
    text = f"rubrics:\n- {{id: a, expected_outcome: Names it}}\n- {{id: b, expected_outcome: Names that}}\n{bands}"
    result = lint("a.rubric.yaml", text.encode(), FileSettings(claimed=True))
    (found,) = (finding for finding in result.findings if finding.rule == "mixing")
    assert [choice.choice for choice in found.choices] == ([OWN] if is_offered else [])
    assert all(find_trouble(result, [(found, choice)], FileSettings(claimed=True)) == "" for choice in found.choices)
