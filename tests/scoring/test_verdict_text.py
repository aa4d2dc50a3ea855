"""What of a judge's raw text is the verdict: what it gives, not what it drafts, quotes or mentions."""

import json
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import process_time

import pytest
from cases import read_cases
from ruamel.yaml import YAML

from rubric_lint.scoring import OutputError, load_rubrics, score
from rubric_lint.scoring.output import reader_of
from rubric_lint.scoring.records.decoding import IS_INSTALLED
from rubric_lint.scoring.records.parse_options import Extract
from rubric_lint.scoring.records.verdict import find_verdict

TABLES = read_cases(__file__)

OBJECTS = r"""
{"score": 7}
{"score": 3}
{"reasoning": "<think>", "score": 5}
{"score": 9, "reasoning": "</think> ```"}
{"a": {"score": 1}}
{"confidence": "&lt;/think&gt; x", "score": 2}
{"name": "grade", "arguments": {"score": 1}}
""".strip().splitlines()
SIGNS = json.loads(r"""[
" ", "\t", "\r\n", "\r", "\u200b", "\ufeff", "\"", "`", "> ", "{", "}", "[", "]", ",", "x", "Score: 3", "\u201c", ".",
"```json\n", "```\n", "\n```", "```", "~~~\n", "<a>", "</a>", "<!--", "-->", "{'score': 2}", "{\"score",
"<think>", "</think>", "[THINK]", "[/THINK]", "&lt;think&gt;", "&lt;/think&gt;", "\u25c1think\u25b7",
"\uff1c/think\uff1e",
"<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|end|>", "<|im_end|>", "<|im_start|>assistant\n",
"</s>", "analysis", "assistantfinal"
]""")
"""What stands beside the objects in texts of judges of a holistic rubric."""


def find(text, **options):
    return find_verdict(text, "score", **options)[0]


@pytest.mark.parametrize("text", TABLES["an object that is the"])
def test_an_object_that_is_the_whole_text_is_the_verdict_however_it_is_sought(text):
    for extract in Extract:
        assert find(text, extract=extract) == {"score": 7}
        assert find(text, extract=extract, answer='I say {"score": 7}.') == {"score": 7}


@pytest.mark.parametrize(
    "text",
    [
        'The answer {mostly} fits.\n\n```json\n{\n  "score": 7\n}\n```\n',
        'With \\frac{1}{2} and {} in mind:\n{"score": 7}',
        'Score:\n  {"score": 7}  \r\n',
        "For {x : x > 0}, {'a', 'b'} and {see: below}:\n\n{\"score\": 7}",
        '> This is an example:\n\n{"score": 7}',
        '> This is an example.\n\nThis is none:\n{"score": 7}',
        '> This is an example.\n- This is none:\n{"score": 7}',
        '{"id": "accuracy"}\n{"score": 7}',
        '{"note": "Short, score: low"}\n{"score": 7}',
        'The set {a, b}, score: low.\n{"score": 7}',
    ],
)
def test_an_object_at_the_end_of_a_text_is_its_verdict_but_not_the_whole_text(text, said):
    assert find(text) == find(text, extract=Extract.ONLY) == {"score": 7}
    with pytest.raises(OutputError) as refused:
        find(text, extract=Extract.WHOLE)
    said(refused.value.message)


@pytest.mark.parametrize(
    "text", ['> Like\n{"score": 7}', '> The judge said\nthis:\n{"score": 7}', ' > So\nor\nso\n{"score": 7}']
)
def test_an_object_on_the_next_line_of_a_block_quote_is_quoted(text):
    with pytest.raises(OutputError) as refused:
        find(text)
    assert refused.value.line == text.count("\n") + 1


@pytest.mark.parametrize("text", TABLES["an object of another language is an object too, text"])
def test_an_object_of_another_language_is_an_object_too(text):
    for extract in Extract:
        with pytest.raises(OutputError):
            find(text, extract=extract)


def test_an_answer_field_in_a_string_of_the_object_is_none():
    text = '{"score": 8, "reasoning": "{\\"score\\": 3} is planted", "notes": ["score: 3", {"scores": 3}]}'
    assert find(f"Fine.\n{text}")["score"] == 8


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("", "", None),
        ("Seven.", "", None),
        ("{Seven}", "", None),
        ("7", "", None),
        ("null", "", None),
        ("true", "", None),
        ('"{}"', "", None),
        ('[{"score": 7}]', "", None),
        ('To [\n{"score": 7}', "", 2),
        ('"a": 1,\n{"score": 3}', "", 2),
        ('x\n{"score": 7}\ny', "", 2),
        ('{"score": 7}\n{"score": 7}', "", 2),
        ('{"score": 7}\n' * 5_000, "", 2),
        ('{"a": {"score": 3}, "score": 7', "", 1),
        ('{"score": 7} or\n{"score":', "", 2),
        ('{"score": 7,}', "", 1),
        ('{"score": NaN}', "/score", None),
        ('{"score": -Infinity}', "/score", None),
        ('{"score": 1e400}', "/score", None),
        ('{"a": [{"b": 1, "b": 2}]}', "/a/0/b", None),
        ('{"score": ' + "1" * 5000 + "}", "/score", None),
        ('{"a":' * 100_000, "", 1),
    ],
)
def test_a_text_without_exactly_one_sound_object_is_refused(text, path, line, said):
    with pytest.raises(OutputError) as caught:
        find(text)
    assert (caught.value.path, caught.value.line) == (path, line)
    said(caught.value.message)


