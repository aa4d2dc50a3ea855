"""A field that bears on the score and that a dialect does not have is read as it is meant, or stops the score."""

import io
import json
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
from cases import read_cases
from dialect_samples import SAMPLES
from lint_command import call
from ruamel.yaml import YAML

from rubric_lint.formats.home_made.format_table import FormatTable
from rubric_lint.formats.home_made.understand import Hints
from rubric_lint.formats.search.adoptable import find_describable
from rubric_lint.formats.search.locate import search
from rubric_lint.lint.engine import examine_file
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring.loading import InvalidRubricError, RubricError, load_examined
from rubric_lint.source.path import pointer
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

KEYS = {
    "weight": 3,
    "required": True,
    "min_score": 2,
    "direction": "lower_is_better",
    "penalty": True,
    "pass_threshold": 0.5,
}

STRUCTURES = {
    "grade_bands": {"A": 8, "B": 6},
    "penalties": [{"id": "rude", "description": "Is rude to the customer", "points": -2}],
    "dimensions": [{"id": "year", "description": "Names the year of it", "weight": 2}],
    "bonus": 5,
}

CODE = {  # in what is no data, the text before a field of a criterion, and before one beside the criteria
    "deepeval": ("Rubric(score_range=(0, 6), ", "threshold=0.7, "),
    "harbor": ('name = "numbers"\n', 'judge = "claude-code"\n'),
}
NAMED = {"harbor-check": "rubric.json", "verifiers": "rubric.json"}
"""The names under which files with more fields are still read."""

REFUSED, FAULTY, SAME, READ, TOLD = "refused", "faulty", "same", "read", "told"
"""Not scored, with a note at the field; an error at the field; scored as without it; scored otherwise; a near miss."""

OTHERWISE = {  # what is not refused or faulty, by the sample and the part
    # Fields of the dialect: the criteria of AgentV must be met anyway, and the gates of tolokaforge weigh nothing.
    ("promptfoo-texts", "criterion"): {"weight": READ},
    ("verifiers", "criterion"): {"weight": READ},
    ("tolokaforge", "criterion"): {"weight": SAME},
    **{(f"agentv-{name}", "criterion"): {"required": SAME} for name in ("a3", "a4", "a6", "a7")},
    **{(f"agentv-{name}", "around"): {"required": SAME} for name in ("a3", "a4", "a6", "a7")},
    # These are read only without other fields.
    ("requirement", "criterion"): dict.fromkeys([*KEYS, *STRUCTURES][1:], TOLD),
    ("harbor-check", "around"): dict.fromkeys([*KEYS, *STRUCTURES], TOLD),
    ("verifiers", "around"): dict.fromkeys([*KEYS, *STRUCTURES], TOLD),
}


class Variant(NamedTuple):
    """A sample with one more field: its file, with and without the field, and the pointer to that."""

    name: str
    text: str
    before: str
    field: str


def dump(data: Any, name: str) -> str:
    if not name.endswith(".yaml"):
        return json.dumps(data, indent=1)
    written = io.StringIO()
    YAML().dump(data, written)
    return written.getvalue()


def add(data: Any, place: Sequence[Any], key: str) -> Any:
    """A copy of data with a field in the mapping at a place."""
    more = deepcopy(data)
    holder = more
    for step in place:
        holder = holder[step]
    holder[key] = (KEYS | STRUCTURES)[key]
    return more


def vary(name: str, part: str, key: str) -> Variant | None:
    """A sample with a field in its first criterion, or beside its criteria; None if it has that, or no such place."""
    sample = SAMPLES[name]
    text = dedent(sample.text)
    ((document,), _) = read_documents(Source(sample.file, text))
    (view,) = [location.view for location in search(document).rubrics]
    places = [view.place((*view.path, index)) for index in range(len(view.data))]
    if part == "around":
        places = [view.path[:end] for end in reversed(range(len(view.path)))]
    place = next((place for place in places if isinstance(document.value(place), dict)), None)
    if name in CODE:
        if f"{key} = " in text:
            return None
        anchor = CODE[name][part == "around"]
        value, end = repr(KEYS[key]), ", "
        if name == "harbor":
            value, end = json.dumps(KEYS[key]), "\n"
        return Variant(sample.file, text.replace(anchor, f"{anchor}{key}={value}{end}", 1), text, "")
    if place is None or key in document.value(place):
        return None
    data = json.loads(json.dumps(document.data, default=float))
    file = NAMED.get(name, sample.file)
    return Variant(file, dump(add(data, place, key), file), dump(data, file), pointer((*place, key)))


