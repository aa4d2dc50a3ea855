import ast
import importlib
import json
import re
from itertools import chain, product
from pathlib import Path

import pytest
from cases import read_cases
from pages import apply_fixes, list_messages, read_pages, report

from rubric_lint import rules
from rubric_lint.lint.engine import examine_file, lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import Severity
from rubric_lint.model.triggers import find_triggers
from rubric_lint.rules import BY_NAME, RULES
from rubric_lint.rules.rows import ROWS
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)


PAGES = read_pages()
FLAGGED = [example for page in PAGES for example in page.flagged]
ACCEPTED = [example for page in PAGES for example in page.accepted]
MENDED = [example for example in FLAGGED if example.fixed is not None]
# To take away ignore comments that silence nothing is a fix in itself.
COMMENTED = [each for each in MENDED if each.name.endswith(".yaml") and not each.label.startswith("unused_ignore")]
SUITES = sorted(path for path in (Path(__file__).parents[1] / "suites").iterdir() if path.name != "expected.json")
SHAPES = (
    "rubrics: [{id: a, expected_outcome: TEXT}, {id: b, expected_outcome: Does not answer}]",
    "rubrics: [{id: a, score_ranges: {0: TEXT, 7: Excellent}}]",
    "rubrics: [{id: a, levels: [{level: 1, expected_outcome: TEXT}, {level: 2, expected_outcome: Poor}]}]",
)


def name_of(stem):
    return stem.replace("_", "-")


def label(example):
    return example.label


def fix_kinds(findings):
    return {(finding.rule, "safe" if finding.fix.safe else "unsafe") for finding in findings if finding.fix}


def comments(name, text):
    source = Source(name, text)
    return [source.slice(span) for span in read_documents(source)[0][0].tree.comments]


def test_rules_modules_and_pages_have_the_same_names():
    modules = {path.stem for path in Path(rules.__file__).parent.glob("[a-z]*.py")} - {"rule", "rows"}
    assert not modules & ROWS.keys()
    assert modules | ROWS.keys() == {page.stem for page in PAGES} == {rule.name.replace("-", "_") for rule in RULES}
    assert len(BY_NAME) == len(RULES) == len(PAGES)


@pytest.mark.slow
@pytest.mark.spread(2)
@pytest.mark.parametrize("step", [9, 1])
def test_a_rule_finds_nothing_in_rubrics_that_do_not_show_its_sign(step):
    outcomes = sorted((Path(__file__).parents[1] / "outcomes").glob("*.txt"))
    texts = {
        json.dumps(line.rpartition(" | ")[2]) for path in outcomes for line in path.read_text("utf-8").splitlines()
    }
    files = [(path.name, path.read_bytes()) for path in SUITES] + [(each.name, each.text.encode()) for each in FLAGGED]
    files += [("a.yaml", shape.replace("TEXT", text).encode()) for shape in SHAPES for text in sorted(texts)[::step]]
    rubrics = [rubric for name, data in files for _, rubric in examine_file(name, data).rubrics]
    checks = [rule for rule in RULES if rule.check]
    assert len(rubrics) > len(texts) // step > len(checks) > 20
    missed = {
        rule.name
        for rubric in rubrics
        for rule in checks
        if rule.trigger not in find_triggers(rubric) and [*rule.check(rubric)]
    }
    assert missed == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_its_module_says(page):
    rule = BY_NAME[name_of(page.stem)]
    if page.stem not in ROWS:
        module = importlib.import_module(f"rubric_lint.rules.{page.stem}")
        assert (module.RULE.name, module.__doc__) == (rule.name, rule.summary)
    assert (page.title, page.summary) == (f"# {rule.name}", rule.summary)
    assert list(page.sections) == ["Why", "Flagged", "Accepted", "Messages"]
    assert page.sections["Why"].strip()
    assert f"\n## Messages\n{page.sections['Messages']}" == list_messages(rule)
    shown = [{finding.rule for finding in example.lint().findings} for example in page.flagged]
    assert (bool(page.accepted), bool(shown)) == (True, True)
    assert [found for found in shown if rule.name not in found] == []


