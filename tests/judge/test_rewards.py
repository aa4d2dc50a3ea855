"""Reward functions for training: what a completion gets, and what becomes of one whose judge output is invalid."""

import asyncio
import gc
import json
import logging
import pickle
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from types import SimpleNamespace

import pytest
from cases import read_cases
from chat_server import Response, completion, serving
from commands import modules_after

from rubric_lint import JudgedCase, RubricError, load_rubrics, output_schema, score, write_prompt
from rubric_lint.rewards import RewardCounts, RewardError, endpoint_judge, trl_reward, verifiers_reward

TABLES = read_cases(__file__)


BANDS = "{0: Bad, 3: Poor, 6: Fair, 9: Good}"
CRITERIA = {
    "accuracy": f"{{id: accuracy, weight: 2, required_min_score: 6, score_ranges: {BANDS}}}",
    "length": f"{{id: length, weight: 0.7, score_ranges: {BANDS}}}",
    "tone": f"{{id: tone, weight: 1.3, required_min_score: 3, score_ranges: {BANDS}}}",
    "extra": f"{{id: extra, weight: 0, required_min_score: 9, score_ranges: {BANDS}}}",
}


def load(*names, file="summary.rubric.yaml"):
    return load_rubrics(file, f"rubrics: [{', '.join(CRITERIA[name] for name in names)}]")


RUBRIC = load("accuracy", "length", "tone")["summary"]
FOUR = load(*CRITERIA)["summary"]
SHORT = load_rubrics("short.rubric.yaml", "rubrics: [{id: short, expected_outcome: At most ten words}]")["short"]
BOTH = {"summary": RUBRIC, "short": SHORT}
CHAT = [{"role": "user", "content": "Why?"}]
IMAGE = [{"role": "user", "content": [{"type": "image", "image": object()}]}]


def output(*scores, names=tuple(CRITERIA)):
    return json.dumps({"checks": [{"id": name, "score": score} for name, score in zip(names, scores, strict=False)]})


def told(messages):
    """A judge that returns what the completion says: completions are judge outputs in the words of `SAYING`."""
    text = messages[1]["content"]
    return next(said for mark, said in SAYING.items() if f"\n{mark}\n</answer-" in text)


SAYING = TABLES["SAYING"]


class Recorder:
    """A judge that keeps what it is asked, and gives these replies in turn, the last one again and again."""

    def __init__(self, *replies):
        self.replies, self.asked = [*replies], []

    def __call__(self, messages, schema):
        self.asked.append((messages, schema))
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply

    @property
    def cases(self):
        return [messages[1]["content"] for messages, _ in self.asked]


def rate(reward, completions, prompts=None, **columns):
    return reward(prompts=prompts or ["Why?"] * len(completions), completions=completions, completion_ids=[], **columns)


# What a completion gets


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("score", [1.0, 0.6, 0.75, 0.0]), ("gated", [1.0, 0.6, 0.0, 0.0]), ("verdict", [1.0, 0.5, 0.0, 0.0])],
)
def test_a_reward_is_the_score_or_depends_on_gates_and_verdict(kind, expected):
    assert rate(trl_reward(RUBRIC, told, reward=kind), ["good", "fair", "gated", "bad"]) == expected


def test_the_judge_gets_the_prompt_of_the_rubric_and_a_reward_is_exact():
    judge = Recorder(output(4, 10, 10))
    reward = trl_reward(RUBRIC, judge, question="topic", reference="answer")
    assert rate(reward, ["A tower."], topic=["What is it?"], answer=["The tower."], other=[1]) == [0.7]
    expected = write_prompt(RUBRIC, JudgedCase("A tower.", question="What is it?", reference="The tower."))
    assert judge.asked == [([each._asdict() for each in expected], output_schema(RUBRIC))]


@pytest.mark.parametrize(("written", "read"), TABLES["completions are strings or messages"])
def test_completions_are_strings_or_messages(written, read):
    judge = Recorder(output(9, 9, 9))
    assert rate(trl_reward(RUBRIC, judge), [written], [CHAT]) == [0.9]
    assert judge.cases == [write_prompt(RUBRIC, JudgedCase(read, question="Why?"))[1].content]


def test_an_image_in_the_prompt_of_a_judged_completion_gives_no_reward():
    reward = trl_reward(RUBRIC, outputs="judged")
    assert rate(reward, ["good"] * 2, [IMAGE] * 2, judged=[output(9, 9, 9), None]) == [None, None]


