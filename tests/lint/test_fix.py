# A file before and after reads better on one line than folded.
# ruff: noqa: E501

import codecs
import json
import re
from itertools import product
from pathlib import Path

import pytest
from cases import read_cases
from lint_command import call
from pages import DIALECTS, RULES, read_pages

from rubric_lint.lint.engine import examine, lint
from rubric_lint.lint.fix import DEPRECATIONS, SAFE, choose, find_trouble, fix
from rubric_lint.lint.fix.new_findings import DataChange
from rubric_lint.lint.fix.proof import ProofFailure, find_proof_failure, find_proof_failures
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import Finding, Severity, list_fixes
from rubric_lint.source.edits.intents import Fix, RemoveField, ReplaceValue
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Edit, Source, Span, splice

TABLES = read_cases(__file__)

EXAMPLES = [example for page in read_pages() for example in (*page.flagged, *page.accepted)]
OURS = FileSettings(claimed=True)
IMPLICIT = FileSettings(claimed=True, implicit_required=True)


def fixed_text(text, name="suite.yaml", settings=OURS, *, unsafe=False):
    """The text after the fixes, which have to be beyond doubt."""
    fixed = fix(name, text.encode(), settings, unsafe=unsafe)
    assert (fixed.doubt, fixed.left_out) == ("", "")
    return fixed.text


@pytest.mark.parametrize("head", ["", "rubrics:\n"], ids=["at the top", "in `rubrics`"])
def test_bands_that_version_3_has_in_a_mapping_are_sorted(head):
    margin = "  " if head else ""

    def write(*bands):
        lines = [f"# $schema: {SCHEMA}rubric-v3.schema.json\n{head}{margin}pass_threshold: 0.5\n{margin}criteria:\n"]
        for band, outcome in bands:
            lines.append(f"{margin}- score_range: {band}  # of {outcome}\n")
            lines.append(f"{margin}  expected_outcome: The answer names {outcome}.\n")
        return "".join(lines)

    low, middle, high = ("[0, 1]", "nothing"), ("[2, 4]", "a book"), ("[5, 10]", "the source")
    assert fixed_text(write(low, high, middle), "a.rubric.yaml", unsafe=True) == write(low, middle, high)
    gap = ("[3, 4]", "a book")  # other fixes that sort need a choice
    assert {finding.rule for finding in lint("a.rubric.yaml", write(low, high, gap).encode()).findings} == {
        "band-order",
        "coverage",
    }


def reasons(text, name="suite.yaml", settings=OURS):
    fixed = fix(name, text.encode(), settings)
    assert (fixed.doubt, fixed.left_out) == ("", "")
    return fixed.text, [(left.finding.rule, left.reason) for left in fixed.left()]


TEXTS = {name: f"rubrics:\n{text}" for table in ("BLOCK", "FLOW") for name, text in TABLES[table].items()}
TEXTS |= TABLES["WHOLE"]


MARKS = {
    "utf-8": b"",
    "utf-8-sig": b"",
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32": b"",
}


@pytest.mark.spread(3)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_only_the_fields_change(text, said):
    text = f"# État 🙂\n{text}"
    expected = fixed_text(text)
    for (codec, mark), line_end in product(MARKS.items(), ("\n", "\r\n", "\r")):
        data, wanted = (mark + each.replace("\n", line_end).encode(codec) for each in (text, expected))
        fixed = fix("suite.yaml", data, OURS)
        assert (fixed.doubt, fixed.data) == ("", wanted), (codec, line_end)
    said(repr(expected[-1:]), expected)


def test_json_and_json_lines():
    text = '{"rubrics": [{"id": "a", "description": "Cites \\u00e9", "required": true},\n {"required":false,"id":"b","expected_outcome":"No \\"x\\""}]}'
    expected = '{"rubrics": [{"id": "a", "expected_outcome": "Cites \\u00e9", "required_min_score": 10},\n {"id":"b","expected_outcome":"No \\"x\\""}]}'
    assert fixed_text(text, "suite.json") == expected
    one, two = (each.replace("\n", "") for each in (text, expected))
    assert fixed_text(f"{one}\n\n{one}", "suite.jsonl") == f"{two}\n\n{two}"


