"""Define what prints a rubric for other programs: `prompt`, and `schema` of a judge's outputs."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import READ_NOW, command, open_output, require_rubric
from rubric_lint.cli.output import choose_by_ending, refuse_same_file
from rubric_lint.cli.score.judge_options import AnswersFile, check_call, hold, read_models
from rubric_lint.cli.score.options import check_answer_fields, load
from rubric_lint.lint.project.opening import LIMIT, open_input
from rubric_lint.model.messages import visible, visible_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rubric_lint.scoring.grading import ScoringRubric


_STDIN_READ_BY = f"{__name__}.stdin"


def read_text(value: str) -> str:
    """Return the value, or for `@FILE` the text of the file (`@-`: of stdin)."""
    if not value.startswith("@"):
        return value
    if value == "@-":
        if sys.stdin is None:
            raise click.BadParameter("stdin is closed")
        meta = click.get_current_context().meta
        first = meta.setdefault(_STDIN_READ_BY, meta[READ_NOW])
        if first is not meta[READ_NOW]:
            raise click.BadParameter(f"{first.opts[0]} already reads stdin")
    try:
        with open_input(value[1:]) as stream:
            data = stream.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise click.BadParameter(f"{value[1:]}: is larger than the limit of {LIMIT / 1e6:.0f} MB")
        return data.decode().replace("\r\n", "\n").replace("\r", "\n")
    except OSError as fault:
        raise click.BadParameter(f"{value[1:]}: {fault.strerror}") from None
    except UnicodeDecodeError as fault:
        raise click.BadParameter(f"{value[1:]}: is not UTF-8 at byte {fault.start + 1}") from None


def read_model(value: str) -> str:
    """Return the name of a model, given as for `judge`: its endpoint does not matter here."""
    return read_models((value,))[0].name


_CALL = "rubric-lint prompt examples/summary.rubric.yaml"
_EXITS = {Exit.USAGE: "usage error, or a file that cannot be read or has errors"}


@command(
    "rubric",
    "rubric answer answers question reference per-criterion format:prompt output:prompt map:answers"
    " | shuffle id model:order sample:order seed max-tokens extra-body temperature response-format config isolated",
    examples={
        f'{_CALL} --answer "A tower in Paris."': "Print the prompt for one answer",
        f'{_CALL} --answer "A tower." --format messages': "Print chat messages for a model API",
        f'{_CALL} --answer "A tower." --per-criterion': "Print one prompt for each criterion",
        f"{_CALL} --answers answers.jsonl --model qwen3": "Print a request for each answer of a file",
    },
    exits=_EXITS,
    clashes="""
        --answers excludes --answer --question --reference --id; each answer of the file has its own
        --id needs --shuffle; without it, the order does not depend on it
        --sample needs --shuffle; without it, the order does not depend on it
    """,
)
def prompt(given: Given) -> int:
    """Print the judge prompt for one answer by RUBRIC, or the requests for all answers of a file.

    TEXT can be @FILE to read a file, or @- to read stdin. With --per-criterion, chat messages are a list for each
    request. --answers reads a file as `judge` does and prints JSON Lines: for each request its `custom_id`, the `id` of
    the answer, and the body that `judge` would send.
    """
    endings = {".txt": "text", ".json": "messages"} if given.answers is None else {".jsonl": "text"}
    given.form = given.form or choose_by_ending(given.output, endings, "text")
    if given.output is None:
        return _print(given)
    for name in filter(None, (given.rubric, given.answers)):
        refuse_same_file(name, given.output)
    with open_output(given.output, "--output") as stream, redirect_stdout(stream):
        return _print(given)


def _print(given: Given) -> int:
    from rubric_lint.judge.prompt import JudgedCase, as_text, divide_criteria, order_criteria, write_prompt

    check_answer_fields(given)
    if given.answers is not None:
        rubrics = load(given.rubric, given)
        chosen = {given.name: choose_rubric(rubrics, given.name)} if given.name else rubrics
        return print_requests(given, chosen)
    if given.answer is None:
        raise click.UsageError("--answer or --answers is missing")
    if given.model and given.shuffle is None:
        raise click.UsageError("--model requires --shuffle; without it, the order does not depend on it")
    if given.shuffle is not None and (given.key is None or given.model is None):
        raise click.UsageError("--shuffle requires --id and --model: the order depends on the answer and the model")
    rubric = choose_rubric(load(given.rubric, given), given.name)
    order: Sequence[str] = [criterion.id for criterion in rubric.criteria]
    if given.shuffle is not None:
        key = json.dumps(_read_id(given.key))
        order = order_criteria(rubric, given.shuffle, key, given.model, given.sample or 1)
    parts = divide_criteria(rubric, order, per_criterion=given.per_criterion)
    question = rubric.question if given.question is None else given.question
    case = JudgedCase(given.answer, question, given.reference)
    prompts = [write_prompt(part, case) for part in parts]
    if given.form == "messages":
        requests = [[message._asdict() for message in messages] for messages in prompts]
        shown = requests if given.per_criterion else requests[0]
        click.echo(visible_json(json.dumps(shown, ensure_ascii=False, indent=2)))
    else:
        for number, (part, messages) in enumerate(zip(parts, prompts, strict=True), start=1):
            if given.per_criterion:
                title = f"==== Request {number} of {len(parts)}: {visible(part.criteria[0].id)} ===="
                if number > 1:
                    click.echo()
                click.echo(title)
            click.echo(as_text(messages))
    return Exit.CLEAN


def _read_id(text: str) -> str | int:
    """Return an id as answers have it: JSON of a string or an integer, or else the text itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # Not `isinstance`: `true` is no id, and an int in Python.
    return value if type(value) in {str, int} else text


