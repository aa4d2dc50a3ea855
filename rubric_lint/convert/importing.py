"""Import rubrics from tables: lint what they hold, report findings at its cells, and write the files."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from rubric_lint.convert.export.entries import make_sound
from rubric_lint.convert.export.suites import RUBRIC
from rubric_lint.convert.export.target import CaseKey, ConvertedCase, ConvertedSuite, ExportError, ExportSource
from rubric_lint.formats.sheets.cells import CellTable, TableError, UnreadableError, parse_rescale
from rubric_lint.formats.sheets.columns import Choices, fold
from rubric_lint.formats.sheets.reading import read_tables
from rubric_lint.formats.sheets.rubrics import TableRubric, read_rubric, write_json
from rubric_lint.lint.engine import examine
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import Thresholds
from rubric_lint.model.finding import Severity
from rubric_lint.model.messages import list_names
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema_files import CURRENT, VERSION_3
from rubric_lint.source.source import Source

_NAME = "table.rubric.json"


NOTE = "note"
"""The kind of a message that is not a finding."""


class ChoiceError(ValueError):
    """Options that contradict each other, or name what no table has."""


class ImportMessage(NamedTuple):
    """A message about a table, with its place; of a whole file, `place` is empty.

    `kind` is `note` or a severity, `rule` the rule that found it, if one did. An error is why nothing was imported.
    """

    place: str
    kind: str
    message: str
    rule: str = ""

    def word(self) -> str:
        """Return the message as the command prints it."""
        place = f"{self.place}: " if self.place else ""
        rule = f"{self.kind} {self.rule}: " if self.rule else ""
        return f"{place}{rule}{self.message}"

    def to_json(self) -> dict[str, Any]:
        """Return the message as JSON."""
        return {"place": self.place, "kind": self.kind, "rule": self.rule or None, "message": self.message}


class Imported(NamedTuple):
    """The rubric file that a file of tables holds; its text is empty if one of the messages is an error.

    `is_unreadable`: the file could not be read as its name says.
    """

    file: str
    text: str
    messages: tuple[ImportMessage, ...]
    is_unreadable: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the rubric file and the messages as JSON."""
        return {
            "file": self.file,
            "text": self.text or None,
            "messages": [message.to_json() for message in self.messages],
        }


def read_choices(
    mapping: Iterable[tuple[str, str]],
    ignored: Iterable[str],
    rescale: str | None,
    only: str | None,
    header_row: int | None,
) -> Choices:
    """Read the options of an import; `mapping` has pairs of a column and the field that it holds.

    Raises:
        ChoiceError: if one has a wrong form, or two contradict each other.
    """
    fields: dict[str, str] = {}
    for column, field in mapping:
        if fields.setdefault(fold(column), field) != field:
            raise ChoiceError(f"--map: column `{column}` cannot hold both `{fields[fold(column)]}` and `{field}`")
    left_out = frozenset(map(fold, ignored))
    both = fields.keys() & left_out
    if both:
        raise ChoiceError(f"--map and --ignore-column both name the column `{min(both)}`")
    scale = parse_rescale(rescale) if rescale is not None else None
    if rescale is not None and scale is None:
        raise ChoiceError(f"--rescale {rescale}: expected the lowest and the highest score, such as 1..5")
    return Choices(fields, left_out, scale, only, header_row)


Watch = Callable[[str, int, int], None]
"""Takes what is done now, the number of finished rows, and the number of all rows (0 if it is not known yet)."""


