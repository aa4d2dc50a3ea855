import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import read_pages

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.repository import find_root, repository_path
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.lint.run.fingerprint import fingerprints
from rubric_lint.rules import BY_NAME

pytestmark = pytest.mark.usefixtures("folder")

FLAGGED = [example for page in read_pages() for example in page.flagged if len(example.text.splitlines()) > 1]
OUTCOMES = ("Cites two sources.", "Good", "Excellent", "Names the year.", "Poor")


# Which of two equal criteria is reported depends on their order.
SETTINGS = FileSettings(enabled=frozenset(BY_NAME) - {"duplicate-criterion"})


def marks(text, name="suite.yaml"):
    """Each finding's fingerprint with the rule and the text that it is on."""
    result = lint(name, text.encode(), SETTINGS)
    found = [(finding.rule, result.source.slice(finding.span)) for finding in result.findings]
    return dict(zip(fingerprints(result), found, strict=True))


def write(criteria):
    """A suite of checklist criteria, each an outcome and whether it has an id, a bad weight and an old field."""
    lines = ["rubrics:"]
    for number, outcome, has_id, has_weight, is_old in criteria:
        fields = [f"id: c{number}"] if has_id else []
        fields.append(f"{'description' if is_old else 'expected_outcome'}: {outcome}")
        fields += [f"weight: -{number + 1}"] if has_weight else []
        lines += [f"  {'- ' if not place else '  '}{text}" for place, text in enumerate(fields)]
    return "\n".join(lines) + "\n"


def criteria(**size):
    fields = st.tuples(st.sampled_from(OUTCOMES), st.booleans(), st.booleans(), st.booleans())
    return st.lists(fields, **size).map(lambda rows: [(number, *row) for number, row in enumerate(rows)])


MOVES = {
    "lines above": lambda text: "\n\n" + text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    # An empty line below a comment parts it from an entry.
    "lines between": lambda text: re.sub(r"(?m)^([^#\n]*)\n", r"\1\n\n", text),
    "BOM": lambda text: "\ufeff" + text,
}


@pytest.mark.slow
@pytest.mark.parametrize("example", FLAGGED, ids=lambda example: example.label)
def test_the_findings_of_every_page_keep_their_fingerprints_when_lines_move(example):
    moved = {name: tuple(marks(move(example.text), example.name)) for name, move in MOVES.items()}
    assert moved == dict.fromkeys(MOVES, tuple(marks(example.text, example.name)))


@given(criteria(max_size=6), st.data())
def test_the_order_of_criteria_does_not_matter(rows, data):
    moved = data.draw(st.permutations(rows))
    assert marks(write(rows)).keys() == marks(write(moved)).keys()


@given(criteria(max_size=6), criteria(max_size=6))
def test_more_criteria_and_cases_leave_the_fingerprints_of_the_others(rows, more):
    others = [(number + 10, *rest) for number, *rest in more]
    text = write(rows)
    assert marks(text).keys() <= marks(write(rows + others)).keys()
    assert marks(text).keys() <= marks(text + "---\n" + write(others)).keys()


@given(criteria(min_size=1, max_size=8))
def test_every_finding_has_a_fingerprint_of_its_own(rows):
    result = lint("suite.yaml", write([(0, *row[1:]) for row in rows]).encode())
    assert len(set(fingerprints(result))) == len(result.findings)


BANDS = """\
rubrics:
  - id: a
    score_ranges:
      - score_range: [0, {top}]
        expected_outcome: States nothing.
      - score_range: [{low}, 10]
        expected_outcome: {outcome}
"""


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("coverage", [(2, 5, "States all."), (3, 5, "States all."), (2, 6, "States all.")]),
        ("overlap", [(5, 5, "States all."), (6, 5, "States all."), (6, 6, "States all.")]),
        ("vague-outcome", [(4, 5, "Good"), (4, 5, "Excellent"), (4, 5, "Poor")]),
    ],
)
def test_another_faulty_text_is_another_finding(rule, values):
    texts = [BANDS.format(top=top, low=low, outcome=outcome) for top, low, outcome in values]
    found = [{mark for mark, (name, _) in marks(text).items() if name == rule} for text in texts]
    assert [1, 1, 1, 3] == [*map(len, found), len(set.union(*found))]