def test_a_line_that_is_no_json_does_not_keep_the_others_from_their_fixes():
    text = '{"rubrics": [{"id": "a", "description": "Says it"}]}\n{"oops\n{"rubrics": [{"id": "b", "description": "Says it"}]}\n'
    fixed = fix("suite.jsonl", text.encode())
    assert (fixed.text, fixed.doubt) == (text.replace("description", "expected_outcome"), "")
    assert [fixed.result.source.position(fault.span.start).line for fault in fixed.faults()] == [2]


OBSTACLES = TABLES["OBSTACLES"]


@pytest.mark.parametrize("text", OBSTACLES.values(), ids=OBSTACLES)
def test_what_cannot_be_fixed_stays_and_the_reason_is_told(text, said):
    left, told = reasons(text)
    assert left == text
    said(told)


MERGED = TABLES["MERGED"]


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("text", MERGED.values(), ids=MERGED)
def test_no_fix_changes_what_a_merge_key_brings_into_another_criterion(text, unsafe, said):
    fixed = fix("suite.yaml", text.encode(), OURS, unsafe=unsafe)
    assert (fixed.text, fixed.doubt) == (text, "")
    said([(each.finding.pointer, each.reason) for each in fixed.left(unsafe=unsafe)])


def test_unsafe_fixes_are_made_on_request_only(said):
    text = "rubrics:\n- {id: a, expected_outcom: Cites it, requird: false}\n"
    assert fixed_text(text) == text
    said(fixed_text(text, unsafe=True))


def test_an_id_that_is_added_to_json_has_quotes():
    text = '{"rubrics": [{"expected_outcome": "Cites it"}, {"weight": 2, "expected_outcome": "Names it"}]}'
    fixed = text.replace('it"}', 'it", "id": "rubric-1"}', 1).replace('Names it"', 'Names it", "id": "rubric-2"')
    assert fixed_text(text, "a.rubric.json", unsafe=True) == fixed
    lines = '{"tests": [{"id": "t", "rubrics": [{"expected_outcome": "Cites it"}]}]}\n'
    assert fixed_text(lines, "a.jsonl", unsafe=True) == lines.replace('it"}', 'it", "id": "rubric-1"}')


@pytest.mark.parametrize("criterion", ["{}", "{<<: *b}"])
def test_a_mapping_without_fields_says_which_field_to_write(criterion, said):
    text = f"base: &b {{expected_outcome: Cites it}}\nrubrics: [{{id: a, expected_outcome: Names it}}, {criterion}]\n"
    fixed = fix("suite.yaml", text.encode(), OURS, unsafe=True)
    (left,) = fixed.left(unsafe=True)
    assert fixed.applied == ()
    said(left.reason)


def test_a_split_band_has_no_fix_that_would_split_the_next_band():
    text = """\
rubrics:
  - {score_range: [0, 3], expected_outcome: Does not compile}
  - {score_range: [4, 7], expected_outcome: Compiles but fails a test}
  - {score_range: [8, 10], expected_outcome: Passes all tests}
"""
    (finding,) = lint("suite.yaml", text.encode(), OURS).findings
    assert (finding.rule, finding.fix) == ("split-band", None)


UNSAFE = TABLES["UNSAFE"]


@pytest.mark.parametrize("text", UNSAFE.values(), ids=UNSAFE)
def test_one_unsafe_fix_that_is_refused_keeps_no_other_back(text, said):
    fixed = fix("suite.yaml", text.encode(), OURS, unsafe=True)
    left = [(each.finding.rule, each.reason) for each in fixed.left(unsafe=True)]
    said(fixed.text, left, [finding.rule for finding in fixed.result.findings])


SORTED = "score_ranges: {8: Names all, 0: Names nothing}"
OTHER = "- {id: b, score_ranges: {0: Names no, 5: Names yes}}\n"
READ_NOW = {
    "a gate that splits a band": (f"- {{id: a, requird_min_score: 9, {SORTED}}}\n", {"band-order", "unknown-field"}),
    "an id that another one has": (f"- {{ID: b, weight: 2, {SORTED}}}\n", {"band-order"}),
    "levels beside the bands": (f"- {{id: a, Levels: {{1: Names no, 2: Names all}}, {SORTED}}}\n", {"band-order"}),
}


