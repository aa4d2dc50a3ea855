"""Rubrics in Python sources: read as literals, with exact places, and never rewritten."""

import json
from pathlib import Path

import pytest
from cases import as_tuples, read_cases
from found import describe, marked
from lint_command import call, folder  # noqa: F401 (a fixture)

from rubric_lint.formats.dialects.deepeval import STRICT
from rubric_lint.lint.engine import lint
from rubric_lint.scoring.loading import RubricError, load_rubrics

TABLES = read_cases(__file__)


METRIC = """\
from deepeval.metrics import GEval
from deepeval.metrics.g_eval import Rubric

tone = GEval(
    name="Tone",
    rubric=[
        Rubric(score_range=(0, 4), expected_outcome="Blames the customer"),
        Rubric(score_range=(6, 10), expected_outcome="Names the next step"),
    ],
)
"""
SOUND = METRIC.replace("(6,", "(5,")
GAP = "coverage {}"


def found(text, name="metrics.py"):
    """The rule and the place of each finding, and what is not read."""
    return [each.partition(": ")[0] if not each.startswith("not read") else each for each in describe(text, name)]


def places_unread(text):
    """The places of what is not read."""
    return [f"{each.line}:{each.column}" for each in lint("metrics.py", text.encode()).unread]


def test_a_finding_is_at_its_place_behind_characters_of_several_bytes():
    text = SOUND.replace('expected_outcome="Names the next step"', 'label="ü😀", expected_outcome=" "')
    assert found(text) == ["empty-outcome 8:66"]


def test_a_strict_metric_passes_at_one_and_its_bands_decide_nothing():
    text = SOUND.replace('name="Tone",', 'name="Tone", threshold=0.7,')
    strict = found(text.replace("0.7", "0.7, strict_mode=True"))
    assert (found(text), strict) == (["split-band 8:28"], [f"not read 6:5: {STRICT}"])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_mark_do_not_move_places(end):
    text = "\ufeff# ü\n" + METRIC
    assert found(text.replace("\n", end)) == [GAP.format("7:5")]


FORMS = {
    "an alias": (METRIC.replace("Rubric(score", "Band(score"), "6:5"),
    "a module": (METRIC.replace("        Rubric(", "        g_eval.Rubric("), "6:5"),
    "a tuple": (METRIC.replace("rubric=[", "rubric=(").replace("    ],", "    ),"), "6:5"),
    "a function": ("def make():\n    return [\n" + "".join(METRIC.splitlines(keepends=True)[6:8]) + "    ]\n", "2:12"),
    "a name": ("BANDS = [\n" + "".join(METRIC.splitlines(keepends=True)[6:8]) + "]\n", "1:1"),
    "a typed name": ("BANDS: list = [\n" + "".join(METRIC.splitlines(keepends=True)[6:8]) + "]\n", "1:1"),
    "an attribute": ("self.bands = [\n" + "".join(METRIC.splitlines(keepends=True)[6:8]) + "]\n", "1:6"),
    "a dictionary": ("ALL = {\n  'tone': [\n" + "".join(METRIC.splitlines(keepends=True)[6:8]) + "]}\n", "2:3"),
    "a chain": (METRIC.replace("tone = GEval(", "run(GEval(").removesuffix(")\n") + ").measure(case))\n", "6:5"),
    "a function that another returns": (
        METRIC.replace("tone = GEval(", "tone = register(").rstrip() + "(judge)\n",
        "6:5",
    ),
    "a function in a dictionary": (METRIC.replace("tone = GEval(", 'tone = METRICS["g"]('), "6:5"),
    "a lambda": (METRIC.replace("tone = GEval(", "tone = lambda: GEval("), "6:5"),
    "a condition": (METRIC.replace("tone = GEval(", "tone = None if x else GEval("), "6:5"),
    "joined strings": (METRIC.replace('"Blames the customer"', '"Blames " "the " + "customer"'), "6:5"),
    "an f-string without a placeholder": (METRIC.replace('"Blames', 'f"Blames'), "6:5"),
}


@pytest.mark.parametrize("form", FORMS)
def test_bands_are_found_wherever_they_are_written(form):
    text, place = FORMS[form]
    assert found(text) == [GAP.format(place)]


BEYOND = METRIC.replace("Rubric(score", "Band(score").replace("(0, 4)", "(0, 49)").replace("(6, 10)", "(50, 100)")
IN_A_NAME = f"BANDS = [\n{''.join(BEYOND.splitlines(keepends=True)[6:8])}]\n"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (BEYOND, ["7:30", "8:27", "8:31"]),
        (f"{IN_A_NAME}GEval(criteria='Is it kind?', rubric=BANDS)\n", ["2:30", "3:27", "3:31"]),
        (IN_A_NAME, []),
    ],
    ids=["in the call", "by a name", "of no metric"],
)
def test_what_a_metric_takes_are_bands_whatever_their_name_and_scores(text, places):
    assert found(text) == [f"bounds {place}" for place in places]


