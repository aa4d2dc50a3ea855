"""What each target gets of each addition of version 3: it is written and scores the same, named as lost, or refused."""

import json
import random
import re
import sys
import types
from decimal import Decimal
from fractions import Fraction

import commands
import pytest
import random_3
from hypothesis import given
from ruamel.yaml import YAML

from rubric_lint.cli.lint.convert import _source
from rubric_lint.convert.export import TARGETS, load_target
from rubric_lint.convert.export.entries import make_sound
from rubric_lint.convert.export.target import ExportError
from rubric_lint.lint.project.settings import FileSettings, SettingsFinder
from rubric_lint.model.criterion import Shape
from rubric_lint.model.schema_files import newest
from rubric_lint.scoring.grading import JudgeOutput, Verdict
from rubric_lint.scoring.loading import load_models, load_rubrics

TWO = "- {id: dose, expected_outcome: States the dose}\n  - {id: tone, expected_outcome: Is polite, weight: 2}"
GROUP = "criteria: [The file exists, The program runs]"
ADDITIONS = {
    "scale": f"scale: [1, 5]\ncriteria:\n  {TWO}",
    "ends": "criteria:\n  - {id: flow, scale: [1, 3], levels: {1: It jumps, 3: It flows}}\n"
    "  - {id: last, scale: [1, 3], levels: {1: It stops, 2: It has 1 summary, 3: It proposes}, required_min_level: 2}",
    "ten": "scale: [0, 10]\ncriteria:\n  - {id: flow, expected_outcome: How it reads, required_min_score: 4}\n"
    "  - {id: last, expected_outcome: The end, weight: 3, levels: {0: It stops, 5: It sums up, 10: It proposes}}",
    "reversed": "criteria:\n  - {id: rank, scale: [3, 1], levels: {1: First, 2: Second, 3: Third}}",
    "reversed bands": "criteria:\n  - {id: risk, scale: [50, 0], score_ranges: {0: It is low, 20: It is high}}",
    "no is better": "criteria:\n  - {id: lie, scale: [1, 0], expected_outcome: Lies}",
    "hundredths": f"scale: [0.0, 1.0]\ncriteria:\n  {TWO}",
    "hundred": "criteria:\n  - {id: flow, scale: [0, 100], score_ranges: {0: It jumps, 50: It flows}}",
    "bands of all": "scale: [0, 100]\ncriteria:\n  - {score_range: [0, 49], expected_outcome: It jumps}\n"
    "  - {score_range: [50, 100], expected_outcome: It flows}",
    "mark": f"pass_threshold: 26/30\ncriteria:\n  {TWO}",
    "mark in units": f"scale: [1, 5]\npass_threshold: 4\ncriteria:\n  {TWO}",
    "borderline": f"pass_threshold: 90%\nborderline_threshold: 30%\ncriteria:\n  {TWO}",
    "grades": f"grades: {{A: 90%, B: 50%, C: 0%}}\ncriteria:\n  {TWO}",
    "names": f"id: leaflet\nexpected_outcome: A leaflet for patients\ncriteria:\n  {TWO}",
    "mixed": "criteria:\n  - {id: dose, expected_outcome: States the dose}\n"
    "  - {id: flow, scale: [1, 3], levels: {1: It jumps, 3: It flows}}",
    "penalty": f"criteria:\n  {TWO}\n  - {{id: harm, expected_outcome: Names a wrong dose, weight: -2}}",
    "failure": f"criteria:\n  {TWO}\ncritical_failures: [Invents a source]",
    "condition": f"criteria:\n  {TWO}\n  - {{id: figure, expected_outcome: Is right, applies_if: A figure is there}}",
    "group": f"criteria:\n  {TWO}\n  - {{id: code, weight: 4, expected_outcome: The code, {GROUP}}}",
    "gate of a group": f"criteria:\n  {TWO}\n  - {{id: code, required_min_score: 0.5, {GROUP}}}",
    "condition of a group": f"criteria:\n  {TWO}\n  - {{id: code, applies_if: There is code, {GROUP}}}",
}
SYSTEM = re.compile("AgentV [45]|Agent Skills|DeepEval|Ragas|promptfoo|Inspect|Markdown|CSV")
PLACE = re.compile(r"rubric-lint: leaflet\.rubric\.yaml:")


def text_of(addition):
    return newest("rubric", "v3").modeline + ADDITIONS[addition] + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("addition", ADDITIONS)