FORMS = [
    *('Example: {"score": N}', 'As {"score": <0-10>, "reasoning": "..."}.', 'A check is {"id": ..., "score": 0-10}.'),
    '```json\n{"score": int, "reasoning": string}\n```',
    "{'score': N}".replace("'", '"'),
]


@pytest.mark.parametrize("form", FORMS)
def test_a_form_with_placeholders_before_the_verdict_holds_no_score(form):
    assert find(f'{form}\n{{"score": 7}}') == {"score": 7}


NO_FORMS = [
    *('{"score": 7}\n{"score": N}', '{"score": N} {"score": 7}', '{"score": N}', '{"a": {"score": N}, "score": 4}'),
    *('So {"score": 3, "reasoning": R}\n{"score": 7}', 'So {"score": "N"}\n{"score": 7}'),
    *(
        '{"score": five, "reasoning": "poor"}\n{"score": 9}',
        '{"score": fail}\n{"score": 9}',
        '{"score": III}\n{"score": 9}',
    ),
]


@pytest.mark.parametrize("text", NO_FORMS)
def test_a_form_elsewhere_and_an_object_that_holds_a_score_are_no_reason_to_score(text):
    with pytest.raises(OutputError):
        find(text)


@pytest.mark.parametrize("before", TABLES["what is closed or has no end encloses nothing"])
def test_what_is_closed_or_has_no_end_encloses_nothing(before):
    for verdict in ('{"score": 7}', '```json\n{"score": 7}\n```'):
        assert find(f"{before}\n{verdict}") == {"score": 7}


@pytest.mark.parametrize("before", TABLES["what is never closed quotes nothing"])
def test_what_is_never_closed_quotes_nothing(before):
    for verdict in ('{"score": 7}', '```json\n{"score": 7}\n```'):
        assert find(f"{before}\n{verdict}") == find(f"{before}\n\n{verdict}") == {"score": 7}


@pytest.mark.parametrize("text", TABLES["an object inside marks that close behind it is quoted"])
def test_an_object_inside_marks_that_close_behind_it_is_quoted(text, said):
    with pytest.raises(OutputError) as refused:
        find(text)
    said(refused.value.message)


def test_an_object_of_the_answer_is_a_quote_where_the_answer_may_have_ended_the_thoughts():
    text = '<think>It ends with </think>\n{"score": 9}'
    assert find(text, answer='{"score": 9}') == {"score": 9}
    with pytest.raises(OutputError, match="word for word"):
        find(text, answer='</think>\n{"score": 9}')


def join_pieces(seed, count):
    """Texts of random pieces."""
    source = random.Random(seed)  # noqa: S311
    pieces = [*OBJECTS * 3, *["\n"] * 12, *SIGNS]
    return ["".join(source.choices(pieces, k=source.randrange(1, 9))) for _ in range(count)]


@pytest.mark.slow
def test_what_one_way_to_find_the_verdict_accepts_the_next_one_reads_as_well():
    """The expected form, the whole text, its end, the only object in it: each accepts what the one before does."""
    reader = reader_of(RUBRICS["whole"])
    counts = Counter()
    for text in join_pieces(5, 3_000):
        found = [None, *[None] * len(Extract)]
        found[0] = (match_form := reader.match_output(text)) and list(match_form.answers)
        for place, extract in enumerate(Extract, 1):
            with suppress(OutputError):
                found[place] = list(reader.read_object(find(text, extract=extract)).scored.answers)
        read = [answers for answers in found if answers]
        assert found == [None] * (len(found) - len(read)) + read[:1] * len(read), text
        counts[len(read)] += 1
    ways = 5 if IS_INSTALLED else 4  # without the fast reader, no text is matched with the expected form
    assert min(counts[number] for number in range(ways)) > 5, counts


def test_an_unknown_way_to_find_the_verdict_is_refused():
    with pytest.raises(ValueError, match="extract is 'strict'; expected 'whole', 'last' or 'only'"):
        score(RUBRICS["whole"], '{"score": 7}', extract="strict")


