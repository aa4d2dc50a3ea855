"""What is shown and offered at a place in a text."""

import re

import pytest
from cases import read_cases
from steps import steps
from typed import offer, state_of

from rubric_lint.editor.answers.hover import make_hover
from rubric_lint.editor.answers.symbols import make_folds, make_outline, write_outline
from rubric_lint.editor.server.analysis import analyse
from rubric_lint.editor.server.diagnostics import write_diagnostics
from rubric_lint.editor.server.positions import DocumentText
from rubric_lint.rules import BY_NAME, RULES

TABLES = read_cases(__file__)


SUITE = TABLES["SUITE"]


PROMPTFOO = """\
tests:
  - vars: {question: Why?}
    assert:
      - type: llm-rubric
        value:
          - {id: why, expected_outcome: States why}
"""
AGENTV = PROMPTFOO.replace("vars: {question: Why?}", "input: Why?").replace("expected_outcome", "outcome")
BANDS = AGENTV.replace("outcome: States why", "score_ranges: {0: Does not say why, 5: States why}")
MIXED = """\
tests:
  - id: one
    input: Why?
    criteria: It
    assertions:
      - Says why
      - type: rubrics
        criteria:
          - {id: how, outcome: Says how, required: false}
      - Says when
"""


def hover(text, at, name="/a.yaml"):
    """The card for where `at` first stands."""
    made = make_hover(analyse(state_of(text, name)), text.index(at))
    return made and made.contents.value


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (
            SUITE,
            [
                *("id: accuracy", "accuracy\n", "short\n", "quality\n", "pivot\n", "score_range: [0, 4]"),
                *("rubrics:\n      - id", "weight: 2", "required_min_score", "tests:", "score_range: [7"),
                "description: Mentions",
            ],
        ),
        (PROMPTFOO, ["tests", "assert", "value"]),
        (AGENTV, ["tests", "assert", "value"]),
        (BANDS, ["score_ranges"]),
        (MIXED, ["Says why", "Says when", "assertions", "type: rubrics", "how, outcome"]),
    ],
    ids=["suite", "promptfoo", "AgentV", "bands of AgentV", "rubrics within each other"],
)
def test_what_is_under_the_cursor_is_explained(text, places, said):
    said([(f"== {at.strip()}", hover(text, at) or "nothing") for at in places])


@pytest.mark.parametrize(
    ("text", "at"),
    [("a: 1\nrubrics: none of ours\n", "rubrics"), (SUITE, "States the right"), ("rubrics:\n  - [", "rubrics")],
    ids=["not ours", "a plain value", "cannot be read"],
)
def test_where_there_is_nothing_to_say_nothing_is_said(text, at):
    assert hover(text, at) is None


def lines(symbols, depth=0):
    for symbol in symbols:
        detail = f" | {symbol['detail']}" if symbol.get("detail") else ""
        yield f"{'  ' * depth}{symbol['name']}{detail}"
        yield from lines(symbol["children"], depth + 1)


RUBRIC = "      - id: x\n        expected_outcome: Says so\n"
ALIAS = f"tests:\n  - id: a\n    rubrics: &one\n{RUBRIC}  - id: b\n    rubrics: *one\n"
HARBOR = '[judge]\njudge = "x"\n\n[[criterion]]\nname = "a"\ndescription = "Names the parcel"\n'
PART = '"id": "a", "requirements": "Names the parcel", "weight": 1, "sub_tasks": [], "task_category": "Code"'
TREE = f'{{"id": "r", "requirements": "All", "weight": 1, "sub_tasks": [{{{PART}}}]}}'


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.yaml", SUITE), ("a.yaml", MIXED), ("a.yaml", ALIAS), ("judge.toml", HARBOR), ("rubric.json", TREE)],
    ids=["suite", "assertions", "alias", "a whole document", "a tree"],
)
def test_the_outline_goes_from_cases_to_bands(name, text, said):
    analysis = analyse(state_of(text, f"/{name}"))
    tree = write_outline(analysis, is_tree=True)
    said(list(lines(tree)))

    def check(symbols, outer):
        for symbol in symbols:
            for inner, around in ((symbol["selectionRange"], symbol["range"]), (symbol["range"], outer)):
                start, end = ([tuple(each[end].values()) for each in (around, inner)] for end in ("start", "end"))
                assert (start == sorted(start), end == sorted(end, reverse=True)) == (True, True), symbol["name"]
            check(symbol["children"], symbol["range"])

    check(tree, {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}})
    said([f"{each.get('containerName', '')} / {each['name']}" for each in write_outline(analysis, is_tree=False)])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_other_places_that_a_message_names_are_related_information(rule):
    for text in re.findall(r"^```yaml\n(.*?)^```", rule.page, re.MULTILINE | re.DOTALL):
        analysis = analyse(state_of(text, "/a.rubric.yaml"))
        for found in write_diagnostics(analysis, shape_errors="always", schema_server=False):
            named = {int(line) for line in re.findall(r"\bline (\d+)", found["message"])}
            related = {each["location"]["range"]["start"]["line"] + 1 for each in found.get("relatedInformation", ())}
            assert named <= related, found["message"]


