"""Panels of models, one criterion per request, and shuffled criteria."""

import hashlib
import json
import os
import re
from collections import Counter
from contextlib import ExitStack
from fractions import Fraction
from itertools import product

import commands
import pytest
from cases import read_cases
from chat_server import Response, completion, serving, without_scores
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.judge.prompt import JudgedCase, as_text, write_prompt
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.scorer import Scorer

TABLES = read_cases(__file__)


KEY = "sk-secret-0123456789"
RUBRIC = """\
rubrics:
  - id: accuracy
    weight: 2
    required_min_score: 5
    score_ranges: {0: Contradicts the source., 5: Agrees with the source in most statements., 9: Agrees in all.}
  - id: tone
    score_ranges: {0: Insults the reader., 5: Addresses the reader politely.}
  - id: length
    weight: 1.5
    score_ranges: {0: Over 100 words., 8: At most 100 words.}
"""
IDS = ["accuracy", "tone", "length"]
WEIGHTS = {"accuracy": Fraction(2), "tone": Fraction(1), "length": Fraction(3, 2)}
RUBRICS = load_rubrics("r.rubric.yaml", RUBRIC.encode())


@pytest.fixture(autouse=True)
def folder(folder):
    (folder / "r.rubric.yaml").write_text(RUBRIC, "utf-8")
    write_answers(folder, 2)
    return folder


def write_answers(folder, count):
    lines = (json.dumps({"id": f"a{number}", "answer": f"Answer {number}."}) + "\n" for number in range(count))
    (folder / "answers.jsonl").write_text("".join(lines), "utf-8")


def run(*arguments, program="rubric-score", **environment):
    """Run a command: exit code, standard output, lines of standard error."""
    done = commands.run(program, *arguments, env={**os.environ, **environment})
    return done.returncode, done.stdout, without_scores(commands.complaint(done)).splitlines()


def judge(server, *arguments, models=("one", "two"), **environment):
    named = [word for model in models for word in ("--model", model)]
    options = ["--base-url", server.url, "--concurrency", "1", *arguments]
    return run("judge", "r.rubric.yaml", "answers.jsonl", *named, *options, **environment)


def results(folder, name="answers.judged.jsonl"):
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def score(model, sample, name, answer):
    """What a model of these tests gives a criterion."""
    return hashlib.sha256(f"{model} {sample} {name} {answer}".encode()).digest()[0] % 11


def say(model, content):
    """A reply that names the model."""
    response = completion(content)
    return response._replace(body={**response.body, "model": model})


class Models:
    """Replies of well-behaved models: to a request, a score for each criterion that it shows, in that order."""

    def __init__(self):
        self.asked = Counter()
        self.orders = {}

    def __call__(self, asked):
        model, system = asked.body["model"], asked.body["messages"][0]["content"]
        names = re.findall(r'^## Criterion "(\w+)"$', system, re.MULTILINE)
        schema = asked.body["response_format"]["json_schema"]["schema"]["properties"]["checks"]
        assert schema["required"] == names
        place = model, asked.answer, tuple(sorted(names))
        self.asked[place] += 1
        sample = self.asked[place]
        self.orders.setdefault((model, asked.answer, sample), []).extend(names)
        checks = [
            {"id": name, "reasoning": f"{model} on {name}", "score": score(model, sample, name, asked.answer)}
            for name in names
        ]
        return say(model, json.dumps({"checks": checks, "overall_reasoning": f"{model} {sample}"}))


# SPEC 5, restated


def verdict(given):
    mean = sum(WEIGHTS[name] * given[name] for name in IDS) / (10 * sum(WEIGHTS.values()))
    if given["accuracy"] < 5 or mean < Fraction(6, 10):
        return mean, "fail"
    return mean, "pass" if mean >= Fraction(8, 10) else "borderline"