def test_each_addition_is_written_lost_by_name_or_refused(addition, folder, said):
    (folder / "leaflet.rubric.yaml").write_text(text_of(addition), "utf-8")
    answers, lines = {}, []
    named, takes = set(), set()
    for target in TARGETS:
        if target == "xlsx":
            continue  # the table of csv, in a format that needs an extra
        done = commands.run("rubric-lint", "convert", "leaflet.rubric.yaml", "--to", target)
        assert bool(done.stdout) is (done.returncode == 0), done.stderr
        takes |= {target, *(["xlsx"] if target == "csv" else [])} if done.stdout else set()
        named |= {tuple(re.split(", | or ", each)) for each in re.findall("; use --to (.*)", done.stderr)}
        told = [PLACE.sub("", line) for line in done.stderr.splitlines() if "to do:" not in line]
        told = [re.sub("; use --to [a-z].*", "; use --to ...", line) for line in told]
        assert {name.lower().replace(" ", "-") for name in SYSTEM.findall("".join(told))} <= {target}
        answer = ("written" if done.stdout else "refused", *(SYSTEM.sub("SYSTEM", line) for line in told))
        answers.setdefault(answer, []).append(target)
    assert named <= {tuple(target for target in TARGETS if target in takes)}
    for (answer, *told), targets in answers.items():
        lines += [f"{', '.join(targets)}: {answer}", *(f"  {line}" for line in told)]
    said(lines)


def test_a_refusal_of_a_set_says_why_it_cannot_be_written(folder):
    levels = "{id: d, levels: {0: Absent one, 1: Halfway there, 3: Whole of it}}"
    text = f"{newest('rubric', 'v3').modeline}criteria: [{levels}, {{id: b, expected_outcome: Names it}}]\n"
    (folder / "a.rubric.yaml").write_text(text, "utf-8")
    done = commands.run("rubric-lint", "convert", "a.rubric.yaml", "--to", "promptfoo")
    assert "of which some have levels that are worth no decimal of two digits: promptfoo" in done.stderr
    assert done.stderr.endswith("; use --to rubric, ragas, inspect or json\n")


# What is written scores the same.


def load(addition):
    ((name, rubric),) = load_rubrics("leaflet.rubric.yaml", text_of(addition)).items()
    return name, rubric


def written(addition, target):
    """The rubric, and what a target gets of it; None if that is refused."""
    name, rubric = load(addition)
    writer = load_target(target)
    try:
        sound, _ = make_sound(name, rubric.model, writer)
        return rubric, writer.write({name: sound}).text
    except ExportError:
        return rubric, None


def draw(rubric):
    """90 random outputs, with as many of the best and of the worst answers."""
    dice = random.Random(3)  # noqa: S311 (the same outputs every time)
    for number in range(90):
        grades = [dice.choice(criterion.grades) for criterion in rubric.criteria]
        if number % 3:
            grades = [criterion.from_worst[-(number % 3 == 1)] if dice.random() < 0.6 else grade
                      for criterion, grade in zip(rubric.criteria, grades, strict=True)]  # fmt: skip
        answers = tuple(grade.answer for grade in grades)
        yield grades, rubric.grade(JudgeOutput(answers, (None,) * len(answers)))


def said_of(scored):
    return scored.score, scored.verdict


def read_back(target, text):
    name = {"csv": "leaflet.csv", "markdown": "leaflet.md", "rubric": "leaflet.rubric.yaml"}.get(target, "suite.yaml")
    if target in {"csv", "markdown"}:
        text = commands.run("rubric-lint", "import", "-", "--stdin-filename", name, stdin=text).stdout
        name = "leaflet.rubric.yaml"
    (rubric,) = load_rubrics(name, text).values()
    return rubric


@pytest.mark.spread(5)
@pytest.mark.parametrize("target", ["rubric", "csv", "markdown", "agentv-4", "agentv-5"])
@pytest.mark.parametrize("addition", ADDITIONS)
def test_what_is_read_back_scores_the_same(addition, target):
    rubric, text = written(addition, target)
    if text is None:
        return
    again = read_back(target, text)
    marks = rubric.model.thresholds  # those of tables are in the settings, and they are told as lost
    has_marks = target not in {"csv", "markdown"} or marks == again.model.thresholds
    for grades, scored in draw(rubric):
        answers = tuple(
            next(found.answer for found in criterion.grades if found.score == grade.score)
            for criterion, grade in zip(again.criteria, grades, strict=True)
        )
        found = again.grade(JudgeOutput(answers, (None,) * len(answers)))
        assert found.score == scored.score
        if has_marks:
            assert (found.verdict is Verdict.PASS) is (scored.verdict is Verdict.PASS)
        assert found.gates_missed == scored.gates_missed


METRICS = {"ragas": ("rubrics.json", ["scale", "ends", "ten"]), "deepeval": ("metrics.py", ["ten"])}


