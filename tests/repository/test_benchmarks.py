import importlib
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from rubric_lint.lint.engine import examine, lint
from rubric_lint.source.source import Source

pytestmark = pytest.mark.repository

BENCHMARKS = Path(__file__).parents[2] / "tools/benchmarks"


@pytest.fixture
def measuring(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("lint")


def generate(folder, count, seed, kind="clean"):
    options = ["--count", str(count), "--seed", str(seed), "--set", kind]
    command = [sys.executable, BENCHMARKS / "generate.py", folder, *options]
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


@pytest.fixture(scope="module")
def faulty_suites(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("faulty"), count=40, seed=0, kind="faulty")


@pytest.fixture(scope="module")
def long_suites(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("long"), count=20, seed=0, kind="long")


def test_a_faulty_suite_has_about_fourteen_findings(faulty_suites):
    results = [lint(name, data).findings for name, data in faulty_suites.items()]
    assert 13 <= statistics.mean(map(len, results)) <= 16
    assert {finding.rule for findings in results for finding in findings} == {
        "deprecated-description",
        "deprecated-required",
        "split-band",
        "unknown-field",
    }


def test_a_fifth_of_a_long_suite_is_rubrics(long_suites):
    whole = sum(map(len, long_suites.values()))
    rubrics = 0
    for name, data in long_suites.items():
        examined = examine(Source(name, data.decode()))
        rubrics += sum(
            document.extent(rubric.path).end - document.extent(rubric.path).start
            for document, rubric in examined.rubrics
        )
    assert 0.15 <= rubrics / whole <= 0.25


def test_long_suites_are_of_several_dialects_with_a_few_findings(long_suites):
    examined = [examine(Source(name, data.decode())) for name, data in long_suites.items()]
    assert {rubric.dialect for each in examined for _, rubric in each.rubrics} == {
        "",
        "agentv-a4",
        "agentv-a6",
        "autoevals",
        "lightspeed",
        "promptfoo",
    }
    assert 0.5 <= statistics.mean(len(each.result.findings) for each in examined) <= 4


KEPT = {
    "COLD": (1.2, 0.149),
    "WARM": (0.4, 0.14),
    "EVENTS": (0.2, None),
    "HASH": (0.1, None),
    "CLIB": (3.6, None),
    "YAMLLINT": (7.2, 0.1),
    "AGENTV": (3.6, None),
    "AJV": (1.2, None),
    "COLD FAULTY": (2.0, 0.19),
    "YAMLLINT FAULTY": (6.0, None),
}
GROWN = {100: (0.1, 40.0), 1_000: (1.0, 40.0), 10_000: (10.0, 44.0), -1: (0.1, 60), -2: (0.2, 80), -4: (0.4, 160)}


@pytest.mark.parametrize(
    ("figures", "grown", "missed"),
    [
        pytest.param({}, {}, None, id="all-kept"),
        pytest.param({"EVENTS": (0.19, None)}, {}, "6 times the bare events", id="events"),
        pytest.param({"CLIB": (3.5, None)}, {}, "check-jsonschema", id="check-jsonschema"),
        pytest.param({"YAMLLINT": (7.1, 0.1)}, {}, "files: 6 times faster than yamllint", id="yamllint"),
        pytest.param({"COLD FAULTY": (2.1, 0.19)}, {}, "faulty files: 3 times faster than yamllint", id="faulty"),
        pytest.param({"COLD FAULTY": (2.0, 0.2)}, {}, "one small faulty file", id="one-faulty-file"),
        pytest.param({"AGENTV": (3.5, None)}, {}, "agentv", id="agentv"),
        pytest.param({"AJV": (1.1, None)}, {}, "ajv-cli", id="ajv"),
        pytest.param({"WARM": (0.41, 0.14)}, {}, "reading and hashing", id="warm"),
        pytest.param({"COLD": (1.2, 0.151)}, {}, "cold, one small file", id="one-file"),
        pytest.param({"WARM": (0.4, 0.151)}, {}, "warm, one small file", id="one-file-again"),
        pytest.param({}, {-4: (0.45, 160)}, "linear", id="large-file"),
        pytest.param({}, {-4: (0.4, 161)}, "memory for each MB", id="memory-of-a-large-file"),
        pytest.param({}, {10_000: (11.1, 44.0)}, "the same cost", id="many-files"),
        pytest.param({}, {10_000: (10.0, 44.1)}, "the same memory", id="memory-grows"),
    ],
)
def test_a_promise_is_kept_or_missed(measuring, figures, grown, missed):
    medians = {}
    for name, walls in {**KEPT, **figures}.items():
        for files, wall in zip((9, 1), walls, strict=True):
            if wall is not None:
                tool = "".join(getattr(measuring, part) for part in name.split())
                medians[tool, files] = measuring.Run(wall, wall, 40.0)
    growth = {(measuring.COLD, n): measuring.Run(cpu, cpu, peak) for n, (cpu, peak) in {**GROWN, **grown}.items()}
    held = measuring.promises(medians, 9, growth)
    assert len(held) == 14
    assert [missed in promise.text for promise in held if not promise.met] == [True] * (missed is not None)


def test_a_large_file_is_clean(measuring, tmp_path):
    data = measuring.large_file(tmp_path, 1).read_bytes()
    assert lint("a.yaml", data).findings == ()


def test_the_table_is_markdown_with_aligned_columns(measuring):
    table = measuring.table(("tool", "s"), ("one", "1.5"), ("another", "12.5"))
    assert table == "| tool    |    s |\n|---------|-----:|\n| one     |  1.5 |\n| another | 12.5 |"


def test_a_contestant_that_finds_something_ends_the_run(measuring):
    failing = measuring.Contestant("tool", 1, (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(SystemExit, match="tool: exit code 3"):
        failing.run()
