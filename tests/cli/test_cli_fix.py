import json
import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

import commands
import pytest

OLD = """\
# État
rubrics:
  - id: a
    description: Cites it
    required: true # why
  - id: b
    description: Names it
    required: false
"""
NEW = """\
# État
rubrics:
  - id: a
    expected_outcome: Cites it
    required_min_score: 10 # why
  - id: b
    expected_outcome: Names it
"""
KINDS = """\
  2 x rename `description` to `expected_outcome` (deprecated-description)
  1 x remove `required` (deprecated-required)
  1 x write `required_min_score: 10` (deprecated-required)
"""
TOTAL = "4 findings in 1 of 1 file: 2 deprecated-description, 2 deprecated-required.\n"
STUCK = "defaults: {strict: &s true}\nrubrics:\n- {id: a, expected_outcome: Cites it, required: *s}\n"
DOUBTFUL = """\
rubrics:
- &a {id: a, expected_outcome: Cites it, required: true}
- {<<: *a, id: b, expected_outcome: Names it, required: false}
"""


class Program:
    """A program that runs in a folder of its own."""

    def __init__(self, folder, name="fix"):
        self.folder, self.name = folder, name

    def __call__(self, *args, text="", name=None):
        done = commands.run(f"rubric-{name or self.name}", *args, stdin=text, cwd=self.folder)
        return done.returncode, done.stdout, done.stderr

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


@pytest.fixture
def suite(program):
    return program.write("suite.yaml", OLD)


def test_files_are_fixed_and_what_was_done_is_told_by_file_and_kind(program, suite, said):
    assert program() == (0, f"suite.yaml: fixed 4 findings\n{KINDS}Fixed {TOTAL}", "")
    assert suite.read_text() == NEW
    said(program())
    assert suite.read_text() == NEW


def test_check_writes_nothing_and_says_by_its_exit_code_that_it_would(program, suite, said):
    said(program("--check"))
    assert suite.read_text() == OLD
    suite.write_text(NEW)
    said(program("--check"))


def test_diff_writes_nothing_and_shows_what_would_change(program, suite, said):
    said(program("--diff"), program("--diff", "--check", "-q"))
    assert suite.read_text() == OLD


def test_a_diff_can_be_applied(program, suite):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    program.write("other.yaml", OLD.replace("\n", "\r\n").removesuffix("\r\n"))
    marked = program.write("marked.yaml", "\ufeff" + OLD)
    diff = program("--diff", "-q")[1]
    git = subprocess.run(
        ["git", "apply", "-"], input=diff.encode(), cwd=program.folder, capture_output=True, check=False
    )
    assert (git.returncode, git.stderr) == (0, b"")
    assert marked.read_text() == "\ufeff" + NEW
    other = program.folder / "other.yaml"
    assert (suite.read_text(), other.read_bytes().decode()) == (NEW, NEW.replace("\n", "\r\n"))


def test_a_diff_is_coloured_on_request(program, suite):
    _, out, _ = program("--diff", "--color=always", str(suite.name))
    assert "\x1b[31m-    required: false\x1b[0m\n" in out
    assert "\x1b[32m+    expected_outcome: Names it\x1b[0m\n" in out
    assert out.startswith("\x1b[1m--- a/suite.yaml\x1b[0m\n")


def test_standard_input_is_fixed_to_standard_output(program):
    told = f"<stdin>: fixed 4 findings\n{KINDS}Fixed {TOTAL}"
    assert program("-", text=OLD) == (0, NEW, told)
    assert program("-", text="other: 1\n")[:2] == (0, "other: 1\n")
    code, out, _ = program(
        "-", "--stdin-filename", "a.json", text='{"rubrics": [{"id": "a", "description": "Says it"}]}'
    )
    assert (code, out) == (0, '{"rubrics": [{"id": "a", "expected_outcome": "Says it"}]}')


@pytest.mark.slow
def test_standard_input_keeps_its_bytes(program):
    data = b"\xff\xfe" + OLD.replace("\n", "\r\n").encode("utf-16-le")
    done = subprocess.run(
        commands.command("rubric-fix", "-", "-q"), input=data, capture_output=True, check=True, cwd=program.folder
    )
    assert done.stdout == b"\xff\xfe" + NEW.replace("\n", "\r\n").encode("utf-16-le")


