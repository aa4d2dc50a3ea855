import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress

import commands
import pytest
from cases import read_cases
from chat_server import Response, completion, serving, without_scores
from judging import KEY, RUBRIC, SCORED, SUITE, folder, ids, judge, run, start, write_answers
from lint_command import read_terminal

from rubric_lint.judge.prompt import JudgedCase, as_text, output_schema, write_prompt
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.records.reply import is_other_model

TABLES = read_cases(__file__)


__all__ = ["folder"]

pytestmark = pytest.mark.usefixtures("folder")


def rubric(name, text):
    return load_rubrics(name, text.encode())


# prompt and schema


def test_the_prompt_is_printed_as_text():
    expected = as_text(write_prompt(rubric("a.rubric.yaml", RUBRIC)["a"], JudgedCase("So.", "Why?", "Thus.")))
    asked = run("prompt", "a.rubric.yaml", "--answer", "So.", "--question", "Why?", "--reference", "Thus.")
    assert asked == (0, f"{expected}\n", "")


def test_the_prompt_is_printed_as_chat_messages():
    code, out, err = run("prompt", "a.rubric.yaml", "--answer", "So.", "--format", "messages")
    messages = write_prompt(rubric("a.rubric.yaml", RUBRIC)["a"], JudgedCase("So."))
    assert (code, json.loads(out), err) == (0, [message._asdict() for message in messages], "")


def test_texts_may_come_from_files_and_from_standard_input(folder):
    (folder / "answer.txt").write_text("Größe\n", encoding="utf-8")
    read = run("prompt", "a.rubric.yaml", "--answer", "@answer.txt", "--question", "@-", text="Why?")
    assert read == run("prompt", "a.rubric.yaml", "--answer", "Größe\n", "--question", "Why?")


def test_the_schema_is_printed_as_json():
    code, out, err = run("schema", "suite.yaml", "--rubric", "second")
    assert (code, json.loads(out), err) == (0, output_schema(rubric("suite.yaml", SUITE)["second"]), "")


# judge


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--isolated"], ["--output", "my results.jsonl"]])
def test_a_run_ends_with_its_file_the_scores_and_the_next_command(options, said):
    def behave(asked):
        return completion(json.dumps({"score": {"Answer 0.": 9, "Answer 1.": 3}.get(asked.answer, 11)}))

    with serving(behave) as server:
        given = ["--model", "judge-1", "--base-url", server.url, *options]
        done = commands.run("rubric-score", "judge", "a.rubric.yaml", "answers.jsonl", *given)
    *_, scores, causes, again, following = done.stderr.splitlines()
    name = options[1] if options[1:] else "answers.judged.jsonl"
    said(scores, causes, again)
    first, command = following.split(": ", 1)
    program, *words = shlex.split(command)
    assert (first, program, words[:5]) == ("Next", "rubric-lint", ["score", "a.rubric.yaml", name, "--format", "table"])
    words = words[1:]
    code, out, _ = run(*words)
    assert (code, "1 pass, 0 borderline, 1 fail" in out) == (1, True)


def test_answers_in_files_of_other_kinds_have_results_of_their_own(folder):
    answers = (folder / "answers.jsonl").read_text("utf-8")
    (folder / "answers.json").write_text(f"[{','.join(answers.splitlines())}]", "utf-8")
    with serving(SCORED) as server:
        for name in ("answers.jsonl", "answers.json"):
            options = ["--model", "judge-1", "--base-url", server.url]
            assert run("judge", "a.rubric.yaml", name, *options)[0] == 0
    assert ids(folder / "answers.judged.jsonl") == ids(folder / "answers.json.judged.jsonl") == ["a0", "a1", "a2"]


@pytest.mark.parametrize(("asked", "replied", "is_other"), TABLES["a model of another date"])
def test_a_model_of_another_date_or_place_is_the_same_one(asked, replied, is_other):
    assert is_other_model(asked, replied) is is_other


@pytest.mark.slow
def test_replies_of_other_models_are_told_once_and_counted():
    with serving(lambda _: SCORED._replace(body={**SCORED.body, "model": f"m{len(server.asked)}x"})) as server:
        code, _, err = judge(server, "--samples", "3", "--concurrency", "1")
    assert (code, err.count("another model"), "9 replies" in err, "4 of others" in err) == (0, 1, True, True)


