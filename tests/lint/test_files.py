import os
import random
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from cases import read_cases
from commands import run_git

from rubric_lint.lint.project.files import LIMIT, File, Skipped, Unreadable, find, read
from rubric_lint.lint.project.settings import SKIPPED_FOLDERS, FileSettings, Overrides, SettingsFinder
from rubric_lint.model.schema_files import load

pytestmark = pytest.mark.usefixtures("folder")

TABLES = read_cases(__file__)

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs links and pipes as POSIX has them")
ask = os.read
as_root = hasattr(os, "geteuid") and os.geteuid() == 0


def grow(*names, text=""):
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def search(*paths):
    """Names of the files that are found, and whatever could not be read."""
    found = find(map(str, paths), SettingsFinder())
    return [item.name if isinstance(item, File) else item for item in found]


def reasons(found):
    """What is said of the items that could not be read."""
    return [f"{item.path!r}: {item.reason}" for item in found if isinstance(item, Unreadable)]


@needs_git
@pytest.mark.parametrize("case", TABLES["found"].values(), ids=TABLES["found"])
def test_what_is_found_in_files_and_folders(case):
    for repository in case.get("repositories", ()):
        run_git("init", "-q", repository)
    grow(*case["files"])
    for name, lines in case.get("patterns", {}).items():
        grow(name, text="".join(f"{line}\n" for line in lines))
    assert {paths: search(*paths.split()) for paths in case["found"]} == case["found"]


@pytest.mark.parametrize("path", [".", "./", ".//./sub", "sub/", "./sub/a.yaml", Path("sub")])
def test_names_stay_as_the_user_gave_them(path, monkeypatch, folder):
    grow("here/sub/a.yaml")
    monkeypatch.chdir("here")
    assert search(path) == ["sub/a.yaml"]
    assert search("../here/sub", folder / "here/sub/a.yaml") == ["../here/sub/a.yaml"]
    assert search(folder / "here/sub") == [str(folder / "here/sub/a.yaml")]


@needs_posix
def test_a_file_is_found_once():
    grow("sub/a.yaml", "sub/deep/b.yaml")
    Path("sub/c.yaml").symlink_to("deep/b.yaml")
    Path("alias").symlink_to("sub")
    found = ["sub/deep/b.yaml", "sub/a.yaml"]
    assert search("sub/deep", "sub", "./sub/a.yaml", "alias", "alias/a.yaml", Path.cwd(), "sub/c.yaml") == found


@needs_posix
def test_links_to_files_are_followed_and_links_to_folders_only_when_named():
    grow("real/a.yaml", "outside.txt")
    Path("in").mkdir()
    Path("in/folder").symlink_to("../real")
    Path("in/file.yaml").symlink_to("../outside.txt")
    Path("in/folder.yaml").symlink_to("../real")
    Path(".git").mkdir()
    assert (search("in"), search("in/folder")) == (["in/file.yaml"], ["in/folder/a.yaml"])


@needs_posix
@pytest.mark.parametrize("has_repository", [False, True])
def test_links_that_are_found_are_not_followed_out_of_the_repository(has_repository):
    grow("out.yaml", "in/real.yaml", "in/repo/x.txt")
    Path("in/repo/up.yaml").symlink_to("../real.yaml")
    Path("in/repo/out.yaml").symlink_to("../../out.yaml")
    Path("in/repo/etc.yaml").symlink_to("/etc/passwd")
    Path("in/repo/x.yaml").symlink_to("x.txt")
    if has_repository:
        Path("in/.git").mkdir()
    skipped = Skipped()
    found = [item.name for item in find(["in/repo"], SettingsFinder(), skipped)]
    inside, outside, up = ["in/repo/x.yaml"], ["in/repo/etc.yaml", "in/repo/out.yaml"], ["in/repo/up.yaml"]
    assert (found, skipped.outside) == ((up + inside, outside) if has_repository else (inside, outside + up))
    assert search("in/repo/out.yaml", "in/repo/etc.yaml") == ["in/repo/out.yaml", "in/repo/etc.yaml"]


