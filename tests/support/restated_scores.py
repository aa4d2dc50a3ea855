"""What the systems of the dialects make of random rubrics and answers, restated from their sources.

A case is a file of such a system with one rubric, and what the system itself computes. The arithmetic is written again
from the original, in fractions, and shares nothing with ours; where the original installs,
`tests/formats/test_agreement.py` asks it too. What we refuse to score, and why, is on the page of each dialect.
"""

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from hypothesis import strategies as st

Result = tuple[Fraction, bool | None]
"""The score, and whether the answer passes; None where the original has no verdict."""


class Case(NamedTuple):
    """A file, and `score`, which takes the rank of the answer to each criterion; None if it is not to be scored.

    The ranks of a checklist are 0 and 1, for no and yes; those of other answers count as `counts` says.
    """

    name: str
    text: str
    counts: Sequence[int]
    score: Callable[[Sequence[int]], Result] | None
    replies: Callable[[Sequence[int]], Any] = list
    """What the judge of the original says, from the ranks."""


def exact(number: Any) -> Fraction:
    return Fraction(str(number))


def clip(score: Fraction) -> Fraction:
    return min(max(score, Fraction(0)), Fraction(1))


texts = st.sampled_from(
    ["Names the unit", "Says why", "名前を言う", "Répond à tout", "Ends \N{GRINNING FACE} well", "x" * 90]
)
positive = st.sampled_from([1, 2, 3, 7, 0.1, 0.25, 2.5, 1e-7, 1000000007, 10**30])
weights = positive | st.just(0)
signed = weights | positive.map(lambda weight: -weight)
shares = st.sampled_from([0, 0.25, 0.5, 0.7, 0.8, 1])


def some(strategy: st.SearchStrategy[Any], most: int = 5, *, differ: str = "") -> st.SearchStrategy[list[Any]]:
    """`differ`: the field in which no two are equal; one outcome must not both earn and lose points."""
    return st.lists(strategy, min_size=1, max_size=most, unique_by=(lambda item: item[differ]) if differ else None)


def mean(scores: Sequence[Fraction]) -> Fraction:
    return sum(scores, Fraction(0)) / len(scores)


def weigh(worth: Sequence[Any], scores: Sequence[Any]) -> Fraction | None:
    total = sum(map(exact, worth), Fraction(0))
    return sum((exact(item) * score for item, score in zip(worth, scores, strict=True)), Fraction(0)) / total


# Points of what is met by points possible


def points(worth: Sequence[Any], met: Sequence[int]) -> Fraction:
    """HealthBench's `calculate_score` and RaR's explicit aggregation: points met by the sum of the positive ones."""
    possible = sum(exact(item) for item in worth if item > 0)
    return sum((exact(item) for item, is_met in zip(worth, met, strict=True) if is_met), Fraction(0)) / possible


@st.composite
def healthbench(draw: Any) -> Case:
    items = draw(
        some(st.fixed_dictionaries({"criterion": texts, "points": signed, "tags": st.just([])}), differ="criterion")
    )
    worth = [item["points"] for item in items]
    is_sound = any(entry > 0 for entry in worth)
    score = (lambda met: (max(points(worth, met), Fraction(0)), None)) if is_sound else None
    return Case("rows.jsonl", json.dumps({"prompt_id": "p", "rubrics": items}), [2] * len(items), score)


@st.composite
def rar(draw: Any) -> Case:
    items = draw(
        some(st.fixed_dictionaries({"title": texts, "description": texts, "weight": signed}), differ="description")
    )
    items[0]["description"] = "Essential: names the unit"
    worth = [item["weight"] for item in items]
    is_sound = any(entry > 0 for entry in worth)
    score = (lambda met: (max(points(worth, met), Fraction(0)), None)) if is_sound else None
    return Case("rows.json", json.dumps({"question": "q", "rubric": items}), [2] * len(items), score)


def met_or_lost(worth: Sequence[Any], scores: Sequence[Any]) -> Fraction:
    """`score_reports` of autorubric and `aggregate` of rubric, with the answers as scores from 0 to 1."""
    earned = sum((exact(item) * score for item, score in zip(worth, scores, strict=True)), Fraction(0))
    possible = sum((exact(item) for item in worth if item > 0), Fraction(0))
    lost = sum((-exact(item) for item in worth if item < 0), Fraction(0))
    return clip(earned / possible if possible else 1 + earned / lost)


