"""Records that share an id (A12), however many there are and wherever they stand."""

from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.scoring.ids import Ids, RecordPlace, make_key

names = st.sampled_from(["a", "b", "c", 1, 1.5, None]) | st.text(max_size=2)
records = st.lists(st.tuples(st.booleans(), st.integers(1, 3), names), max_size=30)
"""Whether a chunk begins, by how many lines a record is further down, and its id; None for none."""


@given(st.lists(records, min_size=1, max_size=3), st.integers(0, 5))
def test_a12_the_first_repeated_ids_are_found_in_order(files, most):
    ids, places, expected = Ids(), {}, []
    for file, listed in enumerate(files):
        line, lines, keys = 0, [], []
        for begins, step, name in listed:
            if begins:
                ids.add(file, lines, keys)
                lines, keys = [], []
            line += step
            lines.append(line)
            keys.append(None if name is None else make_key("r", name))
            if name is not None:
                first = places.setdefault((type(name), name), RecordPlace(file, line))
                if first != (file, line):
                    expected.append((first, RecordPlace(file, line)))
        ids.add(file, lines, keys)
    assert ids.repeated(most) == (len(expected), expected[:most])


def test_two_rubrics_may_share_an_id_and_a_number_is_no_text():
    ids = Ids()
    ids.add(0, [1, 2, 3], [make_key("r", "1"), make_key("s", "1"), make_key("r", 1)])
    assert ids.repeated(5) == (0, [])
