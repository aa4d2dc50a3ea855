"""B4: silence is never success: a run says where it found no rubric, and what nearly was one."""

import json
from pathlib import Path
from textwrap import dedent

import commands
import pytest
from cases import read_cases
from found import message
from jsonschema import Draft7Validator
from lint_command import adopt_as_advised, call, call_after

from rubric_lint.lint.engine import lint
from rubric_lint.model.schema_files import load

pytestmark = pytest.mark.usefixtures("folder")

ADVICE = read_cases(__file__)["ADVICE"]

GOOD = "rubrics:\n  - {id: a, expected_outcome: States the result.}\n"

NEAR = "cases:\n  - vars: {q: x}\n    assert:\n      - {type: llm-rubric, value: Says why}\n"
TEXTS = "tests:\n  - id: a\n    input: x\n    assertions: [Says why]\n"
STEPS = "prompts: [x]\ntests:\n  - {id: a, assert: [Is short], metadata: {steps: [{assertions: [Says why]}]}}\n"
MAPPING = "tests:\n  - vars: {q: x}\n    assert: [{type: llm-rubric, value: {id: b, outcome: Says why}}]\n"
ALONE = "tests:\n  - id: a\n    assert: [{type: llm-rubric, value: [{criteria: A}]}]\n"
ELSEWHERE = "criteria:\n  - {id: a, expected_outcome: Says why}\n"
# A text, and the place of what nearly is a rubric.
UNREAD = [
    ("rubric:\n  - {criterion: a}\n", (1, 1)),
    ("a:\n  Rubrics: [Says why]\n", (2, 3)),
    ("rubrics:\n", (1, 1)),
    ("rubrics: see below\n", (1, 1)),
    ("rubrics: [Says why]\n", (1, 1)),
    ("rubrics:\n  - scoreRanges: {0: a}\n", (1, 1)),
    ("rubrics: [{title: Style, points: 5}]\n", (1, 1)),
    (ELSEWHERE, (2, 6)),
    ("a: 'open\n# a rubric\n", (1, 4)),
    (NEAR, (4, 35)),
    (MAPPING, (3, 40)),
    (ALONE, (3, 40)),
    (TEXTS, (4, 18)),
    (STEPS, (3, 66)),
]


@pytest.mark.parametrize(("text", "place"), UNREAD)
def test_what_nearly_is_a_rubric_is_told_with_its_place_and_is_no_finding(text, place, said):
    result = lint("a.yaml", text.encode())
    (told,) = result.unread
    assert ((told.line, told.column), result.findings) == (place, ())
    said(told.reason)


def write(**files):
    for name, text in files.items():
        Path(f"{name}.yaml").write_text(dedent(text), "utf-8")


def tell(errors):
    """The lines on stderr, without what they advise."""
    return [line.removeprefix("rubric-lint: ").partition("; ")[0] for line in errors.splitlines()]


SPARED = {
    "what is read": "cases:\n  - evaluators: [{LLMJudge: {rubric: Names the cause, include_input: true}}]\n",
    "a number of rubrics": "summary: {rubrics: 3, Rubrics: true}\n",
    "the name of a rubric": "rubric: a.rubric.yaml\nname: x\n",
    "what a merge key brings into a case": (
        "base: &b\n  id: x\n  rubrics: [Names the city]\n"
        "tests:\n  - <<: *b\n  - {<<: *b, id: y, rubrics: [Names the day]}\n"
    ),
    "what an alias brings into a case": (
        "x:\n  rubrics: &r [Names the city]\ntests:\n  - {id: a, rubrics: *r}\n  - {id: b, rubrics: *r}\n"
    ),
    "a schema": "properties: {expected_outcome: {type: string}, score_ranges: {type: array}}\n",
    "no word of rubrics": "a: 1\n",
    "a rubric": GOOD,
    "a rubric in a text": "description: a rubric\n",
    "our name": "rubric-lint: x\n",
    "rubrics of a newspaper": "rubrics: [Sport, Politik]\n",
}


@pytest.mark.parametrize("text", SPARED.values(), ids=SPARED)
def test_what_is_no_near_miss_is_not_told(text):
    assert lint("a.yaml", text.encode()).unread == ()


SINGULAR = "rubric: [{criterion: a}]\n"