@pytest.mark.slow
@pytest.mark.parametrize(("wait", "told"), [("0.1", "waiting 0.1 s"), ("0.04", "waiting 0.04 s")])
def test_a_short_wait_is_told_in_its_own_size(wait, told):
    refused = Response({"error": {"message": "Slow down."}}, 429, {"retry-after": wait})
    with serving(lambda _: refused if len(server.asked) == 1 else SCORED) as server:
        code, _, err = judge(server, "--concurrency", "1")
    assert (code, told in err, "waiting 0 s" in err) == (0, True, False)


@pytest.mark.slow
def test_an_endpoint_that_takes_a_schema_only_in_json_object_is_named_and_recorded(folder, said):
    def behave(asked):
        form = asked.body["response_format"]
        if form["type"] == "json_object":
            assert form["schema"] == output_schema(rubric("a.rubric.yaml", RUBRIC)["a"])
            return SCORED
        return Response({"error": {"message": "Input should be `text` or `json_object`"}}, 422)

    with serving(behave) as server:
        code, _, err = judge(server)
    records = [json.loads(line) for line in (folder / "answers.judged.jsonl").read_text("utf-8").splitlines()]
    about = [(record["judge"]["response_format"], record["judge"]["asked_as"]) for record in records]
    assert (code, about) == (0, [("json_schema", "json_object with schema")] * 3)
    said(err.replace(server.url, "URL"))


def test_answers_are_judged_into_a_file_that_can_be_scored_and_a_second_run_asks_nothing(said):
    with serving(SCORED) as server:
        judged, again = judge(server), judge(server)
    said(judged)
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    code, out, _ = run("a.rubric.yaml", "answers.judged.jsonl", "--format", "jsonl")
    scored = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert sorted((each["id"], each["answer"], each["score"], each["verdict"]) for each in scored) == [
        (f"a{number}", f"Answer {number}.", 0.8, "pass") for number in range(3)
    ]
    assert (again[0], len(server.asked)) == (0, 3)
    said(again[2])


@pytest.mark.slow
def test_the_run_says_how_many_answers_all_samples_agree_on(said):
    def behave(asked):
        return completion(json.dumps({"reasoning": "", "score": 4 if asked.before == 2 else 8}))

    with serving(behave) as server:
        requests, judged = judge(server, "--samples", "3")[2].splitlines()
    assert requests.startswith("9 requests (3 samples) for 3 answers")
    said(judged)


def ask_again(server, *arguments):
    options = ["--model", "judge-1", "--base-url", server.url, *arguments]
    return run("judge", "a.rubric.yaml", "answers.judged.jsonl", "--again", *options, OPENAI_API_KEY=KEY)


@pytest.mark.slow
def test_an_output_that_stays_invalid_is_counted_and_asked_again_on_demand(folder, said):
    results = folder / "answers.judged.jsonl"
    with serving(lambda asked: completion("8/10") if "1" in asked.answer and asked.before < 6 else SCORED) as server:
        code, _, err = judge(server, "--concurrency", "1")
        assert (code, len(server.asked)) == (1, 5)
        said(err)
        before = results.read_text("utf-8").splitlines()
        code, out, _ = run("a.rubric.yaml", "answers.judged.jsonl", "--format", "jsonl")
        assert [line.get("error") and line["id"] for line in map(json.loads, out.splitlines())].count("a1") == code == 1
        for run_it, code, asked in ((judge, 1, 5), (ask_again, 1, 8), (ask_again, 0, 9), (ask_again, 0, 9)):
            done = run_it(server)
            assert (done[0], len(server.asked)) == (code, asked)
            said(done[2])
    after = results.read_text("utf-8").splitlines()
    # One that was invalid again went to the end, and there a valid one took its place.
    assert [json.loads(line)["id"] for line in after] == ["a0", "a2", "a1"]
    assert (*after[:2], json.loads(after[2])["output"]["score"]) == (before[0], before[2], 8)
    assert [*folder.glob("*.again")] == []


@pytest.mark.slow
def test_an_invalid_record_that_a_later_one_renews_is_removed_without_a_request(folder, said):
    """`judge` writes one record for an answer, but files can be joined."""
    results = folder / "answers.judged.jsonl"
    with serving(lambda asked: completion("8/10") if "1" in asked.answer and asked.before < 6 else SCORED) as server:
        judge(server, "--concurrency", "1")
        failed = results.read_text("utf-8").splitlines()[1]
        ask_again(server)
        ask_again(server)
        renewed = results.read_text("utf-8")
        asked = len(server.asked)
        results.write_text(f"{failed}\n{renewed}", "utf-8")
        code, _, err = ask_again(server)
        assert (code, len(server.asked) - asked, results.read_text("utf-8")) == (0, 0, renewed)
        said(err)