@pytest.mark.slow
def test_standard_input_that_is_closed_is_no_fault_of_the_tool(program):
    call = ["sh", "-c", '"$@" <&-', "sh", *commands.command("rubric-fix", "-", "--check")]
    done = subprocess.run(call, capture_output=True, check=False, cwd=program.folder)
    told = b"rubric-fix: <stdin>: stdin is closed\n"
    assert (done.returncode, done.stderr.splitlines(keepends=True)[0]) == (2, told)


def test_what_is_left_is_told_with_its_place_and_reason(program, said):
    file = program.write("suite.yaml", STUCK)
    code, out, err = program()
    assert (code, err) == (0, "")
    said(out)
    assert program("-q") == (0, out.splitlines(keepends=True)[0], "")
    assert file.read_text() == STUCK


def test_fixes_that_do_not_pass_the_proof_are_told_and_the_others_made(program, suite, said):
    doubtful = program.write("doubtful.yaml", DOUBTFUL)
    code, out, err = program()
    assert (code, err) == (0, "")
    assert [line.partition(" not fixed: ")[0] for line in out.splitlines() if "not fixed" in line] == [
        "doubtful.yaml:2:42: deprecated-required",
        "doubtful.yaml:3:47: deprecated-required",
    ]
    said(out)
    assert (doubtful.read_text(), suite.read_text()) == (DOUBTFUL, NEW)


@pytest.mark.parametrize("args", [(), ("--check",), ("-q",), ("--format=json",)])
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"rubrics:\n- id: a\n  description: [Cites it\n", id="yaml"),
        pytest.param(b"rubrics:\n- id: a\n  description: \xff\n", id="bytes"),
    ],
)
def test_a_rubric_file_that_cannot_be_read_is_told_and_fails(program, data, args, said):
    (program.folder / "bad.rubric.yaml").write_bytes(data)
    code, out, err = program(*args)
    assert code == 2
    said(err)
    assert "Nothing to fix" not in out
    if out and "--format=json" not in args:
        said(out)
    assert program("--format=json")[1].count('"unreadable": 1') == 1


def test_dead_links_and_pipes_that_are_found_are_counted(program, suite, said):
    suite.unlink()
    (program.folder / "link.yaml").symlink_to("nowhere.yaml")
    os.mkfifo(program.folder / "pipe.yaml")
    done = program()
    said(done)
    assert program("--check") == done
    assert json.loads(program("--format=json")[1])["summary"]["passed_over"] == 2


def test_a_read_only_file_is_left_alone(program, suite, said):
    suite.chmod(0o444)
    code, out, _ = program("-q")
    assert code == 2
    said(out)
    assert suite.read_text() == OLD


def test_a_link_stays_a_link(program, suite):
    link = program.folder / "link.yaml"
    link.symlink_to(suite)
    assert program("link.yaml", "-q") == (0, "", "")
    assert (link.is_symlink(), suite.read_text()) == (True, NEW)


def test_other_hard_links_are_told(program, suite, said):
    os.link(suite, program.folder / "other.txt")
    said(program("-q"))
    assert (suite.read_text(), (program.folder / "other.txt").read_text()) == (NEW, OLD)


def test_json(program, suite, said):
    program.write("stuck.yaml", STUCK)
    program.write("clean.yaml", NEW)
    code, out, err = program("--format", "json", "--check")
    assert (code, err) == (1, "")
    fixes = [
        ("deprecated-description", "rename `description` to `expected_outcome`", 2),
        ("deprecated-required", "remove `required`", 1),
        ("deprecated-required", "write `required_min_score: 10`", 1),
    ]
    left = {
        "rule": "deprecated-required",
        "path": "/rubrics/0/required",
        "start": {"line": 3, "column": 39, "offset": 75},
    }
    common = {"left_out": None, "error": None, "other_links": 0}
    report = json.loads(out)
    said([each.pop("reason") for file in report["files"] for each in file["left"]])
    assert report == {
        "version": 1,
        "summary": {
            "files": 3,
            "changed": 1,
            "fixes": 4,
            "remaining": 1,
            "blocked": 1,
            "unsafe": 0,
            "choices": 0,
            "unreadable": 0,
            "faults": 0,
        },
        "files": [
            {"file": "stuck.yaml", "changed": False, "fixes": [], "left": [left], **common},
            {
                "file": "suite.yaml",
                "changed": True,
                "fixes": [{"rule": rule, "title": title, "count": count} for rule, title, count in fixes],
                "left": [],
                **common,
            },
        ],
    }
    assert suite.read_text() == OLD


