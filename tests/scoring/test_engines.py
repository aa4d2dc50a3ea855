"""The programs of docs/guides/recorded.md, each in its engine: the results are those of `rubric-score`."""

from pathlib import Path

import pytest
from documented import read_blocks
from engines import find_java, needs_engines, run
from random_outputs import make_outputs

from rubric_lint import load_rubrics, score_batch

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytestmark = [pytest.mark.engines, needs_engines]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guides/recorded.md").read_text("utf-8")
PROGRAMS = {
    block.title.removesuffix(".py"): block.text
    for block in read_blocks(PAGE)
    if block.title and block.title.startswith("score_")
}
RUBRIC = ROOT / "examples/summary.rubric.yaml"


def read_scores(folder):
    """The rows that a program wrote, by id, in one file or in a folder."""
    table = pq.read_table(folder / "scores" if (folder / "scores").exists() else folder / "scores.parquet")
    return sorted(table.to_pylist(), key=lambda row: row["id"])


def test_each_program_has_at_most_15_lines():
    assert [name for name, text in PROGRAMS.items() if len(text.splitlines()) > 15] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_page_scores_as_rubric_score_does(name, tmp_path):
    (tmp_path / "summary.rubric.yaml").write_bytes(RUBRIC.read_bytes())
    (tmp_path / "program.py").write_text(PROGRAMS[name], "utf-8")
    records = [*make_outputs(3_000)]
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "outputs.parquet", row_group_size=700)
    more = {"JAVA_HOME": find_java()} if name == "score_spark" else {}
    done = run("program.py", folder=tmp_path, **more)
    assert done.returncode == 0, done.stderr
    rubrics = load_rubrics("summary.rubric.yaml", RUBRIC.read_bytes())
    expected = score_batch(rubrics, records).to_arrow().to_pylist()
    assert read_scores(tmp_path) == sorted(expected, key=lambda row: row["id"])
    assert 0.3 < sum(row["error"] is None for row in expected) / len(expected) < 0.9
