"""Random valid rubrics of version 3 as plain data, and random valid outputs for them.

`random_rubric` and `random_output` take a source of chance; `rubrics` and `cases` are the same for hypothesis.
"""

import math
from fractions import Fraction
from random import Random
from typing import Any

from hypothesis import strategies as st
from reference_3 import YES_OR_NO, failures, is_holistic, leaves, tree
from styles import Chances, chances

WHOLE = ([1, 5], [0, 10], [0, 5], [1, 10], [0, 100], [3, 1], [5, 0], [0, 1], [1, 0], [-2, 2])
SCALES = (*WHOLE, [0.0, 1.0], [1.0, 5.0], [4.0, 1.0])
WEIGHTS = (1, 2, 3, 5, 10, 0.5, 0.35, 0.1, 2.5, 7, 100)
SHARES = ("70%", "26/30", "87.5%", "100%", "50%", "2/3", "0%", "1/1")
NOUNS = ("refund window", "dose", "source", "figure", "complexity", "author", "deadline", "unit", "risk", "customer")


class Writer(Chances):
    """Writes one rubric: every text is written once, and so is every id."""

    def __init__(self, dice: Random) -> None:
        super().__init__(dice)
        self.texts, self.ids = 0, 0

    def text(self) -> str:
        self.texts += 1
        return f"Names the {self.random.choice(NOUNS)} of part {self.texts}"

    def id(self) -> str:
        self.ids += 1
        return f"{self.random.choice('abcdefgh')}-{self.ids}"

    def levels(self, numbers: list[Any]) -> Any:
        """Texts for some numbers, as a map or as a list."""
        if self.chance(0.5):
            return {number: self.text() for number in numbers}
        return [{"level": number, "expected_outcome": self.text()} for number in numbers]

    def on(self, scale: list[Any]) -> Any:
        """A number of a scale, of hundredths where it is written with a decimal point."""
        low, high = min(scale), max(scale)
        if isinstance(low, float):
            return self.random.randint(round(low * 100), round(high * 100)) / 100
        return self.random.randint(low, high)

    def anchors(self, scale: list[Any]) -> Any:
        ends = {int(min(scale)), int(max(scale))}
        within = range(min(ends), max(ends) + 1)
        return self.levels(sorted(ends | set(self.random.sample(within, self.random.randint(0, min(3, len(within)))))))

    def ladder(self) -> Any:
        return self.levels(sorted(self.random.sample(range(-3, 12), self.random.randint(2, 5))))

    def bands(self, scale: list[Any]) -> Any:
        """Score ranges that cover a scale of whole numbers, as a map from lower bound or as a list."""
        low, high = min(scale), max(scale)
        count = self.random.randint(1, min(3, high - low))
        starts = [low, *sorted(self.random.sample(range(low + 1, high + 1), count))]
        if self.chance(0.5):
            return {start: self.text() for start in starts}
        pairs = zip(starts, [*(start - 1 for start in starts[1:]), high], strict=True)
        return [{"score_range": list(pair), "expected_outcome": self.text()} for pair in pairs]

    def leaf(self, scale: list[Any] | None, *, has_ladder: bool) -> Any:
        """A criterion where this scale or a ladder is inherited."""
        kind = self.random.choice(("plain", "plain", "scale", "levels", "bands", "anchors"))
        if kind == "plain" and self.chance(0.4):
            return self.text()
        entry: dict[str, Any] = {"expected_outcome": self.text()}
        if kind == "plain" and (scale or has_ladder) and self.chance(0.3):
            kind, entry["scale"], scale = "yes", [0, 1], [0, 1]
        scale = self.measure(entry, kind, scale, has_ladder=has_ladder)
        extra = {"id": self.id(), "weight": self.random.choice(WEIGHTS)}
        entry |= {name: value for name, value in extra.items() if self.chance(0.7)}
        if self.chance(0.3):
            self.gate(entry, scale, is_ladder=has_ladder and kind == "plain")
        if self.chance(0.2):
            entry["applies_if"] = self.text()
        return entry

    def measure(
        self, entry: dict[str, Any], kind: str, scale: list[Any] | None, *, has_ladder: bool
    ) -> list[Any] | None:
        """Write what measures a criterion of some kind; return the scale that holds in it."""
        if kind in ("scale", "anchors"):
            entry["scale"] = scale = list(self.random.choice(SCALES))
        if kind == "anchors":
            entry["levels"] = self.anchors(scale or [0, 1])
        if kind == "levels":
            entry["levels"] = self.anchors(scale) if scale else self.ladder()
        if kind == "bands" and (has_ladder or self.chance(0.5) or (scale and isinstance(scale[0], float))):
            entry["scale"] = scale = list(self.random.choice(WHOLE))
        if kind == "bands":
            entry["score_ranges"] = self.bands(scale or [0, 10])
        return scale

    def gate(self, entry: dict[str, Any], scale: list[Any] | None, *, is_ladder: bool) -> None:
        """A minimum, by the word that goes with what the criterion itself says; an inherited ladder gets none."""
        if "levels" in entry:
            own = [item["level"] if isinstance(item, dict) else item for item in entry["levels"]]
            entry["required_min_level"] = self.on(scale) if scale else self.random.choice(own)
        elif not is_ladder:
            entry["required_min_score"] = self.on(scale or [0, 10]) if scale or "score_ranges" in entry else 10

    def node(self, scale: list[Any] | None, depth: int, *, has_ladder: bool = False) -> dict[str, Any]:
        """A group or a rubric with its criteria: at least one weighs more than 0."""
        node: dict[str, Any] = {}
        if self.chance(0.3):
            node["scale"], has_ladder = list(self.random.choice(SCALES)), False
            scale = node["scale"]
            if self.chance(0.3):
                node["levels"] = self.anchors(node["scale"])
                has_ladder = True
        elif not scale and self.chance(0.15):
            node["levels"], has_ladder = self.ladder(), True
        members = []
        for _ in range(self.random.randint(1, 4)):
            if depth and self.chance(0.3):
                group = {"id": self.id(), **self.node(scale, depth - 1, has_ladder=has_ladder)}
                if any(isinstance(member, dict) and member.get("weight", 1) < 0 for member in group["criteria"]):
                    group["criteria"].append(self.text())  # which always applies, so that the penalty counts
                extra = {"weight": self.random.choice(WEIGHTS), "expected_outcome": self.text()}
                extra["applies_if"] = self.text()
                group |= {name: value for name, value in extra.items() if self.chance(0.5)}
                inner = group.get("scale", scale)
                if self.chance(0.3):
                    group["required_min_score"] = self.on(inner or [0.0, 1.0])
                if self.chance(0.3):
                    group.pop("id")
                members.append(group)
            else:
                members.append(self.leaf(scale, has_ladder=has_ladder))
        self.penalise(members)
        return {**node, "criteria": members}

    def penalise(self, members: list[Any]) -> None:
        """Turn some weights below 0, or to 0, of members that have no gate, and leave one above."""
        for member in self.random.sample(members, self.random.randint(0, len(members) - 1)):
            has_no_gate = isinstance(member, dict) and not {"required_min_score", "required_min_level"} & {*member}
            if has_no_gate and self.chance(0.4):
                member["weight"] = self.random.choice((0, -1, -2, -5, -0.5, -0.35))

    def mark(self, scale: list[Any] | None, low: Fraction, high: Fraction) -> tuple[Any, Fraction]:
        """A mark with its share in a span, in one of the ways to write one."""
        ways: list[tuple[Any, Fraction]] = [
            (item, share)
            for item in SHARES
            for share in [Fraction(item.rstrip("%")) / (100 if "%" in item else 1)]
            if low <= share <= high
        ]
        percent = self.random.randint(math.ceil(low * 100), math.floor(high * 100))
        ways.append((f"{percent}%", Fraction(percent, 100)))
        worst, best = scale or (0, 1)
        number = round(worst) + Fraction(percent, 100) * round(best - worst)
        plain = int(number) if number.denominator == 1 else float(number)
        return self.random.choice([*ways, *[(plain, Fraction(percent, 100))] * len(ways)])

    def rubric(self) -> Any:
        if self.chance(0.05):
            return self.bands_of_whole()
        node = self.node(None, self.random.choice((0, 0, 1, 2, 3)))
        if "scale" not in node and "levels" not in node and self.chance(0.2):
            return node["criteria"]
        scale = node.get("scale")
        if self.chance(0.5):
            node["pass_threshold"], highest = self.mark(scale, Fraction(1, 2), Fraction(1))
        else:
            highest = Fraction(4, 5)
        if self.chance(0.3):
            node["borderline_threshold"] = self.mark(scale, Fraction(1, 5), highest - Fraction(1, 50))[0]
        if self.chance(0.4):
            node["grades"] = self.grades(scale)
        if self.chance(0.3):
            texts = [self.text() for _ in range(self.random.randint(1, 3))]
            node["critical_failures"] = [
                {"id": self.id(), "expected_outcome": text} if self.chance(0.3) else text for text in texts
            ]
        if self.chance(0.3):
            node |= {"id": self.id(), "expected_outcome": self.text()}
        return node

    def bands_of_whole(self) -> list[Any]:
        cut = self.random.randint(1, 10)
        ranges = ([0, cut - 1], [cut, 10])
        return [{"score_range": item, "expected_outcome": self.text()} for item in ranges]

    def grades(self, scale: list[Any] | None) -> dict[str, Any]:
        """Grades from the highest to the lowest; the last may be above the worst score."""
        high, found = Fraction(1), {}
        for name in "ABCDF"[: self.random.randint(1, 5)]:
            found[name], share = self.mark(scale, max(high - Fraction(3, 10), Fraction(0)), high)
            high = share - Fraction(1, 50)
            if high < 0:
                break
        return found