def import_tables(
    label: str,
    path: str,
    data: bytes,
    settings: FileSettings,
    choices: Choices,
    *,
    watch: Watch = lambda _doing, _done, _total: None,
) -> Imported:
    """Make a rubric file of the tables in a file: what messages call it, the path that selects its kind, its bytes.

    Raises:
        ChoiceError: if no table has a column that an option names.
    """
    tables: list[CellTable] = []
    try:
        watch("reading", 0, 0)
        tables = read_tables(label, path, data, choices, Thresholds(settings.pass_at, settings.borderline_at))
        rubrics = [read_rubric(table, choices) for table in tables]
        _refuse_unused(choices, rubrics)
    except TableError as refusal:
        refused = [_error(refusal.place.full, refusal.message)]
        if len(tables) > 1:
            names = list_names([table.name for table in tables], most=20)
            refused.append(_error("", f"the file has several tables: {names}; import one of them with --rubric"))
        return Imported(label, "", tuple(refused), is_unreadable=isinstance(refusal, UnreadableError))
    return _write(label, rubrics, settings, watch, sum(len(table.rows) for table in tables))


def _write(label: str, read: list[TableRubric], settings: FileSettings, watch: Watch, total: int) -> Imported:
    """Lint the rubrics of the tables and write them unless one has errors; they have `total` rows."""
    messages: list[ImportMessage] = []
    for table in read:
        messages += [ImportMessage(note.place.full, NOTE, note.message) for note in table.notes]
    rubrics: dict[str, Rubric] = {}
    done = 0
    for table in read:
        watch("checking", done, total)
        messages += _examine(table, settings, rubrics)
        done += table.rows
    if any(message.kind == Severity.ERROR for message in messages):
        messages.append(_error("", "nothing was written: correct the table and import it again"))
        return Imported(label, "", tuple(messages))
    watch("writing", done, total)
    cases: dict[CaseKey, ConvertedCase] = {}
    sources: dict[str, ExportSource] = {}
    for table in read:
        place = (None, (table.name,))
        cases[place] = ConvertedCase(table.name, {"id": table.name, **table.texts})
        sources[table.name] = ExportSource(place=place)
    has_texts = any(table.texts for table in read)
    suite = ConvertedSuite({}, cases, ()) if has_texts else None
    export = RUBRIC.write(rubrics, sources, suite)
    return Imported(label, export.text, tuple(messages))


def _examine(table: TableRubric, settings: FileSettings, rubrics: dict[str, Rubric]) -> Iterator[ImportMessage]:
    """Lint the rubric of a table, and add it to those that can be written."""
    text, places = write_json(table.entries)
    source = Source(_NAME, text)
    version = VERSION_3 if isinstance(table.entries.value, dict) else CURRENT
    settings = settings._replace(claimed=True, is_rubric_file=True, is_test_file=False, version=version)
    examined = examine(source, settings, name_line=lambda number: places[number - 1].short)
    for finding in examined.result.findings:
        place = places[source.position(finding.span.start).line - 1]
        yield ImportMessage(place.full, str(finding.severity), finding.message, finding.rule)
    if table.name in rubrics:
        message = f"a second table is called `{table.name}`; choose one with --rubric"
        yield _error(table.entries.place.full, message)
        return
    if any(finding.severity is Severity.ERROR for finding in examined.result.findings):
        return
    for document, rubric in examined.rubrics:
        if rubric.schema.is_valid(document.value(rubric.path)):
            break
    else:
        yield _error(table.entries.place.full, "the table has errors that a setting silences; fix them first")
        return
    try:
        rubrics[table.name], _ = make_sound(table.name, rubric, RUBRIC)
    except ExportError as refusal:
        place = places[source.position(document.span(refusal.path).start).line - 1]
        yield _error(place.full, refusal.message)


def _error(place: str, message: str) -> ImportMessage:
    return ImportMessage(place, str(Severity.ERROR), message)


def _refuse_unused(choices: Choices, rubrics: Collection[TableRubric]) -> None:
    """Check that a table has each column that an option names; raise ChoiceError if none has."""
    used = frozenset[str]().union(*(rubric.used for rubric in rubrics))
    unused = sorted((choices.fields.keys() | choices.ignored) - used)
    if unused:
        option_name = "--map" if unused[0] in choices.fields else "--ignore-column"
        raise ChoiceError(f"{option_name}: no table has a column `{unused[0]}`")
