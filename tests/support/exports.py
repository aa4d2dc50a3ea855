"""From plain v2 data to a rubric, to the text of a target, and back."""

import json

from rubric_lint.convert.export import load_target
from rubric_lint.convert.export.entries import as_entries
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring.loading import load_models

ISOLATED = FileSettings(claimed=True, severities={})


def as_json(entries):
    """The text of a rubric file; weights, which are texts here, as they are written."""
    text = json.dumps({"rubrics": entries})
    for weight in {entry["weight"] for entry in entries if isinstance(entry, dict) and "weight" in entry}:
        text = text.replace(f'"weight": "{weight}"', f'"weight": {weight}')
    return text


def load(entries, name="r.rubric.json", settings=ISOLATED):
    """The only rubric that some entries make."""
    return load_text(as_json(entries), name, settings)


def load_text(text, name="r.rubric.json", settings=ISOLATED):
    """The only rubric of a text."""
    (loaded,) = load_models(name, text.encode(), settings).values()
    return loaded.rubric


def write(target, *rubrics):
    """The export of one rubric by the name `r`, or of several by numbered ones."""
    named = {"r": rubrics[0]} if len(rubrics) == 1 else {f"r{number}": item for number, item in enumerate(rubrics, 1)}
    return load_target(target).write(named)


def meaning(rubric):
    """All that a rubric says, without places."""
    return rubric.shape, rubric.thresholds, as_entries(rubric)