@pytest.mark.slow
def test_samples_that_are_asked_for_again_need_the_options_of_the_first_run(folder, said):
    broken = True
    with serving(lambda asked: completion("no") if broken and "1" in asked.answer else SCORED) as server:
        judge(server, "--samples", "2", "--shuffle", "--concurrency", "1")
        for options in ([], ["--samples", "2", "--shuffle", "--temperature", "1"]):
            code, _, err = ask_again(server, *options)
            assert code == 2
            said(err)
        broken = False
        assert ask_again(server, "--samples", "2", "--shuffle")[0] == 0
    lines = (folder / "answers.judged.jsonl").read_text("utf-8").splitlines()
    outputs = [json.loads(line)["outputs"] for line in lines]
    assert [[each["score"] for each in given] for given in outputs] == [[8, 8]] * 3


@pytest.mark.parametrize("arguments", TABLES["only a results file can"], ids=" ".join)
def test_only_a_results_file_can_be_asked_for_again(folder, arguments, said):
    (folder / "answers.judged.jsonl").write_bytes(b"")
    code, _, err = run("judge", "a.rubric.yaml", *arguments, "--again", "--model", "judge-1", OPENAI_API_KEY=KEY)
    assert code == 2
    said(err)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 1], ids=["one", "two"])
def test_results_of_answers_that_are_not_given_any_more_are_told(folder, count, said):
    with serving(SCORED) as server:
        judge(server, "--concurrency", "1")  # so that the results come in the order of the answers
        write_answers(folder, count)
        code, _, err = judge(server)
    assert code == 0
    said(err)


def test_a_wrong_key_ends_the_run_and_is_not_shown(said):
    failure = Response({"error": {"message": f"Incorrect API key provided: {KEY}."}}, 401)
    with serving(failure) as server:
        code, out, err = judge(server, "--concurrency", "1")
    assert (code, out, len(server.asked)) == (2, "", 1)
    first, counts, _, command = err.splitlines()
    said(first, counts, command)


