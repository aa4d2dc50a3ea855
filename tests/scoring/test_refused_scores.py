"""What may decide a score and is not surely understood is neither scored nor converted; each command says the same."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from cases import read_cases
from found import codes, placed, told
from lint_command import call
from ruamel.yaml import YAML

from rubric_lint.convert.export import load_target
from rubric_lint.convert.export.entries import make_sound
from rubric_lint.convert.export.target import ExportError
from rubric_lint.formats.home_made.format_table import FormatTable
from rubric_lint.formats.search import described
from rubric_lint.lint.engine import examine_file
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring.loading import RubricError, load_examined
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

CASES = read_cases(__file__)
SERIES = CASES.pop("ONE_LINE")
REFUSED = {f"{kind}: {name}": case for kind, cases in CASES.items() if kind != "SCORED" for name, case in cases.items()}
for number, series in enumerate(SERIES):
    place = series["text"].partition("@")[0].count("\n") + 1
    for line, word in series["lines"].items():
        text = series["text"].replace("@", line)
        REFUSED[f"{line.strip()}, in series {number}"] = (series["file"], text, {place: word})
SCORED = CASES["SCORED"]


def examine(name, text, table=None):
    shapes = () if table is None else (FormatTable.from_table({"name": "ours", "files": ["x"], **table}),)
    return examine_file(name, text.encode(), FileSettings(shapes=shapes))


def ask(name, text, table=None):
    """What check, score and convert say of the first rubric in their way: place and reason."""
    examined = examine(name, text, table)
    assert "bounds" not in {finding.rule for finding in examined.result.findings}
    noted = [(f"{name}:{each.line}:{each.column}", each.reason) for each in examined.result.unread]
    (loaded, *_) = load_examined(name, examined).values()
    with pytest.raises(RubricError) as refused:
        loaded.prepare()
    place, reason = refused.value.faults[0].split(": the rubric cannot be ", 1)
    reason = reason.removeprefix("scored: ")
    with pytest.raises(ExportError) as kept:
        make_sound("x", loaded.rubric, load_target("json"))
    return noted, (place, reason), (loaded.place_of_field(kept.value.path), kept.value.message)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_doubt_stops_scores_and_exports_and_is_noted_with_one_reason_at_one_place(case):
    name, text, places, *table = case
    noted, scored, converted = ask(name, text, *table)
    assert scored == converted
    assert scored in noted
    lines = {int(place.rpartition(":")[0].rpartition(":")[2]) for place, _ in noted}
    assert lines == set(places)
    assert all(str(word) in "".join(reason for _, reason in noted) for word in places.values())


@pytest.mark.parametrize(
    ("name", "text", "expected", "table"), [(*each, None)[:4] for each in SCORED.values()], ids=SCORED
)
def test_what_says_nothing_of_the_kind_is_scored(name, text, expected, table):
    examined = examine(name, text, table)
    (loaded,) = load_examined(name, examined).values()
    criteria = loaded.prepare().criteria
    shares, scores = expected
    assert [criterion.share for criterion in criteria] == [Fraction(str(share)) for share in shares]
    assert [grade.score for grade in criteria[0].grades] == [Fraction(str(score)) for score in scores]
    assert loaded.rubric.refusal is None


NAMES = {
    "evals/eval.yaml": "WEIGHTS: weights that Agent Skills does not have",
    "evals/rubric.json": "DIRECTION: a note that says that lower is better",
}
TEST = "rubric: {name}\ntests:\n- {{id: a, answer: No., output: {{checks: []}}, expect: {{verdict: fail}}}}\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_command_refuses_and_says_why_at_the_same_place(folder, said, name):
    _, text, *_ = REFUSED[NAMES[name]]
    (folder / "evals").mkdir()
    Path(name).write_text(text, "utf-8")
    Path("outputs.jsonl").write_text(json.dumps({"id": "a", "output": "{}"}) + "\n", "utf-8")
    Path("answers.jsonl").write_text(json.dumps({"id": "a", "answer": "No."}) + "\n", "utf-8")
    Path("a.rubric-test.yaml").write_text(TEST.format(name=name), "utf-8")
    said(
        call("check", name),
        call("show", name),
        call("convert", name),
        call("score", name, "outputs.jsonl"),
        call("prompt", name, "--answer", "No."),
        call("judge", name, "answers.jsonl", "--model", "x", "--base-url", "http://localhost:1"),
        call("test", "a.rubric-test.yaml"),
        call("adopt", name),
        call("adopt", name),
    )


KINDS = [
    ("weight: 60%", "weight: 0.4"),
    ("weight: 0.4", "weight: 60%"),
    ("weight: 60%", "weight: 40"),
    ("weight: 60 %", 'weight: "0.4"'),
    ("points: 60%", "points: 2"),
    ("importance: 60%", "importance: 1"),
]
ONE_KIND = [
    ("weight: 60%", "weight: 40%"),
    ("weight: 0.6", "weight: 0.4"),
    ("weight: '60'", "weight: 40"),
]
TWO = """\
scale: 1-5
criteria:
- {{id: a, {}, text: Names the year}}
- {{id: b, {}, text: Names the day}}
"""


@pytest.mark.parametrize("suffix", ["yaml", "json"])
@pytest.mark.parametrize(("first", "second"), [*KINDS, *ONE_KIND])
def test_weights_in_percent_beside_others_are_an_error(suffix, first, second):
    text = TWO.format(first, second)
    if suffix == "json":
        text = json.dumps(YAML(typ="safe").load(text))
    is_mixed = (first, second) in KINDS
    assert codes(examine(f"evals/rubric.{suffix}", text).result.findings) == ["weight.two-kinds"] * is_mixed


PARTS = """\
areas:
- id: a
  weight: 60%
  checks: [{id: c, text: Names the year, weight: 2}, {id: d, text: Names the day, weight: 1}]
