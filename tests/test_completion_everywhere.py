"""At every place of realistic suites, editors are offered what the schema allows there, and nothing that breaks it."""

import json
from dataclasses import replace
from itertools import cycle

import pytest
from completing import NOTATIONS, ROOT, accept, ask, count_document, errors, originals, suites
from lsprotocol import types
from steps import steps
from typed import offer, state_of

from rubric_lint.format.schema import schema_for
from rubric_lint.format.schema_files import load
from rubric_lint.lint.engine import lint
from rubric_lint.lsp.answers.hover import make_hover
from rubric_lint.lsp.complete.completion import complete
from rubric_lint.lsp.server.analysis import analyse
from rubric_lint.rules import BY_NAME
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

DOCUMENTS = originals()
QUICK = (
    "/rar/rows.json",
    "/tolokaforge/grading.yaml",
    "/examples/explanation.rubric.yaml",
    "/tests/snapshots/show/verifiers.toml",
    next(name for name in DOCUMENTS if name.endswith("/unclear.rubric.yaml")),
    str(ROOT / "tests/snapshots/show/tests.rubric-test.yaml"),
)


@pytest.mark.slow
@pytest.mark.spread(3)
@pytest.mark.parametrize("name", QUICK)
def test_what_the_schema_allows_is_offered_and_breaks_nothing(name):
    found = count_document(name, DOCUMENTS[name], "as written")
    assert (found.missing, found.broken) == ([], [])
    assert found.places


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "notation"), list(zip((name for name in suites() if len(DOCUMENTS[name]) < 1_500), cycle(NOTATIONS)))
)
def test_what_the_schema_of_any_suite_allows_is_offered_and_breaks_nothing(name, notation):
    """Short suites, each in one notation; `python tests/support/completing.py` takes all, in all, and the pages."""
    found = count_document(name, DOCUMENTS[name], notation)
    assert (found.missing, found.broken) == ([], [])


