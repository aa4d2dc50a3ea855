import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import commands
import pytest
from click.shell_completion import BashComplete
from lint_command import (  # noqa: F401 (a fixture)
    BAD,
    BROKEN,
    BROKEN_RULE,
    COUNTED,
    COUNTS,
    DESCRIPTION,
    FIXABLE,
    OLD,
    OVERLAP,
    SCORE_5,
    call,
    call_after,
    folder,
    on_terminal,
)

from rubric_lint.cli.lint.lint import cli
from rubric_lint.lint.project.settings import Overrides
from rubric_lint.lint.run.summary import RunScope, Summary
from rubric_lint.report import REPORTERS
from rubric_lint.rules import BY_NAME, RULES

ROOT = Path(__file__).parents[2]


def call_on_terminal(*args, **more):
    """What a call writes to a terminal of 80 columns, by standard output and standard error alike."""
    return on_terminal(commands.command("rubric-lint", *args), **more)[0]


def start(*args, **streams):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.Popen(commands.command("rubric-lint", *args), **pipes)


def screen(written):
    """What one sees of it: a carriage return takes the writing back to the start of the row."""
    rows = []
    for line in written.split("\n"):
        cells = []
        for part in line.split("\r"):
            cells[: len(part)] = part
        rows.append("".join(cells).rstrip())
    return "\n".join(rows)


CALM = ["--ignore", "split-band"]
CALMED = COUNTS._replace(scope=RunScope(overrides=Overrides(ignore=frozenset({"split-band"}))))
TOTALS = f"{CALMED}\n"

FULL = f"""\
error overlap: {SCORE_5}
    --> bad.yaml:6:22
   4 |       - score_range: [0, 5]
     |                      ------ also covers 5
   6 |       - score_range: [5, 7]
     |                      ^^^^^^
     = choose: end [0, 5] at 4 (--choose upper-keeps) or start [5, 7] at 6 (--choose lower-keeps)

warning deprecated-description: criterion `a`: `description` is deprecated; write `expected_outcome`
    --> old.yaml:3:5
   3 |     description: States the result.
     |     ^^^^^^^^^^^
     = fix: rename `description` to `expected_outcome`

{CALMED}
"""
CONCISE = ["--format=concise", "-q"]
CLEAN = f"{Summary(files=1, files_with_rubrics=1, rubrics=1, criteria=1, idle=('split-band',))}\n"


@pytest.mark.parametrize(
    ("args", "output", "code"),
    [
        ([], FULL, 1),
        (["check"], FULL, 1),
        (["."], FULL, 1),
        (["good.yaml"], CLEAN, 0),
        (["check", "good.yaml", "-q"], "", 0),
        (["--format", "concise"], OVERLAP + DESCRIPTION + TOTALS, 1),
        (["--format=concise", "--quiet"], OVERLAP + DESCRIPTION, 1),
        (["--statistics"], "1 warning deprecated-description\n1 error   overlap\n\n" + TOTALS, 1),
        (["--statistics", "-q"], "1 warning deprecated-description\n1 error   overlap\n", 1),
        ([*CONCISE, "old.yaml"], DESCRIPTION, 0),
        ([*CONCISE, "old.yaml", "--fail-on=warning"], DESCRIPTION, 1),
        ([*CONCISE, "bad.yaml", "--fail-on=warning"], OVERLAP, 1),
        ([*CONCISE, "bad.yaml", "--fail-on=never"], OVERLAP, 0),
        ([*CONCISE, "--select=overlap"], OVERLAP, 1),
        ([*CONCISE, "--select", "overlap, coverage", "--select=deprecated-description"], OVERLAP + DESCRIPTION, 1),
        ([*CONCISE, "--ignore", "overlap,coverage"], DESCRIPTION, 0),
        (["old.yaml", "bad.yaml", *CONCISE], DESCRIPTION + OVERLAP, 1),
    ],
    ids=lambda value: " ".join(value) or "no arguments" if isinstance(value, list) else "",
)
def test_output_and_exit_code(args, output, code):
    assert (output, "", code) == call(*args, *CALM)


def test_a_path_that_cannot_be_read_hides_no_other(said):
    Path("sub").mkdir()
    Path("sub/link.yaml").symlink_to("nowhere.yaml")
    output, errors, code = call("nope.yaml", "sub/link.yaml", "bad.yaml", "--format=concise", *CALM)
    assert (output.startswith(OVERLAP), code) == (True, 2)
    said(output)
    assert [line.split(": ")[1] for line in errors.splitlines()] == ["nope.yaml", "sub/link.yaml"]


