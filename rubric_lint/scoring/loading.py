"""Load the rubrics of a file for scoring, by the names that records use."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rubric_lint.finding import Result, Severity, Unread
from rubric_lint.format.rubric import Rubric
from rubric_lint.lint.case_names import RubricSite, find_names
from rubric_lint.lint.engine import DEFAULTS, Examined, examine_file, find_shape_problems
from rubric_lint.project.files import name_other_kind
from rubric_lint.project.opening import LIMIT, read_file
from rubric_lint.project.settings import TEST_SUFFIXES, FileSettings, SettingsFinder, claim_by_name
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.preparing import UnscorableError, prepare
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Position, Source, as_bytes

DECIDING = frozenset(
    {
        "bounds",
        "conflicting-field",
        "duplicate-id",
        "duplicate-key",
        "levels",
        "mixing",
        "overlap",
        "schema",
        "syntax",
        "weight",
    }
)
"""The rules whose errors make a score ambiguous."""


class RubricError(Exception):
    """A file whose rubrics cannot be scored; `faults` lists the reasons, each with its place."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class InvalidRubricError(RubricError):
    """A file with findings of severity error; `faults` lists them."""


class Loaded(NamedTuple):
    """A rubric as it was linted, its name, and its document.

    If its case has several rubrics, `case` is the name of the case and `label` the name of the rubric in it. `file` has
    all documents of the file.
    """

    name: str
    rubric: Rubric
    document: Document
    case: str = ""
    label: str = ""
    file: tuple[Document, ...] = ()

    def place(self, path: Path) -> str:
        """Return the place of a part of the rubric, as messages begin."""
        view = self.rubric.view
        return self.place_in_document(view.place(path) if view else path)

    def place_in_document(self, path: Path) -> str:
        """Return the place of a path of the document, which may be written in a dialect."""
        is_named = isinstance(self.document.value(path), dict) and bool(path) and isinstance(path[-1], str)
        part = Part.KEY if is_named else Part.VALUE
        return _write_place(self.document.source, self.document.span(path, part).start)

    @property
    def start(self) -> str:
        """The place of the rubric, as messages begin."""
        return _write_place(self.document.source, self.document.span(self.rubric.path).start)

    def position(self, path: Path) -> Position:
        """Return the line and column of a part of the rubric, or of its parent if the part is not written."""
        place = self.rubric.view.place(path) if self.rubric.view else path
        while not _is_there(self.document, place):
            place = place[:-1]
        return self.document.source.position(self.document.span(place).start)

    def prepare(self) -> ScoringRubric:
        """Prepare the rubric for scoring.

        Raises:
            RubricError: if it cannot be scored.
        """
        if self.rubric.view and self.rubric.view.unscorable:
            raise RubricError(f"{self.start}: the rubric cannot be scored: {self.rubric.view.unscorable}")
        try:
            return prepare(self.rubric, self.name)
        except UnscorableError as fault:
            raise RubricError(f"{self.place(self.rubric.path)}: the rubric {fault}") from None


def _is_there(document: Document, path: Path) -> bool:
    try:
        document.value(path)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def load_rubrics(name: str, data: bytes | str, settings: FileSettings = DEFAULTS) -> dict[str, ScoringRubric]:
    """Return the rubrics of a file by name: `case-id`, or `case-id/evaluator-name` if a case has several.

    The suffix of `name` selects the file format. A rubric outside all cases is named after its evaluator or the file
    (without suffixes); a case or evaluator without a name is named after its place, such as `tests/0`.

    Raises:
        RubricError: if the file has error findings, no rubric, or two rubrics with the same name.
    """
    models = load_models(name, as_bytes(data), claim_by_name(name, settings))
    return {called: loaded.prepare() for called, loaded in models.items()}


