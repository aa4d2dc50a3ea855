"""The formats that CI systems read, each held to its standard and read back as its readers do."""

import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, FormatChecker
from lxml import etree
from node import install_package
from pages import read_pages

from rubric_lint.lint.engine import Result, lint
from rubric_lint.lint.run.fingerprint import fingerprints
from rubric_lint.lint.run.summary import Failure, Summary
from rubric_lint.model.finding import Finding, Severity
from rubric_lint.report import REPORTERS, Style
from rubric_lint.rules import RULES
from rubric_lint.source.source import Source, Span

pytestmark = pytest.mark.usefixtures("folder")

ROOT = Path(__file__).parents[2]
SARIF = "@microsoft/jest-sarif@1.0.0-beta.0"
XSD = etree.XMLSchema(etree.parse(ROOT / "tests/standards/junit-10.xsd"))
EXAMPLES = [example for page in read_pages() for example in (*page.flagged, *page.accepted)]

BAD = """\
# 👍 é
rubrics:
  - id: "👩‍🔬 a"
    wieght: 2
    expected_outcome: Good
"""
ENCODINGS = {
    "LF": BAD.encode(),
    "CRLF": BAD.replace("\n", "\r\n").encode(),
    "CR": BAD.replace("\n", "\r").encode(),
    "BOM": b"\xef\xbb\xbf" + BAD.encode(),
    "UTF-16": BAD.encode("utf-16"),
    "UTF-32": BAD.encode("utf-32"),
}
ODD = ["\x1b[31m", "]]>", "\ufffe\uffff", "%0A::", "a\r\n::x", "\udcff"]
TEXTS = st.text(st.characters(), max_size=12) | st.sampled_from([*ODD, "\ud800"])
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12) | st.sampled_from(ODD)
FILES = st.lists(st.tuples(NAMES, TEXTS), max_size=3)


def render(form, *results, failures=(), **look):
    pieces = []
    report = REPORTERS[form](pieces.append, Style(**look))
    total = Summary()
    for result in results:
        report.add(result)
        total = total.plus(Summary.of(result))
    for failure in failures:
        report.fail(failure)
    report.end(total)
    return "".join(pieces)


def finding(message, text="x", severity=Severity.ERROR):
    return Finding("overlap", severity, message, Span(0, len(text)), "")


@cache
def sarif_schema():
    """The official schema of SARIF 2.1.0, from a package of Microsoft, which edits the standard."""
    path = install_package(SARIF) / "lib/schemas/sarif-2.1.0-rtm.5.json"
    schema = json.loads(path.read_text("utf-8"))
    Draft4Validator.check_schema(schema)
    checker = FormatChecker()
    # The characters of RFC 3986; the formats `uri` and `uri-reference` need another library to be checked at all.
    characters = re.compile(r"(?:[-A-Za-z0-9._~:/?#@!$&'()*+,;=]|\[|\]|%[0-9A-Fa-f]{2})*")
    for name, begins in (("uri", r"[a-z]+:"), ("uri-reference", "")):
        checker.checks(name)(lambda text, begins=begins: bool(re.match(begins, text) and characters.fullmatch(text)))
    return Draft4Validator(schema, format_checker=checker)


def faults(log):
    return [f"{error.json_path}: {error.message}" for error in sarif_schema().iter_errors(log)]


def read_annotation(line):
    """The kind, properties and message of a workflow command, as GitHub's runner takes it apart."""
    kind, listed, message = re.fullmatch(r"::(\w+) ([^\n]*?)::([^\n]*)", line).groups()
    properties = dict(word.split("=", 1) for word in listed.split(","))
    for escaped, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        properties = {name: value.replace(escaped, char) for name, value in properties.items()}
        if escaped not in {"%3A", "%2C"}:
            message = message.replace(escaped, char)
    return kind, properties, message


# SARIF


@pytest.mark.slow
def test_sarif_of_every_example_follows_the_official_schema():
    log = json.loads(render("sarif", *(example.lint() for example in EXAMPLES)))
    assert faults(log) == []
    assert {result["ruleId"] for result in log["runs"][0]["results"]} == {rule.name for rule in RULES}


@pytest.mark.slow
@pytest.mark.parametrize("failures", [(), (Failure("a b.yaml", "does not exist"), Failure("/x.yaml", "oops", True))])  # noqa: FBT003
def test_sarif_without_results_follows_the_official_schema(failures):
    log = json.loads(render("sarif", failures=failures))
    assert faults(log) == []
    assert log["runs"][0]["results"] == []


@pytest.mark.slow
def test_the_official_schema_refuses_what_is_wrong(said):
    log = json.loads(render("sarif", lint("x.yaml", ENCODINGS["LF"])))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    place["region"]["startColumn"] = 0
    place["artifactLocation"]["uri"] = "a b"
    said(sorted(faults(log)))


