"""The pages of the rules, taken apart: what they say, and the examples that tests hold them to.

`make renew` writes what the linter now makes of the flagged examples into the pages.
"""

import contextlib
import re
import tempfile
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rubric_lint.assess.judged.review import JudgedRun, RecordCache
from rubric_lint.assess.rubric_tests.reviewing import review
from rubric_lint.assess.rubric_tests.running import Runner
from rubric_lint.lint.engine import DEFAULTS, lint
from rubric_lint.lint.project.files import File
from rubric_lint.lint.project.settings import NAMES, Settings, SettingsFinder
from rubric_lint.model.finding import Result
from rubric_lint.report import REPORTERS, Style
from rubric_lint.rules import JUDGED_RULES
from rubric_lint.rules import RULES as RULES_TABLE
from rubric_lint.rules.rule import Rule

RULES = Path(__file__).parent.parent / "rubric_lint/rules"
DIALECTS = RULES.parent / "formats/dialects"

_SECTION = re.compile(r"^## (.*)\n", re.MULTILINE)
_LINES = r"(?:(?!```).*\n)*"
_FILES = rf"(?P<files>(?:^```\w+ title=\"[^\"]+\"\n{_LINES}```\n\n)*)"
_EXAMPLE = rf"{_FILES}^```(?P<kind>yaml|json|jsonl|python|toml)\n(?P<text>{_LINES})```\n"
_TITLED = re.compile(
    rf"^```\w+ title=\"(?P<name>[^\",]+)(?:, each line (?P<times>\d+) times)?\"\n(?P<text>{_LINES})```\n", re.MULTILINE
)
_JUDGED, _LABELS = "answers.jsonl", "labels.jsonl"
"""The names of files of judge outputs and of labels on the pages of rules on judged data."""
_ACCEPTED = re.compile(_EXAMPLE, re.MULTILINE)
_REPORT = rf"\n```text\n(?P<report>{_LINES})```\n(?:\nFixed:\n\n```(?P=kind)\n(?P<fixed>{_LINES})```\n)?"
_FLAGGED = re.compile(_EXAMPLE + _REPORT, re.MULTILINE)
_UNREAD = re.compile(f"{_EXAMPLE}(?:{_REPORT})?", re.MULTILINE)
_SHOWN = re.compile(r"^## Flagged\n(?:(?!## ).*\n)*", re.MULTILINE)
_MESSAGES = re.compile(r"\n## Messages\n(?:(?!## ).*\n)*", re.MULTILINE)


class Example(NamedTuple):
    """A file that a page shows. A flagged one has its `report`, and the `fixed` text where a finding has a fix.

    `files` has the texts of the files that the page shows above it, each with its title.
    """

    label: str
    name: str
    text: str
    report: str = ""
    fixed: str | None = None
    files: str = ""

    def lint(self) -> Result:
        """What the command of its rule makes of it."""
        return find(self.label.partition("-")[0], self.name, self.text, self.files)


def find(stem: str, name: str, text: str, files: str) -> Result:
    """What the program of a rule finds in a file, and in those shown above it."""
    rule = next((rule for rule in RULES_TABLE if rule.name == stem.replace("_", "-")), None)
    if rule is None or rule.command == "rubric-lint":
        tables = next((found["text"] for found in _TITLED.finditer(files) if found["name"] == NAMES[0]), "")
        settings = Settings.from_table(Path.cwd(), Path(NAMES[0]), tomllib.loads(tables)).for_file(name)
        return lint(name, text.encode(), settings if tables else DEFAULTS)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for found in _TITLED.finditer(files):
            Path(found["name"]).write_text(_repeat(found["text"], int(found["times"] or 1)), "utf-8")
        Path(name).write_text(text, "utf-8")
        finder = SettingsFinder(isolated=True)
        if rule.name in JUDGED_RULES:
            run = JudgedRun(finder, ((_JUDGED,), (_LABELS,) if Path(_LABELS).exists() else ()), RecordCache())
            file = File(name, finder.for_file(name))
            ((_, judged),) = run.judge_all([(file, lint(name, text.encode(), file.settings))])
            return judged
        runner = Runner(finder)
        tests = next(path.name for path in sorted(Path().glob("*.rubric-test.yaml")))
        file = File(tests, finder.for_file(tests))
        results = [(file, runner.run(file))]
        results += review(runner, {"untested": ["coverage"], "unnoticed-change": ["mutation"]}.get(rule.name, ()))
        return next(result for each, result in results if each.name == name)


_SUFFIXES = {"python": "py"}


def _repeat(text: str, times: int) -> str:
    """A file of records in which each line occurs several times, with ids of its own: `a-1`, `a-2`."""
    if times == 1:
        return text
    name = re.compile(r'^\{"id": "([^"]+)"', re.MULTILINE)
    return "".join(name.sub(rf'{{"id": "\1-{number}"', text) for number in range(1, times + 1))


