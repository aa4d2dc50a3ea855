import re

from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.report.line_diff import write_unified

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "- id: 1\n", "- id: 2\n", "- id: 3\n", "\n"]), max_size=30)


def apply(before, diff):
    """The lines after a diff, read as `patch` reads it; each line that it keeps or takes out has to be there."""
    after, at = [], 0
    for line in diff[2:]:
        if found := re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@\n", line):
            start = int(found[1]) - (found[2] != "0")
            after += before[at:start]
            at = start
        elif line.startswith("+"):
            after.append(line[1:])
        else:
            assert before[at] == line[1:]
            after += [line[1:]] if line.startswith(" ") else []
            at += 1
    return after + before[at:]


@given(LINES, LINES)
def test_a_diff_makes_the_second_text_of_the_first(before, after):
    diff = [*write_unified(before, after, "a/x", "b/x")]
    assert diff[:2] == (["--- a/x\n", "+++ b/x\n"] if before != after else [])
    assert apply(before, diff) == after


@given(LINES)
def test_what_is_in_place_is_no_change(before):
    """Of lines that are changed in place, nothing else is shown as changed, also if others are alike."""
    after = [line.replace("id", "name") for line in before]
    changed = [line for line in write_unified(before, after, "a", "b") if line[0] in "+-"][2:]
    assert sorted(changed) == sorted(
        mark + line
        for old, new in zip(before, after, strict=True)
        if old != new
        for mark, line in (("-", old), ("+", new))
    )
