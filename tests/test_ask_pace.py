"""What limits the requests of a run: requests and tokens in a minute, one pause for all, and how long to wait."""

import asyncio
import time
from bisect import bisect_left
from collections import deque

import pytest
from cases import read_cases
from chat_server import Response, completion, serving
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.judge.account import Account, Limit
from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Endpoint
from rubric_lint.judge.pace import Pace, read_wait
from rubric_lint.judge.prompt import Message

TABLES = read_cases(__file__)

NOW = 1_795_000_000.0  # 2026-11-18T11:06:40Z
EPSILON = 1e-6


class Clock:
    """A time in which waiting takes no time: it goes on to the next moment for which somebody waits."""

    def __init__(self):
        self.now = 1000.0
        self.waiting = []

    async def sleep(self, seconds):
        moment = self.now + seconds
        self.waiting.append(moment)
        while self.now < moment:
            for _ in range(20):  # let all others run first
                await asyncio.sleep(0)
            self.now = max(self.now, min(self.waiting))
        self.waiting.remove(moment)


def make_pace(clock, **limits):
    return Pace(clock=lambda: clock.now, sleep=clock.sleep, **limits)


def largest_in_any_window(sent, seconds=60.0):
    """The most that was sent in a window of this length, of pairs of a moment and an amount."""
    sent = sorted(sent)
    moments = [moment for moment, _ in sent]
    return max(
        sum(amount for _, amount in sent[number : bisect_left(moments, moment + seconds - EPSILON)])
        for number, moment in enumerate(moments)
    )


def send_all(tokens, *, waits, workers=8, more=0, **limits):
    """Send requests, each with what is expected and a time until its reply; return when, and how much."""
    clock, sent = Clock(), []
    pace = make_pace(clock, **limits)

    async def work(left):
        for amount, seconds in left:
            moment = await pace.wait_turn(amount)
            sent.append((moment, amount))
            await clock.sleep(seconds)
            pace.leave(more)
            pace.go_on()

    at_once(work, zip(tokens, waits, strict=True), workers)
    assert pace.inside == 0
    return sent


def at_once(work, tasks, workers):
    """Let workers take one task after the other, until none is left."""

    async def run():
        left = iter(tasks)
        await asyncio.gather(*(work(left) for _ in range(workers)))

    asyncio.run(run())


seconds = st.floats(0, 200).map(lambda value: round(value, 2))


@given(st.integers(1, 12), st.lists(seconds, min_size=1, max_size=40))
def test_never_more_requests_than_rpm_in_any_minute(rpm, waits):
    sent = send_all([1] * len(waits), waits=waits, rpm=rpm)
    assert (len(sent), largest_in_any_window(sent) <= rpm) == (len(waits), True)


@given(st.integers(100, 1000), st.lists(st.tuples(st.integers(0, 100), seconds), min_size=1, max_size=40))
def test_a_minute_has_at_most_one_request_more_than_tpm(tpm, requests):
    amounts, waits = zip(*requests, strict=True)
    sent = send_all(amounts, waits=waits, tpm=tpm)
    assert (len(sent), largest_in_any_window(sent) <= tpm + max(amounts)) == (len(requests), True)


def test_tokens_and_requests_wait_for_their_share_of_a_minute():
    assert send_all([50, 100, 500, 10], waits=[0] * 4, tpm=100) == [(1000, 50), (1030, 100), (1090, 500), (1390, 10)]
    assert send_all([1] * 6, waits=[0] * 6, rpm=5) == [(moment, 1) for moment in range(1000, 1061, 12)]


def test_what_a_request_used_takes_the_place_of_what_was_expected():
    assert send_all([90, 80, 1], waits=[0] * 3, more=-40, tpm=100, workers=1) == [(1000, 90), (1030, 80), (1054, 1)]


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def pace(clock):
    """A pace that notes what is told of its pauses."""
    return watched(make_pace(clock))


def watched(pace):
    pace.told = []
    pace.watch = lambda *what: pace.told.append(what)
    return pace


async def test_after_a_run_is_closed_no_request_is_sent(pace):
    pace.close()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(pace.wait_turn(), 0.05)
    assert pace.inside == 0


async def test_one_refusal_pauses_all_requests_as_long_as_the_endpoint_asks(clock, pace):
    assert pace.hold(await pace.wait_turn(), 12, "HTTP 429")
    assert 12 <= pace.left <= 13.2
    for _ in range(3):
        await pace.wait_turn()
        assert 1012 <= clock.now <= 1015
    assert 12 <= pace.paused <= 13.2


async def test_the_pause_doubles_one_wave_counts_once_and_an_answer_ends_the_doubling(pace):
    pauses = []
    for sent in [await pace.wait_turn() for _ in range(8)]:
        pace.hold(sent, None, "HTTP 429")
    pauses.append(pace.left)
    for answers in [*[0] * 8, 1]:
        sent = await pace.wait_turn()
        for _ in range(answers):
            pace.go_on()
            sent = await pace.wait_turn()
        pace.hold(sent, None, "HTTP 429")
        pauses.append(pace.left)
    wanted = [1, 2, 4, 8, 16, 32, 60, 60, 60, 1]
    assert [low <= pause <= 1.1 * low for low, pause in zip(wanted, pauses, strict=True)] == [True] * 10


async def test_after_half_an_hour_of_refusals_alone_there_is_no_point_in_waiting_on(clock, pace):
    times = 0
    while pace.hold(await pace.wait_turn(), None, "HTTP 429"):
        times += 1
    assert (25 <= times <= 40, 1800 <= clock.now - 1000 <= 1900) == (True, True)


