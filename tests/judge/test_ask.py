import asyncio
import json
import socket
import time
from types import SimpleNamespace

import pytest
from cases import read_cases
from chat_server import Response, completion, serving

from rubric_lint.judge.endpoint import Call, Endpoint, UnansweredError
from rubric_lint.judge.prompt import Message
from rubric_lint.scoring.records.reply import Reply, Tokens, read_reply

TABLES = read_cases(__file__)


KEY = "sk-secret-0123456789"
MESSAGES = (Message("system", "Grade."), Message("user", "This."))
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def ask(server, **call):
    """The reply of one request, or what its failure says and whether it is lasting."""

    async def complete():
        async with Endpoint(Call("judge-1", server.url, **call), KEY) as endpoint:
            return (await endpoint.complete(MESSAGES, SCHEMA)).reply

    try:
        return asyncio.run(complete())
    except UnansweredError as fault:
        return str(fault), fault.lasting


def after(*responses):
    """A server's behaviour: these responses one after the other, the last one again and again."""
    return lambda asked: responses[min(asked.before, len(responses) - 1)]


FINE = completion('{"checks": []}')
COUNTED = (Tokens(100, 10), "judge-1")
REPLY = Reply('{"checks": []}', None, *COUNTED)


# What is asked


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "expected"), TABLES["a request asks for less"].values(), ids=TABLES["a request asks for less"]
)
def test_a_request_asks_for_less_where_an_endpoint_takes_no_schema(call, expected):
    with serving(FINE) as server:
        ask(server, **call)
    body = server.asked[0].body
    assert {name: value for name, value in body.items() if name not in {"model", "messages"}} == expected


# What comes back


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (completion(None, refusal="I cannot help."), ""),
        (completion(""), ""),
        (completion(None), ""),
        (completion(" \n"), " \n"),
        (completion('{"chec', finish_reason="length"), '{"chec'),
        (completion("", finish_reason="content_filter"), ""),
        (completion([{"type": "text", "text": "{"}, {"type": "thinking"}, {"type": "text", "text": "}"}]), "{}"),
        (completion(None, tool_calls=[{"id": "t", "function": {"name": "grade", "arguments": "{}"}}]), ""),
        (completion("", function_call={"name": "grade", "arguments": "{}"}), ""),
        (completion('{"score": 7}', tool_calls=[{"function": {"name": "search"}}]), '{"score": 7}'),
        (completion("", tool_calls="x", function_call=7), ""),
        (completion(None, reasoning_content='It is right: {"score": 9}'), ""),
        (completion("", reasoning="Hm."), ""),
        (completion([{"type": "thinking", "thinking": "Hm."}]), ""),
        (completion("", reasoning_content=""), ""),
        (completion("", finish_reason="length", reasoning_content="Hm"), ""),
        (completion([{"type": "refusal", "refusal": "No."}]), ""),
        (Response({"choices": [{"message": {"content": "{}"}}]}), "{}"),
        (Response({"choices": [{"message": {"content": "{}"}}], "usage": {"prompt_tokens": None}}), "{}"),
    ],
    ids=["refusal", "empty", "null", "blank", "cut off", "filtered", "in parts", "tool", "function",
     "tool beside an answer", "no tool", "reasoning", "reasoning elsewhere", "reasoning in parts", "no reasoning",
     "cut off in its reasoning",
     "refusal in parts", "bare", "without counts"],
)  # fmt: skip
def test_a_reply_says_what_is_wrong_with_it(response, text, said):
    model = {"model": "judge-1"} if "created" in response.body else {}
    reply = read_reply(json.dumps({**model, **response.body}))
    assert reply == Reply(text, reply.fault, *(COUNTED if model else ()))
    said(f"fault: {reply.fault}")


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 5}}, Tokens(9, 2, 5)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 0}, Tokens(9, None, 0)),
        ({"completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 1}}, Tokens(None, 2, None, 1)),
        ({"prompt_tokens": True, "completion_tokens": -1, "prompt_tokens_details": [1]}, Tokens()),
        (None, Tokens()),
    ],
    ids=["cached", "cached elsewhere", "reasoning", "no counts", "nothing"],
)
def test_tokens_are_counted_where_the_endpoint_says_them(usage, tokens):
    body = {"model": "judge-1-2026", "choices": [{"message": {"content": "{}"}}], "usage": usage}
    assert read_reply(json.dumps(body)) == Reply("{}", None, tokens, "judge-1-2026")


@pytest.mark.slow
@pytest.mark.parametrize(("url", "shown"), TABLES["the address of an endpoint"])
def test_the_address_of_an_endpoint_is_shown_without_secrets(url, shown):
    assert Endpoint(Call("judge-1", url), KEY).name == shown


# What may pass


@pytest.mark.slow
def test_retry_after_is_waited_for():
    with serving(after(Response({}, 429, {"retry-after": "0.2"}), FINE)) as server:
        started = time.monotonic()
        assert ask(server) == REPLY
    assert time.monotonic() - started >= 0.2


@pytest.mark.slow
def test_a_refusal_for_too_many_requests_is_no_failed_try():
    busy = Response({"error": {"message": "Busy."}}, 429, {"retry-after": "0.02"})
    with serving(after(*[busy] * 6, FINE)) as server:
        assert ask(server, retries=0) == REPLY
    assert len(server.asked) == 7


