"""What holds for all tests: the same cases every time, nothing of the machine or its user, and Ctrl-C works."""

import atexit
import gc
import itertools
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import commands
import compiled
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from rubric_lint.cli.output import AGENTS
from rubric_lint.lint.run.cache import JUDGED

pytest.register_assert_rewrite("saying")
import saying  # noqa: E402  (its asserts are to show what differs)

# A property has time. Its cases are the same every time; `make test-thorough` has more of them, and the profile `fresh`
# looks for others. How many they are is said here only.
settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=10)
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("fresh", deadline=None, print_blob=True, max_examples=500)
settings.load_profile("fixed")

# What decides about the format, colours, widths, folders, the repository or the language; tests say so themselves.
FOREIGN = re.compile(
    r"CI|CI_.*|GITHUB_.*|GITLAB_.*|(FORCE|NO|CLI)_?COLOR.*|COLUMNS|LINES|RUBRIC_LINT_.*|OPENAI_.*|XDG_.*"
    r"|GIT_(?!SSL).*|LC_.*|LANG|LANGUAGE|PYTHON(UTF8|IOENCODING|WARNINGS|OPTIMIZE|SAFEPATH|DONTWRITEBYTECODE)|TZ"
)
OF_AGENTS = {variable for agent in AGENTS for variable in agent.variables}
for variable in {*filter(FOREIGN.fullmatch, os.environ), *OF_AGENTS & os.environ.keys()}:
    del os.environ[variable]
os.environ.update(TERM="xterm", TZ="UTC", LC_ALL="C.UTF-8", GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)
time.tzset()
sys.dont_write_bytecode = False  # each worker, and each program that it starts, would compile everything again
os.umask(0o022)

# No test uses the results of a run before it, or leaves any behind.
os.environ["RUBRIC_LINT_CACHE_DIR"] = tempfile.mkdtemp()
REPLIES = Path(os.environ["RUBRIC_LINT_CACHE_DIR"], JUDGED)
atexit.register(shutil.rmtree, os.environ["RUBRIC_LINT_CACHE_DIR"], ignore_errors=True)

# A shell that starts tests in the background lets them, and the programs they start, ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--renew", action="store_true", help="run only the tests that keep words in files, and write those words anew"
    )
    parser.addoption(
        "--words", help="with `--renew`: leave out pages, and parts of `snapshots/said/`, that do not have these words"
    )


def pytest_configure(config):
    """Let Hypothesis draw no constants from our modules: which ones are imported depends on the tests run before."""
    if config.getoption("--hypothesis-profile") != "fresh":
        assert callable(providers.is_local_module_file)
        providers.is_local_module_file = lambda _path: False


def pytest_collection():
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Keep each n-th case of a test that is marked with `spread(n)`; the others are slow. Mark the compiled ones."""
    counts = Counter()
    asks_for_compiled = "compiled" in config.option.markexpr
    for item in items:
        if asks_for_compiled and compiled.touches(item.path):
            item.add_marker(pytest.mark.compiled)
        if mark := item.get_closest_marker("spread"):
            if counts[item.function] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            counts[item.function] += 1
    if config.option.renew:
        config.hook.pytest_deselected(items=[item for item in items if "renews" not in item.fixturenames])
        items[:] = [item for item in items if "renews" in item.fixturenames]
        if words := config.option.words:
            items[:] = [item for item in items if may_say(item, words)]
        elif not (config.option.keyword or config.option.markexpr or any("::" in name for name in config.args)):
            forget_parts(items)


def may_say(item, words):
    """Return whether the page or the snapshot of a test has these words so far; a whole file of `snapshots/` may."""
    if "said" in item.fixturenames:
        return saying.has(item.path.stem.removeprefix("test_"), item.name, words)
    page = item.callspec.params.get("page") if hasattr(item, "callspec") else None
    return page is None or words in (item.config.rootpath / page).read_text("utf-8")


def forget_parts(items):
    """Delete what tests said that are gone, from the files of those that are there."""
    tests = {}
    for item in items:
        tests.setdefault(item.path.stem.removeprefix("test_"), []).append(item.name)
    for file, names in tests.items():
        saying.forget(file, names)


def pytest_collection_finish():
    """Spare the garbage collector the millions of objects that are there for all tests."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Report a test that passes once, not for its setup and teardown too: reports cost workers more than most tests."""
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_runtest_teardown():
    """Forget the replies of the test's judge: another test may have its port, and ask the same."""
    shutil.rmtree(REPLIES, ignore_errors=True)


@pytest.fixture(scope="session")
def renews(request):
    """Whether the test is to write what it would compare: `make renew` runs exactly the tests that ask this."""
    return request.config.option.renew


@pytest.fixture
def snapshot(renews):
    """Compares a text with a file of `snapshots/`, or writes the file."""
    return partial(saying.check_file, renews)


@pytest.fixture
def said(request, tmp_path, renews):
    """Holds texts, lines or results of programs word for word, as `snapshots/said` has them."""
    count = itertools.count(1)

    def check(*texts):
        name = saying.name_part(request.node.name, next(count))
        saying.check(renews, request.path.stem.removeprefix("test_"), name, texts, tmp_path)

    return check


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the test works."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def program(tmp_path):
    """Calls the installed `rubric-lint` in the test's folder: exit code, output, and what it complains of."""

    def call(*arguments, stdin=""):
        done = commands.run("rubric-lint", *arguments, cwd=tmp_path, stdin=stdin)
        return done.returncode, done.stdout, done.stderr

    return call
