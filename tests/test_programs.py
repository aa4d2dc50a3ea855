"""Rubrics in Python sources and notebooks: read as literals, with exact places, and never rewritten."""

import json
from pathlib import Path

import pytest
import said
from cases import as_tuples, read_cases
from found import codes, marked
from lint_command import call, folder  # noqa: F401 (a fixture)

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
    return [each.partition(": ")[0] if not each.startswith("not read") else each for each in said.found(text, name)]


def places_unread(text):
    """The places of what is not read."""
    return [f"{each.line}:{each.column}" for each in lint("metrics.py", text.encode()).unread]


def test_a_finding_is_at_its_place_behind_characters_of_several_bytes():
    text = SOUND.replace('expected_outcome="Names the next step"', 'label="ü😀", expected_outcome=" "')
    assert found(text) == ["empty-outcome 8:66"]


def test_a_strict_metric_passes_at_one_and_its_bands_decide_nothing():
    text = SOUND.replace('name="Tone",', 'name="Tone", threshold=0.7,')
    assert (found(text), found(text.replace("0.7", "0.7, strict_mode=True"))) == (["split-band 8:28"], [])


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


def test_what_is_computed_is_told_and_the_rest_is_checked(said):
    text = METRIC.replace('"Blames the customer"', 'f"Blames {whom}"').replace('"Names the next step"', '" "')
    said(found(text))
    text = METRIC.replace("(0, 4)", "(0, top)")
    said(found(text))
    text = METRIC.replace('Rubric(score_range=(0, 4), expected_outcome="Blames the customer"),', "*others,")
    said(found(text))


@pytest.mark.parametrize("change", as_tuples(TABLES["what a call computes is"]))
def test_what_a_call_computes_is_told_too(change):
    assert places_unread(METRIC.replace(*change))[-1] == "7:9"


@pytest.mark.parametrize("bands", ["[Rubric(**low), Rubric(**high)]", "[Rubric(**band) for band in BANDS]"])
def test_bands_whose_fields_are_unpacked_are_told(bands, said):
    text = f"# score_range, expected_outcome\nGEval(rubric={bands})\n"
    said(found(text))


def test_levels_beside_unpacked_ones_are_checked_and_the_rest_is_told(said):
    text = LEVELS.replace("{\n", "{\n    **BASE,\n").replace("2_descripton", "2_description")
    said(found(text))
    with pytest.raises(RubricError) as refused:
        load_rubrics("metrics.py", text.replace("Good", "Every number is that of the source").encode())
    said(refused.value.faults[0])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("low = functools.partial(Rubric, score_range=(0, 4))\n", "1:7"),
        ("low = partial(metrics.Rubric, expected_outcome=x)\n", "1:7"),
        ("g = GEval(rubric=[low, high])\n", "1:18"),
        ("g = GEval(rubric=make_bands(3))\n", "1:18"),
        ("g = GEval(rubric=[make(band) for band in BANDS])\n", "1:18"),
        ("[Rubric(score_range=r, expected_outcome=o) for r, o in BANDS]\n", "1:2"),
        ("GEval(rubric=[Rubric(score_range=tuple(b), expected_outcome=b[1]) for b in BANDS])\n", "1:15"),
        ('bands.append(Rubric(score_range=(0, 4), expected_outcome="x"))\n', "1:14"),
        ("bands = [Rubric(score_range=LOW, expected_outcome=x)]\n", "1:10"),
        ('rubrics["score1_description"] = "A"\nrubrics["score2_description"] = "B"\n', "1:33"),
        ('for i in x:\n    self.rubric[f"score{i}_description"] = x[i]\n', "2:44"),
        ('x["score1_description"] = "A"\nmetric = AspectRubric(rubrics=x)\n', "1:27"),
        ('rubrics = {f"score{i}_description": x for i, x in levels}\n', "1:11"),
        ('RubricsScore(rubrics={"score%d_description" % i: x for i, x in levels})\n', "1:22"),
    ],
)
def test_bands_and_levels_that_are_computed_are_told(text, place, said):
    text = f"{text}# score_range, expected_outcome: see deepeval\n"
    assert places_unread(text) == [place]
    said(found(text))


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
    escaped = notebook(METRIC.replace('"Tone"', '"Tone", threshold=0.7')).replace("0.7", "0\\u002e7")
    assert [each.split()[0] for each in found(escaped, name="a.ipynb")] == ["coverage", "split-band"]


