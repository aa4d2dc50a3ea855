"""The conversion of suites as plain data gives what the rewriting by edits gives, and keeps every comment."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from cases import read_cases
from random_documents import Dice
from random_suites import SuiteWriter

from rubric_lint.fix import fix
from rubric_lint.lint.engine import DEFAULTS
from rubric_lint.migrate.convert import convert_source
from rubric_lint.migrate.target import DEPRECATIONS, rewrite
from rubric_lint.rules import BY_NAME
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

ROOT = Path(__file__).parent.parent
CASES = read_cases(__file__)
SUITES = read_cases("agentv_suites")["suites"]
SETTINGS = DEFAULTS._replace(enabled=frozenset(BY_NAME) - DEPRECATIONS, implicit_required=True)


def name_suite(text):
    """The name of a file that holds a suite, a template, or lines."""
    if text.startswith('{"id') and text.endswith("}\n"):
        return "a.eval.jsonl"
    return "a.json" if text.startswith('{"prompts') else ".agentv/templates/a.yaml" if text[0] == "a" else "a.eval.yaml"


def read_data(name, text):
    documents, _ = read_documents(Source(name, text))
    return [json.dumps(document.data) for document in documents]


def list_comments(text):
    return Counter(re.findall(r"(?:^|(?<=\s))#.*", text))


@pytest.mark.spread(8)
@pytest.mark.parametrize("kind", SUITES)
def test_both_ways_give_the_same_data_or_a_known_difference(kind):
    text = SUITES[kind]
    name = name_suite(text)
    fixed = fix(name, text.encode(), SETTINGS)
    source = fixed.result.source if fixed.result.source.text else Source(name, text)
    converted, blockers = convert_source(source, SETTINGS)
    rewritten = rewrite(name, text.encode(), "agentv-5")
    difference = CASES["differences"].get(kind, "")
    is_same = read_data(name, converted) == read_data(name, rewritten.text)
    assert is_same != bool(difference) or "syntax" in difference
    reasons = sorted({blocker.reason for _, blocker in blockers})
    assert reasons == sorted({left.reason for left in rewritten.unmet}) or difference
    assert list_comments(converted) == list_comments(source.text)
    again, _ = convert_source(Source(name, converted), SETTINGS)
    assert again == converted


@pytest.mark.slow
@pytest.mark.spread(4)
@pytest.mark.parametrize("part", range(4))
def test_random_suites_are_converted_both_ways(part):
    """The edits stop at errors, and at lists in different styles; whatever they write, the other way writes."""
    equal = 0
    for seed in range(part, 200, 4):
        name, text = SuiteWriter(Dice(seed)).write()
        fixed = fix(name, text.encode(), SETTINGS)
        converted, blockers = convert_source(fixed.result.source, SETTINGS)
        rewritten = rewrite(name, text.encode(), "agentv-5")
        assert not rewritten.doubt
        if converted != fixed.result.source.text and rewritten.is_changed:
            assert read_data(name, converted) == read_data(name, rewritten.text)
            assert {gap.reason for _, gap in blockers} == {left.reason for left in rewritten.unmet}
            equal += 1
        else:
            assert not (rewritten.is_changed and text != rewritten.text and blockers)
    assert equal > 10
