"""B3: containers of rubrics that are nearly right or empty are findings in a file of ours, and nowhere else."""

import json
import re
from textwrap import dedent, indent

import pytest
from cases import read_cases
from found import told
from ruamel.yaml import YAML

from rubric_lint.lint.engine import DEFAULTS, lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.project.settings import FileSettings

TABLES = read_cases(__file__)

OURS = "tests:\n  - id: first\n    rubrics: [{id: a, expected_outcome: Says why}]\n  - id: second\n"
AGENTV = OURS.replace("expected_outcome", "outcome")
ALONE = "tests:\n  - id: second\n"


def found(text, name="a.yaml", settings=DEFAULTS):
    """The findings of the rule, and the rules of all others."""
    findings = lint(name, text.encode(), settings).findings
    return (
        [(finding.pointer, told(finding)) for finding in findings if finding.rule == "lost-rubric"],
        [finding.rule for finding in findings if finding.rule != "lost-rubric"],
    )


def case(fields):
    return indent(dedent(fields), "    ")


LOST = TABLES["LOST"]


@pytest.mark.parametrize(("fields", "pointer", "message"), LOST.values(), ids=LOST)
def test_a_container_that_is_nearly_right_is_found_in_a_file_of_ours(fields, pointer, message):
    assert found(OURS + case(fields)) == ([(pointer or "/tests/1/rubrics", tuple(message))], [])


@pytest.mark.parametrize("fields", [fields for fields, _, _ in LOST.values() if "ubric" in fields])
def test_alone_it_may_be_another_tools(fields):
    result = lint("a.yaml", (ALONE + case(fields)).encode())
    assert (result.findings, result.rubrics, len(result.unread)) == ((), 0, 1)


@pytest.mark.parametrize(("fields", "pointer"), [(fields, pointer) for fields, pointer, _ in LOST.values()], ids=LOST)
def test_the_same_in_a_file_that_is_one_list_of_cases(fields, pointer):
    place = (pointer or "/tests/1/rubrics").removeprefix("/tests")
    text = f"- id: first\n  rubrics: [{{id: a, expected_outcome: Says why}}]\n- id: second\n{indent(fields, '  ')}"
    told = found(text)[0]
    assert [at for at, _ in told] == [place]
    data = YAML(typ="safe").load(text)
    assert found(json.dumps(data), "a.json")[0] == told
    lines = found("".join(json.dumps(record) + "\n" for record in data), "a.jsonl")[0]
    assert [at for at, _ in lines] == [place]
    data[1].pop(place.split("/")[2])
    assert found(json.dumps(data), "a.json") == ([], [])


def test_texts_in_a_list_of_cases_are_criteria_and_in_a_record_they_are_lost():
    first, second = '{"rubrics": [{"id": "a", "expected_outcome": "Says why"}]}', '{"rubrics": ["Says how"]}'
    both = lint("a.json", f"[{first}, {second}]".encode())
    assert (both.findings, both.rubrics, both.unread) == ((), 2, ())
    assert [at for at, _ in found(f"{first}\n{second}\n", "a.jsonl")[0]] == ["/1/rubrics"]
    references = lint("a.jsonl", f"{first}\n{second.replace('Says how', 'a/how.yaml')}\n".encode())
    assert (references.findings, len(references.unread)) == ((), 1)


NO_ENTRIES = ("null", "true", "5", "[]", "[Says how]", "[{id: b, expected_outcome: Says how}]")


@pytest.mark.parametrize("entry", NO_ENTRIES)
def test_entries_that_are_no_criteria_are_findings_where_rubrics_are(entry):
    lists = {
        OURS + f"    rubrics: [{entry}]\n": "/tests/1/rubrics/0",
        OURS + f"    assert: [{{name: j, rubrics: [{entry}]}}]\n": "/tests/1/assert/0/rubrics/0",
    }
    for text, pointer in lists.items():
        result = lint("a.yaml", text.encode())
        told = [(finding.code, finding.pointer, result.source.slice(finding.span)) for finding in result.findings]
        assert (told, result.rubrics, result.unread) == ([("schema.unexpected", pointer, entry)], 2, ())


COMMON = "common: &common\n  - {id: b, expected_outcome: Says how}\n"
LISTS_IN_LISTS = {
    "beside": (f"{COMMON}{OURS}    rubrics: [*common]\n", "/tests/1/rubrics/0", False),
    "alone": (f"{COMMON}{ALONE}    rubrics: [*common]\n", "/tests/0/rubrics/0", False),
    "claimed": (f"{COMMON}rubrics: [*common]\n", "/rubrics/0", True),
}


@pytest.mark.parametrize(("text", "pointer", "claimed"), LISTS_IN_LISTS.values(), ids=LISTS_IN_LISTS)
def test_a_list_in_a_list_is_told_where_an_alias_repeats_it(text, pointer, claimed):
    result = lint("a.yaml", text.encode(), FileSettings(claimed=claimed))
    told = [(finding.code, finding.pointer, result.source.slice(finding.span)) for finding in result.findings]
    assert (told, result.unread) == ([("schema.unexpected", pointer, "*common")], ())


AGENTV_LOST = TABLES["AGENTV_LOST"]


@pytest.mark.parametrize(("fields", "pointer", "message"), AGENTV_LOST.values(), ids=AGENTV_LOST)
def test_the_same_in_a_suite_of_agentv(fields, pointer, message):
    assert found(AGENTV + case(fields)) == ([(pointer, tuple(message))], [])


