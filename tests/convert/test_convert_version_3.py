"""`convert --to rubric` writes any rubric that is scored; the same judge outputs get the same score and verdict."""

import json
import random
import shlex
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from textwrap import dedent

import commands
import pytest
from cases import read_cases
from dialect_samples import SAMPLES, TEXTS, UNSCORED
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rubric_lint.convert.export import load_target
from rubric_lint.convert.export.version_3 import write_mark
from rubric_lint.lint.engine import lint
from rubric_lint.model.criterion import Shape
from rubric_lint.model.finding import Severity
from rubric_lint.scoring import score
from rubric_lint.scoring.loading import RubricError, load_models, load_rubrics, read_rubrics


def convert(name, text, folder, *options):
    """What `convert --to rubric` does with a file: exit code, the new text, and what it says."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = commands.run("rubric-lint", "convert", name, "--to", "rubric", *options, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def name_converted(text):
    """The name that says what a converted file is: a rubric or a suite."""
    return "converted.rubric.yaml" if "/rubric-v" in text.partition("\n")[0] else "converted.yaml"


def find_differences(before, text, times):
    """The outputs of which the score or the verdict differs; `before` are the rubrics by name, `text` the new file."""
    after = load_rubrics(name_converted(text), text)
    assert len(after) == len(before)
    found = []
    for old, new in zip(before.values(), after.values(), strict=True):
        found += [output for output in make_outputs(old, times) if _result(old, output) != _result(new, output)]
    return found


def _result(rubric, output):
    result = score(rubric, output)
    return result.score, result.verdict


def make_outputs(rubric, times):
    """Random valid outputs for a rubric, the same every time."""
    chance = random.Random(len(rubric.criteria))  # noqa: S311
    for _ in range(times):
        answers = [chance.choice(criterion.grades).answer for criterion in rubric.criteria]
        if rubric.shape is Shape.HOLISTIC:
            yield {"score": answers[0]}
            continue
        pairs = zip(rubric.criteria, rubric.model.criteria, answers, strict=True)
        yield {"checks": [{"id": each.id, _field(model): answer} for each, model, answer in pairs]}


def _field(model):
    return "level" if model.levels else "score" if model.scale else "satisfied"


TABLES = read_cases(__file__)
WRITTEN, REFUSED = TABLES["WRITTEN"], TABLES["REFUSED"]

# The generations of AgentV that are our own versions 1 and 2, and what looks the same since then.
OURS = {
    "agentv-texts": (TEXTS, "a.yaml"),
    "agentv-a0": ("tests: [{rubrics: [Names it, {id: a, description: Says why, required: true}]}]", "a.yaml"),
    "agentv-a1": ("tests: [{rubrics: [{score_range: [0, 10], expected_outcome: All of it}]}]", "a.yaml"),
    "agentv-a2": ("tests: [{rubrics: [{id: a, score_ranges: {0: Not at all, 5: All of it}}]}]", "a.yaml"),
}


@pytest.mark.spread(3)
@pytest.mark.parametrize("dialect", [*sorted(SAMPLES.keys() - UNSCORED), *OURS])
def test_each_dialect_is_scored_as_before(dialect, tmp_path):
    text, name = (SAMPLES[dialect].text, SAMPLES[dialect].file) if dialect in SAMPLES else OURS[dialect]
    text = dedent(text)
    code, written, _ = convert(name, text, tmp_path)
    assert code == 0
    assert find_differences(load_rubrics(name, text), written, 300) == []
    assert [
        finding
        for finding in lint(name_converted(written), written.encode()).findings
        if finding.severity is Severity.ERROR
    ] == []
    old, new = (
        _told(load_models(file, data.encode())) for file, data in ((name, text), (name_converted(written), written))
    )
    assert new == old


def _told(models):
    """What a judge is told of each criterion: its id, its outcome, and those of its bands and levels."""
    return [
        (
            entry.id,
            entry.outcome,
            [(level.number, level.outcome) for level in sorted(entry.levels or (), key=lambda level: level.number)],
            [(band.scores, band.outcome) for band in entry.scale.bands] if entry.scale else [],
        )
        for model in models.values()
        for entry in model.rubric.entries
    ]


@pytest.mark.parametrize(("name", "text", "expected", "said"), WRITTEN.values(), ids=WRITTEN)
def test_what_is_written_is_short_and_scored_as_before(name, text, expected, said, tmp_path):
    code, written, told = convert(name, text, tmp_path)
    told = [line.removeprefix(f"rubric-lint: {name}:") for line in told.splitlines()]
    assert (code, written.partition("\n")[2], told) == (0, expected, said)
    assert find_differences(load_rubrics(name, text), written, 300) == []


@pytest.mark.parametrize(("name", "text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_single_score_is_refused_at_its_place(name, text, reason, tmp_path):
    code, written, told = convert(name, text, tmp_path)
    assert (code, written) == (1, "")
    assert told.startswith(f"rubric-lint: {name}:{reason}")


def test_the_field_that_names_the_schema_is_not_lost(tmp_path):
    address = "https://rubric-lint.github.io/schemas/rubric-v3.schema.json"
    text = json.dumps({"$schema": address, "criteria": [{"id": "a", "expected_outcome": "Names it"}]})
    expected = f"# yaml-language-server: $schema={address}\ncriteria:\n  - id: a\n    expected_outcome: Names it\n"
    assert convert("c.rubric.json", text, tmp_path) == (0, expected, "")


def test_markdown_says_the_marks_of_a_rubric(tmp_path):
    text = dedent("""\
        # yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json
        pass_threshold: 70%
        borderline_threshold: 0.5
        criteria: [{id: a, expected_outcome: Names it}]
    """)
    code, written, told = convert("c.rubric.yaml", text, tmp_path, "--to", "markdown")
    assert (code, told) == (0, "")
    assert "passes from a score of 0.7 and is borderline from 0.5." in written


def test_one_rubric_of_a_file_keeps_the_comments_of_its_criteria(tmp_path):
    head = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json\n"
    text = """\
