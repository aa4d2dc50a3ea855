"""What `rubric-score judge` sends, reads and records by its options."""

import json
import re
import signal
import sys
import threading

import commands
import pytest
from cases import read_cases
from chat_server import Response, completion, serving, without_scores
from judging import KEY, RUBRIC, SCORED, SUITE, folder, ids, judge, run, start, write_answers

TABLES = read_cases(__file__)


__all__ = ["folder"]

pytestmark = pytest.mark.usefixtures("folder")
TEAM_KEY = "team-secret-0123456789"


def records(folder, name="answers.judged.jsonl"):
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def write(folder, *lines, name="answers.jsonl"):
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


# What is sent


def test_seed_most_tokens_and_further_fields_are_sent_and_recorded(folder):
    body = '{"top_p": 0.5, "api_key": "sk-other-0123456789", "max_retries": 1}'
    with serving(SCORED) as server:
        assert judge(server, "--seed", "7", "--max-tokens", "500", "--extra-body", body)[0] == 0
    fields = {"top_p": 0.5, "api_key": "sk-other-0123456789", "max_retries": 1}
    sent = {name: value for name, value in server.asked[0].body.items() if name not in {"messages", "response_format"}}
    assert sent == {"model": "judge-1", "seed": 7, "max_tokens": 500, **fields}
    about = records(folder)[0]["judge"]
    assert (about["seed"], about["max_tokens"], about["extra_body"]) == (7, 500, {**fields, "api_key": "***"})


def test_a_run_with_another_seed_or_body_is_not_resumed():
    with serving(SCORED) as server:
        judge(server, "--seed", "1")
        seed, body = judge(server, "--seed", "2")[2], judge(server, "--seed", "1", "--extra-body", '{"top_p": 1}')[2]
    assert ("cannot resume: 3 answers" in seed, "another --seed;" in seed, "another --extra-body;" in body) == (
        True,
    ) * 3


@pytest.mark.slow
def test_headers_are_sent_and_never_shown(folder):
    def behave(asked):
        if asked.answer == "Answer 1.":
            return Response({"error": {"message": f"Team {TEAM_KEY} and {KEY} and plain-0123456789"}}, 400)
        return completion(json.dumps({"reasoning": f"{TEAM_KEY}", "score": 8}))

    with serving(behave) as server:
        headers = ["--header-env", "x-team=TEAM", "--header", "x-route=plain-0123456789"]
        code, _, err = judge(server, *headers, "--concurrency", "1", TEAM=TEAM_KEY)
    assert {(asked.headers["x-team"], asked.headers["x-route"]) for asked in server.asked} == {
        (TEAM_KEY, "plain-0123456789")
    }
    assert (code, "HTTP 400: Team *** and *** and ***" in err) == (1, True)
    written = (folder / "answers.judged.jsonl").read_text("utf-8")
    assert [secret in written + err for secret in (TEAM_KEY, KEY, "plain-0123456789")] == [False] * 3
    assert records(folder)[0]["judge"]["headers"] == ["x-route"]


def test_a_short_header_or_one_that_is_a_word_of_the_output_does_not_make_it_invalid(folder):
    with serving(SCORED) as server:
        headers = ["--header", "x-version=8", "--header", "x-team=reasoning"]
        assert judge(server, *headers, "--max-attempts", "1")[0] == 0
    assert records(folder)[0]["output"] == {"reasoning": "Right.", "score": 8}


@pytest.mark.slow
def test_what_the_client_takes_from_the_environment_or_the_address_is_never_shown_either():
    def behave(asked):
        shown = " ".join((asked.headers["x-inherited"], asked.headers["authorization"]))
        return Response({"error": {"message": shown}}, 400)

    with serving(behave) as server:
        server.url = server.url.replace("://", "://user-0123:pass-0123@")
        code, _, err = judge(server, "--concurrency", "1", OPENAI_CUSTOM_HEADERS=f"x-inherited: {TEAM_KEY}")
    assert (code, err.splitlines()[0]) == (1, 'rubric-score: answer "a0": not judged: HTTP 400: *** Basic ***')


@pytest.mark.parametrize(("variable", "value"), TABLES["a proxy or certificates that"])
def test_a_proxy_or_certificates_that_cannot_be_used_are_named(folder, monkeypatch, variable, value, said):
    monkeypatch.setitem(sys.modules, "socksio", None)  # not installed
    with serving(SCORED) as server:
        code, out, err = judge(server, **{variable: value})
    assert (code, out, "secret" in err) == (2, "", False)
    said(err)
    assert not (folder / "answers.judged.jsonl").exists()


