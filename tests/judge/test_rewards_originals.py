"""What TRL and verifiers themselves make of our rewards: real training and rollouts, with the programs of the guide.

`make agreement` installs verifiers. PyTorch is gigabytes on most systems, so no lock has TRL: its tests run if you make
a virtual environment with it in `.cache/trl`.
"""

import json
import os
import statistics
from pathlib import Path

import commands
import pytest
from chat_server import completion, serving
from documented import read_blocks

pytestmark = pytest.mark.originals

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PAGE = (ROOT / "docs/guides/judging.md").read_text("utf-8")
PROGRAMS = {block.title: block.text for block in read_blocks(PAGE) if block.title}
RUBRIC = (ROOT / "examples/summary.rubric.yaml").read_text("utf-8")
ADDRESS = "http://localhost:8000/v1"  # of the judge in the guide
QUIET = {
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "NO_KEY": "none",
    "NO_PROXY": "127.0.0.1",
    "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}",
    "TRL_EXPERIMENTAL_SILENCE": "1",
}


def run(python, *arguments, folder):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**kept, **QUIET, "HOME": str(folder)}
    done = commands.run_process([python, *arguments], cwd=folder, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def output(accuracy, length):
    checks = [{"id": "accuracy", "score": accuracy}, {"id": "length", "score": length}]
    return json.dumps({"checks": checks})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "summary.rubric.yaml").write_text(RUBRIC, "utf-8")
    return tmp_path


# verifiers


def behave(asked):
    """The model repeats its prompt, and the judge judges the word that it finds in there."""
    messages = asked.body["messages"]
    if asked.body["model"] == "policy":
        return completion(messages[-1]["content"])
    assert "So." in messages[1]["content"], "the reference"
    return completion({"good": output(10, 10), "poor": output(5, 10)}.get(asked.answer, "I like it."))


def test_verifiers_rewards_a_rollout_and_fails_one_with_an_invalid_output(folder):
    python = ROOT / ".cache/agreement/bin/python"
    if not (ROOT / ".cache/agreement/installed").exists():
        pytest.skip("`make agreement` installs what this runs")
    with serving(behave) as server:
        (folder / "explain.py").write_text(PROGRAMS["explain.py"].replace(ADDRESS, server.url), "utf-8")
        done = run(python, HERE / "rollouts.py", server.url, "good", "poor", "odd", "good", folder=folder)
    good, poor, odd, again = map(json.loads, done.stdout.splitlines())
    assert good == again == {
        "reply": "good",
        "ok": True,
        "rewards": {"polite": 0.5, "quality": 1.0},
        "reward": 1.5,
        "metrics": {"quality/accuracy": 1.0, "quality/length": 1.0},
        "result": [1.0, "pass", 1.0, []],
        "errors": [],
    }  # fmt: skip
    score = (2 * 5 + 10) / 30
    assert poor == {
        "reply": "poor",
        "ok": True,
        "rewards": {"polite": 0.5, "quality": score},
        "reward": 0.5 + score,
        "metrics": {"quality/accuracy": 0.5, "quality/length": 1.0},
        "result": [score, "fail", score, []],
        "errors": [],
    }
    reason = 'quality: invalid judge output: no JSON object in this text: "I like it."'
    assert odd == {
        "reply": "odd",
        "ok": False,  # what trainers leave out
        "rewards": {"polite": None, "quality": None},
        "reward": 0,
        "metrics": {},
        "result": None,
        "errors": [f"task PoliteTask scoring: RewardError: {reason}"],
    }
    assert "quality: invalid judge output for 1 of 1 rollouts, 0 more skipped; so far 1 of 3, " in done.stderr


# TRL


@pytest.fixture(scope="module")
def trl():
    python = ROOT / ".cache/trl/bin/python"
    if not python.exists():
        pytest.skip(
            "needs a virtual environment in .cache/trl with trl==1.16.0, torch, openai and what rubric-lint needs"
        )
    return python


