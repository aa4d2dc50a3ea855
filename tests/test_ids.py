"""Records that share an id (A12), however many there are and wherever they stand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubric_lint.scoring.run import Ids, RecordPlace, make_key

names = st.sampled_from(["a", "b", "c", 1, 1.5, None]) | st.text(max_size=2)
blocks = st.lists(st.tuples(st.integers(0, 2), st.lists(names, max_size=9)), max_size=9)
"""How many lines are left out before the records of a block, and their ids; None for none."""


@pytest.mark.slow
@settings(max_examples=40)  # each makes 256 arrays
@given(st.lists(blocks, min_size=1, max_size=3), st.integers(0, 5))
def test_the_first_repeated_ids_are_found_in_order(files, most):
    ids, places, expected = Ids(), {}, []
    for file, listed in enumerate(files):
        line = 1
        for left_out, listed_names in listed:
            line += left_out
            if None not in listed_names:
                ids.add(file, line, [make_key("r", name) for name in listed_names])
            for name in listed_names:
                if name is not None:
                    if None in listed_names:
                        ids.add(file, line, [make_key("r", name)])
                    first = places.setdefault((type(name), name), RecordPlace(file, line))
                    if first != (file, line):
                        expected.append((first, RecordPlace(file, line)))
                line += 1
    assert ids.repeated(most) == (len(expected), expected[:most])


def test_two_rubrics_may_share_an_id_and_a_number_is_no_text():
    ids = Ids()
    ids.add(0, 1, [make_key("r", "1"), make_key("s", "1"), make_key("r", 1)])
    assert ids.repeated(5) == (0, [])
