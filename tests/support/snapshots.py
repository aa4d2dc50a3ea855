"""What the surfaces of the tools say, word for word: `snapshots/` has one file for each surface."""

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "snapshots"


INPUTS = sorted(path for path in (FOLDER / "show").iterdir() if path.suffix != ".txt")


def check(name, text):
    """Compare a text with its snapshot, or make it the snapshot."""
    path = FOLDER / name
    if os.environ.get("RENEW_SNAPSHOTS"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), "if the words are right, run this test with RENEW_SNAPSHOTS=1"