@pytest.mark.parametrize(("target", "addition"), [(target, each) for target, row in METRICS.items() for each in row[1]])
def test_each_metric_that_is_read_back_scores_its_criterion_the_same(target, addition):
    rubric, text = written(addition, target)
    again = load_rubrics(METRICS[target][0], text)
    assert [*again] == [criterion.id for criterion in rubric.criteria]
    for old, new in zip(rubric.criteria, again.values(), strict=True):
        (criterion,) = new.criteria
        assert [grade.score for grade in criterion.grades] == [grade.score for grade in old.grades]
        if target == "deepeval":
            assert new.model.thresholds.pass_at == Decimal(old.gate or 0) / 10


@pytest.mark.parametrize("addition", ADDITIONS)
def test_the_program_for_inspect_scores_the_same(addition, monkeypatch):
    rubric, text = written(addition, "inspect")
    if text is None:
        return
    stub = types.ModuleType("inspect_ai.scorer")
    stub.scorer = lambda **_: lambda function: function
    for name in ("Score", "mean", "model_graded_qa", "stderr"):
        setattr(stub, name, lambda *_: None)
    monkeypatch.setitem(sys.modules, "inspect_ai", types.ModuleType("inspect_ai"))
    monkeypatch.setitem(sys.modules, "inspect_ai.scorer", stub)
    program = {}
    exec(compile(text, "rubric.py", "exec"), program)  # noqa: S102 (what the tool has written)
    for _, scored in draw(rubric):
        words = [
            {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer) for answer in scored.answers
        ]
        score, verdict, missed = program["combine"](words)
        assert (score, verdict, tuple(missed)) == (*said_of(scored), scored.gates_missed)


STEP = re.compile(r"^Score ([\d.]+)(?: to ([\d.]+))?(?: \(.*\))?: ", re.MULTILINE)


@pytest.mark.parametrize("addition", ADDITIONS)
def test_a_set_of_promptfoo_scores_the_same(addition):
    """promptfoo passes a set from its threshold on by the weighted average of the scores that the texts ask for."""
    rubric, text = written(addition, "promptfoo")
    if text is None:
        return
    ((whole,),) = (test["assert"] for test in YAML(typ="safe").load(text)["tests"])
    if whole["type"] != "assert-set":  # one text for the grader, so the average is lost by name
        return
    checks, mark = whole["assert"], whole.get("threshold", 1)
    for check, criterion in zip(checks, rubric.criteria, strict=True):
        steps = [Fraction(Decimal(found[1])) for found in STEP.finditer(check["value"])]
        if steps and criterion.shape is not Shape.SCORE_RANGES:
            assert steps == sorted(grade.score for grade in criterion.grades)
    weights = [Fraction(str(check.get("weight", 1))) for check in checks]
    for grades, scored in draw(rubric):
        average = sum(weight * grade.score for weight, grade in zip(weights, grades, strict=True)) / sum(weights)
        assert average == scored.score
        assert (average >= Fraction(str(mark))) is (scored.verdict is Verdict.PASS)


def test_the_neutral_form_says_which_score_of_bands_is_the_best(folder):
    (folder / "a.rubric.yaml").write_text(text_of("reversed bands"), "utf-8")
    done = commands.run("rubric-lint", "convert", "a.rubric.yaml", "--to", "json")
    (rubric,) = json.loads(done.stdout)["files"][0]["rubrics"]
    assert [criterion["scale"] for criterion in rubric["criteria"]] == [[50, 0]]


def test_a_mark_without_a_decimal_is_the_next_decimal_that_the_same_scores_reach():
    rubric, text = written("mark", "promptfoo")
    assert rubric.model.thresholds.pass_at == Fraction(26, 30)
    assert "threshold: 0.866666\n" in text


SUITE = """tests:
  - id: one
    input: Write a reply
    rubrics:
      pass_threshold: 70%
      scale: [0, 10]
      criteria: [States the dose, Is polite]
  - id: two
    input: Write another
    rubrics: [Is it so]
"""


@pytest.mark.parametrize("target", ["agentv-4", "agentv-5"])
def test_a_suite_of_version_3_is_written_anew_for_agentv_and_never_rewritten(target, folder, said):
    file = folder / "a.suite.yaml"
    file.write_text(newest("suite", "v3").modeline + SUITE, "utf-8")
    done = commands.run("rubric-lint", "fix", "--to", target, file.name)
    said(f"exit {done.returncode}", done.stdout)
    (command,) = re.findall("`rubric-lint (convert .*?)`", done.stdout)
    done = commands.run("rubric-lint", *command.split())
    said(f"exit {done.returncode}", done.stdout, done.stderr)
    before, after = load_rubrics(file.name, file.read_bytes()), load_rubrics("b.eval.yaml", done.stdout)
    assert [each.model.thresholds.pass_at for each in after.values()] == [Decimal("0.7"), Decimal("0.8")]
    for old, new in zip(before.values(), after.values(), strict=True):
        assert [[grade.score for grade in criterion.grades] for criterion in old.criteria] == [
            [grade.score for grade in criterion.grades] for criterion in new.criteria
        ]


