"""Requests for the batch APIs of OpenAI and Anthropic, and what becomes of their results."""

import json
import re
from itertools import chain

import pytest
from chat_server import completion, serving
from judging import KEY, RUBRIC, SCORED, folder, run, write_answers

from rubric_lint.judge.answers import read_answers
from rubric_lint.judge.asking import JudgeOptions, Request
from rubric_lint.judge.batches import BATCH_FORMATS, BatchError, BatchFormat, write_batch
from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import RequestId
from rubric_lint.judge.journal import make_fingerprint
from rubric_lint.judge.prompt import Message
from rubric_lint.scoring.loading import load_rubrics

__all__ = ["folder"]

pytestmark = pytest.mark.usefixtures("folder")
VERDICT = '{"reasoning": "Right.", "score": 8}'


def judge(*arguments, **environment):
    return run("judge", "a.rubric.yaml", "answers.jsonl", "--model", "judge-1", *arguments, **environment)


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def records(folder, name="answers.judged.jsonl"):
    return {record["id"]: record for record in read_lines(folder / name)}


def requests(folder, name="batch.jsonl"):
    return read_lines(folder / name)


def result(request, content=VERDICT, **more):
    """What OpenAI returns for a request."""
    body = completion(content).body
    body = {"model": request["body"]["model"], **body, "created": 1_795_000_000}
    response = {"status_code": 200, "request_id": "q", "body": body}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None, **more}


def message(request, content=VERDICT, **more):
    """What Anthropic returns for a request."""
    usage = {"input_tokens": 20, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 10, "output_tokens": 10}
    given = {"type": "message", "role": "assistant", "model": "claude-1", "stop_reason": "end_turn", "usage": usage}
    given["content"] = [{"type": "thinking", "thinking": '{"score": 1}'}, {"type": "text", "text": content}]
    return {"custom_id": request["custom_id"], "result": {"type": "succeeded", "message": {**given, **more}}}


def write(folder, *lines, name="results.jsonl"):
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.slow
def test_the_requests_are_those_that_judge_sends_and_nothing_is_sent(folder, said):
    code, _, err = judge("--batch-requests", "batch.jsonl", "--seed", "5", "--max-tokens", "300")
    assert code == 0
    said(err)
    written = requests(folder)
    assert [(each["method"], each["url"]) for each in written] == [("POST", "/v1/chat/completions")] * 3
    assert all(re.fullmatch("r-[0-9a-f]{40}", each["custom_id"]) for each in written)
    assert len({each["custom_id"] for each in written}) == 3
    with serving(SCORED) as server:
        options = ["--base-url", server.url, "--concurrency", "1", "--seed", "5", "--max-tokens", "300"]
        assert judge(*options, "--output", "x.jsonl")[0] == 0
    sent = [dict(asked.body) for asked in server.asked]
    for body in sent:  # the name that OpenAI takes
        body["max_completion_tokens"] = body.pop("max_tokens")
    assert [each["body"] for each in written] == sent


def test_results_become_the_records_that_judge_writes(folder, said):
    judge("--batch-requests", "batch.jsonl")
    write(folder, *map(result, reversed(requests(folder))))
    said(judge("--batch-results", "results.jsonl")[2])
    with serving(SCORED) as server:
        judge("--base-url", server.url, "--output", "live.jsonl", OPENAI_API_KEY="")
    batch, live = records(folder), records(folder, "live.jsonl")
    for name, record in live.items():
        of_batch, of_live = batch[name]["judge"], record["judge"]
        assert of_batch.pop("time") == "2026-11-18T11:06:40.000Z"
        assert (of_live.pop("time") > "", of_live.pop("latency") != [], "latency" in of_batch) == (True, True, False)
        assert (of_batch.pop("endpoint"), of_live.pop("endpoint")) == ("https://api.openai.com/v1", server.url)
        assert of_batch.pop("fingerprint") != of_live.pop("fingerprint")  # of another endpoint
        assert batch[name] == record
    assert run("a.rubric.yaml", "answers.judged.jsonl")[0] == 0


def test_a_run_goes_on_where_a_batch_ended_and_the_other_way_round(folder, said):
    with serving(SCORED) as server:
        url = ["--base-url", server.url]
        judge(*url, "--batch-requests", "batch.jsonl")
        write(folder, result(requests(folder)[1]))
        code, _, err = judge(*url, "--batch-results", "results.jsonl")
        assert (code, list(records(folder))) == (1, ["a1"])
        said(err)
        judge(*url, "--batch-requests", "rest.jsonl")
        rest = [each["custom_id"] for each in requests(folder, "rest.jsonl")]
        assert rest == [requests(folder)[number]["custom_id"] for number in (0, 2)]
        assert judge(*url)[0] == 0
        assert (sorted(records(folder)), len(server.asked)) == (["a0", "a1", "a2"], 2)
        said(judge(*url, "--batch-requests", "none.jsonl")[2])


