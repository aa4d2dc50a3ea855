"""Canonical order and notation: what moves, what stays, what is left alone, and that nothing is lost."""

import json
import re
from collections import Counter
from itertools import combinations, pairwise, permutations
from pathlib import Path

import pytest
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st
from random_3 import rubrics
from styled_suites import json_suites, yaml_suites
from styles import read_data

from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import formatting
from rubric_lint.lint.project.settings import SettingsFinder
from rubric_lint.model.schema import schema_for
from rubric_lint.model.schema_files import newest
from rubric_lint.scoring.loading import RubricError, load_rubrics
from rubric_lint.source.source import Source, Span

TABLES = read_cases(__file__)
GOOD_3 = read_cases("test_version_3_schema.py")["GOOD"]

SUITES = Path(__file__).parents[1] / "suites"


def format_file(name, data, **options):
    """The outcome for a file of that name: `*.rubric.yaml` holds a rubric in any case."""
    return formatting.format_file(name, data, SettingsFinder(isolated=True).for_file(f"/{name}"), **options)


def formatted(text, name="a.rubric.yaml", **options):
    """The text after formatting; why it is left alone, with the line, if it is."""
    fixed = format_file(name, text.encode(), **options)
    if fixed.doubt:
        assert not fixed.is_changed
        return fixed.doubt if fixed.doubt_at is None else (fixed.before.position(fixed.doubt_at).line, fixed.doubt)
    return fixed.data.decode()


WHOLE = TABLES["WHOLE"]


@pytest.mark.spread(3)
@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_keys_bands_and_ranges_are_in_order_and_the_rest_stays(text, said):
    for end in ("\n", "\r\n"):
        ordered = formatted(text).replace("\n", end)
        assert formatted(text.replace("\n", end)) == formatted(ordered) == ordered
        assert format_file("a.rubric.yaml", ordered.encode()).applied == ()
    assert formatted(text).endswith("\n") is text.endswith("\n")
    said(formatted(text))


KEYS = ("id: a", "weight: 1", "expected_outcome: |\n      Names it\n\n      and why")


