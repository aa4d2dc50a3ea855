"""Makes long evaluation suites as people write them, in several dialects: inputs, documents, conversations, rubrics.

Rubrics are about a fifth of the text; the rest is what the model is asked and given, which a linter has to get past.
One criterion in eight or so has an old field. The dialects take turns: cases of this format, AgentV 4, promptfoo,
lightspeed-evaluation and Braintrust's autoevals.
"""

import json
import random
import textwrap
from collections.abc import Iterator
from pathlib import Path

import generate

SHARE = 0.2
"""Which part of the text the rubrics are."""

_BANDS = ((0, 3), (4, 6), (7, 9), (10, 10))

_SENTENCES = (
    "The customer wrote on Monday and again on Thursday, because nobody had answered in between.",
    "According to the manual, the setting for {0} is found below the third heading of the second chapter.",
    'Please keep in mind that "{0}" had another meaning before the change of last spring.',
    "Our records show two entries: one from the web form, one from the call (see note 14).",
    "What follows is an excerpt; the parts on {0} are complete, the others are cut.",
    "It costs 12.50 a month: nine for the service, the rest for support.",
    "The agent looked at {0} first, then at the order, and found that the dates do not agree.",
    "If none of this helps, restart the service - it takes a minute - and try once more.",
    "There is a list of known problems, and {0} has been on it since version 3.2.",
    "All times are in UTC; the report on {0} was written at 07:45.",
    "Who pays for the return depends on the reason, and on the country: see table 3.",
    'Nothing in the file speaks against it, though section 4 says "as a rule" and not "always".',
)


def _prose(rng: random.Random, subject: str, size: int) -> list[str]:
    """Return about `size` characters of text in paragraphs."""
    paragraphs, length = [], 0
    while length < size:
        chosen = rng.sample(_SENTENCES, rng.randint(2, 5))
        paragraphs.append(" ".join(sentence.format(subject) for sentence in chosen))
        length += len(paragraphs[-1])
    return paragraphs


def _block(indent: int, lead: str, paragraphs: list[str]) -> Iterator[str]:
    """Yield a literal block of some paragraphs."""
    yield f"{' ' * indent}{lead} |-"
    pad = " " * (indent + 2 + 2 * lead.startswith("- "))
    for number, paragraph in enumerate(paragraphs):
        if number:
            yield ""
        yield from textwrap.wrap(paragraph, 96, initial_indent=pad, subsequent_indent=pad)


def _criteria(rng: random.Random, indent: int, subject: str, words: dict[str, str]) -> Iterator[str]:
    """Yield criteria: checks, or in a third of the cases bands; `words` has the names of fields in the dialect."""
    pad, outcome = " " * indent, words["outcome"]
    if rng.random() < 0.33:
        yield from _scales(rng, indent, subject, words)
        return
    for name, text in rng.sample(generate.CHECKS, rng.randint(3, 6)):
        yield f"{pad}- id: {name}"
        old = outcome == "expected_outcome" and rng.random() < 0.1
        yield from generate.fold(indent + 2, f"{'description' if old else outcome}:", text.format(subject))
        if rng.random() < 0.3:
            yield f"{pad}  weight: {rng.choice(('0.5', '1.0', '2.0', '3'))}"
        if rng.random() < 0.2 and words["gate"] == "required_min_score":
            yield f"{pad}  required{': true' if rng.random() < 0.3 else '_min_score: 10'}"


def _scales(rng: random.Random, indent: int, subject: str, words: dict[str, str]) -> Iterator[str]:
    pad = " " * indent
    for name, *outcomes in rng.sample(generate.SCALES, rng.randint(1, 3)):
        yield f"{pad}- id: {name}"
        yield f"{pad}  {words['gate']}: {words['gate_at']}"
        yield f"{pad}  score_ranges:"
        for (low, high), text in zip(_BANDS, outcomes, strict=True):
            yield f"{pad}    - score_range: [{low}, {high}]"
            yield from generate.fold(indent + 6, f"{words['outcome']}:", text.format(subject))


_OURS = {"outcome": "expected_outcome", "gate": "required_min_score", "gate_at": "7"}
_AGENTV = {"outcome": "outcome", "gate": "min_score", "gate_at": "0.7"}


def _tools(rng: random.Random, indent: int, subject: str) -> Iterator[str]:
    """Yield a few calls of tools, with arguments in flow style."""
    pad = " " * indent
    yield f"{pad}tool_calls:"
    for number in range(rng.randint(1, 4)):
        found = {"query": subject, "limit": rng.randint(1, 50), "fields": ["id", "title", "updated_at"]}
        yield f"{pad}  - name: search_documents"
        yield f"{pad}    id: call_{rng.randrange(10**8):08d}"
        yield f"{pad}    arguments: {json.dumps(found)}"
        yield f"{pad}    took_ms: {rng.randint(12, 900)}"
        yield f"{pad}    cached: {'true' if number else 'false'}"


