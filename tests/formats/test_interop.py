"""Rubrics of other systems: recognised by their shape, checked at their place in their own words."""

import dataclasses
import json
import re
import tomllib
from decimal import Decimal
from pathlib import Path
from textwrap import dedent

import commands
import jsonschema
import pytest
from cases import read_cases
from dialect_samples import SAMPLES, TEXTS, UNSCORED
from found import marked, placed
from pages import DIALECTS as FOLDER
from pages import apply_fixes, read_pages, report

from rubric_lint import Severity, import_source
from rubric_lint.convert.export import TARGETS
from rubric_lint.formats.dialects import DIALECTS, could_hold_rubrics, load_dialect
from rubric_lint.formats.search import described
from rubric_lint.formats.search.described import load_table
from rubric_lint.formats.search.locate import search
from rubric_lint.formats.sheets.excel_file import has_openpyxl
from rubric_lint.lint.engine import lint
from rubric_lint.model.criterion import Shape, Thresholds
from rubric_lint.model.rubric import build_rubric
from rubric_lint.model.view import Dialect
from rubric_lint.scoring.loading import RubricError, load_rubrics
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)


each_sample = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
DEFAULT = Thresholds(Decimal("0.8"), Decimal("0.6"))


def located(text, name="a.yaml"):
    """The dialect and the path of every rubric of a file."""
    return [
        (location.view.dialect.name if location.view else location.version, location.path)
        for document in read_documents(Source(name, dedent(text)))[0]
        for location in search(document).rubrics
    ]


def findings(text, name="a.yaml"):
    """The code and the pointer of every finding."""
    return [(finding.code, finding.pointer) for finding in lint(name, dedent(text).encode()).findings]


def test_every_dialect_loads_under_its_name():
    assert [load_dialect(name).name for name in DIALECTS] == list(DIALECTS)


def test_every_table_follows_its_schema():
    table = json.loads((FOLDER / "table.json").read_text("utf-8"))
    settings = json.loads(Path("schemas/config/v1.json").read_text("utf-8"))
    shape = {"definitions": settings["definitions"], "$ref": "#/definitions/shape"}
    for path in FOLDER.glob("*.toml"):
        written = tomllib.loads(path.read_text("utf-8"))
        jsonschema.validate(written, table)
        if "shape" in written:
            jsonschema.validate({"name": path.stem, "files": ["a.yaml"], **written["shape"]}, shape)
        assert load_table(path.stem).dialect.name in DIALECTS


