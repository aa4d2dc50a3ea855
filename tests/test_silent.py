"""B4: silence is never success: a run says where it found no rubric, and what nearly was one."""

import json
from pathlib import Path
from textwrap import dedent

import pytest
from jsonschema import Draft7Validator
from lint_command import PROGRAM as LINT
from lint_command import call

from rubric_lint.format.schema_files import load
from rubric_lint.lint.engine import lint

SCORE = "import sys; sys.argv[0] = 'rubric-score'; from rubric_lint.cli.score import main; main()"

GOOD = "rubrics:\n  - {id: a, expected_outcome: States the result.}\n"
NO_FIELD = "no rubrics found: no field of a known format found"
LIKE = "if it is a rubric, name the schema in the file, or name the file NAME.rubric.yaml"
STRING = "`value` of `llm-rubric` is a string outside the `assert` of a suite for promptfoo, so it is not checked"

UNREAD = {
    "singular": ("rubric:\n  - {criterion: a}\n", [(1, 1, "`rubric` is not read; rubrics are in a field `rubrics`")]),
    "a capital": ("a:\n  Rubrics: [A]\n", [(2, 3, "`Rubrics` is not read; rubrics are in a field `rubrics`")]),
    "null": ("rubrics:\n", [(1, 1, "`rubrics` has no value")]),
    "a text": ("rubrics: see below\n", [(1, 1, '`rubrics` is the string "see below", not a list of criteria')]),
    "a list of strings": (
        "rubrics: [Says why]\n",
        [(1, 1, f"`rubrics` is a list of strings outside the cases of a suite; {LIKE}")],
    ),
    "camel case": (
        "rubrics:\n  - scoreRanges: {0: a}\n",
        [(1, 1, "`rubrics` is not read, as `scoreRanges` is not a field; did you mean `score_ranges`?")],
    ),
    "a course": (
        "rubrics: [{title: Style, points: 5}]\n",
        [(1, 1, f"`rubrics` has no field that only rubrics have, such as `expected_outcome`; {LIKE}")],
    ),
    "criteria elsewhere": (
        "criteria:\n  - {id: a, expected_outcome: Says why}\n",
        [(2, 6, "criteria are read only below `rubrics`, and these are elsewhere")],
    ),
    "broken": (
        "a: 'open\n# a rubric\n",
        [(1, 4, "it cannot be read: this quote is never closed")],
    ),
    "promptfoo": (
        "cases:\n  - vars: {q: x}\n    assert:\n      - {type: llm-rubric, value: Says why}\n",
        [(4, 35, STRING)],
    ),
    "b2: a mapping as value": (
        "tests:\n  - vars: {q: x}\n    assert: [{type: llm-rubric, value: {id: b, outcome: Says why}}]\n",
        [(3, 40, "`value` of `llm-rubric` is one mapping, which only AgentV 5 reads; put a dash before it")],
    ),
    "b2: criteria alone": (
        "tests:\n  - id: a\n    assert: [{type: llm-rubric, value: [{criteria: A}]}]\n",
        [
            (
                *(3, 40),
                (
                    "`value` of `llm-rubric` lists `criteria` alone, which AgentV does not read as criteria; "
                    "write `outcome`"
                ),
            )
        ],
    ),
    "b2: strings among assertions": (
        "tests:\n  - id: a\n    input: x\n    assertions: [Says why]\n",
        [
            (
                *(4, 18),
                (
                    "strings in `assertions` are criteria to AgentV, but nothing shows that this suite is for AgentV; "
                    "if it is, name the file NAME.eval.yaml"
                ),
            )
        ],
    ),
    "b2: strings in steps": (
        "prompts: [x]\ntests:\n  - {id: a, assert: [Is short], steps: [{assertions: [Says why]}]}\n",
        [(3, 55, "strings in `assertions` are checked only where AgentV reads them: in suites and their tests")],
    ),
}


@pytest.mark.parametrize(("text", "expected"), UNREAD.values(), ids=UNREAD)
def test_what_nearly_is_a_rubric_is_told_with_its_place_and_is_no_finding(text, expected):
    result = lint("a.yaml", text.encode())
    assert ([(each.line, each.column, each.reason) for each in result.unread], result.findings) == (expected, ())


