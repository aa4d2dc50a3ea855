"""Options that bring `rubric-lint` into a repository full of old faults."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import click

from rubric_lint.sieve import Sieve

Command = TypeVar("Command", bound=Callable[..., Any])


class Adoption(NamedTuple):
    """What the options ask for."""

    diff_base: str | None

    def check(self, paths: tuple[str, ...]) -> None:
        """See to it that the options do not contradict each other.

        Raises:
            click.UsageError: when they do.
        """
        if self.diff_base is not None and "-" in paths:
            raise click.UsageError("--diff-base compares files, and standard input is none")

    def sieves(self) -> list[Sieve]:
        """What is to be left out of the findings.

        Raises:
            click.UsageError: where Git cannot say what has changed.
        """
        return [] if self.diff_base is None else [_sift_changes(self.diff_base)]


_OPTIONS = (
    click.option(
        "--diff-base",
        metavar="REV",
        help="Report only what touches lines changed since the current branch left the Git revision REV, committed or "
        "not. Files that Git does not know are new as a whole.",
    ),
)


def with_adoption(command: Command) -> Command:
    """The options, as one argument `adoption`."""

    @wraps(command)
    def call(**arguments: Any) -> Any:
        asked = {name: arguments.pop(name) for name in Adoption._fields}
        return command(**arguments, adoption=Adoption(**asked))

    for option in reversed(_OPTIONS):
        call = option(call)
    return call  # type: ignore[return-value]


def _sift_changes(revision: str) -> Sieve:
    from rubric_lint.sieve.changed import Changed  # noqa: PLC0415  (few runs compare)
    from rubric_lint.sieve.git import GitError, read_changes  # noqa: PLC0415

    try:
        return Changed(read_changes(revision))
    except GitError as fault:
        raise click.UsageError(f"--diff-base: {fault}") from None
