"""Write a rubric or a suite to start from: each shape as a valid file that names its schema."""

import json
from textwrap import indent

from rubric_lint.model.schema_files import CURRENT, VERSION_3, newest
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

RUBRICS = {
    "checklist": """\
rubrics:  # the judge answers yes or no for each criterion
  - id: answers-first
    expected_outcome: The first sentence answers the question
  - id: sources
    expected_outcome: Every number is followed by the document that it comes from
    weight: 2.0  # its share in the average; without it: 1
    required_min_score: 10  # the gate: the verdict is fail when this is not met
""",
    "score-ranges": """\
rubrics:  # the judge gives each criterion an integer from 0 to 10
  - id: accuracy
    weight: 2.0  # its share in the average; without it: 1
    required_min_score: 7  # the gate: below it the verdict is fail
    score_ranges:  # bands from 0 to 10, without gap or overlap
      - score_range: [0, 6]
        expected_outcome: A name, number or date differs from the source
      - score_range: [7, 10]
        expected_outcome: Every name, number and date is that of the source
  - id: length
    score_ranges:  # the short form: each band ends below the next key
      0: Longer than 80 words
      6: At most 80 words
""",
    "holistic": """\
rubrics:  # the judge gives the whole answer one integer from 0 to 10
  - score_range: [0, 5]
    expected_outcome: Answers another question, or contradicts the source
  - score_range: [6, 7]
    expected_outcome: Answers the question, and leaves out a step that the reader needs
  - score_range: [8, 10]
    expected_outcome: Answers the question with every step that the reader needs
""",
    "levels": """\
rubrics:  # the judge picks one level of each criterion
  - id: coverage
    required_min_level: 2  # the gate: below this level the verdict is fail
    levels:
      - level: 3
        name: Excellent
        expected_outcome: Names every step, with an example for each
      - level: 2
        name: Adequate
        expected_outcome: Names every step, without examples
      - level: 1
        name: Poor
        expected_outcome: Leaves out a step
""",
    "scale": """\
scale: [1, 5]  # from the worst to the best; the judge gives each criterion a whole number
pass_threshold: 4  # the lowest average of the verdict pass
criteria:
  - id: coverage
    expected_outcome: The steps that the reader has to take
    weight: 2.0  # its share in the average; without it: 1
    required_min_level: 3  # the gate: below this level the verdict is fail
    levels:
      1: Names none of the steps
      2: Names fewer than half of the steps
      3: Names at least half of the steps
      4: Names every step
      5: Names every step, with an example for each
  - id: sources
    expected_outcome: Every number is followed by the document that it comes from
    scale: [0, 1]  # this one is a yes or no
""",
}
"""The shapes as YAML, by their names on the command line; one without `rubrics` is a whole rubric of version 3."""

_CASE = """\
tests:
  - id: first-case
    input: What is asked of the model
"""


def start(shape: str, *, suite: bool, as_json: bool) -> str:
    """Return the text of a rubric file, or of a suite with one case; JSON names the schema in a key."""
    text = RUBRICS[shape]
    is_whole = not text.startswith("rubrics:")
    name, version = "rubric", CURRENT
    if is_whole:
        version = VERSION_3
    if suite and is_whole:
        text = f"rubrics:\n{indent(text, '  ')}"
    if suite:
        name, text = "suite", _CASE + indent(text, "    ")
    schema = newest(name, version)
    if not as_json:
        return schema.modeline + text
    documents, _ = read_documents(Source("starter.yaml", text))
    return json.dumps({"$schema": schema.bundled_id, **documents[0].data}, indent=2) + "\n"