def read_rubrics(path: str | os.PathLike[str]) -> dict[str, ScoringRubric]:
    """Return the rubrics of the file at `path`, with the settings that the commands would use.

    Raises:
        OSError: if the file cannot be read.
        RubricError: as `load_rubrics`.
        SettingsError: if the settings of the file are invalid.
    """
    name = os.fspath(path)
    return load_rubrics(name, read_file(name, LIMIT), SettingsFinder().for_file(name))


def load_models(name: str, data: bytes, settings: FileSettings = DEFAULTS) -> dict[str, Loaded]:
    """Return the rubrics of a file by name, before they are prepared for scoring.

    Raises:
        RubricError: as `load_rubrics`.
    """
    refuse_other_kind(name)
    return load_examined(name, examine_file(name, data, with_deciding(settings)))


def with_deciding(settings: FileSettings) -> FileSettings:
    """Return the settings with the rules that decide a score, which apply here even if the settings ignore them."""
    enabled = settings.enabled
    return settings if enabled is None or enabled >= DECIDING else settings._replace(enabled=enabled | DECIDING)


def refuse_other_kind(name: str) -> None:
    """Check that a file is YAML or JSON by its name.

    Raises:
        RubricError: if it is not.
    """
    if kind := name_other_kind(name):
        raise RubricError(f"{name}: not read, as it is {kind}; a rubric is YAML, JSON or JSON Lines")


def load_examined(name: str, examined: Examined) -> dict[str, Loaded]:
    """Return the rubrics of an examined file by name, before they are prepared for scoring.

    Raises:
        RubricError: as `load_rubrics`.
    """
    result, documents, rubrics, _ = examined
    if faults := tuple(_word_errors(result)):
        raise InvalidRubricError(*faults)
    if not rubrics:
        raise RubricError(*_word_absence(name, result.unread))
    found: dict[str, Loaded] = {}
    for loaded in name_rubrics(name, rubrics):
        if first := found.get(loaded.name):
            raise RubricError(
                f"{loaded.start}: a second rubric is named `{loaded.name}`, after the one at {first.start}"
            )
        found[loaded.name] = loaded._replace(file=tuple(documents))
    for loaded in found.values():
        is_valid = loaded.rubric.schema.is_valid(loaded.document.value(loaded.rubric.path))
        if not is_valid and any(find_shape_problems(loaded.document, loaded.rubric)):
            raise RubricError(
                f"{loaded.start}: the rubric has errors that a comment or a setting silences; fix them first"
            )
    return found


def _word_absence(name: str, unread: tuple[Unread, ...]) -> Iterator[str]:
    """Yield messages for a file without rubrics: each reason why something is nearly a rubric, once."""
    if name.lower().endswith(TEST_SUFFIXES):
        yield f"{name}: no rubrics: it holds rubric tests; name the rubric that they test"
    elif not unread:
        yield f"{name}: no rubrics found; a rubric is the value of a field `rubrics`"
    firsts: dict[str, Unread] = {}
    for each in unread:
        firsts.setdefault(each.reason, each)
    for each in firsts.values():
        yield f"{name}:{each.line}:{each.column}: no rubrics found: {each.reason}"


def _write_place(source: Source, offset: int) -> str:
    position = source.position(offset)
    return f"{source.name}:{position.line}:{position.column}"


def _word_errors(result: Result) -> Iterator[str]:
    for finding in result.findings:
        if finding.severity is Severity.ERROR and finding.rule != "repeated-case":  # which `load_examined` words
            yield f"{_write_place(result.source, finding.span.start)}: {finding.rule}: {finding.message}"


def name_rubrics(file: str, rubrics: Sequence[tuple[Document, Rubric]]) -> list[Loaded]:
    """Return the rubrics of a file with their names, which `load_rubrics` describes; two may have the same name."""
    names = find_names(file, [RubricSite.of(document, rubric) for document, rubric in rubrics])
    return [
        Loaded(name, rubric, document, case, evaluator)
        for (document, rubric), (name, case, evaluator) in zip(rubrics, names, strict=True)
    ]
