"""What fuzzing found: each input once broke a law, and keeps it now."""

import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

from laws import LAWS, seeds  # noqa: E402

FINDS = sorted(path for path in FUZZ.glob("finds/*/*") if path.is_file())


@pytest.mark.parametrize("find", FINDS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_find_breaks_no_law_any_more(find):
    LAWS[find.parent.name](find.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_the_seeds_break_no_law(law):
    for number, seed in enumerate(seeds()):
        LAWS[law](bytes([number % 256]) + seed)
