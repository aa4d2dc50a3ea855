"""Many outputs at once: the same results as one by one, whatever holds them and however they are divided."""

import gc
import io
import json
import pickle
import re
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_outputs import FENCES, LENGTH, RUBRICS, SUITE, TOWER, cases, load, spell, write_entry

import rubric_lint
from rubric_lint import (
    JudgeOutput,
    OutputError,
    RubricError,
    ScoredRow,
    Totals,
    Verdict,
    load_rubrics,
    score,
    score_batch,
    score_batches,
)
from rubric_lint.scoring.scorer import Scorer

COLUMNS = ["id", "rubric", "rubric_hash", "points", "full", "score", "verdict", "gates_missed", "criteria", "error"]


def tower(*met):
    """An output by the first rubric: the criteria that are met."""
    return {"checks": [{"id": name, "satisfied": name in met, "reasoning": "Because."} for name in ("cost", "year")]}


RECORDS = [
    {"id": "a", "rubric": "tower", "output": tower("year", "cost")},
    {"id": "b", "rubric": "tower", "output": json.dumps(tower("cost"))},
    {"id": 3, "rubric": "length", "output": {"score": 11}},
    {"rubric": "length", "output": "It is short.\n\n```json\n" + '{"score": 7}\n```'},
    {"id": "e", "rubric": "width", "output": {"score": 7}},
    {"id": "f", "rubric": "length", "outputs": [{"score": 2}, {"score": 9}, {"score": 5}, {"score": 8}]},
    {"id": "g", "output": {"score": 7}},
    {"id": "h", "rubric": "length"},
    {"id": "i", "rubric": "length", "output": {"score": 6}, "answer": "A short text.", "judge": {"model": "m"}},
    {"id": "j", "rubric": "length", "output": '{"score": 6}', "answer": 'Say {"score": 6}!'},
]
LINES = "\n".join(map(json.dumps, RECORDS)).encode()


def in_short(result):
    """What a line of results says that a row of a batch says too."""
    found = {"id": result.get("id"), "rubric": result.get("rubric")}
    if "error" in result:
        return {**found, "error": {name: result["error"][name] for name in ("message", "path")}}
    told = {name: result[name] for name in ("rubric_hash", "score", "verdict", "criteria")}
    return {
        **found,
        **told,
        "gates_missed": [criterion["id"] for criterion in result["criteria"] if not criterion["gate_met"]],
    }


def rows_in_short(batch):
    """The same of each row."""
    for row in map(ScoredRow.to_json, batch):
        points, full, error = row.pop("points"), row.pop("full"), row.pop("error")
        if error:
            assert (points, full, row["score"], row["verdict"], row["criteria"]) == (None,) * 5
            kept = {name: error[name] for name in error if name != "line"}
            yield {"id": row["id"], "rubric": row["rubric"], "error": kept}
        else:
            assert (float(Fraction(points, full)), type(points), type(full)) == (row["score"], int, int)
            yield row


def one_by_one(rubrics, lines):
    return [in_short(Scorer(rubrics).score(line, number).to_json()) for number, line in enumerate(lines, start=1)]


def test_a_batch_has_the_columns_of_the_results():
    batch = score_batch(RUBRICS, LINES)
    assert [*batch.to_dict()] == COLUMNS
    assert (len(batch), batch.id) == (10, ["a", "b", 3, None, "e", "f", "g", "h", "i", "j"])
    assert batch.rubric == ["tower", "tower", "length", "length", None, "length", None, "length", "length", "length"]
    assert batch.points == [4, 3, None, 7, None, 13, None, None, 6, 6]
    assert batch.full == [4, 4, None, 10, None, 20, None, None, 10, 10]
    assert batch.score == [1.0, 0.75, None, 0.7, None, 0.65, None, None, 0.6, 0.6]
    passes, borderline, fails = Verdict.PASS, Verdict.BORDERLINE, Verdict.FAIL
    assert batch.verdict == [passes, fails, None, borderline, None, fails, None, None, borderline, borderline]
    assert batch.gates_missed == [(), ("year",), None, (), None, (), None, None, (), ()]
    errors = {place: (error.line, error.path) for place, error in enumerate(batch.error) if error}
    assert errors == {2: (3, "/score"), 4: (5, "/rubric"), 6: (7, "/rubric"), 7: (8, "")}
    assert [*rows_in_short(batch)] == one_by_one(RUBRICS, LINES.splitlines())
    assert (batch[1].id, batch[-3].error.line) == ("b", 8)
    assert repr(batch) == f"<ScoredBatch: {batch.totals}>"
    assert str(batch.totals) == "10 outputs: 1 pass, 3 borderline, 2 fail, 4 invalid; mean score 0.717"


