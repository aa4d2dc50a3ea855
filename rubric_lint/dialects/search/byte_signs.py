"""Decide quickly from the bytes of a file whether to read it."""

import codecs
import re
from collections.abc import Mapping

from rubric_lint.dialects import FAMILIES
from rubric_lint.text.source import DATA, Kind, kind_of

_OUR_SIGNS = (
    *(b"rubric", b"Rubric", b"RUBRIC"),
    *(b"expected_outcome", b"expectedOutcome", b"score_range", b"scoreRange", b"required_min_"),
)
# Criteria of our format as literals of a program or as tables of TOML, where they are only reported as not read.
_OURS_ELSEWHERE = re.compile(
    rb"""(?m)^[ \t]*(?:expected_outcome[ \t]*=[ \t]*["']|score_ranges[ \t]*=[ \t]*[\[{])"""
    rb"""|\[\[?[\w.]+\.score_ranges\]|["'](?:expected_outcome|score_ranges)\\?["'][ \t]*:"""
)
_OTHER_UNICODE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # UTF-32-LE begins as UTF-16-LE
_SIGNS_OF_TOML = tuple(words for family in FAMILIES for words in family.toml_has)

# Most files have none of the signs, so what several of them begin with or contain is looked for once.
_CORES = (b"score", b"ubric", b"xpected")


def _group() -> Mapping[bytes, tuple[tuple[bytes, ...], ...]]:
    """Return the signs of YAML and JSON, words that a file has together, by what is looked for first."""
    groups: dict[bytes, list[tuple[bytes, ...]]] = {}
    for words in (*((sign,) for sign in _OUR_SIGNS), *(words for family in FAMILIES for words in family.files_have)):
        core = next((core for core in _CORES if core in words[0]), words[0])
        groups.setdefault(core, []).append(words)
    return {core: tuple(signs) for core, signs in groups.items()}


_SIGNS = tuple(_group().items())


def could_hold_rubrics(data: bytes, name: str) -> bool:
    """Return whether a file with these bytes may contain a rubric of a known format; its `name` selects the kind."""
    kind = kind_of(name)
    if data.startswith(_OTHER_UNICODE):
        return True  # its words have other bytes
    if kind not in DATA and (b"ubric" in data or b"UBRIC" in data) and _OURS_ELSEWHERE.search(data):
        return True
    if kind.is_program:
        return b"GEval(" in data or any(family.may_be_in_program(data) for family in FAMILIES)
    if kind is Kind.TOML:
        return any(all(map(data.__contains__, words)) for words in _SIGNS_OF_TOML)
    return any(core in data and any(all(map(data.__contains__, words)) for words in signs) for core, signs in _SIGNS)
