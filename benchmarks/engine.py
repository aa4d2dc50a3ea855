"""Measures the CPU of the engine in one process, beside the bare events of the same C parser on the same texts.

Prints a JSON object: for each set of suites the seconds for `events` and for `engine`, and the findings in each file.
The two take turns, so that a busy moment of the machine hits both, and the least of all rounds counts. As in a run of
rubric-lint, the garbage collector rests while a text is read and checked; it runs between the rounds.
"""

import argparse
import gc
import json
import time
from collections.abc import Callable, Sequence

import faulty
import generate
import long_suites
from _ruamel_yaml import CParser

from rubric_lint.lint.engine import lint

SETS = {"clean": (generate.suite, 120), "faulty": (faulty.suite, 120), "long": (long_suites.suite, 30)}
"""What makes the suites of each set, and how many are read in a round."""


def read_events(texts: Sequence[bytes]) -> int:
    """Pull the events of each text, as the least that a tool which reads it has to do."""
    for text in texts:
        next_event = CParser(text.decode()).get_event
        while next_event() is not None:
            pass
    return 0


def run_engine(texts: Sequence[bytes]) -> int:
    """Lint each text; return the number of findings."""
    return sum(len(lint("suite.yaml", text).findings) for text in texts)


def spend(work: Callable[[Sequence[bytes]], int], texts: Sequence[bytes]) -> float:
    """Return the seconds of CPU that some work takes."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    work(texts)
    spent = time.process_time() - start
    gc.enable()
    return spent


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Return the figures of each set."""
    texts = {name: [make(number, 0).encode() for number in range(count)] for name, (make, count) in SETS.items()}
    figures = {
        name: {"findings": run_engine(each) / len(each), "events": float("inf"), "engine": float("inf")}
        for name, each in texts.items()
    }
    for _ in range(rounds):
        for name, each in texts.items():
            for kind, work in (("events", read_events), ("engine", run_engine)):
                figures[name][kind] = min(figures[name][kind], spend(work, each))
    return figures


def main() -> None:
    """Print the figures of as many rounds as the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    print(json.dumps(measure(parser.parse_args().rounds)))


if __name__ == "__main__":
    main()
