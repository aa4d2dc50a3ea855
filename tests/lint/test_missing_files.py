"""What each command says of files that do not exist, of stdin, and of places where nothing can be written."""

import pytest
from cases import read_cases

TABLES = read_cases(__file__)


RUBRIC = """\
rubrics:
  - {id: refund, required_min_score: 7, score_ranges: {0: Names another sum, 7: Names the sum of the order}}
"""
OUTPUT = '{"id": "a", "answer": "5", "output": {"checks": [{"id": "refund", "score": 8, "reasoning": "Is"}]}}\n'


@pytest.fixture
def run(program, tmp_path):
    (tmp_path / "r.yaml").write_text(RUBRIC, "utf-8")
    (tmp_path / "a.jsonl").write_text(OUTPUT, "utf-8")
    (tmp_path / "l.csv").write_text("id,verdict\na,pass\n", "utf-8")
    return program


@pytest.mark.parametrize("line", TABLES["what does not exist is"])
def test_what_does_not_exist_is_named_in_the_same_words(line, run, said):
    code, out, errors = run(*line.split())
    assert (out, code) == ("", 2)
    said(errors)


@pytest.mark.parametrize(("line", "expected"), TABLES["a rubric is read from"])
def test_a_rubric_is_read_from_stdin_or_refused_with_a_reason(line, expected, run, said):
    code, out, errors = run(*line.split(), stdin=RUBRIC)
    assert code == expected
    assert out or code or line.startswith("labels")
    said(errors)


@pytest.mark.parametrize(
    ("name", "target"), [("r.csv", "csv"), ("r.MD", "markdown"), ("s.yml", "rubric"), ("r", "rubric")]
)
def test_the_ending_of_the_output_chooses_the_format(name, target, run, tmp_path):
    assert run("convert", "r.yaml", "-o", name) == (0, "", "")
    assert (tmp_path / name).read_text("utf-8") == run("convert", "r.yaml", "--to", target)[1]
    if target != "rubric":  # the ending is that of another target
        assert run("convert", "r.yaml", "--to", "rubric", "-o", name)[0] == 2
        return
    assert run("convert", "r.yaml", "--to", "rubric", "-o", name)[0] == 0
    assert (tmp_path / name).read_text("utf-8") == run("convert", "r.yaml")[1]