def test_indentation_comments_and_the_wording_of_other_text_do_not_matter():
    plain = "rubrics:\n  - id: a\n    description: States it.\n"
    other = "# old\nrubrics:\n    -   id: a\n        description:   States it.   # later\n"
    assert marks(plain) == marks(other) != {}
    texts = [BANDS.format(top=2, low=5, outcome=outcome) for outcome in ("States all.", "States it, all of it.")]
    assert len({tuple(marks(text)) for text in texts}) == 1


def test_a_fixed_finding_among_like_ones_leaves_all_others():
    text = "rubrics:\n" + "".join(f"  - id: c{number}\n    description: Names {number}.\n" for number in range(9))
    before, after = marks(text), marks(text.replace("description: Names 4.", "expected_outcome: Names 4."))
    assert (9, 8, True) == (len(before), len(after), after.keys() < before.keys())


def test_another_file_or_rule_is_another_finding():
    text = "rubrics:\n  - expected_outcome: Good\n"
    assert not marks(text).keys() & marks(text, "other.yaml").keys()
    assert ["missing-id", "vague-outcome"] == sorted(rule for rule, _ in marks(text).values())


def test_the_way_to_a_file_does_not_matter(folder, monkeypatch):
    (folder / ".git").mkdir()
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    text = "rubrics:\n  - expected_outcome: Good\n"
    whole = marks(text, "a/b/x.yaml")
    same = [marks(text, name) for name in ("./a/b/x.yaml", "a/../a/b/x.yaml", f"{folder}/a/b/x.yaml")]
    monkeypatch.chdir(inner)
    assert [whole] * 5 == [*same, marks(text, "x.yaml"), marks(text, "../b/x.yaml")]


@pytest.mark.slow
def test_no_process_has_fingerprints_of_its_own(folder):
    text = "rubrics:\n  - expected_outcome: Good\n"
    (folder / "x.yaml").write_text(text, "utf-8")
    program = (
        "from rubric_lint.lint.engine import lint; from rubric_lint.lint.run.fingerprint import fingerprints; "
        "print(*fingerprints(lint('x.yaml', open('x.yaml', 'rb').read())))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1] == [mark.encode() for mark in marks(text, "x.yaml")]


def test_version_1_gives_these():
    """Baselines hold them: a change here is a new `VERSION`."""
    text = "rubrics:\n  - expected_outcome: Good\n"
    assert {
        "dc305cbd8e45982ad5b09d0294252b2d": ("missing-id", "expected_outcome"),
        "e8508571b0171a1e0cb66a9e766ce8b8": ("vague-outcome", "Good"),
    } == marks(text, "x.yaml")
    assert marks("rubrics:\n  - id: a\n    expected_outcome: States it.\n") == {}


def test_paths_inside_are_relative_and_paths_outside_stay_absolute(folder, monkeypatch):
    same = ("a b/résumé.yaml", "<stdin>", "x.yaml")
    others = {"a b/re\u0301sume\u0301.yaml": "a b/résumé.yaml", "./x.yaml": "x.yaml", "sub/../x.yaml": "x.yaml"}
    outside = {f"../{name}": f"{folder}/{name}" for name in ("x.yaml", "here2/x.yaml")}
    inside = {f"{folder}/link/x.yaml": "x.yaml"}
    (folder / "here").mkdir()
    (folder / "link").symlink_to("here")
    monkeypatch.chdir(folder / "here")
    paths = {name: name for name in same} | others | outside | inside
    assert {name: repository_path(name) for name in paths} == paths


@pytest.mark.parametrize(
    ("said", "has_git", "root"),
    [(None, False, "a/b"), ("a", False, "a"), ("a/b", False, "a/b"), ("a/b/c", False, "a/b"), ("a", True, "")],
)
def test_the_root_is_what_git_shows_or_ci_says(folder, monkeypatch, said, has_git, root):
    (folder / "a" / "b").mkdir(parents=True)
    if has_git:
        (folder / ".git").write_text("gitdir: elsewhere\n", "utf-8")  # as in a worktree
    if said:
        monkeypatch.setenv("CI_PROJECT_DIR", str(folder / said))
    monkeypatch.chdir(folder / "a" / "b")
    assert find_root() == folder / root