def middle(values):
    """The median of an odd number, or the lower of the two in the middle."""
    return sorted(values)[(len(values) - 1) // 2]


def combine(outputs):
    """The result of several outputs, each a mapping of criteria to scores, by SPEC 5's rule for samples."""
    means, verdicts = zip(*map(verdict, outputs), strict=True)
    worst_first = ["fail", "borderline", "pass"]
    upper = sorted(means)[len(means) // 2]
    criteria = [(name, middle([output[name] for output in outputs])) for name in IDS]
    return {
        "score": float((middle(means) + upper) / 2),
        "verdict": worst_first[middle([worst_first.index(verdict) for verdict in verdicts])],
        "verdicts": {name: verdicts.count(name) for name in ("pass", "borderline", "fail")},
        "stable": len(set(verdicts)) == 1,
        "criteria": [
            (name, value, sum(output[name] == value for output in outputs) / len(outputs)) for name, value in criteria
        ],
    }


def read_result(result):
    found = {name: result[name] for name in ("score", "verdict", "verdicts", "stable")}
    return {
        **found,
        "criteria": [(criterion["id"], criterion["raw"], criterion["share"]) for criterion in result["criteria"]],
    }


def as_output(given):
    return {"checks": [{"id": name, "score": given[name]} for name in IDS]}


SCORES = st.fixed_dictionaries(dict.fromkeys(IDS, st.integers(0, 10)))


@given(
    st.integers(2, 4).flatmap(
        lambda models: st.lists(st.lists(SCORES, min_size=1, max_size=3), min_size=models, max_size=models)
    )
)
def test_the_result_of_a_panel_is_the_median_of_all_its_outputs(panel):
    outputs = [output for samples in panel for output in samples]
    members = [{"model": f"m{place}", "outputs": len(samples)} for place, samples in enumerate(panel)]
    record = {"id": "a", "outputs": [*map(as_output, outputs)], "judge": {"panel": members}}
    result = Scorer(RUBRICS).score(json.dumps(record).encode(), 1).to_json()
    assert read_result(result) == combine(outputs)
    assert result["independent_votes_at_most"] == len(panel)
    assert [(each["model"], each["verdicts"]) for each in result["panel"]] == [
        (f"m{place}", combine(samples)["verdicts"]) for place, samples in enumerate(panel)
    ]
    assert result["verdict"] in {verdict(output)[1] for output in outputs}


# The run


def expected_order(seed, answer, model, sample):
    key = lambda name: hashlib.sha256(json.dumps([seed, answer, model, sample, name]).encode()).digest()  # noqa: E731
    return sorted(IDS, key=key)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "samples", "per_criterion", "seed"), [*product((1, 2, 3), (1, 2), (False, True), (None, 7))]
)
def test_models_samples_criteria_and_orders_combine(folder, models, samples, per_criterion, seed):
    names = ["one", "two", "three"][:models]
    options = [*(["--per-criterion"] if per_criterion else []), *(["--shuffle", str(seed)] if seed else [])]
    behave = Models()
    with serving(behave) as server:
        code, _, told = judge(server, "--samples", str(samples), *options, models=names)
    requests = 2 * models * samples * (3 if per_criterion else 1)
    assert (code, len(server.asked)) == (0, requests)
    assert requests == 2 or told[0].startswith(f"{requests} requests (")
    records = results(folder)
    assert len(records) == 2
    for record in records:
        about, text = record["judge"], record["answer"]
        drawn = [(model, number) for model in names for number in range(1, samples + 1)]
        given = [{name: score(*each, name, text) for name in IDS} for each in drawn]
        found = record["outputs"] if len(drawn) > 1 else [record["output"]]
        assert [{check["id"]: check["score"] for check in output["checks"]} for output in found] == given
        assert [[check["id"] for check in output["checks"]] for output in found] == [IDS] * len(drawn)
        orders = [expected_order(seed, record["id"], *each) if seed else IDS for each in drawn]
        assert [behave.orders[model, text, number] for model, number in drawn] == orders
        members = about["panel"] if models > 1 else [about]
        assert [member["model"] for member in members] == names
        assert [order for member in members for order in member.get("orders", [])] == (orders if seed else [])
        assert about.get("independent_votes_at_most") == (models if len(drawn) > 1 else None)
        assert (about.get("per_criterion", False), about.get("shuffle")) == (per_criterion, seed)
        tries = {order[0]: [1] for order in orders} and (dict.fromkeys(IDS, 1) if per_criterion else 1)
        assert [tried for member in members for tried in member["attempts"]] == [tries] * len(drawn)
        overall = [output["overall_reasoning"] for output in found]
        said = [f"{model} {number}" for model, number in drawn]
        assert overall == (["\n".join(f"{name}: {each}" for name in IDS) for each in said] if per_criterion else said)
    code, out, _ = run("r.rubric.yaml", "answers.judged.jsonl", "--format", "jsonl")
    for record, line in zip(records, out.splitlines(), strict=True):
        result = json.loads(line)
        drawn = [
            {name: score(model, number, name, record["answer"]) for name in IDS}
            for model in names
            for number in range(1, samples + 1)
        ]
        if len(drawn) > 1:
            assert read_result(result) == combine(drawn)
        else:
            assert (result["score"], result["verdict"]) == (float(verdict(drawn[0])[0]), verdict(drawn[0])[1])
        assert result.get("independent_votes_at_most") == (models if models > 1 else None)
    with serving(behave) as again:
        assert judge(server, "--samples", str(samples), *options, models=names[::-1])[0] == 0
    assert again.asked == []


