"""Times `map_batches` in Ray and Spark beside bare reading, and compares the results of every engine with rubric-score.

Needs `make engines`. Seconds are of the clock, and of the CPU in
the function itself, which other programs on the machine disturb less. The exit code is 1 if a result differs.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests/support")]
from documented import read_blocks  # noqa: E402 (helpers of the tests)
from engines import PYTHON, environment, find_java  # noqa: E402
from random_outputs import FENCES, spell  # noqa: E402

CRITERIA = ("accuracy", "depth", "style")
RUBRIC = "rubrics:\n" + "".join(
    f"  - {{id: {name}, score_ranges: {{0: Nothing of it, 4: Half of it, 8: All of it}}, required_min_score: 4}}\n"
    for name in CRITERIA
)
COMMAND = "from rubric_lint.cli.start import score; score()"
READ = "import pyarrow.parquet as pq\nfor batch in pq.ParquetFile('outputs.parquet').iter_batches(65536): len(batch)\n"
TIMED = """\
import os, time
import pyarrow as pa
from rubric_lint.arrow import map_batches
score = map_batches("summary.rubric.yaml")
def timed(batch):
    before = time.process_time()
    found = score(batch)
    with open(f"cpu-{os.getpid()}", "a") as file:
        file.write(f"{time.process_time() - before}\\n")
    return found
"""
RAY = (
    TIMED
    + """\
import ray
ray.init(num_cpus={workers}, include_dashboard=False, log_to_driver=False)
folder = os.getcwd()
def there(batch):
    os.chdir(folder)
    return timed(batch)
ray.data.read_parquet("outputs.parquet").count()  # workers start
begin = time.monotonic()
outputs = ray.data.read_parquet("outputs.parquet", override_num_blocks=16)
done = sum(batch.num_rows for batch in outputs.map_batches(there, batch_format="pyarrow", batch_size=None)
           .iter_batches(batch_format="pyarrow", batch_size=None))
print(done, time.monotonic() - begin)
"""
)
SPARK = (
    TIMED
    + """\
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[{workers}]").config("spark.ui.enabled", False).getOrCreate()
folder = os.getcwd()
def there(batches):
    os.chdir(folder)
    return map(timed, batches)
