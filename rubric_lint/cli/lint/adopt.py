"""Run `rubric-lint adopt`: describe a home-made format by a table in the settings."""

import json
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path as File
from typing import Any, NamedTuple

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.output import choose_by_ending, escape_what_cannot_be_encoded, make_style
from rubric_lint.formats.home_made.assignments import (
    NUMBER,
    ROLES,
    Assignment,
    AssignmentError,
    Suggestion,
    TableDraft,
    merge,
    read_number,
)
from rubric_lint.formats.home_made.assignments import read_scale as read_scale_text
from rubric_lint.formats.home_made.candidate import TITLE, Candidate, Question
from rubric_lint.formats.home_made.format_table import FormatTable, find_contradictions
from rubric_lint.formats.home_made.reading import read_by_tables
from rubric_lint.formats.home_made.roles import Role
from rubric_lint.formats.home_made.understand import Hints
from rubric_lint.formats.search.adoptable import find_describable
from rubric_lint.formats.search.describable import can_describe
from rubric_lint.lint.engine import examine_file
from rubric_lint.lint.project.adoption import add_tables, choose_file, name_files, write_tables
from rubric_lint.lint.project.opening import STDIN
from rubric_lint.lint.project.paths import is_there
from rubric_lint.lint.project.settings import FileSettings, SettingsFinder, shorten_path
from rubric_lint.lint.run.argument import FileArgument, load_argument
from rubric_lint.lint.run.console import complain
from rubric_lint.model.finding import Severity
from rubric_lint.model.messages import UserError, counted, join_words, list_names, pluralize, point_to_known, visible
from rubric_lint.model.suggest import name_in, suggest
from rubric_lint.model.view import View
from rubric_lint.report.show import ShowText
from rubric_lint.scoring.show.source import show
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path, part_of, pointer
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, UndecodableError, kind_of


class _AdoptedFile(NamedTuple):
    """A file to adopt: as it was given, with its documents, its settings, and how it is read now, if it is.

    `doubts` say where and why its rubrics are not scored, if they are read already. With `is_foreign`, no table of the
    settings reads them.
    """

    input: FileArgument
    documents: Sequence[Document]
    settings: FileSettings
    title: str
    doubts: Sequence[tuple[str, str]] = ()
    is_foreign: bool = False


def read_scale(value: str) -> str:
    """Return the option `--scale` as it is; raise click.BadParameter if it is neither two scores nor `yes-no`."""
    if value == "0-1":
        advice = "write yes-no for those, or have the judge score on 0-100 in the place of decimals"
        raise click.BadParameter(f"0-1 has the scores 0 and 1 alone, as only whole numbers count; {advice}")
    if read_scale_text(value) is None:
        raise click.BadParameter(f"{value!r} is not a scale; write the lowest and the highest score, 1-5, or yes-no")
    return value


def read_mark(value: str) -> str:
    """Return the option `--pass` as it is; raise click.BadParameter if it is not a score."""
    if read_number(value) is None:
        raise click.BadParameter(f"{value!r} is not a score; write a number on the scale of the files, such as 3.5")
    return value


def read_roles(values: tuple[str, ...]) -> tuple[Assignment, ...]:
    """Read the option `--map`: roles of keys."""
    answers = []
    for value in values:
        role, mark, key = value.partition("=")
        if not (mark and key):
            raise click.BadParameter(f"{value!r} is not ROLE=KEY, such as weight=importance or unused=owner")
        if role not in ROLES:
            raise click.BadParameter(f"unknown role `{visible(role)}`; {point_to_known(role, ROLES)}")
        answers.append(Assignment(role, key))
    return tuple(answers)


