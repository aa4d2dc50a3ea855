"""What limits the requests of a run: tokens in a minute, requests at once, pauses for all, and how long to wait."""

import asyncio
import time
from bisect import bisect_left
from collections import deque

import pytest
from cases import read_cases
from chat_server import Response, completion, serving
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Endpoint
from rubric_lint.judge.pace import Pace, TokenEstimate, read_wait
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


def make_pace(clock, rpm=None, **limits):
    return Pace(rpm, clock=lambda: clock.now, sleep=clock.sleep, **limits)


def largest_in_any_window(sent, seconds=60.0):
    """The most that was sent in a window of this length, of pairs of a moment and an amount."""
    sent = sorted(sent)
    moments = [moment for moment, _ in sent]
    return max(
        sum(amount for _, amount in sent[number : bisect_left(moments, moment + seconds - EPSILON)])
        for number, moment in enumerate(moments)
    )


def send_all(tokens, *, waits, workers=8, rpm=None, tpm=None):
    """Send requests, each with an estimate and a time until its reply; return when, and how much."""
    clock, sent = Clock(), []
    pace = make_pace(clock, rpm, tpm=tpm, concurrency=workers)

    async def work(left):
        for amount, seconds in left:
            turn = await pace.wait_turn(amount)
            sent.append((clock.now, amount))
            await clock.sleep(seconds)
            pace.leave(turn)
            pace.go_on()

    at_once(work, zip(tokens, waits, strict=True), workers)
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
def test_never_more_tokens_than_tpm_in_any_minute(tpm, requests):
    amounts, waits = zip(*requests, strict=True)
    sent = send_all(amounts, waits=waits, tpm=tpm)
    assert (len(sent), largest_in_any_window(sent) <= tpm) == (len(requests), True)


def test_tokens_are_sent_as_soon_as_the_limit_allows():
    sent = send_all([60, 60, 30, 90], waits=[0] * 4, tpm=100, workers=1)
    assert sent == [(1000, 60), (1060, 60), (1060, 30), (1120, 90)]


def test_a_request_above_the_limit_waits_until_no_other_counts():
    assert send_all([10, 500, 10], waits=[0] * 3, tpm=100, workers=1) == [(1000, 10), (1060, 500), (1120, 10)]


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


async def test_what_a_request_used_replaces_its_estimate(clock):
    pace = make_pace(clock, tpm=100)
    turn = await pace.wait_turn(90)
    pace.leave(turn, 20)
    moments = []
    for tokens in (80, 1):
        await pace.wait_turn(tokens)
        moments.append(clock.now)
    assert moments == [1000, 1060]


def test_the_estimate_follows_the_replies():
    estimate = TokenEstimate()
    guesses = [estimate.guess(3000, None), estimate.guess(3000, 50)]  # 1000 for the body, 500 for the reply
    estimate.learn(4000, 1000, 40)
    guesses.append(estimate.guess(4000, None))
    for _ in range(100):
        estimate.learn(2000, 1000, 100)
    assert [*guesses, estimate.guess(2000, None)] == [1500, 1050, 1040, pytest.approx(1100, abs=1)]


async def test_a_refusal_halves_the_requests_at_once_and_replies_add_one_by_one(clock):
    pace = make_pace(clock, concurrency=8)
    limits = []
    for wave in (8, 1):  # all of one wave: refused once
        for turn in [await pace.wait_turn() for _ in range(wave)]:
            pace.hold(turn, 1, "HTTP 429")
            pace.leave(turn)
        limits.append(pace.limit)
    for _ in range(2):
        pace.leave(await pace.wait_turn())
        pace.go_on()
    limits.append(pace.limit)
    for _ in range(100):
        pace.go_on()
    assert [*limits, pace.limit] == [4.0, 2.0, pytest.approx(2.9), 8.0]


@given(st.integers(1, 9), st.lists(st.sampled_from(["reply", "refusal", "timeout"]), max_size=60))
def test_there_are_never_more_at_once_than_the_option_says_and_always_one(most, events):
    clock, seen = Clock(), []
    pace = make_pace(clock, concurrency=most)

    async def work(left):
        for event in left:
            turn = await pace.wait_turn()
            seen.append(pace.inside)
            await clock.sleep(1)
            if event == "reply":
                pace.go_on()
            elif event == "refusal":
                assert pace.hold(turn, 3, "HTTP 429")
            else:
                pace.slow_down(turn)
            pace.leave(turn)

    at_once(work, events, most)
    found = len(seen), max(seen, default=0) <= most, pace.inside, pace.limit >= 1
    assert found == (len(events), True, 0, True)


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
    for turn in [await pace.wait_turn() for _ in range(8)]:
        pace.hold(turn, None, "HTTP 429")
    pauses.append(pace.left)
    for answers in [*[0] * 8, 1]:
        turn = await pace.wait_turn()
        for _ in range(answers):
            pace.go_on()
            turn = await pace.wait_turn()
        pace.hold(turn, None, "HTTP 429")
        pauses.append(pace.left)
    wanted = [1, 2, 4, 8, 16, 32, 60, 60, 60, 1]
    assert [low <= pause <= 1.1 * low for low, pause in zip(wanted, pauses, strict=True)] == [True] * 10


async def test_after_half_an_hour_of_refusals_alone_there_is_no_point_in_waiting_on(clock, pace):
    times = 0
    while pace.hold(await pace.wait_turn(), None, "HTTP 429"):
        times += 1
    assert (25 <= times <= 40, 1800 <= clock.now - 1000 <= 1900) == (True, True)


def test_rpm_spaces_requests_evenly():
    assert send_all([1] * 6, waits=[0] * 6, rpm=5) == [(moment, 1) for moment in range(1000, 1061, 12)]


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
            turn = await pace.wait_turn()
            while (wait := serve()) is not None:
                refused.append(wait)
                assert pace.hold(turn, wait if hinted else None, "HTTP 429")
                turn = await pace.wait_turn()
            pace.go_on()

    at_once(work, range(40), 8)
    assert 7 * 60 <= clock.now - 1000 <= (8.5 if hinted else 16) * 60
    assert len(refused) <= (8 if hinted else 60)


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


def ask(server, **call):
    pace = Pace(concurrency=4)

    async def run():
        async with Endpoint(Call("judge-1", server.url, **call), "none", pace) as endpoint:
            for _ in range(2):
                await endpoint.complete([Message("system", "Grade."), Message("user", "This.")], {})

    start = time.monotonic()
    asyncio.run(run())
    return time.monotonic() - start, pace


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
        _, pace = ask(server)
    assert (pace.paused >= 0.3, pace.limit > 2, len(server.asked)) == (True, True, 3)


@pytest.mark.slow
def test_a_request_that_is_refused_again_and_again_while_others_are_answered_is_given_up(monkeypatch):
    monkeypatch.setattr("rubric_lint.judge.endpoint._MOST_REFUSALS", 5)

    def behave(asked):
        is_poor = "Poor." in asked.body["messages"][1]["content"]
        return Response({"error": {"message": "No."}}, 429, {"retry-after": "0.001"}) if is_poor else FINE

    async def run(url):
        async with Endpoint(Call("judge-1", url), "none", Pace(concurrency=2)) as endpoint:
            poor = asyncio.create_task(endpoint.complete([Message("system", "S"), Message("user", "Poor.")], {}))
            while not poor.done():
                await endpoint.complete([Message("system", "S"), Message("user", "Rich.")], {})
            return str(poor.exception())

    with serving(behave) as server:
        assert asyncio.run(run(server.url)) == "HTTP 429: No. (refused 6 times)"
