"""Report files whose name or schema says that they hold rubrics, but which have none."""

from collections.abc import Iterator, Sequence

from rubric_lint.dialects.search.locate import find_claim, find_claim_span
from rubric_lint.finding import Problem
from rubric_lint.format.recognition import FIELD
from rubric_lint.format.schema_files import catalogue
from rubric_lint.messages import find_near, join_words
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part


def find_absence(documents: Sequence[Document], settings: FileSettings) -> Iterator[tuple[Document, Problem]]:
    """Find documents without rubrics whose file name or schema promises some, or whose schema version is unknown."""
    for document in documents:
        claim = find_claim(document)
        if claim and not claim.is_known:
            if (span := find_claim_span(document)) is None:
                continue  # the comment above the first document, where it is said
            known = join_words(sorted({entry.version for entry in catalogue() if entry.name == claim.name}))
            values = {"known": known, "version": claim.version}
            yield document, Problem("unknown-version", (), values=values, span=span)
        elif settings.is_rubric_file or (claim and claim.name == "rubric"):
            yield document, _find_missing(document.data)
            return


def _find_missing(data: object) -> Problem:
    if isinstance(data, dict) and (near := find_near(FIELD, data)):
        return Problem("no-rubrics-misspelt", (near[0],), Part.KEY, {"near": near[0]})
    return Problem("no-rubrics", (), Part.HEAD)
