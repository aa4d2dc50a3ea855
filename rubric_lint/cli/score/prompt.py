"""Define `rubric-score prompt` and `schema`, which print a judge's prompt and output schema."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.commands import Command, Exit, option
from rubric_lint.cli.options import SHUFFLE, FileName, SettingsOptions, choice, with_settings
from rubric_lint.cli.score.judge_options import (
    FORMATS,
    STDIN,
    AnswersFile,
    Finite,
    body_options,
    check_call,
    field_options,
    hold,
    read_fields,
    read_models,
)
from rubric_lint.cli.score.options import load, rubric_argument
from rubric_lint.messages import visible_json
from rubric_lint.project.opening import LIMIT, open_stream
from rubric_lint.report.terminal import visible
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rubric_lint.scoring.grading import ScoringRubric


NAME = option("Input", "--rubric", "name", metavar="NAME", help="The rubric to use if RUBRIC has several.")
"""The option that chooses a rubric."""


_STDIN_READ_BY = f"{__name__}.stdin"


def _read_text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the value, or for `@FILE` the text of the file (`@-`: of stdin)."""
    if value is None or not value.startswith("@"):
        return value
    if value == "@-":
        if sys.stdin is None:
            raise click.BadParameter("stdin is closed", ctx, param)
        first = ctx.meta.setdefault(_STDIN_READ_BY, param)
        if first is not param:
            raise click.BadParameter(f"{first.opts[0]} already reads stdin", ctx, param)
    try:
        with nullcontext(sys.stdin.buffer) if value == "@-" else open_stream(value[1:]) as stream:
            data = stream.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise click.BadParameter(f"{value[1:]}: is larger than the limit of {LIMIT / 1e6:.0f} MB", ctx, param)
        return data.decode().replace("\r\n", "\n").replace("\r", "\n")
    except OSError as fault:
        raise click.BadParameter(f"{value[1:]}: {fault.strerror}", ctx, param) from None
    except UnicodeDecodeError as fault:
        raise click.BadParameter(f"{value[1:]}: is not UTF-8 at byte {fault.start + 1}", ctx, param) from None


