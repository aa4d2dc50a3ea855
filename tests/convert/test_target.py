"""`rubric-fix --to`: suites rewritten for a version of AgentV, byte for byte as they were but for what it asks for."""

import json
import re
from decimal import Decimal
from textwrap import dedent, indent

import commands
import pytest
from cases import read_cases
from found import told
from node import install_package

from rubric_lint.convert.release import rewrite
from rubric_lint.formats.agentv.releases import RELEASES
from rubric_lint.formats.search.locate import search
from rubric_lint.lint.engine import build_rubrics, lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import Thresholds
from rubric_lint.model.rubric import build_rubric
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)


def rewritten(text, target, name="a.yaml", **more):
    """The text after the rewriting, and what keeps it from being done; the rest of the suite has tests of its own."""
    fixed = rewrite(name, text.encode(), target, **more)
    found = [told(left.finding) for left in fixed.unmet if not left.finding.code.endswith(("test-without", "no-input"))]
    return fixed.text, found, fixed.doubt


def case(rubrics, extra=""):
    return f"tests:\n  - id: one\n    input: Why?\n{extra}    rubrics:\n{rubrics}"


# What stands below `rubrics:`, and below the key that the target has in its place.
CRITERIA = TABLES["CRITERIA"]
OPENINGS = {
    "agentv-4": "    assertions:\n      - type: rubrics\n        criteria:\n",
    "agentv-5": "    assert:\n      - type: llm-rubric\n        value:\n",
}


def opened(text, target):
    """A text with `rubrics` and an `input` as the target has them."""
    head, _, criteria = text.partition("    rubrics:\n")
    text = f"{head}{OPENINGS[target]}{indent(criteria, '    ')}"
    if target == "agentv-4":
        return text
    return 'prompts: ["{{ input }}"]\n' + re.sub(r"    input: (.*)\n", r"    vars:\n      input: \1\n", text)


@pytest.mark.parametrize("target", RELEASES)
@pytest.mark.parametrize("kind", CRITERIA)
def test_criteria_in_the_words_of_the_target(kind, target):
    before, after = CRITERIA[kind]
    assert (opened(case(after), target), [], "") == rewritten(case(before), target)


@pytest.mark.parametrize("target", RELEASES)
@pytest.mark.parametrize("kind", CRITERIA)
def test_what_is_written_is_clean_and_stays_as_it_is(kind, target):
    text, _, _ = rewritten(case(CRITERIA[kind][0]), target)
    faults = [finding.rule for finding in lint("a.yaml", text.encode()).findings]
    assert set(faults) <= {"vague-outcome", "split-band"}
    assert (text, [], "") == rewritten(text, target)


A4 = dedent(
    """\
    tests:
      - id: one
        input: x
        assert:
          - name: style
            type: rubrics
            criteria:
              - Says why
              - id: a
                required_min_score: 7
                score_ranges:
                  - {score_range: [0, 6], outcome: Wrong numbers}
                  - {score_range: [7, 10], outcome: Right numbers}
    """
).replace("          - Says why\n", "")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("https://rubric-lint.github.io/schemas/suite-v2.schema.json", "https://rubric-lint.github.io/schemas/"),
        ("https://rubric-lint.github.io/schemas/v2/suite.json", "https://rubric-lint.github.io/schemas/"),
        ("../schemas/suite-v1.schema.json", "../schemas/"),
        ("suite-v2.schema.json", ""),
    ],
)
def test_a_file_names_the_schema_of_the_target(schema, expected):
    body = "tests:\n  - id: one\n    input: x\n    rubrics:\n      - {id: a, description: Says why}\n"
    text = f"# yaml-language-server: $schema={schema}\n{body}"
    found, unmet, doubt = rewritten(text, "agentv-5")
    assert (found.splitlines()[0], unmet, doubt) == (
        f"# yaml-language-server: $schema={expected}agentv-a7.schema.json",
        [],
        "",
    )


@pytest.mark.parametrize(
    "text",
    [
        case("      - id: a\n        levels: [{level: 1, expected_outcome: It}, {level: 2, expected_outcome: Us}]\n"),
        "rubrics:\n  - {id: a, expected_outcome: It}\n",
        "tests:\n  - evaluators:\n      - {type: judge, rubrics: [{id: a, expected_outcome: It}]}\n",
        "tests:\n  - evaluators:\n      - {type: llm-grader, rubrics: [It, {id: a, expected_outcome: Us}]}\n",
    ],
)
def test_what_the_target_cannot_say_is_told_and_nothing_is_changed(text, said):
    left, found, doubt = rewritten(text, "agentv-4")
    assert (left, doubt) == (text, "")
    said(*found)


@pytest.mark.parametrize("target", ["agentv-4", "agentv-5"])
def test_a_rubric_that_is_a_whole_file_of_another_system_stays(target):
    text = """{"id": "r", "requirements": "It runs", "weight": 1, "sub_tasks": [
      {"id": "a", "requirements": "The code runs", "weight": 1, "sub_tasks": [], "task_category": "Code Execution"}]}"""
    title = target.replace("agentv-", "AgentV ")
    assert rewritten(text, target, "a.json") == (text, [(f"{target}.other-system", title, "PaperBench")], "")


