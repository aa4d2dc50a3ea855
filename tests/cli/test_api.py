"""What programs may rely on: the public names, their page, and that the import costs nothing."""

import ast
import doctest
from pathlib import Path

import pytest
from api_page import PAGE, renew
from commands import modules_after

import rubric_lint
from rubric_lint import fix_source, lint_source, load_rubrics

SUITE = "rubrics:\n  - description: Names a source  # 🙂\n"


def test_the_import_loads_nothing_but_itself():
    assert modules_after("import typing, rubric_lint") - modules_after("import typing") == {
        "rubric_lint",
        "rubric_lint.version",
    }


def test_who_names_a_type_loads_no_library():
    loaded = {
        name.partition(".")[0] for name in modules_after("from rubric_lint import Finding, Severity, Source, Span")
    }
    assert loaded & {"ruamel", "click", "jsonschema", "jsonschema_rs", "referencing", "pathspec"} == set()


@pytest.mark.slow
def test_who_lints_does_not_load_the_scorer():
    loaded = modules_after(f"import rubric_lint\nrubric_lint.lint_source('a.yaml', {SUITE!r})")
    assert not [
        name
        for name in loaded
        if name.startswith(("rubric_lint.scoring", "rubric_lint.scoring.records", "rubric_lint.cli", "click"))
    ]


def test_type_checkers_and_python_see_the_same_names():
    tree = ast.parse(Path(rubric_lint.__file__).read_text("utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.name: node.module.removeprefix("rubric_lint.")
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    loaded = {name: module for module, names in rubric_lint._HOMES.items() for name in names}
    assert typed == loaded
    assert sorted([*typed, "__version__"]) == sorted(rubric_lint.__all__)


def test_the_public_names_are_there_and_described():
    names = {*rubric_lint.__all__}
    assert names <= {*dir(rubric_lint)}
    values = [getattr(rubric_lint, name) for name in names - {"__version__"}]
    assert {value.__name__ for value in values if value.__doc__} == names - {"__version__"}


def test_another_name_is_none_of_the_package():
    with pytest.raises(AttributeError, match="module 'rubric_lint' has no attribute 'scores'"):
        rubric_lint.scores  # noqa: B018


@pytest.mark.slow
def test_the_page_lists_the_names_as_they_are():
    page = PAGE.read_text("utf-8")
    assert renew(page) == page, "run `make renew`"


class Renewing(doctest.DocTestRunner):
    """Collects what examples print where the page shows something else."""

    def __init__(self, optionflags):
        super().__init__(optionflags=optionflags)
        self.printed = []

    def report_failure(self, _out, _test, example, got):
        self.printed.append((example, got))


def test_the_examples_of_the_page_hold(renews):
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    if renews:
        text = PAGE.read_text("utf-8")
        runner = Renewing(options)
        runner.run(doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0))
        lines = text.splitlines(keepends=True)
        for example, got in reversed(runner.printed):
            begin = example.lineno + example.source.count("\n")
            lines[begin : begin + example.want.count("\n")] = got.splitlines(keepends=True)
        PAGE.write_text("".join(lines), "utf-8")
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=options, encoding="utf-8")
    assert (failed, tried > 10) == (0, True)


def test_text_and_bytes_come_to_the_same_and_half_a_character_is_a_finding():
    data = SUITE.encode()
    for read, name in ((lint_source, "a.yaml"), (fix_source, "a.yaml"), (load_rubrics, "a.rubric.yaml")):
        assert read(name, SUITE) == read(name, data)
    (finding,) = lint_source("a.rubric.yaml", "rubrics:\n  - \ud83d\n").findings
    assert (finding.rule, finding.span) == ("syntax", (13, 14))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a: 1\r\n",
        b"\xef\xbb\xbfa: 1\n",
        b"rubrics:\n  - \xff\n",
        b"\xff",
        "a: ä\n".encode("utf-16-le"),
        b"rubrics: [",
    ],
)
def test_what_needs_no_fix_comes_back_as_it_was(data):
    fixed = fix_source("a.yaml", data)
    assert (fixed.is_changed, fixed.data) == (False, data)
    assert fixed.text == fixed.before.text == lint_source("a.yaml", data).source.text
    assert bool(fixed.text) == bool(data)


def test_the_settings_of_a_file_are_those_of_the_commands(tmp_path):
    (tmp_path / "rubric-lint.toml").write_text('pass = 0.9\nper-file-ignores = {"drafts/*" = ["overlap"]}\n', "utf-8")
    found = rubric_lint.find_settings(tmp_path / "drafts" / "a.yaml")
    assert (str(found.pass_at), found.enabled is not None and "overlap" not in found.enabled) == ("0.9", True)
    (tmp_path / "rubric-lint.toml").write_text("passed = 1\n", "utf-8")
    with pytest.raises(rubric_lint.SettingsError):
        rubric_lint.find_settings(tmp_path / "a.yaml")


def test_a_table_is_imported_as_the_command_does():
    text = "Aspect,Weight,Outcome,Note\nfacts,2,Every number is that of the source,x\n"
    imported = rubric_lint.import_source("r.csv", text, columns={"aspect": "id"}, ignored=["Note"])
    assert imported.text.partition("rubrics:\n")[2] == (
        "  - id: facts\n    expected_outcome: Every number is that of the source\n    weight: 2\n"
    )
    assert imported.to_json()["messages"] == [
        {
            "place": "r.csv:1:23",
            "kind": "note",
            "rule": None,
            "message": "column `Note` is not read, as --ignore-column says",
        }
    ]


def test_a_table_without_a_single_meaning_has_an_error_and_no_text():
    imported = rubric_lint.import_source("r.csv", "id,score_range,outcome\na,5+,Right in each number\n")
    assert (imported.text, imported.to_json()["text"]) == ("", None)
    assert [(message.kind, message.place) for message in imported.messages] == [("error", "r.csv:2:3")]


@pytest.mark.parametrize("options", [{"columns": {"x": "id"}}, {"rescale": "5"}, {"ignored": ["x"]}])
def test_import_options_that_fit_no_table_are_wrong_calls(options):
    with pytest.raises(ValueError, match=r"--map|--rescale|--ignore-column"):
        rubric_lint.import_source("r.csv", "id,outcome\na,Says it\n", **options)


def test_a_finding_and_its_fix_do_not_change_and_can_be_in_a_set():
    text = "rubrics:\n  - id: a\n    description: Names a source\n"
    (first,), (second,) = lint_source("a.yaml", text).findings, lint_source("a.yaml", text).findings
    assert {first, second} == {first}
    assert {first.fix, second.fix} == {first.fix}
    with pytest.raises(AttributeError):
        first.fix.title = "x"
