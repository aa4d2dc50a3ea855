"""What a file costs grows with its size, not with the square of it: counted in calls, not in seconds."""

import sys

import pytest

from rubric_lint.lint import lint

LINE = '{"id": "a", "rubrics": [{"id": "a", "expected_outcome": "Names %d sources"}]}\n'
FILES = {
    "a.jsonl": lambda count: "".join(LINE % number for number in range(count)),
    "a.yaml": lambda count: "rubrics:\n" + "".join(f"- {{id: c{number}, weight: x}}\n" for number in range(count)),
    "b.yaml": lambda count: "".join(
        f"---\nrubrics:\n- {{id: a, score_ranges: {{1: Cites {n}}}}}\n" for n in range(count)
    ),
    "c.yaml": lambda count: "rubrics:\n" + "- Yes # rubric-lint: ignore[vague-outcome]\n" * count,
}


def work(name, text):
    """How many calls it takes to lint a text."""
    calls = 0

    def count(_frame, _event, _argument):
        nonlocal calls
        calls += 1

    data = text.encode()
    lint(name, data)  # what is loaded once is not counted
    sys.setprofile(count)
    try:
        lint(name, data)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", FILES)
def test_twice_the_size_is_twice_the_work(name):
    once, twice = (work(name, FILES[name](count)) for count in (100, 200))
    assert twice < 2.2 * once