# From the probes of AgentV itself.
READINGS = [
    ("agentv-5", "One", [("rubric-1", 10)]),
    ("agentv-5", "{id: b, outcome: B, required: false, weight: 2}", [("b", None)]),
    ("agentv-5", "{id: c, criteria: C}", [("c", 10)]),
    ("agentv-5", "{id: a, required: true, score_ranges: {0: x, 6: y}}", [("a", None)]),
    ("agentv-5", "{id: a, min_score: 0.72, score_ranges: {0: x, 6: y}}", [("a", 8)]),
    ("agentv-4", "{id: a, required: true, score_ranges: {0: x, 6: y}}", [("a", 10)]),
]


@pytest.mark.parametrize(("release", "entry", "expected"), READINGS)
def test_a_criterion_as_agentv_reads_it(release, entry, expected):
    opening = "type: llm-rubric, value" if release == "agentv-5" else "type: rubrics, criteria"
    text = f"tests: [{{id: one, assert: [{{{opening}: [{entry}]}}]}}]"
    (document,) = read_documents(Source("a.eval.yaml", text))[0]
    rubrics = build_rubrics(document, FileSettings(implicit_required=True))
    read = [(criterion.id, criterion.gate) for rubric in rubrics for criterion in rubric.entries]
    assert read == expected


OPTIONAL = "      - {id: b, expected_outcome: It, required: false}\n"
UNSAID = case(f"      - Says why\n      - {{id: a, expected_outcome: Says how}}\n{OPTIONAL}")


def test_what_a_suite_leaves_unsaid_is_read_as_agentv_reads_it():
    fixed = rewrite("a.yaml", UNSAID.encode(), "agentv-4")
    assert fixed.text == opened(UNSAID, "agentv-4").replace("expected_", "")
    assert [told(note) for note in fixed.notes] == [
        ("agentv.no-gates", "2 criteria have", "AgentV 4", "them"),
        ("agentv.no-borderline", "0.6", "1 rubric", "AgentV 4"),
    ]


def test_what_is_unsaid_is_optional_where_somebody_says_so():
    fixed = rewrite("a.yaml", UNSAID.encode(), "agentv-4", unsaid_is_required=False)
    assert (fixed.text.count("required: false"), [told(note)[0] for note in fixed.notes]) == (
        3,
        ["agentv.no-borderline"],
    )


WEIGHTS = (
    "      - {id: a, expected_outcome: Names the date, weight: 3}\n"
    "      - {id: b, expected_outcome: Names the sum, weight: 7}\n"
)


@pytest.mark.parametrize("after", ["", "    assertions: [{type: contains, value: x}]\n"], ids=["alone", "assertions"])
@pytest.mark.parametrize("release", RELEASES)
def test_a_borderline_that_answers_may_reach_is_lost_at_its_rubric_and_not_read_again(release, after):
    fixed = rewrite("a.eval.yaml", (case(WEIGHTS) + after).encode(), release, unsaid_is_required=False)
    assert [(told(note)[:2], fixed.before.position(note.at)[:2]) for note in fixed.notes] == [
        (("agentv.no-borderline", "0.6"), (5, 7))
    ]
    (document,) = read_documents(Source("a.eval.yaml", fixed.text))[0]
    (rubric,) = build_rubrics(document, FileSettings())
    assert rubric.thresholds == (Decimal("0.8"), Decimal("0.8"))
    usual = FileSettings(pass_at=Decimal("0.8"), borderline_at=Decimal("0.8"))
    assert rewrite("a.eval.yaml", case(WEIGHTS).encode(), release, usual, unsaid_is_required=False).notes == ()


GATE_0 = "      - {id: a, FIELD: Says why, required_min_score: 0}\n"


@pytest.mark.parametrize("target", RELEASES)
def test_a_gate_of_0_keeps_the_meaning_of_whoever_reads_the_file(target):
    ours = rewrite("a.eval.yaml", case(GATE_0.replace("FIELD", "expected_outcome")).encode(), target)
    agentv = rewrite("a.eval.yaml", case(GATE_0.replace("FIELD", "outcome")).encode(), target)
    notes = [told(note) for note in ours.notes]
    assert ("required: false" in ours.text, notes) == (True, [("agentv.idle-gates", "1 criterion has")])
    assert ("required" in agentv.text, agentv.notes) == (False, ())


def test_files_without_rubrics_are_left_alone():
    fixed = rewrite("a.yaml", b"a: 1\n", "agentv-4")
    assert (fixed.is_changed, fixed.unmet, fixed.doubt) == (False, (), "")


AGENTV = "agentv@4.42.4"


