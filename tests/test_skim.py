"""The quick way of large runs: it sees what the whole reading sees, or leaves the text to that."""

import gc
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import read_pages
from styled_suites import yaml_suites

from rubric_lint import cparser, lint
from rubric_lint.config import FileSettings
from rubric_lint.reading import read_documents, skim_documents
from rubric_lint.skim import CloserLookError
from rubric_lint.source import Source

_ruamel_yaml = pytest.importorskip("_ruamel_yaml")

EXAMPLES = Path(__file__).parents[1] / "examples"
CLEAN = """\
# what it is about
evalcases:
  - id: one
    rubrics:
      - id: sources
        expected_outcome: Names the source of each of its claims
        weight: 0.5
  - id: two
    rubrics:
      - id: limits
        score_ranges:
          - {score_range: [0, 5], expected_outcome: "Says nothing of its limits"}
          - {score_range: [6, 7], expected_outcome: Names one of its limits in passing}
          - score_range: [8, 10]
            expected_outcome: >-
              Says what it could not find out,
              and why

# the end
"""


@pytest.fixture(scope="module", autouse=True)
def _apart():
    """The C parser as a process of a large run has it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in vars(_ruamel_yaml) if name.endswith("Event")]:
            patch.setattr(_ruamel_yaml, name, getattr(_ruamel_yaml, name))
        patch.setattr(cparser.Mode, "is_apart", False)
        cparser.leave_apart()
        assert cparser.Mode.is_apart
        yield


def skim(text, name="a.yaml"):
    """What the quick way makes of a text: data, preamble and text of each document; None where it gives up."""
    try:
        return describe(skim_documents(Source(name, text)))
    except CloserLookError:
        return None


def describe(documents):
    return [(each.number, each.data, each.preamble, each.written_at(())) for each in documents]


def read(text):
    return describe(read_documents(Source("a.yaml", text))[0])


def accept(text, settings=lint.DEFAULTS):
    return lint._accept(Source("a.yaml", text), settings)


def examine(text, settings=lint.DEFAULTS):
    return lint.examine(Source("a.yaml", text), settings).result


def is_right(text, settings=lint.DEFAULTS):
    """Whether the quick way says of a text what the whole reading says, or nothing."""
    return skim(text) in (None, read(text)) and accept(text, settings) in (None, examine(text, settings))


@pytest.mark.parametrize(
    "text",
    [
        CLEAN,
        "rubrics: [a, b]\n",
        "rubrics:\n- a\n",
        "a text\n",
        "- [1, 2.50, -3, true, null, ~, '']\n- {a: , b: []}\n",
        "a: |\n  text\n\n\n",
        "a: >+\n  text\n\n",
        "# only above\n---\na: 1\n# below\n",
        "a: 1\n---\nb: 2\n...\n# between\n---\n- c\n",
        "[a, # criteria\n]\n",
        "? a\n: b\n",
        "\ufeffa: 1\n",
        "a: 1\r\nb:\r\n  - 2\r\n",
        "- - - a\n    - b\n- {}\n",
        "a:\nb: 1\n",
        '"<": "yes"\n',
    ],
)
def test_what_is_plain_is_skimmed_as_it_is_read(text):
    assert skim(text) == read(text) != []


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\n",
        "a: &x [1]\n",
        "a: !!str 1\n",
        "a: !x {}\n",
        "a: &x 1\nb: *x\n",
        "<<: {a: 1}\n",
        '"<<": 1\n',
        "a: 1\na: 2\n",
        "? [a]\n: b\n",
        "a: yes\n",
        "a: 012\n",
        "a: 1e3\n",
        "a: .inf\n",
        "a: 0.1234567890123456789\n",
        "a: b\u2028c\n",
        "a: b\u0085c\n",
        "",
        "# nothing else\n",
        "a: [\n",
        "a: b: c\n",
        "\ta: 1\n",
        "[" * 600 + "]" * 600,
    ],
)
def test_what_is_rare_or_wrong_is_left_to_the_whole_reading(text):
    assert skim(text) is None


@pytest.mark.parametrize("name", ["a.json", "a.JSONL"])
def test_json_is_left_to_its_own_reader(name):
    assert skim('{"a": 1}', name) is None


def test_a_text_without_faults_is_accepted_with_its_counts():
    result = accept(CLEAN)
    assert result == examine(CLEAN)
    assert (result.rubrics, result.criteria, result.findings) == (2, 2, ())


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (CLEAN.replace("[0, 5]", "[0, 6]"), {}),
        (CLEAN.replace("[0, 5]", "[0, 4]"), {}),
        (CLEAN.replace("weight", "wieght"), {}),
        (CLEAN.replace("weight: 0.5", "weight: -0.5"), {}),
        (CLEAN.replace("# the end", "# rubric-lint: ignore[overlap]"), {}),
        ("a: 1\n", {"is_rubric_file": True, "claimed": True}),
        ("rubrics: {}\n", {"is_rubric_file": True, "claimed": True}),
    ],
)
def test_a_text_with_faults_is_looked_at_closely(text, settings):
    settings = FileSettings(**settings)
    assert accept(text, settings) is None
    assert lint.lint("a.yaml", text.encode(), settings) == examine(text, settings)
    assert examine(text, settings).findings


EXAMPLE_TEXTS = [example.text for page in read_pages() for example in (*page.flagged, *page.accepted)]


def test_the_examples_of_all_pages_and_the_shipped_ones():
    texts = [*EXAMPLE_TEXTS, *(path.read_text("utf-8") for path in EXAMPLES.rglob("*.yaml"))]
    assert [text for text in texts if not is_right(text)] == []
    assert sum(accept(text) is not None for text in texts) > len(texts) // 10


@given(yaml_suites())
def test_suites_in_every_style(suite):
    assert is_right(suite.data.decode("utf-8-sig", "replace"))


PIECES = (
    "\n",
    " ",
    "  ",
    ":",
    "- ",
    "#",
    "&a ",
    "*a",
    "!x ",
    "'",
    '"',
    "[",
    "]",
    "{",
    "}",
    ",",
    "|",
    ">",
    "?",
    "1",
    "a",
)


@given(st.sampled_from([CLEAN, *EXAMPLE_TEXTS]), st.integers(0, 2**32), st.integers(1, 3))
def test_texts_that_were_changed_at_random(text, seed, times):
    """Pieces put in, taken out, and written twice."""
    rng = random.Random(seed)  # noqa: S311 (it must be repeatable, not secret)
    for _ in range(times):
        at = rng.randrange(len(text) + 1)
        end = min(at + rng.choice((0, 0, 1, 3, 20)), len(text))
        piece = rng.choice(PIECES) if rng.random() < 0.7 else text[at:end] * 2
        text = text[:at] + piece + text[end:]
    assert is_right(text)


def test_a_rule_that_crashes_is_told_of_and_not_passed_over(monkeypatch):
    def crash(_rubric):
        raise ZeroDivisionError

    broken = [rule._replace(check=crash) if rule.name == "overlap" else rule for rule in lint.RULES]
    monkeypatch.setattr(lint, "RULES", broken)
    with pytest.raises(lint.RuleError, match="rule overlap: ZeroDivisionError"):
        lint.lint("a.yaml", CLEAN.encode())


@pytest.mark.parametrize(
    "text",
    [
        "a: &x !y 1\nb: *x\nc: [1, {2: 3}]\nd: |\n  e\n",
        "%YAML 1.2\n%TAG ! tag:x,2026:\n---\n!a b\n...\n--- # c\nd\n",
        "",
    ],
)
def test_events_put_together_are_those_that_the_parser_makes(text, monkeypatch):
    together = list_events(text)
    for name, stock in STOCK.items():
        monkeypatch.setattr(_ruamel_yaml, name, stock)
    monkeypatch.setattr(cparser.Mode, "is_apart", False)
    assert together == list_events(text) != []


STOCK = {name: kind for name, kind in vars(_ruamel_yaml).items() if name.endswith("Event")}


def list_events(text):
    next_event = cparser.open_events(text)
    events = []
    while not events or events[-1][0] != "StreamEndEvent":
        events.append(_attributes(next_event()))
    return events


def _attributes(event):
    slots = (getattr(kind, "__slots__", ()) for kind in type(event).__mro__)
    names = {name for each in slots for name in ([each] if isinstance(each, str) else each)}
    found = {name: getattr(event, name, None) for name in names}
    marks = {name: (mark.index, mark.line, mark.column) for name in ("start_mark", "end_mark") if (mark := found[name])}
    return type(event).__name__, {**found, **marks}


def test_collections_of_garbage_go_on_after_a_text_that_was_left_to_the_whole_reading():
    assert skim("a: &x 1\n") is None
    assert gc.isenabled()