def _read_model(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the name of a model, given as for `judge`: its endpoint does not matter here."""
    return value if value is None else read_models(ctx, param, (value,))[0].name


_TEXT: dict[str, Any] = {"metavar": "TEXT", "callback": _read_text}


_CALL = "rubric-score prompt examples/summary.rubric.yaml"
_EXITS = {Exit.USAGE: "usage error, or a file that cannot be read or has errors"}


@click.command(
    cls=Command,
    examples={
        f'{_CALL} --answer "A tower in Paris."': "Print the prompt for one answer",
        f'{_CALL} --answer "A tower." --format messages': "Print chat messages for a model API",
        f'{_CALL} --answer "A tower." --per-criterion': "Print one prompt for each criterion",
        f"{_CALL} --answers answers.jsonl --model qwen3": "Print a request for each answer of a file",
    },
    exits=_EXITS,
)
@rubric_argument
@NAME
@option("Input", "--answer", **_TEXT, help="The answer to judge; @FILE reads it from a file.")
@option(
    "Input", "--answers", metavar="FILE", type=FileName(), help="Print the requests for all answers of FILE instead."
)
@option(
    "Input",
    "--question",
    **_TEXT,
    help="The question that the answer is for.  [default: that of the case, in Agent Skills]",
)
@option("Input", "--reference", **_TEXT, help="A reference answer, known to be good.")
@option("Requests", "--per-criterion", is_flag=True, help="Print one prompt for each criterion.")
@option("Requests", "--shuffle", **SHUFFLE, help="Print the criteria in shuffled order.  [seed: 1]")
@option("Requests", "--id", "key", metavar="ID", help="The answer's id, on which the shuffled order depends.")
@option(
    "Requests",
    "--model",
    metavar="NAME",
    callback=_read_model,
    help="The model, on which the shuffled order depends.",
)
@option("Requests", "--sample", type=click.IntRange(1), help="The sample, on which the order depends.  [default: 1]")
@body_options
@option("Model", "--temperature", type=Finite(0, 2), help="Sampling temperature of the requests for --answers.")
@option("Model", "--response-format", metavar="FORMAT", **choice(*FORMATS), help="How these requests ask for JSON.")
@option("Output", "--format", "form", **choice("text", "messages"), help="Plain text, or chat messages as JSON.")
@field_options
@with_settings
def prompt(
    *,
    file: str,
    name: str | None,
    answer: str | None,
    answers: str | None,
    question: str | None,
    reference: str | None,
    per_criterion: bool,
    shuffle: int | None,
    key: str | None,
    model: str | None,
    sample: int | None,
    form: str,
    settings: SettingsOptions,
    **asking: Any,
) -> int:
    """Print the judge prompt for one answer by RUBRIC, or the requests for all answers of a file.

    TEXT can be @FILE to read a file, or @- to read stdin. With --per-criterion, chat messages are a list for each
    request. --answers reads a file as `judge` does and prints JSON Lines: for each request its `custom_id`, the `id` of
    the answer, and the body that `judge` would send.
    """
    from rubric_lint.judge.prompt import JudgedCase, as_text, divide, order_criteria, write_prompt  # noqa: PLC0415

    if answers is not None:
        for option_name, value in (
            ("--answer", answer),
            ("--question", question),
            ("--reference", reference),
            ("--id", key),
        ):
            if value is not None:
                raise click.UsageError(
                    f"{option_name} cannot be combined with --answers, which has one for each answer"
                )

        rubrics = load(file, settings)
        chosen = {name: choose_rubric(rubrics, name)} if name else rubrics
        how = {"per_criterion": per_criterion, "shuffle": shuffle, "sample": sample, "model": model}
        return print_requests(answers, chosen, {**asking, **how})
    if answer is None:
        raise click.UsageError("--answer or --answers is missing")
    _check_order(shuffle, key, model, sample)
    rubric = choose_rubric(load(file, settings), name)
    order: Sequence[str] = [criterion.id for criterion in rubric.criteria]
    if shuffle is not None:
        order = order_criteria(rubric, shuffle, json.dumps(_read_id(key or "")), model or "", sample or 1)
    parts = divide(rubric, order, per_criterion=per_criterion)
    case = JudgedCase(answer, rubric.question if question is None else question, reference)
    prompts = [write_prompt(part, case) for part in parts]
    if form == "messages":
        listed = [[message._asdict() for message in messages] for messages in prompts]
        told: Any = listed if per_criterion else listed[0]
        click.echo(visible_json(json.dumps(told, ensure_ascii=False, indent=2)))
    else:
        for number, (part, messages) in enumerate(zip(parts, prompts, strict=True), start=1):
            if per_criterion:
                title = f"==== Request {number} of {len(parts)}: {visible(part.criteria[0].id)} ===="
                click.echo(title if number == 1 else f"\n{title}")
            click.echo(as_text(messages))
    return Exit.CLEAN


def _check_order(shuffle: int | None, key: str | None, model: str | None, sample: int | None) -> None:
    """Refuse options on which only a shuffled order depends, and a shuffle without the answer and the model.

    Raises:
        click.UsageError: naming what is missing.
    """
    given = [name for name, value in (("--id", key), ("--model", model), ("--sample", sample)) if value is not None]
    if given and shuffle is None:
        raise click.UsageError(f"{given[0]} requires --shuffle; without it, the order does not depend on it")
    if shuffle is not None and (key is None or model is None):
        raise click.UsageError("--shuffle requires --id and --model: the order depends on the answer and the model")


def _read_id(text: str) -> str | int:
    """Return an id as answers have it: JSON of a string or an integer, or else the text itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if type(value) in {str, int} else text


@click.command(
    cls=Command,
    short_help="Print the JSON Schema of judge outputs for RUBRIC.",
    examples={
        "rubric-score schema examples/summary.rubric.yaml": "Print the schema",
        "rubric-score schema examples/legacy.yaml --rubric status-codes": "Choose a rubric of a suite",
    },
    exits=_EXITS,
)
@rubric_argument
@NAME
@with_settings
def schema(*, file: str, name: str | None, settings: SettingsOptions) -> int:
    """Print the JSON Schema of judge outputs for RUBRIC, for structured-output APIs in strict mode."""
    from rubric_lint.judge.prompt import output_schema  # noqa: PLC0415

    rubric = choose_rubric(load(file, settings), name)
    click.echo(visible_json(json.dumps(output_schema(rubric), ensure_ascii=False, indent=2)))
    return Exit.CLEAN


def choose_rubric(rubrics: dict[str, ScoringRubric], name: str | None) -> ScoringRubric:
    """Return the rubric with a name, or the only one.

    Raises:
        click.UsageError: if no rubric has the name, or there are several and none is named.
    """
    if name is None and len(rubrics) == 1:
        return next(iter(rubrics.values()))
    if name is None:
        raise click.UsageError(f"the file has {len(rubrics)} rubrics; name one with --rubric: {', '.join(rubrics)}")
    if name not in rubrics:
        from rubric_lint.messages import point_to_known  # noqa: PLC0415

        raise click.UsageError(f"no rubric is named `{name}`; {point_to_known(name, rubrics)}")
    return rubrics[name]


_BODY = ("response_format", "temperature", "seed", "max_tokens", "extra_body")


def print_requests(answers: str, rubrics: Mapping[str, ScoringRubric], asking: dict[str, Any]) -> Exit:
    """Print one line for each request; `asking` has the values of the options. Return the exit code.

    Raises:
        click.UsageError: if the order of the criteria depends on a model that is not named.
    """
    from rubric_lint.judge.answers import AnswersError  # noqa: PLC0415  (they load the scorer)
    from rubric_lint.judge.asking import Plan, list_requests  # noqa: PLC0415
    from rubric_lint.judge.call import Call  # noqa: PLC0415
    from rubric_lint.judge.journal import encode  # noqa: PLC0415

    fields = read_fields(asking)
    check_call(asking)
    model, sample = asking["model"], asking["sample"] or 1
    if asking["shuffle"] is not None and model is None:
        raise click.UsageError("--shuffle requires --model: the order depends on the answer and the model")
    if asking["sample"] is not None and asking["shuffle"] is None:
        raise click.UsageError("--sample requires --shuffle; without it, the order does not depend on it")
    body_settings: dict[str, Any] = {name: asking[name] for name in _BODY}
    call = Call(model or "", **body_settings)
    plan = Plan(samples=sample, per_criterion=asking["per_criterion"], shuffle=asking["shuffle"])
    out = sys.stdout.buffer
    with hold(answers) as stream:
        source = AnswersFile(stream, rubrics, fields)
        try:
            source.check()
        except AnswersError as wrong:
            for fault in wrong.faults:
                complain(f"{'stdin' if answers == STDIN else answers}: {fault}")
            return Exit.USAGE
        for answer in source.read():
            named = {"id": answer.record["id"], "rubric": answer.rubric.name}
            for request in list_requests(answer, [call], plan):
                if request.place.sample == sample:
                    body = {name: value for name, value in request.body.items() if name != "model" or model}
                    out.write(encode({**named, "custom_id": request.name, **body}) + b"\n")
    out.flush()
    return Exit.CLEAN
