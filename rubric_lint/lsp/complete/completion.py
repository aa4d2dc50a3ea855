"""Complete keys, values, ids, ignore comments and whole rubrics, leaving out what would break the rubric."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lsprotocol import types

from rubric_lint.format.starter import RUBRICS
from rubric_lint.lsp.complete.candidates import Key, Place, list_keys, list_urls, list_values
from rubric_lint.lsp.complete.proof import Proof, choose_best
from rubric_lint.lsp.complete.snippets import Plan, Writer, is_of_type, make_plan, read_body, write_value
from rubric_lint.lsp.places.rooted import expect_rubric, find_roots, is_settings_file, recall_roots
from rubric_lint.lsp.places.schema_walk import Subschema, open_below
from rubric_lint.lsp.places.slots import Slot, find_slots
from rubric_lint.lsp.server.analysis import Analysis, State
from rubric_lint.lsp.server.diagnostics import has_schema
from rubric_lint.lsp.server.documents import OpenDocuments
from rubric_lint.project.settings import FileSettings
from rubric_lint.rules import BY_NAME
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Edit, Kind, Source, Span, kind_of

_LIST = r"#\s*rubric-lint:\s*(?:ignore-file|ignore)\s*\[(?P<before>[^\]#]*,\s*|\s*)(?P<word>[\w-]*)\Z"
_KIND = r"#\s*rubric-lint:\s*(?P<word>[\w-]*)\Z"
_REST = re.compile(r"[\w-]*")
_COMMENTS = {
    "ignore": "Silence rules for what is on this line or the next.",
    "ignore-file": "Silence rules in this file.",
}


def offer_in_comment(state: State, source: Source, offset: int) -> Iterator[types.CompletionItem]:
    """Yield what an ignore comment may hold at an offset: its kind, or the names of the rules that it lacks."""
    if kind_of(source.name).is_json:
        return
    line = source.line_span(source.position(offset).line)
    at = source.text.find("#", line.start, offset)
    if at < 0:
        return
    before, rest = source.text[at:offset], _REST.match(source.text, offset, line.end)
    end = rest.end() if rest else offset
    found = re.search(_LIST, before, re.IGNORECASE) or re.search(_KIND, before, re.IGNORECASE)
    if found is None or not is_in_comment(source, at + found.start()):
        return
    if "before" in found.re.groupindex:
        closing = source.text.find("]", end, line.end)
        others = source.text[end : closing if closing >= 0 else end]
        there = {*re.findall(r"[\w-]+", found["before"]), *re.findall(r"[\w-]+", others)}
        for name in sorted(BY_NAME.keys() - there):
            yield _make_item(state, Span(at + found.start("word"), end), name, BY_NAME[name].summary)
    else:
        for kind, card in _COMMENTS.items():
            yield _make_item(state, Span(at + found.start("word"), end), kind, card)


def is_in_comment(source: Source, offset: int) -> bool:
    """Return whether an offset is in a comment, and not in a string; a text that cannot be read is not asked."""
    documents, _ = read_documents(source)
    return not documents or any(start <= offset < end for start, end in documents[0].tree.comments)


def _make_item(state: State, span: Span, label: str, card: str) -> types.CompletionItem:
    return types.CompletionItem(
        label=label,
        kind=types.CompletionItemKind.EnumMember,
        documentation=card,
        text_edit=state.text.edit(Edit(span, label)),
    )


def offer_rubrics(state: State, source: Source, offset: int) -> Iterator[types.CompletionItem]:
    """Yield a whole rubric of each shape, in a rubric file with nothing but comments."""
    settings, kind = state.settings, kind_of(source.name)
    is_empty = all(not line.strip() or line.lstrip()[0] == "#" for line in source.text.splitlines())
    start = source.line_span(source.position(offset).line).start
    if settings and settings.is_rubric_file and is_empty and kind in (Kind.YAML, Kind.JSON) and start == offset:
        for number, (shape, written) in enumerate(RUBRICS.items()):
            text = written if kind is Kind.YAML else _write_json(written)
            yield types.CompletionItem(
                label=f"rubric: {shape}",
                kind=types.CompletionItemKind.Snippet,
                detail="a whole rubric to start from",
                documentation=types.MarkupContent(types.MarkupKind.Markdown, f"```{kind.lower()}\n{text}```"),
                sort_text=f"~{number}",
                text_edit=state.text.edit(Edit(Span(offset, offset), text)),
                insert_text_format=types.InsertTextFormat.PlainText,
            )


def _write_json(text: str) -> str:
    """Write YAML as JSON, without its comments."""
    (document,) = read_documents(Source("", text))[0]
    return json.dumps(document.data, ensure_ascii=False, indent=2) + "\n"


def list_bodies(subschemas: list[Any], slot: Slot) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the whole mappings that the schema suggests for an empty one: label, description and fields."""
    if slot.mapping or slot.is_before_value:
        return
    known = set()
    for subschema in subschemas:
        for snippet in subschema.node.get("x-snippets", ()):
            if isinstance(snippet["body"], dict) and snippet["label"] not in known:
                known.add(snippet["label"])
                yield snippet["label"], snippet.get("description", ""), snippet["body"]


