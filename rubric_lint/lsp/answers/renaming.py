"""Rename a criterion in its rubric, its tests and its judge outputs at once, or say why that is not possible."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH119

import os
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from lsprotocol import types

from rubric_lint.edits.intents import Intent, RenameKey, Repair, ReplaceValue
from rubric_lint.edits.lines import ObstacleError
from rubric_lint.edits.making import make_fix
from rubric_lint.fix.following import DataChange
from rubric_lint.fix.proof import find_doubt
from rubric_lint.lint.engine import lint
from rubric_lint.lint.mending import find_sharing
from rubric_lint.lsp.answers.id_sites import Site
from rubric_lint.lsp.answers.ids import Meaning, Target, Use, find_uses, list_targets, read_meaning
from rubric_lint.lsp.complete.test_values import write_scalar
from rubric_lint.lsp.server.library import Library, Reading
from rubric_lint.lsp.server.positions import replace_surrogates
from rubric_lint.testing.recordings import HASHES
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path, pointer
from rubric_lint.text.source import Edit, Source, splice


class RefusedError(Exception):
    """A rename that is not possible, with the reason."""


class FileEdit(NamedTuple):
    """The edits of one file; `version` is None if it is not open."""

    uri: str
    version: int | None
    edits: list[types.TextEdit]


_Changes = dict[str, tuple[Reading, dict[int, tuple[Document, list[Intent]]]]]
"""The intents by file, and in a file by document."""


def check_target(targets: Sequence[Target]) -> Target:
    """Return the criterion to rename.

    Raises:
        RefusedError: if there is none, or it cannot be renamed.
    """
    if not targets:
        raise RefusedError("put the cursor on the id of a criterion")
    target, *others = targets
    if any((other.reading.path, other.span) != (target.reading.path, target.span) for other in others):
        places = ", ".join(each.reading.name_line(each.span.start) for each in targets)
        raise RefusedError(f"this id may be that of several criteria ({places})")
    if target.place is None:
        place = target.reading.name_line(target.span.start)
        raise RefusedError(f"the criterion at {place} has no `id` of its own; give it one first")
    same_place = [each for each in list_targets(target.reading) if each.place and each.span == target.span]
    if target.criterion.borrows_id or len(same_place) > 1 or target.loaded.document.is_shared(target.place):
        raise RefusedError(f"the id at {target.reading.name_line(target.span.start)} is shared by an anchor or alias")
    return target


def rename(library: Library, target: Target, name: str, also: str = "") -> list[FileEdit]:
    """Return the edits that give a criterion another id in all files; `also` is a file with records of its rubric.

    Records that were judged by the rubric as it is now get the hashes of the renamed one, so that they still count.

    Raises:
        RefusedError: if another criterion has the id, a file cannot be read, or an edit cannot be proved.
    """
    old = target.criterion.id
    if not name.strip() or name != name.strip():
        raise RefusedError("an id cannot be empty, or begin or end with a space")
    if replace_surrogates(name) != name:
        raise RefusedError("an id cannot contain half a surrogate pair")
    if name == old:
        return []
    _check_rubric(target, name)
    uses = find_uses(library, target, also)
    if uses.obstacles:
        raise RefusedError("; ".join(uses.obstacles[:3]))
    changes: _Changes = {}
    _add(changes, target.reading, target.loaded.document, _intend(Site(target.place or (), old), name))
    new_rubric = _rewrite(target.reading, changes[target.reading.path][1])[0]
    _check_findings(target.reading, new_rubric)
    before = read_meaning(target.reading, target.loaded.name)
    after = read_meaning(target.reading, target.loaded.name, new_rubric)
    for use in uses.found:
        _check_collision(use, name)
        _add(changes, use.reading, use.document, _intend(use.site, name))
        for intent in _update_hashes(use, name, before, after):
            _add(changes, use.reading, use.document, intent)
    return [_write(reading, documents) for reading, documents in changes.values()]


def _check_rubric(target: Target, name: str) -> None:
    """Refuse an id that the rubric has, or one that two criteria have already."""
    others = [each for each in list_targets(target.reading) if each.loaded.name == target.loaded.name]
    for other in others:
        if other.criterion.path != target.criterion.path and other.criterion.id in (name, target.criterion.id):
            place = target.reading.name_line(other.span.start)
            raise RefusedError(f"the criterion at {place} has the id `{other.criterion.id}`")


def _check_findings(reading: Reading, new: str) -> None:
    """Refuse a text with findings that the one before it does not have."""
    before, after = (lint(reading.path, text.encode(), reading.settings) for text in (reading.source.text, new))
    known = Counter(finding.rule for finding in before.findings)
    for finding in after.findings:
        known[finding.rule] -= 1
        if known[finding.rule] < 0:
            raise RefusedError(f"{finding.rule}: {finding.message}")


def _check_collision(use: Use, name: str) -> None:
    """Refuse an id that is used beside this one already."""
    path, data = use.site.path, use.document
    if use.site.part is Part.KEY:
        is_there = name in data.value(path[:-1])
    elif path[-1] == "id":
        is_there = any(isinstance(each, dict) and each.get("id") == name for each in data.value(path[:-2]))
    else:
        is_there = name in data.value(path[:-1])
    if is_there:
        raise RefusedError(f"{use.reading.name_line(use.span.start)} has `{name}` beside `{use.site.id}` already")


def _intend(site: Site, name: str) -> Intent:
    return RenameKey(site.path, name) if site.part is Part.KEY else ReplaceValue(site.path, write_scalar(name))


def _update_hashes(use: Use, name: str, before: Meaning, after: Meaning) -> list[Intent]:
    """Return what makes a record that counts for the rubric before it is renamed count for it afterwards."""
    if use.record is None or not before.hash or not after.hash:
        return []
    intents: list[Intent] = []
    for path, held in ((use.at, use.record), ((*use.at, "judge"), use.record.get("judge"))):
        if isinstance(held, dict) and held.get("rubric_hash") == before.hash:
            intents.append(ReplaceValue((*path, "rubric_hash"), after.hash))
    path, old = use.site.path, use.site.id
    if path[-2:] == (HASHES, old) and use.document.value(path) == before.told.get(old):
        intents.append(ReplaceValue(path, after.told[name]))
    return intents


def _add(changes: _Changes, reading: Reading, document: Document, intent: Intent) -> None:
    _, documents = changes.setdefault(reading.path, (reading, {}))
    _, intents = documents.setdefault(document.number or 0, (document, []))
    if intent not in intents:
        intents.append(intent)


def _rewrite(reading: Reading, documents: dict[int, tuple[Document, list[Intent]]]) -> tuple[str, list[Edit]]:
    """Return the new text of a file and its edits, proved.

    Raises:
        RefusedError: if there is a doubt.
    """
    edits: list[Edit] = []
    changes: list[DataChange] = []
    for document, intents in documents.values():
        try:
            fix = make_fix(find_sharing(document), Repair("rename", tuple(intents), safe=False))
        except ObstacleError as fault:
            place = reading.name_line(document.span(_path_of(intents[0])).start)
            raise RefusedError(f"{place}: {fault}") from None
        edits += fix.edits
        place_of = "" if document.number is None else f"/{document.number}"
        changes.append(DataChange(place_of + pointer(()), fix.intents, fix.edits, safe=False))
    new = splice(reading.source.text, sorted(edits))
    source = Source(reading.source.name, reading.source.text)
    if doubt := find_doubt(source, Source(source.name, new), changes, reading.settings):
        raise RefusedError(f"{os.path.basename(reading.path)}: {doubt}")
    return new, edits


def _path_of(intent: Intent) -> Path:
    return intent.path if isinstance(intent, RenameKey | ReplaceValue) else ()


def _write(reading: Reading, documents: dict[int, tuple[Document, list[Intent]]]) -> FileEdit:
    _, edits = _rewrite(reading, documents)
    return FileEdit(reading.uri, reading.version, [reading.text.edit(edit) for edit in sorted(edits)])