outputs = spark.read.parquet("outputs.parquet").repartition(8)
outputs.count()
begin = time.monotonic()
done = outputs.mapInArrow(there, score.spark_schema).selectExpr("count(points)", "count(*)").collect()[0][1]
print(done, time.monotonic() - begin)
"""
)


def make_outputs(rows: int, *, odd: bool) -> Iterator[str]:
    """Raw texts of a judge; with `odd`, some in other forms, fenced, drafted or invalid."""
    chance = random.Random(1)  # noqa: S311
    for _ in range(rows):
        output = {"checks": [{"id": name, "score": chance.randint(0, 10)} for name in CRITERIA]}
        text = chance.choice(FENCES).format(spell(output, chance, 0.02)) if odd else json.dumps(output)
        yield text.encode("utf-8", "replace").decode()


def write_outputs(folder: Path, rows: int, *, odd: bool) -> None:
    """Write the rubric and the outputs."""
    (folder / "summary.rubric.yaml").write_text(RUBRIC, "utf-8")
    ids = [f"r{number}" for number in range(rows)]
    table = pa.table({"id": ids, "output": [*make_outputs(rows, odd=odd)]})
    pq.write_table(table, folder / "outputs.parquet", row_group_size=65_536)


def run(folder: Path, program: str, *arguments: str) -> tuple[str, float, float]:
    """Run a program; return what it writes, and its seconds by the clock and of CPU in `timed`, or of the process."""
    (folder / "program.py").write_text(program, "utf-8")
    for old in folder.glob("cpu-*"):
        old.unlink()
    here = {**environment(folder), "JAVA_HOME": find_java()}
    before, begin = os.times(), time.monotonic()
    done = subprocess.run(
        [PYTHON, "program.py", *arguments],
        cwd=folder,
        env=here,
        capture_output=True,
        check=False,
    )
    seconds, after = time.monotonic() - begin, os.times()
    if done.returncode not in {0, 1}:
        sys.exit(done.stderr.decode())
    inside = [float(line) for path in folder.glob("cpu-*") for line in path.read_text("utf-8").split()]
    own = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout.decode(), seconds, sum(inside) if inside else own


def compare(rows: int) -> bool:
    """Compare the results of the programs of the guide with those of rubric-score; return whether all are equal."""
    equal = True
    page = (ROOT / "docs/guides/engines.md").read_text("utf-8")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_outputs(folder, rows, odd=True)
        lines, _, _ = run(folder, COMMAND, "summary.rubric.yaml", "outputs.parquet", "--format", "jsonl")
        expected = {each["id"]: _key(each) for each in map(json.loads, lines.splitlines())}
        invalid = sum("error" in each for each in map(json.loads, lines.splitlines()))
        print(f"{rows:,} outputs, {invalid:,} of them invalid: rows that differ from those of rubric-score")
        programs = [(block.title, block.text) for block in read_blocks(page) if block.title]
        for name, text in programs:
            run(folder, text)
            place = folder / "scores" if (folder / "scores").exists() else folder / "scores.parquet"
            found = pq.read_table(place).to_pylist()
            differing = sum(expected.get(row["id"]) != _key(row) for row in found) + abs(len(found) - len(expected))
            equal &= differing == 0
            print(f"| {name:<18} | {len(found):>9,} | {differing:>3} |", flush=True)
            if place.is_dir():
                for each in sorted(place.iterdir()):
                    each.unlink()
                place.rmdir()
            else:
                place.unlink()
    return equal


def _key(row: dict[str, object]) -> tuple[object, ...]:
    """Return what must be equal in both: score, verdict, each answer, and the message and place of an error."""
    error, criteria = row.get("error"), row.get("criteria")
    answers = tuple((each["id"], each["raw"], each["score"]) for each in criteria) if isinstance(criteria, list) else ()
    told = (error["message"], error["path"]) if isinstance(error, dict) else None
    return row.get("score"), row.get("verdict"), row.get("rubric_hash"), answers, told


def measure(rows: int) -> None:
    """Print the rows a second of Ray and Spark with 1, 2 and 4 workers, beside bare reading."""
    print(f"\n| {rows:,} rows of three criteria | seconds | rows a second | CPU, s | rows a second and core |")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_outputs(folder, rows, odd=False)
        plain = (
            "import pyarrow.parquet as pq\n"
            + TIMED
            + (
                "begin = time.monotonic()\n"
                "done = sum(len(timed(each)) for each in pq.ParquetFile('outputs.parquet').iter_batches(65536))\n"
                "print(done, time.monotonic() - begin)\n"
            )
        )
        bare = "import time\nbegin = time.monotonic()\n" + READ + f"print({rows}, time.monotonic() - begin)\n"
        programs = {"bare reading, pyarrow": bare, "plain Arrow, one process": plain}
        for name, text in (("Ray", RAY), ("Spark", SPARK)):
            programs.update(
                {f"{name}, {n} worker{'s' * (n > 1)}": text.replace("{workers}", str(n)) for n in (1, 2, 4)}
            )
        for name, program in programs.items():
            written, _, cpu = run(folder, program)
            done, seconds = written.split()[-2:]
            if int(done) != rows:
                sys.exit(f"{name}: {done} rows")
            rate = rows / float(seconds)
            print(
                f"| {name:<26} | {float(seconds):>6.2f} | {rate:>11,.0f} | {cpu:>5.2f} | {rows / cpu:>9,.0f} |",
                flush=True,
            )


def main() -> int:
    """Compare and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compared", type=int, default=200_000, metavar="N", help="outputs to compare")
    parser.add_argument("--outputs", type=int, default=1_000_000, metavar="N", help="outputs to time")
    options = parser.parse_args()
    equal = compare(options.compared) if options.compared else True
    if options.outputs:
        measure(options.outputs)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
