"""Look at the rubrics of a file with the results of judges, and place what the rules find."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rubric_lint.agree.judged.decision import Decision, Spot
from rubric_lint.agree.judged.review import Review, Reviewer
from rubric_lint.agree.judged.sources import Sources
from rubric_lint.finding import Place, Problem
from rubric_lint.format.rubric import Rubric
from rubric_lint.lint.found import Found
from rubric_lint.scoring.loading import DECIDING, Loaded, RubricError, name_rubrics
from rubric_lint.scoring.places import RubricPlaces
from rubric_lint.scoring.places import Spot as WrittenSpot
from rubric_lint.text.document import Document


class JudgedLook:
    """Finds problems in the rubrics of the file `name`; `reviews` has what each rubric's results show.

    `is_only`: no other rubric is meant by records that name none.
    """

    def __init__(self, reviewer: Reviewer, sources: Sources, name: str, *, is_only: bool) -> None:
        self._reviewer = reviewer
        self._sources = sources
        self._name = name
        self._is_only = is_only
        self.reviews: list[Review] = []

    def __call__(self, rubrics: Sequence[tuple[Document, Rubric]], found: Sequence[Found]) -> Iterator[Found]:
        """Yield what judged data show; a rubric with errors that decide scores is not looked at."""
        self.reviews = []
        named = name_rubrics(self._name, rubrics)
        counts = Counter(loaded.name for loaded in named)
        for loaded in named:
            review, decisions = self._review(loaded, found, counts[loaded.name])
            self.reviews.append(review)
            places = RubricPlaces(loaded)
            for decision in decisions:
                yield Found(decision.rule, _place(decision, places), loaded.document, loaded.rubric)

    def _review(self, loaded: Loaded, found: Sequence[Found], namesakes: int) -> tuple[Review, Sequence[Decision]]:
        if namesakes > 1:
            return Review(loaded.name, fault=f"{namesakes} rubrics of the file have this name; give each its own"), ()
        if rules := sorted({each.rule for each in found if _is_decisive(each, loaded)}):
            return Review(loaded.name, fault=f"the rubric has errors ({', '.join(rules)}); fix them first"), ()
        try:
            rubric = loaded.prepare()
        except RubricError as fault:
            return Review(loaded.name, fault=str(fault)), ()
        review = self._reviewer.review(rubric, self._sources, takes_unnamed=self._is_only)
        return review, review.decisions


def _is_decisive(found: Found, loaded: Loaded) -> bool:
    """Return whether an error makes the scores of a rubric ambiguous; one outside all rubrics may be about any."""
    of_rubric = found.rubric is loaded.rubric or (found.rubric is None and found.document is loaded.document)
    return found.rule in DECIDING and of_rubric


def _place(decision: Decision, places: RubricPlaces) -> Problem:
    """Return the problem of a decision at its place in the document."""
    problem = places.problem(_find_spot(decision.spot, places), decision.code, decision.values)
    if decision.other is None:
        return problem
    other = places.problem(_find_spot(decision.other, places))
    return problem._replace(related=(Place("the other criterion", other.path, other.part),))


def _find_spot(spot: Spot, places: RubricPlaces) -> WrittenSpot:
    if spot.criterion is None:
        return places.whole
    if spot.answer is not None:
        return places.answer(spot.criterion, spot.answer)
    return places.gate(spot.criterion) if spot.is_gate else places.criterion(spot.criterion)
