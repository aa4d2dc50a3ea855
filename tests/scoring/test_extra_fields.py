"""Fields of an output that nobody asked for, and line breaks in its strings: the same by every path, and counted."""

import asyncio
import json
import pickle
from fractions import Fraction
from pathlib import Path

import commands
import pytest
from cases import read_cases
from chat_server import completion, serving
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from random_outputs import cases, load

from rubric_lint import load_rubrics, score, score_batch, score_samples
from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.judge.answers import read_answers
from rubric_lint.judge.asking import JudgeOptions
from rubric_lint.judge.endpoint import Call, Endpoint
from rubric_lint.judge.journal import Journal
from rubric_lint.judge.run import JudgeRun, Panel
from rubric_lint.model.schema_files import CURRENT
from rubric_lint.model.schema_files import load as load_schema
from rubric_lint.scoring import OutputError
from rubric_lint.scoring.output import parse_output
from rubric_lint.scoring.records.parse_options import Extract, ExtraFields, ParseOptions
from rubric_lint.scoring.scorer import Scorer
from rubric_lint.scoring.totals import Totals

TABLES = read_cases(__file__)
SUITE = """\
tests:
  - id: holistic
    rubrics:
      - {score_range: [0, 4], expected_outcome: Wrong or off topic}
      - {score_range: [5, 10], expected_outcome: Right in all}
  - id: score_ranges
    rubrics:
      - {id: accuracy, score_ranges: {0: Wrong facts, 5: Right facts}}
      - {id: length, score_ranges: {0: Longer than 50 words, 5: At most 50 words}}
  - id: checklist
    rubrics: [{id: year, expected_outcome: Names the year}]
  - id: levels
    rubrics: [{id: quality, levels: {1: Wrong in a main point, 3: Right in the main points, 5: Right in all points}}]
"""
RUBRICS = load_rubrics("suite.yaml", SUITE.encode())
READINGS = [ParseOptions(extract, extra) for extract in Extract for extra in (None, *ExtraFields)]
# Each way to seek and each way to treat fields; where the whole text counts, nothing is treated as it is elsewhere.
FEW = [
    ParseOptions(Extract.LAST),
    ParseOptions(Extract.ONLY, ExtraFields.REFUSE),
    ParseOptions(Extract.WHOLE),
    ParseOptions(Extract.WHOLE, ExtraFields.ACCEPT),
]


def refuses_words(reading):
    if reading.extra_fields:
        return reading.extra_fields is ExtraFields.REFUSE
    return reading.extract is Extract.WHOLE


def options_of(reading):
    return {"extract": reading.extract, "extra_fields": reading.extra_fields}


def read_by_every_path(name, text, reading):
    """What an output comes to by every path that reads one: its answers, or the place of its error."""
    rubric, value, options = RUBRICS[name], json.loads(text), options_of(reading)
    only = {name: rubric}
    found = {}
    for what, output in (("text", text), ("fence", f"```json\n{text}\n```"), ("object", value)):
        try:
            found[f"parse {what}"] = parse_output(rubric, output, **options).answers
        except OutputError as fault:
            found[f"parse {what}"] = fault.path
        lines = {
            "record": {"id": "a", "output": output},
            "record of another": {"id": "a", "rubric": name, "answer": "Short.", "output": output},
            "samples": {"id": "a", "outputs": [output, output]},
        }
        if output is value:
            lines["bare"] = output
        for kind, line in lines.items():
            outcome = Scorer(only, reading).score(json.dumps(line).encode(), 1)
            path = outcome.error.path.removeprefix("/outputs/0") if outcome.error else ""
            found[f"{what} in {kind}"] = path or tuple(criterion.grade.answer for criterion in outcome.result.criteria)
        for kind, items in (("item", [output]), ("line", json.dumps(lines["record"]).encode())):
            (row,) = score_batch(only, items, **options)
            found[f"{what} as {kind}"] = row.error.path if row.error else tuple(c.grade.answer for c in row.criteria)
        reader = RatingReader(only, reading)
        reader.read_records("f", [(1, json.dumps(lines["record"]).encode())])
        found[f"agree {what}"] = reader.invalid[0].path if reader.invalid else found[f"parse {what}"]
    assert len(set(found.values())) == 1, found
    return next(iter(found.values()))


@pytest.mark.parametrize("reading", FEW, ids=str)
@pytest.mark.parametrize(("name", "text", "path"), TABLES["CONTRADICTING"])
def test_a_number_or_a_boolean_that_nobody_asked_for_makes_an_output_invalid(name, text, path, reading):
    found = read_by_every_path(name, text, reading)
    assert isinstance(found, tuple) if reading.extra_fields is ExtraFields.ACCEPT else found == path