@pytest.mark.parametrize("change", as_tuples(TABLES["what is computed is"]))
def test_bands_of_which_a_part_is_computed_are_reported_once_and_neither_checked_nor_scored(change):
    text = METRIC.replace(*change)
    result = lint("metrics.py", text.encode())
    assert (result.findings, result.rubrics, places_unread(text)) == ((), 0, ["6:12"])
    with pytest.raises(RubricError) as refused:
        load_rubrics("metrics.py", text.encode())
    assert refused.value.faults[0].startswith("metrics.py:6:12: ")


@pytest.mark.parametrize("bands", ["[Rubric(**low), Rubric(**high)]", "[Rubric(**band) for band in BANDS]"])
def test_bands_whose_fields_are_unpacked_are_told(bands):
    assert places_unread(f"# score_range, expected_outcome\nGEval(rubric={bands})\n") == ["2:14"]


def test_levels_beside_unpacked_ones_are_reported_and_not_checked():
    text = LEVELS.replace("{\n", "{\n    **BASE,\n").replace("2_descripton", "2_description")
    assert (lint("metrics.py", text.encode()).findings, places_unread(text)) == ((), ["1:11"])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("g = GEval(rubric=[low, high])\n", "1:18"),
        ("g = GEval(rubric=make_bands(3))\n", "1:18"),
        ("g = GEval(rubric=[make(band) for band in BANDS])\n", "1:18"),
        ("[Rubric(score_range=r, expected_outcome=o) for r, o in BANDS]\n", "1:2"),
        ("GEval(rubric=[Rubric(score_range=tuple(b), expected_outcome=b[1]) for b in BANDS])\n", "1:15"),
        ("g = LabelModelGrader(**GRADER)\ng = ScoreModelGrader(model=M, input=[make()], range=[1, 0])\n", "2:5"),
        ("GRADER = {'type': 'label_model', 'labels': LABELS, 'passing_labels': ['kind']}\n", "1:10"),
        ('bands.append(Rubric(score_range=(0, 4), expected_outcome="x"))\n', "1:14"),
        ("bands = [Rubric(score_range=LOW, expected_outcome=x)]\n", "1:9"),
        ('rubrics["score1_description"] = "A"\nrubrics["score2_description"] = "B"\n', "1:33"),
        ('for i in x:\n    self.rubric[f"score{i}_description"] = x[i]\n', "2:44"),
        ('x["score1_description"] = "A"\nmetric = AspectRubric(rubrics=x)\n', "1:27"),
        ('rubrics = {f"score{i}_description": x for i, x in levels}\n', "1:11"),
        ('RubricsScore(rubrics={"score%d_description" % i: x for i, x in levels})\n', "1:22"),
    ],
)
def test_bands_and_levels_that_are_computed_are_told(text, place):
    assert places_unread(f"{text}# score_range, expected_outcome: see deepeval\n") == [place]


@pytest.mark.parametrize(
    "text",
    [
        "low = partial(pick, score_range=(0, 4))\n",
        "g = GEval(rubric=BANDS)\nh = GEval(rubric=None)\ni = GEval(rubric=[])\nj = GEval(rubric=a.BANDS)\n",
        'frame["score1_description"] = "A"\nprint(row["score1_description"])\n',
        'columns = {f"score{i}_description": x for i, x in levels}\n',
    ],
)
def test_what_is_no_band_or_level_may_be_computed(text):
    assert found(f"{text}# score_range, expected_outcome: see deepeval\n") == []


@pytest.mark.parametrize("name", ["metrics.pyi", "metrics.pyw", "metrics.PYW"])
def test_stubs_and_scripts_without_a_console_are_python(name):
    assert found(METRIC, name=name) == found(METRIC) == [GAP.format("6:5")]


def test_a_metric_says_which_scores_are_worth_what():
    one_to_five = METRIC.replace("(0, 4)", "(1, 2)").replace("(6, 10)", "(3, 5)")
    assert found(one_to_five) == []
    assert found(one_to_five.replace("GEval(\n", "ConversationalGEval(\n"))[0] == GAP.format("6:5")
    assert worth(one_to_five) == (["0", "1/4", "1/2", "3/4", "1"], "0.5")
    assert worth(SOUND.replace('"Tone"', '"Tone", threshold=0.7')) == ([*TENTHS], "0.7")
    named = one_to_five.replace("tone = GEval(", "BANDS = (").replace('name="Tone",', "").replace("rubric=", "")
    named = named.removesuffix(",\n)\n") + ")\ntone = GEval(name='Tone', rubric=BANDS, threshold=0.25)\n"
    assert worth(named) == (["0", "1/4", "1/2", "3/4", "1"], "0.25")


