"""docs/format.md, section 3: which `rubrics` are ours, which are not, and which version they follow."""

from textwrap import dedent

import pytest
from cases import read_cases
from found import codes

from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.formats.search.locate import search
from rubric_lint.lint.engine import DEFAULTS, lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.source.path import pointer
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)
DOCUMENTS = TABLES.pop("DOCUMENTS")

V1, V2 = "v1", "v2"


def located(text, name="a.yaml", **claims):
    documents, faults = read_documents(Source(name, dedent(text)))
    assert faults == []
    return [
        (("" if document.number is None else f"/{document.number}") + pointer(path), version)
        for document in documents
        for path, version, *_ in search(document, **claims).rubrics
    ]


def findings(text, name="a.yaml", settings=DEFAULTS):
    return [(finding.rule, finding.pointer) for finding in lint(name, dedent(text).encode(), settings).findings]


@pytest.mark.parametrize(("part", "name"), [(part, name) for part in TABLES for name in TABLES[part]])
def test_which_rubrics_are_ours_and_which_version_they_follow(part, name, said):
    text = TABLES[part][name]
    text = f"rubrics:\n  - {text}\n" if part in {"OURS", "NOT_OURS"} else text
    said([" ".join(each) for each in sorted(located(text))] or "none")
    assert located(text) or findings(text) == []


@pytest.mark.parametrize("owner", ["evalcases", "eval_cases", "cases", "tests", "evaluators", "assert", "assertions"])
def test_texts_under_a_case_or_an_evaluator_are_ours(owner):
    text = f"{owner}:\n  - name: a\n    rubrics:\n      - One thing\n      - Another\n"
    assert located(text) == [(f"/{owner}/0/rubrics", V2)]


def test_the_settings_say_the_version_and_claim_the_file():
    assert [
        located("rubrics: text\n"),
        located("rubrics: text\n", claimed=True),
        located("rubrics: text\n", claimed=True, version=V1),
        located("rubrics: [{score_ranges: 1}]\n", version=V1),
        located("# $schema: rubric-v2.schema.json\nrubrics: text\n", claimed=True, version=V1),
    ] == [[], [("/rubrics", V2)], [("/rubrics", V1)], [("/rubrics", V1)], [("/rubrics", V2)]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("null", [("schema", "/rubrics")]),
        ("text", [("schema", "/rubrics")]),
        ("[]", [("schema", "/rubrics")]),
        ("{}", [("schema", "/rubrics")]),
        ("7", [("schema", "/rubrics")]),
        ("[7]", [("schema", "/rubrics/0")]),
        ("[null]", [("schema", "/rubrics/0")]),
        ("['']", [("empty-outcome", "/rubrics/0")]),
        ("[Says it]", []),
        ("[{}]", [("missing-id", "/rubrics/0"), ("schema", "/rubrics/0")]),
    ],
)
def test_every_check_applies_to_what_is_claimed(value, expected):
    assert findings(f"rubrics: {value}\n", settings=FileSettings(claimed=True)) == expected


RUBRIC_FILE = FileSettings(claimed=True, is_rubric_file=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "schema.no-rubrics"),
        ("# only a comment\n", "schema.no-rubrics"),
        ("criteria: []\n", "schema.no-rubrics"),
        ("[]\n", "schema.no-rubrics"),
        ("rubric: []\n", "schema.no-rubrics-misspelt"),
    ],
)
def test_a_rubric_file_has_rubrics(text, expected):
    result = lint("a.rubric.yaml", text.encode(), RUBRIC_FILE)
    assert codes(result.findings) == [expected]


def test_a_file_that_names_the_rubric_schema_has_rubrics_too():
    text = "# $schema: rubric-v2.schema.json\ncriteria: []\n"
    suite = "# $schema: suite-v2.schema.json\ncases: []\n"
    assert (findings(text), findings(suite)) == ([("schema", "")], [])


@pytest.mark.parametrize(("name", "text"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_each_document_follows_the_schema_that_it_names_or_the_one_above_all(name, text, said):
    said(
        [" ".join(finding) for finding in located(text, name)], [" ".join(finding) for finding in findings(text, name)]
    )


SILENT = {
    "a template": "{% if x %}\nkey: {{ value }}\n  - broken\n{% endif %}\n",
    "an unclosed quote": 'a: "never closed\n',
    "another tool's mention": "# see the rubric below\na: [1, 2\n",
    "a prose mention": "description: The rubric says: this breaks\n",
    "not UTF-8": b"name: caf\xe9\n",
    "binary": b"\x00\x01\x02\xff\xfe",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_broken_files_of_others_stay_silent(text):
    data = text if isinstance(text, bytes) else text.encode()
    assert [lint(name, data).findings for name in ("a.yaml", "a.json", "a.jsonl")] == [()] * 3


@pytest.mark.parametrize(
    "text",
    [
        'rubrics:\n  - "never closed\n',
        "a: [1, 2\n# expected_outcome\n",
        "# $schema: rubric-v2.schema.json\na: [1, 2\n",
        "- required_min_score: 'x\n",
        "{'rubrics': [\n",
    ],
)
def test_broken_files_that_speak_of_rubrics_are_reported(text):
    assert [rule for rule, _ in findings(text)] == ["syntax"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", False),
        (b"name: CI\non: push\n", False),
        (b"rubrics:\n", True),
        (b"a: {expected_outcome: b}\n", True),
        ("\ufeffa: 1".encode("utf-16-le"), True),
        (b"\xff\xfea\x00", True),
        (b"tests: [{assertions: [a]}]\n", True),
        (b"tests:\n", False),
        (b"- assert:\n", False),
    ],
)
def test_a_look_at_the_bytes_rules_out_most_files(data, expected):
    assert could_hold_rubrics(data, "a.yaml") is expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_the_look_at_the_bytes_overlooks_nothing(encoding):
    texts = [f"rubrics:\n  - {entry}\n" for entry in TABLES["OURS"].values()]
    assert [text for text in texts if not could_hold_rubrics(text.encode(encoding), "a.yaml")] == []
