"""G1: what an endpoint's limits on the rate of requests do to a run."""

import asyncio
import time
from collections import deque
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from rubric_lint.judge.pace import Pace, read_wait

NOW = 1_795_000_000.0  # 2026-11-18T11:06:40Z


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.25"}, 0.25),
        ({"Retry-After": format_datetime(datetime.fromtimestamp(NOW + 90, UTC), usegmt=True)}, 90),
        ({"retry-after": format_datetime(datetime.fromtimestamp(NOW - 90, UTC), usegmt=True)}, 0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "20", "x-ratelimit-reset-requests": "59s"}, 20),
        # OpenAI, Groq: durations as Go writes them
        ({"x-ratelimit-reset-requests": "1s"}, 1),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-reset-requests": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset-requests": "2m59.56s"}, 179.56),
        # Azure, Together, Cerebras: seconds
        ({"x-ratelimit-reset-tokens": "12"}, 12),
        ({"x-ratelimit-reset": "1"}, 1),
        ({"x-tokenlimit-reset": "3"}, 3),
        ({"x-ratelimit-reset-tokens-minute": "11.38"}, 11.38),
        # OpenRouter, GitHub: a moment, in milliseconds or seconds since 1970
        ({"X-RateLimit-Reset": f"{(NOW + 30) * 1000:.0f}"}, 30),
        ({"x-ratelimit-reset": f"{NOW + 30:.0f}"}, 30),
        # Anthropic: a moment as RFC 3339 writes it
        ({"anthropic-ratelimit-requests-reset": datetime.fromtimestamp(NOW + 45, UTC).isoformat()}, 45),
        ({"anthropic-ratelimit-requests-reset": "2026-11-18T11:07:00Z"}, 20),
        # the drafts of the IETF
        ({"ratelimit-reset": "50"}, 50),
        ({"ratelimit": '"default";r=0;t=30'}, 30),
        ({"ratelimit": '"burst";r=3;t=5, "daily";r=0;t=40'}, 40),
        ({"ratelimit": "limit=100, remaining=0, reset=50"}, 50),
        # of several limits the one that is used up counts
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "8s",
                "x-ratelimit-remaining-tokens": "9000",
                "x-ratelimit-reset-tokens": "1m0s",
            },
            8,
        ),
        ({"x-ratelimit-reset-requests": "8s", "x-ratelimit-reset-tokens": "1m0s"}, 8),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9", "x-ratelimit-reset-day": "4000"}, 9),
        # nothing that can be read
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "NaN"}, None),
        ({"x-ratelimit-reset-requests": "later"}, None),
        ({"x-ratelimit-limit-requests": "5"}, None),
        ({"x-reset-password": "5"}, None),
    ],
    ids=str,
)  # fmt: skip
def test_every_usual_way_of_saying_how_long_to_wait_is_read(monkeypatch, headers, wait):
    monkeypatch.setattr(time, "time", lambda: NOW)
    assert read_wait(headers) == (None if wait is None else pytest.approx(wait, abs=1e-3))


@pytest.mark.parametrize(
    ("body", "wait"),
    [
        ("Rate limit reached for m. Limit: 3 / min. Please try again in 20s.", 20),
        ("Please try again in 1m12.5s. Visit", 72.5),
        ("Please try again in 6ms.", 0.006),
        ("Please retry after 34 seconds.", 34),
        ("Please retry in 1 minute 5 seconds", 65),
        ('{"@type": "RetryInfo", "retryDelay": "34s"}', 34),
        ("Please try again in a while.", None),
        ("x" * 20_000 + "try again in 5s", None),
    ],
)
def test_where_no_header_says_it_the_words_do(body, wait):
    assert read_wait({}, body) == (None if wait is None else pytest.approx(wait))


def test_what_an_endpoint_writes_is_read_in_time_that_grows_with_it():
    for text in ("1s" * 20_000, "1 " * 20_000, "retry after " * 5000, "retry in " + "1s " * 5000, "1" * 100_000):
        start = time.process_time()
        read_wait({"retry-after": text, "x-ratelimit-reset": text, "ratelimit": text}, text)
        assert time.process_time() - start < 2


# The pace


