"""What each command says at its end: that all is well only where something was checked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm

SOUND = "rubrics:\n  - id: a\n    expected_outcome: Names the refund window\n"
OLD = SOUND.replace("expected_outcome", "description")
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
}
HELD = "(1 file with rubrics, 1 rubric, 1 criterion)"
IN_ONE = f"in 1 file {HELD}"
IN_TWO = "in 2 files (2 files with rubrics, 2 rubrics, 2 criteria)"
OVERLAP = "No findings of `overlap`"
HINT = "; `rubric-lint --show-files` lists what is left out and why.\n"
ELSEWHERE = "criteria are read only below `rubrics`, and these are elsewhere; rename `criteria` to `rubrics`"
NEAR = f"near/a.yaml:2:6: not checked: {ELSEWHERE}\n"
MISSED = "1 near miss not checked.\n"
NOTES = "notes.md: not read, as it is Markdown; rubric-lint reads YAML, JSON, JSON Lines, TOML and Python\n"
OTHER = "1 file skipped: not YAML, JSON, TOML or Python.\n"
EXCLUDED = "1 file skipped by `exclude`.\n"
MISSING = "nope: does not exist\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("states")
    for name, text in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text, "utf-8")
    for line in ("init -q", "add .", "-c user.name=a -c user.email=a@example.org commit -qm Add"):
        subprocess.run(["git", *line.split()], cwd=made, check=True)
    call("rubric-lint known --baseline known.json --write-baseline", made)
    return made


def call(line, folder):
    """What a command line prints on both streams, and its exit code."""
    program, *args = line.split()
    done = warm.run([Path(sys.executable).with_name(program), *args], cwd=folder, env={**os.environ})
    return done.stdout.decode(), done.stderr.decode(), done.returncode


@pytest.mark.parametrize(
    ("line", "out", "err", "code"),
    [
        ("rubric-lint sound", f"No findings in 1 file {HELD}.\n", "", 0),
        ("rubric-lint empty", f"0 files checked{HINT}", "", 0),
        ("rubric-lint gitignored", f"0 files checked{HINT}", "", 0),
        ("rubric-lint hidden", f"0 files checked.\n{EXCLUDED}", "", 0),
        ("rubric-lint --force-exclude hidden/a.yaml", f"0 files checked.\n{EXCLUDED}", "", 0),
        ("rubric-lint notes.md", f"0 files checked.\n{OTHER}", f"rubric-lint: {NOTES}", 0),
        ("rubric-lint nope", "0 files checked.\n1 file could not be read.\n", f"rubric-lint: {MISSING}", 2),
        ("rubric-lint none", "0 rubrics found in 1 file.\n", "", 0),
        ("rubric-lint near", f"0 rubrics found in 1 file.\n{MISSED}", f"rubric-lint: {NEAR}", 0),
        ("rubric-lint sound near", f"No findings in 2 files {HELD}.\n{MISSED}", f"rubric-lint: {NEAR}", 0),
        ("rubric-fix sound near", "Nothing to fix in 2 files.\n", f"rubric-fix: {NEAR}", 0),
        ("rubric-lint sound --ignore overlap", f"No findings {IN_ONE}; `overlap` did not run.\n", "", 0),
        ("rubric-lint sound --select overlap,weight --ignore weight", f"No findings of `overlap` {IN_ONE}.\n", "", 0),
        *(
            (f"rubric-lint sound --select overlap,{other}", f"{OVERLAP} {IN_ONE}; `{other}` did not run.\n", "", 0)
            for other in ("untested", "judged-constant")
        ),
        ("rubric-lint spared", f"No findings {IN_ONE}; `overlap` and `weight` did not run.\n", "", 0),
        ("rubric-lint spared --select weight", f"No findings of `weight` {IN_ONE}.\n", "", 0),
        ("rubric-lint spared --select overlap", f"No findings {IN_ONE}; `overlap` did not run.\n", "", 0),
        (
            "rubric-lint spared sound",
            f"No findings {IN_TWO}; `overlap` and `weight` did not run on every file.\n",
            "",
            0,
        ),
        ("rubric-lint ignored", f"No other findings in 1 file {HELD}.\n1 finding ignored.\n", "", 0),
        (
            "rubric-lint known --baseline known.json",
            f"No other findings in 1 file {HELD}.\n1 finding hidden by the baseline.\n",
            "",
            0,
        ),
        ("rubric-lint old --diff-base HEAD", "0 files checked.\n1 unchanged file not read.\n", "", 0),
        ("rubric-lint old --select overlap", f"No findings of `overlap` in 1 file {HELD}.\n", "", 0),
        ("rubric-lint old --statistics --select overlap", f"No findings of `overlap` in 1 file {HELD}.\n", "", 0),
        (
            "rubric-lint --show-files empty",
            "",
            "left out: empty/.keep: not YAML, JSON, TOML or Python\nrubric-lint: 0 files would be read\n",
            0,
        ),
        ("rubric-lint show empty", f"0 files read{HINT}", "", 1),
        ("rubric-lint show none", "0 rubrics found in 1 file.\n", "", 1),
        ("rubric-lint --add-ignores empty", f"0 files read{HINT}", "", 0),
        ("rubric-lint --add-ignores hidden", f"0 files read.\n{EXCLUDED}", "", 0),
        ("rubric-lint --add-ignores notes.md", f"0 files read.\n{OTHER}", f"rubric-lint: {NOTES}", 0),
        (
            "rubric-lint --add-ignores nope",
            "0 files read.\n1 file could not be read or written.\n",
            f"rubric-lint: {MISSING}",
            2,
        ),
        ("rubric-lint --add-ignores sound", "No findings to silence in 1 file.\n", "", 0),
        ("rubric-lint --add-ignores ignored", "No findings to silence in 1 file.\n", "", 0),
        ("rubric-fix empty", f"0 files read{HINT}", "", 0),
        ("rubric-fix gitignored", f"0 files read{HINT}", "", 0),
        ("rubric-fix hidden", f"0 files read.\n{EXCLUDED}", "", 0),
        ("rubric-fix --force-exclude hidden/a.yaml", f"0 files read.\n{EXCLUDED}", "", 0),
        ("rubric-fix notes.md", f"0 files read.\n{OTHER}", f"rubric-fix: {NOTES}", 0),
        ("rubric-fix nope", "0 files read.\n1 file could not be read or written.\n", f"rubric-fix: {MISSING}", 2),
        ("rubric-fix none", "0 rubrics found in 1 file, so there was nothing to fix.\n", "", 0),
        ("rubric-fix sound", "Nothing to fix in 1 file.\n", "", 0),
        ("rubric-fix --check -q old", "", "", 1),
    ],
    ids=lambda value: value.replace("rubric-", "") if isinstance(value, str) and value.startswith("rubric-") else "",
)  # fmt: skip
def test_a_summary_is_true_and_plain(folder, line, out, err, code):
    assert call(line, folder) == (out, err, code)