def test_a_pause_longer_than_ten_minutes_ends_the_run(said):
    with serving(Response({"error": {"message": "Quota."}}, 429, {"retry-after": "7200"})) as server:
        message, lasting = ask(server)
    assert lasting
    said(message)
    assert len(server.asked) == 1


# What does not pass


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


REFUSED_FORMATS = TABLES["REFUSED_FORMATS"]
STRICT = {"type": "json_schema", "json_schema": {"name": "judge_output", "strict": True, "schema": SCHEMA}}
IN_OBJECT = {"type": "json_object", "schema": SCHEMA}
PLAIN = {"type": "json_object"}
FORMS = {"json_schema": [STRICT, IN_OBJECT, PLAIN], "json_object": [PLAIN]}


@pytest.mark.spread(3)
@pytest.mark.parametrize("form", ["json_schema", "json_object"])
@pytest.mark.parametrize("failure", REFUSED_FORMATS)
def test_an_endpoint_that_takes_no_schema_is_asked_once_in_each_form_and_the_way_out_is_told(failure, form, said):
    body, status = REFUSED_FORMATS[failure]
    with serving(Response(body, status)) as server:
        message, lasting = ask(server, response_format=form)
    assert (message.startswith(f"HTTP {status}: "), lasting) == (True, True)
    assert [asked.body["response_format"] for asked in server.asked] == FORMS[form]
    said(message)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accepted", "named", "asked_as"),
    [
        (IN_OBJECT, "json_object with schema", [STRICT, IN_OBJECT, IN_OBJECT]),
        (PLAIN, "json_object", [STRICT, IN_OBJECT, PLAIN, PLAIN]),
    ],
    ids=["schema", "plain"],
)
@pytest.mark.parametrize("failure", REFUSED_FORMATS)
def test_an_endpoint_that_takes_less_than_a_strict_schema_gets_that_from_then_on(failure, accepted, named, asked_as):
    body, status = REFUSED_FORMATS[failure]

    def behave(asked):
        return FINE if asked.body["response_format"] == accepted else Response(body, status)

    async def ask_twice():
        async with Endpoint(Call("judge-1", server.url), KEY) as endpoint:
            replies = [(await endpoint.complete(MESSAGES, SCHEMA)).reply for _ in range(2)]
            return replies, endpoint.form, endpoint.refusal

    with serving(behave) as server:
        replies, form, refusal = asyncio.run(ask_twice())
    assert (replies, form) == ([REPLY, REPLY], named)
    assert (refusal.startswith(f"HTTP {status}: "), "--response-format" in refusal) == (True, False)
    assert [asked.body["response_format"] for asked in server.asked] == asked_as


TOO_LONG = Response({"error": {"message": "Requested tokens (2100) exceed context window of 2048"}}, 400)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (Response({"error": {"message": "unknown field `schema`"}}, 400), ("HTTP 400: response_format", True)),
        (TOO_LONG, ("HTTP 400: Requested tokens (2100) exceed context window of 2048", False)),
        (Response({"error": {"message": "Busy."}}, 500), ("HTTP 500: Busy.", False)),
    ],
    ids=["refused", "too long", "passing"],
)
def test_what_says_nothing_about_the_other_form_is_not_blamed_on_the_format(second, expected):
    def behave(asked):
        refused = Response({"error": {"message": "response_format"}}, 400)
        return second if asked.body["response_format"] == IN_OBJECT else refused

    with serving(behave) as server:
        message, lasting = ask(server, retries=0)
    assert (message.partition(" (asked with")[0], lasting) == expected


@pytest.mark.slow
def test_nothing_is_advised_where_no_format_was_asked_for_or_the_failure_passes():
    about = {"error": {"message": "response_format"}}
    with serving(Response(about, 400)) as server:
        assert ask(server, response_format="text") == ("HTTP 400: response_format", False)
    with serving(after(Response(about, 429, {"retry-after": "0.02"}), FINE)) as server:
        assert ask(server) == REPLY


@pytest.mark.slow
def test_an_endpoint_that_is_not_there():
    with serving(FINE) as server:
        pass
    message, lasting = ask(server, retries=1)
    assert (message.startswith("the connection failed: "), message[-16:], lasting) == (True, " (tried 2 times)", False)


@pytest.mark.slow
def test_a_server_without_tls_and_a_name_without_an_address_say_so_and_no_key(monkeypatch):
    with serving(FINE) as server:
        without_tls = ask(SimpleNamespace(url=server.url.replace("http:", "https:")), retries=0)

    def resolve(host, *_args, **_more):
        raise socket.gaierror(socket.EAI_NONAME, f"no address of {host}")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    without_address = ask(SimpleNamespace(url="http://judge.invalid/v1"), retries=1)
    for (message, lasting), words in ((without_tls, "SSL"), (without_address, "judge.invalid")):
        assert (message.startswith("the connection failed: "), words in message, KEY in message) == (True, True, False)
        assert not lasting


@pytest.mark.parametrize("padding", [0, 250, 275, 285, 298])
def test_no_message_holds_a_part_of_the_key_where_it_is_cut(padding):
    echo = f"{'.' * padding}{KEY} is the key"
    with serving(lambda asked: Response(echo if asked.before else {"detail": [echo]}, 400)) as server:
        messages = [ask(server)[0] for _ in range(2)]
    assert KEY[:4] not in str(messages)
