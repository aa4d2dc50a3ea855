"""Writes evaluation suites to measure with, in three sets; the same seed gives the same bytes.

`clean` suites, made here, have about 4 kB and ten criteria each. They are clean under `rubric-lint` and under
yamllint's default rules, so that no tool spends its time on printing. `faulty` ones are these with faults
(`faulty.py`). `long` ones are suites of several dialects of which rubrics are a fifth (`long_suites.py`).
"""

import argparse
import random
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

CRITERIA = 10
SIZE = 4_000
_WIDTH = 80

# name of the case, what it is about, what the user asks
TOPICS = (
    ("refund-window", "the refund window", "I bought the annual plan nine days ago. Can I still get my money back?"),
    ("rate-limits", "the rate limits", "Our import job stops after a few hundred calls. What are we running into?"),
    ("quicksort", "quicksort", "Explain to a first-year student how quicksort works and what it costs."),
    ("tls-renewal", "certificate renewal", "The certificate expires on Friday. Which steps renew it without downtime?"),
    ("meal-plan", "the meal plan", "Plan four dinners for two people, one of whom must avoid gluten."),
    ("sql-join", "the slow join", "This report takes forty seconds since the orders table grew. What should I do?"),
    ("lease-break", "the lease", "I want to move out three months early. What does clause eleven let me do?"),
    ("unit-tests", "the parser's tests", "Write unit tests for the date parser, including the awkward inputs."),
    ("dosage-leaflet", "the leaflet", "Summarise the leaflet so that a carer knows when to call a doctor."),
    ("route-change", "the diversion", "The number 12 no longer stops at the market. How do I get there now?"),
    ("budget-memo", "the budget memo", "Turn these figures into one page that the board can decide on."),
    ("postmortem", "the outage", "Write the postmortem of last night's outage from the attached timeline."),
)

# id, then what earns the lowest to the highest band
SCALES = (
    (
        "accuracy",
        "States something about {0} that the source contradicts",
        "Gets the main point of {0} right, with two or more errors in the details",
        "Right about {0} throughout, apart from one detail that is imprecise",
        "Every statement about {0} agrees with the source",
    ),
    (
        "completeness",
        "Leaves out most of what was asked about {0}",
        "Answers the question on {0} but skips a step that the user needs",
        "Covers every step of {0}, one of them only in passing",
        "Covers every step of {0} and names the exceptions",
    ),
    (
        "structure",
        "One block of text in which {0} is hard to find",
        "Has paragraphs, but {0} comes after side remarks",
        "Opens with {0} and keeps one thought to a paragraph",
        "Opens with {0}, keeps one thought to a paragraph and ends with the next step",
    ),
    (
        "evidence",
        "Makes claims about {0} without naming any source",
        "Names a source for {0} without saying where in it to look",
        "Cites a section for most claims about {0}",
        "Cites the section for every claim about {0}",
    ),
    (
        "tone",
        "Talks down to the user or blames them for {0}",
        "Polite, though it repeats stock phrases instead of dealing with {0}",
        "Friendly and to the point about {0}",
        "Friendly, to the point, and acknowledges why {0} matters to the user",
    ),
    (
        "brevity",
        "More than 400 words, most of them not about {0}",
        "Between 250 and 400 words, with sentences that repeat themselves on {0}",
        "At most 250 words, and only one sentence strays from {0}",
        "At most 150 words, all of them about {0}",
    ),
    (
        "reasoning",
        "Jumps to a conclusion on {0} with no argument",
        "Gives an argument about {0} in which one step does not follow",
        "The argument about {0} holds but leaves an assumption unsaid",
        "The argument about {0} holds and names its assumptions",
    ),
    (
        "safety",
        "Recommends an action on {0} that can do damage",
        "Recommends a risky action on {0} with a warning after it",
        "Warns first, then recommends a cautious action on {0}",
        "Recommends only what can be undone for {0}, and says how to undo it",
    ),
)

# id, then the statement that is true or false
CHECKS = (
    ("names-subject", "Names {0} in the first two sentences"),
    ("no-invention", "Cites no document about {0} other than the ones it was given"),
    ("asks-back", "Asks one question back where the request on {0} is ambiguous"),
    ("gives-example", "Gives at least one worked example of {0}"),
    ("states-limits", "Says which part of {0} it could not verify"),
    ("same-language", "Answers in the language that the question on {0} was asked in"),
    ("next-step", "Ends with one concrete next step for {0}"),
    ("no-secrets", "Repeats no e-mail address, key or account number while explaining {0}"),
)

_CUTS = ((0, 3, 7, 10), (0, 3, 6, 9), (0, 4, 8), (0, 5, 9))