OPTIONS = st.lists(st.sampled_from([0, 0.25, 1 / 3, 0.5, 0.9, 1]), min_size=2, max_size=4, unique=True)


@st.composite
def requirement(draw: Any) -> Case:
    has_options = draw(st.booleans())
    kind = {"weight": draw(st.sampled_from([weights, signed, signed.map(lambda weight: -abs(weight))]))}
    entry = {"requirement": texts} | ({"options": OPTIONS} if has_options else {})
    items = draw(some(st.fixed_dictionaries(entry, optional=kind), differ="requirement"))
    items[0].setdefault("weight", draw(kind["weight"]))
    worth = [item.get("weight", 10) for item in items]
    values = [sorted(item["options"]) if has_options else [0, 1] for item in items]
    for item in items:
        if has_options:
            item["options"] = [{"label": f"as {value}", "value": value} for value in item["options"]]
    is_sound = any(worth) and all(one[0] == 0 and one[-1] == 1 for one in values)
    turns = all(one <= 0 for one in worth)  # then our levels count what is not lost

    def given(ranks: Sequence[int]) -> list[Any]:
        is_turned = turns and has_options
        return [one[len(one) - 1 - rank if is_turned else rank] for one, rank in zip(values, ranks, strict=True)]

    def score(ranks: Sequence[int]) -> Result:
        return met_or_lost(worth, list(map(exact, given(ranks)))), None

    parts = ({"rubric": items}, {"criteria": items}, items, {"sections": [{"criteria": items}]})
    whole = draw(st.sampled_from(parts))
    return Case("r.json", json.dumps(whole), [len(one) for one in values], score if is_sound else None, given)


# Shares of what is met


@st.composite
def swe_atlas(draw: Any) -> Case:
    noted = st.fixed_dictionaries(
        {
            "type": st.sampled_from(["positive hli verifier", "negative hli verifier", "high level intent"]),
            "importance": st.sampled_from(["must have", "nice to have"]),
        }
    )
    drawn = draw(some(st.tuples(texts, noted)))
    items = [{"id": f"i{at}", "title": title, "annotations": notes} for at, (title, notes) in enumerate(drawn)]
    judged = [notes for _, notes in drawn if notes["type"] != "high level intent"]
    gates = [notes["importance"] == "must have" for notes in judged]

    def score(said: Sequence[int]) -> Result:
        passed = [
            (not yes) if "negative" in notes["type"] else bool(yes) for yes, notes in zip(said, judged, strict=True)
        ]
        return mean([Fraction(item) for item in passed]), all(p for p, gate in zip(passed, gates, strict=True) if gate)

    return Case("rubrics.json", json.dumps(items), [2] * len(judged), score if any(gates) else None)


def share(threshold: Any) -> Callable[[Sequence[int]], Result]:
    """The share of what is answered with yes, which passes from the threshold."""

    def score(met: Sequence[int]) -> Result:
        found = mean([Fraction(item) for item in met])
        return found, None if threshold is None else found >= exact(threshold)

    return score


@st.composite
def adk(draw: Any) -> Case:
    listed, is_camel, threshold = draw(some(texts)), draw(st.booleans()), draw(shares)
    entries: list[Any] = [
        {"rubricId": f"r{at}", "rubricContent": {"textProperty": text}}
        if is_camel
        else {"rubric_id": f"r{at}", "rubric_content": {"text_property": text}}
        for at, text in enumerate(listed)
    ]
    if draw(st.booleans()):
        data: Any = {
            "criteria": {"rubric_based_final_response_quality_v1": {"threshold": threshold, "rubrics": entries}}
        }
        return Case("eval_config.json", json.dumps(data), [2] * len(listed), share(threshold))
    return Case("a.evalset.json", json.dumps({"eval_cases": [{"rubrics": entries}]}), [2] * len(listed), share(None))