@pytest.mark.parametrize("reading", FEW, ids=str)
@pytest.mark.parametrize(("name", "text", "path"), TABLES["INNOCENT"])
def test_words_lists_and_objects_are_scored_unless_only_the_whole_text_counts(name, text, path, reading):
    found = read_by_every_path(name, text, reading)
    assert found == path if refuses_words(reading) else isinstance(found, tuple)


@pytest.mark.parametrize("reading", [FEW[0], FEW[-1]], ids=str)
@pytest.mark.parametrize(("name", "text", "path"), TABLES["SECOND"])
def test_a_second_verdict_inside_the_first_is_never_scored(name, text, path, reading):
    assert read_by_every_path(name, text, reading) == path


@pytest.mark.parametrize("reading", FEW[1:3], ids=str)
@pytest.mark.parametrize(("name", "text"), TABLES["NO_REASON"])
def test_a_reason_of_null_counts_as_none(name, text, reading):
    assert isinstance(read_by_every_path(name, text, reading), tuple)


OUTPUTS = load_schema(f"{CURRENT}/judge-output.json")["definitions"]
OURS = {"checks", "id", "satisfied", "score", "level", "reasoning", "overall_reasoning"}
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), WORDS),
    *(st.lists(st.integers()), st.dictionaries(WORDS, WORDS)),
)


@given(cases(), st.dictionaries(WORDS, VALUES, max_size=3), st.sampled_from(READINGS), st.booleans())
def test_the_schema_and_the_readings_agree_on_fields_that_nobody_asked_for(case, more, reading, is_inside):
    shape, entries, output = case
    extra = {name: value for name, value in more.items() if name.strip().lower() not in OURS}
    (output["checks"][-1] if is_inside and shape != "holistic" else output).update(extra)
    refused = {name for name, value in extra.items() if reading.refuses(value)}
    schema = {"$ref": f"#/definitions/{shape}", "definitions": OUTPUTS}
    if reading == ParseOptions():
        assert Draft7Validator(schema).is_valid(output) == (not refused)
    text, rubric = json.dumps(output), load(entries)
    if refused:
        with pytest.raises(OutputError) as caught:
            parse_output(rubric, text, **options_of(reading))
        assert caught.value.path.rpartition("/")[2].replace("~1", "/").replace("~0", "~") in refused
    else:
        assert set(parse_output(rubric, text, **options_of(reading)).notes.unread_fields) == set(extra)


@pytest.mark.parametrize("around", ["Fine.\n{}", "Fine.\n\n```json\n{}\n```", "<think>Hm.</think>{}", "{}<|im_end|>"])
@pytest.mark.parametrize("extract", ["last", "only"])
def test_what_stands_around_an_object_changes_nothing(around, extract):
    for kind in ("CONTRADICTING", "SECOND"):
        for name, text, path in TABLES[kind]:
            if '"checks"' in text or name == "holistic":
                with pytest.raises(OutputError) as refused:
                    score(RUBRICS[name], around.replace("{}", text), extract=extract)
                # Behind words, two answer fields are found before the object is read.
                assert refused.value.path in (path, ""), text
    for name, text, _ in TABLES["INNOCENT"]:
        if '"checks"' in text or name == "holistic":
            assert score(RUBRICS[name], around.replace("{}", text), extract=extract)


def test_a_null_is_a_field_of_a_text_and_none_of_a_row():
    text = '{"score": 9, "error": null}'
    assert parse_output(RUBRICS["holistic"], text).notes.unread_fields == ("error",)
    with pytest.raises(OutputError):
        parse_output(RUBRICS["holistic"], text, extract="whole")
    output = parse_output(RUBRICS["holistic"], json.loads(text), extract="whole")
    assert (output.answers, output.notes.unread_fields) == ((9,), ())


@pytest.mark.parametrize("text", TABLES["RAW"])
def test_a_line_break_in_a_string_is_read(text):
    for extract in Extract:
        output = parse_output(RUBRICS["holistic"], text, extract=extract)
        assert (output.answers, output.notes.has_raw_controls) == ((9,), True)
    behind = parse_output(RUBRICS["holistic"], f"So:\n{text}") if "<think>" not in text else output
    assert (behind.answers, behind.notes.has_raw_controls) == ((9,), True)
    row = score_batch(RUBRICS["holistic"], [text])
    record = Scorer({"r": RUBRICS["holistic"]}).score(json.dumps({"id": "a", "output": text}).encode())
    assert (row.points, row.totals.reading.raw_controls, [n.has_raw_controls for n in record.notes]) == ([9], 1, [True])


