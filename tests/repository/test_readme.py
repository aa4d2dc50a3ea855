"""The README shows what the tool really says."""

import json
import re
from pathlib import Path

import commands
import pytest
from cases import read_cases
from dialect_samples import SAMPLES

from rubric_lint.convert.export import TARGETS
from rubric_lint.lint.engine import lint
from rubric_lint.rules import RULES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_is_read_in_a_minute():
    assert len(README.splitlines()) <= 150


def test_its_links_lead_to_files():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if not link.startswith("https://")]
    assert [link for link in links if not (ROOT / link).exists()] == []
    assert links


@pytest.mark.parametrize("block", re.findall(r"```yaml\n([^`]*rubrics:.*?)```", README, re.DOTALL))
def test_a_rubric_in_the_readme_has_no_fault(block):
    assert () == lint("readme.yaml", block.encode()).findings


def test_the_number_of_rules_is_right():
    told = int(re.search(r"More than (\d+) \[rules\]", README)[1])
    assert told < len(RULES) <= told + 10


# The table of formats

FORMATS = read_cases(__file__)
LINES = [
    [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell.strip()) for cell in line.strip("|").split("|")]
    for line in README.partition("| you write | rubric-lint checks | converts to it |\n|---|---|---|\n")[2].splitlines()
]
LINES = LINES[: LINES.index([""])]
OURS = {
    "checks": "rubrics: [{id: a, expected_outcome: Names it}]\n",
    "bands": "rubrics: [{score_range: [0, 4], expected_outcome: Errs}, {score_range: [5, 10], expected_outcome: No}]\n",
    "levels": "rubrics: [{id: a, levels: {1: Errs twice, 2: Errs once, 3: Is right}}]\n",
}


def samples_of(row):
    """The samples of a row: those that it names, or all that no row names."""
    samples = row.get("samples", ())
    if samples != "all others":
        return samples
    named = {sample for other in FORMATS.values() if other is not row for sample in other.get("samples", ())}
    return sorted(SAMPLES.keys() - named)


def count(*names, command=()):
    """How many rubrics rubric-lint checks in files, and how many it lists as not checked."""
    summary = json.loads(commands.run("rubric-lint", *command, *names, "--format", "json").stdout)["summary"]
    return summary["rubrics"], summary.get("near_misses", 0)


def test_the_table_of_formats_says_what_the_tests_below_hold():
    assert LINES == [[name, row["checks"], row["converts"]] for name, row in FORMATS.items()]
    named = [sample for row in FORMATS.values() for sample in samples_of(row)]
    assert sorted(named) == sorted(SAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_what_the_table_of_formats_says_is_checked_is_checked(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = FORMATS[name]
    files = row.get("files", {}) | {
        f"{sample}/{SAMPLES[sample].file}": SAMPLES[sample].text for sample in samples_of(row)
    }
    for file, text in files.items():
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text(text, "utf-8")
        rubrics, unread = count(file)
        assert (file, bool(rubrics), bool(rubrics or unread)) == (file, not row["checks"].startswith("no"), True)
    for command, texts in row.get("after", {}).items():
        for file, text in texts.items():
            Path(file).write_text(text, "utf-8")
            assert (file, count(file)[0]) == (file, 0)
            written = ["-o", f"{file}.rubric.yaml"] if command == "import" else []
            assert commands.run("rubric-lint", command, file, *written).returncode == 0
            assert count(written[-1] if written else file)[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_what_the_table_of_formats_says_is_written_is_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for target in FORMATS[name]["to"]:
        codes = []
        for shape, text in OURS.items():
            Path(f"{shape}.yaml").write_text(text, "utf-8")
            codes.append(
                commands.run("rubric-lint", "convert", f"{shape}.yaml", "--to", target, "-o", "out").returncode
            )
        assert 0 in codes


def test_the_table_of_formats_names_every_target():
    assert {target for row in FORMATS.values() for target in row["to"]} == set(TARGETS)
