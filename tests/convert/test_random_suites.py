"""Random suites of all generations are converted whole, with every comment, or what is in the way is listed."""

import re
from collections import Counter

import pytest
from agentv_5 import faults
from random_suites import SuiteWriter
from styles import Dice

from rubric_lint.convert.release import rewrite
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source


def list_comments(text):
    return Counter(re.findall(r"(?:^|(?<=\s))#.*", text))


def find_faults(name, text):
    documents, _ = read_documents(Source(name, text))
    return {fault for document in documents for fault in faults(document.data)}


@pytest.mark.slow
@pytest.mark.spread(4)
@pytest.mark.parametrize("part", range(4))
def test_random_suites_are_converted_whole_or_not_at_all(part):
    converted = 0
    for seed in range(part, 200, 4):
        name, text = SuiteWriter(Dice(seed)).write()
        fixed = rewrite(name, text.encode(), "agentv-5")
        assert fixed.doubt == ""
        if fixed.conversion is None:
            assert fixed.unmet or not fixed.is_suite  # nothing shows of some that they are AgentV's
            continue
        converted += 1
        assert list_comments(fixed.text) == list_comments(text)
        if not fixed.unmet:
            assert find_faults(name, fixed.text) <= find_faults(name, text)
        again = rewrite(name, fixed.data, "agentv-5")
        assert (again.text, len(again.unmet)) == (fixed.text, len(fixed.unmet))
    assert converted > 10
