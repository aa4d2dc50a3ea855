"""What each command says at its end: that all is well only where something was checked."""

import commands
import pytest
from called import call
from cases import read_cases

TABLES = read_cases(__file__)


SOUND = "rubrics:\n  - id: a\n    expected_outcome: Names the refund window\n"
OLD = SOUND.replace("expected_outcome", "description")
BANDS = """\
rubrics:
  - id: a
    score_ranges:
      - {score_range: [0, 5], expected_outcome: Names no window}
      - {score_range: [5, 10], expected_outcome: Names the window}
"""
FILES = {
    "empty/.keep": "",
    "none/a.yaml": "a: 1\n",
    "sound/a.yaml": SOUND,
    "old/a.yaml": OLD,
    "near/a.yaml": "criteria:\n  - {id: a, expected_outcome: Says why}\n",
    "ignored/a.yaml": OLD.replace("description", "# rubric-lint: ignore[deprecated-description]\n    description"),
    "known/a.yaml": OLD,
    "spared/a.yaml": SOUND,
    "spared/rubric-lint.toml": 'ignore = ["weight"]\n[per-file-ignores]\n"a.*" = ["overlap"]\n',
    "hidden/rubric-lint.toml": 'exclude = ["*.yaml"]\n',
    "hidden/a.yaml": OLD,
    "gitignored/.gitignore": "*.yaml\n",
    "gitignored/a.yaml": OLD,
    "notes.md": "Notes.\n",
    "other/a.yaml": OLD,
    "other/b.yaml": OLD,
    **{f"bands/{name}.yaml": BANDS for name in "abcde"},
}
COMMANDS = TABLES["COMMANDS"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("states")
    for name, text in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text, "utf-8")
    commands.commit_all(made)
    (made / "new.yaml").write_text(OLD, "utf-8")
    call("rubric-lint known --baseline known.json --write-baseline", cwd=made)
    return made


@pytest.mark.parametrize("line", COMMANDS.splitlines())
def test_a_summary_is_true_and_plain(folder, line, said):
    out, errors, code = call(f"rubric-{line}", cwd=folder)
    said(out, f"--- exit code {code}", errors)
