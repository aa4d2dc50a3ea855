"""C4, C7: every file of a user is opened by one module, which takes regular files only and caps what it reads."""

import ast
import json
import os
import sys
from hashlib import blake2b
from pathlib import Path

import commands
import pytest

from rubric_lint.lint.project.files import File, read
from rubric_lint.lint.project.opening import RefusedFileError, open_stream, read_file
from rubric_lint.lint.project.settings import FileSettings

PACKAGE = Path(__file__).parents[2] / "rubric_lint"
needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs pipes and devices")

OURS = {  # what is opened elsewhere, none of it a user's file to read
    "lint/project/opening.py": "the one place",
    "judge/journal.py: os.open": "the results of a run, opened to be appended to",
    "model/schema_files.py: read_text": "schemas of the package",
    "model/version_3.py: read_text": "no file: the text of a field",
    "cli/commands.py: open": "the null device",
    "cli/commands.py: os.open": "the null device",
    "cli/score/agree.py: open": "a new file, to be written",
    "cli/lint/setup.py: open": "a new file, to be written",
    "cli/lint/schema.py: read_bytes": "schemas of the package",
    "cli/lint/setup.py: read_bytes": "the skill of the package",
    "cli/lint/setup.py: read_text": "the skill of the package",
    "agents/tools.py: open": "a new file, to be written",
    "lint/project/writing.py: os.open": "files to be written, and a folder to be synchronized",
    "report/html.py: read_text": "a template of the package",
    "rules/rule.py: read_text": "the page of a rule",
}
OPENING = {"open", "open_file", "read_bytes", "read_text", "fdopen"}


def find_openings():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                call = node.func
                called = call.id if isinstance(call, ast.Name) else getattr(call, "attr", "")
                owner = call.value.id if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name) else ""
                is_own = owner in {"self", "os"} and called in {"open", "fdopen"}
                if called in OPENING and called != "fdopen" and not (is_own and owner == "self"):
                    yield (
                        name
                        if name == "lint/project/opening.py"
                        else f"{name}: {'os.' if owner == 'os' else ''}{called}"
                    )


@pytest.mark.repository
def test_no_other_module_opens_a_file_of_a_user():
    found = {
        opening
        for opening in find_openings()
        if not opening.startswith(("editor/", "formats/dialects/", "formats/search/"))
    }
    assert found == set(OURS)


@needs_posix
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "it is a pipe, not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a device, not a regular file"),
        (lambda path: path.mkdir(), "it is a folder, not a regular file"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 60 << 30), "it has 64424.5 MB, and the limit"),
    ],
    ids=["pipe", "device", "folder", "sparse"],
)
def test_settings_baselines_and_ignore_files_are_regular_and_capped(tmp_path, monkeypatch, make, reason):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("rubrics: [a]\n")
    make(Path("odd"))
    with pytest.raises(RefusedFileError) as refused:
        read_file("odd", 1000)
    assert str(refused.value.strerror).startswith(reason)
    for option in ("--config", "--baseline"):
        done = commands.run("rubric-lint", option, "odd", "a.yaml")
        assert (done.returncode, reason in done.stderr, done.stderr.count("\n")) == (2, True, 1), done


@needs_posix
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_outputs_come_from_files_and_pipes_not_from_devices(tmp_path, monkeypatch, said):
    monkeypatch.chdir(tmp_path)
    Path("a.rubric.yaml").write_text("rubrics:\n- id: a\n  expected_outcome: Says it\n")
    done = commands.run("rubric-lint", "score", "a.rubric.yaml", "/dev/zero")
    assert done.returncode == 2
    said(done.stderr)
    with pytest.raises(RefusedFileError), open_stream("."):
        pass


def test_a_file_grows_past_its_cap_while_it_is_read(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_file(str(path), 5) == b"12345"
    with pytest.raises(RefusedFileError) as refused:
        read_file(str(path), 4)
    assert refused.value.size == 5


@pytest.mark.parametrize(
    "key",
    ["a." * 20_000 + "a = 1", "[" + "a." * 20_000 + "a]", "x = {" + '"a" . ' * 40 + "a=1}"],
    ids=["a pair", "a table", "in a mapping"],
)
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(tmp_path, monkeypatch, key, said):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(f"[tool]\n{key}\n")
    done = commands.run("rubric-lint", ".")
    assert done.returncode == 2
    said(done.stderr)


@pytest.mark.parametrize(
    "line", ["# " + "." * 200, f'text = "{"sentence. And more, " * 100}"', f"numbers = [{'0.5, ' * 100}]"]
)
def test_dots_that_join_nothing_are_no_keys(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(f"{line}\n[tool.rubric-lint]\npass = 0.9\n")
    done = commands.run("rubric-lint", ".")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@needs_posix
def test_no_more_of_a_large_file_is_looked_at_than_the_cap(tmp_path, monkeypatch):
    path = tmp_path / "large.yaml"
    os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 20 << 30)
    taken = []
    take = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, size: taken.append(take(descriptor, size)) or taken[-1])
    assert read(File(str(path), FileSettings())) == b""
    assert sum(map(len, taken)) == 50_000_000


@pytest.mark.parametrize("body", [b"[]", b"{", b"7", b"[" * 100_000, b'{"%s": 7}', b'{"%s": [1, 1, 0, [["schema"]]]}'])
def test_a_cache_file_with_a_sound_checksum_and_another_body_is_a_miss(tmp_path, monkeypatch, body):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(tmp_path / "cache"))
    Path("a.yaml").write_text("rubrics:\n- id: a\n  expected_outcome: ''\n")
    first = commands.run("rubric-lint", "a.yaml", "--format=concise")
    (kept,) = [path for path in Path("cache").rglob("*") if path.is_file() and "." not in path.name]
    (key,) = json.loads(kept.read_bytes().partition(b"\n")[2])
    body = body.replace(b"%s", key.encode())
    kept.write_bytes(blake2b(body, digest_size=16).hexdigest().encode() + b"\n" + body)
    second = commands.run("rubric-lint", "a.yaml", "--format=concise")
    assert (first.returncode, second.returncode, second.stdout) == (1, 1, first.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory with setrlimit")
@pytest.mark.slow
def test_a_settings_file_of_dots_takes_little_memory(tmp_path):
    (tmp_path / "pyproject.toml").write_text("a." * 20_000 + "a = 1\n")
    code = "import resource; resource.setrlimit(resource.RLIMIT_AS, (400 << 20,) * 2)\n"
    code += "from rubric_lint.cli.start import lint; lint()"
    done = commands.run_process([sys.executable, "-c", code], cwd=tmp_path)
    assert done.returncode == 2