def describe_format(given: Given) -> int:
    """Describe the format of files in the settings, and return the exit code; see `adopt`."""
    if STDIN in given.files and not given.stdin_filename:
        raise click.UsageError("- requires --stdin-filename, because the table names its files")
    choose_by_ending(given.output, {".toml": "toml"}, "toml", advice="")
    escape_what_cannot_be_encoded()
    finder = given.finder()
    files = [_read(file, given.stdin_filename, finder) for file in dict.fromkeys(given.files)]
    if given.check:
        code = Exit.CLEAN
        for file in files:
            for fault in _find_lacks(file):
                complain(f"{file.input.label}: {name_in(fault, file.input.path)}")
                code = Exit.FOUND
        return code
    options = {"scale": given.scale, "pass": given.passes, "better": given.better}
    answers = [Assignment(role, value) for role, value in options.items() if value] + list(given.mapped)
    has_work = bool(answers) or any(file.doubts for file in files)
    is_again = has_work and all(file.settings.shapes and not file.is_foreign for file in files)
    new = []
    for file in files:
        if is_again or not file.title:
            new.append(file)
        else:
            _complain_of_known(file)
    if not new:
        return Exit.FOUND if any(file.doubts for file in files) else Exit.CLEAN
    folders = [File(file.input.path).parent for file in new]
    named = given.config if given.output in {None, STDIN} else given.output
    if named:
        origins: set[File | None] = {File(named).absolute()}
    else:
        origins = {finder.for_folder(folder).origin for folder in folders}
    places = {choose_file(origin) for origin in origins}
    if len(places) > 1:
        listed = list_names([shorten_path(place) for place in sorted(places, key=str)], 3)
        raise click.UsageError(f"these files have different settings ({listed}); name one with --output")
    return _Adoption(given, new, places.pop(), finder, is_again=is_again).run(tuple(answers))