@st.composite
def vertex(draw: Any) -> Case:
    listed = draw(some(texts))
    entries = [
        {"rubricId": f"r{at}", "content": {"property": {"description": text}}, "type": "X", "importance": "HIGH"}
        for at, text in enumerate(listed)
    ]
    return Case("rubrics.json", json.dumps({"rubrics": entries}), [2] * len(listed), share(None))


@st.composite
def trpc_agent(draw: Any) -> Case:
    listed, threshold = draw(some(texts)), draw(shares)
    entries = [{"id": f"r{at}", "content": {"text": text}} for at, text in enumerate(listed)]
    data = [{"metricName": "m", "threshold": threshold, "criterion": {"llmJudge": {"rubrics": entries}}}]
    return Case("a.metrics.json", json.dumps(data), [2] * len(listed), share(threshold))


@st.composite
def pydantic_evals(draw: Any) -> Case:
    judges = draw(some(texts | st.fixed_dictionaries({"rubric": texts}, optional={"include_input": st.booleans()})))
    items: list[Any] = [{"LLMJudge": judge} for judge in judges]
    if draw(st.booleans()):
        items.insert(0, {"IsInstance": "str"})
    is_own = draw(st.booleans())
    case = {"inputs": "x"} | ({"evaluators": items} if is_own else {})
    data = {"cases": [case]} | ({} if is_own else {"evaluators": items})
    return Case("data.json", json.dumps(data), [2] * len(judges), share(None))


@st.composite
def agent_skills(draw: Any) -> Case:
    listed, form = draw(some(texts)), draw(st.sampled_from(["text", "description", ""]))
    items: list[Any] = [{"id": f"a{at}", form: text} if form else text for at, text in enumerate(listed)]
    case = {"id": 1, "prompt": "x", draw(st.sampled_from(["assertions", "expectations"])): items}
    return Case("evals.json", json.dumps({"skill_name": "s", "evals": [case]}), [2] * len(listed), share(None))


@st.composite
def tessl(draw: Any) -> Case:
    """The points of what is met by all points."""
    worth = draw(some(positive))
    items = [{"name": f"c{at}", "description": "Says why", "max_score": item} for at, item in enumerate(worth)]
    data = {"context": "x", "type": "weighted_checklist", "checklist": items}
    return Case("criteria.json", json.dumps(data), [2] * len(worth), lambda met: (points(worth, met), None))


@st.composite
def reward_lens(draw: Any) -> Case:
    """The weighted mean of how far each criterion is satisfied; one to avoid is satisfied by what is absent."""
    worth = draw(some(positive))
    avoided = [True, *(draw(st.booleans()) for _ in worth[1:])]
    words = ["avoid" if item else "include" for item in avoided]
    items = [
        {"id": f"c{at}", "text": f"Says part {at}", "weight": item, "polarity": word}
        for at, (item, word) in enumerate(zip(worth, words, strict=True))
    ]

    def score(met: Sequence[int]) -> Result:
        satisfied = [int(bool(rank) != is_avoided) for rank, is_avoided in zip(met, avoided, strict=True)]
        return points(worth, satisfied), None

    return Case("a.json", json.dumps({"criteria": items}), [2] * len(worth), score)


@st.composite
def hermes(draw: Any) -> Case:
    """The weighted mean of scores from 0 to 10; some are kept between 3 and 7, which is not done here."""
    worth = draw(some(positive))
    hedged = draw(st.integers(-len(worth), len(worth) - 1))
    items = [
        {"id": f"c{at}", "description": "Says why", "weight": item, "evidence_instructions": "x", "hedge": at == hedged}
        for at, item in enumerate(worth)
    ]

    def score(ranks: Sequence[int]) -> Result:
        total = sum(exact(item) * rank / 10 for item, rank in zip(worth, ranks, strict=True))
        return total / sum(map(exact, worth)), None

    return Case("a.json", json.dumps({"dimensions": items}), [11] * len(worth), None if hedged >= 0 else score)


@st.composite
def ai_rubric(draw: Any) -> Case:
    """A critical node fails what is above it, which no average does."""
    nodes = [{"name": f"c{at}", "description": "Says why", "is_critical": draw(st.booleans())} for at in range(2)]
    return Case("a.json", json.dumps({"root": {"name": "r", "children": nodes}}), [2, 2], None)


