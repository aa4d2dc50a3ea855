"""Ways into a repository full of old faults, from the command line."""

import os
from pathlib import Path

from lint_command import BAD, BROKEN, OLD, call, folder  # noqa: F401 (a fixture)


def test_ignores_are_written_and_a_second_run_has_nothing_to_do(said):
    Path("broken.yaml").write_text(BROKEN, "utf-8")
    said(call("--add-ignores", "--reason", " old "))
    band = "      - score_range: [5, 7]"
    assert Path("bad.yaml").read_text() == BAD.replace(band, f"{band}  # rubric-lint: ignore[overlap] old")
    field = "    description: States the result."
    assert Path("old.yaml").read_text() == OLD.replace(
        field, f"{field}  # rubric-lint: ignore[deprecated-description] old"
    )
    said(call("--add-ignores"))
    Path("broken.yaml").unlink()
    assert call("-q", "--fail-on=warning") == ("", "", 0)


def test_only_what_is_selected_is_silenced():
    assert call("--add-ignores", "-q", "--select=overlap", "--isolated") == ("", "", 0)
    assert [Path("old.yaml").read_text(), Path("bad.yaml").read_text().count("ignore[overlap]")] == [OLD, 1]


def test_what_cannot_be_written_stays_and_is_told(said):
    Path("bad.yaml").chmod(0o444)
    out, err, code = call("--add-ignores", "bad.yaml", "missing.yaml")
    assert code == 2
    said(out, err)
    assert Path("bad.yaml").read_text() == BAD


def test_dead_links_and_pipes_that_are_found_are_counted(said):
    Path("sub").mkdir()
    Path("sub/link.yaml").symlink_to("nowhere.yaml")
    os.mkfifo("sub/pipe.yaml")
    said(call("--add-ignores", "sub"))


def test_a_pipe_is_not_waited_for_when_a_baseline_is_written(said):
    os.mkfifo("pipe")
    said(call("--baseline=pipe", "--write-baseline"))


def test_a_link_that_shares_the_text_is_told_of(said):
    os.link("old.yaml", "other.txt")
    out, err, code = call("--add-ignores", "old.yaml")
    assert code == 0
    said(out, err)
