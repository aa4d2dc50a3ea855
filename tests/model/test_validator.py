"""The fast validator and the pure one say the same, and everything works without what is compiled."""

import os
import re
import sys
import tomllib
from collections import OrderedDict
from decimal import Decimal
from importlib.metadata import files
from pathlib import Path

import commands
import compiled
import pytest

from rubric_lint.model.schema import RubricSchema, is_valid, open_validator
from rubric_lint.model.schema_files import CURRENT, load

PURE = Path(__file__).parents[1] / "pure"
OUTPUTS = load(f"{CURRENT}/judge-output.json")["definitions"]
CHECKS = {"checks": [{"id": "a", "score": 7}]}


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Mapping(dict):
    pass


VALUES = [
    *(None, True, "a", 7, 7.0, 7.5, -0.0, 10**400, float("nan"), float("inf"), [], (), {}, {"a": 1}),
    *(Decimal(text) for text in ("1.5", "2.0", "NaN", "Infinity", "1E+400")),
    *("\ud800", {1: 2}, b"", {1}, object(), OrderedDict(), Mapping(), Text("a"), Whole(1), (1, "x"), [1, 2.0, None]),
]
SCHEMAS = [
    *({"type": kind} for kind in ("array", "boolean", "integer", "null", "number", "object", "string")),
    {"items": {"type": "integer", "maximum": 1}},
    {"type": "string", "pattern": r"\S"},
]
READING = {"type": False, "minLength": False, "const": True, "enum": True, "pattern": True}
JUDGED = [
    *(CHECKS, {"checks": []}, {"checks": [{}]}, {"checks": [{"id": 1, "score": "7", "satisfied": True, "level": 1}]}),
    *({}, [], {"score": 11}, {"score": 7.0, "reasoning": 1}, {"score": 7, "checks": []}, {"checks": [{"id": "a"}]}),
    *({"checks": [{"id": "a", "satisfied": 1}]}, {"checks": [{"id": "a", "level": 1.5}]}, {"score": -1, "level": 2}),
]


@pytest.fixture
def pure(monkeypatch):
    """Opens the validator that there is without the compiled one."""

    def open_pure(schema):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "jsonschema_rs", None)
            return open_validator(schema)

    return open_pure


def faults(validator, value):
    try:
        found = [
            (*map(str, fault.instance_path), "of", fault.schema_path[-1]) for fault in validator.iter_errors(value)
        ]
    except ValueError:
        return "not JSON"
    assert validator.is_valid(value) is not bool(found)
    return sorted(found)


def test_both_validators_take_the_same_values_for_json(pure):
    pytest.importorskip("jsonschema_rs")
    for schema in SCHEMAS:
        fast, slow = open_validator(schema), pure(schema)
        assert type(fast) is not type(slow)
        assert [(value, faults(fast, value)) for value in VALUES] == [(value, faults(slow, value)) for value in VALUES]


@pytest.mark.parametrize("keyword", READING)
@pytest.mark.parametrize("value", [["\ud800"], {"a": "\ud800"}], ids=["list", "object"])
def test_both_validators_refuse_half_a_surrogate_pair_where_they_read_it(keyword, value, pure):
    pytest.importorskip("jsonschema_rs")
    wanted = {"type": "string", "minLength": 1, "const": "x", "enum": ["x"], "pattern": "^x"}[keyword]
    schema = {"properties": {"a": {keyword: wanted}}, "items": {keyword: wanted}}
    for validator in (open_validator(schema), pure(schema)):
        if READING[keyword]:
            with pytest.raises(UnicodeEncodeError):
                validator.is_valid(value)
        else:
            assert validator.is_valid(value)


@pytest.mark.parametrize("shape", ["checklist", "score_ranges", "holistic", "levels"])
def test_both_validators_find_the_same_faults_of_judge_outputs(shape, pure):
    pytest.importorskip("jsonschema_rs")
    schema = {"$ref": f"#/definitions/{shape}", "definitions": OUTPUTS}
    fast, slow = open_validator(schema), pure(schema)
    assert [(value, faults(fast, value)) for value in JUDGED] == [(value, faults(slow, value)) for value in JUDGED]


