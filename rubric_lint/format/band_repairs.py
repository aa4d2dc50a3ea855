"""Repair bands that are swapped, overlap, leave gaps, are split or not sorted; no repair is safe."""

from collections.abc import Collection

from rubric_lint.finding import Intent, RenameKey, Reorder, Repair, ReplaceValue
from rubric_lint.format.bands import HIGHEST, LOWEST, Band, Scale


def swap_bounds(band: Band) -> Repair:
    """Exchange the bounds of a range."""
    lower, upper = band.upper, band.lower
    return _repair(f"write `[{lower}, {upper}]`", _write_lower(band, lower), _write_upper(band, upper))


def cut(scale: Scale, band: Band, other: Band) -> Repair | None:
    """End the lower of two overlapping bands before the upper one; None if one lies inside the other."""
    low, high = sorted((band, other), key=lambda each: each.scores[0])
    start = high.scores[0]
    if scale.is_map or not (low.is_sound and high.is_sound):
        return None
    if low.scores[0] == start or low.scores[-1] >= high.scores[-1]:
        return None
    return _repair(f"end the lower band at {start - 1}", _write_upper(low, start - 1))


def widen(scale: Scale, gap: Collection[int]) -> Repair | None:
    """Extend the band below each gap, or at 0 the lowest band; None if bands are invalid or share scores."""
    bands = sorted(scale.bands, key=lambda band: band.scores[0] if band.scores else HIGHEST)
    covered = [score for band in bands for score in band.scores]
    if not bands or not all(band.is_sound for band in bands) or len(set(covered)) < len(covered):
        return None
    if scale.is_map:
        return _repair(f"start the lowest band at {LOWEST}", RenameKey(bands[0].path, str(LOWEST)))
    changes: list[tuple[str, Intent]] = []
    for index, band in enumerate(bands):
        following = bands[index + 1].scores[0] if index + 1 < len(bands) else HIGHEST + 1
        if band.scores[-1] + 1 < following:
            changes.append((f"end {band.written} at {following - 1}", _write_upper(band, following - 1)))
    if LOWEST in gap:
        changes.insert(0, (f"start {bands[0].written} at {LOWEST}", _write_lower(bands[0], LOWEST)))
    return _repair(", ".join(title for title, _ in changes), *(intent for _, intent in changes)) if changes else None


def start_at(scale: Scale, band: Band, following: Band, start: int) -> Repair:
    """Start the following band at a score inside this one."""
    title = f"start the next band at {start}"
    if scale.is_map:
        return _repair(title, RenameKey(following.path, str(start)))
    return _repair(title, _write_upper(band, start - 1), _write_lower(following, start))


def sort_bands(scale: Scale) -> Repair | None:
    """Put the bands in ascending order; None if some are invalid or they are those of a holistic rubric."""
    if not all(band.is_sound for band in scale.bands):
        return None
    depth = len(scale.path)
    bands = sorted(scale.bands, key=lambda band: band.scores[0])
    return _repair("sort the bands", Reorder(scale.path, tuple(band.path[depth] for band in bands)))


def _repair(title: str, *intents: Intent) -> Repair:
    return Repair(title, intents, safe=False)


def _write_lower(band: Band, bound: float | None) -> ReplaceValue:
    return ReplaceValue((*band.path, 0), str(bound))


def _write_upper(band: Band, bound: float | None) -> ReplaceValue:
    return ReplaceValue((*band.path, 1), str(bound))