- id: b
  weight: 0.4
  checks: [{id: e, text: Names the hour, weight: 1}]
"""


def test_weights_of_parts_are_compared_with_those_of_other_parts():
    table = {"criteria": "/areas", "id": "id", "outcome": "text", "weight": "weight", "parts": "checks"}
    result = examine("our.yaml", PARTS, {**table, "scale": "yes-no"}).result
    assert [told(finding) for finding in result.findings] == [("weight.two-kinds", "0.4", "60%", "line 3")]


ITEMS = [{"name": "a", "description": "B", "max_score": 3}, {"name": "c", "description": "D", "max_score": 1}]


def write_table(folder, names):
    """The name of a table of Tessl's criteria with more names."""
    known = Path(described.__file__).parents[1] / "dialects/tessl.toml"
    ours = folder / "ours.toml"
    ours.write_text(known.read_text("utf-8").replace("[view]", f"[view]\nnames = {names}"), "utf-8")
    return str(ours.with_suffix(""))


@pytest.mark.parametrize("names", ['{ points = "weight" }', '{ max_score = "weight", title = "id" }'])
def test_names_of_a_table_add_to_its_fields(tmp_path, names):
    source = Source("criteria.json", json.dumps({"type": "weighted_checklist", "checklist": ITEMS}))
    ((document,), _) = read_documents(source)
    (view,) = described.find(document, write_table(tmp_path, names))
    assert view.data == [
        {"id": "a", "expected_outcome": "B", "weight": 3},
        {"id": "c", "expected_outcome": "D", "weight": 1},
    ]


@pytest.mark.parametrize("names", ['{ max_score = "id" }', '{ points = "weight", name = "expected_outcome" }'])
def test_a_table_whose_names_contradict_its_fields_is_not_loaded(tmp_path, names):
    with pytest.raises(ValueError, match=r"ours\.toml: `names` has `(max_score|name)` as .* and `fields` as"):
        described.load_table(write_table(tmp_path, names))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("mark", ["0.05", "0.4", "0.6", "0.7", "1"])