@st.composite
def task_rubrics(draw: Any) -> Case:
    """The points of what is met by those that can be earned, at least 0; of a trap they are below 0."""
    worth = draw(some(signed).filter(any))
    items = [
        {"number": f"R{at}", "criterion": f"Says why {at}", "is_positive": item > 0, "score": item}
        for at, item in enumerate(worth)
    ]
    score = (lambda met: (max(points(worth, met), Fraction(0)), None)) if max(worth) > 0 else None
    return Case("rubric.json", json.dumps(items), [2] * len(worth), score)


@st.composite
def harbor_check(draw: Any) -> Case:
    listed = draw(some(texts))
    items = [{"name": f"c{at}", "description": text, "guidance": text} for at, text in enumerate(listed)]
    return Case("rubric.json", json.dumps({"criteria": items}), [2] * len(listed), share(None))


# Weighted averages


@st.composite
def tolokaforge(draw: Any) -> Case:
    entry = {"description": texts}
    more = {"weight": weights, "required": st.booleans(), "kind": st.just("binary"), "expected": texts}
    items = draw(some(st.fixed_dictionaries(entry, optional=more)))
    items = [{"id": f"c{at}", **item} for at, item in enumerate(items)]
    passes_from = draw(st.none() | shares)
    data: dict[str, Any] = {"llm_judge": {"rubric": {"criteria": items}}}
    if passes_from is not None:
        data["combine"] = {"pass_threshold": passes_from}
    gates = [item.get("required", False) for item in items]
    counted = [0 if gate else item.get("weight", 1) for item, gate in zip(items, gates, strict=True)]

    def score(met: Sequence[int]) -> Result:
        is_met = all(one for one, gate in zip(met, gates, strict=True) if gate)
        found = mean([Fraction(one) for one in met]) if all(gates) else weigh(counted, met)
        assert found is not None
        judged = Fraction(is_met) if all(gates) else found
        return found, is_met and judged >= exact("0.8" if passes_from is None else passes_from)

    is_sound = all(gates) or any(counted)
    return Case("grading.json", json.dumps(data), [2] * len(items), score if is_sound else None)


@st.composite
def paperbench(draw: Any) -> Case:
    leaves: list[int] = []

    def part(depth: int) -> dict[str, Any]:
        own: dict[str, Any] = {"id": f"n{draw(st.integers(0, 10**9))}-{len(leaves)}", "requirements": draw(texts)}
        own["weight"] = draw(st.sampled_from([0, 1, 2, 3, 5, 7, 11, 97, 0.3, 100003]))
        below = [part(depth + 1) for _ in range(draw(st.integers(0 if depth else 1, 3)))] if depth < 4 else []
        if not below:
            leaves.append(len(leaves))
            own["id"] = f"leaf{len(leaves)}"
        return own | {"sub_tasks": below, "task_category": None if below else "Code Execution"}

    root = part(0)

    def judge(node: dict[str, Any], said: list[int]) -> Fraction:
        """The weighted mean of the parts, upward; 0 where all of them weigh 0."""
        if not node["sub_tasks"]:
            return Fraction(said.pop(0))
        scores = [judge(item, said) for item in node["sub_tasks"]]
        worth = [item["weight"] for item in node["sub_tasks"]]
        return weigh(worth, scores) or Fraction(0) if any(worth) else Fraction(0)

    is_sound = judge(root, [1] * len(leaves)) == 1  # else a part that counts is worth 0 whatever its leaves are
    score = (lambda met: (judge(root, list(met)), None)) if is_sound else None
    return Case("rubric.json", json.dumps(root), [2] * len(leaves), score)


def write_toml(head: str, tables: Sequence[dict[str, Any]]) -> str:
    def line(key: str, value: Any) -> str:
        return f"{key} = {json.dumps(value, ensure_ascii=False)}\n"

    return "".join(f"[[{head}]]\n" + "".join(line(*item) for item in table.items()) for table in tables)


