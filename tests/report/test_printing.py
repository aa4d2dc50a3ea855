"""D1: nothing that a file is called or holds can give orders to a terminal or to a CI system."""

import json
import os
import re
import shutil
from pathlib import Path

import commands
import pytest
from cases import read_cases
from ruamel.yaml import YAML

from rubric_lint.model.messages import render_report, visible_json
from rubric_lint.report import REPORTERS

CONVERTED = read_cases(__file__)["CONVERTED"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows allows no such names")

FAULTY = "rubrics:\n- id: a\n  description: Says it\n- id: b\n  expected_outcome: ''\n"
NAMES = {
    "escape": "a\x1b[31mb.yaml",
    "carriage return": "a\rok.yaml",
    "line feed": "a\n::error::pwned.yaml",
    "command": "::set-output name=a::b.yaml",
    "old command": "##[error]a.yaml",
    "Azure": "a##vso[task.complete]b.yaml",
    "bidirectional": "a\u202eb.yaml",
    "C1": "a\x9bb.yaml",
    "not UTF-8": "a\udcffb.yaml",
    "line separator": "a\u2028b.yaml",
}
OBEYED = re.compile(r"^\s*::|##\[|##vso\[", re.MULTILINE)
ALLOWED = re.compile(r"^::(?:error|warning|notice) (?=file=|title=)", re.MULTILINE)
RUNS = {
    **{form: ("rubric-lint", ["--format", form]) for form in REPORTERS},
    "statistics": ("rubric-lint", ["--statistics"]),
    "fixes": ("rubric-fix", ["--check"]),
    "fix": ("rubric-fix", []),
    "diff": ("rubric-fix", ["--diff"]),
    "colored diff": ("rubric-fix", ["--diff", "--color=always"]),
    "fixes as JSON": ("rubric-fix", ["--check", "--format=json"]),
    "ignores": ("rubric-lint", ["--add-ignores"]),
    "fixed first": ("rubric-lint", ["--fix"]),
    "option": ("rubric-lint", ["--no-such-option"]),
    "show": ("rubric-lint", ["show"]),
    "show as JSON": ("rubric-lint", ["show", "--format=json"]),
}
RUNS_WITH_ONE = {
    "diff of two": ("rubric-lint", ["diff", "sound.yaml"]),
    "conversion": ("rubric-lint", ["convert", "--to=v2", "--output=out.yaml"]),
    "scores": ("rubric-score", ["nothing.jsonl", "--rubric=x"]),
    "settings": ("rubric-lint", ["--config"]),
    "baseline": ("rubric-lint", ["--baseline"]),
    "report": ("rubric-lint", ["--output=."]),
}


@pytest.fixture(autouse=True)
def here(folder):
    (folder / "sound.yaml").write_text("rubrics:\n- id: a\n  expected_outcome: Says it\n")


def call(command, *arguments):
    """What a program with these arguments prints, on both streams, as `launch` has it."""
    done = commands.run(command, *arguments)
    return done.returncode, f"{done.stdout}\n{done.stderr}"


def orders(text):
    """What of a text somebody would obey."""
    text = re.sub(r"\x1b\[\d*(?:;\d+)*m", "", text)  # colors that were asked for
    text = ALLOWED.sub("", text)
    unseen = [
        char for char in text if char != "\n" and re.match(r"[\x00-\x1f\x7f-\x9f\u2028\u202e\ud800-\udfff]", char)
    ]
    return [*OBEYED.findall(text), *unseen]


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_no_name_gives_orders(run):
    for name in NAMES.values():
        Path(name).write_text(FAULTY)
    command, arguments = RUNS[run]
    code, printed = call(command, *arguments, *NAMES.values())
    assert (code in {0, 1, 2}, orders(printed)) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS_WITH_ONE)
def test_no_name_behind_an_option_gives_orders(run):
    name = "::error::a\n::error::\x1b\u202e##[b.yaml"
    Path(name).write_text(FAULTY)
    command, arguments = RUNS_WITH_ONE[run]
    code, printed = call(command, *arguments, name)
    assert (code in {0, 1, 2}, orders(printed)) == (True, [])


TEXTS = ["::error::pwned", "##[error]pwned", "##vso[task.complete]pwned", "a\u202eb", "::add-mask::a"]