@pytest.mark.parametrize("cut", [1, 7, 100_000])
@pytest.mark.parametrize("form", ["lines", "list", "broken lines"])
def test_bytes_and_a_binary_file_are_json_lines_or_json(form, cut):
    given = {
        "lines": LINES.replace(b"\n", b"\n\n"),
        "list": b"[" + LINES.replace(b"\n", b",") + b"]",
        "broken lines": LINES.replace(b"\n", b"\r\n") + b'\n{"id": "z", "outp',
    }[form]

    class Dripping(io.BytesIO):
        def read1(self, _size=-1):
            return super().read1(cut)

    results = [in_short(Scorer(RUBRICS).score(line, 1).to_json()) for line in LINES.splitlines()]
    for batch in (score_batch(RUBRICS, given), score_batch(RUBRICS, Dripping(given))):
        rows = [*rows_in_short(batch)]
        assert rows[:10] == results
        columns = [re.findall(r"\d+", row["error"]["message"]) for row in rows[10:]]
        assert columns == ([["13"]] if form == "broken lines" else [])


def test_each_item_of_a_list_is_one_output(said):
    whole = JudgeOutput((False, True), (None, None))
    outputs = [
        tower("year", "cost"),
        json.dumps(tower("cost")),
        "So:\n```json\n" + json.dumps(tower("year")) + "\n```",
        json.dumps({"id": "d", "output": tower("year", "cost")}).encode(),
        bytearray(json.dumps(tower("year", "cost")).encode()),
        whole,
        {"id": "g", "output": {"checks": [{"id": "year", "satisfied": None}]}},
        JudgeOutput((False,), (None,)),
        JudgeOutput((False, 5), (None, None)),
        "It is fine.",
        None,
        float("nan"),
        7,
        b"",
        b'{"id": "o"}\n{"id": "p"}',
        {"id": "q", "output": None, "x": 1},
        {"id": ["r"], "rubric": ["tower"], "output": "{}"},
    ]
    batch = score_batch(TOWER, iter(outputs))
    assert batch.points == [4, 3, 1, 4, 4, 3, *[None] * 11]
    assert batch.id == [None, None, None, "d", None, None, "g", *[None] * 8, "q", ["r"]]
    said([error.message for error in batch.error[6:]])
    assert {error.line for error in batch.error if error} == {None}


def test_a_raw_text_by_one_of_several_rubrics_is_invalid():
    (row,) = score_batch(RUBRICS, ['{"score": 7}'])
    assert (row.error.path, row.error.line) == ("/rubric", None)


def test_what_of_a_text_is_the_verdict_can_be_chosen():
    given = ['{"score": 7}', '```json\n{"score": 7}\n```', 'So:\n{"score": 7}', 'It is {"score": 7}.']
    assert score_batch(LENGTH, given, extract="whole").points == [7, 7, None, None]
    assert score_batch(LENGTH, given).points == [7, 7, 7, None]
    assert score_batch(LENGTH, given, extract="only").points == [7, 7, 7, 7]


@pytest.mark.parametrize(
    ("rubrics", "outputs"),
    [
        ({}, []),
        ("r.yaml", []),
        ({"a": 1}, []),
        ({"a": TOWER}, []),
        (TOWER, "{}"),
        (TOWER, {}),
        (TOWER, None),
        (TOWER, io.StringIO("{}")),
    ],
    ids=["no rubric", "a name", "a number", "another key", "a text", "one output", "nothing", "a file of text"],
)
def test_a_wrong_argument_is_an_exception(rubrics, outputs, said):
    with pytest.raises(TypeError) as refused:
        score_batch(rubrics, outputs)
    said(refused.value)
    if not isinstance(outputs, io.StringIO):
        with pytest.raises(TypeError):
            score_batches(rubrics, outputs)


def test_a_size_below_one_is_refused():
    with pytest.raises(ValueError, match="size is 0; expected at least 1"):
        score_batches(TOWER, [], size=0)


def test_a_row_has_one_number():
    with pytest.raises(TypeError):
        score_batch(LENGTH, [{"score": 7}] * 3)[0:2]