@pytest.mark.parametrize(("criterion", "rules"), READ_NOW.values(), ids=READ_NOW)
def test_what_a_new_name_uncovers_refuses_no_other_fix_and_itself_if_it_is_an_error(criterion, rules):
    text = f"rubrics:\n{OTHER}{criterion}"
    fixed = fix("suite.yaml", text.encode(), OURS, unsafe=True)
    assert (fixed.doubt, {each.rule for each in fixed.applied}) == ("", rules)
    assert [rule for rule, _ in fixed.refused] == ["unknown-field"] * ("unknown-field" not in rules)
    assert all(reason.startswith("line 3 would be a new finding, ") for reason in fixed.refused.values())


def test_a_fix_that_only_others_make_possible_keeps_none_of_them_from_their_reason():
    criteria = ["id: b", "name: a-2", "ID: a-2, required_min_scor: 5"]
    bands = (f"0: Names nothing {number}, 8: Names it all {number}" for number in range(3))
    entries = (f"- {{{one}, score_ranges: {{{two}}}}}\n" for one, two in zip(criteria, bands, strict=True))
    text = f"rubrics:\n{''.join(entries)}"
    fixed = fix("suite.yaml", text.encode(), OURS, unsafe=True)
    assert sorted(each.rule for each in fixed.applied) == ["split-band", "unknown-field", "unknown-field"]
    (reason,) = fixed.refused.values()
    assert reason.startswith("line 4 would be a new finding, duplicate-id: ")


def test_a_search_without_an_end_gives_the_last_doubt_about_each_fix(monkeypatch):
    monkeypatch.setattr("rubric_lint.lint.fix.search.MAX_TRIALS", 2)
    text = "rubrics:\n" + "".join(f"- {{idd: a, wieght: 1, expected_outcome: Cites {number}}}\n" for number in range(3))
    fixed = fix("suite.yaml", text.encode(), OURS, unsafe=True)
    assert fixed.refused
    assert all("would be a new finding, duplicate-id: " in reason for reason in fixed.refused.values())


RIVALS = {
    "two gates": "requird_min_score: 7, required: true, expected_outcome: Names it",
    "two outcomes": "expcted_outcome: Names it, description: Names all",
}


@pytest.mark.parametrize("fields", RIVALS.values(), ids=RIVALS)
def test_a_deprecated_and_a_misspelt_field_for_one_meaning_both_stay_with_the_reason(fields, said):
    text = f"rubrics:\n- {{id: a, {fields}}}\n- {{id: b, expected_outcome: Names no}}\n"
    for unsafe in (False, True):
        fixed = fix("suite.yaml", text.encode(), OURS, unsafe=unsafe)
        left = {each.finding.rule.partition("-")[0]: each.reason for each in fixed.left(unsafe=unsafe)}
        assert (fixed.text, left.keys()) == (text, {"deprecated", "unknown"})
    said({*left.values()})


def test_a_field_that_only_repeats_the_default_keeps_no_misspelt_gate_from_its_name():
    text = "rubrics:\n- {id: a, required: false, requird_min_score: 7, expected_outcome: Names it}\n"
    fixed = fix("suite.yaml", text.encode(), OURS, unsafe=True)
    assert fixed.text == text.replace("required: false, requird", "required")


def test_a_fix_in_another_system_is_refused_for_what_it_would_bring():
    """Its criteria are not where a rubric of ours would have them."""
    text = """\
[judge]
judge = "claude-code"
[[criterion]]
name = "a"
description = "Names the day"
wieght = -1
[[criterion]]
name = "b"
description = "Names the hour"
wieght = 2
"""
    fixed = fix("judge.toml", text.encode(), unsafe=True)
    assert fixed.text == text.replace("wieght = 2", "weight = 2")
    assert [
        (each.finding.code, each.finding.pointer, each.reason.partition(":")[0]) for each in fixed.left(unsafe=True)
    ] == [("unknown-field.misspelt", "/criterion/0/wieght", "line 6 would be a new finding, weight")]


