"""Ten suites like those in use, of several systems and with typical faults: exactly what is found in them.

`suites/expected.json` lists the findings of each in order: line, column, rule, and why it is true, as a person says.
"""

import difflib
import json
from pathlib import Path

import pytest

from rubric_lint.api import lint_source
from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.fix.silence import silence

FOLDER = Path(__file__).parents[1] / "suites"
SUITES = sorted(path for path in FOLDER.iterdir() if path.name != "expected.json")
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))
FIXABLE = ["summaries.rubric.yaml", "support-v1.yaml", "tickets.jsonl"]
EACH = pytest.mark.parametrize("path", SUITES, ids=lambda path: path.name)


def test_there_are_ten_suites_with_their_findings():
    assert (len(SUITES), {path.name for path in SUITES}) == (10, set(EXPECTED))


@EACH
def test_exactly_what_is_wrong_is_found(path):
    result = lint_source(path.name, path.read_bytes())
    places = [(*result.source.position(finding.span.start)[:2], finding.rule) for finding in result.findings]
    expected = EXPECTED[path.name]
    assert places == [(line, column, rule) for line, column, rule, _ in expected["findings"]]
    assert [[each.line, each.column] for each in result.unread] == expected["unread"]
    assert (result.rubrics, result.criteria, result.ignored) == (expected["rubrics"], expected["criteria"], 0)


@EACH
def test_a_fix_changes_the_lines_of_deprecated_fields_only(path):
    data = path.read_bytes()
    fixed = fix(path.name, data)
    old, new = data.decode().split("\n"), fixed.data.decode().split("\n")
    changed = [line[2:] for line in difflib.ndiff(old, new) if line[0] in "-+"]
    assert bool(changed) is (path.name in FIXABLE)
    fields = ("description", "expected_outcome", "required", "$schema")
    assert [line for line in changed if not any(field in line for field in fields)] == []
    assert fix(path.name, fixed.data).applied == ()


@pytest.mark.spread(3)
@EACH
def test_every_finding_of_yaml_can_be_silenced(path):
    if path.suffix != ".yaml":
        return
    data = path.read_bytes()
    done = silence(path.name, data)
    assert (done.left, lint(path.name, done.data).findings) == ((), ())
    assert done.result.ignored == done.findings == len(lint(path.name, data).findings)
