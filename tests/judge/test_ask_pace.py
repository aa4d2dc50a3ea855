"""What limits the requests of a run: requests and tokens in a minute, one pause for all, and how long to wait."""

import asyncio
import random
import threading
import time
from bisect import bisect_left
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from heapq import heappop, heappush
from itertools import count

import pytest
from cases import read_cases
from chat_server import Response, completion, serving
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.judge.account import Account, RunLimit
from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Endpoint, Exchange, UnansweredError, _TryAgainError
from rubric_lint.judge.pace import Pace, read_wait
from rubric_lint.judge.prompt import Message
from rubric_lint.judge.waiting import Waiting
from rubric_lint.scoring.records.reply import Reply

TABLES = read_cases(__file__)

NOW = 1_795_000_000.0  # 2026-11-18T11:06:40Z
EPSILON = 1e-6
ASKED = [Message("system", "Grade."), Message("user", "This.")]


class Clock:
    """A time in which waiting takes no time: when nobody can go on, the next moment that is waited for begins."""

    def __init__(self):
        self.now = 1000.0
        self._sleeping = []
        self._numbers = count()

    async def sleep(self, seconds):
        future = asyncio.get_running_loop().create_future()
        heappush(self._sleeping, (self.now + seconds, next(self._numbers), future))
        await future

    def run(self, *work, most=100_000):
        """Run coroutines to their ends; fail if nobody can go on, or if it takes more than so many seconds."""

        async def run():
            tasks = [asyncio.create_task(each) for each in work]
            while True:
                for _ in range(20):  # let all tasks go on as far as they can
                    await asyncio.sleep(0)
                failed = [task for task in tasks if task.done() and not task.cancelled() and task.exception()]
                if failed or all(task.done() for task in tasks):
                    return [task.result() for task in failed]
                assert self._sleeping, "all wait, and nobody can go on"
                self.now, _, future = heappop(self._sleeping)
                assert self.now - 1000 <= most, "it takes too long"
                if not future.done():
                    future.set_result(None)

        asyncio.run(run())


@pytest.fixture(autouse=True)
def no_chance(monkeypatch):
    monkeypatch.setattr(random, "uniform", lambda low, _high: low)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def pace(clock):
    return make_pace(clock)


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
    waiting = zip(tokens, waits, strict=True)

    async def work():
        for amount, seconds in waiting:
            moment = await pace.wait_turn(amount)
            sent.append((moment, amount))
            await clock.sleep(seconds)
            pace.leave(more)
            pace.note_reply()

    clock.run(*(work() for _ in range(workers)))
    assert pace.in_flight == 0
    return sent


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


# What refusals do


def test_one_refusal_pauses_all_requests_as_long_as_the_endpoint_asks(clock, pace):
    async def run():
        assert pace.pause(await pace.wait_turn(), 12, "HTTP 429")
        pace.leave()
        assert pace.pause_left == 12
        return await pace.wait_turn()

    clock.run(run())
    assert (clock.now, pace.paused) == (1012, 12)


def test_the_pause_doubles_one_wave_counts_once_and_an_answer_ends_the_doubling(clock, pace):
    pauses = []

    async def refuse(requests, answers=0):
        sent = [await pace.wait_turn() for _ in range(requests)]
        for _ in range(answers):
            pace.note_reply()
        for moment in sent:
            pace.pause(moment, None, "HTTP 429")
            pace.leave()
        pauses.append(pace.pause_left)

    async def run():
        await refuse(8)
        for _ in range(8):
            await refuse(1)
        await refuse(1, answers=1)

    clock.run(run())
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60, 1]


def test_after_half_an_hour_of_refusals_alone_there_is_no_point_in_waiting_on(clock, pace):
    refused = []

    async def run():
        while pace.pause(await pace.wait_turn(), None, "HTTP 429"):
            pace.leave()
            refused.append(clock.now)

    clock.run(run(), most=2000)
    assert (len(refused), 1800 <= clock.now - 1000) == (35, True)


def test_only_the_first_pause_is_reported(clock, pace):
    reports = []
    pace.watch = lambda *report: reports.append(report)

    async def run():
        for wait, answers in ((5, 0), (5, 1), (7, 0)):
            pace.pause(await pace.wait_turn(), wait, "HTTP 429: busy")
            pace.leave()
            for _ in range(answers):
                pace.note_reply()

    clock.run(run())
    assert reports == [(5, "HTTP 429: busy")]