def count_lints(monkeypatch):
    """The texts that are linted while a file is fixed."""
    linted = []

    def record(source, *args, **named):
        linted.append(source.text)
        return examine(source, *args, **named)

    monkeypatch.setattr("rubric_lint.lint.fix.search.examine", record)
    return linted


def test_each_refused_fix_has_its_own_reason_and_many_take_no_more_lints_than_one(monkeypatch):
    def write(count):
        return "".join(f"- {{idd: a, expected_outcome: Cites {number}}}\n" for number in range(count))

    counts = []
    for count in (1, 60):
        linted = count_lints(monkeypatch)
        sound = "rubrics:\n- {id: a, description: Names it}\n"
        fixed = fix("suite.yaml", (sound + write(count)).encode(), OURS, unsafe=True)
        assert fixed.text == sound.replace("description", "expected_outcome") + write(count)
        reasons = [left.reason for left in fixed.left(unsafe=True)]
        lines = [int(re.match(r"line (\d+) would be a new finding, duplicate-id: ", reason)[1]) for reason in reasons]
        assert lines == list(range(3, count + 3))
        counts.append(len(linted))
    assert counts == [3, 3]


def test_a_text_is_read_once_for_each_time_that_it_is_linted(monkeypatch):
    read = []

    def record(source):
        read.append(source.text)
        return read_documents(source)

    for module in ("rubric_lint.lint.engine", "rubric_lint.lint.fix.proof"):
        monkeypatch.setattr(f"{module}.read_documents", record)
    linted = count_lints(monkeypatch)
    face = r"\ud83d\ude00"
    text = f'rubrics:\n- {{id: a, description: "Names it {face}", requird_min_score: 10}}\n'
    fixed = fix("suite.yaml", text.encode(), OURS, unsafe=True)
    assert fixed.text == text.replace("description", "expected_outcome").replace("requird", "required")
    assert read == [text, *linted]
    assert len(linted) == 2


UNPROVABLE = {
    "its own criterion": "- {id: z, expected_outcome: Cites it, wieght: -2}\n",
    "the next criterion": "- {id: z, expcted_outcome: Names 3, weight: 2}\n- {id: y, expcted_outcome: Names 3}\n",
}


@pytest.mark.parametrize("bad", UNPROVABLE.values(), ids=UNPROVABLE)
def test_unsafe_fixes_never_cost_a_safe_one(bad):
    sound = "".join(f"- {{id: a{number}, description: Names {number}}}\n" for number in range(40))
    text = f"rubrics:\n{sound}{bad}"
    plain, unsafe = (fix("suite.yaml", text.encode(), OURS, unsafe=unsafe) for unsafe in (False, True))
    assert [each.applied.count(plain.applied[0]) for each in (plain, unsafe)] == [40, 40]
    assert "description" not in unsafe.text


@pytest.mark.slow
def test_a_doubt_without_a_place_costs_only_the_fixes_that_cause_it(monkeypatch):
    def refuse(before, after, changes):
        yield from find_proof_failures(before, after, changes)
        if {"/rubrics/7/description", "/rubrics/31/description"} & {change.pointer for change in changes}:
            yield ProofFailure("it goes wrong")

    monkeypatch.setattr("rubric_lint.lint.fix.search.find_proof_failures", refuse)
    linted = count_lints(monkeypatch)
    text = "rubrics:\n" + "".join(f"- {{id: a{number}, description: Names {number}}}\n" for number in range(40))
    fixed = fix("suite.yaml", text.encode(), OURS)
    assert [(left.finding.pointer, left.reason) for left in fixed.left()] == [
        ("/rubrics/7/description", "it goes wrong"),
        ("/rubrics/31/description", "it goes wrong"),
    ]
    assert fixed.text.count("expected_outcome") == 38
    assert len(linted) < 30


def test_fixes_without_an_end_are_refused(monkeypatch, said):
    monkeypatch.setattr("rubric_lint.lint.fix.search.MAX_ROUNDS", 1)
    fixed = fix("suite.yaml", b"rubrics:\n- {id: a, description: Cites it}\n", OURS)
    assert fixed.applied == ()
    said([left.reason for left in fixed.left()])


