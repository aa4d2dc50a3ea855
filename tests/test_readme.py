"""The README shows what the tool really says."""

import re
from pathlib import Path

import pytest

from rubric_lint.lint.engine import lint

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_is_read_in_a_minute():
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_a_link_leads_to_a_file(link):
    assert link.startswith("https://") or (ROOT / link).exists()


@pytest.mark.parametrize("block", re.findall(r"```yaml\n([^`]*rubrics:.*?)```", README, re.DOTALL))
def test_a_rubric_in_the_readme_has_no_fault(block):
    assert () == lint("readme.yaml", block.encode()).findings