def test_a_hook_hears_of_what_is_nearly_a_rubric_and_of_no_other_file(said):
    Path("other.yaml").write_text("a: 1\n", "utf-8")
    Path("near.yaml").write_text("rubrics: [Is right, Is polite]\n", "utf-8")
    said(call("--force-exclude", "other.yaml", "near.yaml"), call("--force-exclude", "--require-rubrics", "other.yaml"))


def test_nothing_to_lint_is_said_and_a_link_to_nowhere_that_is_found_is_counted_and_no_fault(said):
    Path("empty").mkdir()
    Path("sub").mkdir()
    Path("sub/link.yaml").symlink_to("nowhere.yaml")
    os.mkfifo("sub/pipe.yaml")
    said(call("empty"), call("sub"))
    assert json.loads(call("sub", "--format=json")[0])["summary"]["passed_over"] == 2


def test_broken_settings_hide_no_file_of_other_folders(said):
    Path("sub").mkdir()
    Path("sub/old.yaml").write_text(OLD, "utf-8")
    Path("sub/rubric-lint.toml").write_text('select = ["overlop"]\nselct = 1\n', "utf-8")
    output, errors, code = call("--format=concise", *CALM)
    assert (output.startswith(OVERLAP + DESCRIPTION + COUNTED), code) == (True, 2)
    said(output)
    assert [line.startswith("rubric-lint: sub/rubric-lint.toml: ") for line in errors.splitlines()] == [True]


def test_settings_and_isolation():
    Path("rubric-lint.toml").write_text('select = ["deprecated-description"]\n', "utf-8")
    Path("mine.toml").write_text('select = ["overlap"]\n', "utf-8")
    assert call(*CONCISE) == (DESCRIPTION, "", 0)
    assert call(*CONCISE, "--config", "mine.toml") == (OVERLAP, "", 1)
    assert call(*CONCISE, "--isolated", *CALM) == (OVERLAP + DESCRIPTION, "", 1)
    Path("mine.toml").write_text('ignore = ["overlap"]\n', "utf-8")
    assert call(*CONCISE, "--config", "mine.toml", "--select=overlap") == (OVERLAP, "", 1)  # it goes before them


def test_the_name_of_standard_input_is_told_and_decides_its_kind_and_settings():
    for args, name in ((["-"], "<stdin>"), (["-", "--stdin-filename", "new/bad.yaml"], "new/bad.yaml")):
        expected = OVERLAP.replace("bad.yaml", name)
        assert (expected, "", 1) == call(*args, *CALM, *CONCISE, stdin=BAD.encode())
    Path("rubric-lint.toml").write_text('[per-file-ignores]\n"quiet.*" = ["weight"]\n', "utf-8")
    lines = b'{"rubrics": [{"id": "a", "expected_outcome": "States the result."}]}\n' * 2
    heavy = b'{"rubrics": [{"id": "a", "expected_outcome": "States the result.", "weight": -1}]}\n'
    given = {"a.jsonl": lines, "a.yaml": lines, "a.json": lines, "loud.json": heavy, "quiet.json": heavy}
    codes = {name: call("-", f"--stdin-filename={name}", "-q", stdin=text)[2] for name, text in given.items()}
    assert codes == {"a.jsonl": 0, "a.yaml": 1, "a.json": 1, "loud.json": 1, "quiet.json": 0}


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ("", ["--ignore=syntax"]),
        ("", ["--select=overlap"]),
        ('ignore = ["syntax"]\n', []),
        ('select = ["overlap"]\nignore = ["syntax"]\n', []),
        ('[severity]\nsyntax = "off"\n', []),
        ('[per-file-ignores]\n"*" = ["syntax"]\n', []),
    ],
)
def test_a_file_that_cannot_be_read_is_reported_whatever_rules_run(settings, options):
    Path("rubric-lint.toml").write_text(settings, "utf-8")
    for name, text in (("broken.yaml", BROKEN), ("broken.json", '{"rubrics": ['), ("bytes.yaml", "rubrics: \x00")):
        Path(name).write_text(text, "utf-8")
        output, errors, code = call(*options, *CONCISE, name)
        assert (output.split()[1:3], errors, code) == (["error", "syntax:"], "", 1)


