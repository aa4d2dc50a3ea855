"""Make the repair that gives fields other names."""

from rubric_lint.edits.intents import RenameKey, Repair
from rubric_lint.text.path import Path


def rename(names: list[tuple[Path, str]]) -> Repair:
    """Return the unsafe repair that gives each field at a path a new name."""
    (path, target), *others = names
    more = f", and {len(others)} more" if others else ""
    intents = tuple(RenameKey(place, name) for place, name in names)
    return Repair(f"rename `{path[-1]}` to `{target}`{more}", intents, safe=False)
