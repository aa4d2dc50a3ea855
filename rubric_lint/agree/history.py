"""Compare the wordings that a criterion had in Git, as far as results say how each of them measured.

Results belong to the version of the rubric whose hash they carry. No statistic is computed here: figures and tests are
those of agreement and of the rules on judged data.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from rubric_lint.agree.changes import list_judged, pair_rubrics, pair_up
from rubric_lint.agree.coefficients import count_apart
from rubric_lint.agree.intervals import Share, Sides
from rubric_lint.agree.judged.run import RecordFile, Sources
from rubric_lint.agree.judged.table import build_table
from rubric_lint.agree.ratings import Key, Ratings
from rubric_lint.agree.reading import Reader, UnusableError
from rubric_lint.messages import list_names
from rubric_lint.scoring.grading import OVERALL, ScoringRubric
from rubric_lint.scoring.meaning import hash_criteria

_ERROR = Fraction(1, 20)

_MARGIN = Fraction(1, 20)
"""The share of pairs of answers that a wording may tell apart less than another one that it is better than."""


class Version(NamedTuple):
    """The rubrics of a file in one version, by name; the work tree has no `commit`."""

    commit: str
    date: str
    rubrics: Mapping[str, ScoringRubric]


Asked = tuple[Key, int | None]
"""An answer: its id, and a hash of its text and question, because one id may stand for two texts."""


class Wording(NamedTuple):
    """What a judge was told of a criterion, the first version with that, and how it measured.

    `step` has for each answer the band, level or check, `right` whether it is on the side of the label, and `flips`
    whether samples differ, as far as there are labels and several samples.
    """

    hash: str
    commit: str
    date: str
    text: str
    step: Mapping[Asked, int]
    right: Mapping[Asked, bool]
    flips: Mapping[Asked, bool]

    @property
    def apart(self) -> tuple[int, int]:
        """The pairs of answers that it tells apart, and all pairs."""
        return count_apart(self.step.values())

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        return {
            "hash": self.hash,
            "commit": self.commit or None,
            "date": self.date or None,
            "text": self.text,
            "answers": len(self.step),
            "right": Share(sum(self.right.values()), len(self.right)),
            "flips": Share(sum(self.flips.values()), len(self.flips)),
            "pairs_apart": self.apart[0],
            "pairs": self.apart[1],
        }


class Versus(NamedTuple):
    """Two wordings on their common answers: which of these only the first and only the second gets right.

    That is by the labels, else by samples that do not differ; `common` is 0 if nothing can be compared. `apart` has the
    shares of pairs of common answers that each tells apart.
    """

    first: int
    second: int
    by: str = ""
    common: int = 0
    only_first: int = 0
    only_second: int = 0
    apart: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))

    @property
    def better(self) -> int:
        """The wording that is right on more answers."""
        return self.first if self.only_first > self.only_second else self.second

    @property
    def is_blunter(self) -> bool:
        """Whether, by samples, the better one tells fewer pairs apart: one value for all answers never differs."""
        gain = self.apart[0] - self.apart[1]
        return self.by == "samples" and (gain if self.better == self.first else -gain) < -_MARGIN

    @property
    def p(self) -> float | None:
        """McNemar's mid-p by labels, the exact sign test by samples; None if no answer differs."""
        sides = Sides(self.only_first, self.only_second)
        return sides.mid if self.by == "labels" else sides.exact

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        return {**self._asdict(), "by": self.by or None, "apart": [*map(float, self.apart)], "p": self.p}


class Traced(NamedTuple):
    """A criterion with its measured wordings, the newest first; `best` is that which is better than each other one."""

    criterion: str
    wordings: tuple[Wording, ...]
    comparisons: tuple[Versus, ...] = ()
    best: int | None = None


class History(NamedTuple):
    """What is known of a rubric's versions: how many meanings it had, how many of them are `measured`, and `notes`."""

    versions: int
    measured: int
    criteria: tuple[Traced, ...]
    notes: tuple[str, ...] = ()


def list_unmatched(versions: Iterable[Version], results: Iterable[RecordFile]) -> Iterator[str]:
    """Yield how many results belong to no version of the file, and how many do not say it, with their files."""
    known = {rubric.hash for version in versions for rubric in version.rubrics.values()}
    every = {line.text: (line.hash, file.path) for file in results for lines in file.lines.values() for line in lines}
    unknown = [path for judged_by, path in every.values() if judged_by is not None and judged_by not in known]
    without = [path for judged_by, path in every.values() if judged_by is None]
    for paths, why in (
        (unknown, "by a rubric that no version of the file has, with these settings"),
        (without, "without `rubric_hash`, so nothing says which version judged them"),
    ):
        if paths:
            are = "result is" if len(paths) == 1 else "results are"
            yield f"{len(paths):,} {are} {why} ({list_names(sorted(set(paths)), 3)})"