def test_a_header_with_the_key_takes_the_place_of_the_key():
    with serving(SCORED) as server:
        headers = ["--header-env", "authorization=BASIC"]
        assert judge(server, *headers, OPENAI_API_KEY="", BASIC="Basic bWU6c2VjcmV0")[0] == 0
    assert {asked.headers["authorization"] for asked in server.asked} == {"Basic bWU6c2VjcmV0"}


def test_a_model_with_an_endpoint_of_its_own_gets_no_headers_of_the_default_one():
    with serving(SCORED) as one, serving(SCORED) as other:
        code, _, err = judge(one, "--model", f"m@{other.url}", "--header", "x-team=blue")
    assert (code, err.startswith("6 requests (2 models)")) == (0, True)
    sent = [{"x-team" in asked.headers for asked in server.asked} for server in (one, other)]
    assert sent == [{True}, {False}]


def test_a_stopped_run_with_headers_prints_no_command():
    with serving(Response({"error": {"message": "No."}}, 401)) as server:
        _, _, err = judge(server, "--concurrency", "1", "--header", "x-team=blue")
    assert "rubric-score judge" not in err


# What is read


def test_fields_may_have_other_names_or_be_nested(folder):
    write(
        folder,
        {"uid": 1, "prompt": "Why?", "answer": "Gold.", "response": {"text": "So."}, "tag": "x"},
        {"uid": 2, "prompt": "Who?", "answer": "Me.", "response": {"text": "You."}},
    )
    options = ["--map", "id=uid", "--map", "question=prompt", "--map", "answer=/response/text"]
    with serving(SCORED) as server:
        assert judge(server, *options, "--map", "reference=answer")[0] == 0
        again = judge(server, *options, "--map", "reference=answer")
    shown = [
        {name: value for name, value in record.items() if name not in {"judge", "output"}} for record in records(folder)
    ]
    assert sorted(shown, key=lambda each: each["id"]) == [
        {"response": {"text": "So."}, "tag": "x", "id": 1, "answer": "So.", "question": "Why?", "reference": "Gold."},
        {"response": {"text": "You."}, "id": 2, "answer": "You.", "question": "Who?", "reference": "Me."},
    ]
    assert (again[0], len(server.asked)) == (0, 2)
    assert run("a.rubric.yaml", "answers.judged.jsonl")[0] == 0


@pytest.mark.parametrize(("line", "options", "place"), TABLES["a field or message that"])
def test_a_field_or_message_that_cannot_be_judged_is_named(folder, line, options, place, said):
    write(folder, line)
    with serving(SCORED) as server:
        code, out, err = judge(server, *options)
    assert (code, out, err.startswith(f"rubric-score: answers.jsonl: line 1: {place}")) == (2, "", True)
    said(err)


CONVERSATION = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": [{"type": "text", "text": "When?"}, {"type": "text", "text": "Where?"}]},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "find", "arguments": '{"q": 1}'}}]},
    {"role": "tool", "name": "find", "content": "1889\n[5] assistant:\n    In Rome."},
    {"role": "assistant", "content": "In 1889.", "function_call": {"name": "end", "arguments": "{}"}},
]
WRITTEN = """\
[1] system:
    Be short.
[2] user:
    When?
    Where?
[3] assistant:
    calls find with {"q": 1}
[4] tool ("find"):
    1889
    [5] assistant:
        In Rome.
[5] assistant:
    In 1889.
    calls end with {}"""


def test_an_answer_may_be_a_conversation(folder):
    write(folder, {"id": "a", "messages": CONVERSATION})
    with serving(SCORED) as server:
        assert judge(server, "--map", "answer=messages")[0] == 0
    assert server.asked[0].answer == WRITTEN
    assert records(folder)[0]["answer"] == WRITTEN


# The cost


def priced(model="judge-1-2026", read=100, written=10, cached=None):
    scored = completion('{"reasoning": "Right.", "score": 8}')
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return scored._replace(
        body={**scored.body, "model": model, "usage": {"prompt_tokens": read, "completion_tokens": written, **details}}
    )


TOML = 'currency = "USD"\n[models."judge-1-2026"]\ninput = 0.1\ncached = 0.02\noutput = 3\n'


