"""What holds for all tests: a property has time, in CI the same cases every time, and Ctrl-C works."""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# What a system says of itself decides the format and the root of the repository; tests say so themselves.
for variable in ("GITHUB_ACTIONS", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
    os.environ.pop(variable, None)

# No test uses the results of a run before it, or leaves any behind.
os.environ["RUBRIC_LINT_CACHE_DIR"] = tempfile.mkdtemp()
atexit.register(shutil.rmtree, os.environ["RUBRIC_LINT_CACHE_DIR"], ignore_errors=True)

# A shell that starts tests in the background lets them, and the programs they start, ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def program(tmp_path):
    """Calls the installed `rubric-lint` in the test's folder: exit code, output, and what it complains of."""
    path = Path(sys.executable).with_name("rubric-lint")

    def call(*arguments, stdin=""):
        done = subprocess.run([path, *arguments], cwd=tmp_path, input=stdin.encode(), capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return call
