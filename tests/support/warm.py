"""Runs Python programs as `subprocess` does, without the second that a new interpreter needs to load everything.

`run` calls the installed programs in this process, with streams, a folder, an environment and signals of their own. All
else is run by copies of an interpreter that has loaded the package: processes, at a tenth of that time. Tests of how a
program starts, or is ended while it does, take a new interpreter.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import re
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import rubric_lint
from rubric_lint.cli import start as installed
from rubric_lint.project import repository
from rubric_lint.run import git

MAIN = re.compile(r"import sys; sys.argv\[0\] = '(rubric-\w+)'; from rubric_lint.cli.start import (\w+); \2\(\)")
PROGRAMS = {f"rubric-{name}": getattr(installed, name) for name in ("lint", "fix", "score", "test")}
STREAMS = ("stdin", "stdout", "stderr")
NOT_LOADED = tuple(f"rubric_lint.{name}" for name in ("__main__", "mcp", "arrow", "engines", "outputs.parquet"))
USUAL = (b"rubrics: [{id: a, description: b, wieght: 1}]", b"rubrics: [{id: a, outcome: b, weight: 1}]", b"tests: [{")
OTHERS = ("jsonschema", "jsonschema_rs", "msgspec", "openai", "watchfiles")
ONLY_AT_THE_START = ("PYTHONPATH", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONHASHSEED", "PYTHONWARNINGS", "LC_ALL")
"""What an interpreter reads once, before it runs anything: who changes one of these gets a new interpreter."""

SIZE = 8  # bytes that say how long a wish is
PIPE = 65_536  # bytes that a pipe takes before somebody reads


def code_of(name):
    """The code that runs an installed program, for `python -c`; `run` knows it by `MAIN`."""
    return f"import sys; sys.argv[0] = 'rubric-{name}'; from rubric_lint.cli.start import {name}; {name}()"


class Program:
    """A running program, as a `subprocess.Popen` without pipes."""

    def __init__(self, answers, args):
        self._answers, self.args, self.returncode = answers, args, None
        self.pid = int(answers.readline())

    def poll(self):
        if self.returncode is None and select.select([self._answers], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout=None):
        if self.returncode is None:
            if not select.select([self._answers], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout)
            self.returncode = os.waitstatus_to_exitcode(int(self._answers.readline()))
            self._answers.close()
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


class Server:
    """The loaded interpreter, started when it is needed; `wishes` is the socket by which it is told what to run."""

    def __init__(self):
        self.wishes, theirs = socket.socketpair()
        command = [sys.executable, "-W", "error", __file__, str(theirs.fileno())]
        with theirs:
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def end(self):
        self.wishes.close()
        self.process.wait()


SERVERS = []
STARTING = threading.Lock()


def server():
    """Return the loaded interpreter; of several threads that need it first, one starts it."""
    with STARTING:
        if not SERVERS:
            SERVERS.append(Server())
        return SERVERS[0]


def end():
    """End the loaded interpreter, if there is one."""
    while SERVERS:
        SERVERS.pop().end()


def write_wish(args, env=None, cwd=None, *, start_new_session=False):
    wish = {
        "args": [str(each) for each in args],
        "cwd": str(cwd or Path.cwd()),
        "env": dict(os.environ if env is None else env),
        "is_leader": start_new_session,
        "umask": os.umask(0o022),
    }
    os.umask(wish["umask"])
    body = json.dumps(wish).encode()
    return len(body).to_bytes(SIZE, "big") + body


def start(args, *, stdin, stdout, stderr, **more):
    """Start `python ...` or an installed script; the streams are files or their descriptors."""
    ours, theirs = socket.socketpair()
    with ours, theirs, Path(os.devnull).open("r+b", buffering=0) as nothing:
        given = [nothing if each == subprocess.DEVNULL else each for each in (stdin, stdout, stderr)]
        streams = [each if isinstance(each, int) else each.fileno() for each in (*given, theirs)]
        socket.send_fds(server().wishes, [write_wish(args, **more)], streams)
        theirs.close()
        return Program(ours.makefile("rb", buffering=0), [str(each) for each in args])


# Hands its streams to the program, passes signals on, and ends as the program does. What `signal` and `socket` load on
# top of these modules takes longer than the rest.
RELAY = """
import os, sys, _signal, _socket
ours, theirs = _socket.socketpair()
streams = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1, 2, theirs.fileno()))
given = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)]
_socket.socket(fileno=int(sys.argv[1])).sendmsg([bytes.fromhex(sys.argv[2])], given)
theirs.close()
answers = os.fdopen(ours.fileno(), "rb", buffering=0)
program = int(answers.readline())
for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
    _signal.signal(number, lambda number, _: os.kill(program, number))
