"""`rubric-lint convert --to` and `rubric-fix --to` a release of AgentV: both commands give one answer."""

import re

import commands
import pytest
from cases import read_cases
from random_suites import SuiteWriter, name_suite
from styles import Dice

DONE = re.compile(r"[^ ]+: (fixed \d|converted to)")
SUITES = read_cases("agentv_suites")["suites"]
RELEASES = ("agentv-4", "agentv-5")


@pytest.fixture
def run(folder):
    """Writes a file, runs a command on it, and returns the exit code, the content, and what was said of the file."""

    def ran(program, name, text, *options):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        done = commands.run(*program.split(), *options, name)
        lines = [line.removeprefix("rubric-lint: ") for line in (*done.stdout.splitlines(), *done.stderr.splitlines())]
        said = [
            line
            for line in lines
            if line.startswith(f"{name}:") and not re.match(r"[^ ]+: (fixed \d|converted to)", line)
        ]
        return done.returncode, path.read_bytes().decode() if "fix" in program else done.stdout, said

    return ran


def assert_one_answer(run, name, text, target):
    code, fixed, said = run("rubric-lint fix", name, text, "--to", target)
    converted = run("rubric-lint convert", name, text, "--to", target)
    if converted[1]:
        assert converted == (code, fixed, said)
    else:
        assert (converted[0], converted[2], code > 0) == (code, said, True)
    return converted


@pytest.mark.spread(8)
@pytest.mark.parametrize("target", RELEASES)
@pytest.mark.parametrize("kind", SUITES)
def test_both_commands_give_one_answer(run, kind, target):
    assert_one_answer(run, name_suite(SUITES[kind]), SUITES[kind], target)


@pytest.mark.slow
@pytest.mark.parametrize("target", RELEASES)
def test_both_commands_give_one_answer_for_random_suites(run, target):
    written = 0
    for seed in range(60):
        _, text, _ = assert_one_answer(run, *SuiteWriter(Dice(seed)).write(), target)
        written += text != ""
    assert written > 5


OLD = "tests:\n  - id: one  # first\n    input: x\n    rubrics: [{id: a, expected_outcome: Says why}]\n"
CURRENT = 'prompts: ["{{ input }}"]\r\ntests:\r\n  - {id: one, vars: {input: x}, assert: [Says why]}  # one\r\n'


def test_how_a_criterion_without_a_gate_is_read_can_be_chosen(run):
    options = ("--to", "agentv-5", "--unsaid", "optional")
    fixed, converted = (run(f"rubric-lint {name}", "a.eval.yaml", OLD, *options) for name in ("fix", "convert"))
    assert (converted, "required: false" in converted[1], "# first" in converted[1]) == (fixed, True, True)
    assert run("rubric-lint convert", "a.eval.yaml", OLD, *options[:2])[1].count("required") == 0


@pytest.mark.parametrize(
    ("text", "target"), [("rubrics: [{id: a, expected_outcome: Says why}]\n", "agentv-5"), (OLD, "promptfoo")]
)
def test_only_a_suite_that_is_rewritten_has_criteria_without_a_gate(run, text, target):
    assert run("rubric-lint convert", "a.yaml", text, "--to", target, "--unsaid", "optional")[:2] == (2, "")


@pytest.mark.parametrize(("text", "code"), [(OLD, 0), (OLD.replace("    input: x\n", ""), 1), (CURRENT, 0)])
def test_strict_writes_no_test_that_the_release_skips(run, text, code):
    done = run("rubric-lint convert", "a.eval.yaml", text, "--to", "agentv-5", "--strict")
    assert (done[0], bool(done[1])) == (code, code == 0)
    assert run("rubric-lint convert", "a.eval.yaml", text, "--to", "agentv-5")[:2] != (code, "")


def test_a_current_suite_is_written_byte_for_byte_and_a_later_one_is_refused(run, folder):
    for target, code in (("agentv-5", 0), ("agentv-4", 1)):
        options = ("--to", target, "-o", f"{target}.yaml")
        assert run("rubric-lint convert", "a.eval.yaml", f"\ufeff{CURRENT}", *options)[0] == code
    assert (folder / "agentv-5.yaml").read_bytes() == f"\ufeff{CURRENT}".encode()
    assert not (folder / "agentv-4.yaml").exists()


def test_a_suite_with_cases_in_another_file_is_converted_by_fix(run, folder):
    (folder / "c.jsonl").write_text('{"id": "a", "input": "x", "assertions": ["Says why"]}\n', "utf-8")
    code, text, said = run("rubric-lint convert", "a.eval.yaml", "tests: ./c.jsonl\n", "--to", "agentv-5")
    assert (code, text) == (1, "")
    assert said == ["a.eval.yaml: names `c.jsonl`; `rubric-lint fix a.eval.yaml --to agentv-5` converts them together"]


