"""The fixes of faults that may be mended in several ways: each mends what it says, and changes nothing else."""

import json
import re

import pytest
from cases import read_cases
from faulty_rubrics import faulty_rubrics
from found import codes
from hypothesis import given
from lint_command import call
from ruamel.yaml import YAML
from styles import NOTE, read_data

import rubric_lint
from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import find_trouble, fix
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.repairs import write_placeholder
from rubric_lint.rules import RULES
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.source.edits.intents import ReplaceValue
from rubric_lint.source.source import Source, splice

TABLES = read_cases(__file__)


CASES = TABLES["CASES"]

OURS = FileSettings(claimed=True)
HEAD = "rubrics:\n  - id: a\n    score_ranges:\n"
GAP = f"""{HEAD}\
      # the worst
      - score_range: [0, 3]  # low
        expected_outcome: |
          Names none
          of them
      - score_range: [6, 10]
        expected_outcome: Names two
    weight: 2
  - {{id: b, score_ranges: {{0: Names none, 8: Names two}}}}
"""
OVERLAP = GAP.replace("[0, 3]", "[0, 7]")


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=CASES)
def test_a_choice_changes_what_it_says(name, case, said):
    text, choice = case
    # The band that closes a gap may hold a threshold, which is a finding with a choice of that name too.
    others = frozenset(rule.name for rule in RULES if name.startswith(("a band", "bands")) or rule.name != "split-band")
    settings = OURS._replace(enabled=others)
    fixed = fix("a.yaml", text.encode(), settings, choices=[choice]).text
    wide = fix("a.yaml", text.replace("\n", "\r\n").encode(), settings, choices=[choice]).data
    assert wide == fixed.replace("\n", "\r\n").encode()
    assert fixed.endswith("\n") is text.endswith("\n")
    said(fixed)


@pytest.mark.parametrize(("header", "below"), [("|+", "\n\n"), ("| # one + two", "")])
def test_an_id_goes_below_a_text_block_with_the_blank_lines_that_are_text(header, below):
    text = (
        f"rubrics:\n- score_ranges:\n    0: None\n    7: {header}\n      Names 7\n\n\n"
        "- {id: b, expected_outcome: Says it}\n"
    )
    settings = OURS._replace(enabled=frozenset({"missing-id"}))
    expected = text.replace(f"Names 7\n{below}", f"Names 7\n{below}  id: rubric-1\n")
    assert fix("a.yaml", text.encode(), settings, unsafe=True).text == expected


def test_only_what_has_one_answer_is_fixed_unasked_and_the_rest_is_named(said):
    fixed = fix("a.yaml", GAP.encode(), OURS, unsafe=True)
    assert fixed.applied == ()
    said([(left.finding.rule, left.reason) for left in fixed.left(unsafe=True)])
    nested = GAP.replace("[0, 3]", "[0, 10]")
    assert fix("a.yaml", nested.encode(), OURS, unsafe=True).text == nested.replace("[0, 10]", "[0, 5]")


def test_a_key_without_a_colon_is_in_the_way_of_a_copy():
    bands = "[{score_range: [5, 10], expected_outcome: Names the log, and its line}]"
    text = f"rubrics:\n  - {{id: a, score_ranges: {bands}}}\n"
    fixed = fix("a.yaml", text.encode(), OURS, choices=["add-band"])
    obstacles = [left.reason for left in fixed.left() if left.finding.rule == "coverage"]
    assert (fixed.is_changed, len(obstacles)) == (False, 1)
    assert obstacles[0].startswith("line 2: the key `and its line`")


def test_of_three_criteria_with_one_id_each_gets_its_own():
    text = "rubrics:\n" + "".join(f"  - {{id: a, expected_outcome: Names {each}}}\n" for each in ("one", "two", "all"))
    found = lint("a.yaml", text.encode(), OURS).findings
    assert [[choice.choice for choice in finding.choices] for finding in found] == [
        ["rename-later", "rename-earlier"],
        ["rename-later", "rename-earlier"],
    ]
    for choice, ids in {"rename-later": ["a", "a-2", "a-3"], "rename-earlier": ["a-2", "a-3", "a"]}.items():
        assert re.findall("id: (.*?),", fix("a.yaml", text.encode(), OURS, choices=[choice]).text) == ids


