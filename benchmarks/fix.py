"""Renames and removes deprecated fields twice, by rubric-fix and by ruamel.yaml's load and dump, and compares.

Run it with the Python that rubric-lint is installed for: on the files that are named, or on generated ones.
"""

import argparse
import difflib
import io
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import generate
from lint import table
from ruamel.yaml import YAML

from rubric_lint.dialects.search.locate import locate
from rubric_lint.fix import fix
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

# The lines in which the fields stand that are to change, and those that take their place.
CONCERNED = re.compile(r"""\s*(?:-\s+)?["']?(?:description|required|expected_outcome|required_min_score)["']?\s*:""")


class Outcome(NamedTuple):
    """What one way of fixing came to: files, changed lines, those that hold no field of concern, and seconds."""

    files: int
    changed: int
    unrelated: int
    failed: int
    seconds: float


def old_format(text: str) -> str:
    """A generated suite as the first version of the format would have it."""
    return text.replace("expected_outcome: ", "description: ").replace("required_min_score: 10", "required: true")


def fix_ours(name: str, data: bytes) -> bytes:
    """What rubric-fix makes of a file, proof included."""
    return fix(name, data).data


def dump_again(tuned: bool) -> Callable[[str, bytes], bytes]:
    """The same by loading, changing and dumping; `tuned`: with all settings that keep more of the text."""

    def rewrite(name: str, data: bytes) -> bytes:
        yaml = YAML()
        if tuned:
            yaml.preserve_quotes = True
            yaml.width = 100_000
            yaml.indent(mapping=2, sequence=4, offset=2)
        source = Source.from_bytes(name, data)
        paths = [location.path for location in locate(read_documents(source)[0][0])]
        suite = yaml.load(source.text)
        for path in paths:
            rubrics = suite
            for step in path:
                rubrics = rubrics[step]
            for criterion in rubrics:
                migrate(criterion)
        stream = io.StringIO()
        yaml.dump(suite, stream)
        return source.to_bytes(stream.getvalue())

    return rewrite


def migrate(criterion: Any) -> None:
    """Rename and remove the deprecated fields of a criterion and its bands, each new field in the old one's place."""
    if not isinstance(criterion, dict):
        return
    bands = criterion.get("score_ranges")
    for mapping in [criterion, *(bands if isinstance(bands, list) else ())]:
        for old, new in (("description", "expected_outcome"), ("required", "required_min_score")):
            if old in mapping:
                at, value = list(mapping).index(old), mapping.pop(old)
                if value is not False:
                    mapping.insert(at, new, 10 if value is True else value)


def compare(paths: list[Path], way: Callable[[str, bytes], bytes]) -> Outcome:
    """Fix all files in memory, and count what has changed."""
    changed = unrelated = failed = 0
    start = time.perf_counter()
    results = []
    for path in paths:
        data = path.read_bytes()
        try:
            results.append((data, way(path.name, data)))
        except Exception as fault:
            print(f"{path}: {type(fault).__name__}: {fault}", file=sys.stderr)
            failed += 1
    seconds = time.perf_counter() - start
    for old, new in results:
        lines = list(changed_lines(*(data.decode().splitlines() for data in (old, new))))
        changed += len(lines)
        unrelated += sum(not CONCERNED.match(line) for line in lines)
    return Outcome(len(paths), changed, unrelated, failed, seconds)


def changed_lines(old: list[str], new: list[str]) -> Iterator[str]:
    """The lines of each text that the other one does not have at that place."""
    for _, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if old[start:end] != new[new_start:new_end]:
            yield from old[start:end]
            yield from new[new_start:new_end]


def main() -> int:
    """Compare, print the table, and return 1 when rubric-fix has changed a line that it should not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="YAML files; without any, files are generated")
    parser.add_argument("--files", type=int, default=200, help="how many files are generated")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = options.paths
        if not paths:
            paths = generate.write(Path(folder), options.files)
            for path in paths:
                path.write_text(old_format(path.read_text("utf-8")), "utf-8")
        fix_ours("warm.yaml", b"rubrics: [{id: a, description: b}]")
        ways = {
            "rubric-fix": fix_ours,
            "ruamel.yaml, default": dump_again(tuned=False),
            "ruamel.yaml, tuned": dump_again(tuned=True),
        }
        outcomes = {name: compare(paths, way) for name, way in ways.items()}
    ours = outcomes["rubric-fix"]
    rows = (
        (
            name,
            *map("{:,}".format, outcome[:4]),
            f"{outcome.seconds:.2f}",
            f"{outcome.seconds / ours.seconds:.1f}",
        )
        for name, outcome in outcomes.items()
    )
    print(table(("in memory", "files", "changed lines", "unrelated ones", "failed", "s", "x rubric-fix"), *rows))
    return 1 if ours.unrelated or ours.failed else 0


if __name__ == "__main__":
    sys.exit(main())
