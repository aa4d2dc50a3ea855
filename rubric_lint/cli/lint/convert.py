"""Define `rubric-lint convert`, which converts rubrics to and from other systems and reports what is lost."""

import pathlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import command, load_argument_rubrics, require_rubric
from rubric_lint.cli.output import YAML, choose_by_ending, make_style, refuse_same_file, write_result
from rubric_lint.convert.export import ENDINGS, TARGET_BY_ENDING, TARGETS, load_target
from rubric_lint.lint.project.opening import STDIN
from rubric_lint.lint.project.paths import find_ending
from rubric_lint.lint.run.argument import load_argument
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.messages import UserError, join_first, join_words, list_names, pluralize
from rubric_lint.model.suggest import suggest
from rubric_lint.source.source import Kind, Span

if TYPE_CHECKING:
    from rubric_lint.convert.export.target import (
        ConvertedSuite,
        Export,
        ExportSource,
        Loss,
        Rubrics,
        Sources,
        SuiteLoss,
    )
    from rubric_lint.lint.project.files import File
    from rubric_lint.lint.project.settings import FileSettings
    from rubric_lint.lint.run.argument import FileArgument
    from rubric_lint.model.rubric import Rubric
    from rubric_lint.scoring.loading import LoadedRubric
    from rubric_lint.source.path import Path


@command(
    "file",
    f"to:target={','.join(TARGETS)} output:export rubric strict | unsaid stdin-filename config isolated",
    examples={
        "rubric-lint convert --to deepeval examples/summary.rubric.yaml": "Write a DeepEval metric to stdout",
        "rubric-lint convert --to markdown -o rubric.md examples/summary.rubric.yaml": "Write a file",
        "rubric-lint convert --to inspect --strict examples/summary.rubric.yaml": "Refuse to lose anything",
        "rubric-lint convert --to json examples/summary.rubric.yaml": "Write a neutral form for a program",
    },
    exits={
        Exit.FOUND: "something that the target does not support, or with --strict a loss",
        Exit.USAGE: "usage error, or a file that cannot be read or has errors",
    },
    clashes="--unsaid needs --to",
    writes_at_end=True,
)
def convert(given: Given) -> int:
    """Convert the rubrics of FILE to another format.

    Anything the target format cannot express is reported on stderr. A rubric that has errors, or a shape that the
    target does not support, is refused. With --to agentv-4 or agentv-5, a suite of AgentV is rewritten as by
    `rubric-lint fix --to`. FILE may be - for stdin, or REV:PATH for a file in a Git revision.
    """
    refuse_same_file(given.file, given.output)
    if click.get_current_context().get_parameter_source("target") is click.core.ParameterSource.DEFAULT:
        given.target = choose_by_ending(given.output, TARGET_BY_ENDING, given.target)
    file = load_argument(given.file, given.stdin_filename)
    endings = [*ENDINGS[given.target]]
    if given.target == "rubric" or given.target in _RELEASES:
        endings.append(find_ending(file.path.lower()) or endings[0])  # what is in that format already stays of its kind
    choose_by_ending(
        given.output, dict.fromkeys(endings, given.target), given.target, advice=f" for --to {given.target}"
    )
    if given.target in _RELEASES and given.name is None:
        from rubric_lint.convert.release import is_agentv_suite

        settings = given.finder().for_file(file.path)
        if is_agentv_suite(file.label, file.data, settings):
            return _rewrite(given, file, settings)
    if given.unsaid:
        raise click.UsageError("--unsaid is for suites of AgentV, with --to agentv-4 or agentv-5")
    return _export(given, file)