def test_a_split_says_that_it_changes_generated_ids_and_the_share_of_the_parts(said):
    two, three = "Asks for the age and recommends a doctor", "Names all of the following: red, blue and green"
    rubrics = (
        [{"id": "a", "expected_outcome": two}, "Is signed", {"id": "b", "expected_outcome": three}, "Is kind"],
        [{"id": "a", "expected_outcome": two}],
        [two, {"id": "b", "expected_outcome": "Is kind"}],
    )
    files = (json.dumps({"rubrics": criteria}).encode() for criteria in rubrics)
    said([[one.title for finding in lint("a.json", file, OURS).findings for one in finding.choices] for file in files])


@pytest.mark.parametrize(
    ("choice", "ids"),
    {"rename-later": ["a", "a-3", "a-4", "a-2"], "rename-earlier": ["a-3", "a-4", "a", "a-2"]}.items(),
)
def test_each_finding_of_an_id_names_the_new_id_that_its_fix_writes(choice, ids):
    outcomes = {"one": "a", "two": "a", "three": "a", "four": "a-2"}
    text = "rubrics:\n" + "".join(f"  - {{id: {id_}, expected_outcome: Names {n}}}\n" for n, id_ in outcomes.items())
    offered = [one for finding in lint("a.yaml", text.encode(), OURS).findings for one in finding.choices]
    fixed = fix("a.yaml", text.encode(), OURS, choices=[choice])
    assert [applied.title for applied in fixed.applied] == [one.title for one in offered if one.choice == choice]
    assert re.findall("id: (.*?),", fixed.text) == ids


@pytest.mark.parametrize(
    ("at", "place", "name"),
    [
        ((), ("expected_outcome",), "criterion"),
        (("rubrics", "a"), ("rubrics", "a", "expected_outcome"), "criterion"),
        (("rubrics", 1), ("rubrics", 1), "criterion 2"),
    ],
    ids=["the whole document", "in a mapping", "in a list"],
)
def test_a_placeholder_names_the_criterion_by_its_number_if_it_has_one(at, place, name):
    repair = write_placeholder({}, at, place)
    assert [type(intent) for intent in repair.intents] == [ReplaceValue]
    assert (repair.intents[0].path, repair.intents[0].text.endswith(f" {name}")) == (place, True)


def test_the_first_of_several_named_choices_wins():
    assert fix("a.yaml", OVERLAP.encode(), OURS, choices=["lower-keeps", "upper-keeps"]).text == OVERLAP.replace(
        "[6, 10]", "[8, 10]"
    )


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        (GAP.replace("- id: a", "- &a\n    id: a") + "  - <<: *a\n    id: c\n", "widen-lower"),
        (GAP.replace("score_ranges:", "score_ranges: &s", 1) + "  - {id: c, score_ranges: *s}\n", "add-band"),
        (
            OVERLAP.replace("- score_range: [6", "- &x\n        score_range: [6") + "  - {id: c, score_ranges: [*x]}\n",
            "lower-keeps",
        ),
        ("rubrics:\n  - {id: a, expected_outcome: &o ''}\n  - {id: b, expected_outcome: *o}\n", "placeholder"),
        (
            "rubrics:\n  - {id: &i a, expected_outcome: Names one}\n  - {id: *i, expected_outcome: Names two}\n",
            "rename-earlier",
        ),
    ],
    ids=["merge key", "bands", "band", "outcome", "id"],
)
def test_what_an_anchor_shares_with_another_criterion_stays_with_the_reason(text, choice, said):
    fixed = fix("a.yaml", text.encode(), OURS, choices=[choice])
    reasons = [left.reason for left in fixed.left(choices=[choice])]
    assert fixed.text == text
    said(reasons)


def apply(result, repair):
    """The text after a fix."""
    return result.source._replace(text=splice(result.source.text, repair.edits))


@pytest.mark.slow
@given(faulty_rubrics)
def test_each_fix_mends_its_finding_and_leaves_all_other_criteria_alone(faulty):
    result = lint(faulty.name, faulty.data, OURS)
    assert result.criteria == len(faulty.criteria)
    (before,) = read_data(faulty.name, faulty.data)
    for finding in result.findings:
        assert finding.fix or finding.choices or finding.obstacle
        for repair in [*([finding.fix] if finding.fix else []), *finding.choices]:
            assert find_trouble(result, [(finding, repair)], OURS) == ""
            new = apply(result, repair)
            data = new.to_bytes(new.text)
            after = lint(faulty.name, data, OURS)
            rest = [finding.rule for finding in after.findings]
            assert rest.count(finding.rule) < [finding.rule for finding in result.findings].count(finding.rule)
            (now,) = read_data(faulty.name, data)
            touched = {path[1] for path in (intent.path for intent in repair.intents)}
            assert len(touched) == 1
            for number, (then, criterion) in enumerate(zip(before["rubrics"], now["rubrics"], strict=True)):
                assert number in touched or criterion == then
            comments = [sorted(NOTE.findall(each)) for each in (new.text, result.source.text)]
            assert comments[0] == comments[1]
            assert Source.from_bytes(faulty.name, data).bom == result.source.bom
            assert new.text.count("\r\n") == (new.text.count("\n") if "\r" in result.source.text else 0)


