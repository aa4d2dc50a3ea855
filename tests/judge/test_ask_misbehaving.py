"""What becomes of an answer when an endpoint misbehaves: a verdict only if the judge gave one, else a reason."""

import asyncio
import gzip
import json
import re
import time
import zlib
from collections import Counter

import pytest
from chat_server import Raw, completion, serving

from rubric_lint.judge.answers import read_answers
from rubric_lint.judge.asking import JudgeOptions
from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Endpoint
from rubric_lint.judge.run import JudgeRun, Panel, StoppedError
from rubric_lint.scoring.loading import load_rubrics


def http(body, status="200 OK", *headers, length=None, end=""):
    """A response in bytes."""
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers]
    lines.append(f"Content-Length: {len(data) if length is None else length}")
    return Raw("\r\n".join(lines).encode() + b"\r\n\r\n" + data, end)


def judged(content, **more):
    """A completion with this content."""
    return http(completion(content, **more).body)


KEY = "sk-secret-0123456789"
HEADER = "team-secret-0123456789"
RUBRIC = load_rubrics(
    "a.rubric.yaml",
    b"""\
rubrics:
  - {score_range: [0, 4], expected_outcome: Contradicts the source.}
  - {score_range: [5, 10], expected_outcome: Agrees with the source in every statement.}
""",
)
VERDICT = '{"reasoning": "Right.", "score": 8}'
FINE = judged(VERDICT)
BODY = completion(VERDICT).body
HUGE = 10_000_001
WITHOUT_REPLY = {"a byte now and then", "silence"}


def error(message, **more):
    return {"error": {"message": message, **more}}


def too_many(message, *headers):
    return http(error(message), "429 Too Many Requests", *headers)


def by_clock(day):
    return f"Date: {day} 00:00:00 GMT", f"Retry-After: {day} 00:00:00 GMT"


def with_choice(**choice):
    return http({**BODY, "choices": [{**BODY["choices"][0], **choice}]})


def with_message(**message):
    return with_choice(message={"role": "assistant", **message})


def zipped(data=None, cut=None):
    return http(gzip.compress(data or json.dumps(BODY).encode())[:cut], "200 OK", "Content-Encoding: gzip")


