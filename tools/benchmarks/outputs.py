"""A rubric of three criteria, and raw judge outputs for it, as many as you want: the same in every run."""

import json
import random
from collections.abc import Iterator

RUBRIC = """\
rubrics:
  - id: accuracy
    weight: 2.0
    required_min_score: 3
    score_ranges: {0: Wrong facts, 3: Several errors, 7: Small omissions, 9: Fully correct}
  - id: depth
    score_ranges: {0: No detail given, 3: Some detail, 6: Most details, 9: All the details}
  - id: style
    weight: 0.5
    score_ranges: {0: Unreadable, 3: Hard to follow, 6: Readable, 9: Clear and short}
"""
REASONS = (
    "States the year and the height, and both are right.",
    "Gives no example and no history beyond the bare dates.",
    "Uses clear sentences in a good order, without filler.",
    "Leaves out the second half of the question.",
)


def lines(count: int) -> Iterator[str]:
    """Yield records in JSON Lines, each with the raw text of a judge in a fence."""
    chance = random.Random(0)  # noqa: S311 (the same lines in every run)
    for number in range(count):
        checks = [
            {"id": name, "score": chance.randint(0, 10), "reasoning": chance.choice(REASONS)}
            for name in ("accuracy", "depth", "style")
        ]
        text = json.dumps({"checks": checks, "overall_reasoning": "Right, but shallow."}, indent=2)
        yield json.dumps({"id": f"answer-{number}", "output": f"```json\n{text}\n```"}) + "\n"