def random_rubric(dice: Random) -> Any:
    return Writer(dice).rubric()


def random_output(dice: Random, rubric: Any, *, missing: float = 0.3) -> dict[str, Any]:
    """A valid output; `missing` is the rate of "does not apply" where that may be said."""
    if is_holistic(rubric):
        return {"score": dice.randint(0, 10)}
    checks: list[dict[str, Any]] = []
    towards = dice.choice((None, None, min, max))  # the best or the worst answer more often than chance has it
    for leaf in leaves(tree(rubric)):
        if leaf.may_not_apply and dice.random() < missing:
            checks.append({"id": leaf.id, "applicable": False})
            continue
        numbers = sorted(leaf.shares, key=lambda number, leaf=leaf: leaf.shares[number])  # type: ignore[misc]
        at = dice.randrange(len(numbers))
        at = at if towards is None else towards(at, dice.randrange(len(numbers)), dice.randrange(len(numbers)))
        number = numbers[at]
        plain: Any = int(number) if number.denominator == 1 else float(number)
        checks.append({"id": leaf.id, leaf.field: bool(number) if leaf.field == YES_OR_NO else plain})
    checks += [{"id": item, YES_OR_NO: dice.random() < 0.1} for item in failures(rubric)]
    dice.shuffle(checks)
    return {"checks": checks}


rubrics = chances.map(random_rubric)
"""Random rubrics of version 3."""


@st.composite
def cases(draw: Any) -> tuple[Any, dict[str, Any]]:
    """A rubric and a valid output for it."""
    dice = draw(chances)
    rubric = random_rubric(dice)
    return rubric, random_output(dice, rubric)