def test_explain_prints_the_page_or_lists_all_rules():
    page, *rest = call("explain", "overlap")
    text = (ROOT / "rubric_lint/rules/overlap.md").read_text("utf-8")
    assert (f"{text}\nhttps://rubric-lint.github.io/rules/overlap/\n", ["", 0]) == (page, rest)
    table, *rest = call("explain")
    assert rest == ["", 0]
    assert [["NAME", "SEVERITY"], *([rule.name, rule.severity] for rule in RULES)] == [
        line.split()[:2] for line in table.splitlines()
    ]
    listed, *rest = call("explain", "--format", "json")
    fields = ("name", "severity", "fix", "summary", "url")
    assert rest == ["", 0]
    assert [(each.pop("choices", {}), each) for each in json.loads(listed)] == [
        (dict(rule.choices), {name: getattr(rule, name) for name in fields}) for rule in RULES
    ]
    assert [each["name"] for each in json.loads(call("explain", "overlap", "--format", "json")[0])] == ["overlap"]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_explain_fits_the_terminal(columns, said):
    page = call_on_terminal("explain", "overlap", columns=columns).partition("## Flagged")[0]
    table = call_on_terminal("explain", columns=columns)
    assert max(map(len, [*page.splitlines(), *table.splitlines()])) <= columns
    assert page.split() == BY_NAME["overlap"].page.partition("## Flagged")[0].split()
    said(table.splitlines()[:8])


def test_the_version_is_one_line():
    output, errors, code = call("--version")
    assert (errors, code) == ("", 0)
    assert re.fullmatch(r"rubric-lint \d+\.\d+\.\d+\n", output)


@pytest.mark.slow
def test_an_end_of_file_inside_the_tool_is_a_crash_and_no_interrupt():
    broken = "import json\ndef fail(*_, **__): raise EOFError\njson.dumps = fail\n"
    output, errors, code = call_after(broken, "explain", "--format=json")
    assert (output, "crashed, which is a bug: EOFError" in errors, code) == ("", True, 3)


@pytest.mark.slow
def test_a_fault_of_the_tool_is_reported_and_hides_no_other_file():
    output, errors, code = call_after(BROKEN_RULE, "--format=concise")
    counts = COUNTS._replace(
        files=2, files_with_rubrics=2, files_with_findings=1, rubrics=2, criteria=2, errors=0, choices=0, faults=1
    )
    first, second = errors.splitlines()
    assert (f"{DESCRIPTION}{counts}\n", 3) == (output, code)
    assert first.startswith("rubric-lint: bad.yaml: rubric-lint crashed, which is a bug: RuleError: rule broken: ")
    assert "ZeroDivisionError: no rule is perfect" in first
    assert second.startswith("rubric-lint: please report it with this line, the file and: rubric-lint 0.")
    assert second.endswith("(RUBRIC_LINT_DEBUG=1 shows the traceback)")
    _, errors, code = call_after(BROKEN_RULE, RUBRIC_LINT_DEBUG="1")
    assert (errors.splitlines()[2], code) == ("Traceback (most recent call last):", 3)


