"""Complete keys, values, ids, ignore comments and whole rubrics, leaving out what would break the rubric."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH118, PTH120

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import starmap
from typing import Any, NamedTuple

from lsprotocol import types

from rubric_lint.dialects.search.agentv_suites import EVALUATORS
from rubric_lint.format.criterion import HIGHEST, as_integer
from rubric_lint.format.schema_files import catalogue
from rubric_lint.format.starter import RUBRICS
from rubric_lint.lsp.complete.cards import TestedCriterion, Value, find_rubrics, list_criteria, names_criteria
from rubric_lint.lsp.complete.proof import Proof, choose_best, put
from rubric_lint.lsp.complete.schemas import (
    FieldFacts,
    Root,
    Subschema,
    expect_rubric,
    find_roots,
    find_subschemas,
    find_words,
    is_settings_file,
    list_fields_at,
    list_rule_names,
    load,
    may_hold,
    merge,
    open_below,
    recall_roots,
)
from rubric_lint.lsp.complete.slots import Slot, find_slots, follow
from rubric_lint.lsp.complete.snippets import Plan, Writer, is_of_type, make_plan, read_body, write_value
from rubric_lint.lsp.server.analysis import Analysis, State
from rubric_lint.lsp.server.diagnostics import has_schema
from rubric_lint.lsp.server.documents import OpenDocuments
from rubric_lint.project.settings import FileSettings, claim_by_name
from rubric_lint.rules import BY_NAME
from rubric_lint.testing.reading import is_test_file, split_reference
from rubric_lint.text.path import Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Edit, Kind, Source, Span, kind_of

_LIST = r"#\s*rubric-lint:\s*(?:ignore-file|ignore)\s*\[(?P<before>[^\]#]*,\s*|\s*)(?P<word>[\w-]*)\Z"
_KIND = r"#\s*rubric-lint:\s*(?P<word>[\w-]*)\Z"
_REST = re.compile(r"[\w-]*")
_COMMENTS = {
    "ignore": "Silence rules for what is on this line or the next.",
    "ignore-file": "Silence rules in this file.",
}


_MODELINE = re.compile(
    r"""[ \t]*\#[ \t]*(?:yaml-language-server:[ \t]*)?\$schema[ \t]*[:=][ \t]*["']?(?P<url>[^\s"']*)"""
)
_MOST_FILES = 200


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
    if items := list(_offer_in_comment(state, source, offset)):
        return items
    if is_served and not state.settings.is_test_file:
        return []
    if found := _MODELINE.match(source.text, *source.line_span(source.position(offset).line)):
        url = Span(*found.span("url"))
        if url.start <= offset <= url.end and _is_in_comment(source, url.start - 1):
            cards = {} if is_served else dict(list_urls(state))
            best = choose_best(source, url, cards, state.settings)
            return [_make_item(state, url, each, cards[each], types.CompletionItemKind.Value) for each in best]
    items = _offer_by_schema(state, source, offset, snippets=snippets, is_served=is_served, before=before)
    return items if is_served else items + list(_offer_rubrics(state, source, offset))


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


def _offer_in_comment(state: State, source: Source, offset: int) -> Iterator[types.CompletionItem]:
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
    if found is None or not _is_in_comment(source, at + found.start()):
        return
    cards: Mapping[str, str] = _COMMENTS
    if "before" in found.re.groupindex:
        closing = source.text.find("]", end, line.end)
        others = source.text[end : closing if closing >= 0 else end]
        there = {*re.findall(r"[\w-]+", found["before"]), *re.findall(r"[\w-]+", others)}
        cards = {name: BY_NAME[name].summary for name in sorted(BY_NAME.keys() - there)}
    for word, card in cards.items():
        yield _make_item(state, Span(at + found.start("word"), end), word, card)


def _is_in_comment(source: Source, offset: int) -> bool:
    """Return whether an offset is in a comment, and not in a string; a text that cannot be read is not asked."""
    documents, _ = read_documents(source)
    return not documents or any(start <= offset < end for start, end in documents[0].tree.comments)


