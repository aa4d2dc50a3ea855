"""Limits of requests and money are never exceeded, whatever an endpoint answers and bills."""

import asyncio
import importlib
import inspect
import json
from decimal import Decimal
from itertools import count

import openai
import pytest
from chat_server import completion
from hypothesis import given, settings
from hypothesis import strategies as st

from rubric_lint.judge import endpoint as asking
from rubric_lint.judge.account import Account, RunLimit
from rubric_lint.judge.answers import read_answers
from rubric_lint.judge.asking import JudgeOptions
from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Endpoint
from rubric_lint.judge.pace import Pace
from rubric_lint.judge.run import JudgeRun, Panel, StoppedError
from rubric_lint.judge.spending import Price, Prices
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.records.reply import Tokens, read_reply

# The package that this version of openai uses, which has two names.
httpx = importlib.import_module(inspect.getmro(openai.DefaultAsyncHttpxClient)[-2].__module__.partition(".")[0])

RUBRICS = load_rubrics(
    "a.rubric.yaml",
    b"""\
rubrics:
  - {score_range: [0, 4], expected_outcome: Wrong.}
  - {score_range: [5, 10], expected_outcome: Right.}
""",
)
PRICES = Prices(
    {"one": Price(Decimal(10), Decimal(20), Decimal(100)), "two": Price(Decimal(1), Decimal(0), Decimal(7))}
)
READ = 700
"""The input tokens that are billed."""

BODY = completion('{"reasoning": "Right.", "score": 8}').body
CHOICE = BODY["choices"][0]


def message(content, **more):
    return {**BODY, "choices": [{**CHOICE, "message": {"role": "assistant", "content": content, **more}}]}


def error(status, headers=None, **body):
    return status, {"error": {"message": "Oops."}, **body}, headers or {}


def usage(read, written):
    return {"usage": {"prompt_tokens": read, "completion_tokens": written}}


BILLED, FREE = True, False
"""Whether a request costs something. A bill is what the endpoint says, or as many output tokens as it may write."""

SERVERS = {
    "a valid output": (BILLED, (200, BODY, {})),
    "an invalid output": (BILLED, (200, message("I would say 8."), {})),
    "no choices": (BILLED, (200, {**BODY, "choices": []}, {})),
    "empty content": (BILLED, (200, message(""), {})),
    "null content": (BILLED, (200, message(None), {})),
    "a refusal": (BILLED, (200, message(None, refusal="No."), {})),
    "no usage": (BILLED, (200, {**BODY, "usage": None}, {})),
    "negative usage": (BILLED, (200, {**BODY, **usage(-READ, -5)}, {})),
    "usage of zero": (BILLED, (200, {**BODY, **usage(0, 0)}, {})),
    "usage in strings": (BILLED, (200, {**BODY, **usage("100", "10")}, {})),
    "half of the usage": (BILLED, (200, {**BODY, "usage": {"prompt_tokens": READ}}, {})),
    "usage that no reply has": (BILLED, (200, {**BODY, **usage(READ, 10**30)}, {})),
    "an error with status 200": (BILLED, error(200)),
    "an error with status 200 and usage": (BILLED, error(200, **usage(READ, 9))),
    "a page with status 200": (BILLED, (200, "<html>", {})),
    "500": (BILLED, error(500)),
    "500 with usage": (BILLED, error(500, **usage(READ, 9))),
    "429": (FREE, error(429, {"retry-after": "0.01"})),
    "429 with usage": (BILLED, error(429, **usage(READ, 9))),
    "503": (FREE, error(503)),
    "400": (FREE, error(400)),
    "400 for the form of JSON": (FREE, (400, {"error": {"message": "no response_format json_schema"}}, {})),
    "a redirect to itself": (FREE, (307, "", {"location": "http://127.0.0.1:9/v1/chat/completions"})),
    "a timeout": (BILLED, httpx.ReadTimeout("slow")),
    "a connection that breaks": (BILLED, httpx.RemoteProtocolError("cut off")),
    "no connection": (FREE, httpx.ConnectError("refused")),
}


def thinking(**more):
    return {**BODY, "usage": {"prompt_tokens": READ, "completion_tokens": 100, **more}}