def test_outputs_may_be_a_column():
    reward = trl_reward(RUBRIC, outputs="judged", on_invalid="none")
    several = [output(9, 9, 9), output(3, 3, 3), json.loads(output(6, 6, 6))]
    given = [output(10, 10, 10), json.loads(output(3, 3, 3)), several, None, [], 7, [output(9, 9, 9), "?"]]
    assert rate(reward, ["x"] * 7, judged=given) == [1.0, 0.3, 0.6, None, None, None, None]


@pytest.mark.parametrize(
    ("samples", "kind", "expected"),
    [(["9 9 9", "5 10 10", "6 6 6"], "score", 0.75), (["9 9 9", "5 10 10", "6 6 6", "5 5 5"], "gated", 0.3)],
)
def test_several_samples_are_combined_to_their_median(samples, kind, expected):
    judge = Recorder(*(output(*map(int, sample.split())) for sample in samples))
    assert rate(trl_reward(RUBRIC, judge, samples=len(samples), concurrency=1, reward=kind), ["x"]) == [expected]


def test_each_prompt_may_have_a_rubric_of_its_own():
    short = '{"checks": [{"id": "short", "satisfied": true}]}'

    def judge(messages):
        return short if "ten words" in messages[0]["content"] else SAYING["fair"]

    reward = trl_reward(BOTH, judge)
    assert reward.__name__ == "rubric"
    assert rate(reward, ["x", "x"], rubric=["short", "summary"]) == [1.0, 0.6]


def test_the_path_of_a_file_is_enough(tmp_path):
    path = tmp_path / "summary.rubric.yaml"
    path.write_text(f"rubrics: [{CRITERIA['length']}]", "utf-8")
    reward = trl_reward(path, lambda _messages: output(7, names=["length"]))
    assert (reward.__name__, rate(reward, ["x"])) == ("summary", [0.7])


# Asking


def test_an_invalid_output_is_asked_for_again_with_what_is_wrong():
    judge = Recorder("No.", output(9, 9, 12), output(9, 9, 9))
    assert rate(trl_reward(RUBRIC, judge), ["x"]) == [0.9]
    first, second, third = [messages[2:] for messages, _ in judge.asked]
    assert (first, len(second), third[0]) == ([], 2, {"role": "assistant", "content": output(9, 9, 12)})
    assert (third[1]["role"], "/checks/2/score" in third[1]["content"], len(third)) == ("user", True, 2)
    assert rate(trl_reward(RUBRIC, Recorder("No.", output(9, 9, 12), output(9, 9, 9)), attempts=2), ["x"]) == [None]


def test_an_object_that_is_invalid_is_shown_again_as_json():
    judge = Recorder({"checks": ["é"]}, {"checks": {1}}, 7, json.loads(SAYING["fair"]))
    assert rate(trl_reward(RUBRIC, judge, attempts=4), ["x"]) == [0.6]
    shown = [
        [message["content"] for message in messages if message["role"] == "assistant"] for messages, _ in judge.asked
    ]
    assert shown == [[], ['{"checks": ["é"]}'], ['{"checks": "{1}"}'], []]


@pytest.mark.parametrize("is_async", [False, True])
def test_requests_are_made_at_once_but_not_too_many(is_async):
    running, most, lock = [], [], threading.Lock()

    def enter():
        with lock:
            running.append(1)
            most.append(len(running))

    def judge(_messages):
        enter()
        time.sleep(0.01)
        running.pop()
        return output(9, 9, 9)

    async def judge_async(_messages):
        enter()
        await asyncio.sleep(0.01)
        running.pop()
        return output(9, 9, 9)

    reward = trl_reward(RUBRIC, judge_async if is_async else judge, concurrency=3, samples=2)
    rewards = rate(reward, ["x"] * 10)
    assert (asyncio.run(rewards) if is_async else rewards) == [0.9] * 10
    assert (max(most), len(most)) == (3, 20)


def test_an_asynchronous_judge_makes_an_asynchronous_function():
    class Judge:
        async def __call__(self, messages):
            return told(messages)

    async def twice(reward):
        return await asyncio.gather(rate(reward, ["good", "bad"]), rate(reward, ["fair"]))

    reward = trl_reward(RUBRIC, Judge())
    assert asyncio.iscoroutinefunction(reward.__call__)
    assert asyncio.run(twice(reward)) == [[1.0, 0.0], [0.6]]
    assert asyncio.run(rate(reward, ["good"])) == [1.0]  # in another loop
    assert not asyncio.iscoroutinefunction(trl_reward(RUBRIC, told).__call__)


