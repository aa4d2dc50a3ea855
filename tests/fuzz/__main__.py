"""Look for inputs that break a law: `python tests/fuzz --seconds 600`.

Uses atheris where it is installed, else hypothesis. A find is written to `tests/fuzz/finds/LAW/`, where `make test`
runs it from then on. The exit code is 1 when there is one.
"""

import argparse
import hashlib
import random
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

LAWS = ("lint", "shows", "fix", "ignore", "scores", "records", "converts", "diffs", "settings", "edits")
FINDS = Path(__file__).parent / "finds"
SLOW = 5.0
"""Seconds of CPU after which an input of a few kilobytes counts as a hang."""


def main() -> int:
    """Fuzz all laws in turn, each in a process of its own, and print how many inputs were tried."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600, help="for all laws together")
    parser.add_argument("--law", choices=LAWS, action="append", help="only this one (repeatable)")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="of chance; printed, so that a run can be repeated"
    )
    parser.add_argument("--engine", choices=("atheris", "hypothesis"), default=_engine())
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    laws = given.law or list(LAWS)
    if given.here:
        return {"atheris": _run_atheris, "hypothesis": _run_hypothesis}[given.engine](
            laws[0], given.seconds, given.seed
        )
    print(f"engine {given.engine}, seed {given.seed}, {given.seconds} seconds for {len(laws)} laws")
    each = max(given.seconds // len(laws), 1)
    broken = 0
    for law in laws:
        command = [sys.executable, str(Path(__file__).parent), "--here", "--law", law, "--seconds", str(each)]
        command += ["--seed", str(given.seed), "--engine", given.engine]
        done = subprocess.run(command, stderr=subprocess.DEVNULL, check=False)  # libFuzzer talks there
        broken += done.returncode != 0
    print(f"{broken} of {len(laws)} laws broken")
    return int(broken > 0)


def _engine() -> str:
    return "atheris" if find_spec("atheris") else "hypothesis"


class _Trial:
    """Runs a law on inputs, counts them, and keeps the ones that break it."""

    def __init__(self, law: str, check: Callable[[bytes], None]) -> None:
        self.law = law
        self.check = check
        self.tried = 0
        self.kinds: set[str] = set()

    def try_one(self, data: bytes) -> None:
        self.tried += 1
        start = time.process_time()
        try:
            self.check(data)
            if time.process_time() - start > SLOW:
                raise TimeoutError(f"{time.process_time() - start:.1f} s of CPU for {len(data)} bytes")
        except Exception as broken:  # whatever it is, it is a find
            self._keep(data, broken)

    def _keep(self, data: bytes, broken: Exception) -> None:
        place = traceback.extract_tb(broken.__traceback__)[-1]
        kind = f"{type(broken).__name__} {Path(place.filename).name}:{place.lineno}"
        if kind in self.kinds:
            return
        self.kinds.add(kind)
        folder = FINDS / self.law
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / hashlib.blake2b(data, digest_size=6).hexdigest()
        file.write_bytes(data)
        print(f"FIND {self.law}: {kind}: {broken} -> {file.relative_to(Path(__file__).parents[2])}", flush=True)

    def report(self, engine: str) -> int:
        """Print the counts of the run; the exit code says whether something was found."""
        print(f"{self.law:9} {self.tried:8,} inputs, {len(self.kinds)} finds ({engine})", flush=True)
        return int(bool(self.kinds))


def _prepare(law: str) -> tuple[_Trial, list[bytes]]:
    from laws import LAWS as CHECKS  # noqa: PLC0415  (an engine may have to watch the import)
    from laws import seeds  # noqa: PLC0415

    return _Trial(law, CHECKS[law]), [bytes([number % 256]) + each for number, each in enumerate(seeds())]


def _run_hypothesis(law: str, seconds: int, seed: int) -> int:
    from hypothesis import HealthCheck, Phase, given, settings  # noqa: PLC0415
    from hypothesis import seed as seed_with  # noqa: PLC0415
    from hypothesis import strategies as st  # noqa: PLC0415
    from mutate import mutate  # noqa: PLC0415

    (trial, starts), end = _prepare(law), time.monotonic() + seconds
    inputs = st.builds(
        lambda at, chance: mutate(starts[at], chance, starts),
        st.integers(0, len(starts) - 1),
        st.randoms(use_true_random=True),
    )
    quiet = settings(
        max_examples=200, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    chance = random.Random(seed)
    while time.monotonic() < end:

        @seed_with(chance.randrange(2**32))
        @quiet
        @given(inputs)
        def run(data: bytes) -> None:
            if time.monotonic() < end:
                trial.try_one(data)

        run()
    return trial.report("hypothesis")


def _run_atheris(law: str, seconds: int, seed: int) -> int:
    import os  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    import atheris  # noqa: PLC0415
    from mutate import mutate  # noqa: PLC0415

    with atheris.instrument_imports(include=["rubric_lint"]):
        trial, starts = _prepare(law)
    corpus = Path(tempfile.mkdtemp())
    for number, start in enumerate(starts):
        (corpus / str(number)).write_bytes(start)

    def change(data: bytes, most: int, number: int) -> bytes:
        chance = random.Random(number)
        return atheris.Mutate(data, most) if chance.random() < 0.3 else mutate(data, chance, starts)[:most]

    end = time.monotonic() + seconds

    def try_one(data: bytes) -> None:
        if time.monotonic() > end:
            os._exit(trial.report("atheris"))  # libFuzzer would end the process without a report
        trial.try_one(data)

    options = [f"-max_total_time={seconds + 60}", f"-seed={seed % 2**31}", "-max_len=6000", "-verbosity=0", str(corpus)]
    atheris.Setup([sys.argv[0], *options], try_one, custom_mutator=change)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
