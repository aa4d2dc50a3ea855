"""Read files for a request that is about several: open ones as they are typed, others as they are on the disk."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rubric_lint.editor.server.analysis import State
from rubric_lint.editor.server.positions import DocumentText
from rubric_lint.editor.server.workspace import Workspace, identify, uri_of
from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.lint.engine import build_rubrics
from rubric_lint.lint.project.files import File, Unreadable, find, read
from rubric_lint.lint.project.paths import is_file, make_absolute
from rubric_lint.lint.project.settings import FileSettings, SettingsError, claim_by_name
from rubric_lint.model.rubric import Rubric
from rubric_lint.source.document import Document
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, UndecodableError
from rubric_lint.source.tree import SyntaxFaultError

_ESCAPES = (b"\\u", b"\\U", b"\\x", b"\\\n", b"\\\r", b"\0")  # of letters, in JSON or YAML; and of UTF-16


class UnreadError(Exception):
    """A file that cannot be read, with the reason."""


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """A file as it is now. `version` is None if it is not open, `faults` are its syntax errors."""

    path: str
    uri: str
    version: int | None
    text: DocumentText
    source: Source
    settings: FileSettings
    documents: list[Document]
    faults: list[SyntaxFaultError]

    def build_rubrics(self, *, claimed: bool) -> list[tuple[Document, Rubric]]:
        """Return the rubrics. `claimed`: another file says that it holds some."""
        settings = self.settings._replace(claimed=True, is_test_file=False) if claimed else self.settings
        return [(document, rubric) for document in self.documents for rubric in build_rubrics(document, settings)]

    def name_line(self, offset: int) -> str:
        """Return the file name and the line of an offset, as messages name them."""
        return f"{Path(self.path).name}:{self.source.position(offset).line}"


class Library:
    """The files of the editor's folders and those they refer to, each read once."""

    def __init__(self, workspace: Workspace, opened: Mapping[str, State], encoding: str) -> None:
        self._workspace = workspace
        self._opened = opened
        self._encoding = encoding
        self._contents: dict[str, bytes | UnreadError] = {}
        self._readings: dict[str, LibraryFile] = {}

    @cached_property
    def files(self) -> list[str]:
        """The files of the folders that may hold rubrics, tests or records, and the open ones."""
        found = dict.fromkeys(self._opened)
        for folder in self._workspace.folders:
            if folder.path and not isinstance(folder.finder, SettingsError):
                items = find([folder.path], folder.finder)
                found |= dict.fromkeys(str(make_absolute(item.name)) for item in items if isinstance(item, File))
        return list(found)

    def list_files(self, path: str) -> list[str]:
        """Return these files; for a file outside all folders also those next to it."""
        if self._workspace.folder_of(path).path is not None:
            return self.files
        siblings: list[str] = []
        with suppress(OSError):
            siblings = sorted(str(other) for other in Path(path).parent.iterdir() if is_file(other))
        return list(dict.fromkeys([*self.files, *siblings]))

    def find(self, path: str) -> str:
        """Return the path by which a file is open, which may lead there by a link; the same path if it is not open."""
        return self._open_paths.get(identify(path), path)

    def list_once(self, paths: Iterable[str]) -> list[str]:
        """Return each file once, however many paths lead to it."""
        found: dict[str, str] = {}
        for path in paths:
            found.setdefault(identify(path), self.find(path))
        return list(found.values())

    @cached_property
    def _open_paths(self) -> dict[str, str]:
        return {identify(path): path for path in self._opened}

    def find_judged(self, path: str) -> list[str]:
        """Return the files of judge outputs and labels that the settings of a file name."""
        named = self._workspace.folder_of(path).find_judged(path)
        return [*named[0], *named[1]] if named else []

    def may_hold(self, path: str, text: str) -> bool:
        """Return whether the bytes of a file have the words of a text, or escapes that may write them.

        What is between its words may be written in several ways: as an escape, as two quotes, as the end of a line.

        Raises:
            UnreadError: if it cannot be read.
        """
        data = self._read_bytes(path)
        return any(escape in data for escape in _ESCAPES) or all(
            word.encode("utf-8", "surrogatepass") in data for word in re.findall(r"\w+", text)
        )

    def holds(self, path: str, word: str) -> bool:
        """Return whether the bytes of a file have a word.

        Raises:
            UnreadError: if it cannot be read.
        """
        return word.encode() in self._read_bytes(path)

    def read(self, path: str) -> LibraryFile:
        """Return the content of a file.

        Raises:
            UnreadError: if it cannot be read.
        """
        if path not in self._readings:
            uri, version, text, source = self._decode(path)
            settings = self._settings_for(path) or claim_by_name(path, FileSettings())
            self._readings[path] = LibraryFile(path, uri, version, text, source, settings, *read_documents(source))
        return self._readings[path]

    def find_state(self, path: str) -> State | None:
        """Return the state of a file that may hold rubrics; None for another one.

        Raises:
            UnreadError: if it cannot be read.
        """
        data, settings = self._read_bytes(path), self._settings_for(path)
        if settings is None or not (settings.is_named or could_hold_rubrics(data, path)):
            return None
        uri, version, text, _ = self._decode(path)
        return State(uri, path, "", version, text, settings)

    def _decode(self, path: str) -> tuple[str, int | None, DocumentText, Source]:
        """Return the URI of a file, its version if it is open, and its text for the editor and for parsers."""
        try:
            source = Source.from_bytes(path, self._read_bytes(path))
        except UndecodableError as fault:
            raise UnreadError(fault.message) from None
        opened = self._opened.get(path)
        if opened:
            return opened.uri, opened.version, opened.text, source
        return uri_of(path), None, DocumentText.of(source.text, self._encoding), source

    def _settings_for(self, path: str) -> FileSettings | None:
        try:
            return self._workspace.folder_of(path).settings_for(path, path)
        except SettingsError as fault:
            raise UnreadError(f"its settings are invalid: {'; '.join(fault.faults)}") from None

    def _read_bytes(self, path: str) -> bytes:
        if path not in self._contents:
            opened = self._opened.get(path)
            data: bytes | Unreadable
            if opened:
                data = opened.text.body.encode()
            else:
                data = read(File(path, FileSettings(claimed=True)), may_be_stdin=False)
            self._contents[path] = UnreadError(data.reason) if isinstance(data, Unreadable) else data
        found = self._contents[path]
        if isinstance(found, UnreadError):
            raise found
        return found
