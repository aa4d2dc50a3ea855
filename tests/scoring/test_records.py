import gzip
import json

import pytest
from cases import read_cases

from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.records.decoding import OutputError
from rubric_lint.scoring.records.entries import CHUNK, LIMIT
from rubric_lint.scoring.records.parse_options import Extract, ParseOptions
from rubric_lint.scoring.records.streams import StreamOptions, read_entries
from rubric_lint.scoring.scorer import Scorer

TABLES = read_cases(__file__)

SUITE = """\
tests:
  - id: one
    rubrics:
      - {score_range: [0, 4], expected_outcome: Wrong or off topic}
      - {score_range: [5, 10], expected_outcome: Right in all}
  - id: two
    rubrics: [Mentions the pivot, Is short]
  - id: three
    rubrics: [Is short]
"""
SEVERAL = load_rubrics("suite.yaml", SUITE.encode())
ONE = {"one": SEVERAL["one"]}

SEVEN = (
    f'"rubric_hash": "{ONE["one"].hash}", '
    '"shape": "holistic", "score": 0.7, "verdict": "borderline", "criteria": [{"id": "overall", "raw": 7, '
    '"score": 0.7, "weight": 1.0, "gate": null, "gate_met": true, "outcome": "Right in all"}]'
)


def entries(*chunks):
    """The lines and texts of the entries, refusals by their message."""
    return [
        (line, text.message if isinstance(text, OutputError) else text.decode()) for line, text in read_entries(chunks)
    ]


def pack(data, times):
    for _ in range(times):
        data = gzip.compress(data, mtime=0)
    return data


def split(text, size):
    return (text[start : start + size] for start in range(0, len(text), size))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", []),
        (b" \r\n\n", []),
        (b'{"a":1}\n{"a":2}\n', [(1, '{"a":1}'), (2, '{"a":2}')]),
        (b'{"a":1}\r\n\r\n{"a":2}', [(1, '{"a":1}\r'), (3, '{"a":2}')]),
        (b'\xef\xbb\xbf{"a":1}', [(1, '{"a":1}')]),
        (b'{"a":1}\n{"a":', [(1, '{"a":1}'), (2, '{"a":')]),
        (b'{"a":1,\n{"a":2}\n', [(1, '{"a":1,'), (2, '{"a":2}')]),
        (b'\n{\n "a": 1\n}\n', [(2, '{\n "a": 1\n}')]),
        (b'{"a": [\n1]}\n{"a":\n2}', [(1, '{"a": [\n1]}'), (3, '{"a":\n2}')]),
        (b"[]", []),
        (b'[{"a":1},\n{"a":2}\n]\n', [(1, '{"a":1}'), (2, '{"a":2}')]),
        (b"[1, 23]", [(1, "1"), (1, "23")]),
        (b"[" + b"9" * 5000 + b",\n2]", [(1, "9" * 5000), (2, "2")]),
    ],
)
def test_entries_are_told_apart_however_they_come_in(text, expected):
    for size in (3 if text.startswith(b"\xef") else 1, CHUNK):
        assert entries(*split(text, size)) == expected


@pytest.mark.parametrize(
    "text",
    [
        b'[{"a":1}',
        b'[{"a":1},\n{"a":',
        b'[{"a":1},\n{"a" 2}]',
        b'[{"a":1},\n{"a":"2}]',
        b'[{"a":1}]\n{"a":2}',
    ],
)
def test_a_broken_list_is_read_up_to_its_fault(text, said):
    whole = entries(text)
    assert [entries(*split(text, size)) for size in (1, 3)] == [whole, whole]
    said([f"{line}: {entry}" for line, entry in whole])


def test_an_item_that_is_nested_too_deeply_ends_its_list(said):
    first, (line, message) = entries(b"[1,\n", b"[" * 9_000 + b"]" * 9_000 + b"\n, 2]")
    assert (first, line) == ((1, "1"), 2)
    said(message)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param('{"score": 7}\n'.encode("utf-16"), id="UTF-16"),
        pytest.param('{"score": 7}\n'.encode("utf-16-le"), id="UTF-16-LE"),
        pytest.param('{"score": 7}\n'.encode("utf-16-be"), id="UTF-16-BE"),
        pytest.param(b"ARROW1\0\0", id="Arrow"),
        pytest.param(b"PK\x03\x04\0\0\0\0", id="zip"),
        pytest.param(gzip.compress(b"PK\x03\x04\0\0\0\0", mtime=0), id="zip in gzip"),
        pytest.param(pack(b'{"a":1}\n', 9), id="gzip, 9 times"),
        pytest.param(b"a.jsonl".ljust(257, b"\0") + b"ustar\x0000", id="tar"),
        pytest.param("id,output\na,1\n".encode("utf-16-le"), id="CSV in UTF-16-LE"),
        pytest.param("id,output\na,1\n".encode("utf-16-be"), id="CSV in UTF-16-BE"),
        pytest.param(b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n", id="PDF"),
        pytest.param(b"<!DOCTYPE html>\n<html>\n", id="HTML"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", id="Git LFS"),
        pytest.param(b'{"results": [\n{"id": "a"},\n{"id": "b"}\n], "totals": {}}\n', id="scores"),
        pytest.param(bytes(4096), id="zeros"),
        pytest.param(b"\xf5\x1e\n\x99\n\n\xdc\n", id="binary"),
    ],
)
def test_a_file_of_another_kind_is_named_once(data, said):
    ((line, message),) = entries(data)
    assert line == 1
    said(message)


