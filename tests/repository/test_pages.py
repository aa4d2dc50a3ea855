"""A page of a rule that is not made as pages are is told, never passed over."""

import re
import shutil

import pytest
from pages import RULES, PageError, read_page, write_page

OVERLAP = (RULES / "overlap.md").read_text("utf-8")
FLAGGED = OVERLAP[OVERLAP.index("## Flagged") : OVERLAP.index("## Accepted")]
NEW = re.sub(r"\n```text\n.*?```\n(?:\nFixed:\n\n```yaml\n.*?```\n)?", "", FLAGGED, flags=re.DOTALL)


@pytest.fixture
def page(tmp_path):
    def write(old, new):
        path = tmp_path / "overlap.md"
        assert old in OVERLAP
        path.write_text(OVERLAP.replace(old, new), "utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("## Flagged", "## Flaged", "overlap.md: there is no section `## Flagged`"),
        ("## Accepted", "## Fine", "overlap.md: there is no section `## Accepted`"),
        (FLAGGED, "## Flagged\n\nNothing yet.\n\n", "overlap.md: `## Flagged` shows no example in a fence"),
        (FLAGGED, NEW, "overlap.md: a fence in `## Flagged` belongs to no example:\n"),
        ("```text\n", "```txt\n", "overlap.md: a fence in `## Flagged` belongs to no example:\n"),
        ("Fixed:\n", "Mended:\n", "overlap.md: a fence in `## Flagged` belongs to no example:\n"),
    ],
    ids=["no flagged", "no accepted", "no fence", "no report", "another language", "no word before the fixed text"],
)
def test_a_page_without_its_fences_is_told(page, old, new, message):
    with pytest.raises(PageError) as told:
        read_page(page(old, new))
    assert str(told.value).startswith(message)


def test_a_new_page_gets_its_report_and_its_fixed_text(page):
    path = page(FLAGGED, NEW)
    write_page(path)
    assert path.read_text("utf-8") == OVERLAP


def test_a_flagged_example_in_which_nothing_is_found_is_told(page):
    path = page(FLAGGED, "## Flagged\n\n```yaml\nrubrics:\n  - {id: a, expected_outcome: Names the total}\n```\n\n")
    with pytest.raises(PageError) as told:
        write_page(path)
    assert str(told.value).startswith("overlap.md: nothing is found in the flagged example:\nrubrics:\n")


@pytest.mark.slow
def test_a_page_that_is_up_to_date_stays(tmp_path):
    for page in RULES.glob("*.md"):
        path = tmp_path / page.name
        shutil.copy(page, path)
        write_page(path)
        assert path.read_text("utf-8") == page.read_text("utf-8")
