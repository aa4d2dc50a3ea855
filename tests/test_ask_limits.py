"""What limits the requests of a run: tokens in a minute, requests at once, pauses for all, and what headers say."""

import asyncio
import threading
import time
from bisect import bisect_left

import pytest
from chat_server import Response, completion, serving
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Endpoint
from rubric_lint.judge.pace import Pace, TokenEstimate, read_used_up, read_wait
from rubric_lint.judge.prompt import Message

NOW = 1_795_000_000.0
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
    pace = Pace(rpm, tpm=tpm, concurrency=workers, clock=lambda: clock.now, sleep=clock.sleep)

    async def work(left):
        for amount, seconds in left:
            turn = await pace.wait_turn(amount)
            sent.append((clock.now, amount))
            await clock.sleep(seconds)
            pace.leave(turn)
            pace.go_on()

    async def run():
        left = zip(tokens, waits, strict=True)
        await asyncio.gather(*(work(left) for _ in range(workers)))

    asyncio.run(run())
    return sent


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


def test_what_a_request_used_replaces_its_estimate():
    clock = Clock()
    pace = Pace(tpm=100, clock=lambda: clock.now, sleep=clock.sleep)

    async def run():
        turn = await pace.wait_turn(90)
        pace.leave(turn, 20)
        await pace.wait_turn(80)
        first = clock.now
        await pace.wait_turn(1)
        return first, clock.now

    assert asyncio.run(run()) == (1000, 1060)


def test_the_estimate_follows_the_replies():
    estimate = TokenEstimate()
    assert estimate.guess(3000, None) == 1500  # 1000 for the body, 500 for the reply
    assert estimate.guess(3000, 50) == 1050
    estimate.learn(4000, 1000, 40)
    assert estimate.guess(4000, None) == 1040
    for _ in range(100):
        estimate.learn(2000, 1000, 100)
    assert estimate.guess(2000, None) == pytest.approx(1100, abs=1)


def test_a_refusal_halves_the_requests_at_once_and_replies_add_one_by_one():
    clock = Clock()
    pace = Pace(concurrency=8, clock=lambda: clock.now, sleep=clock.sleep)

    async def run():
        limits = []
        turns = [await pace.wait_turn() for _ in range(8)]
        for turn in turns:  # all of one wave: refused once
            pace.hold(turn, 1, "HTTP 429")
            pace.leave(turn)
        limits.append(pace.limit)
        turn = await pace.wait_turn()
        pace.hold(turn, 1, "HTTP 429")
        pace.leave(turn)
        limits.append(pace.limit)
        for _ in range(2):
            turn = await pace.wait_turn()
            pace.leave(turn)
            pace.go_on()
        limits.append(pace.limit)
        for _ in range(100):
            pace.go_on()
        return [*limits, pace.limit]

    assert asyncio.run(run()) == [4.0, 2.0, pytest.approx(2.9), 8.0]


@given(st.integers(1, 9), st.lists(st.sampled_from(["reply", "refusal", "timeout"]), max_size=60))
def test_there_are_never_more_at_once_than_the_option_says_and_always_one(most, events):
    clock = Clock()
    pace = Pace(concurrency=most, clock=lambda: clock.now, sleep=clock.sleep)
    seen = []

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

    async def run():
        left = iter(events)
        await asyncio.gather(*(work(left) for _ in range(most)))

    asyncio.run(run())
    assert (len(seen), max(seen, default=0) <= most, pace.inside, pace.limit >= 1) == (
        len(events),
        True,
        0,
        True,
    )


def test_after_a_run_is_closed_no_request_is_sent():
    clock = Clock()
    pace = Pace(clock=lambda: clock.now, sleep=clock.sleep)

    async def run():
        pace.close()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pace.wait_turn(), 0.05)
        return pace.inside

    assert asyncio.run(run()) == 0


def test_a_pause_before_any_refusal_is_told_once():
    clock = Clock()
    pace = Pace(clock=lambda: clock.now, sleep=clock.sleep)
    told = []
    pace.watch = lambda *what: told.append(what)
    pace.rest(0.5)
    assert (told, pace.left, pace.paused) == ([], 0.5, 0.5)
    other = Pace(clock=lambda: clock.now, sleep=clock.sleep)
    other.watch = lambda *what: told.append(what)
    for seconds_ in (5, 7):
        other.rest(seconds_)
    assert (told, other.left, other.paused) == ([(5, "a reply says that it is used up")], 7, 7)