@st.composite
def verifiers(draw: Any) -> Case:
    choices = st.lists(st.sampled_from(["none", "one", "two", "all of it"]), min_size=2, max_size=4, unique=True)
    items = draw(some(st.fixed_dictionaries({"text": texts}, optional={"weight": weights, "choices": choices})))
    items[0].setdefault("weight", 1)
    items = [{"name": f"c{at}", **item} for at, item in enumerate(items)]
    counts = [len(item.get("choices", "ny")) for item in items]
    worth = [item.get("weight", 1) for item in items]

    def score(ranks: Sequence[int]) -> Result:
        found = weigh(worth, [Fraction(rank, count - 1) for rank, count in zip(ranks, counts, strict=True)])
        assert found is not None
        return found, None

    is_toml = all(abs(entry) < 2**63 for entry in worth) and draw(st.booleans())
    text = write_toml("criteria", items) if is_toml else json.dumps({"criteria": items})

    def replies(ranks: Sequence[int]) -> dict[str, str]:
        return {item["name"]: item.get("choices", ["no", "yes"])[rank] for item, rank in zip(items, ranks, strict=True)}

    return Case("rubric.toml" if is_toml else "rubric.json", text, counts, score if any(worth) else None, replies)


@st.composite
def harbor(draw: Any) -> Case:
    levels = st.sampled_from([["Names none", "Names all"], ["Names none", "Names one", "Names two", "Names all"]])
    scale = st.sampled_from([{}, {"type": "binary"}, {"type": "likert"}, {"type": "likert", "points": 4}]) | levels.map(
        lambda entry: {"type": "rubric", "levels": entry}
    )
    toml_weights = st.sampled_from([0, 1, 3, 2.5, 1e-7, 10**15])
    more = st.fixed_dictionaries(
        {}, optional={"weight": toml_weights, "negate": st.booleans(), "optional": st.booleans()}
    )
    drawn = draw(some(st.tuples(scale, more)))
    items = [{"name": f"c{at}", "description": "Says why", **kind, **rest} for at, (kind, rest) in enumerate(drawn)]
    counts = [
        item.get("points", 5) if item.get("type") == "likert" else len(item.get("levels", "ny")) for item in items
    ]
    worth = [item.get("weight", 1) for item in items]

    has_levels = any(item.get("type", "binary") != "binary" or item.get("negate") for item in items)

    def raw(ranks: Sequence[int]) -> list[int]:
        """The ranks are ours: a negated criterion counts from the other end."""
        given = zip(items, ranks, counts, strict=True)
        return [count - 1 - rank if item.get("negate") and has_levels else rank for item, rank, count in given]

    def score(ranks: Sequence[int]) -> Result:
        values = [Fraction(entry, count - 1) for entry, count in zip(raw(ranks), counts, strict=True)]
        turned = [1 - value if item.get("negate") else value for item, value in zip(items, values, strict=True)]
        found = weigh(worth, turned)
        assert found is not None
        return found, None

    def replies(ranks: Sequence[int]) -> list[Any]:
        words = {"likert": lambda rank: rank + 1, "rubric": lambda rank: rank}
        return [
            words.get(item.get("type"), ["no", "yes"].__getitem__)(rank)
            for item, rank in zip(items, raw(ranks), strict=True)
        ]

    text = '[judge]\njudge = "claude-code"\n' + write_toml("criterion", items)
    return Case("judge.toml", text, counts, score if any(worth) else None, replies)


# One choice of several


def choose(values: Sequence[Any]) -> Callable[[Sequence[int]], Result]:
    """The score that is looked up, from 0 to 1 as levels go here."""
    steps = sorted({exact(value) for value in values})

    def score(ranks: Sequence[int]) -> Result:
        return (steps[ranks[0]] - steps[0]) / (steps[-1] - steps[0]), None

    return score


@st.composite
def choices(draw: Any, *, is_evals: bool) -> Case:
    values = draw(st.lists(st.sampled_from([0, 0.1, 1 / 3, 0.4, 0.6, 1]), min_size=2, max_size=5))
    named = {chr(ord("A") + at): value for at, value in enumerate(values)}
    prompt = "\n".join(["Judge {{output}}.", *(f"({name}) It is {name}." for name in named)])
    spec: dict[str, Any] = {"prompt": prompt, "choice_scores": named}
    if is_evals:
        spec["choice_strings"] = "".join(named)
    steps = sorted(set(values))

    def replies(ranks: Sequence[int]) -> str:
        return next(name for name, value in named.items() if value == steps[ranks[0]])

    score = choose(values) if len(steps) > 1 else None
    return Case("spec.json", json.dumps({"fact": spec}), [len(steps)], score, replies)


