"""What goes out comes in again: import, export, import gives the same, in every dialect that we read and write."""

import ast
import re

import pytest
from dialect_samples import SAMPLES
from exports import load, meaning, write
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_rubrics import SHAPES, written_out
from ruamel.yaml import YAML

from rubric_lint.convert.export import load_target
from rubric_lint.convert.export.entries import as_entries, make_sound
from rubric_lint.convert.export.target import ExportError
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring.loading import load_models

REFUSED = ("hermes", "ai-rubric")
"""The dialects whose levels have no texts, or whose scores no average gives."""


@pytest.mark.parametrize("dialect", REFUSED)
def test_what_version_2_cannot_say_is_refused(dialect):
    ((called, before),) = read(SAMPLES[dialect].text, SAMPLES[dialect].file).items()
    with pytest.raises(ExportError):
        make_sound(called, before, load_target("csv"))


# The name of the target, the dialects that this may be taken for, the file's name, and the shapes that both know.
DIALECTS = [
    ("rubric", "", "r.rubric.yaml", ("checklist", "score_ranges", "holistic", "levels")),
    ("deepeval", "deepeval", "metrics.py", ("score_ranges", "holistic")),
    ("ragas", "ragas", "rubrics.json", ("levels",)),
    ("agentv-4", "agentv-a4 agentv-a6", "suite.yaml", ("checklist", "score_ranges")),
    ("agentv-5", "agentv-a7", "suite.yaml", ("checklist", "score_ranges")),
    ("agent-skills", "agent-skills", "evals.json", ("checklist",)),
]


def read(text, name):
    """The rubrics of an exported file."""
    return {called: model.rubric for called, model in load_models(name, text.encode(), FileSettings()).items()}


def said(rubrics):
    """All that the rubrics of a file say; what they are called is no part of them."""
    return [(*meaning(rubric), rubric.view.task if rubric.view else "") for rubric in rubrics]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "dialect", "file", "shapes"), DIALECTS, ids=[row[0] for row in DIALECTS])
@given(data=st.data())
def test_import_export_import_gives_the_same(target, dialect, file, shapes, data):
    entries = data.draw(SHAPES[data.draw(st.sampled_from(shapes))])
    imported = read(write(target, load(entries)).text, file)
    assert all(rubric.dialect in dialect.split(" ") for rubric in imported.values())
    again = [read(load_target(target).write({name: rubric}).text, file) for name, rubric in imported.items()]
    assert said(rubric for each in again for rubric in each.values()) == said(imported.values())


# Where the other side has the shape too.
KEPT = [
    ("deepeval", "metrics.py", ("holistic",)),
    ("ragas", "rubrics.json", ("levels",)),
    *((target, file, shapes) for target, _, file, shapes in DIALECTS if target.startswith(("rubric", "agentv"))),
]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "file", "shapes"), KEPT, ids=[row[0] for row in KEPT])
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_what_is_not_told_as_lost_is_there_again(target, file, shapes, data):
    rubric = load(data.draw(SHAPES[data.draw(st.sampled_from(shapes))]))
    if target == "ragas":  # a dictionary says nothing but the levels
        rubric = rubric._replace(entries=(load([{"levels": as_entries(rubric)[0]["levels"]}]).entries[0],))
    export = write(target, rubric)
    # Whether an answer is borderline is a setting, and no part of what is compared.
    assume(all("`borderline`" in str(loss) for loss in export.losses))
    (back,) = read(export.text, file).values()
    assert written_out(back) == written_out(rubric)


@given(data=st.data())
def test_the_text_for_a_grader_holds_the_whole_rubric(data):
    rubric = load(data.draw(SHAPES[data.draw(st.sampled_from(sorted(SHAPES)))]))
    (test,) = YAML(typ="safe").load(write("promptfoo", rubric).text)["tests"]
    (assertion,) = test["assert"]
    if assertion["type"] == "assert-set":  # an assertion for each criterion, which the grader sees alone
        for number, (check, entry) in enumerate(zip(assertion["assert"], written_out(rubric), strict=True), 1):
            heads = render(check.get("metric", f"rubric-{number}")), float(check.get("weight", 1))
            assert heads == (entry["id"], entry["weight"])
            told = render(check["value"])
            assert [text for text in list_outcomes(entry) if text not in told] == []
        return
    told = render(assertion["value"]).partition("\n\n")[2]
    (back,) = read(told, "r.rubric.yaml").values()
    assert written_out(back) == written_out(rubric)


def list_outcomes(entry):
    parts = [entry, *entry.get("levels", []), *entry.get("score_ranges", [])]
    return [part["expected_outcome"] for part in parts if "expected_outcome" in part]


def render(template):
    """What Nunjucks makes of a template that has nothing in it but escapes; a second reading, by Jinja's rules."""
    pieces = re.split(r"\{\{(.*?)\}\}", template)
    assert not [piece for piece in pieces[::2] if re.search(r"\{[{%#]|#\}", piece)]
    return "".join(ast.literal_eval(piece.strip()) if place % 2 else piece for place, piece in enumerate(pieces))