def test_a_judge_that_returns_an_awaitable_without_being_asynchronous_is_awaited():
    def judge(messages):
        return say_nine(messages)

    assert rate(trl_reward(RUBRIC, judge), ["x", "x"]) == [0.9, 0.9]


def test_a_function_can_be_called_where_an_event_loop_runs():
    async def cell_of_a_notebook():
        return rate(trl_reward(RUBRIC, told), ["good", "bad"])

    assert asyncio.run(cell_of_a_notebook()) == [1.0, 0.0]


def test_a_judge_that_raises_gives_no_reward_and_is_not_asked_again(said):
    judge = Recorder(TimeoutError("no reply within 3 s"))
    with pytest.raises(RewardError) as caught:
        rate(trl_reward(RUBRIC, judge, on_invalid="raise"), ["x", "x"])
    said(str(caught.value))
    assert (type(caught.value.__cause__.__cause__), len(judge.asked)) == (TimeoutError, 2)


def test_a_judge_that_has_no_more_replies_gives_no_reward():
    replies = iter([output(9, 9, 9)])
    reward = trl_reward(RUBRIC, lambda _messages: next(replies), concurrency=1)
    assert rate(reward, ["x", "y"], ["a", "b"]) == [0.9, None]


def test_an_invalid_output_whose_correction_gets_no_reply_says_both(said):
    judge = Recorder(output(9, 9, 12), TimeoutError("the context window is exceeded"))
    with pytest.raises(RewardError) as caught:
        rate(trl_reward(RUBRIC, judge, on_invalid="raise"), ["x"])
    said(str(caught.value))
    assert (type(caught.value.__cause__.__cause__), len(judge.asked)) == (TimeoutError, 2)


async def say_wrong_key(_messages):
    raise RewardError("the key is wrong")


async def say_nine(_messages):
    return output(9, 9, 9)


def test_an_object_in_the_completion_is_a_quote():
    reward = trl_reward(RUBRIC, lambda _messages: f"It says:\n\n{SAYING['good']}\n\nI refuse.", attempts=1)
    assert rate(reward, [SAYING["good"]]) == [None]


# Invalid outputs


MIXED = ["good", "broken", "fair", "half", "bad"]
PROMPTS = ["a", "a", "b", "c", "c"]


@pytest.mark.parametrize("kind", ["score", "gated", "verdict"])
def test_an_invalid_output_has_no_reward_and_with_skip_its_group_has_none(kind):
    fair = 0.5 if kind == "verdict" else 0.6
    none = trl_reward(RUBRIC, told, on_invalid="none", reward=kind)
    assert rate(none, MIXED, PROMPTS) == [1.0, None, fair, None, 0.0]
    assert none.totals == RewardCounts(1, 5, 2, 0)
    skip = trl_reward(RUBRIC, told, reward=kind)
    assert rate(skip, MIXED, PROMPTS) == [None, None, fair, None, None]
    assert skip.last == RewardCounts(1, 5, 2, 2)


def test_prompts_with_other_references_are_other_groups():
    reward = trl_reward(RUBRIC, told, reference="answer")
    assert rate(reward, ["good", "broken"], answer=["1", "2"]) == [1.0, None]


def test_an_invalid_sample_makes_the_completion_invalid():
    judge = Recorder(output(9, 9, 9), "?", output(9, 9, 9))
    assert rate(trl_reward(RUBRIC, judge, samples=3, attempts=1, concurrency=1), ["x"]) == [None]


@pytest.mark.slow
def test_no_invalid_output_ever_counts():
    """Random outputs, of which `score` accepts some: the others never get a number, with any option."""
    chance = random.Random(5)  # noqa: S311
    names = [*CRITERIA][:3]
    for number in range(120):
        given = []
        for _ in range(6):
            drawn = [chance.choice([*range(11), 11, 7.5, "7", True, None]) for _ in names]
            text = output(*(each if chance.random() < 0.2 else chance.randrange(11) for each in drawn), names=names)
            given.append(chance.choice([text, text, text, text[:-3], f"{text} {text}", None]))
        prompts = [chance.choice("ab") for _ in given]
        kind = chance.choice(["score", "gated", "verdict"])
        drops = chance.choice([0, 0.5, 0.9])
        valid = [is_valid(each) for each in given]
        options = {"outputs": "judged", "reward": kind, "dropout": drops, "seed": number, "patience": None}
        none = rate(trl_reward(RUBRIC, on_invalid="none", **options), ["x"] * 6, prompts, judged=given)
        assert [each is not None for each in none] == valid
        whole = {name: all(ok for ok, prompt in zip(valid, prompts, strict=True) if prompt == name) for name in prompts}
        skip = rate(trl_reward(RUBRIC, **options), ["x"] * 6, prompts, judged=given)
        assert skip == [each if whole[name] else None for each, name in zip(none, prompts, strict=True)]


