"""What becomes of an answer when an endpoint misbehaves: a verdict only if the judge gave one, else a reason."""

import asyncio
import gzip
import json
import time
import zlib

import pytest
from chat_server import completion
from misbehaving_server import Drip, Reset, Silence, http, judged, misbehaving

from rubric_lint.judge.answers import read_answers
from rubric_lint.judge.asking import Plan
from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Endpoint
from rubric_lint.judge.run import JudgeRun, Panel, StoppedError
from rubric_lint.scoring.loading import load_rubrics

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
JUDGED = ("judged", {"reasoning": "Right.", "score": 8})
HUGE = 10_000_001
WITHOUT_REPLY = {"a byte now and then", "silence"}
NO_REDIRECT = "and no request follows with the key (name the right address with --base-url)"


def error(message, **more):
    return {"error": {"message": message, **more}}


def with_choice(**choice):
    return http({**BODY, "choices": [{**BODY["choices"][0], **choice}]})


def with_message(**message):
    return with_choice(message={"role": "assistant", **message})


def zipped(data=None, cut=None):
    return http(gzip.compress(data or json.dumps(BODY).encode())[:cut], "200 OK", "Content-Encoding: gzip")


def lost(message):
    return "lost", message


def tried(message):
    return "lost", f"{message} (tried 2 times)"


def invalid(message):
    return "invalid", message