@pytest.mark.slow
@given(FILES)
def test_sarif_of_any_text_and_name_follows_the_official_schema(drawn):
    sound = [(name, text) for name, text in drawn if "\0" not in name]
    results = [Result(Source(f"x{name}", text), (finding(text or "x", text),)) for name, text in sound]
    log = json.loads(render("sarif", *results))
    assert faults(log) == []


def test_a_sarif_result_has_its_mark_its_places_and_its_file_below_the_repository(folder):
    (folder / ".git").mkdir()
    text = "rubrics:\n  - id: a\n    expected_outcome: x y\n  - id: a\n    wieght: 1\n    expected_outcome: x z\n"
    result = lint("sub folder/é#.yaml", text.encode())
    run = json.loads(render("sarif", result))["runs"][0]
    by_rule = {result["ruleId"]: result for result in run["results"]}
    marks = dict(zip([finding.rule for finding in result.findings], fingerprints(result), strict=True))
    found = by_rule["unknown-field"]
    assert found["partialFingerprints"] == {"rubricLint/v1": marks["unknown-field"]}
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == sorted(by_rule)
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]
    place = found["locations"][0]
    assert place["logicalLocations"] == [{"fullyQualifiedName": "/rubrics/1/wieght"}]
    file = {"uri": "sub%20folder/%C3%A9%23.yaml", "uriBaseId": "%SRCROOT%"}
    assert place["physicalLocation"]["artifactLocation"] == file
    (related,) = by_rule["duplicate-id"]["relatedLocations"]
    region = related["physicalLocation"]["region"]
    assert [region[name] for name in ("startLine", "startColumn", "endColumn", "charOffset")] == [2, 9, 10, 17]
    assert run["invocations"] == [{"executionSuccessful": True}]
    assert str(folder) not in unquote(json.dumps(run))


LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}


def test_sarif_has_each_rule_of_its_results_once_with_its_page():
    assert json.loads(render("sarif"))["runs"][0]["tool"]["driver"]["rules"] == []
    findings = [Finding(rule.name, rule.severity, "m", Span(0, 1), "") for rule in RULES]
    run = json.loads(render("sarif", Result(Source("a.yaml", "x"), (*findings, *findings))))["runs"][0]
    driver = run["tool"]["driver"]
    assert [(rule.name, rule.summary, rule.page, rule.page, rule.url, LEVELS[rule.severity]) for rule in RULES] == [
        (
            rule["id"],
            rule["shortDescription"]["text"],
            rule["help"]["text"],
            rule["help"]["markdown"],
            rule["helpUri"],
            rule["defaultConfiguration"]["level"],
        )
        for rule in driver["rules"]
    ]
    assert all(0 < len(rule["fullDescription"]["text"]) <= 1024 for rule in driver["rules"])  # more GitHub cuts off


@pytest.mark.parametrize("data", ENCODINGS.values(), ids=ENCODINGS.keys())
def test_sarif_regions_say_the_same_as_offsets_and_as_columns_in_every_encoding(data):
    result = lint("x.yaml", data)
    text = result.source.text
    run = json.loads(render("sarif", result))["runs"][0]
    lines = re.split("|".join(sorted(run["newlineSequences"], key=len, reverse=True)), text)
    found = {}
    for each in run["results"]:
        region = each["locations"][0]["physicalLocation"]["region"]
        by_offset = text[region["charOffset"] :][: region["charLength"]]
        by_column = lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]
        assert region["snippet"]["text"] == by_offset == by_column
        found[each["ruleId"]] = (region["startLine"], region["startColumn"], region["endColumn"])
    assert found == {"unknown-field": (4, 5, 11), "vague-outcome": (5, 23, 27)}


MENDED = [example for example in EXAMPLES if example.fixed is not None]


@pytest.mark.parametrize("example", MENDED, ids=lambda example: example.label)
def test_the_fixes_in_sarif_make_the_text_that_the_page_shows(example):
    run = json.loads(render("sarif", example.lint()))["runs"][0]
    edits = {
        (at["charOffset"], at["charOffset"] + at["charLength"], replacement["insertedContent"]["text"])
        for result in run["results"]
        for fix in result.get("fixes", ())
        if "choice" not in fix["properties"]
        for replacement in fix["artifactChanges"][0]["replacements"]
        for at in [replacement["deletedRegion"]]
    }
    text = example.text
    for start, end, inserted in sorted(edits, reverse=True):
        text = text[:start] + inserted + text[end:]
    assert example.fixed == text