REPLIES = [output(9, 3), output(6, 6), output(0, 3), "no"]
REWARDS = [0.7, 0.6, 0.1]


def train(python, folder, **options):
    given = json.dumps({"replies": REPLIES, **options})
    done = run(python, HERE / "training.py", "train", "summary.rubric.yaml", given, folder=folder)
    return json.loads(done.stdout.splitlines()[-1])


def advantages(rewards):
    """What GRPO makes of the rewards of one group."""
    mean, deviation = statistics.mean(rewards), statistics.stdev(rewards)
    return [(reward - mean) / (deviation + 1e-4) for reward in rewards]


@pytest.mark.parametrize("is_async", [False, True])
def test_trl_compares_a_group_without_its_invalid_completion(trl, folder, is_async):
    found = train(trl, folder, on_invalid="none", is_async=is_async)
    assert found["rewards"] == {"summary": [*map(pytest.approx, REWARDS), None] * 2}
    assert found["advantages"] == pytest.approx([*advantages(REWARDS), 0.0] * 2, abs=1e-4)
    assert found["invalid"] == ["", "", "", 'no JSON object in this text: "no"'] * 2
    assert found["history"][-2] == {
        "rewards/summary/mean": pytest.approx(statistics.mean(REWARDS)),
        "rewards/summary/std": pytest.approx(statistics.stdev([*REWARDS, *REWARDS]), abs=1e-4),
        "summary/invalid": 0.25,
        "summary/skipped": 0.0,
        "summary/criteria/accuracy": pytest.approx(0.5),
        "summary/criteria/length": pytest.approx(0.4),
    }
    assert (found["totals"], found["asked"]) == ([2, 16, 4, 0], 16)


def test_trl_counts_none_as_0_beside_another_reward_and_skip_does_not(trl, folder):
    """Why `skip` is the default: TRL adds up what functions return, so None is the worst reward of the group."""
    other = [0.25, 0.5, 0.75, 1.0]
    none = train(trl, folder, on_invalid="none", others=other)
    sums = [one + two for one, two in zip([*REWARDS, 0], other, strict=True)]
    assert none["advantages"] == pytest.approx(advantages(sums) * 2, abs=1e-4)
    skip = train(trl, folder, others=other)
    assert skip["rewards"]["summary"] == [None] * 8
    assert skip["advantages"] == pytest.approx(advantages(other) * 2, abs=1e-4)
    assert skip["totals"] == [2, 16, 4, 12]


def test_trl_learns_nothing_from_a_group_that_is_skipped(trl, folder):
    found = train(trl, folder)
    assert (found["rewards"], found["advantages"]) == ({"summary": [None] * 8}, [0.0] * 8)
    assert found["history"][-2]["summary/skipped"] == 0.75


def test_criteria_are_dropped_for_a_whole_group_of_trl(trl, folder):
    found = train(trl, folder, replies=[output(9, 0)], dropout=0.7, seed=5, prompts=["Why?", "How?"])
    rewards = [round(each, 6) for each in found["rewards"]["summary"]]
    assert [len({*rewards[:4]}), len({*rewards[4:]})] == [1, 1]
    assert {*rewards} <= {0.6, 0.9, 0.0}


def test_the_program_of_the_guide_trains(trl, folder):
    run(trl, HERE / "training.py", "model", folder / "Qwen/Qwen3-0.6B", folder=folder)
    with serving(lambda asked: completion(output(9, 3 + len(asked.answer) % 2))) as server:
        program = PROGRAMS["train.py"].replace(ADDRESS, server.url)
        program = program.replace('GRPOConfig("run"', 'GRPOConfig("run", use_cpu=True, bf16=False, report_to=[]')
        (folder / "train.py").write_text(program, "utf-8")
        done = run(trl, "train.py", folder=folder)
    last = done.stdout.splitlines()[-1]
    assert last.startswith("RewardCounts(calls=")
    assert last.endswith(", invalid=0, skipped=0)")
    assert len(server.asked) > 0
