"""Changes to a text that a parser, a linter and a scorer find hard."""

import random

PIECES = (
    *("&a ", "*a", "- ", "? ", ": ", "<<: *a\n", "[", "]", "{", "}", "#c\n", "\n", "  ", '"', "'", "|\n  x\n", ">-\n"),
    *("!!str ", "!t ", "yes", "0o1", "1e400", ".nan", "---\n", "...\n", "\t", "\r\n", "\r", "é", "\u2028", "\ufeff"),
    *(",", "rubrics:", "expected_outcome: ", "description: ", "required: true\n", "score_ranges:", "score_range: "),
    *("[0, 10]", "[3, 1]", "levels:", "level: 1\n", "weight: ", "id: a\n", "required_min_score: 7\n", "null", "true"),
    *("<think>", "</think>", "```json\n", "```\n", '{"score": 7}', '"checks": []', "<|channel|>final<|message|>"),
    *(
        "# rubric-lint: ignore[overlap]\n",
        "\x00",
        "\x1b[31m",
        "\U0001f600",
        "\ud83d".encode("utf-16", "surrogatepass").hex(),
    ),
    *("\n=====\n", "{{x}}", "{% raw %}", "::error::", "\u202e"),
)


def mutate(data: bytes, chance: random.Random, seeds: list[bytes]) -> bytes:
    """Return a changed copy: pieces put in, cut, repeated, exchanged with another text."""
    head, body = data[:1] or b"\0", bytearray(data[1:])
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(body) + 1)
        match chance.randrange(8):
            case 0 | 1 | 2:
                body[at:at] = chance.choice(PIECES).encode()
            case 3:
                del body[at : at + chance.randrange(1, 12)]
            case 4:
                end = at + chance.randrange(1, 80)
                body[end:end] = body[at:end]
            case 5:
                other = chance.choice(seeds)
                start = chance.randrange(len(other) + 1)
                body[at:at] = other[start : start + chance.randrange(1, 200)]
            case 6:
                line = body.find(b"\n", at) + 1
                end = body.find(b"\n", line) + 1
                if 0 < line < end:
                    moved, place = body[line:end], chance.randrange(len(body) + 1)
                    del body[line:end]
                    body[place:place] = moved
            case _:
                if at < len(body):
                    body[at] = chance.randrange(256)
    if chance.random() < 0.2:
        head = bytes([chance.randrange(256)])
    return head + bytes(body[:6_000])