def read_meaning(name: str, text: str, tables: Sequence[Mapping[str, Any]] = ()) -> Any:
    """What decides the score of the first rubric of a file, which tables may describe."""
    settings = FileSettings(shapes=tuple(map(FormatTable.from_table, tables)))
    (loaded, *_) = load_examined(name, examine_file(name, text.encode(), settings)).values()
    prepared = loaded.prepare()
    criteria = [
        (criterion.id, criterion.share, criterion.gate, [grade.score for grade in criterion.grades])
        for criterion in prepared.criteria
    ]
    return criteria, loaded.rubric.thresholds


def find_fate(variant: Variant, key: str) -> str:
    """What becomes of a field; `check` says the same as the score does."""
    examined = examine_file(variant.name, variant.text.encode(), FileSettings())
    result = examined.result
    notes = {(note.line, note.column): note.reason for note in result.unread}
    if not examined.rubrics:
        assert notes
        return TOLD
    try:
        meaning = read_meaning(variant.name, variant.text)
    except InvalidRubricError:
        assert any(f"`{key}`" in finding.message for finding in result.findings)
        assert variant.field in ("", *(finding.pointer for finding in result.findings))
        return FAULTY
    except RubricError as refused:
        place, reason = refused.faults[0].split(": the rubric cannot be scored: ")
        _, line, column = place.rsplit(":", 2)
        assert notes[int(line), int(column)] == reason
        assert f"`{key}" in reason
        return REFUSED
    return SAME if meaning == read_meaning(variant.name, variant.before) else READ


NEVER_SCORED = {"ai-rubric"}
"""Its trees are refused as a whole."""


@pytest.mark.spread(19)
@pytest.mark.parametrize("keys", [KEYS, STRUCTURES], ids=["fields", "structures"])
@pytest.mark.parametrize("part", ["criterion", "around"])
@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in NEVER_SCORED])
def test_what_bears_on_the_score_is_read_or_stops_the_score(name, part, keys):
    if name in CODE and keys is STRUCTURES:
        pytest.skip("programs and tables of TOML have fields alone")
    variants = {key: vary(name, part, key) for key in keys}
    fates = {key: find_fate(variant, key) for key, variant in variants.items() if variant}
    others = {key: fate for key, fate in fates.items() if fate not in (REFUSED, FAULTY)}
    expected = OTHERWISE.get((name, part), {})
    is_for_all = part == "around" or len(SAMPLES[name].criteria) == 1
    if is_for_all and others.get("weight") == SAME:  # the weight of one criterion, or of all, changes no score
        del others["weight"]
    assert others == {key: expected[key] for key in keys if key in expected}


CASES = read_cases(__file__)
INNER, INNOCENT = CASES["INNER"], CASES["INNOCENT"]


@pytest.mark.spread(3)
@pytest.mark.parametrize("name", INNER)
def test_what_bears_on_the_score_inside_criteria_and_around_them_stops_the_score(name):
    file, data, place = INNER[name]
    holder = data
    for step in place:
        holder = holder[step]
    for key in KEYS.keys() - holder.keys():
        variant = Variant(file, dump(add(data, place, key), file), dump(data, file), pointer((*place, key)))
        assert (key, find_fate(variant, key)) in ((key, REFUSED), (key, FAULTY))


CHOICES = (
    "fact: {prompt: '(A) Same. (B) Other.', choice_strings: %s, choice_scores: {A: 1, B: 0, pass_threshold: 0.5}}\n"
)


@pytest.mark.parametrize("listed", ["AB", "[A, B]"])
def test_a_score_of_no_choice_stops_the_score(listed):
    variant = Variant("fact.yaml", CHOICES % listed, "", "")
    assert find_fate(variant, "pass_threshold") == REFUSED


def adopt(name: str, text: str) -> Sequence[Mapping[str, Any]]:
    """The tables that `adopt` writes for a file."""
    Path(name).write_text(text, "utf-8")
    call("adopt", name)
    return tomllib.loads(Path("rubric-lint.toml").read_text("utf-8"))["shape"]


