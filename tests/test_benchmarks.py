import importlib
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from rubric_lint.lint import lint

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def measuring(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("lint")


def generate(folder, count, seed):
    command = [sys.executable, BENCHMARKS / "generate.py", folder, "--count", str(count), "--seed", str(seed)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def suites(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("suites"), count=200, seed=0)


def test_the_same_seed_gives_the_same_bytes(suites, tmp_path):
    assert generate(tmp_path / "again", count=200, seed=0) == suites


def test_a_smaller_set_is_the_beginning_of_a_larger_one(suites, tmp_path):
    first = generate(tmp_path / "few", count=3, seed=0)
    assert first == {name: suites[name] for name in sorted(suites)[:3]}


def test_another_seed_gives_other_suites(suites, tmp_path):
    other = generate(tmp_path / "other", count=200, seed=1)
    assert other.keys() == suites.keys()
    assert not set(other.values()) & set(suites.values())


def test_no_two_suites_are_alike(suites):
    assert len(set(suites.values())) == len(suites) == 200


def test_a_suite_is_about_4_kb(suites):
    sizes = [len(data) for data in suites.values()]
    assert min(sizes) >= 4_000
    assert max(sizes) <= 5_200
    assert statistics.mean(sizes) <= 4_250


def test_a_suite_has_ten_criteria_in_two_rubrics_and_no_findings(suites):
    results = {name: lint(name, data) for name, data in suites.items()}
    seen = {name: (result.rubrics, result.criteria, result.findings) for name, result in results.items()}
    assert seen == dict.fromkeys(suites, (2, 10, ()))


KEPT = {
    "COLD": (1.0, 0.069),
    "WARM": (0.3, 0.06),
    "EVENTS": (0.4, None),
    "HASH": (0.1, None),
    "CLIB": (10.0, None),
    "YAMLLINT": (30.0, 0.1),
    "AGENTV": (10.0, None),
    "AJV": (1.0, None),
}
GROWN = {100: (0.1, 40.0), 1_000: (1.0, 40.0), 10_000: (10.0, 44.0), -1: (0.1, 0), -2: (0.2, 0), -4: (0.4, 0)}


@pytest.mark.parametrize(
    ("figures", "grown", "missed"),
    [
        pytest.param({}, {}, None, id="all-kept"),
        pytest.param({"EVENTS": (0.39, None)}, {}, "2.5 times the bare events", id="events"),
        pytest.param({"CLIB": (9.9, None)}, {}, "check-jsonschema", id="check-jsonschema"),
        pytest.param({"YAMLLINT": (29.9, 0.1)}, {}, "faster than yamllint", id="yamllint"),
        pytest.param({"AGENTV": (9.9, None)}, {}, "agentv", id="agentv"),
        pytest.param({"AJV": (0.9, None)}, {}, "ajv-cli", id="ajv"),
        pytest.param({"WARM": (0.31, 0.06)}, {}, "reading and hashing", id="warm"),
        pytest.param({"COLD": (1.0, 0.071)}, {}, "cold, one small file", id="one-file"),
        pytest.param({"WARM": (0.3, 0.071)}, {}, "warm, one small file", id="one-file-again"),
        pytest.param({}, {-4: (0.45, 0)}, "linear", id="large-file"),
        pytest.param({}, {10_000: (11.1, 44.0)}, "the same cost", id="many-files"),
        pytest.param({}, {10_000: (10.0, 44.1)}, "the same memory", id="memory-grows"),
    ],
)
def test_a_promise_is_kept_or_missed(measuring, figures, grown, missed):
    medians = {}
    for name, walls in {**KEPT, **figures}.items():
        for files, wall in zip((9, 1), walls, strict=True):
            if wall is not None:
                medians[getattr(measuring, name), files] = measuring.Run(wall, wall, 40.0)
    growth = {(measuring.COLD, n): measuring.Run(cpu, cpu, peak) for n, (cpu, peak) in {**GROWN, **grown}.items()}
    held = measuring.promises(medians, 9, growth)
    assert len(held) == 11
    assert [missed in promise.text for promise in held if not promise.met] == [True] * (missed is not None)


def test_the_table_is_markdown_with_aligned_columns(measuring):
    table = measuring.table(("tool", "s"), ("one", "1.5"), ("another", "12.5"))
    assert table == "| tool    |    s |\n|---------|-----:|\n| one     |  1.5 |\n| another | 12.5 |"


def test_a_contestant_that_finds_something_ends_the_run(measuring):
    failing = measuring.Contestant("tool", 1, (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(SystemExit, match="tool: exit code 3"):
        failing.run()
