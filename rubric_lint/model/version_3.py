"""Read rubrics of version 3, in which a rubric and a group are one recursive node, as views in the words of version 2.

A scale becomes levels, one for each answer, and the criteria of groups become one list. What version 2 cannot say
is kept as well: the tree of groups, conditions, critical failures, marks in units of the scale, and grades.
"""

import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

from rubric_lint.model.criterion import (
    ASKED,
    FAILURE,
    HIGHEST,
    LOWEST,
    ONE,
    SPAN,
    TEXT,
    Hundredth,
    JudgeQuestion,
    Mark,
    as_answer,
    is_number,
    name_worse,
    read_key,
    read_weight,
    to_fraction,
)
from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.groups import Group
from rubric_lint.model.messages import describe, find_near, list_never_missed_values, shorten
from rubric_lint.model.recognition import CRITERIA, FIELD, OF_WHOLE
from rubric_lint.model.rubric import fold_id, is_placeholder
from rubric_lint.model.schema import schema_for
from rubric_lint.model.schema_files import VERSION_3
from rubric_lint.model.view import OWN, View, ViewBuilder, read_text
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.values import as_list, as_mapping, as_string

_MOST_STEPS = 1000
"""The most steps between the answers of a scale."""

_MOST_CRITERIA = 10_000
"""The most criteria of a rubric with groups, of which aliases can make billions in a few lines."""

_TOO_MANY = f"it has more than {_MOST_CRITERIA:,} criteria, with those that aliases repeat"
_NO_IS_BETTER = JudgeQuestion("yes or no", 0, is_negated=True)
_SHARE = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?)(?:%|/([0-9]{1,30}(?:\.[0-9]{1,30})?))")
_DECIMAL_KEY = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?")

Answer = int
"""An answer on a scale: a whole number, or a `Hundredth`."""


class _Scale(NamedTuple):
    """The worst and the best answer of a scale, which is written at `path`."""

    worst: Answer
    best: Answer
    path: Path

    @property
    def lowest(self) -> Answer:
        return min(self.worst, self.best)

    @property
    def highest(self) -> Answer:
        return max(self.worst, self.best)

    @property
    def units(self) -> tuple[Answer, Answer]:
        return self.worst, self.best

    @property
    def is_whole(self) -> bool:
        return not isinstance(self.worst, Hundredth)

    @property
    def answers(self) -> list[Answer]:
        """All answers, in ascending order."""
        if self.is_whole:
            return list(range(self.lowest, self.highest + 1))
        first, last = (int(Hundredth.fraction(end) * 100) for end in (self.lowest, self.highest))
        return [Hundredth.of(number) for number in range(first, last + 1)]

    @property
    def expected(self) -> str:
        """What messages call an answer."""
        ends = f"from {self.lowest} to {self.highest}"
        return f"an integer {ends}" if self.is_whole else f"a number {ends} with at most two decimals"

    def read(self, value: Any) -> Answer | None:
        """Return a value as an answer; None if it is none."""
        answer = as_answer(value) if self.is_whole else Hundredth.read(value)
        return answer if answer is not None and self.lowest <= answer <= self.highest else None

    def read_key(self, key: str) -> Answer | None:
        """Return a key of a mapping as an answer; None if it is none."""
        if self.is_whole:
            return self.read(read_key(key))
        return self.read(float(key)) if _DECIMAL_KEY.fullmatch(key) else None

    def share(self, number: Fraction) -> Fraction:
        """Return how far a number is from the worst answer to the best one: 0 to 1 on the scale."""
        worst, best = Hundredth.fraction(self.worst), Hundredth.fraction(self.best)
        return (number - worst) / (best - worst)


_USUAL = _Scale(LOWEST, HIGHEST, ())


class _Inherited(NamedTuple):
    """What a node gives to the criteria in it: the scale, and the levels that describe it with their place."""

    scale: _Scale | None = None
    levels: Any = None
    levels_path: Path = ()


class _TooManyError(Exception):
    """A rubric has more criteria than are read."""


def holds_rubric(value: Any) -> bool:
    """Return whether a value is a mapping with criteria, as a whole rubric is one."""
    return isinstance(value, dict) and isinstance(value.get(CRITERIA), list)