def _offer_by_schema(
    state: State, source: Source, offset: int, *, snippets: bool, is_served: bool, before: Analysis | None
) -> list[types.CompletionItem]:
    """Return what the schemas allow at an offset, and in a file with rubric tests what the tested rubric does.

    What was a rubric `before` is one still, even if the field that shows it is the one to complete.
    """
    settings = state.settings or FileSettings()
    for slot in find_slots(source, offset):
        roots = find_roots(slot.document, settings, slot.path, state.name)
        is_found = any(root.is_rubric for root in roots)
        recalled = [root for root in recall_roots(before, slot) if root not in roots] if before else []
        roots = [*recalled, *roots]
        if not any(root.is_rubric for root in roots) and (new := expect_rubric(slot.document, settings, slot.path)):
            roots = [new, *roots]
        if not roots:
            continue
        place = Place(state, slot, roots, is_served, snippets)
        proof = Proof(settings, slot, before if recalled and not is_found else None)
        offer = _offer_tables if slot.opening else _offer_keys if slot.is_key else _offer_values
        if items := list(offer(place, proof)):
            return items
    return []


def _offer_keys(place: Place, proof: Proof) -> Iterator[types.CompletionItem]:
    state, slot, snippets = place.state, place.slot, place.snippets
    subschemas = place.find(slot.path)
    plans: dict[str, tuple[Plan, str]] = {}
    keys = [key for key in list_keys(place, subschemas) if key.name not in slot.mapping]
    if slot.value is not None:
        keys = _list_fitting(keys, slot, proof)
    for key in keys:
        name = key.name
        if slot.value is not None:
            plans[name] = Plan(fields={}), key.card
            continue
        first = _plan(key, slot)
        plan = _plan_sound(proof, name, first)
        if plan is None:  # its form may depend on the fields beside it
            other = make_plan(name, open_below(place.find(slot.path, also=name), name, {}), slot)
            plan = None if other == first else _plan_sound(proof, name, other)
        if plan:
            plans[name] = plan, key.card
    margin = " " * (slot.column - slot.indent)
    for number, (name, (plan, card)) in enumerate(plans.items()):
        writer = Writer(kind_of(state.name), is_flow=slot.is_flow, margin=margin, snippets=snippets)
        text = writer.write_key(name) + ("" if slot.has_value else ":")
        if not slot.is_before_value:
            text = _brace(slot, writer.write_fields({name: plan}))
        yield _make_key(place, name, card, number, name if slot.is_quoted else text)
    if snippets and not place.is_served:
        yield from _offer_whole(place, subschemas, {name: plan for name, (plan, _) in plans.items()}, proof)


def _list_fitting(keys: list[Key], slot: Slot, proof: Proof) -> list[Key]:
    """Return the keys that the value after the slot fits; if that is a mapping or a list with errors, fits best."""
    typed = (key for key in keys if is_of_type(slot.value, key.below))
    weighed = [(proof.weigh(key.name, slot.value), key) for key in typed]
    least = min((weight for weight, _ in weighed), default=(0, 0, 0))
    is_fitting = not least[0] and (not least[1] or isinstance(slot.value, dict | list))
    return [key for weight, key in weighed if weight == least] if is_fitting else []


def _brace(slot: Slot, text: str) -> str:
    return (f"{{{text}}}" if slot.needs_braces else text) + slot.tail