def is_valid(given):
    try:
        score(RUBRIC, given)
    except Exception:
        return False
    return True


def test_calls_with_invalid_outputs_are_logged_seldom_and_lost_ones_always(caplog, said):
    reward = trl_reward(RUBRIC, told, on_invalid="none", attempts=1, patience=None)
    for _ in range(9):
        rate(reward, ["good", "half"])
    first, *rest = [record.getMessage() for record in caplog.records]
    assert len(rest) == 3  # the second, the fourth and the eighth
    said(first)
    caplog.clear()
    for _ in range(3):
        rate(reward, ["half", "broken"])
    assert [" for 2 of 2 completions" in record.getMessage() for record in caplog.records] == [True] * 3
    assert {(record.name, record.levelno) for record in caplog.records} == {("rubric_lint.rewards", logging.WARNING)}


def test_skipped_completions_are_in_the_warning(caplog, said):
    rate(trl_reward(RUBRIC, told), MIXED, PROMPTS)
    said(caplog.messages)


def test_a_run_that_learns_nothing_ends():
    reward = trl_reward(RUBRIC, told, attempts=1, patience=3)
    for completions in (["broken"], ["half"], ["good"], ["broken"], ["broken"]):
        rate(reward, completions)
    with pytest.raises(RewardError, match=r"^summary: 3 calls in a row without a valid judge output.*I like it"):
        rate(reward, ["broken", "half"])


def test_the_trainer_logs_shares_criteria_and_reasons():
    metrics, extra = {}, {}
    state, logs = SimpleNamespace(global_step=3), {"log_metric": metrics.__setitem__, "log_extra": extra.__setitem__}
    reward = trl_reward(RUBRIC, told, name="quality")
    assert rate(reward, MIXED, PROMPTS, trainer_state=state, **logs) == [None, None, 0.6, None, None]
    mean = float(Fraction(16, 30))
    criteria = {f"quality/criteria/{name}": mean for name in ("accuracy", "length", "tone")}
    assert metrics == {"quality/invalid": 0.4, "quality/skipped": 0.4, **criteria}
    assert [bool(each) for each in extra["quality/invalid"]] == [False, True, False, True, False]
    assert reward.__name__ == "quality"


# Dropout


def reference_score(names, scores):
    """The score of a file with these criteria only: dropout comes to the same."""
    rubric = load(*names)["summary"]
    return score(rubric, output(*scores, names=names))


def drawn_subsets(dropout, seeds, prompts=("Why?",), step=None):
    """The criteria that count, for each seed and prompt, found by outputs in which one criterion only is bad."""
    found = {}
    state = SimpleNamespace(global_step=step)
    for seed in seeds:
        reward = trl_reward(FOUR, outputs="judged", dropout=dropout, seed=seed, reward="gated")
        for prompt in prompts:
            worst = [output(*(0 if place == bad else 10 for place in range(4))) for bad in range(4)]
            rewards = rate(reward, ["x"] * 4, [prompt] * 4, judged=worst, trainer_state=state)
            found[seed, prompt] = tuple(name for name, reward in zip(CRITERIA, rewards, strict=True) if reward < 1)
    return found


@pytest.mark.slow
def test_dropout_scores_as_a_rubric_of_the_other_criteria():
    chance = random.Random(7)  # noqa: S311
    seen = set()
    for (seed, _), kept in drawn_subsets(0.5, range(30)).items():
        scores = {name: chance.randrange(11) for name in CRITERIA}
        judged = [output(*scores.values())]
        expected = reference_score(kept, [scores[name] for name in kept])
        found = [
            rate(trl_reward(FOUR, outputs="judged", dropout=0.5, seed=seed, reward=kind), ["x"], judged=judged)
            for kind in ("score", "verdict")
        ]
        worth = {"pass": 1.0, "borderline": 0.5, "fail": 0.0}[expected.verdict]
        assert found == [[float(expected.score)], [worth]]
        seen.add(kept)
    assert len(seen) > 8


