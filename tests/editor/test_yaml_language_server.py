"""The bundled schemas in the language server of YAML that most editors run, in both of its major versions."""

import re
from itertools import count
from typing import NamedTuple

import pytest
from cases import read_cases
from node import ROOT, install_locked, node
from stdio_server import StdioServer

from rubric_lint.lint.engine import lint
from rubric_lint.model.schema import schema_for
from rubric_lint.model.schema_files import BASE, newest
from rubric_lint.model.starter import RUBRICS, start

TABLES = read_cases(__file__)

pytestmark = pytest.mark.slow

BUNDLED = ROOT / "schemas/bundled"
RUBRIC, SUITE, TESTS = "rubric-v2.schema.json", "suite-v2.schema.json", "rubric-test-v1.schema.json"
AGENTV = {release: f"agentv-{release}.completion.schema.json" for release in ("a6", "a7")}
NUMBERS = count()

CRITERION = [name for name, field in schema_for().entry_fields.items() if "deprecated" not in field]
BAND, LEVEL = ["score_range", "expected_outcome"], ["level", "name", "expected_outcome"]
SNIPPETS = ["checklist criterion", "criterion with score ranges", "criterion with levels", "band of a holistic scale"]
CRITERION_3 = [name for name, field in schema_for("v3").entry_fields.items() if "deprecated" not in field]
WHOLE = [*schema_for("v3").fields_of("rubrics")]
SNIPPETS_3 = [*SNIPPETS, "criterion with a scale", "criterion with a scale and anchors", "group of criteria"]
CASE = ["rubrics", "evalcases", "eval_cases", "cases", "tests", "evaluators", "assert", "assertions", "defaults"]


class Place(NamedTuple):
    """A document that was opened, and the place of the `|` in its text."""

    uri: str
    line: int
    character: int
    diagnostics: list


def published(addresses):
    """What an editor that downloads for the server finds at an address of ours, once it is released."""
    return (BUNDLED / addresses[0].removeprefix(BASE)).read_text("utf-8")


HANDED = {}
"""By document the file name of the schema that our server names, and that the VS Code extension hands to the other."""


def hand(resources):
    return [f"rubric-lint://schemas/{HANDED[resource]}" for resource in resources if resource in HANDED]


def content(addresses):
    return (BUNDLED / addresses[0].rpartition("/")[2]).read_text("utf-8")


@pytest.fixture(scope="module")
def start_server(tmp_path_factory):
    """Start the language server of a version once, with a form of our schemas for the names of files."""
    if not node():
        pytest.skip("the language server runs on Node.js, and there is none")
    started = {}

    def start(version, form):
        if (version, form) in started:
            return started[version, form]
        package = install_locked() / f"yaml-language-server-{version[0]}"
        folder = tmp_path_factory.mktemp("editor")
        for file in BUNDLED.glob("*-v*.schema.json"):
            (folder / file.name).write_bytes(file.read_bytes())
        rubric, suite, test = (
            (BUNDLED / name.replace(".schema", f"{form}.schema")).as_uri() for name in (RUBRIC, SUITE, TESTS)
        )
        schemas = {
            rubric: ["*.rubric.yaml", "*.rubric.yml", "*.rubric.json"],
            suite: ["*.suite.yaml", "*.suite.json"],
            test: ["*.rubric-test.yaml"],
            (BUNDLED / AGENTV["a7"]).as_uri(): ["*.eval.yaml"],
        }
        settings = {"yaml": {"schemas": schemas, "schemaStore": {"enable": False}}}
        command = [node(), package / "bin/yaml-language-server", "--stdio"]
        answers = {"vscode/content": published, "custom/schema/request": hand, "custom/schema/content": content}
        running = StdioServer(command, folder, settings, answers=answers)
        running.tell("yaml/registerContentRequest", {})
        running.tell("yaml/registerCustomSchemaRequest", {})
        assert running.initialized["serverInfo"]["version"] == version
        started[version, form] = running
        return running

    yield start
    for running in started.values():
        running.close()