def test_the_advice_for_a_pass_mark_beside_our_criteria_works_when_followed(mark):
    criteria = "rubrics:\n- {id: a, expected_outcome: Names the date}\n- {id: b, expected_outcome: Names the place}\n"
    ((_, reason),) = examine("a.rubric.yaml", f"pass_threshold: {mark}\n{criteria}").rubrics[0][1].doubts
    settings = re.findall(r"`(\w+ = [\d.]+)`", reason)
    Path("rubric-lint.toml").write_text("\n".join(settings), "utf-8")
    Path("a.rubric.yaml").write_text(criteria, "utf-8")
    printed, _, _ = call("show", "a.rubric.yaml", "--format", "json")
    shown = json.loads(printed)
    assert shown["files"][0]["rubrics"][0]["thresholds"]["pass"] == float(mark)


CRITERIA = "criteria: [{id: a, weight: 5, text: Names the year}, {id: b, weight: 3, text: Names the day%s}]\n"
REQUIREMENTS = "rubric: [{name: a, weight: 2, requirement: Names it}, {name: b, weight: 1, requirement: Dates it}]\n"
FOLLOWED = {  # what is written instead into the file, or said to adopt
    "a mark in percent": (f"scale: 1-5\npass_threshold: 70%\n{CRITERIA % ''}", ("70%", "4"), ()),
    "a mark of points": (f"pass_threshold: 70%\n{CRITERIA % ''}", (), ("--scale", "yes-no")),
    "a way to combine": (
        f"scale: 1-5\naggregation: strictest\n{CRITERIA % ''}",
        (),
        ("--map=combine=mean", "--map=unused=aggregation"),
    ),
    "a way of another system": (
        f"aggregation: min\n{REQUIREMENTS}",
        (),
        ("--map=combine=all", "--map=unused=/aggregation", "--scale", "yes-no"),
    ),
    "a criterion that does not count": (
        f"scale: 1-5\n{CRITERIA % ', enabled: false'}",
        (", {id: b, weight: 3, text: Names the day, enabled: false}", ""),
        (),
    ),
    "a criterion that counts": (f"scale: 1-5\n{CRITERIA % ', enabled: false'}", (), ("--map=unused=enabled",)),
    "a word that nobody knows": (f"scale: 1-5\nscheme: P0\n{CRITERIA % ''}", (), ("--map=unused=scheme",)),
    "criteria that a list names": (f"scale: 1-5\nonly: [a]\n{CRITERIA % ''}", (), ("--map=unused=only",)),
    "a score that fails": (f"scale: 1-5\nfail_threshold: 3\n{CRITERIA % ''}", (), ("--map=pass=fail_threshold",)),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("text", "change", "options"), FOLLOWED.values(), ids=FOLLOWED)
def test_what_a_doubt_advises_ends_in_scores_when_followed(text, change, options):
    Path("evals").mkdir()
    file = Path("evals/rubric.yaml")
    file.write_text(text, "utf-8")
    assert examine(str(file), text).rubrics[0][1].refusal is not None
    if change:
        file.write_text(text.replace(*change), "utf-8")
    if options:
        call("adopt", str(file), *options)
    printed, _, code = call("show", str(file), "--format", "json")
    (shown,) = json.loads(printed)["files"]
    assert (code, shown["unscorable"], len(shown["rubrics"])) == (0, [], 1)


@pytest.mark.usefixtures("folder")
def test_no_table_is_advised_or_written_where_none_can_describe_the_criteria():
    text = "threshold: 0.5\nrubrics: {score1_description: It names no source, score2_description: It names one}\n"
    Path("a.yaml").write_text(text, "utf-8")
    (unread,) = examine("a.yaml", text).result.unread
    assert "table" not in unread.reason
    _, errors, code = call("adopt", "a.yaml")
    assert (code, unread.reason in errors, Path("rubric-lint.toml").exists()) == (1, True, False)