@pytest.fixture(scope="module")
def suites(tmp_path_factory):
    """A folder of suites for AgentV, one for each kind of criteria, and the program that reads them."""
    program = install_package(AGENTV) / "dist/cli.js"
    folder = tmp_path_factory.mktemp("suites")
    commands.run_git("init", "--quiet", folder)
    cases = [case(before).partition("\n")[2] for before, _ in CRITERIA.values()]
    for number, each in enumerate(cases):
        cases[number] = each.replace("id: one", f"id: case-{number}", 1)
    beside = "  - {id: beside, input: x, criteria: It, execution: {evaluators: [{type: contains, value: x}]},\n"
    beside += "    rubrics: [{id: a, expected_outcome: Says why, weight: 2}]}\n"
    text, unmet, doubt = rewritten("description: A suite\ntests:\n" + "".join([*cases, beside]), "agentv-4")
    assert (unmet, doubt) == ([], "")
    (folder / "all.eval.yaml").write_text(text, encoding="utf-8")

    def run(*arguments):
        command = ["node", program, *arguments]
        return commands.run_process(command, cwd=folder, timeout=120)

    return folder, run


@pytest.mark.originals
def test_agentv_accepts_what_is_written(suites):
    _, run = suites
    done = run("validate", "all.eval.yaml")
    counts = [line for line in done.stdout.splitlines() if line.startswith(("Total", "Valid:", "Invalid", "Files"))]
    assert (done.returncode, counts) == (0, ["Total files: 1", "Valid: 1", "Invalid: 0"])


@pytest.mark.originals
def test_agentv_reads_what_is_meant(suites):
    folder, run = suites
    assert run("pipeline", "input", "all.eval.yaml", "--out", "out").returncode == 0
    for number, (before, _) in enumerate(CRITERIA.values()):
        (file,) = folder.glob(f"out/*/case-{number}/llm_graders/*.json")
        grader = json.loads(file.read_text(encoding="utf-8"))
        read = [
            (
                rubric["id"],
                rubric.get("outcome"),
                rubric["weight"],
                rubric.get("required_min_score", 10 if rubric.get("required") else None),
                [(*band["score_range"], band["outcome"]) for band in rubric.get("score_range", ())],
            )
            for rubric in grader["rubrics"]
        ]
        assert read == list(meant(case(before))), before
    (file,) = folder.glob("out/*/beside/llm_graders/*.json")
    rubrics = json.loads(file.read_text(encoding="utf-8"))["rubrics"]
    assert rubrics == [{"id": "a", "outcome": "Says why", "weight": 2, "required": True}]
    assert len(list(folder.glob("out/*/beside/code_graders/*.json"))) == 1


def meant(text):
    """The criteria of the only rubric of a text, a gate of a checklist as the whole that it comes to."""
    document = read_documents(Source("a.yaml", text))[0][0]
    (location,) = search(document).rubrics
    thresholds = Thresholds(Decimal("0.8"), Decimal("0.6"))
    for entry in build_rubric(document, location.path, location.version, thresholds, implicit_required=True).entries:
        bands = [(band.lower, band.upper, band.outcome) for band in entry.scale.bands] if entry.scale else []
        gate = entry.gate or None
        yield entry.id, entry.outcome, entry.weight, gate if bands or gate is None else 10, bands


def test_criteria_in_the_wrong_field_move_to_the_right_one():
    right = A4.replace("required_min_score: 7", "weight: 2")
    misplaced = right.replace("criteria:", "rubrics:")
    assert rewritten(misplaced, "agentv-4") == rewritten(right, "agentv-4")
    late = misplaced.replace("type: rubrics", "type: llm-rubric")
    assert rewritten(late, "agentv-5") == rewritten(right, "agentv-5")


SHARED = """\
tests:
  - id: t1
    input: Hello
    assertions: &list
      - &item
        type: rubrics
        criteria:
          - {id: a, outcome: "Uses {{ name }}"}
      - type: rubrics
        criteria:
          - {id: b, min_score: 0.7, score_ranges: {0: Names no day, 7: Names the day}}
  - id: t2
    input: Hi
    assertions: USE
"""


@pytest.mark.parametrize("use", ["*list", "[*item]"])
def test_what_tests_share_by_an_anchor_is_refused_with_its_place(use, said):
    text = SHARED.replace("USE", use)
    fixed = rewrite("a.yaml", text.encode(), "agentv-5")
    assert (fixed.text, fixed.doubt) == (text, "")
    said([f"{left.finding.pointer}: {left.reason}" for left in fixed.unmet])


def test_a_note_has_its_place_in_the_text_before_the_fixes():
    text = dedent(
        """\
        tests:
          - id: one
            input: x
            rubrics:
              - id: a
                required: true
                required_min_score: 10
                expected_outcome: Says why
            evaluators: [{type: house-style, value: x}]
        """
    )
    fixed = rewrite("a.eval.yaml", text.encode(), "agentv-5")
    assert [applied.rule for applied in fixed.applied] == ["conflicting-field", "agentv-5"]
    places = [fixed.before.position(note.at)[:2] for note in fixed.notes if note.at is not None]
    assert places == [(9, 25)]
