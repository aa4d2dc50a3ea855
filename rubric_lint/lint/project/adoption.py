"""Add tables of formats to a settings file; every other byte of it stays."""

import glob
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from rubric_lint.lint.project.opening import SMALL_LIMIT, read_file
from rubric_lint.lint.project.paths import find_ending, is_there, make_absolute, relate
from rubric_lint.lint.project.settings import NAMES, read_table, shorten_path
from rubric_lint.lint.project.writing import WriteError, replace_file, write_file
from rubric_lint.model.messages import UserError

SettingsTable = Mapping[str, Any]

_LEAST = 3
"""The fewest files of a folder that are named by one pattern, if they are all that it has of their kind."""


class AdoptionError(UserError):
    """Tables that cannot be added to a settings file."""


def choose_file(origin: Path | None) -> Path:
    """Return the settings file to write: the one that is in effect, or a new one in the current folder."""
    return origin or Path.cwd() / NAMES[0]


def name_files(names: Iterable[str], settings_file: Path) -> list[str]:
    """Return patterns for files, relative to the folder of their settings file.

    Raises:
        AdoptionError: if a file is outside that folder.
    """
    root = settings_file.parent
    found: dict[tuple[Path, str], list[Path]] = {}
    for name in names:
        path = relate(make_absolute(name), root)
        if str(path).startswith(os.pardir):
            raise AdoptionError(
                f"{name}: is outside {shorten_path(root) or '.'}, the folder of the settings; run this there"
            )
        found.setdefault((path.parent, find_ending(path.name)), []).append(path)
    patterns: list[str] = []
    for (folder, suffix), paths in found.items():
        patterns += _name_in(root, folder, suffix, paths)
    return patterns


def _name_in(root: Path, folder: Path, suffix: str, paths: Sequence[Path]) -> list[str]:
    every = glob.glob(f"*{suffix}", root_dir=root / folder)  # noqa: PTH207  (`Path.glob` would also find hidden files)
    if len(paths) >= _LEAST and len(every) == len({*paths}):
        paths = [folder / f"\0{suffix}"]  # stands for the `*`, which would be escaped
    slashed = (path.as_posix() for path in paths)
    return ["/" + re.sub(r"([\\*?\[\]!# ])", r"\\\1", path).replace("\0", "*") for path in slashed]


def write_tables(tables: Iterable[SettingsTable], settings_file: Path) -> str:
    """Return tables as the text of settings."""
    is_project = settings_file.name == "pyproject.toml"
    head = "[[tool.rubric-lint.shape]]" if is_project else "[[shape]]"
    written: list[str] = []
    for table in tables:
        lines = [head, *(f"{key} = {write_value(value)}" for key, value in table.items())]
        written.append("\n".join(lines) + "\n")
    return "\n".join(written)


def write_value(value: Any) -> str:
    """Return a value as TOML."""
    match value:
        case Mapping():
            fields = [f"{_write_key(key)} = {write_value(item)}" for key, item in value.items()]
            return f"{{ {', '.join(fields)} }}"
        case list() | tuple():
            return f"[{', '.join(map(write_value, value))}]"
        case Decimal():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write_key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else write_value(key)


def add_tables(tables: Sequence[SettingsTable], settings_file: Path) -> None:
    """Write tables to the end of a settings file, which is created if need be, or in the place of those of their names.

    Raises:
        AdoptionError: if it cannot be written, or would not have them and all else as before.
        SettingsError: if it is invalid.
    """
    shown = shorten_path(settings_file)
    try:
        if not is_there(settings_file):
            write_file(settings_file, write_tables(tables, settings_file).encode())
            return
        before = read_table(settings_file) or {}
        old = read_file(settings_file, SMALL_LIMIT)
        newline = "\r\n" if b"\r\n" in old else "\n"
        known = {table["name"]: table for table in before.get("shape", ())}
        new, shapes = old.decode(), dict(known)
        for table in tables:
            text = write_tables([table], settings_file).replace("\n", newline)
            if table["name"] in known:
                replaced = write_tables([known[table["name"]]], settings_file).replace("\n", newline)
                new = new.replace(replaced, text, 1)
            else:
                if new.strip():  # a blank line above the table
                    new += newline if new.endswith("\n") else newline * 2
                new += text
            shapes[table["name"]] = table
        if not _holds(new.encode(), settings_file, list(shapes.values()), before):
            reason = "the tables cannot be added, or replace what was edited by hand; write them yourself:"
            raise AdoptionError(f"{shown}: {reason}", *write_tables(tables, settings_file).splitlines())
        replace_file(settings_file, old, new.encode())
    except (OSError, WriteError) as fault:
        raise AdoptionError(f"{shown}: {fault}") from None


def _holds(data: bytes, settings_file: Path, shapes: Sequence[SettingsTable], before: SettingsTable) -> bool:
    """Return whether the data of settings are those before with some shapes."""
    try:
        found: Any = tomllib.loads(data.decode("utf-8-sig"), parse_float=str)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
    if settings_file.name == "pyproject.toml":
        found = found["tool"]["rubric-lint"]
    return bool(found["shape"] == json.loads(json.dumps(list(shapes), default=str))) and {*found} == {*before, "shape"}
