"""Define a rule: its name, its severity, its function, and the page that explains it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.messages import HOME
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.triggers import Trigger
from rubric_lint.source.path import Part

FixKind = Literal["safe", "unsafe"]


class Rule(NamedTuple):
    """One kind of problem in a rubric.

    `messages` are the texts of what it says, by code; names in braces are filled in with the values of a problem.
    `check` finds it; None for rules of the text, the schemas or the comments. `fix` is the kind of fix that its
    findings may have. `marks` are the parts that findings may mark of the value at their pointer. `command` is the
    program that finds it. `choices` are the fixes of which only an author can pick one, each with what it does.
    `check` runs for rubrics that show the `trigger`. A rule that reports `once` has one finding for all such criteria
    of a rubric, so an ignore comment on any of them is in use. For people who know no statistics, `finds` is what it
    finds, `brief` has by code what of a message they need, `finds_of` by code what it finds if that is not `finds`, and
    `shows` is what its silence says.
    """

    name: str
    severity: Severity
    messages: Mapping[str, str]
    check: Callable[[Rubric], Iterator[Problem]] | None = None
    fix: FixKind | None = None
    marks: tuple[Part, ...] = (Part.VALUE,)
    command: str = "rubric-lint"
    choices: Mapping[str, str] = MappingProxyType({})
    trigger: Trigger = "any"
    once: bool = False
    finds: str = ""
    shows: str = ""
    brief: Mapping[str, str] = MappingProxyType({})
    finds_of: Mapping[str, str] = MappingProxyType({})

    @property
    def kinds(self) -> str:
        """The kinds of fixes that its findings may have, in words; empty for none."""
        kinds: list[str] = [self.fix] if self.fix else []
        if self.choices:
            kinds.append("choice")
        return ", ".join(kinds)

    @property
    def page_file(self) -> Path:
        """The path of the rule's page."""
        return Path(__file__).with_name(f"{self.name.replace('-', '_')}.md")

    @property
    def page(self) -> str:
        """The page of the rule, in Markdown."""
        return self.page_file.read_text("utf-8")

    @property
    def url(self) -> str:
        """The URL of the page on the site."""
        return f"{HOME}rules/{self.name}/"

    @property
    def summary(self) -> str:
        """The one-sentence summary of the rule: the first paragraph of its page."""
        return self.page.split("\n\n", 2)[1].replace("\n", " ").strip()

    def write(self, code: str, values: Mapping[str, object]) -> str:
        """Return one of the messages with values filled in."""
        return self.messages[code].format_map(values)

    def write_plainly(self, code: str, values: Mapping[str, object]) -> str:
        """Write a finding without statistics: what the rule finds, and what one of the messages says of it."""
        finds = self.finds_of.get(code, self.finds)
        return ": ".join(filter(None, (finds, self.brief.get(code, "").format_map(values))))

    def to_json(self) -> dict[str, Any]:
        """Return the name, severity, kind of fix, choices, summary and URL for the lists of rules in JSON."""
        data: dict[str, Any] = {"name": self.name, "severity": self.severity.value, "fix": self.fix}
        if self.choices:
            data["choices"] = dict(self.choices)
        return {**data, "summary": self.summary, "url": self.url}


_SCHEMA_MESSAGES = {
    "unexpected": "{subject} {found}, expected {expected}",
    "unquoted": "{subject} {found}, expected {expected}; put it in quotes",
    "tagged": "{subject} {found}, expected {expected}; remove the tag `{tag}` and put it in quotes",
    "minimum": "{subject} {found}, expected at least {least}",
    "empty": "`{field}` is an empty {kind}, expected {expected}",
    "bare-verdict": "{subject} {found}, expected {expected}; write `{field}: {{verdict: {verdict}}}`",
    "range-string": "{subject} {found}, expected {expected}; write `{range}`",
    "items": "`{field}` has {count}, expected {expected}",
    "none-counts": "`{field}` holds none that counts, expected {expected}",
    "misplaced": "`{field}` is not allowed here: {reason}",
    "range-key": (
        "`score_ranges` has the key `{key}`; write a list of bands with `score_range: [{low}, {high}]` and "
        "`expected_outcome`"
    ),
    "range-keys": (
        "`score_ranges` has the key `{key}`; the short form has the lowest score of each band, and ends it below the "
        "next one: write {starts}"
    ),
    "named-keys": (
        "`levels` has the keys {names}, expected integers; write 1 and so on from the worst to the best, or a list "
        "with `level`, `name` and `expected_outcome`"
    ),
    "names": "`levels` is a list of names; give each its number: `levels: {{{numbered}}}`",
}


def of_schema(*codes: str) -> dict[str, str]:
    """Return texts about values that violate a schema, which may leave them to several rules; without codes, all."""
    return {code: _SCHEMA_MESSAGES[code] for code in codes or _SCHEMA_MESSAGES}