def test_results_of_a_part_can_be_given_with_the_rest_to_be_written(folder, said):
    write_answers(folder, 2)
    judge("--samples", "3", "--batch-requests", "batch.jsonl")
    first = requests(folder)
    assert len({each["custom_id"] for each in first}) == 6
    write(folder, *map(result, first[:4]))
    code, _, err = judge("--samples", "3", "--batch-results", "results.jsonl", "--batch-requests", "rest.jsonl")
    missing, counts, written = err.splitlines()
    assert code == 1
    said(missing, counts, written)
    rest = requests(folder, "rest.jsonl")
    assert rest == first[4:]
    write(folder, *map(result, rest), name="more.jsonl")
    both = ["--batch-results", "results.jsonl", "--batch-results", "more.jsonl"]
    assert judge("--samples", "3", *both)[0] == 0
    assert [len(record["outputs"]) for record in records(folder).values()] == [3, 3]


def test_every_result_that_is_not_one_is_told(folder, said):
    write_answers(folder, 8)
    judge("--batch-requests", "batch.jsonl")
    asked = requests(folder)
    expired = {"code": "batch_expired", "message": "This request could not be executed before the completion window."}
    too_long = {"status_code": 400, "body": {"error": {"message": "Too long.", "code": "context_length_exceeded"}}}
    write(
        folder,
        result(asked[0]),
        result(asked[0]),
        result(asked[1]),
        result(asked[1], VERDICT.replace("8", "2")),
        result(asked[2], response=None, error=expired),
        result(asked[3], response=too_long),
        result(asked[4], "8/10"),
        result(asked[5], response={"status_code": 200, "body": {"choices": []}}),
        result(asked[6], response=None),
        {**result(asked[7]), "custom_id": "r-of-another-run"},
        {"object": "list"},
        asked[0],
    )
    with (folder / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"custom_id": "r-')
    code, _, err = judge("--batch-results", "results.jsonl")
    ids = [each["custom_id"] for each in asked]
    assert code == 1
    said(err)
    assert [ids[0] in err, ids[1] in err, "r-of-another-run" in err] == [True] * 3
    assert list(records(folder)) == ["a0", "a4"]


@pytest.mark.parametrize(("text", "told"), [("", 0), ("[1, 2]\n", 1), ("\x1f\x8b\n", 1)])
def test_a_file_without_any_result_leaves_all_answers_unjudged(folder, text, told, said):
    (folder / "results.jsonl").write_text(text, encoding="utf-8")
    code, out, err = judge("--batch-results", "results.jsonl")
    assert (code, out, err.count("results.jsonl: line 1: not ")) == (1, "", told)
    said(3, err)


def test_an_error_beside_a_reply_of_the_same_request_gives_way_to_it(folder, said):
    write_answers(folder, 1)
    judge("--batch-requests", "batch.jsonl")
    (asked,) = requests(folder)
    write(folder, result(asked, response=None, error={"message": "Down."}), result(asked))
    code, _, err = judge("--batch-results", "results.jsonl")
    assert (code, list(records(folder))) == (1, ["a0"])
    said(err)


@pytest.mark.parametrize("change", [["--seed", "1"], ["--response-format", "text"]], ids=str)
def test_results_of_other_requests_are_foreign(folder, change, said):
    judge("--batch-requests", "batch.jsonl")
    write(folder, *map(result, requests(folder)))
    code, _, err = judge("--batch-results", "results.jsonl", *change)
    assert code == 1
    said(err)


def test_results_of_answers_that_are_judged_already_are_not_foreign(folder, said):
    judge("--batch-requests", "batch.jsonl")
    write(folder, *map(result, requests(folder)))
    judge("--batch-results", "results.jsonl")
    code, _, err = judge("--batch-results", "results.jsonl")
    assert (code, "belong to no request" in err) == (0, False)
    said(err)


def test_what_is_too_much_for_one_file_goes_into_numbered_ones(folder, said):
    write_answers(folder, 5)
    said(judge("--batch-requests", "batch.jsonl", "--batch-size", "2")[2])
    assert [len(requests(folder, f"batch{number}.jsonl")) for number in ("", ".2", ".3")] == [2, 2, 1]
    code, _, err = judge("--batch-requests", "batch.jsonl")
    assert code == 2
    said(err)
    parts = [f"results{number}.jsonl" for number in ("", ".2", ".3")]
    for number, part in zip(("", ".2", ".3"), parts, strict=True):
        write(folder, *map(result, requests(folder, f"batch{number}.jsonl")), name=part)
    given = [word for part in parts for word in ("--batch-results", part)]
    assert (judge(*given)[0], len(records(folder))) == (0, 5)


def test_each_model_of_a_panel_has_files_of_its_own(folder, said):
    panel = ["--model", "judge-2", "--batch-requests", "batch.jsonl", "--batch-size", "2"]
    said(judge(*panel)[2])
    parts = [requests(folder, f"batch{number}.jsonl") for number in ("", ".2", ".3", ".4")]
    models = [{each["body"]["model"] for each in part} for part in parts]
    assert models == [{"judge-1"}, {"judge-1"}, {"judge-2"}, {"judge-2"}]
    write(folder, *map(result, chain.from_iterable(parts)))
    code, _, _ = judge("--model", "judge-2", "--batch-results", "results.jsonl")
    assert (code, [len(record["outputs"]) for record in records(folder).values()]) == (0, [2, 2, 2])


def test_no_file_has_more_bytes_than_its_form_allows(folder, monkeypatch, said):
    call = Call("m")
    many = [Request(call, RequestId(f'"{number}"', 1), (Message("user", "x" * 300),), {}) for number in range(20)]
    form = BatchFormat(7, 2000, "<\n", ",\n", "\n>\n")
    monkeypatch.setitem(BATCH_FORMATS, "small", form)
    monkeypatch.setitem(BATCH_FORMATS, "tiny", form._replace(bytes=300))
    files, count = write_batch(iter(many), folder / "b.json", "small")
    sizes = [path.stat().st_size for path in files]
    assert (count, max(sizes) <= 2000, min(sizes[:-1]) > 1000) == (20, True, True)
    with pytest.raises(BatchError) as refused:
        write_batch(iter(many), folder / "c.json", "tiny")
    said(refused.value)
    assert not (folder / "c.json").exists()


# Anthropic

CLAUDE = ["--batch-format", "anthropic", "--max-tokens", "400"]


def test_anthropic_gets_the_parameters_of_its_messages(folder):
    options = [*CLAUDE, "--temperature", "0.5", "--extra-body", '{"top_k": 5}']
    assert judge("--batch-requests", "batch.json", *options)[0] == 0
    batch = json.loads((folder / "batch.json").read_text("utf-8"))
    assert (list(batch), len(batch["requests"])) == (["requests"], 3)
    judge("--batch-requests", "batch.jsonl", "--output", "other.jsonl")
    chat = requests(folder)[0]["body"]
    params = batch["requests"][0]["params"]
    schema = chat["response_format"]["json_schema"]["schema"]
    assert params == {
        "model": "judge-1",
        "max_tokens": 400,
        "system": chat["messages"][0]["content"],
        "messages": chat["messages"][1:],
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
        "temperature": 0.5,
        "top_k": 5,
    }


def test_results_of_anthropic_become_records(folder, said):
    write_answers(folder, 6)
    judge("--batch-requests", "batch.json", *CLAUDE)
    asked = json.loads((folder / "batch.json").read_text("utf-8"))["requests"]
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "Too long."}}
    write(
        folder,
        message(asked[0]),
        {"custom_id": asked[1]["custom_id"], "result": {"type": "errored", "error": error}},
        {"custom_id": asked[2]["custom_id"], "result": {"type": "expired"}},
        {"custom_id": asked[3]["custom_id"], "result": {"type": "canceled"}},
        message(asked[4], stop_reason="max_tokens"),
        message(asked[5], stop_reason="refusal", content=[]),
    )
    code, _, err = judge("--batch-results", "results.jsonl", *CLAUDE)
    assert code == 1
    said(err)
    record = records(folder)["a0"]
    assert record["output"] == json.loads(VERDICT)
    about = record["judge"]
    assert (about["answered_by"], about["endpoint"]) == (["claude-1"], "https://api.anthropic.com/v1")
    assert (about["tokens"], "time" in about) == ({"input": 100, "output": 10, "cached": 70}, False)


def test_no_key_is_needed_and_none_is_written(folder):
    run("judge", "a.rubric.yaml", "answers.jsonl", "--model", "m", "--batch-requests", "b.jsonl", OPENAI_API_KEY=KEY)
    assert KEY not in (folder / "b.jsonl").read_text("utf-8")


def test_results_of_runs_before_these_options_can_still_be_resumed():
    fine = [b'{"id": "a", "answer": "So."}']
    (answer,) = read_answers(fine, load_rubrics("a.rubric.yaml", RUBRIC.encode()))
    several = [Call("m", "http://127.0.0.1:1/v1", temperature=0.5, response_format="text"), Call("a!"), Call("a")]
    found = [make_fingerprint(answer, calls, JudgeOptions(samples=2)) for calls in ([Call("m")], several)]
    assert found == ["1a63ffadf364dcb3", "cbde76ac8d10cb8f"]
