"""What the versions of pathlib answer differently, and names that a Path would change."""

from pathlib import Path

import commands
import pytest

from rubric_lint.lint.project import paths
from rubric_lint.lint.project.files import File, SettingsFinder, Unreadable, find


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("rubrics: []\n")
    Path("sub").mkdir()
    Path("link").symlink_to("sub")
    Path("gone.yaml").symlink_to("nowhere.yaml")
    Path("circle").symlink_to("circle")
    return tmp_path


LONG = "a" * 5_000  # a name that no file can have; nobody may look there either


@pytest.mark.parametrize(
    ("name", "answers"),
    {
        "a.yaml": [True, True, True, False],
        "sub": [True, True, False, True],
        "link": [True, True, False, True],
        "gone.yaml": [False, True, False, False],
        "circle": [False, True, False, False],
        "a.yaml/": [False, False, False, False],
        "gone": [False, False, False, False],
        "": [False, False, False, False],
        "a\0b": [False, False, False, False],
        "\ud800": [False, False, False, False],
        LONG: [False, False, False, False],
    }.items(),
)
def test_a_question_about_a_name_is_answered_and_never_raises(name, answers):
    asked = (paths.exists, paths.is_there, paths.is_file, paths.is_folder)
    assert [ask(name) for ask in asked] == answers


def test_where_nobody_may_look_nothing_is_there(monkeypatch):
    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr("os.stat", refuse)
    assert not any(ask(Path("a.yaml")) for ask in (paths.exists, paths.is_file, paths.is_folder))


def test_dots_are_taken_away_by_the_text_and_links_are_followed_by_the_disk(folder):
    Path("sub/deep").mkdir()
    Path("far").symlink_to("sub/deep")
    assert paths.simplify("./far/..//a.yaml") == Path("a.yaml")
    assert paths.make_absolute("far/../a.yaml") == folder / "a.yaml"
    assert paths.follow_links("far/../b.yaml") == (folder / "sub" / "b.yaml").resolve()
    assert paths.relate("a.yaml", "sub/deep") == Path("../../a.yaml")


def test_a_circle_of_links_leads_nowhere(folder):
    assert paths.follow_links("circle") == folder.resolve() / "circle"
    assert paths.is_same("circle", "sub/../circle")
    assert not paths.is_same("circle", "a.yaml")


@pytest.mark.parametrize("name", ["a.yaml/", "sub/../a.yaml/", "circle", "gone.yaml", "a\0b", LONG])
def test_a_name_that_is_no_file_is_refused_as_it_was_typed(name):
    (found,) = find([name], SettingsFinder())
    assert isinstance(found, Unreadable)
    assert found.path == name


@pytest.mark.parametrize("name", ["sub/../a.yaml", "sub//..//a.yaml", "link/../a.yaml"])
def test_a_name_of_a_file_stays_as_it_was_typed(name):
    (found,) = find([name], SettingsFinder())
    assert isinstance(found, File)
    assert found.name == name


@pytest.mark.parametrize(("answers", "results"), [("circle", "results.jsonl"), ("answers.jsonl", "circle")])
def test_a_circle_of_links_has_no_answers_and_takes_no_results(answers, results):
    Path("r.rubric.yaml").write_text("rubrics:\n  - {id: a, expected_outcome: Cites a source}\n")
    Path("answers.jsonl").write_text('{"id": "1", "answer": "Yes"}\n')
    server = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    done = commands.run("rubric-score", "judge", "r.rubric.yaml", answers, *server, "--output", results)
    assert (done.returncode, done.stderr) == (2, "rubric-score: circle: Too many levels of symbolic links\n")
