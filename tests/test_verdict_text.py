"""What of a judge's raw text is the verdict: what it gives, not what it drafts, quotes or mentions."""

import pytest

from rubric_lint.scoring.candidates import find_verdict
from rubric_lint.scoring.extract import OutputError


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
        ('"{}"', "", None, "found a text in quotes; expected a JSON object"),
        ('[{"score": 7}]', "", None, "found a list; expected a JSON object"),
        ('Here: [\n{"score": 7}\n]', "", 2, "the JSON object at line 2 stands inside a list that is not JSON"),
        ('{x:\n{"score": 7}\n}', "", 2, "the JSON object at line 2 stands inside braces that are not JSON"),
        ('{"a": 1},\n{"score": 3}', "", 2, "the JSON object at line 2 stands inside a list that is not JSON"),
        ('"meta":\n{"score": 3}\n}', "", 3, "a `}` at line 3 closes nothing, so the JSON before it is broken"),
        ('{"score": 7}\n{"score": 7}', "", 2, "2 JSON objects, at lines 1, 2; expected one"),
        ('{"score": 7}\n' * 50_000, "", 2, "50000 JSON objects, at lines 1, 2, 3, 4, 5, ...; expected one"),
        ('{"a": {"score": 3}, "score": 7', "", 1, "not JSON at column 31: the text ends too early"),
        ('{"score": 7} or\n{"score":', "", 2, "not JSON at line 2, column 10: the text ends too early"),
        ('{"score": 7,}', "", 1, "not JSON at column 13: expecting property name enclosed in double quotes"),
        ('{"score": NaN}', "/score", None, "NaN is not JSON"),
        ('{"score": -Infinity}', "/score", None, "-Infinity is not JSON"),
        ('{"score": 1e400}', "/score", None, "the number 1e400 is too large"),
        ('{"a": [{"b": 1, "b": 2}]}', "/a/0/b", None, "the key `b` stands twice in one object"),
        ('{"score": ' + "1" * 5000 + "}", "/score", None, "the number 11111111111111111111... has 5000 digits"),
        ('{"a":' * 100_000, "", 1, "nested too deeply to be read"),
    ],
)  # fmt: skip
def test_a_text_without_exactly_one_sound_object_is_refused(text, path, line, message):
    with pytest.raises(OutputError) as caught:
        find_verdict(text)
    assert (caught.value.path, caught.value.line, caught.value.message) == (path, line, message)
