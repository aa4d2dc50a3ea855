"""Rubrics that people wrote in Markdown: what `rubric-lint import` makes of them, and who is told of them."""

import json
from pathlib import Path

import commands
import pytest
from cases import read_cases
from importing import import_file
from ruamel.yaml import YAML

from rubric_lint.lint.engine import lint

TABLES = read_cases(__file__)


pytestmark = pytest.mark.usefixtures("folder")


def run_here():
    """The exit code of a run over the folder that fails on near misses, and what it says of them."""
    arguments = [".", "--no-cache", "--fail-on-unread"]
    done = commands.run("rubric-lint", *arguments)
    return done.returncode, done.stderr


SECTIONS = TABLES["SECTIONS"]
LISTED = TABLES["LISTED"]
WEIGHED = TABLES["WEIGHED"]
DOCUMENTS = {
    "sections with a level table and a weight in the title": SECTIONS,
    "weights in a table, and the scales in sections": WEIGHED,
    "a column for each level, a weight and a total": (
        "# R\n\n| Criterion | Weight (%) | 1 | 3 (Fair) | 5 (Good) | Owner |\n|-|-|-|-|-|-|\n"
        "| Cause | 100 | None | One | One with a date | Ann |\n| Total | 100 | | | | |\n"
    ),
    "points for each check": (
        "# R\n\n| # | Check | Max | Pass if |\n|-|-|-|-|\n| 1 | Source | 20 pts | Every claim has a source |\n"
        "| 2 | Length | 0-10 | At most five sentences |\n"
    ),
    "sections with a weight and a text": (
        "# R\n\n### Cause — 3 points\n\nNames the cause.\n\n### Tone (2)\n\n- Thanks the customer.\n"
    ),
    "a row without a score": (
        "# R\n\n### 1. Facts (0-2)\n\n| Score | Criteria |\n|-|-|\n| 2 | All match |\n| 1 | One differs |\n"
        "| 0 | Two differ |\n| N/A | No facts |\n"
    ),
    "bands of another scale": (
        "# Sources\n\nScore from 0 to 100.\n\n| Score | Meaning |\n|-|-|\n| 90-100 | Every claim has one |\n"
        "| 50-89 | Most have one |\n| 0-49 | Few have one |\n"
    ),
    "a check beside the criterion": "| Criteria | Check |\n|-|-|\n| Cause | The cause is named |\n",
    "tables that a list, a quote and a rule end": (
        "| Dimension | Pass if |\n|-|-|\n| Cause | Is named |\n- Ask Ann\n\n# Tone\n\n| Check | Points |\n|-|-|\n"
        "| Thanks the reader | 3 |\n> By mail\n"
    ),
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_the_criteria_of_a_document_are_imported_and_what_is_not_read_is_told(text, said):
    code, written, told = import_file("r.md", text)
    assert code == 0
    assert {finding.severity for finding in lint("r.rubric.yaml", written.encode()).findings} <= {"warning"}
    said(written, told)


def test_a_table_of_criteria_and_weights_says_by_their_names_what_is_judged():
    text = "| Criterion | Weight |\n|---|---|\n| Names the cause | 60% |\n| Thanks the reader | 40% |\n"
    assert YAML(typ="safe").load(import_file("rubric.md", text)[1]) == [
        {"id": name, "expected_outcome": name, "weight": weight}
        for name, weight in (("Names the cause", 0.6), ("Thanks the reader", 0.4))
    ]


PROSE = {
    "a scale in lines": (LISTED, "5:1"),
    "two lines in a section with a weight": ("### Facts (40%)\n- 5: All are right\n- 1: Most are wrong\n", "2:1"),
    "a scale in a table for criteria elsewhere": (
        "## Scoring\n\n|Score|Meaning|\n|-|-|\n|1|Absent|\n|2|There|\n\n## Plan\n\n|Check|Points|\n|-|-|\n|Order|5|\n",
        "1:1",
    ),
    "a list of criteria": ("# Criteria\n\n1. **Cause** (60%): The cause is named\n2. **Tone** (40%): Kind\n", "1:1"),
}


@pytest.mark.parametrize(("text", "place"), PROSE.values(), ids=PROSE)
def test_a_document_in_prose_is_refused_at_its_place(text, place, said):
    code, written, refused = import_file("r.md", text)
    assert (code, written, refused.startswith(f"r.md:{place}: ")) == (1, "", True)
    said(refused)


def test_a_column_that_is_not_known_is_mapped_and_a_misspelt_one_refused(said):
    table = "# R\n\n| Dimension | {} |\n|-|-|\n| Cause | Is named |\n"
    wide = "# R\n\n| Dimension | Wieght | Meaning |\n|-|-|-|\n| Cause | 2 | Is named |\n"
    text = "  - id: Cause\n    expected_outcome: Is named\n"
    assert import_file("r.md", table.format("Rationale"), "--map", "outcome=Rationale") == (0, text, "")
    code, _, refused = import_file("r.md", wide)
    assert code == 1
    said(refused)


SEVERITIES = """\
You judge gaps.

## Severity rubric

| Severity | When |
|---|---|
| HARD | The text says the opposite |
| SOFT | Another reading is possible |
"""


@pytest.mark.parametrize(
    ("name", "text", "is_told"),
    [
        ("evals/rubric.md", SECTIONS, True),
        ("evals/judge-prompt.md", LISTED, True),
        ("scoring-rubric.md", SECTIONS, True),
        ("evals/judge.txt", LISTED, True),
        ("evals/rubric.md", "# Rubric\n\n1. Cause\n   - Pass:\n", True),
        ("evals/judge.md", "# You judge\n\n1. Read\n", False),
        ("prompts/gap_judge_v1.md", SEVERITIES, True),
        ("prompts/gap_judge_v1.md", SEVERITIES.replace("rubric", "policy"), False),
        ("judge.md", LISTED, False),
        ("evals/notes.md", SECTIONS, False),
        ("course/rubric.md", SECTIONS.replace("customer", "student"), False),
        ("docs/rubric.md", SECTIONS.replace("judge", "x"), False),
        ("rubric.md", "# Lab 2\n\nThe LLM judge.\n\n| Criterion | Points |\n|-|-|\n| Plots | 5 |\n", False),
        ("rubric.md", "# LLM agent\n\n| # | Capability | Evidence |\n|-|-|-|\n| 1 | Runs | demo.txt |\n", False),
    ],
)
def test_documents_that_are_named_for_rubrics_are_near_misses(name, text, is_told, said):
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text, "utf-8")
    code, err = run_here()
    assert (code, bool(err)) == (int(is_told), is_told)
    if is_told:
        said(err)