@pytest.mark.parametrize("text", ["a: 1\n", GOOD, "description: a rubric\n", "rubric-lint: x\n", "a: [1\n"])
def test_nothing_is_told_of_what_has_nothing_to_do_with_rubrics(text):
    assert (
        lint("a.yaml", text.encode()).unread == () or "cannot be read" in lint("a.yaml", text.encode()).unread[0].reason
    )


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(**files):
    for name, text in files.items():
        Path(f"{name}.yaml").write_text(dedent(text), "utf-8")


def test_a_run_without_rubrics_lists_what_nearly_was_one():
    write(a="rubric: [{criterion: a}]\n", b="rubric: [{criterion: b}]\n", c="x: 1\n", d=UNREAD["promptfoo"][0])
    told = (
        "rubric-lint: a.yaml:1:1: not checked: `rubric` is not read; rubrics are in a field `rubrics` "
        "(1 more like it)\n"
        f"rubric-lint: d.yaml:4:35: not checked: {STRING}\n"
    )
    summary = "0 rubrics found in 4 files.\n1 rubric not checked, or only in part.\n"
    assert call() == (summary, told, 0)
    assert call("-q") == ("", "", 0)
    for form in ("sarif", "gitlab", "junit"):
        assert call(f"--format={form}")[1:] == (f"rubric-lint: 0 rubrics found in 4 files\n{told}", 0)


def test_beside_rubrics_only_what_is_one_for_certain_is_told():
    write(a="rubric: [{criterion: a}]\n", b=GOOD, d=UNREAD["promptfoo"][0])
    summary = "No findings in 3 files (1 file with rubrics, 1 rubric, 1 criterion).\n"
    assert call() == (
        summary + "1 rubric not checked, or only in part.\n",
        f"rubric-lint: d.yaml:4:35: not checked: {STRING}\n",
        0,
    )


def test_a_named_file_without_rubrics_is_always_explained():
    write(a="rubric: [{criterion: a}]\n", b=GOOD, c="x: 1\n")
    Path("d.md").write_text("# The rubric\nexpected_outcome: [\n", "utf-8")
    named = ("a.yaml", "b.yaml", "./c.yaml", "d.md")
    told = (
        "rubric-lint: d.md: not read, as it is Markdown; rubric-lint reads YAML, JSON, JSON Lines, TOML and Python\n"
        "rubric-lint: a.yaml:1:1: no rubrics found: `rubric` is not read; rubrics are in a field `rubrics`\n"
        f"rubric-lint: c.yaml: {NO_FIELD}\n"
    )
    assert call(*named, "-q") == ("", told, 0)
    assert call(*named, "--format=json")[1:] == (told, 0)


def test_many_named_files_are_counted():
    names = [f"{number}.yaml" for number in range(13)]
    for name in names:
        Path(name).write_text("x: 1\n", "utf-8")
    told = "".join(f"rubric-lint: {name}: {NO_FIELD}\n" for name in names[:10])
    assert call(*names)[1] == f"{told}rubric-lint: and 3 more files without rubrics\n"


@pytest.mark.parametrize("stdin", [b"", b"\n"])
def test_empty_standard_input_is_explained(stdin):
    told = "rubric-lint: <stdin>: no rubrics found: it is empty\n"
    assert call("-", stdin=stdin) == ("0 rubrics found in 1 file.\n", told, 0)
    missing = "rubric-lint: no rubrics found, but at least one is required\n"
    assert call("-", "--require-rubrics", stdin=stdin) == ("0 rubrics found in 1 file.\n", told + missing, 1)


def test_rubrics_can_be_required():
    write(a="x: 1\n")
    missing = "rubric-lint: no rubrics found, but at least one is required\n"
    assert call("-q", "--require-rubrics") == ("", missing, 1)
    assert call("-q", "--require-rubrics", "nowhere.yaml")[2] == 2
    Path("rubric-lint.toml").write_text("require-rubrics = true\n", "utf-8")
    assert call("-q") == ("", missing, 1)
    write(b=GOOD)
    assert call("-q") == ("", "", 0)
    assert call("-q", "--require-rubrics") == ("", "", 0)