def test_the_settings_hold_as_they_do_for_the_linter(program, suite):
    program.write(
        "rubric-lint.toml", 'implicit-required = true\nexclude = ["left/"]\nignore = ["deprecated-description"]\n'
    )
    left = program.write("left/suite.yaml", OLD)
    assert program("-q") == (0, "", "")
    gated = OLD.replace("required: true", "required_min_score: 10").replace("required: false", "required_min_score: 0")
    assert (suite.read_text(), left.read_text()) == (gated, OLD)
    assert program("-q", "--isolated", "suite.yaml") == (0, "", "")
    assert suite.read_text() == gated.replace("description", "expected_outcome")


def test_only_the_selected_rules_fix(program, suite):
    program("--select", "deprecated-required")
    assert suite.read_text() == NEW.replace("expected_outcome", "description")
    program("--ignore", "deprecated-description")
    assert suite.read_text() == NEW.replace("expected_outcome", "description")


def test_unsafe_fixes_are_made_on_request(program, said):
    file = program.write("suite.yaml", "rubrics:\n- {id: a, expected_outcome: It, wieght: 2}\n")
    said(program())
    assert program("--unsafe-fixes", "-q") == (0, "", "")
    assert file.read_text() == "rubrics:\n- {id: a, expected_outcome: It, weight: 2}\n"


def test_lint_fixes_first_and_then_lints(program, suite, said):
    program.write("stuck.yaml", STUCK)
    code, out, err = program("--fix", "--format", "concise", name="lint")
    assert (code, suite.read_text()) == (0, NEW)
    said(err)
    assert out.startswith("stuck.yaml:3:39 warning deprecated-required: ")


def test_lint_applies_the_choices_that_rubric_fix_applies(program):
    text = "rubrics: [{id: a, score_ranges: {2: Names none, 7: Names one, 8: Names two}}]\n"
    file = program.write("gap.yaml", text)
    assert program("--fix", "--choose=add-band", "--select=coverage", "-q", "gap.yaml", name="lint") == (0, "", "")
    assert file.read_text() == text.replace("{2", "{0: TODO - say what earns scores 0 and 1, 2")


def test_lint_tells_once_what_cannot_be_read(program, suite, said):
    code, _, err = program("--fix", "nowhere.yaml", suite.name, "-q", name="lint")
    assert (code, suite.read_text()) == (2, NEW)
    said(err)


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_each_file_old_or_new(tmp_path):
    """The program itself, killed at random moments of a run over files of several sizes."""
    sizes = {f"s{number}.yaml": number for number in range(1, 60, 3)}
    before = "- {{id: c{0}, description: Cites it, required: true}}\n"
    after = "- {{id: c{0}, expected_outcome: Cites it, required_min_score: 10}}\n"
    old, new = (
        {name: "rubrics:\n" + "".join(map(line.format, range(size * 4))) for name, size in sizes.items()}
        for line in (before, after)
    )
    chance = random.Random(7)  # noqa: S311 (a die for moments)
    changed = set()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    for moment in range(20):
        for name, text in old.items():
            (tmp_path / name).write_text(text)
        command = commands.command("rubric-fix", "-q")
        process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **streams)
        while process.poll() is None and sum((tmp_path / name).read_text() != old[name] for name in old) < moment / 2:
            pass
        time.sleep(chance.uniform(0, 0.005))
        process.kill()
        process.wait()
        found = {name: (tmp_path / name).read_text() for name in old}
        assert {name for name, text in found.items() if text not in (old[name], new[name])} == set()
        commands.run_process(command, cwd=tmp_path, check=True)
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == new
        changed.add(sum(found[name] == new[name] for name in old))
    assert len(changed) > 1


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_what_a_found_link_leads_to_outside_is_not_rewritten_and_counted(program, said):
    outside = program.folder.parent / "outside.yaml"
    outside.write_text(OLD)
    (program.folder / "a.yaml").symlink_to(outside)
    code, out, _err = program(".")
    assert (code, outside.read_text()) == (0, OLD)
    said(out)
    assert json.loads(program("--format=json", ".")[1])["summary"]["outside"] == 1
    assert program("a.yaml")[0] == 0
    assert outside.read_text() == NEW


