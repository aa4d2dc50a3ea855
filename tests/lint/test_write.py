import errno
import os
import stat
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import commands
import pytest
from disk import small

from rubric_lint.lint.project.writing import WriteError, lock, open_whole, replace_file, write_file

ROOT = Path(__file__).parents[2]
OLD, NEW = b"old: 1\n" * 1000, b"new: 2\n" * 1000

# One process that imports once; each run is a fork of it that rewrites a file in turns until it is killed.
KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from rubric_lint.lint.project.writing import replace_file

path, runs = Path(sys.argv[1]), int(sys.argv[2])
texts = [bytes([letter]) * 200_000 for letter in b"ab"]
chance = random.Random(5)
seen, left = set(), []
for _ in range(runs):
    path.write_bytes(texts[0])
    child = os.fork()
    if not child:
        while True:
            for old, new in (texts, texts[::-1]):
                replace_file(path, old, new)
    while path.read_bytes() == texts[0]:  # until it writes, which takes long where the machine is busy
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.006))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = path.read_bytes()
    if found not in texts:
        sys.exit(f"neither old nor new: {len(found)} bytes")
    seen.add(found)
    left.append(len(os.listdir(path.parent)) - 1)
replace_file(path, path.read_bytes(), texts[0])
if os.listdir(path.parent) != [path.name]:
    sys.exit(f"left behind: {os.listdir(path.parent)}")
sys.exit(0 if len(seen) == 2 and set(left) == {0, 1} else "was never killed at another moment")
"""

# Tells the outcome of one write as text, in a process of its own: what surrounds it cannot be undone here.
ONE_WRITE = """
import sys
from pathlib import Path
from rubric_lint.lint.project.writing import WriteError, replace_file
try:
    replace_file(Path(sys.argv[1]), Path(sys.argv[1]).read_bytes(), b"n" * int(sys.argv[2]))
except WriteError as fault:
    print(fault)
