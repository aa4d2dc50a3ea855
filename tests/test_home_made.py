"""Home-made rubrics are read where structure and a second sign agree, else reported; look-alikes are left alone."""

from decimal import Decimal
from pathlib import Path
from textwrap import dedent

import pytest
from cases import read_cases
from found import codes

from rubric_lint.dialects import could_hold_rubrics
from rubric_lint.dialects.search.home_made import TITLE
from rubric_lint.lint.engine import examine_file, lint
from rubric_lint.shapes.infer import infer, words
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

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
    assert (codes(result.findings), result.unread) == (found, ())
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
    "{scale: 0-100, pass_threshold: 0.7, G: 0.5": (Decimal("0.7"), 50, ""),
    "{scale: 1-5, thresholds: {pass: 4}, G: 3": (Decimal("0.75"), 3, ""),
    "{scale: 1-5, pass_threshold: 0.7, G: 3": (None, 3, "0.7 is not a score on a scale that starts at 1"),
    "{scale: 1-5, pass_threshold: 4, G: 0.5": (Decimal("0.75"), None, "0.5 is not a score on a scale that starts at 1"),
    "{scale: 0-20, pass_threshold: 60%, G: 100%": (Decimal("0.6"), 20, ""),
    "{scale: 1-5, pass_threshold: 80%, G: 3": (None, 3, "80% is not a score on a scale that starts at 1"),
    "{scale: 1-5, pass_threshold: '4', G: 3": (
        None,
        3,
        '`pass_threshold` is "4", and a threshold is a number on the scale of the file',
    ),
    "{scale: 1-5, pass_threshold: 70, G: 3": (
        None,
        3,
        "nothing says of what 70, the threshold, is a part: the weights add up to 100, and the scale ends at 5",
    ),
}


@pytest.mark.parametrize("head", THRESHOLDS)
def test_thresholds_and_gates_are_scores_or_parts_of_the_scale_or_nothing_is_scored(head):
    head, gate = head.split(", G: ")
    items = f"{{id: a, weight: 60, text: Names it, min_score: {gate}}}, {{id: b, weight: 40, text: Dates it}}"
    result, (rubric,) = see("evals/rubric.yaml", f"{head}, criteria: [{items}]}}")
    found = (rubric.view.threshold, rubric.criteria[0].gate, rubric.view.unscorable)
    assert (result.findings, found) == ((), THRESHOLDS[f"{head}, G: {gate}"])


PAIR = "{id: tone, weight: 2, description: Thanks the reader}, {id: facts, weight: 1, description: Is right}"
NOT_SHOWN = "nothing else shows that a judge reads them; if a judge reads them, run `rubric-lint adopt FILE`"
NO_SCORES = "no weights, levels or gates; if a judge reads them, run `rubric-lint adopt FILE`"