def _name(stem: str, kind: str, text: str) -> str:
    """The name of the file of an example: one with rubric tests is named as such."""
    if text.startswith("rubric:"):
        return f"example.rubric-test.{kind}"
    kind = _SUFFIXES.get(kind, kind)
    is_named = stem in {"untested", "unnoticed_change"} or stem.startswith("judged_")
    return f"example.rubric.{kind}" if is_named else f"example.{kind}"


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
    return [read_page(path) for path in sorted(folder.glob("*.md"))]


class PageError(Exception):
    """A page that does not have the form of a page."""


def read_page(path: Path) -> Page:
    """Read one page.

    Raises:
        PageError: when a section or an example is missing, or a fence belongs to no example.
    """
    head, *rest = _SECTION.split(path.read_text("utf-8"))
    title, summary = head.strip().split("\n\n")
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    flagged, accepted = (
        tuple(_read_examples(form, sections, name, path))
        for form, name in ((_FLAGGED, "Flagged"), (_ACCEPTED, "Accepted"))
    )
    return Page(path.stem, title, summary, sections, flagged, accepted)


def _read_examples(form: re.Pattern[str], sections: dict[str, str], name: str, path: Path) -> Iterator[Example]:
    if name not in sections:
        raise PageError(f"{path.name}: there is no section `## {name}`")
    section = sections[name]
    if "```" in (rest := form.sub("", section)):
        raise PageError(f"{path.name}: a fence in `## {name}` belongs to no example:\n{rest.strip()}")
    if not form.search(section):
        raise PageError(f"{path.name}: `## {name}` shows no example in a fence")
    for number, found in enumerate(form.finditer(section), start=1):
        parts = found.groupdict()
        called = _name(path.stem, parts.pop("kind"), parts["text"])
        yield Example(f"{path.stem}-{name.lower()}-{number}", called, **parts)


_CRITERION = re.compile(r"criterion (?:`[^`]*`|\d+): ")


def unnamed(message: str) -> str:
    """A message without the criterion that it begins with."""
    return _CRITERION.sub("", message, count=1)


def report(result: Result) -> str:
    """The findings as the command prints them, without colour and summary."""
    pieces: list[str] = []
    REPORTERS["full"](pieces.append, Style(quiet=True)).add(result)
    return "".join(pieces)


def apply_fixes(result: Result) -> str:
    """The text after all fixes of all findings."""
    text = result.source.text
    edits = {edit for finding in result.findings if finding.fix for edit in finding.fix.edits}
    for (start, end), new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _renew(stem: str, found: re.Match[str]) -> str:
    """A flagged example of a page with the report and the fixed text that it gives now."""
    kind, text = found["kind"], found["text"]
    result = find(stem, _name(stem, kind, text), text, found["files"])
    if not result.findings:
        raise PageError(f"{stem}.md: nothing is found in the flagged example:\n{text}")
    shown = f"{found['files']}```{kind}\n{text}```\n\n```text\n{report(result)}```\n"
    if any(finding.fix for finding in result.findings):
        shown += f"\nFixed:\n\n```{kind}\n{apply_fixes(result)}```\n"
    return shown


def write_page(path: Path) -> None:
    """Write what the linter now makes of the flagged examples into a page; a new one may be without reports as yet.

    Raises:
        PageError: when the page does not have the form of a page then.
    """
    renew = partial(_renew, path.stem)
    text = _SHOWN.sub(lambda found: _UNREAD.sub(renew, found[0]), path.read_text("utf-8"))
    rule = next((rule for rule in RULES_TABLE if rule.page_file.name == path.name), None)
    path.write_text(_MESSAGES.sub("", text) + (list_messages(rule) if rule else ""), "utf-8")
    read_page(path)


def renew_marked(page: Path, mark: str, text: str) -> None:
    """Replace what a page has between `<!-- MARK -->` and `<!-- /MARK -->`; behind a colon in `mark` is a remark."""
    name = mark.partition(":")[0]
    new = f"<!-- {mark} -->\n\n{text}\n\n<!-- /{name} -->"
    old = page.read_text("utf-8")
    page.write_text(re.sub(rf"<!-- {name}.*<!-- /{name} -->", lambda _: new, old, flags=re.DOTALL), "utf-8")


def list_messages(rule: Rule) -> str:
    """The section of a page with the codes and texts of the rule's messages; braces hold what a text leaves open."""
    texts = {code: text.replace("{{", "{").replace("}}", "}") for code, text in rule.messages.items()}
    lines = "".join(f"{rule.name}.{code}: {text}\n" for code, text in texts.items())
    return f"\n## Messages\n\n```text\n{lines}```\n"


def write_all() -> None:
    """Write the pages of rules and dialects."""
    for page in (*RULES.glob("*.md"), *DIALECTS.glob("*.md")):
        write_page(page)
