"""Real suites: exactly what is to be found in them, and nothing else."""

import re
from collections import Counter
from pathlib import Path

import pytest

from rubric_lint.lint import lint

CORPUS = Path(__file__).parents[1] / "../shared/corpus"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real suites is not beside this checkout")


def check(name):
    return lint(name, (CORPUS / name).read_bytes())


def placed(result):
    return [(finding.rule, result.source.position(finding.span.start).line) for finding in result.findings]


def deprecated_lines(name, first, last, fields):
    """Where the fields stand in a stretch of a file, found by nothing but a look at its lines."""
    lines = (CORPUS / name).read_text("utf-8").splitlines()
    for number, line in enumerate(lines[first - 1 : last], first):
        if found := re.match(rf" +(?:- )?({'|'.join(fields)}):", line):
            yield f"deprecated-{found[1]}", number


def rubric_of_details(name):
    """The first and last line of the one rubric of a suite that has the fields of v1."""
    lines = (CORPUS / name).read_text("utf-8").splitlines()
    first = next(number for number, line in enumerate(lines, 1) if "id: structure" in line)
    return first, next(number for number, line in enumerate(lines[first:], first) if "Example 3" in line)


def test_the_checklist_has_the_deprecated_fields_of_its_rubrics_and_nothing_else():
    name = "checklist-v1.yaml"
    expected = list(deprecated_lines(name, *rubric_of_details(name), ("description", "required")))
    assert Counter(rule for rule, _ in expected) == {"deprecated-description": 5, "deprecated-required": 5}
    assert placed(check(name)) == expected


@pytest.mark.parametrize("name", ["suite-v2.yaml", "suite-v2-map.yaml"])
def test_the_suites_have_only_required_left(name):
    expected = list(deprecated_lines(name, *rubric_of_details(name), ("required",)))
    assert len(expected) == 5
    assert placed(check(name)) == expected


def test_the_long_suite():
    result = check("suite-v2-long.yaml")
    required = list(deprecated_lines("suite-v2-long.yaml", 1, 10_000, ("required",)))
    assert [each for each in placed(result) if each[0] == "deprecated-required"] == required
    others = [
        (finding.rule, finding.pointer, result.source.slice(finding.span))
        for finding in result.findings
        if finding.rule != "deprecated-required"
    ]
    # Two rubrics mix a checklist with score ranges; the first gate and the verdicts of lone criteria split bands.
    assert others == [
        ("split-band", "/evalcases/0/rubrics/1/score_ranges/2/score_range", "[6, 8]"),
        ("split-band", "/evalcases/1/rubrics/0/score_ranges/2/score_range", "[6, 8]"),
        ("split-band", "/evalcases/2/rubrics/0/score_ranges/2/score_range", "[6, 8]"),
        ("split-band", "/evalcases/3/rubrics/0/score_ranges/2/score_range", "[6, 8]"),
        ("mixing", "/evalcases/7/rubrics/1", "id"),
        ("mixing", "/evalcases/8/rubrics/1", "id"),
    ]


@pytest.mark.parametrize(
    ("name", "rubrics", "criteria"),
    [
        ("checklist-v1.yaml", 3, 12),
        ("suite-v2.yaml", 4, 14),
        ("suite-v2-map.yaml", 4, 14),
        ("suite-v2-long.yaml", 12, 20),
    ],
)
def test_every_rubric_is_found(name, rubrics, criteria):
    result = check(name)
    assert (result.rubrics, result.criteria, result.ignored) == (rubrics, criteria, 0)