def test_the_report_has_it_all():
    write(a="rubric: [{criterion: a}]\n", d=UNREAD["promptfoo"][0], e="x: 1\n")
    Path("rubric-lint.toml").write_text('exclude = ["e.yaml"]\n', "utf-8")
    report = json.loads(call("--format=json", ".")[0])
    Draft7Validator(load("report/v1.json")).validate(report)
    assert (report["summary"]["excluded_files"], report["summary"]["unread"]) == (1, 1)
    assert [(each["file"], each["line"], each["is_known"]) for each in report["unread"]] == [
        ("a.yaml", 1, False),
        ("d.yaml", 4, True),
    ]


def test_what_the_cache_knows_is_told_again(monkeypatch, tmp_path):
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(tmp_path / "cache"))
    write(a="rubric: [{criterion: a}]\n")
    assert call() == call()


def test_a_file_that_is_only_named_like_a_rubric_is_told_once():
    text = """\
        criteria:
          - {name: Structure, weight: 30}
        anchors: {good: Reads well}
        """
    course = "rubrics: [{title: Style, points: 5, levels: [{name: Good, points: 5, description: Reads well}]}]\n"
    for name, content in (("a.rubric", text), ("b.rubric", course), ("c.rubric", "criteria: []\n")):
        write(**{name: content})
    output, errors, code = call("--format=concise")
    of = "the name is that of a rubric file, but the content is another tool's"
    assert errors == (
        f"rubric-lint: a.rubric.yaml:1:1: not checked: {of} (no `rubrics`, but `criteria` and `anchors`)\n"
        f"rubric-lint: b.rubric.yaml:1:1: not checked: {of} (`rubrics` whose fields are unknown)\n"
    )
    assert [line.split(": ")[0] for line in output.splitlines()[:-2]] == ["c.rubric.yaml:1:1 error schema"]
    assert code == 1


NOT_OURS = {
    "an entry of another tool": "rubrics: [{name: Style, prompt: Judge it}]\n",
    "a list of strings": "rubrics: [Says why]\n",
    "singular": "rubric: [{id: a, expected_outcome: Says why}]\n",
    "promptfoo": UNREAD["promptfoo"][0],
}


@pytest.mark.parametrize("text", NOT_OURS.values(), ids=NOT_OURS)
@pytest.mark.parametrize("program", ["score", "convert", "diff", "prompt", "schema"])
def test_every_command_reads_what_the_linter_reads(text, program):
    write(a=text)
    Path("out.jsonl").write_text('{"score": 1}\n', "utf-8")
    first = lint("a.yaml", text.encode()).unread[0]
    calls = {
        "score": (SCORE, ["a.yaml", "out.jsonl"]),
        "prompt": (SCORE, ["prompt", "a.yaml", "--answer", "out.jsonl"]),
        "schema": (SCORE, ["schema", "a.yaml"]),
        "convert": (LINT, ["convert", "--to", "markdown", "a.yaml"]),
        "diff": (LINT, ["diff", "a.yaml", "a.yaml"]),
    }
    main, arguments = calls[program]
    output, errors, code = call(*arguments, program=main)
    assert (output, code) == ("", 2)
    assert f": {first.reason}" in errors.partition(f"a.yaml:{first.line}:{first.column}: ")[2].partition("\n")[0]


def test_a_fix_says_that_there_was_nothing_to_fix():
    write(a="x: 1\n", b="rubric: [{criterion: a}]\n")
    Path("d.md").write_text("# The rubric\n", "utf-8")
    fix = "import sys; sys.argv[0] = 'rubric-fix'; from rubric_lint.cli.fix import main; main()"
    output, errors, code = call("a.yaml", "b.yaml", "d.md", program=fix)
    told = "0 rubrics found in 2 files, so there was nothing to fix.\n"
    skipped = (
        "rubric-lint: d.md: not read, as it is Markdown; rubric-lint reads YAML, JSON, JSON Lines, TOML and Python\n"
    )
    assert (told in output + errors, skipped.removeprefix("rubric-lint: ") in errors, code) == (True, True, 0)


def test_names_of_files_are_escaped():
    name = "a\x1b[31m\n::error::b.yaml"
    Path(name).write_text("x: 1\n", "utf-8")
    assert call(name)[1] == f"rubric-lint: a\\x1b[31m\\n::error::b.yaml: {NO_FIELD}\n"