def test_criteria_below_an_assertion_are_checked_wherever_they_are():
    text = """\
        prompts: ["{{ question }}"]
        tests:
          - id: one
            vars: {question: Why?}
            assert:
              - type: llm-rubric
                rubrics:
                  - {id: x, outcome: "", weight: -2}
                  - {id: x, outcome: "", weight: -2}
        """
    result = lint("a.yaml", dedent(text).encode())
    assert (result.rubrics, result.criteria) == (1, 2)
    assert [finding.rule for finding in result.findings] == [
        "lost-rubric",
        "empty-outcome",
        "weight",
        "duplicate-id",
        "empty-outcome",
        "weight",
    ]
    assert "expected_outcome" not in "".join(finding.message for finding in result.findings)


FINE = TABLES["FINE"]


@pytest.mark.parametrize("fields", FINE.values(), ids=FINE)
def test_what_may_be_meant_is_no_finding(fields):
    assert [found(suite + case(fields)) for suite in (OURS, AGENTV)] == [([], [])] * 2


WHOLE = TABLES["WHOLE"]


@pytest.mark.parametrize(("name", "text"), WHOLE.values(), ids=WHOLE)
def test_one_fault_of_a_file_is_one_finding(name, text, said):
    is_rubric_file = ".rubric." in name
    lost, others = found(text, name, FileSettings(claimed=is_rubric_file, is_rubric_file=is_rubric_file))
    said([f"{place}: {', '.join(values)}" for place, values in lost] or "nothing lost", others or "nothing else")


def test_the_advice_for_strings_in_lines_of_json_makes_each_a_rubric():
    lines = ['{"rubrics": ["Says how"]}', '{"rubrics": [{"id": "a", "expected_outcome": "Says why"}]}']
    (lost,) = lint("a.jsonl", "\n".join(lines).encode()).findings
    member = re.search(r'`("\$schema": ".*")` at the top level of each line', str(lost.values["advice"]))[1]
    result = lint("a.jsonl", "\n".join(line.replace("{", f"{{{member}, ", 1) for line in lines).encode())
    assert (lost.code, result.rubrics, result.findings) == ("lost-rubric.texts", 2, ())


FIXED = TABLES["FIXED"]


@pytest.mark.parametrize(("before", "after"), FIXED.values(), ids=FIXED)
def test_the_name_is_an_unsafe_fix(before, after):
    text = OURS + case(before)
    assert fix("a.yaml", text.encode()).text == text
    assert fix("a.yaml", text.encode(), unsafe=True).text == OURS + case(after)


STRAY = {
    "a weight below 0": ("rubrics: [{description: Says how, weight: -3, owner: me}]\n", {"unknown-field", "weight"}),
    "a word of another format": ("rubrics: [{criterion: Says how}]\n", {"unknown-field"}),
    "a mapping around a list": ("rubrics: {items: [{id: a, outcome: Says how}]}\n", {"schema"}),
    "in an evaluator": ("evaluators: [{name: j, rubrics: [{name: a, note: b}]}]\n", {"unknown-field", "schema"}),
}


@pytest.mark.parametrize(("fields", "rules"), STRAY.values(), ids=STRAY)
def test_what_is_in_a_place_of_ours_is_checked_whatever_fields_it_has(fields, rules):
    result = lint("a.yaml", (OURS + case(fields)).encode())
    assert (rules <= {finding.rule for finding in result.findings}, result.rubrics, result.unread) == (True, 2, ())
    alone = lint("a.yaml", (ALONE + case(fields)).encode())
    assert (alone.findings, alone.rubrics, len(alone.unread)) == ((), 0, 1)


def test_a_stray_field_hides_no_criteria_of_agentv():
    head = "tests:\n  - id: a\n    input: x\n    criteria: y\n"
    entry = "{id: x, outcome: Says how, weight: -3, owner: me}"
    texts = [
        f"{head}    rubrics: [{entry}]\n",
        f"{head}    assert: [{{type: llm-rubric, value: [{entry}]}}]\n",
        f"{AGENTV}    rubrics: [{entry}]\n",
    ]
    assert [found(text) for text in texts] == [([], ["weight", "unknown-field"])] * 3
    results = "tests:\n  - {id: a, rubrics: [{id: x, outcome: passed, weight: 1, duration: 3}]}\n"
    assert found(results) == ([], [])


@pytest.mark.parametrize("name", ["criteria", "grading"])
def test_criteria_in_another_field_of_a_case_are_lost(name):
    ours = f"{name}: [{{id: a, expected_outcome: Says how}}]\n"
    assert found(OURS + case(ours)) == ([(f"/tests/1/{name}", ("lost-rubric.misnamed", name, "rubrics"))], [])
    theirs = ("lost-rubric.agentv-other-field", name, "rename it to `rubrics`")
    text = AGENTV + case(f"{name}: [{{id: a, outcome: Says how, weight: 2}}]\n")
    assert found(text) == ([(f"/tests/1/{name}", theirs)], [])
    fixed = fix("a.yaml", (OURS + case(ours)).encode(), unsafe=True).text
    assert fixed == OURS + case(ours.replace(name, "rubrics"))
    for other in ("steps: [{input: x, expected_outcome: y}]\n", f"rubrics: [It]\n{ours}"):
        assert found(OURS + case(other)) == ([], [])


RUBRIC_FILES = {
    "a stray field": ("rubrics:\n  - {outcome: Says why, owner: me}\n", {"unknown-field", "missing-id"}),
    "a suite": ("name: x\ntests:\n  - {rubrics: []}\n", {"schema"}),
}


@pytest.mark.parametrize(("text", "rules"), RUBRIC_FILES.values(), ids=RUBRIC_FILES)
def test_a_rubric_file_is_ours_whatever_fields_its_criteria_have(text, rules):
    rubric_file = FileSettings(claimed=True, is_rubric_file=True)
    result = lint("a.rubric.yaml", text.encode(), rubric_file)
    assert ({finding.rule for finding in result.findings}, result.rubrics, result.unread) == (rules, 1, ())