BANDS = "rubrics:\n  - id: a\n    score_ranges:\n"
MECHANICAL = TABLES["MECHANICAL"]


@pytest.mark.parametrize("text", MECHANICAL.values(), ids=MECHANICAL)
def test_mechanical_cures_are_unsafe_fixes(text, said):
    for line_end in ("\n", "\r\n"):
        data = text.replace("\n", line_end).encode()
        assert not fix("suite.yaml", data, OURS).is_changed
        cured = fix("suite.yaml", data, OURS, unsafe=True).text
        assert cured.replace(line_end, "\n") == fixed_text(text, unsafe=True)
    said(fixed_text(text, unsafe=True))


@pytest.mark.parametrize(
    "text",
    [
        BANDS + "      # the best\n      - {score_range: [5, 10], expected_outcome: Names two}\n"
        "      - {score_range: [0, 4], expected_outcome: Names none}  # the worst\n",
        BANDS + "      - {score_range: [5, 10], expected_outcome: Names two}\n      # then\n\n"
        "      - {score_range: [0, 4], expected_outcome: Names none}\n",
        (
            "rubrics:\n  - id: a\n    score_ranges: [\n      {score_range: [5, 10], expected_outcome: Names two}, # b\n"
            "      {score_range: [0, 4], expected_outcome: Names none}]\n"
        ),
        "rubrics:\n  - id: a\n    score_ranges: {5: Names two, 0: Names none, 0: Names zero}\n",
    ],
    ids=["above all", "between", "in brackets", "a key twice"],
)
def test_bands_that_cannot_be_sorted_stay(text, said):
    fixed = fix("suite.yaml", text.encode(), OURS, unsafe=True)
    (left,) = [each for each in fixed.left(unsafe=True) if each.finding.rule == "band-order"]
    assert fixed.text == text
    said(left.reason)


def test_only_the_selected_rules_fix(said):
    text = "rubrics:\n- {id: a, description: Cites it, required: true}\n"
    only = FileSettings(claimed=True, enabled=frozenset({"deprecated-required"}))
    said(fixed_text(text, settings=only))


IMPLIED = {
    "mapping": "- id: a\n  expected_outcome: Cites it # why\n",
    "without-line-end": "- id: a\n  expected_outcome: It",
    "text-block": "- id: a\n  expected_outcome: |+\n    Cites it\n\n",
    "only-a-text-block": "- expected_outcome: |\n    Cites it\n",
    "flow": "- {id: a, expected_outcome: Cites it}\n",
    "not-required": "- {id: a, expected_outcome: Cites it, required: false}\n",
    "text": "- Cites it # why\n- &x 'Names it'\n- *x\n",
    "already-said": "- {id: a, expected_outcome: It, required_min_score: 10}\n",
    "no-checklist": "- {id: a, required: false, score_ranges: {0: Cites nothing, 8: Cites it}}\n",
}


@pytest.mark.parametrize("text", IMPLIED.values(), ids=IMPLIED)
def test_implied_gates_are_written_out(text, said):
    said(fixed_text(f"rubrics:\n{text}", settings=IMPLICIT))


def test_implied_gates_are_written_out_in_json():
    text = '{"rubrics": ["Cites it", {\n  "id": "b",\n  "expected_outcome": "Names it"\n}]}'
    assert fixed_text(text, "suite.json", IMPLICIT) == (
        '{"rubrics": [{"id": "rubric-1", "expected_outcome": "Cites it", "required_min_score": 10}, {\n  "id": "b",\n'
        '  "expected_outcome": "Names it",\n  "required_min_score": 10\n}]}'
    )


def test_texts_of_several_lines_become_mappings_too(said):
    text = "rubrics:\n- Cites it\n  and names it\n- |  # why\n  Cites it\n\n    and names it\n- 'Cites: it'\n"
    said(fixed_text(text, settings=IMPLICIT))


SCHEMA = "https://rubric-lint.github.io/schemas/"


