"""Home-made rubrics are read where structure and a second sign agree, else reported; look-alikes are left alone."""

from decimal import Decimal
from textwrap import dedent

import commands
import pytest
from cases import read_cases
from found import codes

from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.formats.home_made.candidate import TITLE
from rubric_lint.formats.home_made.format_table import FormatTable
from rubric_lint.formats.home_made.understand import understand
from rubric_lint.formats.home_made.vocabulary import Containers
from rubric_lint.lint.engine import examine_file
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.suggest import name_in
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)

READ = TABLES["READ"]


def see(name, text):
    """What is found in a text: its result and its rubrics."""
    examined = examine_file(name, dedent(text).encode())
    return examined.result, [rubric for _, rubric in examined.rubrics]


@pytest.mark.parametrize(("name", "text", "ids", "found"), READ.values(), ids=READ)
def test_a_home_made_rubric_is_read_and_only_what_is_wrong_in_any_format_is_found(name, text, ids, found):
    result, rubrics = see(name, text)
    assert [criterion.id for rubric in rubrics for criterion in rubric.criteria] == ids
    assert codes(result.findings) == found
    doubts = [reason for rubric in rubrics for _, reason in rubric.view.doubts]
    unscorable = dict.fromkeys(rubric.view.unscorable for rubric in rubrics if rubric.view.unscorable)
    reasons = sorted(name_in(reason, name) for reason in (*doubts, *unscorable))
    assert sorted(each.reason for each in result.unread) == reasons
    assert {rubric.view.dialect.title for rubric in rubrics} == {TITLE}


def test_shares_in_strings_and_labels_of_scores_count_as_they_are_meant():
    items = "criteria: [{name: a, weight: 60%, text: Names it}, {name: b, weight: '40', text: Dates it}]\n"
    labels = "scale: {1: Poor, 2: Fair, 3: Great}\n"
    _, (rubric,) = see("evals/rubric.yaml", f"{labels}passing_score: 2\n{items}")
    weights = [criterion.weight for criterion in rubric.criteria]
    levels = [[level.number for level in criterion.levels] for criterion in rubric.criteria]
    assert (weights, levels, rubric.view.threshold) == ([60, 40], [[1, 2, 3]] * 2, Decimal("0.5"))


# By what the file says of scores: the threshold and the gate that count, or why nothing is scored.
THRESHOLDS = {
    "{scale: 0-100, pass_threshold: 0.7, G: 0.5": (Decimal("0.7"), 50, False),
    "{scale: 1-5, thresholds: {pass: 4}, G: 3": (Decimal("0.75"), 3, False),
    "{scale: 0-2, pass_threshold: 1, G: 1": (Decimal("0.5"), 1, False),
    "{scale: 0-100, pass_threshold: 100%, G: 1": (Decimal(1), 1, False),
    "{scale: 0-100, pass_threshold: 1.0, G: 1": (None, 1, True),
    "{scale: 1-5, pass_threshold: 0.7, G: 3": (None, 3, True),
    "{scale: 1-5, pass_threshold: 4, G: 0.5": (Decimal("0.75"), None, True),
    "{scale: 0-20, pass_threshold: 60%, G: 100%": (Decimal("0.6"), 20, False),
    "{scale: 1-5, pass_threshold: 80%, G: 3": (None, 3, True),
    "{scale: 1-5, pass_threshold: '4', G: 3": (None, 3, True),
    "{scale: 1-5, pass_threshold: 70, G: 3": (None, 3, True),
}


@pytest.mark.parametrize("head", THRESHOLDS)
def test_thresholds_and_gates_are_scores_or_parts_of_the_scale_or_nothing_is_scored(head, said):
    head, gate = head.split(", G: ")
    items = f"{{id: a, weight: 60, text: Names it, min_score: {gate}}}, {{id: b, weight: 40, text: Dates it}}"
    result, (rubric,) = see("evals/rubric.yaml", f"{head}, criteria: [{items}]}}")
    _, reason = rubric.view.refusal or ((), "")
    found = (rubric.view.threshold, rubric.criteria[0].gate, reason != "")
    assert (result.findings, found) == ((), THRESHOLDS[f"{head}, G: {gate}"])
    if reason:
        said(reason)


SIGNED = """pass_mark: 60%
criteria:
  - {id: a, weight: 2, KEY: positive, description: The answer names the dose of the drug}
  - {id: b, weight: 1, KEY: negative, description: The answer names a drug that is wrong}
  - {id: c, weight: 1, KEY: WORD, description: The answer tells them to see a doctor}
"""


