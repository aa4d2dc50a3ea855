"""What `--help` of every command shows, and what a word near to a command, an option or a value leads to."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import click
import commands
import pytest
from called import PATHS, PROGRAMS, call
from chat_server import completion, serving
from click.shell_completion import BashComplete

from rubric_lint.cli.commands import COMMANDS, INSTEAD
from rubric_lint.cli.lint.lint import cli as lint

ROOT = Path(__file__).parents[2]


def sections(text):
    """The lines under each heading of a help text."""
    found = {}
    for line in text.splitlines():
        if re.fullmatch(r"[A-Z][a-z]+( [a-z]+)?:", line):
            found[line[:-1]] = []
        elif found:
            found[[*found][-1]].append(line)
    return found


def list_options(lines):
    """The long name of each option that lines of help describe."""
    return [
        max(re.findall(r"(?<![^ ,])--?[\w-]+", line.split("  ")[1]), key=len)
        for line in lines
        if re.match(r"  -", line)
    ]


@pytest.mark.parametrize("path", PATHS)
def test_help_is_one_screen_and_the_rest_is_one_word_away(path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")  # where `call` would set another width
    program = PROGRAMS[path.partition(" ")[0]]
    with click.Context(program, info_name=path, **program.context_settings) as context:
        first = PATHS[path].get_help(click.Context(PATHS[path], parent=context))
    assert len(first.splitlines()) <= 40
    command = getattr(PATHS[path], "default", PATHS[path])  # a group shows the options of its default command
    expected = [max(param.opts, key=len) for param in command.params if isinstance(param, click.Option)]
    groups = sections(call(f"{path} --help --all")[0])
    listed = [option for name, lines in groups.items() if name != "Examples" for option in list_options(lines)]
    assert sorted(listed) == sorted({*expected, "--help"})
    assert {*list_options(sections(first).get("Options", ()))} <= {*listed}
    codes = [int(line.split()[0]) for line in groups["Exit codes"] if re.match(r"  \d", line)]
    undecided = [4] if path in {"rubric-lint assess", "rubric-lint improve"} else []
    assert codes in ([0, 2, 3, 130, 143], [0, 1, 2, 3, *undecided, 130, 143])


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_help_is_as_wide_as_the_terminal_up_to_100_columns(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    widths = []
    for path, command in PATHS.items():
        program = PROGRAMS[path.partition(" ")[0]]
        with click.Context(program, info_name=path, **program.context_settings) as context:
            text = command.get_help(click.Context(command, parent=context))
        # A command line of an example stays whole, so that it can be copied.
        widths += [len(line) for line in text.splitlines() if not line.startswith("    rubric-")]
    assert min(columns, 100) * 0.9 < max(widths) <= min(columns, 100)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80, 100])
def test_help_cuts_no_sentence_and_breaks_no_option(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    for path in PATHS:
        lines = call(f"{path} --help")[0].splitlines()
        assert [
            line for line in lines if line.endswith("...") and not line.lstrip().startswith(("Usage:", "rubric-"))
        ] == []
        assert [line for line in lines if re.search(r"\w-$", line) or "RANGE" in line] == []


TABLES = {
    "rubric.csv": "id,expected_outcome\nprice,Names the price\n",
    "checks.csv": "id,Requirement\nprice,Names the price\n",
    "marks.csv": "id,1,2,3\nprice,Names no price,Names a wrong price,Names the price\n",
    "evals/rubric.yaml": "scale: 1-5\ncriteria:\n  - {name: price, text: Names the price, weight: 1, owner: docs}\n",
}


@pytest.fixture
def clone(folder, monkeypatch):
    """A repository with the examples."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "answers.jsonl").write_text(json.dumps({"id": "a", "answer": "A tower."}) + "\n")
    judged = [json.loads(line) for line in (ROOT / "examples/summary.outputs.jsonl").read_text("utf-8").splitlines()]
    for name, more in (("labels", {"rater": "ana"}), ("other", {})):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({**each, **more}) + "\n" for each in judged), "utf-8")
    (folder / "evals").mkdir()
    for name, table in TABLES.items():
        (folder / name).write_text(table, "utf-8")
    monkeypatch.setenv("HOME", str(folder))
    (folder / "shards").mkdir()
    call("rubric-score examples/summary.rubric.yaml examples/summary.outputs.jsonl -o shards/1.jsonl")
    commands.commit_all()
    return folder


