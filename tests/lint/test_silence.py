"""Ignore comments for today's findings: where they go, what they leave alone, and that nothing is found after them."""

import re
import time

import pytest
from cases import read_cases
from hypothesis import assume, given
from hypothesis import strategies as st
from pages import read_pages
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from styled_suites import yaml_suites

from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix.silence import silence
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)


def write(text, reason="", name="a.yaml"):
    """The text with comments, and the findings that are left with the reason."""
    done = silence(name, text.encode(), reason=reason)
    return done.data.decode(), [(left.finding.rule, left.reason) for left in done.left]


PLACES = TABLES["PLACES"]


@pytest.mark.parametrize("before", PLACES.values(), ids=PLACES)
def test_places(before, said):
    said(*write(before))


def test_a_reason_stands_behind_new_comments():
    text, left = write("rubrics:\n  - id: a\n    expected_outcome: Good\n", reason="before 2027")
    expected = "rubrics:\n  - id: a\n    expected_outcome: Good  # rubric-lint: ignore[vague-outcome] before 2027\n"
    assert (text, left) == (expected, [])


LEFT = TABLES["LEFT"]


@pytest.mark.parametrize(("name", "text", "rule"), LEFT.values(), ids=LEFT)
def test_what_no_comment_silences(name, text, rule, said):
    written, ((left, reason),) = write(text, name=name)
    assert (written, left) == (text, rule)
    said(reason)


FAULTS = TABLES["FAULTS"]


@st.composite
def faulty_suites(draw):
    """Suites in all styles, with some faults written into them."""
    suite = draw(yaml_suites())
    source = Source.from_bytes(suite.name, suite.data)
    text = source.text
    for pattern, new in draw(st.lists(st.sampled_from(FAULTS), max_size=4)):
        text = re.sub(pattern, new, text, count=draw(st.integers(0, 3)))
    return source.to_bytes(text)


def events(data):
    """All that YAML text says, by another reader and without the places."""
    text = Source.from_bytes("a.yaml", data).text
    parts = ("anchor", "tag", "value", "style", "flow_style")
    return [
        (type(event), *(str(getattr(event, part, None)) for part in parts))
        for event in YAML(typ="safe", pure=True).parse(text)
    ]


def fails_to_keep_comments(data):
    """Whether the reader that keeps comments, for other programs to change files with, cannot read a text."""
    reader = YAML()
    reader.allow_duplicate_keys = True
    try:
        list(reader.load_all(Source.from_bytes("a.yaml", data).text))
    except (YAMLError, NotImplementedError):
        return True
    return False


@pytest.mark.slow
@given(faulty_suites(), st.sampled_from(["", "until it is rewritten"]))
def test_nothing_is_found_afterwards_and_no_data_has_changed(data, reason):
    first = lint("a.yaml", data)
    assume(all(finding.rule != "syntax" for finding in first.findings))
    done = silence("a.yaml", data, reason=reason)
    assert (done.left, done.findings) == ((), len(first.findings))
    assert lint("a.yaml", done.data).findings == ()
    assert events(done.data) == events(data)
    assert fails_to_keep_comments(data) or not fails_to_keep_comments(done.data)
    assert silence("a.yaml", done.data, reason=reason).data == done.data
    # All that was there is there still, line by line.
    before, after = (Source.from_bytes("a.yaml", each) for each in (data, done.data))
    lines = iter(after.text.splitlines(keepends=True))
    for line in before.text.splitlines(keepends=True):
        body = line.rstrip("\r\n")
        assert any(new.startswith(body) and new.endswith(line[len(body) :]) for new in lines)


@pytest.mark.spread(3)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("page", read_pages(), ids=lambda page: page.stem)
def test_the_examples_of_the_pages(page, line_end):
    for example in page.flagged:
        if example.name.endswith(".yaml"):
            done = silence(example.name, example.text.replace("\n", line_end).encode())
            could = [left.finding for left in done.left if left.finding.rule != "syntax" and left.finding.fix]
            hopeless = {"syntax", "unused-ignore"}
            assert (could, {left.finding.rule for left in done.left} - hopeless) == ([], set())
            assert done.result.findings == tuple(left.finding for left in done.left)


@pytest.mark.slow
def test_four_times_the_findings_take_about_four_times_as_long():
    def spend(count):
        text = "rubrics:\n" + "- expected_outcome: Good\n- expected_outcome: |\n    Good\n" * count
        start = time.process_time()
        done = silence("a.yaml", text.encode())
        assert (done.left, done.findings) == ((), 6 * count - 1)
        return time.process_time() - start

    once, often = (min(spend(count) for _ in range(3)) for count in (100, 400))
    assert often < 10 * once
