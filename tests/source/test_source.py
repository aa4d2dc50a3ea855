import codecs
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.source.source import Position, Source, Span, UndecodableError, as_bytes, stem_of

MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
TEXT = "rubrics: # 👍 é\n  - Größe\n"


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", b""), *MARKS.items()])
def test_a_mark_tells_the_encoding_and_text_goes_back_to_the_bytes_it_came_from(encoding, mark):
    for text in (TEXT, TEXT.replace("\n", "\r\n")):
        data = mark + text.encode(encoding)
        source = Source.from_bytes("a.yaml", data)
        assert (source, source.to_bytes(source.text)) == (Source("a.yaml", text, encoding, mark), data)


@pytest.mark.parametrize(
    ("data", "text", "span"),
    [
        (b"ab\xffc", "ab�c", Span(2, 3)),
        ("é\n".encode() + b"\xe9\n", "é\n�\n", (2, 3)),
        (b"a\xf0\x9f", "a�", (1, 2)),
        (codecs.BOM_UTF8 + b"a\xff", "a�", (1, 2)),
        (codecs.BOM_UTF16_LE + b"a\x00b", "a�", (1, 2)),
        (codecs.BOM_UTF16_BE + b"\x00a\xd8\x00\x00b", "a�b", (1, 2)),
        (codecs.BOM_UTF32_LE + b"a\x00\x00\x00\x00\x00\x00\x7f", "a�", (1, 2)),
    ],
    ids=["no start byte", "latin-1", "cut short", "after a mark", "half a unit", "lone surrogate", "beyond Unicode"],
)
def test_bytes_that_are_no_text_are_named_with_their_place(data, text, span, said):
    with pytest.raises(UndecodableError) as fault:
        Source.from_bytes("a.yaml", data)
    assert (fault.value.source.text, fault.value.span) == (text, span)
    said(str(fault.value))
    assert fault.value.message == str(fault.value)


def test_each_line_end_of_yaml_1_2_counts_once_and_those_of_yaml_1_1_are_ordinary_text():
    source = Source("a.yaml", "a\nb\rc\r\nd\n")
    assert [source.slice(source.line_span(line)) for line in range(1, source.line_count + 1)] == [*"abcd", ""]
    of_yaml_1_1 = Source("a.yaml", "a\x85b\u2028c\u2029d\x0be\x0cf")
    assert (of_yaml_1_1.line_count, of_yaml_1_1.position(4)) == (1, Position(1, 5, 4))
    empty = Source("a.yaml", "")
    assert (empty.line_count, empty.position(0), empty.line_span(1)) == (1, Position(1, 1, 0), Span(0, 0))


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (0, Position(1, 1, 0)),
        (1, Position(1, 2, 1)),  # on the line end itself
        (2, Position(2, 1, 2)),
        (3, Position(2, 2, 3)),  # after the emoji: one column
        (5, Position(3, 1, 5)),
        (6, Position(3, 2, 6)),  # the end of the text
    ],
)
def test_positions_are_one_based_and_count_code_points(offset, expected):
    assert Source("a.yaml", "a\n👍\r\nb").position(offset) == expected


@given(st.text(alphabet="ab👍é\x85\u2028\r\n", max_size=30))
def test_lines_and_line_ends_make_up_the_whole_text(text):
    source = Source("a.yaml", text)
    spans = [source.line_span(line) for line in range(1, source.line_count + 1)]
    between = [text[before.end : after.start] for before, after in itertools.pairwise(spans)]
    assert set(between) <= {"\n", "\r", "\r\n"}
    assert "".join(source.slice(span) + end for span, end in zip(spans, [*between, ""], strict=True)) == text


@given(st.text(alphabet="ab👍é\r\n", max_size=30), st.data())
def test_a_position_lies_on_the_line_it_names(text, data):
    source = Source("a.yaml", text)
    offset = data.draw(st.integers(0, len(text)))
    line, column, same = source.position(offset)
    start = source.line_span(line).start
    assert (same, start + column - 1) == (offset, offset)
    assert line == 1 + len([end for end in range(1, offset + 1) if _ends_a_line(text, end)])


def _ends_a_line(text, end):
    return text[end - 1] == "\n" or (text[end - 1] == "\r" and text[end : end + 1] != "\n")


def test_a_text_is_its_bytes_in_utf_8_and_bytes_are_their_own():
    assert [as_bytes(each) for each in ("é\ud800", b"\xff")] == [b"\xc3\xa9\xed\xa0\x80", b"\xff"]


def test_the_stem_of_a_name_ends_before_its_first_dot():
    names = ["summary.rubric.yaml", "a.b/summary.yaml", "summary", ".hidden", ""]
    assert [stem_of(name) for name in names] == ["summary", "summary", "summary", "", ""]