@pytest.mark.slow
def test_what_became_of_the_suites_of_a_folder_is_counted(program):
    program.write("old.eval.yaml", "tests:\n  - {id: a, input: Why?, assertions: [Names it]}\n")
    program.write("kept.eval.yaml", "workspace: {}\ntests:\n  - {id: a, input: Why?, assertions: [Names it]}\n")
    program.write("other.yaml", "services: {web: {image: nginx}}\n")

    def count(*options):
        code, text, _ = program("--to", "agentv-5", "--format", "json", *options, ".")
        return code, json.loads(text)["summary"]["suites"]

    assert count("--check") == (1, {"converted": 1, "in_the_way": 1})
    assert count() == (1, {"converted": 1, "in_the_way": 1})
    assert count() == (1, {"current": 1, "in_the_way": 1})
    assert program("--to", "agentv-5", "other.yaml")[0] == 0


def test_what_an_error_keeps_from_a_rewriting_is_said_with_the_choice_that_there_is(program, said):
    bands = (
        "{score_range: [0, 5], expected_outcome: Names no cause}, {score_range: [5, 10], expected_outcome: Names one}"
    )
    program.write(
        "a.eval.yaml",
        "tests:\n  - id: one\n    input: Why?\n    rubrics:\n      - {id: a, description: Names it, required: true}\n"
        f"  - id: two\n    input: Why?\n    rubrics: [{{id: b, score_ranges: [{bands}]}}]\n",
    )
    said(
        program("--to", "agentv-5", "a.eval.yaml"),
        program("--to", "agentv-5", "--choose", "upper-keeps", "--check", "."),
    )


@pytest.mark.parametrize("options", [(), ("--to", "agentv-5")], ids=["for no release", "for AgentV 5"])
def test_a_file_with_a_syntax_error_is_not_fixed(program, options):
    program.write("a.rubric.yaml", "rubrics:\n  - [\n")
    code, _, err = program(*options, "a.rubric.yaml")
    assert (code, err.partition(" syntax: ")[0]) == (2, "rubric-fix: a.rubric.yaml: not fixed: 2:5")


WAYS = [(), ("--unsafe-fixes",), ("--choose=own-rubric,add-band,placeholder,widen-lower",)]


@pytest.mark.slow
@pytest.mark.parametrize("args", WAYS, ids=" ".join)
def test_what_remains_is_what_the_linter_finds_afterwards(tmp_path, args):
    """In the suites of the tests, the examples and the files of the rules' pages, before and after they are written."""
    root = Path(__file__).parents[1]
    for file in [*(root / "suites").iterdir(), *(root.parent / "examples").glob("*.*")]:
        shutil.copy(file, tmp_path)
    block = re.compile(r"^```(yaml|json)\n(.*?)^```", re.MULTILINE | re.DOTALL)
    for page in (root.parent / "rubric_lint" / "rules").glob("*.md"):
        for number, (suffix, text) in enumerate(block.findall(page.read_text())):
            (tmp_path / f"{page.stem}-{number}.rubric.{suffix}").write_text(text)
    program = Program(tmp_path)
    programs = [program("--format=json", *more, *args) for more in (("--check",), ())]
    first, second = (json.loads(out) for _, out, _ in programs)
    found = json.loads(program("check", "--format=json", name="lint")[1])
    parts = first["summary"]
    assert first == second
    assert parts["fixes"] > 30
    assert parts["remaining"] == len(found["findings"]) > 50
    open_to_fix = parts["unsafe"] + parts["choices"]
    fixable = sum(bool(finding["fix"] or finding.get("choices")) for finding in found["findings"])
    assert open_to_fix <= fixable <= open_to_fix + parts["blocked"] < parts["remaining"]


def test_what_is_left_in_a_converted_suite_is_not_to_be_changed_first(program, said):
    members = "evaluators: [{type: contains, value: x}, {type: contains, value: y}]"
    composite = f"{{name: c, type: composite, aggregator: {{type: weighted_average}}, {members}}}"
    program.write(
        "a.eval.yaml", f"tests:\n  - id: one\n    input: Why?\n    evaluators: [{composite}]\n    rubrics: [Names it]\n"
    )
    said(program("--to", "agentv-4", "a.eval.yaml"))