class _Adoption:
    """Drafts the tables of files, asks what they leave open, and writes the tables when nothing is."""

    def __init__(
        self,
        given: Given,
        files: Sequence[_AdoptedFile],
        settings_file: File,
        finder: SettingsFinder,
        *,
        is_again: bool,
    ) -> None:
        self.given, self.files, self.settings_file = given, files, settings_file
        self.settings = finder.for_folder(File(files[0].input.path).parent).table
        names = {shape.name for file in files for shape in file.settings.shapes} if is_again else set()
        self.old = [table for table in self.settings.get("shape", ()) if table["name"] in names]
        """The tables that describe the files already, and get the answers."""
        self.owners = {document: file for file in files for document in file.documents}
        self.known_faults: list[str] = []
        """The errors of the files and of the tables without answers."""
        self._inferred: dict[str, list[TableDraft]] = {}
        # Questions have answers in common, and to try one is to lint all files.
        self._tried: dict[tuple[Assignment, ...], list[TableDraft] | None] = {}

    def run(self, answers: tuple[Assignment, ...]) -> int:
        """Draft, ask and write; return the exit code."""
        drafts = self.draft(())
        if not drafts:
            return self._stop()
        self.known_faults = self.find_faults(drafts)
        if answers:
            try:
                drafts = self.try_answers(answers)
            except AssignmentError as fault:
                raise click.UsageError(str(fault)) from None
        while any(draft.questions for draft in drafts):
            question, ways = self._choose_question(drafts, answers)
            if not _is_terminal() or STDIN in self.given.files:
                self._show(drafts, is_dead_end=not ways)
                return self._suggest_answer(drafts, question, answers, ways)
            chosen = self._ask(question, answers, ways)
            if not chosen:
                return self._stop()
            answers = merge(answers, chosen)
            drafts = self.draft(answers)
        for draft in drafts:
            for _, contradiction in find_contradictions(draft.table):
                return self._refuse(draft, contradiction)
        return self._write(drafts)

    def _stop(self) -> int:
        complain("nothing was written")
        return Exit.FOUND

    # The tables.

    def draft(self, answers: Sequence[Assignment]) -> list[TableDraft]:
        """Return the tables with some answers; none if a file has no criteria, which is said.

        Raises:
            AssignmentError: if an answer fits no table.
        """
        drafts = [self._name_old(table) for table in self.old] or self._infer(
            [answer.value for answer in answers if answer.role == "scale"]
        )
        fitting: dict[int, list[Assignment]] = {number: [] for number in range(len(drafts))}
        for answer in answers:
            faults = []
            for number, draft in enumerate(drafts):
                try:
                    draft.put([answer])
                    fitting[number].append(answer)
                except AssignmentError as fault:
                    faults.append(fault)
            if faults and len(faults) == len(drafts):
                raise faults[0]
        answered = [draft.put(fitting[number]) for number, draft in enumerate(drafts)]
        read = [{(view.document, view.path) for view in draft.views} for draft in answered]
        for number, draft in enumerate(answered):
            others = chain(*read[:number], *read[number + 1 :])
            # The places that other tables read, and those that lead there, without the top.
            above = {(document, path[:end]) for document, path in others for end in range(1, len(path) + 1)}
            answered[number] = replace(draft, others=frozenset(above))
        return answered

    def _name_old(self, table: Mapping[str, Any]) -> TableDraft:
        shape = FormatTable.from_table(table)
        named = [document for document, file in self.owners.items() if shape in file.settings.shapes]
        return TableDraft(tuple(named), table)

    def _infer(self, scales: Sequence[str]) -> list[TableDraft]:
        """Return the tables that the files suggest, on the last of some scales where they state none."""
        scale = scales[-1] if scales else ""
        if scale not in self._inferred:
            found = find_describable(list(self.owners), Hints(read_scale_text(scale), asks=True))
            self._inferred[scale] = self._name_new(found)
        return self._inferred[scale]

    def _name_new(self, found: Sequence[Candidate]) -> list[TableDraft]:
        """Return the tables of criteria with names and files; none if a file has no criteria, which is said."""
        described = {document for candidate in found for document in candidate.documents}
        lacking = [file for file in self.files if described.isdisjoint(file.documents)]
        for file in lacking:
            what = "criteria, each with a text such as `description`, and a weight, points or levels"
            complain(f"{file.input.label}: no criteria found: expected a list or a mapping of {what}")
        if lacking:
            return []
        known = {shape["name"] for shape in self.settings.get("shape", ())}
        drafts = []
        for candidate in found:
            paths = dict.fromkeys(self.owners[document].input.path for document in candidate.documents)
            title = self._find_title(list(paths), known)
            known.add(title)
            table = {"name": title, "files": name_files(paths, self.settings_file), **candidate.as_table()}
            drafts.append(TableDraft(tuple(candidate.documents), table, candidate))
        return drafts

    def _find_title(self, paths: Sequence[str], known: Collection[str]) -> str:
        """Return --name, or the name of the file or the folder, with a number if a table has it already."""
        name = self.given.name
        if not name and len(paths) == 1:
            name = File(paths[0]).stem
        elif not name:
            name = File(self.files[0].input.path).absolute().parent.name
        return _number(name, "", known.__contains__)

    def find_faults(self, drafts: Sequence[TableDraft]) -> list[str]:
        """Return the errors in the tables and in the files by them."""
        found = [wrong for draft in drafts for _, wrong in find_contradictions(draft.table)]
        for file in self.files:
            examined = examine_file(file.input.path, file.input.data, self._settle(file, drafts))
            source = examined.result.source
            for finding in examined.result.findings:
                if finding.severity is Severity.ERROR:
                    line, column, _ = source.position(finding.span.start)
                    found.append(f"{file.input.label}:{line}:{column}: {finding.message}")
        return found

    def try_answers(self, answers: Sequence[Assignment]) -> list[TableDraft]:
        """Return the tables with some answers, as the command with these options has them before it asks or writes.

        Raises:
            AssignmentError: if an answer fits no table, or makes an error that the files do not have without it.
        """
        drafts = self.draft(answers)
        for fault in self.find_faults(drafts):
            if fault not in self.known_faults:
                raise AssignmentError(f"these answers contradict the files: {fault}")
        return drafts

    def _settle(self, given: _AdoptedFile, drafts: Iterable[TableDraft]) -> FileSettings:
        own = [draft for draft in drafts if not set(draft.documents).isdisjoint(given.documents)]
        return given.settings._replace(shapes=tuple(draft.format_table for draft in own))

    # The questions.

    def _choose_question(
        self, drafts: Sequence[TableDraft], answers: tuple[Assignment, ...]
    ) -> tuple[Question, list[Suggestion]]:
        """Return the question to ask first, and the ways to answer it; one that nothing answers comes before all."""
        dead_end = self._find_dead_end(drafts, answers)
        if dead_end:
            return dead_end, []
        at = next(number for number, draft in enumerate(drafts) if draft.questions)
        question = drafts[at].questions[0]
        ways = []
        for way in dict.fromkeys(drafts[at].list_suggestions(question)):
            after = self._try_way(answers, way)
            if after is None or not _is_settled(question, drafts[at].questions, after[at].questions):
                continue
            if not self._find_dead_end(after, merge(answers, way.filled), drafts[at].questions):
                ways.append(way)
        ways = list({frozenset(merge(answers, way.answers)): way for way in reversed(ways)}.values())[::-1]
        return question, sorted(ways, key=lambda way: not way.is_whole)

    def _try_way(self, answers: tuple[Assignment, ...], way: Suggestion) -> list[TableDraft] | None:
        """Return the tables after a way to answer a question, None if the command refuses it."""
        together = merge(answers, way.filled)
        if together not in self._tried:
            try:
                self._tried[together] = self.try_answers(together)
            except AssignmentError:
                self._tried[together] = None
        return self._tried[together]

    def _find_dead_end(
        self, drafts: Sequence[TableDraft], answers: tuple[Assignment, ...], known: Collection[Question] = ()
    ) -> Question | None:
        """Return the first question that no answer to it, or to another one, settles; those `known` are left out."""
        for at, draft in enumerate(drafts):
            for question in draft.questions:
                if question not in known and not self._is_answerable(draft, at, question, answers):
                    return question
        return None

    def _is_answerable(self, draft: TableDraft, at: int, question: Question, answers: tuple[Assignment, ...]) -> bool:
        others = [other for other in draft.questions if other != question]
        for asked in (question, *others):
            for way in draft.list_suggestions(asked):
                after = self._try_way(answers, way)
                if after is not None and _is_settled(question, draft.questions, after[at].questions):
                    return True
        return False

    def _place(self, question: Question) -> str:
        place = _format_place(question.document, question.place)
        return f"{self.owners[question.document].input.label}{place}"

    def _suggest_answer(
        self,
        drafts: Sequence[TableDraft],
        question: Question,
        answers: tuple[Assignment, ...],
        ways: Sequence[Suggestion],
    ) -> int:
        """Say what is open first, and with which command it is answered."""
        if not ways:
            subject = f"{self._place(question)}: {_format_question(question)}"
            complain(f"{subject}; no option of adopt answers this, so change the file")
            return self._stop()
        complain(f"{self._place(question)}: {_format_question(question)}")
        for way in ways:
            click.echo(visible(f"  if {way.effect}:"), err=True)
            click.echo(f"    {self._suggest(merge(answers, way.answers))}", err=True)
        if all(answer.role == "unused" for way in ways for answer in way.answers):
            is_mark = any(draft.asks_for_mark(question) for draft in drafts if question in draft.questions)
            advice = "write the lowest score that passes as a number" if is_mark else "no table says how this counts"
            click.echo(f"  otherwise, change the file: {advice}", err=True)
        rest = len({(question.place, question.reason) for draft in drafts for question in draft.questions}) - 1
        if rest:
            complain(f"{counted(rest, 'more question')} may follow")
        return self._stop()

    def _suggest(self, answers: Iterable[Assignment]) -> str:
        options: dict[str, list[str]] = {}
        for answer in answers:
            name, value = answer.option
            options.setdefault(name, []).append(value)
        given = self.given
        kept = {"name": given.name, "output": given.output, "stdin_filename": given.stdin_filename, **given.settings}
        return suggest("adopt", *given.files, **options, **kept)

    def _ask(
        self, question: Question, answers: tuple[Assignment, ...], ways: Sequence[Suggestion]
    ) -> tuple[Assignment, ...]:
        """Ask on a terminal; return what the user says, nothing to stop."""
        click.echo(f"\n{visible(f'{self._place(question)}: {_format_question(question)}')}", err=True)
        for number, way in enumerate(ways, start=1):
            given = [answer.option for answer in way.answers]
            options = " ".join(f"--{name} {shlex.quote(value)}" for name, value in given)
            click.echo(visible(f"  {number}  {way.effect}  ({options})"), err=True)
        while True:
            text = click.prompt("A number, or options (empty to stop)", default="", show_default=False, err=True)
            if not text.strip():
                return ()
            try:
                chosen = _read_choice(text, ways)
                self.try_answers(merge(answers, chosen))
            except (click.BadParameter, AssignmentError) as fault:
                complain(str(fault))
            else:
                return chosen

    # The end.

    def _refuse(self, draft: TableDraft, contradiction: str) -> int:
        names = dict.fromkeys(self.owners[document].input.path for document in draft.documents)
        where = f"at `{draft.table['criteria']}`" if draft.table["criteria"] else "at the top"
        keys = join_words([f"`{visible(key)}`" for key in draft.own])
        advice = ""
        if keys and "outcome" in contradiction:
            advice = f"; if one of {keys} says it, name it with `--map outcome=KEY`"
        complain(f"{join_words(list(names))}: the criteria {where}: the table {contradiction}{advice}")
        return self._stop()

    def _show(self, drafts: Sequence[TableDraft], *, is_dead_end: bool = False) -> bool:
        """Show what is understood of the files, and what is not used; return whether `score` takes all of them.

        In a dead end, no table can be written.
        """
        is_open = any(draft.questions for draft in drafts)
        is_scored = True
        err = self.given.output == STDIN
        advice = "for details, run"
        if not self.old and is_dead_end:
            advice = ""  # without a table, `check` does not read the files
        elif not self.old and (is_open or err):
            advice = "once the table is in the settings, see"
        look = make_style(self.given.color)
        for file in self.files:
            shown = show(file.input.path, file.input.data, self._settle(file, drafts))
            is_scored = is_scored and not shown.unscorable
            examples = [example for rubric in shown.rubrics for example in rubric.examples]
            shown = shown._replace(unread=(), unscorable=()) if is_open else shown
            ShowText(lambda text: click.echo(text, nl=False, err=err), look, advice=advice).add(shown)
            for example in examples[:1]:
                worth = f"{float(example.score):.3f}, {example.verdict}"
                click.echo(f"{file.input.label}: for example, `score` gives this judge output {worth}:", err=err)
                click.echo(f"  {visible(json.dumps(example.output, ensure_ascii=False))}", err=err)
            for line in _format_left(file, drafts):
                click.echo(line, err=err)
        return is_scored

    def _write(self, drafts: Sequence[TableDraft]) -> int:
        is_scored = self._show(drafts)
        written = [draft.table for draft in drafts]
        if self.given.output == STDIN:
            click.echo(write_tables(written, self.settings_file), nl=False)
            return Exit.CLEAN if is_scored else Exit.FOUND
        add_tables(written, self.settings_file)
        listed = list_names([visible(str(table["name"])) for table in written])
        formats = f"{pluralize(len(written), 'format')} {listed}"
        added = f"\nAdded the {formats} to {visible(shorten_path(self.settings_file))}."
        if not is_scored:
            use = "check and editors now read the files; score, judge and convert will when their errors are fixed."
            click.echo(f"{added} {use}")
            return Exit.FOUND
        click.echo(f"{added} All commands and editors now read the files.")
        conversion = _format_conversion(self.files)
        if conversion:
            click.echo(f"Or, {conversion}")
        return Exit.CLEAN


