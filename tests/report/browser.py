"""Opens pages in Chromium, and does there what steps say, by its debugging protocol."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from node import node
from report_pictures import CHROMIUM


class Seen(NamedTuple):
    """What the steps with `run` returned, the addresses that were asked for, and what the browser complained of."""

    results: list[Any]
    requested: list[str]
    complaints: list[str]


READY = 'document.getElementById("tool")?.dataset.ready'
"""True once a report of scores has unpacked its answers."""


def drive(steps):
    """Take the steps that browser.mjs describes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [node(), Path(__file__).with_name("browser.mjs"), CHROMIUM, profile]
        done = subprocess.run(
            command, input=json.dumps(steps), capture_output=True, text=True, timeout=180, check=False
        )
    assert done.returncode == 0, done.stderr
    return Seen(**json.loads(done.stdout))
