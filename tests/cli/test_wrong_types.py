"""Each public function refuses an argument of another type, and names the argument."""

import inspect
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

import rubric_lint
from rubric_lint import FileSettings, JudgedCase, OutputError, arrow, rewards
from rubric_lint.scoring.grading import ScoringRubric

RUBRIC = rubric_lint.load_rubrics("a.rubric.yaml", "rubrics: [Names it, Dates it]")["a"]
OUTPUT = {"checks": [{"id": "rubric-1", "satisfied": True}, {"id": "rubric-2", "satisfied": True}]}
VALUES = (None, True, 5, 1.5, "text", b"b", [], ["x"], {}, {"a": 1}, iter([]), Path("a.yaml"), object())

NONE = type(None)
FILE = {"name": str, "data": (str, bytes), "settings": FileSettings}
READING = {"answer": (str, NONE), "extract": str, "extra_fields": (str, NONE)}
BATCH = {"rubrics": ScoringRubric, "outputs": (list, bytes, Iterator), "extract": str, "extra_fields": (str, NONE)}
OPTIONS = {
    **dict.fromkeys(("reward", "on_invalid", "rubric_field"), str),
    **dict.fromkeys(("seed", "samples", "attempts", "concurrency"), int),
    **dict.fromkeys(("question", "reference", "name"), (str, NONE)),
    "rubrics": (ScoringRubric, str, os.PathLike),
    "judge": NONE,
    "dropout": float,
}


def write_prompt(**texts):
    return rubric_lint.write_prompt(RUBRIC, JudgedCase(**{"answer": "a", **texts}))


ARGUMENTS = {
    "name": "a.yaml",
    "data": "a: 1",
    "rubric": RUBRIC,
    "rubrics": RUBRIC,
    "output": OUTPUT,
    "outputs": [OUTPUT],
}
JUDGED = {"rubrics": RUBRIC, "judge": str}
CALLS = {
    "find_settings": (rubric_lint.find_settings, {}, {"path": (str, os.PathLike)}),
    "lint_source": (rubric_lint.lint_source, ARGUMENTS, FILE),
    "fix_source": (rubric_lint.fix_source, ARGUMENTS, {**FILE, "unsafe": bool, "choices": list}),
    "show_source": (rubric_lint.show_source, ARGUMENTS, FILE),
    "import_source": (
        rubric_lint.import_source,
        {"name": "a.csv", "data": "id,outcome\na,Says it\n"},
        {
            **FILE,
            "columns": (Mapping, NONE),
            "ignored": list,
            "rescale": (str, NONE),
            "rubric": (str, NONE),
            "header_row": (int, NONE),
        },
    ),
    "load_rubrics": (rubric_lint.load_rubrics, {"name": "a.rubric.yaml", "data": "rubrics: [Names it]"}, FILE),
    "score": (rubric_lint.score, ARGUMENTS, {"rubric": ScoringRubric, "output": Mapping, **READING}),
    "parse_output": (rubric_lint.parse_output, ARGUMENTS, {"rubric": ScoringRubric, "output": Mapping, **READING}),
    "score_samples": (rubric_lint.score_samples, ARGUMENTS, {"rubric": ScoringRubric, "outputs": (), **READING}),
    "combine_samples": (rubric_lint.combine_samples, {}, {"samples": list}),
    "output_schema": (rubric_lint.output_schema, {}, {"rubric": ScoringRubric}),
    "write_prompt": (
        rubric_lint.write_prompt,
        {"rubric": RUBRIC, "case": JudgedCase("a")},
        {"rubric": ScoringRubric, "case": JudgedCase},
    ),
    "write_prompt of a case": (write_prompt, {}, {"answer": str, "question": (str, NONE), "reference": (str, NONE)}),
    "score_batch": (rubric_lint.score_batch, ARGUMENTS, BATCH),
    "score_batches": (rubric_lint.score_batches, ARGUMENTS, {**BATCH, "size": int}),
    "map_batches": (
        arrow.map_batches,
        ARGUMENTS,
        {"rubrics": (ScoringRubric, str, os.PathLike), "keep": (Collection, NONE)},
    ),
    "trl_reward": (rewards.trl_reward, JUDGED, {**OPTIONS, "patience": (int, NONE)}),
    "trl_reward of outputs": (rewards.trl_reward, {"rubrics": RUBRIC}, {"outputs": (str, NONE)}),
    "verifiers_reward": (rewards.verifiers_reward, JUDGED, {**OPTIONS, "view": str}),
    "endpoint_judge": (
        rewards.endpoint_judge,
        {"model": "m", "base_url": "http://localhost:1/v1"},
        {
            "model": str,
            "response_format": str,
            "extra_body": (Mapping, NONE),
            "timeout": (int, float),
            "retries": int,
            "max_tokens": (int, NONE),
            **dict.fromkeys(("base_url", "api_key_env"), (str, NONE)),
            **dict.fromkeys(("temperature", "rpm", "tpm"), (int, float, NONE)),
        },
    ),
}
"""Functions, what each is called with, and the types that its parameters take."""


def known(function, given):
    """The arguments that a function has."""
    return {name: value for name, value in given.items() if name in inspect.signature(function).parameters}


def takes(kinds, value):
    """Whether a parameter takes a value; a boolean is no integer."""
    if isinstance(value, bool):
        return bool in (kinds if isinstance(kinds, tuple) else (kinds,))
    return isinstance(value, kinds)


@pytest.mark.parametrize(
    "called",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in {"endpoint_judge", "map_batches"})) for name in CALLS],
)
def test_an_argument_of_another_type_is_refused_by_name(called):
    function, given, parameters = CALLS[called]
    arguments = known(function, given)
    wrong = []
    for name, kinds in parameters.items():
        for value in VALUES:
            if takes(kinds, value):
                continue
            try:
                function(**{**arguments, name: value})
            except OutputError:
                refused = name in {"output", "outputs"}
            except (TypeError, ValueError) as fault:
                refused = str(fault).startswith((f"{name} ", f"{name}[", f"pass either `{name}`"))
            else:
                refused = False
            if not refused:
                wrong.append((name, value))
    assert wrong == []


def test_every_public_function_is_among_them():
    public = [getattr(rubric_lint, name) for name in rubric_lint.__all__] + [
        getattr(module, name) for module in (arrow, rewards) for name in module.__all__
    ]
    assert {each for each in public if inspect.isfunction(each)} <= {function for function, *_ in CALLS.values()}


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        (rubric_lint.fix_source, {**ARGUMENTS, "choices": ["upper-keep"]}, "choices has 'upper-keep'; did you mean"),
        (rubric_lint.combine_samples, {"samples": ["x"]}, "samples[0] is a value of the type str"),
        (rewards.endpoint_judge, {"model": "m", "timeout": 0}, "timeout is 0; expected a number above 0"),
        (rewards.endpoint_judge, {"model": "m", "retries": -1}, "retries is -1; expected a number of at least 0"),
    ],
)
def test_a_value_that_no_argument_has_is_refused(function, given, said):
    with pytest.raises((TypeError, ValueError)) as refused:
        function(**known(function, given))
    assert str(refused.value).startswith(said)
