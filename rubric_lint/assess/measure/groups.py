"""Measure how a judge treats the answers of each group, such as those in each language."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rubric_lint.assess.agreement.ratings import Ratings, sort_keys
from rubric_lint.assess.agreement.units import EMPTY, OTHER, AnswerContext
from rubric_lint.assess.measure.labelled import LabelledAnswers
from rubric_lint.assess.measure.shares import Shares, measure_shares
from rubric_lint.model.messages import join_words, pluralize
from rubric_lint.scoring.ids import Key, name_key

ERROR = Fraction(1, 40)
"""The probability with which a judge that is not good enough may be called trusted."""

MOST_GROUPS = 12
"""The most values of a field by which answers are grouped."""


def find_level(looks: int, parts: int) -> float:
    """Return the probability with which each bound may be wrong; looks, and judges or groups, share it."""
    return float(ERROR / looks / parts)


@dataclass(frozen=True)
class JudgeShares:
    """How a judge treats the labelled answers with the ids `keys`, which are all of them or those of a `group`."""

    judge: str
    shares: Shares
    keys: tuple[Key, ...]
    group: str | None = None

    def name_all(self, places: Sequence[int]) -> list[str]:
        """Return the ids of answers by their places."""
        return [name_key(self.keys[place]) for place in places]

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        group = {} if self.group is None else {"group": self.group, "labelled": self.shares.people.labelled}
        return {
            "judge": self.judge,
            **group,
            "bad_caught": self.shares.bad_caught,
            "good_passed": self.shares.good_passed,
        }


def measure_groups(
    ratings: Ratings, labelled: Mapping[str, LabelledAnswers], field: str, look: int = 1
) -> Iterator[JudgeShares]:
    """Yield the shares of each group of answers by a field, those of most answers first; they share the errors."""
    members: dict[str, set[Key]] = defaultdict(set)
    for key, context in ratings.about.items():
        if field in context.fields:
            members[context.fields[field]].add(key)
    with_label = set().union(*(answers.keys for answers in labelled.values()))
    groups = {name: frozenset(keys & with_label) for name, keys in members.items() if keys & with_label}
    level = find_level(look, max(len(labelled) * len(groups), 1))
    for name in sorted(groups, key=lambda group: (-len(groups[group]), group)):
        for judge, answers in labelled.items():
            part = answers.narrow(groups[name])
            yield JudgeShares(judge, measure_shares(part.answers, level), part.keys, name)


def format_ungrouped(ratings: Ratings, labelled: Collection[Key], field: str) -> str:
    """Say how many labelled answers are in no group, by what is wrong with the field; empty if none is."""
    abouts = [ratings.about.get(key, AnswerContext()) for key in labelled] if field else []
    reasons = Counter(context.unusable.get(field, "without") for context in abouts if field not in context.fields)
    if not reasons:
        return ""
    parts = [f"{reasons[why]:,} {why} `{field}`" for why in ("without", EMPTY, OTHER) if reasons[why]]
    return f"Labelled {pluralize(reasons.total(), 'answer')} in no group: {join_words(parts)}."


def count_values(contexts: Collection[AnswerContext]) -> dict[str, int]:
    """Return how many values each field has that at least half of the answers have."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for context in contexts:
        for name, value in context.fields.items():
            values[name][value] += 1
    return {name: len(counts) for name, counts in values.items() if 2 * counts.total() >= len(contexts)}


def list_grouping_fields(ratings: Ratings) -> Iterator[str]:
    """Yield the fields of judged answers by which they could be grouped."""
    judged = sort_keys(ratings.judged)
    for name, count in count_values([ratings.about[key] for key in judged if key in ratings.about]).items():
        # A field with nearly as many values as answers, such as the id of a session, groups nothing.
        if 2 <= count <= MOST_GROUPS and 2 * count <= len(judged):
            yield name