DESCRIBED = ("adk", "rar", "trpc-agent", "tessl", "task-rubrics", "healthbench")


@pytest.mark.spread(3)
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("key", ["required", "pass_threshold", "penalty"])
@pytest.mark.parametrize("name", DESCRIBED)
def test_the_table_that_adopt_writes_takes_a_field_of_a_criterion(name, key):
    variant = vary(name, "criterion", key)
    data = json.loads(variant.text.replace(": -", ": "))  # the other criterion earns points
    if key == "penalty" and name == "trpc-agent":  # something must count
        criteria = data[0]["criterion"]["llmJudge"]["rubrics"]
        criteria.append({"id": "more", "content": {"text": "Every date has a year."}})
    text = json.dumps(data)
    ((_, share, gate, _), *_), _ = read_meaning(variant.name, text, adopt(variant.name, text))
    assert (share < 0, gate is not None) == (key == "penalty", key != "penalty")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["rar", "tessl", "healthbench", "requirement"])
def test_the_table_that_adopt_writes_takes_a_pass_mark(name):
    variant = vary(name, "around", "pass_threshold")
    _, thresholds = read_meaning(variant.name, variant.text, adopt(variant.name, variant.text))
    assert thresholds[0] == Fraction(1, 2)


def make_case(*weights: float) -> Mapping[str, Any]:
    ways = enumerate(weights)
    checks = [{"id": f"c{at}", "description": f"Names part {at} of it", "weight": weight} for at, weight in ways]
    return {"prompt": "What is it?", "expected_output": "It", "expectations": checks}


def make_rubrics(*weights: float) -> list[Mapping[str, Any]]:
    ways = enumerate(weights)
    return [{"id": f"c{at}", "content": {"text": f"Names part {at} of it"}, "weight": weight} for at, weight in ways]


WEIGHTED = {
    "evals.json": {"skill_name": "x", "evals": [make_case(3.0, 1.0), make_case(2.0, 1.0)]},
    "evals/evals.json": {"skill_name": "x", "evals": [make_case(3.0, 1.0), make_case(1.0, 1.0)]},
    "a.metrics.json": [{"metricName": "m", "criterion": {"llmJudge": {"rubrics": make_rubrics(3, 1)}}}],
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", WEIGHTED)
def test_the_table_that_adopt_writes_takes_the_weights_of_all_criteria(name):
    Path("evals").mkdir()
    text = json.dumps(WEIGHTED[name])
    with pytest.raises(RubricError, match="`weight` may say how much a criterion counts"):
        read_meaning(name, text)
    tables = adopt(name, text)
    assert [table.get("scale") for table in tables] == ["yes-no"]
    criteria, _ = read_meaning(name, text, tables)
    assert [share for _, share, _, _ in criteria] == [Fraction(3, 4), Fraction(1, 4)]


@pytest.mark.parametrize("name", ["rar", "healthbench", "harbor-check", "task-rubrics"])
def test_a_table_for_a_system_names_each_unused_key_once(name):
    documents, _ = read_documents(Source.from_bytes(SAMPLES[name].file, SAMPLES[name].text.encode()))
    (candidate,) = find_describable(documents, Hints())
    unused = candidate.as_table()["unused"]
    assert unused == list(dict.fromkeys(unused))


FLAGGED = """\
{"prompt_id": "a", "prompt": [{"role": "user", "content": "q"}], "rubrics": [
  {"criterion": "Names the day of the visit", "points": 5, "tags": [], FIRST},
  {"criterion": "Names the hour of the visit", "points": 3, "tags": [], SECOND}]}
"""


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        ('"optional": false', '"optional": true', [3]),
        ('"bonus": true', '"bonus": false', [2]),
        ('"type": "bonus"', '"type": "factual"', [2]),
        ('"checked": true', '"checked": false', []),
        ('"bonus": false', '"bonus": false', []),
        ('"note": ""', '"owner": true', []),
    ],
)
def test_a_flag_that_may_bear_on_the_score_stops_that_of_a_system_too(first, second, lines):
    text = FLAGGED.replace("FIRST", first).replace("SECOND", second)
    examined = examine_file("healthbench.json", text.encode())
    assert [unread.line for unread in examined.result.unread] == lines
    assert [bool(rubric.view.refusal) for _, rubric in examined.rubrics] == [bool(lines)]
