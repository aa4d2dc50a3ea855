import math
import re

import pytest
import ruamel.yaml
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.source.scalar import LONGEST_WORD, SPECIAL_STARTS, find_ambiguity, resolve, write_scalar

AMBIGUOUS = [
    "yes",
    "Off",
    "0o12",
    "1_0",
    "017",
    "1:30",
    "0b11",
    "-0b11",
    "0x1_F",
    "-1:30",
    ".5e0",
    "1e3",
    "0x0A",
    "2020-01-01",
]

# YAML 1.2.2, section 10.3.2 (core schema), and what only YAML 1.1 would take for something else.
MEANINGS = [
    *((text, None) for text in ("", "~", "null", "Null", "NULL")),
    *((text, True) for text in ("true", "True", "TRUE")),
    *((text, False) for text in ("false", "False", "FALSE")),
    *((text, text) for text in ("nULL", "tRUE", "yes", "no", "on", "off", "y", "N", "None", "nan", "inf", ".NAn")),
    ("0", 0), ("7", 7), ("+7", 7), ("-7", -7), ("007", 7), ("017", 17), ("0o17", 15), ("0x1F", 31), ("0x0A", 10),
    *((text, text) for text in ("0o8", "0xG", "-0x1F", "+0o7", "0b11", "1_0", "1,0", "12:30:45", "2020-01-01")),
    ("1.5", 1.5), ("-1.5", -1.5), ("1.", 1.0), (".5", 0.5), ("+.5", 0.5), ("1e3", 1000.0), ("1E-3", 0.001),
    *((text, text) for text in (".", "+", "-", "e3", "1.2.3", "1e", ".e3", "1 2", "+.", "--1", "1._0", "٣")),
    (".inf", math.inf), ("+.INF", math.inf), ("-.Inf", -math.inf), ("1e400", math.inf), ("7.0", 7.0),
    *((text, math.nan) for text in (".nan", ".NaN", ".NAN")),
    ("9" * 5000, math.inf), ("-" + "9" * 5000, -math.inf), ("0x" + "f" * 5000, math.inf),
]  # fmt: skip


def test_plain_scalars_mean_what_the_core_schema_says():
    assert [(text, repr(resolve(text))) for text, _ in MEANINGS] == [(text, repr(value)) for text, value in MEANINGS]


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_what_two_kinds_of_reader_take_differently(text, said):
    found, readings, cure = find_ambiguity(text)
    assert found == text
    said(f"{readings}; {cure}")


ALIKE = ["", "~", "null", "true", "False", "0", "10", "-3", "2.0", "0.75", ".5", "1.5e+3", ".inf", ".nan"]
ALIKE += ["text", "id-1", "No errors", "on time", "7 bands", "v1", "1.2.3", "-", "08-15", "10%", ".e+8", "0x", "0xg"]


def test_what_all_readers_take_alike():
    assert [text for text in ALIKE if find_ambiguity(text)] == []


@pytest.mark.parametrize(("text", "number"), [("0xb", 11), ("0xB0", 176), ("0xbb", 187), ("0x0", 0)])
def test_a_hexadecimal_number_of_any_digits_is_read_alike_by_both_versions_of_yaml(text, number):
    assert find_ambiguity(text).readings.startswith(f"the number {number} to most readers")


def as_yaml_1_1(text):
    """What ruamel.yaml takes a scalar for when it is told to speak YAML 1.1."""
    reader = ruamel.yaml.YAML(typ="safe", pure=True)
    reader.version = (1, 1)
    return reader.load(f"- {text}")[0]


SHORT = st.text(alphabet="yesnoYESNOffF0123456789abxBX_:.+-eE", min_size=1, max_size=6)


@given(SHORT)
def test_a_reader_of_yaml_1_1_agrees_wherever_nothing_is_said(text):
    if re.match(r"[-+.]*_|[-+]\.", text):
        return  # here ruamel.yaml departs from YAML 1.1
    try:
        older = as_yaml_1_1(text)
    except (ruamel.yaml.YAMLError, ValueError, IndexError, Warning):
        return
    newer = resolve(text)
    if isinstance(older, str | bool | int | float | None) and find_ambiguity(text) is None:
        same = older == newer or (isinstance(older, float) and math.isnan(older))
        assert same, f"{text!r}: {older!r} and {newer!r}"


@given(SHORT)
def test_the_first_character_and_the_length_are_enough_to_rule_more_than_a_string_out(text):
    is_string = text[:1] not in SPECIAL_STARTS or (len(text) > LONGEST_WORD and text > ":")
    assert not is_string or (find_ambiguity(text) is None and resolve(text) == text)


@pytest.mark.parametrize(
    ("text", "written"),
    [("a #b", '"a #b"'), ("a#b c#", "a#b c#"), ("a -b", "a -b"), ("yes", '"yes"'), ("https://x.org", "https://x.org")],
)
def test_a_string_is_plain_only_if_every_reader_reads_it_whole(text, written):
    assert write_scalar(text) == written
    assert ruamel.yaml.YAML(typ="safe").load(f"- {written} # c") == [text]
