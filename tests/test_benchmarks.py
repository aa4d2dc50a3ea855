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


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        pytest.param((0.8, 2.5, 0.06, 44.0), [True, True, True, True], id="all-kept"),
        pytest.param((0.7, 2.5, 0.06, 44.0), [False, True, True, True], id="check-jsonschema-too-near"),
        pytest.param((0.8, 2.4, 0.06, 44.0), [True, False, True, True], id="yamllint-too-near"),
        pytest.param((0.8, 2.5, 0.05, 44.0), [True, True, False, True], id="one-file-no-faster"),
        pytest.param((0.8, 2.5, 0.06, 45.0), [True, True, True, False], id="memory-grows"),
    ],
)
def test_a_promise_is_kept_or_missed(measuring, figures, expected):
    check, yamllint, yamllint_one, peak = figures
    walls = {
        (measuring.LINT, 9): 0.1,
        (measuring.CHECK, 9): check,
        (measuring.YAMLLINT, 9): yamllint,
        (measuring.LINT, 1): 0.05,
        (measuring.YAMLLINT, 1): yamllint_one,
    }
    medians = {key: measuring.Run(wall, wall, 40.0) for key, wall in walls.items()}
    held = measuring.promises(medians, 9, {100: 40.0, 5_000: peak})
    assert [promise.met for promise in held] == expected


def test_the_table_is_markdown_with_aligned_columns(measuring):
    table = measuring.table(("tool", "s"), ("one", "1.5"), ("another", "12.5"))
    assert table == "| tool    |    s |\n|---------|-----:|\n| one     |  1.5 |\n| another | 12.5 |"


def test_a_contestant_that_finds_something_ends_the_run(measuring):
    failing = measuring.Contestant("tool", 1, (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(SystemExit, match="tool: exit code 3"):
        failing.run()