# By what is missing: the name of the file, its text, the line, and the end of the reason.
TOLD = {
    "a second sign": ("goals.yaml", f"a: 1\ncriteria: [{PAIR}]\n", 2, NOT_SHOWN),
    "a known name": ("my rubric.yaml", f"layers: [{PAIR}]\n", 1, NOT_SHOWN),
    "a rubric by name": ("a.yaml", f"rubric: [{PAIR}]\n", 1, NOT_SHOWN),
    "scores": ("criteria.yaml", "criteria:\n  - {name: a, description: Is right}\n", 1, NO_SCORES),
    "numbers": ("rubric.yaml", "style: [{id: a, weight: major, description: Is short}]\n", 1, NO_SCORES),
    "a mapping for each": (
        "rubric.yaml",
        "score_scale: 0-100 for each\nfields: {a: Names the window, b: Names the form, c: Is no longer than a page}\n",
        2,
        "`fields` holds 3 texts; if a judge takes each for a criterion, run `rubric-lint adopt FILE`",
    ),
    "texts": (
        "rubric.yaml",
        "dimensions: {tone: {weight: 1, good: [Thanks]}, facts: {weight: 2, good: [Is right]}}\n",
        1,
        "do not say in words what is judged; add a `description` to each criterion, and run `rubric-lint adopt FILE`",
    ),
    "criteria": (
        "rubric.yaml",
        "scale: 1-5\ncriteria:\n",
        2,
        "`criteria` has no value, so nothing is judged by it; list its criteria or remove it",
    ),
    "a second sign in TOML": (
        "goals.toml",
        '[[criteria]]\nweight = 1\ndescription = "Is right"\n[[criteria]]\nweight = 2\ndescription = "Is kind"\n',
        1,
        NOT_SHOWN,
    ),
    "items of a list": (
        "evals/rubric.json",
        '{"pass_threshold": 3, "dimensions": []}',
        1,
        "`dimensions` is an empty list, so nothing is judged by it; list its criteria or remove it",
    ),
    "points that are levels": (
        "rubric.yaml",
        (
            "criteria:\n"
            "  - {name: a, levels: [{points: 0, description: No}, {points: 1, description: Yes}]}\n"
            "  - {name: c, levels: [{points: 0, description: No}, {points: 1, description: Yes}]}\n"
            "  - {name: b, levels: [{points: 1, description: Logs}, {points: 1, description: Tests}]}\n"
        ),
        1,
        "the points in some lists repeat, so they are not levels; if a judge reads them, run `rubric-lint adopt FILE`",
    ),
    "texts that cases expect": (
        "evals/cases.yaml",
        (
            "- {input: Can I return it?, expected: [Names the period of 30 days, Does not promise it]}\n"
            "- {input: Who pays?, expected: [Says that you pay it]}\n"
        ),
        1,
        "`expected` holds 2 texts; if a judge takes each for a criterion, run `rubric-lint adopt FILE`",
    ),
    "a purpose": (
        "rubric.yaml",
        f"course: ENG 101\npass_threshold: 2\ncriteria: [{PAIR}]\n",
        3,
        NOT_SHOWN,
    ),
}


@pytest.mark.parametrize(("name", "text", "line", "end"), TOLD.values(), ids=TOLD)
def test_what_is_nearly_a_home_made_rubric_is_told_with_the_way_on(name, text, line, end):
    result, rubrics = see(name, text)
    assert (rubrics, result.findings) == ([], ())
    assert [(each.line, each.reason.endswith(end), each.is_known) for each in result.unread] == [(line, True, False)]


LEFT_ALONE = {
    "a course": ("essay.yaml", f"course: ENG 101\ncriteria: [{PAIR}]\n"),
    "homework": ("rubric.yaml", f"homeworkNumber: 3\ncriteria: [{PAIR}]\n"),
    "ratings of a course": (
        "rubric.json",
        (
            '{"criteria": [{"description": "Thesis is clear", "points": 5, "ratings": [{"points": 5}]}, '
            '{"description": "Style is clear", "points": 5, "ratings": [{"points": 5}]}]}'
        ),
    ),
    "a quiz in a folder of judges": (
        "eval/quiz.yaml",
        (
            "version: 1\nquestions:\n  - {id: a, question: How likely are you to come back?, points: 2}\n"
            "  - {id: b, question: What is the capital of France?, points: 1}\n"
        ),
    ),
    "a quiz as a list": (
        "evals/survey.json",
        '[{"question": "What is the capital?", "points": 2}, {"question": "How old is it?", "points": 1}]',
    ),
    "hiring": ("hiring.yaml", f"version: 1\nposition: Engineer\ncriteria: [{PAIR}]\n"),
    "a tender": (
        "tender.yaml",
        (
            "version: 1\ncriteria:\n  - {text: Has ISO 27001, weight: 40, supplier: A}\n"
            "  - {text: Is the cheapest, weight: 60, supplier: A}\n"
        ),
    ),
    "checks by regex": (
        "evals/rubric.yaml",
        (
            "criteria:\n  - {id: a, weight: 2, description: Names the window, pattern: 30 days}\n"
            "  - {id: b, weight: 1, description: Names the form, pattern: form}\n"
        ),
    ),
    "checks by keywords": (
        "evals/rubric.json",
        (
            '[{"id": "a", "points": 2, "description": "Names the window", "keywords": ["30 days"]}, '
            '{"id": "b", "points": 1, "description": "Names the form", "keywords": ["form"]}]'
        ),
    ),
    "results of a judge": (
        "evals/judged.json",
        (
            '{"version": 1, "dimensions": {"tone": {"score": 4, "description": "How it speaks", "reasoning": "Kind"}, '
            '"facts": {"score": 2, "description": "What it says", "reasoning": "Two are wrong"}}}'
        ),
    ),
    "test cases": (
        "evals/cases.yaml",
        (
            "- {id: a, prompt: Can I return it?, weight: 2, expected: It names the window}\n"
            "- {id: b, prompt: Who pays the postage?, weight: 1, expected: It names you}\n"
        ),
    ),
    "cases with words to find": (
        "evals/cases.yaml",
        "- {input: Can I return it?, expected: [30 days, no refund]}\n- {input: Who pays?, expected: [you]}\n",
    ),
    "expected texts of another purpose": (
        "tests/cases.yaml",
        "- {input: 1, expected: [It is a b, It is a c]}\n- {input: 2, expected: [It is b c]}\n",
    ),
    "parcels": ("orders.yaml", f"version: 1\nrubrics_of_law: 3\nitems: [{PAIR}]\n"),
    "settings": ("judge.yaml", "criteria: [accuracy, tone]\nscale: [1, 5]\nweight: 2\nthreshold: 3\n"),
    "translations": ("rubric.yaml", "criteria: {title: Kriterien, weight: Das Gewicht, add: Neu anlegen}\n"),
    "translations of two forms": (
        "locales/de.json",
        '{"criteria": {"title": {"label": "Name"}}, "rubric": {"title": "Titel"}}',
    ),
    "settings in TOML": ("judge.toml", '[criteria]\nweight = "a b"\n[tool.rubric]\nscore = 1\n'),
    "empty settings": ("judge.yaml", "criteria: []\nmodel: a\n"),
    "lines of records": (
        "rubric.jsonl",
        '{"criteria": [{"id": "a", "weight": 1, "description": "Is right"}]}\n' * 2,
    ),
}


