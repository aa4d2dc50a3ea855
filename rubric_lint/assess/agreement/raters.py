"""Say who judged: the written rater, the model, or the file, and give each a name."""

import filecmp
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rubric_lint.scoring.records.mapping import HUMAN, JUDGE, find_shared, has_side
from rubric_lint.scoring.scorer import read_model
from rubric_lint.source.source import stem_of

PANEL = "panel"
"""The name of a panel of models as a rater, unless another rater has it."""


@dataclass(frozen=True)
class RaterSource:
    """Where a judgement is from, until raters have names: a written rater, or the file and the model.

    `is_panel` if several models judged together.
    """

    rater: str | None
    file: str = ""
    model: str | None = None
    is_panel: bool = False


def find_source(record: Mapping[str, Any], file: str) -> RaterSource:
    """Return where a record is from."""
    rater = read_rater(record)
    if rater:
        return RaterSource(rater)
    return RaterSource(None, file, read_model(record.get("judge")))


def read_rater(record: Mapping[str, Any]) -> str | None:
    """Return the rater that a record names, if any."""
    rater = record.get("rater")
    if type(rater) not in {str, int}:
        return None
    return str(rater).strip() or None


def name_raters(sources: Sequence[RaterSource]) -> dict[RaterSource, str]:
    """Name each source: by its `rater`, else by its model, or by its file if it names none or another has the same.

    Panels are named last, so that none gets the name of another rater.
    """
    distinct = list(dict.fromkeys(sources))
    names = {source: source.rater for source in distinct if source.rater is not None}
    panels = [source for source in distinct if source.rater is None and source.is_panel]
    single = [source for source in distinct if source.rater is None and not source.is_panel]
    written = set(names.values())
    stems = {source.file: stem_of(source.file) or source.file for source in [*single, *panels]}
    times = Counter(stems.values())
    titles = {file: stem if times[stem] == 1 else file for file, stem in stems.items()}
    of_file = Counter(source.file for source in single)
    models = Counter(source.model or titles[source.file] for source in single)
    for source in single:
        title = titles[source.file]
        model = source.model or title
        is_shared = models[model] > 1 or model in written
        if not is_shared:
            names[source] = model
        elif of_file[source.file] == 1:
            names[source] = title
        else:
            names[source] = f"{title}/{model}"
    for source in panels:
        title = f"{titles[source.file]}/{PANEL}"
        candidates = [PANEL] if len(panels) == 1 else []
        candidates.append(title)
        candidates += [f"{title} {number}" for number in range(2, len(names) + 3)]
        names[source] = next(name for name in candidates if name not in names.values())
    return names


def explain_own_labels(label: str, results: Iterable[str], mapping: Mapping[str, str]) -> str:
    """Return why a file of labels holds the judgements of the results, so that all would agree; empty if it does not.

    One file has both only if `mapping` says whose the columns are, and it is named once.
    """
    has_both = has_side(mapping, HUMAN)
    for name in results:
        if name == label and not has_both:
            return f"has the results too, {_OWN}; name a file of labels, or {_SAY_WHOSE}"
        field = find_shared(mapping) if name == label else None
        if field is not None:
            return f"--map {field}={mapping[field]} reads what may be of the judge, {_OWN}; {_SAY_WHOSE}"
        if name != label and _has_same_bytes(name, label):
            advice = "leave --labels out" if has_both else "if people gave these labels, write their names into `rater`"
            return f"has the same bytes as `{name}`, {_OWN}; {advice}"
    return ""


_OWN = "so the judge would be compared with itself"
_SAY_WHOSE = f"say whose each column is: `--map {JUDGE}.FIELD=COLUMN --map {HUMAN}.FIELD=COLUMN`"


def _has_same_bytes(file: str, other: str) -> bool:
    """Return whether two regular files have the same bytes; what cannot be read does not."""
    with suppress(OSError, ValueError):
        return filecmp.cmp(file, other, shallow=False)
    return False