def test_a_key_that_is_not_a_string_is_an_error_of_its_row():
    batch = score_batch(LENGTH, [{1: 2}, {"score": 7}, {"id": 1, 5: 6}, {"score": 7, ("a",): 1}])
    assert batch.score == [None, 0.7, None, None]
    told = [error and error.message.partition(" ")[0] for error in batch.error]
    assert told == ["no", None, "no", "a"]


def test_an_object_that_holds_itself_is_an_error_of_its_row(said):
    circle = {"id": "a"}
    circle["output"] = circle
    batch = score_batch(LENGTH, [circle, {"score": 7}])
    assert (batch.id, batch.rubric, batch.score) == (["a", None], ["length", "length"], [None, 0.7])
    said(batch.error[0].message)


def test_true_is_not_the_answer_1(said):
    for rubric, answers in ((LENGTH, (True,)), (TOWER, (1, True))):
        output = JudgeOutput(answers, (None,) * len(answers), None)
        with pytest.raises(OutputError) as caught:
            score(rubric, output)
        assert caught.value.message == score_batch(rubric, [output]).error[0].message
        said(caught.value.message)


def test_points_that_no_column_of_integers_holds_are_refused():
    weights = ("1", "1.0000000000000000001")
    text = "rubrics:" + "".join(
        f"\n  - {{id: c{weight}, weight: {weight}, expected_outcome: It}}" for weight in weights
    )
    (rubric,) = load_rubrics("r.rubric.yaml", text).values()
    with pytest.raises(RubricError, match="the points of its best answer have 20 digits, more than a column"):
        score_batch(rubric, [])


