"""Measure the language server from an edit to the published diagnostics, and hold it to what it promises.

The first table shows the CPU time of the server process for an edit in 5,000 lines: clean, with a finding on every
line, each of them with a syntax error, and for one notification with a change in every third line. The edits move
through the text, and every other one adds or removes a line, so that everything below it moves. The second table shows
how long the user waits, without the pause for which the server waits on purpose. The exit code is 1 when a promise is
broken.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import generate

DEBOUNCE = 0.150
URI = "untitled:suite.yaml"
LINES = 5_000
CASE = 40
"""How many lines each case has in the suite with a finding on every line."""

CLEAN = 0.030
FAULTY = 0.150
BATCH = 0.100
TWICE = 2
"""How many times the CPU time of the sound text an edit may take with a syntax error in it."""


class Target(NamedTuple):
    """How long a user waits at most for a suite of so many lines, in seconds."""

    lines: int
    seconds: float


TARGETS = (Target(500, 0.010), Target(LINES, 0.060))
BESIDE = Target(500, 0.100)


class Edit(NamedTuple):
    """Put `text` in the place of `length` characters."""

    line: int
    character: int
    length: int
    text: str
    end_line: int | None = None


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


def make_faulty_suite(lines: int) -> str:
    """A suite of so many lines with a finding on every line of its rubrics."""
    criterion = "      - {{id: c{}, description: Names the source of figure {} and the page}}\n".format
    return "tests:\n" + "".join(
        f"  - id: case-{case}\n    rubrics:\n" + "".join(criterion(number, number) for number in range(CASE - 2))
        for case in range(lines // CASE)
    )


class Client:
    """As little of an editor as it takes."""

    def __init__(self, capabilities: dict[str, Any] | None = None, root: str | None = None) -> None:
        command = [sys.executable, "-m", "rubric_lint", "lsp"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._version = 1
        params = {"capabilities": capabilities or {}, "processId": None, "rootUri": root}
        self._send("initialize", params, number=1)
        self._read(lambda message: message.get("id") == 1)
        self._send("initialized", {})

    def _send(self, method: str, params: dict[str, Any] | None, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self._put(json.dumps(message).encode())

    def _read(self, is_wanted: Any) -> Any:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101
        while True:
            length = 0
            while line := stream.readline().strip():
                if line.startswith(b"Content-Length:"):
                    length = int(line.partition(b":")[2])
            message = json.loads(stream.read(length))
            if "method" in message and "id" in message:
                self._reply(message["id"])
            if is_wanted(message):
                return message

    def _reply(self, number: int | str) -> None:
        """Meet a request of the server that needs no answer."""
        body = json.dumps({"jsonrpc": "2.0", "id": number, "result": None}).encode()
        self._put(body)

    def _put(self, body: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def wait(self) -> int:
        """Wait for the findings of the present text, and return how many there are."""
        message = self._read(lambda found: (found.get("params") or {}).get("version") == self._version)
        return len(message["params"]["diagnostics"])

    def ask(self) -> None:
        """Ask something that needs no findings; the answer comes when everything before it has been taken in."""
        self._send("rubric-lint/none", {}, number=3)
        self._read(lambda message: message.get("id") == 3)

    def open(self, uri: str, text: str, *, wait: bool = True) -> None:
        """Open a document, and wait for its findings."""
        item = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._send("textDocument/didOpen", {"textDocument": item})
        if wait:
            self._version = 1
            self.wait()

    def kill(self) -> None:
        """End the server, whatever it does."""
        self._process.kill()
        self._process.wait()

    def change(self, *edits: Edit, wait: bool = True, uri: str = URI) -> tuple[float, int]:
        """Make some edits at once; the seconds until the findings are there, and how many those are."""
        self._version += 1
        changes = [
            {
                "range": {
                    "start": {"line": edit.line, "character": edit.character},
                    "end": {
                        "line": edit.line if edit.end_line is None else edit.end_line,
                        "character": edit.character + edit.length,
                    },
                },
                "text": edit.text,
            }
            for edit in edits
        ]
        began = time.perf_counter()
        document = {"uri": uri, "version": self._version}
        self._send("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
        found = self.wait() if wait else 0
        return time.perf_counter() - began, found

    def cpu(self) -> float:
        """Return the CPU seconds of the server so far."""
        return time.clock_gettime((~self._process.pid << 3) | 2)  # Linux: the clock of another process

    def measure(self, *edits: Edit) -> float:
        """Make some edits at once; the CPU seconds that they cost the server."""
        began = self.cpu()
        self.change(*edits)
        return self.cpu() - began

    def end(self) -> None:
        """End the server."""
        self._send("shutdown", None, number=2)
        self._read(lambda message: message.get("id") == 2)
        self._send("exit", None)
        self._process.wait()


def make_edits(text: str, rounds: int) -> Iterator[Edit]:
    """Yield edits that leave a text as sound as it is: characters and line ends, typed and taken back."""
    starts = [number for number, line in enumerate(text.split("\n")) if line.startswith("  - id: ")]
    column = len("  - id: ")
    for number in range(rounds):
        line = starts[(number // 4 * 37 + len(starts) // 2) % len(starts)]
        match number % 4:
            case 0:
                yield Edit(line, column, 0, "x")
            case 1:
                yield Edit(line, 0, 0, "# noted\n")
            case 2:
                yield Edit(line, 0, 0, "", line + 1)
            case _:
                yield Edit(line, column, 1, "")


def measure_edits(text: str, rounds: int) -> list[float]:
    """Return the CPU seconds of each edit."""
    client = Client()
    client.open(URI, text)
    costs = [client.measure(edit) for edit in make_edits(text, rounds + 4)][4:]  # the first ones warm up
    client.end()
    return costs


def measure_faults(text: str, rounds: int) -> list[float]:
    """Return the CPU seconds of each edit after which the text has a syntax error; each error is typed anew."""
    costs, client = [], Client()
    starts = [number for number, line in enumerate(text.split("\n")) if line.startswith("  - id: ")]
    faults = ('"', "[", "a: ", "@", "'")
    client.open(URI, text)
    for number in range(rounds):
        line, fault = starts[(number * 37 + len(starts) // 2) % len(starts)], faults[number % len(faults)]
        before = client.cpu()
        _, found = client.change(Edit(line, len("  - id: "), 0, fault))
        assert found, fault  # noqa: S101
        costs.append(client.cpu() - before)
        client.change(Edit(line, len("  - id: "), len(fault), ""))
    client.end()
    return costs


def measure_batch(text: str, rounds: int) -> list[float]:
    """Return the CPU seconds of one notification with a change in every third line, without the findings after it."""
    client, costs = Client(), []
    client.open(URI, text)
    for number in range(rounds):
        edits = [Edit(line, 0, *((4, "") if number % 2 else (0, "    "))) for line in range(0, LINES - 8, 3)]
        began = client.cpu()
        client.change(*edits, wait=False)
        client.ask()
        costs.append(client.cpu() - began)
        client.wait()
    client.end()
    return costs


def measure_wait(lines: int, rounds: int) -> list[float]:
    """Return the seconds from an edit to its findings, without the pause."""
    client, text = Client(), make_suite(lines)
    client.open(URI, text)
    end = text.count("\n")
    answers = [client.change(Edit(end, 2, 0, "x"))[0] - DEBOUNCE for _ in range(rounds + 1)][1:]
    client.end()
    return answers


def measure_beside(lines: int, rounds: int) -> list[float]:
    """Return the seconds from an edit to its findings while a suite of 5 MB keeps the server busy."""
    text, client = make_suite(lines), Client()
    end = text.count("\n")
    client.open(URI, text)
    client.change(Edit(end, 2, 0, "x"))  # warms up
    client.open("untitled:large.yaml", make_suite(130_000), wait=False)
    answers = [client.change(Edit(end, 2, 0, "x"))[0] - DEBOUNCE for _ in range(rounds)]
    client.kill()
    return answers


def show(name: str, limit: float, times: list[float]) -> bool:
    """Print a row of a table; whether most rounds keep the promise."""
    print(
        f"| {name} | {limit * 1000:.0f} ms | {min(times) * 1000:.1f} ms | {statistics.median(times) * 1000:.1f} ms |",
        flush=True,
    )
    return statistics.median(times) <= limit


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="edits per row")
    parser.add_argument("--cpu", action="store_true", help="measure CPU time only")
    options = parser.parse_args()
    rounds = options.rounds
    kept = []
    print("| edit in 5,000 lines, CPU | at most | best | median |\n|---|---|---|---|")
    for name, text, limit in (
        ("clean", make_suite(LINES), CLEAN),
        ("a finding on every line", make_faulty_suite(LINES), FAULTY),
    ):
        sound = measure_edits(text, rounds)
        kept.append(show(name, limit, sound))
        kept.append(
            show(f"{name}, with a syntax error", TWICE * statistics.median(sound), measure_faults(text, rounds))
        )
    kept.append(show("clean, 1,664 changes at once", BATCH, measure_batch(make_suite(LINES), rounds)))
    if not options.cpu:
        print("\n| lines, waiting | at most | best | median |\n|---|---|---|---|")
        kept += [show(f"{lines:,}", limit, measure_wait(lines, rounds)) for lines, limit in TARGETS]
        kept.append(show(f"{BESIDE.lines:,}, beside 5 MB", BESIDE.seconds, measure_beside(BESIDE.lines, 10)))
    return int(not all(kept))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())
