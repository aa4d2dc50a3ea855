"""Which known names a misspelt one may have meant."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache

from rubric_lint.wording import list_names

_HUMP = r"(?<=[a-z0-9])(?=[A-Z])"
_LEAST = 0.8


def find_near(name: str, known: Iterable[str]) -> list[str]:
    """The known names within a typing slip or another spelling of `name`, the nearest first; often none."""
    spelt = _fold(re.sub(_HUMP, "_", name).replace(" ", "_"))
    ratios = ((_compare(spelt, _fold(word)), word) for word in known)
    near = sorted((item for item in ratios if item[0] >= _LEAST), key=lambda item: (-item[0], item[1]))
    # A perfect match in another spelling leaves no doubt.
    return [word for ratio, word in near if ratio == near[0][0] or near[0][0] < 1]


def point_to_known(name: str, known: Collection[str]) -> str:
    """What to say behind a name that is not known: which one it may have meant, or else which there are."""
    # Shown side by side, the two look alike, and the question whether one was meant would be no help.
    alike = [word for word in known if unicodedata.normalize("NFC", word) == unicodedata.normalize("NFC", name)]
    if alike:
        return f"`{alike[0]}` looks the same but is made of other Unicode characters"
    if near := find_near(name, known):
        return f"did you mean `{near[0]}`?"
    return f"there {'is' if len(known) == 1 else 'are'} {list_names(known)}"


@lru_cache(16_384)
def _compare(spelt: str, word: str) -> float:
    """Return how alike two names are, 0 where that is plain to be too little without comparing them at length."""
    total = len(spelt) + len(word)
    if 2 * min(len(spelt), len(word)) < _LEAST * total:
        return 0
    if 2 * sum(min(spelt.count(letter), word.count(letter)) for letter in set(word)) < _LEAST * total:
        return 0
    from difflib import SequenceMatcher  # noqa: PLC0415  (only misspelt names need it)

    return SequenceMatcher(None, spelt, word).ratio()


@lru_cache(16_384)
def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).replace("-", "_").lower()
