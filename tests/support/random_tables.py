"""Random rubrics of every shape with many outputs each, as tables of texts: valid, odd, wrong, fenced and no JSON."""

import json
import random
import unicodedata

from random_outputs import ODD, load, spell

NAMES = [
    *(
        "accuracy",
        "length",
        "tone",
        "a",
        "b",
        "c",
        "a.b",
        "a-b",
        "A",
        "id",
        "score",
        "checks",
        "größe",
        "Größe",
        "日本",
    ),
    *("it's", 'say "hi"', "back\\slash", "a/b", "two\nlines", "tab\t", "😀", "e\u0301", "\u00e9", "{x}", "[y]", "a b"),
    *("%", "_", "'; DROP TABLE outputs; --", "*/", "--", "$1", "${x}", "{{x}}", "\\u0061", "?", "a\u200bb", "`tick`"),
]
EXTRA = [
    *(
        "comment",
        "evidence",
        "confidence",
        "rationale",
        "rubric",
        "criterion",
        "overall_reasoning",
        "reasoning",
        "name",
    ),
    *("final_score", "grade", "scor", "checks_done", "status", "is_draft", "error", "max_score", "verdict", "ID", "x"),
    *("rating_notes", "done", "type", "level", "satisfied", "score", "checks", "id", "ä", "x y", "sc\u00f6re", ""),
]
VALUES = [
    *('"Good."', '"7"', '"7/10"', '"draft"', '"say \\"hi\\" {[,:]}"', "0.9", "1", "true", "false", "null", "[]", "{}"),
    *('["a", "b"]', "[1, [2]]", '{"a": 1}', '{"a": 1, "a": 2}', '[{"a": 1}]', "[[[1]]]", '[[["x"]]]', "1e5", "1e999"),
    *('"```"', '"<think>"', '"a\\nb"', '"\\ud800"', '"\\ud83d\\ude00"', '"{\\"checks\\": []}"', '"\\\\"', '"\\\\\\""'),
    *(
        "NaN",
        "-Infinity",
        "9" * 120,
        "9" * 301,
        "0." + "0" * 400,
        '"ä"',
        '"\\u0000"',
        "10",
        '"10"',
        "-0.0",
        "[[[[1]]]]",
    ),
]
ANSWERS = [
    "7.0",
    "7.00",
    "-0",
    "0.0",
    "7e0",
    "70e-1",
    "1e1",
    "10.0",
    "11",
    "-1",
    "007",
    "7.",
    ".7",
    "+7",
    "0x7",
    "True",
]
AROUND = [
    *(
        "{}",
        "{}",
        "{}",
        "{}",
        "{}",
        "```json\n{}\n```",
        "```\n{}```",
        "\ufeff{}",
        "\u200b{}\u3000\n",
        "\r\n{}\r\n",
        "{} {{}}",
    ),
    *(
        "So: {}",
        "{}\nThat is my verdict.",
        "[{}]",
        '"{}"',
        "```json\n{}\n```\nSo it is.",
        "```JSON\n{}\n```",
        "``` json\n{}```",
    ),
    *(
        "```json\r\n{}\r\n```",
        "{},",
        "{}{}",
        "{}\n{}",
        "{}\x00",
        "\u2028{}",
        "```\n{}\n```\n```",
        "\x1c{}",
        "\x85{}",
        "```json\n{}\n``` ",
    ),
    *(
        "<think>Hm.</think>{}",
        "<think>{}",
        "'{}'",
        "`{}`",
        "> {}",
        '{{"output": {}}}',
        '{{"checks": {}}}',
        "```json\n \ufeff{}```",
    ),
]
WHOLE = [
    *("", " ", "\n", "null", "true", "7", '"7"', "[]", "{}", "[1, 2]", "I cannot judge this.", "{", "}", "{}{}", "NaN"),
    *(
        '{"a": 1}',
        '"{}"',
        "```json\n```",
        "```\n```",
        "```",
        "{'score': 7}",
        '{"score": 7',
        '{"score":\t7}',
        '{"error": "x"}',
    ),
    *(
        '{"a":"\t"}',
        '{"score": 7, "a": "\t"}',
        '{"score": 7, "a": "\n"}',
        '{"checks": []}',
        '{"checks": {}}',
        "{}\ufeff",
        "\ud7ff",
    ),
    *(
        '{"score": 7,}',
        '{,"score": 7}',
        '{"score" 7}',
        '{"score": 7 "a": 1}',
        "{score: 7}",
        '{"score": 07}',
        '{"score": "7}',
    ),
    *(
        "[" * 50 + "]" * 50,
        '{"a":' * 9 + "1" + "}" * 9,
        '{"score": 5, "x": ' + "[" * 9 + "]" * 9 + "}",
        '{"score": 5, "x": [}',
    ),
    *(
        '{"\\u0073core": 5}',
        '{"score": 5, "\\u0073core": 6}',
        '{"score": 5, "score": 5}',
        '{"sc\\u006fre": 5}',
        '{"score": 5}}',
    ),
    *('{"score": 5, "note": {"a": {"b": {"c": 1}}}}', '{"score": 5, "note": [[[[1]]]]}', '{"score": 5, "note": [[1]]}'),
    *(
        '{"tool_calls": [{}]}',
        '{"content": null, "reasoning": "x"}',
        '{"name": "x", "arguments": {}}',
        '{"score":5}\n\n\n',
    ),
]