def test_every_entry_of_several_lines_folds_and_the_outermost_go_first():
    analysis = analyse(state_of(SUITE))
    folds = [tuple(fold.values()) for fold in make_folds(analysis, None)]
    assert {(2, 12), (3, 10), (6, 10), (7, 8), (21, 29)} <= set(folds)
    assert folds == sorted(folds)
    assert [tuple(fold.values()) for fold in make_folds(analysis, 2)] == [(0, 20), (21, 29)]
    assert make_folds(analyse(state_of("a:\n  b: 1\n")), None) is None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "head", "part"), TABLES["outlines"].values(), ids=TABLES["outlines"])
def test_an_outline_twice_as_long_is_twice_the_work(name, head, part):
    once, twice = (analyse(state_of(head + part * count, name)) for count in (200, 400))
    assert steps(make_outline, twice) < 2.2 * steps(make_outline, once)


RULES_LEFT = sorted(BY_NAME.keys() - {"coverage"})


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("a: 1 # rubric-lint: ¦\n", "/a.yaml", ["ignore", "ignore-file"]),
        ("a: 1 # rubric-lint: ignore[¦]\n", "/a.yaml", sorted(BY_NAME)),
        ("a: 1 # rubric-lint: ignore[coverage, ¦]\n", "/a.yaml", RULES_LEFT),
        ("a: 1 # rubric-lint: ignore-file[¦, coverage]\n", "/a.yaml", RULES_LEFT),
        ("a: [ # rubric-lint: ignore[¦]\n", "/a.yaml", sorted(BY_NAME)),
        ("a: 'so # so' # rubric-lint: ignore[¦]\n", "/a.yaml", sorted(BY_NAME)),
        ("a: |\n  # rubric-lint: ignore[¦]\n", "/a.yaml", []),
        ('a: "# rubric-lint: ignore[¦"\n', "/a.yaml", []),
        ("# ¦\n", "/a.yaml", []),
        ('{"a": "# rubric-lint: ignore[¦]"}\n', "/a.json", []),
        ("# rubric-lint: ignore[¦]\nrubrics:\n", "/a.rubric-test.yaml", sorted(BY_NAME)),
    ],
)
def test_the_names_of_rules_are_offered_in_comments(text, name, expected):
    assert list(offer(text, name=name)) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_what_is_taken_replaces_what_was_typed_in_every_encoding(encoding):
    text = "a: '😀' # rubric-lint: ignore[cov¦e, overlap]\n"
    item = offer(text, encoding=encoding)["coverage"]
    start, end = DocumentText.of(text.replace("¦", ""), encoding).span(item.text_edit.range)
    assert (text.replace("¦", "")[start:end], item.text_edit.new_text) == ("cove", "coverage")


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("ig¦nore = []\n", "/rubric-lint.toml", "**`ignore`**: list\n\nRules to skip, even if `select` names them."),
        ('ignore = ["cov¦erage"]\n', "/rubric-lint.toml", f"**coverage**: {BY_NAME['coverage'].summary}"),
        ('[severity]\ncov¦erage = "hint"\n', "/rubric-lint.toml", f"**coverage**: {BY_NAME['coverage'].summary}"),
        ('[severity]\ncoverage = "hi¦nt"\n', "/rubric-lint.toml", None),
        (
            "[tool.rubric-lint]\nig¦nore = []\n",
            "/pyproject.toml",
            "**`ignore`**: list\n\nRules to skip, even if `select` names them.",
        ),
        ("[tool.other]\nig¦nore = []\n", "/pyproject.toml", None),
        ("[tool.rubric-l¦int]\n", "/pyproject.toml", None),
        ("ignore = [[¦]]\n", "/rubric-lint.toml", None),
    ],
)
def test_settings_and_the_rules_in_them_are_explained(text, name, expected):
    made = make_hover(analyse(state_of(text.replace("¦", ""), name)), text.index("¦"))
    assert (made and made.contents.value) == expected


def test_the_settings_of_a_shape_are_explained():
    text = "[[shape]]\nname = 'x'\nscale = [1, 5]\n"
    made = make_hover(analyse(state_of(text, "/rubric-lint.toml")), text.index("scale"))
    assert made.contents.value.startswith("**`scale`**")


VERSION_3 = """\
# $schema: rubric-v3.schema.json
scale: [1, 5]
criteria:
  - id: figures
    expected_outcome: Figures match
    required_min_score: 4
    applies_if: There are figures
  - id: code
    weight: 3
    criteria: [{id: runs, expected_outcome: It runs, scale: [0, 1]}, {id: rank, scale: [3, 1], levels: {1: Known}}]
critical_failures: [{id: invented, expected_outcome: Invents a source}]
"""


WHOLE_3 = "in its group, {} of the rubric; gate: {}"


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (
            "figures\n",
            ["**figures**: weight 1 " + WHOLE_3.format("25%", "at level 4"), "applies if: There are figures"],
        ),
        ("figures\n", ["Figures match", "scale: from 1, the worst, to 5, the best"]),
        ("runs,", ["**code/runs**: weight 1 " + WHOLE_3.format("37.5%", "none"), "It runs"]),
        ("rank,", ["scale: from 3, the worst, to 1, the best", "| level | outcome |\n| --- | --- |\n| 1 | Known |"]),
        ("invented,", ["**invented**: a critical failure", "Invents a source"]),
        ("applies_if", ["**`applies_if`**: string", "The condition: if it does not hold for the answer"]),
        ("critical_failures", ["**`critical_failures`**: a list of faults"]),
    ],
)
def test_a_card_of_version_3_has_its_scale_its_condition_and_its_share(at, expected):
    card = hover(VERSION_3, at, "/a.rubric.yaml")
    assert [part for part in expected if part not in card] == []