@pytest.mark.parametrize(
    ("name", "text"), TABLES["a file that names the"].values(), ids=TABLES["a file that names the"]
)
def test_a_file_that_names_the_old_schema_names_the_new_one(name, text):
    assert fixed_text(text, name) == text.replace("-v1.", "-v2.").replace("description", "expected_outcome")


def test_a_file_of_version_3_keeps_its_version_and_loses_its_deprecated_fields_at_any_depth():
    text = (
        f"# $schema: {SCHEMA}rubric-v3.schema.json\nscale: [1, 5]\ncriteria:\n"
        "- {id: a, description: Cites it}\n- {id: b, criteria: [{id: c, description: Names it}]}\n"
    )
    assert fixed_text(text) == text.replace("description", "expected_outcome")


@pytest.mark.parametrize(
    ("rules", "version"),
    [(DEPRECATIONS, "v2"), (DEPRECATIONS | {"weight"}, "v2"), ({"deprecated-required"}, "v1"), ({"weight"}, "v1")],
    ids=["both", "more", "one", "none"],
)
def test_a_file_names_the_new_schema_where_all_rules_run_that_bring_it_there(rules, version):
    text = f"# $schema: {SCHEMA}rubric-v1.schema.json\nrubrics:\n- {{id: a, description: It}}\n"
    expected = text.replace("-v1.", "-v2.").replace("description", "expected_outcome") if version == "v2" else text
    assert fixed_text(text, settings=FileSettings(enabled=frozenset(rules))) == expected


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_a_file_that_cannot_be_brought_to_the_new_schema_keeps_the_old_one(unsafe, said):
    text = f"# $schema: {SCHEMA}rubric-v1.schema.json\ntests: [&x {{description: Cites it}}]\nrubrics:\n- {{id: a, <<: *x}}\n"
    fixed = fix("suite.yaml", text.encode(), unsafe=unsafe)
    assert (fixed.text, fixed.doubt) == (text, "")
    said(fixed.left_out)


def test_one_awkward_place_does_not_keep_the_others_from_their_fixes():
    awkward = (
        "rubrics:\n- &a {id: a, expected_outcome: Cites it, required: true}\n"
        "- {<<: *a, id: b, expected_outcome: Names it, required: false}\n"
    )
    others = "".join(f"- {{id: c{number}, description: Is {number}}}\n" for number in range(9))
    fixed = fix("suite.yaml", (awkward + others).encode(), OURS)
    assert (fixed.text, fixed.doubt) == (awkward + others.replace("description", "expected_outcome"), "")
    assert [(left.finding.pointer, bool(left.reason)) for left in fixed.left()] == [
        ("/rubrics/0/required", True),
        ("/rubrics/1/required", True),
    ]


@pytest.mark.spread(5)
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.label)
def test_the_examples_of_the_pages_are_fixed_beyond_doubt_and_once(example, unsafe):
    fixed = fix(example.name, example.text.encode(), unsafe=unsafe)
    again = fix(example.name, fixed.data, unsafe=unsafe)
    assert (fixed.doubt, fixed.left_out, again.applied, again.doubt) == ("", "", (), "")
    fixable = [finding.fix for finding in fixed.result.findings if finding.fix and (unsafe or finding.fix.safe)]
    assert fixable == []


BEFORE = "a: {description: One, required: true} # note\n"


DOUBTS = TABLES["DOUBTS"]


@pytest.mark.parametrize("bracket", ["}", " }", "  }"])
def test_the_proof_sees_a_bracket_that_strict_readers_would_refuse(bracket, said):
    old, new = (Source("a.yaml", f"a:\n  b: {{c: d # note\n{end}\n") for end in ("   }", bracket))
    assert find_proof_failure(new, new, [], OURS) == ""
    said(find_proof_failure(old, new, [], OURS))


@pytest.mark.parametrize("after", DOUBTS.values(), ids=DOUBTS)
def test_the_proof_sees_every_difference(after, said):
    assert find_proof_failure(Source("a.yaml", BEFORE), Source("a.yaml", BEFORE), [], OURS) == ""
    said(find_proof_failure(Source("a.yaml", BEFORE), Source("a.yaml", after), [], OURS))


