"""What a file costs grows with its size, not with the square of it: counted in calls and characters, not in seconds."""

import gc
import json
import subprocess
import sys
import time
from functools import cache, partial
from pathlib import Path

import pytest
from cases import read_cases
from ruamel.yaml import YAML

from rubric_lint.assess.diff.rubric_diff import compare_rubrics, pair_rubrics
from rubric_lint.assess.judged.review import RecordCache
from rubric_lint.convert.release import rewrite
from rubric_lint.editor.answers.actions import Abilities, make_actions
from rubric_lint.editor.answers.hover import make_hover
from rubric_lint.editor.server.analysis import State, analyse
from rubric_lint.editor.server.positions import DocumentText
from rubric_lint.lint.engine import examine, lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.fix.formatting import format_file
from rubric_lint.lint.fix.run import FixOutcome
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.lint.run.git import ChangedLines, ChangedLinesFilter, WorkTreeChanges
from rubric_lint.report.fixes import write_diff
from rubric_lint.scoring.grading import JudgeOutput
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.source import patch
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

LINE = '{"id": "a", "rubrics": [{"id": "a", "expected_outcome": "Names a source"}]}\n'
CASES = read_cases(__file__)


def write(name, size):
    """The text of a case, of about a size."""
    text = ""
    for piece in CASES[name][1:]:
        if isinstance(piece, str):
            text += piece
        else:
            ((part, share),) = piece.items()
            text += "".join(part.replace("%d", str(number)) for number in range(max(int(size * share) // len(part), 1)))
    return text


def work(run, name, text):
    """How many calls it takes to lint or fix a text."""
    return count_calls(run, name, text.encode())


def count_calls(run, *arguments):
    """How many calls something takes."""
    calls = 0

    def count(_frame, _event, _argument):
        nonlocal calls
        calls += 1

    run(*arguments)  # what is loaded once is not counted
    sys.setprofile(count)
    try:
        run(*arguments)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.spread(7)
@pytest.mark.parametrize("name", CASES)
def test_twice_the_size_is_twice_the_work(name):
    once, twice = (work(lint, CASES[name][0], write(name, size)) for size in (1_500, 3_000))
    assert twice < 2.3 * once


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_four_times_the_size_takes_about_four_times_as_long(name):
    """Searches of a text are no calls, so they are timed."""
    file, *_ = CASES[name]
    small, large = (write(name, size).encode() for size in (3_000, 12_000))
    lint(file, small)  # what is loaded once is not counted
    assert time_best(lint, file, large) < 10 * time_best(lint, file, small) + 0.01


# The peak of getrusage would be that of the process which started this one.
MEASURE = """\
import atexit, re, sys, time
def tell():
    peak = re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())
    print(time.process_time(), int(peak[1]) / 1024, file=sys.stderr)
atexit.register(tell)
from rubric_lint.cli.start import lint
lint()
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="only Linux tells the peak of a process so")
@pytest.mark.parametrize(
    ("name", "size", "most"), [*((name, 130_000, 300) for name in CASES), ("a long string", 45_000_000, 600)]
)
def test_a_large_file_takes_seconds_and_little_memory(name, size, most, tmp_path):
    file, *_ = CASES[name]
    (tmp_path / file).write_text(write(name, size), "utf-8")
    command = [sys.executable, "-c", MEASURE, "--no-cache", file]
    ran = subprocess.run(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    seconds, megabytes = map(float, ran.stderr.split()[-2:])
    assert (ran.returncode in {0, 1}, seconds < 8, megabytes < most) == (True, True, True)


LEVELS = {str(level): f"The answer names {level} of the two causes" for level in range(3)}


@pytest.mark.slow
@pytest.mark.parametrize("beside", [{}, {"pass_threshold": 4}], ids=["alone", "with a mark"])
def test_twice_the_home_made_rubrics_of_a_file_are_twice_the_work(beside):
    def write(count):
        criteria = [{"name": name, "levels": LEVELS} for name in ("causes", "effects")]
        return json.dumps({f"case {number}": {"criteria": criteria, **beside} for number in range(count)})

    assert lint("rubric.json", write(2).encode()).rubrics == 2
    once, twice = (work(lint, "rubric.json", write(count)) for count in (250, 500))
    assert twice < 2.2 * once


@pytest.mark.slow
def test_a_file_with_very_many_home_made_rubrics_is_read():
    criteria = [{"name": name, "levels": LEVELS} for name in ("causes", "effects")]
    data = {"scale": [0, 2], "tasks": [{"criteria": criteria}] * 1_001}
    assert lint("rubric.json", json.dumps(data).encode()).rubrics == 1_001


@pytest.mark.slow
@pytest.mark.parametrize("name", ["old.jsonl", "old.yaml"])
def test_twice_the_documents_are_twice_the_work_to_fix(name):
    text = '{"rubrics": [{"id": "a", "description": "Names a source"}]}\n'
    text = text if name.endswith(".jsonl") else f"---\n{text}"
    once, twice = (work(fix, name, text * count) for count in (100, 200))
    assert twice < 2.2 * once


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["- id: c%d\n  description: Names a source\n", "- description: Names source %d\n  weight: 2\n"]
)
def test_twice_the_changes_are_twice_the_work_to_show(line):
    def write(count):
        fixed = fix("a.yaml", ("rubrics:\n" + "".join(line % number for number in range(count))).encode())
        assert len(fixed.applied) == count
        return FixOutcome(fixed)

    once, twice = (count_calls(partial(write_diff, color=False), write(count)) for count in (100, 200))
    assert twice < 2.2 * once


@pytest.mark.slow
def test_twice_the_records_are_twice_the_work_to_rewrite_for_agentv_5():
    line = '{"id": "a", "input": "x", "rubrics": [{"id": "a", "outcome": "Names part 1"}]}\n'
    run = partial(rewrite, target="agentv-5")
    once, twice = ("".join(line.replace('"a"', f'"a{n}"') for n in range(count)) for count in (10, 20))
    assert run("a.jsonl", twice.encode()).applied
    assert work(run, "a.jsonl", twice) < 2.2 * work(run, "a.jsonl", once)


@pytest.mark.slow
def test_twice_the_notes_are_twice_the_work_to_rewrite_for_agentv_5():
    case = "  - {{id: c{0}, input: x, assertions: [{{type: own-{0}, value: x}}]}}\n"
    run = partial(rewrite, target="agentv-5")
    once, twice = ("tests:\n" + "".join(map(case.format, range(count))) for count in (20, 40))
    assert len(run("a.eval.yaml", twice.encode()).notes) == 40
    assert work(run, "a.eval.yaml", twice) < 2.2 * work(run, "a.eval.yaml", once)


CASE = """\
  # case {0}
  - id: c{0}
    input: [a, {{b: {0}}}]  # asked
    rubrics:
      - Names part {0}
      - id: b
        outcome: "Names {0}"  # quoted

"""


def change_cases(name, text):
    """Move the fields of every case, and put the cases in another order."""
    ((document,), _) = read_documents(Source(name, text))
    data = patch.track(document)
    for case in data["tests"]:
        case["assert"] = [{"type": "llm-rubric", "value": case.pop("rubrics")}]
        case["vars"] = {"input": case.pop("input")}
    data["tests"].reverse()
    assert isinstance(patch.write([(document, data)]), str)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["YAML", "lines of JSON", "one line of JSON"])
def test_twice_the_changes_are_twice_the_work_to_write(layout):
    texts = ["tests:\n" + "".join(map(CASE.format, range(count))) for count in (20, 40)]
    if layout != "YAML":
        indent = 2 if layout == "lines of JSON" else None
        texts = [json.dumps(YAML(typ="safe").load(text), indent=indent) for text in texts]
    once, twice = (count_calls(change_cases, "a.yaml" if layout == "YAML" else "a.json", text) for text in texts)
    assert twice < 2.2 * once


@pytest.mark.slow
def test_a_suite_of_5000_cases_is_changed_in_seconds():
    text = "tests:\n" + "".join(map(CASE.format, range(5000)))
    started = time.process_time()
    change_cases("a.yaml", text)
    assert time.process_time() - started < 15


BLOCKED = """\
- ID: a
  weight: 1
  score_ranges: {{8: Names all of {0}, 0: Names nothing of {0}}}
"""


@pytest.mark.slow
def test_twice_the_blocked_fixes_are_twice_the_work():
    run = partial(fix, unsafe=True)
    once, twice = ("rubrics:\n" + "".join(map(BLOCKED.format, range(count))) for count in (100, 200))
    fixed = run("a.yaml", once.encode())
    assert (len(fixed.applied), len(fixed.refused)) == (101, 99)
    assert work(run, "a.yaml", twice) < 2.2 * work(run, "a.yaml", once)


OVERLAPPING = """\
  - id: r{0}
    score_ranges:
      - {{score_range: [3, 6], expected_outcome: Names part {0}}}
      - {{score_range: [3, 0], expected_outcome: Names no part of {0}}}
      - {{score_range: [6, 10], expected_outcome: Names {0} as a whole}}
"""
BAND = "      - {{score_range: [{0}, {1}], expected_outcome: Names fact {2}}}\n"


@pytest.mark.slow
def test_twice_the_bands_are_twice_the_work_to_repair():
    run = partial(fix, unsafe=True, choices=["upper-keeps"])
    scales = ["rubrics:\n" + "".join(map(OVERLAPPING.format, range(count))) for count in (50, 100)]
    assert len(run("a.yaml", scales[0].encode()).applied) == 100
    one = [
        "rubrics:\n  - id: a\n    score_ranges:\n"
        + "".join(BAND.format(number % 9, number % 9 + 2, number) for number in range(count))
        for count in (200, 400)
    ]
    assert not run("a.yaml", one[0].encode()).applied
    for once, twice in (scales, one):
        assert work(run, "a.yaml", twice) < 2.2 * work(run, "a.yaml", once)


UNSORTED = """\
  - rubrics:
      - weight: 2
        score_ranges:
          - {{score_range: [5, 10], expected_outcome: Names part {0}}}
          - {{expected_outcome: Names no part, score_range: [0, 5]}}
        id: r{0}
"""
MIXED = """\
  - assertions:
      - type: rubrics
        criteria:
          - {{id: a, outcome: Names part {0}}}
          - {{id: b, score_ranges: [{{score_range: [0, 10], outcome: Names part {0}}}]}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["rename-later", "rename-earlier"])
def test_twice_the_criteria_with_one_id_are_twice_the_work_to_rename(choice):
    def run(count):
        criteria = "".join(f"- id: a\n  expected_outcome: Names the cause number {number}\n" for number in range(count))
        fixed = fix("a.yaml", f"rubrics:\n{criteria}".encode(), FileSettings(), choices=[choice])
        assert len(fixed.applied) == count - 1

    once, twice = (count_calls(run, count) for count in (20, 40))
    assert twice < 2.3 * once


@pytest.mark.slow
def test_formatting_reads_and_plans_only_what_each_round_needs():
    text = "tests:\n" + "".join(map(UNSORTED.format, range(60)))
    assert work(format_file, "a.yaml", text) < 8 * work(lint, "a.yaml", text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "case"), [(format_file, UNSORTED), (partial(fix, choices=("own-rubric",)), MIXED)], ids=["sorted", "moved"]
)
def test_twice_the_lists_are_twice_the_work_to_rearrange_and_no_memory_is_searched_for_garbage(run, case):
    once, twice, text = ("tests:\n" + "".join(map(case.format, range(count))) for count in (15, 30, 60))
    assert run("a.yaml", twice.encode()).applied
    assert work(run, "a.yaml", twice) < 2.2 * work(run, "a.yaml", once)
    generations = []

    def note(phase, about):
        if phase == "start":
            generations.append(about["generation"])

    gc.callbacks.append(note)
    try:
        assert run("a.yaml", text.encode()).applied
    finally:
        gc.callbacks.remove(note)
    assert len(generations) <= 1  # the one due at the end


BANDS = """\
  - id: c{0}
    score_ranges:
      - {{score_range: [0, 5], expected_outcome: Names no part of {0} that goes on {1}}}
      - {{score_range: [5, 8], expected_outcome: Names a part of {0}}}
"""


@pytest.mark.slow
def test_an_edit_in_two_thousand_lines_is_linted_within_the_time_an_author_waits_for_nothing():
    pytest.importorskip("_ruamel_yaml")  # the pure parser takes ten times as long
    case = "  - id: case-{0}\n    input: How long do I have to wait for figure {0}?\n    rubrics:\n" + "".join(
        f"      - id: c{number}\n        expected_outcome: Names source {number} of figure {{0}}\n        weight: 2\n"
        for number in range(6)
    )
    text = DocumentText.of("tests:\n" + "".join(map(case.format, range(100))))
    assert text.body.count("\n") > 2_000
    state = State("file:///a.yaml", "/a.yaml", "yaml", 1, text, FileSettings())
    assert analyse(state).result.criteria == 600
    assert time_best(analyse, state) < 0.1


@pytest.mark.slow
def test_actions_at_a_place_need_little_more_in_a_longer_text():
    abilities = Abilities(versioned=True, lazy=True, confirms=True)

    def write_bands(count):
        return "rubrics:\n" + "".join(BANDS.format(number, "and on " * 100) for number in range(count))

    def prepare(count):
        analysis = analyse(
            State("file:///a.yaml", "/a.yaml", "yaml", 1, DocumentText.of(write_bands(count)), FileSettings())
        )
        place = analysis.findings[count // 2].span
        return lambda: list(make_actions(analysis, place, None, abilities, asked=False))

    once, twice = (prepare(count) for count in (100, 200))
    assert [action.title for action in twice()] == [action.title.replace("100 ", "200 ") for action in once()]
    assert count_calls(twice) < 2.2 * count_calls(once) < work(lint, "a.yaml", write_bands(30))


@pytest.mark.slow
def test_twice_the_lines_are_twice_the_work_to_tell_which_have_changed():
    text = '{"rubrics": [{"id": "a", "description": "Names a source"}]}\n'
    known = cache(partial(lint, "a.jsonl"))

    def sift(_name, data):
        lines = data.count(b"\n")
        every_second = tuple((line, line) for line in range(2, lines + 1, 2))
        changes = WorkTreeChanges(Path.cwd(), {"a.jsonl": ChangedLines(every_second)}, frozenset())
        result = known(data)
        left = ChangedLinesFilter(changes).filter(result, FileSettings())
        assert (len(result.findings), len(left.findings)) == (lines, lines / 2)

    once, twice = (work(sift, "a.jsonl", text * count) for count in (100, 200))
    assert twice < 2.2 * once


def write_renamed(part, head=""):
    """What writes two files of as many parts as one likes, no two of which have the same name."""

    def load(names, count):
        text = head + "".join(part.format(name=f"{names}{number}", number=number) for number in range(count))
        return load_rubrics("a.yaml", text.encode())

    return lambda count: (load("a", count), load("b", count))


RENAMED = write_renamed("  - {{id: {name}, rubrics: [{{id: a, expected_outcome: Names {name}}}]}}\n", "tests:\n")
CRITERIA = write_renamed("  - {{id: {name}, expected_outcome: Names {name}}}\n", "rubrics:\n")


@pytest.mark.parametrize("write", [RENAMED, CRITERIA], ids=["rubrics", "criteria"])
def test_twice_as_much_to_compare_is_twice_the_work(write):
    once, twice = (count_calls(compare_all, *write(count)) for count in (50, 100))
    assert twice < 2.2 * once


def write_conditional(count, more=""):
    schema = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json"
    criteria = (f"  - {{expected_outcome: Names {n}, applies_if: It has {n}{more}}}\n" for n in range(count))
    return f"{schema}\npass_threshold: 50%\ncriteria:\n{''.join(criteria)}"


def test_twice_the_conditional_criteria_are_twice_the_work_to_hover_over_one():
    def prepare(count):
        text = write_conditional(count, ", levels: {1: Names none, 2: Names all}")
        analysis = analyse(State("file:///a.yaml", "/a.yaml", "yaml", 1, DocumentText.of(text), FileSettings()))
        assert "leaves at most" in make_hover(analysis, text.index("2: Names")).contents.value
        return lambda: make_hover(analysis, text.index("2: Names"))

    once, twice = (prepare(count) for count in (20, 40))
    assert count_calls(twice) < 2.2 * count_calls(once)


@pytest.mark.slow
def test_twice_the_conditional_criteria_are_twice_the_work_to_score():
    def score(count):
        rubric = load_rubrics("a.yaml", write_conditional(count))["a"]
        output = JudgeOutput((True,) * count, (None,) * count)
        assert (rubric.varies, rubric.grade(output).score) == (True, 1)

    once, twice = (count_calls(score, count) for count in (50, 100))
    assert twice < 2.2 * once


def compare_all(old, new):
    return list(compare_rubrics(pair_rubrics(old, new)))


class Watched(str):
    """A text that counts how often it is searched from end to end."""

    __slots__ = ("searches",)

    def __contains__(self, part):
        self.searches = getattr(self, "searches", 0) + 1
        return super().__contains__(part)

    def count(self, *arguments):
        self.searches = getattr(self, "searches", 0) + 1
        return super().count(*arguments)

    def find(self, *arguments):
        self.searches = getattr(self, "searches", 0) + 1
        return super().find(*arguments)

    def lower(self):
        self.searches = getattr(self, "searches", 0) + 1
        return super().lower()


def test_the_whole_text_is_searched_no_more_often_when_it_holds_more_documents():
    few, many = (Watched(LINE * count) for count in (10, 20))
    assert [examine(Source("a.jsonl", text)).result.rubrics for text in (few, many)] == [10, 20]
    assert few.searches == many.searches


def time_best(run, *arguments):
    """The least processor time that something takes in several tries; what else the machine does is not counted."""
    times = []
    for _ in range(3):
        start = time.process_time()
        run(*arguments)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.slow
def test_twice_the_judged_answers_are_twice_the_work_to_review(tmp_path):
    rubric = load_rubrics(
        "r.yaml", "rubrics: [{id: a, expected_outcome: Cites it}, {id: b, expected_outcome: Thanks}]"
    )["r"]

    def review(count):
        for name, more in (("results", {}), ("labels", {"rater": "ana"})):
            checks = [
                [{"id": name, "satisfied": bool(n % by)} for name, by in (("a", 2), ("b", 3))] for n in range(count)
            ]
            records = (
                {"id": n, "answer": "x" * (n % 7), "output": {"checks": checks[n]}, **more} for n in range(count)
            )
            (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
        sources = RecordCache().load(((str(tmp_path / "results"),), (str(tmp_path / "labels"),)))
        found = RecordCache().review(rubric, sources, (), takes_unnamed=True)
        assert {each.rule for each in found.untested} == {"judged-unstable", "judged-inverse"}

    once, twice = (count_calls(review, count) for count in (200, 400))
    assert twice < 2.2 * once


@pytest.mark.slow
def test_twice_the_documents_are_twice_the_work_to_give_each_a_rubric_of_its_own():
    text = (
        "---\nrubrics:\n- {id: a, expected_outcome: Names it}\n- {id: b, score_ranges: {0: Nothing, 5: Half, 9: All}}\n"
    )
    run = partial(fix, choices=("own-rubric",))
    assert len(run("a.rubric.yaml", text.encode() * 20).applied) == 20
    once, twice = (work(run, "a.rubric.yaml", text * count) for count in (10, 20))
    assert twice < 2.2 * once
