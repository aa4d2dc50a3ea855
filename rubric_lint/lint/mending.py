"""Make the fixes of a file, one by one."""

from collections.abc import Collection, Mapping

from rubric_lint.finding import Fix, Repair
from rubric_lint.lint.edits import ObstacleError, Sharing, make_fix
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path


class Mending:
    """Makes fixes; who shares what is worked out once for each document, given the paths of its rubrics."""

    def __init__(self, rubrics: Mapping[Document, Collection[Path]]) -> None:
        self._rubrics = rubrics
        self._sharings: dict[Document, Sharing] = {}

    def mend(self, document: Document, repair: Repair) -> tuple[Fix | None, str]:
        """Return the fix of a problem, or what is in its way."""
        if (sharing := self._sharings.get(document)) is None:
            sharing = self._sharings[document] = Sharing(document, self._rubrics.get(document, ()))
        try:
            return make_fix(sharing, repair), ""
        except ObstacleError as obstacle:
            return None, str(obstacle)