@pytest.mark.slow
def test_a_run_says_its_requests_and_how_many_votes_are_independent(said):
    with serving(Models()) as server:
        code, out, told = judge(server, "--samples", "2", "--per-criterion")
    assert (code, out) == (0, "")
    said([re.sub(r"\d(?= with the same verdict)", "N", line) for line in told])  # the draws depend on the order


@pytest.mark.slow
def test_the_requests_of_a_resumed_run_are_those_that_are_left(folder, said):
    with serving(Models()) as server:
        judge(server, "--per-criterion")
        write_answers(folder, 3)
        told = judge(server, "--per-criterion")[2]
    said(told[0], told[1])
    assert len(server.asked) == 18


def test_the_order_is_the_same_on_every_machine(folder):
    ids = [f"c{number}" for number in range(6)]
    text = "rubrics:\n" + "".join(f"  - {{id: {name}, expected_outcome: Names {name}}}\n" for name in ids)
    (folder / "six.rubric.yaml").write_text(text, "utf-8")
    found = []
    for options in (("a1", "m", "1"), ("a1", "m", "2"), ("a2", "m", "1"), ("a1", "n", "1"), ("7", "m", "1")):
        asked = ["--id", options[0], "--model", options[1], "--sample", options[2]]
        out = run("prompt", "six.rubric.yaml", "--answer", "So.", "--shuffle", "1", *asked)[1]
        found.append("".join(re.findall(r'^## Criterion "c(\d)"$', out, re.MULTILINE)))
    assert found == ["013524", "304251", "421503", "145203", "354012"]


# What goes wrong


@pytest.mark.slow
def test_an_invalid_output_of_one_model_makes_the_record_invalid_and_names_it(folder, said):
    good = Models()

    def behave(asked):
        return completion("8/10") if asked.body["model"] == "two" and "1" in asked.answer else good(asked)

    with serving(behave) as server:
        code, _, told = judge(server, "--max-attempts", "2", models=("one", "two", "three"))
    assert code == 1
    (record,) = (each for each in results(folder) if each["id"] == "a1")
    assert len(record["outputs"]) == 2
    said(told[1], record["judge"]["fault"])
    assert [(each["model"], each["outputs"]) for each in record["judge"]["panel"]] == [
        ("one", 1),
        ("two", 1),
        ("three", 0),
    ]
    code, out, _ = run("r.rubric.yaml", "answers.judged.jsonl", "--format", "jsonl")
    (error,) = (json.loads(line)["error"] for line in out.splitlines() if "error" in json.loads(line))
    assert (code, error["path"]) == (1, "/outputs/1")
    said(error["message"])


def test_an_invalid_output_for_one_criterion_names_the_criterion(folder, said):
    good = Models()

    def behave(asked):
        is_bad = '## Criterion "tone"' in asked.body["messages"][0]["content"]
        return completion('{"checks": []}') if is_bad else good(asked)

    write_answers(folder, 1)
    with serving(behave) as server:
        code, _, told = judge(server, "--max-attempts", "1", "--per-criterion", models=("one",))
    fault = 'criterion `tone`: no check for "tone"'
    assert code == 1
    said(told[1])
    assert results(folder)[0]["judge"]["fault"] == fault
    out = run("r.rubric.yaml", "answers.judged.jsonl", "--format", "jsonl")[1]
    assert json.loads(out)["error"]["message"].endswith(fault)


