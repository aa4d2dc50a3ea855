"""Measure what typing in a long file costs the language server when an editor asks all that VS Code asks.

A real server reads from its standard input. The client opens a file of 2,000 lines, types letters, adds and removes
lines, and after each edit waits for diagnostics, and asks for the outline, folds, lenses, links, the hints in view, and
the actions at the cursor. The table shows the CPU time of the server process for each of these, and how long the
answers took together, without the pause for which the server waits on purpose.
"""

import argparse
import itertools
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import generate
import long_suites
from lsp import DEBOUNCE, Client, Edit, make_edits, make_faulty_suite, make_suite

LINES = 2_000
"""The lines of the file; the longest suite that teams have is shorter."""

LIMIT = 0.030
"""The CPU seconds that the findings of an edit in a clean file may take."""

VIEW = 60
"""How many lines the editor shows."""

OPEN = 100
"""How many other files are open in the last row, each of 300 lines and with a finding on nearly every line."""

SHORT = "short.yaml"

PUBLISHED = "textDocument/publishDiagnostics"

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {"workspaceEdit": {"documentChanges": True}},
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "codeAction": {
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
        },
    },
}


class Kind(NamedTuple):
    """A file to type in."""

    title: str
    name: str
    text: str


class Editor(Client):
    """A client that asks for everything that VS Code shows."""

    def __init__(self, folder: Path) -> None:
        self._numbers = itertools.count(10)
        super().__init__(CAPABILITIES, folder.as_uri())

    def ask_for(self, method: str, **params: Any) -> Any:
        """Send a request and return its result."""
        number = next(self._numbers)
        self._send(method, params, number=number)
        return self._read(lambda message: message.get("id") == number and "method" not in message)["result"]

    def ask_all(self, uri: str, line: int, costs: dict[str, list[float]]) -> list[Any]:
        """Ask all that an editor asks after an edit, note the CPU seconds of each answer, and return the findings."""
        document, last = {"uri": uri}, max(line - VIEW // 2, 0)
        cursor = {"start": {"line": line, "character": 8}, "end": {"line": line, "character": 8}}
        view = {"start": {"line": last, "character": 0}, "end": {"line": last + VIEW, "character": 0}}
        asked: list[tuple[str, str, dict[str, Any]]] = [
            ("outline", "documentSymbol", {}),
            ("folds", "foldingRange", {}),
            ("lenses", "codeLens", {}),
            ("links", "documentLink", {}),
            ("hints", "inlayHint", {"range": view}),
            ("actions", "codeAction", {"range": cursor, "context": {"diagnostics": [], "triggerKind": 2}}),
        ]
        began = self.cpu()
        items = self._wait_for(uri)
        costs.setdefault("findings", []).append(self.cpu() - began)
        for name, method, more in asked:
            began = self.cpu()
            self.ask_for(f"textDocument/{method}", textDocument=document, **more)
            costs.setdefault(name, []).append(self.cpu() - began)
        return items

    def _wait_for(self, uri: str) -> list[Any]:
        """Return the findings of the present text of a document."""

        def is_wanted(message: Any) -> bool:
            params = message.get("params") or {}
            is_present = params.get("uri") == uri and params.get("version") == self._version
            return message.get("method") == PUBLISHED and is_present

        found: list[Any] = self._read(is_wanted)["params"]["diagnostics"]
        return found


def make_agentv_suite(lines: int) -> str:
    """A suite of so many lines with the cases of AgentV."""
    rng, found, number = random.Random(0), list[str](), 0  # noqa: S311 (the same text each time)
    while len(found) < lines:
        case = list(long_suites.write_agentv(rng, generate.TOPICS[number % len(generate.TOPICS)], number))
        found += case
        number += 1
    return "\n".join(["tests:", *found[: len(found) - len(case)], ""])


def make_rubric(lines: int) -> str:
    """One rubric of so many lines."""
    criterion = (
        "  - id: c{0}\n    # figure {0}\n    expected_outcome: Names the source of figure {0} and the page\n"
        "    weight: 2\n    required_min_score: 10\n"
    ).format
    return "rubrics:\n" + "".join(map(criterion, range(lines // 5)))


def make_json(lines: int) -> str:
    """A suite of so many lines in JSON."""
    from ruamel.yaml import YAML  # noqa: PLC0415  (one kind of file needs it)

    share = lines
    while True:
        text = json.dumps(YAML(typ="safe").load(make_suite(share)), indent=2) + "\n"
        if text.count("\n") <= lines:
            return text
        share = share * lines // text.count("\n") - 5


def make_kinds() -> Iterator[Kind]:
    """Yield the files to type in, clean ones first."""
    clean = {
        "suite": ("suite.yaml", make_suite(LINES)),
        "AgentV suite": ("agentv.eval.yaml", make_agentv_suite(LINES)),
        "one rubric": ("one.rubric.yaml", make_rubric(LINES)),
        "JSON suite": ("suite.json", make_json(LINES)),
    }
    for title, (name, text) in clean.items():
        yield Kind(f"{title}, clean", name, text)
    yield Kind("suite, a finding on every line", "suite.yaml", make_faulty_suite(LINES))
    for title, (name, text) in list(clean.items())[1:]:
        yield Kind(f"{title}, faulty", name, text.replace("weight", "wieght"))


def find_edits(kind: Kind, rounds: int) -> Iterator[Edit]:
    """Yield edits that leave a text as sound as it is, moving through it."""
    text = kind.text
    if text.startswith("{"):
        lines = [number for number, line in enumerate(text.split("\n")) if '"id": "' in line]
        for number in range(rounds):
            line = lines[(number // 4 * 37 + len(lines) // 2) % len(lines)]
            at = text.split("\n")[line].index('"id": "') + 7
            blank = Edit(line, 0, 0, "\n"), Edit(line, 0, 0, "", line + 1)
            yield (Edit(line, at, 0, "x"), *blank, Edit(line, at, 1, ""))[number % 4]
    else:
        yield from make_edits(text, rounds)


def measure(kind: Kind, rounds: int, others: int = 0) -> tuple[dict[str, list[float]], list[float], int]:
    """Return the CPU seconds of each edit by request, the seconds until all is answered, and the number of findings."""
    costs: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / kind.name
        path.write_text(kind.text)
        editor, waits = Editor(folder), list[float]()
        for number in range(others):
            other = (folder / f"other-{number}.yaml").as_uri()
            editor.open(other, make_faulty_suite(300), wait=False)
            editor.ask_all(other, 20, {})
        editor.open(path.as_uri(), kind.text, wait=False)
        found = editor.ask_all(path.as_uri(), 20, {})
        for edit in find_edits(kind, rounds):
            began, start = editor.cpu(), time.perf_counter()
            editor.change(edit, wait=False, uri=path.as_uri())
            before = len(costs.get("findings", []))
            received = editor.cpu() - began
            editor.ask_all(path.as_uri(), edit.line, costs)
            costs["findings"][before] += received
            waits.append(time.perf_counter() - start - DEBOUNCE)
        editor.kill()
    return costs, waits, len(found)


def measure_burst() -> str:
    """Open many faulty files at once and then a short one; say when it is answered, and when the last of the others."""
    with tempfile.TemporaryDirectory() as name:
        folder, editor, answered = Path(name), Editor(Path(name)), list[str]()
        began, start = editor.cpu(), time.perf_counter()
        files = {f"{number}.yaml": make_faulty_suite(300) for number in range(OPEN)}
        files[SHORT] = "rubrics:\n  - id: a\n    description: Says so\n"

        def send() -> None:
            for file, text in files.items():
                editor.open((folder / file).as_uri(), text, wait=False)

        threading.Thread(target=send).start()  # an editor reads while it writes
        short = 0.0
        while not files.keys() <= set(answered):
            message = editor._read(lambda message: message.get("method") == PUBLISHED)
            answered.append(Path(message["params"]["uri"]).name)
            if answered[-1] == SHORT:
                short = time.perf_counter() - start
        before, last = answered.index(SHORT), time.perf_counter() - start
        cpu = editor.cpu() - began
        editor.kill()
    return (
        f"{OPEN} files of 300 lines with a finding on nearly every line, opened at once, then one of 3 lines: it is "
        f"answered after {short:.2f} s and {before} others, the last one after {last:.2f} s; {cpu:.2f} s of CPU"
    )


def write_row(title: str, costs: dict[str, list[float]], waits: list[float], found: int) -> str:
    """Write a row of the table, in milliseconds."""
    figures = [f"{statistics.median(each) * 1000:.1f}" for each in costs.values()]
    together = [sum(each) * 1000 for each in zip(*costs.values(), strict=True)]
    whole = f"{statistics.median(together):.1f}"
    late = sorted(waits)[len(waits) * 95 // 100] * 1000
    times = [f"{statistics.median(waits) * 1000:.0f}", f"{late:.0f}"]
    return f"| {' | '.join([title, f'{found:,}', *figures, whole, *times])} |"


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="edits per row")
    parser.add_argument("--only", default="", help="only the files whose title has this in it")
    options = parser.parse_args()
    kinds = [(kind, 0) for kind in make_kinds()]
    first = kinds[0][0]
    kinds.append((first._replace(title=f"{first.title}, {OPEN} faulty others open"), OPEN))
    print(
        "| 2,000 lines, CPU ms an edit | faults | findings | outline | folds | lenses | links | hints | actions | all "
        "| answered | p95 |\n|---|" + "---:|" * 11
    )
    kept = []
    for kind, others in kinds:
        if options.only not in kind.title:
            continue
        costs, waits, found = measure(kind, options.rounds, others)
        kept.append("clean" not in kind.title or statistics.median(costs["findings"]) <= LIMIT)
        print(write_row(kind.title, costs, waits, found), flush=True)
    if options.only in "burst":
        print("\n" + measure_burst())
    return int(not all(kept))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())
