"""`rubric-score prompt`, `schema` and `judge`: what a judge is told, what it may return, and asking it."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.exits import Exit, complain
from rubric_lint.cli.rubrics import require, with_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rubric_lint.ask.answers import Answer
    from rubric_lint.ask.endpoint import Endpoint
    from rubric_lint.ask.journal import Journal
    from rubric_lint.ask.run import Plan, Run, Tally
    from rubric_lint.scoring.grading import ScoringRubric

_KEY = "OPENAI_API_KEY"
_BASE_URL = "OPENAI_BASE_URL"
_PLACEHOLDER = "none"
"""What is sent as the key to an endpoint that was named without one, such as a model server on one's own machine."""

_RUBRIC = click.argument("file", metavar="RUBRIC", type=click.Path(exists=True, dir_okay=False))
_NAME = click.option("--rubric", "name", metavar="NAME", help="Which rubric of RUBRIC, where it has several.")


def _read_text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The text itself, or after an @ the name of the file that holds it, - for standard input."""
    if value is None or not value.startswith("@"):
        return value
    try:
        with click.open_file(value[1:], encoding="utf-8", errors="strict") as file:
            return str(file.read())
    except OSError as fault:
        raise click.BadParameter(f"{value[1:]}: {fault.strerror}", ctx, param) from None
    except UnicodeDecodeError as fault:
        raise click.BadParameter(f"{value[1:]}: is not UTF-8 from byte {fault.start + 1} on", ctx, param) from None


_TEXT: dict[str, Any] = {"metavar": "TEXT", "callback": _read_text}


@click.command()
@_RUBRIC
@with_settings
@_NAME
@click.option("--answer", required=True, **_TEXT, help="The answer to be judged; @FILE reads it from a file.")
@click.option("--question", **_TEXT, help="The question that it answers.")
@click.option("--reference", **_TEXT, help="An answer that is known to be good.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "messages"]),
    default="text",
    show_default=True,
    help="One text, or chat messages as JSON.",
)
def prompt(
    *,
    file: str,
    name: str | None,
    answer: str,
    question: str | None,
    reference: str | None,
    form: str,
    config: str | None,
    isolated: bool,
) -> int:
    """Print what a judge is told for one answer by RUBRIC.

    A TEXT that begins with @ is the name of a file that holds it, @- standard input.
    """
    from rubric_lint.judge import Case, as_text, write_prompt  # noqa: PLC0415

    rubric = _choose(require(file, config=config, isolated=isolated), name)
    messages = write_prompt(rubric, Case(answer, question, reference))
    if form == "messages":
        click.echo(json.dumps([message._asdict() for message in messages], ensure_ascii=False, indent=2))
    else:
        click.echo(as_text(messages))
    return Exit.CLEAN


@click.command()
@_RUBRIC
@with_settings
@_NAME
def schema(*, file: str, name: str | None, config: str | None, isolated: bool) -> int:
    """Print the JSON Schema of the judge outputs of RUBRIC, for structured-output APIs in strict mode."""
    from rubric_lint.judge import output_schema  # noqa: PLC0415

    rubric = _choose(require(file, config=config, isolated=isolated), name)
    click.echo(json.dumps(output_schema(rubric), ensure_ascii=False, indent=2))
    return Exit.CLEAN


@click.command()
@_RUBRIC
@with_settings
@click.argument("answers", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--model", required=True, help="The model that judges.")
@click.option("--base-url", metavar="URL", envvar=_BASE_URL, show_envvar=True, help="The endpoint; default: OpenAI's.")
@click.option("--api-key-env", metavar="NAME", help=f"The environment variable that holds the key; default: {_KEY}.")
@click.option("--samples", type=click.IntRange(1, 99), default=1, show_default=True, help="Outputs for each answer.")
@click.option("--concurrency", type=click.IntRange(1, 1000), default=8, show_default=True, help="Requests at a time.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="For one request.",
)
@click.option("--retries", type=click.IntRange(0, 100), default=5, show_default=True, help="After a failed request.")
@click.option(
    "--max-attempts", type=click.IntRange(1, 10), default=3, show_default=True, help="Until an output is valid."
)
@click.option("--temperature", type=click.FloatRange(0, 2), help="Default: the endpoint's own.")
@click.option(
    "--response-format",
    type=click.Choice(["json_schema", "json_object", "text"]),
    default="json_schema",
    show_default=True,
    help="How the endpoint is asked for JSON.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The results file; default: ANSWERS, named .judged.jsonl. Run again, it is gone on with.",
)
def judge(
    *,
    file: str,
    config: str | None,
    isolated: bool,
    answers: Path,
    model: str,
    base_url: str | None,
    api_key_env: str | None,
    samples: int,
    concurrency: int,
    timeout: float,
    retries: int,
    max_attempts: int,
    temperature: float | None,
    response_format: str,
    output: Path | None,
) -> int:
    """Have a model judge ANSWERS by RUBRIC; `rubric-score RUBRIC FILE` then scores the results.

    ANSWERS are JSON Lines: {"id", "answer", "question"?, "reference"?, "rubric"?}.
    """
    from rubric_lint.ask.answers import AnswersError, check_answers, read_answers  # noqa: PLC0415
    from rubric_lint.ask.endpoint import Call, Endpoint  # noqa: PLC0415
    from rubric_lint.ask.journal import Journal, JournalError  # noqa: PLC0415
    from rubric_lint.ask.run import Plan, StaleError, check_journal  # noqa: PLC0415

    key = _find_key(api_key_env, base_url)
    rubrics = require(file, config=config, isolated=isolated)
    call = Call(model, base_url, timeout, retries, response_format, temperature)
    plan = Plan(samples, max_attempts, concurrency)
    output = output or answers.with_suffix(".judged.jsonl")
    if output.resolve() == answers.resolve():
        raise click.UsageError("--output names the file of answers; results go into a file of their own")
    try:
        with answers.open("rb") as lines:
            total = check_answers(lines, rubrics)
    except AnswersError as wrong:
        for fault in wrong.faults:
            complain(f"{answers}: {fault}")
        return Exit.USAGE
    try:
        endpoint = Endpoint(call, key)
    except ImportError:
        complain("judging needs the openai package; install it with: pip install 'rubric-lint[judge]'")
        return Exit.USAGE
    try:
        with Journal(output) as journal:
            with answers.open("rb") as lines:
                done = check_journal(read_answers(lines, rubrics), journal.judged, call, plan)
            if done:
                click.echo(f"{output} holds {done} of {total} answers; going on with the others", err=True)
            with answers.open("rb") as lines:
                return _run(endpoint, journal, read_answers(lines, rubrics), total - done, plan)
    except (JournalError, StaleError) as wrong:
        complain(f"{output}: {wrong}")
        return Exit.USAGE


def _run(endpoint: Endpoint, journal: Journal, answers: Iterator[Answer], left: int, plan: Plan) -> int:
    import asyncio  # noqa: PLC0415  (half of the time in which scoring starts)

    from rubric_lint.ask.run import Run, StoppedError  # noqa: PLC0415

    stopped = ""
    visible = sys.stderr.isatty()
    with click.progressbar(length=left, label="judging", show_pos=True, file=sys.stderr, hidden=not visible) as bar:

        def watch(key: str, fault: str | None) -> None:
            if fault and visible:
                click.echo("\r\x1b[K", nl=False, err=True)
            if fault:
                complain(f"answer {key}: {fault}")
            bar.update(1)

        run = Run(endpoint, journal, plan, watch)
        try:
            asyncio.run(_judge(run, endpoint, answers))
        except StoppedError as fault:
            stopped = f"stopped: {fault}"
        except KeyboardInterrupt:
            stopped = "interrupted"
    _report(run.tally, plan, left)
    if stopped:
        complain(f"{stopped}; what was judged is kept, and the same command goes on from there")
    if stopped == "interrupted":
        raise click.Abort
    if stopped:
        return Exit.USAGE
    return Exit.FOUND if run.tally.invalid or run.tally.unanswered else Exit.CLEAN


async def _judge(run: Run, endpoint: Endpoint, answers: Iterator[Answer]) -> None:
    async with endpoint:
        await run.judge(answers)


def _report(tally: Tally, plan: Plan, left: int) -> None:
    """Say on standard error what a run came to."""
    parts = [f"{tally.judged} of {left} answers judged"]
    parts += [f"{tally.invalid} with an invalid output"] if tally.invalid else []
    parts += [f"{tally.unanswered} without a reply"] if tally.unanswered else []
    if plan.samples > 1 and tally.valid:
        parts.append(f"{tally.agreements / tally.valid:.0%} agreement between samples")
    if tally.tokens_in or tally.tokens_out:
        parts.append(f"{tally.tokens_in:,} tokens read and {tally.tokens_out:,} written by the model")
    click.echo("; ".join(parts), err=True)


def _find_key(name: str | None, base_url: str | None) -> str:
    variable = name or _KEY
    key = os.environ.get(variable, "").strip()
    # Who gives the key itself for the name of a variable must not find it in a log.
    shown = variable if re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable) else "that --api-key-env names"
    if base_url and not base_url.startswith(("http://", "https://")):
        raise click.UsageError("--base-url is no URL that begins with http:// or https://")
    if not key and (name or not base_url):
        raise click.UsageError(
            f"the environment variable {shown} holds no key; set it, name another variable with --api-key-env, or "
            "name an endpoint that wants no key with --base-url"
        )
    if not (key.isascii() and key.isprintable()):
        raise click.UsageError(f"the key in {shown} holds characters that no HTTP header can carry")
    return key or _PLACEHOLDER


def _choose(rubrics: dict[str, ScoringRubric], name: str | None) -> ScoringRubric:
    if name is None and len(rubrics) == 1:
        return next(iter(rubrics.values()))
    listed = ", ".join(rubrics)
    if name is None:
        raise click.UsageError(f"the file has {len(rubrics)} rubrics; name one with --rubric: {listed}")
    if name not in rubrics:
        from rubric_lint.near import find_near  # noqa: PLC0415

        near = find_near(name, rubrics)
        raise click.UsageError(
            f"no rubric is named {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {listed}")
        )
    return rubrics[name]