def test_the_schema_of_tables_allows_what_a_dialect_has():
    table = json.loads((FOLDER / "table.json").read_text("utf-8"))
    allowed = table["properties"]["dialect"]["properties"].keys()
    fields = {field.name for field in dataclasses.fields(Dialect)}
    assert allowed <= fields
    assert fields - allowed == {"cases"}  # the lists of cases of dialects that are modules


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("view", {"names": {"points": "wieght"}}),
        ("view", {"naems": {"points": "weight"}}),
        ("dialect", {"fields": {"points": "weight"}}),
        ("found", {"entry": {"name": "words"}}),
    ],
)
def test_the_schema_of_tables_refuses_what_nothing_reads(part, change):
    table = json.loads((FOLDER / "table.json").read_text("utf-8"))
    written = tomllib.loads((FOLDER / "tessl.toml").read_text("utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**written, part: {**written[part], **change}}, table)


def test_a_table_says_what_the_mapping_with_the_threshold_follows_however_near_the_top_it_is(monkeypatch):
    view = {"threshold": "../pass_threshold", "holder_definition": "tolokaforge/v1.json#/definitions/combine"}
    table = load_table("tessl")._replace(view=view)
    monkeypatch.setattr(described, "load_table", lambda _: table)
    text = "type: weighted\npass_threshold: 7\nchecklist: [{name: a, description: It says who., max_score: 1}]\n"
    (document,) = read_documents(Source("a.yaml", text))[0]
    (found,) = described.find(document, "tessl")
    assert (found.holder_definition, found.holder_path, found.threshold_path) == (
        view["holder_definition"],
        (),
        ("pass_threshold",),
    )


def test_the_bands_and_the_threshold_of_a_lightspeed_metric_are_told_at_their_places():
    text = SAMPLES["lightspeed"].text
    pointer = "/metrics_metadata/turn_level/geval:accuracy/rubrics/1/score_range"
    assert findings(text.replace("threshold: 0.7", "threshold: 0.9")) == [("split-band.thresholds", pointer)]
    overlapping = dedent(text.replace("[7, 10]", "[6, 10]").replace("0.7", "0.6"))
    assert [each[:2] for each in placed(lint("a.yaml", overlapping.encode()))] == [
        ("split-band.thresholds", 7),
        ("overlap.shared-scores", 8),
    ]


def test_there_is_a_sample_of_every_dialect():
    assert {sample.dialect for sample in SAMPLES.values()} == set(DIALECTS)


@each_sample
def test_a_sample_is_recognised_at_a_quick_look_too_and_sound(sample):
    found = located(sample.text, sample.file), findings(sample.text, sample.file)
    assert found == ([(sample.dialect, sample.path)], [])
    assert could_hold_rubrics(sample.text.encode(), sample.file)


@pytest.mark.parametrize(
    "name", [name for name, sample in SAMPLES.items() if not sample.file.endswith((".py", ".toml"))]
)
def test_a_file_that_says_it_is_ours_is_read_as_ours(name):
    document = read_documents(Source(SAMPLES[name].file, SAMPLES[name].text))[0][0]
    assert {
        location.version for location in search(document, version="v2", claimed=True).rubrics if location.view
    } == set()


def model(text, name="a.yaml"):
    """What the only rubric of a text means: shape, and criteria with what decides a score."""
    document = read_documents(Source(name, dedent(text)))[0][0]
    (location,) = search(document).rubrics
    rubric = build_rubric(document, location.path, location.version, DEFAULT, view=location.view)
    return rubric.shape, [
        (
            entry.id,
            entry.outcome,
            entry.weight,
            entry.gate,
            [(band.lower, band.upper, band.outcome) for band in entry.scale.bands] if entry.scale else None,
            [(level.number, level.name, level.outcome) for level in entry.levels or ()],
        )
        for entry in rubric.entries
    ]


@each_sample
def test_what_a_sample_means_and_that_it_can_be_scored(sample):
    assert model(sample.text, sample.file) == (sample.shape, sample.criteria)
    if sample.dialect in UNSCORED:
        with pytest.raises(RubricError):
            load_rubrics(sample.file, sample.text.encode())
        return
    loaded = load_rubrics(sample.file, sample.text.encode()).values()
    assert [rubric.model.dialect for rubric in loaded] == [sample.dialect]


ONE_VALUE = ("tests", 0, "assert", 0, "value")


@pytest.mark.parametrize(("text", "dialect"), TABLES["who reads a list of"])
def test_who_reads_a_list_of_texts_does_not_depend_on_vars(text, dialect):
    assert (located(text), findings(text)) == ([(dialect, ONE_VALUE)], [])


def test_criteria_of_agentv_5_are_found_wherever_it_has_assertions():
    text = """\
        prompts: ["{{ question }}"]
        default_test:
          assert: [{type: llm-rubric, value: [Is polite, Is short]}]
        assert: [{type: llm-rubric, value: [Is in English]}]
        tests:
          - id: one
            vars: {question: Why?}
            assert:
              - {type: assert-set, assert: [{type: llm-rubric, value: [Says why]}]}
              - Says how
        """
    expected = [
        ("default_test", "assert", 0, "value"),
        ("assert", 0, "value"),
        ("tests", 0, "assert"),
        ("tests", 0, "assert", 0, "assert", 0, "value"),
    ]
    assert (located(text), findings(text)) == ([("agentv-a7", path) for path in expected], [])


SLIP = """\
    tests:
      - id: one
        rubrics:
          - {id: a, min_score: 7, score_ranges: {0: A number differs, 7: Every number is that of the source}}
    """
SHARE = SLIP.replace("min_score: 7", "min_score: 0.7")
BESIDE_OLD = "  - {id: two, rubrics: [{id: b, expected_outcome: Says why}]}\n"


@pytest.mark.parametrize(
    ("text", "expected"), [(SLIP, "v2"), (SHARE, "agentv-a6"), (SHARE + BESIDE_OLD, "v2"), (SLIP + BESIDE_OLD, "v2")]
)
def test_a_slip_in_the_name_of_a_gate_makes_no_suite_of_agentv(text, expected):
    dialects = {dialect for dialect, _ in located(text)}
    hints = [finding for finding in findings(text) if finding[1].endswith("min_score")]
    wanted = [("unknown-field.misspelt", "/tests/0/rubrics/0/min_score")]
    assert (dialects, hints) == ({expected}, wanted if expected == "v2" else [])


NOT_SURE = TEXTS.replace("        criteria: Explains it\n", "")
BESIDE = "  - {id: two, input: x, assert: [{type: rubrics, criteria: [{id: a, outcome: Says how}]}]}\n"
BESIDE_LATE = BESIDE.replace("id: a", "id: a, operator: correctness")
BESIDE_LAST = BESIDE.replace("type: rubrics, criteria", "type: llm-rubric, value")
ONE = ("tests", 0, "assertions")
TWO = ("tests", 1, "assert", 0)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (TEXTS, "a.yaml", [("agentv-a4", ONE)]),
        (TEXTS.replace("assertions", "assert"), "a.yaml", [("agentv-a7", ("tests", 0, "assert"))]),
        (NOT_SURE, "a.eval.yaml", [("agentv-a4", ONE)]),
        (NOT_SURE.replace("input: Why?", "vars: {q: Why?}"), "A.EVAL.yml", [("agentv-a4", ONE)]),
        (NOT_SURE + BESIDE, "a.yaml", [("agentv-a4", ONE), ("agentv-a4", (*TWO, "criteria"))]),
        (NOT_SURE + BESIDE_LATE, "a.yaml", [("agentv-a6", ONE), ("agentv-a6", (*TWO, "criteria"))]),
        (NOT_SURE + BESIDE_LAST, "a.yaml", [("agentv-a7", ONE), ("agentv-a7", (*TWO, "value"))]),
        (f"{TEXTS}assertions: [Is polite]\n", "a.yaml", [("agentv-a4", ONE), ("agentv-a4", ("assertions",))]),
        ("- {id: one, input: x, criteria: It, assertions: [Says why]}\n", "a.yaml", [("agentv-a4", (0, "assertions"))]),
    ],
)
def test_texts_among_assertions_are_one_rubric(text, name, expected):
    assert (located(text, name), findings(text, name), could_hold_rubrics(text.encode(), name)) == (expected, [], True)