def _add_comma(place: Place) -> list[types.TextEdit] | None:
    at = place.slot.comma
    return None if at is None else [place.state.text.edit(Edit(Span(at, at), ","))]


def _offer_tables(place: Place, proof: Proof) -> Iterator[types.CompletionItem]:
    """Yield the names of TOML tables that fit what follows best, each with the fields that it still must have."""
    slot = place.slot
    found: list[tuple[tuple[int, int, int], Key, dict[str, Plan]]] = []
    for key in list_keys(place, place.find(slot.path)):
        plan, there = _plan(key, slot), slot.mapping.get(key.name)
        is_item = slot.opening == "[["
        table = plan.items[0] if is_item and plan.items else plan
        is_known = key.name in slot.mapping and key.name not in slot.more
        if is_known or table.fields is None or is_item != (plan.items is not None):
            continue
        fields = there if isinstance(there, dict) else {}
        opened = slot.opened or {}
        sample = {**table.sample(), **fields}
        value, whole = ([*(there or ()), each] if is_item else each for each in (sample, {**sample, **opened}))
        if proof.is_sound_field(key.name, value):
            known = table.fields.keys() if slot.opened is None else {*fields, *opened}
            lacking = {name: each for name, each in table.fields.items() if name not in known}
            found.append((proof.weigh(key.name, whole), key, lacking))
    least = min((count for count, *_ in found), default=(0, 0, 0))
    for number, (count, key, lacking) in enumerate(found):
        if count == least:
            writer = Writer(kind_of(place.state.name), is_flow=False, margin="", snippets=place.snippets)
            text = writer.write_table(key.name, len(slot.opening), lacking)
            yield _make_key(place, key.name, key.card, number, text)


def _make_key(place: Place, name: str, card: str, number: int, text: str) -> types.CompletionItem:
    return types.CompletionItem(
        label=name,
        kind=types.CompletionItemKind.Property,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, card),
        sort_text=f"{number + 1:02}",
        filter_text=_filter(place, name),
        text_edit=place.state.text.edit(Edit(place.slot.word, text)),
        additional_text_edits=_add_comma(place),
        insert_text_format=types.InsertTextFormat.Snippet if place.snippets else types.InsertTextFormat.PlainText,
    )


def _plan(key: Key, slot: Slot) -> Plan:
    return key.plan or make_plan(key.name, key.below, slot)


def _plan_sound(proof: Proof, name: str, plan: Plan) -> Plan | None:
    """Return a plan for a field that fits; if a value of another type fits instead, the plan of such a value."""
    samples = plan.words or (plan.sample(),)
    found = proof.find_sound(name, samples)
    if found is None:
        return None
    if plan.words:
        return replace(plan, words=tuple(each for each in plan.words if proof.is_sound_field(name, each)))
    if any(found[0] is each for each in samples):
        return plan
    (value,) = found
    if isinstance(value, dict | list):
        return Plan(fields={}) if value == {} else Plan(items=(), is_short=True)
    return Plan(is_text=True) if isinstance(value, str) else Plan(suggestion=value)


def _offer_whole(
    place: Place, subschemas: list[Subschema], fields: dict[str, Plan], proof: Proof
) -> Iterator[types.CompletionItem]:
    """Yield a whole band, or a whole criterion of each shape that fits the rubric, where there are no fields yet."""
    slot = place.slot
    bodies = [
        (label, card, {name: read_body(value) for name, value in body.items()})
        for label, card, body in list_bodies(subschemas, slot)
    ]
    if slot.path[-2:-1] == ("score_ranges",) and fields and not slot.mapping and not slot.is_before_value:
        bodies = [("band", " and ".join(fields), fields)]
    for number, (label, card, plans) in enumerate(bodies):
        if label == "band" or proof.is_sound_mapping({name: plan.sample() for name, plan in plans.items()}):
            margin = " " * (slot.column - slot.indent)
            writer = Writer(kind_of(place.state.name), is_flow=slot.is_flow, margin=margin, snippets=True)
            yield types.CompletionItem(
                label=label,
                kind=types.CompletionItemKind.Snippet,
                detail=card,
                sort_text=f"00{number}",
                text_edit=place.state.text.edit(Edit(slot.word, _brace(slot, writer.write_fields(plans)))),
                additional_text_edits=_add_comma(place),
                insert_text_format=types.InsertTextFormat.Snippet,
            )