def _make_item(
    state: State,
    span: Span,
    label: str,
    card: str,
    kind: types.CompletionItemKind = types.CompletionItemKind.EnumMember,
) -> types.CompletionItem:
    return types.CompletionItem(
        label=label, kind=kind, documentation=card, text_edit=state.text.edit(Edit(span, label))
    )


def _offer_rubrics(state: State, source: Source, offset: int) -> Iterator[types.CompletionItem]:
    """Yield a whole rubric of each shape, in a rubric file with nothing but comments."""
    settings, kind = state.settings, kind_of(source.name)
    is_empty = all(not line.strip() or line.lstrip()[0] == "#" for line in source.text.splitlines())
    start = source.line_span(source.position(offset).line).start
    if settings and settings.is_rubric_file and is_empty and kind in (Kind.YAML, Kind.JSON) and start == offset:
        for number, (shape, written) in enumerate(RUBRICS.items()):
            (document,) = read_documents(Source("", written))[0]
            as_json = json.dumps(document.data, ensure_ascii=False, indent=2) + "\n"  # which has no comments
            text = as_json if kind is Kind.JSON else written
            yield types.CompletionItem(
                label=f"rubric: {shape}",
                kind=types.CompletionItemKind.Snippet,
                detail="a whole rubric to start from",
                documentation=types.MarkupContent(types.MarkupKind.Markdown, f"```{kind.lower()}\n{text}```"),
                sort_text=f"~{number}",
                text_edit=state.text.edit(Edit(Span(offset, offset), text)),
                insert_text_format=types.InsertTextFormat.PlainText,
            )


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
        if not (is_found or recalled) and (new := expect_rubric(slot.document, settings, slot.path)):
            roots = [new, *roots]
        if not roots:
            continue
        place = Place(state, slot, roots, is_served, snippets)
        proof = Proof(settings, slot, before if recalled and not is_found else None)
        offer = _offer_tables if slot.opening else _offer_keys if slot.is_key else _offer_values
        if items := list(offer(place, proof)):
            return items
    return []


class Place(NamedTuple):
    """A slot, and the schemas of the values around it.

    `is_served`: another server offers what schemas say. `snippets`: the editor supports snippets with placeholders.
    """

    state: State
    slot: Slot
    roots: list[Root]
    is_served: bool
    snippets: bool

    def find(self, path: Path, also: str = "") -> list[Subschema]:
        """Return the subschemas for the value at a path of the document, as if it had a field `also`."""
        data = self.slot.document.data
        if also and isinstance(self.slot.find(path), dict):
            data = put(data, path, also, {})
        found: list[Subschema] = []
        for root in self.roots:
            if path[: len(root.path)] == root.path:
                found += find_subschemas(root.source, root.definition, follow(data, root.path), path[len(root.path) :])
        return found

    @property
    def is_in_rubric(self) -> bool:
        """Whether a rubric is around the slot."""
        return any(root.is_rubric for root in self.roots)

    def writer(self) -> Writer:
        """Return a writer of what is inserted in the slot."""
        slot = self.slot
        kind, margin = kind_of(self.state.name), " " * slot.margin
        return Writer(kind, is_flow=slot.is_flow, margin=margin, snippets=self.snippets)

    def brace(self, text: str) -> str:
        """Return fields with the braces and the comma that they need in the slot."""
        return (f"{{{text}}}" if self.slot.needs_braces else text) + self.slot.tail

    def add_comma(self) -> list[types.TextEdit] | None:
        """Return the edit that adds the comma which is missing before the slot, if one is."""
        at = self.slot.comma
        return None if at is None else [self.state.text.edit(Edit(Span(at, at), ","))]

    def list_tested(self, path: Path) -> list[TestedCriterion]:
        """Return the criteria that the keys of the mapping at a path may name, none if it is about something else."""
        if not (self.state.settings and self.state.settings.is_test_file and names_criteria(path)):
            return []
        is_gates = path[-1] == "gates"
        return [each for each in list_criteria(self.state, self.slot.document.data) if each.has_gate or not is_gates]


class Key(NamedTuple):
    """A key: what explains it, the subschemas of its value, and what the tested rubric says about that."""

    name: str
    card: str
    below: list[Subschema]
    plan: Plan | None = None


