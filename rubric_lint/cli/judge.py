"""`rubric-score judge`: has a model judge answers, and keeps what it returned where a stopped run goes on."""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import urlsplit

import click

from rubric_lint.capped import open_stream
from rubric_lint.cli.exits import Exit
from rubric_lint.cli.rubrics import extract_option, require, rubric_argument, with_settings
from rubric_lint.console import complain
from rubric_lint.progress import Progress
from rubric_lint.report.visible import visible
from rubric_lint.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rubric_lint.ask.run import Earlier

_KEY = "OPENAI_API_KEY"
_BASE_URL = "OPENAI_BASE_URL"
_PLACEHOLDER = "none"
"""What is sent as the key to an endpoint that was named without one, such as a model server on one's own machine."""

_STDIN = "-"


class _Finite(click.FloatRange):
    """A range of numbers, of which `nan` is none: it compares with no bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is no finite number", param, ctx)


def _check_url(_ctx: click.Context, _param: click.Parameter, url: str | None) -> str | None:
    """A URL that requests can go to; what is wrong with another one is not said in its words, which may hold a key."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        is_sound = False
    if not is_sound:
        raise click.UsageError("--base-url is no URL of the form http://HOST:PORT/PATH or https://HOST/PATH")
    return url


def _require_text(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """A text that says something: a variable of the shell that is not set leaves an empty one."""
    if not value.strip():
        raise click.BadParameter("is blank", ctx, param)
    return value


@click.command()
@rubric_argument
@with_settings
@click.argument("answers", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--model", required=True, callback=_require_text, help="The model that judges.")
@click.option(
    "--base-url",
    metavar="URL",
    envvar=_BASE_URL,
    show_envvar=True,
    callback=_check_url,
    help="The endpoint; default: OpenAI's.",
)
@click.option("--api-key-env", metavar="NAME", help=f"The environment variable that holds the key; default: {_KEY}.")
@click.option("--samples", type=click.IntRange(1, 99), default=1, show_default=True, help="Outputs for each answer.")
@click.option("--concurrency", type=click.IntRange(1, 1000), default=8, show_default=True, help="Requests at a time.")
@click.option(
    "--rpm", type=_Finite(0, min_open=True), metavar="N", help="At most N requests a minute.  [default: no limit]"
)
@click.option(
    "--timeout",
    type=_Finite(0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="For one request.",
)
@click.option("--retries", type=click.IntRange(0, 100), default=5, show_default=True, help="After a failed request.")
@click.option(
    "--max-attempts", type=click.IntRange(1, 10), default=3, show_default=True, help="Until an output is valid."
)
@click.option("--temperature", type=_Finite(0, 2), help="Default: the endpoint's own.")
@click.option(
    "--response-format",
    type=click.Choice(["json_schema", "json_object", "text"]),
    default="json_schema",
    show_default=True,
    help="How the endpoint is asked for JSON.",
)
@extract_option
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The results file; required with -. A second run resumes it.  [default: ANSWERS, named .judged.jsonl]",
)
def judge(
    *,
    file: str,
    config: str | None,
    isolated: bool,
    answers: str,
    model: str,
    base_url: str | None,
    api_key_env: str | None,
    samples: int,
    concurrency: int,
    rpm: float | None,
    timeout: float,
    retries: int,
    max_attempts: int,
    temperature: float | None,
    response_format: str,
    extract: str,
    output: Path | None,
) -> int:
    """Have a model judge ANSWERS by RUBRIC; `rubric-score RUBRIC FILE` then scores the results.

    ANSWERS are JSON Lines or JSON: {"id", "answer", "question"?, "reference"?, "rubric"?}; - is standard input. All of
    them are read and checked before the first request.
    """
    from rubric_lint.ask.answers import AnswersError, check_answers, read_answers  # noqa: PLC0415
    from rubric_lint.ask.endpoint import Call, Endpoint  # noqa: PLC0415
    from rubric_lint.ask.journal import Journal, JournalError  # noqa: PLC0415
    from rubric_lint.ask.pace import Pace  # noqa: PLC0415
    from rubric_lint.ask.run import Plan, StaleError, check_journal  # noqa: PLC0415
    from rubric_lint.cli.judging import run_judge  # noqa: PLC0415
    from rubric_lint.cli.options import require_file_name  # noqa: PLC0415
    from rubric_lint.scoring.candidates import Extract  # noqa: PLC0415

    key = _find_key(api_key_env, base_url)
    rubrics = require(file, config=config, isolated=isolated)
    call = Call(model, base_url, timeout, retries, response_format, temperature)
    plan = Plan(samples, max_attempts, concurrency, Extract(extract))
    require_file_name(str(output), "--output")
    output = output or _name_results(answers)
    if answers != _STDIN and output.resolve() == Path(answers).resolve():
        raise click.UsageError("--output names the file of answers; results go into a file of their own")
    with ExitStack() as opened:
        reading = Progress(sys.stderr, "reading", "MB")
        try:
            source = opened.enter_context(_hold(answers))
            # A results file of earlier runs is compared with the answers, which are read once more for that.
            reading.whole = os.fstat(source.fileno()).st_size * (2 if output.exists() else 1)
            total = check_answers(_read_from_start(source, reading), rubrics)
            endpoint = Endpoint(call, key, Pace(rpm))
            journal = opened.enter_context(Journal(output))
            earlier = check_journal(read_answers(_read_from_start(source, reading), rubrics), journal, call, plan)
        except AnswersError as wrong:
            reading.clear()
            for fault in wrong.faults:
                complain(f"{'standard input' if answers == _STDIN else answers}: {fault}")
            return Exit.USAGE
        except ImportError:
            complain("judging needs the openai package; install it with: pip install 'rubric-lint[judge]'")
            return Exit.USAGE
        except (JournalError, StaleError) as wrong:
            reading.clear()
            complain(f"{output}: {wrong}")
            return Exit.USAGE
        except KeyboardInterrupt:
            reading.clear()
            complain("interrupted before anything was asked")
            raise click.Abort from None
        reading.clear()
        _report_earlier(earlier, output, total)
        left = total - earlier.judged
        code = run_judge(endpoint, journal, read_answers(_read_from_start(source), rubrics), left, plan)
        return Exit.FOUND if code == Exit.CLEAN and earlier.invalid else code


def _report_earlier(earlier: Earlier, output: Path, total: int) -> None:
    """Say on standard error what is not asked again, and what else the results file holds."""
    if earlier.judged:
        click.echo(f"{visible(str(output))} holds {earlier.judged} of {total} answers; judging the others", err=True)
    if earlier.invalid:
        complain(
            f"{output}: {earlier.invalid} of these {'has' if earlier.invalid == 1 else 'have'} an invalid output and "
            "will not be asked again, unless the lines that say `fault` are taken out of the file"
        )
    if others := earlier.others:
        ids = join_words([*others[:3], f"{len(others) - 3} more"] if len(others) > 4 else others)
        complain(f"{output}: also holds results of answers that were not given now, and keeps them: {ids}")


def _name_results(answers: str) -> Path:
    if Path(answers).is_file():
        return Path(answers).with_suffix(".judged.jsonl")
    # Only a file has a name that the next run will find its results by.
    raise click.UsageError("the answers come from no file; name one for the results with --output")


@contextmanager
def _hold(answers: str) -> Iterator[BinaryIO]:
    """Yield the answers as a file that can be read several times; what comes through a pipe is copied into one.

    Raises:
        click.UsageError: when standard input is closed.
    """
    if answers == _STDIN and sys.stdin is None:
        raise click.UsageError("standard input is closed")
    with nullcontext(sys.stdin.buffer) if answers == _STDIN else open_stream(answers) as stream:
        if answers != _STDIN and stream.seekable():
            yield stream
            return
        with TemporaryFile() as kept:
            shutil.copyfileobj(stream, kept)
            yield kept


def _read_from_start(source: BinaryIO, progress: Progress | None = None) -> Iterator[bytes]:
    source.seek(0)
    for number, chunk in enumerate(iter(lambda: source.read(1 << 16), b""), 1):
        if progress:
            progress.done = (number << 16) // 1_000_000
            progress.advance(len(chunk))
        yield chunk


def _find_key(name: str | None, base_url: str | None) -> str:
    variable = name or _KEY
    key = os.environ.get(variable, "").strip()
    # Who gives the key itself for the name of a variable must not find it in a log.
    shown = variable if re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable) else "that --api-key-env names"
    if not key and (name or not base_url):
        raise click.UsageError(
            f"the environment variable {shown} holds no key; set it, name another variable with --api-key-env, or "
            "name an endpoint that wants no key with --base-url"
        )
    if not (key.isascii() and key.isprintable()):
        raise click.UsageError(f"the key in {shown} holds characters that no HTTP header can carry")
    return key or _PLACEHOLDER