AGENTV = """\
prompts: ["{{ input }}"]
tests:
  - id: a
    vars: {input: x}
    assert:
      - type: llm-rubric
        value:
          - id: b
            outcome: Says so
            operator: correctness
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (AGENTV.replace("llm-rubric", "¦"), "/a.yaml", load("agentv/a7.json")["x-loaded"]["types"]),
        (AGENTV.replace("correctness", "c¦"), "/a.yaml", {"correctness", "contradiction"}),
        (AGENTV + "            ¦\n", "/a.yaml", {"weight", "required", "score_ranges", "min_score"}),
        (
            '{"rubrics": [{"id": "a", "expected_outcome": "b", "¦"}]}',
            "/a.rubric.json",
            {*schema_for().fields_of_shape(frozenset())} - {"id", "expected_outcome", "score_range"},
        ),
        ('select = ["¦"]\n', "/rubric-lint.toml", set(BY_NAME)),
        ("[severity]\n¦\n", "/rubric-lint.toml", set(BY_NAME)),
        ('[severity]\ncoverage = "¦"\n', "/rubric-lint.toml", {"error", "warning", "hint", "off"}),
        ('[tool.rubric-lint.versions]\n"a/" = ¦\n', "/pyproject.toml", {"v1", "v2"}),
        ("[tool.other]\n¦\n", "/pyproject.toml", set()),
        ("a: 1 # rubric-lint: ¦\n", "/a.yaml", {"ignore", "ignore-file"}),
        ("a: 1 # rubric-lint: ignore[coverage, ¦]\n", "/a.yaml", BY_NAME.keys() - {"coverage"}),
        (
            "rubrics:\n  - id: a\n    required_min_level: ¦\n    levels: {1: Says no, 4: Says so}\n",
            "/a.rubric.yaml",
            {"1", "4"},
        ),
        (
            "rubrics:\n  - id: a\n    required_min_level: ¦\n    levels: [{level: 1, name: Low}, {level: 4}]\n",
            "/a.rubric.yaml",
            {"1", "4"},
        ),
        (
            "rubrics:\n  - id: a\n    required_min_score: ¦\n    score_ranges: {0: a, 6: b, 9: c}\n",
            "/a.rubric.yaml",
            {"6", "9"},
        ),
    ],
)
def test_the_names_and_values_of_a_place_are_offered(text, name, expected):
    assert set(offer(text, name=name)) == set(expected)


SHAPES = ["checklist", "score-ranges", "holistic", "levels"]


@pytest.mark.parametrize("name", ["/a.rubric.yaml", "/a.rubric.json"])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_empty_file_is_offered_a_whole_rubric_of_each_shape(shape, name):
    taken = accept("", ask("", name, 0)[f"rubric: {shape}"], 0)
    assert (lint(name, taken.encode()).rubrics, errors(name, taken)) == (1, {})


@pytest.mark.parametrize(
    ("begun", "label"),
    [
        ("", "checklist criterion"),
        ("", "criterion with score ranges"),
        ("", "criterion with levels"),
        ("  - {score_range: [0, 4], expected_outcome: Says no}\n", "score_range"),
    ],
)
def test_a_whole_criterion_of_each_shape_that_fits_is_offered(begun, label):
    text = f"rubrics:\n{begun}  - "
    assert label in ask(text, "/a.rubric.yaml", len(text))


def test_a_shape_that_the_rubric_cannot_mix_is_not_offered():
    text = "rubrics:\n  - id: a\n    score_ranges: {0: Says no, 5: Says so}\n  - "
    offered = ask(text, "/a.rubric.yaml", len(text))
    assert {"score_range", "band of a holistic scale", "checklist criterion"}.isdisjoint(offered)
    assert "criterion with score ranges" in offered


def test_settings_that_are_invalid_while_they_are_typed_are_completed():
    state = replace(state_of("ignore = 1\n\n", "/rubric-lint.toml"), settings=None, obstacle="rubric-lint.toml: ...")
    offered = complete(state, types.Position(1, 0), snippets=True)
    assert "severity" in {item.label for item in offered}


CHECKLIST = "  - id: c{0}\n    expected_outcome: Names part {0} of the answer\n    weight: 2\n"
RANGES = "  - id: r{0}\n    score_ranges:\n      0: Leaves out part {0}\n      6: Names part {0}\n"


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@pytest.mark.parametrize("around", [CHECKLIST, RANGES])
@pytest.mark.parametrize("begun", ["", "  - id: begun\n", "  - id: begun\n    weight: 1\n"])
def test_a_long_rubric_is_completed_as_a_short_one(suffix, around, begun):
    offered = []
    for number in (3, 300):
        criteria = [around.format(at) for at in range(number)]
        half = number // 2
        text = "".join(["rubrics:\n", *criteria[:half], begun or "  - id: other\n", *criteria[half:]])
        if suffix == ".json":
            (document,) = read_documents(Source("a.yaml", text))[0]
            text = json.dumps(document.data, indent=1)
            at = text.rindex('"id"', 0, text.index('"begun"' if begun else '"other"'))
            offered.append(set(ask(f'{text[:at]}""\n{text[at:]}', "/a.rubric.json", at + 1)))
        else:
            at = text.index("id: begun" if begun else "id: other")
            text = f"{text[:at]}\n    {text[at:]}"
            offered.append(set(ask(text, "/a.rubric.yaml", at)))
    assert offered[0] == offered[1]
    assert offered[0]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rubrics:\n  - id: a\n    weight: " + "9" * 5_000 + "\n    ", "/a.rubric.yaml"),
        ("rubrics: " + "[" * 5_000, "/a.rubric.yaml"),
        ('{"rubrics": [{"id": "a", ' + '"x": [' * 20_000, "/a.rubric.json"),
        ('rubrics:\n  - id: "a\\x7f\\u2028"\n    ', "/a.rubric.yaml"),
        ("rubrics:\n  - id: &a b\n    more: *a\n    ", "/a.rubric.yaml"),
        ("a: [1\nrubrics:\n  - ", "/a.rubric.yaml"),
    ],
)
def test_completion_in_odd_texts_does_not_crash(text, name):
    assert isinstance(ask(text, name, len(text)), dict)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("ig¦nore = []\n", "/rubric-lint.toml", "**`ignore`**: list\n\nRules to skip, even if `select` names them."),
        ('ignore = ["cov¦erage"]\n', "/rubric-lint.toml", f"**coverage**: {BY_NAME['coverage'].summary}"),
        ('[severity]\ncov¦erage = "hint"\n', "/rubric-lint.toml", f"**coverage**: {BY_NAME['coverage'].summary}"),
        ('[severity]\ncoverage = "hi¦nt"\n', "/rubric-lint.toml", None),
        ("[tool.other]\nig¦nore = []\n", "/pyproject.toml", None),
    ],
)
def test_settings_and_the_rules_in_them_are_explained(text, name, expected):
    hover = make_hover(analyse(state_of(text.replace("¦", ""), name)), text.index("¦"))
    assert (hover.contents.value if hover else None) == expected


@pytest.mark.slow
def test_text_in_a_long_rubric_costs_what_it_costs_in_a_short_one():
    pytest.importorskip("_ruamel_yaml")  # the pure parser reads the whole text in counted steps
    texts = ["rubrics:\n" + "".join(CHECKLIST.format(at) for at in range(number)) for number in (100, 400)]
    once, more = (steps(ask, text, "/a.rubric.yaml", text.index("part 50 of") + 4) for text in texts)
    assert more < 2 * once
