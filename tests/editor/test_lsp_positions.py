"""The text of a document as an editor counts it."""

from itertools import pairwise

import pytest
from editor import is_inside_line_end, place, units
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from steps import steps

from rubric_lint.editor.server.positions import DocumentText, find_edits
from rubric_lint.source.source import Edit, Span

ENCODINGS = ["utf-8", "utf-16", "utf-32"]
TEXTS = st.text(st.sampled_from("a: -\r\n\t\x0b\x0c\x85\u2028\u2029é€😀\ufeff"), max_size=30)


def as_tuple(position):
    return position.line, position.character


@pytest.mark.parametrize(("encoding", "before", "after"), [("utf-8", 7, 8), ("utf-16", 4, 5), ("utf-32", 3, 4)])
def test_characters_are_counted_in_the_units_of_the_client(encoding, before, after):
    text = DocumentText.of("a\n😀é: b", encoding)
    assert text.range(Span(5, 6)) == types.Range(types.Position(1, before), types.Position(1, after))
    assert text.span(types.Range(types.Position(1, before), types.Position(1, after))) == Span(5, 6)


@pytest.mark.parametrize(
    ("content", "offset", "expected"),
    [
        ("a\rb\r\nc\nd", 2, (1, 0)),
        ("a\rb\r\nc\nd", 5, (2, 0)),
        ("a\rb\r\nc\nd", 7, (3, 0)),
        ("a\x85b\u2028c\x0cd\x0be", 8, (0, 8)),
        ("\ufeffab\nc", 1, (0, 2)),
        ("\ufeffab\nc", 3, (1, 0)),
        ("\ufeff\ufeffab\nc", 1, (0, 3)),
        ("", 0, (0, 0)),
        ("a\n", 2, (1, 0)),
    ],
)
def test_lines_end_where_the_protocol_ends_them_and_a_mark_counts_for_the_editor(content, offset, expected):
    assert as_tuple(DocumentText.of(content).range(Span(offset, offset)).start) == expected


@pytest.mark.parametrize(
    ("position", "offset"),
    [((0, 99), 2), ((1, 99), 6), ((9, 0), 8), ((1, 1), 4), ((1, 2), 5), ((0, 0), 0)],
    ids=["beyond a line", "beyond a line with CRLF", "beyond the text", "within a pair", "behind it", "the start"],
)
def test_what_is_no_place_is_the_nearest_one_before_it(position, offset):
    assert DocumentText.of("ab\r\n😀x\r\n").offset(types.Position(*position)) == offset


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_between_the_characters_of_a_line_end_is_the_end_of_the_line(encoding):
    text = DocumentText.of("::::::\r\n", encoding)
    assert as_tuple(text.range(Span(7, 7)).start) == (0, 6)
    assert as_tuple(text.range(Span(8, 8)).start) == (1, 0)


@given(TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_a_place_leads_back_to_its_offset(content, encoding, data):
    text = DocumentText.of(content, encoding)
    lead = len(content) - len(content.lstrip("\ufeff"))
    offset = data.draw(st.integers(0, len(text.body)))
    position = text.range(Span(offset, offset)).start
    assert as_tuple(position) == place(content, offset + lead, encoding)
    assert text.offset(position) == offset - is_inside_line_end(text.body, offset)


@given(TEXTS, TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_an_edit_that_the_editor_makes_gives_the_text_that_is_meant(content, new, encoding, data):
    text = DocumentText.of(content, encoding)
    body = text.body
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, len(body)))
    change = text.edit(Edit(Span(start, end), new))
    after = text.change([types.TextDocumentContentChangePartial(range=change.range, text=change.new_text)])
    assert after.content == content[: len(content) - len(body)] + body[:start] + new + body[end:]


@given(st.lists(TEXTS, max_size=8), st.sampled_from(ENCODINGS))
def test_typing_character_by_character_gives_the_whole_text(pieces, encoding):
    text = DocumentText.of("", encoding)
    written = ""
    for piece in pieces:
        at = types.Position(*place(written, len(written), encoding)) if written else types.Position(0, 0)
        text = text.change([types.TextDocumentContentChangePartial(range=types.Range(at, at), text=piece)])
        written += piece
        assert text.content == written


def find_offset(content, position, encoding):
    """The offset of a position, character by character."""
    line, character = position
    offset = 0
    for _ in range(line):
        while offset < len(content) and content[offset] not in "\r\n":
            offset += 1
        if offset == len(content):
            return offset
        offset += 2 if content.startswith("\r\n", offset) else 1
    count = 0
    while offset < len(content) and content[offset] not in "\r\n":
        count += units(content[offset], encoding)
        if count > character:
            break
        offset += 1
    return offset