def test_the_same_criteria_are_dropped_on_every_machine():
    group = '["summary", "Why?", "Why?", null]'

    def number(seed, name):
        return int.from_bytes(sha256(json.dumps([seed, 4, group, name]).encode()).digest()[:8]) / 2**64

    found = drawn_subsets(0.4, range(40), step=4)
    expected = {(seed, "Why?"): tuple(name for name in CRITERIA if number(seed, name) >= 0.4) for seed in range(40)}
    can_earn = {place: names for place, names in expected.items() if {*names} - {"extra"}}
    assert {place: found[place] for place in can_earn} == can_earn
    assert len(can_earn) > 30


@pytest.mark.slow
def test_a_criterion_that_earns_points_stays_and_each_is_dropped_as_often_as_said():
    dropout, seeds = 0.6, 800
    kept = [*drawn_subsets(dropout, range(seeds)).values()]
    assert all(set(each) & {"accuracy", "length", "tone"} for each in kept)
    share = {name: sum(name in each for each in kept) / seeds for name in CRITERIA}
    # Kept with 1 - p, or as the last of three that can earn points: they are all dropped with p ** 3.
    earning = 1 - dropout + dropout**3 / 3
    assert share["extra"] == pytest.approx(1 - dropout, abs=0.05)
    assert [share[name] for name in ("accuracy", "length", "tone")] == pytest.approx([earning] * 3, abs=0.05)


# As a function


def test_a_function_can_be_pickled_with_its_counts():
    reward = trl_reward(RUBRIC, told, dropout=0.3, name="quality")
    rate(reward, ["good", "bad"])
    copy = pickle.loads(pickle.dumps(reward))  # noqa: S301
    assert (copy.__name__, copy.totals, rate(copy, ["fair"])) == ("quality", RewardCounts(1, 2, 0, 0), [0.6])
    assert (copy.totals, reward.totals) == (RewardCounts(2, 3, 0, 0), RewardCounts(1, 2, 0, 0))


@pytest.mark.slow
def test_threads_may_share_a_function():
    reward = trl_reward(RUBRIC, told, on_invalid="none", attempts=1, patience=None)
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda _: rate(reward, MIXED), range(60))]
    assert found == [[1.0, None, 0.6, None, 0.0]] * 60
    assert reward.totals == RewardCounts(60, 300, 120, 0)


def refused(rubrics=RUBRIC, judge=told, completions=("good",), prompts=None, **more):
    """Asks for the rewards of a function; the options are those of the function, the columns are in `columns`."""
    columns = more.pop("columns", {})
    rewards = rate(trl_reward(rubrics, judge, **more), [*completions], prompts, **columns)
    return asyncio.run(rewards) if asyncio.iscoroutine(rewards) else rewards


def refused_rollout(about, trace, **options):
    return asyncio.run(verifiers_reward(BOTH, rubric_field="by", **options)(about, trace))


