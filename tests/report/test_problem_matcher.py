"""The problem matchers of the VS Code extension read what `rubric-lint --format vscode` writes."""

import json
import re
from pathlib import Path

import commands
import pytest

ROOT = Path(__file__).parents[2]
MATCHER, WATCH = json.loads((ROOT / "vscode/package.json").read_text("utf-8"))["contributes"]["problemMatchers"]
FAULTY = """\
rubrics:
  - id: tone
    weight: -1
    expected_outcome: ""
  - expected_outcome: "Says: a:1:2-1:3 error x: y"
  - {expected_outcome: 😀 é, id: 👍🏽, wieght: 2}
"""


def run(*arguments):
    return commands.run("rubric-lint", "check", *arguments).stdout


def units(text):
    """The UTF-16 units of a text, which VS Code counts."""
    return len(text.encode("utf-16-le")) // 2


def place(position):
    before = FAULTY.split("\n")[position["line"] - 1][: position["column"] - 1]
    return str(position["line"]), str(units(before) + 1)


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_every_finding_is_read_and_nothing_else(tmp_path, monkeypatch, ending):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "a b:3"
    folder.mkdir()
    (folder / "é 1:2-1:3.rubric.yaml").write_bytes(FAULTY.replace("\n", ending).encode())
    pattern = MATCHER["pattern"]
    names = ("file", "line", "column", "endLine", "endColumn", "severity", "code", "message")
    lines = [
        re.search(pattern["regexp"], line) for line in run("--format", "vscode", "--color=always", ".").splitlines()
    ]
    read = [tuple(found[pattern[name]] for name in names) for found in lines if found]
    assert read == [
        (
            finding["file"],
            *place(finding["start"]),
            *place(finding["end"]),
            finding["severity"],
            finding["rule"],
            finding["message"],
        )
        for finding in json.loads(run("--format", "json", "."))["findings"]
    ]
    assert {severity for *_, severity, _, _ in read} == {"error", "warning"}
    assert ("6", "40", "6", "46", "unknown-field") in [(*each[1:5], each[6]) for each in read]


def test_a_task_that_watches_knows_when_a_check_begins_and_ends():
    assert WATCH["base"] == f"${MATCHER['name']}"
    background = WATCH["background"]
    notes = ["Checking everything.", "Changed: a b.yaml and c.yaml.", "Watching 2 files; press Ctrl+C to stop."]
    notes.append("Watching; nothing is checked until the settings are fixed.")
    marked = [
        [name for name in ("beginsPattern", "endsPattern") if re.search(background[name], f"[09:41:00] {note}")]
        for note in notes
    ]
    assert marked == [["beginsPattern"], ["beginsPattern"], ["endsPattern"], ["endsPattern"]]
