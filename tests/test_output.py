import json
import re
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import pytest

from rubric_lint.outputs.decoding import OutputError, decode, line_of
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.output import parse_output

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


SAYS_YES = [
    *({"passed": True}, {"pass": "yes"}, {"isMet": True}, {"fulfilled": True}, {"failed": False}, {"violated": False}),
    *({"status": "met"}, {"result": "Passed."}),
]
SAYS_NO = [
    *({"passed": False}, {"Pass": "No"}, {"met": False}, {"is_fulfilled": False}, {"failed": True}, {"violated": True}),
    *({"status": "not met"}, {"state": "Not satisfied."}, {"outcome": "unmet"}),
]
SAYS_NEITHER = [
    *({"passed": None}, {"passed": 3, "failed": 2}, {"status": "ok"}, {"met": "partly"}),
    {"result": "It is met in part."},
]


@pytest.mark.parametrize("beside", [*SAYS_YES, *SAYS_NO, *SAYS_NEITHER, {"verdict": "not met"}], ids=str)
@pytest.mark.parametrize("satisfied", [True, False])
def test_a_field_of_a_check_that_says_the_opposite_makes_the_output_invalid(beside, satisfied):
    output = {"checks": [{"id": "rubric-1", "satisfied": satisfied, **beside}, {"id": "rubric-2", "satisfied": True}]}
    if beside in (SAYS_NO if satisfied else SAYS_YES) or "verdict" in beside:
        (field,) = beside
        message = f"`{field}` beside `satisfied`: unclear which one counts; remove one"
        assert refusal("checklist", output) == (f"/checks/0/{field}", message)
    else:
        assert read("checklist", output).answers == (satisfied, True)


@pytest.mark.parametrize("beside", [*SAYS_YES, *SAYS_NO, {"verdict": "not met"}], ids=str)
@pytest.mark.parametrize(
    ("name", "output", "field", "path"),
    [
        ("holistic", {"score": 7}, "score", ""),
        ("score_ranges", {"checks": [{"id": "Größe", "score": 7}, {"id": "depth", "score": 7}]}, "score", "/checks/0"),
        ("levels", {"checks": [{"id": "a", "level": 2}]}, "level", "/checks/0"),
        ("levels", {"checks": [{"id": "a", "level": 2}]}, "checks", ""),
    ],
)
def test_what_passes_is_not_said_beside_a_score(name, output, field, path, beside):
    (extra,) = beside
    checks = [{**output["checks"][0], **beside}, *output["checks"][1:]] if path else []
    message = f"`{extra}` beside `{field}`: unclear which one counts; remove one"
    assert refusal(name, {"checks": checks} if path else {**output, **beside}) == (f"{path}/{extra}", message)


@pytest.mark.parametrize("beside", SAYS_NEITHER, ids=str)
def test_what_says_neither_yes_nor_no_is_ignored_beside_a_score(beside):
    assert read("holistic", {"score": 7, **beside}).answers == (7,)


@pytest.mark.parametrize(
    "beside",
    [{"finish_reason": "length"}, {"stopReason": "max_tokens"}, {"errors": ["No reply."]}, {"errors": {"a": 1}}],
)
def test_an_output_that_was_cut_off_or_has_errors_is_not_the_verdict(beside):
    (field,) = beside
    path, message = refusal("holistic", {"score": 7, **beside})
    assert (path, "so the object says itself that it is not the verdict" in message) == (f"/{field}", True)


@pytest.mark.parametrize(
    "beside", [{"finish_reason": "stop"}, {"stop_reason": "end_turn"}, {"errors": []}, {"errors": None}]
)
def test_an_output_that_was_completed_without_errors_is_read(beside):
    assert read("holistic", {"score": 7, **beside}).answers == (7,)


def scores(*pairs):
    return {"checks": [{"id": name, "score": answer} for name, answer in pairs]}


def check(**fields):
    """The checks of an output with one check."""
    return [fields]