id: one
criteria:
  # of a group
  - id: g
    criteria:
      - {id: a, expected_outcome: Names the date}  # one
      # two
      - id: b
        expected_outcome: Names the place  # three
critical_failures:
  - Invents a source  # four
---
id: two
criteria:
  - Names the date
"""
    expected = """\
id: one
criteria:
  - id: g
    criteria:
      # one
      - id: a
        expected_outcome: Names the date
      # two
      # three
      - id: b
        expected_outcome: Names the place
critical_failures:
  # four
  - Invents a source
"""
    said = "rubric-lint: c.rubric.yaml:4:3: lost: a comment that is not of a criterion\n"
    assert convert("c.rubric.yaml", head + text, tmp_path, "--rubric", "one") == (0, head + expected, said)


LOWER = """\
[[shape]]
name = "late"
files = ["late.yaml"]
criteria = "/criteria"
id = "name"
outcome = "description"
levels = "levels"
gate = "min_score"
pass = {mark}
better = "lower"
"""


@pytest.mark.parametrize(
    ("levels", "mark", "lines", "said"),
    [
        ("{1: Early, 2: On time, 3: Late}", "1.5", ["scale: [3, 1]", "pass_threshold: 1.5"], ""),
        (
            "{1: Early, 3: Late}",
            "2.5",
            ["scale: [3, 1]", "pass_threshold: 2.5"],
            "that a judge may not answer 2 for `rank`: each whole number of a scale is an answer",
        ),
    ],
)
def test_a_scale_on_which_lower_is_better_is_written_from_worst_to_best(levels, mark, lines, said, folder):
    Path("rubric-lint.toml").write_text(LOWER.format(mark=mark))
    text = f"criteria:\n  - {{name: rank, description: How late it is, min_score: 2, levels: {levels}}}\n"
    text = text.replace("min_score: 2, ", "") if said else text
    code, written, told = convert("late.yaml", text, folder)
    assert code == 0
    assert written.splitlines()[1:3] == lines
    assert (said in told) if said else told == ""


@pytest.mark.parametrize("key", ["better: lower", "direction: lower_is_better", "lower_is_better: true"])
def test_a_direction_that_the_table_says_too_is_not_lost(key, folder):
    entries = "".join(f"  - {{name: {name}, description: How late {name} is}}\n" for name in ("rank", "date"))
    table = LOWER.replace('levels = "levels"', 'scale = "/scale"').replace('gate = "min_score"\n', "").format(mark="2")
    Path("rubric-lint.toml").write_text(f'{table}unused = "/{key.partition(":")[0]}"\n')
    code, written, told = convert("late.yaml", f"{key}\nscale: [1, 5]\ncriteria:\n{entries}", folder)
    assert (code, written.splitlines()[1], told) == (0, "scale: [5, 1]", "")


@pytest.mark.parametrize(
    ("mark", "written"),
    [("70%", "0.7"), ("100%", "1"), ("0.125", "0.125")],
)
def test_a_mark_without_a_scale_is_a_share(mark, written, tmp_path):
    text = f"pass_threshold: {mark}\ncriteria:\n" + "".join(
        f"  - {{name: c{number}, description: Names {number}, scale: yes/no, weight: 1}}\n" for number in range(30)
    )
    code, new, _ = convert("rubric.yaml", text, tmp_path)
    assert code == 0
    assert new.splitlines()[1] == f"pass_threshold: {written}"
    assert find_differences(load_rubrics("rubric.yaml", text), new, 300) == []


@pytest.mark.parametrize(
    ("share", "scale", "written"),
    [
        (Fraction(26, 30), None, "13/15"),
        (Fraction("0.86666666666666666666"), None, "13/15"),  # which a view rounds down
        (Fraction("0.8666666666666667"), None, f"{Fraction('0.8666666666666667')}"),  # which 26 of 30 do not reach
        (Fraction(5, 8), (1, 5), Decimal("3.5")),
        (Fraction(3, 4), (5, 1), 2),
        (Fraction(1, 3), (1, 5), "1/3"),
        (Fraction(0), (1, 5), 1),
    ],
)
def test_a_mark_is_the_shortest_that_the_same_answers_reach(share, scale, written):
    entries = "".join(f"  - {{id: c{number}, expected_outcome: Names {number}}}\n" for number in range(30))
    (scoring,) = load_rubrics("r.rubric.yaml", f"rubrics:\n{entries}").values()
    assert write_mark(share, scoring, scale) == written


OWN = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json
scale: [1, 5]   # for all
pass_threshold: 70%
grades: {A: 90%, F: 0%}
criteria:
  - Is clear
  - id: code
    weight: 0.350
    required_min_score: 2
    criteria: [The file exists, {applies_if: It runs, expected_outcome: It ends}]
critical_failures: [Invents a source]
"""