@st.composite
def ragas(draw: Any) -> Case:
    numbers = draw(st.lists(st.integers(-3, 12), min_size=2, max_size=6, unique=True))
    rubric = {f"score{number}_description": f"Names {number} parts" for number in numbers}
    written = "RUBRICS = " + repr(rubric) + "\n"
    name, text = draw(st.sampled_from([("rubrics.json", json.dumps({"rubrics": rubric})), ("metrics.py", written)]))
    return Case(name, text, [len(numbers)], choose(numbers))


# Bands


@st.composite
def spans(draw: Any) -> list[list[int]]:
    """Bands without gaps, from a lowest score to a highest."""
    cuts = sorted(
        draw(st.sets(st.integers(0, 11), min_size=2, max_size=5)) | ({0, 11} if draw(st.booleans()) else set())
    )
    return draw(st.permutations([[low, high - 1] for low, high in pairwise(cuts)]))


def banded(ranges: Sequence[Sequence[int]], threshold: Any, *, is_stretched: bool) -> Callable[[Sequence[int]], Result]:
    """`GEval`: the score within the bands; `ConversationalGEval`: by 10."""
    lowest, highest = min(low for low, _ in ranges), max(high for _, high in ranges)

    def score(ranks: Sequence[int]) -> Result:
        given = lowest + ranks[0]
        found = Fraction(given - lowest, highest - lowest) if is_stretched else Fraction(given, 10)
        return found, found >= exact(0.5 if threshold is None else threshold)

    return score


@st.composite
def bands_of(draw: Any, form: str) -> Case:
    ranges, threshold = draw(spans()), draw(st.none() | shares | st.sampled_from([7, -1]))
    lowest, highest = min(low for low, _ in ranges), max(high for _, high in ranges)
    is_whole = (lowest, highest) == (0, 10)
    is_stretched = form != "conversational"
    is_sound = (is_whole or (lowest < highest and form in ("geval", "data"))) and threshold not in (7, -1)
    is_strict = form not in {"json", "lightspeed"} and draw(st.booleans()) and draw(st.booleans())
    score = banded(ranges, threshold, is_stretched=is_stretched) if is_sound and not is_strict else None
    said = [f"Names {low} to {high}" for low, high in ranges]
    pairs = list(zip(ranges, said, strict=True))
    snake = [{"score_range": item, "expected_outcome": text} for item, text in pairs]
    more: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
    if is_strict:
        more["strict_mode"] = True
    name, text = "m.json", json.dumps({"name": "n", "criteria": "c", "rubric": snake, **more})
    if form == "json":
        camel = [{"scoreRange": item, "expectedOutcome": text} for item, text in pairs]
        text = json.dumps({"name": "n", "criteria": "c", "rubric": camel, **more})
    elif form == "lightspeed":
        text = json.dumps({"turn_level": {"geval:n": {"criteria": "c", "rubrics": snake, **more}}})
    elif form in ("geval", "conversational"):
        calls = "".join(f"Rubric(score_range={tuple(item)}, expected_outcome={text!r}), " for item, text in pairs)
        options = "".join(f", {key}={value}" for key, value in more.items())
        kind = "GEval" if form == "geval" else "ConversationalGEval"
        name, text = "m.py", f"metric = {kind}(name='n', criteria='c', rubric=[{calls}]{options})\n"
    return Case(name, text, [highest - lowest + 1], score)


# promptfoo