REFUSED = {
    "neither a judge nor outputs": lambda: trl_reward(RUBRIC),
    "both a judge and outputs": lambda: trl_reward(RUBRIC, told, outputs="o"),
    "a judge that is a text": lambda: trl_reward(RUBRIC, "gpt-5"),
    "samples of outputs": lambda: trl_reward(RUBRIC, outputs="o", samples=2),
    "on_invalid": lambda: trl_reward(RUBRIC, told, on_invalid="zero"),
    "reward": lambda: trl_reward(RUBRIC, told, reward="points"),
    "dropout of 1": lambda: trl_reward(RUBRIC, told, dropout=1),
    "dropout of nan": lambda: trl_reward(RUBRIC, told, dropout=float("nan")),
    "seed": lambda: trl_reward(RUBRIC, told, seed="a"),
    "no samples": lambda: trl_reward(RUBRIC, told, samples=0),
    "patience": lambda: trl_reward(RUBRIC, told, patience=True),
    "no rubrics": lambda: trl_reward({}, told),
    "dropout of one criterion": lambda: trl_reward(SHORT, told, dropout=0.5),
    "a column that is nearly there": lambda: refused(reference="answer", columns={"answers": ["x"]}),
    "a column of the trainer": lambda: refused(question="log_metric", columns={"log_metric": print}),
    "a column of another length": lambda: refused(reference="answer", columns={"answer": ["x", "y"]}),
    "a column of numbers": lambda: refused(reference="answer", columns={"answer": [7]}),
    "an image": lambda: refused(prompts=[IMAGE]),
    "no such rubric": lambda: refused(BOTH, columns={"rubric": ["sumary"]}),
    "no column of rubrics": lambda: refused(BOTH),
    "a wrong key": lambda: refused(judge=Recorder(RewardError("the key is wrong")), completions=["x"] * 20),
    "a wrong key, later": lambda: refused(judge=say_wrong_key, completions=["x"] * 20),
    "an output": lambda: refused(completions=MIXED, prompts=PROMPTS, on_invalid="raise"),
    "none for verifiers": lambda: verifiers_reward(RUBRIC, told, on_invalid="none"),
    "a field that is nearly there": lambda: refused_rollout(
        task(topic="Towers", answers="", by="summary"), rollout(), judge=told, question="topic", reference="answer"
    ),
    "no output in a trace": lambda: refused_rollout(task(by="summary"), rollout(), outputs="judged"),
    "no key": lambda: endpoint_judge("m"),
    "a key instead of its variable": lambda: endpoint_judge("m", api_key_env="sk-secret"),
    "an odd key": lambda: endpoint_judge("m", api_key_env="ODD_KEY"),
    "no address": lambda: endpoint_judge("m", base_url="localhost:8000/v1"),
    "no price": lambda: endpoint_judge("m", base_url="http://127.0.0.1:1", max_cost=1),
    "a number of requests as a text": lambda: endpoint_judge("m", base_url="http://127.0.0.1:1", max_requests="3"),
    "fewer than no requests": lambda: endpoint_judge("m", base_url="http://127.0.0.1:1", max_requests=-1),
    "no format": lambda: endpoint_judge("m", base_url="http://127.0.0.1:1", response_format="xml"),
}


def test_what_is_wrong_is_refused_with_the_reason(monkeypatch, said):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ODD_KEY", "sk\u2026")
    told = []
    for name, call in REFUSED.items():
        with pytest.raises((RewardError, ValueError, TypeError)) as caught:
            call()
        told.append(f"{name}: {caught.type.__name__}: {caught.value}")
    said(told)


def test_the_import_is_light():
    loaded = modules_after("import rubric_lint.rewards")
    heavy = (
        "rubric_lint.scoring",
        "rubric_lint.judge.prompt",
        "rubric_lint.judge.asking",
        "rubric_lint.judge.rewards.asking",
        "trl",
        "torch",
        "verifiers",
        "openai",
    )
    assert not [name for name in loaded if name.startswith(heavy)]


# verifiers


def rollout(reply="good", **info):
    metrics = {}
    return SimpleNamespace(
        last_reply=reply, transcript=f"[user]\nWhy?\n\n[assistant]\n{reply}", info=info, metrics=metrics,
        record_metric=metrics.__setitem__,
    )  # fmt: skip


def task(**fields):
    return SimpleNamespace(prompt_text="Why?", **fields)


def test_a_rollout_gets_its_score_and_metrics():
    reward, trace = verifiers_reward(RUBRIC, told), rollout("gated")
    assert asyncio.run(reward(task=task(), trace=trace)) == 0.75
    assert trace.metrics == {"summary/accuracy": 0.5, "summary/length": 1.0, "summary/tone": 1.0}
    about = trace.info["rubric_lint"]["summary"]
    assert (about["score"], about["verdict"], about["reward"], about["dropped"]) == (0.75, "fail", 0.75, [])


@pytest.mark.parametrize("on_invalid", ["skip", "raise"])
def test_an_invalid_output_fails_the_rollout(on_invalid):
    reward = verifiers_reward(RUBRIC, told, on_invalid=on_invalid, attempts=1)
    for _ in range(7):
        with pytest.raises(RewardError, match=r"^summary: invalid judge output.*: no JSON object"):
            asyncio.run(reward(task(), rollout("broken")))
    assert reward.totals == RewardCounts(7, 7, 7, 0)


def test_tasks_and_traces_have_the_fields():
    judge = Recorder(output(9, 9, 9))
    reward = verifiers_reward(RUBRIC, judge, view="full_trace", question="topic", reference="answer", samples=2)
    given = rollout("So.")
    assert asyncio.run(reward(task(topic="Towers", answer="It is."), given)) == 0.9
    case = JudgedCase(given.transcript, question="Towers", reference="It is.")
    assert judge.cases == [write_prompt(RUBRIC, case)[1].content] * 2
    held = verifiers_reward(BOTH, outputs="judged", rubric_field="by")
    assert asyncio.run(held(task(by="summary"), rollout(judged=output(3, 3, 3)))) == 0.3