"""


def run(code, *args, before="", **kwargs):
    command = [sys.executable, "-c", before + textwrap.dedent(code), *map(str, args)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return commands.run_process(command, env=env, **kwargs)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_bytes(OLD)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_whole(path):
    with open_whole(str(path), "wb") as stream:
        stream.write(NEW)


def test_the_file_holds_the_new_text_and_nothing_is_left_beside_it(file):
    assert replace_file(file, OLD, NEW) == 0
    assert (file.read_bytes(), names(file.parent)) == (NEW, ["suite.yaml"])


NAME = ".suite.yaml.0123456789abcdef.rubric-lint"


@pytest.mark.parametrize(
    "write", [lambda path: replace_file(path, OLD, NEW), lambda path: write_file(path, NEW), write_whole]
)
def test_what_a_killed_process_left_behind_is_removed_and_what_another_one_writes_is_not(file, tmp_path, write):
    (tmp_path / NAME).write_bytes(b"half")
    alive = tmp_path / NAME.replace("0", "1")
    with alive.open("wb") as stream:
        assert lock(stream.fileno())
        write(file)
        assert names(tmp_path) == [alive.name, "suite.yaml"]


def test_what_only_looks_like_our_temporary_files_stays(file, tmp_path):
    others = [NAME.replace("a", "A"), NAME.removeprefix("."), f"{NAME}.yaml", NAME.replace("0", ""), ".rubric-lint"]
    for name in others:
        (tmp_path / name).write_bytes(b"mine")
    folder, link, pipe = (tmp_path / NAME.replace("0", digit) for digit in "123")
    folder.mkdir()
    link.symlink_to("suite.yaml")
    os.mkfifo(pipe)
    replace_file(file, OLD, NEW)
    assert names(tmp_path) == sorted(["suite.yaml", *others, folder.name, link.name, pipe.name])


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o2755])
def test_the_mode_stays(file, mode):
    file.chmod(mode)
    replace_file(file, OLD, NEW)
    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files away")
def test_the_owner_stays(file):
    os.chown(file, 1234, 2345)
    replace_file(file, OLD, NEW)
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 2345)


def test_a_link_stays_a_link_and_what_it_leads_to_is_written(file, tmp_path):
    other = tmp_path / "elsewhere"
    other.mkdir()
    first, second = other / "first.yaml", other / "second.yaml"
    first.symlink_to("../suite.yaml")
    second.symlink_to(first)
    replace_file(second, OLD, NEW)
    assert (file.read_bytes(), second.read_bytes()) == (NEW, NEW)
    assert (str(first.readlink()), second.readlink()) == ("../suite.yaml", first)
    assert names(other) == ["first.yaml", "second.yaml"]


def test_a_link_to_a_file_that_is_not_there_yet_stays_a_link(tmp_path):
    link = tmp_path / "link.yaml"
    link.symlink_to("new.yaml")
    write_file(link, NEW)
    assert (link.is_symlink(), (tmp_path / "new.yaml").read_bytes()) == (True, NEW)


def test_other_hard_links_are_counted_and_keep_the_old_text(file, tmp_path):
    other = tmp_path / "other.yaml"
    os.link(file, other)
    assert replace_file(file, OLD, NEW) == 1
    assert (file.read_bytes(), other.read_bytes()) == (NEW, OLD)


def refuse(file, before=OLD):
    with pytest.raises(WriteError) as refused:
        replace_file(file, before, NEW)
    return str(refused.value)


def test_a_file_that_another_program_has_changed_is_left_alone(file, said):
    file.write_bytes(b"mine: 3\n")
    said(refuse(file))
    assert (file.read_bytes(), names(file.parent)) == (b"mine: 3\n", ["suite.yaml"])


def test_a_read_only_file_is_left_alone_even_by_the_superuser(file, said):
    file.chmod(0o444)
    said(refuse(file))
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (OLD, 0o444)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda path: path.unlink(), id="gone"),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), id="folder"),
        pytest.param(lambda path: (path.unlink(), os.mkfifo(path)), id="pipe"),
    ],
)
def test_what_is_no_file_is_not_written(file, make, said):
    make(file)
    said(refuse(file))


def test_a_link_in_a_circle_is_not_written(file):
    file.unlink()
    file.symlink_to(file.name)
    assert refuse(file).startswith("cannot be written: ")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write every folder")
def test_a_folder_that_may_not_be_written_leaves_the_file_alone(file, said):
    file.parent.chmod(0o500)
    message = refuse(file)
    file.parent.chmod(0o700)
    assert file.read_bytes() == OLD
    said(message)


@pytest.fixture
def full_disk(tmp_path):
    with small(tmp_path / "small", "64k") as folder:
        yield folder


def test_a_full_disk_leaves_the_old_file(full_disk, said):
    path = full_disk / "suite.yaml"
    path.write_bytes(OLD)
    done = run(ONE_WRITE, path, 1_000_000)
    assert done.stderr == ""
    said(done.stdout)
    assert (path.read_bytes(), names(full_disk)) == (OLD, ["suite.yaml"])


def test_a_limit_on_the_size_of_files_leaves_the_old_file(file, said):
    limit = "import resource, signal\nresource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
    done = run(ONE_WRITE, file, 1_000_000, before=limit)
    assert done.stderr == ""
    said(done.stdout)
    assert (file.read_bytes(), names(file.parent)) == (OLD, ["suite.yaml"])


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(file):
    done = run(KILLED, file, 400)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_many_writers_at_once_leave_one_whole_text(file):
    path = str(file)
    loop = """
    import sys, time
    from pathlib import Path
    from rubric_lint.lint.project.writing import WriteError, replace_file
    path, mine = Path(sys.argv[1]), sys.argv[2].encode() * 100_000
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        try:
            replace_file(path, path.read_bytes(), mine)
        except WriteError:
            pass
    """
    command = [sys.executable, "-c", textwrap.dedent(loop), path]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    writers = [subprocess.Popen([*command, letter], env=env) for letter in "abc"]
    texts = {OLD, *(letter * 100_000 for letter in (b"a", b"b", b"c"))}
    while any(writer.poll() is None for writer in writers):
        assert file.read_bytes() in texts
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert names(file.parent) == ["suite.yaml"]


needs_attributes = pytest.mark.skipif(not hasattr(os, "listxattr"), reason="only Linux tells of extended attributes")


def attributes(path):
    return {name: os.getxattr(path, name) for name in os.listxattr(path)}


@pytest.fixture
def with_attributes(file):
    """A file with an access control list and an extended attribute, if this file system has such."""
    try:
        os.setxattr(file, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    return file


@needs_attributes
def test_extended_attributes_stay(with_attributes):
    replace_file(with_attributes, OLD, NEW)
    assert (with_attributes.read_bytes(), attributes(with_attributes)["user.note"]) == (NEW, b"mine")


def acl(*entries):
    """An access control list as Linux keeps it: (tag, rights, who) of each entry."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NOBODY = 0xFFFFFFFF
