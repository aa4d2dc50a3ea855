"""Find the settings for a document: those of the editor for its folder, and those of rubric-lint for the file."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from rubric_lint.lint.project.paths import follow_links, make_absolute
from rubric_lint.lint.project.settings import FileSettings, Settings, SettingsError, SettingsFinder
from rubric_lint.lint.run.baseline import Baselines
from rubric_lint.model.finding import Result
from rubric_lint.model.messages import HOME, whole
from rubric_lint.source.source import SIGNED_SUFFIXES, SUFFIXES

_DRIVE = re.compile(r"/[A-Za-z]:")


def path_of(uri: str) -> str | None:
    """Return the path of a `file:` URI; None for another URI, or if no file can have that path.

    Bytes that are not UTF-8 are kept, unlike in pygls.
    """
    try:
        parts = urlsplit(uri)
        path = os.fsdecode(unquote_to_bytes(parts.path))
    except ValueError:  # not a URI, or with half a surrogate pair
        return None
    if parts.scheme != "file" or not path or "\0" in path:
        return None
    if parts.netloc:
        path = f"//{unquote(parts.netloc)}{path}"
    elif _DRIVE.match(path):
        path = path[1].lower() + path[2:]
    return path.replace("/", os.sep)


def uri_of(path: str | Path) -> str:
    """Return the URI of a file."""
    uri = make_absolute(path).as_uri().replace("file:////", "file://", 1)  # a host follows
    return re.sub(r"^file:///[A-Z]:", lambda drive: drive[0].lower(), uri)


def identify(path: str) -> str:
    """Return the path of a file without links; the same path if no file can have it."""
    try:
        return str(follow_links(path))
    except ValueError:
        return path


SECTION = "rubric-lint"
"""The prefix of the settings' names in an editor."""

When = Literal["auto", "always", "never"]

_WHEN = get_args(When)
_LONGEST_DEBOUNCE = 10_000


class EditorOptions(NamedTuple):
    """The settings of an editor for one folder.

    `configuration`: the settings file for all files, "" for the nearest one. `shape_errors`: whether to report what the
    JSON Schema finds; `auto`: all but what a YAML server that runs with ours also reports. `debounce`: milliseconds.
    `share_hints`, `verdict_hints`, `range_hints`: which hints to show between the words of a rubric.
    `score_hover`: whether to say on hover what an answer does to the score and the verdict.
    `lenses`: whether to offer commands above rubrics and tests.
    `unopened_files`: whether to lint the files of the folder that are not open.
    `formatting`: whether to format documents on request.
    """

    enable: bool = True
    configuration: str = ""
    shape_errors: When = "auto"
    debounce: int = 150
    share_hints: bool = True
    verdict_hints: bool = True
    range_hints: bool = True
    score_hover: bool = True
    lenses: bool = True
    unopened_files: bool = True
    formatting: bool = False


_GONE = {
    "completion": f"is gone; remove it: a YAML language server with our schemas completes fields, see {HOME}editors/",
}
"""Settings of earlier versions, and what to do instead."""


def setting_name(field: str) -> str:
    """Return the name that a setting has in an editor: `share_hints` is `shareHints` there."""
    first, *others = field.split("_")
    return first + "".join(map(str.capitalize, others))


def read_options(value: Any) -> tuple[EditorOptions, list[str]]:
    """Return the options that an editor sends, and the errors in them; ignore names that are the client's own."""
    settings = value if isinstance(value, Mapping) else {}
    good: dict[str, Any] = {}
    faults = [f"{SECTION}.{name} {reason}" for name, reason in _GONE.items() if settings.get(name) is not None]
    for name, default in EditorOptions._field_defaults.items():
        given = settings.get(setting_name(name))
        if given is None:
            continue
        expected = ""
        if name == "shape_errors":
            if given not in _WHEN:
                expected = f"{given!r}, expected one of {', '.join(_WHEN)}"
        elif type(given) is not type(default):
            kind = {bool: "true or false", str: "a string", int: "an integer"}[type(default)]
            expected = f"{given!r}, expected {kind}"
        elif type(given) is str and ("\0" in given or whole(given) != given):
            expected = f"{given!r}, expected a path; no path has a null character or half a surrogate pair"
        elif type(given) is int and not 0 <= given <= _LONGEST_DEBOUNCE:
            expected = f"{given}, expected 0 to {_LONGEST_DEBOUNCE} milliseconds"
        if expected:
            faults.append(f"{SECTION}.{setting_name(name)} is {expected}; using its default")
        else:
            good[name] = given
    return EditorOptions(**good), faults


def expand(path: str, folder: str | None) -> str:
    """Make a path from the settings absolute, relative to the folder."""
    path = path.replace("${workspaceFolder}", folder or "")
    # `Path.expanduser` raises for a user that nobody knows.
    return str(make_absolute(Path(folder or "", os.path.expanduser(path))))  # noqa: PTH111