REASONING = {"completion_tokens_details": {"reasoning_tokens": 39_000}}
TOO_LONG = {
    "a reply that is too long": (BILLED, (200, {**BODY, **usage(READ, 40_000)}, {})),
    "reasoning that is only in the total": (BILLED, (200, thinking(total_tokens=READ + 40_000), {})),
    "reasoning that is not in the output": (BILLED, (200, thinking(**REASONING), {})),
    "reasoning in the total alone": (BILLED, (200, thinking(**REASONING, total_tokens=READ + 39_100), {})),
}

CUT = {"a reply that is cut off": (BILLED, (200, {**BODY, "choices": [{**CHOICE, "finish_reason": "length"}]}, {}))}


class Bank:
    """A model server that sends what its name says, and knows what it billed."""

    def __init__(self, replies, longest):
        self.replies, self.longest = replies, longest
        self.sent, self.billed = 0, Decimal(0)
        self.numbers = count()

    async def __call__(self, request):
        body = json.loads(request.content)
        is_billed, reply = (SERVERS | TOO_LONG | CUT)[self.replies[next(self.numbers) % len(self.replies)]]
        is_connected = not isinstance(reply, httpx.ConnectError)
        self.sent += is_connected
        if is_billed:
            self.bill(body, reply)
        await asyncio.sleep(0.001 if next(self.numbers) % 3 else 0)
        if isinstance(reply, Exception):
            raise reply
        status, sent, headers = reply
        return httpx.Response(status, headers=headers, content=sent if isinstance(sent, str) else json.dumps(sent))

    def bill(self, body, reply):
        told = reply[1].get("usage") if isinstance(reply, tuple) and isinstance(reply[1], dict) else None
        read, written = READ, min(body.get("max_tokens", self.longest), self.longest)
        if told and type(told.get("completion_tokens")) is int and 0 < told["completion_tokens"] < 10**9:
            read = told["prompt_tokens"]
            reasoning = told.get("completion_tokens_details", {}).get("reasoning_tokens", 0)
            written = max(told["completion_tokens"] + reasoning, told.get("total_tokens", 0) - read)
        price = PRICES.models[body["model"]]
        self.billed += (read * price.input + written * price.output) / 1_000_000


def judge(bank, limit, *, models=("one",), answers=8, plan=None, **call):
    """Judge answers; return the account, the tally and whatever was said."""
    account, told = Account(limit), []
    clock = count()

    async def wait(_seconds):
        await real_sleep(0)

    real_sleep, asyncio.sleep = asyncio.sleep, wait
    real_client, asking.make_client = (
        asking.make_client,
        lambda _: openai.DefaultAsyncHttpxClient(transport=httpx.MockTransport(bank), follow_redirects=False),
    )

    async def run():
        calls = [Call(model, "http://127.0.0.1:9/v1", **call) for model in models]
        pace = Pace(clock=lambda: next(clock), sleep=wait)
        account.find_pace = lambda _endpoint: pace
        panel = Panel([Endpoint(call, "none") for call in calls], account)
        run = JudgeRun(panel, Kept(), plan or JudgeOptions(), lambda *what: told.append(what))
        async with panel:
            try:
                lines = (
                    json.dumps({"id": f"a{number}", "answer": "So."}).encode() + b"\n" for number in range(answers)
                )
                await run.judge(read_answers(lines, RUBRICS))
            except StoppedError as stop:
                told.append(str(stop))
        return run.tally

    try:
        return account, asyncio.run(run()), told
    finally:
        asyncio.sleep, asking.make_client = real_sleep, real_client


class Kept:
    judged = {}  # noqa: RUF012

    def append(self, record):
        pass


def check(bank, account):
    """No limit is exceeded, every request is counted, and what is said of the cost is true."""
    limit, spending = account.limit, account.spending
    assert bank.sent <= spending.requests  # one that is canceled while it is sent counts too
    assert limit.requests is None or spending.requests <= limit.requests
    assert limit.cost is None or bank.billed <= limit.cost
    cost = spending.find_cost(PRICES)
    assert cost.amount <= bank.billed
    if limit.cost is not None:
        assert bank.billed <= cost.find_most() <= limit.cost


LIMITS = [RunLimit(7, None, PRICES), RunLimit(None, Decimal("0.3"), PRICES), RunLimit(5, Decimal(2), PRICES)]


CASES = [pytest.param(limit, name, id=f"{name}, {limit}") for name in SERVERS for limit in LIMITS if name != "429"]
ENDLESS = pytest.param(LIMITS[1], "429", id="429 without end", marks=pytest.mark.slow)