@pytest.mark.slow
def test_a_request_is_corrected_with_the_same_order(folder):
    good = Models()

    def behave(asked):
        return good(asked) if len(asked.body["messages"]) == 4 else completion("8/10")

    write_answers(folder, 1)
    with serving(behave) as server:
        assert judge(server, "--shuffle", "6")[0] == 0
    systems = [asked.body["messages"][0]["content"] for asked in server.asked]
    assert systems[0] == systems[1] != systems[2] == systems[3]
    assert [each["attempts"] for each in results(folder)[0]["judge"]["panel"]] == [[2], [2]]


@pytest.mark.slow
def test_a_model_that_gives_no_reply_leaves_the_answer_for_the_next_run(folder, said):
    good, failing = Models(), [True]

    def behave(asked):
        if asked.body["model"] == "two" and failing[0] and "0" in asked.answer:
            return Response({"error": {"message": "Too long."}}, 400)
        return good(asked)

    with serving(behave) as server:
        code, _, told = judge(server)
        assert code == 1
        said(told[1])
        assert [each["id"] for each in results(folder)] == ["a1"]
        failing[0] = False
        assert judge(server)[0] == 0
    assert sorted(each["id"] for each in results(folder)) == ["a0", "a1"]


def test_a_model_that_refuses_every_request_ends_the_run_at_once(folder, said):
    good = Models()

    def behave(asked):
        refused = Response({"error": {"message": "No such model."}}, 404)
        return refused if asked.body["model"] == "two" else good(asked)

    write_answers(folder, 50)
    with serving(behave) as server:
        code, _, told = judge(server)
    assert (code, len(server.asked)) == (2, 2)
    refusal, counts, stopped = told[1:]
    said(refusal, counts, stopped)


CHANGED = {
    "a model less": (("one",), []),
    "another model": (("one", "three"), []),
    "a model more": (("one", "two", "three"), []),
    "per criterion": (("one", "two"), ["--per-criterion"]),
    "shuffled": (("one", "two"), ["--shuffle"]),
    "samples": (("one", "two"), ["--samples", "2"]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("models", "options"), CHANGED.values(), ids=CHANGED)
def test_a_run_with_other_models_or_requests_is_not_resumed(models, options, said):
    with serving(Models()) as server:
        judge(server)
        code, _, told = judge(server, *options, models=models)
    assert (code, len(server.asked)) == (2, 4)
    said(told)


@pytest.mark.slow
def test_another_seed_is_not_resumed():
    with serving(Models()) as server:
        assert [judge(server, "--shuffle", seed)[0] for seed in ("1", "2", "1")] == [0, 2, 0]
        assert judge(server, "--shuffle")[0] == 0


# Endpoints and keys


@pytest.mark.slow
def test_models_have_endpoints_and_keys_of_their_own(folder):
    with ExitStack() as opened:
        first, second, third = (opened.enter_context(serving(Models())) for _ in range(3))
        models = ["one", f"one@{second.url}", f"two@{third.url}"]
        code, _, told = judge(
            first, "--api-key-env", "two=TWO_KEY", models=models, OPENAI_API_KEY=KEY, TWO_KEY="sk-two-0123456789"
        )
    assert code == 0, told
    sent = [{asked.headers["authorization"] for asked in server.asked} for server in (first, second, third)]
    assert sent == [{f"Bearer {KEY}"}, {"Bearer none"}, {"Bearer sk-two-0123456789"}]
    panel = results(folder)[0]["judge"]["panel"]
    assert [(each["model"], each["endpoint"]) for each in panel] == [
        ("one", first.url), ("one", second.url), ("two", third.url)
    ]  # fmt: skip
    result = json.loads(run("r.rubric.yaml", "answers.judged.jsonl", "--format", "jsonl")[1].splitlines()[0])
    assert [each["model"] for each in result["panel"]] == [f"one@{first.url}", f"one@{second.url}", "two"]


URL = "http://127.0.0.1:9/v1"


@pytest.mark.slow
def test_the_key_of_the_only_endpoint_needs_no_model():
    with serving(Models()) as server:
        models = [f"one@{server.url}", f"two@{server.url}"]
        assert judge(server, models=models, OPENAI_API_KEY=KEY, OPENAI_BASE_URL="http://127.0.0.1:9/v1")[0] == 0
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    with serving(Models()) as server:
        options = ["--model", f"one@{server.url}", "--output", "o.jsonl"]
        assert run("judge", "r.rubric.yaml", "answers.jsonl", *options, OPENAI_API_KEY=KEY)[0] == 0
        named = ["--model", f"two@{server.url}", "--output", "p.jsonl", "--api-key-env", "SOME_KEY"]
        assert run("judge", "r.rubric.yaml", "answers.jsonl", *named, SOME_KEY=KEY)[0] == 0
    assert [asked.headers["authorization"] for asked in server.asked] == ["Bearer none"] * 2 + [f"Bearer {KEY}"] * 2


def test_a_variable_in_lower_case_is_that_of_its_model():
    with serving(Models()) as server:
        models = [f"one@{server.url}", "two@http://127.0.0.1:9/v1"]
        options = ["--api-key-env", "one=some_key", "--retries", "0"]
        judge(server, *options, models=models, some_key=KEY)
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}