@pytest.mark.parametrize(
    ("hinted", "most_minutes", "most_refusals"), [(True, 8, 8), (False, 16, 50)], ids=["Retry-After", "no hint"]
)
def test_a_run_against_5_requests_a_minute_finishes(clock, pace, hinted, most_minutes, most_refusals):
    window, refused, waiting = deque(), [], iter(range(40))

    def serve():
        """Refuse what comes after 5 requests in the last 60 seconds: None, or how long to wait."""
        while window and window[0] <= clock.now - 60:
            window.popleft()
        if len(window) == 5:
            return window[0] + 60 - clock.now
        window.append(clock.now)
        return None

    async def work():
        for _ in waiting:
            sent = await pace.wait_turn()
            while (wait := serve()) is not None:
                refused.append(wait)
                assert pace.pause(sent, wait if hinted else None, "HTTP 429")
                pace.leave()
                sent = await pace.wait_turn()
            pace.note_reply()
            pace.leave()

    clock.run(*(work() for _ in range(8)))
    assert (7 <= (clock.now - 1000) / 60 <= most_minutes, len(refused) <= most_refusals) == (True, True)


@pytest.mark.parametrize(
    ("places", "most_refusals", "most_seconds"), [(1, 75, 125), (2, 25, 65), (4, 12, 36), (6, 8, 28)]
)
def test_an_endpoint_with_few_places_refuses_few_requests_and_stays_busy(
    clock, pace, places, most_refusals, most_seconds
):
    """60 requests, 8 at once, with replies in 2 s; no run could be faster than 120 s divided by the places."""
    inside, refused, waiting = [], [], iter(range(60))

    async def work():
        for number in waiting:
            sent = await pace.wait_turn()
            while len(inside) == places:
                refused.append(number)
                await clock.sleep(0.05)
                pace.pause(sent, None, "HTTP 429")
                pace.leave()
                sent = await pace.wait_turn()
            inside.append(number)
            await clock.sleep(2)
            inside.remove(number)
            pace.note_reply()
            pace.leave()

    clock.run(*(work() for _ in range(8)))
    assert (len(refused) <= most_refusals, clock.now - 1000 <= most_seconds) == (True, True)


# That nobody waits for ever


def one_at_once(clock):
    """A pace that allows one request at once, after a refusal."""
    pace = make_pace(clock)

    async def run():
        pace.pause(await pace.wait_turn(), 1, "HTTP 429")
        pace.leave()
        await clock.sleep(1)

    clock.run(run())
    return pace


def test_after_any_number_of_refusals_one_request_is_sent(clock, pace):
    async def run():
        for _ in range(20):
            pace.pause(await pace.wait_turn(), 1, "HTTP 429")
            pace.leave()

    clock.run(run(), run(), most=100)
    assert pace.in_flight == 0


def test_a_request_that_waits_for_its_turn_waits_for_a_pause_that_begins_meanwhile(clock):
    pace, start, sent = one_at_once(clock), clock.now, []

    async def refuse():
        moment = await pace.wait_turn()
        await clock.sleep(1)
        pace.pause(moment, 12, "HTTP 429")
        pace.leave()

    async def send():
        sent.append(await pace.wait_turn() - start)
        await clock.sleep(2)
        pace.leave()

    clock.run(refuse(), send(), send())
    assert sent == [13, 15]


@pytest.mark.parametrize(("number", "moment"), [(0, 0), (1, 0), (1, 0.5), (3, 1), (1, 1.5), (2, 1.5), (2, 3.5)])
def test_a_request_that_is_canceled_leaves_its_turn_to_the_next(clock, number, moment):
    pace, answered = one_at_once(clock), []

    async def send(name):
        await pace.wait_turn()
        try:
            await clock.sleep(1)
        finally:
            pace.leave()
        answered.append(name)

    async def run():
        tasks = [asyncio.create_task(send(name)) for name in range(4)]
        await clock.sleep(moment)
        tasks[number].cancel()
        await asyncio.wait(tasks)

    clock.run(run(), most=100)
    left = [name for name in range(4) if name != number or moment > number + 1]
    assert (answered, pace.in_flight) == (left, 0)