REFUSALS = {
    "401": Response({"error": {"message": "No."}}, 401),
    "402": Response({"error": {"message": "No credit."}}, 402),
    "404": Response({"error": {"message": "No such model."}}, 404),
    "307": Response({}, 307, {"location": "http://127.0.0.1:9/v1"}),
    "302": Response({}, 302, {"location": "/login"}),
    "429 for two hours": Response({"error": {"message": "Quota."}}, 429, {"retry-after": "7200"}),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_every_request_would_get_says_what_to_change_first(name, said):
    with serving(REFUSALS[name]) as server:
        code, _, err = judge(server, "--concurrency", "1")
    assert (code, len(server.asked)) == (2, 1)
    said(err.replace(server.url, "URL").splitlines()[2:])


@pytest.mark.slow
def test_one_cause_is_told_a_few_times_and_then_summed_up(folder, said):
    write_answers(folder, 40)

    def behave(asked):
        number = int(asked.answer.removeprefix("Answer ").removesuffix("."))
        if number % 10 == 9:
            return Response({"error": {"message": f"Too long: {number} (request 0f3a-{number:08d})"}}, 400)
        return completion("", reasoning_content="Hm.") if number % 10 < 7 else SCORED

    with serving(behave) as server:
        code, _, err = judge(server, "--max-attempts", "1", "--concurrency", "1")
    refused = ["a9", "a19", "a29", "a39"]
    assert code == 1
    said([f"a{number}" for number in range(5)], refused)
    more, counts, _ = err.splitlines()[9:]
    said(more, counts)


@pytest.mark.slow
def test_faults_that_all_differ_do_not_flood_the_terminal(folder):
    write_answers(folder, 120)
    with serving(lambda asked: Response({"error": {"message": spell(asked.answer)}}, 400)) as server:

        def behave(asked):
            return SCORED if len(server.asked) % 3 == 0 else Response({"error": {"message": spell(asked.answer)}}, 400)

        server.behave = behave
        _, _, err = judge(server, "--concurrency", "1")
    told = [line for line in err.splitlines() if line.startswith("rubric-score: ")]
    assert len([line for line in told if line.startswith('rubric-score: answer "')]) == 50
    assert "rubric-score: 25 more answers with other errors" in told
    assert len(told) <= 57


def spell(text):
    """A text without digits, another one for each number."""
    return "".join(chr(ord("a") + int(letter)) if letter.isdigit() else letter for letter in text)


@pytest.mark.slow
def test_the_first_refusal_is_told_and_the_pauses_are_summed_up(said):
    def behave(asked):
        if asked.before == 0 and "1" in asked.answer:
            return Response({"error": {"message": "Slow down."}}, 429, {"retry-after": "1"})
        return SCORED

    with serving(behave) as server:
        code, _, err = judge(server, "--concurrency", "1", "--retries", "0")
    limit, judged = err.splitlines()
    said(limit)
    assert code == 0
    said(judged)


@pytest.mark.slow
def test_rpm_keeps_requests_apart():
    with serving(SCORED) as server:
        started = time.monotonic()
        assert judge(server, "--rpm", "300")[0] == 0
    assert time.monotonic() - started >= 0.4  # three requests, a fifth of a second between two of them


@pytest.mark.slow
def test_a_terminal_shows_how_far_the_answers_are_read(folder):
    write_answers(folder, 250_000)  # enough for more than a second, after which it shows
    leader, follower = pty.openpty()
    with serving(Response({"error": {"message": "No."}}, 401)) as server:
        run_ = start(server, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        written = read_terminal(leader)
        assert run_.wait(60) == 2
    assert re.search(r"\rreading \[#*-+\] \d+% \d+ MB", written)
    assert "answers judged" in written


@pytest.mark.slow
def test_what_got_no_reply_is_counted_and_asked_for_again(said):
    def behave(asked):
        return (
            Response({"error": {"message": "Too long."}}, 400) if "1" in asked.answer and not asked.before else SCORED
        )

    with serving(behave) as server:
        first, second = judge(server), judge(server)
    assert first[0] == 1
    said(first[2].splitlines())
    assert second[0] == 0
    said(second[2].splitlines()[1])


def test_a_command_that_holds_a_secret_is_not_printed():
    with serving(Response({"error": {"message": "No."}}, 401)) as server:
        url = server.url.replace("://", "://me:secret@")
        code, _, err = judge(server, "--concurrency", "1", "--base-url", url)
    assert (code, "secret" in err, "rubric-score judge" in err, "Next: " in err) == (2, False, False, False)


# Answers from standard input


def test_answers_come_from_standard_input_and_the_run_is_gone_on_with(folder, said):
    text = (folder / "answers.jsonl").read_text("utf-8")
    with serving(SCORED) as server:
        options = ["--model", "judge-1", "--base-url", server.url, "--output", "results.jsonl"]
        first = run("judge", "a.rubric.yaml", "-", *options, text="".join(text.splitlines(keepends=True)[:2]))
        second = run("judge", "a.rubric.yaml", "-", *options, text=text)
    assert first[0] == 0
    said(first[2])
    assert second[0] == 0
    said(second[2].splitlines()[1])
    assert ids(folder / "results.jsonl") == ["a0", "a1", "a2"]
    assert [asked.before for asked in server.asked] == [0, 0, 0]


def test_an_endpoint_without_keys_needs_none():
    with serving(SCORED) as server:
        code, _, _ = judge(server, OPENAI_API_KEY="")
    assert code == 0


@pytest.mark.slow
def test_a_results_file_that_cannot_be_written_is_told(said):
    with serving(SCORED) as server, start(server, "--output", "missing/results.jsonl") as run_:
        said(run_.stderr.read())
    assert run_.returncode == 2


def test_without_the_library_one_line_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with serving(SCORED) as server:
        code, out, err = judge(server)
    assert (code, out, "pip install 'openai>=2'" in err) == (2, "", True)
    assert not (folder / "answers.judged.jsonl").exists()


# Stopped runs


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop",
    [signal.SIGKILL, signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)],
    ids=["SIGKILL", "SIGINT", "SIGTERM"],
)
def test_a_stopped_run_is_gone_on_with_and_no_answer_is_judged_twice(folder, stop):
    write_answers(folder, 40)
    results = folder / "results.jsonl"
    gate = threading.Event()

    def behave(_asked):
        if len(server.asked) > 20:
            gate.wait()  # so that the run is half-way for sure when it is stopped
        return SCORED

    with serving(behave) as server:
        first = start(server)
        commands.wait_until(lambda: len(server.asked) == 23)
        commands.wait_until(lambda: results.exists() and results.read_bytes().count(b"\n") == 20)
        first.send_signal(stop)
        waits = "" if stop is signal.SIGKILL else first.stderr.readline()
        if waits:  # what was asked is paid for
            gate.set()
        _, err = first.communicate(timeout=60)
        halfway = ids(results)
        asked_at_stop = Counter(asked.answer for asked in server.asked)
        gate.set()
        second = start(server)
        out = second.communicate(timeout=60)
    assert (first.returncode, second.returncode) == ({signal.SIGINT: 130, signal.SIGTERM: 143}.get(stop, -stop), 0)
    kept = 20 if stop is signal.SIGKILL else 23
    if stop is not signal.SIGKILL:
        assert waits.startswith("rubric-score: interrupted: waiting up to 30 s for 3 replies; ")
        counts, _, command = err.splitlines()
        assert counts == "23 of 40 answers judged; 17 not yet judged; 2,300 input tokens, 230 output tokens"
        assert command.endswith(f"--base-url {server.url} --output results.jsonl --concurrency 3")
    already, judged, *_ = "".join(out).splitlines()
    assert already.startswith(f"results.jsonl already has {kept} of 40 answers; ")
    assert judged.startswith(f"{40 - kept} of {40 - kept} answers judged; ")
    # Each answer has one result. Those that had one when the run was stopped were asked for once, as were those that
    # nobody had asked for. After SIGKILL, the three whose reply the first run did not live to see were asked for again;
    # a run that can still act waits for them.
    assert len(halfway) == kept
    assert ids(results) == sorted(f"a{number}" for number in range(40))
    asked = Counter(asked.answer for asked in server.asked)
    cut_short = {f"Answer {number}." for number in range(40) if f"a{number}" not in halfway} & asked_at_stop.keys()
    assert len(cut_short) == (3 if stop is signal.SIGKILL else 0)
    assert asked == {f"Answer {number}.": 2 if f"Answer {number}." in cut_short else 1 for number in range(40)}


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "SIGINT"])
def test_a_stopped_run_for_invalid_outputs_is_resumed(folder, stop):
    write_answers(folder, 8)
    gate = threading.Event()

    def behave(_asked):
        if len(server.asked) <= 8:
            return completion("no")
        if len(server.asked) > 12:
            gate.wait()
        return SCORED

    with serving(behave) as server:
        judge(server, "--max-attempts", "1")
        first = start(server, "--again", answers="answers.judged.jsonl", output=())
        beside = folder / "answers.judged.jsonl.again"
        commands.wait_until(lambda: len(server.asked) == 15)
        commands.wait_until(lambda: beside.read_bytes().count(b"\n") == 4)
        first.send_signal(stop)
        if stop is signal.SIGINT:
            first.stderr.readline()
            gate.set()
        _, err = first.communicate(timeout=60)  # the end of its output is the end of the run, which `wait` is not
        gate.set()
        assert beside.exists() == (stop is signal.SIGKILL)
        assert ids(folder / "answers.judged.jsonl") == sorted(f"a{number}" for number in range(8))
        assert "--again" in err or stop is signal.SIGKILL  # the command that resumes
        second = start(server, "--again", answers="answers.judged.jsonl", output=())
        second.communicate(timeout=60)
    assert (second.returncode, beside.exists()) == (0, False)
    assert len(server.asked) == (19 if stop is signal.SIGKILL else 16)
    assert run("a.rubric.yaml", "answers.judged.jsonl", "--format", "jsonl")[1].count('"pass"') == 8


