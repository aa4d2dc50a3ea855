import asyncio
import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from chat_server import CUT, DRIP, Response, completion, serving

from rubric_lint.ask.endpoint import Call, Endpoint, Reply, UnansweredError
from rubric_lint.judge import Message

KEY = "sk-secret-0123456789"
MESSAGES = (Message("system", "Grade."), Message("user", "This."))
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def ask(server, **call):
    """The reply of one request, or what its failure says and whether it is lasting."""

    async def complete():
        async with Endpoint(Call("judge-1", server.url, **call), KEY) as endpoint:
            return await endpoint.complete(MESSAGES, SCHEMA)

    try:
        return asyncio.run(complete())
    except UnansweredError as fault:
        return str(fault), fault.lasting


def after(*responses):
    """A server's behaviour: these responses one after the other, the last one again and again."""
    return lambda asked: responses[min(asked.before, len(responses) - 1)]


FINE = completion('{"checks": []}')
REPLY = Reply('{"checks": []}', None, 100, 10)


# What is asked


def test_a_request_asks_for_the_schema_in_strict_mode():
    with serving(FINE) as server:
        assert ask(server) == REPLY
    assert [asked.body for asked in server.asked] == [
        {
            "model": "judge-1",
            "messages": [{"role": "system", "content": "Grade."}, {"role": "user", "content": "This."}],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "judge_output", "strict": True, "schema": SCHEMA},
            },
        }
    ]
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"response_format": "json_object"}, {"response_format": {"type": "json_object"}}),
        ({"response_format": "text"}, {}),
        ({"response_format": "text", "temperature": 0.0}, {"temperature": 0.0}),
    ],
    ids=["JSON", "the prompt alone", "a temperature"],
)
def test_a_request_asks_for_less_where_an_endpoint_takes_no_schema(call, expected):
    with serving(FINE) as server:
        ask(server, **call)
    body = server.asked[0].body
    assert {name: value for name, value in body.items() if name not in {"model", "messages"}} == expected


# What comes back


@pytest.mark.parametrize(
    ("response", "reply"),
    [
        (completion(None, refusal="I cannot help."), Reply("", "the model refused: I cannot help.", 100, 10)),
        (completion(""), Reply("", "the output is empty", 100, 10)),
        (completion(None), Reply("", "the output is empty", 100, 10)),
        (completion(" \n"), Reply(" \n", "the output is empty", 100, 10)),
        (
            completion('{"chec', finish_reason="length"),
            Reply('{"chec', "the output was cut off at the limit of its tokens", 100, 10),
        ),
        (
            completion("", finish_reason="content_filter"),
            Reply("", "the output was withheld by a content filter", 100, 10),
        ),
        (completion([{"type": "text", "text": "{"}, {"type": "thinking"}, {"type": "text", "text": "}"}]),
         Reply("{}", None, 100, 10)),
        (Response({"choices": [{"message": {"content": "{}"}}]}), Reply("{}")),
        (Response({"choices": [{"message": {"content": "{}"}}], "usage": {"prompt_tokens": None}}), Reply("{}")),
    ],
    ids=["refusal", "empty", "null", "blank", "cut off", "filtered", "in parts", "bare", "without counts"],
)  # fmt: skip
def test_a_reply_says_what_is_wrong_with_it(response, reply):
    with serving(response) as server:
        assert ask(server) == reply
    assert len(server.asked) == 1


# What may pass


@pytest.mark.parametrize(
    "failure",
    [
        Response({"error": {"message": "Busy."}}, 429),
        Response({"error": {"message": "Busy."}}, 429, {"retry-after": "soon"}),
        Response({"error": {"message": "Oops."}}, 500),
        Response("<html>Bad gateway</html>", 502, {"content-type": "text/html"}),
        Response("", 503),
        Response({"error": {"message": "Too slow."}}, 408),
        CUT,
        Response(FINE.body, cut_off=True),
        Response('{"choices": [{"mess'),
        Response("<html>Hello</html>", headers={"content-type": "text/html"}),
        Response(""),
        Response({"choices": []}),
        Response({"choices": None, "error": {"message": "The provider is down.", "code": 502}}),
        Response([1, 2]),
        Response("[" * 100_000),
    ],
    ids=["429", "429 soon", "500", "502", "503", "408", "connection cut", "body cut", "half JSON", "page", "empty",
         "no choice", "error with 200", "list", "deep"],
)  # fmt: skip
def test_a_failure_that_passes_is_asked_again(failure):
    with serving(after(failure, FINE)) as server:
        assert ask(server) == REPLY
    assert len(server.asked) == 2


def test_retry_after_is_waited_for():
    with serving(after(Response({}, 429, {"retry-after": "1"}), FINE)) as server:
        started = time.monotonic()
        assert ask(server) == REPLY
    assert time.monotonic() - started >= 1


def test_retry_after_may_be_a_date():
    then = datetime.now(UTC) + timedelta(seconds=2.9)
    with serving(after(Response({}, 503, {"retry-after": format_datetime(then, usegmt=True)}), FINE)) as server:
        assert ask(server) == REPLY
    assert datetime.now(UTC) >= then.replace(microsecond=0)


def test_a_slow_response_is_asked_for_again():
    with serving(after(FINE._replace(delay=1.5), FINE)) as server:
        assert ask(server, timeout=0.5) == REPLY
    assert len(server.asked) == 2


def test_a_response_that_only_drips_in_is_no_response():
    with serving(DRIP) as server:
        assert ask(server, timeout=0.4, retries=0) == ("no reply within 0.4 s", False)