LABELS = "--labels labels.jsonl"  # `labels -o labels.csv` is an example too, and overwrites no sheet


def examples():
    for path, command in PATHS.items():
        if path.split(" ")[-1] not in {"lsp", "mcp", "completion"}:  # other programs run these
            yield from ((path, line) for line in command.examples)


def test_every_command_has_examples_of_itself():
    names = {"rubric-lint": [], "rubric-fix": ["fix"], "rubric-score": ["score"], "rubric-test": ["test"]}
    for path, command in PATHS.items():
        own = {*(path.split(" ")[1:] or names[path])} - {"check"}
        assert (path, 1 <= len(command.examples) <= 4) == (path, True)
        assert [line for line in command.examples if not own <= {*re.split(r"[ )]", line)}] == []


@pytest.mark.slow
@pytest.mark.usefixtures("clone")
def test_every_example_works(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    checks = [{"id": name, "reasoning": "Right.", "score": 8} for name in ("accuracy", "length")]
    reply = completion(json.dumps({"checks": checks, "overall_reasoning": "Good."}))
    codes = {}
    with serving(lambda _: reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for line in dict.fromkeys(line for _, line in examples()):
            shown = line.replace("http://localhost:11434/v1", server.url).replace("--labels labels.csv", LABELS)
            codes[line] = call(shown)[2]
            Path("answers.judged.jsonl").unlink(missing_ok=True)
    expected = dict.fromkeys(codes, 0) | {"rubric-lint": 1, "rubric-lint format --check": 1}
    failing = re.compile(r"rubric-lint (score|agree|merge) .*(\.outputs\.jsonl|shards/)")
    expected |= {line: 1 for line in codes if failing.match(line)}
    expected |= {
        line: 4 for line in codes if re.match("rubric-lint (assess|improve) ", line)
    }  # one answer shows nothing
    expected |= dict.fromkeys(("rubric-lint diff", "rubric-lint diff --format markdown HEAD"), 1)  # rubrics were added
    assert codes == expected


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("rubric-lint cahce", "rubric-lint cache"),
        ("rubric-lint covnert a.yaml", "rubric-lint convert a.yaml"),
        ("rubric-lint scoer a.yaml b.jsonl", "rubric-lint score a.yaml b.jsonl"),
        ("rubric-fix format a.yaml", "rubric-lint format a.yaml"),
        ("rubric-lint cache claer", "rubric-lint cache clear"),
        ("rubric-lint schema init a.yaml", "rubric-lint init a.yaml"),
        ("rubric-lint schema prnt suite", "rubric-lint schema print suite"),
        ("rubric-score lint", "rubric-lint check"),
        ("rubric-test inti a.yaml", "rubric-test init a.yaml"),
        ("rubric-score judg a.yaml b.jsonl", "rubric-score judge a.yaml b.jsonl"),
        ("rubric-score diff a b", "rubric-lint diff a b"),
        ("rubric-fix fix --diff", "rubric-lint fix --diff"),
        ("rubric-lint help", "rubric-lint --help"),
        ("rubric-score help judge", "rubric-score judge --help"),
        ("rubric-lint help scoer", "rubric-lint --help"),
        ("rubric-lint lint examples", "rubric-lint check examples"),
        ("rubric-lint rule overlap", "rubric-lint explain overlap"),
        ("rubric-score grade a b", "rubric-lint score a b"),
        ("rubric-lint --explain overlap", "rubric-lint explain"),
        ("rubric-lint --rules", "rubric-lint explain"),
        ("rubric-lint --json", "--format json"),
        ("rubric-fix --dry-run", "--diff"),
        ("rubric-lint judge a b --id-field uid", "--map id=COLUMN"),
        ("rubric-lint --stat", "--statistics"),
        ("rubric-lint --selct", "--select"),
    ],
)  # fmt: skip
def test_a_word_or_an_option_that_is_not_known_leads_to_what_to_type(line, meant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, errors, code = call(line)
    assert (errors.splitlines()[-1].partition("; ")[2], code) == (f"did you mean `{meant}`?", 2)


def test_what_to_type_instead_exists_and_the_word_itself_does_not():
    commands = [getattr(command, "default", command) for command in PATHS.values()]
    options = [{opt for param in command.params for opt in param.opts} for command in commands]
    for word, line in INSTEAD.items():
        words = line.removeprefix("rubric-lint ").split()
        flags = {word for word in words if word.startswith("--")}
        names = [word for word in words if word not in flags and word.islower() and "=" not in word]
        assert " ".join(["rubric-lint", *names[:2]]) in PATHS or flags
        assert word not in COMMANDS
        assert [known for known in options if flags <= known]
        assert not [known for known in options if {word} | flags <= known and flags]


@pytest.mark.parametrize("name", ["lint", "shwo"])
def test_a_path_that_exists_always_wins(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("rubrics:\n- id: a\n  expected_outcome: Names the refund window\n", "utf-8")
    assert call(f"rubric-lint {name}")[2] == 0


@pytest.mark.parametrize(
    "line",
    [
        "rubric-lint refunds.yaml",
        "rubric-lint lint.yaml",
        "rubric-lint a/lint",
        "rubric-lint nosuch .",
        "rubric-fix nosuch",
        "rubric-lint q*.yaml",
        "rubric-lint nosuch",
        "rubric-lint overlap",
        "rubric-lint nosuch a b",
        "rubric-score a.yaml b.jsonl",
        "rubric-lint https://example.org/a.yaml",
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_word_that_is_near_to_nothing_is_reported_as_what_it_may_be(line, said):
    _, errors, code = call(line)
    assert code == 2
    said(errors)


def test_the_first_screen_describes_each_command():
    lines = sections(call("rubric-lint --help")[0])["Commands"]
    assert [line for line in lines if re.fullmatch(r"  [a-z]+\s*", line)] == []


@pytest.mark.parametrize(
    "line", ["rubric-lint --no-such", "rubric-lint --s", "rubric-lint convert a --json", "rubric-lint -V"]
)
def test_an_option_that_is_near_to_none_leads_nowhere(line):
    _, errors, code = call(line)
    assert (errors.splitlines()[-1], code) == (f"Error: unknown option `{line.split()[-1]}`", 2)


def test_a_word_that_is_being_completed_is_not_refused():
    items = BashComplete(lint, {}, "rubric-lint", "").get_completions(["lint"], "--st")
    assert [item.value for item in items] == ["--statistics", "--stdin-filename"]


# Functions in place of what needs an interactive shell, and of the program, which writes the same lines.
BASH = """
complete() { :; }; compopt() { :; }; env() { echo "$REPLY_LINES"; }
%s
COMP_WORDS=(rubric-lint sh); COMP_CWORD=1; _rubric_lint_completion rubric-lint sh; echo "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="needs Bash")
def test_bash_completes_commands_where_file_names_may_stand():
    shell = BashComplete(lint, {}, "rubric-lint", "_RUBRIC_LINT_COMPLETE")
    reply = "\n".join(f"{item.type},{item.value}" for item in shell.get_completions([], "sh"))
    script = BASH % (shell.source_template % shell.source_vars())
    done = subprocess.run(
        ["bash", "-c", script], env={"REPLY_LINES": reply}, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout.split() == ["show"]


def test_the_help_of_map_names_the_lists_that_it_reads():
    for command in ("score", "agree", "assess", "diff", "check", "judge", "labels"):
        options = call(f"rubric-lint {command} --help --all")[0].split("\n  -")
        (text,) = [" ".join(option.split()) for option in options if "-map FIELD" in option]
        has_criteria = command not in {"judge", "labels"}
        assert (command, "records=LIST" in text, "criteria=LIST[NAME:VALUE]" in text) == (command, True, has_criteria)
