"""`rubric-lint adopt` describes the format of files in the settings, so that all commands read them."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from cases import read_cases
from lint_command import call

from rubric_lint.lint.project.adoption import write_tables
from rubric_lint.lint.run.summary import Summary

pytestmark = pytest.mark.usefixtures("folder")

MOST_CALLS = 12
"""So many suggestions are followed from one file."""

TONE = """\
# how answers speak
version: 2
scale: [1, 5]
overall_pass_threshold: 3
dimensions:
  tone: {weight: 2, description: How it speaks to the reader, owner_team: docs, min_score: 2}
  facts: {weight: 1, description: What it takes from the source, min_score: 1}
"""

TABLE = {
    "name": "tone",
    "files": ["/tone.yaml"],
    "criteria": "/dimensions",
    "scale": "/scale",
    "outcome": "description",
    "weight": "weight",
    "gate": "min_score",
    "pass": "/overall_pass_threshold",
    "unused": ["owner_team"],
}

ASKED = """\
scale: 1-5
criteria:
- {id: a, weight: 5, text: Names the year, if_missing: fail, effect: subtract, only_if: It has a date, owner: docs}
- {id: b, weight: 3, text: Names the day, common_mistakes: [It names no day at all]}
"""


def test_nothing_is_written_before_fields_that_may_bear_on_the_score_are_named(said):
    write(a_yaml=ASKED)
    report, errors, code = call("adopt", "a.yaml")
    assert (code, [path.name for path in Path().iterdir()]) == (1, ["a.yaml"])
    said(report, errors)
    left_out = [f"--map=unused={key}" for key in ("if_missing", "effect", "only_if")]
    assert call("adopt", "a.yaml", *left_out)[2] == 0
    assert settings()["shape"][0]["unused"] == ["owner", "common_mistakes", "if_missing", "effect", "only_if"]
    assert call("adopt", "--check", "a.yaml") == ("", "", 0)
    table = Path("rubric-lint.toml").read_text("utf-8")
    Path("rubric-lint.toml").write_text(table.replace('"if_missing", "effect", ', ""), "utf-8")
    _, errors, code = call("adopt", "--check", "a.yaml")
    assert code == 1
    said(errors)


LEVELS = '{{"criteria": [{{"name": "{}", "levels": {{"1": "Blames the reader", "3": "Thanks the reader"}}}}]}}\n'


def write(**files):
    """Write files, whose names have `_` for the dot."""
    for name, text in files.items():
        Path(name.replace("_", ".")).write_text(text, "utf-8")


def settings(name="rubric-lint.toml"):
    return tomllib.loads(Path(name).read_text("utf-8"))


def test_a_table_is_shown_with_what_it_does_not_use_and_added_to_new_settings(said):
    write(tone_yaml=TONE)
    report, errors, code = call("adopt", "tone.yaml")
    assert (code, errors, settings()) == (0, "", {"shape": [TABLE]})
    said(report)
    report, _, code = call("show", "tone.yaml")
    assert ("levels (tone); pass >= 0.5" in report, code) == (True, 0)
    assert call("adopt", "--check", "tone.yaml") == ("", "", 0)
    said(call("adopt", "tone.yaml"))


def test_a_format_whose_files_moved_is_told_where_its_whole_folder_is_searched():
    write(tone_yaml=TONE)
    assert call("adopt", "tone.yaml")[2] == 0
    Path("tone.yaml").rename("voice.yaml")
    told = "rubric-lint.toml: format `tone`: no file matches `/tone.yaml`"
    assert [told in call(path)[1] for path in (".", "voice.yaml", "rubric-lint.toml")] == [True, False, False]
    Path("voice.yaml").rename("tone.yaml")
    assert call(".")[1:] == ("", 0)


FORMATS = read_cases(__file__)["FORMATS"]
VERDICTS = ("verdict ", "pass ", "borderline ", "fail ")
FOLLOWS = (*(f"  {name}" for name in (*VERDICTS, "criterion ", '{"checks"')), "a.yaml: for example", "Added", "Or, to")
"""How lines begin that follow from the others, or are the same for all formats."""


@pytest.mark.parametrize(("options", "text"), FORMATS.values(), ids=FORMATS)
def test_what_a_format_becomes_in_the_settings_and_what_is_read_by_them(options, text, said):
    write(a_yaml=text)
    table = Path("rubric-lint.toml")
    report, errors, code = call("adopt", "a.yaml", *shlex.split(options))
    shown = [line for line in report.splitlines() if line and not line.startswith(FOLLOWS)]
    said(shown, errors, code, table.read_text("utf-8") if table.exists() else "")
    linted = call("a.yaml", "--no-cache", "--format=concise")
    said([] if linted[0].startswith("No findings") and not linted[1] else linted)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_other_byte_of_the_settings_stays(newline):
    write(tone_yaml=TONE)
    before = "# ours\n[tool.black]\nline-length = 100\n\n[tool.rubric-lint]\nselect = ['overlap'] # for now"
    Path("pyproject.toml").write_bytes(before.replace("\n", newline).encode())
    assert call("adopt", "tone.yaml", "--name=voice")[2] == 0
    after = Path("pyproject.toml").read_bytes().decode()
    assert after.startswith(before.replace("\n", newline) + newline * 2 + "[[tool.rubric-lint.shape]]" + newline)
    assert after.count("\n") == after.count(newline)
    assert settings("pyproject.toml")["tool"]["rubric-lint"]["shape"] == [TABLE | {"name": "voice"}]


def test_tables_that_cannot_be_added_are_printed_to_be_added_by_hand(said):
    write(tone_yaml=TONE, pyproject_toml="tool.rubric-lint = {select = ['overlap']}\n")
    _, errors, code = call("adopt", "tone.yaml")
    assert code == 2
    said(errors)
    assert Path("pyproject.toml").read_text("utf-8") == "tool.rubric-lint = {select = ['overlap']}\n"


def test_the_tables_are_printed_instead():
    write(tone_yaml=TONE)
    table, report, code = call("adopt", "tone.yaml", "-o", "-")
    assert (tomllib.loads(table), code, Path("rubric-lint.toml").exists()) == ({"shape": [TABLE]}, 0, False)
    assert "`owner_team`" in report


def test_files_of_one_format_share_a_table_and_a_pattern():
    Path("evals").mkdir()
    for name in "abc":
        Path(f"evals/{name}.json").write_text(LEVELS.format(name), "utf-8")
    assert call("adopt", *(f"evals/{name}.json" for name in "abc"))[2] == 0
    assert settings() == {
        "shape": [
            {"name": "evals", "files": ["/evals/*.json"], "criteria": "/criteria", "id": "name", "levels": "levels"}
        ]
    }
    counts = Summary(files=3, files_with_rubrics=3, rubrics=3, criteria=3)
    assert call("--no-cache", "evals")[0].endswith(f"{counts}\n")


def test_two_formats_in_one_file_are_two_tables():
    write(a_yaml=f"text_criteria:\n{ITEMS}\nmore:\n  code_criteria:\n  {ITEMS}\n")
    assert call("adopt", "a.yaml")[2] == 1
    assert call("adopt", "a.yaml", "--scale=1-5")[2] == 0
    assert [(table["name"], table["criteria"], table["scale"]) for table in settings()["shape"]] == [
        ("a", "/text_criteria", [1, 5]),
        ("a-2", "/more/code_criteria", [1, 5]),
    ]
    assert "2 rubrics, 2 criteria" in call("--no-cache", "a.yaml")[0]


ITEMS = "  - {id: a, weight: 1, text: Names the window}"


def test_a_scale_that_nothing_says_is_asked_for(said):
    write(tone_yaml=TONE.replace("scale: [1, 5]\n", ""))
    said(call("adopt", "tone.yaml"))
    assert not Path("rubric-lint.toml").exists()
    assert call("adopt", "tone.yaml", "--scale", "1-5")[2] == 0
    assert settings() == {"shape": [TABLE | {"scale": [1, 5]}]}


ANSWERS = {
    "the weight of two columns": (
        [{"study": 0.6, "essay": 0.3}, {"study": 0.4, "essay": 0.7}],
        ["weight=study", "unused=essay"],
        {"weight": "study", "unused": ["essay"]},
    ),
    "points": ([{"size": 2}, {"size": 3}], ["points=size"], {"weight": "size", "combine": "share"}),
    "words as weights": (
        [{"importance": "high"}, {"importance": "low"}],
        ["weight=importance", "weights=high=3", "weights=low=0.5"],
        {"weight": "importance", "weights": {"high": 3, "low": 0.5}},
    ),
    "a flag as a gate": ([{"vital": True}, {"vital": False}], ["gate=vital"], {"gate": "vital"}),
    "a word as a gate": (
        [{"rank": "top"}, {"rank": "low"}],
        ["gate=rank=top"],
        {"gate": {"rank": "top"}},
    ),
    "words as penalties": (
        [{"sign": "avoid"}, {"sign": "include"}],
        ["negative=sign=avoid"],
        {"negative": {"sign": "avoid"}},
    ),
    "another text": (
        [{"ask": "Does it?"}, {"ask": "Is it?"}],
        ["outcome=ask", "unused=text"],
        {"outcome": "ask", "unused": ["text"]},
    ),
    "another name": ([{"code": "A"}, {"code": "B"}], ["id=code", "unused=key"], {"id": "code", "unused": ["key"]}),
}


@pytest.mark.parametrize(("fields", "roles", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_a_setting_of_the_table(fields, roles, expected):
    criteria = [
        {"key": key, "text": f"Names the {key}"} | more for key, more in zip(("day", "year"), fields, strict=True)
    ]
    write(a_json=json.dumps({"criteria": criteria}))
    _, errors, code = call("adopt", "a.json", "--scale=yes-no", *(f"--map={role}" for role in roles))
    assert (code, errors) == (0, "")
    (table,) = settings()["shape"]
    own = {
        "name": "a",
        "files": ["/a.json"],
        "criteria": "/criteria",
        "id": "key",
        "outcome": "text",
        "scale": "yes-no",
    }
    assert table == own | expected


AROUND = """\
{}
scale: 1-5
criteria:
- {{id: a, weight: 5, text: Names the year of it}}
- {{id: b, weight: 3, text: Names the day of it}}
"""
OFFERED = {
    "a number on the scale": ("floor: 3", ["gate=/floor", "pass=/floor", "unused=/floor"]),
    "a number beyond the scale": ("floor: 30", ["unused=/floor"]),
    "two marks": (
        "limits: {pass: 4, conditional_pass: 3}",
        [
            *("pass=/limits/pass", "pass=/limits/conditional_pass"),
            *("gate=/limits/pass", "gate=/limits/conditional_pass"),
            "unused=/limits",
        ],
    ),
    "marks in settings": (
        "scoring: {verdicts: {ship: 3.2, revise: 2}}",
        [
            *("pass=/scoring/verdicts/ship", "pass=/scoring/verdicts/revise"),
            *("gate=/scoring/verdicts/ship", "gate=/scoring/verdicts/revise"),
            "unused=/scoring/verdicts",
        ],
    ),
    "a list of gates": ("critical_failures: [It names a customer]", ["unused=/critical_failures"]),
}


@pytest.mark.parametrize(("around", "expected"), OFFERED.values(), ids=OFFERED)
def test_what_may_count_around_criteria_is_offered_as_what_it_may_be(around, expected):
    write(a_yaml=AROUND.format(around))
    _, errors, _ = call("adopt", "a.yaml")
    assert re.findall(r"^    rubric-lint adopt a.yaml --map (.*)$", errors, re.MULTILINE) == expected
    assert ("otherwise, change the file" in errors) == (len(expected) == 1)


MARKS = {
    "out of 10": ("7", ["--map combine=share", "--pass 3.8", "--pass 3.5", "--map unused=/pass_mark"]),
    "all of 10": ("10", ["--pass 1.25", "--pass 5", "--map unused=/pass_mark"]),
    "out of 100": ("70", ["--pass 3.8", "--pass 3.5", "--map unused=/pass_mark"]),
    "out of all scores": ("30", ["--pass 3.75", "--pass 2.2", "--pass 1.5", "--map unused=/pass_mark"]),
    "in percent": ('"7%"', ["--pass 1.28", "--map unused=/pass_mark"]),
    "a sum": (
        "7\ncombine: sum",
        [
            *("--map combine=share", "--pass 3.8 --map combine=mean", "--pass 3.5 --map combine=mean"),
            "--map unused=/pass_mark",
        ],
    ),
}


@pytest.mark.parametrize(("mark", "expected"), MARKS.values(), ids=MARKS)
def test_a_pass_mark_is_offered_as_the_scores_that_it_may_mean_and_that_are_taken(mark, expected):
    write(a_yaml=AROUND.format(f"pass_mark: {mark}"))
    _, errors, _ = call("adopt", "a.yaml")
    assert re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE) == expected


@pytest.mark.parametrize(
    ("mark", "expected"),
    {
        "7": [
            "scores are added up",
            "7 is out of 10, and an answer passes from 3.8 on (0.7 of the way)",
            "7 is out of 10, and an answer passes from 3.5 on (0.7 of 5)",
        ],
        "70": [
            "70 is out of 100, and an answer passes from 3.8 on (0.7 of the way)",
            "70 is out of 100, and an answer passes from 3.5 on (0.7 of 5)",
        ],
        "30": [
            "30 is out of 40, and an answer passes from 3.75 on",
            "30 is out of 100, and an answer passes from 2.2 on (0.3 of the way)",
            "30 is out of 100, and an answer passes from 1.5 on (0.3 of 5)",
        ],
        "0.7": ["an answer passes from 3.8 on (0.7 of the way)", "an answer passes from 3.5 on (0.7 of 5)"],
        '"70%"': ["an answer passes from 3.8 on (70% of the way)", "an answer passes from 3.5 on (70% of 5)"],
    }.items(),
)
def test_no_two_readings_of_a_pass_mark_have_the_same_condition(mark, expected):
    write(a_yaml=AROUND.format(f"pass_mark: {mark}"))
    _, errors, _ = call("adopt", "a.yaml")
    assert re.findall(r"^  if (.*):$", errors, re.MULTILINE) == [*expected, "`pass_mark` does not count"]


def test_a_pass_mark_out_of_all_scores_that_is_one_out_of_10_is_offered_once():
    write(a_yaml=AROUND.format("pass_mark: 7").replace("weight: 5", "weight: 1").replace("weight: 3", "weight: 1"))
    _, errors, _ = call("adopt", "a.yaml")
    assert "all scores add up to 10\n" in errors
    assert re.findall(r"--pass (.*)$", errors, re.MULTILINE) == ["3.8", "3.5"]


def test_a_pass_mark_out_of_all_scores_that_is_no_score_of_the_scale_is_not_offered():
    text = AROUND.format("grades: {A: 90, B: 75, C: 60}").replace("weight: 5", "weight: 40")
    write(a_yaml=text.replace("weight: 3", "weight: 60"))
    _, errors, _ = call("adopt", "a.yaml", "--map=pass=/grades/B")
    assert "all scores add up to 500\n" in errors
    assert re.findall(r"^  if (75 .*):$", errors, re.MULTILINE) == [
        "75 is out of 100, and an answer passes from 4 on (0.75 of the way)",
        "75 is out of 100, and an answer passes from 3.75 on (0.75 of 5)",
    ]


@pytest.mark.parametrize(("level", "verdict"), {0: "fail", 1: "pass"}.items())
def test_a_pass_mark_out_of_all_scores_is_reached_by_that_sum(level, verdict):
    text = AROUND.format("pass_mark: 7").replace("1-5", "0-3").replace("weight: 5", "weight: 3")
    write(a_yaml=text.replace("id: b, weight: 3", "id: b, weight: 1"))
    _, errors, _ = call("adopt", "a.yaml")
    assert re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE) == [
        *("--pass 1.75", "--pass 2.1", "--map unused=/pass_mark")
    ]
    assert call("adopt", "a.yaml", "--pass=1.75")[2] == 0
    checks = [{"id": "a", "level": 2}, {"id": "b", "level": level}]  # 3 times 2, and 0 or 1
    write(out_json=json.dumps({"checks": checks}))
    assert json.loads(call("score", "a.yaml", "out.json", "--format=json")[0])["results"][0]["verdict"] == verdict


def test_a_pass_mark_in_doubt_is_said_with_the_scale_of_the_file():
    write(a_yaml=AROUND.format("pass_mark: 70"))
    for options, whole in (([], 40), (["--map=combine=share"], 8)):
        _, errors, _ = call("adopt", "a.yaml", *options)
        assert f"of what 70, the threshold, is a part: the scale ends at 5, and all scores add up to {whole}" in errors


def test_a_gate_by_a_word_on_a_scale_is_left_to_adopt_which_offers_no_gate():
    write(a_yaml=AROUND.format("").replace("it}", "it, essential: 'yes'}"))
    message = (
        "a.yaml:4:50: not checked: `essential: yes` may be a gate, and is not read; run `rubric-lint adopt a.yaml`"
    )
    assert message in call("check", "a.yaml")[1]
    _, errors, _ = call("adopt", "a.yaml")
    assert re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE) == ["--map unused=essential"]
    assert "otherwise, change the file" in errors


@pytest.mark.parametrize("options", [[], ["--map=unused=essential", "--output=-"]])
def test_warnings_of_a_table_that_is_not_written_are_not_said_to_be_listed_by_check_now(options):
    write(a_yaml="scale: 1-5\ncriteria:\n- {id: a, weight: 5, text: Names the year of it, essential: yes}\n")
    report, errors, _ = call("adopt", "a.yaml", *options)
    assert "a.yaml: 1 warning; once the table is in the settings, see `rubric-lint check a.yaml`" in report + errors
    assert "warning" not in call("check", "a.yaml")[0]
    assert call("adopt", "a.yaml", "--map=unused=essential")[2] == 0
    assert "Found 1 warning" in call("check", "a.yaml")[0]


UNANSWERED = {
    "lists of texts": (
        """\