AT_ONCE = {  # judged from the first reply
    "a good reply": FINE,
    "informational responses first": Raw(b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + FINE.data),
    "a byte order mark": http(b"\xef\xbb\xbf" + json.dumps(BODY).encode()),
    "gzip": zipped(),
    "deflate": http(zlib.compress(json.dumps(BODY).encode()), "200 OK", "Content-Encoding: deflate"),
    "the connection closed after each reply": FINE._replace(end="close"),
    "two choices that are the same": http({**BODY, "choices": [*BODY["choices"], {**BODY["choices"][0], "index": 1}]}),
    "content in parts": with_message(content=[{"type": "text", "text": VERDICT}]),
    "a reply of another model": http({**BODY, "model": "judge-9"}),
    "no usage": http({**BODY, "usage": None}),
    "counts below zero": http({**BODY, "usage": {"prompt_tokens": -1, "completion_tokens": -(10**30)}}),
    "counts that are texts": http({**BODY, "usage": {"prompt_tokens": "100"}, "model": 7}),
}
AT_LAST = {  # judged from the second reply
    "408 once": http(error("Slow."), "408 Request Timeout"),
    "409 once": http(error("Busy."), "409 Conflict"),
    "425 once": http(error("Early."), "425 Too Early"),
    "500 once": http(error("Oops."), "500 Internal Server Error"),
    "429 without a wait": too_many("Busy."),
    "429 with a wait in seconds": too_many("Busy.", "Retry-After: 0.05"),
    "429 with a wait that is a word": too_many("Busy.", "Retry-After: soon"),
    "429 with a wait of 400 digits": too_many("Busy.", f"Retry-After: {'9' * 400}"),
    "429 with a page": http("<html>Busy</html>", "429 Too Many Requests", "Retry-After: 0.05"),
    "429 with a negative wait": too_many("Busy.", "Retry-After: -5"),
    "429 by a clock that is years behind": too_many("Busy.", *by_clock("Mon, 01 Jan 2001")),
    "429 by a clock that is years ahead": too_many("Busy.", *by_clock("Thu, 01 Jan 2099")),
    "503 with a wait": http("", "503 Service Unavailable", "Retry-After: 0.05"),
    "529": http(error("Overloaded.", type="overloaded_error"), "529 Overloaded", "retry-after: 0.05"),
    "an overload with status 200": http(error("Overloaded.", type="overloaded_error")),
    "the connection closed at once": Raw(end="close"),
    "the connection reset": Raw(end="reset"),
    "the connection reset inside a body": Raw(FINE.data[:-20], "reset"),
}
LOST = {  # not asked again
    "400": http(error("Too long."), "400 Bad Request"),
    "401 that shows the key": http(error(f"Wrong key {KEY} of {HEADER}."), "401 Unauthorized"),
    "402": http(error("No credit."), "402 Payment Required"),
    "403": http("<html>Forbidden</html>", "403 Forbidden"),
    "404": http(error("No such model."), "404 Not Found"),
    "413": http("<html>Too large</html>", "413 Payload Too Large"),
    "422": http({"detail": [{"msg": "wrong"}]}, "422 Unprocessable Entity"),
    "a redirect to another host": http("", "307 Temporary Redirect", "Location: http://127.0.0.1:9/v1?key=1"),
    "a redirect to itself": http("", "308 Permanent Redirect", "Location: /v1/chat/completions"),
    "a redirect that makes a GET": http("", "302 Found", "Location: /login"),
    "429 for two hours": too_many("Quota.", "Retry-After: 7200"),
    "429 for a request that alone exceeds the limit": too_many(
        "Request too large for m on tokens per min: Limit 10, Requested 12."
    ),
    "429 without credit": http(error("Pay.", code="insufficient_quota"), "429 Too Many Requests"),
}
TRIED = {  # asked twice
    "500 always": http(error("Oops."), "500 Internal Server Error"),
    "502 with a page": http("<html>\n<h1>Bad gateway</h1>", "502 Bad Gateway"),
    "an unknown status": http("?", "799 Odd"),
    "204": Raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "no body": http(""),
    "a page with status 200": http("<html>Log in</html>"),
    "502 without a word": http("", "502 Bad Gateway"),
    "half of the JSON": http(json.dumps(BODY)[:60]),
    "two JSON values": http(json.dumps(BODY) * 2),
    "a list": http([BODY]),
    "deep JSON": http("[" * 100000),
    "a choice twice": http(json.dumps(BODY)[:-1] + ', "choices": 1}'),
    "UTF-16": http(json.dumps(BODY).encode("utf-16")),
    "more than 10 MB": http(b" " * HUGE + json.dumps(BODY).encode()),
    "gzip that is none": http(b"no gzip at all", "200 OK", "Content-Encoding: gzip"),
    "gzip that is cut off": zipped(cut=60),
    "gzip inside gzip": http(gzip.compress(gzip.compress(b" ")), "200 OK", "Content-Encoding: gzip, gzip"),
    "gzip that unpacks to gigabytes": zipped(b" " * HUGE),
    "an encoding that was not asked for": http(b"\x0b", "200 OK", "Content-Encoding: br"),
    "a body that is cut short": http(BODY, length=9999, end="close"),
    "a byte now and then": Raw(FINE.data, "close", pause=0.05),
    "silence": Raw(end="silence"),
    "no HTTP": Raw(b"SSH-2.0-OpenSSH_9.6\r\n", "close"),
    "broken chunks": Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n", "close"),
    "two lengths": http(BODY, "200 OK", "Content-Length: 3"),
    "a header of 200 kB": http(BODY, "200 OK", "X-Long: " + "x" * 200000),
    "no choices": http({**BODY, "choices": []}),
    "two choices that differ": http(
        {**BODY, "choices": [*BODY["choices"], {**BODY["choices"][0], "message": {"content": '{"score": 1}'}}]}
    ),
    "choices that are an object": http({**BODY, "choices": BODY["choices"][0]}),
    "choices that are null beside an error": http({"choices": None, **error("Down.")}),
    "a choice with an error": with_choice(error={"message": "Down.", "code": 502}),
    "a message that is a text": with_choice(message=VERDICT),
    "the message of the user": with_choice(message={"role": "user", "content": VERDICT}),
    "an error with status 200": http(error("Down.")),
    "an error that is a text": http({"error": "down"}),
}
INVALID = {  # an answer that is no verdict
    "empty content": with_message(content=""),
    "no content": with_message(),
    "content that is a number": with_message(content=8),
    "content that is the verdict as an object": with_message(content=json.loads(VERDICT)),
    "a refusal": with_message(content=None, refusal="I cannot."),
    "a refusal beside a verdict": with_message(content=VERDICT, refusal="I cannot."),
    "a stop at the length": with_choice(finish_reason="length"),
    "a stop at the length in another word": with_choice(finish_reason="MAX_TOKENS"),
    "a content filter": with_choice(finish_reason="content_filter"),
    "a stop by an error": with_choice(finish_reason="error"),
    "a call of a tool": with_message(content=None, tool_calls=[{"function": {"name": "grade"}}]),
    "reasoning alone": with_message(content="", reasoning_content=VERDICT),
    "a score out of range": judged('{"reasoning": "Right.", "score": 11}'),
    "a score that is a text": judged('{"reasoning": "Right.", "score": "8"}'),
    "a score that is NaN": judged('{"reasoning": "Right.", "score": NaN}'),
    "two verdicts": judged(f"{VERDICT}\n\n{VERDICT}"),
    "the key as the verdict": judged(KEY),
}
SAID = {  # judged at once, with these outputs
    "bytes that are not UTF-8": (http(json.dumps(BODY).encode().replace(b"Right", b"R\xefght")), "R�ght."),
    "the keys in the reasoning": (judged(json.dumps({"reasoning": f"{KEY} {HEADER}", "score": 8})), "*** ***"),
}
REPLIES = AT_ONCE | AT_LAST | LOST | TRIED | INVALID | {name: reply for name, (reply, _) in SAID.items()}


