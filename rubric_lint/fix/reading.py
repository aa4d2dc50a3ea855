"""Read a text, and find what formatting and proofs need of it, each of it once."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from rubric_lint.edits.lines import line_start
from rubric_lint.format.criterion import LOWEST, Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.lint.engine import Examined, build_rubrics
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source
from rubric_lint.text.tree import SyntaxFaultError


class Reading:
    """A text with its documents and syntax errors. A proof changes the data of the text that it starts from."""

    def __init__(self, source: Source, settings: FileSettings, examined: Examined | None = None) -> None:
        self.source = source
        self.settings = settings
        self.documents: Sequence[Document]
        self.faults: Sequence[SyntaxFaultError]
        if examined is None:
            self.documents, self.faults = read_documents(source)
        else:  # it was read to be linted
            self.documents, self.faults = examined.documents, examined.faults
            for finding in examined.result.findings:  # before a proof changes the data that their edits depend on
                for fix in (*([finding.fix] if finding.fix else []), *finding.choices):
                    fix.make()
            by_document: dict[int, list[Rubric]] = {id(document): [] for document in self.documents}
            for document, rubric in examined.rubrics:
                by_document[id(document)].append(rubric)
            self.rubrics = list(by_document.values())

    @cached_property
    def rubrics(self) -> list[list[Rubric]]:
        """The rubrics of each document, also those of other systems."""
        return [build_rubrics(document, self.settings) for document in self.documents]

    @cached_property
    def models(self) -> list[Any]:
        """For each document all that scores and verdicts depend on, in a comparable form."""
        return [
            [(each.path, each.shape, [(entry.path, describe(entry)) for entry in each.entries]) for each in rubrics]
            for rubrics in self.rubrics
        ]

    @cached_property
    def outdented(self) -> int:
        """The number of flow collections that continue too far left for YAML 1.2."""
        return sum(map(_count_outdented, self.documents))


def describe(criterion: Criterion) -> Any:
    """Return all of a criterion that decides its score, in a comparable form."""
    # A gate at the lowest score is never missed, so it is the same as none.
    is_idle = criterion.gate == LOWEST and criterion.shapes[0] is not Shape.LEVELS
    bands = [(band.lower, band.upper, band.outcome) for band in criterion.scale.bands] if criterion.scale else None
    levels = [(level.number, level.name, level.outcome) for level in criterion.levels or ()]
    gate = None if is_idle else criterion.gate
    return criterion.id, criterion.shapes, criterion.outcome, criterion.weight, gate, bands, levels


def _count_outdented(document: Document) -> int:
    """Count the flow collections that continue at or before the column of their key or dash, which YAML 1.2 forbids."""
    code, count = document.tree.code, 0
    for node, path in document.paths.items():
        if not path or not node.flow_style or document.is_flow(path):
            continue
        span = document.span(path)
        own = document.span(path, Part.KEY).start if isinstance(path[-1], str) else code.rfind("-", 0, span.start)
        column = own - line_start(code, own)
        _, *lines = re.split(r"\r\n|\r|\n", code[span.start : span.end])
        count += any(line.strip() and len(line) - len(line.lstrip(" \t")) <= column for line in lines)
    return count
