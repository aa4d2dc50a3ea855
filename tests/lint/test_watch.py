"""The real program follows real changes, in a pipe and on a terminal."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import commands
import pytest
from found import message

pytestmark = pytest.mark.slow

PATIENCE = 30  # seconds; only a failing test waits so long

OLD = """\
rubrics:
  - id: a
    description: States the result.
"""
GOOD = OLD.replace("description", "expected_outcome")
NO_ID = "rubrics:\n  - expected_outcome: States the result.\n"
RENAMED = message("deprecated-description.renamed", field="description", name="expected_outcome")
DEPRECATED = f":3:5 warning deprecated-description: criterion `a`: {RENAMED}\n"
MISSING = f":2:5 warning missing-id: criterion 1: {message('missing-id.missing', field='`id`', id='rubric-1')}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


class Watching:
    """A program that watches; `more` is what it has written since the last look, up to its next pause."""

    def __init__(self, *args, terminal=False, cwd=None, program="rubric-lint"):
        self._read_from, write_to = pty.openpty() if terminal else os.pipe()
        streams = {"stdin": subprocess.DEVNULL, "stdout": write_to, "stderr": write_to}
        self.program = subprocess.Popen(commands.command(program, "--watch", *args), cwd=cwd, **streams)
        os.close(write_to)
        self.rest = ""

    def more(self):
        end = time.monotonic() + PATIENCE
        pause = re.compile(r"^\[..:..:..\] Watching.*\n", re.MULTILINE)
        while not (found := pause.search(self.rest)):
            if not select.select([self._read_from], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"nothing more came after {self.rest!r}")
            self.rest += os.read(self._read_from, 1 << 16).decode().replace("\r\n", "\n")
        text, self.rest = self.rest[: found.end()], self.rest[found.end() :]
        return re.sub(r"\[\d\d:\d\d:\d\d\] ", "[time] ", text)

    def is_silent(self, seconds=0.7):
        return not self.rest and not select.select([self._read_from], [], [], seconds)[0]

    def end(self, number=signal.SIGINT):
        if self.program.poll() is None:
            self.program.send_signal(number)
        code = self.program.wait(PATIENCE)
        os.close(self._read_from)
        return code


@pytest.fixture
def watch():
    started = []

    def start(*args, **more):
        started.append(Watching("--format", "concise", "-q", *args, **more))
        return started[-1]

    yield start
    for each in started:
        if each.program.poll() is None:
            each.program.kill()
            each.program.wait()


def report(what, *lines, files=1):
    counted = f"{files} file" if files == 1 else f"{files} files"
    return f"[time] {what}.\n{''.join(lines)}[time] Watching {counted}; press Ctrl+C to stop.\n"


def write(name, text):
    """Save as one event, however busy the machine is: by a rename from where nobody watches."""
    with TemporaryDirectory(dir="../..") as aside:
        whole = Path(aside, "whole")
        whole.write_text(text, "utf-8")
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        whole.replace(name)


def save_in_the_folder(name, text):
    """As editors do that never leave half a file."""
    write(f".{name}.swap", text)
    Path(f".{name}.swap").rename(name)


def empty_and_write(name, text):
    """As most editors do; how long the file was empty."""
    emptied = time.time()
    with Path(name).open("w", encoding="utf-8") as stream:
        stream.write(text)
    return time.time() - emptied


@pytest.mark.parametrize("save", [write, save_in_the_folder])
@pytest.mark.parametrize("args", [(), ("a.yaml",), (".",)])
def test_a_saved_file_is_linted_again(watch, save, args):
    write("a.yaml", OLD)
    watching = watch(*args)
    assert report("Checking everything", "a.yaml" + DEPRECATED) == watching.more()
    for text, lines in [(GOOD, []), (OLD, ["a.yaml" + DEPRECATED]), (NO_ID, ["a.yaml" + MISSING]), (GOOD, [])]:
        save("a.yaml", text)
        assert report("Changed: a.yaml", *lines) == watching.more()


def test_the_report_for_agents_is_repeated_too(watch):
    write("a.yaml", OLD)
    watching = watch("--format", "agent")
    assert " [safe fix: " in watching.more()
    write("a.yaml", GOOD)
    assert report("Changed: a.yaml") == watching.more()


def test_a_file_emptied_to_be_written_is_not_reported_as_clean(watch):
    write("a.yaml", OLD)
    watching = watch()
    watching.more()
    done = 0
    while done < 3:
        took = empty_and_write("a.yaml", NO_ID + f"# {done}\n")
        told = watching.more()
        if took < 0.05:  # on a busy machine it may really have been empty for long
            assert told == report("Changed: a.yaml", "a.yaml" + MISSING)
            done += 1
        while "a.yaml" + MISSING not in told:
            told = watching.more()


def test_all_that_is_wrong_is_shown_not_only_what_is_new(watch):
    write("a.yaml", OLD)
    write("b.yaml", GOOD)
    watching = watch()
    assert report("Checking everything", "a.yaml" + DEPRECATED, files=2) == watching.more()
    write("b.yaml", OLD)
    assert report("Changed: b.yaml", "a.yaml" + DEPRECATED, "b.yaml" + DEPRECATED, files=2) == watching.more()


def test_files_and_folders_come_go_and_move(watch):
    watching = watch()
    assert report("Checking everything", files=0) == watching.more()
    write("new.yaml", OLD)
    assert report("Changed: new.yaml", "new.yaml" + DEPRECATED) == watching.more()
    Path("new.yaml").rename("moved.yaml")
    assert report("Changed: moved.yaml and new.yaml", "moved.yaml" + DEPRECATED) == watching.more()
    Path("sub/deep").mkdir(parents=True)
    Path("moved.yaml").rename("sub/deep/moved.yaml")
    assert report("Changed: moved.yaml and sub/deep/moved.yaml", "sub/deep/moved.yaml" + DEPRECATED) == watching.more()
    write("sub/deep/moved.yaml", NO_ID)
    assert report("Changed: sub/deep/moved.yaml", "sub/deep/moved.yaml" + MISSING) == watching.more()
    Path("sub").rename("other")
    news = "Changed: other/deep/moved.yaml and sub/deep/moved.yaml"
    assert report(news, "other/deep/moved.yaml" + MISSING) == watching.more()
    shutil.rmtree("other")
    assert report("Changed: other/deep/moved.yaml", files=0) == watching.more()
    write("other/deep/moved.yaml", OLD)
    assert report("Changed: other/deep/moved.yaml", "other/deep/moved.yaml" + DEPRECATED) == watching.more()


def test_many_changes_at_once_are_one_report(watch, said):
    watching = watch()
    watching.more()
    with TemporaryDirectory(dir="../..") as aside:
        for number in range(5):
            Path(aside, f"{number}.yaml").write_text(GOOD, "utf-8")
        Path(aside).rename("new")
        Path(aside).mkdir()
    said(watching.more())
    assert watching.is_silent()


def test_a_file_written_piece_by_piece_ends_up_right(watch, said):
    write("a.yaml", GOOD)
    watching = watch()
    watching.more()
    with Path("a.yaml").open("w", encoding="utf-8") as stream:
        for line in ["rubrics:\n", "  - id: [\n", "    a]\n", "    expected_outcome: States the result.\n"]:
            stream.write(line)
            stream.flush()
            time.sleep(0.15)
    write("b.yaml", OLD)  # the mark that ends what is looked at
    last = ""
    while "b.yaml" not in last:
        last = watching.more()
    assert last.startswith("[time] Changed: ")
    said([line for line in last.splitlines() if not line.startswith("[")])


@pytest.mark.parametrize(("name", "place"), [("rubric-lint.toml", "."), ("pyproject.toml", "..")])
def test_changed_settings_hold_at_once(watch, name, place, said):
    write("a.yaml", OLD)
    write("b.yaml", NO_ID)
    watching = watch()
    watching.more()
    table = "" if name == "rubric-lint.toml" else "[tool.rubric-lint]\n"
    write(f"{place}/{name}", table + 'ignore = ["missing-id"]\n')
    said(watching.more())
    write(f"{place}/{name}", table + 'exclude = ["a.yaml"]\n')
    said(watching.more())
    Path(place, name).unlink()
    said(watching.more())


def test_broken_settings_are_told_and_mended(watch):
    write("a.yaml", OLD)
    watching = watch()
    watching.more()
    write("rubric-lint.toml", "ignore = 1\n")
    fault = "rubric-lint: rubric-lint.toml: ignore: this is a number, and a list is needed\n"
    told = watching.more()
    assert "rubric-lint: rubric-lint.toml: ignore" in told, fault
    write("rubric-lint.toml", "")
    assert "a.yaml" + DEPRECATED in watching.more()


@pytest.mark.parametrize("is_set", [False, True])
def test_judge_outputs_are_looked_at_again(watch, is_set, said):
    write("a.rubric.yaml", "rubrics:\n  - {id: a, expected_outcome: Names the total}\n")
    met = '{"id": "a%d", "output": {"checks": [{"id": "a", "satisfied": true}]}}\n'
    write("results/j.jsonl", "".join(met % number for number in range(50)))
    if is_set:
        write("rubric-lint.toml", 'judged = ["results/j.jsonl"]\n')
    watching = watch("a.rubric.yaml", *(() if is_set else ("--judged", "results/j.jsonl")))
    said(watching.more())
    write("results/j.jsonl", "".join(met % number for number in range(60)))
    said(watching.more())


def test_a_settings_file_named_by_an_option_is_followed(watch, tmp_path, said):
    write("a.yaml", OLD)
    elsewhere = tmp_path / "elsewhere.toml"
    write(elsewhere, "")
    watching = watch("--config", elsewhere)
    assert report("Checking everything", "a.yaml" + DEPRECATED) == watching.more()
    write(elsewhere, 'ignore = ["deprecated-description"]')
    said(watching.more())
    write(elsewhere, "ignore = [")
    told = watching.more()
    assert told.startswith(f"rubric-lint: {elsewhere}: ")
    said(told)
    write(elsewhere, "")
    said(watching.more())


@pytest.mark.parametrize("rules", [".gitignore", ".git/info/exclude"])
def test_what_git_ignores_is_followed(watch, rules):
    write("a.yaml", OLD)
    write("sub/b.yaml", GOOD)
    Path(".git/info").mkdir(parents=True)
    watching = watch("sub", "a.yaml")
    assert report("Checking everything", "a.yaml" + DEPRECATED, files=2) == watching.more()
    write(rules, "*.yaml\n")  # a.yaml is named
    assert report(f"Changed: {rules} and sub/b.yaml", "a.yaml" + DEPRECATED) == watching.more()
    Path(rules).unlink()
    assert report(f"Changed: {rules} and sub/b.yaml", "a.yaml" + DEPRECATED, files=2) == watching.more()


def test_what_does_not_concern_us_makes_no_noise(watch):
    write("a.yaml", OLD)
    write(".gitignore", "out/\n")
    write("out/x.yaml", OLD)
    watching = watch()
    watching.more()
    write("out/x.yaml", NO_ID)
    write("notes.txt", "text")
    write("../neighbour.yaml", OLD)
    assert watching.is_silent()
    write("a.yaml", GOOD)
    assert report("Changed: a.yaml") == watching.more()


def test_a_path_may_appear_later(watch, said):
    write("b.yaml", GOOD)
    watching = watch("sub/a.yaml", "b.yaml")
    told = watching.more()
    said(told)
    write("sub/a.yaml", OLD)
    assert watching.more() == report("Changed: sub/a.yaml", "sub/a.yaml" + DEPRECATED, files=2)


@pytest.mark.parametrize("program", ["rubric-lint", "rubric-test"])
def test_paths_of_which_none_exists_end_it_as_without_watching(program):
    Path("link.yaml").symlink_to("gone.yaml")
    paths = ["no.yaml", "sub/no.yaml", "no*.yaml", "link.yaml"]
    plain = commands.run(program, *paths)
    # Here, as what does not end has to be stopped.
    done = commands.run_process(commands.command(program, "--watch", *paths), timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", plain.stderr)
    assert (plain.returncode, plain.stderr.count("\n")) == (2, len(paths))


def test_a_folder_without_rubrics_is_watched(watch):
    Path("empty").mkdir()
    watching = watch("empty")
    assert watching.more() == report("Checking everything", files=0)
    write("empty/a.yaml", OLD)
    assert watching.more() == report("Changed: empty/a.yaml", "empty/a.yaml" + DEPRECATED)


def test_what_a_link_leads_to_is_followed(watch, tmp_path):
    target = tmp_path / "elsewhere" / "target.yaml"
    target.parent.mkdir()
    target.write_text(OLD, "utf-8")
    Path("link.yaml").symlink_to(target)
    watching = watch("link.yaml")  # a link that a search finds, and that leaves the root, is not followed
    assert report("Checking everything", "link.yaml" + DEPRECATED) == watching.more()
    write(target, GOOD)
    assert report("Changed: link.yaml") == watching.more()


def link(name, target):
    """Make a link, in the place of one that is there."""
    Path("../made").symlink_to(target)
    Path("../made").rename(name)


LINKS = {
    "a folder": ({"link": "../target"}, "link", "link/a.yaml"),
    "a folder behind two links": ({"../mid": "target", "link": "../mid"}, "link", "link/a.yaml"),
    "a file behind two links": ({"../mid.yaml": "target/a.yaml", "link.yaml": "../mid.yaml"}, "link.yaml", "link.yaml"),
    "a file in a linked folder": ({"link": "../target"}, "link/a.yaml", "link/a.yaml"),
    "a folder in a circle": ({"link": "../target", "../target/back": "../here"}, "link", "link/a.yaml"),
}


@pytest.mark.parametrize(("links", "named", "shown"), LINKS.values(), ids=LINKS)
def test_what_is_behind_links_is_followed_and_where_they_lead(watch, links, named, shown):
    write("../target/a.yaml", OLD)
    write("../other/a.yaml", OLD)
    for name, target in links.items():
        link(name, target)
    watching = watch(named)

    def read():
        return watching.more().rpartition("[time] ")[0]  # without the links that are not followed

    assert read() == f"[time] Checking everything.\n{shown}{DEPRECATED}"
    write("../target/a.yaml", GOOD)
    assert read() == f"[time] Changed: {shown}.\n"
    name, target = next(iter(links.items()))
    link(name, target.replace("target", "other"))
    assert read() == f"[time] Changed: {shown}.\n{shown}{DEPRECATED}"
    write("../other/a.yaml", NO_ID)
    assert read() == f"[time] Changed: {shown}.\n{shown}{MISSING}"


def test_settings_behind_a_link_are_followed(watch):
    write("a.yaml", NO_ID)
    write("../target/real", "")
    link("rubric-lint.toml", "../target/real")
    watching = watch()
    assert report("Checking everything", "a.yaml" + MISSING) == watching.more()
    write("../target/real", 'ignore = ["missing-id"]\n')
    assert report("Changed: rubric-lint.toml") == watching.more()


def test_links_that_are_not_followed_are_said(watch):
    write("../target/a.yaml", OLD)
    link("link", "../target")
    link("link.yaml", "../target/a.yaml")
    expected = "Watching 0 files; 2 symlinks are not followed: name them to watch what is behind them; press"
    assert expected in watch().more()


def test_a_terminal_shows_the_current_state_only(watch):
    write("a.yaml", OLD)
    clear = "\x1b[2J\x1b[1;1H"
    watching = watch("--color", "never", terminal=True)
    # What comes before is the progress bar of a busy machine.
    assert report("Checking everything", "a.yaml" + DEPRECATED) == watching.more().partition(clear)[2]
    write("a.yaml", GOOD)
    assert report("Changed: a.yaml") == watching.more().partition(clear)[2]


def test_the_full_report_has_its_frames_and_summary():
    write("a.yaml", OLD)
    watching = Watching("a.yaml")
    plain = commands.run("rubric-lint", "a.yaml").stdout
    assert report("Checking everything", plain) == watching.more()
    assert watching.end() == 130


def test_an_interrupt_ends_it_in_the_midst_of_waiting(watch):
    watching = watch()
    watching.more()
    assert watching.end() == 130
    assert watching.rest == ""


@pytest.mark.parametrize(
    "args",
    [["-"], ["--fix"], ["--add-ignores"], ["--write-baseline"], ["--output", "x"], ["--format", "json"]],
    ids=" ".join,
)
def test_what_cannot_be_watched_is_refused(args, said):
    done = commands.run("rubric-lint", "--watch", *args)
    assert (2, "") == (done.returncode, done.stdout)
    said(done.stderr.splitlines()[-1])


def test_settings_that_cannot_be_used_to_begin_with_end_it():
    done = commands.run("rubric-lint", "--watch", "--config", "no.toml")
    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("rubric-lint: no.toml: ")


def test_without_the_package_it_says_what_to_install(said):
    before = "import sys; sys.modules['watchfiles'] = None\n"
    done = commands.run_process(commands.command("rubric-lint", "--watch", before=before))
    assert (2, "") == (done.returncode, done.stdout)
    said(done.stderr)


def test_rubric_tests_run_again_when_their_rubric_or_their_outputs_change(folder, said):
    rubric = folder / "rubrics/a.yaml"
    rubric.parent.mkdir()
    rubric.write_text("rubrics:\n  - {id: day, expected_outcome: Names the day, required_min_score: 10}\n", "utf-8")
    outputs = folder / "outputs/a.jsonl"
    outputs.parent.mkdir()
    record = '{"id": "right", "output": {"checks": [{"id": "day", "satisfied": %s}]}, "rubric_hash": null}\n'
    outputs.write_text(record % "true", "utf-8")
    tests = "rubric: rubrics/a.yaml\noutputs: outputs/a.jsonl\ntests:\n  - {id: right, expect: {gates: {day: met}}}\n"
    (folder / "a.rubric-test.yaml").write_text(tests, "utf-8")
    watching = Watching("--format", "concise", "-q", program="rubric-test")
    try:
        said(watching.more())
        time.sleep(0.05)
        outputs.write_text(record % "false", "utf-8")
        shown = watching.more()
        assert shown.startswith("[time] Changed: outputs/a.jsonl.\n")
        assert "unmet-expectation: " in shown
        time.sleep(0.05)
        rubric.write_text(rubric.read_text("utf-8").replace(", required_min_score: 10", ""), "utf-8")
        shown = watching.more()
        assert shown.startswith("[time] Changed: rubrics/a.yaml.\n")
        assert "broken-test: " + message("broken-test.no-gate", test="right", criterion="day") in shown
        time.sleep(0.05)
        rubric.unlink()
        shown = watching.more()
        assert shown.startswith("[time] Changed: rubrics/a.yaml.\n")
        assert "rubrics/a.yaml: does not exist" in shown
    finally:
        watching.end()
