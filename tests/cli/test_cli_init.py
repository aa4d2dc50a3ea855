"""`rubric-lint init` writes a rubric to start from, and says what to do next."""

import json
import os
import shlex

import commands
import pytest

from rubric_lint.cli.options import OPTIONS
from rubric_lint.lint.engine import lint
from rubric_lint.lint.run.summary import Summary
from rubric_lint.model.schema_files import BASE, Claim, read_claim
from rubric_lint.model.starter import RUBRICS, start

SHAPES = OPTIONS["shape"].takes.split("|")

posix = pytest.mark.skipif(os.name == "nt", reason="Windows allows no such names")


def init(*args):
    """What `rubric-lint init` prints, says and returns."""
    done = commands.run("rubric-lint", "init", *args)
    return done.stdout, done.stderr, done.returncode


def written(shape, *, suite=False, as_json=False):
    """What `rubric-lint init` writes, in every folder of every machine."""
    return start(shape, suite=suite, as_json=as_json)


def test_there_is_a_starter_for_every_shape():
    assert list(SHAPES) == list(RUBRICS)


@pytest.mark.parametrize("as_json", [False, True], ids=["yaml", "json"])
@pytest.mark.parametrize("suite", [False, True], ids=["rubric", "suite"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_starter_lints_clean_and_names_its_schema(shape, suite, as_json):
    url = f"{BASE}{'suite' if suite else 'rubric'}-{'v3' if shape == 'scale' else 'v2'}.schema.json"
    text = start(shape, suite=suite, as_json=as_json)
    result = lint("a.json" if as_json else "a.yaml", text.encode())
    criteria = {"checklist": 2, "score-ranges": 2, "holistic": 1, "levels": 1, "scale": 2}[shape]
    assert ((), 1, criteria) == (result.findings, result.rubrics, result.criteria)
    if as_json:
        assert json.loads(text)["$schema"] == url
    else:
        assert text.splitlines()[0] == f"# yaml-language-server: $schema={url}"


def test_init_writes_a_file_and_keeps_one_that_is_there(tmp_path, said):
    file = tmp_path / "my rubric.rubric.yaml"
    said(init(file))
    first = written("checklist").encode()
    assert file.read_bytes() == first

    _, errors, code = init("--shape", "levels", file)
    assert (2, first) == (code, file.read_bytes())
    said(errors.splitlines()[-1])

    assert init("--shape", "levels", "--force", file)[2] == 0
    assert file.read_text("utf-8") == written("levels")


def test_init_chooses_a_name_and_the_notation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [init()[2], init("--suite")[2], init("--suite", "a.json")[2]] == [0, 0, 0]
    assert {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()} == {
        "example.rubric.yaml": written("checklist"),
        "example.suite.yaml": written("checklist", suite=True),
        "a.json": written("checklist", suite=True, as_json=True),
    }


def test_init_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert init("--shape", "holistic", "-") == (written("holistic"), "", 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.toml", "a.py", "a.ipynb", "a.jsonl", "a.md"])
def test_init_writes_only_what_it_can_write(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (init(name)[2], list(tmp_path.iterdir())) == (2, [])


def test_init_says_that_a_name_is_empty():
    _, errors, code = init("")
    assert ("Error: FILE is empty; name a file", 2) == (errors.splitlines()[-1], code)


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_init_does_not_advise_to_replace_a_folder(force, tmp_path, said):
    _, errors, code = init(*force, tmp_path)
    assert code == 2
    said(errors.splitlines()[-1])


def test_init_says_why_it_cannot_write(tmp_path, said):
    _, errors, code = init(tmp_path / "missing/a.yaml")
    assert code == 2
    said(errors.splitlines()[-1])


@pytest.mark.parametrize(
    "name",
    [
        "a.rubric.yaml",
        "my rubric.yaml",
        "-x.json",
        "it's.yml",
        "cache.yaml",
        "fix",
        pytest.param("a\x1bb.yaml", marks=posix),
    ],
)
def test_the_command_that_init_names_checks_the_file(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, told, code = init("--", name)
    assert (code, [file.name for file in tmp_path.iterdir()]) == (0, [name])
    program, *args = shlex.split(told.splitlines()[-1])
    done = commands.run(program, *args)
    assert (program, done.stdout) == (
        "rubric-lint",
        f"{Summary(files=1, files_with_rubrics=1, rubrics=1, criteria=2)}\n",
    )


@pytest.mark.parametrize(
    "url",
    [
        f"{BASE}rubric-v2.schema.json",
        "../schemas/bundled/rubric-v2.schema.json",
        "file:///home/ada/my%20tools/rubric_lint/schemas/bundled/rubric-v2.schema.json",
    ],
)
@pytest.mark.parametrize("as_json", [False, True], ids=["yaml", "json"])
def test_a_file_may_name_any_copy_of_the_schema(url, as_json):
    assert read_claim(url) == Claim("rubric", "v2")
    # Only the claim makes a bare string in a file of this name a criterion.
    key, comment = (f'"$schema": "{url}", ', "") if as_json else ("", f"# yaml-language-server: $schema={url}\n")
    text = f'{comment}{{{key}"rubrics": ["Names the date"]}}'
    assert lint("a.json" if as_json else "a.yaml", text.encode()).criteria == 1