# What the server sends first, what it sends then (None: the same again), and what becomes of the answer.
BEHAVIOURS = {
    "a good reply": (FINE, None, JUDGED),
    # statuses
    "400": (http(error("Too long."), "400 Bad Request"), None, lost("HTTP 400: Too long.")),
    "401 that shows the key": (
        http(error(f"Wrong key {KEY} of {HEADER}."), "401 Unauthorized"),
        None,
        lost("HTTP 401: Wrong key *** of ***."),
    ),
    "402": (http(error("No credit."), "402 Payment Required"), None, lost("HTTP 402: No credit.")),
    "403": (http("<html>Forbidden</html>", "403 Forbidden"), None, lost("HTTP 403: <html>Forbidden</html>")),
    "404": (http(error("No such model."), "404 Not Found"), None, lost("HTTP 404: No such model.")),
    "408 once": (http(error("Slow."), "408 Request Timeout"), FINE, JUDGED),
    "413": (http("<html>Too large</html>", "413 Payload Too Large"), None, lost("HTTP 413: <html>Too large</html>")),
    "422": (
        http({"detail": [{"msg": "wrong"}]}, "422 Unprocessable Entity"),
        None,
        lost('HTTP 422: {"detail": [{"msg": "wrong"}]}'),
    ),
    "500 once": (http(error("Oops."), "500 Internal Server Error"), FINE, JUDGED),
    "500 always": (http(error("Oops."), "500 Internal Server Error"), None, tried("HTTP 500: Oops.")),
    "502 with a page": (
        http("<html>\n<h1>Bad gateway</h1>", "502 Bad Gateway"),
        None,
        tried("HTTP 502: <html> <h1>Bad gateway</h1>"),
    ),
    "an unknown status": (http("?", "799 Odd"), None, tried("HTTP 799: ?")),
    "204": (b"HTTP/1.1 204 No Content\r\n\r\n", None, tried("the response is not a chat completion: it is empty")),
    "informational responses first": (b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + FINE, None, JUDGED),
    "a redirect to another host": (
        http("", "307 Temporary Redirect", "Location: http://127.0.0.1:9/v1?key=1"),
        None,
        lost(f"HTTP 307: the endpoint redirects to http://127.0.0.1:9/v1, {NO_REDIRECT}"),
    ),
    "a redirect that makes a GET": (
        http("", "302 Found", "Location: /login"),
        None,
        lost(f"HTTP 302: the endpoint redirects to /login, {NO_REDIRECT}"),
    ),
    # limits
    "429 with milliseconds": (http(error("Busy."), "429 Too Many Requests", "retry-after-ms: 30"), FINE, JUDGED),
    "429 with a negative wait": (http(error("Busy."), "429 Too Many Requests", "Retry-After: -5"), FINE, JUDGED),
    "429 with two waits": (
        http(error("Busy."), "429 Too Many Requests", "Retry-After: 0", "Retry-After: 0.05"),
        FINE,
        JUDGED,
    ),
    "429 by a clock that is years behind": (
        http(
            error("Busy."),
            "429 Too Many Requests",
            "Date: Mon, 01 Jan 2001 00:00:00 GMT",
            "Retry-After: Mon, 01 Jan 2001 00:00:00 GMT",
        ),
        FINE,
        JUDGED,
    ),
    "429 by a clock that is years ahead": (
        http(
            error("Busy."),
            "429 Too Many Requests",
            "Date: Thu, 01 Jan 2099 00:00:00 GMT",
            "Retry-After: Thu, 01 Jan 2099 00:00:00 GMT",
        ),
        FINE,
        JUDGED,
    ),
    "429 for two hours": (
        http(error("Quota."), "429 Too Many Requests", "Retry-After: 7200"),
        None,
        lost("HTTP 429: Quota.; the endpoint asks to wait 7200 s: run the same command again after that"),
    ),
    "429 for a request that alone exceeds the limit": (
        http(error("Request too large for m on tokens per min: Limit 10, Requested 12."), "429 Too Many Requests"),
        None,
        lost("HTTP 429: Request too large for m on tokens per min: Limit 10, Requested 12."),
    ),
    "429 without credit": (
        http(error("Pay.", code="insufficient_quota"), "429 Too Many Requests"),
        None,
        lost("HTTP 429: Pay."),
    ),
    "503 with a wait": (http("", "503 Service Unavailable", "Retry-After: 0.05"), FINE, JUDGED),
    "529": (http(error("Overloaded.", type="overloaded_error"), "529 Overloaded", "retry-after: 0.05"), FINE, JUDGED),
    "an overload with status 200": (http(error("Overloaded.", type="overloaded_error")), FINE, JUDGED),
    "a limit that a reply says is used up": (
        http(BODY, "200 OK", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 50ms"),
        None,
        JUDGED,
    ),
    # bodies
    "no body": (http(""), None, tried("the response is not a chat completion: it is empty")),
    "a page with status 200": (
        http("<html>Log in</html>"),
        None,
        tried("the response is not a chat completion: <html>Log in</html>"),
    ),
    "half of the JSON": (http(json.dumps(BODY)[:60]), None, tried("the response is not a chat completion: ...")),
    "two JSON values": (http(json.dumps(BODY) * 2), None, tried("the response is not a chat completion: ...")),
    "a list": (http([BODY]), None, tried("the response is not a chat completion: ...")),
    "deep JSON": (http("[" * 100_000), None, tried("the response is not a chat completion: ...")),
    "a choice twice": (
        http(json.dumps(BODY)[:-1] + ', "choices": []}'),
        None,
        tried("the response is not a chat completion: ..."),
    ),
    "a byte order mark": (http(b"\xef\xbb\xbf" + json.dumps(BODY).encode()), None, JUDGED),
    "bytes that are not UTF-8": (
        http(json.dumps(BODY).encode().replace(b"Right", b"R\xefght")),
        None,
        ("judged", {"reasoning": "R�ght.", "score": 8}),
    ),
    "UTF-16": (http(json.dumps(BODY).encode("utf-16")), None, tried("the response is not a chat completion: ...")),
    "more than 10 MB": (
        http(b" " * HUGE + json.dumps(BODY).encode()),
        None,
        tried("the body has more than 10 MB, the limit for a response"),
    ),
    "gzip": (zipped(), None, JUDGED),
    "gzip that is none": (
        http(b"no gzip at all", "200 OK", "Content-Encoding: gzip"),
        None,
        tried("the body is not valid gzip"),
    ),
    "gzip that is cut off": (zipped(cut=60), None, tried("the body is cut off inside its gzip data")),
    "gzip that unpacks to gigabytes": (
        zipped(b" " * HUGE),
        None,
        tried("the body has more than 10 MB, the limit for a response"),
    ),
    "deflate": (http(zlib.compress(json.dumps(BODY).encode()), "200 OK", "Content-Encoding: deflate"), None, JUDGED),
    "an encoding that was not asked for": (
        http(b"\x0b", "200 OK", "Content-Encoding: br"),
        None,
        tried("the body is packed with `br`; only gzip and deflate are accepted"),
    ),
    # connections
    "the connection closed at once": ((b"",), FINE, JUDGED),
    "the connection reset": (Reset(), FINE, JUDGED),
    "the connection closed after each reply": ((FINE,), None, JUDGED),
    "a body that is cut short": ((http(BODY, length=9999),), None, tried("the connection failed: ...")),
    "a byte now and then": (Drip(FINE), None, tried("no reply within 0.6 s")),
    "silence": (Silence(), None, tried("no reply within 0.6 s")),
    "no HTTP": ((b"SSH-2.0-OpenSSH_9.6\r\n",), None, tried("the connection failed: ...")),
    "broken chunks": (
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",),
        None,
        tried("the connection failed: ..."),
    ),
    "two lengths": (http(BODY, "200 OK", "Content-Length: 3"), None, tried("the connection failed: ...")),
    "a header of 200 kB": (http(BODY, "200 OK", "X-Long: " + "x" * 200_000), None, tried("the connection failed: ...")),
    # what a completion holds
    "no choices": (http({**BODY, "choices": []}), None, tried("the response is not a chat completion: ...")),
    "two choices that differ": (
        http({**BODY, "choices": [*BODY["choices"], {**BODY["choices"][0], "message": {"content": '{"score": 1}'}}]}),
        None,
        tried("the response has 2 different choices, and one was asked for"),
    ),
    "two choices that are the same": (
        http({**BODY, "choices": [*BODY["choices"], {**BODY["choices"][0], "index": 1}]}),
        None,
        JUDGED,
    ),
    "choices that are an object": (
        http({**BODY, "choices": BODY["choices"][0]}),
        None,
        tried("the response is not a chat completion: ..."),
    ),
    "choices that are null beside an error": (
        http({"choices": None, **error("Provider down.")}),
        None,
        tried("the endpoint failed: Provider down."),
    ),
    "a choice with an error": (
        with_choice(error={"message": "Provider broke.", "code": 502}),
        None,
        tried("the endpoint failed: Provider broke."),
    ),
    "a message that is a text": (
        with_choice(message=VERDICT),
        None,
        tried("the response is not a chat completion: ..."),
    ),
    "content that is a number": (
        with_message(content=8),
        None,
        invalid("the content of the message is 8, which is not text"),
    ),
    "content that is the verdict as an object": (
        with_message(content=json.loads(VERDICT)),
        None,
        invalid('the content of the message is {"reasoning": "Right.", "score": 8}, which is not text'),
    ),
    "content in parts": (with_message(content=[{"type": "text", "text": VERDICT}]), None, JUDGED),
    "the message of the user": (
        with_choice(message={"role": "user", "content": VERDICT}),
        None,
        tried("the response has a message of the role `user`, not of the model"),
    ),
    "counts that are texts": (http({**BODY, "usage": {"prompt_tokens": "100"}, "model": 7}), None, JUDGED),
    "an error with status 200": (http(error("Down.")), None, tried("the endpoint failed: Down.")),
    "an error that is a text": (http({"error": "down"}), None, tried('the endpoint failed: "down"')),
    "a refusal": (with_message(content=None, refusal="I cannot."), None, invalid("the model refused: I cannot.")),
    "a refusal beside a verdict": (
        with_message(content=VERDICT, refusal="I cannot."),
        None,
        invalid("the model refused: I cannot."),
    ),
    "a stop at the length": (
        with_choice(finish_reason="length"),
        None,
        invalid("the output was cut off at the token limit"),
    ),
    "a stop at the length in another word": (
        with_choice(finish_reason="MAX_TOKENS"),
        None,
        invalid("the output was cut off at the token limit"),
    ),
    "a content filter": (
        with_choice(finish_reason="content_filter"),
        None,
        invalid("a content filter withheld the output"),
    ),
    "a stop by an error": (
        with_choice(finish_reason="error"),
        None,
        invalid("the endpoint reports an error in the midst of the output"),
    ),
    "a call of a tool": (
        with_message(content=None, tool_calls=[{"function": {"name": "grade"}}]),
        None,
        invalid("the model called the tool `grade` instead of answering"),
    ),
    "reasoning alone": (
        with_message(content="", reasoning_content=VERDICT),
        None,
        invalid("the model returned reasoning but no answer"),
    ),
    "a score out of range": (
        judged('{"reasoning": "Right.", "score": 11}'),
        None,
        invalid("score 11 is outside 0..10"),
    ),
    "a score that is a text": (
        judged('{"reasoning": "Right.", "score": "8"}'),
        None,
        invalid('`score` is the string "8", expected an integer'),
    ),
    "a score that is NaN": (judged('{"reasoning": "Right.", "score": NaN}'), None, invalid("NaN is not JSON")),
    "two verdicts": (
        judged(f"{VERDICT}\n\n{VERDICT}"),
        None,
        invalid('expected one JSON object and nothing else, found "{...",…"'),
    ),
    "the keys in the reasoning": (
        judged(json.dumps({"reasoning": f"{KEY} {HEADER}", "score": 8})),
        None,
        ("judged", {"reasoning": "*** ***", "score": 8}),
    ),
    "the key as the verdict": (judged(KEY), None, invalid('no JSON object in this text: "***"')),
}


class Kept:
    def __init__(self):
        self.judged = {}
        self.records = []

    def append(self, record):
        self.records.append(record)


async def ask(url, name):
    """What becomes of an answer, its record if it has one, and all that was said."""
    line = json.dumps({"id": "a", "answer": name}).encode()
    said, kept = [], Kept()
    timeout = 0.6 if name in WITHOUT_REPLY else 45  # the others take long only on a busy machine
    call = Call("judge-1", url, timeout=timeout, retries=1)
    panel = Panel([Endpoint(call, KEY, headers={"x-team": HEADER})])
    panel.watch_pauses(lambda *what: said.append(str(what)))
    run = JudgeRun(panel, kept, Plan(max_attempts=1), lambda _, fault: said.append(fault))
    async with panel:
        try:
            await run.judge(read_answers([line], RUBRIC))
        except StoppedError as fault:
            said.append(str(fault))
    if not kept.records:
        message = next(each for each in said if each and each.startswith("not judged: "))
        return ("lost", message.removeprefix("not judged: ")), "", said
    (record,) = kept.records
    fault = record["judge"].get("fault")
    return ("judged", record["output"]) if fault is None else ("invalid", fault), json.dumps(record), said


@pytest.fixture(scope="module")
def outcomes():
    """What becomes of all of them, asked at once, each at an endpoint of its own; and how long that took."""

    def find(name, number, _headers):
        first, then, _ = BEHAVIOURS[name]
        return then if number and then is not None else first

    async def run(url):
        return await asyncio.gather(*(ask(url, name) for name in BEHAVIOURS))

    with misbehaving(find) as (url, asked):
        start = time.monotonic()
        found = dict(zip(BEHAVIOURS, asyncio.run(run(url)), strict=True))
        return found, dict(asked), time.monotonic() - start


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_an_answer_gets_the_verdict_that_the_judge_gave_or_the_reason_why_not(outcomes, name):
    (kind, what), _, _ = outcomes[0][name]
    expected_kind, expected = BEHAVIOURS[name][2]
    if isinstance(expected, str) and "..." in expected:  # the words of a library, or of the server
        start, end = expected.split("...")
        assert (kind, what.startswith(start), what.endswith(end)) == (expected_kind, True, True)
    else:
        assert (kind, what) == (expected_kind, expected)


def test_neither_a_record_nor_a_message_holds_a_key(outcomes):
    texts = {name: record + str(said) for name, (_, record, said) in outcomes[0].items()}
    assert [name for name, text in texts.items() if KEY[3:9] in text or HEADER[:9] in text] == []


def test_what_cannot_pass_is_asked_once_and_what_may_pass_again(outcomes):
    _, asked, _ = outcomes
    expected = {
        name: 2 if then is not None or (kind == "lost" and what.endswith("(tried 2 times)")) else 1
        for name, (_, then, (kind, what)) in BEHAVIOURS.items()
    }
    # On a busy machine, these requests may be given up before the server has read them.
    assert asked | {name: expected[name] for name in WITHOUT_REPLY} == expected


def test_nothing_hangs(outcomes):
    assert outcomes[2] < 60