VERSIONS = ["1.23.0", "2.0.0"]


@pytest.fixture(scope="module", params=VERSIONS)
def server(request, start_server):
    """The server with the schemas for editors, which report what is wrong, too."""
    return start_server(request.param, "")


@pytest.fixture(scope="module", params=VERSIONS)
def quiet(request, start_server):
    """The server with the schemas for completion and hover alone."""
    return start_server(request.param, ".completion")


@pytest.fixture(scope="module", params=[*zip(VERSIONS, (".completion", ""), strict=True)], ids="".join)
def helper(request, start_server):
    """The server with either: what they offer and show is the same, so each version has one."""
    return start_server(*request.param)


def opened(server, text, name="a.rubric.yaml", schema=""):
    """A new document with `text`, of which the first `|` is only a mark; `schema` is handed over for it."""
    before, _, after = text.partition("|")
    uri = (server.folder / f"{next(NUMBERS)}-{name}").as_uri()
    if schema:
        HANDED[uri] = schema
    found = server.show(uri, before + after, "json" if name.endswith("json") else "yaml")
    return Place(uri, before.count("\n"), len(before) - before.rfind("\n") - 1, found)


def offered(server, text, name="a.rubric.yaml", schema=""):
    """What is offered at the `|`, by its label, with what it inserts; in the order of the server."""
    place = opened(server, text, name, schema)
    items = server.look("completion", place.uri, place.line, place.character)["items"]
    texts = {item["label"]: item.get("textEdit", {}).get("newText", item.get("insertText")) for item in items}
    assert len(texts) == len(items), "nothing is offered twice"
    return texts


def messages(server, text, name="a.rubric.yaml"):
    """The findings: the text that is underlined (to the end of its line), and what is said of it."""
    lines = text.splitlines()
    found = []
    for diagnostic in opened(server, text, name).diagnostics:
        start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
        stop = end["character"] if start["line"] == end["line"] else None
        found.append((lines[start["line"]][start["character"] : stop], diagnostic["message"]))
    return found


OFFERED = {
    "top of a rubric file": ("a.rubric.yaml", "|", ["$schema", "rubrics"]),
    "empty item": ("a.rubric.yaml", "rubrics:\n  - |\n", [*CRITERION, *SNIPPETS]),
    "item of a list that is not indented": ("a.rubric.yaml", "rubrics:\n- |\n", [*CRITERION, *SNIPPETS]),
    "begun word": ("a.rubric.yaml", "rubrics:\n  - wei|\n", [*CRITERION, *SNIPPETS]),
    "second field": (
        "a.rubric.yaml",
        "rubrics:\n  - id: a\n    |\n",
        [*(name for name in CRITERION if name != "id"), *SNIPPETS],
    ),
    "empty band": ("a.rubric.yaml", "rubrics:\n  - id: a\n    score_ranges:\n      - |\n", [*BAND, "band"]),
    "begun band": (
        "a.rubric.yaml",
        "rubrics:\n  - id: a\n    score_ranges:\n      - score_range: [0, 4]\n        |\n",
        ["expected_outcome", "band"],
    ),
    "empty level": ("a.rubric.yaml", "rubrics:\n  - id: a\n    levels:\n      - |\n", [*LEVEL, "level of the scale"]),
    "begun level": (
        "a.rubric.yaml",
        "rubrics:\n  - id: a\n    levels:\n      - level: 1\n        |\n",
        ["name", "expected_outcome", "level of the scale"],
    ),
    "map of bands": ("a.rubric.yaml", "rubrics:\n  - id: a\n    score_ranges:\n      0: Wrong\n      |\n", []),
    "gate": ("a.rubric.yaml", "rubrics:\n  - id: a\n    required_min_score: |\n", [str(score) for score in range(11)]),
    "empty range": ("a.rubric.yaml", "rubrics:\n  - score_range: |\n", ["[lowest, highest]"]),
    "bound": ("a.rubric.yaml", "rubrics:\n  - score_range: [|]\n", [str(score) for score in range(11)]),
    "flow style": ("a.rubric.yaml", "rubrics:\n  - {|}\n", [*CRITERION, *SNIPPETS]),
    "begun word in flow style": (
        "a.rubric.yaml",
        "rubrics:\n  - {id: a, wei|}\n",
        [*(name for name in CRITERION if name != "id"), *SNIPPETS],
    ),
    "top of a suite": ("a.suite.yaml", "|", CASE),
    "case of a suite": ("a.suite.yaml", "tests:\n  - |\n", CASE),
    "case with fields of its own": ("a.suite.yaml", "tests:\n  - id: x\n    input: y\n    |\n", CASE),
    "item of a suite": ("a.suite.yaml", "tests:\n  - id: x\n    rubrics:\n      - |\n", [*CRITERION, *SNIPPETS]),
    "item under an evaluator": (
        "a.suite.yaml",
        "tests:\n  - assert:\n      - type: x\n        rubrics:\n          - |\n",
        [*CRITERION, *SNIPPETS],
    ),
    "band of a suite": (
        "a.suite.yaml",
        "tests:\n  - rubrics:\n      - id: a\n        score_ranges:\n          - |\n",
        [*BAND, "band"],
    ),
}


