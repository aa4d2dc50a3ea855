"""Name the raters: who or what gave each judgement."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rubric_lint.text.source import stem_of

PANEL = "panel"
"""The name of a panel of models as a rater, unless another rater has it."""


class Source(NamedTuple):
    """Where a judgement is from, until raters have names: a written rater, or the file and the model.

    `is_panel` if several models judged together.
    """

    rater: str | None
    file: str = ""
    model: str | None = None
    is_panel: bool = False


def find_source(record: Mapping[str, Any], file: str) -> Source:
    """Return where a record is from."""
    if rater := read_rater(record):
        return Source(rater)
    about = record.get("judge")
    model = about.get("model") if isinstance(about, dict) else None
    return Source(None, file, model if isinstance(model, str) else None)


def read_rater(record: Mapping[str, Any]) -> str | None:
    """Return the rater that a record names, if any."""
    rater = record.get("rater")
    return str(rater) if type(rater) in {str, int} and str(rater).strip() else None


def name_raters(sources: Sequence[Source]) -> dict[Source, str]:
    """Name each source: by its `rater`, else by its file, or by its models if a file has several.

    Panels are named last, so that none gets the name of another rater.
    """
    names: dict[Source, str] = {}
    unnamed = list(dict.fromkeys(source for source in sources if source.rater is None))
    panels = [source for source in unnamed if source.is_panel]
    unnamed = [source for source in unnamed if not source.is_panel]
    stems = {source.file: stem_of(source.file) or source.file for source in (*unnamed, *panels)}
    titles = {}
    for file, stem in stems.items():
        alike = [other for other, each in stems.items() if each == stem]
        titles[file] = stem if len(alike) == 1 else file
    for source in dict.fromkeys(sources):
        if source.is_panel:
            continue
        if source.rater is not None:
            names[source] = source.rater
            continue
        title = titles[source.file]
        of_file = [each for each in unnamed if each.file == source.file]
        if len(of_file) == 1:
            names[source] = title
        else:
            model = source.model or title
            shared = [each for each in unnamed if (each.model or title) == model]
            names[source] = model if len(shared) == 1 else f"{title}/{model}"
    for source in panels:
        title = titles[source.file]
        candidates = [PANEL] if len(panels) == 1 else []
        candidates += [f"{title}/{PANEL}", *(f"{title}/{PANEL} {number}" for number in range(2, len(names) + 3))]
        names[source] = next(name for name in candidates if name not in names.values())
    return names