VARIABLES = {
    "OPENAI_API_KEY": KEY,
    "OPENAI_ADMIN_KEY": "sk-admin-0123456789",
    "OPENAI_ORG_ID": "org-0123456789",
    "OPENAI_PROJECT_ID": "proj-0123456789",
    "OPENAI_CUSTOM_HEADERS": "X-Gateway-Key: gateway-0123456789\nAuthorization: Bearer custom-0123456789",
}


@pytest.mark.slow
def test_an_endpoint_of_a_models_own_gets_nothing_of_the_variables():
    with serving(Models()) as first, serving(Models()) as second:
        code, _, told = judge(first, models=["one", f"two@{second.url}"], **VARIABLES)
    assert code == 0, told
    sent = [" ".join(server.asked[0].headers.values()) for server in (first, second)]
    held = re.findall(r"[\w-]+-0123456789", " ".join(VARIABLES.values()))
    assert [name for name in held if name in sent[1]] == []
    assert "gateway-0123456789" in sent[0]


@pytest.mark.slow
def test_a_run_asks_the_endpoint_that_it_records(folder):
    with serving(Models()) as server, serving(Models()) as other:
        models = [f"one@{server.url}"]
        assert judge(server, models=models, OPENAI_BASE_URL=other.url)[0] == 0
        options = ["--base-url", "", "--model", "m", "--retries", "0", "--timeout", "0.001", "--output", "o.jsonl"]
        run("judge", "r.rubric.yaml", "answers.jsonl", *options, OPENAI_BASE_URL=other.url, OPENAI_API_KEY=KEY)
    assert other.asked == []
    assert results(folder)[0]["judge"]["endpoint"] == server.url


@pytest.mark.slow
def test_names_with_an_at_sign_are_names(folder):
    names = ["@cf/meta/llama-3.1-8b", "claude@20250101"]
    with serving(Models()) as server:
        assert judge(server, models=names)[0] == 0
    assert [each["model"] for each in results(folder)[0]["judge"]["panel"]] == names


def test_a_secret_in_an_endpoint_is_not_shown():
    def behave(_asked):
        return Response({"error": {"message": "Wrong key."}}, 401)

    with serving(behave) as server:
        url = server.url.replace("http://", f"http://user:{KEY}@")
        told = judge(server, models=("one", f"two@{url}"))[2]
    assert KEY not in "\n".join(told)
    assert not any("rubric-score judge " in line for line in told)


# Records


def member(name, outputs=1):
    return {"model": name, "endpoint": URL, "outputs": outputs}


LOW, HIGH = dict.fromkeys(IDS, 6), dict.fromkeys(IDS, 9)


