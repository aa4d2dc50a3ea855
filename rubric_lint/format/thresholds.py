"""Define the thresholds of verdicts."""

from decimal import Decimal
from typing import NamedTuple


class Thresholds(NamedTuple):
    """The lowest scores in 0..1 of the verdicts `pass` and `borderline`."""

    pass_at: Decimal
    borderline_at: Decimal


USUAL_THRESHOLDS = Thresholds(Decimal("0.8"), Decimal("0.6"))
"""The default thresholds."""