def test_a_judge_that_is_not_asynchronous_judges_as_many_rollouts_at_once_as_asked_for():
    barrier = threading.Barrier(40)  # more than an event loop has threads by itself

    def judge(_messages):
        barrier.wait(10)
        return output(9, 9, 9)

    async def rate_all():
        reward = verifiers_reward(RUBRIC, judge, concurrency=40)
        return await asyncio.gather(*(reward(task=task(), trace=rollout()) for _ in range(40)))

    assert asyncio.run(rate_all()) == [0.9] * 40


def test_rollouts_of_one_task_drop_the_same_criteria():
    reward = verifiers_reward(FOUR, outputs="judged", dropout=0.5, seed=3)

    def dropped(prompt):
        trace = rollout(judged=output(1, 2, 3, 4))
        asyncio.run(reward(SimpleNamespace(prompt_text=prompt), trace))
        return tuple(trace.info["rubric_lint"]["summary"]["dropped"])

    found = {prompt: {dropped(prompt) for _ in range(3)} for prompt in "abcdefgh"}
    assert all(len(each) == 1 for each in found.values())
    assert len(set.union(*found.values())) > 3


# An endpoint


def test_an_endpoint_is_a_judge(monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-secret-0123456789")
    replies = [completion("?"), completion(output(6, 6, 6)), completion(output(9, 9, 9))]
    with serving(lambda _asked: replies.pop(0)) as server:
        judge = endpoint_judge("judge-1", base_url=server.url, api_key_env="JUDGE_KEY", temperature=0)
        assert b"sk-secret" not in pickle.dumps(judge)
        reward = pickle.loads(pickle.dumps(trl_reward(RUBRIC, judge, concurrency=1)))  # noqa: S301
        assert asyncio.run(rate(reward, ["x", "y"])) == [0.6, 0.9]
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer sk-secret-0123456789"}
    assert server.asked[0].body["response_format"]["json_schema"]["schema"] == output_schema(RUBRIC)
    assert repr(judge) == f"<EndpointJudge 'judge-1' at {server.url}>"


@pytest.mark.slow
def test_the_limits_of_an_endpoint_hold_for_all_calls_and_loops(tmp_path):
    table = tmp_path / "prices.toml"
    table.write_text("[models.m]\ninput = 1000\noutput = 1000\n")
    limits = {"max_requests": 3}, {"max_cost": 8, "prices": table, "max_tokens": 100}  # a reply costs 0.11
    for limit, most in zip(limits, [3, 60], strict=True):
        with serving(completion(output(6, 6, 6))) as server:
            reward = trl_reward(RUBRIC, endpoint_judge("m", base_url=server.url, **limit), concurrency=2)
            assert asyncio.run(rate(reward, ["x", "y"])) == [0.6, 0.6]
            with pytest.raises(RewardError, match=rf"^`m` at {server.url}: stopped at max_\w+ \d$"):
                asyncio.run(rate(reward, ["x"] * 100))
            assert 2 < len(server.asked) <= most


@pytest.mark.slow
def test_the_client_of_an_endpoint_is_closed_after_each_call(recwarn):
    with serving(completion(output(6, 6, 6))) as server:
        reward = trl_reward(RUBRIC, endpoint_judge("m", base_url=server.url))
        assert [asyncio.run(rate(reward, ["x"] * 5)) for _ in range(2)] == [[0.6] * 5] * 2
    gc.collect()
    assert not [each for each in recwarn if issubclass(each.category, ResourceWarning)]


def test_a_refusal_is_an_invalid_output_and_a_wrong_key_ends_the_call():
    with serving(completion(None, refusal="I cannot.")) as server:
        reward = trl_reward(RUBRIC, endpoint_judge("m", base_url=server.url), attempts=1)
        assert asyncio.run(rate(reward, ["x"])) == [None]
    with serving(Response({"error": {"message": "no such key"}}, 401)) as server:
        reward = trl_reward(RUBRIC, endpoint_judge("m", base_url=server.url))
        with pytest.raises(RewardError, match=r"^`m` at .*: HTTP 401: no such key"):
            asyncio.run(rate(reward, ["x"]))


# Version 3


CONDITIONAL = {
    "$schema": "https://rubric-lint.github.io/schemas/v3/rubric.json",
    "id": "reply",
    "criteria": [
        {"id": "figures", "expected_outcome": "Every figure is right", "applies_if": "It has figures"},
        {"id": "tone", "expected_outcome": "Kind", "scale": [0.0, 1.0], "weight": 3, "applies_if": "It is a letter"},
        {"id": "code", "weight": 2, "required_min_score": 0.5, "criteria": ["The file exists", "The program runs"]},
    ],
    "critical_failures": ["Fabricates a source"],
}
REPLY = load_rubrics("reply.rubric.json", json.dumps(CONDITIONAL))["reply"]


def reply(figures=True, tone=0.5, code=(True, True), failure=False):
    given = {"figures": figures, "tone": tone, "code/1": code[0], "code/2": code[1], "failure-1": failure}
    fields = {"tone": "level"}
    checks = [
        {"id": name, **({"applicable": False} if value is None else {fields.get(name, "satisfied"): value})}
        for name, value in given.items()
    ]
    return json.dumps({"checks": checks})


REPLIES = {
    "all": (reply(), {"score": 0.75, "verdict": 0.5, "gated": 0.75}),
    "one does not apply": (reply(figures=None), {"score": 0.7, "verdict": 0.5, "gated": 0.7}),
    "two do not apply": (
        reply(figures=None, tone=None, code=(True, False)),
        {"score": 0.5, "verdict": 0.0, "gated": 0.5},
    ),
    "a group misses its gate": (reply(tone=1.0, code=(False, False)), {"score": 4 / 6, "verdict": 0.0, "gated": 0.0}),
    "a failure": (reply(tone=1.0, failure=True), {"score": 1.0, "verdict": 0.0, "gated": 0.0}),
}


@pytest.mark.parametrize("name", REPLIES)
def test_rewards_of_version_3_are_those_of_the_score(name):
    given, expected = REPLIES[name]
    for kind, worth in expected.items():
        reward = trl_reward(REPLY, outputs="judged", reward=kind)
        assert reward(["Q"], ["A"], judged=[given]) == [pytest.approx(worth)]


def test_means_are_those_of_completions_to_which_a_criterion_applies():
    metrics = {}
    reward = trl_reward(REPLY, outputs="judged")
    judged = [reply(figures=None, tone=None), reply(tone=None), reply(figures=False, tone=None)]
    reward(["Q"] * 3, ["A"] * 3, judged=judged, log_metric=metrics.__setitem__)
    assert metrics["reply/criteria/figures"] == 0.5
    assert "reply/criteria/tone" not in metrics


def test_a_completion_to_which_nothing_applies_has_no_reward():
    bare = {**CONDITIONAL, "criteria": CONDITIONAL["criteria"][:2]}
    (rubric,) = load_rubrics("reply.rubric.json", json.dumps(bare)).values()
    checks = [{"id": name, "applicable": False} for name in ("figures", "tone")]
    given = json.dumps({"checks": [*checks, {"id": "failure-1", "satisfied": False}]})
    reward, extra = trl_reward(rubric, outputs="judged", on_invalid="skip"), {}
    assert reward(["Q"], ["A"], judged=[given], log_extra=extra.__setitem__) == [None]
    assert extra["reply/invalid"] == ["no score: no criterion that earns points applies to this answer"]


def test_criteria_may_be_dropped_from_groups_but_not_where_weights_vary():
    with pytest.raises(RubricError, match="dropout needs constant weights"):
        trl_reward(REPLY, outputs="judged", dropout=0.5)
    groups = {**CONDITIONAL, "criteria": [{"id": "code", "criteria": ["It exists", "It runs", "It ends"]}, "Kind"]}
    (rubric,) = load_rubrics("reply.rubric.json", json.dumps(groups)).values()
    names = [criterion.id for criterion in rubric.criteria]
    given = json.dumps({"checks": [{"id": name, "satisfied": name == "code/1"} for name in names]})
    shares = [criterion.share for criterion in rubric.criteria]
    possible = {
        float(Fraction(shares[0] * (0 in kept), sum(shares[place] for place in kept)))
        for size in range(1, 5)
        for kept in combinations(range(4), size)
    }
    found = set()
    for seed in range(20):
        found.update(trl_reward(rubric, outputs="judged", dropout=0.5, seed=seed)(["Q"], ["A"], judged=[given]))
    assert found <= possible
    assert len(found) > 2