async def test_the_first_pause_is_told_once(pace):
    for wait, answers in ((5, 0), (5, 1), (7, 0)):
        pace.hold(await pace.wait_turn(), wait, "HTTP 429: busy")
        for _ in range(answers):
            pace.go_on()
    assert pace.told == [(5, "HTTP 429: busy")]


@pytest.mark.parametrize("hinted", [True, False], ids=["with Retry-After", "without a word"])
def test_a_run_against_5_requests_a_minute_finishes(clock, pace, hinted):
    window, refused = deque(), []

    def serve():
        """Refuse what comes after 5 requests in the last 60 seconds: None, or how long to wait."""
        while window and window[0] <= clock.now - 60:
            window.popleft()
        if len(window) == 5:
            return window[0] + 60 - clock.now
        window.append(clock.now)
        return None

    async def work(waiting):
        for _ in waiting:
            sent = await pace.wait_turn()
            while (wait := serve()) is not None:
                refused.append(wait)
                assert pace.hold(sent, wait if hinted else None, "HTTP 429")
                pace.leave()
                sent = await pace.wait_turn()
            pace.go_on()
            pace.leave()

    at_once(work, range(40), 8)
    assert 7 * 60 <= clock.now - 1000 <= (8.5 if hinted else 16) * 60
    assert len(refused) <= (8 if hinted else 60)


@pytest.mark.parametrize("places", [1, 2, 4])
def test_an_endpoint_with_few_places_refuses_few_requests(clock, pace, places):
    inside, refused = [], []

    async def work(waiting):
        for number in waiting:
            sent = await pace.wait_turn()
            while len(inside) == places:
                refused.append(number)
                await clock.sleep(0.05)
                pace.hold(sent, None, "HTTP 429")
                pace.leave()
                sent = await pace.wait_turn()
            inside.append(number)
            await clock.sleep(2)
            inside.remove(number)
            pace.go_on()
            pace.leave()

    at_once(work, range(40), 8)
    assert len(refused) <= 40 * 3 / places


# What headers and replies say


@pytest.mark.parametrize(
    ("headers", "wait"), [*TABLES["how long to wait"], ({"retry-after": "9" * 400}, None)], ids=str
)
def test_what_retry_after_says_is_how_long_to_wait(monkeypatch, headers, wait):
    monkeypatch.setattr(time, "time", lambda: NOW)
    assert read_wait(headers) == (None if wait is None else pytest.approx(wait, abs=1e-3))


def test_what_an_endpoint_writes_is_read_in_time_that_grows_with_it():
    for text in ("1s" * 20_000, "1 " * 20_000, "1" * 100_000):
        start = time.process_time()
        read_wait({"retry-after": text, "date": text})
        assert time.process_time() - start < 2


ASKED = [Message("system", "Grade."), Message("user", "This.")]


async def ask(server, account, times=1):
    async with Endpoint(Call("judge-1", server.url), "none", account) as endpoint:
        for _ in range(times):
            await endpoint.complete(ASKED, {})
    return account.find_pace(endpoint.call.endpoint)


FINE = completion("{}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "overload",
    [
        Response("", 503, {"retry-after": "0.3"}),
        Response({"error": {"type": "overloaded_error", "message": "Overloaded"}}, 529, {"retry-after": "0.3"}),
        Response({"error": {"code": "server_is_overloaded", "message": "Later."}}, 500, {"retry-after": "0.3"}),
        Response({"error": {"code": 429, "message": "Later."}}, 429, {"retry-after": "0.3"}),
    ],
    ids=["503", "529", "500", "429"],
)
def test_an_overload_pauses_all_requests(overload):
    with serving(lambda asked: FINE if asked.before else overload) as server:
        pace = asyncio.run(ask(server, Account(), times=2))
    assert (pace.paused >= 0.3, len(server.asked)) == (True, 3)


@pytest.mark.slow
def test_clients_of_one_account_keep_one_pace_and_one_pause_in_all_event_loops():
    busy = Response({"error": {"message": "Busy."}}, 429, {"retry-after": "0.3"})
    with serving(lambda asked: FINE if asked.before else busy) as server:
        account, start = Account(Limit(rpm=300)), time.monotonic()
        paces = {asyncio.run(ask(server, account)) for _ in range(3)}
    assert (len(paces), len(server.asked), time.monotonic() - start >= 0.3 + 2 * 0.2) == (1, 4, True)


@pytest.mark.slow
def test_a_request_that_is_refused_again_and_again_while_others_are_answered_is_given_up(monkeypatch):
    monkeypatch.setattr("rubric_lint.judge.endpoint._MOST_REFUSALS", 5)

    def behave(asked):
        is_poor = "Poor." in asked.body["messages"][1]["content"]
        return Response({"error": {"message": "No."}}, 429, {"retry-after": "0.001"}) if is_poor else FINE

    async def run(url):
        async with Endpoint(Call("judge-1", url), "none") as endpoint:
            poor = asyncio.create_task(endpoint.complete([Message("system", "S"), Message("user", "Poor.")], {}))
            while not poor.done():
                await endpoint.complete([Message("system", "S"), Message("user", "Rich.")], {})
            return str(poor.exception())

    with serving(behave) as server:
        assert asyncio.run(run(server.url)) == "HTTP 429: No. (refused 6 times)"