@pytest.mark.parametrize(("text", "name"), TABLES["texts among the assertions of"])
def test_texts_among_the_assertions_of_other_tools_are_none(text, name):
    assert (located(text, name), findings(text, name)) == ([], [])


def test_the_criteria_among_assertions_are_the_texts_alone():
    text = TEXTS.replace("value: pivot", "value: yes").replace("- Mentions the pivot", "- {type: latency, max: 0o12}")
    checklist = [("rubric-1", "Says why", 1, 10, None, [])]
    assert (model(text), findings(text)) == ((Shape.CHECKLIST, checklist), [])


def test_what_is_wrong_among_assertions_is_told_once_and_at_its_place():
    more = """\
      - " "
      - States: the complexity
      - 404
      - {id: a, outcome: Says how}
      - {include: shared}
      - type: rubrics
        criteria: [{id: a, outcome: " "}, no]
      - no
"""
    text = dedent(TEXTS).replace("criteria: Explains it", "criteria: Yes") + more
    places = [
        ("empty-outcome.blank", "3"),
        ("schema.colon-in-string", "4"),
        ("schema.unexpected", "5"),
        ("schema.missing", "6"),
        ("empty-outcome.blank", "8/criteria/0/outcome"),
        ("ambiguous-scalar.two-readings", "8/criteria/1"),
        ("vague-outcome.label", "8/criteria/1"),
        ("ambiguous-scalar.two-readings", "9"),
        ("vague-outcome.label", "9"),
    ]
    assert findings(text) == [(code, f"/tests/0/assertions/{place}") for code, place in places]


def test_texts_among_assertions_are_scored_beside_what_stands_in_the_same_list():
    text = dedent(TEXTS) + "      - {type: rubrics, name: style, criteria: [{id: a, outcome: Says how}]}\n"
    scored = load_rubrics("a.yaml", text.encode())
    assert {name: [criterion.id for criterion in rubric.criteria] for name, rubric in scored.items()} == {
        "one": ["rubric-1", "rubric-2"],
        "one/style": ["a"],
    }


def test_a_weight_that_is_no_number_is_told_where_all_others_are_lost():
    text = "rubric:\n  - {weight: false, requirement: Names a source}\n  - {weight: -2, requirement: Invents one}\n"
    assert marked(lint("a.yaml", text.encode())) == [("schema.unexpected", "false")]


PAGES = read_pages(FOLDER)


