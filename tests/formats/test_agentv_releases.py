"""The table of AgentV's releases: what `check`, `show` and `fix --to` say by it; a new release is a change of it."""

import json
import shutil
from textwrap import dedent

import commands
import pytest
from agentv_5 import RESERVED
from cases import read_cases
from found import told

from rubric_lint.convert.release import rewrite
from rubric_lint.lint.engine import examine_file
from rubric_lint.model.schema_files import schemas_root
from rubric_lint.scoring.show.source import show

TABLES = read_cases(__file__)
FIVE = 'prompts: ["{{ input }}"]\ntests:\n  - id: one\n    vars: {input: x}\n    assert:\n'
FOUR = "tests:\n  - id: one\n    input: x\n    criteria: It\n    assertions:\n"


def unread(text, name="a.eval.yaml"):
    """What `check` says is not read, each with its line."""
    return [(each.line, each.reason) for each in examine_file(name, text.encode()).result.unread]


def released(text, release, name="a.eval.yaml"):
    """What `show` says that a release does not read, each with its line."""
    (found,) = [each for each in show(name, text.encode()).releases if each.name == release]
    return [(line, reason) for line, _, reason in found.unread]


RESERVED_TYPES = [f"{before}{kind}" for kind in sorted(RESERVED) for before in ("", "not-")]


@pytest.mark.slow
def test_every_reserved_type_is_refused_by_check_show_and_fix_alike():
    rows = [f"      - {{type: {kind}, value: x}}\n" for kind in RESERVED_TYPES]
    current, earlier = FIVE + "".join(rows), FOUR + "".join(rows)
    reason = "AgentV 5 refuses this grader, which it may have later; a grader of your own needs another name"
    said = [f"`type: {kind}`: {reason}" for kind in RESERVED_TYPES]
    assert unread(current) == list(enumerate(said, 6))
    assert released(current, "agentv-5") == list(enumerate(said, 6))
    fixed = rewrite("a.eval.yaml", earlier.encode(), "agentv-5")
    assert (fixed.is_changed, [left.reason for left in fixed.unmet]) == (False, said)


def test_a_reserved_type_may_be_a_grader_of_the_project_in_an_earlier_release(said):
    text = f"{FOUR}      - {{type: word-count, value: 5}}\n".replace("assertions", "evaluators").encode()
    fixed = rewrite("a.eval.yaml", text, "agentv-4")
    assert (fixed.is_changed, fixed.unmet, fixed.doubt) == (True, (), "")
    said([told(note) for note in fixed.notes])


def test_unknown_fields_are_listed_in_the_order_of_the_file():
    fields = [f"field_{number}" for number in range(20, 0, -1)]
    text = FIVE + "      - Says why\n" + "".join(f"    {field}: 1\n" for field in fields)
    assert [reason.partition("`")[2].partition("`")[0] for _, reason in unread(text)] == fields


SAID = TABLES["SAID"]


@pytest.mark.parametrize("text", SAID.values(), ids=SAID)
def test_check_says_what_the_release_of_a_suite_does_not_read(text, said):
    found = examine_file("a.eval.yaml", text.encode()).result
    findings = [f"{found.source.position(finding.span.start).line} {finding.code}" for finding in found.findings]
    said(findings, [f"{each.line}:{each.column} {each.reason}" for each in found.unread])


@pytest.mark.parametrize("text", SAID.values(), ids=SAID)
def test_check_says_all_that_the_table_says_in_show(text):
    last = "agentv-5" if "prompts" in text or "llm-rubric" in text else "agentv-4"
    findings = {finding.span for finding in examine_file("a.eval.yaml", text.encode()).result.findings}
    gaps = ("skips a test", "has no `input`", "fails at")
    wanted = [each for each in released(text, last) if not any(gap in each[1] for gap in gaps)]
    assert findings or [each for each in wanted if each not in unread(text)] == []


SILENT = TABLES["SILENT"]


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_check_says_nothing_of_what_is_read_or_may_be_another_tools(text):
    assert unread(text, "a.yaml") == []


def test_a_file_of_tests_keeps_what_only_a_suite_has_in_variables():
    row = {"id": "one", "input": "x", "expected_output": "y", "assert": ["Says why"], "assertions": ["Says how"]}
    reason = "`assertions` of a test: AgentV 5 ignores it; write `assert`"
    assert released(json.dumps(row), "agentv-5", "a.jsonl") == [(1, reason)]


# A release that AgentV might have: a list, a type and a field with other names.

INVENTED = """\
prompts: ["{{ input }}"]
tests:
  - id: one
    vars: {input: x}
    checks:
      - Says why
      - {type: llm-rubric, label: l, value: [{id: a, outcome: Says when}]}
      - {type: llm-rubric, metric: m, value: [{id: b, outcome: Says how}]}
      - {type: is-json}
  - id: two
    vars: {input: x}
    assert: [Says where]
"""


def invent(loaded):
    """Change the table of a release to that of an invented one."""
    for owner in loaded["lists"]:
        loaded["lists"][owner] = ["checks"]
    for part in ("suite", "test"):
        loaded[part]["properties"]["checks"] = loaded[part]["properties"].pop("assert")
    del loaded["types"]["is-json"]
    loaded["unloaded"].append({"types": ["is-json"], "reason": "AgentV 5 refuses this grader; write `json`"})
    loaded["assertion"]["properties"] |= {"label": {}, "metric": {"not": {}, "x-reason": "AgentV 5 reads `label`"}}


@pytest.fixture(scope="module")
def run_with_invented(tmp_path_factory):
    """A function that runs a command with the table of the invented release on a file of a text."""
    folder = tmp_path_factory.mktemp("invented")
    shutil.copytree(schemas_root(), folder / "schemas")
    path = folder / "schemas/agentv/a7.json"
    schema = json.loads(path.read_text("utf-8"))
    invent(schema["x-loaded"])
    path.write_text(json.dumps(schema), "utf-8")
    before = (
        "import pathlib; from rubric_lint.model import schema_files; "
        f"schema_files.schemas_root = lambda: pathlib.Path({str(path.parents[1])!r}); "
    )

    def run(text, *arguments):
        (folder / "a.eval.yaml").write_text(text, "utf-8")
        command = commands.command("rubric-lint", *arguments, "a.eval.yaml", before=before)
        return commands.run_process(command, cwd=folder)

    return run


@pytest.mark.slow
def test_check_follows_the_table_of_a_new_release(run_with_invented, said):
    done = run_with_invented(INVENTED, "--format", "concise")
    said(done.stdout, done.stderr)


@pytest.mark.slow
def test_a_suite_is_not_rewritten_to_what_a_new_release_does_not_read(run_with_invented, said):
    text = dedent(FOUR) + "      - Says why\n      - {type: is_json, name: m}\n"
    done = run_with_invented(text, "fix", "--to", "agentv-5")
    assert done.returncode == 1
    said(done.stdout, done.stderr)