EVERYTHING = ["upper-keeps", "widen-upper", "add-band", "placeholder", "rename-later"]


@given(faulty_rubrics)
def test_all_fixes_together_make_a_rubric_that_scores(faulty):
    fixed = fix(faulty.name, faulty.data, OURS, unsafe=True, choices=EVERYTHING)
    assert (fixed.doubt, fixed.left_out) == ("", "")
    assert {finding.rule for finding in fixed.result.findings} <= {"placeholder"}
    (rubric,) = load_rubrics(faulty.name, fixed.data, OURS).values()
    assert len(rubric.criteria) == len(faulty.criteria)
    again = fix(faulty.name, fixed.data, OURS, unsafe=True, choices=EVERYTHING)
    assert again.data == fixed.data


def test_a_comment_in_a_text_block_that_would_be_replaced_is_in_the_way(said):
    text = "rubrics:\n- id: a\n  expected_outcome: |  # twice\n    Asks for the name and recommends a nurse\n"
    fixed = fix("a.rubric.yaml", text.encode(), OURS, choices=["split"])
    (left,) = fixed.left(choices=["split"])
    assert fixed.text == text
    said(left.reason)


def test_the_report_and_the_functions_for_programs_have_the_choices(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.rubric.yaml").write_text(GAP, "utf-8")
    (found,) = json.loads(call("--format=json", "--no-cache")[0])["findings"]
    assert [(choice["name"], [edit["text"] for edit in choice["edits"]]) for choice in found["choices"]] == [
        ("widen-lower", ["5"]),
        ("widen-upper", ["4"]),
        ("add-band", ["      - score_range: [4, 5]\n        expected_outcome: TODO - say what earns scores 4 and 5\n"]),
    ]
    assert found["fix"] is None
    first, second = call("--format=json"), call("--format=json")  # the second one from the cache
    assert first == second
    assert rubric_lint.fix_source("a.rubric.yaml", GAP, choices=["widen-upper"]).text == GAP.replace("[6,", "[4,")


def test_the_command_takes_the_names_of_choices(tmp_path, monkeypatch, said):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.rubric.yaml"
    file.write_text(OVERLAP, "utf-8")
    said(call("a.rubric.yaml", program="rubric-fix"))
    assert call("--choose=upper-keeps,widen-lower", "a.rubric.yaml", program="rubric-fix") == (
        "a.rubric.yaml: fixed 1 finding\n  1 x end [0, 7] at 5 (overlap)\nFixed 1 finding in 1 of 1 file: 1 overlap.\n",
        "",
        0,
    )
    assert file.read_text("utf-8") == OVERLAP.replace("[0, 7]", "[0, 5]")
    output, errors, code = call("--choose=uper-keeps", program="rubric-fix")
    assert (output, code) == ("", 2)
    said(errors)


REFUSED = """\
tests:
- id: one
  evaluators:
  - name: grade
    name: grade
    rubrics:
    - {id: a, expected_outcome: Names one}
    - {id: b, expected_outcome: Names two}
    - {id: c, score_ranges: {0: Names none, 6: Names one}}
"""


def test_a_finding_whose_choice_was_refused_is_not_counted_as_fixable_by_it(tmp_path, monkeypatch, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.rubric.yaml").write_text(REFUSED, "utf-8")
    output, _, code = call("--choose=own-rubric", "a.rubric.yaml", program="rubric-fix")
    assert code == 0
    said(output)


def test_every_choice_of_a_finding_is_one_of_its_rule():
    for rule in RULES:
        assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) and told for name, told in rule.choices.items())


def scale(criteria):
    return "rubrics:\n" + "".join(f"  - {criterion}\n" for criterion in criteria)


AS_LEVELS = TABLES["AS_LEVELS"]


