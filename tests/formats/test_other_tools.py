"""Files of other tools that speak of rubrics, criteria, scores, weights and judges: rubric-lint leaves them alone."""

import json
from pathlib import Path

import pytest
from cases import read_cases
from lint_command import call

from rubric_lint.lint.engine import lint

FILES = read_cases(__file__)["FILES"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_tool_is_left_alone(name):
    result = lint(name, FILES[name].encode())
    known = [each for each in result.unread if each.is_known]
    assert (result.rubrics, result.findings, known) == (0, (), [])


@pytest.mark.slow
def test_a_whole_folder_of_them_is_one_quiet_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        path = Path("files", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for paths in (["files"], [f"files/{name}" for name in FILES]):
        report, _, code = call("--format=json", *paths)
        summary = json.loads(report)["summary"]
        assert (code, summary["files_with_rubrics"], json.loads(report)["findings"]) == (0, 0, [])