def _is_settled(question: Question, before: Collection[Question], after: Collection[Question]) -> bool:
    """Return whether a question is gone and no new one has come up at the value that it is about."""
    is_about_value = question.view is not None and question.place != question.view.path
    for other in after:
        is_again = is_about_value and other.place == question.place and other not in before
        if is_again or other == question:
            return False
    return True


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _format_question(question: Question) -> str:
    """Return the reason of a question, without the advice that a message adds to it."""
    found = re.match(r"""(?:"[^"]*"|`[^`]*`|[^;"`])*""", question.reason)
    text = found[0] if found and found[0] else question.reason
    return text.removesuffix(", and is not read")


def _read_choice(text: str, ways: Sequence[Suggestion]) -> tuple[Assignment, ...]:
    """Read what a user types: the number of a way, or options."""
    if text.strip().isdecimal() and 0 < int(text) <= len(ways):
        way = ways[int(text) - 1]
        if way.is_whole:
            return way.answers
        raise click.BadParameter(f"write its options, with numbers in the place of {NUMBER}")
    try:
        words = shlex.split(text)
    except ValueError as fault:
        raise click.BadParameter(str(fault)) from None
    readers: dict[str, Callable[[str], str]] = {"--scale": read_scale, "--pass": read_mark, "--better": str}
    answers: list[Assignment] = []
    while words:
        name = words.pop(0)
        value = words.pop(0) if words else ""
        if name in readers and value:
            answers.append(Assignment(name.removeprefix("--"), readers[name](value)))
        elif name == "--map" and value:
            answers += read_roles((value,))
        else:
            raise click.BadParameter(f"{name!r} is not one of the numbers, nor --scale, --pass, --better or --map")
    return tuple(answers)