def test_sarif_tells_what_was_not_linted(said):
    failures = [Failure("a.yaml", "does not exist"), Failure("b.yaml", "E: oops", is_fault=True)]
    invocation = json.loads(render("sarif", failures=failures))["runs"][0]["invocations"][0]
    told = invocation["toolExecutionNotifications"]
    assert invocation["executionSuccessful"] is False
    said([(each["descriptor"]["id"], each["level"], each["message"]["text"]) for each in told])
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in told]
    assert places == ["a.yaml", "b.yaml"]


def test_a_file_outside_the_repository_has_an_absolute_uri(folder, monkeypatch):
    (folder / "repo/.git").mkdir(parents=True)
    monkeypatch.chdir(folder / "repo")
    run = json.loads(render("sarif", lint("../a b.yaml", ENCODINGS["LF"])))["runs"][0]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": f"file://{folder}/a%20b.yaml"}


def test_sarif_is_written_as_it_goes():
    pieces = []
    report = REPORTERS["sarif"](pieces.append, Style())
    result = lint("x.yaml", ENCODINGS["LF"])
    sizes = []
    for _ in range(3):
        report.add(result)
        sizes.append(len("".join(pieces)))
    assert sizes == sorted(set(sizes))


# What was not checked

RUBRIC = b"rubrics: [{id: a, expected_outcome: Says why}]\n"
NEAR = b"a: 1\nrubric: [{criterion: a}]\nb: {rubric: [{criterion: b}]}\n"
KNOWN = b"tests:\n  - assert: [{type: llm-rubric, value: {id: b, outcome: Says why}}]\n"


def read_notes(form, *results):
    """The places of the notes of a report on what was not checked, and whether each has its reason."""
    report = render(form, *results)
    if form == "sarif":
        log = json.loads(report)
        assert faults(log) == []
        invocation = log["runs"][0]["invocations"][0]
        assert invocation["executionSuccessful"]
        for each in invocation.get("toolExecutionNotifications", ()):
            assert (each["descriptor"]["id"], each["level"]) == ("unread", "note")
            place = each["locations"][0]["physicalLocation"]
            yield place["artifactLocation"]["uri"], place["region"]["startLine"], each["message"]["text"]
    elif form == "github":
        for line in report.splitlines():
            if line.startswith("::"):
                kind, properties, message = read_annotation(line)
                assert kind == "notice"
                yield properties["file"], int(properties["line"]), message.partition(": ")[2]
    elif form == "gitlab":
        for each in json.loads(report):
            assert (each["check_name"], each["severity"]) == ("rubric-lint/unread", "info")
            yield each["location"]["path"], each["location"]["lines"]["begin"], each["description"]
    else:
        for each in etree.fromstring(report.encode()).iter("system-out"):
            for line in each.text.splitlines():
                place, _, message = line.partition(": ")
                yield place.split(":")[0], int(place.split(":")[1]), message


BY_REASON = [("c.yaml", 2), ("a.yaml", 2), ("c.yaml", 3)]
BY_FILE = [("a.yaml", 2), ("c.yaml", 2), ("c.yaml", 3)]


@pytest.mark.parametrize(
    ("form", "places"),
    [
        pytest.param("sarif", BY_REASON, marks=pytest.mark.slow),
        ("github", BY_REASON),
        ("gitlab", BY_FILE),
        ("junit", BY_FILE),
    ],
)
def test_what_was_not_checked_is_a_note_of_its_own_kind(form, places):
    results = [lint("a.yaml", NEAR), lint("b.yaml", RUBRIC), lint("c.yaml", KNOWN + b"rubric: [{a: b}]\n")]
    notes = list(read_notes(form, *results))
    assert [(file, line) for file, line, _ in notes] == places
    assert all(message.startswith("not checked: `") for _, _, message in notes)
    assert [message.endswith(" (1 more like it)") for _, _, message in notes] == [
        place == ("a.yaml", 2) for place in places
    ]


def test_a_file_with_nothing_but_near_misses_is_a_skipped_test():
    printed = render("junit", lint("a.yaml", NEAR), lint("b.yaml", RUBRIC), lint("c.yaml", RUBRIC + NEAR))
    report = etree.fromstring(printed.encode())
    XSD.assertValid(report)
    cases = {case.get("name"): [each.tag for each in case] for case in report.iter("testcase")}
    assert cases == {"a.yaml": ["skipped", "system-out"], "b.yaml": [], "c.yaml": ["system-out"]}


# GitHub


def test_github_annotations_take_no_columns_over_several_lines(said):
    text = "rubrics:\n  - id: a\n    score_ranges:\n      - score_range: [0, 5]\n        expected_outcome: x y\n"
    text += "      - score_range: [5, 10]\n        expected_outcome: Good\n"
    first, _, second, *_ = render("github", lint("a,b: 100%.yaml", text.encode())).splitlines()
    said(first)
    assert second.startswith("::warning file=a%2Cb%3A 100%25.yaml,line=7,endLine=7,col=27,endColumn=31,title=")
    several = render("github", Result(Source("x.yaml", "a\nb"), (finding("m", "a\nb"),)), quiet=True)
    _, properties, _ = read_annotation(several.rstrip("\n"))
    assert properties == {"file": "x.yaml", "line": "1", "endLine": "2", "title": "rubric-lint: overlap"}


