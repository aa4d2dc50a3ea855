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

NO_YES = (0, 1)
"""What "no" and "yes" earn of a criterion's worth."""


def exact(number: Any) -> Fraction:
    return Fraction(str(number))


class Case(NamedTuple):
    """A file of one rubric, the worth of each criterion, and the share of it that each answer earns, worst or no first.

    The score is what is earned by what can be earned, at least 0. An answer passes from `passes_from`, if it earns all
    of each gate; without both, the original has no verdict.
    """

    name: str
    text: str
    worth: Sequence[Any]
    credits: Sequence[Sequence[Any]]
    passes_from: Any = None
    gates: Sequence[bool] = ()
    is_sound: bool = True
    replies: Callable[[Sequence[int]], Any] = list
    """What the judge of the original says, from the numbers of the answers."""

    @property
    def is_scored(self) -> bool:
        return self.is_sound and max(self.worth) > 0

    @property
    def counts(self) -> list[int]:
        return [*map(len, self.credits)]

    def score(self, ranks: Sequence[int]) -> tuple[Fraction, bool | None]:
        """The score, and whether the answers pass, None if nothing says when."""
        shares = [exact(shares[rank]) for shares, rank in zip(self.credits, ranks, strict=True)]
        worth = [*map(exact, self.worth)]
        earned = sum((each * share for each, share in zip(worth, shares, strict=True)), Fraction(0))
        score = max(earned, Fraction(0)) / sum(each for each in worth if each > 0)
        if self.passes_from is None and not any(self.gates):
            return score, None
        gates = [share for share, is_gate in zip(shares, self.gates or [False] * len(shares), strict=True) if is_gate]
        return score, all(share == 1 for share in gates) and score >= exact(self.passes_from or 0)


texts = st.sampled_from(
    ["Names the unit", "Says why", "名前を言う", "Répond à tout", "Ends \N{GRINNING FACE} well", "x" * 90]
)
positive = st.sampled_from([1, 2, 3, 7, 0.1, 0.25, 2.5, 1e-7, 1000000007, 10**30])
weights = positive | st.just(0)
equal = st.just(1)
signed = weights | positive.map(lambda weight: -weight)
shares = st.sampled_from([0, 0.25, 0.5, 0.7, 0.8, 1])
thresholds = st.none() | shares


def some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(strategy, min_size=1, max_size=5)


def maybe(field: str, value: Any) -> dict[str, Any]:
    return {} if value is None else {field: value}


# Lists of what is met or not


def checklist(
    file: str, write: Callable[[list[tuple[str, Any]]], Any], worth: st.SearchStrategy[Any] = equal
) -> st.SearchStrategy[Case]:
    """A list of criteria, each of which is met or not; `write` makes data of their texts and points, no two alike."""

    def make(drawn: list[tuple[str, Any]]) -> Case:
        items = [(f"{text} {at}", points) for at, (text, points) in enumerate(drawn)]
        return Case(file, json.dumps(write(items)), [points for _, points in items], [NO_YES] * len(items))

    return some(st.tuples(texts, worth)).map(make)


def with_threshold(file: str, write: Callable[[list[str], Any], Any]) -> st.SearchStrategy[Case]:
    """The same, equal in worth, which passes from a threshold."""
    return st.tuples(some(texts), shares).map(
        lambda drawn: Case(file, json.dumps(write(*drawn)), [1] * len(drawn[0]), [NO_YES] * len(drawn[0]), drawn[1])
    )


def adk_settings(listed: list[str], threshold: Any) -> Any:
    entries = [{"rubric_id": f"r{at}", "rubric_content": {"text_property": text}} for at, text in enumerate(listed)]
    return {"criteria": {"rubric_based_final_response_quality_v1": {"threshold": threshold, "rubrics": entries}}}


def trpc_metrics(listed: list[str], threshold: Any) -> Any:
    entries = [{"id": f"r{at}", "content": {"text": text}} for at, text in enumerate(listed)]
    return [{"metricName": "m", "threshold": threshold, "criterion": {"llmJudge": {"rubrics": entries}}}]


