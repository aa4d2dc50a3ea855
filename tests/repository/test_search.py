"""The pages that answer what people search for have the words they type; the search knows no other words."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.repository

DOCS = Path(__file__).parents[2] / "docs"
CODE = re.compile(r"(?ms)^```.*?^```")


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("labels csv", "guides/assessing.md"),
        ("jupyter", "guides/convert.md"),
        ("likert", "format.md"),
        ("langsmith", "guides/recorded.md"),
        ("checklist", "format.md"),
        ("weights", "guides/scoring.md"),
        ("overlap", "rules/index.md"),
        ("promptfoo", "guides/convert.md"),
        ("github actions", "guides/ci.md"),
        ("agreement", "guides/assessing.md"),
    ],
)
def test_the_page_that_answers_a_search_has_its_words(words, page):
    text = CODE.sub("", (DOCS / page).read_text("utf-8")).casefold()
    assert [word for word in words.split() if word not in text] == []
