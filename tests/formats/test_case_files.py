"""Cases and assertions of an AgentV suite in other files: they are checked and converted with the suite."""

import json
import sys

import commands
import pytest
from cases import read_cases

from rubric_lint.lint.project.settings import SettingsFinder
from rubric_lint.lint.project.suites import find

TABLES = read_cases(__file__)
CASE = '{"id": "a", "input": "x", "assertions": ["Says why", "Says why"]}'


@pytest.fixture
def write(tmp_path):
    """Writes files into a repository, beside which is a file of cases; returns its folder."""
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (tmp_path / "outside.jsonl").write_text(CASE, "utf-8")
    (folder / "link.jsonl").symlink_to("nowhere.jsonl")

    def write_all(files):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(
                text.replace("FOLDER", str(folder)).replace("BAD", "\udce9").encode(errors="surrogateescape")
            )
        return folder

    return write_all


def report(folder, *args, stdin=""):
    """Check files; return the exit code, the summary, and each finding and near miss with its place."""
    done = commands.run("rubric-lint", "check", "--format", "json", *args, cwd=folder, stdin=stdin)
    told = json.loads(done.stdout)
    found = [
        f"{finding['file']}:{finding['start']['line']}:{finding['start']['column']} {finding['code']}"
        for finding in told["findings"]
    ]
    found += [f"{each['file']}:{each['line']}:{each['column']}" for each in told.get("unread", ())]
    return done, told["summary"], [each.replace(str(folder), "FOLDER") for each in found]


@pytest.mark.parametrize("name", TABLES["read"])
def test_the_files_that_a_suite_names_are_checked_with_it_each_once(name, write):
    row = TABLES["read"][name]
    folder = write(row["files"])
    done, summary, found = report(folder, *row.get("args", ["s.eval.yaml"]))
    assert (found, summary["files"]) == (row["found"], row["checked"])
    assert done.returncode == row.get("code", 0)


@pytest.mark.parametrize("name", TABLES["not read"])
def test_what_is_not_read_with_a_suite_is_told_with_its_place(name, write, said):
    row = TABLES["not read"][name]
    folder = write(row["files"])
    done, _, found = report(folder, "s.eval.yaml")
    assert (found, done.returncode) == (row["found"], int(any(" " in each for each in found)))
    told = json.loads(done.stdout)
    said(
        [finding["message"] for finding in told["findings"]], [finding["reason"] for finding in told.get("unread", ())]
    )


def test_a_suite_whose_files_have_rubrics_is_not_without_any(write):
    files = {"s.eval.yaml": "tests: ./c.jsonl\n", "c.jsonl": CASE.replace('"Says why", ', "")}
    done, summary, _ = report(write(files), "s.eval.yaml", "--require-rubrics")
    assert (done.returncode, done.stderr, summary["rubrics"]) == (0, "", 1)
    shown = commands.run("rubric-lint", "show", "s.eval.yaml", cwd=write(files))
    assert "c.jsonl:1:" in shown.stdout


@pytest.mark.parametrize("command", ["check", "show"])
def test_a_suite_whose_files_have_no_rubrics_either_is_told_once(command, write, said):
    folder = write(
        {"s.eval.yaml": "tests: ./c.jsonl\n", "c.jsonl": '{"id": "a", "input": "x", "criteria": "Is right"}'}
    )
    said(commands.run("rubric-lint", command, "s.eval.yaml", cwd=folder).stderr)


def test_stdin_is_read_without_the_files_that_it_names(write, said):
    folder = write({"c.jsonl": CASE})
    done, summary, found = report(folder, "-", "--stdin-filename", "s.eval.yaml", stdin="tests: ./c.jsonl\n")
    assert (summary["files"], found) == (1, ["s.eval.yaml:1:8"])
    said(done.stderr)


def test_stdin_is_converted_without_the_files_that_it_names(write, said):
    folder = write({"c.jsonl": CASE})
    suite = "execution: {target: x}\ntests: ./c.jsonl\n"
    line = ("fix", "--to", "agentv-5", "-", "--stdin-filename", "s.eval.yaml")
    done = commands.run("rubric-lint", *line, cwd=folder, stdin=suite)
    assert (done.stdout, read_all(folder)["c.jsonl"].decode()) == ("providers: [x]\ntests: ./c.jsonl\n", CASE)
    said(done.stderr)


def test_what_would_be_read_lists_the_files_that_suites_name(write):
    folder = write({"s.eval.yaml": "tests: ./c.jsonl\n", "c.jsonl": CASE})
    assert (
        commands.run("rubric-lint", "check", "--show-files", "s.eval.yaml", cwd=folder).stdout
        == "s.eval.yaml\nc.jsonl\n"
    )


def test_fixes_are_made_in_the_files_that_suites_name(write):
    folder = write({"s.eval.yaml": "prompts: ['{{ input }}']\ntests: ./c.jsonl\n", "c.jsonl": CASE})
    commands.run("rubric-lint", "fix", "--unsafe-fixes", "s.eval.yaml", cwd=folder)
    assert (folder / "c.jsonl").read_text("utf-8") == CASE.replace("assertions", "assert")