def test_a_run_without_rubrics_lists_what_nearly_was_one(said):
    write(a=SINGULAR, b=SINGULAR, c="x: 1\n", d=NEAR)
    output, errors, code = call()
    assert code == 0
    said(output, tell(errors))
    assert "(1 more like it)" in errors.splitlines()[1]
    assert call("-q") == ("", errors, 0)
    for form in ("sarif", "gitlab", "junit"):
        assert call(f"--format={form}")[1:] == (f"rubric-lint: 0 rubrics found in 4 files\n{errors}", 0)


@pytest.mark.parametrize("form", ["full", "concise", "agent", "vscode", "json", "sarif", "github", "gitlab", "junit"])
def test_near_misses_are_told_beside_rubrics_in_every_format(form, said):
    write(a=SINGULAR, b=GOOD, d=NEAR)
    output, errors, code = call(f"--format={form}")
    assert code == 0
    said(tell(errors))
    if form in {"full", "concise", "agent", "vscode", "github"}:
        said(output)


def test_the_likeliest_rubric_is_named_first_whatever_the_order_of_files():
    write(
        a='rubric: {tone: {score: 3, reasoning: "It is polite."}}\n',
        b="rubric: the tone\n",
        d="rubrics: [{title: Style, points: 5}]\n",
        e="a: 'open\n# a rubric\n",
        rubric="rubric: [{title: Style, points: 5}]\n",
        z=NEAR,
    )
    places = [line.partition(": ")[0] for line in tell(call("-q")[1])]
    assert places == ["z.yaml:4:35", "rubric.yaml:1:1", "d.yaml:1:1", "a.yaml:1:1", "b.yaml:1:1", "e.yaml:1:4"]


def test_more_near_misses_than_ten_are_counted(said):
    for number in range(12):
        Path(f"{number:02}.yaml").write_text(f"rubrics{chr(97 + number)}: [{{x: y}}]\n", "utf-8")
    lines = tell(call("-q")[1])
    assert len(lines) == 12
    said(lines[-2:])


def test_a_named_file_without_rubrics_is_always_explained(said):
    write(a=SINGULAR, b=GOOD, c="x: 1\n")
    Path("d.md").write_text("# The rubric\nexpected_outcome: [\n", "utf-8")
    for named in (("a.yaml", "b.yaml", "./c.yaml", "d.md"), ("c.yaml", "b.yaml", "a.yaml", "d.md")):
        output, errors, code = call(*named, "-q")
        assert (output, code) == ("", 0)
        assert call(*named, "--format=json")[1:] == (errors, 0)
        said(tell(errors))


def test_many_named_files_are_counted(said):
    names = [f"{number}.yaml" for number in range(13)]
    for name in names:
        Path(name).write_text("x: 1\n", "utf-8")

    said(call(*names)[1])


@pytest.mark.parametrize("stdin", [b"", b"\n", b"{"])
def test_stdin_without_rubrics_is_explained(stdin, said):
    said(call("-", stdin=stdin))
    said(call("-", "--require-rubrics", stdin=stdin))


def test_rubrics_can_be_required(said):
    write(a="x: 1\n")
    output, missing, code = call("-q", "--require-rubrics")
    assert (output, code) == ("", 1)
    said(missing)
    assert call("-q", "--require-rubrics", "nowhere.yaml")[2] == 2
    Path("rubric-lint.toml").write_text("require-rubrics = true\n", "utf-8")
    assert call("-q") == ("", missing, 1)
    write(b=GOOD)
    assert call("-q") == ("", "", 0)
    assert call("-q", "--require-rubrics") == ("", "", 0)


LACKING = [["c.yaml"], ["more"], ["b.yaml", "a.yaml"], ["b.yaml", "d.md"], ["b.yaml", "-"], ["b.yaml", "more/d.yaml"]]


@pytest.mark.parametrize("paths", [*LACKING, ["b.yaml", "more"]], ids=" ".join)
def test_required_rubrics_fail_a_run(paths):
    Path("more").mkdir()
    write(a=SINGULAR, b=GOOD, c="x: 1\n", **{"more/d": NEAR})
    Path("d.md").write_text("# The rubric\n", "utf-8")
    assert call(*paths, stdin=b"x: 1\n")[2] == 0
    assert call("--require-rubrics", *paths, stdin=b"x: 1\n")[2] == 1