# The owner and user 1234 may read and write, the group and others nothing.
LIST = acl((1, 6, NOBODY), (2, 6, 1234), (4, 0, NOBODY), (16, 6, NOBODY), (32, 0, NOBODY))


@needs_attributes
def test_an_access_control_list_stays_and_gives_nobody_more(with_attributes):
    try:
        os.setxattr(with_attributes, "system.posix_acl_access", LIST)
    except OSError:
        pytest.skip("this file system has no access control lists")
    before = (attributes(with_attributes), stat.S_IMODE(with_attributes.stat().st_mode))
    replace_file(with_attributes, OLD, NEW)
    assert (attributes(with_attributes), stat.S_IMODE(with_attributes.stat().st_mode)) == before


@needs_attributes
def test_the_defaults_of_a_folder_do_not_open_a_file_that_lacks_them(with_attributes):
    with_attributes.chmod(0o640)
    try:
        os.setxattr(with_attributes.parent, "system.posix_acl_default", LIST)
    except OSError:
        pytest.skip("this file system has no access control lists")
    replace_file(with_attributes, OLD, NEW)
    assert attributes(with_attributes) == {"user.note": b"mine"}
    assert stat.S_IMODE(with_attributes.stat().st_mode) == 0o640


@needs_attributes
@pytest.mark.parametrize("name", ["user.note", "system.posix_acl_access"])
def test_a_file_whose_attributes_cannot_be_kept_is_left_alone(file, monkeypatch, name, said):
    def refuse_all(_path, _name, _value):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "listxattr", lambda path: [name] if Path(path) == file else [])
    monkeypatch.setattr(os, "getxattr", lambda _path, _name: b"x")
    monkeypatch.setattr(os, "setxattr", refuse_all)
    said(refuse(file))
    assert (file.read_bytes(), names(file.parent)) == (OLD, ["suite.yaml"])


@pytest.mark.skipif(not hasattr(os, "fchown"), reason="needs owners")
@pytest.mark.parametrize("owner", [1, 0])
def test_a_file_that_would_change_its_owner_is_left_alone(file, monkeypatch, owner, said):
    def refuse_all(*_arguments):
        raise PermissionError(errno.EPERM, "no")

    status = os.stat  # what a file of somebody else looks like

    def pretend(self, **options):
        values = list(status(self, **options))
        values[4:6] = values[4] + owner, values[5] + 1
        return os.stat_result(values)

    monkeypatch.setattr(Path, "stat", pretend)
    monkeypatch.setattr(os, "fchown", refuse_all)
    said(refuse(file))
    assert (file.read_bytes(), names(file.parent)) == (OLD, ["suite.yaml"])


# Replaces a file again and again; each time Ctrl+C comes one line of code later.
INTERRUPTED = """
import signal, sys
from pathlib import Path
from rubric_lint.lint.project.writing import replace_file, write_file

folder = Path(sys.argv[1])
old, new = folder / "old.yaml", folder / "new.yaml"
states = set()
for number in range(10_000):
    old.write_bytes(b"old")
    new.unlink(missing_ok=True)
    left = number

    def trace(frame, event, _):
        global left
        if not frame.f_code.co_filename.startswith(sys.argv[2]):
            return None
        if event == "line":
            left -= 1
            if left == -1:
                signal.raise_signal(signal.SIGINT)
        return trace

    sys.settrace(trace)
    try:
        replace_file(old, b"old", b"new")
        write_file(new, b"new")
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    states.add((old.read_bytes(), *sorted(file.name for file in folder.iterdir())))
    if left >= 0:
        break
print(*sorted(states), sep="\\n")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_an_interrupt_at_any_line_leaves_whole_files_and_nothing_beside_them(tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path), str(ROOT / "rubric_lint" / "lint" / "project")]
    done = commands.run_process(command)
    states = [(b"new", "new.yaml", "old.yaml"), (b"new", "old.yaml"), (b"old", "old.yaml")]
    assert (done.stdout.splitlines(), done.returncode) == ([str(state) for state in states], 0), done.stderr