def test_a_hook_reads_what_suites_name_and_only_suites_by_their_names(write):
    suite = "execution: {target: x}\ntests: ./c.jsonl\n"
    folder = write({"s.eval.yaml": suite, "any.yaml": suite.replace("c.", "no."), "c.jsonl": CASE})
    _, summary, found = report(folder, "--force-exclude", "any.yaml", "s.eval.yaml")
    assert (summary["files"], found) == (3, ["c.jsonl:1:54 duplicate-criterion.counted-twice"])
    assert report(folder, "any.yaml")[2] == ["any.yaml:2:8 lost-rubric.agentv-file"]


def test_what_the_settings_say_holds_for_files_that_are_missing(write):
    files = {"s.eval.yaml": "tests: ./no.jsonl  # rubric-lint: ignore[lost-rubric]\n"}
    assert report(write(files), "s.eval.yaml")[1]["ignored"] == 1
    assert report(write(files), "s.eval.yaml", "--ignore", "lost-rubric")[2] == ["s.eval.yaml:1:8"]


def test_a_file_that_appears_is_read_although_the_suite_is_in_the_cache(write):
    folder = write({"s.eval.yaml": "tests: ./c.jsonl\n"})
    assert report(folder, "s.eval.yaml")[2] == ["s.eval.yaml:1:8 lost-rubric.agentv-file"]
    write({"c.jsonl": CASE})
    assert report(folder, "s.eval.yaml")[2] == ["c.jsonl:1:54 duplicate-criterion.counted-twice"]


def convert(folder, *args):
    """Convert files; return the program's outcome and the texts of all files that have another one now."""
    before = read_all(folder)
    done = commands.run("rubric-lint", "fix", "--to", "agentv-5", *args, cwd=folder)
    return done, {name: text for name, text in read_all(folder).items() if text != before[name]}


def read_all(folder):
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize("name", TABLES["converted"])
def test_a_suite_is_converted_with_the_files_that_it_names(name, write, said):
    folder = write(TABLES["converted"][name])
    done, changed = convert(folder, "s.eval.yaml")
    said(done.stdout, done.stderr, [f"{name}\n{text.decode()}" for name, text in changed.items()])
    assert (done.returncode, "not rewritten" in done.stdout) == (0, False)
    assert convert(folder, "s.eval.yaml")[1] == {}


@pytest.mark.parametrize("name", TABLES["in the way"])
def test_nothing_is_written_if_one_of_the_files_is_in_the_way(name, write, said):
    folder = write(TABLES["in the way"][name])
    done, changed = convert(folder, "s.eval.yaml")
    said(done.stdout, done.stderr)
    assert changed == {}
    assert done.returncode > 0


def test_a_file_that_is_read_only_holds_the_others_back(write, said):
    folder = write(
        {"s.eval.yaml": "target: x\ntests: [c.yaml]\n", "c.yaml": "- {id: a, input: x, assertions: [Yes it is]}\n"}
    )
    (folder / "c.yaml").chmod(0o444)
    done, changed = convert(folder, "s.eval.yaml")
    said(done.stdout, done.stderr)
    assert (done.returncode, changed) == (2, {})


def test_suites_that_share_a_file_are_converted_together(write):
    folder = write(
        {
            "a.eval.yaml": "execution: {target: x}\ntests: ./c.yaml\n",
            "b.eval.yaml": "workspace: {template: x}\ntests: ./c.yaml\n",
            "c.yaml": "- {id: a, input: x, assertions: [Says why]}\n",
            "d.eval.yaml": "execution: {target: x}\ntests: [{id: a, input: x, assertions: [Says why]}]\n",
        }
    )
    done, changed = convert(folder, ".")
    assert ([*changed], done.returncode) == (["d.eval.yaml"], 1)
    report = json.loads(commands.run("rubric-lint", "fix", "--to", "agentv-5", "--format", "json", cwd=folder).stdout)
    assert report["summary"]["suites"] == {"current": 1, "in_the_way": 2}


def count_calls(work):
    """Return how many calls of the package some work makes."""
    count = 0

    def note(frame, event, _):
        nonlocal count
        count += event == "call" and "rubric_lint" in frame.f_code.co_filename

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "pieces",
    [
        ("tests: ./c.jsonl\n", "", "c.jsonl", CASE + "\n"),
        ("tests:\n", "  - c{}.jsonl\n", "c{}.jsonl", CASE),
        ("tests: cases\n", "", "cases/{}/case.yaml", "assertions: [Says why]\n"),
        (
            "tests: [{include: t1.eval.yaml, type: suite}}]\n",
            "",
            "t{}.eval.yaml",
            "tests: [{include: t{next}.eval.yaml}]\n",
        ),
    ],
)
def test_finding_files_costs_as_much_as_there_are(pieces, write, monkeypatch):
    head, entry, name, text = pieces
    counts = []
    for size in (20, 40):
        files = {"s.eval.yaml": head + "".join(entry.format(at) for at in range(size))}
        for at in range(size):
            files[name.format(at)] = files.get(name.format(at), "") + text.replace("{next}", str(at + 1))
        monkeypatch.chdir(write(files))
        counts.append(count_calls(lambda: [*find(["s.eval.yaml"], SettingsFinder(isolated=True))]))
    assert counts[1] < 2.5 * counts[0]
