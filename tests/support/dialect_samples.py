"""One sample for each dialect: what it looks like, what it means, and how each field of it is found again.

A dialect that is added brings one entry of `data/dialects.yaml`, from which several tests take theirs.
"""

from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from rubric_lint.model.criterion import Shape


class Sample(NamedTuple):
    """A sound rubric of a dialect, as the head of `data/dialects.yaml` says."""

    file: str
    path: tuple[Any, ...]
    shape: Shape
    criteria: list[tuple[Any, ...]]
    text: str
    dialect: str
    fields: str = ""


def _read(sample: dict[str, Any], name: str) -> Sample:
    criteria = []
    for key, outcome, weight, gate, bands, levels in ([*row, None, None, None][:6] for row in sample["criteria"]):
        scale = None if bands is None else [*map(tuple, bands)]
        criteria.append((key, outcome, Decimal(str(weight)), gate, scale, [*map(tuple, levels or ())]))
    path, shape = tuple(sample["path"]), Shape(sample["shape"])
    return Sample(**{"dialect": name, **sample, "path": path, "shape": shape, "criteria": criteria})


_FILE = Path(__file__).parent.parent / "data/dialects.yaml"
SAMPLES = {name: _read(sample, name) for name, sample in YAML(typ="safe").load(_FILE.read_text("utf-8")).items()}


TEXTS = """\
    tests:
      - id: one
        input: Why?
        criteria: Explains it
        assertions:
          - Mentions the pivot
          - {type: contains, value: pivot}
          - Says why
    """

UNSCORED = frozenset({"ai-rubric"})
"""The dialects whose systems combine scores in a way that no average does."""
