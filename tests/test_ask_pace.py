"""What limits the requests of a run: tokens in a minute, requests at once, pauses for all, and what headers say."""

import asyncio
import time
from bisect import bisect_left
from collections import deque
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from cases import read_cases
from chat_server import Response, completion, serving
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Endpoint
from rubric_lint.judge.pace import Pace, TokenEstimate, read_used_up, read_wait
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
    pace = make_pace(clock, tpm=100)

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
    pace = make_pace(clock, concurrency=8)

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
    pace = make_pace(clock, concurrency=most)
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
    pace = make_pace(clock)

    async def run():
        pace.close()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pace.wait_turn(), 0.05)
        return pace.inside

    assert asyncio.run(run()) == 0


def test_a_pause_before_any_refusal_is_told_once():
    clock = Clock()
    pace = make_pace(clock)
    told = []
    pace.watch = lambda *what: told.append(what)
    pace.rest(0.5)
    assert (told, pace.left, pace.paused) == ([], 0.5, 0.5)
    other = make_pace(clock)
    other.watch = lambda *what: told.append(what)
    for seconds_ in (5, 7):
        other.rest(seconds_)
    assert (told, other.left, other.paused) == ([(5, "a reply says that it is used up")], 7, 7)


def test_one_refusal_pauses_all_requests_as_long_as_the_endpoint_asks():
    clock = Clock()
    shared = make_pace(clock)

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
    shared = make_pace(clock)
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
    shared = make_pace(clock)

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
    shared = make_pace(clock)

    async def run():
        times = 0
        while shared.hold(await shared.wait_turn(), None, "HTTP 429"):
            times += 1
        return times

    assert 25 <= asyncio.run(run()) <= 40
    assert 1800 <= clock.now - 1000 <= 1900


def test_rpm_spaces_requests_evenly():
    clock = Clock()
    shared = make_pace(clock, 5)

    async def run():
        async def one():
            await shared.wait_turn()
            return clock.now

        return await asyncio.gather(*(one() for _ in range(6)))

    assert sorted(asyncio.run(run())) == [1000, 1012, 1024, 1036, 1048, 1060]


def test_the_first_pause_is_told_once():
    clock = Clock()
    shared = make_pace(clock)
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
    shared = make_pace(clock)
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


# What headers and replies say


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
    ("headers", "body", "wait"),
    TABLES["waits in bodies and headers"],
    ids=lambda value: str(value)[:60],
)
def test_the_body_or_other_headers_may_say_how_long_to_wait(monkeypatch, headers, body, wait):
    monkeypatch.setattr(time, "time", lambda: NOW)
    assert read_wait(headers, body) == (None if wait is None else pytest.approx(wait, abs=1e-3))


def test_what_an_endpoint_writes_is_read_in_time_that_grows_with_it():
    for text in ("1s" * 20_000, "1 " * 20_000, "retry after " * 5000, "retry in " + "1s " * 5000, "1" * 100_000):
        start = time.process_time()
        read_wait({"retry-after": text, "x-ratelimit-reset": text, "ratelimit": text}, text)
        assert time.process_time() - start < 2


@pytest.mark.parametrize(("headers", "wait"), TABLES["a reply may say that a limit is used up"], ids=str)
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


def test_a_request_that_is_refused_again_and_again_while_others_are_answered_is_given_up(monkeypatch):
    monkeypatch.setattr("rubric_lint.judge.endpoint._MOST_REFUSALS", 5)

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
        assert asyncio.run(run(server.url)) == "HTTP 429: No. (refused 6 times)"
