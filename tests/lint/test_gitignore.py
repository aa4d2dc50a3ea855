"""C6: patterns that would take for ever when each of their stars is tried at each length."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from rubric_lint.lint.project.gitignore import Patterns

ENDLESS = {
    "stars in a name": ("*a" * 30 + "b", "a" * 250),
    "double stars in a name": ("**a" * 30 + "b", "a" * 250),
    "stars and question marks": ("*a?" * 30 + "b", "a" * 250),
    "folders": ("a/" + "**/a/" * 30 + "b", "a/" * 120 + "c"),
    "folders from the start": ("**/a/" * 30 + "b", "a/" * 120 + "c"),
    "folders with stars": ("**/*a*a/" * 30 + "b", "aaa/" * 120 + "c"),
}


@pytest.mark.parametrize(("pattern", "path"), ENDLESS.values(), ids=ENDLESS)
def test_many_stars_come_to_an_end(pattern, path):
    patterns = Patterns.parse("/", [pattern])
    assert patterns.match(f"/{path}", is_folder=False) is None
    assert patterns.match(f"/{path[:-1]}b".replace("cb", "b"), is_folder=False) is True


PIECES = st.sampled_from(["a", "b", "*", "**", "?", "/", "/**/", "[ab]", "ab", ".", "***"])
NAMES = st.text("ab.", min_size=1, max_size=3)


@given(st.lists(PIECES, max_size=8).map("".join), st.lists(NAMES, min_size=1, max_size=5).map("/".join))
def test_the_same_is_matched_as_without_commitment(glob, path):
    spec = GitIgnoreSpec.from_lines([glob.removesuffix("/")]).patterns
    expected = None
    if spec and spec[0].regex is not None:
        source = spec[0].regex.pattern
        source = source if source.endswith("$)") else source + ".*"
        expected = True if re.fullmatch(source, path, re.DOTALL) else None
    assert Patterns.parse("/", [glob]).match(f"/{path}", is_folder=True) is expected


@pytest.mark.parametrize(("path", "expected"), [("abd", True), ("a/d", None), ("aad", None)])
def test_a_set_of_characters_never_holds_the_end_of_a_folder_as_in_git(path, expected):
    assert Patterns.parse("/", ["a[!a]d"]).match(f"/{path}", is_folder=False) is expected