def test_the_proof_knows_what_is_intended(said):
    after = Source("a.yaml", "a: {description: One} # note\n")
    removal = DataChange("/a/required", (RemoveField(("a", "required")),), (), safe=True)
    replacing = DataChange("/a/required", (ReplaceValue(("a", "required"), "false"),), (), safe=True)
    doubts = [find_proof_failure(Source("a.yaml", BEFORE), after, [change], OURS) for change in (removal, replacing)]
    said(doubts)


def test_the_proof_sees_that_a_rubric_would_be_scored_in_another_way(said):
    old, new = (f"rubrics: [{{id: a, expected_outcome: It, {field}}}]\n" for field in ("required: true", "weight: 2"))
    path = ("rubrics", 0, "required")
    both = DataChange("", (RemoveField(path),), (), safe=True)
    without = new.replace(", weight: 2", "")
    doubt = find_proof_failure(Source("a.yaml", old), Source("a.yaml", without), [both], OURS)
    said(doubt)


COMMENTS = "# a\nb: 1 # c\n"
OF_COMMENTS = {
    "a comment that goes": ((0, 4), ""),
    "a longer comment": ((0, 3), "# much longer"),
    "the end of a comment": ((10, 12), "# d"),
    "a line after a comment": ((3, 3), "\n"),
    "a blank before a comment": ((9, 9), " "),
}


def doubt_edit(span, text):
    edit = Edit(Span(*span), text)
    change = DataChange("/0", (), (edit,), safe=True)
    return find_proof_failure(Source("a.yaml", COMMENTS), Source("a.yaml", splice(COMMENTS, [edit])), [change], OURS)


@pytest.mark.parametrize(("span", "text"), OF_COMMENTS.values(), ids=OF_COMMENTS)
def test_the_proof_knows_which_comments_an_edit_without_intents_changes(span, text):
    assert doubt_edit(span, text) == ""


def test_the_proof_sees_a_value_that_an_edit_without_intents_changes(said):
    said(doubt_edit((7, 8), "22"))


def test_the_proof_lets_no_edit_of_a_field_take_a_comment_along(said):
    edit = Edit(Span(0, 9), "")
    change = DataChange("/0/a", (RemoveField(("a",)),), (edit,), safe=True)
    old, new = Source("a.yaml", "a: 1 # c\nb: 2\n"), Source("a.yaml", "b: 2\n")
    said(find_proof_failure(old, new, [change], OURS))


@pytest.mark.parametrize(
    ("shape", "gate"), TABLES["a gate at zero decides"].values(), ids=TABLES["a gate at zero decides"]
)
def test_a_gate_at_zero_decides_something_among_levels_alone(shape, gate, said):
    new = f"rubrics: [{{id: a, {shape}}}]\n"
    old = new.replace("}]", f", {gate}: 0}}]")
    change = DataChange("", (RemoveField(("rubrics", 0, gate)),), (), safe=True)
    doubt = find_proof_failure(Source("a.yaml", old), Source("a.yaml", new), [change], OURS)
    assert bool(doubt) == (gate == "required_min_level")
    said(doubt)


def test_fixes_that_touch_the_same_text_wait_for_the_next_round():
    result = lint("suite.yaml", b"rubrics:\n- {id: a, description: It, expected_outcome: It, required: true}\n", OURS)
    chosen = [finding.rule for finding, _ in choose([*result.findings, *result.findings], SAFE)]
    assert chosen == ["conflicting-field", "deprecated-required"]


def test_a_fix_with_one_edit_in_text_that_is_taken_waits_as_a_whole():
    def find(rule, *starts):
        edits = tuple(Edit(Span(start, start + 2), "") for start in starts)
        return Finding(rule, Severity.ERROR, "", Span(0, 1), "", fix=Fix("cut", edits, safe=True))

    found = [find("first", 0, 10), find("second", 5, 11), find("third", 7, 12)]
    assert [finding.rule for finding, _ in choose(found, SAFE)] == ["first", "third"]