@pytest.mark.spread(7)
@pytest.mark.parametrize(("limit", "name"), [*CASES, ENDLESS, (LIMITS[0], "429")])
def test_no_server_makes_a_run_exceed_its_limit(limit, name):
    bank = Bank([name], 600)
    account, _, _ = judge(bank, limit, plan=JudgeOptions(concurrency=4), retries=2)
    check(bank, account)
    assert bank.sent > 0 or name == "no connection"


@pytest.mark.slow
@settings(deadline=None)
@given(
    replies=st.lists(st.sampled_from(sorted(SERVERS)), min_size=1, max_size=6),
    requests=st.none() | st.integers(0, 20),
    cost=st.none() | st.integers(0, 3000),
    longest=st.integers(1, 20_000),
    max_tokens=st.none() | st.integers(1, 2000),
    plan=st.builds(JudgeOptions, st.integers(1, 3), st.integers(1, 3), st.integers(1, 8)),
    models=st.sampled_from([("one",), ("one", "two")]),
    retries=st.integers(0, 3),
)
def test_no_mix_of_replies_exceeds_a_limit(replies, requests, cost, longest, max_tokens, plan, models, retries):
    bank = Bank(replies, longest)
    limit = RunLimit(requests, None if cost is None else Decimal(cost) / 1000, PRICES)
    account, _, _ = judge(bank, limit, models=models, plan=plan, max_tokens=max_tokens, retries=retries)
    check(bank, account)


LONG, *THINKING = TOO_LONG


@pytest.mark.parametrize(
    ("name", "limit", "max_tokens"),
    [
        (LONG, LIMITS[1], 100),
        (LONG, LIMITS[1], None),
        (LONG, RunLimit(9), 100),
        *((name, LIMITS[1], 100) for name in THINKING),
        (THINKING[0], RunLimit(9), 100),
    ],
)
def test_an_endpoint_that_bills_more_than_it_may_write_ends_the_run_at_once(name, limit, max_tokens, said):
    bank = Bank([name], 600)
    account, tally, _ = judge(bank, limit, max_tokens=max_tokens)
    sent = 1 if limit.cost is not None else 8  # without a limit of the cost, the first request does not go alone
    assert (bank.sent, tally.judged, tally.is_limited) == (sent, sent, limit.cost is not None)
    assert account.excess == (bank.billed - limit.cost if limit.cost else 0)
    said(account.fault)


@pytest.mark.parametrize("cached", [READ + 1, 10**8, -1])
def test_more_tokens_from_the_cache_than_were_read_have_the_full_price(cached):
    used = {"prompt_tokens": READ, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": cached}}
    tokens = read_reply(json.dumps({**BODY, "usage": used})).tokens
    assert tokens == Tokens(READ, 10)
    assert PRICES.models["two"].charge(tokens) == Decimal(READ + 70) / 1_000_000


def test_the_rest_of_a_limit_limits_the_length_of_a_reply():
    for cost, sent in [("0.05", 1), ("0.01", 0)]:
        bank = Bank(["a valid output"], 600)
        account, tally, _ = judge(bank, RunLimit(None, Decimal(cost), PRICES), answers=1)
        check(bank, account)
        assert (bank.sent, tally.judged, bool(account.too_low)) == (sent, sent, not sent)


def test_an_answer_that_the_limits_do_not_allow_whole_is_not_begun():
    bank = Bank(["a valid output"], 600)
    account, tally, _ = judge(bank, RunLimit(8), plan=JudgeOptions(samples=3))
    assert (bank.sent, tally.judged, account.stop, account.too_low) == (6, 2, "--max-requests 8", "")


@pytest.mark.parametrize(
    ("name", "limit", "counts"),
    [
        ("an invalid output", RunLimit(2), (2, 1, 0)),
        ("an invalid output", RunLimit(3, Decimal(2), PRICES), (3, 1, 0)),
        ("a reply that is cut off", RunLimit(None, Decimal("0.05"), PRICES), (1, 1, 0)),
        ("500", RunLimit(2), (2, 0, 1)),
    ],
)
def test_an_answer_whose_attempts_a_limit_cuts_off_gets_the_reason(name, limit, counts, said):
    bank = Bank([name], 600)
    plan = JudgeOptions(max_attempts=10, concurrency=1)
    _, tally, told = judge(bank, limit, answers=2, plan=plan)
    assert (bank.sent, tally.unfinished, tally.unanswered) == counts
    assert (tally.is_stuck, tally.judged, len(told)) == (tally.unfinished == 1, 0, 1)
    said(told[0][1])
