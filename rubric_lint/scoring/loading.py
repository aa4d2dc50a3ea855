"""Load the rubrics of a file, prepare them for scoring in whole numbers of points, and find their places."""

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from rubric_lint.lint.case_names import find_names, find_repeated
from rubric_lint.lint.engine import DEFAULTS, Examined, examine_file, find_shape_problems
from rubric_lint.lint.project.files import format_other_kind, name_other_kind
from rubric_lint.lint.project.opening import LIMIT, read_file
from rubric_lint.lint.project.settings import TEST_SUFFIXES, FileSettings, SettingsFinder, claim_by_name
from rubric_lint.model.arguments import takes
from rubric_lint.model.criterion import HIGHEST, LOWEST, SCORES, SPAN, Criterion, Hundredth, Level, Scale, Shape
from rubric_lint.model.finding import Problem, RelatedPlace, Severity, Unread
from rubric_lint.model.groups import Group
from rubric_lint.model.messages import join_words
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema_files import CURRENT
from rubric_lint.model.suggest import name_in
from rubric_lint.model.view import OWN
from rubric_lint.scoring.form import field_of
from rubric_lint.scoring.grading import OVERALL, AnswerValue, Grade, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.grading import RubricError as RubricError  # noqa: PLC0414 (it is imported from here)
from rubric_lint.scoring.groups import GroupMember, ScoringGroup
from rubric_lint.scoring.meaning import hash_meaning
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path, part_of
from rubric_lint.source.source import Position, Source, Span, as_bytes

_WIDEST = 1000
"""The most digits from the first digit of the largest weight to the last digit of the most precise one."""


class UnscorableError(Exception):
    """A rubric cannot be scored; the message says why."""


def prepare(rubric: Rubric, name: str) -> ScoringRubric:
    """Make a rubric ready for scoring.

    Raises:
        UnscorableError: if the rubric cannot be scored, even if a comment or a setting silences the finding.
    """
    if rubric.shape is None:
        raise UnscorableError("has no criteria")
    shape = _find_shape(rubric)
    drafts = _draft_criteria(rubric, shape)
    _refuse_ambiguous(drafts)
    view = rubric.view
    outline = tree = meaning_tree = units = None
    grades: tuple[tuple[str, Fraction], ...] = ()
    if view:
        outline, units, grades = view.outline, view.units, view.grades
    if view and view.tree:
        tree = meaning_tree = _as_tree(view.tree, [Fraction(draft.weight) for draft in drafts])
        shares = dict(tree.list_shares())
        criteria = tuple(replace(draft, share=shares.get(index, Fraction(0))) for index, draft in enumerate(drafts))
        full = 1
    else:
        weights: Sequence[Decimal | None] = [draft.weight for draft in drafts]
        if outline:
            weights = outline.flatten(weights)
        criteria, full = _give_points(drafts, [weight or Decimal(0) for weight in weights])
        if outline:
            tree = _as_tree(outline, [criterion.share for criterion in criteria], add=True)
    varies = meaning_tree is not None
    lowest: list[Fraction | int] = [Fraction(threshold) * full for threshold in rubric.thresholds]
    if not varies:  # scores are whole numbers of points
        lowest = [math.ceil(points) for points in lowest]
    pass_from, borderline_from = lowest
    return ScoringRubric(
        name,
        hash_meaning(rubric, criteria, meaning_tree),
        rubric,
        shape,
        criteria,
        full,
        pass_from,
        borderline_from,
        cuts_mean=view is not None and view.dialect.cuts_mean,
        form=_find_form(shape, criteria),
        tree=tree,
        varies=varies,
        units=units,
        rubric_grades=grades,
    )