def list_keys(place: Place, subschemas: list[Subschema]) -> Iterator[Key]:
    """Yield the keys of a slot's mapping, which follows the subschemas `subschemas`; those that it has already, too."""
    slot = place.slot
    for each in place.list_tested(slot.path):
        yield Key(each.id, each.card, open_below(subschemas, each.id), _plan_answers(each, slot.path))
    if place.is_served:
        return
    anywhere = {
        name
        for root in place.roots
        if not root.is_rubric
        for name in load(root.source)["definitions"].get("part", {}).get("properties", {})
    }
    is_inside = place.is_in_rubric
    listed = set()
    for name, facts in list_fields_at(subschemas, slot.mapping).items():
        if is_inside or name not in anywhere or may_hold(slot.document, slot.path, name):
            listed.add(name)
            if not facts.is_deprecated:
                yield Key(name, facts.card, open_below(subschemas, name), _plan_named(place, name))
    if not is_inside:
        for name in _list_known(place):
            if name not in listed:
                listed.add(name)
                yield Key(name, FieldFacts(name, {}).card, [])
    for name in list_rule_names(place.roots[-1], (*slot.path, ""), is_key=True):
        card = FieldFacts(name, {"description": BY_NAME[name].summary}).card
        yield Key(name, card, open_below(subschemas, name))


def list_urls(state: State) -> Iterator[tuple[str, str]]:
    """Yield the URLs of the schemas that a file may declare, the newest first, each with what the schema is about."""
    is_tests = state.settings is not None and state.settings.is_test_file
    names = ("rubric-test",) if is_tests else ("rubric", "suite")
    entries = [entry for entry in catalogue() if entry.name in names]
    for entry in sorted(entries, key=lambda entry: (entry.name, -int(entry.version[1:]))):
        yield entry.bundled_id, str(load(entry.source)["description"])


def _plan_answers(criterion: TestedCriterion, path: Path) -> Plan | None:
    """Plan what a test expects of a criterion; for the side of a gate, the schema says enough."""
    return Plan(words=tuple(answer.value for answer in criterion.answers)) if path[-1] == "criteria" else None


def _plan_named(place: Place, name: str) -> Plan | None:
    """Plan the URL of a schema, a list of rules, or what a test expects of a first criterion; None for other fields."""
    path = (*place.slot.path, name)
    if path == ("$schema",):
        return Plan(words=tuple(url for url, _ in list_urls(place.state)))
    if rules := list_rule_names(place.roots[-1], (*path, 0), is_key=False):
        return Plan(items=(Plan(words=tuple(rules)),))
    for each in place.list_tested(path):
        plan = _plan_answers(each, path) or Plan(words=tuple(find_words(open_below(place.find(path), each.id))))
        return Plan(fields={each.id: plan})
    return None


def _list_known(place: Place) -> Iterator[str]:
    """Yield the fields that a dialect lists by name alone: those of suites, of tests, and beside criteria."""
    path = place.slot.path
    for root in (root for root in place.roots if not root.definition):
        contents = load(root.source)
        is_test = len(path) == 2 and path[0] == "tests" and isinstance(path[1], int)
        part = "suite" if not path else "test" if is_test or path[-1] == "execution" else ""
        known = contents.get("x-loaded", {}).get(part, {}).get("properties", {})
        known = known.get("execution", {}).get("properties", {}) if path and path[-1] == "execution" else known
        yield from (name for name, field in known.items() if "x-reason" not in field)
        if len(path) > 1 and isinstance(path[-1], int) and path[-2] in EVALUATORS:
            yield from contents.get("x-beside-rubrics", {})


