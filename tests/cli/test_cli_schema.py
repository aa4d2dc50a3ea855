import json
from functools import partial
from pathlib import Path

import commands
import pytest

from rubric_lint.model.schema_files import FORMS, catalogue, schemas_root

call = partial(commands.call, "rubric-lint", "schema")


def test_the_list_names_every_schema():
    expected = [
        [f"{entry.name}@{entry.version}", entry.bundled_id, *([str(entry.path)] if entry.is_in_file else [])]
        for entry in catalogue()
    ]
    output, errors, _ = call()
    assert (expected, "") == ([line.split(maxsplit=2) for line in output.splitlines()], errors)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        (["suite"], "suite-v2"),
        (["suite@v1"], "suite-v1"),
        (["rubric@v3"], "rubric-v3"),
        (["config"], "config-v1"),
        (["rubric", "--form", "completion"], "rubric-v2.completion"),
        (["rubric-test@v1", "--form", "strict"], "rubric-test-v1.strict"),
    ],
    ids=["current", "named version", "later version", "own file", "for completion", "for validators"],
)
def test_a_schema_is_printed_and_located(name, file):
    path = Path(call("path", *name)[0].strip())
    printed = call("print", *name)[0]
    assert path.name == f"{file}.schema.json"
    assert path.read_text("utf-8") == printed
    assert json.loads(printed)["$id"] == f"https://rubric-lint.github.io/schemas/{path.name}"


def test_every_form_can_be_named():
    entry = next(entry for entry in catalogue() if entry.name == "suite")
    paths = [call("path", "suite@v1", "--form", form)[0].strip() for form in FORMS]
    assert paths == [str(file.path) for file in entry.forms]


@pytest.mark.slow
def test_bundle_writes_what_check_then_accepts(tmp_path):
    folder = tmp_path / "new"
    files = [file for entry in catalogue() for file in entry.forms]
    names = [*(file.bundled_name for file in files), "catalog.json"]
    missing = sorted(f"rubric-lint: {folder / name} is out of date" for name in names)
    output, errors, code = call("bundle", "--check", str(folder))
    assert ("", missing, 1, False) == (output, sorted(errors.splitlines()), code, folder.exists())
    assert call("bundle", str(folder)) == ("", "", 0)
    written = {file.name: file.read_bytes().decode() for file in folder.iterdir()}
    expected = {file.bundled_name: file.text for file in files}
    assert written == {**expected, "catalog.json": (schemas_root() / "bundled/catalog.json").read_text("utf-8")}
    assert call("bundle", "--check", str(folder)) == ("", "", 0)


def test_check_names_what_is_not_up_to_date(tmp_path):
    call("bundle", str(tmp_path))
    stale = tmp_path / "suite-v2.schema.json"
    stale.write_text("{}", "utf-8")
    assert call("bundle", "--check", str(tmp_path)) == ("", f"rubric-lint: {stale} is out of date\n", 1)


def test_a_schema_without_a_file_says_how_to_write_one(said):
    output, errors, code = call("path", "report")
    assert (output, code) == ("", 2)
    assert json.loads(call("print", "report@v1")[0])["$id"].endswith("/report-v1.schema.json")
    said(errors)