@pytest.mark.parametrize("example", FLAGGED, ids=label)
def test_a_flagged_example_gives_what_the_page_prints(example):
    result = example.lint()
    fixes = [finding.fix for finding in result.findings if finding.fix]
    assert (report(result), apply_fixes(result) if fixes else None) == (example.report, example.fixed)
    assert all(finding.severity is BY_NAME[finding.rule].severity for finding in result.findings)
    ends = [[end for edit in fix.edits for end in edit.span] for fix in fixes]
    assert ends == [*map(sorted, ends)]


@pytest.mark.parametrize("example", ACCEPTED, ids=label)
def test_an_accepted_example_is_silent_under_all_rules(example):
    result = example.lint()
    assert report(result) == ""
    if example.files:  # what `rubric-test` makes of it, which counts no rubrics
        assert (result.tests, result.failed) == (result.passed, 0)
    else:
        assert result.rubrics > 0
        assert result.criteria > 0


@pytest.mark.parametrize("implicit_required", [False, True])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_every_finding_has_a_place_whatever_the_settings_say(version, implicit_required):
    settings = FileSettings(version=version, claimed=True, implicit_required=implicit_required)
    results = [lint(example.name, example.text.encode(), settings) for example in (*FLAGGED, *ACCEPTED)]
    assert all(finding.span.end <= len(result.source.text) for result in results for finding in result.findings)
    assert sum(len(result.findings) for result in results) > len(FLAGGED)


@pytest.mark.parametrize(("version", "gates", "found"), TABLES["only a gate on levels"])
def test_only_a_gate_on_levels_is_compared_with_them(version, gates, found):
    levels = "levels: [{level: 1, expected_outcome: Cites none}, {level: 3, expected_outcome: Cites two}]"
    settings = FileSettings(version=version, claimed=True, implicit_required=True)
    result = lint("a.yaml", f"rubrics: [{{id: a, {gates}, {levels}}}]".encode(), settings)
    assert [finding.code for finding in result.findings if finding.rule == "levels"] == found


@pytest.mark.slow
def test_the_fixes_that_rules_declare_are_those_that_pages_show():
    declared = {(rule.name, rule.fix) for rule in RULES if rule.fix}
    shown = {(page.stem, kind) for page in PAGES for each in page.flagged for kind in fix_kinds(each.lint().findings)}
    assert shown == {(rule.replace("-", "_"), (rule, kind)) for rule, kind in declared}
    assert {kind for path in SUITES for kind in fix_kinds(lint(path.name, path.read_bytes()).findings)} <= declared


@pytest.mark.slow
def test_each_message_that_a_rule_declares_is_made_somewhere():
    """That what is made is declared needs no test: the engine finds no text for another code."""
    schemas = "".join(path.read_text("utf-8") for path in Path("schemas").glob("*/*.json"))
    sources = schemas + "".join(path.read_text("utf-8") for path in Path(rules.__file__).parents[1].rglob("*.py"))
    assert [code for rule in RULES for code in rule.messages if sources.count(f'"{code}"') < 2] == []


@pytest.mark.parametrize("example", MENDED, ids=label)
def test_a_fix_ends_what_it_mends(example):
    before = example.lint()
    after = lint(example.name, example.fixed.encode())
    lasting = [(finding.rule, finding.pointer) for finding in before.findings if not finding.fix]
    is_safe = all(finding.fix.safe for finding in before.findings if finding.fix)
    found = [finding for finding in after.findings if is_safe or finding.severity is Severity.ERROR]
    assert [
        (finding.rule, finding.pointer) for finding in found if (finding.rule, finding.pointer) not in lasting
    ] == []
    assert not is_safe or apply_fixes(after) == example.fixed


