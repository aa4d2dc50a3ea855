"""Find the files that arguments name: files, folders and patterns."""

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rubric_lint.lint.project.paths import is_folder, is_there, relate
from rubric_lint.model.messages import join_words, list_names, pluralize

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
"""The suffixes of the files that are read in folders."""

OF_ENGINE = "_rubric-score.json"
"""The file in which earlier versions noted what run a folder of results of `--engine` was of."""

PACKED = (".gz", ".zst")
"""The suffixes that may follow those."""


@dataclass(frozen=True, slots=True)
class InputFiles:
    """The names of files, notes on what is not read, and names that stand for no file, each with the reason.

    `others` has the paths in folders that are not read.
    """

    files: list[str]
    notes: list[str]
    missing: list[str]
    others: list[str]


def find_inputs(names: Iterable[str]) -> InputFiles:
    """Return the files that `names` stand for: a folder for those in it, at any depth, in order; a pattern for matches.

    A name of a file, and `-`, stays as it is, and so does one that nothing has.
    """
    found = InputFiles([], [], [], [])
    for name in names:
        is_searched = is_folder(name)
        if not is_searched and (is_there(name) or not glob.has_magic(name)):
            found.files.append(name)
            continue
        # A pattern of `Path.glob` has another meaning, and finds hidden files.
        matches = [name] if is_searched else sorted(glob.glob(name, recursive=True))  # noqa: PTH207
        reached: list[str] = []
        for match in matches:
            reached += _search(match, found) if is_folder(match) else [match]
        if not reached:
            reason = "no files with outputs in this folder" if is_searched else "no file matches"
            found.missing.append(f"{name}: {reason}")
        found.files[:] = dict.fromkeys([*found.files, *reached])
    return found


def _search(folder: str, found: InputFiles) -> list[str]:
    """Return the files in a folder; add the others, and a note on them, to `found`."""
    files: list[str] = []
    others: list[str] = []
    for entry in _walk(folder):
        base = entry.name.lower()
        for suffix in PACKED:
            base = base.removesuffix(suffix)
        is_read = entry.is_file() and base.endswith(SUFFIXES) and not base.startswith((".", "_"))
        if is_read:
            files.append(entry.path)
        else:
            others.append(entry.path)
    if others:
        listed = list_names([str(relate(path, folder)) for path in others], 3)
        verb = pluralize(len(others), "was", "were")
        suffixes = join_words(SUFFIXES)
        found.others.extend(others)
        found.notes.append(
            f"{folder}: {listed} {verb} not read; in a folder, files named {suffixes} (also with "
            f"{join_words(PACKED, 'or')}) are read, unless their names begin with `.` or `_` or "
            "they are links to folders or to nothing"
        )
    return files


def _walk(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield what is in a folder at any depth, in order, but no folders; links to folders are not followed."""
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path)
        else:
            yield entry