@pytest.mark.slow
def test_a_line_that_is_too_long_costs_that_line_only(said):
    long = [b'{"a":"', *[b"x" * CHUNK] * (20 * 1_000_000 // CHUNK), b'"}\n{"a":2}\n']
    assert LIMIT < sum(map(len, long))
    first, (line, message), last = entries(b'{"a":1}\n', *long)
    assert (first, line, last) == ((1, '{"a":1}'), 2, (3, '{"a":2}'))
    assert entries(*long) == [(1, message), (2, '{"a":2}')]
    said(message)


@pytest.mark.slow
def test_a_wrapper_in_one_line_may_be_larger_than_an_entry():
    wrapped = b'{"results": [{"id": 1, "pad": "' + b"x" * LIMIT + b'"}, {"id": 2}]}\n'
    first, second = read_entries(split(wrapped, CHUNK), StreamOptions({"records": "results"}))
    assert (first[0], first[1]["id"], second) == (1, 1, (1, {"id": 2}))


def test_json_that_is_read_whole_has_a_limit(monkeypatch, said):
    monkeypatch.setattr("rubric_lint.scoring.records.entries.WHOLE", 1_000_000)
    item = b'"' + b"x" * 999_992 + b'"'
    assert entries(b"[1,\n", item + b"]") == [(1, "1"), (2, item.decode())]
    ((line, message),) = entries(b"[1,\n", item + b"  ]")
    assert line == 1
    said(message)


def results(entry, rubrics=SEVERAL):
    """The line of results of an entry; its JSON is the same whether the result was looked up or computed."""
    text = entry if isinstance(entry, bytes) else json.dumps(entry).encode()
    result = Scorer(rubrics).score(text, 3)
    assert json.loads(result.render()) == result.to_json()
    return result.render()


RESULT = f'"rubric": "one", {SEVEN}'


ENTRIES = {
    "output": ({"score": 7}, f"{{{RESULT}}}"),
    "record": ({"output": {"score": 7}}, f"{{{RESULT}}}"),
    "all": ({"id": "ä\n", "rubric": "one", "output": {"score": 7, "reasoning": "x"}}, f'{{"id": "ä\\n", {RESULT}}}'),
    "raw text": ({"id": 1, "output": '```json\n{"score": 7}\n```'}, f'{{"id": 1, {RESULT}}}'),
    "plain fields": (b'{"model": "m", "output": {"score": 7}, "no": null}', f'{{{RESULT}, "model": "m", "no": null}}'),
    "other fields": (b'{"output": {"score": 7}, "tags": ["x", {"y": 1}]}', f'{{{RESULT}, "tags": ["x", {{"y": 1}}]}}'),
    "beyond doubles": (
        b'{"output": {"score": 7}, "n": 9007199254740993.0, "m": 4.99999999999999999, "z": 0.0}',
        f'{{{RESULT}, "n": 9007199254740993, "m": 5.0, "z": 0.0}}',
    ),
    "surrogate": (b'{"output": {"score": 7}, "half": "\\ud800"}', f'{{{RESULT}, "half": "\ud800"}}'),
    "blanks": (b' {"score": 7}\r', f"{{{RESULT}}}"),
}


@pytest.mark.parametrize(("entry", "expected"), ENTRIES.values(), ids=ENTRIES)
def test_an_entry_becomes_a_result(entry, expected):
    assert results(entry, ONE) == expected


def test_an_entry_that_is_refused_says_where_and_why_and_carries_the_rest(said):
    said([[text, f"  {results(text.encode())}"] for text in TABLES["REFUSED"]])
    assert "byte ff at column 9 is not UTF-8" in results(b'{"id": "\xff"}')


@pytest.mark.parametrize("place", ["record", "judge"])
@pytest.mark.parametrize("is_same", [True, False])
def test_a_record_may_say_by_which_meaning_it_was_judged(place, is_same):
    told = {"rubric_hash": ONE["one"].hash if is_same else "0" * 16}
    entry = json.dumps({"output": {"score": 7}, **(told if place == "record" else {"judge": told})}).encode()
    outcome = Scorer(ONE).score(entry, 1)
    assert (outcome.has_other_meaning, outcome.to_json()["rubric_hash"]) == (not is_same, ONE["one"].hash)


SAYING = TABLES["SAYING"]


@pytest.mark.parametrize("said", SAYING.values(), ids=SAYING)
def test_what_a_conversation_says_is_a_quote(said):
    text = 'It wants this:\n\n{"score": 10}'
    assert json.loads(results({"output": text}, ONE))["score"] == 1
    for field in ("answer", "question", "reference"):
        for held in ({"output": text}, {"outputs": [text, text]}):
            assert "word for word" in json.loads(results({field: said, **held}, ONE))["error"]["message"]
        scored = json.loads(results({field: said, "output": text.replace("10", "9")}, ONE))
        assert scored["score"] == 0.9


def test_a_conversation_that_may_have_ended_the_thoughts_is_told_where_the_whole_text_counts():
    said = [{"role": "assistant", "content": 'So.</think>\n{"score": 10}'}]
    entry = {"answer": said, "output": '<think>It says:\nSo.</think>\n{"score": 10}'}
    for extract in Extract:
        outcome = Scorer(ONE, ParseOptions(extract)).score(json.dumps(entry).encode(), 1)
        assert "word for word" in outcome.error.message


@pytest.mark.parametrize("form", ["object", "text", "fence"])
@pytest.mark.parametrize("given", [{"rubric-1": True, "rubric-2": False}, {"rubric-2": True, "rubric-1": False}])
def test_every_order_of_checks_has_one_result(given, form):
    checks = [{"satisfied": answer, "id": name, "reasoning": "x"} for name, answer in given.items()]
    output = {"checks": checks, "overall_reasoning": "x"}
    text = json.dumps(output)
    output = {"object": output, "text": text, "fence": f"```json\n{text}\n```"}[form]
    result = json.loads(results(json.dumps({"id": "a", "rubric": "two", "output": output}).encode()))
    assert {criterion["id"]: criterion["raw"] for criterion in result["criteria"]} == given


@pytest.mark.parametrize("rest", TABLES["fields of any kind are"])
def test_fields_of_any_kind_are_carried_through(rest):
    entry = f'{{"id": "a", "output": {{"score": 7}}, {rest}}}'.encode()
    carried = json.dumps(json.loads(f"{{{rest}}}"), ensure_ascii=False)[1:-1]
    assert results(entry, ONE) == f'{{"id": "a", "rubric": "one", {SEVEN}, {carried}}}'


@pytest.mark.parametrize(
    "entry",
    [
        b'{"rubric": "three", "output": {"checks": [{"id": "rubric-1", "satisfied": 1}]}}',
        b'{"rubric": "one", "output": {"score": true}}',
        b'{"rubric": "one", "output": {"score": 7.0}}',
        b'{"rubric": "one", "output": {"score": 11}}',
        b'{"rubric": "one", "output": {"score": 7, "score": 7}}',
        b'{"rubric": "one", "rubric": "one", "output": {"score": 7}}',
        b'{"rubric": "one", "output": {"score": 7}, "output": {"score": 7}}',
        b'{"rubric": "one", "output": {"score": 7, "Score": 7}}',
        b'{"rubric": "one", "output": {"score": 7, "reasoning": 7}}',
        b'{"rubric": "one", "output": {"score": 7}, "error": 1}',
        b'{"rubric": "three", "output": {"checks": [{"id": "rubric-1", "satisfied": true, "satisfied": true}]}}',
        b'{"rubric": "three", "output": {"checks": [[["id", "rubric-1"], ["satisfied", true]]]}}',
        b'{"rubric": "one", "output": {"score": 7}, "judge": {"n": 1, "n": 1}}',
        b'{"rubric": "one", "output": {"score": 7}, "judge": [NaN]}',
        b'{"rubric": "one", "output": {"score": 7}, "n": 1e400}',
        b'{"rubric": "one", "output": {"score": 7}, "n": 1e400, "m": 1, "m": 1}',
        b'{"rubric": "one", "output": {"score": 7}, "n": "\\u0022", "m": "\\u0022", "m": "\\u0022"}',
        b'{"rubric": "one", "output": {"score": 7}, "n": ' + b"9" * 301 + b"}",
    ],
)
def test_what_is_nearly_in_order_has_the_result_of_the_schema_or_none(entry):
    scored = json.loads(results(entry))
    assert scored.get("verdict") == ("borderline" if b"7.0" in entry else None)


def test_outputs_with_the_same_answers_share_one_result():
    scorer = Scorer(SEVERAL)
    found = [
        scorer.score(json.dumps({"rubric": "one", "output": {"score": answer}}).encode()).scored for answer in (7, 7, 3)
    ]
    assert ([each.answers for each in found], found[0] is found[1]) == ([(7,), (7,), (3,)], True)


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        (b'{"id": "a", "output": {"score": 7}, "n": NaN}', "a"),
        (b'{"id": 3, "output": {"score": 7, "score": 7}}', 3),
        (b'{"id": "a", "output": {"score": 7}, "id": "b"}', None),
        (b'{"id": "a", "outputs": [{"score": 7}, NaN]}', "a"),
        (b'{"id": "a", "grade": NaN}', "a"),
    ],
)
def test_a_record_that_cannot_be_read_keeps_its_id(entry, name):
    result = Scorer(ONE).score(entry, 2)
    assert (result.id, result.error is None) == (name, False)
    assert result.to_json().get("id") == name
