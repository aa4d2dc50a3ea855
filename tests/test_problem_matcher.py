"""The problem matcher of the VS Code extension reads what `rubric-lint --format concise` writes."""

import json
import re
from pathlib import Path

from click.testing import CliRunner

from rubric_lint.cli.lint import cli

ROOT = Path(__file__).parents[1]
(MATCHER,) = json.loads((ROOT / "vscode/package.json").read_text("utf-8"))["contributes"]["problemMatchers"]
FAULTY = """\
rubrics:
  - id: tone
    weight: -1
    expected_outcome: ""
  - expected_outcome: "Says: a:1:2 error x: y"
"""


def test_every_finding_is_read_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "a b:3"
    folder.mkdir()
    (folder / "é 1:2.rubric.yaml").write_text(FAULTY, encoding="utf-8")
    written = CliRunner().invoke(cli, ["check", "--format", "concise", "."], standalone_mode=False).output
    report = CliRunner().invoke(cli, ["check", "--format", "json", "."], standalone_mode=False).stdout
    pattern = MATCHER["pattern"]
    names = ("file", "line", "column", "severity", "code", "message")
    lines = [re.search(pattern["regexp"], line) for line in written.splitlines()]
    read = [tuple(found[pattern[name]] for name in names) for found in lines if found]
    assert read == [
        (
            each["file"],
            str(each["start"]["line"]),
            str(each["start"]["column"]),
            each["severity"],
            each["rule"],
            each["message"],
        )
        for each in json.loads(report)["findings"]
    ]
    assert {severity for *_, severity, _, _ in read} == {"error", "warning"}