@pytest.mark.parametrize(
    ("name", "output", "answers"),
    [
        ("score_ranges", scores(("Größe", 3), ("depth", 9)), (3, 9)),
        pytest.param("score_ranges", scores(("depth", 9), ("Größe", 3)), (3, 9), id="any-order"),
        pytest.param("holistic", {"score": 7.0}, (7,), id="7.0-is-an-integer"),
        pytest.param("holistic", {"score": 7, "confidence": 0.9, "notes": ["x"]}, (7,), id="other-fields"),
        pytest.param("holistic", {"score": 7, "reasoning": "\ud83d"}, (7,), id="half-a-surrogate-pair"),
        ("levels", {"checks": [{"id": "a", "level": 4, "confidence": 1}]}, (4,)),
        ("checklist", check(id="rubric-1", satisfied=True) + check(id="rubric-2", satisfied=False), (True, False)),
    ],
)
def test_a_valid_output_is_read(name, output, answers):
    assert read(name, {"checks": output} if isinstance(output, list) else output).answers == answers


@pytest.mark.parametrize(
    ("output", "path", "more"),
    [
        (scores(("Größe", 11), ("dept", 3), ("depth", "7")), "/checks/0/score", 2),
        (scores(("Größe", 11)), "/checks/0/score", 1),
        ({"checks": check(id="Größe", score=11, reasoning=3) + check(id="depth", score=7)}, "/checks/0/reasoning", 0),
        (scores(("Größe", 11), ("dept", 3)), "/checks/0/score", 1),  # a misspelt id explains a missing one
        (scores(("x", 3), ("x", 3), ("y", 3)), "/checks/0/id", 2),
    ],
)
def test_it_is_said_how_many_more_errors_there_are(output, path, more):
    found, message = refusal("score_ranges", output)
    told = re.search(r"\(and (\d) more error", message)
    assert (found, int(told[1]) if told else 0) == (path, more)


def test_reasons_are_kept():
    output = read("holistic", {"score": 7, "reasoning": "Right."})
    assert (output.reasons, output.reasoning) == (("Right.",), "Right.")
    output = read("levels", {"checks": [{"id": "a", "level": 4, "reasoning": "Right."}], "overall_reasoning": "Fine."})
    assert (output.reasons, output.reasoning) == (("Right.",), "Fine.")


@pytest.mark.parametrize(
    ("name", "output", "path", "message"),
    [
        ("holistic", {"score": 11}, "/score", "score 11 is outside 0..10"),
        ("holistic", {"score": -1}, "/score", "score -1 is outside 0..10"),
        ("holistic", {"score": 7.5}, "/score", "`score` is 7.5, expected an integer"),
        ("holistic", {"score": "7"}, "/score", '`score` is the string "7"'),
        ("holistic", {"score": True}, "/score", "`score` is true"),
        ("holistic", '{"score": null}', "/score", "`score` is null"),
        ("holistic", {"score": None}, "", 'missing field `score`; expected {"score"}'),
        ("holistic", {"score": float("nan")}, "/score", "`score` is nan"),
        ("holistic", {"score": 7, "Score": 3}, "/Score", "`Score` beside `score`"),
        ("holistic", {"Score": 7}, "", "missing field `score`; did you mean `Score`?"),
        ("holistic", {}, "", 'missing field `score`; expected {"score"}'),
        ("holistic", {"score": 7, "level": 3}, "/level", "`level` is not allowed here"),
        ("holistic", {"score": 7, "reasoning": 3}, "/reasoning", "`reasoning` is 3, expected a string"),
        ("holistic", [7], "", "the judge output is a list, expected an object"),
        ("score_ranges", {"score": 7}, "", 'missing field `checks`; expected {"checks": [{"id", "score"}, ...]}'),
        ("score_ranges", {"checks": {}}, "/checks", "`checks` is an object, expected a list"),
        ("score_ranges", {"checks": [7]}, "/checks/0", "the check is 7, expected an object (and 1 more error)"),
        ("score_ranges", {"checks": []}, "/checks", 'no check for "Größe" and "depth"'),
        ("score_ranges", scores(("Größe", 3)), "/checks", 'no check for "depth"'),
        ("score_ranges", scores(("Größe", 3), ("Größe", 3)), "/checks/1/id", '"Größe" is judged twice'),
        ("score_ranges", scores(("größe", 3), ("depth", 3)), "/checks/0/id", 'no criterion "größe"; ids'),
        ("score_ranges", scores(("Gro\u0308ße", 3)), "/checks/0/id", 'no criterion "Gro\u0308ße"; "Größe" l'),
        ("score_ranges", scores(("dept", 3)), "/checks/0/id", 'no criterion "dept"; did you mean "depth"'),
        ("score_ranges", scores(("x", 3)), "/checks/0/id", 'no criterion "x"; it has "Größe" and "depth"'),
        ("levels", {"checks": check(id="a", level=3)}, "/checks/0/level", 'level 3 of "a" is not allowed'),
        ("levels", {"checks": check(id="a", score=3)}, "/checks/0", "missing field `level`"),
        ("checklist", {"checks": check(id="rubric-1", satisfied=1)}, "/checks/0/satisfied", "`satisfied` is 1"),
    ],
)
def test_an_invalid_output_is_refused_with_place_and_reason(name, output, path, message):
    found, told = refusal(name, output)
    assert (found, message in told) == (path, True)


