import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rubric_lint.cli.lint import cli
from rubric_lint.cli.schema import SHAPES
from rubric_lint.format.bundle import bundle
from rubric_lint.format.schema_files import catalogue
from rubric_lint.format.schema_store import store_catalogue
from rubric_lint.format.starter import RUBRICS, start
from rubric_lint.lint.engine import lint


def call(*args):
    """What `rubric-lint schema` prints and returns."""
    done = CliRunner().invoke(cli, ["schema", *args], standalone_mode=False, prog_name="rubric-lint")
    return done.stdout, done.stderr, done.return_value


def test_the_list_names_every_schema():
    expected = [[f"{entry.name}@{entry.version}", entry.bundled_id, str(entry.path)] for entry in catalogue()]
    output, errors, _ = call()
    assert (expected, "") == ([line.split() for line in output.splitlines()], errors)


@pytest.mark.parametrize(
    ("name", "file"),
    [("suite", "suite-v2"), ("suite@v1", "suite-v1"), ("report", "report-v1")],
    ids=["latest", "named version", "own file"],
)
def test_a_schema_is_printed_and_located(name, file):
    path = Path(call("path", name)[0].strip())
    printed = call("print", name)[0]
    assert path.name == f"{file}.schema.json"
    assert path.read_text("utf-8") == printed
    assert json.loads(printed)["$id"] == f"https://rubric-lint.github.io/schemas/{path.name}"


def test_an_unknown_schema_is_a_usage_error():
    done = CliRunner().invoke(cli, ["schema", "print", "suite@v9"])
    known = ", ".join(f"{entry.name}@{entry.version}" for entry in catalogue())
    message = f"Error: Invalid value for 'NAME[@VERSION]': unknown schema 'suite@v9'; expected {known}"
    assert (message, 2) == (done.stderr.splitlines()[-1], done.exit_code)


def test_bundle_writes_what_check_then_accepts(tmp_path):
    folder = tmp_path / "new"
    names = [*(entry.bundled_name for entry in catalogue()), "catalog.json"]
    missing = sorted(f"rubric-lint: {folder / name} is out of date" for name in names)
    output, errors, code = call("bundle", "--check", str(folder))
    assert ("", missing, 1, False) == (output, sorted(errors.splitlines()), code, folder.exists())
    assert call("bundle", str(folder)) == ("", "", 0)
    written = {file.name: file.read_bytes().decode() for file in folder.iterdir()}
    bundled = {entry.bundled_name: bundle(entry) for entry in catalogue()}
    assert written == {**bundled, "catalog.json": store_catalogue()}
    assert call("bundle", "--check", str(folder)) == ("", "", 0)


def test_check_names_what_is_not_up_to_date(tmp_path):
    call("bundle", str(tmp_path))
    stale = tmp_path / "suite-v2.schema.json"
    stale.write_text("{}", "utf-8")
    assert call("bundle", "--check", str(tmp_path)) == ("", f"rubric-lint: {stale} is out of date\n", 1)


def init(*args):
    """What `rubric-lint schema init` prints, says and returns."""
    done = CliRunner().invoke(cli, ["schema", "init", *map(str, args)])
    return done.stdout, done.stderr, done.exit_code


def test_there_is_a_starter_for_every_shape():
    assert list(SHAPES) == list(RUBRICS)


@pytest.mark.parametrize("as_json", [False, True], ids=["yaml", "json"])
@pytest.mark.parametrize("suite", [False, True], ids=["rubric", "suite"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_starter_lints_clean_and_names_its_schema(shape, suite, as_json):
    text = start(shape, suite=suite, as_json=as_json)
    result = lint("a.json" if as_json else "a.yaml", text.encode())
    criteria = {"checklist": 2, "score-ranges": 2, "holistic": 1, "levels": 1}[shape]
    assert ((), 1, criteria) == (result.findings, result.rubrics, result.criteria)
    url = f"https://rubric-lint.github.io/schemas/{'suite' if suite else 'rubric'}-v2.schema.json"
    if as_json:
        assert json.loads(text)["$schema"] == url
    else:
        assert text.splitlines()[:2] == [f"# yaml-language-server: $schema={url}", f"# $schema: {url}"]


def test_init_writes_a_file_and_keeps_one_that_is_there(tmp_path):
    file = tmp_path / "my rubric.rubric.yaml"
    assert init(file) == ("", f"wrote {file}; check it with: rubric-lint '{file}'\n", 0)
    written = start("checklist", suite=False, as_json=False)
    assert file.read_bytes() == written.encode()

    _, errors, code = init("--shape", "levels", file)
    kept = f"Error: {file} already exists; name another file, or use --force to overwrite it"
    assert (kept, 2, written.encode()) == (errors.splitlines()[-1], code, file.read_bytes())

    assert init("--shape", "levels", "--force", file)[2] == 0
    assert file.read_text("utf-8") == start("levels", suite=False, as_json=False)


def test_init_chooses_a_name_and_the_notation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [init()[2], init("--suite")[2], init("--suite", "a.json")[2]] == [0, 0, 0]
    assert {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()} == {
        "example.rubric.yaml": start("checklist", suite=False, as_json=False),
        "example.suite.yaml": start("checklist", suite=True, as_json=False),
        "a.json": start("checklist", suite=True, as_json=True),
    }


def test_init_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert init("--shape", "holistic", "-") == (start("holistic", suite=False, as_json=False), "", 0)
    assert list(tmp_path.iterdir()) == []


def test_init_says_that_a_name_is_empty():
    _, errors, code = init("")
    assert ("Error: FILE is empty; name a file", 2) == (errors.splitlines()[-1], code)


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_init_does_not_advise_to_replace_a_folder(force, tmp_path):
    _, errors, code = init(*force, tmp_path)
    assert (f"Error: {tmp_path} is a folder; name a file in it", 2) == (errors.splitlines()[-1], code)


def test_init_says_why_it_cannot_write(tmp_path):
    file = tmp_path / "missing/a.yaml"
    _, errors, code = init(file)
    assert (f"Error: cannot write {file}: No such file or directory", 2) == (errors.splitlines()[-1], code)