DYING = """
import os, signal
left, written, synced = {left}, os.write, os.fsync
def die(function):
    def call(*arguments):
        global left
        left -= 1
        if left == 0:
            if function is written:
                written(arguments[0], bytes(arguments[1])[:40])
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments)
    return call
os.write, os.fsync = die(written), die(synced)
"""


@pytest.mark.slow
def test_a_run_killed_at_each_write_loses_no_reply_that_is_kept_and_no_file_has_the_key(folder):
    write_answers(folder, 3)
    results = folder / "results.jsonl"

    def behave(asked):
        return completion(json.dumps({"reasoning": f"{KEY} {asked.headers['authorization']}", "score": 8}))

    with serving(behave) as server:
        codes = []
        for left in (1, 1, 2, 2, 1, 0):  # in the midst of a line, or before it is on disk
            run_ = start(server, "--samples", "2", "--concurrency", "1", code=DYING.format(left=left))
            run_.communicate(timeout=60)
            codes.append(run_.returncode)
    assert codes == [-signal.SIGKILL] * 5 + [0]
    assert ids(results) == ["a0", "a1", "a2"]
    assert Counter(asked.answer for asked in server.asked) == {f"Answer {number}.": 2 for number in range(3)}
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert [path.name for path in files if KEY.encode() in path.read_bytes()] == []
    assert {"results.jsonl", "replies-1.sqlite3"} <= {path.name for path in files}


