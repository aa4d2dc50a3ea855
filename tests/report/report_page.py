"""The page of scores: made by `rubric-score`, and read by its own script."""

import json
import re
import subprocess
from pathlib import Path

import commands
import pytest
from node import node

ROOT = Path(__file__).parents[2]


START = '<script type="application/json" id="data">'


needs_node = pytest.mark.skipif(not node(), reason="there is no Node.js")


def lines(*records):
    return "".join(f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in records)


def runner(folder, monkeypatch):
    """Calls `rubric-score` in the test's folder, and returns the page, the results and what it complains of."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")

    def call(rubric, *arguments, code=None, stdin="", **files):
        for name, text in {"rubric": rubric, **files}.items():
            path = folder / (f"{name}.yaml" if name in {"rubric", "old"} else f"{name}.jsonl")
            path.write_text(text, "utf-8", "surrogatepass", newline="")
        command = ["rubric.yaml", *arguments, "--report", "page.html", "--isolated", "-q", "--format", "jsonl"]
        done = commands.run("rubric-lint", "score", *command, stdin=stdin)
        assert code in {None, done.returncode}, done.stderr
        return folder / "page.html", [*map(json.loads, done.stdout.splitlines())], commands.complaint(done)

    return call


def read(page, **wanted):
    """What the script of a page makes of its data."""
    wanted = {"page": str(page), "script": str(ROOT / "rubric_lint/report/templates/report.js"), **wanted}
    command = [node(), Path(__file__).with_name("answers.cjs")]
    done = subprocess.run(command, input=json.dumps(wanted), capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def part(page, anchor):
    """The text of a part of the page, from its anchor to the next heading of the same kind."""
    found = re.search(rf'<h2 id="{anchor}">(.*?)(?=<h2|<footer)', page.read_text("utf-8"), re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", found[1]).split()).replace("&#x27;", "'")