def is_node(value: Any, *, is_claimed: bool) -> bool:
    """Return whether a document is meant as a rubric: it has criteria, a misspelt name of them, or a field of its own.

    With `is_claimed`, it declares the schema, so other names of criteria are misspelt ones, too.
    """
    if not isinstance(value, dict) or FIELD in value:
        return False
    find = schema_for(VERSION_3).suggest if is_claimed else find_near
    is_near = not OF_WHOLE.isdisjoint(value) or any(find(key, (CRITERIA,)) for key in value)
    return CRITERIA in value or (is_near and not find_near(FIELD, value))


def _has_unsound_scale(node: Mapping[str, Any], scale: _Scale | None) -> bool:
    """Return whether a node has a scale that cannot be read; then nothing is known of the marks in its units."""
    return "scale" in node and scale is None


def read_rubric(document: Document, path: Path) -> View:
    """Return the view of the rubric at `path`, valid or not: a list of criteria, or a mapping with them."""
    reading = _Version3Reader(document, path)
    value = document.value(path)
    node = as_mapping(value)
    try:
        root, scale = reading.read_root(value)
    except _TooManyError:
        problem = Problem("too-many-criteria", path, Part.HEAD, {"most": f"{_MOST_CRITERIA:,}"})
        return ViewBuilder(document, path).finish(OWN, [], unscorable=_TOO_MANY, problems=(("schema", problem),))
    threshold = reading.read_mark(node, "pass_threshold", scale)
    borderline = reading.read_mark(node, "borderline_threshold", scale)
    if borderline is not None and borderline == threshold:
        of_mark = scale if is_number(node["borderline_threshold"]) else None
        reading.report_idle_borderline(of_mark)
    span = units = None
    if scale:
        units = scale.units
        if scale.is_whole and reading.is_holistic:
            span = units
    has_groups = any(True for _ in root.groups)
    grades = reading.read_grades(node, scale)
    threshold_path = (*path, "pass_threshold") if threshold is not None else None
    tree = root if reading.needs_tree(root) else None
    outline = root if has_groups else None
    return reading.draft.finish(
        OWN,
        reading.data,
        name=read_text(node, "id"),
        task=read_text(node, "expected_outcome"),
        threshold=threshold,
        threshold_path=threshold_path,
        borderline=borderline,
        span=span,
        units=units,
        grades=grades,
        ids=tuple(reading.ids),
        weights=tuple(reading.weights),
        tree=tree,
        outline=outline,
        problems=tuple(reading.problems),
    )