def test_required_rubrics_need_none_in_folders_and_files_of_tests():
    write(b=GOOD, c="x: 1\n", **{"b.rubric-test": "rubric: b.yaml\ntests: []\n"})
    test = "rubric: b.yaml\ntests: [{id: a, output: {checks: [{id: a, satisfied: true}]}, expect: {verdict: pass}}]\n"
    write(**{"b.rubric-test": test})
    assert call("--require-rubrics", ".")[2] == 0
    assert call("--require-rubrics", "b.yaml", "b.rubric-test.yaml")[1:] == ("", 0)


def test_the_setting_for_required_rubrics_spares_the_other_files_that_a_hook_names():
    Path("rubric-lint.toml").write_text("require-rubrics = true\n", "utf-8")
    write(b=GOOD, c="x: 1\n", d=NEAR)
    assert call("b.yaml", "c.yaml")[2] == 0
    assert call("b.yaml", "d.yaml")[2] == 1


@pytest.mark.parametrize("options", [(), ("--no-cache",), ("--fail-on=never",), ("--statistics",), ("--format=json",)])
def test_near_misses_fail_a_run_if_asked(options):
    write(a=SINGULAR, b=GOOD)
    assert call(*options)[2] == 0
    assert [call("--fail-on-unread", *options)[2] for _ in range(2)] == [1, 1]
    assert call("--fail-on-unread", *options, "b.yaml")[2] == 0
    Path("rubric-lint.toml").write_text("fail-on-unread = true\n", "utf-8")
    assert call(*options)[2] == 1


def test_a_lost_rubric_is_a_near_miss_where_its_rule_does_not_run():
    lost = "tests:\n  - {id: a, rubrics: [{id: x, expected_outcome: Names the city}]}\n  - id: b\n    rubrics: []\n"
    write(a=lost, b=GOOD)
    told = message("lost-rubric.empty", empty="is an empty list").partition("; ")[0]
    for options in ("--select=overlap", "--ignore=lost-rubric"):
        _, errors, code = call("--fail-on-unread", options)
        assert (tell(errors)[0], code) == (f"a.yaml:4:5: not checked: {told}", 1)
        assert call("--fail-on-unread", options, "b.yaml")[2] == 0
    Path("rubric-lint.toml").write_text('fail-on-unread = true\nignore = ["lost-rubric"]\n', "utf-8")
    assert call()[2] == 1
    read = "assertions: [{type: rubrics, rubrics: [{id: a, outcome: Says how}]}]"  # by this linter, not by AgentV
    write(a=f"tests:\n  - id: b\n    input: x\n    {read}\n")
    assert call()[1:] == ("", 0)


@pytest.mark.slow
def test_near_misses_survive_a_baseline_and_a_comparison_with_a_revision(said):
    write(a=SINGULAR, b=GOOD, e="rubrics: [{id: a, expected_outcome: ''}]\n")
    call("--write-baseline", "--baseline=known.json")
    for words in (["init", "-q"], ["add", "a.yaml"], ["commit", "-qm", "Add"]):
        commands.run_git(*words)
    Path("a.yaml").write_text(f"x: 1\n{SINGULAR}", "utf-8")
    for option in ("--baseline=known.json", "--diff-base=HEAD"):
        _, errors, code = call("--fail-on=never", option, "--fail-on-unread")
        assert code == 1
        said(tell(errors)[0])


@pytest.mark.slow
def test_near_misses_are_the_same_with_several_processes():
    for number in range(230):
        write(**{f"f{number:03}": SINGULAR if number % 3 else GOOD})
    run = "from rubric_lint.lint.run import batch; batch.WORTH_PROCESSES = {most}; batch.count_processors = lambda: 2\n"
    runs = [call_after(run.format(most=most), "--no-cache", "--format=json") for most in (10, 1000)]
    assert runs[0] == runs[1]
    assert "(152 more like it)" in runs[0][1]


@pytest.mark.parametrize("program", ["fix", "format"])
def test_what_is_not_read_is_told_by_programs_that_rewrite(program, said):
    write(a=SINGULAR, b=GOOD)
    _, errors, code = call(program="rubric-fix") if program == "fix" else call("format")
    assert code == 0
    said(errors)


def test_the_report_has_it_all():
    write(a=SINGULAR, d=NEAR, e="x: 1\n")
    Path("rubric-lint.toml").write_text('exclude = ["e.yaml"]\n', "utf-8")
    report = json.loads(call("--format=json", ".")[0])
    Draft7Validator(load("report/v1.json")).validate(report)
    counts = [report["summary"][name] for name in ("excluded_files", "unread", "near_misses")]
    assert counts == [1, 1, 1]
    assert [(each["file"], each["line"], each["is_known"]) for each in report["unread"]] == [
        ("d.yaml", 4, True),
        ("a.yaml", 1, False),
    ]