@st.composite
def requirement(draw: Any) -> Case:
    """`score_reports` of autorubric and `aggregate` of rubric: where nothing earns, what is not lost."""
    kind = draw(st.sampled_from([weights, signed, signed.map(lambda weight: -abs(weight))]))
    worth, has_options = draw(some(kind)), draw(st.booleans())
    values = [[0, 1]] * len(worth)
    items: list[dict[str, Any]] = [{"requirement": f"Part {at}", "weight": item} for at, item in enumerate(worth)]
    if has_options:
        options = st.lists(st.sampled_from([0, 0.25, 1 / 3, 0.5, 0.9, 1]), min_size=2, max_size=4, unique=True)
        values = [sorted(draw(options)) for _ in worth]
        for item, steps in zip(items, values, strict=True):
            item["options"] = [{"label": f"as {value}", "value": value} for value in steps]
    is_sound = any(worth) and all(steps[0] == 0 and steps[-1] == 1 for steps in values)
    is_lost = max(worth) <= 0
    if is_lost and has_options:  # then our levels count what is not lost
        values = [steps[::-1] for steps in values]
    earned = [[1 - exact(value) if is_lost else value for value in steps] for steps in values]
    whole = draw(st.sampled_from([{"rubric": items}, items, {"sections": [{"criteria": items}]}]))
    points = [-item for item in worth] if is_lost else worth

    def replies(ranks: Sequence[int]) -> list[Any]:
        return [steps[rank] for steps, rank in zip(values, ranks, strict=True)]

    return Case("r.json", json.dumps(whole), points, earned, is_sound=is_sound, replies=replies)


@st.composite
def swe_atlas(draw: Any) -> Case:
    kinds = st.sampled_from(["positive hli verifier", "negative hli verifier", "high level intent"])
    notes = draw(some(st.tuples(kinds, st.sampled_from(["must have", "nice to have"]))))
    items = [
        {"id": f"i{at}", "title": "Names it", "annotations": {"type": kind, "importance": importance}}
        for at, (kind, importance) in enumerate(notes)
    ]
    judged = [(kind, importance) for kind, importance in notes if kind != "high level intent"]
    earned = [NO_YES[::-1] if "negative" in kind else NO_YES for kind, _ in judged]
    gates = [importance == "must have" for _, importance in judged]
    return Case("rubrics.json", json.dumps(items), [1] * len(judged), earned, None, gates, any(gates))


@st.composite
def reward_lens(draw: Any) -> Case:
    """The weighted mean of how far each criterion is satisfied; one to avoid is satisfied by what is absent."""
    drawn = [(1, True), *draw(some(st.tuples(positive, st.booleans())))]
    items = [
        {"id": f"c{at}", "text": f"Says part {at}", "weight": item, "polarity": "avoid" if is_avoided else "include"}
        for at, (item, is_avoided) in enumerate(drawn)
    ]
    earned = [NO_YES[::-1] if is_avoided else NO_YES for _, is_avoided in drawn]
    return Case("a.json", json.dumps({"criteria": items}), [item for item, _ in drawn], earned)


@st.composite
def hermes(draw: Any) -> Case:
    """The weighted mean of scores from 0 to 10; some are kept between 3 and 7, which is not done here."""
    worth = draw(some(positive))
    hedged = draw(st.integers(-len(worth), len(worth) - 1))
    items = [
        {"id": f"c{at}", "description": "Says why", "weight": item, "evidence_instructions": "x", "hedge": at == hedged}
        for at, item in enumerate(worth)
    ]
    earned = [[Fraction(rank, 10) for rank in range(11)]] * len(worth)
    return Case("a.json", json.dumps({"dimensions": items}), worth, earned, is_sound=hedged < 0)


@st.composite
def tolokaforge(draw: Any) -> Case:
    """A criterion that is required is a gate, and counts only where all are."""
    drawn = draw(some(st.tuples(weights, st.booleans())))
    items = [
        {"id": f"c{at}", "description": "Says why", "kind": "binary", "weight": weight, "required": is_gate}
        for at, (weight, is_gate) in enumerate(drawn)
    ]
    gates = [is_gate for _, is_gate in drawn]
    # Where all are gates, the share of them is the score here.
    worth = [1 if all(gates) else 0 if is_gate else weight for weight, is_gate in drawn]
    threshold = draw(thresholds)
    combine = maybe("combine", threshold if threshold is None else {"pass_threshold": threshold})
    text = json.dumps({"llm_judge": {"rubric": {"criteria": items}}, **combine})
    return Case("grading.json", text, worth, [NO_YES] * len(items), 0.8 if threshold is None else threshold, gates)