TENTHS = ("0", "1/10", "1/5", "3/10", "2/5", "1/2", "3/5", "7/10", "4/5", "9/10", "1")


def worth(text):
    """What each score of the one metric is worth, and what passes."""
    (rubric,) = load_rubrics("metrics.py", text.encode()).values()
    return [str(grade.score) for grade in rubric.criteria[0].grades], str(rubric.model.thresholds.pass_at)


@pytest.mark.parametrize("change", [('"Tone"', '"Tone", strict_mode=True'), ('"Names', 'f"{x}')])
def test_what_cannot_be_scored_is_refused_with_the_reason(change, said):
    with pytest.raises(RubricError) as refused:
        load_rubrics("metrics.py", SOUND.replace(*change).encode())
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


def test_dictionaries_of_ragas_are_checked_as_in_yaml(said):
    assert found(LEVELS) == ["unknown-field 3:5", "vague-outcome 4:27"]
    computed = LEVELS.replace("2_descripton", "2_description").replace('"Good"', 'f"Right in {count}"')
    said(found(computed)[0])
    repeated = LEVELS.replace("2_descripton", "1_description").replace("Good", "Every number is that of the source")
    assert found(repeated) == ["duplicate-key 3:5"]


def notebook(*cells, **more):
    written = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    text = {"cell_type": "markdown", "source": [METRIC]}
    return json.dumps({"cells": [text, *written], "nbformat": 4, **more}, indent=1, ensure_ascii=False)


def test_a_notebook_is_read_cell_by_cell():
    first = "%pip install deepeval\nfiles = !ls\nawait x\n"
    text = notebook(first, f'# ü\t"😀"\n{METRIC}'.splitlines(keepends=True), "%%bash\nrm -rf (\n")
    (finding,) = lint("a.ipynb", text.encode()).findings
    assert (finding.rule, text[slice(*finding.span)], finding.pointer) == ("coverage", "rubric", "/tone/rubric")
    assert text[: finding.span.start].endswith('    name=\\"Tone\\",\\n",\n    "    ')


@pytest.mark.parametrize(
    "output",
    ["NaN", "[1, -Infinity, {}]", "[" * 600 + "]" * 600, '"\\ud800"', '{"cells": [1], "source": NaN}', "1" * 5000],
)
@pytest.mark.parametrize("field", ["outputs", "metadata", "attachments"])
def test_outputs_of_a_notebook_do_not_matter(field, output):
    text = notebook("1", METRIC)
    cell = f'"{field}": {output}, "more": {{"{field}": {output}, "outputs": {output}}}, "cell_type": "code"'
    changed = text.replace('"cell_type": "code"', cell)
    (finding,) = lint("a.ipynb", changed.encode()).findings
    assert (finding.rule, changed[slice(*finding.span)], finding.pointer) == ("coverage", "rubric", "/tone/rubric")


def test_what_is_no_json_in_a_notebook_is_told_at_its_place():
    text = notebook(METRIC)
    broken = text.replace('"nbformat": 4', '"nbformat": NaN')
    at = f"{broken.count(chr(10), 0, broken.index('NaN')) + 1}:14"
    assert found(broken, name="a.ipynb") == [f"syntax {at}"]
    broken = text.replace('"outputs": []', '"outputs": [1 2]', 1)
    assert found(broken, name="a.ipynb")[0].startswith("syntax ")


def test_a_cell_that_is_one_string_has_places_too():
    text = notebook("!ls\n" + METRIC.replace('"Names the next step"', '"\\u00fc \\n"'))
    (finding,) = lint("a.ipynb", text.encode()).findings
    assert text[slice(*finding.span)] == "rubric"


def test_a_cell_with_a_syntax_error_is_told_only_if_it_holds_a_rubric():
    broken = METRIC.replace("),\n    ],", ",\n    ],")
    (finding,) = lint("a.ipynb", notebook("for\n", broken).encode()).findings
    assert (finding.code, "on line 8" in finding.message) == ("syntax.unreadable", True)
    assert lint("a.ipynb", notebook("for\n", "in Rubric(").encode()).findings == ()


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
    assert (found(text), found(notebook(text), name="a.ipynb"), lint("a.py", text.encode()).rubrics) == ([], [], 0)


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
    for name, written in (("metrics.py", text), ("a.ipynb", notebook(text.splitlines(keepends=True)))):
        result = lint(name, written.encode())
        assert (result.findings, result.ignored) == ((), 1)