def _draft_criteria(rubric: Rubric, shape: Shape) -> list[ScoringCriterion]:
    """Return the criteria without shares and points, which depend on all weights and scores.

    Raises:
        UnscorableError: if a weight is not finite, or a criterion has too few levels.
    """
    no_share = Fraction(0)
    if shape is Shape.HOLISTIC:
        grades = _scores(rubric.scales[0], None, rubric.span)
        return [ScoringCriterion(OVERALL, Decimal(1), no_share, None, None, grades, shape, field_of(shape))]
    conditional = frozenset(_list_conditional(rubric))
    drafts = []
    for index, criterion in enumerate(rubric.criteria):
        if criterion.weight is None or not math.isfinite(float(criterion.weight)):
            raise UnscorableError(f"the weight of `{criterion.id}` is not a finite number of at least 0")
        own = criterion.shapes[0]
        drafts.append(
            ScoringCriterion(
                criterion.id,
                criterion.weight,
                no_share,
                criterion.gate,
                criterion.outcome,
                _grades(criterion),
                own,
                field_of(own),
                may_not_apply=index in conditional,
                is_failure=criterion.is_failure,
            )
        )
    return drafts


def _refuse_ambiguous(criteria: Sequence[ScoringCriterion]) -> None:
    """Refuse criteria that share an id, or that no answer can satisfy.

    Raises:
        UnscorableError: naming them.
    """
    ids = Counter(criterion.id for criterion in criteria)
    repeated = [f"`{name}`" for name, count in ids.items() if count > 1]
    if repeated:
        raise UnscorableError(f"has more than one criterion {join_words(repeated)}")
    for criterion in criteria:
        if not criterion.grades:
            raise UnscorableError(f"`{criterion.id}` has no score that a judge can give")


def _find_shape(rubric: Rubric) -> Shape:
    """Return the shape of the rubric; only version 3 lets criteria have several.

    Raises:
        UnscorableError: if it mixes shapes that it may not mix.
    """
    shapes = set[Shape]().union(*[entry.shapes for entry in rubric.entries])
    if len(shapes) == 1:
        return shapes.pop()
    is_own = rubric.view is not None and rubric.view.dialect is OWN
    is_mixed = is_own and all(len(entry.shapes) == 1 for entry in rubric.entries)
    if not is_mixed or Shape.HOLISTIC in shapes:
        raise UnscorableError("mixes shapes")
    return Shape.MIXED


def _find_form(shape: Shape, criteria: Sequence[ScoringCriterion]) -> str:
    """Return the name of the form of judge outputs: that of version 2, unless only version 3 has such answers."""
    is_older = shape is not Shape.MIXED
    for criterion in criteria:
        if criterion.may_not_apply or criterion.has_hundredths:
            is_older = False
        if shape in (Shape.SCORE_RANGES, Shape.HOLISTIC) and not {*criterion.numbers} <= {*SCORES}:
            is_older = False
    if is_older:
        return f"{CURRENT}/{shape}"
    if shape is not Shape.HOLISTIC:
        shape = Shape.MIXED
    return f"v3/{shape}"


def _list_conditional(rubric: Rubric) -> Iterator[int]:
    """Yield the indexes of the criteria that may not apply, as they or a group around them have a condition."""
    if rubric.view and rubric.view.tree:
        for index, criterion in enumerate(rubric.criteria):
            if criterion.applies_if:
                yield index
        for group in rubric.view.tree.groups:
            if group.applies_if:
                yield from group.leaves


def _as_tree(group: Group, weights: Sequence[Fraction], *, add: bool = False) -> ScoringGroup:
    """Return a group as it is scored; `weights` are those of the criteria, and a group may `add` up those inside it.

    Raises:
        UnscorableError: if it, or a group inside it, has no weight above 0.
    """
    members = []
    for member in group.members:
        if isinstance(member, Group):
            weight = Fraction(member.weight)
            if add:
                weight = sum((weights[leaf] for leaf in member.leaves), Fraction(0))
            members.append(GroupMember(weight, _as_tree(member, weights, add=add)))
        else:
            members.append(GroupMember(weights[member], member))
    found = ScoringGroup(group.id, Fraction(group.weight), group.gate, tuple(members), group.units)
    if not found.earning:
        where = f"the group `{group.id}`" if group.id else "the rubric"
        raise UnscorableError(f"has nothing in {where} with a weight above 0, so there is nothing to divide by")
    return found


