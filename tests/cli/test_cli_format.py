"""`rubric-lint format`: what it writes and prints, and its exit codes."""

from functools import partial

import pytest
from lint_command import BROKEN_RULE, call_after

OLD = "# État\nrubrics:\n  - weight: 2  # double\n    id: a\n    required_min_score: 10\n"
NEW = "# État\nrubrics:\n  - id: a\n    weight: 2  # double\n    required_min_score: 10\n"
STUCK = "rubrics:\n  - weight: 2\n    # its name\n\n    id: a\n    required_min_score: 10\n"
FOREIGN = "tests:\n  - assert: [{value: Names it, type: llm-rubric}]\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / ".git").mkdir()
    for name, text in (("old.yaml", OLD), ("new.yaml", NEW), ("promptfooconfig.yaml", FOREIGN)):
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def formatting(program, folder):
    """Calls the command in a folder with these files: exit code, output, and what it complains of."""
    assert (folder / "old.yaml").exists()
    return partial(program, "format")


def test_files_are_formatted_in_place(formatting, folder, said):
    said(formatting())
    assert (folder / "old.yaml").read_bytes() == NEW.encode()
    assert (folder / "promptfooconfig.yaml").read_bytes() == FOREIGN.encode()
    said(formatting(), formatting("old.yaml", "new.yaml"))
    assert formatting("-q") == (0, "", "")


@pytest.mark.parametrize("options", ["--check", "--diff", "--check --diff -q", "--check -q"])
def test_check_and_diff_write_nothing_and_exit_with_1_if_a_file_would_change(formatting, folder, options, said):
    said(formatting(*options.split(), "old.yaml", "new.yaml"))
    assert (folder / "old.yaml").read_bytes() == OLD.encode()
    assert formatting(*options.split(), "-q", "new.yaml") == (0, "", "")


@pytest.mark.parametrize("options", [[], ["--check"], ["--diff"]], ids=" ".join)
def test_a_file_that_cannot_be_formatted_is_named_with_the_reason_and_the_others_are_formatted(
    formatting, folder, options, said
):
    (folder / "new.yaml").write_text(STUCK, "utf-8")
    code, _, errors = formatting(*options, "-q", "new.yaml", "old.yaml")
    assert code == 2
    said(errors)
    assert (folder / "new.yaml").read_bytes() == STUCK.encode()
    assert (folder / "old.yaml").read_bytes() == (OLD if options else NEW).encode()


def test_a_syntax_error_and_a_missing_file_are_errors(formatting, folder, said):
    (folder / "new.yaml").write_text(f"{OLD}  - [\n", "utf-8")
    said(formatting("new.yaml", "none.yaml"))


def test_stdin_is_formatted_to_stdout(formatting, said):
    assert formatting("-", stdin=OLD) == (0, NEW, "<stdin>: formatted\nFormatted 1 of 1 file.\n")
    assert formatting("-", "-q", stdin=NEW) == (0, NEW, "")
    assert formatting("-", "--check", "-q", stdin=OLD) == (1, "", "")
    of_file = formatting("--diff", "-q", "old.yaml")
    assert formatting("-", "--diff", "-q", "--stdin-filename", "old.yaml", stdin=OLD) == of_file
    code, out, errors = formatting("-", "-q", "--stdin-filename", "b/x.yaml", stdin=STUCK)
    assert (code, out) == (2, STUCK)
    said(errors)


def test_what_the_settings_exclude_is_left_alone_also_where_it_is_named(formatting, folder):
    (folder / "rubric-lint.toml").write_text('exclude = ["old.yaml"]\n', "utf-8")
    assert formatting("--check", "--force-exclude", "old.yaml", "-q") == (0, "", "")
    assert formatting("--check", "old.yaml", "-q")[0] == 1
    (folder / "rubric-lint.toml").write_text("exclude = 1\n", "utf-8")
    assert formatting("--check", "old.yaml")[0] == 2


def test_a_file_without_rubrics_has_nothing_to_format(formatting, folder, said):
    (folder / "new.yaml").write_text("a: 1\n", "utf-8")
    said(formatting("new.yaml"))


@pytest.mark.slow
def test_a_crash_leaves_the_file_and_the_others_are_formatted(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "new.yaml").write_text(OLD.replace("id: a", "id: accuracy"), "utf-8")
    printed, _, code = call_after(BROKEN_RULE, "format", "new.yaml", "old.yaml")
    assert (printed.splitlines()[0], code) == ("old.yaml: formatted", 3)
    assert (folder / "old.yaml").read_bytes() == NEW.encode()