def test_what_cannot_be_read_is_left_alone():
    for data in (b"rubrics: [\xff]", b"rubrics: [", b"", b"# nothing\n", b"rubrics: 1\x00"):
        fixed = fix("a.rubric.yaml", data, OURS)
        assert (fixed.applied, fixed.doubt) == ((), "")


@pytest.mark.parametrize("rest", ["", "  - id: b\n    description: Names a source\n"])
def test_a_criterion_that_is_nothing_but_a_gate_is_fixed_once_and_for_all(rest):
    text = f"rubrics:\n  - required: false\n{rest}"
    fixed = fixed_text(text)
    assert fixed == f"rubrics:\n  - {{}}\n{rest.replace('description', 'expected_outcome')}"
    assert [finding.rule for finding in lint("suite.yaml", fixed.encode(), OURS).findings] == ["missing-id", "schema"]
    assert fixed_text(fixed) == fixed


ROOT = Path(__file__).parents[1]
FILES = [
    *(
        (example.name, example.text)
        for folder in (RULES, DIALECTS)
        for page in read_pages(folder)
        for example in page.flagged
    ),
    *(
        (path.name, path.read_text("utf-8"))
        for path in [*(ROOT / "suites").iterdir(), *(ROOT.parent / "examples").glob("*.*")]
    ),
]


@pytest.mark.slow
def test_each_fix_and_choice_that_is_offered_can_be_made_alone_and_ends_its_finding():
    refused = []
    offered = 0
    for name, text in FILES:
        result = lint(name, text.encode())
        for finding in result.findings:
            for repair in list_fixes(finding):
                offered += 1
                if reason := find_trouble(result, [(finding, repair)], FileSettings()):
                    refused.append((name, finding.code, repair.title, reason))
    assert refused == []
    assert offered > 120


DATA_FILES = [(name, text) for name, text in FILES if name.endswith((".yaml", ".yml", ".json"))]


@pytest.mark.slow
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_fixes_are_the_same_in_each_encoding_and_with_each_line_end(unsafe):
    """Files of the repository: all bytes are those of the first text, but for what was fixed there."""
    different, changed = [], 0
    for name, text in DATA_FILES:
        expected = fix(name, text.encode(), unsafe=unsafe)
        changed += expected.is_changed
        for (codec, mark), end in product(MARKS.items(), ("\n", "\r\n", "\r")):
            data, wanted = (mark + each.replace("\n", end).encode(codec) for each in (text, expected.text))
            fixed = fix(name, data, unsafe=unsafe)
            if (fixed.data, fixed.doubt, len(fixed.applied)) != (wanted, "", len(expected.applied)):
                different.append((name, codec, end))
    assert different == []
    assert changed > 10


@pytest.mark.parametrize("choose", ["", "=upper-keeps"], ids=["list", "name"])
def test_a_run_that_writes_nothing_suggests_its_own_choices_again(choose, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bands = "[{score_range: [0, 5], expected_outcome: Names one}, {score_range: [5, 10], expected_outcome: Names two}]"
    (tmp_path / "a.yaml").write_text(f"rubrics:\n- {{id: a, wieght: 2, score_ranges: {bands}}}\n", "utf-8")
    output, _, _ = call("--check", "a.yaml", f"--choose{choose}", program="rubric-fix")
    assert f"`rubric-lint fix a.yaml --unsafe-fixes --choose{choose.replace('=', ' ')}`" in output


def test_a_file_that_is_not_there_is_not_rewritten_for_a_release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("--to=agentv-5", "none.yaml", program="rubric-fix") == (
        "0 files read.\n1 file could not be read or written.\n",
        "rubric-fix: none.yaml: does not exist\n",
        2,
    )


def test_a_fix_that_would_cause_a_finding_is_counted_once_as_blocked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "rubrics:\n- {id: a, expected_outcome: Names it}\n- {idd: a, expected_outcome: Cites it}\n"
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    output, _, code = call("--unsafe-fixes", "--format=json", "a.yaml", program="rubric-fix")
    summary = json.loads(output)["summary"]
    assert (code, summary["remaining"], summary["blocked"], summary["unsafe"]) == (0, 1, 1, 0)