@pytest.mark.spread(5)
@pytest.mark.parametrize("example", MENDED, ids=label)
def test_a_fix_leaves_line_ends_and_byte_order_mark_alone(example):
    for line_end, mark in product(("\n", "\r\n", "\r"), (b"", b"\xef\xbb\xbf")):
        result = lint(example.name, mark + example.text.replace("\n", line_end).encode())
        expected = mark + example.fixed.replace("\n", line_end).encode()
        assert expected == result.source.to_bytes(apply_fixes(result))


@pytest.mark.spread(5)
@pytest.mark.parametrize("example", COMMENTED, ids=label)
def test_every_comment_survives_a_fix(example):
    assert comments(example.name, example.fixed) == comments(example.name, example.text)


@pytest.mark.parametrize("entry", TABLES["the cure of an ambiguous"])
def test_the_cure_of_an_ambiguous_scalar_suits_its_place(entry, said):
    result = lint("a.yaml", f"tests: [{{rubrics: [{entry}]}}]\n".encode())
    said([finding.values["cure"] for finding in result.findings if finding.rule == "ambiguous-scalar"])


def cut(text, words=4):
    """The pieces of a text between its values that no other sentence has by chance."""
    pieces = (piece.strip() for piece in re.split(r"\{[^{}]*\}|; |\n", text))
    return [piece for piece in pieces if len(re.findall(r"[a-z]{2,}(?![\w-]|\.\w)", piece)) >= words]


def read_tests():
    """The texts of tests, of what they share and of their tables, by the files; a string in parts is one."""
    folder = Path(__file__).parents[1]
    # What another language server makes of our schemas stands in a table, as it runs only where Node.js is.
    tables = {*folder.glob("cases/*.yaml")} - {folder / "cases/yaml_language_server.yaml"}
    paths = [*folder.glob("**/*.py"), *tables]
    return {path: join_strings(path.read_text("utf-8")) for path in paths}


@pytest.mark.repository
def test_no_words_of_a_message_stand_in_a_test():
    messages = {f"{rule.name}.{code}": text for rule in RULES for code, text in rule.messages.items()}
    pieces = {piece: code for code, text in messages.items() for piece in cut(text)}
    texts = read_tests()
    found = [(path.name, code, piece) for piece, code in pieces.items() for path in texts if piece in texts[path]]
    assert found == [], "assert the code and the values, or use `said`; `make renew` then renews the words"


def raised(path):
    """The strings that a module raises, in pieces."""
    blocks = [ast.parse(path.read_bytes())]
    for block in blocks:  # which grow: expressions hold no statements, and are most of a module
        inner = ast.iter_child_nodes(block)
        blocks += [node for node in inner if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case)]
        if isinstance(block, ast.Raise):
            strings = (node.value for node in ast.walk(block) if isinstance(node, ast.Constant))
            yield from chain.from_iterable(cut(string) for string in strings if isinstance(string, str))


def quoted(path):
    """The strings of a module, in pieces long enough to be told from what a test gives; docstrings are none."""
    text = re.sub(r'""".*?"""', "", path.read_text("utf-8"), flags=re.DOTALL)
    return chain.from_iterable(cut(string, words=5) for string in re.findall(r'"([^"\n]+)"', join_strings(text)))


def join_strings(text):
    """Return Python in which a string in parts is one."""
    return re.sub(r'"\s*f?"', "", text)


@pytest.mark.repository
def test_no_words_of_the_product_stand_in_a_test_whose_snapshot_has_them():
    """Other words are too short, or too common, to be told from what a test gives."""
    modules = [*Path(rules.__file__).parents[1].rglob("*.py")]
    pieces = {piece for path in modules for piece in chain(raised(path), quoted(path))}
    found = []
    for path, text in read_tests().items():
        snapshot = Path(__file__).parents[1] / f"snapshots/said/{path.stem.removeprefix('test_')}.txt"
        if snapshot.exists():
            said = snapshot.read_text("utf-8")
            found += [(path.name, piece) for piece in pieces if piece in text and piece in said]
    assert found == [], "use `said` for them, too; `make renew` then renews the words"
