"""What the surfaces of the tools say, word for word: `snapshots/` has one file for each surface."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "snapshots"
INPUTS = sorted(path for path in (FOLDER / "show").iterdir() if path.suffix != ".txt")