@pytest.mark.slow
def test_an_interrupt_ends_it_without_a_traceback(said):
    process = subprocess.Popen(
        commands.command("rubric-lint", "-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # More than a pipe holds: once it is written, the command is reading.
    process.stdin.write(b"#" * 1_000_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (output, process.returncode) == (b"", 130)
    said(errors.decode())


@pytest.mark.slow
def test_a_reader_that_leaves_ends_it_without_a_word():
    Path("many.yaml").write_text("rubrics:\n" + "  - expected_outcome: x\n    id: [1]\n" * 600, "utf-8")
    process = subprocess.Popen(
        commands.command("rubric-lint", "many.yaml"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.read(10)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (errors, process.wait()) == (b"", -signal.SIGPIPE)


@pytest.mark.parametrize(
    "args",
    [[], ["convert", __file__], ["--diff-base=main"], ["--output=x"]],
    ids=["plain", "convert", "diff base", "output file"],
)
def test_a_folder_that_is_gone_is_said_to_be(args, said):
    inside = "import os, shutil; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
    output, errors, code = call_after(inside, *args)
    assert (output, code) == ("", 2)
    said(errors)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_output_that_cannot_be_written_is_said_once():
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(commands.command("rubric-lint"), stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.stderr, done.returncode) == (b"rubric-lint: stdout: No space left on device\n", 2)


@pytest.mark.slow
def test_what_the_encoding_of_the_output_lacks_is_escaped(said):
    Path("bad.yaml").unlink()
    Path("old.yaml").write_text(OLD.replace("States", "界"), "utf-8")
    output, errors, code = call_after("", "--isolated", "-q", PYTHONIOENCODING="latin-1")
    assert (errors, code) == ("", 0)
    said(output)


COLORED = "\x1b[1mold.yaml:3:5\x1b[0m \x1b[33m\x1b[1mwarning\x1b[0m" + DESCRIPTION.removeprefix("old.yaml:3:5 warning")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "variables", "expected"),
    [
        ([], {}, COLORED),
        (["--color=never"], {}, DESCRIPTION),
        (["--color=never"], {"FORCE_COLOR": "1"}, DESCRIPTION),
        ([], {"NO_COLOR": "1"}, DESCRIPTION),
        ([], {"NO_COLOR": ""}, COLORED),
        (["--color=always"], {"NO_COLOR": "1"}, COLORED),
        ([], {"TERM": "dumb"}, DESCRIPTION),
    ],
    ids=["auto", "never", "never and forced", "NO_COLOR", "empty NO_COLOR", "always", "dumb"],
)
def test_colour_on_a_terminal(args, variables, expected):
    assert expected == call_on_terminal("old.yaml", *CONCISE, *args, **variables)


@pytest.mark.parametrize(
    ("args", "variables", "expected"),
    [([], {}, DESCRIPTION), (["--color=always"], {}, COLORED), ([], {"FORCE_COLOR": "1"}, COLORED)],
    ids=["auto", "always", "FORCE_COLOR"],
)
def test_colour_in_a_pipe(args, variables, expected):
    assert (expected, "", 0) == call("old.yaml", *CONCISE, *args, **variables)


@pytest.mark.slow
def test_frames_fit_the_terminal():
    Path("old.yaml").write_text(OLD.replace("result", "result and " * 20), "utf-8")
    written = call_on_terminal("old.yaml", "-q", "--color=never")
    row = "   3 |     description: States the result and result and result and result an..."
    assert (row, 80) == (written.splitlines()[3], len(row))
    assert max(map(len, written.splitlines())) == 80


@pytest.mark.slow
@pytest.mark.parametrize("call", [["fix", "bad.yaml"], ["show"], ["no-such-file.yaml", "bad"]])
def test_prose_is_broken_between_words_on_a_terminal(call):
    shutil.copy("bad.yaml", "a-file-with-a-long-name.yaml")
    written = on_terminal(commands.command("rubric-lint", *call), columns=60, NO_COLOR="1")[0]
    assert max(map(len, written.splitlines())) <= 60


@pytest.mark.slow
def test_a_long_run_shows_how_far_it_is_and_cleans_up():
    criterion = "  - id: c{0}\n    expected_outcome: States result {0}.\n"
    slow = "rubrics:\n" + "".join(criterion.format(number) for number in range(40_000))
    for name in ("a1.yaml", "a2.yaml", "a3.yaml"):
        Path(name).write_text(slow, "utf-8")
    written = call_on_terminal("--format=concise", "--color=never", *CALM)
    assert re.search(r"\rlinting \[#*-+\] \d+% [1234] of 6 files[^\r]*\r +\rbad.yaml:6:22 error overlap", written)
    counts = CALMED._replace(files=6, files_with_rubrics=6, rubrics=6, criteria=120_004)
    assert screen(written) == f"{OVERLAP}{DESCRIPTION}{counts}\n"


def complete(*args, incomplete=""):
    return [item.value for item in BashComplete(cli, {}, "rubric-lint", "").get_completions([*args], incomplete)]


@pytest.mark.parametrize(
    ("args", "incomplete", "expected"),
    [
        ([], "sch", ["sch", "schema"]),
        ([], "che", ["che", "check"]),
        ([], "--st", ["--statistics", "--stdin-filename"]),
        ([], "bad", ["bad"]),
        (["--select"], "deprecated-", ["deprecated-description", "deprecated-required"]),
        (["check", "--select"], "deprecated-", ["deprecated-description", "deprecated-required"]),
        (["--select"], "overlap,cov", ["overlap,coverage"]),
        (["--select"], "coverage,cov", []),
        (["explain"], "mix", ["mixing"]),
        (["--format"], "", [*REPORTERS]),
        (["a.yaml", "--fail-on"], "w", ["warning"]),
        (["a.yaml"], "b", ["b"]),
        (["schema"], "pr", ["print"]),
        (["schema", "path"], "suite", ["suite@v1", "suite@v2", "suite@v3"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_completion(args, incomplete, expected):
    assert expected == complete(*args, incomplete=incomplete)


@pytest.mark.parametrize(
    "words", ["bad", "--config bad", "--output bad", "--baseline bad", "convert a.yaml -o bad", "init bad"]
)
def test_the_shell_is_asked_to_complete_the_names_of_files(words):
    line = {"COMP_WORDS": f"rubric-lint {words}", "COMP_CWORD": str(len(words.split()))}
    assert call(**line, _RUBRIC_LINT_COMPLETE="bash_complete") == ("file,bad\n", "", 0)


@pytest.mark.slow
def test_workers_end_when_nobody_reads_what_they_found():
    for number in range(300):
        Path(f"many-{number}.yaml").write_text("rubrics:\n" + "  - description: x\n    id: [1]\n" * 5, "utf-8")
    process = subprocess.Popen(
        commands.command("rubric-lint"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    process.stdout.read(10)
    process.stdout.close()
    process.wait()
    process.stderr.close()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)  # the session's group is there as long as one of its processes is
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("a worker is left")
