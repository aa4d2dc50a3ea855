"""Linting and scoring take what they took when `make speed` last kept it in data/speed.json: counted, not timed."""

import importlib
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEPT = json.loads((ROOT / "tests" / "data" / "speed.json").read_text("utf-8"))


@pytest.fixture
def counts(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools" / "benchmarks")
    return importlib.import_module("counts")


@pytest.mark.slow
def test_linting_and_scoring_take_no_more_calls_lines_memory_and_modules_than_they_took(counts):
    if counts.VERSION != KEPT["python"]:
        pytest.skip(f"the figures are those of Python {KEPT['python']}, and this is {counts.VERSION}")
    pytest.importorskip("_ruamel_yaml")
    if not counts.is_comparable():
        pytest.skip("the figures are those with the compiled libraries")
    ran = subprocess.run([sys.executable, ROOT / "tools" / "benchmarks" / "counts.py"], capture_output=True, check=True)
    changed = counts.compare(json.loads(ran.stdout)["figures"], KEPT["figures"])
    advice = "run `make speed` and commit the file with the change; if a figure rose, say why in the message"
    assert not changed, "\n".join([*changed, advice])


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (1_020, []),
        (1_021, ["clean: 1,021 calls, 2.1% more than the 1,000 in speed.json"]),
        (979, ["clean: 979 calls, 2.1% fewer than the 1,000 in speed.json"]),
    ],
)
def test_a_change_of_more_than_two_percent_is_told(now, told, counts):
    assert counts.compare({"clean": {"calls": now}}, {"clean": {"calls": 1_000}}) == told


def test_figures_that_are_not_kept_are_told(counts):
    assert counts.compare({"clean": {"calls": 1}}, {"clean": {"lines": 1}}) == ["other figures are counted now"]


def test_calls_lines_and_memory_of_the_package_are_counted(counts, monkeypatch):
    monkeypatch.setattr(counts, "PACKAGE", __file__)
    once, twice = (counts.count(partial(collect, size)) for size in (1_000, 2_000))
    assert {kind for kind in once if twice[kind] > 1.9 * once[kind] > 1_000} == {"calls", "lines", "memory"}


def collect(size):
    found = []
    while len(found) < size:
        found.append(object())
