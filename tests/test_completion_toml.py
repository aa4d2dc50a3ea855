"""What editors are offered in TOML: rubrics of other systems, and the settings."""

import pytest
from completing import FILLINGS, accept, ask, errors, fill
from lsprotocol import types
from typed import offer

from rubric_lint.project.settings import SettingsError, read_table

JUDGE = """\
[judge]
judge = "claude-code"

[[criterion]]
description = "Names the refund window"
"""
CRITERION = {"type", "name", "id", "weight", "files", "negate", "optional", "annotations"}
LEVELS = '[[criteria]]\nname = "unit"\ntext = "Every amount has its unit"\nweight = 2\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JUDGE + "¦\n", CRITERION),
        (JUDGE + "wei¦\n", CRITERION),
        (JUDGE + '"wei¦"\n', CRITERION),
        (JUDGE + "¦\nweight = 2\n", CRITERION - {"weight"}),
        (JUDGE + 'type = "likert"\n¦\n', CRITERION - {"type"} | {"points"}),
        (JUDGE + 'type = "¦"\n', {"binary", "likert", "numeric", "rubric"}),
        (JUDGE + "type = ¦ # a comment\n", {"binary", "likert", "numeric", "rubric"}),
        (JUDGE + 'levels = ["Names none", "Names one"]\ntype = "¦"\n', {"rubric"}),
        (JUDGE + "negate = ¦\n", {"true", "false"}),
        (JUDGE + "wei¦ = 2\n", {"weight"}),
        (JUDGE + "negate¦ = true\n", {"negate", "optional"}),
        (JUDGE + "[scoring]\n¦\n", {"aggregation"}),
        ("scoring.¦\n" + JUDGE, {"aggregation"}),
        ("scoring = {¦}\n" + JUDGE, {"aggregation"}),
        ('scoring = {aggregation = "threshold", ¦}\n' + JUDGE, {"threshold"}),
        ("¦\n" + JUDGE, {"scoring"}),
        ('criterion = [{description = "Names it"}, {¦}]\n', CRITERION | {"description"}),
        ('criterion = [{description = "Names it"}, ¦]\n', CRITERION | {"description"}),
        (JUDGE + "[[¦]]\n", {"criterion"}),
        (JUDGE + "[[crit¦\n", {"criterion"}),
        (JUDGE + "[¦]\n", {"scoring"}),
        (JUDGE.replace("[judge]", "[¦]"), {"judge"}),
        (JUDGE + '"""\n¦\n"""\n', set()),
        (JUDGE + 'files = ["""\n¦\n"""]\n', set()),
        (JUDGE.replace("Names", "Names ¦"), set()),
        (JUDGE + "# ¦\n", set()),
        ("[project]\n¦\n", set()),
        (LEVELS + "¦\n", {"choices"}),
        (LEVELS + "[[¦]]\n", {"criteria"}),
    ],
)
def test_what_fits_is_offered_in_rubrics_in_toml(text, expected):
    assert set(offer(text, name="/judge.toml")) == expected


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ("wei¦", "weight", "weight = ${1:1}"),
        ("¦", "type", 'type = ${1|"binary","likert","numeric","rubric"|}'),
        ("[[¦]]", "criterion", '[[criterion]]\ndescription = "$1"'),
        ("[[¦", "criterion", '[[criterion]]\ndescription = "$1"'),
        ('[[¦]]\nname = "b"', "criterion", '[[criterion]]\ndescription = "$1"\nname = "b"'),
        ('[[¦]]\ndescription = "B"', "criterion", '[[criterion]]\ndescription = "B"'),
        ("[sc¦]", "scoring", "[scoring]"),
        ("[[criterion]]\n¦", "description", 'description = "$1"'),
    ],
)
def test_what_is_taken_is_toml(text, label, expected):
    before = JUDGE + text
    at = before.index("¦")
    item = ask(before.replace("¦", ""), "/judge.toml", at)[label]
    edit, lines = item.text_edit, before.replace("¦", "").split("\n")
    line = lines[edit.range.start.line]
    lines[edit.range.start.line] = line[: edit.range.start.character] + edit.new_text + line[edit.range.end.character :]
    assert "\n".join(lines)[len(JUDGE) :].endswith(expected)


@pytest.mark.parametrize("begun", ["", "type = 'likert'\n", "[scoring]\n", "[", "[["])
def test_no_offer_breaks_a_rubric_in_toml(begun):
    text = JUDGE + begun
    for label, item in ask(text, "/judge.toml", len(text)).items():
        taken = [errors("/judge.toml", accept(text, item, len(text), words)) for words in FILLINGS]
        assert {} in taken, label


SETTINGS = ["", "pass = 0.7\n", "borderline = 0.7\n", 'ignore = ["overlap"]\n', "[", "[severity]\n", "severity."]


@pytest.mark.slow
@pytest.mark.spread(3)
@pytest.mark.parametrize("name", ["rubric-lint.toml", "pyproject.toml"])
@pytest.mark.parametrize("begun", SETTINGS)
def test_no_offer_breaks_the_settings(tmp_path, name, begun):
    text = "[tool.rubric-lint]\n" + begun if name == "pyproject.toml" else begun
    text = text.replace("]\n[", "]\n[tool.rubric-lint.") if name == "pyproject.toml" else text
    offered = ask(text, f"/{name}", len(text))
    assert offered
    for label, item in offered.items():
        (tmp_path / name).write_text(accept(text, item, len(text), FILLINGS[1]), "utf-8")
        try:
            read_table(str(tmp_path / name), name)
        except SettingsError as error:
            assert label == "labels", str(error)  # noqa: PT017 (these need `judged`, which is written next)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "label", "inserted"),
    [
        ("pass = 0.5\n¦", "borderline", "borderline = ${1:0}"),
        ("ignore = [¦\n  'overlap',\n]\n", "coverage", '"coverage", '),
        ("ignore = ['overlap', ¦]\n", "coverage", '"coverage"'),
        ("ignore = ['overlap', '¦']\n", "coverage", "coverage"),
        ("severity.¦\n", "coverage", 'coverage = ${1|"error","warning","hint","off"|}'),
        ("[sev¦]\n", "severity", "severity]"),
    ],
)
def test_settings_are_completed_as_they_are_written(text, label, inserted):
    assert ask(text.replace("¦", ""), "/rubric-lint.toml", text.index("¦"))[label].text_edit.new_text == inserted


def test_a_list_of_rules_begins_with_one():
    inserted = ask("", "/rubric-lint.toml", 0)["select"].text_edit.new_text
    assert fill(inserted, "x") == 'select = ["ambiguous-scalar"]'


@pytest.mark.parametrize(
    "text",
    ["x = " + "[" * 5_000, "x = " + "[" * 5_000 + "]" * 5_000 + "\n", "a.b = 1979-05-27\n"],
    ids=["open", "deep", "date"],
)
def test_completion_in_odd_toml_does_not_crash(text):
    assert isinstance(ask(JUDGE + text, "/judge.toml", len(JUDGE + text)), dict)


def test_editors_without_snippets_get_whole_lines_of_toml():
    offered = offer(JUDGE + "¦\n", name="/judge.toml", snippets=False)
    assert {label: item.text_edit.new_text for label, item in offered.items() if label in {"type", "files"}} == {
        "type": 'type = "binary"',
        "files": 'files = [""]',
    }
    assert {item.insert_text_format for item in offered.values()} == {types.InsertTextFormat.PlainText}