RUBRICS = load_rubrics(
    "suite.yaml",
    b"""\
tests:
  - id: whole
    rubrics:
      - {score_range: [0, 4], expected_outcome: Wrong or off topic}
      - {score_range: [5, 10], expected_outcome: Right}
  - id: each
    rubrics:
      - {id: accuracy, score_ranges: {0: Wrong facts, 5: Right facts}}
      - {id: length, score_ranges: {0: Too long, 5: Short enough}}
""",
)


def read_texts(name):
    return YAML(typ="safe").load((Path(__file__).parents[1] / "data" / name).read_text("utf-8"))


TEXTS = read_texts("judge_texts.yaml")
UNSEEN = read_texts("unseen_judge_texts.yaml")


def read(case, extract):
    """The scores that the scorer reads in a text, or the message with which it refuses it."""
    is_each = isinstance(case["says"], list) or '"checks"' in case["text"]
    rubric = RUBRICS["each" if is_each else "whole"]
    try:
        found = score(rubric, case["text"], answer=case.get("answer"), extract=extract)
    except OutputError as fault:
        return fault.message
    answers = [criterion.grade.answer for criterion in found.criteria]
    return answers if is_each else answers[0]


@pytest.mark.spread(7)
@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_what_a_person_reads_at_the_end_is_scored_or_refused_and_nothing_else(case):
    whole, last, only = (read(case, extract) for extract in Extract)
    reason = case.get("why") or case.get("missed")
    assert reason in last if reason else last == case.get("misread", case["says"])
    assert whole == case["says"] if "whole" in case else isinstance(whole, str)
    if "only" in case:
        assert isinstance(only, str) if case["only"] is None else only == case["only"]
    else:
        assert isinstance(only, str) if isinstance(last, str) else only == last


def count_texts(texts, extract):
    """How many texts are scored as a person reads them, rightly refused, wrongly scored, and refused all the same."""
    counts = Counter()
    for case in texts:
        found = read(case, extract)
        if isinstance(found, str):
            counts["refused" if case["says"] is None else "missed"] += 1
        else:
            counts["scored" if found == case["says"] else "wrong"] += 1
    return dict(counts)


@pytest.mark.parametrize(
    ("texts", "extract", "counts"),
    [
        (TEXTS, "whole", {"scored": 85, "refused": 260, "missed": 208}),
        (TEXTS, "last", {"scored": 223, "refused": 238, "missed": 70, "wrong": 22}),
        (TEXTS, "only", {"scored": 268, "refused": 147, "missed": 25, "wrong": 113}),
        (UNSEEN, "whole", {"scored": 20, "refused": 50, "missed": 30}),
        (UNSEEN, "last", {"scored": 36, "refused": 47, "missed": 14, "wrong": 3}),
        (UNSEEN, "only", {"scored": 49, "refused": 31, "missed": 1, "wrong": 19}),
    ],
    ids=["whole", "last", "only", "whole of unseen", "last of unseen", "only of unseen"],
)
def test_as_many_texts_are_scored_and_refused_as_the_page_says(texts, extract, counts):
    assert count_texts(texts, extract) == counts
    assert len({case["id"] for case in texts}) == len(texts)


HOSTILE = TABLES["HOSTILE"]


def seconds(text):
    """Return the CPU time that looks for a verdict take."""
    begun = process_time()
    for extract in Extract:
        with suppress(OutputError):
            find(text, answer=text[: len(text) // 2], extract=extract)
    return process_time() - begun


ROUNDS = 10


def grows_too_fast(few, many):
    """Return whether eight times the text takes over 30 times as long, in every round; one in proportion takes 8."""
    for _ in range(ROUNDS):
        times = [(seconds(few), seconds(many)) for _ in range(3)]
        short, long = map(min, zip(*times, strict=True))
        if long <= 30 * short + 0.01:
            return False
    return True


def test_blanks_behind_an_object_take_time_in_proportion():
    few, many = (f'{{"score": 7}}{" " * count}x\n{{"score": 7}}' for count in (5_000, 40_000))
    assert not grows_too_fast(few, many)


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_the_time_grows_with_the_text_only(piece):
    """Eight times the text takes eight times as long, not 64 times."""
    count = 10_000 // len(piece)
    assert not grows_too_fast(piece * count, piece * count * 8)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["{", "[", "`", "<think>", '"', '{"a":', '{"a": x\n'])
def test_two_megabytes_of_one_sign_take_seconds(piece):
    assert seconds(piece * (2_000_000 // len(piece))) < 10


def test_what_a_message_quotes_of_the_text_hides_nothing():
    """D1: unseen characters, and commands for CI systems, come as escapes wherever the message goes."""
    with pytest.raises(OutputError) as caught:
        find("No \u202egrade\x1b[31m from ##[error] me.")
    assert r'"No \u202egrade\u001b[31m from #\x23[error] me."' in caught.value.message
    with pytest.raises(OutputError) as caught:
        find('{"a\u202eb": 1, "a\u202eb": 2}')
    assert r"`a\u202eb`" in caught.value.message
