"""What careful users expect of documents and outputs of version 3: a table that was written before the code.

In a document, «...» marks the text at which a finding is expected.
"""

import re
from fractions import Fraction

import pytest
from cases import read_cases

from rubric_lint.lint.engine import lint
from rubric_lint.scoring import OutputError, score
from rubric_lint.scoring.loading import load_rubrics

TABLES = read_cases(__file__)
SCHEMA = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/{}/rubric.json\n"
V3, V2 = (SCHEMA.format(version) for version in ("v3", "v2"))
SUITE = V3.replace("rubric.json", "suite.json")
MARKED = re.compile("«(.*?)»", re.DOTALL)


def expect(text):
    """The document without its marks, and the offset and text of each."""
    places = [(mark.start() - 2 * number, mark[1]) for number, mark in enumerate(MARKED.finditer(text))]
    return MARKED.sub(r"\1", text), places


def find(text, name="r.rubric.yaml"):
    """The findings of a document, without hints: offset, text, severity and message."""
    result = lint(name, text.encode())
    listed = (
        (finding.span.start, result.source.slice(finding.span), finding.severity, finding.message)
        for finding in result.findings
    )
    return [each for each in listed if str(each[2]) != "hint"]


@pytest.mark.parametrize("name", TABLES["good"])
def test_nothing_is_found_in_a_good_document(name):
    text = TABLES["good"][name]
    head = SUITE if "tests:" in text else V3

    assert find(head + text, "r.eval.yaml" if "tests:" in text else "r.rubric.yaml") == []


@pytest.mark.parametrize("name", TABLES["bad"])
def test_a_fault_is_found_at_its_place(name):
    case = TABLES["bad"][name]
    text, places = expect(V3 + case["text"])

    found = find(text)

    severity = case.get("severity", "error")
    assert [(start, marked, str(level)) for start, marked, level, _ in found] == [(*at, severity) for at in places]
    assert all(word in message for *_, message in found for word in case.get("says", ()))


@pytest.mark.parametrize("name", TABLES["older"])
def test_version_2_says_how_to_say_version_3(name):
    text, places = expect(V2 + TABLES["older"][name]["text"])

    found = find(text)

    assert [(start, marked) for start, marked, *_ in found] == places
    assert all("v3" in message for *_, message in found)


OUTPUTS = TABLES["outputs"]
BEST = {
    "dose": {"level": 5},
    "unit": {"satisfied": True},
    "tone": {"level": 1},
    "flow": {"score": 100},
    "code": {"level": 5},
    "failure-1": {"satisfied": False},
}


def rated():
    (rubric,) = load_rubrics("r.rubric.yaml", V3 + OUTPUTS["rubric"]).values()
    return rubric


def output(changes):
    return {"checks": [{"id": name, **changes.get(name, answer)} for name, answer in BEST.items()]}


@pytest.mark.parametrize("name", OUTPUTS["valid"])
def test_a_valid_output_is_scored(name):
    changes, share, verdict = OUTPUTS["valid"][name]

    found = score(rated(), output(changes))

    assert (found.score, str(found.verdict)) == (Fraction(str(share)), verdict)


@pytest.mark.parametrize("name", OUTPUTS["invalid"])
def test_an_invalid_output_is_refused_at_its_place(name):
    changes, place = OUTPUTS["invalid"][name]
    criterion, *rest = place.split("/")

    with pytest.raises(OutputError) as caught:
        score(rated(), output(changes))

    assert caught.value.path.startswith("/".join(["/checks", str([*BEST].index(criterion)), *rest]))