@needs_posix
def test_links_in_a_circle_and_links_to_nowhere_are_passed_over():
    grow("a/x.yaml")
    Path("a/up").symlink_to("..")
    Path("a/self.yaml").symlink_to("self.yaml")
    Path("a/.#x.yaml").symlink_to("nowhere")
    assert search(".", "a/up/a") == ["a/x.yaml"]


@needs_posix
def test_what_is_passed_over_although_its_name_fits_is_told_of_but_for_the_locks_of_emacs():
    grow("a/x.yaml", "b/c/z.yaml", ".gitignore")
    Path(".git").mkdir()
    Path(".gitignore").write_text("ignored.yaml\n", "utf-8")
    for name in ("a/y.yaml", "a/y.txt", "a/.#x.yaml", "a/ignored.yaml"):
        Path(name).symlink_to("nowhere")
    Path("a/self.yaml").symlink_to("self.yaml")
    Path("a/folder.yaml").symlink_to("../b")
    os.mkfifo("a/pipe.yaml")
    skipped = Skipped()
    found = [item.name for item in find(["."], SettingsFinder(), skipped)]
    assert (found, skipped.dead) == (["a/x.yaml", "b/c/z.yaml"], ["a/pipe.yaml", "a/self.yaml", "a/y.yaml"])


def test_what_is_excluded_is_counted():
    grow("a.yaml", "b.yaml", "c/d.yaml", "c/e.yaml", "e/a.yaml", "ignored.yaml")
    grow("node_modules/a.yaml", "dist/a.yaml", ".venv/a.yaml")
    grow(".gitignore", text="ignored.yaml\ndist/\n")
    grow("rubric-lint.toml", text='exclude = ["a.yaml", "c/"]')
    skipped = Skipped()
    found = [item.name for item in find(["."], SettingsFinder(), skipped)]
    assert (found, skipped) == (["b.yaml"], Skipped(files=2, folders=2))  # c/ and node_modules/


def test_named_files_of_other_kinds_are_not_read_unless_the_settings_include_them(said):
    grow("a.csv", "b.MD", "c.ipynb", "c.js", "d.txt", "e", "f.tmpl", "in/g.txt")
    grow("in/rubric-lint.toml", text='include = ["*.txt"]')
    skipped = Skipped()
    paths = ["a.csv", "b.MD", "c.ipynb", "c.js", "d.txt", "e", "f.tmpl", "in/g.txt"]
    found = [item.name for item in find(paths, SettingsFinder(), skipped)]
    assert found == ["e", "f.tmpl", "in/g.txt"]
    said([*skipped.format_other_kinds()])


@pytest.mark.slow
def test_folders_nested_deeper_than_calls():
    deep = "/".join(["d"] * 1100)
    here = Path.cwd()
    for _ in range(1100):
        Path("d").mkdir()
        os.chdir("d")
    grow("a.yaml")
    os.chdir(here)
    try:
        assert search(".") == [f"{deep}/a.yaml"]
    finally:
        subprocess.run(["rm", "-rf", "d"], check=True)


@needs_posix
def test_what_cannot_be_read_is_told_and_the_rest_goes_on(said):
    grow("a.yaml")
    Path("link.yaml").symlink_to("nowhere")
    Path("circle.yaml").symlink_to("circle.yaml")
    found = search("missing.yaml", "link.yaml", "circle.yaml", "a.yaml/b", "nul\0.yaml", "missing.yaml", "a.yaml")
    assert (len(found), found[-1]) == (6, "a.yaml")
    said(reasons(found))