def _format_conversion(files: Sequence[_AdoptedFile]) -> str:
    """Say how to write files in our own format, which is the other way to have them read; empty for stdin."""
    path = files[0].input.path
    if path == STDIN or files[0].input.label != path:
        return ""
    stem = File(path).with_name(File(path).name.split(".")[0] or "rubric")
    command = suggest("convert", path, to="rubric", output=_number(str(stem), ".rubric.yaml", is_there))
    return f"to write {pluralize(len(files), 'it', 'each')} in rubric-lint's own format: {command}"


def _number(stem: str, ending: str, is_used: Callable[[str], bool]) -> str:
    """Return a name that is not used yet: without a number, or with the first one from 2 that makes it new."""
    name = f"{stem}{ending}"
    numbers = count(2)
    while is_used(name):
        name = f"{stem}-{next(numbers)}{ending}"
    return name


def _complain_of_known(file: _AdoptedFile) -> None:
    """Say that a file is read already, and what of it no table reads."""
    more = ", which knows more than a table can say, and" if file.is_foreign else ", and"
    for place, reason in file.doubts:
        complain(f"{place}: is read already, as {file.title}{more} is not scored: {reason}")
    if file.doubts:
        return
    message = f"{file.input.label}: is read already, as {file.title}; it needs no table"
    if not file.is_foreign and not show(file.input.path, file.input.data, file.settings).unscorable:
        conversion = _format_conversion([file])
        if conversion:
            message += f"; {conversion}"
    complain(message)