# Headers


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        ({"x-ms-retry-after-ms": "250"}, "", 0.25),
        ({"retry-after": "3, 7"}, "", 7),  # two headers of one name
        ({"retry-after": "Thu, 01 Jan 2099 00:00:05 GMT", "date": "Thu, 01 Jan 2099 00:00:00 GMT"}, "", 5),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT", "date": "Mon, 01 Jan 2001 00:01:00 GMT"}, "", 0),
        (
            {
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2026-11-18T11:07:00Z",
                "anthropic-ratelimit-requests-remaining": "49",
                "anthropic-ratelimit-requests-reset": "2026-11-18T11:06:41Z",
            },
            "",
            20,
        ),
        ({}, '{"error": {"message": "Slow down.", "retry_after": 1.5}}', 1.5),
        ({}, '{"retry_after_ms": 250}', 0.25),
        ({}, '{"retryAfterSeconds": "12"}', 12),
        ({"retry-after": "-1"}, '{"retry_after": -1}', None),
        ({"date": "yesterday", "retry-after": "2"}, "", 2),
    ],
    ids=str,
)
def test_further_ways_of_saying_how_long_to_wait(monkeypatch, headers, body, wait):
    monkeypatch.setattr(time, "time", lambda: NOW)
    assert read_wait(headers, body) == (None if wait is None else pytest.approx(wait, abs=1e-3))


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "9s"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "9s"}, 9),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "9s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "1m",
            },
            60,
        ),
        ({"ratelimit": '"default";r=0;t=30'}, 30),
        ({"retry-after": "30"}, None),  # which a reply does not mean for the next request
        ({}, None),
    ],
    ids=str,
)
def test_a_reply_may_say_that_a_limit_is_used_up(headers, wait):
    assert read_used_up(headers) == wait


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


def test_after_a_reply_that_used_up_a_limit_the_next_request_waits():
    used_up = FINE._replace(headers={"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "300ms"})
    with serving(used_up) as server:
        took, pace = ask(server)
    assert (took >= 0.3, pace.paused >= 0.3, len(server.asked)) == (True, True, 2)


@pytest.mark.parametrize(
    "overload",
    [
        Response("", 503, {"retry-after": "0.3"}),
        Response({"error": {"type": "overloaded_error", "message": "Overloaded"}}, 529, {"retry-after": "0.3"}),
        Response({"error": {"code": "server_is_overloaded", "message": "Later."}}, 500, {"retry-after-ms": "300"}),
        Response({"error": {"code": 429, "message": "Later."}}, 429, {"retry-after-ms": "300"}),
    ],
    ids=["503", "529", "500", "429"],
)
def test_an_overload_pauses_all_requests(overload):
    with serving(lambda asked: FINE if asked.before else overload) as server:
        _, pace = ask(server)
    assert (pace.paused >= 0.3, pace.limit > 2, len(server.asked)) == (True, True, 3)


@pytest.mark.slow
def test_a_request_that_is_refused_a_hundred_times_while_others_are_answered_is_given_up():
    def behave(asked):
        is_poor = "Poor." in asked.body["messages"][1]["content"]
        return Response({"error": {"message": "No."}}, 429, {"retry-after-ms": "1"}) if is_poor else FINE

    async def run(url):
        async with Endpoint(Call("judge-1", url), "none", Pace(concurrency=2)) as endpoint:
            poor = asyncio.create_task(endpoint.complete([Message("system", "S"), Message("user", "Poor.")], {}))
            while not poor.done():
                await endpoint.complete([Message("system", "S"), Message("user", "Rich.")], {})
            return str(poor.exception())

    with serving(behave) as server:
        assert asyncio.run(run(server.url)) == "HTTP 429: No. (refused 101 times)"


@pytest.mark.parametrize("hint", ["retry-after-ms", pytest.param(None, marks=pytest.mark.slow)])
def test_twenty_answers_against_a_limit_of_five_requests_in_a_window_are_all_judged(hint):
    window, lock, most = [], threading.Lock(), []

    def behave(_asked):
        with lock:
            now = time.monotonic()
            window[:] = [moment for moment in window if moment > now - 0.3]
            most.append(len(window))
            if len(window) == 5:
                wait = {hint: str(int((window[0] + 0.3 - now) * 1000) + 1)} if hint else {}
                return Response({"error": {"message": "5 requests in 0.3 s."}}, 429, wait)
            window.append(now)
        return FINE

    async def run(url):
        pace = Pace(concurrency=8)
        async with Endpoint(Call("judge-1", url, retries=0), "none", pace) as endpoint:
            replies = [endpoint.complete([Message("system", "S"), Message("user", str(n))], {}) for n in range(20)]
            return await asyncio.gather(*replies)

    with serving(behave) as server:
        replies = asyncio.run(run(server.url))
    assert [reply.reply.text for reply in replies] == ["{}"] * 20
    assert max(most) == 5