@pytest.mark.parametrize("where", OFFERED)
def test_what_is_offered(helper, where):
    name, text, expected = OFFERED[where]
    assert sorted(offered(helper, text, name)) == sorted(expected)


def test_no_old_field_is_offered(helper):
    old = schema_for().replacements.keys()
    texts = [(name, text) for name, text, _ in OFFERED.values()]
    assert [(text, name) for name, text in texts if old & offered(helper, text, name).keys()] == []


def test_what_is_inserted(helper):
    texts = offered(helper, "rubrics:\n  - |\n")
    assert texts["expected_outcome"] == "expected_outcome: "
    assert texts["weight"] == "weight: ${1:1}"
    assert texts["score_range"] == "score_range: [${1:0}, ${2:10}]"
    assert texts["score_ranges"] == "score_ranges: "
    assert texts["criterion with score ranges"].splitlines() == [
        "id: $1",
        "  score_ranges:",
        "    - score_range: [0, ${2:4}]",
        "      expected_outcome: $3",
        "    - score_range: [${4:5}, 10]",
        "      expected_outcome: $5",
    ]


@pytest.mark.parametrize("label", SNIPPETS)
def test_a_snippet_that_is_filled_in_is_valid(helper, label):
    text = offered(helper, "rubrics:\n  - |\n")[label]
    text = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", text)
    text = re.sub(r"\$\d+", "It", text)
    lines = text.splitlines()
    document = "rubrics:\n  - " + "\n  ".join(lines) + "\n"
    assert messages(helper, document) == []


IN_AGENTV = TABLES["what is offered in suites of AgentV"]


@pytest.mark.parametrize("where", IN_AGENTV)
def test_what_is_offered_in_suites_of_agentv(helper, where):
    release, text, expected = IN_AGENTV[where]
    schema = "" if release == "a7" else AGENTV[release]  # that of the newest goes by the name of the file
    assert set(expected) - offered(helper, text, "a.eval.yaml", schema).keys() == set()


def test_what_agentv_no_longer_reads_is_not_offered(helper):
    in_suite, in_test = offered(helper, "|", "a.eval.yaml"), offered(helper, "tests:\n  - |\n", "a.eval.yaml")
    assert {"workspace", "graders"} & in_suite.keys() | {"provider", "threshold"} & in_test.keys() == set()


def test_hover_explains_suites_of_agentv(helper):
    text = "tests:\n  - id: a\n    assert:\n      - type: llm-rubric\n        value:\n          - |outcome: Says so\n"
    place = opened(helper, text, "a.eval.yaml")
    shown = helper.look("hover", place.uri, place.line, place.character)["contents"]["value"]
    assert "What an observer sees if the criterion is met." in shown


