"""Find what a table of the settings can describe in documents: rubrics of other systems, or of a team's own form."""

from collections.abc import Sequence
from typing import Any

from rubric_lint.formats.home_made.candidate import TITLE, Candidate
from rubric_lint.formats.home_made.format_table import YES_NO
from rubric_lint.formats.home_made.understand import Hints
from rubric_lint.formats.search.describable import describe, find_criteria
from rubric_lint.formats.search.locate import search
from rubric_lint.model.view import View
from rubric_lint.source.document import Document


def find_describable(documents: Sequence[Document], hints: Hints) -> list[Candidate]:
    """Return the candidates that a table can describe, in documents of which the user says that they hold criteria."""
    scale = hints.scale or YES_NO
    found: list[Candidate] = []
    others: list[Document] = []
    alike: dict[tuple[str, int, Any], list[View]] = {}
    for document in documents:
        views = [location.view for location in search(document).rubrics if location.view]
        are_known = all(view.dialect.title != TITLE and describe([view], scale) for view in views)
        if views and are_known:
            for view in views:
                alike.setdefault((view.dialect.name, len(view.path), view.path[-1:]), []).append(view)
        else:
            others.append(document)
    for views in alike.values():
        together = describe(views, scale, is_open=True)
        candidates = [together] if together else [describe([view], scale) for view in views]
        found += [candidate for candidate in candidates if candidate]
    return found + find_criteria(others, hints) if others else found
