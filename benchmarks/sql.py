"""Times the query of `rubric-score compile` in DuckDB on raw texts, beside `score_batch` on the same table.

All times are CPU seconds, the least of some rounds, in which both take turns; DuckDB has one thread. The mix is that of
batch.py. First the results of both are compared: the exit code is 1 if an output that the query read differs.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
from batch import RUBRIC, least, mix
from score import table

from rubric_lint import load_rubrics, score_batch
from rubric_lint.engines.sql import compile_rubric


def read(line: bytes) -> dict[str, str]:
    """The record of a line, with a raw text for an output."""
    record = json.loads(line)
    output = record["output"]
    return {"id": record["id"], "output": output if isinstance(output, str) else json.dumps(output)}


def compare(expected: Any, found: pa.Table) -> Counter[str]:
    """Count the outputs by status, and those that differ although the query read them."""
    by_id = {row["id"]: row for row in found.to_pylist()}
    counted: Counter[str] = Counter()
    for row in expected:
        other = by_id[row.id]
        counted[other["status"]] += 1
        is_same = (other["points"], other["verdict"]) == (row.points, row.verdict)
        if other["status"] != "unread" and not (is_same and (other["status"] == "invalid") == bool(row.error)):
            counted["differs"] += 1
    return counted


def main() -> int:
    """Compare, measure, print the tables, and return 1 when results differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outputs", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rubrics = load_rubrics("r.rubric.yaml", RUBRIC)
    (rubric,) = rubrics.values()
    outputs = pa.Table.from_pylist([read(line) for line in mix(options.outputs)])
    texts = outputs["output"].to_pylist()
    connection = duckdb.connect(config={"threads": 1})
    connection.register("outputs", outputs)
    query = compile_rubric(rubric, "duckdb")

    def ask() -> pa.Table:
        return connection.sql(query).to_arrow_table()

    counted = compare(score_batch(rubrics, outputs), ask())
    statuses = [(status, f"{counted[status]:,}") for status in ("valid", "invalid", "unread", "differs")]
    print(table(("the query says", f"of {options.outputs:,} outputs"), *statuses) + "\n")
    floor = "json.loads of each text that is JSON"
    field: dict[str, Callable[[], object]] = {
        floor: lambda: [json.loads(text) and None for text in texts if text[0] == "{"],
        "score_batch, Arrow to Arrow": lambda: score_batch(rubrics, outputs).to_arrow(),
        "DuckDB, the query, Arrow to Arrow": ask,
    }
    times = least(field, options.rounds)
    rows = [
        (name, f"{1e6 * cpu / len(texts):.2f}", f"{len(texts) / cpu:,.0f}", f"{cpu / times[floor]:.2f}")
        for name, cpu in times.items()
    ]
    print(table(("raw texts", "µs each", "a second and core", "times json.loads"), *rows))
    return 1 if counted["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
