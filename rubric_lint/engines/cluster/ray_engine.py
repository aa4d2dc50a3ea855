"""Score the parts of a plan with Ray Data."""

import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

from rubric_lint.engines.cluster import NEEDS_RAY
from rubric_lint.engines.cluster.folder import Done
from rubric_lint.engines.cluster.plan import Part
from rubric_lint.engines.cluster.work import Worker

_REACHING = 3.0
_ANSWERING = 20.0
"""The seconds after which a cluster counts as absent: to accept a connection, and to answer."""

_ADVICE = "start it with `ray start --head`, or leave --address out to use this machine"


class EngineError(Exception):
    """A cluster that does not answer or gives up, and what to do."""


@contextmanager
def connect(address: str | None, jobs: int | None) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine with `jobs` workers (None: one for each core); leave it then.

    Raises:
        EngineError: if Ray is not installed, or the cluster does not answer.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing about the run leaves the cluster
    try:
        import ray  # noqa: PLC0415  (takes a second)
        import ray.data  # noqa: PLC0415
    except ImportError:
        raise EngineError(NEEDS_RAY) from None
    if address:
        _reach(address)
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init(address="local", num_cpus=jobs, include_dashboard=False, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as fault:
        where = f"the cluster at {address}" if address else "a cluster on this machine"
        raise EngineError(f"{where} cannot be used: {_shorten(fault)}") from None
    try:
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # what ends a run is said once, by the command
        with redirect_stdout(sys.stderr):  # where Ray says that a worker died; stdout is for the totals
            yield
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Look whether a cluster answers; Ray itself would try for minutes.

    Raises:
        EngineError: if none does.
    """
    if address != "auto":
        _open(address)
    program = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='ERROR')"
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", program, address], capture_output=True, timeout=_ANSWERING, check=False
        )
        told, is_late = done.stderr, False
    except subprocess.TimeoutExpired as late:
        told, is_late = late.stderr or b"", True
    if b"Unauthenticated" in told:
        raise EngineError(
            f"the cluster at {address} asks for a token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as there"
        )
    if is_late:
        raise EngineError(f"what listens at {address} does not answer as a Ray cluster; {_ADVICE}")
    if done.returncode:
        last = told.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise EngineError(f"the cluster at {address} cannot be used: {last}")


def _open(address: str) -> None:
    """Look whether anything listens at an address.

    Raises:
        EngineError: if nothing does, or it is not an address.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in address:
        raise EngineError(f"--address {address}: expected HOST:PORT of the head node, such as 10.0.0.1:6379, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _REACHING).close()
    except (OSError, OverflowError) as fault:
        told = getattr(fault, "strerror", None) or fault
        raise EngineError(f"no cluster answers at {address} ({told}); {_ADVICE}") from None


def run_parts(parts: Sequence[Part], work: Worker) -> Iterator[Done | str]:
    """Yield what becomes of each part, in the order in which workers end: what was done, or why it cannot be.

    Ray hands the part of a worker that dies to another one, as often as that takes; `Worker` counts.

    Raises:
        EngineError: if the cluster gives up.
    """
    import ray  # noqa: PLC0415
    import ray.data  # noqa: PLC0415

    items = [{"part": json.dumps(part)} for part in parts]
    outcomes = ray.data.from_items(items, override_num_blocks=len(items)).map(work)
    try:
        for outcome in outcomes.iter_rows():
            yield outcome["fault"] or Done(**json.loads(outcome["done"]))
    except ray.exceptions.RayTaskError:
        raise  # a bug: whatever is wrong with an input comes back as a fault
    except ray.exceptions.RayError as fault:
        raise EngineError(f"the cluster gave up: {_shorten(fault)}") from None


def _shorten(fault: Exception) -> str:
    return str(fault).strip().partition("\n")[0].rstrip(".") or type(fault).__name__
