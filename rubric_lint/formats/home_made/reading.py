"""Read the rubrics of a document as a table describes them, each part with its place."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from rubric_lint.formats.home_made.format_table import FormatTable, dialect_of, expand, split_words
from rubric_lint.formats.home_made.places import may_be_criterion
from rubric_lint.formats.home_made.roles import Role, role_of
from rubric_lint.formats.home_made.rubric_fields import FieldValue, RubricFields, WrittenCriterion, show
from rubric_lint.formats.home_made.scale_reading import ScaleReader
from rubric_lint.formats.home_made.scores import holds_mappings, is_amount, read_ends
from rubric_lint.formats.home_made.threshold_reading import ThresholdReader
from rubric_lint.formats.home_made.unmapped import UnmappedSearch
from rubric_lint.formats.home_made.unmapped_key import ADOPT, UnmappedKey
from rubric_lint.formats.home_made.weight_reading import WeightReader
from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import join_words, shorten
from rubric_lint.model.view import Dialect, View
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path, follow, pointer, split_pointer
from rubric_lint.source.tree import items_of, parts_of
from rubric_lint.source.values import as_mapping

_NO_SCALE = f"no field of its file and no table says on which scale a criterion is scored; to say it, {ADOPT}"


def read_by_tables(document: Document, tables: Iterable[FormatTable]) -> list[View]:
    """Return the rubrics of a document that tables describe; each place belongs to the first table.

    What one table says of criteria that it does not read is left out if another one reads them.
    """
    found: dict[Path, View] = {}
    for table in tables:
        for view in read_by_table(document, table):
            first = found.setdefault(view.path, view)
            if first is not view:
                values = {"first": first.dialect.title, "second": table.name}
                problem = Problem("second-table", view.path, Part.HEAD, values)
                found[view.path] = replace(first, problems=(*first.problems, ("schema", problem)))
    read = {path[:length] for path in found for length in range(1, len(path) + 1)}
    views = []
    for view in found.values():
        read_by_others = read - {view.path}
        doubts = tuple(doubt for doubt in view.doubts if doubt[0] not in read_by_others)
        views.append(replace(view, doubts=doubts))
    return views


def read_by_table(document: Document, table: FormatTable, dialect: Dialect | None = None) -> Iterator[View]:
    """Read the rubrics that a table describes; `dialect` is that of a table which is built in."""
    for path, bound in expand(document.data, table.criteria):
        value = document.value(path)
        if isinstance(value, list | dict) and any(isinstance(part, str | dict) for part in parts_of(value)):
            reader = _RubricReader(document, table, path, bound)
            view = reader.read(value, dialect or dialect_of(table))
            yield view if dialect else reader.add_doubts(view, value)


def read_all(documents: Iterable[Document], table: FormatTable) -> list[View]:
    """Return the rubrics of some documents that a table describes; none if it names nothing that is judged."""
    if not (table.outcome or table.levels):
        return []
    return [view for document in documents for view in read_by_table(document, table)]


def find_lack(document: Document, table: FormatTable) -> Problem:
    """Say that a document has no criteria where a table looks for them, at the nearest place that it has."""
    values = {"shape": table.name, "pointer": table.criteria or "the top"}
    return Problem("no-criteria", follow(document.data, split_pointer(table.criteria)), Part.HEAD, values)


class _RubricReader(RubricFields):
    """Reads the criteria at a path; their scale, their weights and the threshold have readers of their own."""

    def __init__(self, document: Document, table: FormatTable, path: Path, bound: tuple[str | int, ...]) -> None:
        super().__init__(document, table, path, bound)
        self.scales = ScaleReader(self)
        self.weights = WeightReader(self, self.scales)
        self.threshold = ThresholdReader(self, self.scales, self.weights)
        named = {"scale": table.scale_names, "levels": table.levels, "gate": tuple(name for name, _ in table.gate)}
        for setting, names in named.items():
            for name in names:
                if name.startswith("/"):
                    self._check_pointer(setting, name)

    def _check_pointer(self, setting: str, written: str) -> None:
        """Report a pointer that leads nowhere, and one to the gate of each criterion that is not a number."""
        found = self.follow(written)
        if found is None:
            self.report_lost(setting, written)
        elif setting == "gate" and not is_amount(found.value):
            self.report_kind(f"`{found.place[-1]}` is", found.place, "a number")

    def read(self, value: Any, dialect: Dialect) -> View:
        criteria = list(self._list_criteria(self.path, value))
        for index, criterion in enumerate(criteria):
            self.draft.put((index,), criterion.place)
            is_entry = isinstance(criterion.value, str | dict)
            entry = self._read_entry(index, criterion) if is_entry else criterion.value
            self.data.append(entry)
        self.scales.unify()
        self.weights.weigh(criteria)
        if self.table.is_turned:
            self._keep_directions()
        threshold, place = self.threshold.read()
        several = {"expected_outcome": self.table.outcome, "id": self.table.id, "weight": self.table.weight}
        is_unsaid = self.scales.is_unsaid and not self.scales.is_unscaled  # of which a finding or a doubt says enough
        fields = dict(dialect.fields)
        for ours, theirs in several.items():
            if len(theirs) > 1:  # messages name the one that these criteria have
                fields[ours] = next((name for name in theirs if name in self.used), theirs[0])
        own_dialect = dialect if fields == dialect.fields else replace(dialect, fields=fields)
        unscorable = _NO_SCALE if is_unsaid else ""
        return self.draft.finish(
            own_dialect,
            self.data,
            name=self.find_text(self.table.rubric),
            task=self.find_text(self.table.task),
            threshold=threshold,
            threshold_path=place,
            unscorable=unscorable,
            doubts=tuple(self.doubts),
            problems=tuple(self.problems),
        )

    def _keep_directions(self) -> None:
        """Say that keys around the criteria are read if they say that lower scores are better, as the table does."""
        scales = {ends for ends in self.scales.ends if ends}
        for depth in range(len(self.path)):
            above = self.path[:depth]
            for key, value in as_mapping(self.document.value(above)).items():
                if role_of(key, value, scales, is_around=True) is Role.DIRECTION:
                    self.draft.put(("direction", *above, key), (*above, key))

    def add_doubts(self, view: View, value: Any) -> View:
        """Return a rubric with what is not read of it; it is not scored if some of that may decide."""
        scales = {ends for ends in self.scales.ends if ends}
        read = self.places | view.sources
        search = UnmappedSearch(self.document, self.table, self.path, read, scales, is_described=False)
        unmapped = [key for key in search.find_all() if not self._is_read_otherwise(key)]
        unmapped += self.scales.in_levels
        if len(scales) == 1 and self.table.combine != "share":
            (ends,) = scales
            self.threshold.check_unread(unmapped, ends)
        firsts: dict[tuple[str, Path], Path] = {}
        for place, reason in self.doubts:
            firsts.setdefault((reason, ()), place)
        for key in unmapped:  # those in criteria repeat
            around = key.place if key.is_around else ()
            firsts.setdefault((key.reason, around), key.place)
        doubts = tuple((place, reason) for (reason, _), place in firsts.items())
        self.problems += self._find_unused_names(value)
        return replace(view, doubts=doubts, problems=tuple(self.problems))

    def _find_unused_names(self, value: Any) -> Iterator[tuple[str, Problem]]:
        """Find the settings that name fields which most criteria have, but none of these does."""
        needed = {"id": self.table.id, "weight": self.table.weight}
        has_levels = any(isinstance(entry, dict) and "levels" in entry for entry in self.data)
        if self.table.scale is None and not has_levels:
            needed["levels"] = self.table.levels
        if not holds_mappings(value):
            return
        for setting, names in needed.items():
            if names and self.used.isdisjoint(names):
                listed = join_words([f"`{name}`" for name in names], "or")
                values = {"shape": self.table.name, "setting": setting, "fields": listed}
                yield "schema", Problem("no-field", self.path, Part.HEAD, values)

    def _list_criteria(self, place: Path, holder: Any, above: tuple[str, ...] = ()) -> Iterator[WrittenCriterion]:
        """Yield the criteria of a list or a map; those that have parts are not judged, but their parts are."""
        is_map = isinstance(holder, dict)
        has_mappings = holds_mappings(holder)
        kind = dict if has_mappings else str
        for key, value in items_of(holder):
            if is_map and not isinstance(value, kind):
                is_unused = pointer((*place, key)) in self.table.unused
                if may_be_criterion(str(key), value) and not is_unused:
                    form = "write it as a mapping like the others if it is a criterion, else call it `note`"
                    self.doubt(
                        (*place, key), f"`{shorten(str(key))}` is a text next to criteria that are mappings; {form}"
                    )
                continue  # what is said next to the criteria
            own_key = str(key) if is_map else None
            criterion = WrittenCriterion((*place, key), value, own_key, above)
            names = self.table.levels if self.find_mark(criterion, self.table.sums) else self.table.parts
            parts = self.find(criterion, names) if isinstance(value, dict) else None
            if parts and isinstance(parts.value, list | dict) and parts.value:
                yield from self._list_parts(criterion, parts)
            else:
                yield criterion

    def _list_parts(self, criterion: WrittenCriterion, found: FieldValue) -> list[WrittenCriterion]:
        """Return the parts of a criterion, which share its weight if it has one."""
        name = self._name(criterion)[0]
        below = list(self._list_criteria(found.place, found.value, (*criterion.above, name)))
        if self.find_mark(criterion, self.table.sums):
            below = [part._replace(key=part.key or str(at), is_level=True) for at, part in enumerate(below, start=1)]
        gate = self.threshold.find_gate(criterion) or self.find_mark(criterion, self.table.negative)
        if gate:
            reason = f"`{gate.place[-1]}` of `{name}` counts for none of its parts, which are what is judged"
            self.doubt(gate.place, reason)
        written = self.find(criterion, self.table.weight)
        whole = None
        if written:
            self.weights.shared.append(written)
            whole = self.weights.read(written)
        if written is None or whole is None:
            return below
        total = sum((self.weights.weigh_part(part) for part in below), Fraction(0))
        are_points = self.table.combine == "share" and all(self.weights.has_points(part, written) for part in below)
        if are_points and total not in (whole, 0):
            values = {"sum": show(total), "whole": show(whole), "field": written.place[-1]}
            self.report("weight", "parts", written.place, values)
        ratio = whole / total if total else Fraction(0)
        return [part._replace(share=part.share * ratio) for part in below]

    def _name(self, criterion: WrittenCriterion) -> tuple[str, Path, bool]:
        """Return the id of an entry, empty if it has none, with its place, and whether that is a key."""
        found = self.find(criterion, self.table.id) if isinstance(criterion.value, dict) else None
        if found and isinstance(found.value, str | int) and not isinstance(found.value, bool):
            return str(found.value), found.place, False
        return criterion.key or "", criterion.place, True

    def _read_entry(self, index: int, criterion: WrittenCriterion) -> dict[str, Any]:
        entry: dict[str, Any] = {}
        name, place, is_key = self._name(criterion)
        if name:
            entry["id"] = "/".join([*filter(None, criterion.above), name])
            self.draft.put((index, "id"), place, is_key=is_key)
        names = self.table.level_text if criterion.is_level else self.table.outcome
        outcome: FieldValue | None = FieldValue(criterion.value, criterion.place)
        if isinstance(criterion.value, dict):
            outcome = self.find(criterion, names)
        if outcome:
            entry["expected_outcome"] = outcome.value
            self.draft.put((index, "expected_outcome"), outcome.place)
        has_levels = self.scales.read(index, entry, criterion)
        texts = self.table.outcome + self.table.levels
        if not has_levels and not outcome and not self.is_empty(criterion, texts):
            listed = join_words([f"`{name}`" for name in texts], "or")
            self.report("schema", "no-text", criterion.place, {"fields": listed}, Part.HEAD)
        self.threshold.add_gate(index, entry, criterion)
        return entry

    def _is_read_otherwise(self, key: UnmappedKey) -> bool:
        """Return whether a value next to the criteria is their scale, or what all scores add up to: `max_score`."""
        if key.role is not Role.OPEN or not key.is_around:
            return False
        is_most = bool(split_words(key.name) & {"max", "maximum", "highest", "possible", "total"})
        is_whole = is_most and key.value in (self.weights.whole, self.weights.points)
        ends = read_ends(key.value)
        return is_whole or (ends is not None and ends in self.scales.ends)
