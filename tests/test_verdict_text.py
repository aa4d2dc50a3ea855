"""What of a judge's raw text is the verdict: what it gives, not what it drafts, quotes or mentions."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import process_time

import pytest
from ruamel.yaml import YAML

from rubric_lint.scoring import OutputError, load_rubrics, score
from rubric_lint.scoring.candidates import find_verdict


@pytest.mark.parametrize(
    "words", ["I decline.", "I decl\u0131ne.", "I DECL\u0130NE.", "I \u017fkip this.", "No \u017fcore."]
)
def test_a_refusal_is_found_in_each_spelling_of_its_letters(words):
    with pytest.raises(OutputError, match="takes it back or says that it does not count"):
        find_verdict(f'{words}\n{{"score": 7}}')


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 7}',
        '\ufeff {"score": 7}\n',
        '```json\n{"score": 7}\n```',
        'The answer {mostly} fits.\n\n```json\n{\n  "score": 7\n}\n```\nI am sure.',
        'With \\frac{1}{2} and {} in mind:\n{"score": 7}',
        'Score:\n  {"score": 7}  \r\nThat\'s all.',
        "For {x : x > 0}, {'a', 'b'} and {see: below}:\n\n{\"score\": 7}",
    ],
)
def test_the_object_in_a_text_is_found(text):
    assert find_verdict(text) == {"score": 7}


@pytest.mark.parametrize(
    "text",
    [
        '\u300eas {"score": 3} it says\u300f\n{"score": 7}',
        '<a>x</a> <b>{"score": 3}</b>\n{"score": 7}',
        'For {"id": "accuracy", "score": 3} see there.\n{"score": 7}',
        '> This is an example.\n\n{"score": 7}',
        '> This is an example:\n\n{"score": 7}',
        '{"score": 7}\n> but this is wrong\n',
        '{"score": 7}\n<b>is what the user wants</b>',
        '{"score": 7}\n```\nis what the user wants\n```',
        '{"score": 7}\n```\nx\n```\nis what the user wants',
    ],
    ids=[
        "quoted",
        "tagged",
        "note",
        "quoted sentence",
        "quoted start",
        "quoted end",
        "tagged end",
        "fenced end",
        "fence",
    ],
)
def test_what_is_quoted_or_said_of_one_criterion_changes_no_verdict(text):
    assert find_verdict(text) == {"score": 7}


@pytest.mark.parametrize("score", ["x", None, True, "3"])
def test_a_claim_is_compared_with_scores_that_are_numbers(score):
    value = {"score": score}
    assert find_verdict(f"The score is 7.\n{json.dumps(value)}") == value
    assert find_verdict(f'The score is 7.\n{{"checks": [{json.dumps(value)}]}}') == {"checks": [value]}


@pytest.mark.parametrize(
    "text",
    [
        "{'score': 2} then {\"score\": 7}",
        "{\"score\": 7}, not { 'score' : 2}",
        '{score: 2} then {"score": 7}',
        '{Score = 2} then {"score": 7}',
        '{“score”: 2} then {"score": 7}',
        "{'checks': [{'id': 'a', 'score': 2}]} then {\"score\": 7}",
        "{'score': 2}",
    ],
)
def test_an_object_of_another_language_is_an_object_too(text):
    with pytest.raises(OutputError) as caught:
        find_verdict(text)
    assert caught.value.message == "the object at line 1 is not JSON: its keys are not in double quotes"


@pytest.mark.parametrize(
    ("text", "path", "line", "message"),
    [
        ("", "", None, "the text is empty; expected a JSON object"),
        ("Seven.", "", None, 'no JSON object in this text: "Seven."'),
        ("7", "", None, "found the number 7; expected a JSON object"),
        ("null", "", None, "found null; expected a JSON object"),
        ("true", "", None, "found true; expected a JSON object"),
        ('"{}"', "", None, "found a string; expected a JSON object"),
        ('[{"score": 7}]', "", None, "found a list; expected a JSON object"),
        ('Here: [\n{"score": 7}\n]', "", 2, "the JSON object at line 2 is inside a list that is not JSON"),
        ('{x:\n{"score": 7}\n}', "", 2, "the JSON object at line 2 is inside braces that are not JSON"),
        ('{"a": 1},\n{"score": 3}', "", 2, "the JSON object at line 2 is inside a list that is not JSON"),
        ('"meta":\n{"score": 3}\n}', "", 3, "a `}` at line 3 closes nothing, so the JSON before it is broken"),
        ('{"score": 7}\n{"score": 7}', "", 2, "2 JSON objects, at lines 1, 2; expected one"),
        ('{"score": 7}\n' * 5_000, "", 2, "5000 JSON objects, at lines 1, 2, 3, 4, 5, ...; expected one"),
        ('{"a": {"score": 3}, "score": 7', "", 1, "not JSON at column 31: the text ends too early"),
        ('{"score": 7} or\n{"score":', "", 2, "not JSON at line 2, column 10: the text ends too early"),
        ('{"score": 7,}', "", 1, "not JSON at column 13: expecting property name enclosed in double quotes"),
        ('{"score": NaN}', "/score", None, "NaN is not JSON"),
        ('{"score": -Infinity}', "/score", None, "-Infinity is not JSON"),
        ('{"score": 1e400}', "/score", None, "the number 1e400 is too large"),
        ('{"a": [{"b": 1, "b": 2}]}', "/a/0/b", None, "the key `b` occurs twice in one object"),
        ('{"score": ' + "1" * 5000 + "}", "/score", None, "the number 11111111111111111111... has 5000 digits"),
        ('{"a":' * 100_000, "", 1, "nested too deeply to be read"),
    ],
)  # fmt: skip
def test_a_text_without_exactly_one_sound_object_is_refused(text, path, line, message):
    with pytest.raises(OutputError) as caught:
        find_verdict(text)
    assert (caught.value.path, caught.value.line, caught.value.message) == (path, line, message)


RUBRICS = load_rubrics(
    "suite.yaml",
    b"""\