def change_slowly(content, changes, encoding):
    """The text after changes, one after the other; half surrogate pairs that meet become one character."""
    for start, end, new in changes:
        first, last = (find_offset(content, position, encoding) for position in (start, end))
        content = content[:first] + new + content[max(first, last) :]
        content = content.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return content


def partial(start, end, new):
    place = types.Range(types.Position(*start), types.Position(*end))
    return types.TextDocumentContentChangePartial(range=place, text=new)


POSITIONS = st.tuples(st.integers(0, 40), st.integers(0, 50))
HALVES = st.text(st.sampled_from("a: \r\n\x0c\u2028é€😀\ufeff\ud83d\ude00"), max_size=8)


@given(
    st.lists(st.tuples(TEXTS, st.integers(1, 200)), max_size=4),
    st.lists(st.tuples(POSITIONS, POSITIONS, HALVES), max_size=12),
    st.sampled_from(ENCODINGS),
)
def test_many_changes_at_once_are_made_one_after_the_other(parts, changes, encoding):
    content = "".join(part * count for part, count in parts)
    text = DocumentText.of(content, encoding).change([partial(*change) for change in changes])
    expected = change_slowly(content, changes, encoding)
    assert text.content == expected
    # Places in the changed text are those in the same text that was never changed.
    ends = range(0, len(text.body), 97)
    fresh = DocumentText.of(expected, encoding)
    assert [text.range(Span(end, end)) for end in ends] == [fresh.range(Span(end, end)) for end in ends]


def test_a_change_may_replace_all_between_others():
    text = DocumentText.of("a\nb\n").change(
        [
            partial((0, 0), (0, 1), "x"),
            types.TextDocumentContentChangeWholeDocument("one\r"),
            partial((1, 0), (1, 0), "\ntwo"),
        ]
    )
    assert (text.content, as_tuple(text.range(Span(5, 5)).start)) == ("one\r\ntwo", (1, 0))


@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
@pytest.mark.parametrize(
    "line", ["        expected_outcome: Says é\n", "expected_outcome: Says é, "], ids=["lines", "one line"]
)
def test_twice_the_text_with_twice_the_changes_is_twice_the_work(line, order):
    def work(count):
        at = line.index("expected_outcome")
        number = range(count)
        if order != "ascending":
            number = sorted(number, key=lambda each: -each if order == "descending" else each * 7919 % count)
        # As long as what it replaces, so that the order makes no difference to the places.
        starts = [(each, at) if "\n" in line else (0, at + each * len(line)) for each in number]
        changes = [partial(start, (start[0], start[1] + 16), "description     ") for start in starts]
        text = DocumentText.of(line * count)
        changed = []
        taken = steps(lambda: changed.append(text.change(changes)))
        assert changed[0].content == text.content.replace("expected_outcome", "description     ")
        return taken

    once, twice, four_times = map(work, (40, 80, 160))
    assert (twice < 2.5 * once, four_times < 2.5 * twice) == (True, True)


@pytest.mark.parametrize("line", ["# é\n", "- é "], ids=["lines", "one line"])
def test_the_places_of_twice_as_many_findings_are_twice_the_work(line):
    def work(count):
        text = DocumentText.of(line * count)
        spans = [Span(start, start + 1) for start in range(0, len(line) * count, len(line))]
        return steps(lambda: [text.range(span) for span in spans])

    once, twice, four_times = map(work, (40, 80, 160))
    assert (twice < 2.5 * once, four_times < 2.5 * twice) == (True, True)


def test_half_a_character_is_a_whole_one_once_the_other_half_is_there():
    at = types.Range(types.Position(0, 1), types.Position(0, 1))
    half = DocumentText.of("a\ud83d")
    assert half.body == "a\ufffd"
    end = types.Range(types.Position(0, 2), types.Position(0, 2))
    assert half.change([types.TextDocumentContentChangePartial(range=end, text="\ude00")]).content == "a😀"
    assert DocumentText.of("a").change([types.TextDocumentContentChangePartial(range=at, text="b")]).content == "ab"


@given(TEXTS, TEXTS)
def test_the_edits_between_two_texts_make_the_one_of_the_other(old, new):
    edits = list(find_edits(old, new))
    spans = [edit.span for edit in edits]
    assert spans == sorted(spans)
    assert all(first.end <= second.start for first, second in pairwise(spans))
    text = old
    for (start, end), piece in reversed(edits):
        text = text[:start] + piece + text[end:]
    assert text == new


def test_the_edits_between_two_texts_leave_what_lies_between_alone():
    old = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\n"
    new = "a: 1\nbb: 2\nc: 3\ne: 5\nf: 6\ng: 7\n"
    assert list(find_edits(old, new)) == [Edit(Span(6, 6), "b"), Edit(Span(15, 20), ""), Edit(Span(30, 30), "g: 7\n")]