def test_the_schema_of_agentv_leaves_what_is_wrong_to_our_own_server(quiet):
    text = "tests: [{id: a, assert: [{type: llm-rubric, value: [{id: 7, outcome: '', wieght: x}], required: maybe}]}]\n"
    assert messages(quiet, text, "a.eval.yaml") == []


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        ("suite-v2.completion.schema.json", "tests:\n  - rubrics:\n      - |\n", [*CRITERION, *SNIPPETS]),
        ("rubric-v2.completion.schema.json", "rubrics:\n  - |\n", [*CRITERION, *SNIPPETS]),
        (AGENTV["a7"], "assert:\n  - type: llm-rubric\n    value:\n      - outcome: So\n        op|\n", ["operator"]),
    ],
)
def test_the_schema_that_our_server_names_is_used_whatever_the_file_is_called(helper, schema, text, expected):
    assert offered(helper, text, "plain.yaml") == {}
    assert set(expected) - offered(helper, text, "plain.yaml", schema).keys() == set()


HOVERS = TABLES["HOVERS"]


def test_every_field_has_a_hover():
    assert HOVERS.keys() == {"rubrics", *schema_for().entry_fields}


@pytest.mark.parametrize("field", HOVERS)
@pytest.mark.parametrize("in_suite", [False, True], ids=["rubric", "suite"])
def test_hover_explains_each_field(helper, field, in_suite):
    place = opened(helper, HOVERS[field], "a.suite.yaml" if in_suite else "a.rubric.yaml")
    shown = helper.look("hover", place.uri, place.line, place.character)["contents"]["value"]
    fields = {**schema_for().entry_fields, "rubrics": schema_for().definitions["rubrics"]}
    assert fields[field]["description"] in shown.replace("\\", "")


PARTS = {
    "band": ("score_range", "rubrics: [{score_ranges: [{|score_range: [0, 10], expected_outcome: It}]}]\n"),
    "level": ("level", "rubrics: [{levels: [{|level: 1, expected_outcome: It}]}]\n"),
}


@pytest.mark.parametrize("part", PARTS)
def test_hover_explains_bands_and_levels(helper, part):
    field, text = PARTS[part]
    place = opened(helper, text)
    shown = helper.look("hover", place.uri, place.line, place.character)["contents"]["value"]
    assert schema_for().definitions[part]["properties"][field]["description"] in shown.replace("\\", "")


TEXT = "expected a string"
SCORE = "expected an integer from 0 to 10"
WRONG = TABLES["WRONG"]


@pytest.mark.parametrize("rubrics", WRONG)
def test_a_wrong_value_has_one_message(server, rubrics):
    assert messages(server, f"rubrics: {rubrics}\n") == [tuple(WRONG[rubrics])]


def test_the_same_in_a_suite_and_in_json(server):
    text = '{"tests": [{"id": "x", "rubrics": [{"id": "a", "expected_outcome": "It", "required_min_score": 11}]}]}\n'
    expected = [("11", f"`required_min_score`: {SCORE}")]
    assert (expected, expected) == (messages(server, text, "a.suite.yaml"), messages(server, text, "a.suite.json"))


BROKEN = {
    "a key twice": ("rubrics: [{id: a, id: b, expected_outcome: It}]\n", ["Map keys must be unique"]),
    "not a mapping": ("- It\n", []),
    "nothing": ("", []),
}


@pytest.mark.parametrize("rubrics", WRONG)
def test_the_schema_for_completion_leaves_what_is_wrong_to_our_own_server(quiet, rubrics):
    assert messages(quiet, f"rubrics: {rubrics}\n") == []
    assert messages(quiet, f"tests:\n  - id: x\n    rubrics: {rubrics}\n", "a.suite.yaml") == []


@pytest.mark.parametrize("case", BROKEN)
def test_with_the_schema_for_completion_only_the_parser_reports(quiet, case):
    text, expected = BROKEN[case]
    assert [message for _, message in messages(quiet, text)] == expected