def test_a_file_of_version_3_is_written_as_it_is(tmp_path):
    assert convert("r.rubric.yaml", OWN, tmp_path) == (0, OWN, "")


def test_a_rubric_of_a_suite_in_version_3_keeps_all_that_it_says(tmp_path):
    suite = OWN.partition("\n")[0].replace("rubric-v3", "suite-v3") + "\ntests:\n  - id: one\n    rubrics:\n"
    suite += "".join(f"      {line}\n" for line in OWN.splitlines()[1:])
    suite += "  - {id: two, rubrics: [Is short]}\n"
    code, written, _ = convert("a.eval.yaml", suite, tmp_path, "--rubric", "one")
    assert code == 0
    assert "weight: 0.350" in written
    assert find_differences({"one": load_rubrics("r.rubric.yaml", OWN)["r"]}, written, 100) == []


def test_a_number_in_json_keeps_its_digits(tmp_path):
    text = '{"$schema": "https://rubric-lint.github.io/schemas/rubric-v3.schema.json", "scale": [0.0, 1.0], '
    text += '"criteria": [{"id": "a", "expected_outcome": "It", "weight": 0.12345678901234567891}]}'
    _, written, _ = convert("r.rubric.json", text, tmp_path)
    assert written.splitlines()[1:] == [
        "scale: [0.0, 1.0]",
        "criteria:",
        "  - id: a",
        "    expected_outcome: It",
        "    weight: 0.12345678901234567891",
    ]


WEIGHTS = st.one_of(st.integers(1, 9), st.decimals("0.01", "3", places=2))


@st.composite
def home_made(draw):
    """The text of a home-made rubric with a scale, weights, gates, described levels and a mark."""
    low = draw(st.integers(0, 1))
    high = low + draw(st.integers(2, 9))
    lines = [f"scale: {low}-{high}"]
    if draw(st.booleans()):
        lines.append(f"passing_score: {low + draw(st.integers(1, 2 * (high - low))) / Decimal(2)}")
    lines.append("criteria:")
    ladders = [{}, {low: "Not said", high: "Said"}, {number: f"Step {number}" for number in range(low, high + 1)}]
    for number in range(draw(st.integers(1, 5))):
        gate = draw(st.none() | st.integers(low + 1, high))
        levels = draw(st.sampled_from(ladders))
        entry = [f"name: c{number}", f"description: Says the part {number}", f"weight: {draw(WEIGHTS)}"]
        entry += [] if gate is None else [f"min_score: {gate}"]
        entry += [f"levels: {levels}".replace("'", "")] if levels else []
        lines.append(f"  - {{{', '.join(entry)}}}")
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(home_made())
def test_any_home_made_scale_is_scored_as_before(text):
    try:
        models = load_models("rubric.yaml", text.encode())
        before = load_rubrics("rubric.yaml", text)
    except RubricError:
        assume(False)  # noqa: FBT003
    written = load_target("rubric").write({name: model.rubric for name, model in models.items()}).text
    assert find_differences(before, written, 20) == []


@pytest.mark.usefixtures("folder")
def test_adopt_offers_our_own_format_by_a_command_that_works():
    Path("a b.yaml").write_text(
        "- {name: depth, text: How deep it is, weight: 2}\n- {name: width, text: How wide it is, weight: 1}\n"
    )
    done = commands.run("rubric-lint", "adopt", "a b.yaml", "--scale", "1-5")
    (offered,) = [line for line in done.stdout.splitlines() if line.startswith("Or, to write it in")]
    command = offered.partition(": ")[2]
    assert command == "rubric-lint convert 'a b.yaml' --to rubric --output 'a b.rubric.yaml'"
    before = read_rubrics("a b.yaml")
    assert commands.run(*shlex.split(command)).returncode == 0
    assert find_differences(before, Path("a b.rubric.yaml").read_text(), 50) == []
    assert commands.run("rubric-lint", "a b.rubric.yaml").returncode == 0
    again = commands.run("rubric-lint", "adopt", "a b.yaml").stderr
    assert again.rstrip().endswith("rubric-lint convert 'a b.yaml' --to rubric --output 'a b-2.rubric.yaml'")