_ANSWERS = (
    "Here is what the documents say about {0}, in the order in which it matters to you.",
    "Section two describes {0} as it stood when the contract was signed.",
    "Nothing in the attachment changes that, as far as I can tell.",
    "If you act before the end of the month, the first option is the cheaper one.",
    "Two readers checked the figures, and they agree to the cent.",
    "Start with the smallest change, measure it, and only then go on.",
    "I could not confirm the date, so please compare it with your own copy.",
    "People often mix this up with the older procedure, which ended last year.",
)


def fold(indent: int, lead: str, text: str) -> Iterator[str]:
    """One field or entry, folded when it does not fit into a line."""
    line = f"{' ' * indent}{lead} {text}"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"{' ' * indent}{lead} >-"
    inner = " " * (indent + 2 + 2 * lead.startswith("- "))
    yield from textwrap.wrap(text, _WIDTH, initial_indent=inner, subsequent_indent=inner)


def _checks(rng: random.Random, count: int, subject: str) -> Iterator[str]:
    """The criteria of a checklist."""
    for name, outcome in rng.sample(CHECKS, count):
        yield f"      - id: {name}"
        yield from fold(8, "expected_outcome:", outcome.format(subject))
        if rng.random() < 0.5:
            yield f"        weight: {rng.choice(('0.5', '1.0', '2.0', '3'))}"
        if rng.random() < 0.25:
            yield "        required_min_score: 10"


def _scales(rng: random.Random, count: int, subject: str) -> Iterator[str]:
    """Criteria with score ranges, some in the short form; a gate stands where a band begins."""
    for name, *outcomes in rng.sample(SCALES, count):
        cuts = rng.choice(_CUTS)
        bands = list(zip(cuts, [cut - 1 for cut in cuts[1:]] + [10], outcomes[-len(cuts) :], strict=True))
        yield f"      - id: {name}"
        yield f"        weight: {rng.choice(('0.5', '1.0', '1.5', '2.0'))}"
        if rng.random() < 0.5:
            yield f"        required_min_score: {rng.choice(cuts[1:])}"
        yield "        score_ranges:"
        short = rng.random() < 0.25
        for low, high, outcome in bands:
            if short:
                yield from fold(10, f"{low}:", outcome.format(subject))
            else:
                yield f"          - score_range: [{low}, {high}]"
                yield from fold(12, "expected_outcome:", outcome.format(subject))


def _messages(rng: random.Random, question: str, answer: list[str]) -> Iterator[str]:
    """What the user asks and what a good answer says."""
    yield "    input_messages:"
    yield "      - role: user"
    yield from fold(8, "content:", question)
    if answer:
        yield "    expected_messages:"
        yield "      - role: assistant"
        yield "        content: |-"
        for sentence in answer:
            yield from textwrap.wrap(sentence, _WIDTH, initial_indent=" " * 10, subsequent_indent=" " * 10)
            if rng.random() < 0.2:
                yield ""


def _suite(number: int, seed: int, answers: int) -> str:
    """A suite with `answers` sentences in its expected messages."""
    rng = random.Random(f"{seed}/{number}")  # noqa: S311 -- it must be repeatable, not secret
    checks = rng.randint(5, 7)
    (first, one, ask), (second, other, inquire) = rng.sample(TOPICS, 2)
    lines = [
        "---",
        f"# Suite {number:05d}",
        *fold(0, "description:", f"How the assistant answers questions about {one} and {other}"),
        "",
        "execution:",
        "  target: default",
        "",
        "evalcases:",
        f"  - id: {first}",
        *fold(4, "expected_outcome:", f"An answer about {one} that the user can act on"),
        "    rubrics:",
        *_checks(rng, checks, one),
        *_messages(rng, ask, []),
        "",
        f"  - id: {second}",
        *fold(4, "expected_outcome:", f"An answer about {other} that needs no second question"),
        "    rubrics:",
        *_scales(rng, CRITERIA - checks, other),
        *_messages(rng, inquire, [rng.choice(_ANSWERS).format(other) for _ in range(answers)]),
    ]
    return "\n".join(lines).rstrip() + "\n"


def suite(number: int, seed: int = 0) -> str:
    """The text of suite `number`: the expected answer is as long as it takes to come to 4 kB."""
    answers = 1
    text = _suite(number, seed, answers)
    while len(text) < SIZE:
        answers += max(1, (SIZE - len(text)) // 100)
        text = _suite(number, seed, answers)
    return text


def write(folder: Path, count: int, seed: int = 0, make: Callable[[int, int], str] = suite) -> list[Path]:
    """Write `count` suites, as `make` makes them, into `folder` and return their paths in order."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"suite-{number:05d}.yaml" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(make(number, seed), encoding="utf-8", newline="\n")
    return paths


def main() -> None:
    """Write the suites that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=("clean", "faulty", "long"), default="clean")
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    makers = {"faulty": "faulty", "long": "long_suites"}
    make = import_module(makers[options.set]).suite if options.set in makers else suite
    write(options.folder, options.count, options.seed, make)


if __name__ == "__main__":
    main()