TESTED = "rubric: a.rubric.yaml\ntests:\n  - id: a\n    {}\n"


@pytest.mark.parametrize(("line", "expected"), TABLES["what is offered in rubric tests"])
def test_what_is_offered_in_rubric_tests(helper, line, expected):
    assert sorted(offered(helper, TESTED.format(line), "a.rubric-test.yaml")) == expected


def test_wrong_rubric_tests_are_left_to_our_own_server_too(quiet):
    assert messages(quiet, TESTED.format("expect: {verdict: good, socre: 3}"), "a.rubric-test.yaml") == []


GOOD = TABLES["GOOD"]


@pytest.mark.parametrize("case", GOOD)
def test_what_is_right_or_not_ours_is_left_alone(helper, case):
    assert messages(helper, GOOD[case], "a.suite.yaml") == []


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.y*ml")), ids=lambda path: path.name)
def test_the_examples_are_valid_where_the_linter_has_nothing_against_their_shape(server, example):
    shape = {"schema", "unknown-field", "empty-outcome", "syntax", "duplicate-key", "bounds", "levels", "weight"}
    found = {finding.rule for finding in lint(example.name, example.read_bytes()).findings} & shape
    assert bool(messages(server, example.read_text("utf-8"), "a.suite.yaml")) == bool(found)


@pytest.mark.parametrize("suite", [False, True], ids=["rubric", "suite"])
@pytest.mark.parametrize("shape", RUBRICS)
def test_a_starter_is_valid_and_completes(helper, shape, suite):
    # No setting for this name: the file names its schema, and `published` stands for the network.
    text = start(shape, suite=suite, as_json=False)
    assert messages(helper, text, "plain.yaml") == []
    indent = re.findall(r"^ +- ", text, re.MULTILINE)[1 if suite else 0]
    expected = [*CRITERION_3, *SNIPPETS_3] if shape == "scale" else [*CRITERION, *SNIPPETS]
    assert sorted(offered(helper, f"{text}{indent}|\n", "plain.yaml")) == sorted(expected)


OFFERED_3 = {
    "top of a rubric file": ("|", ["$schema", "rubrics", *WHOLE]),
    "second field of a rubric file": ("scale: [1, 5]\n|", ["$schema", "rubrics", *(set(WHOLE) - {"scale"})]),
    "rubric below rubrics": ("rubrics:\n  |\n", [*WHOLE, "rubric with a scale"]),
    "criterion": ("criteria:\n  - |\n", [*CRITERION_3, *SNIPPETS_3]),
    "criterion of a list of version 2": ("rubrics:\n  - |\n", [*CRITERION_3, *SNIPPETS_3]),
    "criterion of a group": (
        "criteria:\n  - id: a\n    criteria:\n      - criteria:\n          - |\n",
        [*CRITERION_3, *SNIPPETS_3],
    ),
    "scale": ("criteria:\n  - id: a\n    scale: |\n", ["[worst, best]"]),
    "level": ("levels:\n  - |\n", [*LEVEL, "level of the scale"]),
    "mark": ("pass_threshold: |\n", ["70%"]),
    "grades": ("grades:\n  |\ncriteria: [a]\n", ["A, B and C"]),
    "critical failure": ("critical_failures:\n  - |\n", ["id", "expected_outcome", "critical failure"]),
}


@pytest.mark.parametrize("where", OFFERED_3)
def test_what_is_offered_in_version_3(helper, where):
    text, expected = OFFERED_3[where]
    assert sorted(offered(helper, newest("rubric", "v3").modeline + text, "plain.yaml")) == sorted(expected)


@pytest.mark.parametrize("text", ["- |\n", "\n  criteria:\n        - |\n"], ids=["list", "mapping"])
def test_what_is_offered_in_a_suite_of_version_3(helper, text):
    suite = f"{newest('suite', 'v3').modeline}tests:\n  - rubrics:\n      {text.lstrip()}"
    assert sorted(offered(helper, suite, "plain.yaml")) == sorted([*CRITERION_3, *SNIPPETS_3])