def _read(file: str, stdin_filename: str | None, finder: SettingsFinder) -> _AdoptedFile:
    """Read a file; raise UserError when it cannot be read or parsed, or is a program."""
    found = load_argument(file, stdin_filename)
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
    titles: dict[str, None] = {}
    for _, rubric in examined.rubrics:
        if settings.shapes or not (rubric.view and _may_be_described(rubric.view, is_in_doubt=is_in_doubt)):
            title = rubric.view.dialect.title if rubric.view else "rubric-lint's own format"
            titles[title] = None
    doubts: dict[tuple[str, str], None] = {}
    for view in views:
        if titles and view.refusal:
            place, reason = view.refusal
            doubts[f"{found.label}{_format_place(view.document, place)}", reason] = None
    is_foreign = not any(view.dialect.name == "shape" for view in views)
    return _AdoptedFile(found, documents, settings, join_words(list(titles)), list(doubts), is_foreign)


def _format_place(document: Document, path: Path) -> str:
    position = document.source.position(document.span(path, part_of(path)).start)
    return f":{position.line}:{position.column}"


def _may_be_described(view: View, *, is_in_doubt: bool) -> bool:
    """Return whether a table may describe a rubric that is read: one of a home-made format, or of a file in doubt."""
    return view.dialect.title == TITLE or (is_in_doubt and can_describe(view))