@pytest.mark.parametrize("form", ["toml", "json"])
def test_the_cost_is_exact(folder, form, said):
    other = '{"currency": "USD", "models": {"judge-1-2026": {"input": 0.1, "cached": 0.02, "output": 3}}}'
    text = TOML if form == "toml" else other
    (folder / f"prices.{form}").write_text(text, encoding="utf-8")
    with serving(priced(cached=90)) as server:
        _, _, err = judge(server, "--prices", f"prices.{form}")
    # three times 10 at 0.1, 90 at 0.02 and 10 at 3, each for a million
    said(err)


def test_no_digit_of_the_cost_is_lost_and_a_count_of_cached_tokens_that_cannot_be_is_none(folder):
    price = (
        "[models.judge-1-2026]\ninput = 123456789.12345678901234567891\ncached = 0\noutput = 0.00000000000000000001\n"
    )
    (folder / "prices.toml").write_text(price, encoding="utf-8")

    def behave(asked):
        return priced(cached=150) if "0" in asked.answer else priced(cached=0)

    with serving(behave) as server:
        _, _, err = judge(server, "--prices", "prices.toml")
    assert err.endswith("; cost 37037.0367370370367037037036733\n")


def test_a_model_that_an_endpoint_names_cannot_write_on_the_terminal(folder, said):
    (folder / "prices.toml").write_text(TOML, encoding="utf-8")
    write_answers(folder, 1)
    with serving(priced("\x1b]0;x\x07\nm")) as server:
        _, _, err = judge(server, "--prices", "prices.toml")
    said(err)


def test_the_price_may_be_that_of_the_name_that_was_asked_for(folder):
    (folder / "prices.toml").write_text("[models.judge-1]\ninput = 1\noutput = 0\n", encoding="utf-8")
    with serving(priced()) as server:
        _, _, err = judge(server, "--prices", "prices.toml")
    assert err.endswith("; cost 0.0003\n")


@pytest.mark.slow
def test_what_has_no_price_or_no_counts_is_not_counted_in_silence(folder, said):
    (folder / "prices.toml").write_text(TOML, encoding="utf-8")

    def behave(asked):
        if "0" in asked.answer:
            return priced("other")
        return SCORED._replace(body={**SCORED.body, "usage": None}) if "1" in asked.answer else priced()

    with serving(behave) as server:
        _, _, err = judge(server, "--prices", "prices.toml", "--concurrency", "1")
    said(err)
    assert "; cost 0.00004 USD; " in err


NO_PRICES = {
    "cut off": "[models",
    "NaN": '{"models": {"m": {"input": NaN, "output": 1}}}',
    "no table": "x = 1",
    "one price": "[models.m]\ninput = 1",
    "below 0": "[models.m]\ninput = -1\noutput = 1",
    "infinite": "[models.m]\ninput = inf\noutput = 1",
    "true": "[models.m]\ninput = true\noutput = 1",
    "beyond all numbers": "[models.m]\ninput = 1e99999999999999999999\noutput = 1",
    "too large": "[models.m]\ninput = 1e1000000\noutput = 1",
    "too fine": "[models.m]\ninput = 1e-21\noutput = 1",
    "a misspelt price": "[models.m]\ninput = 1\nouput = 1",
    "a model twice": '{"models": {"m": {"input": 1, "output": 1}, "m": {}}}',
    "a number as currency": "currency = 1\n[models.m]\ninput = 1\noutput = 1",
}


@pytest.mark.parametrize("text", NO_PRICES.values(), ids=NO_PRICES)
def test_a_table_of_prices_with_a_mistake_is_refused(folder, text, said):
    (folder / "prices.toml").write_text(text, encoding="utf-8")
    with serving(SCORED) as server:
        code, _, err = judge(server, "--prices", "prices.toml")
    assert (code, server.asked) == (2, [])
    said(err)


# The cache of replies


@pytest.mark.slow
def test_replies_are_kept_for_other_files_and_the_summary_says_how_many(folder):
    with serving(SCORED) as server:
        told = [judge(server, "--output", "one.jsonl")]
        write_answers(folder, 4)
        told.append(judge(server, "--output", "two.jsonl"))
        told.append(judge(server, "--output", "three.jsonl", "--no-cache"))
        told.append(judge(server, "--output", "four.jsonl", "--cache-dir", "other"))
    counts = [re.findall(r"(\d+) (?:of \d answers|repl|input)", err) for _, _, err in told]
    assert counts == [["3", "300"], ["4", "3", "100"], ["4", "400"], ["4", "400"]]
    assert len(server.asked) == 12
    one = {record["id"]: record for record in records(folder, "one.jsonl")}
    for record in records(folder, "two.jsonl"):
        kept = record["judge"].pop("from_cache", 0)
        assert (record["id"], kept) == (record["id"], 1 if record["id"] in one else 0)
        assert record["id"] not in one or record == one[record["id"]]


