"""Find what the judge outputs that the settings name show about the rubrics of a document."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rubric_lint.agree.judged.run import Reviewer, Shelf
    from rubric_lint.lint.found import Also


class JudgedDocuments:
    """Keeps the judge outputs that were read, and what they show, until a file or the meaning of a rubric changes."""

    def __init__(self) -> None:
        self._kept: tuple[Shelf, Reviewer] | None = None

    def look(
        self, paths: tuple[tuple[str, ...], tuple[str, ...]], name: str
    ) -> "tuple[Also, tuple[tuple[str, str], ...]]":
        """Return what to look for in a document, and the files of records that cannot be read, with the reasons.

        An editor does not know the rubrics of other files, so a record that names none counts only if its hash, or the
        name of its file, is that of the rubric.
        """
        # The scorer takes a while to load, and few projects name judge outputs.
        from rubric_lint.agree.judged.run import (  # noqa: PLC0415
            JudgedLook,
            Reviewer,
            Shelf,
            open_sources,
        )

        if self._kept is None:
            self._kept = Shelf(), Reviewer()
        shelf, reviewer = self._kept
        sources = open_sources(shelf, *paths)
        return JudgedLook(reviewer, sources, name, is_only=False), sources.unreadable