@pytest.mark.skipif(as_root or os.name != "posix", reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_told(said):
    grow("a/x.yaml", "b/x.yaml")
    Path("a").chmod(0)
    try:
        unreadable, other = search(".")
        assert other == "b/x.yaml"
        said(reasons([unreadable]))
    finally:
        Path("a").chmod(0o700)


@needs_posix
def test_a_folder_that_vanishes_during_the_search_is_told():
    grow("a/x.yaml", "b/x.yaml", "c/x.yaml")
    found = find(["."], SettingsFinder())
    first = next(found)
    shutil.rmtree("b")
    assert [first, *found] == [
        File("a/x.yaml", FileSettings()),
        Unreadable("b", "does not exist"),
        File("c/x.yaml", FileSettings()),
    ]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["a.yaml", "gen/b.yaml", "gen/deep/c.yaml"], ["a.yaml"]),
        (["gen", "sub/gen", "sub/kept.yaml"], ["sub/kept.yaml"]),
        (["gone.yaml"], [Unreadable("gone.yaml", "does not exist")]),
        (["dist", "sub/venv/e.yaml"], []),
    ],
)
def test_what_settings_exclude_is_left_out_also_where_it_is_named_if_they_are_forced(paths, expected):
    grow("a.yaml", "gen/b.yaml", "gen/deep/c.yaml", "sub/gen/d.yaml", "sub/kept.yaml", "dist/e.yaml", "sub/venv/e.yaml")
    grow("rubric-lint.toml", text='exclude = ["gen/"]')
    found = find(paths, SettingsFinder(Overrides(force_exclude=True)))
    assert expected == [item.name if isinstance(item, File) else item for item in found]


def test_the_schema_lists_the_folders_that_are_skipped():
    text = load("config/v1.json")["properties"]["exclude"]["description"]
    listed = text.partition("folders ")[2].partition("the folders ")[2].partition(";")[0].replace(" and ", ", ")
    assert set(listed.split(", ")) == SKIPPED_FOLDERS


def test_each_folder_has_its_nearest_settings():
    grow("a.yaml", "sub/b.yaml", "sub/deep/c.rubric.yaml")
    grow("sub/rubric-lint.toml", text='versions = {"deep/" = "v1"}\nimplicit-required = true')
    assert [*find(["."], SettingsFinder())] == [
        File("a.yaml", FileSettings()),
        File("sub/b.yaml", FileSettings(implicit_required=True)),
        File("sub/deep/c.rubric.yaml", FileSettings(None, {}, "v1", True, True, True)),  # noqa: FBT003
    ]


def test_broken_settings_are_told_once_and_spoil_only_what_is_beneath_them():
    grow("a.yaml", "sub/b.yaml", "sub/deep/c.yaml", "z.yaml")
    grow("sub/pyproject.toml", text="[tool.rubric-lint]\npass = 2\nborderline = 3\n")
    assert search(".", "sub/b.yaml") == [
        "a.yaml",
        Unreadable("sub/pyproject.toml", "[tool.rubric-lint] pass: 2 is outside 0..1"),
        Unreadable("sub/pyproject.toml", "[tool.rubric-lint] borderline: 3 is outside 0..1"),
        "z.yaml",
    ]


def listed_by_git():
    names = run_git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return sorted(name for name in names if name.endswith((".yaml", ".json")))


NAMES = [
    "a.yaml", "b.yaml", "keep.yaml", "x.json", "#x.yaml", "!x.yaml", "sp ace.yaml", "trail.yaml ", "[x].yaml",
    "für.yaml",
]  # fmt: skip
FOLDERS = ["", "build/", "build/deep/", "src/", "src/build/", "src/keep/", "src/keep/deep/", "a.yaml.d/", "*/"]


@pytest.mark.spread(4)
@needs_git
@pytest.mark.parametrize("ignores", TABLES["git and we ignore the same"], ids=str)
def test_git_and_we_ignore_the_same(ignores):
    run_git("init", "-q")
    grow(*(folder + name for folder in FOLDERS for name in NAMES))
    for folder, lines in ignores.items():
        grow(f"{folder}/exclude" if folder == ".git/info" else f"./{folder}/.gitignore", text="\n".join(lines) + "\n")
    assert sorted(search(".")) == listed_by_git()


@pytest.mark.spread(4)
@needs_git
@pytest.mark.parametrize("seed", range(20))
def test_git_and_we_ignore_the_same_at_random(seed):
    choose = random.Random(seed)  # noqa: S311 (the same trees each time)

    def pattern():
        atoms = ["a", "b", "ab", "*", "?", "a*", "**", "[ab]", "*.yaml", "a.*", "[!a]*", "keep.yaml"]
        steps = "/".join(choose.choice(atoms) for _ in range(choose.choice([1, 1, 1, 2, 2, 3])))
        return choose.choice(["", "", "!"]) + choose.choice(["", "", "/"]) + steps + choose.choice(["", "", "/"])

    run_git("init", "-q")
    folders = [""]
    for _ in range(8):
        folders.append(choose.choice(folders) + choose.choice(["a/", "b/", "ab/"]))
    grow(*(folder + name for folder in folders for name in ("a.yaml", "b.yaml", "keep.yaml", "x.json")))
    for folder in ("", *choose.sample(folders, 3)):
        grow(folder + ".gitignore", text="".join(f"{pattern()}\n" for _ in range(choose.randint(1, 4))))
    assert sorted(search(".")) == listed_by_git()