# What does not pass


@pytest.mark.parametrize(
    ("failure", "message", "times"),
    [
        (Response({"error": {"message": "Busy."}}, 429), "HTTP 429: Busy. (tried 2 times)", 2),
        (Response("<html>\n  Oops", 500), "HTTP 500: <html> Oops (tried 2 times)", 2),
        (Response({"error": {"message": "Too long."}}, 400), "HTTP 400: Too long.", 1),
        (Response({"detail": "No such field."}, 422), 'HTTP 422: {"detail": "No such field."}', 1),
        (Response({}, 429, {"retry-after": "3600"}), "HTTP 429: {}; asked to wait for 3600 s", 1),
        (
            Response("<html>Hello</html>", headers={"content-type": "text/html"}),
            "the response is no chat completion: <html>Hello</html> (tried 2 times)",
            2,
        ),
        (Response(""), "the response is no chat completion: it is empty (tried 2 times)", 2),
        (Response({"error": {"message": "Down."}}), "the endpoint failed: Down. (tried 2 times)", 2),
        (Response({"error": "down"}), 'the endpoint failed: "down" (tried 2 times)', 2),
    ],
    ids=["429", "500", "400", "422", "long pause", "page", "empty", "error with 200", "error that is a text"],
)
def test_a_failure_that_stays_says_what_came_back(failure, message, times):
    with serving(failure) as server:
        assert ask(server, retries=1) == (message, False)
    assert len(server.asked) == times


@pytest.mark.parametrize(
    "failure",
    [
        Response({"error": {"message": "Wrong."}}, 401),
        Response({"error": {"message": "Wrong."}}, 402),
        Response({"error": {"message": "Wrong."}}, 404),
        Response({"error": {"message": "Wrong.", "code": "insufficient_quota"}}, 429),
    ],
    ids=["key", "credit", "model", "quota"],
)
def test_what_every_request_would_get_is_asked_once_and_marked(failure):
    with serving(failure) as server:
        assert ask(server) == (f"HTTP {failure.status}: Wrong.", True)
    assert len(server.asked) == 1


JSON_SCHEMA = (
    "(asked with --response-format json_schema; json_object asks for less, text for nothing but what the prompt says)"
)
JSON_OBJECT = "(asked with --response-format json_object; text asks for nothing but what the prompt says)"


@pytest.mark.parametrize(
    ("failure", "form", "message"),
    [
        (
            Response({"error": {"message": "This response_format type is unavailable now"}}, 400),
            "json_schema",
            f"HTTP 400: This response_format type is unavailable now {JSON_SCHEMA}",
        ),
        (
            Response({"error": {"message": "This model does not support response format `json_schema`."}}, 400),
            "json_schema",
            f"HTTP 400: This model does not support response format `json_schema`. {JSON_SCHEMA}",
        ),
        (
            Response({"error": {"message": "Unsupported.", "param": "response_format"}}, 400),
            "json_schema",
            f"HTTP 400: Unsupported. {JSON_SCHEMA}",
        ),
        (
            Response({"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs"}]}, 422),
            "json_schema",
            f'HTTP 422: {{"detail": [{{"loc": ["body", "response_format"], "msg": "Extra inputs"}}]}} {JSON_SCHEMA}',
        ),
        (
            Response({"error": {"message": 'response_format type must be one of "text" or "json_object"'}}, 500),
            "json_schema",
            f'HTTP 500: response_format type must be one of "text" or "json_object" {JSON_SCHEMA}',
        ),
        (
            Response({"error": {"message": "'response_format.type' must be 'json_schema' or 'text'"}}, 400),
            "json_object",
            f"HTTP 400: 'response_format.type' must be 'json_schema' or 'text' {JSON_OBJECT}",
        ),
        (
            Response({"error": {"message": f"{'x' * 400} response_format"}}, 400),
            "json_schema",
            f"HTTP 400: {'x' * 289}… {JSON_SCHEMA}",
        ),
    ],
    ids=["kind", "model", "parameter", "field", "500", "JSON alone", "long"],
)
def test_an_endpoint_that_does_not_know_the_format_is_asked_once_and_the_way_out_is_told(failure, form, message):
    with serving(failure) as server:
        assert ask(server, response_format=form) == (message, True)
    assert len(server.asked) == 1


def test_nothing_is_advised_where_no_format_was_asked_for_or_the_failure_passes():
    about = {"error": {"message": "response_format"}}
    with serving(Response(about, 400)) as server:
        assert ask(server, response_format="text") == ("HTTP 400: response_format", False)
    with serving(after(Response(about, 429), FINE)) as server:
        assert ask(server) == REPLY


def test_an_endpoint_that_is_not_there():
    with serving(FINE) as server:
        pass
    message, lasting = ask(server, retries=1)
    assert (message.startswith("the connection failed: "), message.endswith(" (tried 2 times)"), lasting) == (
        True,
        True,
        False,
    )


@pytest.mark.parametrize("padding", [0, 250, 275, 285, 298])
@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
def test_no_message_holds_the_key_or_a_part_of_it(status, padding):
    echo = f"{'.' * padding}{KEY} is the key"
    for body in (echo, {"error": {"message": echo}}, {"error": echo}, {"detail": [echo]}):
        with serving(Response(body, status)) as server:
            message, _ = ask(server, retries=0)
        assert KEY[:4] not in message
        assert json.dumps(KEY)[1:5] not in message