@pytest.mark.parametrize("written", ["- .5", "-(0.5)", "0.12345678901234567890123", "1_0.5e-2", "-(0.0)"])
def test_any_number_that_python_reads_is_read(written):
    assert GAP.format("6:5") in found(METRIC.replace('"Tone"', f'"Tone", threshold={written}'))


TENTHS = ("0", "1/10", "1/5", "3/10", "2/5", "1/2", "3/5", "7/10", "4/5", "9/10", "1")


def worth(text):
    """What each score of the one metric is worth, and what passes."""
    (rubric,) = load_rubrics("metrics.py", text.encode()).values()
    return [str(grade.score) for grade in rubric.criteria[0].grades], str(rubric.model.thresholds.pass_at)


@pytest.mark.parametrize("more", ["strict_mode=True", "threshold=LEAST", "**COMMON"])
def test_a_metric_whose_verdict_is_not_known_is_not_scored(more, said):
    with pytest.raises(RubricError) as refused:
        load_rubrics("metrics.py", SOUND.replace('"Tone"', f'"Tone", {more}').encode())
    (fault,) = refused.value.faults
    said(fault)


@pytest.mark.parametrize(("change", "expected"), as_tuples(TABLES["what deepeval refuses is an"]))
def test_what_deepeval_refuses_is_an_error(change, expected):
    assert expected in found(METRIC.replace(*change))


@pytest.mark.parametrize(
    ("threshold", "effect"),
    [("7", "never passes"), ("1.5", "never passes"), ("-1", "always passes"), (f"1{'0' * 400}", "never passes")],
)
def test_a_threshold_that_no_score_or_every_score_reaches_is_found(threshold, effect):
    (finding,) = lint("metrics.py", SOUND.replace('"Tone"', f'"Tone", threshold={threshold}').encode()).findings
    assert (finding.code, finding.values["effect"], len(finding.message) < 150) == ("bounds.threshold", effect, True)


LEVELS = """\
RUBRICS = {
    "score1_description": "A number differs from the source",
    "score2_descripton": "One number differs from the source",
    "score3_description": "Good",
}
"""


def test_dictionaries_of_ragas_are_checked_as_in_yaml():
    assert found(LEVELS) == ["unknown-field 3:5", "vague-outcome 4:27"]
    computed = LEVELS.replace("2_descripton", "2_description").replace('"Good"', 'f"Right in {count}"')
    assert places_unread(computed) == ["1:11"]
    repeated = LEVELS.replace("2_descripton", "1_description").replace("Good", "Every number is that of the source")
    assert found(repeated) == ["duplicate-key 3:5"]


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        (METRIC.removesuffix(")\n"), True),
        (LEVELS.removesuffix("}\n"), True),
        (METRIC + "print 'x'\n", True),
        (METRIC + "\0", True),
        ("print 'score_range and expected_outcome'\n", False),
        ("{% if cookiecutter.x %}\n" + METRIC.removesuffix(")\n"), False),
        ("Rubric(score_range=low, expected_outcome=", False),
    ],
)
def test_a_syntax_error_is_told_only_if_the_file_holds_a_rubric(text, is_told):
    assert [each.split(" ")[0] for each in found(text)] == (["syntax"] if is_told else ["not"])


@pytest.mark.parametrize("text", ["x = " + "(" * 90_000, "x = " + "-" * 200_000 + "1", "x = " + "a." * 90_000 + "b"])
def test_deep_nesting_is_no_crash(text):
    assert all(each.startswith(("syntax", "not read")) for each in found(f"{METRIC}{text}\n"))


LOOK_ALIKES = TABLES["LOOK_ALIKES"]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_other_programs_are_silent(text):
    assert (found(text), lint("a.py", text.encode()).rubrics) == ([], 0)


GAP_LINE = "    rubric=[\n"


@pytest.mark.parametrize(
    "text",
    [
        METRIC.replace(GAP_LINE, "    rubric=[  # rubric-lint: ignore[coverage]\n"),
        METRIC.replace(GAP_LINE, f"    # rubric-lint: ignore[coverage] as agreed\n{GAP_LINE}"),
        f"# rubric-lint: ignore-file[coverage]\n{METRIC}",
        f"#!/usr/bin/env python\n# rubric-lint: ignore-file[coverage]\n\n{METRIC}",
    ],
)
def test_comments_silence_findings(text):
    result = lint("metrics.py", text.encode())
    assert (result.findings, result.ignored) == ((), 1)


def test_a_comment_that_silences_nothing_is_told_and_a_string_is_no_comment():
    text = SOUND.replace("    rubric", "    # rubric-lint: ignore[coverage]\n    rubric")
    text = text.replace("customer", "customer # rubric-lint: ignore[overlap]")
    (finding,) = lint("metrics.py", text.encode()).findings
    assert (finding.rule, finding.fix) == ("unused-ignore", None)


