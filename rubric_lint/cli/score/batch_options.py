"""Define the options of `rubric-score judge` that write and read the files of batch APIs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from rubric_lint.cli.help import option
from rubric_lint.cli.options import FileName, choice

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")

_NAMES = ("batch_requests", "batch_results", "batch_format", "batch_size")


class Batch(NamedTuple):
    """What to do instead of sending requests: write them to a file, read the results of some, or both."""

    requests: Path | None
    results: tuple[str, ...]
    form: str
    size: int | None


def batch_options(function: Function) -> Function:
    """Add the options of batches; `read_batch` reads them."""
    options = [
        option(
            "Batch",
            "--batch-requests",
            metavar="FILE",
            type=FileName(),
            help="Write the requests to FILE for a batch API instead of sending them.",
        ),
        option(
            "Batch",
            "--batch-results",
            metavar="FILE",
            type=FileName(),
            multiple=True,
            help="Read replies from the results of a batch. Can be repeated.",
        ),
        option(
            "Batch",
            "--batch-format",
            metavar="FORMAT",
            **choice("openai", "anthropic"),
            help="The provider's format.",
        ),
        option(
            "Batch",
            "--batch-size",
            type=click.IntRange(1),
            help="Most requests in one file.  [default: the provider's limit]",
        ),
    ]
    for add in reversed(options):
        function = add(function)
    return function


def read_batch(asking: dict[str, Any]) -> Batch | None:
    """Take the values of these options out of those of all options; None if requests are to be sent.

    Raises:
        click.UsageError: if an option has no effect.
    """
    requests, results, form, size = (asking.pop(name) for name in _NAMES)
    if requests is None and not results:
        if form != "openai" or size is not None:
            given = "--batch-size" if size is not None else "--batch-format"
            raise click.UsageError(f"{given} requires --batch-requests or --batch-results")
        return None
    if size is not None and requests is None:
        raise click.UsageError("--batch-size requires --batch-requests")
    if requests == "-":
        raise click.UsageError("--batch-requests: -: does not mean stdout here; name a file")
    if form == "anthropic" and asking.get("base_url") is None:
        from rubric_lint.judge.batches import ANTHROPIC_URL  # noqa: PLC0415

        asking["base_url"] = ANTHROPIC_URL
    return Batch(None if requests is None else Path(requests), results, form, size)