@given(NAMES, TEXTS)
def test_nothing_in_a_file_can_make_a_command_of_its_own(name, text):
    name = f"n{name}.yaml"
    printed = render("github", Result(Source(name, text), (finding(f"says {text}", text),)), quiet=True)
    lines = printed.split("\n")
    assert (lines[1:], "\r" in printed) == ([""], False)
    kind, properties, message = read_annotation(lines[0])
    assert (kind, properties["title"]) == ("error", "rubric-lint: overlap")
    assert message.startswith(f"{properties['file']}:1:1: overlap: says ")


@pytest.mark.parametrize(
    ("errors", "warnings", "told"), [(10, 10, None), (11, 3, "11 errors"), (12, 25, "12 errors and 25 warnings")]
)
def test_github_says_when_it_shows_not_all(errors, warnings, told):
    findings = [finding("m")] * errors + [finding("m", severity=Severity.WARNING)] * warnings
    lines = render("github", Result(Source("x.yaml", "x"), tuple(findings)), quiet=True).splitlines()
    notices = [read_annotation(line) for line in lines if line.startswith("::notice")]
    assert len(lines) == errors + warnings + len(notices)
    assert [told] * len(notices) == [re.search(r"This step has (.*);", message)[1] for _, _, message in notices]
    assert bool(told) == bool(notices)


def test_github_tells_what_was_not_linted():
    line = render("github", failures=[Failure("a.yaml", "does not exist")], quiet=True).rstrip("\n")
    assert read_annotation(line) == ("error", {"file": "a.yaml", "title": "rubric-lint"}, "a.yaml: does not exist")


# GitLab


def test_gitlab_report(said):
    result = lint("x.yaml", ENCODINGS["LF"])
    failures = [Failure("gone.yaml", "does not exist"), Failure("b.yaml", "E: oops", is_fault=True)]
    report = json.loads(render("gitlab", result, failures=failures))
    said(report[0])
    assert [
        ("rubric-lint/vague-outcome", "minor", "x.yaml"),
        ("rubric-lint/unreadable", "critical", "gone.yaml"),
        ("rubric-lint/fault", "blocker", "b.yaml"),
    ] == [(each["check_name"], each["severity"], each["location"]["path"]) for each in report[1:]]
    assert len({each["fingerprint"] for each in report}) == 4
    assert render("gitlab", lint("x.yaml", b"x: [x y]\n")) == "[]\n"


@pytest.mark.slow
def test_gitlab_fingerprints_of_all_examples_are_unique():
    results = [lint(f"{number}/{example.name}", example.text.encode()) for number, example in enumerate(EXAMPLES)]
    report = json.loads(render("gitlab", *results))
    marks = [each["fingerprint"] for each in report]
    unread = sum(len({each.reason for each in result.unread}) for result in results)
    assert len(set(marks)) == len(marks) == sum(len(result.findings) for result in results) + unread


# JUnit


def test_junit_report(said):
    XSD.assertValid(etree.fromstring(render("junit").encode()))
    clean = lint("ok.yaml", b"rubrics:\n  - id: a\n    expected_outcome: States the year.\n")
    warned = lint("a&b.yaml", b"rubrics:\n  - id: a\n    expected_outcome: Good\n")
    failures = [Failure("gone.yaml", "does not exist"), Failure("b.yaml", "E: <oops>", is_fault=True)]
    printed = render("junit", lint("bad.yaml", ENCODINGS["LF"]), warned, clean, failures=failures)
    suite = etree.fromstring(printed.encode())
    XSD.assertValid(suite)
    assert dict(suite.attrib) == {"name": "rubric-lint", "tests": "5", "failures": "2", "errors": "2"}
    cases = {
        case.get("name"): [(each.tag, each.get("type"), each.get("message")) for each in case] for case in suite[0]
    }
    said(cases)
    lines = suite[0][0][0].text.splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "bad.yaml:4:5 error unknown-field",
        "bad.yaml:5:23 warning vague-outcome",
    ]


@given(FILES)
def test_junit_of_any_text_and_name_follows_the_schema(drawn):
    results = [Result(Source(f"x{name}", text), (finding(text, text),)) for name, text in drawn]
    printed = render("junit", *results, failures=[Failure("y", text) for _, text in drawn])
    tree = etree.fromstring(printed.encode())
    XSD.assertValid(tree)
    assert [len(results) + len(drawn)] == [len(tree.findall("testsuite/testcase"))]