@pytest.mark.parametrize("case", AS_LEVELS)
def test_a_scale_of_its_own_written_as_bands_becomes_levels_by_choice_and_nothing_else(case):
    criteria, changes = AS_LEVELS[case]
    text = expected = scale(criteria)
    for old, new in changes.items():
        expected = re.sub(rf"{re.escape(old)}(?=\W)", new, expected)
    found = [
        finding
        for finding in lint("a.yaml", text.encode(), OURS).findings
        if finding.rule in {"coverage", "split-band"}
    ]
    assert {(each.rule, each.fix, tuple(choice.choice for choice in each.choices)) for each in found} == {
        ("coverage", None, ("as-levels",))
    }
    assert fix("a.yaml", text.encode(), OURS, unsafe=True).text == text
    assert fix("a.yaml", text.encode(), OURS, choices=["as-levels"]).text == expected
    assert [
        finding for finding in lint("a.yaml", expected.encode(), OURS).findings if finding.severity == "error"
    ] == []


@pytest.mark.parametrize(
    ("criteria", "code"),
    TABLES["bands that stay"].values(),
    ids=TABLES["bands that stay"],
)
def test_bands_become_levels_only_where_the_whole_rubric_does(criteria, code):
    (found,) = (
        finding for finding in lint("a.yaml", scale(criteria).encode(), OURS).findings if finding.rule == "coverage"
    )
    assert (found.code, found.fix, found.choices) == (code, None, ())


@pytest.mark.parametrize("bands", ["{1: a, 6: b, 8: c}", "{2: a, 3: b, 4: c}"])
def test_bands_that_leave_out_0_and_are_no_levels_start_at_0(bands):
    (found,) = (
        finding
        for finding in lint("a.yaml", scale([f"{{id: a, score_ranges: {bands}}}"]).encode(), OURS).findings
        if finding.rule == "coverage"
    )
    assert [edit.text for edit in found.fix.edits] == ["0"]


RANGES = TABLES["RANGES"]


@pytest.mark.parametrize("written", RANGES)
def test_ranges_as_keys_of_the_short_form_are_one_error(written):
    text = scale([f"{{id: a, score_ranges: {written}}}"])
    (found,) = (finding for finding in lint("a.yaml", text.encode(), OURS).findings if finding.severity == "error")
    key = re.search(r"\d+\D+\d+", written)[0]
    assert (found.rule, text[slice(*found.span)].strip("'")) == ("bounds", key)
    expected = RANGES[written]
    others = OURS._replace(enabled=frozenset({"bounds"}))
    fixed = fix("a.yaml", text.encode(), others, unsafe=True).text
    assert fixed == (text if expected is None else text.replace(written, expected))


@pytest.mark.parametrize("form", ["0-3", '"0-3"', "0 to 3", "00..3"])
def test_a_range_in_one_string_becomes_two_bounds(form):
    bands = "{score_range: %s, expected_outcome: x}, {score_range: [4, 10], expected_outcome: y}"
    for text in (f"rubrics: [{bands}]\n", f"rubrics: [{{id: a, score_ranges: [{bands}]}}]\n"):
        others = OURS._replace(enabled=frozenset({"schema"}))
        assert fix("a.yaml", (text % form).encode(), others, unsafe=True).text == text % "[0, 3]"
        assert fix("a.yaml", (text % form).encode(), others).text == text % form
    json = '{"rubrics": [{"score_range": %s, "expected_outcome": "x"}]}'
    assert fix("a.json", (json % '"0-3"').encode(), others, unsafe=True).text == json % "[0, 3]"


@pytest.mark.parametrize("keys", ["{7/10: x, 0: y}", "{4.5: x, 0: y}", "{low: x, 0: y}", "{0-3: x, low: y}"])
def test_other_keys_of_the_short_form_are_not_taken_for_ranges(keys):
    found = lint("a.yaml", scale([f"{{id: a, score_ranges: {keys}}}"]).encode(), OURS).findings
    assert [each.fix for each in found if each.rule == "bounds"] in ([None], [None, None])