@pytest.mark.parametrize("label", SNIPPETS_3)
def test_a_snippet_of_version_3_that_is_filled_in_is_valid(helper, label):
    head = f"{newest('rubric', 'v3').modeline}criteria:\n  - "
    text = offered(helper, f"{head}|\n", "plain.yaml")[label]
    filled = re.sub(r"\$\d+", "It", re.sub(r"\$\{\d+:([^}]*)\}", r"\1", text))
    assert messages(helper, head + "\n  ".join(filled.splitlines()) + "\n", "plain.yaml") == []


HOVERS_3 = TABLES["HOVERS_3"]


def test_every_key_of_version_3_has_a_hover():
    new = {*schema_for("v3").entry_fields, *WHOLE} - {*schema_for().entry_fields}
    assert HOVERS_3.keys() == new


@pytest.mark.parametrize("field", HOVERS_3)
@pytest.mark.parametrize("in_suite", [False, True], ids=["rubric", "suite"])
def test_hover_explains_each_key_of_version_3(helper, field, in_suite):
    text = f"tests:\n  - rubrics: {{{HOVERS_3[field]}}}\n" if in_suite else f"{{{HOVERS_3[field]}}}\n"
    modeline = newest("suite" if in_suite else "rubric", "v3").modeline
    place = opened(helper, modeline + text, "plain.yaml")
    shown = helper.look("hover", place.uri, place.line, place.character)["contents"]["value"]
    fields = {**schema_for("v3").fields_of("rubrics"), **schema_for("v3").entry_fields}
    assert fields[field]["description"] in shown.replace("\\", "")


@pytest.mark.parametrize("text", TABLES["WRONG_3"])
def test_a_wrong_value_of_version_3_has_one_message(server, text):
    found = messages(server, f"{newest('rubric', 'v3').modeline}{text}\n", "plain.yaml")
    assert found == [tuple(TABLES["WRONG_3"][text])]


@pytest.mark.parametrize("text", TABLES["WRONG_3"])
def test_the_schema_of_version_3_for_completion_leaves_what_is_wrong_to_our_own_server(quiet, text):
    modeline = newest("rubric", "v3")._replace(form="completion").modeline
    assert messages(quiet, f"{modeline}{text}\n", "plain.yaml") == []


FAULTY = "rubrics: [{id: 7, expected_outcome: It}]\n"


@pytest.mark.parametrize("first", TABLES["a modeline names the schema"])
def test_a_modeline_names_the_schema(server, first):
    assert messages(server, first + FAULTY, "plain.yaml") == [("7", f"`id`: {TEXT}")]
    assert messages(server, FAULTY, "plain.yaml") == []


def test_a_modeline_holds_against_the_name_of_the_file(server):
    text = "rubrics: [{id: a, expected_outcome: It}]\n"
    old = "# yaml-language-server: $schema=rubric-v1.schema.json\n"
    refused = [
        ("{", 'Missing property "description".'),
        ("expected_outcome", "Property expected_outcome is not allowed."),
    ]
    assert ([], refused) == (messages(server, text), sorted(messages(server, old + text), reverse=True))


def test_the_schema_key_names_the_schema_from_version_2_on(server):
    expected = {"1": [], "2": [("7", f"`id`: {TEXT}")]}[server.initialized["serverInfo"]["version"][0]]
    assert messages(server, f"$schema: {RUBRIC}\n{FAULTY}", "plain.yaml") == expected


def test_a_modeline_binds_its_document_of_several(server):
    line = f"# yaml-language-server: $schema={RUBRIC}\n"
    other = FAULTY.replace("7", "8")
    assert messages(server, f"{line}---\n{FAULTY}---\n{other}", "plain.yaml") == [("7", f"`id`: {TEXT}")]