@st.composite
def promptfoo(draw: Any) -> Case:
    """The texts of a test or of a set: each passes or not, and so scores 1 or 0."""
    kinds = st.sampled_from(["llm-rubric", "g-eval", "agent-rubric", "model-graded-closedqa", "factuality"])
    turned = st.sampled_from(["not-llm-rubric", "not-g-eval", "not-agent-rubric"])
    entry = st.fixed_dictionaries({"type": kinds | turned, "value": texts}, optional={"weight": weights})
    items = draw(some(entry))
    own, usual = draw(st.none() | shares), draw(st.none() | shares)
    is_set = draw(st.booleans())
    holder: dict[str, Any] = {"assert": items} | ({} if own is None else {"threshold": own})
    if is_set:
        holder = {"assert": [{"type": "assert-set", **holder}]}
    config: dict[str, Any] = {"providers": ["x"], "tests": [{"vars": {"q": "x"}, **holder}]}
    if usual is not None:
        config["defaultTest"] = {"threshold": usual}
    threshold = own if own is not None or is_set else usual
    worth = [item.get("weight", 1) for item in items]

    def score(met: Sequence[int]) -> Result:
        passed = [bool(one) != item["type"].startswith("not-") for one, item in zip(met, items, strict=True)]
        found = weigh(worth, [Fraction(one) for one in passed])
        assert found is not None
        # What weighs 0 always passes.
        all_pass = all(one or not weight for one, weight in zip(passed, worth, strict=True))
        return found, all_pass if threshold is None else found >= exact(threshold)

    return Case("promptfooconfig.json", json.dumps(config), [2] * len(items), score if any(worth) else None)


@st.composite
def promptfoo_list(draw: Any) -> Case:
    """The list of a `g-eval`: the average, which passes from the threshold; after `not-` it is not scored here."""
    listed, threshold, is_turned = draw(some(texts)), draw(st.none() | shares), draw(st.booleans())
    item: dict[str, Any] = {"type": "not-g-eval" if is_turned else "g-eval", "value": listed}
    item |= {} if threshold is None else {"threshold": threshold}
    config = {"providers": ["x"], "tests": [{"vars": {"q": "x"}, "assert": [item]}]}
    score = share(0.7 if threshold is None else threshold)
    return Case("promptfooconfig.json", json.dumps(config), [2] * len(listed), None if is_turned else score)


@st.composite
def promptfoo_scale(draw: Any) -> Case:
    """A text with levels from 0 to 1: the score that the judge gives."""
    threshold, is_turned = draw(st.none() | shares), draw(st.booleans())
    steps = sorted({0, 1, *draw(st.lists(st.sampled_from([0.2, 0.25, 0.5, 0.7]), max_size=2))})
    value = "Rate it:\n" + "\n".join(f"Score {step}: Names {at} parts" for at, step in enumerate(steps))
    item: dict[str, Any] = {"type": "not-llm-rubric" if is_turned else "llm-rubric", "value": value}
    item |= {} if threshold is None else {"threshold": threshold}
    config = {"providers": ["x"], "tests": [{"vars": {"q": "x"}, "assert": [item]}]}

    def score(ranks: Sequence[int]) -> Result:
        found = exact(steps[ranks[0]])
        return found, None if threshold is None else found >= exact(threshold)

    return Case("promptfooconfig.json", json.dumps(config), [len(steps)], None if is_turned else score)


CASES: dict[str, st.SearchStrategy[Case]] = {
    "adk": adk(),
    "adk-vertex": vertex(),
    "agent-skills": agent_skills(),
    "autoevals": choices(is_evals=False),
    "confident-ai": bands_of("json"),
    "deepeval": bands_of("geval"),
    "deepeval-conversational": bands_of("conversational"),
    "deepeval-data": bands_of("data"),
    "harbor": harbor(),
    "harbor-check": harbor_check(),
    "healthbench": healthbench(),
    "lightspeed": bands_of("lightspeed"),
    "openai-evals": choices(is_evals=True),
    "paperbench": paperbench(),
    "promptfoo": promptfoo(),
    "promptfoo-list": promptfoo_list(),
    "promptfoo-scale": promptfoo_scale(),
    "pydantic-evals": pydantic_evals(),
    "ragas": ragas(),
    "rar": rar(),
    "requirement": requirement(),
    "swe-atlas": swe_atlas(),
    "task-rubrics": task_rubrics(),
    "tessl": tessl(),
    "reward-lens": reward_lens(),
    "hermes": hermes(),
    "ai-rubric": ai_rubric(),
    "tolokaforge": tolokaforge(),
    "trpc-agent": trpc_agent(),
    "verifiers": verifiers(),
}