@pytest.mark.parametrize("gaps", [(0, 1), (1, 0), (2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("keys", list(permutations(KEYS)))
def test_blank_lines_between_keys_stay(keys, gaps):
    text = f"rubrics:\n  - {keys[0]}\n"
    for gap, key in zip(gaps, keys[1:], strict=True):
        text += "\n" * gap + f"    {key}\n"
    text += "  - Names the day\n"
    assert Counter(line.lstrip(" -") for line in formatted(text).splitlines()) == Counter(
        line.lstrip(" -") for line in text.splitlines()
    )


def test_a_text_block_that_comes_to_the_end_of_a_file_keeps_its_line_end():
    text = "rubrics:\n  - expected_outcome: |\n      x\n    id: a"
    assert formatted(text) == "rubrics:\n  - id: a\n    expected_outcome: |\n      x\n"


RANGES = ((0, 5), (3, 6), (4, 10), (2, 9), (5, 10), (0, 3))


@pytest.mark.spread(5)
@pytest.mark.parametrize("ranges", [*combinations(RANGES, 3), RANGES[:4]], ids=str)
def test_sorting_bands_adds_no_overlap_in_whatever_order_they_are(ranges):
    def write(order):
        bands = (f"  - {{score_range: [{low}, {high}], expected_outcome: Is {low}{high}}}\n" for low, high in order)
        return "rubrics:\n- id: a\n  score_ranges:\n" + "".join(bands)

    def count(data):
        return Counter(finding.rule for finding in lint("a.rubric.yaml", data).findings if finding.rule != "band-order")

    expected = count(write(sorted(ranges)).encode())
    for order in permutations(ranges):
        fixed = format_file("a.rubric.yaml", write(order).encode())
        assert (fixed.doubt, count(fixed.data), count(write(order).encode())) == ("", expected, expected)


JSON = """\
{"tests": [{"id": 1, "rubrics": [
  {"expected_outcome": "Names it",
   "weight": 2, "id": "a"},
  {"score_ranges": [{"expected_outcome": "Names none", "score_range": [
      0,
      4
    ]}, {"score_range": [5,10], "expected_outcome": "Names it"}], "id": "b"}]}]}
"""
JSON_FORMATTED = """\
{"tests": [{"id": 1, "rubrics": [
  {"id": "a",
   "expected_outcome": "Names it", "weight": 2},
  {"id": "b", "score_ranges": [{"score_range": [0, 4], "expected_outcome": "Names none"}, \
{"score_range": [5, 10], "expected_outcome": "Names it"}]}]}]}
"""


def test_json_keeps_its_lines_and_brackets():
    assert formatted(JSON, "a.json") == JSON_FORMATTED
    lines = "".join(f"{json.dumps(json.loads(text))}\n" for text in (JSON, JSON_FORMATTED))
    after = "".join(f"{json.dumps(json.loads(JSON_FORMATTED))}\n" for _ in range(2))
    assert formatted(lines, "a.jsonl") == after


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_the_encoding_and_the_byte_order_mark_stay(encoding):
    text, mark = "rubrics:\n- weight: 2\n  id: é\n", "\ufeff" if encoding == "utf-16-le" else ""
    after = format_file("a.rubric.yaml", f"{mark}{text}".encode(encoding)).data
    assert after == f"{mark}rubrics:\n- id: é\n  weight: 2\n".encode(encoding)


LEFT_ALONE = TABLES["LEFT_ALONE"]


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_a_file_with_what_cannot_be_moved_safely_is_left_alone_with_the_place_and_the_reason(text, said):
    assert not format_file("a.rubric.yaml", text.encode()).is_changed
    said(formatted(text))


def test_a_file_whose_bytes_cannot_be_reproduced_is_left_alone(monkeypatch):
    monkeypatch.setattr(Source, "to_bytes", lambda _, text: text.encode() + b" ")
    assert "bytes" in formatted("rubrics:\n  - expected_outcome: Names it\n    id: a\n")


def test_a_file_with_a_syntax_error_is_left_alone():
    text = "rubrics:\n  - weight: 2\n    id: a\n--- \nrubrics: [\n"
    fixed = format_file("a.rubric.yaml", text.encode())
    assert (fixed.data, fixed.is_changed, [each.rule for each in fixed.faults()]) == (text.encode(), False, ["syntax"])
    lines = '{"rubrics": [{"weight": 2, "id": "a", "required_min_score": 3}]}\n{"rubrics": [\n'
    fixed = format_file("a.rubric.jsonl", lines.encode())
    assert (fixed.data, fixed.is_changed, [each.rule for each in fixed.faults()]) == (lines.encode(), False, ["syntax"])


UNTOUCHED = TABLES["UNTOUCHED"]


@pytest.mark.parametrize(("name", "text"), UNTOUCHED.values(), ids=UNTOUCHED)
def test_everything_outside_of_our_rubrics_stays(name, text):
    fixed = format_file(name, text.encode())
    assert (fixed.data, fixed.applied, fixed.doubt, fixed.foreign) == (text.encode(), (), "", "llm-rubric" in text)


def test_only_the_criteria_that_a_range_touches_are_formatted():
    one, two = (
        "  - weight: 2\n    id: {0}\n    score_ranges: {{7: b, 0: a}}\n",
        "  - id: {0}\n    weight: 2\n    score_ranges: {{0: a, 7: b}}\n",
    )
    text = "rubrics:\n" + one.format("a") + one.format("b") + "---\nrubrics:\n" + one.format("c")
    at = text.index("id: b")
    assert formatted(text, within=Span(at, at)) == text.replace(one.format("b"), two.format("b"))
    at = text.index("id: c")
    assert formatted(text, within=Span(at, at + 3)) == text.replace(one.format("c"), two.format("c"))
    assert formatted(text, within=Span(0, len(text))) == formatted(text) != text
    scale = "rubrics:\n  - {expected_outcome: b, score_range: [5,10]}\n  - {expected_outcome: a, score_range: [0,4]}\n"
    at = scale.index("[0")
    after = scale.replace("{expected_outcome: a, score_range: [0,4]}", "{score_range: [0, 4], expected_outcome: a}")
    assert formatted(scale, within=Span(at, at)) == after


def test_what_cannot_move_outside_of_the_range_does_not_matter():
    stuck, done = "  - weight: 2\n    # its name\n\n    id: a\n", "  - id: b\n    weight: 2\n"
    text = f"rubrics:\n{stuck}  - weight: 2\n    id: b\n"
    at = text.index("id: b")
    assert formatted(text, within=Span(at, at)) == f"rubrics:\n{stuck}{done}"


def test_the_place_is_that_in_the_text_as_it_was(said):
    text = (
        "rubrics:\n  - expected_outcome: b\n    score_range:\n    - 0\n    - 3\n"
        "  - expected_outcome: c\n    # why\n\n    score_range: [4,10]\n"
    )
    line, reason = formatted(text)
    assert line == 6
    said(reason)


def test_the_order_is_that_of_the_schema():
    """Written in every order, a criterion with all fields comes to the order in which the schema lists them."""
    fields = [
        name for name in schema_for().entry_fields if name not in {"description", "required", "score_range", "levels"}
    ]
    fields.remove("required_min_level")
    values = {"score_ranges": "{0: a}", "weight": "1", "required_min_score": "0"}
    lines = [f"{name}: {values.get(name, 'x')}" for name in fields]
    for turned in (lines[::-1], lines[1:] + lines[:1]):
        assert formatted("rubrics: [{" + ", ".join(turned) + "}]\n") == "rubrics: [{" + ", ".join(lines) + "}]\n"


VERSION_3 = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json
# the whole

critical_failures: [{expected_outcome: Invents it, id: f}]
criteria:
  - criteria:  # inner
      - expected_outcome: Names it
        id: x  # the id
      - {score_ranges: {5: Names the day, 0: Names nothing}, id: y}
    weight: 2
    id: g
  - levels: [{expected_outcome: Says it, level: 1}, {level: 5, expected_outcome: Says it twice}]
    scale: [1, 5]
    id: z
pass_threshold: 70%
"""

IN_ORDER_3 = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json
# the whole

pass_threshold: 70%
criteria:
  - id: g
    weight: 2
    criteria:  # inner
      - id: x  # the id
        expected_outcome: Names it
      - {id: y, score_ranges: {0: Names nothing, 5: Names the day}}
  - id: z
    scale: [1, 5]
    levels: [{level: 1, expected_outcome: Says it}, {level: 5, expected_outcome: Says it twice}]
critical_failures: [{id: f, expected_outcome: Invents it}]
"""


def test_groups_and_the_whole_of_version_3_are_in_order():
    assert [formatted(VERSION_3), formatted(IN_ORDER_3)] == [IN_ORDER_3, IN_ORDER_3]


def test_below_rubrics_and_in_a_range_as_in_the_whole_file():
    head, body = VERSION_3.replace("rubric-v3", "suite-v3").split("# the whole\n\n")
    suite = f"{head}tests:\n  - rubrics:\n" + "".join(f"      {line}\n" for line in body.splitlines())
    whole = IN_ORDER_3.split("# the whole\n\n")[1]
    expected = f"{head}tests:\n  - rubrics:\n" + "".join(f"      {line}\n" for line in whole.splitlines())
    assert formatted(suite, "a.yaml") == expected
    at = suite.index("id: z")
    last = suite.index("        - levels"), suite.index("      pass_threshold")
    ordered = expected[expected.index("        - id: z") : expected.index("      critical_failures")]
    assert formatted(suite, "a.yaml", within=Span(at, at)) == suite[: last[0]] + ordered + suite[last[1] :]


@pytest.mark.parametrize("name", GOOD_3)
def test_formatting_a_rubric_of_version_3_keeps_what_it_says(name):
    data = GOOD_3[name]
    turned = {"$schema": "https://rubric-lint.github.io/schemas/rubric-v3.schema.json", **turn(data)}
    fixed = check_laws("a.rubric.json", json.dumps(turned, indent=1).encode())
    assert (fixed.doubt, fixed.foreign) == ("", 0)


@pytest.mark.slow
@given(rubrics)
def test_formatting_any_rubric_of_version_3_keeps_what_it_says(rubric):
    data = turn({"$schema": newest("rubric", "v3").bundled_id, "rubrics": rubric})
    assert check_laws("a.rubric.json", json.dumps(data, indent=1).encode()).foreign == 0


def turn(value):
    """Data with the keys of each mapping in the other order."""
    if isinstance(value, dict):
        return {key: turn(value[key]) for key in reversed(value)}
    return [turn(each) for each in value] if isinstance(value, list) else value


# Properties


def unordered(value):
    """Data in which neither the order of keys nor that of bands counts."""
    if isinstance(value, dict):
        return {str(key): unordered(each) for key, each in value.items()}
    if isinstance(value, list):
        items = [unordered(each) for each in value]
        bands = all(isinstance(item, dict) and "score_range" in item for item in items)
        return sorted(items, key=lambda band: json.dumps(band, sort_keys=True)) if bands else items
    return value


def hashes(name, data):
    try:
        return {called: rubric.hash for called, rubric in load_rubrics(name, data).items()}
    except RubricError:  # it has errors, so it has no scores
        return None


def found(name, data):
    counts = Counter(finding.rule for finding in lint(name, data).findings)
    del counts["band-order"]
    return counts


def check_laws(name, data, comments=()):
    """Format, and check all that is promised; return the outcome."""
    fixed = format_file(name, data)
    if fixed.doubt or not fixed.is_changed:
        assert fixed.data == data
        return fixed
    new = fixed.data
    before, after = fixed.before.text, fixed.text
    assert unordered(read_data(name, new)) == unordered(read_data(name, data))
    assert hashes(name, new) == hashes(name, data)
    assert found(name, new) == found(name, data)
    assert Counter(re.findall(r"\w+", after)) == Counter(re.findall(r"\w+", before))
    assert all(after.count(comment) == before.count(comment) for comment in comments)
    assert {*re.findall(r"\r\n|\r|\n", after)} <= {*re.findall(r"\r\n|\r|\n", before)}
    again = format_file(name, new)
    assert (again.applied, again.doubt, again.data) == ((), "", new)
    return fixed


@pytest.mark.slow
@given(yaml_suites() | json_suites())
def test_suites_in_all_styles_keep_what_they_say(suite):
    check_laws(suite.name, suite.data, suite.comments)


@pytest.mark.parametrize("path", sorted(SUITES.glob("*.*")), ids=lambda path: path.name)
def test_realistic_suites_keep_what_they_say(path):
    assert check_laws(path.name, path.read_bytes()).doubt == ""


class Odd:
    """Writes bands and criteria in any order and notation; each comment is about the key that it names."""

    def __init__(self, draw):
        self.draw = draw
        self.comments = []

    def one_of(self, *choices):
        return self.draw(st.sampled_from(choices))

    def flip(self):
        return self.draw(st.booleans())

    def order(self, items):
        return self.draw(st.permutations(items))

    def note(self, about):
        if self.draw(st.integers(0, 3)):
            return ""
        self.comments.append(f"# {about} {len(self.comments)}.")
        return self.comments[-1]

    def range(self, lower, upper, pad):
        written = self.one_of("[{0}, {1}]", "[{0},{1}]", "[ {0} , {1} ]", "[{0},\n{2}  {1}]", "\n{2}- {0}\n{2}- {1}")
        return written.format(lower, upper, pad)

    def block(self, fields, pad):
        """Fields in any order, with comments beside and above them; the first follows a dash."""
        text = ""
        for place, (name, value) in enumerate(self.order(list(fields.items()))):
            above = self.note(f"above {name}") if place else ""
            text += (f"{pad}{above}\n" if above else "") + (pad if place else "")
            text += f"{name}:{'' if value[:1] in ('', chr(10)) else ' '}{value}"
            beside = (
                self.note(f"beside {name}")
                if not value.strip().startswith(("-", "|", ">")) and "\n" not in value
                else ""
            )
            text += (f"  {beside}" if beside else "") + "\n" + self.one_of("", "", "\n")
        return text

    def outcome(self, number, pad):
        words = f"Names {number} of the {number + 3} causes"
        return self.one_of(
            words, f"'{words}'", json.dumps(words), f"|\n{pad}  {words}", f">-\n{pad}  {words}\n{pad}  at all"
        )

    def bands(self, pad):
        cuts = [0, *sorted(self.draw(st.sets(st.integers(1, 9), max_size=3))), 11]
        text = "\n"
        for lower, stop in self.order(list(pairwise(cuts))):
            fields = {"score_range": (lower, stop - 1), "expected_outcome": lower}
            if self.flip():
                inner = self.order([f"score_range: [{lower},{stop - 1}]", f"expected_outcome: Names {lower} causes"])
                text += f"{pad}- {{{', '.join(inner)}}}\n"
            else:
                inner = f"{pad}  "
                written = {
                    "score_range": self.range(*fields["score_range"], f"{inner}  "),
                    "expected_outcome": self.outcome(lower, inner),
                }
                text += f"{pad}- {self.block(written, inner)}"
        return text.removesuffix("\n")

    def criterion(self, number, pad):
        fields = {"id": f"c{number}", "weight": str(number + 1)}
        if self.flip():
            fields["expected_outcome"] = f"How well it does number {number}"
        if self.flip():
            fields["required_min_score"] = "0"
        fields["score_ranges"] = self.bands(f"{pad}  ")
        return f"- {self.block(fields, pad)}"


@st.composite
def odd_rubrics(draw):
    odd = Odd(draw)
    documents = []
    for _ in range(draw(st.integers(1, 2))):
        criteria = ["  " + odd.criterion(number, "    ") for number in range(draw(st.integers(1, 2)))]
        documents.append("rubrics:\n" + "".join(criteria))
    text = "---\n".join(documents)
    return text.replace("\n", odd.one_of("\n", "\r\n")).encode(odd.one_of("utf-8", "utf-8-sig", "utf-16")), odd.comments


@pytest.mark.slow
@given(odd_rubrics())
def test_odd_renderings_keep_what_they_say(given_rubric):
    data, comments = given_rubric
    fixed = check_laws("a.rubric.yaml", data, comments)
    if fixed.doubt:
        assert "comment" in fixed.doubt
    if fixed.is_changed:  # a comment is still beside or above its key
        for comment in comments:
            kind, name, _ = comment[2:].split()
            lines = fixed.text.splitlines()
            at = next(at for at, line in enumerate(lines) if comment in line)
            below = next(line for line in lines[at + (kind == "above") :] if not line.strip().startswith("#"))
            assert re.match(rf"[\s-]*{name}:", below)