def make_rubric(chance):
    """A random rubric: its entries, as in the file."""
    shape = chance.choice(["checklist", "score_ranges", "levels", "holistic", "checklist", "score_ranges", "levels"])
    if shape == "holistic":
        return shape, make_bands(chance)
    entries = []
    names = chance.sample(NAMES, chance.choice([1, 2, 3, 3, 4, 6]))
    for name in {unicodedata.normalize("NFC", name): name for name in names}.values():
        weight = chance.choice(["0", "1", "1", "2", "2.5", "0.001", "20", "1e-7"])
        entry = {"id": name, "weight": weight}
        gates = range(11)
        if shape == "levels":
            gates = chance.sample([*range(-3, 10), 100], chance.randint(2, 5))
            entry["levels"] = [{"level": n, "expected_outcome": f"Shows the result number {n}"} for n in gates]
        elif shape == "score_ranges":
            entry["score_ranges"] = make_bands(chance)
        else:
            entry["expected_outcome"] = f"Shows the result {name}"
        if chance.random() < 0.5:
            entry["required_min_level" if shape == "levels" else "required_min_score"] = chance.choice(gates)
        entries.append(entry)
    if all(float(entry["weight"]) == 0 for entry in entries):
        entries[0]["weight"] = "1"
    return shape, entries


def make_bands(chance):
    """Bands that cover 0..10."""
    starts = sorted({0, *chance.sample(range(1, 11), chance.randint(0, 3))})
    ends = [start - 1 for start in starts[1:]] + [10]
    return [
        {"score_range": [start, end], "expected_outcome": f"Shows the result number {start}"}
        for start, end in zip(starts, ends, strict=True)
    ]


def make_answer(entry, shape, chance):
    """The field that answers a criterion."""
    if shape == "levels":
        return {
            "level": chance.choice([*(level["level"] for level in entry["levels"]), *[4][: chance.random() < 0.02]])
        }
    if shape == "score_ranges":
        return {"score": chance.randint(0, 10 + (chance.random() < 0.02))}
    return {"satisfied": chance.random() < 0.7}


def make_output(shape, entries, chance):
    """A valid output, or nearly."""
    if shape == "holistic":
        found = {"score": chance.randint(0, 10), "reasoning": "Because."}
    else:
        checks = [{"id": each["id"], **make_answer(each, shape, chance)} for each in entries]
        for check in checks:
            if chance.random() < 0.5:
                check["reasoning"] = chance.choice(
                    ['It says "hi".', "Good: {[,]}", "a\nb\\", "Straße 😀", "`x` <b>", ""]
                )
        chance.shuffle(checks)
        found = {"checks": checks}
    held = [*found.get("checks", [])]
    for _ in range(2):
        if chance.random() < 0.15:
            holder = chance.choice([found, *held])
            holder[chance.choice(EXTRA)] = json.loads(chance.choice([value for value in VALUES[:22] if value != "{}"]))
    return found