for stream in range(3):
    os.close(stream)
end = os.waitstatus_to_exitcode(int(answers.readline() or _signal.SIGKILL))
if end < 0 and end != -_signal.SIGKILL:
    _signal.signal(-end, _signal.SIG_DFL)
if end < 0:
    os.kill(os.getpid(), -end)
os._exit(end)
"""


def relay(args, **more):
    """What to hand to a library that starts programs itself: a command, and the descriptors that it must inherit."""
    wishes = server().wishes.fileno()
    return [sys.executable, "-IS", "-c", RELAY, str(wishes), write_wish(args, **more).hex()], [wishes]


def popen(args, *, env=None, cwd=None, **streams):
    """Start it as `subprocess.Popen` does, with pipes."""
    command, inherited = relay(args, env=env, cwd=cwd)
    return subprocess.Popen(command, pass_fds=inherited, **streams)


def run(args, *, input=None, capture_output=True, text=False, env=None, cwd=None, check=False, timeout=60):  # noqa: A002
    """Run it to its end, as `subprocess.run` with these arguments does."""
    assert capture_output
    environment = os.environ if env is None else env
    if any(environment.get(name) != os.environ.get(name) for name in ONLY_AT_THE_START):
        return subprocess.run(
            args, input=input, capture_output=True, text=text, env=env, cwd=cwd, check=check, timeout=timeout
        )
    given = input.encode() if isinstance(input, str) else input or b""
    (stdin, feed), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
    streams, printed = (stdin, stdout, stderr), [b"", b""]
    helpers = [threading.Thread(target=read_all, args=(end, printed, place)) for place, end in enumerate((out, err))]
    fits = len(given) <= PIPE
    if fits:
        write_all(feed, given)
    else:
        helpers.append(threading.Thread(target=write_all, args=(feed, given)))
    for each in helpers:
        each.start()
    try:
        # The processes that a program forks here keep `feed` open, so what does not fit would never end. Signals are
        # for the main thread.
        is_here = fits and threading.current_thread() is threading.main_thread()
        if is_here and (main := find_main([str(each) for each in args])):
            code = run_here(*main, streams, environment, cwd)
        else:
            code = run_in_copy(args, streams, timeout, env=env, cwd=cwd)
    finally:
        for each in streams:
            os.close(each)
        for each in helpers:
            each.join(timeout)
    if text:
        printed = [each.decode() for each in printed]
    done = subprocess.CompletedProcess([str(each) for each in args], code, *printed)
    if check:
        done.check_returncode()
    return done


def run_in_copy(args, streams, timeout, **more):
    program = start(args, **dict(zip(STREAMS, streams, strict=True)), **more)
    try:
        return program.wait(timeout)
    finally:
        program.kill()


def find_main(args):
    """Return the function and the arguments of an installed program, unless it is a server."""
    name = Path(args[0]).name
    if args[:4] == [sys.executable, "-W", "error", "-c"] and (called := MAIN.fullmatch(args[4])):
        name, args = called[1], args[4:]
    elif args[0] != str(Path(sys.executable).with_name(name)) or name not in PROGRAMS:
        return None
    return None if {"lsp", "mcp"} & {*args} else (PROGRAMS[name], [name, *args[1:]])


def run_here(main, args, streams, environment, cwd):
    """Run a program in this process; return its exit code."""
    with contextlib.ExitStack() as stack:
        for name, value in (
            ("argv", args),
            *((name, None) for name in (*STREAMS, *(f"__{name}__" for name in STREAMS))),
        ):
            stack.callback(setattr, sys, name, getattr(sys, name))
            setattr(sys, name, value)
        for number, stream in enumerate(streams):
            before = os.dup(number)
            stack.callback(os.close, before)
            stack.callback(os.dup2, before, number)
            os.dup2(stream, number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            stack.callback(signal.signal, number, signal.signal(number, signal.getsignal(number)))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        stack.callback(gc.set_threshold, *gc.get_threshold())
        stack.callback(gc.enable)
        stack.callback(setattr, gc, "freeze", gc.freeze)
        gc.freeze = gc.get_count  # what tests make is not part of a program
        stack.callback(os.chdir, Path.cwd())
        os.chdir(cwd or Path.cwd())
        stack.callback(set_environment, dict(os.environ))
        set_environment(dict(environment))
        for each in (repository._find_root, git._find_git):  # what holds as long as a process
            each.cache_clear()
        open_streams()
        return end_of(main)


def set_environment(variables):
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()


def write_all(end, data):
    with contextlib.suppress(BrokenPipeError), os.fdopen(end, "wb") as stream:
        stream.write(data)


def read_all(end, printed, place):
    with os.fdopen(end, "rb") as stream:
        printed[place] = stream.read()


# What follows runs in the loaded interpreter and in its copies.


def load():
    """Load what programs load, and let it read what it keeps: schemas, patterns."""
    ours = (module.name for module in pkgutil.walk_packages(rubric_lint.__path__, "rubric_lint."))
    for name in (*(each for each in ours if not each.startswith(NOT_LOADED)), *OTHERS):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for text in USUAL:
        rubric_lint.fix_source("a.rubric.yaml", text)
        rubric_lint.show_source("a.rubric.yaml", text)
    with contextlib.suppress(ImportError):
        load_protocol()
    gc.freeze()  # what is loaded stays shared


def load_protocol():
    """Let servers share the converter of their messages, whose code is generated when a message of a kind comes."""
    from lsprotocol import types  # noqa: PLC0415  (not installed everywhere)
    from pytest_lsp import client_capabilities  # noqa: PLC0415

    from rubric_lint.lsp.server import protocol  # noqa: PLC0415

    converter = protocol._make_converter()
    protocol._make_converter = lambda: converter
    params = types.InitializeParams(capabilities=client_capabilities("visual-studio-code"))
    answer = types.InitializeResponse(1, types.InitializeResult(types.ServerCapabilities()))
    for message in (types.InitializeRequest(1, params), answer):
        converter.structure(converter.unstructure(message), type(message))


def serve(wishes):
    """Start what is wished for, until nobody is there to wish. A program ends with the one who asked for it."""
    ended, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running = {}  # where to answer, by program
    while True:
        ready = select.select([wishes, ended, *running.values()], [], [])[0]
        if ended in ready:
            os.read(ended, 1024)
        for program, answers in list(running.items()):
            if answers in ready:
                os.kill(program, signal.SIGKILL)
            number, state = os.waitpid(program, 0 if answers in ready else os.WNOHANG)
            if number:
                tell_of(answers, state)
                os.close(running.pop(program))
        if wishes in ready:
            wish, streams = receive(wishes)
            if not wish:
                break
            program = begin(wish, streams)
            running[program] = streams[3]
            tell_of(streams[3], program)
    for program in running:
        os.kill(program, signal.SIGKILL)


def receive(wishes):
    """Return the next wish, and its streams."""
    head, streams, *_ = socket.recv_fds(wishes, SIZE, 4)
    body = b""
    while head and len(head) < SIZE:
        head += wishes.recv(SIZE - len(head))
    while len(body) < int.from_bytes(head, "big"):
        body += wishes.recv(int.from_bytes(head, "big") - len(body))
    return json.loads(body or b"null"), streams


def begin(wish, streams):
    """Start a program; return its number."""
    program = os.fork()
    if not program:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        become(wish, streams)
    for each in streams[:3]:
        os.close(each)
    return program


def tell_of(answers, number):
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        os.write(answers, b"%d\n" % number)


def become(wish, streams):
    """Be the program that is wished for."""
    for number, each in enumerate(streams[:3]):
        os.dup2(each, number)
    os.closerange(3, 1024)
    if wish["is_leader"]:
        os.setsid()
    os.umask(wish["umask"])
    os.chdir(wish["cwd"])
    set_environment(wish["env"])
    open_streams()
    code = end_of(execute, wish["args"])
    atexit._run_exitfuncs()
    os._exit(code & 0xFF)


def open_streams():
    """Open the standard streams as an interpreter does in the locale of the tests."""
    for number, name in enumerate(STREAMS):
        mode, errors = "r" if name == "stdin" else "w", "backslashreplace" if name == "stderr" else "surrogateescape"
        stream = os.fdopen(number, mode, encoding="utf-8", errors=errors, closefd=False)
        stream.reconfigure(line_buffering=name == "stderr" or (name == "stdout" and os.isatty(1)))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def end_of(main, *arguments):
    """Run a program; return its exit code."""
    code = 0
    try:
        main(*arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def execute(args):
    """Run what the arguments of `python`, or of an installed script, name."""
    if args[0] != sys.executable:
        sys.argv = args
        runpy.run_path(args[0], run_name="__main__")
        return
    rest = args[1:]
    while rest[0] == "-W":
        del rest[:2]
    kind, what, *others = rest
    sys.path[0] = ""
    sys.argv = [kind, *others]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        assert kind == "-c", args
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 (as the interpreter does)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        load()
        serve(asked)
