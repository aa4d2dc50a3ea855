"""The findings of the files of a folder that are not open, which the server publishes like those of open ones."""

import pytest
from editor import run
from embedded import EDITOR, Client

OVERLAP = """\
rubrics:
  - id: tone
    score_ranges:
      - {score_range: [0, 4], expected_outcome: Blames the customer}
      - {score_range: [4, 10], expected_outcome: Helps the customer}
  - {id: speed, score_ranges: {0: Answers after a day, 5: Answers within a day}}
"""
FINE = "rubrics:\n  - {id: tone, expected_outcome: Helps the customer}\n"
NAMELESS = "rubrics:\n  - expected_outcome: Says so\n"
WATCHING = {**EDITOR["workspace"], "didChangeWatchedFiles": {"dynamicRegistration": True}}


def published(message):
    return message.get("method") == "textDocument/publishDiagnostics"


class Folder(Client):
    """An editor that has a folder open, and no document at first."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    async def __aenter__(self):
        await self.start(self.folder.as_uri(), capabilities={**EDITOR, "workspace": WATCHING})
        return self

    async def __aexit__(self, *_):
        await self.end()
        assert self.logged == []

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def note(self, *names):
        changes = [{"uri": (self.folder / name).as_uri(), "type": 2} for name in names]
        self.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    async def next(self, count=1):
        """The next diagnostics: for each file its rules, or what is said in place of one."""
        found = {}
        for _ in range(count):
            params = (await self.expect(published))["params"]
            name = params["uri"].removeprefix(f"{self.folder.as_uri()}/")
            found[name] = [diagnostic.get("code", diagnostic["message"]) for diagnostic in params["diagnostics"]]
        return found


@pytest.mark.slow
def test_files_that_are_not_open_show_and_a_file_is_read_again_only_when_it_changes(tmp_path):
    names = {"a.yaml": OVERLAP, "b/b.yaml": NAMELESS, "b/c.yaml": FINE, "d.yaml": "key: value\n", "e.yaml": OVERLAP}
    for name, text in names.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "rubric-lint.toml").write_text('exclude = ["e.yaml"]\n')
    (tmp_path / "f.rubric.yaml").write_bytes(b"rubrics:\n  - \xff\n")
    (tmp_path / "link.rubric.yaml").symlink_to("nowhere")

    async def test():
        async with Folder(tmp_path) as editor:
            assert await editor.next(3) == {
                "a.yaml": ["overlap"],
                "b/b.yaml": ["missing-id"],
                "f.rubric.yaml": ["syntax"],
            }
            editor.write("a.yaml", FINE)
            (tmp_path / "b/b.yaml").unlink()
            editor.write("b/c.yaml", NAMELESS)
            editor.note("a.yaml", "b/b.yaml", "b/c.yaml")
            assert await editor.next(3) == {"a.yaml": [], "b/b.yaml": [], "b/c.yaml": ["missing-id"]}

    run(test())


@pytest.mark.slow
def test_an_open_document_counts_as_it_is_typed_and_as_it_is_saved_once_it_is_closed(tmp_path):
    (tmp_path / "a.yaml").write_text(OVERLAP)
    uri = (tmp_path / "a.yaml").as_uri()

    async def test():
        async with Folder(tmp_path) as editor:
            assert await editor.next() == {"a.yaml": ["overlap"]}
            editor.open(uri, NAMELESS)
            assert await editor.next() == {"a.yaml": ["missing-id"]}
            editor.write("b.yaml", OVERLAP)
            editor.note("b.yaml")
            assert await editor.next() == {"b.yaml": ["overlap"]}  # and nothing of the open one
            editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            assert [await editor.next(), await editor.next()] == [{"a.yaml": []}, {"a.yaml": ["overlap"]}]

    run(test())


@pytest.mark.slow
def test_changed_settings_are_applied_to_all_files(tmp_path):
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(OVERLAP)

    async def test():
        async with Folder(tmp_path) as editor:
            assert await editor.next(2) == {"a.yaml": ["overlap"], "b.yaml": ["overlap"]}
            editor.write("rubric-lint.toml", 'ignore = ["overlap"]\n')
            editor.note("rubric-lint.toml")
            assert await editor.next(2) == {"a.yaml": [], "b.yaml": []}
            editor.write("rubric-lint.toml", "ignore = 1\n")
            editor.note("rubric-lint.toml")
            ((name, (message,)),) = (await editor.next()).items()
            assert (name, message[:13]) == ("rubric-lint.toml", "not checked: ")

    run(test())


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"unopenedFiles": False}, {"enable": False}])
def test_the_settings_of_a_folder_leave_its_files_out(tmp_path, options):
    for name, text in {"in": OVERLAP, "out": NAMELESS}.items():  # the smaller one would be the first
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(text)

    async def test():
        editor = Client({"workspace/configuration": lambda params: [settings(item) for item in params["items"]]})
        await editor.start(*((tmp_path / name).as_uri() for name in ("out", "in")))
        first = await editor.expect(published)
        await editor.end()
        return first["params"]["uri"]

    def settings(item):
        return options if item.get("scopeUri", "").endswith("/out") else None

    assert run(test()) == (tmp_path / "in/a.yaml").as_uri()


@pytest.mark.slow
def test_a_large_file_delays_no_small_one(tmp_path):
    case = "  - id: case-{}\n    rubrics:\n      - {{id: a, expected_outcome: Says so, weight: -1}}\n"
    (tmp_path / "a.yaml").write_text("tests:\n" + "".join(case.format(number) for number in range(20)))
    for number in range(3):
        (tmp_path / f"b{number}.yaml").write_text(NAMELESS)

    async def test():
        async with Folder(tmp_path) as editor:
            return [await editor.next() for _ in range(4)]

    *small, large = run(test())
    assert [[name[0] for name in each] for each in small] == [["b"]] * 3
    assert {name: len(rules) for name, rules in large.items()} == {"a.yaml": 20}


@pytest.mark.slow
def test_a_key_that_is_written_twice_is_left_to_the_yaml_server_in_open_files_only(tmp_path):
    (tmp_path / "a.rubric.yaml").write_text(FINE.replace("id: tone,", "id: tone, id: tone,"))

    async def test():
        async with Folder(tmp_path) as editor:
            before = await editor.next()
            editor.notify("rubric-lint/schemaServer", {"active": True})
            editor.open((tmp_path / "a.rubric.yaml").as_uri(), (tmp_path / "a.rubric.yaml").read_text())
            return before, await editor.next()

    assert run(test()) == ({"a.rubric.yaml": ["duplicate-key"]}, {"a.rubric.yaml": []})
