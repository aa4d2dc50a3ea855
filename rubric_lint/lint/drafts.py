"""Lint data that comes from a table, and report what is found at its cells."""

from typing import NamedTuple

from rubric_lint.dialects.tables.cells import Place
from rubric_lint.dialects.tables.drafts import Draft
from rubric_lint.finding import Finding
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema_files import CURRENT
from rubric_lint.lint.engine import Examined, examine
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.path import Path
from rubric_lint.text.source import Source

_NAME = "table.rubric.json"


class Drafted(NamedTuple):
    """The result for a draft, whose findings name other places as the table does."""

    draft: Draft
    examined: Examined

    @property
    def findings(self) -> tuple[tuple[Place, Finding], ...]:
        """The findings, each with its place in the table."""
        source = self.examined.result.source
        return tuple((self._at(source, finding.span.start), finding) for finding in self.examined.result.findings)

    @property
    def rubric(self) -> Rubric | None:
        """The rubric; None if it is not valid."""
        for document, rubric in self.examined.rubrics:
            if rubric.schema.is_valid(document.value(rubric.path)):
                return rubric
        return None

    def place(self, path: Path) -> Place:
        """Return the place in the table of a part of the rubric."""
        ((document, _),) = self.examined.rubrics
        return self._at(document.source, document.span(path).start)

    def _at(self, source: Source, offset: int) -> Place:
        return self.draft.places[source.position(offset).line - 1]


def examine_draft(draft: Draft, settings: FileSettings) -> Drafted:
    """Lint a draft as a rubric file of the current version."""

    def name_line(number: int) -> str:
        return draft.places[number - 1].short

    settings = settings._replace(claimed=True, is_rubric_file=True, is_test_file=False, version=CURRENT)
    return Drafted(draft, examine(Source(_NAME, draft.text), settings, name_line=name_line))