tests:
  - id: whole
    rubrics:
      - {score_range: [0, 4], expected_outcome: Wrong or off topic}
      - {score_range: [5, 10], expected_outcome: Right}
  - id: each
    rubrics:
      - {id: accuracy, score_ranges: {0: Wrong facts, 5: Right facts}}
      - {id: length, score_ranges: {0: Too long, 5: Short enough}}
""",
)
TEXTS = YAML(typ="safe").load((Path(__file__).parent / "data/judge_texts.yaml").read_text("utf-8"))


def read(case):
    """The scores that the scorer reads in a text, or the message with which it refuses it."""
    is_each = isinstance(case["says"], list) or '"checks"' in case["text"]
    try:
        found = score(RUBRICS["each" if is_each else "whole"], case["text"], answer=case.get("answer"))
    except OutputError as fault:
        return fault.message
    answers = [each.grade.answer for each in found.criteria]
    return answers if is_each else answers[0]


def expected(case):
    """Part of the message, or the scores."""
    return case.get("missed") or (case["why"] if case["says"] is None else case["says"])


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_what_a_person_reads_is_scored_or_refused_and_nothing_else(case):
    found = read(case)
    assert expected(case) in found if isinstance(found, str) else found == expected(case)


def count_texts():
    """How many texts are scored as a person reads them, rightly refused, wrongly scored, and refused all the same."""
    counts = Counter()
    for case in TEXTS:
        found = read(case)
        if isinstance(found, str):
            counts["refused" if case["says"] is None else "missed"] += 1
        else:
            counts["scored" if found == case["says"] else "wrong"] += 1
    return counts


def test_of_200_texts_none_is_scored_wrongly_and_few_verdicts_are_missed(record_property):
    counts = count_texts()
    record_property("texts of judges", dict(counts))
    assert (counts.total() >= 200, counts["wrong"], counts["missed"] <= 0.1 * counts.total()) == (True, 0, True)
    assert len({case["id"] for case in TEXTS}) == len(TEXTS)


HOSTILE = {
    "objects": '{"score": 7}\n',
    "objects in a line": 'a {"score": 7} ',
    "broken objects": '{"score": 7,\n',
    "broken objects and ends of thoughts": '{"a":["</think>",\n',
    "lists that go on": '{"a":[\n',
    "objects in a line that break": 'x {"score":[',
    "quotes after braces": '{"',
    "escaped quotes": '{"\\"',
    "texts that never end": '{"score": "x ',
    "beginnings of thoughts": "<think ",
    "thoughts": "<think>a</think>",
    "thoughts in thoughts": "<think>" * 2 + "</think>",
    "ends of thoughts": "x</think>",
    "ends of thoughts and objects": '{"score": 7}\n</think>\n',
    "harmony": "<|channel|>final<|message|>x<|end|>",
    "harmony that never ends": "<|channel|>analysis<|message|>x",
    "headers of harmony": "<|start|>assistant<|channel|>",
    "beginnings of escaped thoughts": "&lt;think ",
    "beginnings of thoughts in triangles": "◁think ",
    "harmony without its tokens": "analysisX assistantfina ",
    "comments": "<!-- ",
    "tokens of turns in back ticks": "`<|im_start|>` ",
    "fences of lists": "```\n[1\n```\n",
    "fences": "```\n",
    "fences of other marks": "```\n~~~\n",
    "longer and longer fences": "```json {\n",
    "back ticks": "` `` ``` ",
    "quotes": '" “ « 「 ',
    "tags": "<a><b></a>",
    "tags that are never closed": "<a>\n",
    "tags that begin": "<a ",
    "brackets": "[a][/b]",
    "braces": "{ ",
    "closing braces": "} ",
    "blanks": " \n\t",
    "blanks behind braces": "{ \n  ",
    "block quotes": '> {"score": 7}\n',
    "ends of messages": "</s> ",
    "words": "Lorem ipsum {dolor} sit. ",
    "other languages": "{'a",
    "old line ends": "a\r",
    "unseen blanks": "\u200b\xa0",
    "signs at the begins of lines": "* - \n",
    "emphasis": '**{"score": 7}',
    "labels of fences": "```draft\n{}\n```\n",
    "code that names a score": "```py\nscore = 3\n```\n",
    "spaced thoughts": "< think ",
}
WORDS = {
    "claims": "The score is 7. ",
    "claims that do not end": "the score is is is ",
    "claims behind a lot": "the correct final right ",
    "spaces behind a score": "the score    ",
    "scores that are given": "I give it it it ",
    "numbers alone": "7\n",
    "empty lines": "\n",
    "cells": "| whole whole ",
    "claims without an end": "The score is 7 if ",
    "refusals": "I cannot grade this this ",
    "others": "a judge one they ",
    "retractions": "that was just just ",
    "says": "it says this that ",
    "signs": "** -- ::",
    "stops": ". ! ? ",
}


def seconds(text):
    """Return the CPU time that a look for a verdict takes."""
    begun = process_time()
    with suppress(OutputError):
        find_verdict(text, answer=text[: len(text) // 2])
    return process_time() - begun


ROUNDS = 10


def grows_too_fast(few, many):
    """Return whether eight times the text takes over 30 times as long, in every round; one in proportion takes 8."""
    for _ in range(ROUNDS):
        times = [(seconds(few), seconds(many)) for _ in range(3)]
        short, long = map(min, zip(*times, strict=True))
        if long <= 30 * short + 0.01:
            return False
    return True


def test_blanks_behind_an_object_take_time_in_proportion():
    few, many = (f'{{"score": 7}}{" " * count}x\n{{"score": 7}}' for count in (5_000, 40_000))
    assert not grows_too_fast(few, many)


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_the_time_grows_with_the_text_only(piece):
    """Eight times the text takes eight times as long, not 64 times."""
    count = 10_000 // len(piece)
    assert not grows_too_fast(piece * count, piece * count * 8)


@pytest.mark.parametrize("piece", WORDS.values(), ids=WORDS)
def test_the_time_grows_with_the_words_beside_the_object_only(piece):
    count = 2_000 // len(piece)
    few, many = (f'{piece * times}\n{{"score": 7}}\n{piece * times}' for times in (count, 8 * count))
    assert not grows_too_fast(few, many)


def test_what_a_message_quotes_of_the_text_hides_nothing():
    """D1: unseen characters, and commands for CI systems, come as escapes wherever the message goes."""
    with pytest.raises(OutputError) as caught:
        find_verdict('{"score": 9}\n\nScratch\u202e, I meant 3.\x07')
    assert (caught.value.line, caught.value.message) == (
        3,
        '"I meant" at line 3 takes it back or says that it does not count; expected words that agree with the object',
    )
    with pytest.raises(OutputError) as caught:
        find_verdict("No \u202egrade\x1b[31m from ##[error] me.")
    assert caught.value.message == r'no JSON object in this text: "No \u202egrade\u001b[31m from #\x23[error] me."'
    with pytest.raises(OutputError) as caught:
        find_verdict('{"a\u202eb": 1, "a\u202eb": 2}')
    assert caught.value.message == r"the key `a\u202eb` occurs twice in one object"