LOST = {  # what a table would lose of a dialect, with the place of the doubt
    "promptfoo-signs/promptfooconfig.yaml": (
        (
            "prompts: [p]\nproviders: [openai:gpt-4o]\ntests:\n  - vars: {q: Which dose}\n    pass_threshold: 0.5\n"
            "    assert: [{type: llm-rubric, value: Names a source, weight: 2}, "
            "{type: not-llm-rubric, value: Invents a source}, {type: contains, value: 5 mg per day}]\n"
        ),
        "5:5",
    ),
    "swe-atlas-signs/a.json": (
        (
            '[{"id": "a", "title": "1: Moves the parser", "gate": true, "annotations": {"type": '
            '"positive hli verifier", "importance": "must have"}},\n {"id": "b", "title": '
            '"2: Changes the URL", "annotations": {"type": "negative hli verifier", "importance": "must have"}}]\n'
        ),
        "1:46",
    ),
    "agentv-gates/EVAL.yaml": (
        (
            "description: x\ntests:\n  - id: t\n    criteria: It works\n    pass_threshold: 0.5\n"
            "    input: Which dose\n    assertions: [{name: a, type: rubrics, criteria: [{id: a, "
            "outcome: Names a source, weight: 2, required: true}, {id: b, outcome: Invents no source, weight: 1}]}]\n"
        ),
        "5:5",
    ),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", LOST)
def test_a_table_never_replaces_a_dialect_of_which_it_loses_signs_or_gates(name, said):
    text, place = LOST[name]
    file = Path(name)
    file.parent.mkdir()
    file.write_text(text, "utf-8")
    (unread,) = examine(name, text).result.unread
    assert (f"{unread.line}:{unread.column}", "rubric-lint adopt" in unread.reason) == (place, False)
    _, errors, code = call("adopt", "--scale=yes-no", name)
    assert (code, f"{name}:{place}: " in errors, Path("rubric-lint.toml").exists()) == (1, True, False)
    said(errors)


TWO_MARKS = {
    "around-a-case/evals.json": '{"skill_name": "x", "pass_threshold": 0.5, "evals": [{"id": 1, "threshold": 1, '
    '"prompt": "Make a chart", "expected_output": "A chart with axes", "expectations": ["The output has a chart"]}]}\n',
    "of-two-cases/evals.json": '{"skill_name": "x", "evals": [{"id": 1, "threshold": 1, "prompt": "Make a chart", '
    '"expected_output": "A chart", "expectations": ["The output has a chart"]}, {"id": 2, "threshold": 0.5, "prompt": '
    '"Make a list", "expected_output": "A list", "expectations": ["The output has a list"]}]}\n',
    "a.rubric.yaml": "pass_threshold: 0.5\npass_mark: 0.7\nrubrics: [{id: a, expected_outcome: Names the date}]\n",
}


@pytest.mark.parametrize("name", TWO_MARKS)
def test_of_two_marks_in_a_file_no_advice_asks_for_two_values_of_one_setting(name, said):
    unread = examine(name, TWO_MARKS[name]).result.unread
    assert (len(unread), [each for each in unread if "`pass = " in each.reason]) == (2, [])
    said(*(each.reason for each in unread))


PENALTY = """\
criteria:
- {id: a, weight: 1, text: States the limit, polarity: positive}
- {id: b, weight: 2, text: Greets the customer, polarity: negative}
"""


def test_what_makes_the_weight_of_a_scale_a_penalty_is_named():
    table = {"criteria": "/criteria", "id": "id", "outcome": "text", "weight": "weight", "scale": [1, 5]}
    result = examine("our.yaml", PENALTY, {**table, "negative": {"polarity": "negative"}}).result
    values = {"subject": "`polarity: negative` makes `weight`", "found": "-2", "least": 0}
    assert placed(result) == [("weight.minimum", 3, values)]


def test_home_made_criteria_beside_ours_stop_scores_and_are_noted_once():
    text = "rubrics: [{id: a, expected_outcome: It}]\ncriteria: [{id: c, weight: 5, text: Names the person}]\n"
    examined = examine("a.rubric.yaml", text)
    assert [each.line for each in examined.result.unread] == [2]
    ((_, rubric),) = examined.rubrics
    assert rubric.refusal[0] == ("criteria",)
