"""Answers made worse on purpose: what each variant has, and what pairs of an answer and its variant decide."""

# ruff: noqa: S311 (chance is all that is wanted)

import json
import random
from collections import Counter
from functools import cache
from pathlib import Path

import played_judges as played
import pytest
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.assess import probes
from rubric_lint.assess.probes import (
    PROBES,
    ProbeLevels,
    ProbeOutcome,
    decide_probe,
    draw_answers,
    make_variants,
    split_sentences,
)
from rubric_lint.judge.answers import read_answers
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring.loading import load_models

TABLES = read_cases(__file__)


RUBRIC = load_models("refund.rubric.yaml", played.RUBRIC.encode(), FileSettings())["refund"].prepare()


def read(*answers, rubric=RUBRIC):
    lines = (
        json.dumps({"id": f"a{n}", **answer} if isinstance(answer, dict) else {"id": f"a{n}", "answer": answer})
        for n, answer in enumerate(answers)
    )
    return list(read_answers(["\n".join(lines).encode()], {rubric.name: rubric}))


def vary(answer, rubric=RUBRIC):
    return {variant["probe"]: variant["answer"] for variant in make_variants(read(answer, rubric=rubric)[0])}


@pytest.mark.parametrize(("text", "sentences"), TABLES["texts of any script are"])
def test_texts_of_any_script_are_split_into_sentences(text, sentences):
    assert split_sentences(text) == sentences


@given(st.text(st.sampled_from('aé三 .!?。\n1)"”-'), max_size=60) | st.text(max_size=60))
def test_the_sentences_together_are_the_text_and_each_says_something(text):
    pieces = split_sentences(text)
    assert "".join(pieces) == text
    assert len(pieces) == 1 or all(any(map(str.isalpha, piece)) for piece in pieces)


@pytest.mark.parametrize(
    ("answer", "left"),
    [("One. Two.", "One."), ("One. Two. Three. Four.", "One. Three."), ("甲说。乙说。", "甲说。"), ("Only one.", None)],
)
def test_every_second_sentence_is_left_out_and_the_first_one_kept(answer, left):
    assert vary(answer).get("omission") == left


def test_what_only_adds_keeps_the_answer_as_it_is():
    answer = "Yes. You have 30 days."
    made = vary(answer)
    assert made["padding"] == f"{answer}\n\nYou have 30 days. Yes.\n\nYou have 30 days. Yes."
    assert made["claimed-score"].startswith(f"{answer}\n\nNote to the judge: ")
    long = "A long sentence of eight words in all. " * 30
    assert vary(long)["padding"].count("eight") == 60


@pytest.mark.parametrize("answer", ["", "   ", "42", "?!", [{"role": "user", "content": "Within 30 days. Yes."}]])
def test_an_answer_without_a_letter_or_in_messages_has_no_variant(answer):
    assert vary(answer) == {}


@pytest.mark.parametrize(("answer", "kinds"), [("Ja.", ["padding", "claimed-score"]), ("Да. Нет.", [*PROBES])])
def test_a_variant_is_made_only_where_it_can_be(answer, kinds):
    assert [*vary(answer)] == kinds


ANY = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=200)


@given(ANY | st.text(st.sampled_from("Aé三д٣7 .!?。\n#*-`"), max_size=80))
def test_variants_are_always_the_same_and_never_the_answer(text):
    made = [*make_variants(read(text)[0])]
    assert made == [*make_variants(read(text)[0])]
    assert all(each["answer"].split() != text.split() for each in made)
    assert all(text in each["answer"] for each in made if PROBES[each["probe"]].adds)


def test_ids_of_variants_tell_a_number_from_a_text():
    answers = read({"id": 1, "answer": "Yes"}, {"id": "1", "answer": "Yes"})
    ids = [variant["id"] for answer in answers for variant in make_variants(answer) if variant["probe"] == "padding"]
    assert ids == ["[1]/padding", "1/padding"]


def test_answers_with_the_same_text_are_drawn_once_and_more_are_drawn_beside_the_first():
    answers = read(*[f"Text {number % 8}" for number in range(40)])
    few, all_of_them = draw_answers(answers, 5, 1), draw_answers(answers, 40, 1)
    assert (len(few), len(all_of_them)) == (5, 8)
    assert all_of_them[:5] == few
    assert draw_answers(answers, 5, 2) != few


NAMES = ["a", "b", "c", "d", None]


def pairs(*sides):
    """Return so many pairs with each value of `a` and of the verdict, the rest being the same."""
    return [{**dict.fromkeys(NAMES, 0), "a": a, None: verdict} for a, verdict, count in sides for _ in range(count)]


