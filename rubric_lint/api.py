"""Define the Python API; each function takes the content of one file and reads no other."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from rubric_lint.lint.engine import DEFAULTS, lint
from rubric_lint.lint.fix import Fixed, fix
from rubric_lint.lint.project.settings import FileSettings, SettingsFinder, claim_by_name
from rubric_lint.model.arguments import MANY, NONE, require_items, takes
from rubric_lint.model.finding import Result
from rubric_lint.model.messages import point_to_known
from rubric_lint.rules import list_choices
from rubric_lint.source.source import Source, UndecodableError, as_bytes

if TYPE_CHECKING:
    from rubric_lint.convert.importing import Imported
    from rubric_lint.scoring.show import Shown


@takes(name=str, data=(str, bytes), settings=FileSettings)
def lint_source(name: str, data: bytes | str, settings: FileSettings = DEFAULTS) -> Result:
    """Check one file; the suffix of `name` selects YAML, JSON or JSON Lines.

    A file without rubrics has no findings. Invalid syntax is a finding if the file is meant to contain rubrics.

    Raises:
        RuleError: when a rule crashes, which no `data` should cause.
    """
    data = as_bytes(data)
    result = lint(name, data, claim_by_name(name, settings))
    return result if result.source.text else result._replace(source=_decode(name, data))


@takes(name=str, data=(str, bytes), settings=FileSettings, unsafe=bool, choices=MANY)
def fix_source(
    name: str,
    data: bytes | str,
    settings: FileSettings = DEFAULTS,
    *,
    unsafe: bool = False,
    choices: Sequence[str] = (),
) -> Fixed:
    """Apply all safe fixes to the content of one file, with `unsafe` the others too, and verify the outcome.

    `choices` are names of fixes of which only an author can pick one, such as `upper-keeps`; the pages of the rules
    list them. Of those that one finding has, the first is applied.

    Raises:
        ValueError: when no rule has one of the choices.
        RuleError: when a rule crashes, which no `data` should cause.
    """
    for choice in choices:
        if choice not in list_choices():
            raise ValueError(f"choices has {choice!r}; {point_to_known(str(choice), list_choices())}")
    data = as_bytes(data)
    fixed = fix(name, data, claim_by_name(name, settings), unsafe=unsafe, choices=choices)
    if fixed.before.text:
        return fixed
    source = _decode(name, data)
    return replace(fixed, before=source, result=fixed.result._replace(source=source))


@takes(name=str, data=(str, bytes), settings=FileSettings)
def show_source(name: str, data: bytes | str, settings: FileSettings = DEFAULTS) -> "Shown":
    """Describe what one file holds: its rubrics, what example outputs score, and what is nearly a rubric and why not.

    A rubric with errors is described as far as it is valid. A file that rubric-score would refuse has no examples, but
    the reasons in `unscorable`.

    Raises:
        RuleError: when a rule crashes, which no `data` should cause.
    """
    from rubric_lint.scoring.show.source import show  # noqa: PLC0415  (who lints does not load the scorer)

    return show(name, as_bytes(data), claim_by_name(name, settings))


@takes(
    name=str,
    data=(str, bytes),
    settings=FileSettings,
    columns=(Mapping, NONE),
    ignored=MANY,
    rescale=(str, NONE),
    rubric=(str, NONE),
    header_row=(int, NONE),
)
def import_source(
    name: str,
    data: bytes | str,
    settings: FileSettings = DEFAULTS,
    *,
    columns: Mapping[str, str] | None = None,
    ignored: Collection[str] = (),
    rescale: str | None = None,
    rubric: str | None = None,
    header_row: int | None = None,
) -> "Imported":
    """Make a rubric file of the tables in one file; the suffix of `name` selects CSV, Excel or Markdown.

    `columns` says which field a column holds, as --map of the command does, and `ignored` names columns to leave out.
    `rescale` is another scale, such as `1..5`, `rubric` the only sheet or table to read, `header_row` the number of the
    header's row. A table that cannot be read has an error among its messages, and no text.

    Raises:
        ValueError: when these options contradict each other, or name a column that no table has.
        RuleError: when a rule crashes, which no `data` should cause.
    """
    from rubric_lint.convert.importing import import_tables, read_choices  # noqa: PLC0415  (few import tables)

    pairs = list((columns or {}).items())
    require_items("columns", list(chain.from_iterable(pairs)), str)
    require_items("ignored", ignored, str)
    choices = read_choices(pairs, ignored, rescale, rubric, header_row)
    return import_tables(name, name, as_bytes(data), settings, choices)


@takes(path=(str, os.PathLike))
def find_settings(path: str | os.PathLike[str]) -> FileSettings:
    """Return the settings that the commands would use for the file at `path`, which need not exist.

    Raises:
        SettingsError: when the settings are invalid.
    """
    return SettingsFinder().for_file(os.fspath(path))


def _decode(name: str, data: bytes) -> Source:
    """Decode a file that the linter did not need to read because it has no rubrics."""
    try:
        return Source.from_bytes(name, data)
    except UndecodableError as fault:
        return fault.source