def damage(text, chance):  # noqa: PLR0911 (one for each way)
    """The text with something in it changed."""
    way = chance.randrange(8)
    if way == 0:
        at = chance.randrange(len(text) + 1)
        return text[:at] + chance.choice([*"{}[]\",:\\ \n\t'x0", "\ud7ff", "\u00a0", "null", '""', "\x00"]) + text[at:]
    if way == 1 and text:
        at = chance.randrange(len(text))
        return text[:at] + text[at + 1 :]
    if way == 2:
        return text[: chance.randrange(len(text) + 1)]
    if way == 3:
        field = json.dumps(chance.choice(EXTRA), ensure_ascii=chance.random() < 0.5)
        places = [at for at, char in enumerate(text) if char == "{"]
        at = chance.choice(places) + 1 if places else 0
        return f"{text[:at]}{field}: {chance.choice(VALUES)}, {text[at:]}"
    if way == 4:
        parts = text.split(": ")
        at = chance.randrange(1, len(parts)) if len(parts) > 1 else 0
        new = chance.choice([*ANSWERS, *VALUES, *ODD])
        return (
            ": ".join([*parts[:at], new + parts[at].lstrip("-0123456789.truefals")])
            if at == len(parts) - 1
            else (": ".join([*parts[:at], new + parts[at].lstrip("-0123456789.truefals"), *parts[at + 1 :]]))
        )
    if way == 5:
        letter = chance.choice("acdeghiklnorstu")
        return text.replace(letter, f"\\u{ord(letter):04x}", 1)
    if way == 6:
        return json.dumps(text)
    return text.replace(
        chance.choice(['"id"', '"checks"', '"score"', "}, {", ", ", '"reasoning"']),
        chance.choice(['"Id"', "", ",,", '"id" ']),
        1,
    )


def make_texts(shape, entries, chance, rows):
    """Outputs as texts; about half of them valid."""
    for _ in range(rows):
        way = chance.random()
        if way < 0.03:
            text = chance.choice(WHOLE)
        else:
            output = make_output(shape, entries, chance)
            if way < 0.3:
                text = spell(output, chance, 0.03)
            else:
                text = json.dumps(output, ensure_ascii=chance.random() < 0.3, indent=chance.choice([None, None, 1]))
            while chance.random() < 0.25:
                text = damage(text, chance)
        if chance.random() < 0.3:
            around = chance.choice(AROUND)
            text = around.replace("{}", text, around.count("{}")).replace("{{", "{").replace("}}", "}")
        yield None if chance.random() < 0.005 else text.encode("utf-8", "replace").decode()


def make_tables(seed, rubrics, rows):
    """Random rubrics with the texts of their outputs."""
    chance = random.Random(seed)  # noqa: S311 (the same tables every time)
    for _ in range(rubrics):
        shape, entries = make_rubric(chance)
        yield load(entries), [*make_texts(shape, entries, chance, rows)]


def make_structs(seed, rubrics, rows):
    """Random rubrics with outputs as structs of one type, of which some lack a field or have a wrong value."""
    chance = random.Random(seed)  # noqa: S311 (the same structs every time)
    for _ in range(rubrics):
        shape, entries = make_rubric(chance)
        yield load(entries), [make_struct(shape, entries, chance) for _ in range(rows)]


def make_struct(shape, entries, chance):
    """An output as a struct; null is what is not there."""
    if chance.random() < 0.02:
        return None
    if shape == "holistic":
        return {"score": chance.choice([*range(11), 11, 7.5, None]), "reasoning": chance.choice([None, "Good."])}
    fields = {"levels": "level", "score_ranges": "score", "checklist": "satisfied"}
    checks = []
    for entry in entries:
        answer = make_answer(entry, shape, chance)[fields[shape]]
        check = {"id": entry["id"], fields[shape]: float(answer) if shape != "checklist" else answer}
        for name in ("id", fields[shape]):
            if chance.random() < 0.02:
                check[name] = None
        checks.append({**check, "reasoning": chance.choice([None, 'It says "{[,:]}".\n']), "confidence": 0.5})
    chance.shuffle(checks)
    if chance.random() < 0.1:
        checks = [*checks[1:], *checks[: chance.random() < 0.5], *checks[:1]]
    return {"checks": checks, "overall_reasoning": None}


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


def join_pieces(seed, count):
    """Texts of random pieces."""
    source = random.Random(seed)  # noqa: S311
    pieces = [*OBJECTS * 3, *["\n"] * 12, *SIGNS]
    return ["".join(source.choices(pieces, k=source.randrange(1, 9))) for _ in range(count)]