def _format_left(given: _AdoptedFile, drafts: Iterable[TableDraft]) -> Iterator[str]:
    """Say which keys of a file are not used, and that a scale of 0 to 1 has two scores."""
    for draft in drafts:
        entries = [entry for view in draft.views for entry in view.data if view.document in given.documents]
        scales = [entry["levels"] for entry in entries if isinstance(entry, dict) and "levels" in entry]
        if any(scale == [{"level": 0}, {"level": 1}] for scale in scales):
            yield f"{given.input.label}: on its scale of 0 to 1, a judge gives 0 or 1: only whole numbers count"
        left = draft.candidate.unused_keys if draft.candidate else None
        inside = left.inside if left else ()
        around = left.around if left else ()
        used = draft.used
        own = dict.fromkeys(str(path[-1]) for document, path in inside if document in given.documents)
        own = {name: None for name in own if name not in used}
        besides = dict.fromkeys(pointer(path) for document, path in around if document in given.documents)
        besides = {place: None for place in besides if place not in used}
        for where, names in (("keys of criteria not mapped", own), ("keys around them not mapped", besides)):
            if names:
                listed = join_words([f"`{visible(name)}`" for name in names])
                yield f"{given.input.label}: {where}: {listed}"


def _find_lacks(given: _AdoptedFile) -> Iterator[str]:
    shapes = given.settings.shapes
    if not shapes:
        if not given.title:
            yield "no table of the settings describes it; run `rubric-lint adopt FILE`"
        return
    views = [view for document in given.documents for view in read_by_tables(document, shapes)]
    if not views:
        yield f"the table `{shapes[0].name}` finds no criteria at `{shapes[0].criteria}`"
    used = {name for shape in shapes for name in _list_names(shape)}
    reasons: dict[tuple[str, str], None] = {}
    for view in views:
        for path, reason in [*view.doubts, *view.unread]:
            used.add(str(path[-1]))
            reasons[str(path[-1]), reason] = None
    yield from (reason for _, reason in reasons)
    read = {(view.document, view.path) for view in views}
    found = find_describable(given.documents, Hints(asks=True))
    yield from _find_unread(found, read, used)


def _find_unread(found: Iterable[Candidate], read: set[tuple[Document, Path]], used: set[str]) -> Iterator[str]:
    """Say which criteria no table reads, and which of their fields the tables do not use."""
    for candidate in found:
        for group in candidate.groups:
            if (group.document, group.path) not in read:
                yield f"no table reads the criteria at `{pointer(group.path)}`"
                continue
            for role, names in group.columns.roles.items():
                for name in names:
                    if name not in used and role not in _NEVER_MISSED:
                        yield f"the table does not use `{visible(name)}` of the criteria at `{pointer(group.path)}`"


_NEVER_MISSED = frozenset({Role.WEIGHT_WORDS, Role.HIGHEST, Role.ID, Role.TEXT, Role.TEXTS})


def _list_names(shape: FormatTable) -> Iterator[str]:
    """Yield the keys that a table names."""
    yield from chain(shape.id, shape.outcome, shape.weight, shape.levels, shape.parts)
    yield from (name for name, _ in chain(shape.gate, shape.negative))
    yield from shape.scale_names
