import json
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import pytest
from cases import read_cases

from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.output import parse_output
from rubric_lint.scoring.records.decoding import OutputError, decode, line_of

TABLES = read_cases(__file__)

SUITE = """\
tests:
  - id: checklist
    rubrics: [Mentions the pivot, Is short]
  - id: score_ranges
    rubrics:
      - {id: Größe, score_ranges: {0: Nothing is right, 5: All of it is right}}
      - {id: depth, score_ranges: {0: Nothing is right, 5: All of it is right}}
  - id: holistic
    rubrics:
      - {score_range: [0, 4], expected_outcome: Wrong or off topic}
      - {score_range: [5, 10], expected_outcome: Right in all}
  - id: levels
    rubrics:
      - id: a
        levels:
          - {level: 1, expected_outcome: Wrong in all}
          - {level: 2, expected_outcome: Right in part}
          - {level: 4, expected_outcome: Right in all}
"""
RUBRICS = load_rubrics("suite.yaml", SUITE.encode())


def read(name, output):
    return parse_output(RUBRICS[name], output)


def refusal(name, output):
    with pytest.raises(OutputError) as caught:
        read(name, output)
    return caught.value.path, caught.value.message


@pytest.mark.parametrize("field", ["final_score\ud800", "is_\ud800draft", "out_of\ud800"])
@pytest.mark.parametrize("write", [dict, json.dumps], ids=["object", "text"])
def test_half_a_surrogate_pair_in_a_key_is_no_crash(field, write):
    with suppress(OutputError):
        read("holistic", write({"score": 7, field: 3}))
    with pytest.raises(OutputError):
        read("holistic", write({"score": 7, "final_score\ud800": 3}))


@pytest.mark.parametrize("name", TABLES)
def test_an_output_is_read_or_refused_with_place_and_reason(name, said):
    told = []
    for text in TABLES[name]:
        outcomes = []
        for given in (text, json.loads(text)):
            try:
                output = read(name, given)
                outcomes.append(f"  {output.answers}, reasons {output.reasons}, {output.reasoning!r}")
            except OutputError as refused:
                outcomes.append(f"  refused at {refused.path!r}: {refused.message}")
        told += [text, *dict.fromkeys(outcomes)]
    said(told)


@pytest.mark.parametrize("number", ["7." + "0" * 400, "0e-99999999999999999999"])
def test_an_integer_may_be_written_as_a_long_fraction(number):
    assert read("holistic", f'{{"score": {number}}}').answers == (int(number[0]),)


class Whole(int):
    """Neither `int` nor something else."""


@pytest.mark.parametrize(
    "output", [{"score": Whole(7)}, MappingProxyType({"score": 7}), {"score": 7, "x": None, "\ud83d": (Whole(1),)}]
)
def test_python_values_that_stand_for_json_are_read(output):
    assert read("holistic", output).answers == (7,)


@pytest.mark.parametrize(
    ("output", "path"),
    [
        ({"score": 10**5000}, "/score"),
        ({"score": 7, "reasoning": 10**5000}, "/reasoning"),
        ({"score": (7,)}, "/score"),
        ({"score": float("nan")}, "/score"),
        ({"score": 7, 1: 2}, ""),
        ({"score": Fraction(7)}, "/score"),
        ({"score": 7j}, "/score"),
        ({"score": 7, "reasoning": b"x"}, "/reasoning"),
        (b'{"score": 7}', ""),
        (None, ""),
        ({"score": Decimal("6.9999999999999999")}, "/score"),
    ],
)
def test_python_values_that_are_no_json_are_refused(output, path, said):
    found, message = refusal("holistic", output)
    assert found == path
    said(message)


def test_json_is_read_strictly_up_to_its_end():
    assert [decode(text) for text in ("9" * 300, '{"a": [1.5, null]} x')] == [
        (int("9" * 300), 300),
        ({"a": [1.5, None]}, 18),
    ]
    assert [line_of("a\nb\n", offset) for offset in (0, 1, 2, 4)] == [1, 1, 2, 3]
    refused = {
        "9" * 301: ("", f"the number {'9' * 20}... has 301 digits"),
        '{"a": [NaN]}': ("/a/0", "NaN is not JSON"),
        '{"a": 1, "b": 1, "a": 2}': ("/a", "the key `a` occurs twice in one object"),
        "[1e400]": ("/0", "the number 1e400 is too large"),
    }
    found = {}
    for text in refused:
        with pytest.raises(OutputError) as caught:
            decode(text)
        found[text] = (caught.value.path, caught.value.message)
    assert found == refused
