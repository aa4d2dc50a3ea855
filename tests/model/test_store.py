"""What SchemaStore asks of an entry, and of the files that show what a schema accepts and refuses."""

import json
from pathlib import Path

import pytest
from bundle import store_catalogue
from node import ask_ajv, node
from ruamel.yaml import YAML

from rubric_lint.model.schema import python_validator
from rubric_lint.model.schema_files import catalogue, join, newest, schemas_root

CONTENTS = json.loads(store_catalogue())
STORE = Path(__file__).parents[1] / "store"
FILES = sorted(STORE.rglob("*.yaml"))
WRITTEN = [entry for entry in catalogue() if entry.is_for_authors]


def test_the_catalogue_has_what_its_schema_asks_for():
    assert {"$schema", "version", "schemas"} == CONTENTS.keys()
    for entry in CONTENTS["schemas"]:
        assert {"name", "description", "url", "versions"} <= entry.keys()
        assert entry.keys() <= {"name", "description", "fileMatch", "url", "versions"}
        assert all(url.startswith("https://") for url in [entry["url"], *entry["versions"].values()])
        assert len(set(entry.get("fileMatch", []))) == len(entry.get("fileMatch", []))


def test_the_words_follow_its_guidelines():
    for entry in CONTENTS["schemas"]:
        for text in (entry["name"], entry["description"]):
            assert "schema" not in text.lower()
            assert "\n" not in text
            assert text[-1] not in ",. \t-"


def test_every_version_of_what_people_write_is_named():
    named = {url for entry in CONTENTS["schemas"] for url in entry["versions"].values()}
    assert named == {file.bundled_id for entry in WRITTEN for file in entry.forms if file.form == "strict"}
    current = {newest(name)._replace(form="strict").bundled_id for name in {file.name for file in WRITTEN}}
    assert {entry["url"] for entry in CONTENTS["schemas"]} == current


def test_only_names_that_are_ours_are_claimed():
    claimed = {pattern for entry in CONTENTS["schemas"] for pattern in entry.get("fileMatch", [])}
    kinds = ("rubric", "rubric-test")
    assert claimed == {f"*.{kind}.{suffix}" for kind in kinds for suffix in ("yaml", "yml", "json")}


def test_a_file_names_its_schema_in_the_first_line():
    for file in FILES:
        first = file.read_text("utf-8").splitlines()[0]
        assert first == f"# yaml-language-server: $schema=../../schemas/json/{file.parent.name}.json"


def test_the_schema_of_the_entry_and_the_one_that_we_write_agree():
    for file in FILES:
        name = f"{file.parent.name}.json"
        entry = next(form for entry in WRITTEN for form in entry.forms if form.bundled_name == name)
        data = json.loads(json.dumps(YAML(typ="safe").load(file)))
        authored = python_validator()(join(entry.source))
        bundled = python_validator()(json.loads(entry.path.read_text("utf-8")))
        is_sound = "negative_test" not in file.parts
        assert (file.name, authored.is_valid(data), bundled.is_valid(data)) == (file.name, is_sound, is_sound)


@pytest.mark.slow
def test_strict_ajv_accepts_the_positive_files_and_refuses_the_negative_ones():
    if not node():
        pytest.skip("Ajv runs on Node.js, and there is none")
    schemas = {f"{file.parent.name}.json" for file in FILES}
    asked = {
        "schemas": {name: json.loads((schemas_root() / "bundled" / name).read_text("utf-8")) for name in schemas},
        "documents": [
            {"schema": f"{file.parent.name}.json", "data": json.loads(json.dumps(YAML(typ="safe").load(file)))}
            for file in FILES
        ],
    }
    answer = ask_ajv(asked)
    refused = {file for file, error in zip(FILES, answer["refusals"], strict=True) if error}
    assert ({}, {file for file in FILES if "negative_test" in file.parts}) == (answer["broken"], refused)
