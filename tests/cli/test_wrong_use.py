"""Wrong use of every command: exit code 2, the option or file at fault named, nothing written and nothing asked."""

import shlex
from pathlib import Path

import pytest
from called import call
from cases import read_cases

WRONG = read_cases(__file__)["WRONG"]

RUBRIC = """\
rubrics:
  - id: accuracy
    score_ranges: {0: Contradicts the source, 5: Agrees with most of it, 9: Agrees with all of it}
"""
FILES = {
    "r.rubric.yaml": RUBRIC,
    "old.rubric.yaml": RUBRIC.replace("most", "half"),
    "bad.rubric.yaml": RUBRIC.replace("id: accuracy", "id: accuracy\n    weight: -1"),
    "fine.rubric.yaml": RUBRIC.replace("id: accuracy", "id: accuracy\n    weight: 1.2345678901234567890123")
    + "  - {id: b, weight: 2, score_ranges: {0: Is long, 5: Is short}}\n",
    "suite.yaml": "tests:\n  - {id: first, rubrics: [Names the year]}\n  - {id: Café, rubrics: [Names the place]}\n",
    "answers.jsonl": '{"id": "a", "answer": "So."}\n',
    "wrong.jsonl": '{"id": "a", "answer": "So."}\n{"id": "a"}\n',
    "outputs.jsonl": '{"id": "a", "output": {"checks": [{"id": "accuracy", "score": 9}]}}\n',
    "idless.jsonl": '{"output": {"checks": [{"id": "accuracy", "score": 9}]}}\n',
    "empty.jsonl": "",
    "r.csv": "id,expected_outcome\na,Names it\n",
    "r.rubric-test.yaml": "rubric: r.rubric.yaml\ntests:\n  - {id: a, answer: So., expect: {verdict: pass}}\n",
}
LINES = [f"{start} {line.strip()}" for start, rows in WRONG.items() for line in rows.strip().splitlines()]


@pytest.fixture
def folder(folder):
    for name, text in FILES.items():
        Path(name).write_text(text, "utf-8")
    Path("latin.txt").write_bytes(b"Gr\xf6\xdfe")
    Path("empty").mkdir()
    Path("circle").symlink_to("circle")
    Path("link.html").symlink_to("outputs.jsonl")
    Path("link.yaml").symlink_to("r.rubric.yaml")
    return folder


def held(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


@pytest.mark.spread(5)
@pytest.mark.parametrize("line", LINES, ids=[line.encode("ascii", "replace").decode() for line in LINES])
def test_wrong_use_is_told_before_anything_is_done(folder, monkeypatch, line, said):
    before = held(folder)
    words = shlex.split(line.encode("latin-1", "backslashreplace").decode("unicode_escape"))
    program, *words = words
    while "=" in words[0] and words[0].partition("=")[0].isupper():
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    out, errors, code = call(shlex.join([program, *words]))
    assert (out.partition(" files")[0] in {"", "0"}, code, "sk-secr" in errors) == (True, 2, False)
    assert held(folder) == before
    said(" ".join(errors.split()))