def test_a_comment_that_silences_nothing_is_told_and_a_string_is_no_comment():
    text = SOUND.replace("    rubric", "    # rubric-lint: ignore[coverage]\n    rubric")
    text = text.replace("customer", "customer # rubric-lint: ignore[overlap]")
    (finding,) = lint("metrics.py", text.encode()).findings
    assert (finding.rule, finding.fix) == ("unused-ignore", None)


def test_folders_are_searched_for_programs_that_hold_rubrics(said):
    for name, text in {
        "src/metrics.py": METRIC,
        "src/other.py": "print('a rubric')\n",
        "src/a.ipynb": notebook(SOUND),
        ".env/pyvenv.cfg": "home = /usr/bin\n",
        ".env/lib/deepeval.py": METRIC,
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, "utf-8")
    linted = call("--isolated", "--select", "overlap", "--format=json", "good.yaml", "old.yaml", "src")[0]
    assert json.loads(linted)["summary"]["files_with_rubrics"] == 4
    listed = call("--show-files", ".")
    assert listed[0].splitlines() == ["bad.yaml", "good.yaml", "old.yaml", "src/a.ipynb", "src/metrics.py"]
    said(listed[1], listed[1])


def test_programs_are_never_rewritten_and_rubric_fix_says_so(said):
    Path("metrics.py").write_text(METRIC, "utf-8")
    out, err, code = call("--unsafe-fixes", "metrics.py", program="rubric-fix")
    assert code == 0
    said(out + err)
    out, err, _ = call("--add-ignores", "metrics.py")
    said(out + err)
    assert Path("metrics.py").read_text("utf-8") == METRIC


GRADER = (
    '{"type": "label_model", "name": "tone", "model": "m", "input": [{"role": "user", "content": "Is it polite?"}], '
    '"labels": ["yes", "no"], "passing_labels": ["maybe"]}'
)


@pytest.mark.parametrize("code", [f"GRADER = {GRADER}", f"client.run(grader={GRADER})"])
def test_a_literal_grader_of_openai_is_read_as_in_json(code):
    found, wanted = (lint(name, text.encode()) for name, text in (("a.py", code), ("a.json", GRADER)))
    assert wanted.findings
    assert [(each.rule, each.message) for each in found.findings] == [(e.rule, e.message) for e in wanted.findings]
    assert (found.rubrics, found.unread) == (1, ())


@pytest.mark.parametrize(("code", "found"), TABLES["calls of the classes of"])
def test_calls_of_the_classes_of_graders_are_read(code, found):
    result = lint("a.py", f"{code}\n".encode())
    assert codes(result.findings) == ([found] if found else [])
    assert result.rubrics == (found is not None)


@pytest.mark.parametrize("part", ['f"{name}"', "LABELS", "[*LABELS]", "make()"])
def test_a_grader_that_is_computed_in_part_is_told(part, said):
    code = GRADER.replace('["maybe"]', part)
    result = lint("a.py", f"x = 1\nGRADER = {code}\n".encode())
    assert (result.findings, result.rubrics) == ((), 0)
    ((line, reason),) = [(each.line, each.reason) for each in result.unread]
    assert line == 2
    said(reason)


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
def test_metrics_in_computed_words_or_of_other_packages_are_told(code, rubrics, places, said):
    result = lint("a.py", f"m = GEval({code})\n".encode())
    found_at = [f"{each.line}:{each.column}" for each in result.unread]
    assert (result.findings, result.rubrics, found_at) == ((), rubrics, places)
    said([each.reason for each in result.unread])


@pytest.mark.parametrize("name", ["GEval", "ArenaGEval"])
def test_a_metric_of_another_package_or_that_gives_no_score_is_told(name, said):
    code = f'from opik.evaluation.metrics import GEval\nm = {name}(criteria="Names it", threshold=7)\n'
    said(lint("a.py", code.encode()).unread[0].reason)
