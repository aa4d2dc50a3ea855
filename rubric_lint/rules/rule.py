"""Define a rule: its name, its severity, its function, and the page that explains it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from rubric_lint.finding import Problem, Severity
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import HOME
from rubric_lint.text.path import Part

FixKind = Literal["safe", "unsafe"]


class Rule(NamedTuple):
    """One kind of problem in a rubric.

    `check` finds it; None for rules of the text, the schemas or the comments. `fix` is the kind of fix that its
    findings may have. `marks` are the parts that findings may mark of the value at their pointer. `command` is the
    program that finds it. `choices` are the fixes of which only an author can pick one, each with what it does.
    """

    name: str
    severity: Severity
    check: Callable[[Rubric], Iterator[Problem]] | None = None
    fix: FixKind | None = None
    marks: tuple[Part, ...] = (Part.VALUE,)
    command: str = "rubric-lint"
    choices: Mapping[str, str] = MappingProxyType({})

    @property
    def kinds(self) -> str:
        """The kinds of fixes that its findings may have, in words; empty for none."""
        return ", ".join([*([self.fix] if self.fix else []), *(["choice"] if self.choices else [])])

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

    def to_json(self) -> dict[str, Any]:
        """Return the name, severity, kind of fix, choices, summary and URL for the lists of rules in JSON."""
        return {
            "name": self.name,
            "severity": self.severity.value,
            "fix": self.fix,
            **({"choices": dict(self.choices)} if self.choices else {}),
            "summary": self.summary,
            "url": self.url,
        }