def test_what_the_cache_knows_is_told_again(monkeypatch, tmp_path):
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(tmp_path / "cache"))
    write(a=SINGULAR, b="rubric: the tone\n", c=GOOD)
    assert call("--format=json") == call("--format=json") == call("--format=json", "--no-cache")


def test_a_file_that_is_only_named_like_a_rubric_is_told_once(said):
    text = """\
        criteria:
          - {name: Structure, weight: 30}
        anchors: {good: Reads well}
        """
    course = "rubrics: [{title: Style, points: 5, levels: [{name: Good, points: 5, description: Reads well}]}]\n"
    for name, content in (("a.rubric", text), ("b.rubric", course), ("c.rubric", "criteria: []\n")):
        write(**{name: content})
    output, errors, code = call("--format=concise")
    said(tell(errors))
    assert [line.split(": ")[0] for line in output.splitlines()[:-2]] == ["c.rubric.yaml:1:1 error schema"]
    assert code == 1


RUBRIC, SUITE = (f"https://rubric-lint.github.io/schemas/{name}-v2.schema.json" for name in ("rubric", "suite"))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text", "new", "done"), ADVICE.values(), ids=ADVICE)
def test_advice_that_is_followed_ends_in_a_rubric_or_a_finding(name, text, new, done, said):
    Path(name).write_text(text, "utf-8")
    report = json.loads(call("--format=json", name)[0])
    assert report["findings"] == []
    advice = report["unread"][0]["reason"]
    said(advice)
    is_claimed = "# $schema: " in advice
    Path(name).unlink()
    Path(new).write_text(f"# $schema: {RUBRIC}\n{done}" if is_claimed else done, "utf-8")
    if "`versions`" in advice:
        Path("rubric-lint.toml").write_text(f'[versions]\n"{new}" = "v2"\n', "utf-8")
    report = json.loads(call("--format=json", new)[0])
    if report.get("unread", [{}])[0].get("steps") == [{"do": "run", "what": "adopt"}]:
        adopt_as_advised(new)
        report = json.loads(call("--format=json", new)[0])
    assert report["summary"]["rubrics"] or report["findings"]


NOT_OURS = {
    "an entry of another tool": "rubrics: [{name: Style, prompt: Judge it}]\n",
    "a list of strings": "rubrics: [Says why]\n",
    "singular": "rubric: [{id: a, expected_outcome: Says why}]\n",
    "promptfoo": NEAR,
}


@pytest.mark.parametrize("text", NOT_OURS.values(), ids=NOT_OURS)
@pytest.mark.parametrize("program", ["score", "convert", "diff", "prompt", "schema"])
def test_every_command_reads_what_the_linter_reads(text, program):
    write(a=text)
    Path("out.jsonl").write_text('{"score": 1}\n', "utf-8")
    first = lint("a.yaml", text.encode()).unread[0]
    calls = {
        "score": ("rubric-score", ["a.yaml", "out.jsonl"]),
        "prompt": ("rubric-score", ["prompt", "a.yaml", "--answer", "out.jsonl"]),
        "schema": ("rubric-score", ["schema", "a.yaml"]),
        "convert": ("rubric-lint", ["convert", "--to", "markdown", "a.yaml"]),
        "diff": ("rubric-lint", ["diff", "a.yaml", "a.yaml"]),
    }
    main, arguments = calls[program]
    output, errors, code = call(*arguments, program=main)
    assert (output, code) == ("", 2)
    assert f": {first.reason}" in errors.partition(f"a.yaml:{first.line}:{first.column}: ")[2].partition("\n")[0]


def test_a_fix_says_that_there_was_nothing_to_fix(said):
    write(a="x: 1\n", b="rubric: [{criterion: a}]\n")
    Path("d.md").write_text("# The rubric\n", "utf-8")
    output, errors, code = call("a.yaml", "b.yaml", "d.md", program="rubric-fix")
    assert code == 0
    said(output, errors)


def test_names_of_files_are_escaped():
    name = "a\x1b[31m\n::error::b.yaml"
    Path(name).write_text("x: 1\n", "utf-8")
    assert call(name)[1].startswith("rubric-lint: a\\x1b[31m\\n::error::b.yaml: ")
