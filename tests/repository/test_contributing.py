"""CONTRIBUTING.md and the page that it goes on in, followed in a copy of the repository: their examples work."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import commands
import pytest
import saying
from documented import clone

ROOT = Path(__file__).parents[2]
GUIDE = "".join((ROOT / name).read_text("utf-8") for name in ("CONTRIBUTING.md", "docs/development/recipes.md"))
APART = re.search(r"^APART := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)[1]
STEP = re.compile(
    r"^`(?P<file>[\w/.]+)`[^\n]*:\n\n(?P<fence>`{3,})(?P<kind>\w+)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)
PARTS = (
    "rubric_lint",
    "schemas",
    "tests",
    "tools",
    "docs",
    "pyproject.toml",
    "Makefile",
    "README.md",
    "vscode/package.json",
)


ALL = None
README = "test_the_commands_of_the_readme_write_what_it_shows"


class Step(NamedTuple):
    """One file of an example: new text, or lines to be added (`diff`)."""

    file: str
    kind: str
    text: str

    def follow(self, folder):
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.kind != "diff":
            assert not path.exists()
            path.write_text(self.text, "utf-8")
            return
        lines = self.text.splitlines(keepends=True)
        known = "".join(line[1:] for line in lines if line.startswith(" "))
        text = path.read_text("utf-8")
        assert text.count(known) == 1
        path.write_text(text.replace(known, "".join(line[1:] for line in lines)), "utf-8")


def find_steps(section):
    return [Step(found["file"], found["kind"], found["text"]) for found in STEP.finditer(section)]


def steps_of(heading):
    return find_steps(GUIDE.split(f"\n## {heading}\n")[1].split("\n## Add ")[0])


class Copy:
    """A copy of the repository in which programs run."""

    def __init__(self, folder):
        self.folder = folder
        for name in () if (folder / ".git").exists() else PARTS:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
            else:
                (folder / name).parent.mkdir(exist_ok=True)
                shutil.copy(source, folder / name)

    def follow(self, heading):
        for step in steps_of(heading):
            step.follow(self.folder)

    def python(self, *arguments, stdin=""):
        environment = {**os.environ, "PYTHONPATH": f"{self.folder}{os.pathsep}{self.folder / 'tools'}"}
        command = [sys.executable, *arguments]
        return commands.run_process(command, stdin=stdin, cwd=self.folder, env=environment, timeout=3600)

    def lint(self, text, *arguments):
        done = self.python("-m", "rubric_lint", "--no-cache", "-q", "--format=concise", *arguments, "-", stdin=text)
        return done.stdout, done.returncode


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [step for part in GUIDE.split("\n## ")[1:] for step in find_steps(part) if step.kind == "python"],
    ids=lambda step: step.file,
)
@pytest.mark.parametrize("check", [["check"], ["format", "--check"]], ids=" ".join)
def test_an_example_in_python_passes_ruff(step, check):
    ruff = [sys.executable, "-m", "ruff", *check, "--stdin-filename", ROOT / step.file, "-"]
    done = commands.run_process(ruff, stdin=step.text, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_example_touches_what_the_guide_says():
    files = {heading: [step.file for step in steps_of(heading)] for heading in
             ("Add a rule", "Add an output format", "Add a field", "Add a dialect")}  # fmt: skip
    assert files == {
        "Add a rule": [
            "rubric_lint/rules/shouting.py",
            "rubric_lint/rules/shouting.md",
            "rubric_lint/rules/__init__.py",
        ],
        "Add an output format": ["rubric_lint/report/bars.py", "rubric_lint/report/__init__.py"],
        "Add a field": ["schemas/v2/rubric.json", "tests/data/fields.yaml"],
        "Add a dialect": [
            "rubric_lint/formats/dialects/gradebook.toml",
            "schemas/gradebook/v1.json",
            "rubric_lint/formats/dialects/gradebook.md",
            "rubric_lint/formats/dialects/__init__.py",
            "tests/data/dialects.yaml",
            "tests/data/conversions.yaml",
            "tools/website/originals.py",
            "docs/guides/convert.md",
            "docs/development/interop.md",
        ],
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "words", "expected"),
    [
        ("tests/rules/test_bands.py", "scores", set()),
        ("tests/report/test_snapshots.py", "no file has these words", ALL),
        ("tests/repository/test_documented_commands.py", "no page has these words", {README}),
        ("tests/model/test_naming.py", "no part has these words", set()),
    ],
)
def test_words_leave_out_the_pages_and_snapshots_without_them(file, words, expected):
    every, some = (collect_renewed(file, *option) for option in ([], ["--words", words]))
    assert some == (every if expected is ALL else expected)


@pytest.mark.slow
def test_words_keep_the_tests_whose_part_has_them():
    parts = saying.read(saying.FOLDER / "naming.txt")
    words = min((text for text in parts.values() if text), key=len).strip()
    names = {name for name, text in parts.items() if words in text}
    kept = collect_renewed("tests/model/test_naming.py", "--words", words)
    assert kept == {name.partition(" (")[0] for name in names} < collect_renewed("tests/model/test_naming.py")


def collect_renewed(file, *options):
    """Return the names of the tests in a file that `--renew` runs. With `-k` it deletes no parts of the snapshots."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider"]
    done = commands.run_process([*command, "--renew", "-k", "test", *options, file], cwd=ROOT, timeout=300)
    return {line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.slow
def test_a_rule_needs_three_files(copy):
    text = "rubrics:\n  - id: refund\n    expected_outcome: NAMES THE REFUND WINDOW\n"
    assert copy.lint(text) == ("", 0)
    copy.follow("Add a rule")
    output, code = copy.lint(text, "--fail-on=warning")
    place, message = output.split(": ", 1)
    assert (place, '"NAMES THE REFUND WIN..."' in message, code) == ("<stdin>:3:23 warning shouting", True, 1)
    assert copy.lint(text, "--ignore=shouting") == ("", 0)
    assert copy.python("tools/docs.py").returncode == 0
    rules = (copy.folder / "docs/rules/index.md").read_text("utf-8")
    page = "[`shouting`](../../rubric_lint/rules/shouting.md)"
    assert f"| {page} | An outcome that is all in capital letters. | warning |  |" in rules.splitlines()
    page = copy.python("-m", "rubric_lint", "explain", "shouting").stdout
    assert f"warning shouting: {message}    --> example.yaml:3:23\n" in page


@pytest.mark.slow
def test_an_output_format_needs_two_files(copy):
    copy.follow("Add an output format")
    (copy.folder / "bad.yaml").write_text(
        "rubrics:\n  - id: a\n    wieght: 1\n    expected_outcome: Says it\n", "utf-8"
    )
    done = copy.python("-m", "rubric_lint", "--no-cache", "--format=bars", "bad.yaml")
    assert done.stdout.split(" | ")[:4] == ["bad.yaml", "3", "5", "unknown-field"]


@pytest.mark.slow
def test_a_field_needs_its_schema(copy):
    text = "rubrics:\n  - id: a\n    expected_outcome: Says it\n    {}: Ada\n"
    assert copy.lint(text.format("maintainer"))[1] == 1
    copy.follow("Add a field")
    assert copy.lint(text.format("maintainer")) == ("", 0)
    output, code = copy.lint(text.format("maintaner"))
    assert (output.split(": ")[2:], code) == (["unknown field `maintaner`; did you mean `maintainer`?\n"], 1)
    (copy.folder / "a.rubric.yaml").write_text(text.format("maintainer"), "utf-8")
    told = copy.python("-m", "rubric_lint", "convert", "a.rubric.yaml", "--to", "markdown").stderr
    assert "a.rubric.yaml:4:17: lost: `maintainer`" in told
    assert copy.python("tools/bundle.py").returncode == 0
    assert '"maintainer"' in (copy.folder / "schemas/bundled/rubric-v2.schema.json").read_text("utf-8")


TELL = """
import json, sys
from rubric_lint import load_rubrics
from rubric_lint.judge.prompt import JudgedCase, as_text, write_prompt
for path in sys.argv[1:]:
    rubric = load_rubrics("a.rubric.yaml", open(path, "rb").read())["a"]
    print(json.dumps([rubric.hash, as_text(write_prompt(rubric, JudgedCase("So.")))]))
"""
LOW = "{{score_range: [0, 4], expected_outcome: Wrong}}"
HIGH = "{{score_range: [5, 10], expected_outcome: Right{0}}}"
SHAPES = {
    "entry": ("  - {{id: a, expected_outcome: It is so{0}}}\n", "Met when: It is so"),
    "level": (
        "  - id: a\n    levels: [{{level: 1, expected_outcome: Off}}, {{level: 2, expected_outcome: Right{0}}}]\n",
        "- 2: Right",
    ),
    "band": (f"  - id: a\n    score_ranges:\n      - {LOW}\n      - {HIGH}\n", "- 5 to 10: Right"),
    "holistic": (f"  - {LOW}\n  - {HIGH}\n", "- 5 to 10: Right"),
}


@pytest.mark.slow
def test_what_the_schema_has_a_judge_told_reaches_the_prompt_the_hash_and_the_diff(copy):
    for name, (shape, _) in SHAPES.items():
        for kind, text in (("plain", ""), ("old", ", sample: Forty days"), ("new", ", sample: Sixty days")):
            (copy.folder / f"{name}.{kind}.yaml").write_text("rubrics:\n" + shape.format(text), "utf-8")

    def tell(kind):
        told = copy.python("-c", TELL, *(f"{name}.{kind}.yaml" for name in SHAPES)).stdout
        return [json.loads(line) for line in told.splitlines()]

    before = tell("plain")
    schema = copy.folder / "schemas/v2/rubric.json"
    content = json.loads(schema.read_text("utf-8"))
    for kind in ("entry", "band", "level"):
        content["definitions"][kind]["properties"]["sample"] = {"x-shown-to-judge": True, "type": "string"}
    schema.write_text(json.dumps(content), "utf-8")
    assert tell("plain") == before
    for (name, (_, above)), plain, old, new in zip(SHAPES.items(), before, tell("old"), tell("new"), strict=True):
        assert len({plain[0], old[0], new[0]}) == 3
        lines = old[1].splitlines()
        assert lines[lines.index(f"{'' if name == 'entry' else '  '}Sample: Forty days") - 1] == above
        told = copy.python("-m", "rubric_lint", "diff", f"{name}.old.yaml", f"{name}.new.yaml", "--format", "json")
        (change,) = json.loads(told.stdout)["changes"]
        assert (change["what"], change["old"]["text"], change["new"]["text"]) == ("field", "Forty days", "Sixty days")


def add_aliases(folder):
    """Add an alias of a field, and one of a required field, as the recipes say."""
    (names,) = re.findall(r"`(names = \{.*?) \}`", GUIDE)
    ((entry, outcome),) = re.findall(r"`(entry = \{.*?\})`, and `(.*?)` in `names`", GUIDE)
    (required,) = re.findall(r'`("required": .*?)`', GUIDE)
    table = folder / "rubric_lint/formats/dialects/gradebook.toml"
    text = table.read_text("utf-8").replace('entry = { sees = "text" }', entry)
    table.write_text(f"{text}\n[view]\n{names}, {outcome} }}\n", "utf-8")
    schema = folder / "schemas/gradebook/v1.json"
    content = json.loads(schema.read_text("utf-8"))
    aspect = content["definitions"]["entry"]
    aspect["properties"] |= {"points": aspect["properties"]["share"], "shows": aspect["properties"]["sees"]}
    aspect |= json.loads(f"{{{required}}}")
    schema.write_text(json.dumps(content), "utf-8")


@pytest.mark.slow
def test_a_dialect_needs_its_module_page_and_schema(copy):
    sound = "gradebook:\n  - {aspect: numbers, sees: Every number is that of the source, share: 2}\n"
    assert copy.lint(sound) == ("", 0)
    copy.follow("Add a dialect")
    assert copy.python("tools/bundle.py").returncode == 0
    faulty = sound.replace("share", "shar")
    message = "criterion `numbers`: unknown field `shar`; did you mean `share`?"
    assert copy.lint(faulty) == (f"<stdin>:2:65 error unknown-field: {message}\n", 1)
    (copy.folder / "a.yaml").write_text(sound, "utf-8")
    converted = copy.python("-m", "rubric_lint", "convert", "a.yaml", "--to", "rubric")
    assert "id: numbers" in converted.stdout
    assert "weight: 2" in converted.stdout
    add_aliases(copy.folder)
    assert copy.lint(sound.replace("share", "points").replace("sees", "shows")) == ("", 0)
    both = f"{sound}  - {{aspect: dates}}\n"
    assert "criterion `dates`: missing field `sees`" in copy.lint(both)[0]
    assert copy.python("tools/docs.py").returncode == 0
    page = (copy.folder / "rubric_lint/formats/dialects/gradebook.md").read_text("utf-8")
    assert f"error unknown-field: {message}\n    --> example.yaml:4:5\n" in page


@pytest.mark.guide
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the sdist has no list of its files")
def test_the_examples_break_no_test(tmp_path):
    clone(tmp_path)
    copy = Copy(tmp_path)
    for heading in ("Add a rule", "Add an output format", "Add a field", "Add a dialect"):
        copy.follow(heading)
    for command in (["tools/bundle.py"], ["tools/docs.py"], ["tools/benchmarks/counts.py", "--write"]):
        assert copy.python(*command).returncode == 0
    snapshots = ["tests/report/test_snapshots.py", "tests/convert/test_convert.py", "tests/cli/test_wrong_use.py"]
    assert copy.python("-m", "pytest", "-q", "--renew", "-p", "no:cacheprovider", *snapshots).returncode == 0
    arguments = ["-q", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider", "-m", f"not (slow or {APART})"]
    done = copy.python("-m", "pytest", *arguments)
    assert done.returncode == 0, done.stdout[-4000:]
