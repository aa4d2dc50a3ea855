"""Define `assess`, which says whether a rubric and its judge can be trusted, and `improve`, which proposes wordings."""

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import JUDGING, command

_CALL = "rubric-lint assess examples/summary.rubric.yaml answers.jsonl"


@command(
    "rubric answers",
    "labels results model max-cost prices probe map:sides format:assess output:markdown"
    f" | by fail-on:line runs label-scale samples:two {JUDGING} max-requests no-cache cache-dir target look color"
    " config isolated",
    short="Say whether a rubric can be trusted, and what to fix.",
    examples={
        f"{_CALL} --model gpt-5": "Have a model judge the answers twice, then assess the rubric",
        f"{_CALL} --labels labels.csv": "Assess what is recorded, with human labels",
        f"{_CALL} --labels labels.csv -o assessment.md": "Write Markdown",
    },
    exits={
        Exit.CLEAN: "trusted: human labels show that the judge is good enough",
        Exit.FOUND: "not trusted: an error, or verdicts that people do not share, of all answers or of a group",
        Exit.UNDECIDED: "undecided: the report says how many labels would decide",
    },
    clashes="""
        --max-requests needs --model
        --probe needs --model
        --max-cost needs --model
        --max-cost needs --prices; it has the prices of the models
    """,
)
def assess(given: Given) -> int:
    """Say on one page whether a rubric is any good: which criteria to keep, which to fix, and what is still unknown.

    Lints RUBRIC, runs its tests, judges ANSWERS that have no recorded output if --model names a judge, and compares the
    verdicts with human labels. ANSWERS are as for `judge`.
    """
    from rubric_lint.cli.lint.assessing import run_assess

    return run_assess(given)


_IMPROVE = "rubric-lint improve examples/summary.rubric.yaml answers.jsonl"


@command(
    "rubric answers",
    "model! labels tries writer-model write max-requests max-cost prices format:improve output:text"
    f" | results samples:two {JUDGING} map:answers no-cache cache-dir color config isolated",
    short="Propose wordings, and offer those that measure better.",
    examples={
        f"{_IMPROVE} --model gpt-5 --labels labels.csv": "Show what measures better, as a diff with its evidence",
        f"{_IMPROVE} --model gpt-5 --max-requests 2000": "Send at most 2000 requests in all",
        f"{_IMPROVE} --model gpt-5 --write": "Write what is offered; replies come from the cache",
    },
    exits={
        Exit.CLEAN: "nothing to fix, or a wording is offered for every criterion to fix",
        Exit.FOUND: "a criterion to fix for which nothing is offered",
        Exit.USAGE: "usage error, a file that cannot be read or has errors, or an endpoint that refuses every request",
        Exit.UNDECIDED: "inconclusive: too few answers",
    },
    clashes="""
        --max-cost needs --prices; it has the prices of the models
    """,
)
def improve(given: Given) -> int:
    """Propose other wordings for the criteria that `assess` says to fix, one at a time, and prove them.

    A wording is offered only if the linter finds nothing in it, rubric tests still hold, and judged anew on answers
    that were not used to write it, it measures better. At least 43 answers are needed. Nothing is written without
    --write.
    """
    from rubric_lint.cli.lint.improve import propose

    return propose(given)