@st.composite
def paperbench(draw: Any) -> Case:
    """The weighted mean of the parts, upward: a leaf is worth the product of the shares above it."""
    worth: list[Fraction] = []

    def part(depth: int, weight: Any, share: Fraction) -> dict[str, Any]:
        count = draw(st.integers(0 if depth else 1, 3)) if depth < 4 else 0
        drawn = [draw(st.sampled_from([0, 1, 2, 3, 5, 7, 11, 97, 0.3, 100003])) for _ in range(count)]
        total = sum(map(exact, drawn)) or Fraction(1)
        below = [part(depth + 1, item, share * exact(item) / total) for item in drawn]
        if not below:
            worth.append(share)
        name = f"leaf{len(worth)}" if not below else f"n{draw(st.integers(0, 10**9))}-{len(worth)}"
        own = {"id": name, "requirements": draw(texts), "weight": weight, "sub_tasks": below}
        return own | {"task_category": None if below else "Code Execution"}

    text = json.dumps(part(0, 1, Fraction(1)))
    is_sound = sum(worth) == 1  # else a part that counts is worth 0 whatever its leaves are
    return Case("rubric.json", text, worth, [NO_YES] * len(worth), is_sound=is_sound)


# Several answers


def even(count: int) -> list[Fraction]:
    """What each of some answers earns, from 0 to 1 in equal steps."""
    return [Fraction(rank, count - 1) for rank in range(count)]


def write_toml(head: str, tables: Sequence[dict[str, Any]]) -> str:
    def line(key: str, value: Any) -> str:
        return f"{key} = {json.dumps(value, ensure_ascii=False)}\n"

    return "".join(f"[[{head}]]\n" + "".join(line(*item) for item in table.items()) for table in tables)


@st.composite
def verifiers(draw: Any) -> Case:
    answers = st.lists(st.sampled_from(["none", "one", "two", "all of it"]), min_size=2, max_size=4, unique=True)
    items = draw(some(st.fixed_dictionaries({"text": texts, "weight": weights}, optional={"choices": answers})))
    items = [{"name": f"c{at}", **item} for at, item in enumerate(items)]
    worth = [item["weight"] for item in items]

    def replies(ranks: Sequence[int]) -> dict[str, str]:
        return {item["name"]: item.get("choices", ["no", "yes"])[rank] for item, rank in zip(items, ranks, strict=True)}

    is_toml = max(worth) < 2**63 and draw(st.booleans())
    text = write_toml("criteria", items) if is_toml else json.dumps({"criteria": items})
    earned = [even(len(item.get("choices", NO_YES))) for item in items]
    return Case("rubric.toml" if is_toml else "rubric.json", text, worth, earned, replies=replies)


@st.composite
def harbor(draw: Any) -> Case:
    """A criterion that is negated earns what its answer does not; among levels, our order is turned instead."""
    levels = st.sampled_from([["Names none", "Names all"], ["Names none", "Names one", "Names two", "Names all"]])
    scale = st.sampled_from([{"type": "binary"}, {"type": "likert", "points": 5}, {"type": "likert", "points": 4}])
    scale |= levels.map(lambda listed: {"type": "rubric", "levels": listed})
    worth = st.sampled_from([0, 1, 3, 2.5, 1e-7, 10**15])
    drawn = draw(some(st.tuples(scale, worth, st.booleans())))
    items = [
        {"name": f"c{at}", "description": "Says why", **kind, "weight": weight, "negate": is_negated}
        for at, (kind, weight, is_negated) in enumerate(drawn)
    ]
    counts = [kind.get("points", len(kind.get("levels", NO_YES))) for kind, _, _ in drawn]

    def replies(ranks: Sequence[int]) -> list[Any]:
        given = []
        for (kind, _, is_negated), rank, count in zip(drawn, ranks, counts, strict=True):
            raw = count - 1 - rank if is_negated else rank
            given.append({"likert": raw + 1, "rubric": raw, "binary": ["no", "yes"][raw % 2]}[kind["type"]])
        return given

    text = '[judge]\njudge = "claude-code"\n' + write_toml("criterion", items)
    return Case("judge.toml", text, [item["weight"] for item in items], [*map(even, counts)], replies=replies)


def stretch(values: Sequence[Any]) -> list[list[Fraction]]:
    """What the answers to the only criterion earn, from the lowest value to the highest, as levels go here."""
    steps = sorted({exact(value) for value in values})
    return [[(step - steps[0]) / ((steps[-1] - steps[0]) or 1) for step in steps]]