@needs_git
def test_a_linked_worktree_shares_the_exclude_file():
    run_git("init", "-q", "main")
    run_git("-C", "main", "commit", "-q", "--allow-empty", "-m", "a")
    run_git("-C", "main", "worktree", "add", "-q", "../other")
    grow("other/a.yaml", "other/sub/a.json", "main/a.yaml")
    grow("main/.git/info/exclude", text="a.yaml\n")
    assert search(".", "other/sub") == ["other/sub/a.json"]


@needs_posix
def test_a_pattern_file_that_is_a_link_counts_as_little_as_in_git():
    grow("patterns", text="a.yaml\n")
    grow("a.yaml")
    Path(".gitignore").symlink_to("patterns")
    assert search(".") == ["a.yaml"]


def file(name, **settings):
    return File(name, FileSettings(**settings))


def test_a_file_that_vanishes_before_it_is_read_is_told():
    grow("a.yaml", "b.yaml", text="x")
    first, second = find(["."], SettingsFinder())
    Path("a.yaml").unlink()
    assert [read(first), read(second)] == [Unreadable("a.yaml", "does not exist"), b"x"]


@needs_posix
def test_pipes_devices_sockets_and_folders_are_not_read(said):
    os.mkfifo("pipe.yaml")
    Path("folder.yaml").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.yaml")
        named = [read(item) for item in find(["pipe.yaml", "/dev/null", "socket.yaml"], SettingsFinder())]
        folder = read(file("folder.yaml"))
        assert search(".") == []
    said(reasons([*named, folder]))


@pytest.mark.skipif(not os.path.isfile("/proc/self/status"), reason="has no /proc")  # noqa: PTH113
def test_a_file_that_says_it_is_empty_is_read_in_large_pieces(monkeypatch):
    asked = []
    monkeypatch.setattr(os, "read", lambda descriptor, size: asked.append(size) or ask(descriptor, size))
    data = read(file("/proc/self/status"))
    assert data.startswith(b"Name:")
    assert len(asked) < len(data) / 100


@needs_posix
def test_what_became_a_pipe_since_it_was_looked_at_is_told_and_not_waited_for(monkeypatch, said):
    grow("file.yaml")
    os.mkfifo("pipe.yaml")
    looked_at = os.stat("file.yaml")  # noqa: PTH116
    with open("pipe.yaml", "r+b", buffering=0), monkeypatch.context() as patched:  # noqa: PTH123
        patched.setattr(os, "stat", lambda _: looked_at)
        found = read(file("pipe.yaml"))
    said(reasons([found]))


@pytest.mark.skipif(as_root or os.name != "posix", reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(said):
    grow("a.yaml")
    Path("a.yaml").chmod(0)
    said(reasons([read(file("a.yaml"))]))


@pytest.fixture
def sparse():
    def make(size, word=b"", at=0):
        with open("large.yaml", "wb") as stream:  # noqa: PTH123
            stream.truncate(size)
            stream.seek(at)
            stream.write(word)

    return make


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, (1 << 22) - 4, 3 * (1 << 22) - 9, 50_000_000 - 16])
def test_a_large_file_with_our_words_is_told(sparse, at, said):
    sparse(100 * 1024 * 1024, b"expected_outcome", at)
    said(reasons([read(file("large.yaml"))]))


@pytest.mark.slow
def test_a_large_file_of_others_holds_nothing(sparse):
    sparse(100 * 1024 * 1024)
    assert read(file("large.yaml")) == b""
    assert isinstance(read(file("large.yaml", claimed=True)), Unreadable)


def test_a_file_at_the_limit_is_read(sparse):
    sparse(LIMIT, b"rubrics")
    assert len(read(file("large.yaml"))) == LIMIT
