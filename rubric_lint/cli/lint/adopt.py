"""Run `rubric-lint adopt`: describe a home-made format by a table in the settings."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path as File
from typing import Any, NamedTuple

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import STDIN, Given
from rubric_lint.cli.output import escape_what_cannot_be_encoded, make_style
from rubric_lint.dialects.search.adoptable import find_describable
from rubric_lint.dialects.search.describable import can_describe
from rubric_lint.format.view import View
from rubric_lint.lint.engine import examine_file
from rubric_lint.messages import UserError, join_words, list_names, visible
from rubric_lint.project.adoption import add_tables, choose_file, name_files, write_tables, write_value
from rubric_lint.project.settings import FileSettings, SettingsFinder, shorten
from rubric_lint.report.show import ShowText
from rubric_lint.run.console import complain
from rubric_lint.run.given import Input, read_given
from rubric_lint.shapes.candidate import TITLE, Candidate
from rubric_lint.shapes.columns import Role, look
from rubric_lint.shapes.reading import find_shapes
from rubric_lint.shapes.scores import read_levels
from rubric_lint.shapes.shape import Shape, find_contradictions
from rubric_lint.shapes.understand import Hints
from rubric_lint.show.source import show
from rubric_lint.suggest import name_in
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path, part_of, pointer
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, UndecodableError, kind_of

_OPEN = "?"
"""Stands for a number that only the user knows."""


class _Given(NamedTuple):
    """A file to adopt: as it was given, with its documents, its settings, and how it is read now, if it is.

    `doubts` say where and why its rubrics are not scored, if they are read already. With `is_foreign`, no table of the
    settings reads them.
    """

    input: Input
    documents: Sequence[Document]
    settings: FileSettings
    title: str
    doubts: Sequence[tuple[str, str]] = ()
    is_foreign: bool = False


@dataclass(frozen=True)
class _Described:
    """Criteria with the table that describes them, which has a name and files."""

    criteria: Candidate
    table: Mapping[str, Any]

    @property
    def shape(self) -> Shape:
        """The table as it is used."""
        return Shape.from_table(self.table)


def read_scale(value: str) -> str | list[int]:
    """Read a scale: two scores, or `yes-no`."""
    found = re.fullmatch(r"(-?\d{1,4})-(\d{1,4})", value)
    if found and int(found[1]) < int(found[2]):
        return [int(found[1]), int(found[2])]
    if value == "yes-no":
        return value
    raise click.BadParameter(f"{value!r} is not a scale; write the lowest and the highest score, 1-5, or yes-no")


def describe_format(given: Given) -> int:
    """Describe the format of files in the settings, and return the exit code; see `adopt`."""
    if STDIN in given.files and not given.stdin_filename:
        raise click.UsageError("- requires --stdin-filename, because the table names its files")

    escape_what_cannot_be_encoded()
    finder = given.finder()
    files = [_read(file, given.stdin_filename, finder) for file in dict.fromkeys(given.files)]
    if given.check:
        lacks = [(each.input, fault) for each in files for fault in _find_lacks(each)]
        for given_file, fault in lacks:
            complain(f"{given_file.label}: {name_in(fault, given_file.path)}")
        return Exit.FOUND if lacks else Exit.CLEAN
    is_again = bool(given.scale) and all(each.settings.shapes for each in files)
    for each in (each for each in files if each.title and not is_again):
        _complain_of_known(each)
    new = [each for each in files if is_again or not each.title]
    if not new:
        return Exit.CLEAN
    folders = [str(File(each.input.path).parent) for each in new]
    named = given.config if given.output in {None, STDIN} else given.output
    places = {choose_file(str(File(named).absolute()) if named else finder.for_folder(each).origin) for each in folders}
    if len(places) > 1:
        listed = list_names([shorten(place) for place in sorted(places)], 3)
        raise click.UsageError(f"these files have different settings ({listed}); name one with --output")
    file = places.pop()
    # With --scale, the tables that describe the files are inferred again.
    names = {shape.name for each in new for shape in each.settings.shapes}
    old = (
        [table for table in finder.for_folder(folders[0]).table["shape"] if table["name"] in names] if is_again else []
    )
    tables = _make_tables(new, file, finder, given, old)
    if not tables:
        complain("nothing was written")
        return Exit.FOUND
    for each in new:
        _show(each, tables, given.color, err=given.output == STDIN)
    written = [each.table for each in tables]
    if given.output == STDIN:
        click.echo(write_tables(written, file), nl=False)
        return Exit.CLEAN
    add_tables(written, file)
    listed = list_names([visible(str(table["name"])) for table in written])
    formats = f"{'format' if len(written) == 1 else 'formats'} {listed}"
    click.echo(f"\nAdded the {formats} to {visible(shorten(file))}. {_word_use(new, tables)}")
    return Exit.CLEAN


def _complain_of_known(given: _Given) -> None:
    """Say that a file is read already, and what of it no table reads."""
    more = ", which knows more than a table can say, and" if given.is_foreign else ", and"
    for place, reason in given.doubts:
        complain(f"{place}: is read already, as {given.title}{more} is not scored: {reason}")
    if not given.doubts:
        complain(f"{given.input.label}: is read already, as {given.title}; it needs no table")


def _word_use(files: Iterable[_Given], tables: Iterable[_Described]) -> str:
    """Say which commands read the files now: nothing is scored if something that may decide is not known."""
    shapes = [each.shape for each in tables]
    views = [view for given in files for document in given.documents for view in find_shapes(document, shapes)]
    if any(view.refusal for view in views):
        return (
            "check and editors now read the files; score, judge and convert will when the table says what is missing."
        )
    return "All commands and editors now read the files."


def _read(file: str, stdin_filename: str | None, finder: SettingsFinder) -> _Given:
    """Read a file; raise UserError when it cannot be read or parsed, or is a program."""
    found = read_given(file, stdin_filename)
    if kind_of(found.path).is_program:
        raise UserError(f"{found.label}: is a program; a table describes YAML, JSON and TOML")
    try:
        source = Source.from_bytes(found.path, found.data)
        documents, faults = read_documents(source)
        wrong = [(source.position(fault.span.start), fault.message) for fault in faults]
    except UndecodableError as fault:
        documents, wrong = [], [(fault.source.position(fault.span.start), fault.message)]
    if wrong:
        (line, column, *_), message = wrong[0]
        raise UserError(f"{found.label}:{line}:{column}: cannot be read: {message}")
    settings = finder.for_file(found.path)
    examined = examine_file(found.path, found.data, settings)
    views = [rubric.view for _, rubric in examined.rubrics if rubric.view]
    is_in_doubt = any(view.doubts for view in views)
    titles = dict.fromkeys(
        rubric.view.dialect.title if rubric.view else "rubric-lint's own format"
        for _, rubric in examined.rubrics
        if settings.shapes or not (rubric.view and _may_be_described(rubric.view, is_in_doubt=is_in_doubt))
    )
    doubts = dict.fromkeys(
        (f"{found.label}{_word_place(view.document, place)}", reason)
        for view in views
        if titles and view.refusal
        for place, reason in (view.refusal,)
    )
    is_foreign = not any(view.dialect.name == "shape" for view in views)
    return _Given(found, documents, settings, join_words(list(titles)), list(doubts), is_foreign)


def _word_place(document: Document, path: Path) -> str:
    position = document.source.position(document.span(path, part_of(path)).start)
    return f":{position.line}:{position.column}"


def _may_be_described(view: View, *, is_in_doubt: bool) -> bool:
    """Return whether a table may describe a rubric that is read: one of a home-made format, or of a file in doubt."""
    return view.dialect.title == TITLE or (is_in_doubt and can_describe(view))


def _make_tables(
    files: Sequence[_Given], file: str, finder: SettingsFinder, given: Given, before: Sequence[Mapping[str, Any]]
) -> list[_Described]:
    """Return the tables of files, which replace those `before`; none if one has no criteria, which is said."""
    first = File(files[0].input.path)
    documents = {document: each for each in files for document in each.documents}
    found = find_describable(list(documents), Hints(given.scale, asks=True))
    held = {document for each in found for document in each.documents}
    lacking = [each for each in files if held.isdisjoint(each.documents)]
    for without in lacking:
        what = "a list or a mapping of criteria, each with a text such as `description`, and a weight, points or levels"
        complain(f"{without.input.label}: no criteria found: expected {what}")
    if lacking:
        return []
    known = {shape["name"] for shape in finder.for_folder(str(first.parent)).table.get("shape", ())}
    tables: list[_Described] = []
    for each in found:
        table = each.as_table()
        names = dict.fromkeys(documents[document].input.path for document in each.documents)
        called = given.name or (File(next(iter(names))).stem if len(names) == 1 else first.absolute().parent.name)
        numbered = chain([called], (f"{called}-{number}" for number in count(2)))
        title = next(title for title in numbered if title not in known)
        known.add(title)
        head = {"name": title, "files": name_files(names, file)}
        head |= next(({key: old[key] for key in head} for old in before if old["criteria"] == table["criteria"]), {})
        tables.append(_Described(each, {**head, **table}))
        for _, wrong in find_contradictions(table):
            where = f"at `{table['criteria']}`" if table["criteria"] else "at the top"
            complain(f"{join_words(list(names))}: the criteria {where}: the table {wrong}")
            return []
    return tables


def _show(given: _Given, tables: Sequence[_Described], color: str, *, err: bool) -> None:
    """Show what is understood of a file, and what is not used."""
    own = [each for each in tables if any(document in given.documents for document in each.criteria.documents)]
    shapes = tuple(each.shape for each in own)
    shown = show(given.input.path, given.input.data, given.settings._replace(shapes=shapes))
    ShowText(lambda text: click.echo(text, nl=False, err=err), make_style(color)).add(shown)
    for line in _word_left(given, own):
        click.echo(line, err=err)
    if any("scale" not in each.table and "levels" not in each.table for each in own):
        told = "nothing says on which scale its criteria are scored, so gates and thresholds are not used"
        click.echo(f"{given.input.label}: {told}; run this again with --scale 1-5 or --scale yes-no", err=err)


def _word_left(given: _Given, tables: Iterable[_Described]) -> Iterator[str]:
    """Say what is not used, and how to give numbers to words that stand for weights or for the scores of levels."""
    for each in tables:
        criteria = each.criteria
        left = criteria.left_over
        own = dict.fromkeys(str(path[-1]) for document, path in left.inside if document in given.documents)
        beside = dict.fromkeys(pointer(path) for document, path in left.beside if document in given.documents)
        for where, names in (("keys of criteria not mapped", own), ("keys around them not mapped", beside)):
            if names:
                listed = join_words([f"`{visible(name)}`" for name in names])
                yield f"{given.input.label}: {where}: {listed}"
        worded = criteria.columns.names(Role.WEIGHT_WORDS)  # which are asked about below
        if asked := [name for name in left.asked if name not in worded]:
            yield f"{given.input.label}: {_ask(asked)}"
    for each in tables:
        columns = each.criteria.columns
        entries = columns.entries
        for name in columns.names(Role.WEIGHT_WORDS):
            words = dict.fromkeys(str(entry[name]) for entry in entries if isinstance(entry.get(name), str))
            numbers = ", ".join(f"{visible(word)} = 1" for word in words)
            advice = f'`weight = "{visible(name)}"` and `weights = {{ {numbers} }}`, with the numbers that you mean'
            yield f"{given.input.label}: `{visible(name)}` has words; to use them, add {advice}"
        levels = [read_levels(look(entry, name)) for entry in entries for name in columns.names(Role.LEVELS)]
        named = dict.fromkeys(word for found in levels if found for word in found.words)
        if named and "level-scores" not in each.table:
            scores = write_value(dict.fromkeys(named, _OPEN)).replace(f'"{_OPEN}"', _OPEN)
            advice = f"`level-scores = {visible(scores)}` with the score of each in the place of `?`"
            yield f"{given.input.label}: its levels have words; to score them, add {advice}"


def _ask(names: Sequence[str]) -> str:
    """Say what to do about fields of criteria that may bear on the score."""
    listed = join_words([f"`{visible(name)}`" for name in names])
    advice = "what does not count, name under `unused`; what does, write as a weight, a gate or a text of the criteria"
    return f"{listed} of the criteria may bear on the score, and nothing says how: {advice}"


def _find_lacks(given: _Given) -> Iterator[str]:
    shapes = given.settings.shapes
    if not shapes:
        if not given.title:
            yield "no table of the settings describes it; run `rubric-lint adopt FILE`"
        return
    views = [view for document in given.documents for view in find_shapes(document, shapes)]
    if not views:
        yield f"the table `{shapes[0].name}` finds no criteria at `{shapes[0].criteria}`"
    read = {(view.document, view.path) for view in views}
    used = {name for shape in shapes for name in _list_names(shape)}
    told = dict.fromkeys((str(path[-1]), reason) for view in views for path, reason in (*view.doubts, *view.unread))
    yield from (reason for name, reason in told)
    used |= {name for name, _ in told}
    found = find_describable(given.documents, Hints(asks=True))
    known = used.union(*(shape.unused for shape in shapes))
    asked = dict.fromkeys(name for each in found for name in each.left_over.asked if name not in known)
    yield from [_ask(list(asked))] if asked else []
    yield from _find_unread(found, read, used)


def _find_unread(found: Iterable[Candidate], read: set[tuple[Document, Path]], used: set[str]) -> Iterator[str]:
    """Say which criteria no table reads, and which of their fields the tables do not use."""
    for each in found:
        for group in each.groups:
            if (group.document, group.path) not in read:
                yield f"no table reads the criteria at `{pointer(group.path)}`"
                continue
            for role, names in group.columns.roles.items():
                for name in names:
                    if name not in used and role not in _NEVER_MISSED:
                        yield f"the table does not use `{visible(name)}` of the criteria at `{pointer(group.path)}`"


_NEVER_MISSED = frozenset({Role.WEIGHT_WORDS, Role.HIGHEST, Role.ID, Role.TEXT, Role.TEXTS})


def _list_names(shape: Shape) -> Iterator[str]:
    yield from (*shape.id, *shape.outcome, *shape.weight, *shape.levels, *shape.parts)
    yield from (name for name, _ in (*shape.gate, *shape.negative))
    yield from (
        part for part in (shape.scale if isinstance(shape.scale, tuple) else (shape.scale,)) if isinstance(part, str)
    )