@st.composite
def choices(draw: Any, *, is_evals: bool) -> Case:
    """One of several choices, the score of which is looked up."""
    values = draw(st.lists(st.sampled_from([0, 0.1, 1 / 3, 0.4, 0.6, 1]), min_size=2, max_size=5))
    named = {chr(ord("A") + at): value for at, value in enumerate(values)}
    prompt = "\n".join(["Judge {{output}}.", *(f"({name}) It is {name}." for name in named)])
    spec = {"prompt": prompt, "choice_scores": named} | maybe("choice_strings", "".join(named) if is_evals else None)
    steps = sorted(set(values))

    def replies(ranks: Sequence[int]) -> str:
        return next(name for name, value in named.items() if value == steps[ranks[0]])

    text = json.dumps({"fact": spec})
    return Case("spec.json", text, [1], stretch(values), is_sound=len(steps) > 1, replies=replies)


@st.composite
def ragas(draw: Any) -> Case:
    numbers = draw(st.lists(st.integers(-3, 12), min_size=2, max_size=6, unique=True))
    rubric = {f"score{number}_description": f"Names {number} parts" for number in numbers}
    files = ("rubrics.json", json.dumps({"rubrics": rubric})), ("metrics.py", f"RUBRICS = {rubric!r}\n")
    return Case(*draw(st.sampled_from(files)), [1], stretch(numbers))


@st.composite
def bands_of(draw: Any, form: str) -> Case:
    """Bands without gaps, from a lowest score to a highest; only GEval stretches others than 0 to 10."""
    cuts = draw(st.sets(st.integers(0, 11), min_size=2, max_size=5))
    cuts = sorted(cuts | {0, 11} if draw(st.booleans()) else cuts)
    ranges = draw(st.permutations([[low, high - 1] for low, high in pairwise(cuts)]))
    threshold = draw(thresholds | st.sampled_from([7, -1]))
    is_strict = form not in {"json", "lightspeed"} and draw(st.booleans()) and draw(st.booleans())
    is_taken = (cuts[0], cuts[-1]) == (0, 11) or (cuts[-1] - cuts[0] > 1 and form in {"geval", "data"})
    more = maybe("threshold", threshold) | maybe("strict_mode", is_strict or None)
    named = ("scoreRange", "expectedOutcome") if form == "json" else ("score_range", "expected_outcome")
    bands = [dict(zip(named, (item, f"Names {item[0]} to {item[1]}"), strict=True)) for item in ranges]
    name, text = "m.json", json.dumps({"name": "n", "criteria": "c", "rubric": bands, **more})
    if form == "lightspeed":
        text = json.dumps({"turn_level": {"geval:n": {"criteria": "c", "rubrics": bands, **more}}})
    elif form in {"geval", "conversational"}:
        calls = [f"Rubric(score_range={tuple(low_high)}, expected_outcome='Names it')" for low_high in ranges]
        options = "".join(f", {key}={value}" for key, value in more.items())
        kind = "GEval" if form == "geval" else "ConversationalGEval"
        name, text = "m.py", f"metric = {kind}(name='n', criteria='c', rubric=[{', '.join(calls)}]{options})\n"
    is_sound = is_taken and threshold not in (7, -1) and not is_strict
    earned = stretch(range(cuts[0], cuts[-1]))
    return Case(name, text, [1], earned, 0.5 if threshold is None else threshold, is_sound=is_sound)


# promptfoo


def configure(holder: dict[str, Any], **more: Any) -> str:
    return json.dumps({"providers": ["x"], "tests": [{"vars": {"q": "x"}, **holder}], **more})


@st.composite
def promptfoo(draw: Any) -> Case:
    """The texts of a test or of a set: each passes or not, and so scores 1 or 0."""
    kinds = st.sampled_from(["llm-rubric", "g-eval", "agent-rubric", "model-graded-closedqa", "factuality"])
    turned = st.sampled_from(["not-llm-rubric", "not-g-eval", "not-agent-rubric"])
    entry = st.fixed_dictionaries({"type": kinds | turned, "value": texts}, optional={"weight": weights})
    items = draw(some(entry))
    own, usual, is_set = draw(thresholds), draw(thresholds), draw(st.booleans())
    holder = {"assert": items} | maybe("threshold", own)
    if is_set:
        holder = {"assert": [{"type": "assert-set", **holder}]}
    text = configure(holder, **maybe("defaultTest", usual if usual is None else {"threshold": usual}))
    threshold = own if own is not None or is_set else usual
    worth = [item.get("weight", 1) for item in items]
    earned = [NO_YES[::-1] if item["type"].startswith("not-") else NO_YES for item in items]
    gates = [threshold is None and weight > 0 for weight in worth]  # what weighs 0 always passes
    return Case("promptfooconfig.json", text, worth, earned, threshold, gates)