@pytest.mark.parametrize(
    "text",
    [
        '{"reasoning": "Never closed.\n, "score": 9}',
        '{"reasoning": "Never closed.\n}\n{"score": 9}',
        '{"score": 9, "reasoning": "One.\n',
        '{"score": 9,\n"reasoning": "a" "b"}',
        '{"sc\nore": 9}',
    ],
)
def test_a_line_break_mends_no_broken_string(text):
    for extract in Extract:
        with pytest.raises(OutputError):
            score(RUBRICS["holistic"], text, extract=extract)


def test_an_unknown_way_to_treat_extra_fields_is_refused():
    with pytest.raises(ValueError, match="extra_fields is 'ignore'; expected 'refuse' or 'accept'"):
        score(RUBRICS["holistic"], '{"score": 7}', extra_fields="ignore")


def test_a_second_verdict_is_told_beside_the_field_that_decides():
    text = '{"checks": [{"id": "accuracy", "score": 9}, {"id": "length", "score": 7}], "Checks": []}'
    with pytest.raises(OutputError, match="`Checks` next to `checks`"):
        score(RUBRICS["score_ranges"], text)


def test_a_number_stays_one_in_an_output_with_half_a_character():
    text = '{"score": 7, "stars": 6.99999999999999999, "reasoning": "\\ud800"}'
    with pytest.raises(OutputError, match="`stars` is 6") as refused:
        score(RUBRICS["holistic"], text)
    assert refused.value.path == "/stars"
    assert score(RUBRICS["holistic"], text, extra_fields="accept").score == Fraction(7, 10)


def test_samples_are_read_as_single_outputs_are():
    outputs = ['{"score": 7, "stars": 1}', '{"score": 9, "stars": 1}']
    with pytest.raises(OutputError):
        score_samples(RUBRICS["holistic"], outputs)
    assert score_samples(RUBRICS["holistic"], outputs, extra_fields="accept").score == Fraction(4, 5)


NOTED = [
    *('{"score": 9, "grade": "F", "tags": []}', '{"score": 9, "grade": "A"}', 'Fine.\n{"score": 8, "grade": "B"}'),
    *('{"score": 9}', '{"score": 9, "reasoning": "One.\nTwo."}', '{"score": 9, "grade": 1}', "none"),
]


def call_score(*arguments):
    return commands.run("rubric-score", *arguments)


