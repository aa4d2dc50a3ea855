"""`convert --to rubric` writes any rubric that is scored; the same judge outputs get the same score and verdict."""

from textwrap import dedent

import pytest
from converting import convert, find_differences
from dialect_samples import SAMPLES, UNSCORED

from rubric_lint.scoring.loading import load_rubrics


@pytest.mark.parametrize("dialect", sorted(SAMPLES.keys() - UNSCORED))
def test_each_dialect_is_scored_as_before(dialect, tmp_path):
    sample = SAMPLES[dialect]
    text = dedent(sample.text)
    code, written, _ = convert(sample.file, text, tmp_path)
    assert code == 0
    assert find_differences(load_rubrics(sample.file, text), written, 300) == []