class Kept:
    def __init__(self):
        self.judged = {}
        self.records = []

    def append(self, record):
        self.records.append(record)


async def ask(url, name):
    """What becomes of an answer, its record if it has one, all that was said, and what its requests used."""
    line = json.dumps({"id": "a", "answer": name}).encode()
    said, kept = [], Kept()
    timeout = 0.6 if name in WITHOUT_REPLY else 45  # the others take long only on a busy machine
    call = Call("judge-1", url, timeout=timeout, retries=1)
    panel = Panel([Endpoint(call, KEY, headers={"x-team": HEADER})])
    panel.watch_pauses(lambda *what: said.append(str(what)))
    run = JudgeRun(panel, kept, JudgeOptions(max_attempts=1), lambda _, fault: said.append(fault))
    async with panel:
        try:
            await run.judge(read_answers([line], RUBRIC))
        except StoppedError as fault:
            said.append(str(fault))
    if not kept.records:
        message = next(each for each in said if each and each.startswith("not judged: "))
        return ("lost", message.removeprefix("not judged: ")), "", said, panel.account.spending
    (record,) = kept.records
    fault = record["judge"].get("fault")
    found = ("judged", record["output"]) if fault is None else ("invalid", fault)
    return found, json.dumps(record), said, panel.account.spending


@pytest.fixture(scope="module")
def outcomes():
    """What becomes of all of them, asked at once, each at an endpoint of its own; and how long that took."""

    def find(asked):
        return FINE if asked.before and asked.answer in AT_LAST else REPLIES[asked.answer]

    async def run(url):
        return await asyncio.gather(*(ask(url, name) for name in REPLIES))

    with serving(find) as chat:
        start = time.monotonic()
        found = dict(zip(REPLIES, asyncio.run(run(chat.url)), strict=True))
        return found, Counter(each.answer for each in chat.asked), time.monotonic() - start


@pytest.mark.slow
@pytest.mark.parametrize("name", AT_ONCE | AT_LAST | SAID)
def test_an_answer_gets_the_verdict_that_the_judge_gave(outcomes, name):
    _, reasoning = SAID.get(name, (None, "Right."))
    assert outcomes[0][name][0] == ("judged", {"reasoning": reasoning, "score": 8})


@pytest.mark.slow
@pytest.mark.parametrize("name", LOST | TRIED | INVALID)
def test_an_answer_without_a_verdict_gets_the_reason(outcomes, name, said):
    (kind, what), *_ = outcomes[0][name]
    assert (kind, what.endswith("(tried 2 times)")) == ("invalid" if name in INVALID else "lost", name in TRIED)
    said(re.sub(r"(?<=connection failed: ).*", "...", what)[:150])  # what follows are the words of another package


@pytest.mark.slow
def test_neither_a_record_nor_a_message_holds_a_key(outcomes):
    texts = {name: record + str(said) for name, (_, record, said, _) in outcomes[0].items()}
    assert [name for name, text in texts.items() if KEY[3:9] in text or HEADER[:9] in text] == []


def test_what_cannot_pass_is_asked_once_and_what_may_pass_again(outcomes):
    _, asked, _ = outcomes
    expected = {name: 2 if name in AT_LAST | TRIED else 1 for name in REPLIES}
    # On a busy machine, these requests may be given up before the server has read them.
    assert asked | {name: expected[name] for name in WITHOUT_REPLY} == expected


def test_every_request_counts_and_those_without_a_reply_to_read_too(outcomes):
    found, asked, _ = outcomes
    counted = {name: spending.requests for name, (*_, spending) in found.items() if name not in WITHOUT_REPLY}
    assert counted == {name: asked[name] for name in counted}
    usable = {name for name, (*_, spending) in found.items() if spending.unusable < spending.requests}
    spoken = {"a score out of range", "a score that is a text", "a score that is NaN", "two verdicts"}
    assert usable == {*AT_ONCE, *AT_LAST, *SAID, *spoken, "the key as the verdict"}


def test_nothing_hangs(outcomes):
    assert outcomes[2] < 60