@pytest.mark.slow
def test_runs_killed_at_any_moment_leave_one_result_for_each_answer(folder):
    write_answers(folder, 60)
    results = folder / "results.jsonl"
    with serving(SCORED._replace(delay=0.01)) as server:
        for kept in (1, 17, 31, 50):
            run_ = start(server)
            commands.wait_until(lambda kept=kept: results.exists() and results.read_bytes().count(b"\n") >= kept)
            run_.kill()
            run_.communicate(timeout=60)
        last = start(server)
        last.communicate(timeout=60)
    assert last.returncode == 0
    assert ids(results) == sorted(f"a{number}" for number in range(60))
    assert sum(Counter(asked.answer for asked in server.asked).values()) <= 60 + 4 * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop", [pytest.param(signal.SIGKILL, marks=pytest.mark.slow), signal.SIGINT], ids=["SIGKILL", "SIGINT"]
)
def test_a_stopped_run_of_answers_from_a_pipe_is_gone_on_with(folder, stop):
    write_answers(folder, 40)
    text = (folder / "answers.jsonl").read_text("utf-8")
    results = folder / "results.jsonl"
    with serving(SCORED._replace(delay=0.02)) as server:
        with start(server, answers="-", stdin=subprocess.PIPE) as first:
            first.stdin.write(text)
            first.stdin.close()
            commands.wait_until(lambda: results.exists() and results.read_bytes().count(b"\n") >= 10)
            first.send_signal(stop)
            err = first.stderr.read()
        kept = results.read_bytes().count(b"\n")
        second = start(server, answers="-", stdin=subprocess.PIPE)
        _, told = second.communicate(text, timeout=60)
    if stop is signal.SIGINT:
        lines = [line for line in err.splitlines() if ": interrupted: waiting up to 30 s for " not in line]
        assert lines[0].startswith(f"{kept} of 40 answers judged; {40 - kept} not yet judged; ")
        assert "the same answers" in lines[1]
        assert lines[2].startswith("  rubric-lint judge a.rubric.yaml - --model judge-1 ")
    assert told.splitlines()[0] == f"results.jsonl already has {kept} of 40 answers; judging the rest"
    assert ids(results) == sorted(f"a{number}" for number in range(40))
    assert sum(Counter(asked.answer for asked in server.asked).values()) <= 40 + 3


@pytest.mark.slow
def test_an_interrupt_while_answers_are_waited_for_says_that_nothing_was_asked(folder, said):
    with serving(SCORED) as server, start(server, answers="-", stdin=subprocess.PIPE) as run_:
        # More than a pipe holds, so that all of it is written only when the run is reading.
        run_.stdin.write("".join(f'{{"id": {number}, "answer": "{"x" * 1000}"}}\n' for number in range(300)))
        run_.stdin.flush()
        while run_.poll() is None:  # Python answers a signal that comes between two reads only after the second
            run_.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                run_.wait(5)
        err = run_.stderr.read()
    assert run_.returncode == 130
    said(err)
    assert (server.asked, (folder / "results.jsonl").exists()) == ([], False)


@pytest.mark.slow
def test_answers_come_through_a_named_pipe_as_well(folder):
    os.mkfifo(folder / "pipe")
    with serving(SCORED) as server:
        run_ = start(server, answers="pipe")
        (folder / "pipe").write_bytes((folder / "answers.jsonl").read_bytes())
        _, err = run_.communicate(timeout=60)
    told = "3 of 3 answers judged; 300 input tokens, 30 output tokens\n"
    assert (run_.returncode, without_scores(err)) == (0, told)
    assert ids(folder / "results.jsonl") == ["a0", "a1", "a2"]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["a.rubric.yaml", "-"], marks=pytest.mark.slow),
        ["judge", "a.rubric.yaml", "-", "--model", "m", "--base-url", "http://127.0.0.1:9", "--output", "x.jsonl"],
        pytest.param(["prompt", "a.rubric.yaml", "--answer", "@-"], marks=pytest.mark.slow),
    ],
    ids=["score", "judge", "prompt"],
)
def test_a_closed_standard_input_is_told(arguments):
    root = os.path.abspath(f"{__file__}/../../..")  # noqa: PTH100
    command = ["bash", "-c", 'exec "$@" <&-', "bash", *commands.command("rubric-score", *arguments)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.splitlines()[-1].endswith(" is closed")) == (2, "", True)
