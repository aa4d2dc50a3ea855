"""C2: the check of one file comes to an end in time, and says where it did not get through."""

import json
from pathlib import Path

import commands
import pytest

from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.fix.silence import silence
from rubric_lint.lint.project.files import File
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.lint.run.batch import lint_files
from rubric_lint.lint.run.cache import Cache
from rubric_lint.model.finding import Unread
from rubric_lint.model.schema_files import load
from rubric_lint.source import deadline as clock

RUBRIC = "rubrics:\n" + "".join(f"- id: c{number}\n  description: ''\n" for number in range(20))
NO_TIME = FileSettings(time_limit=-1)
TOLD = (
    "linting this file was stopped after -1 seconds, so there may be more findings; split the file, or raise "
    "`time-limit` in the settings"
)


@pytest.fixture(autouse=True)
def here(folder):
    (folder / "a.yaml").write_text(RUBRIC)


class Ticking:
    """A clock that goes on by one second each time it is looked at."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1
        return self.now


def told(result):
    return [(finding.rule, finding.severity, finding.message) for finding in result.findings]


@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.jsonl"])
def test_a_file_without_time_is_an_error_that_says_so(name):
    data = json.dumps({"rubrics": [{"id": "a", "expected_outcome": ""}]}).encode()
    result = lint(name, data, NO_TIME)
    assert told(result)[0] == ("syntax", "error", TOLD)
    assert (result.is_stopped, result.findings[0].span) == (True, (0, 1))
    if name == "a.yaml":  # no rule that is left out and no comment hides it
        settings = NO_TIME._replace(enabled=frozenset({"overlap"}))
        text = f"# rubric-lint: ignore-file[syntax]\n{RUBRIC}"
        assert ("syntax", "error", TOLD) in told(lint(name, text.encode(), settings))


@pytest.mark.parametrize("limit", [3, 8, 13, 30])
def test_what_was_found_in_time_is_kept(limit, monkeypatch):
    everything = {finding[2] for finding in told(lint("a.yaml", RUBRIC.encode()))}
    monkeypatch.setattr(clock, "monotonic", Ticking())
    result = lint("a.yaml", RUBRIC.encode(), FileSettings(time_limit=limit))
    first, *rest = told(result)
    assert first[2].startswith(f"linting this file was stopped after {limit} seconds")
    assert {message for _, _, message in rest} < everything
    assert limit < 10 or rest


def test_a_file_of_others_gets_no_finding_but_the_reason_is_known():
    result = lint("a.yaml", b"rubric of others:\n" + b"- a\n" * 90_000, NO_TIME)
    assert (told(result), result.unread) == ([], (Unread(TOLD, 1, 1, is_known=False),))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_reading_a_large_file_looks_at_the_clock(name, monkeypatch):
    looks = Ticking()
    monkeypatch.setattr(clock, "monotonic", looks)
    text = '{"rubrics": [' + '{"id": "a"},' * 40_000 + '{"id": "b"}]}'
    result = lint(name, text.encode(), FileSettings(time_limit=50))
    assert (told(result)[0][0], result.is_stopped, looks.now < 70) == ("syntax", True, True)


def test_nothing_is_fixed_or_silenced_in_a_file_that_was_not_read_to_its_end():
    fixed, silenced = fix("a.yaml", RUBRIC.encode(), NO_TIME), silence("a.yaml", RUBRIC.encode(), NO_TIME)
    assert (fixed.is_changed, [fault.message for fault in fixed.faults()]) == (False, [TOLD])
    assert (silenced.is_changed, {left.reason for left in silenced.left}) == (
        False,
        {"linting this file was stopped, so not all findings are known"},
    )


def test_no_cache_keeps_it(tmp_path):
    with Cache(tmp_path / "cache") as cache:
        assert [outcome.is_stopped for _, outcome in lint_files([File("a.yaml", NO_TIME)], cache=cache)] == [True]
    assert len(Cache(tmp_path / "cache")) == 0


def test_the_commands_say_it_and_exit_with_1_and_2(monkeypatch):
    Path("rubric-lint.toml").write_text("time-limit = 1\n")
    ticking = Ticking()
    monkeypatch.setattr(clock, "monotonic", ticking)
    done = commands.run("rubric-lint", "a.yaml", "--no-cache", "--format=concise")
    assert (done.returncode, "stopped after 1 seconds" in done.stdout) == (1, True)
    done = commands.run("rubric-fix", "a.yaml")
    assert (done.returncode, "stopped after 1 seconds" in done.stderr) == (2, True)
    assert Path("a.yaml").read_text() == RUBRIC


def test_the_schema_of_the_settings_and_the_program_name_the_same_limit():
    assert load("config/v1.json")["properties"]["time-limit"]["default"] == clock.TIME_LIMIT
