"""Ask for completion everywhere in a text, and see what each offer makes of it.

What a schema allows at a place is found without the code of the server: all names that the schema could declare there,
on any branch, are tried in the data, and those that the linter has nothing new against are allowed.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from io import StringIO
from pathlib import Path as Path_
from typing import Any, NamedTuple
from urllib.parse import urljoin

from dialect_samples import SAMPLES
from documented import read_blocks
from lsprotocol import types
from ruamel.yaml import YAML
from typed import state_of

from rubric_lint.dialects.search.locate import find_claim_span
from rubric_lint.format.schema_files import BASE, load
from rubric_lint.lint.engine import Located, build_rubrics, find_problems, lint
from rubric_lint.lsp.complete.completion import complete
from rubric_lint.lsp.server.analysis import Analysis, analyse
from rubric_lint.lsp.server.positions import Text
from rubric_lint.project.settings import SettingsFinder
from rubric_lint.rules import BY_NAME
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

FINDER = SettingsFinder(isolated=True)


class Place(NamedTuple):
    """A field or a value taken out of a text: the text without it, where it was, and what was there.

    `allowed` is what the schema allows there; with `is_key`, names of fields.
    """

    name: str
    text: str
    at: int
    path: Path
    was: Any
    allowed: frozenset[Any]
    is_key: bool


class Count(NamedTuple):
    """What came of the places of a text."""

    places: int
    allowed: int
    missing: list[tuple[Any, ...]]
    offers: int
    broken: list[tuple[Any, ...]]


ROOT = Path_(__file__).parents[2]


def originals() -> dict[str, str]:
    """The suites and rubrics of the repository: those of tests, examples and pages."""
    found = {f"/{sample}/{each.file}": each.text for sample, each in SAMPLES.items()}
    for folder in ("tests/suites", "tests/agentv", "tests/snapshots/show", "examples", "playground/examples"):
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in {".yaml", ".json", ".toml"} and path.name != "expected.json":
                is_test = "rubric-test" in path.name  # its rubric is read from the file beside it
                found[str(path) if is_test else f"/{folder}/{path.name}"] = path.read_text("utf-8", "replace")
    for folder in ("docs", "rubric_lint/dialects", "skills"):
        for page in sorted((ROOT / folder).rglob("*.md")):
            for block in read_blocks(page.read_text("utf-8")):
                if block.kind in {"yaml", "json", "toml"}:
                    name = block.title or f"example.{block.kind}"
                    found[f"/{page.relative_to(ROOT)}/{block.line}/{name}"] = block.text
    return found


NOTATIONS = ("as written", "JSON", "braces")


def write_in(notation: str, name: str, text: str) -> tuple[str, str] | None:
    """The name and the text of a document in another notation; None if it has that one already, or cannot have it."""
    if notation == "as written":
        return name, text
    stem, _, suffix = name.rpartition(".")
    read = read_documents(Source(name, text))[0]
    if len(read) != 1 or read[0].has_aliases or suffix == "toml" or (notation == "JSON" and suffix == "json"):
        return None
    if notation == "JSON":
        return f"{stem}.json", json.dumps(read[0].data, indent=1)
    flow = StringIO()
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style, writer.width = True, 1 << 20
    writer.dump(read[0].data, flow)
    bare = stem.removesuffix(".rubric")
    return f"{bare}.flow{stem[len(bare) :]}.yaml", flow.getvalue()


def suites() -> list[str]:
    """The names of the documents that are no examples on pages."""
    return [
        name for name in originals() if not re.match("/docs/|/rubric_lint/|/skills/|.*/tests/snapshots/show/", name)
    ]


def tasks() -> list[tuple[str, str, str]]:
    """The documents to look at, each with a notation; examples on pages only as they are written."""
    found, written = originals(), suites()
    return [
        *((name, text, NOTATIONS[0]) for name, text in found.items()),
        *((name, found[name], notation) for notation in NOTATIONS[1:] for name in written),
    ]


def count_document(name: str, text: str, notation: str) -> Count:
    """See what completion offers at all places of a document in a notation."""
    written = write_in(notation, name, text)
    return count(find_places(*written), written[1]) if written else Count(0, 0, [], 0, [])


def ask(text: str, name: str, at: int, before: Analysis | None = None) -> dict[str, types.CompletionItem]:
    state = state_of(text, name)
    lines = text[:at].split("\n")
    position = types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)
    return {item.label: item for item in complete(state, position, snippets=True, before=before)}


FILLINGS = (r"Names part \1 of the answer", r"names_part_\1")
"""What an author may write at an empty stop: a sentence, or a name."""


def accept(text: str, item: types.CompletionItem, at: int, words: str = FILLINGS[0]) -> str:
    """The text as an editor leaves it, with every stop filled in."""
    start, end = Text.of(text).span(item.text_edit.range)
    assert start <= at <= end
    assert "\n" not in text[start:end]
    line = text[text.rfind("\n", 0, start) + 1 : start]
    margin = line[: len(line) - len(line.lstrip(" "))]
    inserted = item.text_edit.new_text
    if item.insert_text_format == types.InsertTextFormat.Snippet:
        inserted = fill(inserted, words)
    before = text[:start]
    for edit in item.additional_text_edits or ():
        at, _ = Text.of(text).span(edit.range)
        before = before[:at] + edit.new_text + before[at:]
    return before + inserted.replace("\n", f"\n{margin}") + text[end:]


def fill(snippet: str, words: str) -> str:
    """A snippet with the first choice, what it suggests, or other words at each stop."""
    snippet = re.sub(r"\{\$\d+\}", "{}", snippet)
    snippet = re.sub(r"\$\{\d+\|((?:\\.|[^,|])*)(?:\\.|[^|])*\|\}", r"\1", snippet)
    snippet = re.sub(r"\$\{\d+:((?:\\.|[^}\\])*)\}", r"\1", snippet)
    snippet = re.sub(r"(?<!\\)\$(\d+)", words, snippet)
    return re.sub(r"\\([\\$},|])", r"\1", snippet)


def errors(name: str, text: str) -> Counter[str]:
    """How often each rule finds an error."""
    found = lint(name, text.encode(), FINDER.for_file(name)).findings
    return Counter(finding.rule for finding in found if finding.severity == "error")


class Said(NamedTuple):
    """The errors in a text: the rule of each, the keyword of the schema that is violated, and the path."""

    errors: list[tuple[str, str, Path]]
    rubrics: int


ABOUT_ALL = {"coverage"}
"""The rules that look at all bands together, and so at what is not written yet."""

LACKING = {"required", "minItems", "minProperties", "contains"}

BESIDE = "dependencies"
"""The keyword of an error about a field that needs another one beside it."""


def see(name: str, text: str) -> Said:
    """What the linter says of a text, with the places in the data."""
    held = Located([], [])
    documents, faults = read_documents(Source(name, text))
    found: list[tuple[str, str, Path]] = [("syntax", "", ()) for _ in faults]
    for rule, problem, *_ in find_problems(documents, FINDER.for_file(name), held):
        if BY_NAME[rule].severity == "error":
            found.append((rule, problem.keyword, problem.path))
    return Said(found, len(held.rubrics))


def shown(name: str) -> str:
    """The name of a document that is written anew: as JSON, if it is not TOML."""
    return re.sub(r"\.(?:yaml|yml|json)\Z", ".json", name)


def says(name: str, data: Any) -> Said:
    """What the linter says about the fields in data."""
    said = see(shown(name), write(name, data))
    return said._replace(errors=[each for each in said.errors if each[0] not in ABOUT_ALL])


def write(name: str, data: Any) -> str:
    """Write data as it may stand in a file of a name: as TOML, or as JSON."""
    if not name.endswith(".toml"):
        return json.dumps(data)
    return "".join(f"{json.dumps(key)} = {_write_toml(value)}\n" for key, value in data.items())


def _write_toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)} = {_write_toml(each)}' for key, each in value.items())}}}"
    return f"[{', '.join(map(_write_toml, value))}]" if isinstance(value, list) else json.dumps(value)


def _is_of(error: tuple[str, str, Path], added: Path) -> bool:
    """Whether an error is not about what is lacking beside the value that was added."""
    return error[1] != BESIDE and (error[1] not in LACKING or error[2][: len(added)] == added)


def _is_allowed(said: Said, blank: Said, whole: Said, added: Path) -> bool:
    """Whether a field adds no error to what is there; what is lacking around it may come next.

    If there is no rubric without the field, its other errors are those that it had before.
    """
    known = Counter(each[:2] for each in blank.errors)
    if blank.rubrics < whole.rubrics:
        known |= Counter(each[:2] for each in whole.errors)
    errors = (each for each in said.errors if _is_of(each, added))
    return said.rubrics >= blank.rubrics and not Counter(each[:2] for each in errors) - known


def find_places(name: str, text: str) -> Iterator[Place]:
    """Take each field and each listed value out of the rubrics of a text, one by one."""
    source = Source(name, text)
    read = read_documents(source)[0]
    if len(read) != 1 or read[0].has_aliases:
        return
    (document,) = read
    for root, start in _find_roots(document):
        for path, _ in document.entries(start):
            if path[: len(start)] != start or len(path) <= len(start):
                continue
            nodes = list(_reach(root, path[len(start) :]))
            is_twice = any(path == (*each.owner, each.key) for each in document.duplicates)
            if isinstance(path[-1], str) and not is_twice:
                holders = list(_reach(root, path[len(start) : -1]))
                names = {
                    each
                    for each in {each for node in holders for each in node.get("properties", {})}
                    if not any(node.get("deprecated") for node in _reach(root, (*path[len(start) : -1], each)))
                }
                if path[-1] in names:
                    yield from _take_key(name, document, path, holders, names)
            words = {word for node in nodes for word in node.get("enum", ())}
            words |= {True, False} if any(node.get("type") == "boolean" for node in nodes) else set()
            if words and not isinstance(document.value(path), dict | list):
                yield from _take_value(name, document, path, words)


def _find_roots(document: Document) -> Iterator[tuple[str, Path]]:
    """The schemas of the rubrics in a document, or of the tests, each with the path of what follows it."""
    settings = FINDER.for_file(document.source.name)
    if settings.is_test_file:
        yield "rubric-test/v1.json#/definitions/file", ()
        return
    for rubric in build_rubrics(document, settings):
        view = rubric.view
        schema = view.schema if view else f"{rubric.version}/rubric.json#/definitions/rubrics"
        if not (view and view.is_text):
            yield schema if "#" in schema else f"{schema}#/definitions/rubrics", rubric.path


def count(places: Iterable[Place], whole: str = "") -> Count:
    """See at each place whether all that is allowed is offered, typed or not, and what each offer makes of the text.

    An offer breaks the rubric if there is a new error with it. Fields that are lacking beside it are written next.
    """
    total, allowed, missing, offers, broken = 0, 0, [], 0, []
    known_before: Analysis | None = None
    for place in places:
        known_before = known_before or (analyse(state_of(whole, place.name)) if whole else None)
        total += 1
        allowed += len(place.allowed)
        offered = ask(place.text, place.name, place.at, known_before)
        labels = {each if place.is_key or isinstance(each, str) else json.dumps(each) for each in place.allowed}
        missing += [(place.name, place.path, "", label) for label in sorted(labels - offered.keys())]
        original = place.was if isinstance(place.was, str) else json.dumps(place.was)
        if original in labels:
            typed = original[:2]
            begun = place.text[: place.at] + typed + place.text[place.at :]
            has_quotes = place.name.endswith(".json") or (place.name.endswith(".toml") and not place.is_key)
            if not (has_quotes and isinstance(place.was, bool)):
                if has_quotes:
                    begun = place.text[: place.at] + f'"{typed}"' + place.text[place.at :]
                at = place.at + len(typed) + has_quotes
                if original not in ask(begun, place.name, at, known_before):
                    missing.append((place.name, place.path, typed, original))
        blank = see(place.name, place.text)
        known = Counter(each[:2] for each in blank.errors) | _BASES[place.name, place.path, place.is_key]
        for label, item in offered.items():
            offers += 1
            added = (*place.path[:-1], label)
            found = []
            for words in FILLINGS:
                after = see(place.name, accept(place.text, item, place.at, words))
                errors = (each for each in after.errors if _is_of(each, added))
                found.append(Counter(each[:2] for each in errors) - known)
                if not found[-1]:
                    break
            else:
                broken.append((place.name, place.path, label, dict(found[0])))
    return Count(total, allowed, missing, offers, broken)


_BASES: dict[tuple[str, Path, bool], Counter[tuple[str, str]]] = {}


def _with_claim(document: Document) -> Any:
    """The data of a document, in which also a field says which schema it follows, if a comment does."""
    span = find_claim_span(document)
    if span and isinstance(document.data, dict):
        return {"$schema": document.source.slice(span), **deepcopy(document.data)}
    return deepcopy(document.data)


def _take_key(
    name: str, document: Document, path: Path, holders: list[dict[str, Any]], names: set[str]
) -> Iterator[Place]:
    text = document.source.text
    start, end = document.span(path, Part.KEY).start, document.span(path).end
    if is_header := name.endswith(".toml") and text[max(text.rfind("\n", 0, start), 0) : start].lstrip()[:1] == "[":
        end = document.span(path, Part.KEY).end
    cut = text[:start] + _trim(text[end:], document, path)
    base = _with_claim(document)
    mapping = _at(base, path[:-1])
    whole = says(name, base)
    was = mapping.pop(path[-1])
    blank = says(name, base)
    _BASES[name, path, True] = Counter(each[:2] for each in see(name, text).errors) | Counter(
        each[:2] for each in see(shown(name), write(name, base)).errors
    )
    allowed = set()
    for each in {path[-1]} if is_header else names - mapping.keys():  # what follows a header belongs to that table
        for sample in [was] if each == path[-1] else _samples(holders, each):
            mapping[each] = sample
            if _is_allowed(says(name, base), blank, whole, (*path[:-1], each)):
                allowed.add(each)
            del mapping[each]
    if allowed:
        yield Place(name, cut, start, path, path[-1], frozenset(allowed), is_key=True)


def _take_value(name: str, document: Document, path: Path, words: set[Any]) -> Iterator[Place]:
    text = document.source.text
    start, end = document.span(path)
    base = _with_claim(document)
    holder = _at(base, path[:-1])
    was = holder[path[-1]]
    before = _BASES[name, path, False] = Counter(each[:2] for each in see(name, text).errors)
    allowed = set()
    others = [each for at, each in enumerate(holder) if at != path[-1]] if isinstance(holder, list) else []
    for word in (each for each in words if each not in others):
        holder[path[-1]] = word
        if not Counter(each[:2] for each in see(shown(name), write(name, base)).errors) - before:
            allowed.add(word)
    holder[path[-1]] = was
    if allowed:
        yield Place(name, text[:start] + text[end:], start, path, was, frozenset(allowed), is_key=False)


def _trim(after: str, document: Document, path: Path) -> str:
    """What follows a field, without the comma that belonged to it."""
    if document.is_flow(path) or document.source.name.endswith(".json"):
        return re.sub(r"\A\s*,", "", after) if re.match(r"\s*,", after) else after
    return after


def _samples(holders: list[dict[str, Any]], name: str) -> Iterator[Any]:
    """Values of a field to try."""
    for node in holders:
        below = node.get("properties", {}).get(name)
        if isinstance(below, dict):
            yield from below.get("enum", ())
    yield from ("Says so", 1, True, 10, 0.5, [0, 10], ["Says so"], {"0": "Says no", "5": "Says so"})
    yield from ("pass", {"a": "met"}, {"a": 1}, {"verdict": "pass"}, [{"id": "a", "expect": {"verdict": "pass"}}])


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step]
    return data


def _reach(reference: str, steps: Path) -> Iterator[dict[str, Any]]:
    """All subschemas that could hold for a value, on any branch."""
    file, _, name = reference.partition("#/definitions/")
    home = load(file)
    spots = [(home, home["definitions"][name])]
    for step in steps:
        below = []
        for home, node in _branches(spots):
            kinds = (
                [node.get("items")]
                if isinstance(step, int)
                else [node.get("properties", {}).get(step, node.get("additionalProperties"))]
            )
            below += [(home, each) for each in kinds if isinstance(each, dict)]
        spots = below
    yield from (node for _, node in _branches(spots))


def _branches(spots: list[tuple[Any, Any]]) -> Iterator[tuple[Any, dict[str, Any]]]:
    seen = set()
    stack = list(spots)
    while stack:
        home, node = stack.pop()
        if not isinstance(node, dict) or (home["$id"], json.dumps(node)) in seen:
            continue
        seen.add((home["$id"], json.dumps(node)))
        yield home, node
        if "$ref" in node:
            file, _, name = node["$ref"].partition("#/definitions/")
            there = load(urljoin(home["$id"], file).removeprefix(BASE)) if file else home
            stack.append((there, there["definitions"][name]))
        for keyword in ("allOf", "anyOf", "oneOf"):
            stack += [(home, each) for each in node.get(keyword, ())]
        stack += [(home, node[keyword]) for keyword in ("then", "else") if keyword in node]


def main() -> None:
    """Count the places of all documents, and print what is not as it should be, and the sums."""
    found = tasks()
    with ProcessPoolExecutor(2) as pool:
        counts = list(pool.map(count_document, *zip(*found, strict=True)))
    wrong = [place for each in counts for place in (*each.missing, *each.broken)]
    with_places = {name for (name, *_), each in zip(found, counts, strict=True) if each.places}
    summary = (
        f"{len(with_places)} documents ({sum(bool(each.places) for each in counts)} texts in 3 notations), "
        f"{sum(each.places for each in counts)} places: "
        f"{sum(each.allowed for each in counts)} names and values allowed, "
        f"{sum(len(each.missing) for each in counts)} not offered; "
        f"{sum(each.offers for each in counts)} offers, {sum(len(each.broken) for each in counts)} break the rubric"
    )
    sys.stdout.write("".join(f"{line}\n" for line in (*wrong, summary)))


if __name__ == "__main__":
    main()