def _give_points(
    drafts: Sequence[ScoringCriterion], weights: Sequence[Decimal]
) -> tuple[tuple[ScoringCriterion, ...], int]:
    """Return the criteria with their shares and the points of their answers, and the points of the best answer.

    `weights` are those of the criteria in one average.
    """
    whole, total = _as_integers(weights)
    unit = 1
    for draft in drafts:
        unit = math.lcm(unit, *[grade.score.denominator for grade in draft.grades])
    criteria = []
    for draft, weight in zip(drafts, whole, strict=True):
        grades = tuple(grade._replace(points=weight * int(grade.score * unit)) for grade in draft.grades)
        criteria.append(replace(draft, share=Fraction(weight, total), grades=grades))
    return tuple(criteria), total * unit


def _grades(criterion: Criterion) -> tuple[Grade, ...]:
    """Return the grades of a criterion in ascending order of their answers, without points."""
    if criterion.scale:
        return _scores(criterion.scale, criterion.gate, criterion.scale.ends)
    if criterion.levels is not None:
        outcomes = {level.number: level.outcome for level in criterion.levels if level.number is not None}
        if len(outcomes) < 2:
            raise UnscorableError(f"`{criterion.id}` has fewer than two levels")
        span = (criterion.fields or {}).get(SPAN) or (min(outcomes), max(outcomes))
        return _spread(outcomes, criterion.gate, span)
    gate = LOWEST if criterion.gate is None else criterion.gate
    loses, earns = criterion.is_negated, not criterion.is_negated
    worst = Grade(loses, Fraction(0), points=0, gate_met=gate <= LOWEST, outcome=criterion.outcome)
    best = Grade(earns, Fraction(1), points=0, gate_met=gate <= HIGHEST, outcome=criterion.outcome)
    return (best, worst) if criterion.is_negated else (worst, best)


def _scores(scale: Scale, gate: int | None, span: tuple[int, int]) -> tuple[Grade, ...]:
    outcomes: dict[int, str | None] = {}
    for band in reversed(scale.bands):  # if bands overlap (an error that a comment may silence), the first one counts
        outcomes.update(dict.fromkeys(band.scores, band.outcome))
    return _spread(outcomes, gate, span)


def _spread(outcomes: Mapping[int, str | None], gate: int | None, span: tuple[int, int]) -> tuple[Grade, ...]:
    """Return the grades of numbers, of which the span is worth 0 to 1; the gate is the worst one that passes."""
    sign = 1 if span[1] > span[0] else -1
    worst, best = map(Hundredth.fraction, span)
    return tuple(
        Grade(
            number,
            (Hundredth.fraction(number) - worst) / (best - worst),
            0,
            gate is None or (number - gate) * sign >= 0,
            outcomes[number],
        )
        for number in sorted(outcomes)
    )


def share_out(weights: Sequence[Decimal]) -> list[Fraction]:
    """Return the exact part of each weight in the sum of those above 0; the weights are finite.

    Raises:
        UnscorableError: if no weight is above 0, or they are too far apart.
    """
    whole, total = _as_integers(weights)
    return [Fraction(weight, total) for weight in whole]


