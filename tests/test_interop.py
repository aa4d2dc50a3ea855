"""Rubrics of other systems: recognised by their shape, checked at their place in their own words."""

from textwrap import dedent

from pages import report

from rubric_lint.interop import DIALECTS, load_dialect
from rubric_lint.lint import lint
from rubric_lint.locate import locate
from rubric_lint.reading import read_documents
from rubric_lint.source import Source


def located(text, name="a.yaml"):
    """The dialect and the path of every rubric of a file."""
    return [
        (location.view.dialect.name if location.view else location.version, location.path)
        for document in read_documents(Source(name, dedent(text)))[0]
        for location in locate(document)
    ]


def findings(text, name="a.yaml"):
    return [
        f"{finding.rule} {finding.pointer}: {finding.message}" for finding in lint(name, dedent(text).encode()).findings
    ]


def test_every_dialect_loads_under_its_name():
    assert [load_dialect(name).name for name in DIALECTS] == list(DIALECTS)


LIGHTSPEED = """\
    metrics_metadata:
      turn_level:
        "geval:accuracy":
          criteria: Is it right?
          threshold: 0.7
          rubrics:
            - {score_range: [0, 6], expected_outcome: A number differs from the source}
            - {score_range: [7, 10], expected_outcome: Every number is that of the source}
    """


def test_lightspeed_is_recognised():
    path = ("metrics_metadata", "turn_level", "geval:accuracy", "rubrics")
    assert (located(LIGHTSPEED), findings(LIGHTSPEED)) == ([("lightspeed", path)], [])


def test_the_threshold_of_a_lightspeed_metric_splits_bands():
    text = LIGHTSPEED.replace("threshold: 0.7", "threshold: 0.9")
    message = (
        "a verdict threshold splits this band [7, 10], which has one outcome (7 and 8: fail, 9 and 10: pass); "
        "start a band at 9"
    )
    pointer = "/metrics_metadata/turn_level/geval:accuracy/rubrics/1/score_range"
    assert findings(text) == [f"split-band {pointer}: {message}"]


def test_a_finding_stands_where_its_field_stands():
    text = LIGHTSPEED.replace("[7, 10]", "[6, 10]").replace("0.7", "0.6")
    assert report(lint("a.yaml", dedent(text).encode())) == dedent(
        """\
        a.yaml:8:25 error overlap: score 6 is in this band [6, 10] and in [0, 6]
           7 |         - {score_range: [0, 6], expected_outcome: A number differs from the source}
             |                         ------ also covers 6
           8 |         - {score_range: [6, 10], expected_outcome: Every number is that of the source}
             |                         ^^^^^^^
        """
    )