class Clock:
    """A time in which waiting takes no time: whoever sleeps longest is woken last."""

    def __init__(self):
        self.now = 1000.0

    async def sleep(self, seconds):
        end = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, end)


def pace(clock, rpm=None):
    return Pace(rpm, clock=lambda: clock.now, sleep=clock.sleep)


def test_one_refusal_pauses_all_requests_as_long_as_the_endpoint_asks():
    clock = Clock()
    shared = pace(clock)

    async def run():
        assert shared.hold(await shared.wait_turn(), 12, "HTTP 429")
        assert 12 <= shared.left <= 13.2
        for _ in range(3):
            await shared.wait_turn()
            sent.append(clock.now)

    sent = []
    asyncio.run(run())
    assert len(sent) == 3
    assert all(1012 <= moment <= 1015 for moment in sent)
    assert 12 <= shared.paused <= 13.2


def test_where_the_endpoint_says_nothing_the_pause_doubles_and_one_wave_counts_once():
    clock = Clock()
    shared = pace(clock)
    pauses = []

    async def run():
        sent = [await shared.wait_turn() for _ in range(8)]
        for moment in sent:
            shared.hold(moment, None, "HTTP 429")
        pauses.append(shared.left)
        for _ in range(8):
            shared.hold(await shared.wait_turn(), None, "HTTP 429")
            pauses.append(shared.left)

    asyncio.run(run())
    wanted = [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert [low <= pause <= 1.1 * low for low, pause in zip(wanted, pauses, strict=True)] == [True] * 9


def test_an_answer_ends_the_doubling():
    clock = Clock()
    shared = pace(clock)

    async def run():
        for _ in range(5):
            shared.hold(await shared.wait_turn(), None, "HTTP 429")
        await shared.wait_turn()
        shared.go_on()
        shared.hold(await shared.wait_turn(), None, "HTTP 429")
        return shared.left

    assert 1 <= asyncio.run(run()) <= 1.1


def test_after_half_an_hour_of_refusals_alone_there_is_no_point_in_waiting_on():
    clock = Clock()
    shared = pace(clock)

    async def run():
        times = 0
        while shared.hold(await shared.wait_turn(), None, "HTTP 429"):
            times += 1
        return times

    assert 25 <= asyncio.run(run()) <= 40
    assert 1800 <= clock.now - 1000 <= 1900


def test_rpm_spaces_requests_evenly():
    clock = Clock()
    shared = pace(clock, rpm=5)

    async def run():
        async def one():
            await shared.wait_turn()
            return clock.now

        return await asyncio.gather(*(one() for _ in range(6)))

    assert sorted(asyncio.run(run())) == [1000, 1012, 1024, 1036, 1048, 1060]


def test_the_first_pause_is_told_once():
    clock = Clock()
    shared = pace(clock)
    told = []
    shared.watch = lambda *what: told.append(what)

    async def run():
        shared.hold(await shared.wait_turn(), 5, "HTTP 429: busy")
        shared.hold(await shared.wait_turn(), 5, "HTTP 429: busy")
        shared.go_on()
        shared.hold(await shared.wait_turn(), 7, "HTTP 429: busy")

    asyncio.run(run())
    assert told == [(5, "HTTP 429: busy")]


@pytest.mark.parametrize("hinted", [True, False], ids=["with Retry-After", "without a word"])
def test_a_run_against_5_requests_a_minute_finishes(hinted):
    clock = Clock()
    shared = pace(clock)
    window, refused = deque(), []

    def serve():
        """Refuse what comes after 5 requests in the last 60 seconds: None, or how long to wait."""
        while window and window[0] <= clock.now - 60:
            window.popleft()
        if len(window) == 5:
            return window[0] + 60 - clock.now
        window.append(clock.now)
        return None

    async def one():
        while True:
            sent = await shared.wait_turn()
            wait = serve()
            if wait is None:
                shared.go_on()
                return
            refused.append(wait)
            assert shared.hold(sent, wait if hinted else None, "HTTP 429")

    async def run():
        waiting = iter(range(40))

        async def work():
            for _ in waiting:
                await one()

        await asyncio.gather(*(work() for _ in range(8)))

    asyncio.run(run())
    assert 7 * 60 <= clock.now - 1000 <= (8.5 if hinted else 16) * 60
    assert len(refused) <= (8 if hinted else 60)