SUITE = "tests: ./c.jsonl\nassertions: [{type: rubrics, criteria: [Polite]}]\n"
LOST = "are in another file and are not converted"
RUBRIC = '{"type": "rubrics", "criteria": [{"id": "c", "outcome": "Says why"}]}'
CASE = f'{{"id": "%s", "input": "x", "assertions": [{RUBRIC}]}}\n'


@pytest.mark.parametrize("name", ["<stdin>", "a.eval.yaml"])
@pytest.mark.parametrize("target", RELEASES)
def test_a_suite_from_stdin_gets_one_answer(name, target):
    how = ("-", "--to", target, "--stdin-filename", name)
    fixed, converted = (commands.run("rubric-lint", program, *how, stdin=SUITE) for program in ("fix", "convert"))
    assert (converted.returncode, converted.stdout) == (fixed.returncode, fixed.stdout)
    said, also_said = (
        [line.removeprefix("rubric-lint: ") for line in done.stderr.splitlines() if re.search(r":\d+:\d+: ", line)]
        for done in (fixed, converted)
    )
    assert sorted(said) == sorted(also_said)
    if target == "agentv-5":  # AgentV 4 reads the suite as it is
        assert f"{name}:1:8: the cases in `./c.jsonl` were not rewritten; run this command on that file too" in said


@pytest.mark.parametrize("target", ["rubric", "promptfoo", "csv", "json"])
@pytest.mark.parametrize("cases", [1, 2])
@pytest.mark.parametrize("place", ["", "sub/"])
def test_cases_in_another_file_are_named_with_the_command_that_converts_them(run, folder, target, cases, place):
    path = folder / place / "c.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(CASE % number for number in range(cases)), "utf-8")
    code, text, said = run("rubric-lint convert", f"{place}a.eval.yaml", SUITE, "--to", target)
    assert (code, "Polite" in text, "Says why" in text) == (0, True, False)
    command = f"rubric-lint convert {place}c.jsonl --to {target}"
    converted = commands.run(*command.split())
    assert converted.returncode == (target == "csv" and cases > 1)
    advice = "convert that file too" if converted.returncode else f"`{command}` converts them"
    loss = f"the cases in `./c.jsonl` {LOST}; {advice}"
    assert [line for line in said if "gate" not in line] == [f"{place}a.eval.yaml:1:8: lost: {loss}"]


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("./none.jsonl", "AgentV reads cases from `./none.jsonl`, which does not exist"),
        ("./c.csv", "the cases in `./c.csv` are not read: CSV is not supported; write them as YAML or JSON Lines"),
        ("./c*.jsonl", f"the cases in `./c*.jsonl` {LOST}; convert that file too"),
        (
            "file://c.jsonl",
            f"the cases in `file://c.jsonl` {LOST}; `rubric-lint convert c.jsonl --to rubric` converts them",
        ),
    ],
)
def test_the_reason_why_cases_are_not_converted_is_the_true_one(run, folder, named, reason):
    (folder / "c.jsonl").write_text(CASE % "a", "utf-8")
    (folder / "c.csv").write_text("id,input\na,x\n", "utf-8")
    text = SUITE.replace("./c.jsonl", named)
    _, _, said = run("rubric-lint convert", "a.eval.yaml", text, "--to", "rubric")
    assert said == [f"a.eval.yaml:1:8: lost: {reason}"]
    _, _, said = run("rubric-lint convert", "a.eval.yaml", text.replace(named, f"[{named}]"), "--to", "rubric")
    assert said == [
        "a.eval.yaml:1:8: lost: `tests`: rubric-lint has no field for it",
        f"a.eval.yaml:1:9: lost: {reason}",
    ]


def test_cases_in_another_file_are_named_for_stdin(folder):
    (folder / "c.jsonl").write_text(CASE % "a", "utf-8")
    done = commands.run("rubric-lint", "convert", "-", "--to", "csv", stdin=SUITE)
    loss = f"the cases in `./c.jsonl` {LOST}; convert that file too"
    assert done.stderr == f"rubric-lint: <stdin>:1:8: lost: {loss}\n"
    assert done.returncode == 0


def test_assertions_in_another_file_are_lost_only_where_the_target_does_not_keep_their_name(run, folder):
    (folder / "d.yaml").write_text("- Says why\n", "utf-8")
    text = "tests:\n- id: a\n  input: x\n  assertions: [Polite, {include: ./d.yaml}]\n"
    code, text_of_ours, said = run("rubric-lint convert", "a.eval.yaml", text, "--to", "rubric", "--strict")
    assert (code, "- include: ./d.yaml" in text_of_ours, said) == (0, True, [])
    _, _, said = run("rubric-lint convert", "a.eval.yaml", text, "--to", "promptfoo")
    assert f"a.eval.yaml:4:34: lost: the assertions in `./d.yaml` {LOST}; convert that file too" in said