def list_values(place: Place) -> Iterator[Value]:
    """Yield the values for a slot, each with what it means."""
    slot = place.slot
    if place.state.settings and place.state.settings.is_test_file:
        yield from _list_test_values(place.state, slot)
    if place.is_served:
        return
    if slot.path == ("$schema",):
        yield from (Value(url, card) for url, card in list_urls(place.state))
    path, subschemas = slot.path, place.find(slot.path)
    words = find_words(subschemas)
    if not words and not isinstance(path[-1], int):
        words = find_words(open_below(subschemas, 0))  # one instead of a list
    if len(path) > 2 and path[-1] == "type" and path[-3] in EVALUATORS:
        whole = [load(root.source) for root in place.roots if not root.definition]
        words = [*words, *(kind for each in whole for kind in each.get("x-loaded", {}).get("types", ()))]
    member = partial(Value, kind=types.CompletionItemKind.EnumMember)
    yield from map(member, words)
    yield from (member(name, BY_NAME[name].summary) for name in list_rule_names(place.roots[-1], path, is_key=False))
    # The gates that the bands or levels of a criterion suggest, each with the outcome that it asks for.
    if place.is_in_rubric and path[-1] == "required_min_level":
        yield from starmap(member, _list_bounds(slot.mapping.get("levels"), "level"))
    elif place.is_in_rubric and path[-1] in {"required_min_score", "min_score"}:
        is_share = merge(subschemas).get("maximum") == 1
        for low, outcome in _list_bounds(slot.mapping.get("score_ranges"), "score_range"):
            if low > 0:
                yield member(low / HIGHEST if is_share else low, outcome)


def _list_bounds(steps: Any, field: str) -> Iterator[tuple[int, str]]:
    """Yield the lowest score or the number of each band or level, which is the key or in a field, and its outcome."""
    if isinstance(steps, dict):
        yield from ((int(key), str(told)) for key, told in steps.items() if key.isascii() and key.isdecimal())
    for step in (each for each in steps if isinstance(each, dict)) if isinstance(steps, list) else ():
        bound, outcome = step.get(field), ""
        if field == "score_range":
            bound, outcome = bound[0] if isinstance(bound, list) and bound else None, step.get("outcome", "")
        if (low := as_integer(bound)) is not None:
            yield low, str(step.get("expected_outcome", outcome))


def _list_test_values(state: State, slot: Slot) -> Iterator[Value]:
    """Yield the values that a file with rubric tests may have in a slot, but for those that its schema lists."""
    path = slot.path
    typed = state.text.body[slot.word.start : slot.word.end]
    if path == ("rubric",):
        reference, sign, _ = typed.partition("#")
        if sign:
            rubrics = find_rubrics(state, split_reference(state.name, reference)[0])
            yield from (Value(f"{reference}#{loaded.name}") for loaded in rubrics)
            return
        files = [
            each for each in _list_files(state.name, typed, (".yaml", ".yml", ".json")) if not is_test_file(each.value)
        ]
        settings = (state.settings or FileSettings())._replace(is_rubric_file=False)
        ours = {each.value for each in files if claim_by_name(each.value, settings).is_rubric_file}
        yield from sorted(files, key=lambda each: (each.value.endswith("/"), each.value not in ours))
    elif path == ("outputs",):
        yield from _list_files(state.name, typed, (".jsonl",))
    elif len(path) > 3 and path[0] == "tests" and path[2] == "output" and path[-1] == "id":
        yield from (Value(each.id, each.card) for each in list_criteria(state, slot.document.data))
    elif names_criteria(path[:-1]) and path[-2] == "criteria":
        named = [each for each in list_criteria(state, slot.document.data) if each.id == path[-1]]
        yield from (answer for each in named[:1] for answer in each.answers)


def _list_files(name: str, word: str, suffixes: tuple[str, ...]) -> Iterator[Value]:
    """Yield the files with these suffixes, then the folders, in the folder that a begun path leads to."""
    begun = word[: word.rfind("/") + 1]
    try:
        with os.scandir(os.path.join(os.path.dirname(name), begun)) as found:
            entries = sorted((each for each in found if not each.name.startswith(".")), key=lambda each: each.name)
    except (OSError, ValueError):
        return
    files = [each.name for each in entries if each.name.lower().endswith(suffixes) and each.is_file()]
    folders = [f"{each.name}/" for each in entries if each.is_dir()]
    for each in (*files[:_MOST_FILES], *folders[:_MOST_FILES]):
        kind = types.CompletionItemKind.Folder if each.endswith("/") else types.CompletionItemKind.File
        yield Value(begun + each, kind=kind)


