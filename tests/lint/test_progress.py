import io
import sys

import click
import commands
import pytest
from cases import read_cases

from rubric_lint.lint.run.console import Progress

TABLES = read_cases(__file__)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets, and a terminal of 80 columns."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setenv("COLUMNS", "80")
    return now


def last(stream):
    """The last bar that was drawn."""
    return stream.getvalue().rpartition("\r")[2].rstrip()


# H9: one look for every command


def test_a_bar_of_items_counts_them_and_says_how_long_it_takes(clock):
    stream = Terminal()
    bar = Progress(stream, "fixing")
    for at in bar.over(bar.count(range(2000))):
        if at == 500:
            clock[0] += 20
    assert "\rfixing [#######-----------------------] 25% 501 of 2,000 files, 60 s left" in stream.getvalue()
    assert stream.getvalue().endswith(" \r")


def test_a_bar_of_bytes_counts_what_was_made_of_them(clock):
    stream = Terminal()
    bar = Progress(stream, "scoring", "outputs", 4000)
    bar.done = 12345
    clock[0] += 400
    bar.advance(1000)
    assert last(stream) == "scoring [#######-----------------------] 25% 12,345 outputs, 20 min left"


def test_where_the_end_is_unknown_the_bar_says_how_fast_it_goes(clock):
    stream = Terminal()
    bar = Progress(stream, "scoring", "outputs")
    bar.done = 3000
    clock[0] += 2
    bar.advance(1000)
    assert last(stream) == "scoring 3,000 outputs, 1,500 per second"


def test_a_bar_says_what_the_run_waits_for(clock):
    stream = Terminal()
    bar = Progress(stream, "judging", "answers", 10)
    clock[0] += 2
    bar.show("waiting 12 s")
    assert last(stream) == "judging [------------------------------] 0% 0 of 10 answers, waiting 12 s"


def test_a_bar_shows_late_and_seldom_and_is_wiped_whole(clock):
    stream = Terminal()
    bar = Progress(stream, "judging", "answers", 1000)
    bar.show()
    clock[0] += 0.9
    bar.show()
    assert stream.getvalue() == ""
    clock[0] += 0.2
    bar.done = 100
    bar.show("waiting for something long")
    bar.show("again, too early")
    clock[0] += 5
    bar.done = 990
    bar.show()
    long, short = stream.getvalue().split("\r")[1:]
    assert len(short) == len(long)
    bar.clear()
    assert stream.getvalue().endswith("\r" + " " * len(long) + "\r")


def test_nothing_is_drawn_where_no_terminal_shows_it(clock):
    stream = io.StringIO()
    bar = Progress(stream, "judging", "answers", 10)
    clock[0] += 100
    bar.show()
    bar.advance(10)
    bar.clear()
    assert (stream.getvalue(), bar.is_shown) == ("", False)


# H9: Ctrl+C says what was done

INTERRUPTING = """\
import os, signal, sys
from rubric_lint.lint import engine

def interrupt(rubric):
    if rubric.entries[0].id == "b":
        os.kill(os.getpid(), signal.SIGINT)
    return iter(())

known = engine.checks_for
engine.checks_for = lambda signs: (*known(signs), ("interrupting", interrupt))
sys.argv[0] = "rubric-{0}"
from rubric_lint.cli import start
start.{0}()
"""
OLD = "rubrics:\n  - id: {}\n    description: States the result.\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "args", "has_changed"),
    TABLES["interrupted"],
    ids=["lint", "lint --fix", "lint show", "lint --add-ignores", "fix", "fix --check"],
)
def test_an_interrupted_run_says_what_it_did_and_leaves_whole_files(tmp_path, name, args, has_changed, said):
    texts = [OLD.format(letter) for letter in "abc"]
    for text, letter in zip(texts, "abc", strict=True):
        (tmp_path / f"{letter}.yaml").write_text(text, "utf-8")
    command = [sys.executable, "-W", "error", "-c", INTERRUPTING.format(name), *args, "--isolated"]
    done = commands.run_process(command, cwd=tmp_path)
    assert done.returncode == 130
    said(done.stderr)
    left = [(tmp_path / f"{letter}.yaml").read_text("utf-8") for letter in "abc"]
    assert (left[0] != texts[0], left[1:]) == (has_changed, texts[1:])


def test_an_interrupt_erases_the_bar_once_more_as_the_terminal_may_have_dropped_that(clock, capsys):
    stream = Terminal()
    bar = Progress(stream)
    clock[0] += 5
    bar.show()
    bar.clear()
    before = stream.getvalue()
    with pytest.raises(click.Abort), bar.reporting_interrupt(lambda: "after 3 files"):
        raise KeyboardInterrupt
    erased = "\r" + " " * len(before.split("\r")[1]) + "\r"
    assert stream.getvalue() == before + erased
    assert capsys.readouterr().err.endswith("interrupted after 3 files\n")