def test_a_request_that_is_canceled_while_it_is_woken_wakes_the_others_all_the_same(clock):
    pace, answered = one_at_once(clock), []

    async def send(name):
        await pace.wait_turn()
        pace.leave()
        answered.append(name)

    async def run():
        await pace.wait_turn()
        tasks = [asyncio.create_task(send(name)) for name in range(3)]
        await clock.sleep(1)
        pace.leave()
        tasks[0].cancel()
        await asyncio.wait(tasks)

    clock.run(run())
    assert answered == [1, 2]


ENDS = {
    "canceled": asyncio.CancelledError(),
    "no reply": UnansweredError("HTTP 400"),
    "a retry": _TryAgainError("the connection failed"),
    "a refusal": _TryAgainError("HTTP 429", is_refusal=True),
    "a long pause": _TryAgainError("HTTP 429", 3600.0, is_refusal=True),
    "a crash": ZeroDivisionError(),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_however_a_request_to_an_endpoint_ends_the_next_gets_its_turn(clock, monkeypatch, end):
    pace, account, sent = one_at_once(clock), Account(), []
    account.find_pace = lambda _: pace
    monkeypatch.setattr("rubric_lint.judge.endpoint._FIRST_DELAY", 0.0)

    async def post(_endpoint, _body, _charge):
        sent.append(clock.now)
        is_first = len(sent) == 1
        await clock.sleep(1)
        if is_first:
            raise end
        return Exchange(Reply("{}"), None, 1.0)

    async def run():
        async with Endpoint(Call("judge-1", "http://127.0.0.1:9"), "none", account) as endpoint:
            await asyncio.gather(*(endpoint.complete(ASKED, {}) for _ in range(4)), return_exceptions=True)

    monkeypatch.setattr(Endpoint, "_post", post)
    clock.run(run(), most=100)
    is_sent_again = isinstance(end, _TryAgainError) and end.wait is None
    assert (len(sent), pace.in_flight) == (4 + is_sent_again, 0)


@pytest.mark.parametrize("pause", [None, 30], ids=["for a turn", "for the end of a pause"])
def test_closing_cancels_all_requests_that_wait(clock, pause):
    pace, ends = one_at_once(clock), []

    async def wait():
        try:
            await pace.wait_turn()
        except asyncio.CancelledError:
            ends.append("canceled")

    async def run():
        sent = await pace.wait_turn()
        if pause:
            pace.pause(sent, pause, "HTTP 429")
        await clock.sleep(1)
        pace.close()
        await wait()

    clock.run(run(), wait(), wait())
    assert (ends, pace.in_flight) == (["canceled"] * 3, 1)


def test_requests_in_other_event_loops_get_a_turn_when_one_leaves():
    """Three threads, each with its own event loop, share a pace that allows one request at once."""
    pace, inside, most, begun = one_at_once(Clock()), [], [], threading.Barrier(3, timeout=5)

    async def run(name):
        async with asyncio.timeout(5):
            await asyncio.gather(send(name), send(name))

    async def send(name):
        for _ in range(20):
            await pace.wait_turn()
            inside.append(name)
            most.append(len(inside))
            await asyncio.sleep(0)
            inside.remove(name)
            pace.leave()

    def work(name):
        begun.wait()
        asyncio.run(run(name))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    assert (most, pace.in_flight) == ([1] * 120, 0)


def test_an_event_loop_that_was_closed_keeps_no_other_from_being_woken():
    waiting = Waiting()

    async def join():
        return waiting.join()

    async def run():
        future = waiting.join()
        waiting.wake()
        await asyncio.wait_for(future, 5)

    asyncio.run(join())
    asyncio.run(run())


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
    assert (round(pace.paused, 3) >= 0.3, len(server.asked)) == (True, 3)  # the clock is a float


@pytest.mark.slow
def test_clients_of_one_account_keep_one_pace_and_one_pause_in_all_event_loops():
    busy = Response({"error": {"message": "Busy."}}, 429, {"retry-after": "0.3"})
    with serving(lambda asked: FINE if asked.before else busy) as server:
        account, start = Account(RunLimit(rpm=300)), time.monotonic()
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