@st.composite
def promptfoo_list(draw: Any) -> Case:
    """The list of a `g-eval`: the average, which passes from the threshold; after `not-` it is not scored here."""
    listed, threshold, is_turned = draw(some(texts)), draw(thresholds), draw(st.booleans())
    item = {"type": "not-g-eval" if is_turned else "g-eval", "value": listed} | maybe("threshold", threshold)
    worth, earned = [1] * len(listed), [NO_YES] * len(listed)
    passes_from = 0.7 if threshold is None else threshold
    text = configure({"assert": [item]})
    return Case("promptfooconfig.json", text, worth, earned, passes_from, is_sound=not is_turned)


@st.composite
def promptfoo_scale(draw: Any) -> Case:
    """A text with levels from 0 to 1: the score that the judge gives."""
    threshold, is_turned = draw(thresholds), draw(st.booleans())
    steps = sorted({0, 1, *draw(st.lists(st.sampled_from([0.2, 0.25, 0.5, 0.7]), max_size=2))})
    value = "Rate it:\n" + "\n".join(f"Score {step}: Names {at} parts" for at, step in enumerate(steps))
    item = {"type": "not-llm-rubric" if is_turned else "llm-rubric", "value": value} | maybe("threshold", threshold)
    text = configure({"assert": [item]})
    return Case("promptfooconfig.json", text, [1], [steps], threshold, is_sound=not is_turned)


CASES: dict[str, st.SearchStrategy[Case]] = {
    "adk": with_threshold("eval_config.json", adk_settings),
    "adk-vertex": checklist("rubrics.json", lambda items: {"rubrics": [
        {"rubricId": text[-1], "content": {"property": {"description": text}}, "type": "X", "importance": "HIGH"}
        for text, _ in items
    ]}),
    "agent-skills": checklist("evals.json", lambda items: {"skill_name": "s", "evals": [
        {"id": 1, "prompt": "x", "assertions": [text for text, _ in items]}
    ]}),
    "ai-rubric": checklist("a.json", lambda items: {"root": {"name": "r", "children": [
        {"name": text[-1], "description": text, "is_critical": True} for text, _ in items  # fails what is above it
    ]}}).map(lambda case: case._replace(is_sound=False)),
    "autoevals": choices(is_evals=False),
    "confident-ai": bands_of("json"),
    "deepeval": bands_of("geval"),
    "deepeval-conversational": bands_of("conversational"),
    "deepeval-data": bands_of("data"),
    "harbor": harbor(),
    "harbor-check": checklist("rubric.json", lambda items: {"criteria": [
        {"name": text[-1], "description": text, "guidance": text} for text, _ in items
    ]}),
    "healthbench": checklist("rows.jsonl", lambda items: {"prompt_id": "p", "rubrics": [
        {"criterion": text, "points": points, "tags": []} for text, points in items
    ]}, signed),
    "hermes": hermes(),
    "lightspeed": bands_of("lightspeed"),
    "openai-evals": choices(is_evals=True),
    "paperbench": paperbench(),
    "promptfoo": promptfoo(),
    "promptfoo-list": promptfoo_list(),
    "promptfoo-scale": promptfoo_scale(),
    "pydantic-evals": checklist("data.json", lambda items: {"cases": [{"inputs": "x"}], "evaluators": [
        {"IsInstance": "str"}, *({"LLMJudge": {"rubric": text}} for text, _ in items)
    ]}),
    "ragas": ragas(),
    "rar": checklist("rows.json", lambda items: {"question": "q", "rubric": [
        {"title": text, "description": f"Essential: {text}", "weight": points} for text, points in items
    ]}, signed),
    "requirement": requirement(),
    "reward-lens": reward_lens(),
    "swe-atlas": swe_atlas(),
    "task-rubrics": checklist("rubric.json", lambda items: [
        {"number": text[-1], "criterion": text, "is_positive": points > 0, "score": points} for text, points in items
    ], signed.filter(bool)),
    "tessl": checklist("criteria.json", lambda items: {"context": "x", "type": "weighted_checklist", "checklist": [
        {"name": text[-1], "description": text, "max_score": points} for text, points in items
    ]}, positive),
    "tolokaforge": tolokaforge(),
    "trpc-agent": with_threshold("a.metrics.json", trpc_metrics),
    "verifiers": verifiers(),
}  # fmt: skip