@pytest.mark.slow
@settings(max_examples=25)
@given(cases(), st.integers(0, 10**9).map(Random), st.sampled_from([0, 0.02, 0.05]), st.integers(1, 9))
def test_a_batch_gives_each_entry_the_result_that_it_has_alone(case, random, rate, size):
    _, entries, output = case
    rubric = load(entries)
    rubrics = {rubric.name: rubric}
    lines = [write_line(output, random, rate) for _ in range(20)]
    expected = one_by_one(rubrics, lines)
    batch = score_batch(rubric, lines)
    assert [*rows_in_short(batch)] == expected
    parts = [*score_batches(rubrics, iter(lines), size=size)]
    assert [len(part) for part in parts] == [*[size] * (20 // size), *([20 % size] if 20 % size else [])]
    assert [row for part in parts for row in part] == [*batch]
    assert sum(part.totals for part in parts) == batch.totals
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip() and b"\n" not in line]
    if len(numbered) == 20 and lines[0].startswith(b"{"):
        block = [row for part in score_batches(rubric, b"\n".join(lines), size=size) for row in part]
        assert [row._replace(error=row.error and row.error._replace(line=None)) for row in block] == [*batch]
        assert [row.error.line for row in block if row.error] == [
            number for number, row in enumerate(batch, 1) if row.error
        ]
    values = [json.loads(line) for line in lines if is_plain(line)]
    plain = [line for line in lines if is_plain(line)]
    assert [*score_batch(rubric, values)] == [*score_batch(rubric, plain)]


def write_line(output, random, rate):
    """A line with an output, some in a record with a model or another id."""
    fields = random.choice([{}, {}, {}, {}, {"judge": {"model": "m"}}])
    text = write_entry(output, random, rate, random.choice(["a", "ä", 7]), **fields)
    return f"{text}\r".encode("utf-8", "surrogatepass")


def is_plain(line):
    """Whether JSON says the same as a Python value: no key twice, no number that Python reads with a loss, no null."""
    lengths = []

    def read(pairs):
        lengths.append((len(pairs), len(dict(pairs))))
        return dict(pairs)

    try:
        value = json.loads(line, object_pairs_hook=read)
    except (ValueError, RecursionError):
        return False
    odd = (b"null", b"NaN", b"Inf", b"e400", b"\\ud8", b".", b"9" * 300)
    return isinstance(value, dict) and all(a == b for a, b in lengths) and not any(mark in line for mark in odd)


@pytest.mark.slow
@settings(max_examples=25)
@given(cases(), st.integers(0, 10**9).map(Random))
def test_texts_and_objects_have_the_result_of_score(case, random):
    _, entries, output = case
    rubric = load(entries)
    texts = [random.choice(FENCES).format(spell(output, random, 0.03)) for _ in range(10)]
    for text, row in zip(texts, score_batch(rubric, texts), strict=True):
        if row.error:
            with pytest.raises(OutputError) as caught:
                score(rubric, text)
            assert row.error == (caught.value.message, caught.value.path, None)
        else:
            result = score(rubric, text)
            assert (Fraction(row.points, row.full), row.verdict) == (result.score, result.verdict)
            assert [criterion.to_json() for criterion in row.criteria] == [
                criterion.to_json() for criterion in result.criteria
            ]


def test_totals_are_those_of_the_command():
    lines = LINES.splitlines()
    totals = Totals(RUBRICS.values())
    for line in lines:
        outcome = Scorer(RUBRICS).score(line, 1)
        if outcome.result:
            totals.take(outcome.result)
        else:
            totals.invalid += 1
    assert score_batch(RUBRICS, LINES).totals == totals
    first, second, third = (score_batch(RUBRICS, lines[start::3]).totals for start in range(3))
    assert (first + second) + third == first + (second + third) == sum([first, second, third]) == totals
    assert (first + second).to_json() != totals.to_json() == sum([first, second, third]).to_json()
    assert pickle.loads(pickle.dumps(totals)) == totals  # noqa: S301


def test_totals_of_two_meanings_of_a_rubric_do_not_add_up():
    other = load_rubrics("suite.yaml", SUITE.replace("weight: 3", "weight: 2"))
    with pytest.raises(ValueError, match=r"the rubric `tower` has two meanings \(rubric_hash \w{16} and \w{16}\)"):
        Totals(RUBRICS.values()) + Totals(other.values())
    reordered = SUITE.replace("weight: 3", "weight: 3.0").replace("Too long", "Too\n           long")
    again = Totals(load_rubrics("suite.yaml", reordered).values())
    assert (Totals(RUBRICS.values()) + again).to_json() == again.to_json()


def test_answers_judged_by_another_meaning_are_told():
    records = [{"output": {"score": 7}, "rubric_hash": each} for each in (LENGTH.hash, "0" * 16, LENGTH.hash, "1" * 16)]
    assert score_batch(LENGTH, records).judged_otherwise == (1, 3)
    assert [each.judged_otherwise for each in score_batches(LENGTH, records, size=2)] == [(1,), (1,)]


def test_rows_share_the_result_of_their_answers():
    batch = score_batch(LENGTH, [{"score": 7}] * 1000)
    assert len({id(criterion) for criterion in batch.criteria}) == 1
    assert batch.totals.rubrics["length"].criteria[0].answers == {7: 1000}


def test_a_rubric_is_a_small_value_that_travels():
    ids = "abcdefghij"
    text = "rubrics:\n" + "".join(f"  - {{id: {name}, expected_outcome: Names the {name}}}\n" for name in ids)
    (rubric,) = load_rubrics("r.rubric.yaml", text).values()
    data = pickle.dumps(rubric)
    copy = pickle.loads(data)  # noqa: S301
    assert len(data) < 4_000
    assert {rubric, copy} == {rubric}
    assert repr(copy) == f"<ScoringRubric 'r': checklist, {rubric.hash}, ['a', 'b', 'c', 'd', 'e', ...]>"
    assert rubric_lint.write_prompt(copy, rubric_lint.JudgedCase("A.")) == rubric_lint.write_prompt(
        rubric, rubric_lint.JudgedCase("A.")
    )
    output = {"checks": [{"id": name, "satisfied": name < "f"} for name in ids]}
    (row,) = score_batch(copy, [output])
    assert [*score_batch(rubric, [output])] == [row]
    assert (row.points, row.full, row.rubric_hash) == (5, 10, rubric.hash)


@pytest.mark.parametrize(
    "output",
    [
        {"score": "7"},
        {"score": 11, "reasoning": 7},
        {"level": 2},
        {"score": 7, "scores": 8},
        "It is short.",
        'I say:\n\n```json\n{"score": "7"}\n```',
    ],
    ids=str,
)
def test_what_an_invalid_output_took_is_free_without_the_garbage_collector(output):
    lines = json.dumps({"id": "a", "output": output}).encode()
    assert score_batch(LENGTH, lines).error[0]
    gc.freeze()  # what there is already, which takes long to look through
    gc.disable()
    try:
        batch = score_batch(LENGTH, b"\n".join([lines] * 20))
        assert gc.collect() < 20
    finally:
        gc.enable()
        gc.unfreeze()
    assert all(batch.error)
