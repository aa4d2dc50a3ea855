"""Each message that the package yields is declared by the rule that yields it, with the values of its text."""

import json
from functools import cache
from itertools import groupby
from pathlib import Path
from string import Formatter

import pytest
from messages_of import read_messages

from rubric_lint.lint.engine import lint
from rubric_lint.rules import BY_NAME, RULES

pytestmark = pytest.mark.repository

SCHEMAS = [path for path in Path("schemas").rglob("*.json") if path.parent.name != "bundled"]

# The rules that say what a function finds, where they do not stand beside it.
OWNERS = {
    "agree/judged/influence:find_order": ["judged-order"],
    "agree/judged/influence:find_length": ["judged-length"],
    "agree/judged/rules:find_inverse": ["judged-inverse"],
    "agree/judged/rules:find_disagreement": ["judged-disagrees"],
    "dialects/search/lost_in_suites": ["lost-rubric"],
    "dialects/search/near_misses": ["lost-rubric"],
    "format/repairs": ["deprecated-description", "deprecated-required"],
    "format/schema_problems:_word_unknown": ["unknown-field"],
    "format/schema_problems:_word_range_keys": ["schema", "bounds"],
    "format/schema_problems": ["schema"],
    "lint/case_names": ["repeated-case"],
    "lint/engine:find_duplicate_keys": ["duplicate-key"],
    "lint/engine": ["schema"],
    "lint/ignore_comments": ["unused-ignore"],
    "shapes/reading": ["schema"],
    "testing/mutation": ["unnoticed-change"],
    "testing/reviewing": ["untested"],
    "testing/running:find_unmet": ["unmet-expectation"],
    "testing/running": ["broken-test"],
}
# These hand on the code of a decision, of a target, or of another one's problem.
HANDED_ON = {"agree/judged/run:_place", "scoring/loading:problem", "testing/reviewing:_look"}
OF_SYNTAX = {("syntax", code) for code in ("unreadable", "encoding", "time-limit")}
# A test is named where its problems are collected.
NAMED_LATER = {"unmet-expectation": {"test"}, "unrecorded-test": {"test"}, "broken-test": {"test"}}
OF_KEYWORDS = {
    "null": {"unexpected"},
    "type": {"unexpected"},
    "maximum": {"unexpected"},
    "exclusiveMinimum": {"unexpected"},
    "contains": {"none-counts"},
    "minItems": {"empty", "items"},
    "minProperties": {"empty", "items"},
    "not": {"misplaced"},
}


def list_nodes(schema):
    if isinstance(schema, dict):
        yield schema
        schema = list(schema.values())
    for each in schema if isinstance(schema, list) else ():
        yield from list_nodes(each)


def messages_of_schemas():
    """Yield the rules that the schemas name, with the code of each keyword there."""
    for path in SCHEMAS:
        for node in list_nodes(json.loads(path.read_text("utf-8"))):
            for keyword, rule in node.get("x-rule", {}).items() if isinstance(node.get("x-rule", {}), dict) else ():
                if keyword == "pattern":
                    codes = {"blank"} if node["pattern"] == r"\S" else {"unexpected"}
                elif keyword == "minimum":
                    codes = {"unexpected"} if "x-expected" in node else {"minimum"}
                else:
                    codes = OF_KEYWORDS[keyword]
                yield from ((rule, code) for code in codes)


def owners(message):
    if message.rule:
        return [message.rule]
    if message.module.startswith("rules/"):
        return [message.module.removeprefix("rules/").replace("_", "-")]
    return OWNERS.get(f"{message.module}:{message.function}") or OWNERS.get(message.module, [])


@cache
def yielded():
    """Return each message in the source with the rule that yields it."""
    pairs = []
    found = sorted(read_messages(), key=lambda each: (each.module, each.line))
    for _, group in groupby(found, key=lambda each: (each.module, each.line)):
        messages = list(group)
        named = [each for each in messages if each.rule]
        for message in named or messages:
            if f"{message.module}:{message.function}" not in HANDED_ON:
                pairs += ((rule, message) for rule in owners(message) or [None])
    return pairs


def names(rule, code):
    return {name for _, name, *_ in Formatter().parse(BY_NAME[rule].messages[code]) if name}


def test_every_message_in_the_source_has_a_known_code_and_rule():
    assert [message for rule, message in yielded() if rule is None or message.code is None] == []
    assert len(yielded()) > 150


def test_each_rule_declares_the_messages_that_it_yields_and_no_other():
    found = {(rule, message.code) for rule, message in yielded()} | set(messages_of_schemas()) | OF_SYNTAX
    declared = {(rule.name, code) for rule in RULES for code in rule.messages}
    assert found == declared


def test_each_message_has_the_values_that_its_text_names():
    for rule, message in yielded():
        if message.values is not None:
            held = message.values | {"line"} | NAMED_LATER.get(rule, set())
            assert names(rule, message.code) <= held, message
            # Messages of one rule may share their values.
            assert message.values <= set().union(*(names(rule, code) for code in BY_NAME[rule].messages)), message


def test_a_message_with_a_line_has_a_related_place():
    told = [message for rule, message in yielded() if "line" in names(rule, message.code)]
    assert len(told) > 10
    assert [message for message in told if not message.has_related] == []


@pytest.mark.parametrize("bands", ['{"4": null, "0-3": bad, "7": good}', '{"0-3": bad, "4": null, "7": [1]}'])
def test_a_slip_in_keys_is_of_the_rule_on_keys_whatever_the_values_are(bands):
    result = lint("a.yaml", f"rubrics:\n  - expected_outcome: a\n    score_ranges: {bands}\n".encode())
    assert "bounds.range-keys" in [finding.code for finding in result.findings]
