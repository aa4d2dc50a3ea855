"""The laws that hold for any input (`tests/fuzz/laws.py`): for changed texts, and for what once broke them."""

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

FUZZ = Path(__file__).parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))

from laws import LAWS, seeds  # noqa: E402
from mutate import mutate  # noqa: E402

FINDS = sorted(path for path in FUZZ.glob("finds/*/*") if path.is_file())
SEEDS = [bytes([number % 256]) + seed for number, seed in enumerate(seeds())]


@pytest.mark.parametrize("find", FINDS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_find_breaks_no_law_any_more(find):
    LAWS[find.parent.name](find.read_bytes())


@pytest.mark.parametrize("law", LAWS)
@given(st.integers(0, 1 << 30))
def test_a_changed_text_breaks_no_law(law, number):
    chance = random.Random(number)  # noqa: S311 (changes of a text)
    LAWS[law](mutate(chance.choice(SEEDS), chance, SEEDS))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_the_seeds_break_no_law(law):
    for seed in SEEDS:
        LAWS[law](seed)