def _filter(place: Place, name: str) -> str | None:
    """Return the text that an editor compares with what is typed, if quotes are a part of that."""
    typed = place.state.text.body[place.slot.word.start : place.slot.word.end]
    return f"{typed[0]}{name}{typed[0]}" if typed[:1] in {'"', "'"} else None


def _offer_values(place: Place, proof: Proof) -> Iterator[types.CompletionItem]:
    if not place.slot.path:
        return
    slot, kind = place.slot, kind_of(place.state.name)
    there = slot.find(slot.holder) if isinstance(slot.path[-1], int) else ()
    listed = [each for each in list_values(place) if each.value not in (there or ())]
    if slot.is_quoted:
        listed = [each for each in listed if isinstance(each.value, str)]
    best = proof.find_best(each.value for each in listed)
    fitting = (each for each in listed if any(each.value is value for value in best))
    for number, (value, card, sort) in enumerate(fitting):
        text = str(value) if slot.is_quoted else write_value(value, kind)
        yield types.CompletionItem(
            label=value if isinstance(value, str) else write_value(value, kind),
            kind=sort,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, card) if card else None,
            sort_text=f"{number:03}",
            text_edit=place.state.text.edit(Edit(slot.word, text + slot.tail)),
        )


_MODELINE = re.compile(
    r"""[ \t]*\#[ \t]*(?:yaml-language-server:[ \t]*)?\$schema[ \t]*[:=][ \t]*["']?(?P<url>[^\s"']*)"""
)


def complete(
    state: State,
    position: types.Position,
    *,
    snippets: bool,
    is_served: bool = False,
    before: Analysis | None = None,
) -> list[types.CompletionItem]:
    """Return the completions at a position.

    `snippets`: the editor supports snippets with placeholders. `is_served`: another server completes what our schemas
    say, so only what they cannot say is offered. `before` is the last readable state of the document.
    """
    source, offset = Source(state.name, state.text.body), state.text.offset(position)
    if is_settings_file(state.name) and (state.settings or state.obstacle):  # also while the settings are invalid
        return _offer_by_schema(state, source, offset, snippets=snippets, is_served=False, before=None)
    if state.settings is None:
        return []
    if items := list(offer_in_comment(state, source, offset)):
        return items
    if is_served and not state.settings.is_test_file:
        return []
    if url := _find_modeline(source, offset):
        return [] if is_served else list(_offer_schemas(state, source, url))
    found = _offer_by_schema(state, source, offset, snippets=snippets, is_served=is_served, before=before)
    return found if is_served else found + list(offer_rubrics(state, source, offset))


async def answer_completion(
    documents: OpenDocuments, params: types.CompletionParams
) -> list[types.CompletionItem] | None:
    """Return the completions at a position, if the editor's settings ask for them."""
    uri = params.text_document.uri
    when = (await documents.options_for(uri)).completion
    state = await documents.state(uri)
    if state is None or when == "never":
        return None
    found = await documents.readable(uri)
    has_server = when == "auto" and documents.has_schema_server
    snippets = bool(documents.connection.can("text_document.completion.completion_item.snippet_support"))

    def work() -> list[types.CompletionItem] | None:
        is_served = has_server and found is not None and has_schema(found)
        return complete(state, params.position, snippets=snippets, is_served=is_served, before=found) or None

    return await documents.run(work)


def _find_modeline(source: Source, offset: int) -> Span | None:
    line = source.line_span(source.position(offset).line)
    found = _MODELINE.match(source.text, line.start, line.end)
    is_there = (
        found and found.start("url") <= offset <= found.end("url") and is_in_comment(source, found.start("url") - 1)
    )
    return Span(*found.span("url")) if found and is_there else None


def _offer_schemas(state: State, source: Source, url: Span) -> Iterator[types.CompletionItem]:
    cards = dict(list_urls(state))
    for address in choose_best(source, url, cards, state.settings or FileSettings()):
        yield types.CompletionItem(
            label=address,
            kind=types.CompletionItemKind.Value,
            documentation=cards[address],
            text_edit=state.text.edit(Edit(url, address)),
        )