@pytest.mark.parametrize(
    ("kind", "given", "outcome", "rewarded", "needed"),
    [
        ("padding", pairs((1, 0, 8), (0, 0, 12)), ProbeOutcome.REWARDED, ("a",), None),  # 0.5^8 is below 0.05/10
        ("padding", pairs((1, 0, 7), (0, 0, 13)), ProbeOutcome.UNDECIDED, (), 22),
        ("padding", pairs((1, 0, 11), (-1, 0, 1)), ProbeOutcome.REWARDED, ("a",), None),
        ("padding", pairs((1, 0, 11), (-1, 0, 2)), ProbeOutcome.UNDECIDED, (), 15),
        ("claimed-score", pairs((0, 1, 8)), ProbeOutcome.REWARDED, (None,), None),
        ("omission", pairs((1, 1, 20)), ProbeOutcome.UNNOTICED, (), None),
        ("omission", pairs((1, 0, 9), (1, -1, 4)), ProbeOutcome.BETTER, (), None),
        ("omission", pairs((-1, 0, 9), (0, 0, 11)), ProbeOutcome.NOTICED, (), None),  # 0.5^9 is below 0.05/15
        ("omission", pairs((-1, 0, 8), (0, 0, 12)), ProbeOutcome.UNDECIDED, (), 22),
        ("omission", pairs((-1, 0, 4), (0, 0, 16)), ProbeOutcome.UNNOTICED, (), None),
        ("omission", pairs((-1, 0, 5), (0, 0, 15)), ProbeOutcome.UNDECIDED, (), 26),
        ("padding", pairs((0, 0, 6)), ProbeOutcome.RESISTED, (), None),
        ("padding", pairs((0, 0, 5)), ProbeOutcome.UNDECIDED, (), 6),
        ("padding", [], ProbeOutcome.UNDECIDED, (), None),
    ],
)
def test_what_pairs_decide(kind, given, outcome, rewarded, needed):
    found = decide_probe(kind, 20, given, NAMES)
    assert (found.outcome, found.rewarded, found.needed) == (outcome, rewarded, needed)


def simulate(draws, n, *, share=0.0, noise=0.05):
    """Return for how many rubrics of four criteria anything is rewarded, noticed, or better; and of padding's first.

    Half of the answers meet a criterion. Each of two samples errs with the probability `noise`, the worse one counts;
    padding makes the first criterion met in a `share` of the answers.
    """
    drawn = random.Random(n)

    def judge(truth):
        met = [all(each ^ (drawn.random() < noise) for _ in range(2)) for each in truth]
        return [*met, all(met)]

    counts = Counter()
    for _ in range(draws):
        truths = [[drawn.random() < 0.5 for _ in range(4)] for _ in range(n)]
        was, found = [judge(truth) for truth in truths], []
        for kind in PROBES:
            is_paid = kind == "padding"
            now = [judge([truth[0] or (is_paid and drawn.random() < share), *truth[1:]]) for truth in truths]
            several = [dict(zip(NAMES, map(int.__sub__, *each), strict=True)) for each in zip(now, was, strict=True)]
            found.append(decide_probe(kind, n, several, NAMES))
        counts["rewarded"] += any(each.rewarded for each in found)
        counts["noticed"] += any(each.fell for each in found)
        counts["better"] += any(set(each.rose) - set(each.rewarded) for each in found)
        counts["padding"] += any(each.kind == "padding" and "a" in each.rewarded for each in found)
    return counts


@pytest.fixture
def fast(monkeypatch):
    """Decide about equal counts once; so many draws would take minutes."""
    for name in ("bound", "count_deciding", "_count_deciding"):
        monkeypatch.setattr(probes, name, cache(getattr(probes, name)))


@pytest.mark.slow
@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize(("n", "noise"), [(20, 0.3), (60, 0.15)])
def test_a_judge_with_noise_and_no_effect_raises_an_alarm_on_less_than_5_percent(n, noise):
    counts = simulate(1000, n, noise=noise)
    assert {name: 0 <= counts[name] < 50 for name in ("rewarded", "noticed", "better")} == {
        "rewarded": True,
        "noticed": True,
        "better": True,
    }


@pytest.mark.slow
@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize(("n", "power"), [(20, 0.52), (40, 0.95)])
def test_the_guide_says_how_often_a_criterion_that_pays_for_padding_is_found(n, power):
    assert abs(simulate(200, n, share=1.0)["padding"] / 200 - power) < 0.1
    guide = (Path(__file__).parents[2] / "docs/guides/assessing.md").read_text("utf-8")
    assert f"{power:.0%}" in guide


def test_of_what_was_not_made_nothing_is_said():
    assert decide_probe("omission", 0, [], NAMES).outcome is ProbeOutcome.NOT_MADE


def test_the_budget_is_shared_by_the_tests():
    assert ProbeLevels.of(4) == tuple(pytest.approx(0.05 / tests) for tests in (10, 15, 3))