class _Version3Reader:
    """A rubric that is being read: the criteria so far, with their ids and their weights in the nodes around them."""

    def __init__(self, document: Document, path: Path) -> None:
        self.document = document
        self.path = path
        self.draft = ViewBuilder(document, path)
        self.data: list[Any] = []
        self.ids: list[str] = []
        self.weights: list[Decimal | None] = []
        self.problems: list[tuple[str, Problem]] = []
        self.is_holistic = False
        self._nodes = 0

    def read_root(self, value: Any) -> tuple[Group, _Scale | None]:
        """Read the whole rubric; return its root, and its own scale."""
        node, place = {CRITERIA: value}, self.path
        if isinstance(value, dict):
            node, place = value, (*self.path, CRITERIA)
        given = self._read_given(node, self.path, _Inherited())
        root = self._read_node(node, self.path, place, given, "")
        for index, failure in enumerate(as_list(node.get("critical_failures"))):
            self._read_failure(failure, (*self.path, "critical_failures", index), f"failure-{index + 1}")
        return root, given.scale

    def _read_node(self, node: Mapping[str, Any], path: Path, place: Path, given: _Inherited, prefix: str) -> Group:
        """Read a rubric or a group at `path`, whose criteria are at `place`."""
        self.draft.put(("nodes", self._nodes), path)
        self._nodes += 1
        members: list[Group | int] = []
        groups: dict[str, Path] = {}
        names: dict[str, Path] = {}
        weights: list[tuple[Decimal | None, Path]] = []
        for index, entry in enumerate(as_list(node.get(CRITERIA))):
            at = (*place, index)
            fields = as_mapping(entry)
            own_id, is_group = fields.get("id"), CRITERIA in fields
            name, id_path = f"rubric-{index + 1}", at
            if isinstance(own_id, str):
                name, id_path = own_id, (*at, "id")
            elif prefix or is_group:
                name = str(index + 1)
            folded = fold_id(name)
            if folded in names and (is_group or folded in groups):
                place_of_first = RelatedPlace("the first one", names[folded], Part.ENTRY)
                self._report("duplicate-id", "group", id_path, Part.ENTRY, {"id": shorten(name)}, place_of_first)
            names.setdefault(folded, id_path)
            if is_group:
                groups[folded] = at
                below = self._read_given(fields, at, given)
                group = self._read_node(fields, at, (*at, CRITERIA), below, f"{prefix}{name}/")
                weight = self._read_weight(fields, at)
                share = ONE if weight is None else weight
                members.append(
                    Group(
                        f"{prefix}{name}",
                        at,
                        share,
                        self._read_group_gate(fields, at, below.scale),
                        read_text(fields, "applies_if").strip(),
                        read_text(fields, "expected_outcome"),
                        group.members,
                        below.scale and below.scale.units,
                    )
                )
            else:
                members.append(len(self.data))
                weight = self._read_entry(entry, at, given, f"{prefix}{name}", is_grouped=bool(prefix))
            own_place = (*at, "weight") if "weight" in fields else at
            weights.append((weight, own_place))
        self._check_weights(path, place, weights)
        if path != self.path:
            self._check_penalties(members, weights)
        self._check_texts(node, path, ("expected_outcome", "applies_if"))
        return Group("", path, ONE, None, "", "", tuple(members))

    def _read_given(self, node: Mapping[str, Any], path: Path, outer: _Inherited) -> _Inherited:
        """Return the scale and the levels of the criteria in a node: with a scale of its own, levels around it end."""
        own = outer
        if "scale" in node:
            own = _Inherited(self._read_scale(node, path))
        if "levels" in node:
            own = own._replace(levels=node["levels"], levels_path=(*path, "levels"))
        return own

    def _read_scale(self, node: Mapping[str, Any], path: Path) -> _Scale | None:
        """Read the scale of a node; None if it has none that is sound, which is reported."""
        value, place = node["scale"], (*path, "scale")
        if not isinstance(value, list) or len(value) != 2 or not all(is_number(end) for end in value):
            return None  # the schema says what is wrong
        are_whole = all(isinstance(end, int) for end in value)
        worst, best = (end if are_whole else Hundredth.read(end) for end in value)
        if worst is None or best is None:
            return None
        written = f"[{shorten(str(value[0]))}, {shorten(str(value[1]))}]"
        parts = 1 if are_whole else 100
        steps = abs(best - worst) * parts
        if worst == best:
            self._report("bounds", "one-score", place, Part.VALUE, {"range": written})
        elif steps > _MOST_STEPS:
            shorter = "a shorter one"
            if not are_whole and abs(best - worst) <= _MOST_STEPS:
                shorter = f"[{int(worst)}, {int(best)}], which has whole numbers"
            values = {"range": written, "most": f"{_MOST_STEPS:,}", "shorter": shorter}
            self._report("bounds", "long-scale", place, Part.VALUE, values)
        else:
            return _Scale(worst, best, place)
        return None

    def _read_weight(self, mapping: Mapping[str, Any], path: Path) -> Decimal | None:
        """Return the weight in the node around it, as written; None if it is not a finite number."""
        if "weight" not in mapping:
            return ONE
        return read_weight(self.document, mapping["weight"], path, deducts=True)

    def _read_entry(self, entry: Any, at: Path, given: _Inherited, name: str, *, is_grouped: bool) -> Decimal | None:
        """Add a criterion, or a band of a holistic scale; return its weight."""
        if len(self.data) >= _MOST_CRITERIA:
            raise _TooManyError
        index = len(self.data)
        self.draft.put((index,), at)
        self.ids.append(name)
        if not isinstance(entry, str | dict):
            self.data.append(entry)
            self.weights.append(ONE)
            return ONE
        weight = self._read_weight(as_mapping(entry), at)
        self.weights.append(weight)
        has_scale = given.scale is not None or given.levels is not None
        if isinstance(entry, str) and not has_scale:
            self.data.append(entry)
            return weight
        fields = self._copy(entry, index, at)
        self.data.append(fields)
        own = self._read_given(as_mapping(entry), at, given)
        if "score_range" in fields and "score_ranges" not in fields and "levels" not in fields:
            self.is_holistic = True
            if is_grouped:
                self._report("mixing", "band-in-group", at, Part.ENTRY, {})
        scale = own.scale
        if "score_ranges" in fields or "score_range" in fields:
            self._read_bands(fields, at, scale)
        elif own.levels is not None and (scale is None or not isinstance(own.levels, dict | list)):
            fields["levels"] = own.levels
            self.draft.put((index, "levels"), own.levels_path)
            self._check_ladder(own)
            self._move_gate(fields, index, at, None)
        elif scale and (own.levels is not None or {scale.worst, scale.best} != {0, 1} or not scale.is_whole):
            fields["levels"] = self._spread(index, scale, own)
            fields[SPAN] = (scale.worst, scale.best)
            self._move_gate(fields, index, at, scale)
        else:
            self._read_check_gate(fields, index, at, scale)
        return weight

    def _copy(self, entry: str | dict[str, Any], index: int, at: Path) -> dict[str, Any]:
        """Return the fields of a criterion; a plain string gets its outcome."""
        if isinstance(entry, str):
            self.draft.put((index, "expected_outcome"), at)
            return {"expected_outcome": entry, TEXT: True}
        for name in entry:
            self.draft.put((index, name), (*at, name))
        self._check_texts(entry, at, ("applies_if",))
        return dict(entry)

    def _check_texts(self, mapping: Mapping[str, Any], at: Path, fields: tuple[str, ...]) -> None:
        """Report placeholders among the texts that are no outcome of a criterion."""
        for field in fields:
            text = read_text(mapping, field)
            if is_placeholder(text):
                values = {"text": shorten(text.strip())}
                self._report("placeholder", "unfinished", (*at, field), Part.VALUE, values)

    def _read_failure(self, failure: Any, at: Path, name: str) -> None:
        if not isinstance(failure, str | dict):
            return
        index = len(self.data)
        self.draft.put((index,), at)
        if isinstance(failure, dict):  # it has no other fields, and what it does not have is not read as one
            failure = {name: failure[name] for name in ("id", "expected_outcome") if name in failure}
        fields = self._copy(failure, index, at)
        own_id = fields.get("id")
        failure_id = own_id if isinstance(own_id, str) else name
        self.ids.append(failure_id)
        self.weights.append(Decimal(0))
        self.data.append(fields | {"weight": 0, "required_min_score": HIGHEST, ASKED: _NO_IS_BETTER, FAILURE: True})

    def _spread(self, index: int, scale: _Scale, given: _Inherited) -> list[Mapping[str, Any]]:
        """Return one level for each answer of a scale, of which some are described."""
        place = given.levels_path or scale.path
        described = self._find_described(scale, given, place)
        levels: list[Mapping[str, Any]] = []
        self.draft.put((index, "levels"), place)
        for number, answer in enumerate(scale.answers):
            level, spot, is_key = described.get(answer, ({}, place, False))
            own = (index, "levels", number)
            self.draft.put(own, spot)
            if is_key or not level:
                self.draft.put((*own, "level"), spot, is_key=is_key)
            for name in level:
                part_place = spot if is_key else (*spot, name)
                self.draft.put((*own, name), part_place)
            levels.append({**level, "level": answer})
        return levels

    def _find_described(
        self, scale: _Scale, given: _Inherited, place: Path
    ) -> dict[Answer, tuple[Mapping[str, Any], Path, bool]]:
        """Return the described answers of a scale, each with its level, its place, and whether that is a key."""
        described: dict[Answer, tuple[Mapping[str, Any], Path, bool]] = {}
        for key, text in as_mapping(given.levels).items():
            answer = scale.read_key(key)
            if answer is None:
                self._report_off(scale, (*place, key), f"the key `{shorten(key)}`", "`levels` has", Part.KEY)
            elif answer in described:
                first = RelatedPlace("the first one", described[answer][1], Part.KEY)
                self._report("levels", "repeated", (*place, key), Part.KEY, {"level": answer}, first)
            else:
                described[answer] = ({"expected_outcome": text}, (*place, key), True)
        for at, level in enumerate(as_list(given.levels)):
            if isinstance(level, dict) and is_number(level.get("level")):
                answer, spot = scale.read(level["level"]), (*place, at)
                if answer is None:
                    found = self._describe(level["level"], (*spot, "level"))
                    self._report_off(scale, (*spot, "level"), found, "`level` is")
                elif answer in described:
                    first = RelatedPlace("the first one", (*described[answer][1], "level"))
                    self._report("levels", "repeated", (*spot, "level"), Part.VALUE, {"level": answer}, first)
                else:
                    described[answer] = (level, spot, False)
        return described

    def _check_ladder(self, given: _Inherited) -> None:
        """Report the levels that no judge can give, as only a scale with a decimal point has others than integers."""
        levels, place = given.levels, given.levels_path
        for key in as_mapping(levels):
            if _DECIMAL_KEY.fullmatch(key) and read_key(key) is None:
                self._report_off(None, (*place, key), f"the key `{shorten(key)}`", "`levels` has", Part.KEY)
        for number, level in enumerate(as_list(levels)):
            if isinstance(level, dict) and is_number(level.get("level")) and as_answer(level["level"]) is None:
                spot = (*place, number, "level")
                self._report_off(None, spot, self._describe(level["level"], spot), "`level` is")

    def _move_gate(self, fields: dict[str, Any], index: int, at: Path, scale: _Scale | None) -> None:
        """Write the gate of a criterion as one on its levels, whichever field has it."""
        has_levels = "required" in fields and "levels" in self.document.value(at)
        if "required" in fields and (has_levels or not scale or "required_min_level" in fields):
            if not has_levels:  # else the schema says it
                reason = "a criterion with levels or a scale has one gate; write `required_min_level`"
                values = {"field": "required", "reason": reason}
                self._report("schema", "misplaced", (*at, "required"), Part.KEY, values)
            del fields["required"]
        field = next((name for name in ("required_min_level", "required_min_score") if name in fields), "")
        if not field:
            if scale and fields.get("required") is True:
                fields["required_min_level"] = scale.best
                self.draft.put((index, "required_min_level"), (*at, "required"))
            return
        fields["required_min_level"] = self._read_gate(scale, fields[field], (*at, field))
        self.draft.put((index, "required_min_level"), (*at, field))

    def _read_check_gate(self, fields: dict[str, Any], index: int, at: Path, scale: _Scale | None) -> None:
        """Read the gate of a yes or no, which version 2 has on a scale of 0 to 10.

        On a scale of 0 to 1 the gate 1 becomes 10, and so does 0 on one of 1 to 0, where no is the better answer.
        """
        if scale:
            fields[SPAN] = (scale.worst, scale.best)
            if scale.worst > scale.best:
                fields[ASKED] = _NO_IS_BETTER
        if "required_min_level" in fields and not scale:
            values = {"field": "required_min_level", "reason": "the gate of a yes or no is `required_min_score`"}
            self._report("schema", "misplaced", (*at, "required_min_level"), Part.KEY, values)
        field = "required_min_level" if scale and "required_min_level" in fields else "required_min_score"
        if field in fields:
            gate = self._read_gate(scale or _USUAL, fields[field], (*at, field))
            if gate is not None and scale:
                gate = int(scale.share(Fraction(gate)) * HIGHEST)
            fields["required_min_score"] = gate
            self.draft.put((index, "required_min_score"), (*at, field))

    def _read_gate(self, scale: _Scale | None, gate: Any, place: Path) -> Answer | None:
        """Return a gate that is an answer of a scale, or an integer without one; None if not, which is reported."""
        answer = scale.read(gate) if scale else as_answer(gate)
        if answer is None and is_number(gate):
            self._report_off(scale, place, self._describe(gate, place), f"`{place[-1]}` is")
        return answer

    def _read_bands(self, fields: dict[str, Any], at: Path, scale: _Scale | None) -> None:
        """Check the bounds and the gate of bands, and give them the ends of their scale."""
        if scale and not scale.is_whole:
            place, part, how = scale.path, Part.VALUE, "write [0, 100]"
            if "score_ranges" in fields:
                place, part = (*at, "score_ranges"), Part.KEY
                how = f"give `{shorten(self.ids[-1])}` a `scale: [0, 100]` of its own"
            values = {"scale": f"[{scale.worst}, {scale.best}]", "how": f"{how}, and the bands in whole numbers of it"}
            self._report("bounds", "decimal-bands", place, part, values, RelatedPlace("the scale", scale.path))
            fields.pop("score_ranges", None)  # what the rules would say of them does not matter
            fields.pop("score_range", None)
            return
        if scale:
            fields[SPAN] = (scale.worst, scale.best)
        known = scale or _USUAL
        if "required_min_score" in fields:
            fields["required_min_score"] = self._read_gate(
                known, fields["required_min_score"], (*at, "required_min_score")
            )
        for bounds, place in self._find_bounds(fields, at, known):
            if len(as_list(bounds)) != 2:
                continue
            for number, bound in enumerate(bounds):
                spot = (*place, number)
                if is_number(bound) and known.read(bound) is None:
                    self._report_off(known, spot, self._describe(bound, spot), "`score_range` has")

    def _find_bounds(self, fields: Mapping[str, Any], at: Path, scale: _Scale) -> Iterator[tuple[Any, Path]]:
        """Yield the bounds of each band, with their place; check those of the short form, which are keys."""
        yield fields.get("score_range"), (*at, "score_range")
        ranges, place = fields.get("score_ranges"), (*at, "score_ranges")
        for key in as_mapping(ranges):
            if _DECIMAL_KEY.fullmatch(key) and scale.read_key(key) is None:
                self._report_off(scale, (*place, key), f"the key `{shorten(key)}`", "`score_ranges` has", Part.KEY)
        for number, band in enumerate(as_list(ranges)):
            if isinstance(band, dict):
                yield band.get("score_range"), (*place, number, "score_range")

    def _read_group_gate(self, group: Mapping[str, Any], at: Path, scale: _Scale | None) -> Fraction | None:
        """Return the gate of a group as a share; it is in units of its scale, without one from 0 to 1."""
        if "required_min_score" not in group or _has_unsound_scale(group, scale):
            return None
        place = (*at, "required_min_score")
        share = self._read_share(group["required_min_score"], place, scale)
        if share == 0:
            is_falling = scale is not None and scale.worst > scale.best
            values = list_never_missed_values(self.document.written_at(place), "score", is_falling=is_falling)
            self._report("idle-gate", "never-missed", place, Part.VALUE, values)
        elif is_number(group.get("weight")) and group["weight"] < 0:
            values = {"field": place[-1], "weight": self.document.decimal((*at, "weight"))}
            self._report("idle-gate", "of-penalty", place, Part.KEY, values)
        return share

    def read_mark(self, node: Mapping[str, Any], field: str, scale: _Scale | None) -> Mark | None:
        """Return a mark of a rubric as a share; None if it has none."""
        if field not in node or _has_unsound_scale(node, scale):
            return None
        place = (*self.path, field)
        share = self._read_share(node[field], place, scale)
        if share is None:
            return None
        rounded = Decimal(share.numerator) / share.denominator
        mark = rounded if Fraction(rounded) == share else share
        if scale is None or not is_number(node[field]):
            return mark
        written = self.document.decimal(place)
        if scale.lowest == 0 and scale.highest >= HIGHEST // 2 and 0 < written < 1:
            values = {
                "field": field,
                "found": written,
                "highest": scale.highest,
                "share": f"{(written * 100).normalize():f}%",
            }
            self._report("idle-gate", "low-mark", place, Part.VALUE, values)
        return mark

    def report_idle_borderline(self, scale: _Scale | None) -> None:
        """Report a borderline at the pass mark, from which on answers pass."""
        place = (*self.path, "borderline_threshold")
        mark = RelatedPlace("the other one", (*self.path, "pass_threshold"))
        values = {"lower": name_worse(scale and scale.units)}
        self._report("idle-gate", "idle-borderline", place, Part.VALUE, values, mark)

    def read_grades(self, node: Mapping[str, Any], scale: _Scale | None) -> tuple[tuple[str, Fraction], ...]:
        """Return the grades, each with the lowest share that earns it, from the highest to the lowest."""
        if _has_unsound_scale(node, scale):
            return ()
        found: list[tuple[str, Fraction]] = []
        before: Path = ()
        is_falling = True
        for name, minimum in as_mapping(node.get("grades")).items():
            place = (*self.path, "grades", name)
            share = self._read_share(minimum, place, scale)
            if share is None:
                continue
            if found and share >= found[-1][1] and is_falling:
                is_falling = False
                units = scale.units if scale and is_number(minimum) else None
                values = {
                    "grade": shorten(name),
                    "other": shorten(found[-1][0]),
                    "lower": name_worse(units),
                }
                related = RelatedPlace("the grade before it", before, Part.KEY)
                self._report("bounds", "grade-order", place, Part.KEY, values, related)
            found.append((name, share))
            before = place
        return tuple(sorted(found, key=lambda grade: -grade[1]))

    def _read_share(self, value: Any, place: Path, scale: _Scale | None) -> Fraction | None:
        """Return a mark as a share in 0..1; None if it is none, which is reported."""
        if is_number(value):
            share = self._measure(value, place, scale)
        else:
            written = _SHARE.fullmatch(as_string(value) or "")
            if written is None:
                return None  # the schema says what is wrong
            whole = Fraction(written[2] or 100)
            share = Fraction(written[1]) / whole if whole else None
        if share is not None and 0 <= share <= 1:
            return share
        lowest, highest = 0, 1
        if scale:
            lowest, highest = scale.lowest, scale.highest
        expected = f"a number from {lowest} to {highest}"
        if place[-1] != "required_min_score":
            hint = "70%"
            if is_number(value) and max(highest, 10) < value <= 100:
                hint = f"{value}%"
            expected += f", or a share such as {hint}"
        subject = f"`{shorten(str(place[-1]))}` is"
        values = {"subject": subject, "found": self._describe(value, place), "expected": expected}
        self._report("bounds", "unexpected", place, Part.VALUE, values)
        return None

    def _measure(self, value: float, place: Path, scale: _Scale | None) -> Fraction | None:
        """Return a number as a share of its scale; without a scale, the number itself. None if it is not finite."""
        if not math.isfinite(value):
            return None
        if abs(value) < 1e9:
            number = to_fraction(self.document.decimal(place))
        else:  # far off any scale, and perhaps too long to read exactly
            number = Fraction(value)
        return scale.share(number) if scale else number

    def _check_weights(self, path: Path, place: Path, weights: list[tuple[Decimal | None, Path]]) -> None:
        """Report a node in which nothing has a weight above 0."""
        if not weights or any(weight is None or weight > 0 for weight, _ in weights):
            return
        code = "none-above-zero"
        if path == self.path and all(weight == 0 for weight, _ in weights):
            code = "all-zero"
        related = [RelatedPlace("weighs nothing" if weight == 0 else "is below 0", at) for weight, at in weights[:3]]
        self._report("weight", code, place, Part.KEY, {}, *related)

    def _check_penalties(self, members: list[Group | int], weights: list[tuple[Decimal | None, Path]]) -> None:
        """Report penalties in a group that may have no score, because nothing else in it needs to apply.

        Then they would cost nothing. One that applies only where a member with a weight above 0 does always counts.
        """
        earning: list[str] = []
        penalties: list[tuple[str, Path]] = []
        for member, (weight, path) in zip(members, weights, strict=True):
            if weight is None:
                return
            if weight > 0:
                earning.append(self._find_condition(member))
            elif weight < 0:
                penalties.append((self._find_condition(member), path))
        if earning and all(earning):
            for condition, path in penalties:
                if condition not in earning:
                    self._report("weight", "penalty-alone", path, Part.VALUE, {})

    def _find_condition(self, member: Group | int) -> str:
        """Return a condition under which a member does not apply; empty if it always does."""
        if not isinstance(member, Group):
            return read_text(as_mapping(self.data[member]), "applies_if").strip()
        if member.applies_if:
            return member.applies_if
        inner = [self._find_condition(part) for part in member.members]
        return inner[0] if inner and all(inner) else ""

    def needs_tree(self, root: Group) -> bool:
        """Return whether a weighted average of all criteria does not say what the groups say."""
        groups = list(root.groups)
        is_conditional = any(group.applies_if for group in groups) or any(
            isinstance(fields, dict) and read_text(fields, "applies_if").strip() for fields in self.data
        )
        if is_conditional or any(group.gate is not None or group.weight <= 0 for group in groups):
            return True
        members = chain.from_iterable(group.members for group in groups)
        weights = [self.weights[member] for member in members if not isinstance(member, Group)]
        return any(weight is not None and weight < 0 for weight in weights)

    def _describe(self, value: Any, place: Path) -> str:
        return describe(value, self.document.written_at(place))

    def _report_off(self, scale: _Scale | None, place: Path, found: str, subject: str, part: Part = Part.VALUE) -> None:
        """Report a number that is no answer of its scale; without one, these are integers."""
        values = {"subject": subject, "found": found, "expected": scale.expected if scale else "an integer"}
        self._report("bounds", "unexpected", place, part, values)

    def _report(
        self, rule: str, code: str, place: Path, part: Part, values: Mapping[str, object], *related: RelatedPlace
    ) -> None:
        self.problems.append((rule, Problem(code, place, part, values, related)))