@pytest.mark.parametrize(("panel", "outputs", "path"), TABLES["a record without the votes"])
def test_a_record_without_the_votes_of_its_panel_is_invalid(panel, outputs, path, said):
    given = [*map(as_output, outputs)]
    record = {
        "id": "x",
        **({"output": given[0]} if path == "/output" else {"outputs": given}),
        "judge": {"panel": panel},
    }
    error = Scorer(RUBRICS).score(json.dumps(record).encode(), 1).to_json()["error"]
    assert error["path"] == path
    said(error["message"])


SAME = {
    "different models": ([("a", None), ("b", None)], 2),
    "one model at two endpoints": ([("a", None), ("a", None)], 1),
    "one name for two models": ([("a", ["x"]), ("a", ["y"])], 2),
    "two names of one model": ([("a", ["a-1"]), ("b", ["a-1"]), ("c", ["c"])], 2),
    "a model that replied under two names": ([("a", ["x"]), ("b", ["y"]), ("c", ["x", "y"])], 1),
    "names that cannot be those of models": ([("a", "x"), ("b", [1]), ("b", [])], 2),
}


@pytest.mark.parametrize(("models", "votes"), SAME.values(), ids=SAME)
def test_a_model_that_judges_twice_has_one_independent_vote(folder, models, votes, said):
    panel = [
        {**member(name), "endpoint": f"{URL}{place}", **({} if replied is None else {"answered_by": replied})}
        for place, (name, replied) in enumerate(models)
    ]
    write(folder, "o.jsonl", [{"id": "x", "outputs": [as_output(LOW)] * len(panel), "judge": {"panel": panel}}])
    (total,) = json.loads(run("r.rubric.yaml", "o.jsonl", "--format", "json")[1])["totals"]["rubrics"][0]["panels"]
    result = json.loads(run("r.rubric.yaml", "o.jsonl", "--format", "jsonl")[1])
    table = run("r.rubric.yaml", "o.jsonl", "--format", "table")[1]
    assert (total["independent_votes_at_most"], result["independent_votes_at_most"]) == (votes, votes)
    assert (len(total["models"]), len(result["panel"])) == (len(models), len(models))
    said(table)


@pytest.mark.slow
def test_a_run_of_one_model_at_two_endpoints_says_one_independent_vote(folder, said):
    with serving(Models()) as first, serving(Models()) as second:
        told = judge(first, models=["one", f"one@{second.url}"])[2]
    said(told[1])
    assert [each["judge"]["independent_votes_at_most"] for each in results(folder)] == [1, 1]


@pytest.mark.parametrize("panel", ["three people", [], [{"model": "a"}], [{"model": "a", "outputs": True}], {"a": 1}])
def test_another_field_named_panel_is_left_alone(panel):
    record = {"id": "x", "outputs": [as_output(LOW)] * 2, "judge": {"panel": panel}}
    result = Scorer(RUBRICS).score(json.dumps(record).encode(), 1).to_json()
    assert (result["verdict"], "independent_votes_at_most" in result, result["judge"]) == (
        "borderline", False, {"panel": panel}
    )  # fmt: skip


def panel_record(name, *given, **more):
    members = [{"model": model, "endpoint": URL, "outputs": len(samples)} for model, samples in given]
    outputs = [as_output(output) for _, samples in given for output in samples]
    return {"id": name, **more, "outputs": outputs, "judge": {"panel": members}}


