"""Sets the version: in `rubric_lint/version.py`, and in files of npm and Markdown, that cannot read it.

`python .ci/set_version.py 1.2.3`; tests/repository/test_version.py fails when a place is left out.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = {
    "rubric_lint/version.py": r'(__version__ = ")([^"]+)',
    "vscode/package.json": r'(^  "version": ")([^"]+)',
    "vscode/package-lock.json": r'(^  "version": "|^      "name": "rubric-lint",\n      "version": ")([^"]+)',
}
# How pages name a release of this project: in a requirement, and as a tag of its repository.
MENTION = (
    r"((?<![\w-])rubric-lint(?:\[[\w,]+\])?==|(?<![\w-])rubric-lint/rubric-lint@v"
    r"|github\.com/rubric-lint/rubric-lint\n\s+rev: v)"
    r"(\d+\.\d+\.\d+)"
)


def find_pages() -> list[str]:
    """Return the files that may name a release. Changelogs and tests name other releases, too."""
    patterns = ("*", ".github/**/*", "docs/**/*", "vscode/*")
    paths = (path for pattern in patterns for path in ROOT.glob(pattern) if path.suffix in {".md", ".yml", ".yaml"})
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    return sorted(name for name in names if not name.endswith("CHANGELOG.md"))


def find_places() -> Iterator[tuple[str, str]]:
    """Yield each place that repeats the version: the file, and its current number."""
    for name, pattern in [*FILES.items(), *((name, MENTION) for name in find_pages())]:
        for _, version in re.findall(pattern, (ROOT / name).read_text("utf-8"), re.MULTILINE):
            yield name, version


def main() -> int:
    """Write the version given as the argument everywhere."""
    (version,) = sys.argv[1:]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        print(f"{version} is not a version such as 1.2.3; the VS Code Marketplace takes no other form")
        return 1
    for name in sorted({name for name, _ in find_places()}):
        path = ROOT / name
        text = re.sub(FILES.get(name, MENTION), rf"\g<1>{version}", path.read_text("utf-8"), flags=re.MULTILINE)
        path.write_text(text, "utf-8")
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