dimensions:
- {id: a, early_weight: 0.4, late_weight: 0.5, criteria: [The title has 20 words, The question is stated]}
- {id: b, early_weight: 0.6, late_weight: 0.5, criteria: [At least 18 sources are named, Each is in a list]}
""",
        "a.yaml:1:1: the texts of its criteria are lists (`criteria`)",
    ),
    "a scale of decimals": (
        "scale: {min: 5.0, max: 0.0}\ncriteria: [{id: a, weight: 1, description: Names the year of it}]",
        "a.yaml:1:9: `min` has 5.0, so a score may lie between whole numbers",
    ),
    "a scale that goes down": (
        "scale: 5-1\nrank: 1\ncriteria: [{id: a, weight: 1, description: Names the year of it, blocker: yes}]",
        "a.yaml:1:1: its scale, 5 to 1, does not go up",
    ),
    "a scale of one score": (
        "scale: [3, 3]\ncriteria: [{id: a, weight: 1, description: Names the year of it}]",
        "a.yaml:1:1: its scale, 3 to 3, does not go up",
    ),
}


@pytest.mark.parametrize(("text", "expected"), UNANSWERED.values(), ids=UNANSWERED)
def test_a_question_that_no_option_answers_is_the_first_and_no_other_is_asked(text, expected):
    write(a_yaml=text)
    report, errors, code = call("adopt", "a.yaml")
    said = f"rubric-lint: {expected}"
    assert (errors[: len(said)], "no option of adopt answers" in errors, code) == (said, True, 1)
    assert "rubric-lint adopt" not in errors
    assert "once the table is in the settings" not in report


def test_a_gate_by_its_word_is_not_offered_where_others_are_numbers():
    levels = "levels: {pass: It warns of it, fail: It plays it down}"
    numbers = "levels: {1: It names all, 2: It names some, 3: It names none}"
    write(a_yaml=f"criteria:\n  a: {{min_score: 2, {numbers}}}\n  b: {{min_score: pass, {levels}}}\n")
    _, errors, _ = call("adopt", "a.yaml")
    assert re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE) == ["--map unused=min_score"]


COMBINED = {
    "a way": (
        f"combine: median\nscale: 1-5\ncriteria:\n{ITEMS}\n{ITEMS.replace('id: a', 'id: b')}\n",
        [f"--map combine={way} --map unused=/combine" for way in ("mean", "share")] + ["--map unused=/combine"],
    ),
    "levels that may be points": (
        "criteria:\n- {id: a, max_points: 5, levels: {1: It names none, 5: It names all}}\n",
        ["--map combine=share", "--map combine=mean", "--map unused=max_points"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), COMBINED.values(), ids=COMBINED)
def test_how_scores_combine_is_offered_where_it_is_open(text, expected):
    write(a_yaml=text)
    _, errors, _ = call("adopt", "a.yaml")
    assert re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE) == expected


GRADED = {
    "a grade with its lowest score": (
        "pass: B\ngrades: {A: 4.5, B: 3.5, C: 2}",
        ["--map pass=/grades/B --map unused=/pass", "--map unused=/pass"],
        "",
    ),
    "a grade next to it": (
        "scoring: {pass: B, A: 4.5, B: 3.5}",
        ["--map pass=/scoring/B --map unused=/scoring/pass", "--map unused=/scoring/pass"],
        "",
    ),
    "a grade in a list": (
        "pass: B\ngrades: [{grade: A, min: 4.5}, {grade: B, min: 3.5}]",
        ["--map unused=/pass"],
        "otherwise, change the file: write the lowest score that passes as a number\n",
    ),
    "a word that nothing explains": (
        "pass: good",
        ["--map unused=/pass"],
        "otherwise, change the file: write the lowest score that passes as a number\n",
    ),
}


@pytest.mark.parametrize(("around", "expected", "advice"), GRADED.values(), ids=GRADED)
def test_a_pass_mark_by_a_grade_is_the_number_of_that_grade(around, expected, advice):
    write(a_yaml=AROUND.format(around))
    _, errors, _ = call("adopt", "a.yaml")
    assert re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE) == expected
    assert advice in errors
    if not advice:
        assert call("adopt", "a.yaml", *shlex.split(expected[0]))[2] == 0
        assert "pass >= 0.625" in call("show", "a.yaml")[0]  # 3.5 of 1 to 5


def test_a_command_is_suggested_once():
    write(a_yaml=AROUND.format("pass: B\ngrades: {A: 4.5, B: 3.5, C: 2}"))
    _, errors, _ = call("adopt", "a.yaml", "--map=pass=/grades/B")
    assert re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE) == [
        "--map pass=/grades/B --map unused=/pass"
    ]


STATED = {
    "the scale of each criterion": ("", "scoring: {min: 1, max: 5}", [["--map scale=scoring", "scoring"]]),
    "a range under another word": ("", "points: 1-5", [["--map scale=points", "points"]]),
    "the highest score of each criterion": (
        "",
        "max_points: 5",
        [["--map scale=max_points", [0, "max_points"]], ["--scale 1-5 --map unused=max_points", [1, 5]]],
    ),
    "the highest score under a short word": (
        "",
        "max: 5",
        [["--map scale=max", [0, "max"]], ["--scale 1-5 --map unused=max", [1, 5]]],
    ),
    "both ends in each criterion": ("", "min: 1, max: 5", [["--map scale=min --map scale=max", ["min", "max"]]]),
    "a scale for all": ("scoring: {min: 1, max: 5}", "", [["--map scale=/scoring", "/scoring"]]),
    "the highest score for all": (
        "max_score: 5",
        "",
        [["--map scale=/max_score", [0, "/max_score"]], ["--scale 1-5 --map unused=/max_score", [1, 5]]],
    ),
    "both ends for all": ("min: 1\nmax: 5", "", [["--map scale=/min --map scale=/max", ["/min", "/max"]]]),
}
SCORED = """\
{0}
criteria:
- {{id: a, weight: 5, text: Names the year of it, {1}}}
- {{id: b, weight: 3, text: Names the day of it, {1}}}
"""


@pytest.mark.parametrize(("around", "inside", "expected"), STATED.values(), ids=STATED)
def test_a_scale_that_a_key_may_say_is_offered_and_read(around, inside, expected):
    write(a_yaml=SCORED.format(around, inside))
    assert "run `rubric-lint adopt a.yaml`" in call("check", "a.yaml")[1]
    _, errors, _ = call("adopt", "a.yaml")
    ways = re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE)
    assert ways == [*(way for way, _ in expected), "--scale yes-no"]
    for way, scale in expected:
        assert call("adopt", "a.yaml", *shlex.split(way))[2] == 0
        assert settings()["shape"][0]["scale"] == scale
        assert "    5 = 1.00  -" in call("show", "a.yaml")[0]
        Path("rubric-lint.toml").unlink()


def test_points_that_are_the_weights_may_be_the_highest_scores_too():
    write(a_yaml="criteria:\n- {id: a, points: 5, text: Names the year}\n- {id: b, points: 3, text: Names the day}\n")
    _, errors, _ = call("adopt", "a.yaml")
    ways = re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE)
    assert ways == ["--scale yes-no", "--scale 0-10", "--scale 1-5", "--map scale=points"]
    assert call("adopt", "a.yaml", "--map=scale=points")[2] == 0
    (table,) = settings()["shape"]
    assert (table["weight"], table["scale"], table["combine"]) == ("points", [0, "points"], "share")


SCALED = "criteria:\n- {id: a, weight: 5, text: Names the year, scale: {min: 1, max: 5, order: descending}}\n"
ASKING = {
    **{name: text for name, (_, text) in FORMATS.items()},
    **{name: AROUND.format(around) for name, (around, *_) in (OFFERED | GRADED).items()},
    **{f"a pass mark {name}": AROUND.format(f"pass_mark: {mark}") for name, (mark, _) in MARKS.items()},
    **{name: text for name, (text, _) in COMBINED.items()},
    **{f"a scale, {name}": SCORED.format(around, inside) for name, (around, inside, _) in STATED.items()},
    "fields that may bear on the score": ASKED,
    "grades in percent": AROUND.format("grades: {A: 90, B: 75, C: 60}"),
    "a grade in percent": AROUND.format("pass: B\ngrades: {A: 90, B: 75, C: 60}"),
    "grades as parts": AROUND.format("grades: {A: 0.9, B: 0.75}"),
    "a scale with a direction": SCALED + SCALED.splitlines()[1].replace(", order: descending", "").replace("a,", "b,"),
}


@pytest.mark.spread(6)
@pytest.mark.parametrize("text", ASKING.values(), ids=ASKING)
def test_a_suggestion_never_leads_to_a_question_that_was_answered(text):
    write(a_yaml=text)
    answers = {}

    def follow(line, asked):
        if line not in answers and len(answers) < MOST_CALLS:
            answers[line] = call(*shlex.split(re.sub("=N( |$)", r"=2\1", line)), "--output=-")[1:]
        errors, code = answers.get(line, ("", 0))
        assert code < 2, (line, errors)
        question = re.search("^rubric-lint: a.yaml:.*$", errors, re.MULTILINE)
        if code and question:
            assert question[0] not in asked, line
            for suggested in re.findall("^    rubric-lint (adopt .*) --output -$", errors, re.MULTILINE):
                follow(suggested, [*asked, question[0]])

    follow("adopt a.yaml", [])


@pytest.mark.parametrize("key", ["importance", "priority"])
def test_words_for_how_much_a_criterion_counts_are_offered_as_weights(key):
    items = "- {{name: a, {0}: high, text: Names the year of it}}\n- {{name: b, {0}: low, text: Names the day of it}}\n"
    write(a_yaml=f"criteria:\n{items.format(key)}")
    _, errors, _ = call("adopt", "a.yaml", "--scale=yes-no")
    assert re.findall(r"^    rubric-lint adopt a.yaml --scale yes-no (.*)$", errors, re.MULTILINE) == [
        f"--map unused={key}",
        f"--map weight={key} --map weights=high=N --map weights=low=N",
    ]


def test_words_for_levels_get_the_ends_of_the_scale_of_the_others():
    words = "levels: {gpt-3: It is as bad as that, gpt-4: It is as good as that}"
    numbers = "levels: {1: It is never used, 5: It is used at once}"
    write(a_yaml=f"scale: 1-5\ncriteria:\n- {{id: a, weight: 2, {words}}}\n- {{id: b, weight: 1, {numbers}}}\n")
    _, errors, _ = call("adopt", "a.yaml")
    assert re.findall(r"^    rubric-lint adopt a.yaml (.*)$", errors, re.MULTILINE) == [
        "--map level-scores=gpt-3=1 --map level-scores=gpt-4=5",
        "--map level-scores=gpt-4=1 --map level-scores=gpt-3=5",
    ]


MARKED = TONE.replace("overall_pass_threshold: 3", "pass mark: 70%")
WRONG = {
    "a role that is none": ["--map", "wieght=weight"],
    "a role without a key": ["--map", "weight"],
    "a key that no criterion has": ["--map", "weight=wieght"],
    "a word that no criterion has": ["--map", "negative=owner_team=sales"],
    "a word without a number": ["--map", "weights=high"],
    "a key around criteria": ["--map", "negative=/version"],
    "a key of criteria as the pass mark": ["--map", "pass=weight"],
    "another scale": ["--scale", "0-10"],
    "a scale of decimals": ["--scale", "0-1"],
    "a pass mark beyond the scale": ["--pass", "150"],
    "a pass mark in percent": ["--pass", "70%"],
    "texts as weights": ["--map", "weight=description", "--map", "outcome=owner_team"],
    "another way to combine": ["--map", "combine=median"],
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG)
def test_an_answer_that_does_not_fit_the_file_is_wrong_use(options, said):
    write(tone_yaml=MARKED)
    report, errors, code = call("adopt", "tone.yaml", *options)
    assert (report, code, Path("rubric-lint.toml").exists()) == ("", 2, False)
    said(errors.splitlines()[-1])


def test_a_pass_mark_of_the_file_is_not_replaced_by_another():
    write(tone_yaml=TONE)
    errors, code = call("adopt", "tone.yaml", "--pass=4")[1:]
    assert ("contradicts the files, in which 3 passes" in errors, code) == (True, 2)
    assert call("adopt", "tone.yaml", "--pass=3", "--scale=1-5")[2] == 0
    assert settings() == {"shape": [TABLE]}


def test_an_answer_changes_the_table_that_there_is_and_nothing_else_of_it():
    write(tone_yaml=MARKED)
    table = TABLE | {"pass": "/pass mark", "outcome": ["description", "text"]}
    Path("rubric-lint.toml").write_text(write_tables([table], Path("rubric-lint.toml")), "utf-8")
    assert call("adopt", "tone.yaml")[2] == 1
    assert call("adopt", "tone.yaml", "--pass=3.8")[2] == 0
    assert settings() == {"shape": [table | {"pass": 3.8, "unused": ["owner_team", "/pass mark"]}]}


def test_a_scale_of_0_to_1_is_said_to_have_two_scores():
    write(
        tone_yaml=TONE.replace("scale: [1, 5]", "scale: [0, 1]")
        .replace("old: 3", "old: 0.7")
        .replace("core: 2", "core: 1")
    )
    report, _, code = call("adopt", "tone.yaml")
    assert ("a judge gives 0 or 1: only whole numbers count" in report, code) == (True, 0)


LOW = TONE.replace("scale: [1, 5]", "scale: {min: 0, max: 4, direction: lower_is_better}")


def test_a_scale_whose_lowest_score_is_the_best_is_said():
    write(tone_yaml=LOW)
    assert "contradicts the files" in call("adopt", "tone.yaml", "--better=higher")[1]
    assert call("adopt", "tone.yaml", "--better=lower")[2] == 0
    assert settings()["shape"][0]["better"] == "lower"
    record = '{"output": {"checks": [{"id": "tone", "level": 1}, {"id": "facts", "level": 0}]}}'
    result = json.loads(call("score", "tone.yaml", "-", "--format=jsonl", stdin=record)[0])
    assert (round(result["score"], 9), result["verdict"]) == (round(5 / 6, 9), "pass")


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr("rubric_lint.cli.lint.adopt._is_terminal", lambda: True)


@pytest.mark.slow
@pytest.mark.usefixtures("terminal")
def test_a_terminal_is_asked_one_question_after_the_other(said):
    write(tone_yaml=MARKED.replace("scale: [1, 5]\n", ""))
    answers = "x\n--scale 0-1\n--scale 3-5\n--scale 1-5\n--map pass=weight\n1\n"
    report, errors, code = call("adopt", "tone.yaml", stdin=answers)
    assert (code, settings()["shape"][0]["pass"]) == (0, 3.8)
    said(errors, report)


@pytest.mark.usefixtures("terminal")
def test_an_empty_answer_stops_and_writes_nothing():
    write(tone_yaml=MARKED)
    _, errors, code = call("adopt", "tone.yaml", stdin="\n")
    assert (code, "nothing was written" in errors, Path("rubric-lint.toml").exists()) == (1, True, False)


CASES = "- {{id: a, {0}: What is the price of it, {1}: {2}}}\n- {{id: b, {0}: When is it open, {1}: {2}}}\n"


NO_CRITERIA = {
    "inputs of cases": CASES.format("input", "kind", "fashion"),
    "prompts of cases": CASES.format("prompt", "kind", "fashion"),
    "questions with answers": CASES.format("question", "answer", "It is all right"),
    "keywords": CASES.format("input", "must_contain", "[one of it, two of it, all of it]"),
    "bands of a score": "score: {descriptions: {1-3: Poor in all, 4-6: Fair in some, 7: Good in most}}\n",
    "several lists of texts": "a: [one of it, two of it, all of it]\nb: [six of it, ten of it, none of it]\n",
}


@pytest.mark.parametrize("text", NO_CRITERIA.values(), ids=NO_CRITERIA)
def test_what_no_judge_checks_becomes_no_table(text):
    write(a_yaml=text)
    assert (call("adopt", "a.yaml")[2], [path.name for path in Path().iterdir()]) == (1, ["a.yaml"])


def test_check_names_what_the_settings_do_not_describe(said):
    write(tone_yaml=TONE, new_yaml=TONE, known_yaml="rubrics:\n  - {id: a, expected_outcome: Names it}\n")
    call("adopt", "tone.yaml")
    write(tone_yaml=TONE.replace("weight: 2", "weight: 2, blocker: true").replace("min_score: 2", "x: 2"))
    Path("tone.yaml").write_text(Path("tone.yaml").read_text() + f"extra_criteria:\n{ITEMS}\n{ITEMS}\n")
    report, errors, code = call("adopt", "--check", "tone.yaml", "new.yaml", "known.yaml")
    assert (report, code) == ("", 1)
    said(errors)


KNOWN = "rubrics:\n  - {id: a, expected_outcome: Names it}\n"
WEIGHTS = "criteria: {tone: {weight: 1, good: [Thanks]}, facts: {weight: 2, good: [Right]}}\n"

ODD = {
    "no criteria": ({"a.yaml": "colors: [red, blue]\n"}, ["a.yaml"], 1),
    "no texts": ({"a.yaml": WEIGHTS}, ["a.yaml"], 1),
    "texts without a name": (
        {
            "a.yaml": "criteria:\n"
            '- {name: a, weight: 1, "": Names every source}\n'
            '- {name: b, weight: 1, "": Dates each}\n'
        },
        ["a.yaml"],
        1,
    ),
    "our own format": ({"a.yaml": KNOWN}, ["a.yaml"], 0),
    "a known format": (
        {"a.yaml": "tests: [{assert: [{type: llm-rubric, value: Is polite}]}]\nprompts: [x]\n"},
        ["a.yaml"],
        0,
    ),
    "broken text": ({"a.yaml": "criteria: [\n"}, ["a.yaml"], 2),
    "broken bytes": ({"a.yaml": b"criteria: \xff\n"}, ["a.yaml"], 2),
    "broken settings": ({"a.yaml": TONE, "rubric-lint.toml": "select = 1\n"}, ["a.yaml"], 2),
    "no file": ({}, ["a.yaml"], 2),
    "a program": ({"a.py": "x = 1\n"}, ["a.py"], 2),
    "stdin without a name": ({}, ["-"], 2),
    "a file outside": ({"a.yaml": TONE}, ["a.yaml", "-o", "b/rubric-lint.toml"], 2),
    "a wrong scale": ({"a.yaml": TONE}, ["a.yaml", "--scale", "5-1"], 2),
}


@pytest.mark.parametrize(("files", "arguments", "code"), ODD.values(), ids=ODD)
def test_odd_input_is_refused_with_the_reason_and_nothing_is_written(files, arguments, code, said):
    for name, text in files.items():
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    _, errors, exit_code = call("adopt", *arguments)
    assert exit_code == code
    said(errors)
    assert {path.name for path in Path().iterdir()} == {*files}


def test_stdin_is_described_under_its_name():
    table, _, code = call("adopt", "-", "--stdin-filename=tone.yaml", "-o-", stdin=TONE)
    assert (tomllib.loads(table), code) == ({"shape": [TABLE]}, 0)
