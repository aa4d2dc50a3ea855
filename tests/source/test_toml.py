"""Rubrics in TOML: exact places, what the originals refuse or do in silence, and fixes of keys alone."""

import tomllib
from functools import partial
from pathlib import Path

import pytest
from cases import as_tuples, read_cases
from found import describe
from hypothesis import given, settings
from hypothesis import strategies as st
from lint_command import call, folder  # noqa: F401 (a fixture)

from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import fix
from rubric_lint.scoring.loading import RubricError, load_rubrics
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)


LOOK_ALIKES = TABLES["LOOK_ALIKES"]

EVERYTHING = TABLES["EVERYTHING"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_value_is_where_it_is_written(end):
    source = Source("a.toml", EVERYTHING.replace("\n", end))
    ((document,), faults) = read_documents(source)
    assert faults == []
    assert [source.slice(span) for span in document.tree.comments] == ["# ü😀 [[no.header]]", "# first", "# in between"]
    assert spell(document.data) == spell(tomllib.loads(source.text))
    for path, _ in document.entries():
        value, written = document.value(path), source.slice(document.span(path))
        if not isinstance(value, dict | list):
            assert spell(tomllib.loads(f"x = {written}")["x"]) == spell(value)
    item = ("criterion", 0)
    assert source.slice(document.span(item)).split(end)[0] == "[[criterion]]"
    assert source.slice(document.span(item)).endswith('type = "negative"')
    assert source.slice(document.span(("criterion", 2))) == "[[criterion]]"


def spell(data):
    """Data with dates as strings, which is how they are read."""
    match data:
        case dict():
            return {key: spell(value) for key, value in data.items()}
        case list():
            return [spell(item) for item in data]
        case str() | bool() | int() | float():
            return data
    return str(data)


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=6)
values = st.recursive(
    st.booleans() | st.integers(-(10**6), 10**6) | words | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


def write(value):
    """A value as TOML writes it on one line."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case list():
            return "[" + ", ".join(map(write, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{write(key)} = {write(inner)}" for key, inner in value.items()) + "}"
    return repr(value)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.dictionaries(words, values, max_size=3), max_size=3))
def test_the_places_of_any_toml_hold_its_values(tables):
    text = ""
    for table in tables:
        pairs = "".join(f"{write(key)} = {write(value)} # {write(key)}\n" for key, value in table.items())
        text += f'[[ a . "b" ]] # [y]\n{pairs}'
    source = Source("a.toml", text)
    ((document,), _) = read_documents(source)
    assert document.data == tomllib.loads(text)
    for path, _ in document.entries():
        if len(path) > 3:  # a value of a table in `a.b`
            assert tomllib.loads(f"x = {source.slice(document.span(path))}")["x"] == document.value(path)


JUDGE = """\
[judge]
judge = "claude-code"

[[criterion]]
description = "Names the cause"
weight = 2

[[criterion]]
description = "Names the next step"
"""


found = partial(describe, name="judge.toml")


def test_huge_numbers_and_other_encodings_are_read():
    for number in ("0x" + "F" * 6000, "-1e999", "1" + "0" * 400):
        assert all(each.startswith("weight ") for each in found(JUDGE.replace("weight = 2", f"weight = {number}")))
    blank = JUDGE.replace("Names the cause", " ")
    result = lint("judge.toml", ("\ufeff" + blank).encode("utf-16-le"))
    assert [finding.rule for finding in result.findings] == ["empty-outcome"]


@pytest.mark.parametrize(
    "more",
    [
        "weigth = 1", 'levels = ["No", "Yes"]', "points = 7", "max = 7", 'type = "likert"\npoints = 1',
        'type = "numeric"\nmin = 3', 'type = "rubric"', 'type = "rubric"\nlevels = ["One"]', 'type = "yes"', "id = 7",
        "weight = inf",
    ],
)  # fmt: skip
def test_what_harbor_refuses_or_ignores_is_found(more, said):
    said(found(JUDGE.replace("weight = 2", more)))


def test_more_than_one_criterion_and_what_is_beside_them(said):
    said(found(JUDGE + "[scoring]\nthreshold = 1\n"))
    optional = JUDGE.replace("weight = 2", "optional = true") + 'annotations = { importance = "optional" }\n'
    said(found(optional + '[scoring]\naggregation = "required_pass"\n'))
    assert [each.split(": ")[0] for each in found(JUDGE.replace("[judge]", "[jugde]"))] == ["unknown-field 1:2"]
    assert found(JUDGE.replace("weight = 2", "weight = 0") + "weight = 0\n")[0].startswith("weight ")
    summed = JUDGE.replace("weight = 2", "weight = -2") + '[scoring]\naggregation = "weighted-sum"\n'
    said(found(summed))


def test_names_that_harbor_makes_equal_are_found(said):
    same = JUDGE.replace("Names the cause", "Cites the source of every number that it gives, always").replace(
        "Names the next step", "Cites the source of every number that it gives, if asked"
    )
    (told,) = found(same)
    said(told)
    assert found(same.replace("weight = 2", 'name = "always"')) == []
    chinese = JUDGE.replace("Names the cause", "指出原因").replace("Names the next step", "指出下一步")
    assert [each.split(":")[0] for each in found(chinese)] == ["duplicate-id 9"]


def worth(text, name="judge.toml"):
    """What each answer of each criterion is worth."""
    (rubric,) = load_rubrics(name, text.encode()).values()
    return [[(grade.answer, str(grade.score)) for grade in criterion.grades] for criterion in rubric.criteria]


def test_harbor_scores_are_exact():
    assert worth(JUDGE) == [[(False, "0"), (True, "1")]] * 2
    levels = JUDGE.replace("weight = 2", 'type = "rubric"\nlevels = ["Names none", "Names one", "Names all"]')
    three = [(0, "0"), (1, "1/2"), (2, "1")]
    assert worth(levels) == [three, [(0, "0"), (1, "1")]]
    likert = JUDGE.replace("weight = 2", 'type = "likert"\npoints = 3')
    assert worth(likert)[0] == three


@pytest.mark.parametrize(
    "change", [("weight = 2", 'type = "numeric"'), ("[judge]", 'scoring.aggregation = "all-pass"\n[judge]')]
)
def test_what_is_no_average_is_not_scored(change, said):
    with pytest.raises(RubricError) as refused:
        load_rubrics("judge.toml", JUDGE.replace(*change).encode())
    said(refused.value.faults[0])


CRITERIA = """\
[[criteria]]
name = "unit"
text = "Every amount has its unit"
choices = ["nowhere", "in some places", "everywhere"]

[[criteria]]
name = "source"
text = "Every claim names its source"
weight = 2
"""


@pytest.mark.parametrize(
    "change",
    [
        ("weight", "weigth"),
        ("= 2", "= -1"),
        ('"source"', '"unit"'),
        ('["nowhere", "in some places", "everywhere"]', '["one"]'),
        ('"Every amount has its unit"', '" "'),
        ('"in some places"', '"nowhere"'),
        ('"nowhere", "in some places", "everywhere"', '"yes", "no"'),
    ],
    ids="-".join,
)
def test_what_verifiers_refuses_or_ignores_is_found(change, said):
    said(found(CRITERIA.replace(*change), name="rubric.toml"))


def test_verifiers_scores_by_rank_in_toml_and_in_json():
    three = [(0, "0"), (1, "1/2"), (2, "1")]
    assert (found(CRITERIA), worth(CRITERIA)) == ([], [three, [(0, "0"), (1, "1")]])
    import json  # noqa: PLC0415

    data = tomllib.loads(CRITERIA)
    for written in (data, data["criteria"]):
        assert worth(json.dumps(written), "rubric.json") == worth(CRITERIA)


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_other_toml_is_silent(text):
    result = lint("pyproject.toml", text.encode())
    assert (result.findings, result.unread, result.rubrics) == ((), (), 0)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (JUDGE.replace('cause"', "cause"), "5:31"),
        (JUDGE + "description = 1\n", "10:1"),
        (JUDGE + "name = 1\n\"name\" = 'x # y'\n", "11:1"),
        (JUDGE + "x.y = 1 # z = 2\nx  = 2\n", "11:1"),
        (JUDGE + "x = {a = 1, b = [2], a = 3}\n", "10:22"),
        (JUDGE + "[[x.y]]\n[x. 'y']\n", "11:2"),
        (JUDGE + "[x\n", "10:3"),
        (CRITERIA + "x = [", "10:5"),
    ],
)
def test_a_syntax_error_is_told_at_its_place(text, place):
    assert [each[: len(place) + 19] for each in found(text)] == [f"syntax {place}: not TOML: "]


@pytest.mark.parametrize("text", ["{% if x %}\n" + JUDGE.replace('cause"', "cause"), "criterion = description\n"])
def test_a_syntax_error_of_others_is_silent(text):
    assert [each.split(" ")[:2] for each in found(text)] == [["not", "read"]]


def test_deep_nesting_is_no_crash(said):
    said(found(JUDGE + "x = " + "[" * 5000 + "]" * 5000)[0])
    assert found(JUDGE + "[" + ".".join("a" * 400) + "]\n")[0].startswith("syntax ")


@pytest.mark.parametrize("sign", ["", "-"], ids=["plus", "minus"])
def test_a_number_with_thousands_of_digits_is_told_at_its_place(sign, said):
    number = sign + "1" * 5000
    text = JUDGE.replace("weight = 2", f"weight = {number} # 2") + f'note = "{number}"\n'
    (line,) = [each for each in found(text) if each.startswith("weight")]
    said(line)


def test_only_the_key_is_rewritten():
    text = ("# ü\n" + JUDGE.replace("weight", "wieght") + "points = 3 # x\n").replace("\n", "\r\n")
    fixed = fix("judge.toml", text.encode(), unsafe=True)
    assert fixed.data.decode() == text.replace("wieght", "weight")
    quoted = JUDGE.replace("weight = 2", "'wieght'=2")
    assert fix("judge.toml", quoted.encode(), unsafe=True).data.decode() == quoted.replace("wieght", "weight")


@pytest.mark.parametrize("comment", as_tuples(TABLES["comments silence findings"]))
def test_comments_silence_findings(comment):
    result = lint("judge.toml", JUDGE.replace("weight = 2", "weigth = 2").replace(*comment).encode())
    assert (result.findings, result.ignored) == ((), 1)


def test_folders_are_searched_for_toml_that_holds_rubrics(said):
    Path("tests").mkdir()
    Path("tests/judge.toml").write_text(JUDGE.replace("weight", "wieght"), "utf-8")
    Path("tests/pyproject.toml").write_text("[project]\nname = 'rubrics'\n", "utf-8")
    out, err, code = call("--isolated", "--format=concise", "tests")
    assert (out.splitlines()[0].split(" unknown-field")[0], err, code) == ("tests/judge.toml:6:1 error", "", 1)
    said(call("--show-files", "tests"))


def test_a_look_at_the_bytes_rules_out_most_toml():
    texts = [JUDGE, CRITERIA, '[[criteria]]\nname="a"\ndescription="b"\nguidance="c"\n', *LOOK_ALIKES[:1], "a = 1\n"]
    assert [could_hold_rubrics(text.encode(), "a.toml") for text in texts] == [True] * 4 + [False]
