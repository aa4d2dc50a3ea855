"""Records that share an id (A12), however many there are and wherever they stand."""

from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.scoring.ids import make_id_key
from rubric_lint.scoring.run import RecordIds

names = st.sampled_from(["a", "b", "c", 1, 1.5, None]) | st.text(max_size=2)
files = st.lists(st.lists(names, max_size=12), min_size=1, max_size=3)
"""The ids of the records of some files; None for none."""


@given(files)
def test_the_first_repeated_ids_are_found_in_order(listed):
    ids, places, expected = RecordIds(), {}, []
    for file, of_file in enumerate(listed):
        for line, name in enumerate(of_file, 1):
            if name is None:
                continue
            ids.add(hash(("r", make_id_key(name))), file, line)
            first = places.setdefault((type(name), name), (file, line))
            if first != (file, line):
                expected.append((first, (file, line)))
    assert (ids.repeated, ids.pairs) == (len(expected), expected[:5])


def test_two_rubrics_may_share_an_id_and_a_number_is_no_text():
    ids = RecordIds()
    for line, (rubric, name) in enumerate([("r", "1"), ("s", "1"), ("r", 1)], 1):
        ids.add(hash((rubric, make_id_key(name))), 0, line)
    assert (ids.repeated, ids.pairs) == (0, [])
