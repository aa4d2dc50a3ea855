"""The pages of the rules, taken apart: what they say, and the examples that tests hold them to.

`make docs` writes what the linter now makes of the flagged examples into the pages.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rubric_lint.lint import Result, lint
from rubric_lint.report import REPORTERS, Look

RULES = Path(__file__).parent.parent / "rubric_lint/rules"
DIALECTS = RULES.parent / "interop"

_SECTION = re.compile(r"^## (.*)\n", re.MULTILINE)
_LINES = r"(?:(?!```).*\n)*"
_EXAMPLE = rf"^```(?P<kind>yaml|json|jsonl)\n(?P<text>{_LINES})```\n"
_ACCEPTED = re.compile(_EXAMPLE, re.MULTILINE)
_FLAGGED = re.compile(
    rf"{_EXAMPLE}\n```text\n(?P<report>{_LINES})```\n(?:\nFixed:\n\n```(?P=kind)\n(?P<fixed>{_LINES})```\n)?",
    re.MULTILINE,
)


class Example(NamedTuple):
    """A file that a page shows. A flagged one has its `report`, and the `fixed` text where a finding has a fix."""

    label: str
    name: str
    text: str
    report: str = ""
    fixed: str | None = None

    def lint(self) -> Result:
        """What the linter makes of it."""
        return lint(self.name, self.text.encode())


class Page(NamedTuple):
    """One rule's page. `sections` are the texts below each heading, in order."""

    stem: str
    title: str
    summary: str
    sections: dict[str, str]
    flagged: tuple[Example, ...]
    accepted: tuple[Example, ...]


def read_pages(folder: Path = RULES) -> list[Page]:
    """All pages of a folder, by file name."""
    return [_read_page(path) for path in sorted(folder.glob("*.md"))]


def _read_page(path: Path) -> Page:
    head, *rest = _SECTION.split(path.read_text("utf-8"))
    title, summary = head.strip().split("\n\n")
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    return Page(
        path.stem,
        title,
        summary,
        sections,
        tuple(_read_examples(_FLAGGED, sections["Flagged"], f"{path.stem}-flagged")),
        tuple(_read_examples(_ACCEPTED, sections["Accepted"], f"{path.stem}-accepted")),
    )


def _read_examples(form: re.Pattern[str], section: str, label: str) -> Iterator[Example]:
    assert "```" not in form.sub("", section), f"a fence that belongs to no example:\n{form.sub('', section)}"
    for number, found in enumerate(form.finditer(section), start=1):
        parts = found.groupdict()
        yield Example(f"{label}-{number}", f"example.{parts.pop('kind')}", **parts)


_CRITERION = re.compile(r"criterion (?:`[^`]*`|\d+): ")


def unnamed(message: str) -> str:
    """A message without the criterion that it begins with."""
    return _CRITERION.sub("", message, count=1)


def report(result: Result) -> str:
    """The findings as the command prints them, without colour and summary."""
    pieces: list[str] = []
    REPORTERS["full"](pieces.append, Look(quiet=True)).add(result)
    return "".join(pieces)


def apply_fixes(result: Result) -> str:
    """The text after all fixes of all findings."""
    text = result.source.text
    edits = {edit for finding in result.findings if finding.fix for edit in finding.fix.edits}
    for (start, end), new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _renew(found: re.Match[str]) -> str:
    """A flagged example of a page with the report and the fixed text that it gives now."""
    kind, text = found["kind"], found["text"]
    result = lint(f"example.{kind}", text.encode())
    shown = f"```{kind}\n{text}```\n\n```text\n{report(result)}```\n"
    if any(finding.fix for finding in result.findings):
        shown += f"\nFixed:\n\n```{kind}\n{apply_fixes(result)}```\n"
    return shown


def write_all() -> None:
    """Write what the linter now makes of the flagged examples into the pages of rules and dialects."""
    for page in (*RULES.glob("*.md"), *DIALECTS.glob("*.md")):
        page.write_text(_FLAGGED.sub(_renew, page.read_text("utf-8")), "utf-8")