_SUFFIX_OF = {
    "yaml": ".yaml",
    "json": ".json",
    "jsonc": ".json",
    "jsonl": ".jsonl",
    "jsonlines": ".jsonl",
    "toml": ".toml",
    "python": ".py",
}


def name_document(uri: str, language: str) -> str:
    """Return the path of the document at a URI; an unsaved document is named by its language."""
    path = path_of(uri)
    if path:
        return path
    try:
        name = os.path.basename(unquote(urlsplit(uri).path)) or "untitled"  # noqa: PTH119  (it may end in `/`)
    except ValueError:  # not a URI
        name = "untitled"
    is_named = name.lower().endswith((*SUFFIXES, *SIGNED_SUFFIXES))
    return name if is_named else name + _SUFFIX_OF.get(language, ".yaml")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of the editor; without a `path`, all files outside the folders. `finder` finds their settings."""

    uri: str
    path: str | None
    options: EditorOptions
    finder: SettingsFinder | SettingsError

    @classmethod
    def of(cls, uri: str, options: EditorOptions) -> "Folder":
        """Create a folder with the editor's settings for it."""
        path = path_of(uri)
        file = expand(options.configuration, path) if options.configuration else None
        try:
            here = Path(path) if path else None
            return cls(uri, path, options, SettingsFinder(file=file, here=here))
        except SettingsError as fault:
            return cls(uri, path, options, fault)

    def settings_for(self, path: str | None, name: str, language: str = "") -> FileSettings | None:
        """Return the settings for a document, or None if rubric-lint ignores it; only a file has a path.

        Raises:
            SettingsError: if the nearest settings file is invalid.
        """
        if not self.options.enable:
            return None
        if isinstance(self.finder, SettingsError):
            raise self.finder.with_traceback(None)
        if path is None and self.path is None:
            return SettingsFinder(isolated=True).for_file(name)
        place = path or str(Path(self.path or "", name))
        settings = self.finder.find_nearest(place)
        is_known = (
            place.lower().endswith((*SUFFIXES, *SIGNED_SUFFIXES))
            or language in _SUFFIX_OF
            or settings.include.covers(place)
        )
        # Treat it like a file found by search, not like one named on the command line.
        if not is_known or (path and settings.exclude.covers(place)):
            return None
        return settings.for_file(place)

    def find_settings(self, path: str | None) -> Settings | None:
        """Return the settings of the folder of a file; None for what is not a file, or if they are invalid."""
        if path is None or isinstance(self.finder, SettingsError):
            return None
        with suppress(SettingsError):
            return self.finder.find_nearest(path)
        return None

    def find_sources(self, path: str | None) -> Iterator[str]:
        """Yield the files that affect the findings in a document, except settings files with standard names."""
        if self.options.configuration:
            yield self.options.configuration
        settings = self.find_settings(path)
        if settings:
            yield from filter(None, [settings.baseline, *settings.judged, *settings.labels])

    def find_judged(self, path: str | None) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Return the files of judge outputs and of labels that the settings of a document name, or None without any."""
        settings = self.find_settings(path)
        return (settings.judged, settings.labels) if settings and settings.judged else None

    def sift(self, path: str | None, result: Result) -> Result:
        """Remove the findings in the baseline of the settings from a result; always read the baseline from disk.

        Raises:
            SettingsError: if the baseline is missing or invalid, also if there is no finding that it could hold.
        """
        settings = self.find_settings(path)
        if settings is None or settings.baseline is None or isinstance(self.finder, SettingsError):
            return result
        return Baselines(self.finder, None, renews=False).filter(result, settings.for_file(path or ""))


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of the editor, and the settings for files outside them."""

    outside: Folder
    folders: tuple[Folder, ...] = ()

    def folder_of(self, path: str | None) -> Folder:
        """Return the innermost folder that contains a file; for an unsaved document, the first folder."""
        if path is None:
            return self.folders[0] if self.folders else self.outside
        holding = [
            folder
            for folder in self.folders
            # Text, as this is asked for each file of a folder, and a Path takes 30 times as long.
            if folder.path is not None and path.startswith(os.path.join(folder.path, ""))  # noqa: PTH118
        ]
        return max(holding, key=lambda folder: len(folder.path or ""), default=self.outside)


def build_workspace(uris: Iterable[str], options: dict[str, EditorOptions]) -> Workspace:
    """Build the workspace of these folders; `options` are by folder URI, with "" for files outside them."""
    default = options.get("", EditorOptions())
    return Workspace(Folder.of("", default), tuple(Folder.of(uri, options.get(uri, default)) for uri in uris))