def notebook(code):
    return json.dumps({"cells": [{"cell_type": "code", "source": code}]})


def test_a_notebook_with_a_metric_is_reported_and_not_read(said):
    Path("tone.ipynb").write_text(notebook(SOUND), "utf-8")
    Path("plot.ipynb").write_text(notebook("plot()"), "utf-8")
    for arguments in (("--isolated", "tone.ipynb", "plot.ipynb"), ("--isolated", ".")):
        said(call(*arguments)[1])


def test_folders_are_searched_for_programs_that_hold_rubrics(said):
    for name, text in {
        "src/metrics.py": METRIC,
        "src/other.py": "print('a rubric')\n",
        "src/a.py": SOUND,
        "src/a.ipynb": notebook(SOUND),
        "src/b.ipynb": notebook(SOUND),
        "src/c.ipynb": notebook("1"),
        ".env/pyvenv.cfg": "home = /usr/bin\n",
        ".env/lib/deepeval.py": METRIC,
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, "utf-8")
    linted = call("--isolated", "--select", "overlap", "--format=json", "good.yaml", "old.yaml", "src")[0]
    assert json.loads(linted)["summary"]["files_with_rubrics"] == 4
    listed = call("--show-files", ".")
    assert listed[0].splitlines() == ["bad.yaml", "good.yaml", "old.yaml", "src/a.py", "src/b.ipynb", "src/metrics.py"]
    said(listed[1], listed[1])


def test_programs_are_never_rewritten_and_rubric_fix_says_so(said):
    Path("metrics.py").write_text(METRIC, "utf-8")
    out, err, code = call("--unsafe-fixes", "metrics.py", program="rubric-fix")
    assert code == 0
    said(out + err)
    out, err, _ = call("--add-ignores", "metrics.py")
    said(out + err)
    assert Path("metrics.py").read_text("utf-8") == METRIC


IN_WORDS = '''\
from deepeval.metrics import ConversationalGEval, GEval

a = GEval(name="A", criteria="Names the cause of the delay", threshold={threshold})
suite = [
    GEval(name="B", evaluation_steps=["Compare the dates", "compare the  dates", " ", "TODO", 3]),
    ConversationalGEval(name="B", criteria="good"),
    GEval(name="C", criteria="  "),
    GEval(name="D", criteria="""Rate the tone on a scale.
        1: rude
        2: plain
        3: kind"""),
    GEval(name="E", evaluation_steps=[]),
]
'''
WORDS_FOUND = TABLES["WORDS_FOUND"]


def test_metrics_without_bands_are_read_by_their_words():
    result = lint("a.py", IN_WORDS.format(threshold=5).encode())
    assert [[code, text.partition("\n")[0]] for code, text in marked(result)] == WORDS_FOUND
    assert (result.rubrics, result.unread) == (6, ())


def test_a_metric_without_bands_gives_a_tenth_of_its_score():
    text = IN_WORDS.format(threshold="0.7").partition("suite")[0]
    assert ([*load_rubrics("a.py", text.encode())], worth(text)) == (["A"], ([*TENTHS], "0.7"))


@pytest.mark.parametrize(("code", "rubrics", "places"), TABLES["metrics in computed words or"])
def test_metrics_in_computed_words_or_of_other_packages_are_told(code, rubrics, places):
    result = lint("a.py", f"m = GEval({code})\n".encode())
    found_at = [f"{each.line}:{each.column}" for each in result.unread]
    assert (result.findings, result.rubrics, found_at) == ((), rubrics, places)


@pytest.mark.parametrize("name", ["GEval", "ArenaGEval"])
def test_a_metric_of_another_package_or_that_gives_no_score_is_told(name, said):
    code = f'from opik.evaluation.metrics import GEval\nm = {name}(criteria="Names it", threshold=7)\n'
    said(lint("a.py", code.encode()).unread[0].reason)


@pytest.mark.parametrize("name", ["a.py", "a.json", "a.yaml"])
def test_graders_of_openai_are_reported_and_not_read(name, said):
    labels = '{"type": "label_model", "labels": ["rude", "kind"], "passing_labels": ["kind"], "input": []}'
    scores = '{"type": "score_model", "input": [{"role": "user", "content": "Is it kind?"}], "range": [5, 1]}'
    text = f'[{{"type": "multi", "graders": {{"tone": {labels}, "depth": {scores}}}}}]\n'
    result = lint(name, text.encode())
    assert (result.findings, result.rubrics, len(result.unread)) == ((), 0, 2)
    said([f"{each.line}:{each.column} {each.reason}" for each in result.unread])
