"""Find what a case of a suite shows of the whole file, so that each case can be read like the whole."""

from collections.abc import Iterator, Sequence
from importlib import import_module

from rubric_lint.dialects import find_families
from rubric_lint.dialects.search.locate import OF_AGENTV, OURS, Location, find_meant, is_agentv
from rubric_lint.text.document import Document

RUBRICS = "rubrics"


def find_signs(document: Document, rubrics: Sequence[Location]) -> frozenset[str]:
    """Find the signs of a document for `Source.around`: those that its families and its rubrics show."""
    return frozenset(_find_signs(document, rubrics))


def _find_signs(document: Document, rubrics: Sequence[Location]) -> Iterator[str]:
    for family in find_families(document.quick_text, document.kind, document.source.around):
        module = import_module(f"rubric_lint.dialects.{family.module}")
        yield from module.find_signs(document) if hasattr(module, "find_signs") else ()
    if rubrics:
        yield RUBRICS
    yield from (location.view.dialect.name for location in rubrics if location.view and is_agentv(location))
    meant = find_meant({document: rubrics}, frozenset())
    yield from [OURS] * meant.in_suite + [OF_AGENTV] * meant.of_agentv