@pytest.mark.parametrize(
    ("number", "answer"),
    [("7.0", 7), ("70E-1", 7), ("0.7e1", 7), ("7." + "0" * 400, 7), ("-0.0", 0), ("0e-99999999999999999999", 0)],
)
def test_an_integer_may_be_written_as_a_fraction(number, answer):
    assert read("holistic", f'{{"score": {number}}}').answers == (answer,)


LONG = ["4.99999999999999999", "6.99999999999999999999999", "7.0000000000000000000001", "10.00000000000000000001"]


@pytest.mark.parametrize("number", [*LONG, "1e-400", "-1e-400", "1e-99999999999999999999"])
def test_no_number_is_rounded_to_an_integer(number):
    message = f"`score` is {number}, expected an integer"
    assert refusal("holistic", f'{{"score": {number}, "reasoning": "\\ud83d"}}') == ("/score", message)
    message = f"`level` is {number}, expected an integer"
    assert refusal("levels", f'{{"checks": [{{"id": "a", "level": {number}}}]}}') == ("/checks/0/level", message)


def test_an_integer_beyond_the_precision_of_doubles_is_read_exactly():
    path, message = refusal("levels", '{"checks": [{"id": "a", "level": 9007199254740993.0}]}')
    assert (path, message.split(" of ")[0]) == ("/checks/0/level", "level 9007199254740993")


class Whole(int):
    """Neither `int` nor something else."""


@pytest.mark.parametrize(
    "output", [{"score": Whole(7)}, MappingProxyType({"score": 7}), {"score": 7, "x": Whole(1), "\ud83d": (1,)}]
)
def test_python_values_that_stand_for_json_are_read(output):
    assert read("holistic", output).answers == (7,)


@pytest.mark.parametrize(
    ("output", "path", "message"),
    [
        ({"score": 10**5000}, "/score", "score an integer with more than 300 digits is outside 0..10"),
        ({"score": 7, "reasoning": 10**5000}, "/reasoning", "`reasoning` is an integer with more than 300 digits"),
        ({"score": (7,)}, "/score", "`score` is a list, expected an integer"),
        ({"score": 7, 1: 2}, "", "a key is 1, expected a string"),
        ({"score": Fraction(7)}, "/score", "found a Python value of the type Fraction"),
        ({"score": 7j}, "/score", "found a Python value of the type complex"),
        ({"score": 7, "reasoning": b"x"}, "/reasoning", "found a Python value of the type bytes"),
        (b'{"score": 7}', "", "found a Python value of the type bytes"),
        (None, "", "the judge output is null"),
        ({"score": Decimal("6.9999999999999999")}, "/score", "`score` is a Python value of the type Decimal"),
    ],
)
def test_python_values_that_are_no_json_are_refused(output, path, message):
    found, told = refusal("holistic", output)
    assert (found, told[: len(message)]) == (path, message)


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