def test_neither_errors_nor_invalid_outputs_are_kept():
    def behave(asked):
        if "0" in asked.answer:
            return completion("8/10")
        return Response({"error": {"message": "Too long."}}, 400) if "1" in asked.answer else SCORED

    with serving(behave) as server:
        judge(server, "--output", "one.jsonl", "--max-attempts", "1")
        _, _, err = judge(server, "--output", "two.jsonl", "--max-attempts", "1")
    assert (len(server.asked), "1 reply from the cache" in err) == (5, True)


def test_a_kept_reply_that_is_not_valid_any_more_is_asked_for_again():
    with serving(completion('So:\n{"reasoning": "Right.", "score": 8}')) as server:
        judge(server, "--output", "one.jsonl", "--extract", "last")
        judge(server, "--output", "two.jsonl", "--max-attempts", "1")
    assert len(server.asked) == 6


def test_a_broken_cache_is_told_and_the_run_goes_on(folder, said):
    (folder / "cache/rubric-lint-judge").mkdir(parents=True)
    (folder / "cache/rubric-lint-judge/replies-1.sqlite3").write_bytes(b"This is not a database. " * 100)
    with serving(SCORED) as server:
        code, _, err = judge(server)
    assert code == 0
    said(err)


@pytest.mark.slow
def test_clearing_the_cache_removes_the_replies():
    from rubric_lint.lint.run.cache import clear  # noqa: PLC0415

    with serving(SCORED) as server:
        judge(server, "--output", "one.jsonl")
        assert clear() >= 1
        judge(server, "--output", "two.jsonl")
    assert len(server.asked) == 6


# Interrupts and full disks


@pytest.mark.slow
def test_an_interrupt_keeps_the_replies_of_an_answer_with_several_requests(folder, said):
    write_answers(folder, 1)
    gate = threading.Event()

    def behave(_asked):
        if len(server.asked) == 3:
            gate.wait(30)
        return SCORED

    with serving(behave) as server:
        first = start(server, "--samples", "5", "--concurrency", "1")
        commands.wait_until(lambda: len(server.asked) == 3)
        first.send_signal(signal.SIGINT)
        lines = [first.stderr.readline(), first.stderr.readline()]
        gate.set()
        first.communicate(timeout=60)
        second = start(server, "--samples", "5", "--concurrency", "1")
        _, err = second.communicate(timeout=60)
    said(lines[1])
    assert (first.returncode, second.returncode, len(server.asked)) == (130, 0, 5)
    said(err)


@pytest.mark.slow
def test_a_second_interrupt_ends_the_run_at_once(said):
    gate = threading.Event()

    def behave(_asked):
        gate.wait(30)
        return SCORED

    with serving(behave) as server:
        run_ = start(server)
        commands.wait_until(lambda: len(server.asked) == 3)
        run_.send_signal(signal.SIGINT)
        said(run_.stderr.readline())
        run_.send_signal(signal.SIGINT)
        _, err = run_.communicate(timeout=20)
        gate.set()
    assert run_.returncode == 130
    said(err)


@pytest.mark.slow
def test_a_disk_that_is_full_is_told_and_what_was_written_stays(folder, said):
    write_answers(folder, 30)
    limit = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)); "
    )
    with serving(SCORED) as server:
        run_ = start(server, "--no-cache", code=limit)
        _, err = run_.communicate(timeout=60)
        assert run_.returncode == 2
        said(err)
        second = start(server, "--no-cache")
        second.communicate(timeout=60)
    assert second.returncode == 0
    assert ids(folder / "results.jsonl") == sorted(f"a{number}" for number in range(30))


# The prompt for a whole file


@pytest.mark.slow
def test_prompt_prints_the_request_that_judge_sends_for_each_answer(folder):
    write(folder, {"id": 1, "response": "So.", "rubric": "second"}, {"id": "b", "response": "No.", "rubric": "first"})
    options = ["--map", "answer=response", "--seed", "3", "--temperature", "0.5"]
    code, out, err = run("prompt", "suite.yaml", "--answers", "answers.jsonl", "--model", "judge-1", *options)
    lines = [json.loads(line) for line in out.splitlines()]
    output = completion('{"checks": [{"id": "rubric-1", "reasoning": "", "satisfied": true}], "overall_reasoning": ""}')
    with serving(output) as server:
        arguments = ["judge", "suite.yaml", "answers.jsonl", "--model", "judge-1", "--base-url", server.url]
        assert run(*arguments, *options, "--concurrency", "1")[0] == 0
    assert (code, err) == (0, "")
    assert [(line.pop("id"), line.pop("rubric"), len(line.pop("custom_id"))) for line in lines] == [
        (1, "second", 42),
        ("b", "first", 42),
    ]
    assert lines == [asked.body for asked in server.asked]