@pytest.mark.slow
@given(random_3.rubrics)
def test_any_rubric_of_version_3_is_written_or_refused_with_its_place(rubric):
    """No target drops a criterion or a condition without a word; what is refused has a place in the document."""
    text = newest("rubric", "v3").modeline + json.dumps({"rubrics": rubric})
    models = load_models("r.rubric.yaml", text.encode(), FileSettings(claimed=True, severities={}))
    ((name, loaded),) = models.items()
    for target in TARGETS:
        if target == "xlsx":
            continue
        try:
            sound, lost = make_sound(name, loaded.rubric, load_target(target))
            export = load_target(target).write({name: sound}, {name: _source(loaded, keeps_comments=False)})
            places = [loaded.place_in_document(each.path) for each in export.losses]
        except ExportError as refused:
            places = [loaded.place_of_field(refused.path) if refused.is_in_document else loaded.place(refused.path)]
            export = None
        assert all(re.fullmatch(r"r.rubric.yaml:2:\d+", place) for place in places)
        if export is None:
            continue
        assert not lost
        assert len(sound.entries) == len(loaded.rubric.entries)
        assert export.text or target == "json"


@pytest.mark.parametrize(("target", "mark"), [("csv", "40%"), ("csv", "26/30"), ("csv", "80%"), ("markdown", "70%")])
def test_the_marks_that_a_table_loses_are_told_as_settings_that_keep_each_verdict(mark, target, folder):
    criteria = "criteria: [{id: a, weight: 2, expected_outcome: States the dose}, {id: b, expected_outcome: Is polite}]"
    text = f"{newest('rubric', 'v3').modeline}scale: [0, 20]\npass_threshold: {mark}\n{criteria}\n"
    (folder / "a.rubric.yaml").write_text(text, "utf-8")
    suffix = {"csv": "csv", "markdown": "md"}[target]
    done = commands.run("rubric-lint", "convert", "a.rubric.yaml", "--to", target, "--output", f"a.{suffix}")
    told = done.stderr
    done = commands.run("rubric-lint", "import", f"a.{suffix}", "--output", "b.rubric.yaml")
    told += done.stderr
    (advice,) = re.findall("set (`pass = .*)", told)
    settings = advice.removesuffix(" in the settings").replace("`", "").replace(" and ", "\n")
    (folder / "rubric-lint.toml").write_text(settings, "utf-8")
    finder = SettingsFinder()
    before, after = (
        next(iter(load_rubrics(name, (folder / name).read_bytes(), finder.for_file(name)).values()))
        for name in ("a.rubric.yaml", "b.rubric.yaml")
    )
    answers = [JudgeOutput((one, two), (None, None)) for one in range(21) for two in range(21)]
    verdicts = [[rubric.grade(answer).verdict for answer in answers] for rubric in (before, after)]
    assert verdicts[0] == verdicts[1]
    assert ("rounded down to what the same scores reach" in told) is (mark == "26/30" and target == "csv")


@pytest.mark.parametrize("target", ["csv", "markdown"])
@pytest.mark.parametrize("scale", ["[0, 10]", "[0, 20]", "[1, 5]"])
def test_a_scale_that_a_table_holds_comes_back_as_the_same_levels_without_findings(scale, target, folder):
    criteria = "criteria: [{id: a, weight: 2, expected_outcome: States the dose}, {id: b, expected_outcome: Is polite}]"
    (folder / "a.rubric.yaml").write_text(f"{newest('rubric', 'v3').modeline}scale: {scale}\n{criteria}\n", "utf-8")
    name = {"csv": "a.csv", "markdown": "a.md"}[target]
    commands.run("rubric-lint", "convert", "a.rubric.yaml", "--to", target, "--output", name)
    done = commands.run("rubric-lint", "import", name, "--output", "b.rubric.yaml")
    assert "warning" not in done.stderr
    before, after = (
        next(iter(load_rubrics(name, (folder / name).read_bytes()).values()))
        for name in ("a.rubric.yaml", "b.rubric.yaml")
    )
    assert [{(grade.answer, grade.score) for grade in criterion.grades} for criterion in before.criteria] == [
        {(grade.answer, grade.score) for grade in criterion.grades} for criterion in after.criteria
    ]
    assert after.model.shape is Shape.LEVELS