SOUND = {"id": "a", "expected_outcome": "Says it"}
FAULTY = [
    *(None, 1, {}, [], [1], [None], [""], [" "], [[]], ["x", {}], [{"id": "a"}]),
    *([{**SOUND, "id": name}] for name in ("", 1, None)),
    *([{**SOUND, "weight": weight}] for weight in (-1, "2", True)),
    *([{**SOUND, "required_min_score": score}] for score in (11, 1.5, -1)),
    *([{**SOUND, name: 1}] for name in ("required", "required_min_level", "wieght", "5", "01")),
    *([{"id": "a", "score_ranges": bands}] for bands in ([], {}, [{}], [1], {"0": " ", "5": 1})),
    *(
        [{"id": "a", "score_ranges": [{"score_range": bounds, "expected_outcome": " ", "z": 1}]}]
        for bounds in ([0, 11], [0], [0, 1, 2], "0-1", ["0", 1.5])
    ),
    *([{"id": "a", "levels": levels}] for levels in ([], [{"level": 1}], {"0": "No", "1": None})),
    *([{"id": "a", "levels": {"0": "No", "1": "Yes"}, name: 5}] for name in ("required_min_score", "score_ranges")),
    [SOUND, {**SOUND, "weight": -1, "id": 2, "x": 3}, 7],
]
# Of a key that is wrong, of keys that are one number, and of numbers that JSON does not have, only one says where.
UNCLEAR = [
    *([{"id": "a", "score_ranges": bands}] for bands in ({"0": "x", "y": "z"}, {"01": 1}, {"1": 1, "01": 1})),
    [{"id": "a", "levels": {"a": 1}}],
    *([{**SOUND, "weight": weight}] for weight in (float("nan"), float("inf"))),
]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_both_validators_find_the_same_faults_of_rubrics(version, monkeypatch):
    pytest.importorskip("jsonschema_rs")
    schema = RubricSchema(f"{version}/rubric.json", version)
    found = [schema.find_faults("rubrics", value) for value in FAULTY + UNCLEAR]
    monkeypatch.setattr("rubric_lint.model.schema.is_fast", lambda: False)
    for value, faults in zip(FAULTY + UNCLEAR, found, strict=True):
        assert (value, sorted(faults, key=repr)) == (value, sorted(schema.find_faults("rubrics", value), key=repr))
    assert all(found[: len(FAULTY)])


def test_what_json_does_not_have_is_not_valid():
    assert not is_valid({"type": "object"}, object())
    assert is_valid({"type": "object"}, {})


RUBRIC = """\
rubrics:
  - id: accuracy
    required: true
    description: States the total
    wieght: 2
  - {id: tone, expected_outcome: Is polite}
"""
FIXED = RUBRIC.replace("required: true", "required_min_score: 10").replace("description", "expected_outcome")
OUTPUT = '{"checks": [{"id": "accuracy", "satisfied": true}, {"id": "tone", "satisfied": false}]}\n{"checks": []}\n'
COMMANDS = [
    ["rubric-lint", "old.yaml"],
    ["rubric-lint", "--format", "json", "--baseline", "known.json", "old.yaml", "a.json"],
    ["rubric-lint", "--config", "wrong.toml"],
    ["rubric-lint", "diff", "new.yaml", "other.yaml"],
    ["rubric-lint", "convert", "--to", "ragas", "new.yaml"],
    ["rubric-lint", "schema"],
    ["rubric-fix", "--diff", "old.yaml"],
    ["rubric-score", "new.yaml", "outputs.jsonl", "--format", "jsonl"],
    ["rubric-score", "new.yaml", "outputs.jsonl"],
    ["rubric-score", "prompt", "new.yaml", "--answer", "x", "--question", "y"],
]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_command_prints_the_same_without_what_is_compiled(command, tmp_path):
    new = FIXED.replace("wieght", "weight")
    known = '{"version": 1, "findings": []}'
    texts = {
        "old.yaml": RUBRIC,
        "new.yaml": new,
        "other.yaml": new.replace("weight: 2", "weight: 3"),
        "a.json": '{"rubrics": [{"description": 1}]}',
        "known.json": known,
    }
    for name, text in {**texts, "outputs.jsonl": OUTPUT, "wrong.toml": "ignore = 1\n"}.items():
        (tmp_path / name).write_text(text, "utf-8")
    usual = commands.run(*command, cwd=tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(PURE)}
    done = commands.run_process(commands.command(*command), cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (usual.returncode, usual.stdout, usual.stderr)
    assert usual.returncode in {0, 1} or "wrong.toml" in command


def test_each_module_that_chooses_is_tested_without_what_is_compiled():
    chosen = [path for path in Path(__file__).parents[1].glob("*/test_*.py") if compiled.touches(path)]
    assert compiled.choosing() <= set().union(*map(compiled.imported, chosen))
    assert {
        "rubric_lint.source.reading",
        "rubric_lint.model.schema",
        "rubric_lint.scoring.output",
    } <= compiled.choosing()


def test_each_dependency_that_is_compiled_is_blocked():
    project = tomllib.loads((compiled.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = [re.match(r"[\w.-]+", dependency)[0] for dependency in project["dependencies"]]
    built = {
        path.parts[0].partition(".")[0] for name in names for path in files(name) if path.suffix in {".so", ".pyd"}
    }
    assert built - {"markupsafe"} == compiled.LIBRARIES  # markupsafe itself does without
