"""A rubric, and judged answers of which it is found that one criterion is always missed."""

from found import message

RUBRIC = """\
rubrics:
  - id: cites
    expected_outcome: Cites the policy
    required_min_score: 10
  - id: polite
    expected_outcome: Thanks the customer
"""


FLAT = "a.rubric.yaml:5:5 hint judged-flat: criterion `polite`: " + message(
    "judged-flat.alike",
    share="all 60 judged answers",
    value="missed it",
    bound="at least 91.5%",
    budget="corrected for 2 tests",
).replace("|", "")


def output(cites, polite):
    return {"checks": [{"id": "cites", "satisfied": bool(cites)}, {"id": "polite", "satisfied": bool(polite)}]}


def constant(count=60):
    """Records in which no answer is polite."""
    return [{"id": f"a{number:03}", "output": output(number % 2, 0)} for number in range(count)]