def trace(rubric: ScoringRubric, versions: Sequence[Version], sources: Sources) -> History:
    """Trace the criteria of a rubric through its versions, the newest first."""
    meanings: dict[str, tuple[ScoringRubric, Version]] = {}
    for version in versions:
        pairs = pair_rubrics(version.rubrics, {rubric.name: rubric})
        old = next((pair.old for pair in pairs if pair.new), None)
        if old is not None:
            meanings[old.hash] = meanings.get(old.hash, (old,))[0], version  # the earliest that has it
    every = [(old, version, _read(old, sources)) for old, version in meanings.values()]
    traced = [_trace_criterion(rubric, place, every) for place in range(len(rubric.criteria))]
    measured = sum(ratings is not None for _, _, ratings in every)
    return History(len(every), measured, tuple(each for each in traced if each.wordings))


def _read(rubric: ScoringRubric, sources: Sources) -> Ratings | None:
    """Return the judgements with the hash of this version, and the labels that have it or none."""
    reader = Reader({rubric.name: rubric})
    seen = set[bytes]()
    kinds = (sources.results, {rubric.hash}, False), (sources.labels, {rubric.hash, None}, True)
    for files, allowed, are_labels in kinds:
        for file in files:
            lines = [line for several in file.lines.values() for line in several if line.hash in allowed]
            fresh = [line for line in lines if line.text not in seen]
            seen.update(line.text for line in fresh)
            reader.read_texts(file.path, [(line.number, line.text) for line in fresh], labels=are_labels)
    try:
        ratings = next(iter(reader.gather()), None)
    except UnusableError:
        return None
    return ratings if ratings and ratings.judges else None


_Meaning = tuple[ScoringRubric, Version, Ratings | None]


def _trace_criterion(rubric: ScoringRubric, place: int, meanings: Sequence[_Meaning]) -> Traced:
    found: dict[str, Wording] = {}
    for old, version, ratings in meanings:
        then = _find_place(old, rubric, place)
        if then is None:
            continue
        wording = _measure(old, then, version, ratings)
        newer = found.get(wording.hash, wording)  # its judgement of an answer counts
        step, right, flips = ({**getattr(wording, name), **getattr(newer, name)} for name in ("step", "right", "flips"))
        found[wording.hash] = wording._replace(step=step, right=right, flips=flips)
    wordings = tuple(each for each in found.values() if each.step)
    versus = tuple(_compare(wordings, *pair) for pair in combinations(range(len(wordings)), 2))
    level = _ERROR / max(len(versus), 1)  # shared by the comparisons (Bonferroni)
    wins = Counter(each.better for each in versus if each.p is not None and each.p <= level and not each.is_blunter)
    best = next((number for number, times in wins.items() if times == len(wordings) - 1), None)
    return Traced(rubric.criteria[place].id, wordings, versus, best)


def _find_place(old: ScoringRubric, new: ScoringRubric, place: int) -> int | None:
    """Return the place in an old version of a criterion of the new one, matched as `diff` does."""
    if new.criteria[place].id == OVERALL or not new.model.criteria:
        return 0 if old.shape is new.shape else None
    if old.shape is not new.shape:
        return None
    was = list_judged(old)
    now = list_judged(new)[place]
    partner = next((before for before, after in pair_up(was, list_judged(new)) if after == now), None)
    return was.index(partner) if partner else None


def _measure(rubric: ScoringRubric, place: int, version: Version, ratings: Ratings | None) -> Wording:
    criterion = rubric.criteria[place]
    told = hash_criteria(rubric.model, rubric.criteria)[criterion.id]
    text = " ".join((criterion.outcome or criterion.grades[-1].outcome or "").split())
    found = Wording(told, version.commit, version.date, text, {}, {}, {})
    if ratings is None:
        return found
    table = build_table(ratings, rubric)
    column = table.columns[place]
    texts = {key: each.text for judge in ratings.judges.values() for key, each in judge.items()}
    keys = [(key, texts[key]) for key in table.keys]
    step = {key: column.step(given) for key, given in zip(keys, column.given, strict=True)}
    right = {
        key: column.side(given) == column.side(label)
        for key, given, label in zip(keys, column.given, column.labels, strict=True)
        if label is not None
    }
    flips: dict[Asked, bool] = {}
    for judge in ratings.judges.values():
        for key, each in judge.items():
            if len(each.samples) > 1:
                sides = {column.side(column.measure.positions[answers[place]]) for answers, _ in each.samples}
                flips[key, texts[key]] = flips.get((key, texts[key]), False) or len(sides) > 1
    return found._replace(step=step, right=right, flips=flips)


def _compare(wordings: Sequence[Wording], first: int, second: int) -> Versus:
    one, other = wordings[first], wordings[second]
    if common := one.right.keys() & other.right.keys():
        sides = [(one.right[key], other.right[key]) for key in common]
        by = "labels"
    elif common := one.flips.keys() & other.flips.keys():
        sides = [(not one.flips[key], not other.flips[key]) for key in common]
        by = "samples"
    else:
        return Versus(first, second)
    counts = [count_apart([each.step[key] for key in common]) for each in (one, other)]
    apart = tuple(Fraction(x, n) if n else Fraction(0) for x, n in counts)
    only = sides.count((True, False)), sides.count((False, True))
    return Versus(first, second, by, len(common), *only, (apart[0], apart[1]))