def _export(given: Given, file: "FileArgument") -> int:
    """Write the rubrics of a file anew, with what their cases say in the words of the target."""
    from rubric_lint.convert.export.target import ExportError, TargetError

    found = load_argument_rubrics(file, given.finder())
    if given.name is not None:
        require_rubric(given.name, found)
        found = {given.name: found[given.name]}
    elif given.target == "rubric" and _is_in_version_3(found.values()):
        return write_result(file.data, given.output)
    if given.target == "xlsx":
        _check_excel(given.output)
    try:
        sound, carried, export = _write(found, given.target, is_whole=given.name is None)
    except ExportError as refusal:
        others = _find_targets(found, given) if isinstance(refusal, TargetError) else []
        advice = f"; use --to {join_words(others, 'or')}" if others else ""
        refused = found[refusal.name]
        locate = refused.place_of_field if refusal.is_in_document else refused.place
        complain(f"{locate(refusal.path)}: {refusal.message}{advice}")
        return Exit.FOUND
    losses: list[_Lost] = []
    for _, dropped in sound.values():
        losses += [(found[loss.name].place(loss.path), loss.message) for loss in dropped]
    losses += [(found[loss.name].place_in_document(loss.path), loss.message) for loss in export.losses]
    if carried:
        carried = carried._replace(losses=_lose_others(given, file, found, carried.losses))
        losses += _lost_around(found, carried, export.headed)
    are_kept = load_target(given.target).keeps_comments
    losses += _lost_comments(found, is_whole=given.name is None, are_kept=are_kept)
    for place, message in _join(sorted(set(losses), key=_order)):
        complain(f"{place}: lost: {message}")
    if given.strict and losses:
        complain(_NO_LOSSES)
        return Exit.FOUND
    for gap in export.todo:
        complain(f"to do: {gap}")
    content = _describe(given, file, sound) if given.target == "json" else export.data
    return write_result(content, given.output)


def _write(
    found: "Mapping[str, LoadedRubric]", target: str, *, is_whole: bool
) -> "tuple[dict[str, tuple[Rubric, list[Loss]]], ConvertedSuite | None, Export]":
    """Return rubrics as a target can have them, what it carries of their suite if they are whole, and the export.

    Raises:
        ExportError: if the target does not take one of them.
    """
    from rubric_lint.convert.export.cases import FileRubric
    from rubric_lint.convert.export.entries import find_written, make_sound
    from rubric_lint.convert.export.suite import convert_suite

    writer = load_target(target)
    rubrics: Rubrics = {name: loaded.rubric for name, loaded in found.items()}
    if is_whole:
        rubrics = find_written(rubrics, target, writer.shapes)
    sound = {name: make_sound(name, rubric, writer) for name, rubric in rubrics.items()}
    sources: Sources = {name: _source(found[name], keeps_comments=writer.keeps_comments) for name in rubrics}
    carried = None
    if is_whole:
        uses = [
            FileRubric(loaded.name, loaded.case, loaded.document, loaded.rubric, sources.get(loaded.name))
            for loaded in found.values()
        ]
        carried, sources = convert_suite(next(iter(found.values())).file, uses, writer)
    around = carried if carried and carried.cases else None
    return sound, carried, writer.write({name: rubric for name, (rubric, _) in sound.items()}, sources, around)


def _find_targets(found: "Mapping[str, LoadedRubric]", given: Given) -> list[str]:
    """Return the names of the targets that take rubrics."""
    from rubric_lint.convert.export.target import ExportError

    names = []
    for name in TARGETS:
        with suppress(ExportError):
            written = "csv" if name == "xlsx" else name  # both hold one table
            _write(found, written, is_whole=given.name is None)
            names.append(name)
    return names


def _is_in_version_3(found: "Iterable[LoadedRubric]") -> bool:
    """Return whether a YAML file says all of its rubrics in version 3 already."""
    from rubric_lint.convert.export.version_3 import is_written_in_version_3

    return all(is_written_in_version_3(loaded.rubric) and loaded.document.kind is Kind.YAML for loaded in found)