def _as_integers(weights: Sequence[Decimal]) -> tuple[list[int], int]:
    """Return weights as the smallest integers in the same proportion, and the sum of those above 0."""
    if not any(weights):
        raise UnscorableError("has weights that are all 0, so there is nothing to divide by")
    parts = [weight.as_tuple() for weight in weights]
    finest = min(int(part.exponent) for part, weight in zip(parts, weights, strict=True) if weight)
    if max(weight.adjusted() for weight in weights if weight) - finest > _WIDEST:
        raise UnscorableError(f"has weights that are more than {_WIDEST} digits apart")
    # Arithmetic on decimals rounds to the precision of the context; creating one does not.
    whole = [
        int(Decimal((part.sign, part.digits, int(part.exponent) - finest))) if weight else 0
        for part, weight in zip(parts, weights, strict=True)
    ]
    divisor = math.gcd(*whole)
    smallest = [weight // divisor for weight in whole]
    total = sum(weight for weight in smallest if weight > 0)
    if not total:
        raise UnscorableError("has no criterion with a weight above 0, so there is nothing to divide by")
    return smallest, total


DECIDING = frozenset({
    "bounds", "conflicting-field", "duplicate-id", "duplicate-key", "levels", "mixing", "overlap", "schema", "syntax",
    "weight",
})  # fmt: skip
"""The rules whose errors make a score ambiguous."""


class InvalidRubricError(RubricError):
    """A file with findings of severity error; `faults` lists them."""


@dataclass(frozen=True, slots=True)
class LoadedRubric:
    """A rubric as it was linted, its name, and its document.

    If its case has several rubrics, `case` is the name of the case and `label` the name of the rubric in it. `file` has
    all documents of the file.
    """

    name: str
    rubric: Rubric
    document: Document
    case: str = ""
    label: str = ""
    file: tuple[Document, ...] = ()

    def place(self, path: Path) -> str:
        """Return the place of a part of the rubric, as messages begin."""
        return self.place_in_document(self.rubric.place(path))

    def place_in_document(self, path: Path) -> str:
        """Return the place of a path of the document, which may be written in a dialect."""
        is_named = isinstance(self.document.value(path), dict) and bool(path) and isinstance(path[-1], str)
        part = Part.KEY if is_named else Part.VALUE
        return _write_place(self.document.source, self.document.span(path, part).start)

    def place_of_field(self, path: Path) -> str:
        """Return the place of a field of the document, which is its key; that of an item is its value."""
        return _write_place(self.document.source, self.document.span(path, part_of(path)).start)

    @property
    def start(self) -> str:
        """The place of the rubric, as messages begin."""
        return _write_place(self.document.source, self.document.span(self.rubric.path).start)

    def position(self, path: Path) -> Position:
        """Return the line and column of a part of the rubric, or of its parent if the part is not written."""
        place = self.rubric.place(path)
        while True:
            try:
                self.document.value(place)
            except (KeyError, IndexError, TypeError):
                place = place[:-1]
            else:
                return self.document.source.position(self.document.span(place).start)

    def prepare(self) -> ScoringRubric:
        """Prepare the rubric for scoring.

        Raises:
            RubricError: if it cannot be scored.
        """
        view, file = self.rubric.view, self.document.source.name
        doubts = view.doubts if view else self.rubric.doubts
        if doubts:
            place, reason = doubts[0]
            reason = name_in(reason, file)
            raise RubricError(f"{self.place_of_field(place)}: the rubric cannot be scored: {reason}")
        if view and view.unscorable:
            reason = name_in(view.unscorable, file)
            raise RubricError(f"{self.start}: the rubric cannot be scored: {reason}")
        try:
            return prepare(self.rubric, self.name)
        except UnscorableError as fault:
            raise RubricError(f"{self.place(self.rubric.path)}: the rubric {fault}") from None


@takes(name=str, data=(str, bytes), settings=FileSettings)
def load_rubrics(name: str, data: bytes | str, settings: FileSettings = DEFAULTS) -> dict[str, ScoringRubric]:
    """Return the rubrics of a file by name: `case-id`, or `case-id/evaluator-name` if a case has several.

    The suffix of `name` selects the file format. A rubric outside all cases is named after its evaluator or the file
    (without suffixes); a case or evaluator without a name is named after its place, such as `tests/0`, or
    `suites/0/tests/0` if the shorter place names another one too.

    Raises:
        RubricError: if the file has error findings, no rubric, or two rubrics with the same name.
    """
    models = load_models(name, as_bytes(data), claim_by_name(name, settings))
    return {called: loaded.prepare() for called, loaded in models.items()}


def read_rubrics(path: str | os.PathLike[str]) -> dict[str, ScoringRubric]:
    """Return the rubrics of the file at `path`, with the settings that the commands would use.

    Raises:
        OSError: if the file cannot be read.
        RubricError: as `load_rubrics`.
        SettingsError: if the settings of the file are invalid.
    """
    name = os.fspath(path)
    return load_rubrics(name, read_file(name, LIMIT), SettingsFinder().for_file(name))


def load_models(name: str, data: bytes, settings: FileSettings = DEFAULTS) -> dict[str, LoadedRubric]:
    """Return the rubrics of a file by name, before they are prepared for scoring.

    Raises:
        RubricError: as `load_rubrics`.
    """
    refuse_other_kind(name)
    return load_examined(name, examine_file(name, data, with_deciding(settings)))


def with_deciding(settings: FileSettings) -> FileSettings:
    """Return the settings with the rules that decide a score, which apply here even if the settings ignore them."""
    enabled = settings.enabled
    return settings if enabled is None or enabled >= DECIDING else settings._replace(enabled=enabled | DECIDING)


def refuse_other_kind(name: str) -> None:
    """Check that a file is YAML or JSON by its name.

    Raises:
        RubricError: if it is not.
    """
    kind = name_other_kind(name)
    if kind:
        raise RubricError(format_other_kind(name, kind))


def load_examined(name: str, examined: Examined) -> dict[str, LoadedRubric]:
    """Return the rubrics of an examined file by name, before they are prepared for scoring.

    Raises:
        RubricError: as `load_rubrics`.
    """
    result, documents, rubrics, _ = examined
    faults = [
        f"{_write_place(result.source, finding.span.start)}: {finding.rule}: {finding.message}"
        for finding in result.findings
        if finding.severity is Severity.ERROR and finding.rule != "repeated-case"  # which is worded below
    ]
    if faults:
        raise InvalidRubricError(*faults)
    if not rubrics:
        raise RubricError(*_explain_absence(name, result.unread))
    for problem, document in find_repeated(rubrics, ()):
        place = _write_place(result.source, document.span(problem.path, problem.part).start)
        first = _write_place(result.source, (problem.related[0].span or document.span(())).start)
        what = f"case has the {problem.values['field']}" if problem.code == "second-case" else "rubric is named"
        raise RubricError(f"{place}: a second {what} `{problem.values['name']}`, after the one at {first}")
    file = tuple(documents)
    found = {loaded.name: replace(loaded, file=file) for loaded in name_rubrics(name, rubrics)}
    for loaded in found.values():
        is_valid = loaded.rubric.schema.is_valid(loaded.rubric.read_value(loaded.document))
        if not is_valid and any(find_shape_problems(loaded.document, loaded.rubric)):
            raise RubricError(
                f"{loaded.start}: the rubric has errors that a comment or a setting silences; fix them first"
            )
    return found


def _explain_absence(name: str, unread: tuple[Unread, ...]) -> Iterator[str]:
    """Yield messages for a file without rubrics: each reason why something is nearly a rubric, once."""
    if name.lower().endswith(TEST_SUFFIXES):
        yield f"{name}: no rubrics: it holds rubric tests; name the rubric that they test"
    elif not unread:
        yield f"{name}: no rubrics found; a rubric is the value of a field `rubrics`"
    firsts: dict[str, Unread] = {}
    for miss in unread:
        firsts.setdefault(miss.reason, miss)
    for miss in firsts.values():
        yield f"{name}:{miss.line}:{miss.column}: no rubrics found: {miss.reason}"


def _write_place(source: Source, offset: int) -> str:
    position = source.position(offset)
    return f"{source.name}:{position.line}:{position.column}"


def name_rubrics(file: str, rubrics: Sequence[tuple[Document, Rubric]]) -> list[LoadedRubric]:
    """Return the rubrics of a file with their names, which `load_rubrics` describes; two may have the same name."""
    names = find_names(file, rubrics)
    return [
        LoadedRubric(name, rubric, document, case, evaluator)
        for (document, rubric), (name, case, evaluator) in zip(rubrics, names, strict=True)
    ]


class RubricPart(NamedTuple):
    """A part of a rubric: its path in the words of version 2, and which part of the value there."""

    path: Path
    part: Part = Part.VALUE


class RubricPlaces:
    """The places of one rubric."""

    def __init__(self, loaded: LoadedRubric) -> None:
        self.loaded = loaded
        self.rubric = loaded.rubric
        self._criteria = {criterion.id: criterion for criterion in self.rubric.criteria}
        self._groups = {group.id: RubricPart(group.path) for group in self.rubric.groups}

    @property
    def whole(self) -> RubricPart:
        """The place of the rubric: its field."""
        return RubricPart(self.rubric.path, Part.KEY)

    def criterion(self, name: str) -> RubricPart:
        """Return the place of a criterion or a group; of the one scale for a holistic rubric."""
        if name in self._groups:
            return self._groups[name]
        if name in self._criteria:
            return RubricPart(self._criteria[name].path, Part.HEAD)
        return self.whole

    def field(self, name: str, field: str) -> RubricPart:
        """Return the place of a field of a criterion, or of the criterion if it is not written."""
        criterion = self._criteria[name]
        path = criterion.path_of(field)
        return self.criterion(name) if path == criterion.path else RubricPart(path)

    def gate(self, name: str) -> RubricPart:
        """Return the place of the gate of a criterion or a group, or of the criterion if the gate is not written."""
        if name in self._groups:
            return RubricPart((*self._groups[name].path, "required_min_score"))
        criterion = self._criteria[name]
        field = str(criterion.gate_path[-1])
        return self.field(name, field)

    def condition(self, name: str) -> RubricPart:
        """Return the place of the condition of a criterion or a group."""
        if name in self._groups:
            return RubricPart((*self._groups[name].path, "applies_if"))
        return self.field(name, "applies_if")

    def answer(self, name: str, answer: AnswerValue) -> RubricPart:
        """Return the place of the band, the level or the outcome that an answer earns."""
        criterion = self._criteria.get(name)
        scale = next(iter(self.rubric.scales), None)
        levels: tuple[Level, ...] = ()
        if criterion:
            scale, levels = criterion.scale, criterion.levels or ()
        if scale and not isinstance(answer, bool):
            for band in scale.bands:
                if answer in band.scores:
                    return RubricPart(band.path, band.part)
        for level in levels:
            if level.number == answer:
                return RubricPart(level.number_path, level.part)
        return self.criterion(name)

    def span(self, spot: RubricPart) -> Span:
        """Return the span of a place in the file of the rubric; the part around it if it is not written."""
        problem = self.problem(spot)
        path, document = problem.path, self.loaded.document
        while path:
            try:
                return document.span(path, problem.part)
            except (KeyError, IndexError, TypeError):
                path = path[:-1]
        return document.span(path, Part.HEAD)

    def related(self, message: str, spot: RubricPart) -> RelatedPlace:
        """Return a related place for a problem in another file."""
        return RelatedPlace(message, (), span=self.span(spot), source=self.loaded.document.source)

    def problem(self, spot: RubricPart, code: str = "", values: Mapping[str, object] = MappingProxyType({})) -> Problem:
        """Return a problem at a place, with its path in the document."""
        problem = Problem(code, *spot, values)
        return self.rubric.view.translate(problem) if self.rubric.view else problem