@pytest.mark.parametrize("key", ["type", "kind"])
@pytest.mark.parametrize("word", ["hard_fail", "critical", "gate", "bonus", "optional"])
def test_a_word_that_is_no_sign_beside_signs_stops_the_score(key, word):
    result, (rubric,) = see("evals/rubric.yaml", SIGNED.replace("KEY", key).replace("WORD", word))
    assert [each.line for each in result.unread] == [5]
    assert [reason.split(" may")[0] for _, reason in rubric.view.doubts] == [f"`{key}: {word}`"]


@pytest.mark.parametrize(
    ("answer", "gates"),
    [("gate=type=hard_fail", [None, None, 10]), ("unused=type", [None] * 3)],
    ids=["gate", "unused"],
)
def test_what_adopt_is_told_of_a_word_leaves_the_signs_of_its_key_as_they_are(answer, gates, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.yaml").write_text(SIGNED.replace("KEY", "type").replace("WORD", "hard_fail"), "utf-8")
    assert commands.run("rubric-lint", "adopt", "r.yaml", "--map", answer).returncode == 0
    done = commands.run("rubric-lint", "convert", "r.yaml", "--to", "rubric")
    (rubric,) = load_rubrics("r.rubric.yaml", done.stdout.encode()).values()
    assert [(criterion.weight, criterion.gate) for criterion in rubric.model.criteria] == list(
        zip([2, -1, 1], gates, strict=True)
    )


@pytest.mark.parametrize(
    ("scale", "word"),
    [
        ("scale: {min: 1, max: 5, step: 0.5}", "`step` has 0.5"),
        ("scale: [0.0, 1.0]", "`scale` has 0.0"),
        ("scale: {min: 0.0, max: 1.0}", "`min` has 0.0"),
        ("scale: {min: 1, max: 5, step: 1}", ""),
        ("scale: {min: 1, max: 5}", ""),
        ("scale: {min: 1.0, max: 5.0}", ""),
    ],
)
def test_a_scale_with_scores_between_whole_numbers_is_not_scored(scale, word):
    criteria = SIGNED.partition("\n")[2].replace("KEY: positive, ", "").replace("KEY: negative, ", "")
    _, (rubric,) = see("evals/rubric.yaml", f"{scale}\n{criteria.replace('KEY: WORD, ', '')}")
    assert [reason.partition(",")[0] for _, reason in rubric.view.doubts] == ([word] if word else [])


TOLD = TABLES["TOLD"]


@pytest.mark.parametrize(("name", "text", "line"), TOLD.values(), ids=TOLD)
def test_what_is_nearly_a_home_made_rubric_is_told_with_the_way_on(name, text, line, said):
    result, rubrics = see(name, text)
    assert (rubrics, result.findings) == ([], ())
    assert [(each.line, each.is_known) for each in result.unread] == [(line, False)]
    said([each.reason for each in result.unread])


NAMED = TABLES["NAMED"]


@pytest.mark.parametrize(("name", "text", "line"), NAMED.values(), ids=NAMED)
def test_a_system_whose_criteria_are_in_a_prompt_or_in_two_places_is_named(name, text, line, said):
    result, rubrics = see(name, text)
    assert (rubrics, result.findings) == ([], ())
    assert [(each.line, each.is_known) for each in result.unread] == [(line, True)]
    said([each.reason for each in result.unread])


NOT_READ = TABLES["NOT_READ"]


@pytest.mark.parametrize(("name", "text"), NOT_READ.values(), ids=NOT_READ)
def test_names_of_prices_sections_and_risks_are_never_read_as_criteria(name, text):
    result, rubrics = see(name, text)
    assert (rubrics, result.findings) == ([], ())


LEFT_ALONE = TABLES["LEFT_ALONE"]


@pytest.mark.parametrize(("name", "text"), LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_what_only_looks_like_a_home_made_rubric_is_left_alone(name, text):
    result, rubrics = see(name, text)
    assert (rubrics, result.findings, result.unread) == ([], (), ())


MARKED = """\
criteria:
- {{id: tone, weight: 2, description: Whether it greets the customer, levels: {{1: It does not, 2: It does}}, {0}}}
- {{id: depth, weight: 1, description: Whether it gives reasons, levels: {{1: It gives none, 2: It gives two}}, {0}}}
"""


@pytest.mark.parametrize("field", ["owner: me", "status: draft", "supplier: x", "regex: x"])
def test_weights_and_levels_of_a_file_named_for_a_rubric_are_nearly_read_with_fields_of_other_files(field):
    result, rubrics = see("evals/a_rubric.yaml", MARKED.format(field))
    assert (rubrics, [each.line for each in result.unread]) == ([], [1])


def test_a_table_names_each_field_and_place_and_what_is_not_used():
    text = """\
        version: 3
        score_max: 5
        score_min: 1
        scoring: {passing_threshold: 4, note: mean}
        parts:
          - {title: Text, criteria: [{name: tone, must: Thanks the reader, weight: 1, critical: true, owner_team: a}]}
          - {title: Code, criteria: [{name: runs, question: Does it run?, weight: 1, is_negative: true}]}
        """
    documents, _ = read_documents(Source("evals/a.yaml", dedent(text)))
    (found,) = understand(documents[0])
    assert found.as_table() == {
        "criteria": "/parts/*/criteria",
        "scale": ["/score_min", "/score_max"],
        "id": "name",
        "outcome": ["question", "must"],
        "weight": "weight",
        "gate": "critical",
        "negative": {"is_negative": True},
        "pass": "/scoring/passing_threshold",
        "unused": ["owner_team"],
    }
    left = found.unused_keys
    assert ["/".join(map(str, path)) for _, path in left.inside] == ["parts/0/criteria/0/owner_team"]
    assert sorted("/".join(path) for _, path in left.around) == ["parts/*/title", "scoring/note", "version"]


def test_bytes_show_each_word_for_containers():
    for word in (*Containers.strong, *Containers.common):
        text = f"{word}:\n  - {{weight: 1, description: Is right}}\n".encode()
        assert could_hold_rubrics(text, "evals/a.yaml"), word
    assert not could_hold_rubrics(b"items:\n  - {weight: 1, description: Is right}\n", "orders/a.yaml")
    assert not could_hold_rubrics(b"success_criteria: none\n", "a.yaml")


WITH_PARTS = """criteria:
  - {name: a, weight: 4, MARK: true, parts: [{name: m, text: Names the day}, {name: n, text: Names the year}]}
  - {name: b, weight: 2, text: Says why it is so}
"""
TABLE_OF_PARTS = FormatTable.from_table(
    {
        "name": "ours",
        "files": ["x"],
        "criteria": "/criteria",
        "id": "name",
        "outcome": "text",
        "weight": "weight",
        "parts": "parts",
        "gate": "veto",
        "negative": "penalty",
        "scale": "yes-no",
    }
)


def test_an_ambiguous_id_of_a_part_has_its_own_place_and_criterion():
    text = WITH_PARTS.replace("MARK: true, ", "").replace("name: n,", "name: no,")
    result = examine_file("rubric.yaml", text.encode(), FileSettings(shapes=(TABLE_OF_PARTS,))).result
    (finding,) = result.findings
    assert (finding.code, finding.pointer) == ("ambiguous-scalar.two-readings", "/criteria/0/parts/1/name")
    assert (finding.message.partition(":")[0], result.source.slice(finding.span)) == ("criterion `a/no`", "no")


@pytest.mark.parametrize("mark", ["veto", "penalty"])
def test_a_mark_of_a_criterion_with_parts_counts_for_none_of_them_and_stops_the_score(mark):
    text = WITH_PARTS.replace("MARK", mark).encode()
    examined = examine_file("rubric.yaml", text, FileSettings(shapes=(TABLE_OF_PARTS,)))
    ((_, rubric),) = examined.rubrics
    assert [criterion.id for criterion in rubric.criteria] == ["a/m", "a/n", "b"]
    reason = f"`{mark}` of `a` counts for none of its parts, which are what is judged"
    assert rubric.view.doubts == ((("criteria", 0, mark), reason),)


@pytest.mark.parametrize(("around", "inside"), [("1-5", "1-4"), ("1-5", "1-5"), ("1-4", "1-5")])
def test_a_second_scale_is_harmless_around_criteria_alone_if_it_is_that_of_their_scores(around, inside):
    items = "".join(f"  - {{id: {name}, text: Says it, spread: {inside}}}\n" for name in "ab")
    result, (rubric,) = see("evals/rubric.yaml", f"scale: 1-5\nspread: {around}\ncriteria:\n{items}")
    places = [(4, f"`spread: {inside}`"), *([(2, "`spread: 1-4`")] if around == "1-4" else [])]
    assert [(each.line, each.reason.split(" may")[0]) for each in result.unread] == places
    assert len(rubric.view.doubts) == len(places)