def write(folder, name, records):
    (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


def test_the_totals_say_how_many_votes_are_independent(folder, said):
    two = [panel_record(f"x{n}", ("a", [LOW, HIGH]), ("b", [HIGH, HIGH])) for n in range(2)]
    write(
        folder,
        "out.jsonl",
        [*two, panel_record("y", ("a", [LOW]), ("b", [LOW]), ("c", [HIGH])), {"id": "z", "output": as_output(LOW)}],
    )
    table = run("r.rubric.yaml", "out.jsonl", "--format", "table")[1].splitlines()
    said([line.strip() for line in table if "panel" in line])
    totals = json.loads(run("r.rubric.yaml", "out.jsonl", "--format", "json")[1])["totals"]["rubrics"][0]
    assert (totals["sampled"], totals["stable"], totals["panels"]) == (
        3,
        0,
        [
            {"models": ["a", "b"], "independent_votes_at_most": 2, "outputs": 2},
            {"models": ["a", "b", "c"], "independent_votes_at_most": 3, "outputs": 1},
        ],
    )


# Agreement


@pytest.mark.slow
def test_the_models_of_a_panel_are_raters_and_the_panel_is_compared_with_people(folder):
    write(
        folder,
        "run.jsonl",
        [panel_record(f"x{n}", ("a", [LOW, HIGH]), ("b", [HIGH, HIGH]), ("c", [LOW, LOW])) for n in range(4)],
    )
    write(folder, "labels.jsonl", [{"id": f"x{n}", "rater": "ana", "output": as_output(HIGH)} for n in range(4)])
    code, out, told = run("agree", "r.rubric.yaml", "run.jsonl", "--labels", "labels.jsonl", "--format", "json")
    assert (code, told) == (0, [])
    (found,) = json.loads(out)["agreements"]
    assert [tuple(rater.values()) for rater in found["raters"]] == [
        ("ana", "person", 4), ("a", "judge", 4), ("b", "judge", 4), ("c", "judge", 4), ("panel", "panel", 4)
    ]  # fmt: skip
    assert [(comparison["between"], comparison["raters"]) for comparison in found["comparisons"]] == [
        ("label and judge", ["ana", "a"]),
        ("label and judge", ["ana", "b"]),
        ("label and judge", ["ana", "c"]),
        ("label and judge", ["ana", "panel"]),
        ("judges", ["a", "b", "c"]),
        ("judges", ["a", "b"]),
        ("judges", ["a", "c"]),
        ("judges", ["b", "c"]),
    ]
    assert [rate["judge"] for rate in found["pass_rates"]] == ["a", "b", "c", "panel"]
    assert [sample["rater"] for sample in found["samples"]] == ["a", "b", "c"]
    assert {each["ratings"][1]["rater"] for each in found["disagreements"]["worst"]} == {"a", "c"}


def test_a_panel_without_people_is_its_models(folder, said):
    write(folder, "run.jsonl", [panel_record(f"x{n}", ("a", [LOW]), ("b", [HIGH])) for n in range(2)])
    found = json.loads(run("agree", "r.rubric.yaml", "run.jsonl", "--format", "json")[1])
    assert [rater["name"] for rater in found["agreements"][0]["raters"]] == ["a", "b"]
    code, _, told = run("agree", "r.rubric.yaml", "run.jsonl", "--rater", "panel")
    assert code == 2
    said(told)


def test_raters_of_panels_in_two_files_are_told_apart(folder):
    for name in ("v1", "v2"):
        write(folder, f"{name}.jsonl", [panel_record("x", ("a", [LOW]), ("panel", [HIGH]))])
    write(folder, "labels.jsonl", [{"id": "x", "rater": "ana", "output": as_output(HIGH)}])
    arguments = ["v1.jsonl", "v2.jsonl", "--labels", "labels.jsonl", "--format", "json"]
    found = json.loads(run("agree", "r.rubric.yaml", *arguments)[1])["agreements"][0]
    assert [(rater["name"], rater["role"]) for rater in found["raters"]] == [
        ("ana", "person"),
        ("v1/a", "judge"),
        ("v1/panel", "judge"),
        ("v2/a", "judge"),
        ("v2/panel", "judge"),
        ("v1/panel 2", "panel"),
        ("v2/panel 2", "panel"),
    ]


def test_an_answer_that_a_panel_judged_twice_has_further_outputs(folder, said):
    write(folder, "run.jsonl", [panel_record(name, ("a", [LOW]), ("b", [HIGH])) for name in ("x", "y", "y")])
    code, _, told = run("agree", "r.rubric.yaml", "run.jsonl")
    assert (code, len(told)) == (0, 1)
    said(told[0])


# The prompt


def test_the_prompts_of_single_criteria_are_those_of_rubrics_with_one_criterion():
    out = run("prompt", "r.rubric.yaml", "--answer", "So.", "--per-criterion")[1]
    alone = []
    for number, entry in enumerate(re.split(r"^  (?=- id)", RUBRIC, flags=re.MULTILINE)[1:], 1):
        (rubric,) = load_rubrics("r.rubric.yaml", f"rubrics:\n  {entry}".encode()).values()
        text = as_text(write_prompt(rubric, JudgedCase("So.")))
        alone.append(f"==== Request {number} of 3: {IDS[number - 1]} ====\n{text}\n")
    assert out == "\n".join(alone)
    listed = json.loads(run("prompt", "r.rubric.yaml", "--answer", "So.", "--per-criterion", "--format", "messages")[1])
    assert ["\n\n".join(message["content"] for message in each) for each in listed] == [
        each.partition("\n")[2].removesuffix("\n") for each in alone
    ]


@pytest.mark.slow
def test_a_shuffled_prompt_is_what_a_run_asks():
    with serving(Models()) as server:
        judge(server, "--shuffle", "4", "--samples", "2")
    for number, asked in enumerate(server.asked):
        name, sample = asked.answer.replace("Answer ", "a")[:-1], str(number % 2 + 1)
        options = ["--shuffle", "4", "--id", name, "--model", asked.body["model"], "--sample", sample]
        out = run("prompt", "r.rubric.yaml", "--answer", asked.answer, *options, "--format", "messages")[1]
        assert json.loads(out) == asked.body["messages"]


# Rubric tests


TESTS = """\
rubric: r.rubric.yaml
outputs: recorded.jsonl
tests:
  - {id: t0, answer: Answer 0., expect: {score: [0, 1]}}
  - {id: t1, answer: Answer 1., expect: {score: [0, 1]}}
"""


def record_tests(server, *options, models=("one", "two")):
    named = [word for model in models for word in ("--model", model)]
    call = ["--record", *named, "--base-url", server.url, "--concurrency", "1", *options]
    return run(*call, program="rubric-test")


@pytest.mark.slow
def test_a_panel_records_tests_and_after_an_edit_only_what_changed(folder, said):
    (folder / "r.rubric-test.yaml").write_text(TESTS, "utf-8")
    with serving(Models()) as server:
        code, _, told = record_tests(server, "--samples", "2", "--shuffle", "3")
        assert code == 0
        said(told[0])
        before = results(folder, "recorded.jsonl")
        assert [[each["outputs"] for each in record["judge"]["panel"]] for record in before] == [[2, 2], [2, 2]]
        (folder / "r.rubric.yaml").write_text(RUBRIC.replace("Insults the reader.", "Is rude."), "utf-8")
        code, _, told = record_tests(server, "--samples", "2", "--per-criterion")
    said(told)
    assert code == 0
    said(told[0])
    after = results(folder, "recorded.jsonl")
    for one, two in zip(before, after, strict=True):
        assert [drop(output, "tone") for output in two["outputs"]] == [
            drop(output, "tone") for output in one["outputs"]
        ]
        assert [[check["id"] for check in output["checks"]] for output in two["outputs"]] == [IDS] * 4
        kept = two["judge"]["kept"]
        assert [(each["criteria"], each["models"]) for each in kept] == [(["accuracy", "length"], ["one", "two"])]
    code, _, told = run(program="rubric-test")
    assert (code, told) == (0, [])


def drop(output, name):
    return [check for check in output["checks"] if check["id"] != name]


@pytest.mark.slow
def test_after_an_edit_another_panel_judges_every_criterion(folder, said):
    (folder / "r.rubric-test.yaml").write_text(TESTS, "utf-8")
    with serving(Models()) as server:
        assert record_tests(server)[0] == 0
        (folder / "r.rubric.yaml").write_text(RUBRIC.replace("Insults the reader.", "Is rude."), "utf-8")
        code, _, told = record_tests(server, models=("one", "three"))
        assert code == 0
        said(told[0])
        (folder / "r.rubric.yaml").write_text(RUBRIC.replace("Insults the reader.", "Is mean."), "utf-8")
        code, _, told = record_tests(server, models=("one",))
        assert code == 0
        said(told[0])
    assert [sorted(record) for record in results(folder, "recorded.jsonl")] == [["answer", "id", "judge", "output"]] * 2