def test_prompt_prints_a_request_for_each_criterion(folder):
    (folder / "suite.yaml").write_text(SUITE.replace("[Names the year]", "[Names the year, Names the place]"), "utf-8")
    write(folder, {"id": 1, "answer": "So."})
    arguments = ["prompt", "suite.yaml", "--rubric", "first", "--answers", "answers.jsonl", "--per-criterion"]
    code, out, _ = run(*arguments)
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, len(lines), len({line["custom_id"] for line in lines}), "model" in lines[0]) == (0, 2, 2, False)


def test_the_instructions_come_first_and_are_the_same_for_all_answers():
    _, out, _ = run("prompt", "a.rubric.yaml", "--answers", "answers.jsonl")
    prompts = [json.loads(line)["messages"] for line in out.splitlines()]
    assert {(len(prompt), prompt[0]["role"]) for prompt in prompts} == {(2, "system")}
    assert len({prompt[0]["content"] for prompt in prompts}) == 1
    assert len({prompt[1]["content"] for prompt in prompts}) == 3
    assert RUBRIC.splitlines()[2].split("expected_outcome: ")[1].rstrip("}") in prompts[0][0]["content"]


@pytest.mark.slow
def test_a_limit_of_requests_ends_the_run_and_the_same_command_goes_on(folder):
    write_answers(folder, 10)
    with serving(SCORED) as server:
        for expected in [(1, 8, True), (1, 16, True), (0, 20, False)]:
            code, _, err = judge(server, "--samples", "2", "--max-requests", "9")
            assert (code, len(server.asked), "stopped at --max-requests 9; " in err) == expected


@pytest.mark.slow
def test_a_limit_of_the_cost_ends_the_run_and_the_cost_of_what_is_sent_is_said_before(folder):
    write_answers(folder, 10)
    (folder / "prices.toml").write_text("[models.judge-1]\ninput = 10\noutput = 10000\n", encoding="utf-8")
    with serving(SCORED) as server:  # each reply costs 0.1
        given = ("--samples", "2", "--prices", "prices.toml", "--max-cost", "0.7")
        _, _, err = judge(server, *given)
    assert len(server.asked) == 6
    assert err.index("what is sent will cost ") < err.index("stopped at --max-cost 0.7; ")


PRICES = "[models.judge-1]\ninput = 1000\noutput = 1000\n"


def used(output):
    """A reply of so many tokens; None: it does not say it."""
    usage = (
        None if output is None else {"prompt_tokens": 100, "completion_tokens": output, "total_tokens": output + 100}
    )
    return Response({**SCORED.body, "usage": usage})


@pytest.mark.parametrize(
    ("options", "outputs", "asked"),
    [
        (("--max-cost", "0"), [10], 0),
        (("--max-cost", "0.01"), [10], 0),  # what is sent costs more
        (("--max-cost", "1000", "--prices", "zip.toml"), [10], 0),
        (("--max-cost", "30", "--concurrency", "1"), [None], 3),  # counted at the most that they can cost
        (("--max-cost", "10", "--concurrency", "1"), [10, 10, 4000], 3),
        (("--max-cost", "10", "--max-tokens", "4000"), [10, 10, 4000], 3),
        (("--max-cost", "4", "--max-tokens", "4000"), [10], 0),
    ],
)
def test_no_answer_is_begun_that_may_cost_too_much_or_an_unknown_sum(folder, options, outputs, asked, said):
    write_answers(folder, 20)
    (folder / "prices.toml").write_text(PRICES, encoding="utf-8")
    (folder / "zip.toml").write_text(PRICES.replace("judge-1", "zip"), encoding="utf-8")
    waiting = iter([*outputs, *outputs[-1:] * 20])
    with serving(lambda _: used(next(waiting))) as server:
        code, _, err = judge(server, "--prices", "prices.toml", *options)
    assert (code, len(server.asked)) == (2 if "zip.toml" in options else 1, asked)
    said(without_scores(err))


