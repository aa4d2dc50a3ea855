"""Time the language server: from a key stroke to the published diagnostics, for suites of 500 and of 5,000 lines.

Also for one of 500 lines while one of 5 MB is analysed, and for many changes in one notification. The pause for which
the server waits on purpose is left out. The exit code is 1 when a target is missed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import generate
from lsprotocol import types

from rubric_lint.lint import lint
from rubric_lint.lsp.positions import Text

DEBOUNCE = 0.150


class Target(NamedTuple):
    """How long the work after the pause may take for a suite of so many lines, in seconds."""

    lines: int
    seconds: float


TARGETS = (Target(500, 0.010), Target(5_000, 0.060))


BESIDE = Target(500, 0.100)
CHANGES = Target(5_000, 0.100)


def make_suite(lines: int) -> str:
    """A suite of so many lines, whole cases taken from generated ones; its last criterion has an overlap."""
    head, cases = "", []
    number = 0
    while sum(case.count("\n") for case in cases) < lines:
        head, _, body = generate.suite(number).partition("\nevalcases:\n")
        cases.append(body)
        number += 1
    text = head + "\nevalcases:\n" + "".join(cases)
    kept = text.splitlines(keepends=True)[: lines - 7]
    while not kept[-1].startswith("  - "):
        kept.pop()
    kept.pop()
    tail = """\
  - id: typed
    rubrics:
      - id: typed
        score_ranges:
          - {score_range: [0, 5], expected_outcome: Says nothing of the reason}
          - {score_range: [5, 10], expected_outcome: Says the reason and where it is from}
# """
    return "".join(kept) + tail


class Client:
    """As little of an editor as it takes."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "rubric_lint", "lsp"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._send("initialize", {"capabilities": {}, "processId": None, "rootUri": None}, number=1)
        self._read(lambda message: message.get("id") == 1)
        self._send("initialized", {})

    def _send(self, method: str, params: dict[str, Any] | None, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        body = json.dumps(message).encode()
        assert self._process.stdin is not None  # noqa: S101
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _read(self, is_wanted: Any) -> Any:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101
        while True:
            length = 0
            while line := stream.readline().strip():
                if line.startswith(b"Content-Length:"):
                    length = int(line.partition(b":")[2])
            message = json.loads(stream.read(length))
            if is_wanted(message):
                return message

    def _wait(self, version: int) -> None:
        self._read(lambda message: message.get("params", {}).get("version") == version and "method" in message)

    def open(self, uri: str, text: str, *, wait: bool = True) -> None:
        """Open a document, and wait for its findings."""
        item = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._send("textDocument/didOpen", {"textDocument": item})
        if wait:
            self._wait(1)

    def kill(self) -> None:
        """End the server, whatever it does."""
        self._process.kill()
        self._process.wait()

    def type(self, uri: str, version: int, line: int, character: int) -> float:
        """Type one character; the seconds until the findings of that version are there."""
        place = {"line": line, "character": character}
        change = {"range": {"start": place, "end": place}, "text": "x"}
        began = time.perf_counter()
        document = {"uri": uri, "version": version}
        self._send("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        self._wait(version)
        return time.perf_counter() - began

    def end(self) -> None:
        """End the server."""
        self._send("shutdown", None, number=2)
        self._read(lambda message: message.get("id") == 2)
        self._send("exit", None)
        self._process.wait()


def measure(lines: int, rounds: int) -> tuple[list[float], list[float]]:
    """The seconds from key stroke to findings without the pause, and those that lint() alone takes here."""
    text = make_suite(lines)
    client = Client()
    uri = "untitled:suite.yaml"
    client.open(uri, text)
    last = text.count("\n")
    client.type(uri, 2, last, 2)  # warms up
    answers = [client.type(uri, version, last, 2) - DEBOUNCE for version in range(3, rounds + 3)]
    client.end()
    data, alone = text.encode(), []
    for _ in range(rounds):
        began = time.process_time()
        lint("suite.yaml", data)
        alone.append(time.process_time() - began)
    return answers, alone


def measure_beside(lines: int, rounds: int) -> list[float]:
    """Return the seconds from key stroke to findings while a suite of 5 MB keeps the server busy."""
    text, client = make_suite(lines), Client()
    uri, last = "untitled:suite.yaml", text.count("\n")
    client.open(uri, text)
    client.type(uri, 2, last, 2)  # warms up
    client.open("untitled:large.yaml", make_suite(130_000), wait=False)
    answers = [client.type(uri, version, last, 2) - DEBOUNCE for version in range(3, rounds + 3)]
    client.kill()
    return answers


def measure_changes(lines: int, rounds: int) -> list[float]:
    """Return the CPU seconds for a change in every third line, all in one notification."""
    text = Text.of(make_suite(lines))
    places = [types.Range(types.Position(line, 2), types.Position(line, 2)) for line in range(0, lines, 3)]
    changes = [types.TextDocumentContentChangePartial(place, "more") for place in places]
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        text.change(changes)
        taken.append(time.process_time() - began)
    return taken


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="key strokes per size")
    rounds = parser.parse_args().rounds
    print("| lines | target | to diagnostics, median (best) | lint() alone, CPU, median (best) |")
    print("|---|---|---|---|")
    missed = False
    for lines, target in TARGETS:
        answers, alone = measure(lines, rounds)
        missed |= statistics.median(answers) > target
        cells = [f"{statistics.median(times) * 1000:.1f} ms ({min(times) * 1000:.1f})" for times in (answers, alone)]
        print(f"| {lines:,} | {target * 1000:.0f} ms | {' | '.join(cells)} |", flush=True)
    others = [
        (f"{BESIDE.lines:,}, beside 5 MB", BESIDE, measure_beside(BESIDE.lines, min(rounds, 10))),
        (f"{CHANGES.lines:,}, one change in three of them", CHANGES, measure_changes(CHANGES.lines, rounds)),
    ]
    for name, target, times in others:
        missed |= statistics.median(times) > target.seconds
        cell = f"{statistics.median(times) * 1000:.1f} ms ({min(times) * 1000:.1f})"
        print(f"| {name} | {target.seconds * 1000:.0f} ms | {cell} | |", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())