@command(
    "rubric",
    "rubric | config isolated",
    short="Print the JSON Schema of judge outputs for RUBRIC.",
    examples={
        "rubric-lint schema outputs examples/summary.rubric.yaml": "Print the schema",
        "rubric-lint schema outputs examples/legacy.yaml --rubric status-codes": "Choose a rubric of a suite",
    },
    exits=_EXITS,
)
def schema(given: Given) -> int:
    """Print the JSON Schema of judge outputs for RUBRIC, for structured-output APIs in strict mode."""
    from rubric_lint.judge.prompt import output_schema

    rubric = choose_rubric(load(given.rubric, given), given.name)
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
    require_rubric(name, rubrics)
    return rubrics[name]


_BODY = ("response_format", "temperature", "seed", "max_tokens", "extra_body")


def print_requests(given: Given, rubrics: Mapping[str, ScoringRubric]) -> Exit:
    """Print one line for each request and return the exit code.

    Raises:
        click.UsageError: if the order of the criteria depends on a model that is not named.
    """
    from rubric_lint.judge.asking import JudgeOptions, list_requests
    from rubric_lint.judge.call import Call
    from rubric_lint.judge.journal import encode

    check_call(vars(given))
    answers, model, sample = given.answers, given.model, given.sample or 1
    if given.shuffle is not None and model is None:
        raise click.UsageError("--shuffle requires --model: the order depends on the answer and the model")
    body_settings: dict[str, Any] = {name: getattr(given, name) for name in _BODY if getattr(given, name) is not None}
    call = Call(model or "", **body_settings)
    plan = JudgeOptions(samples=sample, per_criterion=given.per_criterion, shuffle=given.shuffle)
    out = sys.stdout.buffer
    with hold(answers) as stream:
        source = AnswersFile(stream, rubrics, given.mapping, given.answers)
        source.check()
        for answer in source.read():
            named = {"id": answer.record["id"], "rubric": answer.rubric.name}
            for request in list_requests(answer, [call], plan):
                if request.place.sample == sample:
                    body = {name: value for name, value in request.body.items() if name != "model" or model}
                    out.write(encode({**named, "custom_id": request.name, **body}) + b"\n")
    out.flush()
    return Exit.CLEAN
