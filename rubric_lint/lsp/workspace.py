"""The folders of an editor: which settings hold for a document, and whether it is to be looked at."""

# Paths are str here, see config.py.
# ruff: noqa: PTH118, PTH119

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pygls.uris import from_fs_path, to_fs_path

from rubric_lint.finding import Result
from rubric_lint.lsp.options import Options, expand
from rubric_lint.project.files import SUFFIXES
from rubric_lint.project.settings import FileSettings, SettingsFinder
from rubric_lint.project.settings_file import SettingsError
from rubric_lint.run.filters.baseline import Baselines

_LANGUAGES = frozenset({"yaml", "json", "jsonc", "jsonl", "jsonlines"})
_SUFFIX_OF = {"json": ".json", "jsonc": ".json", "jsonl": ".jsonl", "jsonlines": ".jsonl"}


class Origin(NamedTuple):
    """What a document is called: `path` where it is a file, and the `name` that messages and parsers go by."""

    path: str | None
    name: str


def find_origin(uri: str, language: str) -> Origin:
    """What the document at a URI is called; one that is no file yet goes by its language."""
    try:
        path, name = to_fs_path(uri), os.path.basename(unquote(urlsplit(uri).path)) or "untitled"
    except ValueError:  # not a URI
        path, name = None, "untitled"
    if path:
        return Origin(path, path)
    is_named = name.lower().endswith(SUFFIXES)
    return Origin(None, name if is_named else name + _SUFFIX_OF.get(language, ".yaml"))


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder of the editor, or, with no `path`, what is in none. `finder` finds the settings of files in it."""

    uri: str
    path: str | None
    options: Options
    finder: SettingsFinder | SettingsError

    @classmethod
    def of(cls, uri: str, options: Options) -> "Folder":
        """A folder with the settings that the editor has for it."""
        path = to_fs_path(uri) if uri else None
        file = expand(options.configuration, path) if options.configuration else None
        try:
            return cls(uri, path, options, SettingsFinder(file=file, here=path))
        except SettingsError as fault:
            return cls(uri, path, options, fault)

    def holds(self, path: str) -> bool:
        """Whether a file is in this folder."""
        return self.path is not None and path.startswith(os.path.join(self.path, ""))

    def settings_for(self, origin: Origin, language: str) -> FileSettings | None:
        """What holds for a document; None for one that is no concern of ours.

        Raises:
            SettingsError: when the settings nearest to it cannot be used.
        """
        if not self.options.enable:
            return None
        if isinstance(self.finder, SettingsError):
            raise self.finder.with_traceback(None)
        if origin.path is None and self.path is None:
            return SettingsFinder(isolated=True).for_file(origin.name)
        path = origin.path or os.path.join(self.path or "", origin.name)
        settings = self.finder.for_folder(os.path.dirname(path))  # noqa: PTH120
        is_known = path.lower().endswith(SUFFIXES) or language in _LANGUAGES or settings.include.covers(path)
        # As in a search of the folder, and unlike a file that is named: nobody has asked for this one to be checked.
        if not is_known or (origin.path and settings.exclude.covers(path)):
            return None
        return settings.for_file(path)

    def find_sources(self, origin: Origin) -> Iterator[str]:
        """The files that decide what is found in a document, but for settings that are called as settings are."""
        if self.options.configuration:
            yield self.options.configuration
        if origin.path and not isinstance(self.finder, SettingsError):
            with suppress(SettingsError):
                yield from filter(None, [self.finder.for_folder(os.path.dirname(origin.path)).baseline])  # noqa: PTH120

    def has_baseline(self, origin: Origin) -> bool:
        """Return whether the settings of a document name a baseline, or cannot be used."""
        if isinstance(self.finder, SettingsError) or origin.path is None:
            return False
        try:
            return self.finder.for_folder(os.path.dirname(origin.path)).baseline is not None  # noqa: PTH120
        except SettingsError:
            return True

    def sift(self, origin: Origin, result: Result) -> Result:
        """A document's result without what the baseline in its settings holds; read anew, as anybody may write it.

        Raises:
            SettingsError: when the baseline cannot be used.
        """
        if isinstance(self.finder, SettingsError) or origin.path is None or not result.findings:
            return result
        settings = self.finder.for_file(origin.path)
        return Baselines(self.finder, None, renews=False).sift(result, settings)


@dataclass(slots=True)
class Workspace:
    """The folders of the editor, and the settings for what is in none of them."""

    outside: Folder
    folders: tuple[Folder, ...] = field(default=())

    def folder_of(self, path: str | None) -> Folder:
        """The innermost folder that holds a file; the first one for what is no file yet."""
        if path is None:
            return self.folders[0] if self.folders else self.outside
        holding = [folder for folder in self.folders if folder.holds(path)]
        return max(holding, key=lambda folder: len(folder.path or ""), default=self.outside)


def build_workspace(uris: Iterable[str], options: dict[str, Options]) -> Workspace:
    """The workspace of these folders; `options` by the folder's URI, under "" those for what is in none."""
    default = options.get("", Options())
    return Workspace(Folder.of("", default), tuple(Folder.of(uri, options.get(uri, default)) for uri in uris))


def uri_of(path: str) -> str:
    """The URI of a file."""
    return from_fs_path(os.path.abspath(path)) or ""  # noqa: PTH100