@pytest.fixture
def files(folder):
    Path("r.rubric.yaml").write_text(
        "rubrics: [{score_range: [0, 4], expected_outcome: Wrong}, {score_range: [5, 10], expected_outcome: Right}]\n",
        "utf-8",
    )
    lines = [json.dumps({"id": str(place), "output": text}) for place, text in enumerate(NOTED)]
    lines.append(json.dumps({"id": "s", "outputs": NOTED[3:5]}))
    Path("in.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


@pytest.mark.usefixtures("files")
def test_the_totals_count_what_was_not_read():
    rubrics = load_rubrics("r.rubric.yaml", Path("r.rubric.yaml").read_bytes())
    data = Path("in.jsonl").read_bytes()
    totals = score_batch(rubrics, data).totals
    assert (totals.reading.unread_fields, totals.reading.raw_controls, totals.invalid) == (
        {"grade": 3, "tags": 1},
        2,
        2,
    )
    assert pickle.loads(pickle.dumps(totals)) == totals  # noqa: S301 (our own)
    halves = [score_batch(rubrics, part).totals for part in (data[:1], data[:0])]
    assert sum([totals, *halves[1:]]) == totals
    table = json.loads(call_score("r.rubric.yaml", "in.jsonl", "--format", "json").stdout)["totals"]
    assert (table["unread_fields"], table["raw_line_breaks"]) == ({"grade": 3, "tags": 1}, 2)
    none = Totals(rubrics.values())
    assert not {"unread_fields", "raw_line_breaks"} & none.to_json().keys()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "options", [[], ["--format", "table"], ["--extra-fields", "refuse"], ["--extra-fields", "accept"]]
)
def test_the_summary_names_the_fields_that_were_not_read(options, said):
    done = call_score("r.rubric.yaml", "in.jsonl", *options)
    said(done.stdout.splitlines() if "table" in options else done.stderr.splitlines())


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "arguments",
    [
        ["agree", "r.rubric.yaml", "in.jsonl"],
        ["check", "--judged", "in.jsonl", "r.rubric.yaml"],
        ["assess", "r.rubric.yaml", "in.jsonl"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_other_commands_that_read_outputs_name_them_too(program, arguments):
    _, out, err = program(*arguments)
    told = " ".join((out + err).split())
    assert "not read: the fields `grade` (3 outputs) and `tags` (1 output), which nobody asked for" in told
    assert "2 outputs have a string with a line break that JSON writes as" in told


def test_a_judge_that_adds_a_field_is_asked_again_and_told_why(tmp_path, said):
    replies = iter(['{"score": 9, "grade": "A"}', '{"score": 9, "accepted": false}', '{"score": 2}'])
    rubrics = {"r": RUBRICS["holistic"]}
    line = json.dumps({"id": "a", "answer": "In 1889."}).encode() + b"\n"

    async def run(journal):
        with serving(lambda _: completion(next(replies))) as server:
            async with Endpoint(Call("judge-1", server.url, retries=0, response_format="text"), "none") as endpoint:
                await JudgeRun(Panel([endpoint]), journal, JudgeOptions(), lambda *_: None).judge(
                    read_answers([line], rubrics)
                )
            return [each.body["messages"][-1]["content"] for each in server.asked]

    with Journal(tmp_path / "results.jsonl") as journal:
        asked = asyncio.run(run(journal))
    said(asked[1:])
    outcome = Scorer(rubrics).score((tmp_path / "results.jsonl").read_bytes(), 1)
    assert float(outcome.result.score) == 0.2


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"error": "content filter"}, "content filter"),
        ({"output": None, "error": "content filter"}, "content filter"),
        ({"output": "", "error": {"code": 7, "message": "content filter"}}, "content filter"),
        ({"outputs": [], "error": {"code": 7}}, '{"code": 7}'),
    ],
)
def test_a_record_that_says_why_it_has_no_output_keeps_its_reason(record, reason):
    value = {"id": "a", **record}
    only = {"holistic": RUBRICS["holistic"]}
    text = json.dumps(value).encode()
    outcome = Scorer(only).score(text, 1)
    reader = RatingReader(only)
    reader.read_records("f", [(1, text)])
    (row,), (line,) = score_batch(only, [value]), score_batch(only, text)
    found = [outcome.error.message, reader.invalid[0].message, row.error.message, line.error.message]
    assert (outcome.id, found) == ("a", [f"no judge output: {reason}"] * 4)


@pytest.mark.parametrize("error", [None, ""])
def test_an_error_that_is_empty_says_nothing_about_an_output(error):
    record = {"id": "a", "output": {"score": 7}, "error": error}
    assert Scorer({"r": RUBRICS["holistic"]}).score(json.dumps(record).encode(), 1).result.score == Fraction(7, 10)
    assert score_batch(RUBRICS["holistic"], [record]).points == [7]


@pytest.mark.parametrize("extract", ["last", "only"])
@pytest.mark.parametrize(("name", "one", "other"), TABLES["TWO"])
def test_a_second_verdict_in_a_text_is_refused_in_whatever_form(name, one, other, extract):
    for text in (f"{one}\n{other}", f"{other}\n\n{one}", f"First:\n```json\n{one}\n```\nThen:\n{other}"):
        with pytest.raises(OutputError):
            score(RUBRICS[name], text, extract=extract)
    assert score(RUBRICS[name], f"Fine.\n{other}", extract=extract) == score(RUBRICS[name], other)


@pytest.mark.parametrize("value", [False, 3, 0.5, "FALSE", "3"])
def test_a_number_in_another_column_is_named_or_refused(value):
    record = {"id": "a", "score": 9, "accepted": value, "topic": "rivers"}
    only = {"holistic": RUBRICS["holistic"]}
    text = json.dumps(record).encode()
    entry = Scorer(only).score(text)
    reader = RatingReader(only)
    reader.read_records("f", [(1, text)])
    totals = [score_batch(only, given).totals.reading for given in ([record], text)]
    assert [note.unread_fields for note in entry.notes] == [("accepted",)]
    assert [found.unread_fields for found in (reader.passed_over, *totals)] == [{"accepted": 1}] * 3
    refused = Scorer(only, ParseOptions(Extract.LAST, ExtraFields.REFUSE)).score(text, 1)
    assert refused.error.path == "/accepted"
    (row,) = score_batch(only, [record], extra_fields="refuse")
    assert row.error.path == "/accepted"
