"""Times `score_batch` from JSON bytes to columns, beside the bare cost of decoding the same lines.

All times are CPU seconds of this process, the least of some rounds, in which all take turns. The mix is that of real
runs: 95 % outputs of the expected form, 3 % texts with fences or prose around the object, 2 % invalid. The exit code is
1 when a promise is missed.
"""

import argparse
import gc
import json
import random
import sys
import time
from collections.abc import Callable, Iterator

import msgspec
from score import RUBRIC, run, table

from rubric_lint import load_rubrics, score_batch, score_batches

RATE = 200_000
"""The outputs a second and core that are promised, from JSON bytes to columns."""

SIZES = 100_000, 400_000
"""The numbers of outputs at which the memory of a stream is measured."""

WORDS = """\
the answer names year height tower both are right gives no example history beyond bare dates uses clear sentences in
good order without filler leaves out second half of question that was asked says where this number comes from
""".split()  # noqa: SIM905 (a list of them would be longer)

STREAM = """\
import sys
sys.path.insert(0, {folder!r})
from batch import RUBRIC, mix
from rubric_lint import load_rubrics, score_batches
rubrics = load_rubrics("r.rubric.yaml", RUBRIC)
print(sum(part.totals for part in score_batches(rubrics, mix({count}), size=10_000)))
"""


def say(chance: random.Random) -> str:
    """A reason of about 60 characters."""
    return " ".join(chance.choices(WORDS, k=11)).capitalize() + "."


def mix(count: int, odd: float = 0.05) -> Iterator[bytes]:
    """Records as lines of JSON; `odd` is the share of those that are not of the expected form."""
    chance = random.Random(0)  # noqa: S311 (the same lines in every run)
    for number in range(count):
        checks = [
            {"id": name, "score": chance.randint(0, 10), "reasoning": say(chance)}
            for name in ("accuracy", "depth", "style")
        ]
        output: object = {"checks": checks, "overall_reasoning": say(chance)}
        drawn = chance.random()
        if drawn < odd * 0.6:
            fenced = f"```json\n{json.dumps(output, indent=2)}\n```"
            output = fenced if drawn < odd * 0.3 else f"{say(chance)} {say(chance)}\n\n{fenced}"
        elif drawn < odd:
            spoilt = chance.choice(({"score": 11}, {"score": "7"}, {"id": "tone"}))
            checks[chance.randrange(3)].update(spoilt)
        yield json.dumps({"id": f"answer-{number}", "output": output}).encode()


def least(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least CPU seconds of each."""
    found = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, contestant in contestants.items():
            gc.collect()
            start = time.process_time()
            contestant()
            found[name] = min(found[name], time.process_time() - start)
    return found


def main() -> int:
    """Measure, print the tables, and return 1 when a promise is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outputs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    # First of all, as a process begins with the peak of the one that starts it.
    few, many = (run(STREAM.format(folder=sys.path[0], count=count)).peak for count in SIZES)
    rubrics = load_rubrics("r.rubric.yaml", RUBRIC)
    lines = [*mix(options.outputs)]
    whole, plain = b"\n".join(lines), b"\n".join(mix(options.outputs, odd=0))
    decode = msgspec.json.Decoder().decode
    import pyarrow as pa  # noqa: PLC0415 (the streams import this file, and do not need the memory of Arrow)

    records = [decode(line) for line in plain.split(b"\n")]
    structs = pa.Table.from_pylist(records)
    texts = pa.table({"id": structs["id"], "output": [json.dumps(record["output"]) for record in records]})
    promised = "score_batch, the mix, columns"
    field: dict[str, Callable[[], object]] = {
        "json.loads of each line": lambda: [json.loads(line) and None for line in lines],
        "msgspec's decode of each line": lambda: [decode(line) and None for line in lines],
        "score_batch, all of the expected form, columns": lambda: score_batch(rubrics, plain).to_dict(),
        promised: lambda: score_batch(rubrics, whole).to_dict(),
        "score_batch, the mix, Arrow": lambda: score_batch(rubrics, whole).to_arrow(),
        "score_batches of 10,000, the mix, Arrow": lambda: [
            part.to_arrow().num_rows for part in score_batches(rubrics, whole, size=10_000)
        ],
        "score_batch, Arrow texts of the expected form, Arrow": lambda: score_batch(rubrics, texts).to_arrow(),
        "score_batch, Arrow structs of the expected form, Arrow": lambda: score_batch(rubrics, structs).to_arrow(),
    }
    gc.freeze()
    gc.set_threshold(100_000)  # as the command does
    times = least(field, options.rounds)
    floor = times["json.loads of each line"]
    rows = [
        (name, f"{1e6 * cpu / len(lines):.2f}", f"{len(lines) / cpu:,.0f}", f"{cpu / floor:.2f}")
        for name, cpu in times.items()
    ]
    print(
        table((f"{len(lines):,} outputs of three criteria", "µs each", "a second and core", "times json.loads"), *rows)
    )
    print(
        "\n"
        + table(
            ("score_batches, outputs", "peak memory, MB"),
            (f"{SIZES[0]:,}", f"{few:.1f}"),
            (f"{SIZES[1]:,}", f"{many:.1f}"),
        )
    )
    rate = len(lines) / times[promised]
    promises = (
        (f"{promised}: at least {RATE:,} a second and core", f"{rate:,.0f}", rate >= RATE),
        (f"memory at {SIZES[1]:,} at most a tenth more than at {SIZES[0]:,}", f"{many:.1f} MB", many <= 1.1 * few),
    )
    verdicts = ((text, figure, "met" if met else "MISSED") for text, figure, met in promises)
    print("\n" + table(("promise", "measured", ""), *verdicts))
    return 0 if all(met for _, _, met in promises) else 1


if __name__ == "__main__":
    sys.exit(main())
