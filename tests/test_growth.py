"""What a file costs grows with its size, not with the square of it: counted in calls and characters, not in seconds."""

import sys
from functools import cache, partial
from pathlib import Path

import pytest

from rubric_lint.compare.rubrics import compare, pair_rubrics
from rubric_lint.config import FileSettings
from rubric_lint.fix import fix
from rubric_lint.lint import examine, lint
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.sieve.changed import Changed
from rubric_lint.sieve.git import Changes, Lines
from rubric_lint.source import Source

LINE = '{"id": "a", "rubrics": [{"id": "a", "expected_outcome": "Names %d sources"}]}\n'
FILES = {
    "a.jsonl": lambda count: "".join(LINE % number for number in range(count)),
    "a.yaml": lambda count: "rubrics:\n" + "".join(f"- {{id: c{number}, weight: x}}\n" for number in range(count)),
    "b.yaml": lambda count: "".join(
        f"---\nrubrics:\n- {{id: a, score_ranges: {{1: Cites {n}}}}}\n" for n in range(count)
    ),
    "aliases.yaml": lambda count: (
        "x: &x {}\ny: *x\nrubrics:\n"
        + "".join(f"- {{id: c{number}, description: Cites {number} sources}}\n" for number in range(count))
    ),
    "c.yaml": lambda count: "rubrics:\n" + "- Yes # rubric-lint: ignore[vague-outcome]\n" * count,
}


def work(run, name, text):
    """How many calls it takes to lint or fix a text."""
    return count_calls(run, name, text.encode())


def count_calls(run, *arguments):
    """How many calls something takes."""
    calls = 0

    def count(_frame, _event, _argument):
        nonlocal calls
        calls += 1

    run(*arguments)  # what is loaded once is not counted
    sys.setprofile(count)
    try:
        run(*arguments)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", FILES)
def test_twice_the_size_is_twice_the_work(name):
    once, twice = (work(lint, name, FILES[name](count)) for count in (100, 200))
    assert twice < 2.2 * once


@pytest.mark.parametrize("name", ["old.jsonl", "old.yaml"])
def test_twice_the_documents_are_twice_the_work_to_fix(name):
    text = '{"rubrics": [{"id": "a", "description": "Names a source"}]}\n'
    text = text if name.endswith(".jsonl") else f"---\n{text}"
    once, twice = (work(fix, name, text * count) for count in (100, 200))
    assert twice < 2.2 * once


def test_twice_the_lines_are_twice_the_work_to_tell_which_have_changed():
    text = '{"rubrics": [{"id": "a", "description": "Names a source"}]}\n'
    known = cache(partial(lint, "a.jsonl"))

    def sift(_name, data):
        lines = data.count(b"\n")
        every_second = tuple((line, line) for line in range(2, lines + 1, 2))
        changes = Changes(str(Path.cwd()), {"a.jsonl": Lines(every_second)}, frozenset())
        result = known(data)
        left = Changed(changes).sift(result, FileSettings())
        assert (len(result.findings), len(left.findings)) == (lines, lines / 2)

    once, twice = (work(sift, "a.jsonl", text * count) for count in (100, 200))
    assert twice < 2.2 * once


def write_renamed(part, head=""):
    """What writes two files of as many parts as one likes, no two of which have the same name."""

    def load(names, count):
        text = head + "".join(part.format(name=f"{names}{number}", number=number) for number in range(count))
        return load_rubrics("a.yaml", text.encode())

    return lambda count: (load("a", count), load("b", count))


CASES = write_renamed("  - {{id: {name}, rubrics: [{{id: a, expected_outcome: Names {name}}}]}}\n", "tests:\n")
CRITERIA = write_renamed("  - {{id: {name}, expected_outcome: Names {name}}}\n", "rubrics:\n")


@pytest.mark.parametrize("write", [CASES, CRITERIA], ids=["rubrics", "criteria"])
def test_twice_as_much_to_compare_is_twice_the_work(write):
    once, twice = (count_calls(compare_all, *write(count)) for count in (50, 100))
    assert twice < 2.2 * once


def compare_all(old, new):
    return list(compare(pair_rubrics(old, new)))


class Watched(str):
    """A text that counts how often it is searched from end to end."""

    __slots__ = ("searches",)

    def __contains__(self, part):
        self.searches = getattr(self, "searches", 0) + 1
        return super().__contains__(part)

    def count(self, *arguments):
        self.searches = getattr(self, "searches", 0) + 1
        return super().count(*arguments)

    def find(self, *arguments):
        self.searches = getattr(self, "searches", 0) + 1
        return super().find(*arguments)

    def lower(self):
        self.searches = getattr(self, "searches", 0) + 1
        return super().lower()


def test_the_whole_text_is_searched_no_more_often_when_it_holds_more_documents():
    few, many = (Watched((LINE % 1) * count) for count in (10, 20))
    assert [examine(Source("a.jsonl", text)).result.rubrics for text in (few, many)] == [10, 20]
    assert few.searches == many.searches