@pytest.mark.parametrize(("choice", "numbers"), [("first-lowest", "012"), ("first-highest", "210")])
@pytest.mark.parametrize("form", ["flow", "block", "json"])
def test_names_as_levels_are_one_error_with_a_choice_of_their_order(form, choice, numbers):
    item = ', {"id": "b", "levels": [{"level": 1, "expected_outcome": "x"}, {"level": 2, "expected_outcome": "y"}]}]}'
    texts = {
        "flow": ("a.yaml", scale(["{id: a, levels: [none, some, all]}"])),
        "block": ("a.yaml", "rubrics:\n  - id: a\n    levels:\n      - none\n      - some\n      - all\n"),
        "json": ("a.json", '{"rubrics": [{"id": "a", "levels": ["none", "some", "all"]}' + item),
    }
    name, text = texts[form]
    # A second criterion shows that the list is ours.
    text += "" if form == "json" else "  - {id: b, levels: {1: Names none, 2: Names one}}\n"
    (found,) = (finding for finding in lint(name, text.encode(), OURS).findings if finding.severity == "error")
    assert (found.rule, found.pointer, found.fix) == ("schema", "/rubrics/0/levels", None)
    assert [choice.choice for choice in found.choices] == ["first-lowest", "first-highest"]
    fixed = fix(name, text.encode(), OURS, choices=[choice]).text
    levels = YAML(typ="safe").load(fixed)["rubrics"][0]["levels"]
    assert levels == [
        {"level": int(number), "expected_outcome": outcome}
        for number, outcome in zip(numbers, ("none", "some", "all"), strict=True)
    ]


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ("required_min_scor: 3, levels: {1: Names nothing, 3: Names all}", "required_min_level"),
        ("required_min_scor: 3, score_ranges: {0: Names nothing, 3: Names all}", "required_min_score"),
        ("required_min_levl: 3, score_ranges: {0: Names nothing, 3: Names all}", "required_min_score"),
        ("required_min_scor: 3, expected_outcome: Names all", "required_min_score"),
    ],
)
def test_a_misspelled_gate_becomes_the_one_of_the_shape(fields, name):
    text = f"rubrics: [{{id: a, {fields}}}]\n"
    fixed = fix("a.yaml", text.encode(), OURS, unsafe=True)
    assert re.findall(r"required\w+", fixed.text) == [name]
    assert not [finding.rule for finding in fixed.result.findings if finding.severity == "error"]


def test_a_criterion_is_split_after_the_other_fixes_in_it():
    text = (
        "rubrics:\n  - id: b\n    expected_outcome: Is signed\n"
        "  - expected_outcome: 'Names all of the following: red, blue and green'\n    required_min_scor: 5\n"
    )
    fixed = fix("a.yaml", text.encode(), OURS, unsafe=True, choices=["split"])
    assert sorted(applied.rule for applied in fixed.applied) == ["bundled-list", "missing-id", "unknown-field"]
    assert re.findall(r"(?:id|required\w+): \S+", fixed.text) == [
        "id: b",
        *("required_min_score: 5", "id: rubric-2"),
        *("required_min_score: 5", "id: rubric-2-2"),
        *("required_min_score: 5", "id: rubric-2-3"),
    ]


def test_a_name_in_place_of_the_id_is_one_error():
    text = scale(["{name: a, expected_outcome: Says who it was}", "{name: b, id: b, expected_outcome: Says when}"])
    found = lint("a.yaml", text.encode()).findings
    assert codes(found) == ["unknown-field.misspelt", "unknown-field.misspelt-beside"]
    assert fix("a.yaml", text.encode(), unsafe=True).text == text.replace("{name: a", "{id: a")


def test_choose_without_a_name_lists_the_choices_and_picks_none(tmp_path, program):
    file = tmp_path / "a.yaml"
    file.write_text(OVERLAP, "utf-8")
    code, output, errors = program("fix", "a.yaml", "--choose")
    assert (code, errors, file.read_text("utf-8")) == (0, "", OVERLAP)
    assert output.splitlines()[0].startswith("a.yaml:")
    assert [name in output for name in ("--choose upper-keeps", "--choose lower-keeps", "your choice")] == [
        True,
        True,
        False,
    ]
    code, _, errors = program("fix", "--choose", "a.yaml")
    assert (code, "write the path before --choose" in errors) == (2, True)


def test_no_fix_moves_scores_into_a_band_without_an_outcome():
    bands = "{score_range: [0, 6], expected_outcome: Names one}, {score_range: [7, 10], expected_outcome: %s}"
    other = "{id: b, score_ranges: [{score_range: [0, 10], expected_outcome: Names two}]}"
    text = f"rubrics:\n- {{id: a, required_min_score: 5, score_ranges: [{bands}]}}\n- {other}\n"
    fixes = {
        outcome: [
            finding.fix is not None
            for finding in lint("a.yaml", (text % outcome).encode()).findings
            if finding.rule == "split-band"
        ]
        for outcome in ("Names all", '""')
    }
    assert fixes == {"Names all": [True], '""': [False]}