@pytest.mark.parametrize(("name", "text"), LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_what_only_looks_like_a_home_made_rubric_is_left_alone(name, text):
    result, rubrics = see(name, text)
    assert (rubrics, result.findings, result.unread) == ([], (), ())


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
    (found,) = infer(documents, "mine")
    assert found.table == {
        "name": "mine",
        "files": [],
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
    assert sorted("/".join(map(str, path)) for _, path in found.unused) == [
        *("parts/0/criteria/0/owner_team", "parts/0/title", "parts/1/title", "scoring/note", "version"),
    ]


def test_bytes_show_each_word_for_containers():
    for word in (*words().containers, *words().common):
        text = f"{word}:\n  - {{weight: 1, description: Is right}}\n".encode()
        assert could_hold_rubrics(text, "evals/a.yaml"), word
    assert not could_hold_rubrics(b"items:\n  - {weight: 1, description: Is right}\n", "orders/a.yaml")
    assert not could_hold_rubrics(b"success_criteria: none\n", "a.yaml")


PLACES = [folder / "shared" / "corpus" / "home" for folder in Path(__file__).parents[2:4]]
HOME = next(filter(Path.is_dir, PLACES), PLACES[0])
LOOK_ALIKES = [path for path in HOME.glob("not/*") if path.suffix != ".md"]


@pytest.mark.skipif(not HOME.is_dir(), reason="the shared corpus of real files is not beside this repository")
def test_most_real_files_are_read_and_no_look_alike_is():
    real = [path for path in HOME.glob("S[3-8]/*") if path.suffix != ".md"]
    found = {path: lint(str(path), path.read_bytes()) for path in [*real, *LOOK_ALIKES]}
    read = [path for path in real if found[path].rubrics]
    told = [path for path in real if found[path].unread and path not in read]
    assert len(read) >= 0.6 * len(real)
    assert len(read) + len(told) >= len(real) - 1
    true = {"undescribed-scale.undescribed", "vague-outcome.label", "weight.total"}
    assert {path.name: codes(found[path].findings) for path in read if {*codes(found[path].findings)} - true} == {}
    assert [path for path in LOOK_ALIKES if found[path].rubrics or found[path].findings or found[path].unread] == []