def test_the_advice_ends_in_a_rubric_file_and_the_document_is_not_told_again():
    Path("evals").mkdir()
    Path("evals/rubric.md").write_text(SECTIONS, "utf-8")
    code, written, _ = import_file("evals/rubric.md", SECTIONS, "-o", "evals/rubric.rubric.yaml")
    assert (code, written) == (0, "")
    assert run_here() == (0, "")


PROMPT = TABLES["PROMPT"]
IN_PYTHON = 'def judge(reply):\n    return ask(f"""Rate the {reply}.\n\n5: Kind\n3: Plain\n1: Rude\n""")\n'
PROMPTS = {
    "rubrics/reply.json": (json.dumps({"a": 1, "prompt": PROMPT}), True),
    "evals/judge.py": (IN_PYTHON, True),
    "lib/reply.py": (IN_PYTHON, False),
    "evals/list.py": (IN_PYTHON.replace("Rate the {reply}", "Pick").replace(": ", ". "), False),
}  # fmt: skip


@pytest.mark.parametrize("name", PROMPTS)
def test_scales_in_strings_of_files_that_are_named_for_judges_are_near_misses(name, said):
    text, is_told = PROMPTS[name]
    Path(name).parent.mkdir()
    Path(name).write_text(text, "utf-8")
    code, err = run_here()
    assert (code, bool(err)) == (int(is_told), is_told)
    if is_told:
        said(err)


@pytest.mark.parametrize("name", ["a.yaml", "a.py"])
def test_data_and_programs_are_not_imported(name, said):
    code, _, refused = import_file(name, "x = 1\n")
    assert code == 2
    said(refused)