@pytest.mark.slow
@pytest.mark.spread(4)
@pytest.mark.parametrize("run", [*REPORTERS, "fixes", "fixes as JSON"])
@pytest.mark.parametrize("text", TEXTS)
def test_no_text_gives_orders(run, text):
    Path("a.yaml").write_text(
        f"rubrics:\n- id: '{text}'\n  '{text}': 1\n  description: |\n{text}\n  weight: '{text}'\n"
    )
    Path("b.yaml").write_text(
        f"# {text}\nrubrics:\n- id: '{text}'\n  '{text}': 1\n  description: x\n  weight: '{text}'\n"
    )
    command, arguments = RUNS[run]
    _, printed = call(command, *arguments, "a.yaml", "b.yaml")
    assert orders(printed) == []


def diff_of(text, *arguments):
    Path("a.yaml").write_text(text)
    return commands.run("rubric-fix", "--diff", "-q", *arguments, "a.yaml").stdout


def test_a_diff_with_a_command_in_its_text_is_shown_but_is_not_a_patch():
    text = "rubrics:\n- id: a\n  description: Says it\n  # x\n\n# ##[group]\n::y: 1\n"
    assert diff_of(text) == (
        "# a.yaml: not a patch: the text contains commands for CI systems, shown escaped\n"
        "| --- a/a.yaml\n| +++ b/a.yaml\n| @@ -1,6 +1,6 @@\n|  rubrics:\n|  - id: a\n"
        "| -  description: Says it\n| +  expected_outcome: Says it\n|    # x\n|  \n|  # #\\x23[group]\n"
    )
    assert diff_of("rubrics:\n- id: a\n  description: Says it\n").startswith(
        "--- a/a.yaml\n+++ b/a.yaml\n@@ -1,3 +1,3 @@\n"
    )


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_git_applies_a_diff_whose_files_have_odd_names():
    for name in NAMES.values():
        Path(name).write_text(FAULTY)
    patch = commands.run("rubric-fix", "--diff", "-q", ".").stdout
    Path("p.patch").write_bytes(os.fsencode(patch))
    commands.run_git("init", "-q")
    commands.run_git("apply", "p.patch")
    assert all("expected_outcome: Says it" in Path(name).read_text() for name in NAMES.values())


HOSTILE = [*TEXTS, "a\x1b[31mb", "a\x7fb", "a\x9bb", "a\u2028b", "a\U000e0041b", "a\n::error::b", "]]><b>"]


def print_of(*arguments):
    return commands.run("rubric-lint", *arguments).stdout


@pytest.mark.spread(2)
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_text_of_outputs_gives_orders_in_the_results(text):
    Path("a.yaml").write_text(f"rubrics:\n- id: {json.dumps(text)}\n  expected_outcome: Says it\n")
    good = {"id": text, "output": {"checks": [{"id": text, "satisfied": True}]}, "note": text}
    Path("a.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps({'id': text, 'output': text})}\n")
    printed = {form: print_of("score", "--format", form, "a.yaml", "a.jsonl") for form in ("jsonl", "json", "table")}
    assert [orders(each) for each in printed.values()] == [[], [], []]
    first = json.loads(printed["jsonl"].split("\n")[0])
    assert (first["id"], first["note"], first["criteria"][0]["id"]) == (text, text, text)
    assert json.loads(printed["json"])["results"][0] == first
    prompts = print_of("prompt", "a.yaml", "--answer", text, "--format", "messages")
    form = print_of("schema", "a.yaml")
    assert (orders(prompts), orders(form)) == ([], [])


@pytest.mark.spread(5)
@pytest.mark.parametrize("target", CONVERTED)
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_text_of_a_rubric_gives_orders_when_it_is_converted(target, text):
    Path("a.yaml").write_text(f"rubrics:\n- id: a\n  expected_outcome: {json.dumps(text)}\n")
    printed = print_of("convert", "--to", target, "a.yaml")
    assert orders(printed) == []
    if target == "rubric":
        assert YAML(typ="safe").load(printed)["rubrics"][0]["expected_outcome"] == text


def test_a_report_has_the_lines_of_json_with_an_indent():
    report = {"a": [], "b": {}, **NAMES, "c": [{}, [1.5, 1e-20, 1e22, 10**30, True, None, "é\n##[x"]]}
    text = render_report(report)
    assert text == visible_json(json.dumps(report, ensure_ascii=False, indent=1)) + "\n"
    assert json.loads(text) == report