def _rewrite(given: Given, file: "FileArgument", settings: "FileSettings") -> int:
    """Write a suite as `rubric-fix --to` would, and say the same of it."""
    from rubric_lint.cli.fix.fix import exit_code, rewrite_suite
    from rubric_lint.lint.fix.run import FixOutcome, FixTotals, format_faults
    from rubric_lint.lint.fix.together import convert_together
    from rubric_lint.lint.run.summary import RunScope, Unchecked
    from rubric_lint.report.fixes import format_troubles

    member, others = _find_with_others(given, file, settings)
    if others:
        command = suggest("fix", file.label, to=given.target)
        complain(f"{file.label}: names {list_names(others, 3)}; `{command}` converts them together")
        return Exit.FOUND
    fixed = rewrite_suite(given, file.label, file.data, member.settings)
    if member.settings.is_followed:  # otherwise the notes about other files stay, as in `fix`
        [(_, fixed)] = convert_together([(member, fixed)], str(given.target))
    outcome = FixOutcome(fixed, remaining=len(fixed.result.findings))
    totals = FixTotals(scope=RunScope((file.label,)))
    totals.add(outcome)
    unchecked = Unchecked(())
    unchecked.add(file.label, fixed.result)
    for line in chain(format_faults(fixed, "fixed"), format_troubles(outcome), unchecked.format_lines()):
        complain(line)
    code = exit_code(totals, is_rewriting=True)
    is_rewritten = fixed.conversion is not None
    if not is_rewritten:
        for line in totals.format(is_dry=code is not Exit.CLEAN, is_rewriting=True).split("\n"):
            complain(line)
    if not is_rewritten and code is not Exit.CLEAN:
        return code
    is_unread = bool(fixed.unmet) or any(note.at is not None for note in fixed.notes)
    if given.strict and is_rewritten and is_unread:
        complain(_NO_LOSSES)
        return Exit.FOUND
    return write_result(fixed.data, given.output) or code


def _find_with_others(given: Given, file: "FileArgument", settings: "FileSettings") -> "tuple[File, list[str]]":
    """Return a suite with what its settings say of the files that it names, and the names of these files."""
    from rubric_lint.lint.project import suites
    from rubric_lint.lint.project.files import File

    if given.file == STDIN:
        return suites.look_at_stdin(File(file.label, settings), file.data), []
    if given.file != file.path:
        return File(file.label, settings), []
    found = [member for member in suites.find([file.path], given.finder()) if isinstance(member, File)]
    if not found:
        return File(file.label, settings), []
    return found[0], [member.name for member in found[1:]]


def _lose_others(
    given: Given, file: "FileArgument", found: "Mapping[str, LoadedRubric]", losses: "tuple[SuiteLoss, ...]"
) -> "tuple[SuiteLoss, ...]":
    """Return losses in which each lost name of a file has the reason why the file is not converted with the suite."""
    from rubric_lint.formats.agentv.files import find_other_files, format_unconverted
    from rubric_lint.lint.fix.together import explain_unread
    from rubric_lint.lint.project.following import resolve

    folder = pathlib.Path(file.path).parent
    member, names = _find_with_others(given, file, given.finder().for_file(file.path))
    unfollowed = {named.text: named for named in member.settings.unfollowed if member.settings.is_followed}
    named: dict[object, SuiteLoss] = {}
    for document in next(iter(found.values())).file:
        for other in find_other_files(document):
            if not any(number == document.number and path == other.path[: len(path)] for number, path, _ in losses):
                continue
            why = unfollowed.get(other.text)
            if why:
                reason = explain_unread(other, why)
            else:
                name = str(resolve(other, folder))
                command = suggest("convert", name, to=given.target) if name in names and _takes(given, name) else ""
                reason = format_unconverted(other, command)
            named[document.number, other.path] = document.number, other.path, reason
    return (*(loss for loss in losses if loss[:2] not in named), *named.values())