PAID_IN_VAIN = {
    "no choices": Response({**used(500).body, "choices": []}),
    "an error": Response({"error": {"message": "Oops."}, "usage": used(500).body["usage"]}, 500),
    "an empty reply": Response({**completion("").body, "usage": used(500).body["usage"]}),
    "too many tokens": used(9000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAID_IN_VAIN)
def test_what_is_paid_in_vain_counts_against_the_limits(folder, name, said):
    write_answers(folder, 20)
    (folder / "prices.toml").write_text(PRICES.replace("input = 1000", "input = 100"), encoding="utf-8")
    with serving(PAID_IN_VAIN[name]) as server:
        limits = ("--prices", "prices.toml", "--max-cost", "3", "--retries", "1", "--concurrency", "1")
        code, _, err = judge(server, *limits)
        said(code, len(server.asked), without_scores(err))
        before = len(server.asked)
        said(
            judge(server, "--max-requests", "5", "--retries", "4", "--concurrency", "1")[2], len(server.asked) - before
        )


def test_a_bill_above_the_limit_is_reported_also_if_nothing_is_left_to_ask(folder, said):
    write_answers(folder, 1)
    (folder / "prices.toml").write_text(PRICES, encoding="utf-8")
    with serving(used(9000)) as server:
        limits = ("--prices", "prices.toml", "--max-cost", "3", "--max-requests", "5")
        code, _, err = judge(server, *limits)
    assert code == 1
    said(without_scores(err))


@pytest.mark.slow
@pytest.mark.parametrize("given", [(), ("--max-tokens", "300"), ("--extra-body", '{"max_tokens": 300}')])
def test_requests_at_once_do_not_exceed_the_limit_of_the_cost(folder, given):
    write_answers(folder, 40)
    (folder / "prices.toml").write_text(PRICES, encoding="utf-8")
    with serving(lambda asked: used(asked.body["max_tokens"])._replace(delay=0.02)) as server:
        code, _, err = judge(server, "--prices", "prices.toml", "--max-cost", "12", *given)
    billed = sum(100 + asked.body["max_tokens"] for asked in server.asked) / 1000
    assert (code, 6 < billed <= 12, f"cost {billed:g}" in err) == (1, True, True)
    assert (server.most_at_once > 1) == bool(given)


@pytest.mark.parametrize("options", TABLES["a limit that cannot be"], ids=" ".join)
def test_a_limit_that_cannot_be_kept_is_refused(options, said):
    with serving(SCORED) as server:
        said(judge(server, *options))


@pytest.mark.slow
def test_a_limit_that_no_answer_can_be_finished_within_is_to_be_raised(folder, said):
    write_answers(folder, 1)
    with serving(completion("I would say 8.")) as server:
        cut_off = judge(server, "--max-requests", "2")
        finished = judge(server, "--max-requests", "2", "--max-attempts", "2")
    assert (cut_off[0], finished[0], len(server.asked), ids(folder / "answers.judged.jsonl")) == (1, 1, 4, ["a0"])
    said(cut_off[2])


def test_a_limit_that_leaves_too_few_tokens_for_a_reply_is_to_be_raised(folder, said):
    write_answers(folder, 1)
    (folder / "prices.toml").write_text(FREE_INPUT, encoding="utf-8")
    cut = completion('{"reasoning": "R')
    cut.body["choices"][0]["finish_reason"] = "length"
    cut.body["usage"] = {"prompt_tokens": 100, "completion_tokens": 30}
    with serving(cut) as server:
        code, _, err = judge(server, "--prices", "prices.toml", "--max-cost", "0.03")
    assert (code, len(server.asked), server.asked[0].body["max_tokens"]) == (1, 1, 30)
    said(err)


FREE_INPUT = "[models.judge-1]\ninput = 0\noutput = 1000\n"


@pytest.mark.slow
def test_with_a_limit_each_answer_is_asked_for_again_before_any_is_a_second_time(folder):
    write_answers(folder, 4)
    options = ("--max-attempts", "1", "--concurrency", "1")
    with serving(completion("I would say 8.")) as server:
        judge(server, *options)
        given = ["--model", "judge-1", "--base-url", server.url, *options, "--again", "--max-requests", "2"]
        for _ in range(3):
            run("judge", "a.rubric.yaml", "answers.judged.jsonl", *given, OPENAI_API_KEY=KEY)
    assert [asked.answer for asked in server.asked[4:]] == [f"Answer {number}." for number in (0, 1, 2, 3, 0, 1)]
