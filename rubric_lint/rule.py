"""What a rule is: a name, a severity, a check, and the page that explains it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from rubric_lint.finding import Part, Problem, Severity
from rubric_lint.rubric import Rubric

HOME = "https://github.com/rubric-lint/rubric-lint"
"""Where the project stands on the web."""

FixKind = Literal["safe", "unsafe"]


class Rule(NamedTuple):
    """One kind of fault.

    `check` finds it in a rubric; None for what shows elsewhere: in the text, by the schemas, or in comments. `fix` says
    whether its findings may carry a fix, and of which kind. `marks` are the parts that its findings may mark of what
    their pointer names.
    """

    name: str
    severity: Severity
    check: Callable[[Rubric], Iterator[Problem]] | None = None
    fix: FixKind | None = None
    marks: tuple[Part, ...] = (Part.VALUE,)

    @property
    def page_file(self) -> Path:
        """The file that holds the page of the rule."""
        return Path(__file__).parent / "rules" / f"{self.name.replace('-', '_')}.md"

    @property
    def page(self) -> str:
        """The page of the rule, in Markdown."""
        return self.page_file.read_text("utf-8")

    @property
    def url(self) -> str:
        """Where the page stands on the web."""
        return f"{HOME}/blob/main/rubric_lint/rules/{self.name.replace('-', '_')}.md"

    @property
    def summary(self) -> str:
        """What the rule finds, in one sentence: the first paragraph of its page."""
        return self.page.split("\n\n", 2)[1].replace("\n", " ").strip()
