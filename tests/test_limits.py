"""C2, C3: seconds and memory for the worst files that were found, each checked in a process of its own.

`pytest tests/test_limits.py -s` prints processor seconds and peak memory for each file.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource")
pytestmark = pytest.mark.slow

RUBRIC = "rubrics:\n- id: a\n  expected_outcome: Names a source\n"
FILES = {
    "tabs below a rubric.yaml": lambda: "expected_outcome: x y\n" + "\t" * 60_000,
    "tabs before a text.yaml": lambda: "expected_outcome: x y\n" + "\t" * 60_000 + "x",
    "an open string.json": lambda: '{"rubrics": ["a' + '\\"' * 50_000,
    "unknown names.yaml": lambda: f"# rubric-lint: ignore[{'a,' * 45_000}]\n{RUBRIC}",
    "idle names.yaml": lambda: f"# rubric-lint: ignore[{'overlap,' * 11_000}]\n{RUBRIC}",
    "blank lines.yaml": lambda: (
        f"{RUBRIC}# rubric-lint: ignore[overlap]\nx: [{chr(10) * 90_000}{'[' * 490}{']' * 490}]\n"
    ),
    "comments by findings.yaml": lambda: (
        "# rubric-lint: ignore-file[overlap]\n" * 1200
        + "rubrics:\n"
        + "".join(f"- {{id: c{number}, expected_outcome: '', weight: -1}}\n" for number in range(1000))
    ),
    "misspelt fields.yaml": lambda: (
        "rubrics:\n"
        + "".join(f"- {{id: c{n}, description: It says {n}, wieght: 1, requird: true}}\n" for n in range(1700))
    ),
    "a string of 45 MB.json": lambda: '{"rubrics": [{"id": "a", "expected_outcome": "' + "word " * 9_000_000 + '"}]}',
}


# A small process starts the command: a child's peak memory counts what its parent held when it started.
MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6)
"""


def measure(name, text, folder):
    """Return the exit code, the processor seconds and the peak megabytes of checking a text."""
    path = folder / name
    path.write_text(text)
    command = [str(Path(sys.executable).with_name("rubric-lint")), "--no-cache", "--isolated", str(path)]
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, check=True)
    code, seconds, megabytes = done.stdout.split()
    return int(code), float(seconds), float(megabytes)


@pytest.mark.parametrize("name", FILES)
def test_the_worst_files_take_little_time_and_memory(name, tmp_path):
    code, seconds, megabytes = measure(name, FILES[name](), tmp_path)
    print(f"{name:28} exit {code}  {seconds:5.2f} s  {megabytes:4.0f} MB")  # noqa: T201 (on demand)
    assert code in {0, 1}
    assert seconds < 20  # at most three seconds on an idle machine
    assert megabytes < 600  # at most 260
