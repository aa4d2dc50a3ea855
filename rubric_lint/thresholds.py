"""From which scores a verdict holds."""

from decimal import Decimal
from typing import NamedTuple


class Thresholds(NamedTuple):
    """From which score in 0..1 a verdict is `pass`, and from which it is `borderline`."""

    pass_at: Decimal
    borderline_at: Decimal


USUAL_THRESHOLDS = Thresholds(Decimal("0.8"), Decimal("0.6"))
"""What holds unless the settings say otherwise."""
