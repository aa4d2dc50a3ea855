"""Complete the keys and values that the schemas of a place allow, leaving out what would break the rubric."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lsprotocol import types

from rubric_lint.dialects.search.agentv_suites import EVALUATORS
from rubric_lint.finding import Edit
from rubric_lint.format.bands import HIGHEST, as_integer
from rubric_lint.lsp.analysis import Analysis, State
from rubric_lint.lsp.cards import word_field
from rubric_lint.lsp.cursor import find_place
from rubric_lint.lsp.fields import FieldFacts
from rubric_lint.lsp.proof import Proof, put
from rubric_lint.lsp.rooted import Root, find_roots, generalise, list_rule_names, may_hold, recall_roots
from rubric_lint.lsp.schema_walk import Spot, find_spots, find_words, list_fields_at, load_once, merge, open_below
from rubric_lint.lsp.shapes import list_bodies
from rubric_lint.lsp.slots import Slot, find_slot, follow
from rubric_lint.lsp.snippets import Plan, Writer, make_plan, read_body, write_value
from rubric_lint.project.settings import FileSettings
from rubric_lint.rules import BY_NAME
from rubric_lint.text.kinds import kind_of
from rubric_lint.text.path import Path
from rubric_lint.text.source import Source


def offer_by_schema(
    state: State, source: Source, offset: int, *, snippets: bool, before: Analysis | None = None
) -> Iterator[types.CompletionItem]:
    """Yield what the schemas allow at an offset.

    `before` is the last readable state of the document: what was a rubric there is one still, even if the field that
    shows it is the one to complete.
    """
    slot = find_slot(source, offset)
    if slot is None:
        return
    settings = state.settings or FileSettings()
    roots = find_roots(slot.document, settings, slot.path, state.name)
    is_found = any(root.is_rubric for root in roots)
    recalled = [root for root in recall_roots(before, slot) if root not in roots] if before else []
    roots = [*recalled, *roots]
    if not any(root.is_rubric for root in roots) and (place := find_place(slot.document, settings, slot.path)):
        schema, steps = place
        if schema.version and steps is not None:  # a list that will be a rubric
            start = slot.path[: len(slot.path) - len(steps)]
            roots = [Root(schema.source, schema.whole, start, is_rubric=True), *roots]
    if not roots:
        return
    around, proof = _Place(slot, roots), Proof(settings, slot, before if recalled and not is_found else None)
    if slot.is_key:
        yield from _offer_keys(state, around, proof, snippets=snippets)
    elif slot.path:
        yield from _offer_values(state, around, proof)


class _Place(NamedTuple):
    """A slot, and the schemas of the values around it."""

    slot: Slot
    roots: list[Root]

    def find(self, path: Path, also: str = "") -> list[Spot]:
        """Return the subschemas for the value at a path of the document, as if it had a field `also`."""
        data = self.slot.data
        if also and isinstance(self.slot.find(path), dict):
            data = put(data, path, also, {})
        found: list[Spot] = []
        for root in self.roots:
            if path[: len(root.path)] == root.path:
                found += find_spots(root.source, root.definition, follow(data, root.path), path[len(root.path) :])
        return found

    @property
    def is_in_rubric(self) -> bool:
        """Whether a rubric is around the slot."""
        return any(root.is_rubric for root in self.roots)


def _offer_keys(state: State, place: _Place, proof: Proof, *, snippets: bool) -> Iterator[types.CompletionItem]:
    slot = place.slot
    spots = place.find(slot.path)
    plans: dict[str, tuple[Plan, FieldFacts]] = {}
    for name, facts, below in _list_keys(place, spots):
        if name in slot.mapping or facts.is_deprecated:
            continue
        first = make_plan(name, below, slot)
        plan = _plan_sound(proof, name, first)
        if plan is None:  # its form may depend on the fields beside it
            other = make_plan(name, open_below(place.find(slot.path, also=name), name, {}), slot)
            plan = None if other == first else _plan_sound(proof, name, other)
        if plan:
            plans[name] = plan, facts
    margin = " " * (slot.column - slot.indent)
    for number, (name, (plan, facts)) in enumerate(plans.items()):
        writer = Writer(kind_of(state.name), is_flow=slot.is_flow, margin=margin, snippets=snippets)
        text = writer.write_key(name) if slot.has_value else writer.write_fields({name: plan}) + slot.tail
        yield types.CompletionItem(
            label=name,
            kind=types.CompletionItemKind.Property,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, word_field(facts)),
            sort_text=f"{number + 1:02}",
            filter_text=_filter(state, slot, name),
            text_edit=state.text.edit(Edit(slot.word, name if slot.is_quoted else text)),
            insert_text_format=types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText,
        )
    if snippets:
        yield from _offer_whole(state, place, spots, {name: plan for name, (plan, _) in plans.items()}, proof)


def _plan_sound(proof: Proof, name: str, plan: Plan) -> Plan | None:
    """Return a plan for a field that fits; if a value of another type fits instead, the plan of such a value."""
    samples = plan.words or (plan.sample(),)
    found = proof.find_sound(name, samples)
    if found is None or any(found[0] is each for each in samples):
        return found and plan
    (value,) = found
    if isinstance(value, dict | list):
        return Plan(fields={}) if value == {} else Plan(items=(), is_short=True)
    return Plan(is_text=True) if isinstance(value, str) else Plan(suggestion=value)


def _offer_whole(
    state: State, place: _Place, spots: list[Spot], fields: dict[str, Plan], proof: Proof
) -> Iterator[types.CompletionItem]:
    """Yield a whole band, or a whole criterion of each shape that fits the rubric, where there are no fields yet."""
    slot = place.slot
    bodies = [
        (label, card, {name: read_body(value) for name, value in body.items()})
        for label, card, body in list_bodies(spots, slot)
    ]
    if slot.path[-2:-1] == ("score_ranges",) and fields and not slot.mapping and not slot.has_value:
        bodies = [("band", " and ".join(fields), fields)]
    for number, (label, card, plans) in enumerate(bodies):
        if label == "band" or proof.is_sound_mapping({name: plan.sample() for name, plan in plans.items()}):
            margin = " " * (slot.column - slot.indent)
            writer = Writer(kind_of(state.name), is_flow=slot.is_flow, margin=margin, snippets=True)
            yield types.CompletionItem(
                label=label,
                kind=types.CompletionItemKind.Snippet,
                detail=card,
                sort_text=f"00{number}",
                text_edit=state.text.edit(Edit(slot.word, writer.write_fields(plans) + slot.tail)),
                insert_text_format=types.InsertTextFormat.Snippet,
            )


def _filter(state: State, slot: Slot, name: str) -> str | None:
    """Return the text that an editor compares with what is typed, if quotes are a part of that."""
    typed = state.text.body[slot.word.start : slot.word.end]
    return f"{typed[0]}{name}{typed[0]}" if typed[:1] in {'"', "'"} else None


def _list_keys(place: _Place, spots: list[Spot]) -> Iterator[tuple[str, FieldFacts, list[Spot]]]:
    slot = place.slot
    anywhere = {
        name
        for root in place.roots
        if not root.is_rubric
        for name in load_once(root.source)["definitions"].get("part", {}).get("properties", {})
    }
    is_inside = place.is_in_rubric
    listed = set()
    for name, facts in list_fields_at(spots, slot.mapping).items():
        if is_inside or name not in anywhere or may_hold(slot.document, slot.path, name):
            listed.add(name)
            yield name, facts, open_below(spots, name)
    if not is_inside:
        for name in _list_known(place):
            if name not in listed:
                listed.add(name)
                yield name, FieldFacts(name, {}), []
    for name in _list_rules(place):
        yield name, FieldFacts(name, {"description": BY_NAME[name].summary}), open_below(spots, name)


def _list_known(place: _Place) -> Iterator[str]:
    """Yield the fields that a dialect lists by name alone: those of suites, of tests, and beside criteria."""
    path = place.slot.path
    for root in place.roots:
        if root.definition:
            continue
        contents = load_once(root.source)
        known: Mapping[str, list[str]] = contents.get("x-known", {})
        part = (
            "suite"
            if not path
            else "test"
            if len(path) == 2 and path[0] == "tests" and isinstance(path[1], int)
            else "execution"
            if path[-1] == "execution"
            else ""
        )
        refused = {
            way.rpartition("/")[2]
            for entry in contents.get("x-not-loaded", ())
            if "enum" not in entry and "beside" not in entry
            for way in entry["paths"]
            if way.rpartition("/")[0] == "/".join(generalise(path))
        }
        yield from (name for name in known.get(part, ()) if name not in refused)
        if len(path) > 1 and isinstance(path[-1], int) and path[-2] in EVALUATORS:
            yield from contents.get("x-beside-rubrics", {})


def _offer_values(state: State, place: _Place, proof: Proof) -> Iterator[types.CompletionItem]:
    slot, kind = place.slot, kind_of(state.name)
    for number, (value, card) in enumerate(_list_values(place, proof)):
        if slot.is_quoted and not isinstance(value, str):
            continue
        text = str(value) if slot.is_quoted else write_value(value, kind)
        yield types.CompletionItem(
            label=value if isinstance(value, str) else write_value(value, kind),
            kind=types.CompletionItemKind.EnumMember,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, card) if card else None,
            sort_text=f"{number:02}",
            text_edit=state.text.edit(Edit(slot.word, text + slot.tail)),
        )


def _list_values(place: _Place, proof: Proof) -> Iterator[tuple[Any, str]]:
    """Yield the values that fit, each with what it means."""
    slot = place.slot
    spots = place.find(slot.path)
    there = slot.find(slot.holder) if isinstance(slot.path[-1], int) else ()
    words = [(word, "") for word in (*find_words(spots), *_list_kinds(place))]
    words += [(name, BY_NAME[name].summary) for name in _list_rules(place)]
    gates = _list_gates(slot, merge(spots)) if place.is_in_rubric else []
    for word, card in [*words, *gates]:
        if word not in (there or ()) and proof.is_sound_value(word):
            yield word, card


def _list_kinds(place: _Place) -> Iterator[str]:
    """Yield the types of assertions that a dialect lists."""
    path = place.slot.path
    if len(path) > 2 and path[-1] == "type" and path[-3] in EVALUATORS:
        for root in place.roots:
            if not root.definition:
                yield from load_once(root.source).get("x-known", {}).get("assertion", ())


def _list_rules(place: _Place) -> list[str]:
    """Return the names of the rules where the settings take one."""
    slot = place.slot
    if slot.is_key:
        return list_rule_names(place.roots[-1], (*slot.path, ""))
    return list_rule_names(place.roots[-1], slot.path) if isinstance(slot.path[-1], int) else []


def _list_gates(slot: Slot, facts: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """Yield the gates that the bands or levels of a criterion suggest, each with the outcome that it asks for."""
    name = slot.path[-1]
    criterion = slot.mapping
    if name == "required_min_level":
        levels = criterion.get("levels")
        if isinstance(levels, dict):
            yield from _list_bounds(levels)
        for level in levels if isinstance(levels, list) else ():
            if isinstance(level, dict) and (number := as_integer(level.get("level"))) is not None:
                yield number, str(level.get("expected_outcome", ""))
    elif name in {"required_min_score", "min_score"}:
        for low, outcome in _list_bounds(criterion.get("score_ranges")):
            if low > 0:
                is_share = facts.get("maximum") == 1
                yield (low / HIGHEST if is_share else low), outcome


def _list_bounds(bands: Any) -> Iterator[tuple[int, str]]:
    if isinstance(bands, dict):
        for key, outcome in bands.items():
            if key.isascii() and key.isdecimal():
                yield int(key), str(outcome)
    for band in bands if isinstance(bands, list) else ():
        bounds = band.get("score_range") if isinstance(band, dict) else None
        if isinstance(bounds, list) and bounds and (low := as_integer(bounds[0])) is not None:
            yield low, str(band.get("expected_outcome", band.get("outcome", "")))