def _ours(rng: random.Random, topic: tuple[str, str, str], number: int) -> Iterator[str]:
    name, subject, ask = topic
    rubric = list(_criteria(rng, 6, subject, _OURS))
    size = _size_of(rubric)
    yield f"  - id: {name}-{number}"
    yield from generate.fold(4, "expected_outcome:", f"An answer about {subject} that the user can act on")
    yield "    rubrics:"
    yield from rubric
    yield "    input_messages:"
    yield "      - role: system"
    yield from _block(8, "content:", _prose(rng, subject, size // 3))
    yield "      - role: user"
    yield f"        content: {json.dumps(ask)}"
    yield "      - role: assistant"
    yield from _tools(rng, 8, subject)
    yield "      - role: user"
    yield from _block(8, "content:", _prose(rng, subject, size // 3))
    yield "    expected_messages:"
    yield "      - role: assistant"
    yield from _block(8, "content:", _prose(rng, subject, size // 3))


def write_agentv(rng: random.Random, topic: tuple[str, str, str], number: int) -> Iterator[str]:
    """Yield the lines of a case of AgentV 4."""
    name, subject, ask = topic
    rubric = list(_criteria(rng, 10, subject, _AGENTV))
    size = _size_of(rubric)
    yield f"  - id: {name}-{number}"
    yield from generate.fold(4, "criteria:", f"An answer about {subject} that the user can act on")
    yield "    input:"
    yield "      - role: user"
    yield f"        content: {json.dumps(ask)}"
    yield "      - role: tool"
    yield from _block(8, "content:", _prose(rng, subject, size // 2))
    yield "      - role: assistant"
    yield from _tools(rng, 8, subject)
    yield from _block(4, "expected_output:", _prose(rng, subject, size // 2))
    yield "    assertions:"
    yield "      - type: contains"
    yield f"        value: {subject.rsplit(' ', 1)[-1]}"
    yield "      - type: rubrics"
    yield "        criteria:"
    yield from rubric


def _promptfoo(rng: random.Random, topic: tuple[str, str, str], number: int) -> Iterator[str]:
    name, subject, ask = topic
    rubric = list(_criteria(rng, 10, subject, _OURS))
    size = _size_of(rubric)
    yield f"  - description: {name}, variant {number}"
    yield "    vars:"
    yield f"      question: {json.dumps(ask)}"
    yield "      locale: en-GB"
    yield from _block(6, "context:", _prose(rng, subject, size * 2 // 3))
    yield from _block(6, "history:", _prose(rng, subject, size // 3))
    yield "    assert:"
    yield "      - type: not-contains"
    yield "        value: as an AI"
    yield "      - type: latency"
    yield f"        threshold: {rng.randint(1, 9) * 1000}"
    yield "      - type: llm-rubric"
    yield f"        metric: {name}"
    yield "        value:"
    yield from rubric


def _lightspeed(rng: random.Random, topic: tuple[str, str, str], number: int) -> Iterator[str]:
    name, subject, ask = topic
    rubric = []
    for kind, *outcomes in rng.sample(generate.SCALES, 2):
        rubric += [
            f'          "geval:{kind}":',
            f"            criteria: Judge how the answer deals with {subject}",
            "            threshold: 0.7",
            "            rubrics:",
        ]
        for (low, high), text in zip(_BANDS, outcomes, strict=True):
            rubric.append(f"              - score_range: [{low}, {high}]")
            rubric += generate.fold(16, "expected_outcome:", text.format(subject))
    size = _size_of(rubric) * 3 // 4
    yield f"  - conversation_group_id: {name}-{number}"
    yield "    tag: nightly"
    yield "    turns:"
    yield "      - turn_id: first"
    yield f"        query: {json.dumps(ask)}"
    yield from _block(8, "response:", _prose(rng, subject, size // 3))
    yield "        contexts:"
    for _ in range(3):
        yield from _block(10, "-", _prose(rng, subject, size // 6))
    yield from _block(8, "expected_response:", _prose(rng, subject, size // 6))
    yield from _tools(rng, 8, subject)
    yield "        turn_metrics_metadata:"
    yield from rubric


def _autoevals(rng: random.Random, topic: tuple[str, str, str], number: int) -> Iterator[str]:
    name, subject, ask = topic
    rubric = [
        "    prompt: |-",
        f"      Compare the answer on {subject} with the reference.",
        "      (A) The answer leaves out most of the reference.",
        "      (B) The answer has every main point, and one error in the details.",
        "      (C) The answer agrees with the reference in every point.",
        "    choice_scores: {A: 0, B: 0.5, C: 1}",
    ]
    size = _size_of(rubric)
    yield f"  - name: {name}-{number}"
    yield "    model: judge-large"
    yield "    use_cot: true"
    yield from rubric
    yield "    examples:"
    yield f"      - input: {json.dumps(ask)}"
    yield from _block(8, "output:", _prose(rng, subject, size // 2))
    yield from _block(8, "expected:", _prose(rng, subject, size // 2))


_DIALECTS = (
    ("evalcases:", _ours),
    ("tests:", write_agentv),
    ("tests:", _promptfoo),
    ("conversations:", _lightspeed),
    ("evals:", _autoevals),
)


def _size_of(rubric: list[str]) -> int:
    """Return how many characters of other text a rubric comes with, less what the fields around it take."""
    return max(0, int(sum(map(len, rubric)) * (1 - SHARE) / SHARE) - 1_200)


def suite(number: int, seed: int = 0) -> str:
    """Return the text of long suite `number`."""
    rng = random.Random(f"long {seed}/{number}")  # noqa: S311 -- it must be repeatable, not secret
    head, case = _DIALECTS[number % len(_DIALECTS)]
    lines = [
        "---",
        f"# Suite {number:05d}",
        f"description: Regression suite {number}",
        "execution:",
        "  target: default",
    ]
    if case is _promptfoo:
        lines += [
            "prompts:",
            '  - "{{question}}"',
            "providers:",
            "  - id: some-model",
            "    config: {temperature: 0.2}",
        ]
    lines += ["", head]
    for index in range(rng.randint(4, 10)):
        lines += [*case(rng, rng.choice(generate.TOPICS), index), ""]
    return "\n".join(lines).rstrip() + "\n"


def write(folder: Path, count: int, seed: int = 0) -> list[Path]:
    """Write `count` long suites into `folder` and return their paths in order."""
    return generate.write(folder, count, seed, suite)