def test_every_module_has_a_page():
    modules = {path.stem for kind in ("py", "toml") for path in FOLDER.glob(f"[a-z]*.{kind}")}
    assert {page.stem for page in PAGES} == modules | {"openai_evals"}  # read with those of autoevals
    assert {tuple(page.sections) for page in PAGES} == {("Shape", "Score", "Flagged", "Accepted")}


@pytest.mark.parametrize("example", [each for page in PAGES for each in page.flagged], ids=lambda each: each.label)
def test_a_flagged_example_gives_what_the_page_prints(example):
    result = example.lint()
    has_fix = any(finding.fix for finding in result.findings)
    assert (report(result), apply_fixes(result) if has_fix else None) == (example.report, example.fixed)


@pytest.mark.parametrize("example", [each for page in PAGES for each in page.accepted], ids=lambda each: each.label)
def test_an_accepted_example_is_silent(example):
    result = example.lint()
    assert (report(result), result.rubrics > 0) == ("", True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_are_in_its_dialect(page):
    for example in (*page.flagged, *page.accepted):
        for document in read_documents(Source(example.name, example.text))[0]:
            names = {location.view.dialect.name if location.view else "" for location in search(document).rubrics}
            assert {name.split("-a")[0] for name in names} == {page.stem.replace("_", "-").split("-a")[0]}


@pytest.mark.parametrize(("lowest", "highest"), [(1, 5), (2, 3), (-5, -3), (7, 10)])
def test_a_dictionary_is_found_wherever_its_levels_begin(lowest, highest):
    text = f'{{"score{lowest}_description": "Wrong in its claim", "score{highest}_description": "Right in its claim"}}'
    assert could_hold_rubrics(text.encode(), "levels.json")
    assert lint("levels.json", text.encode()).rubrics == 1


@pytest.mark.parametrize(("name", "data", "code", "said"), TABLES["what makes a verdict another"])
def test_what_makes_a_verdict_another_than_it_says_is_an_error(name, data, code, said):
    found = [finding for finding in lint(name, json.dumps(data).encode()).findings if finding.severity == "error"]
    assert [each.code for each in found] == [code] * len(said)
    assert all(part in each.message for each, part in zip(found, said, strict=True))


def test_a_geval_of_pydantic_evals_alone_is_linted_and_not_scored():
    text = dedent(
        """\
        cases: []
        evaluators:
          - GEval: {criteria: How short it is, evaluation_steps: [Count], score_range: [5, 1]}
          - name: GEval
            arguments: {criteria: " ", evaluation_steps: [Read]}
        """
    )
    assert [code for code, _ in findings(text, "data.yaml")] == ["bounds.falling-range", "empty-outcome.blank"]
    sound = text.replace("[5, 1]", "[1, 5]").replace('" "', "How polite it is")
    with pytest.raises(RubricError, match="the rubric cannot be scored: `GEval` gives a number"):
        load_rubrics("data.yaml", sound.encode())
    assert lint("data.yaml", b"evaluators: [{GEval: {criteria: x}}]\n").rubrics == 0


# What a target writes that rubric-lint reads no rubrics in, such as yes-or-no metrics of DeepEval and Ragas.
_NOT_READ = {"deepeval", "ragas", "inspect", "json"}
_SUFFIXES = TABLES["_SUFFIXES"]
_TABLES = {"markdown": ".md", "csv": ".csv", "xlsx": ".xlsx"}


@pytest.mark.slow
@each_sample
def test_each_target_gets_what_it_can_read_or_a_refusal(sample, tmp_path, monkeypatch):
    name = sample.file
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(sample.text, "utf-8")
    for target in TARGETS:
        if target == "xlsx" and not has_openpyxl():
            continue
        made = f"{target}.eval{_TABLES.get(target) or _SUFFIXES.get(target, '.yaml')}"
        done = commands.run("rubric-lint", "convert", name, "--to", target, "-o", made)
        if done.returncode:
            assert re.match(r"rubric-lint: \S+:\d+:\d+: .+[;:,] ", done.stderr), (target, done.stderr)
            # A suite is written although a release skips some of its tests, which are listed.
            assert not Path(made).exists() or "AgentV" in done.stderr, target
            continue
        if target in _TABLES:
            imported = import_source(made, Path(made).read_bytes())
            made, data = "back.rubric.yaml", imported.text.encode()
        else:
            data = Path(made).read_bytes()
        assert {finding.severity for finding in lint(made, data).findings} <= {Severity.WARNING, Severity.HINT}, target
        if target not in _NOT_READ:
            assert load_rubrics(made, data), target