def _takes(given: Given, name: str) -> bool:
    """Return whether all rubrics of a file can be written anew to a terminal, as is known without rewriting suites."""
    from rubric_lint.convert.export.target import ExportError

    if given.target in {"xlsx", *_RELEASES}:
        return False
    with suppress(ExportError, UserError):  # only writing it shows what is refused
        _write(load_argument_rubrics(load_argument(name), given.finder()), str(given.target), is_whole=True)
        return True
    return False


def _describe(given: Given, file: "FileArgument", names: "Collection[str]") -> bytes:
    """Return the output of `rubric-lint show --format json` for some rubrics of a file."""
    from rubric_lint.report.show import ShowJson
    from rubric_lint.scoring.show.source import show, summarize

    shown = show(file.label, file.data, given.finder().for_file(file.path))
    shown = shown._replace(rubrics=tuple(rubric for rubric in shown.rubrics if rubric.name in names))
    written: list[str] = []
    report = ShowJson(written.append, make_style("never", is_file=True))
    report.add(shown)
    report.end(summarize(shown))
    return "".join(written).encode()


def _check_excel(output: str | None) -> None:
    from rubric_lint.formats.sheets.excel_file import NEEDS, has_openpyxl

    if not has_openpyxl():
        raise click.UsageError(f"--to xlsx {NEEDS}")
    if output in {None, STDIN} and sys.stdout.isatty():
        raise click.UsageError("--to xlsx writes a file that is not text; name it with --output")


def _source(loaded: "LoadedRubric", *, keeps_comments: bool) -> "ExportSource":
    from rubric_lint.convert.export.target import (
        ExportSource,
        find_fields,
        find_kept_comments,
        find_question,
    )
    from rubric_lint.source.nunjucks import RENDERS

    document, rubric = loaded.document, loaded.rubric
    fields = tuple(find_fields(document, rubric))
    is_template = rubric.dialect in RENDERS
    question = find_question(document, rubric)
    kept = find_kept_comments(document, rubric) if keeps_comments else {}
    comments = {at: [document.source.slice(span) for span in spans] for at, spans in kept.items()}
    return ExportSource(loaded.case, loaded.label, fields, is_template, question, comments=comments)


def _lost_around(
    found: "dict[str, LoadedRubric]", carried: "ConvertedSuite", headed: "Collection[str]"
) -> "Iterator[_Lost]":
    """Yield what is around the rubrics and has no place in the target; count what is too much to list.

    What is read as part of a rubric, such as the scale of all its criteria, is in what is written; so is what is judged
    as a whole, and the name, in those that are `headed`.
    """
    any_of_them = next(iter(found.values()))
    documents = {document.number: replace(any_of_them, document=document) for document in any_of_them.file}
    heads: set[str | None] = set()
    read: set[tuple[int | None, Path]] = set()
    for name, loaded in found.items():
        view = loaded.rubric.view
        if view and name in headed:
            heads |= {view.name, view.task}
        if view:
            read |= {(view.document.number, place) for place in view.sources - {view.path}}
    losses = []
    for number, path, message in carried.losses:
        of_document = documents[number]
        value = of_document.document.value(path)
        is_in_head = isinstance(value, str) and value in heads
        if (number, path) not in read and not is_in_head:
            losses.append((of_document.place_in_document(path), message))
    listed = frozenset(islice(dict.fromkeys(message for _, message in losses), _MOST_FIELDS))
    yield from (loss for loss in losses if loss[1] in listed)
    rest = [place for place, message in losses if message not in listed]
    if rest:
        yield rest[0], f"{len(rest):,} more fields and items from here on, which are not listed"