def _offer_keys(place: Place, proof: Proof) -> Iterator[types.CompletionItem]:
    """Yield the keys that the mapping may have, each with a value that adds no error, and whole bands and criteria."""
    slot, subschemas = place.slot, place.find(place.slot.path)
    plans: dict[str, tuple[Plan, str]] = {}
    keys = [key for key in list_keys(place, subschemas) if key.name not in slot.mapping]
    if slot.value is not None:
        # Those that the value after the slot fits; if that is a mapping or a list with errors, fits best.
        typed = (key for key in keys if is_of_type(slot.value, key.below))
        weighed = [(proof.weigh(key.name, slot.value), key) for key in typed]
        least = min((weight for weight, _ in weighed), default=(0, 0, 0))
        if not least[0] and (not least[1] or isinstance(slot.value, dict | list)):
            plans = {key.name: (Plan(fields={}), key.card) for weight, key in weighed if weight == least}
        keys = []
    for key in keys:
        first = key.plan or make_plan(key.name, key.below, slot)
        plan = _plan_sound(proof, key.name, first)
        if plan is None:  # its form may depend on the fields beside it
            other = make_plan(key.name, open_below(place.find(slot.path, also=key.name), key.name, {}), slot)
            plan = None if other == first else _plan_sound(proof, key.name, other)
        if plan:
            plans[key.name] = plan, key.card
    for number, (name, (plan, card)) in enumerate(plans.items()):
        writer = place.writer()
        text = writer.write_key(name) + ("" if slot.has_value else ":")
        if slot.is_quoted:
            text = name
        elif not slot.is_before_value:
            text = place.brace(writer.write_fields({name: plan}))
        yield _make_key(place, name, card, number, text)
    if place.snippets and not place.is_served and not slot.mapping and not slot.is_before_value:
        yield from _offer_whole(place, subschemas, {name: plan for name, (plan, _) in plans.items()}, proof)


def _offer_tables(place: Place, proof: Proof) -> Iterator[types.CompletionItem]:
    """Yield the names of TOML tables that fit what follows best, each with the fields that it still must have."""
    slot = place.slot
    found: list[tuple[tuple[int, int, int], Key, dict[str, Plan]]] = []
    for key in list_keys(place, place.find(slot.path)):
        plan, there = key.plan or make_plan(key.name, key.below, slot), slot.mapping.get(key.name)
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
            text = place.writer().write_table(key.name, len(slot.opening), lacking)
            yield _make_key(place, key.name, key.card, number, text)


def _make_key(place: Place, name: str, card: str, number: int, text: str) -> types.CompletionItem:
    span = place.slot.word
    quote = place.state.text.body[span.start : min(span.start + 1, span.end)]
    is_quoted = quote in ('"', "'")  # an editor compares what is typed with the quotes that are a part of it
    return types.CompletionItem(
        label=name,
        kind=types.CompletionItemKind.Property,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, card),
        sort_text=f"{number + 1:02}",
        filter_text=f"{quote}{name}{quote}" if is_quoted else None,
        text_edit=place.state.text.edit(Edit(span, text)),
        additional_text_edits=place.add_comma(),
        insert_text_format=types.InsertTextFormat.Snippet if place.snippets else types.InsertTextFormat.PlainText,
    )


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
    bodies: dict[str, tuple[str, dict[str, Plan]]] = {}
    if slot.path[-2:-1] == ("score_ranges",) and fields:
        bodies["band"] = " and ".join(fields), fields
    else:
        for snippet in (each for one in subschemas for each in one.node.get("x-snippets", ())):
            if isinstance(body := snippet["body"], dict):
                plans = {name: read_body(value) for name, value in body.items()}
                bodies.setdefault(snippet["label"], (snippet.get("description", ""), plans))
    for number, (label, (card, plans)) in enumerate(bodies.items()):
        if label == "band" or proof.is_sound_mapping({name: plan.sample() for name, plan in plans.items()}):
            text = place.brace(place.writer().write_fields(plans))
            yield types.CompletionItem(
                label=label,
                kind=types.CompletionItemKind.Snippet,
                detail=card,
                sort_text=f"00{number}",
                text_edit=place.state.text.edit(Edit(slot.word, text)),
                additional_text_edits=place.add_comma(),
                insert_text_format=types.InsertTextFormat.Snippet,
            )


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
