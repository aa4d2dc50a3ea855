"""Make the fixes of a file, one by one."""

from collections.abc import Collection, Mapping

from rubric_lint.finding import Finding, Fix, Problem, Repair
from rubric_lint.lint.edits import ObstacleError, Sharing, make_fix
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path


class Mending:
    """Makes fixes; who shares what is worked out once for each document, given the paths of its rubrics.

    `is_claimed`: the name of the file or the settings say that its rubrics are ours.
    """

    def __init__(self, rubrics: Mapping[Document, Collection[Path]], *, is_claimed: bool) -> None:
        self._rubrics = rubrics
        self._is_claimed = is_claimed
        self._sharings: dict[Document, Sharing] = {}

    def mend(self, document: Document, problem: Problem, finding: Finding) -> Finding:
        """Return the finding of a problem with its fixes, or with what is in the way of all of them."""
        plain, obstacle = self._mend(document, problem.repair) if problem.repair else (None, "")
        choices = []
        for repair in problem.choices:
            fix, told = self._mend(document, repair)
            obstacle = obstacle or told
            choices += [fix] if fix else []
        obstacle = "" if plain or choices else obstacle
        return finding._replace(fix=plain, obstacle=obstacle, choices=tuple(choices))

    def _mend(self, document: Document, repair: Repair) -> tuple[Fix | None, str]:
        """Return one fix, or what is in its way."""
        if (sharing := self._sharings.get(document)) is None:
            sharing = self._sharings[document] = Sharing(document, self._rubrics.get(document, ()), self._is_claimed)
        try:
            return make_fix(sharing, repair), ""
        except ObstacleError as obstacle:
            return None, str(obstacle)