def _lost_comments(found: "dict[str, LoadedRubric]", *, is_whole: bool, are_kept: bool) -> "Iterator[_Lost]":
    """Yield the comments of the file, or of the converted rubrics; only our format keeps those of criteria."""
    from rubric_lint.convert.export.target import find_comments, find_kept_comments

    tree = next(iter(found.values())).document.tree
    spans = {loaded.document.span(loaded.rubric.path) for loaded in found.values()}
    if is_whole:
        spans = {Span(0, len(tree.source.text))}
    kept: set[Span] = set()
    loss = "a comment: converted files have no comments"
    if are_kept:
        loss = "a comment that is not of a criterion"
        for loaded in found.values():
            kept.update(*find_kept_comments(loaded.document, loaded.rubric).values())
    for comment in find_comments(tree, spans):
        if comment not in kept:
            position = tree.source.position(comment.start)
            yield f"{tree.source.name}:{position.line}:{position.column}", loss


def _order(lost: "_Lost") -> tuple[int, int, str]:
    place, message = lost
    _, line, column = place.rsplit(":", 2)
    return int(line), int(column), message


def _join(lost: "Iterable[_Lost]") -> "Iterator[_Lost]":
    """Merge equal losses into one at the first place, which lists the other lines."""
    places: dict[str, list[str]] = {}
    for place, message in lost:
        places.setdefault(message, []).append(place)
    for message, (first, *others) in places.items():
        if not others:
            yield first, message
            continue
        own, *lines = dict.fromkeys(place.rsplit(":", 2)[1] for place in (first, *others))
        more = f"{len(others)} more in line {own}"
        if lines:
            more = f"also in {pluralize(len(lines), 'line')} {join_first(lines, _MOST)}"
        yield first, f"{message} ({more})"


_RELEASES = ("agentv-4", "agentv-5")
_NO_LOSSES = "nothing was written: --strict allows no losses"
_MOST = 20
_MOST_FIELDS = 100
_Lost = tuple[str, str]
"""A place, and a description of what is lost there."""


@command(
    "file",
    "output map:import ignore-column rescale rubric header-row | stdin-filename config isolated",
    name="import",
    short="Write a table (CSV, Excel, Markdown) as a rubric file.",
    examples={
        "rubric-lint import rubric.csv -o answers.rubric.yaml": "Write a rubric file",
        "rubric-lint import checks.csv --map expected_outcome=Requirement": "Say what a column holds",
        "rubric-lint import marks.csv --rescale 1..3": "Turn another scale into bands from 0 to 10",
    },
    exits={
        Exit.FOUND: "a table without a single meaning, or a rubric with errors; nothing was written",
        Exit.USAGE: "usage error, or a file that cannot be read",
    },
    writes_at_end=True,
)
def import_table(given: Given) -> int:
    """Write the tables of FILE as a rubric file.

    FILE is CSV, an Excel workbook (.xlsx, with the extra `excel`) or Markdown, such as rubric-lint convert or people
    write. Each table is a rubric, and the words in its header say what its columns hold. The rubrics are linted at
    once, and findings name the cells. FILE may be - for stdin, or REV:PATH for a file in a Git revision.
    """
    from rubric_lint.convert.importing import ChoiceError, import_tables, read_choices

    refuse_same_file(given.file, given.output)
    choose_by_ending(given.output, YAML, "yaml", advice="")
    progress = Progress(sys.stderr, "importing", "rows")
    try:
        pairs = []
        for pair in given.mapped:
            field, mark, column = pair.partition("=")
            if not (mark and field.strip() and column.strip()):
                raise click.UsageError(f"--map {pair}: expected FIELD=COLUMN, such as weight=Points")
            pairs.append((column, field))
        choices = read_choices(pairs, given.ignored, given.rescale, given.name, given.header_row)
        file = load_argument(given.file, given.stdin_filename)
        of_file = given.finder().for_file(file.path)
        imported = import_tables(*file, of_file, choices, watch=progress.show_phase)
    except ChoiceError as wrong:
        raise click.UsageError(str(wrong)) from None
    finally:
        progress.clear()
    for message in imported.messages:
        complain(message.word())
    if not imported.text:
        return Exit.USAGE if imported.is_unreadable else Exit.FOUND
    return write_result(imported.text.encode(), given.output)
