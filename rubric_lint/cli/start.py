"""Start the programs. Ctrl+C ends them with one line even while Python still loads their modules."""

from rubric_lint.cli import end_on_interrupt

TYPE_CHECKING = False  # not from `typing`, which loads many modules
if TYPE_CHECKING:
    from typing import NoReturn


def _start(program: str) -> "NoReturn":
    end_on_interrupt()
    from importlib import import_module

    cli = import_module(f"rubric_lint.cli.{program}.{program}").cli
    import_module("rubric_lint.cli.commands").launch(cli, f"rubric-{program}")
    raise AssertionError  # `launch` ends the process


def lint() -> "NoReturn":
    """Run `rubric-lint`."""
    _start("lint")


def fix() -> "NoReturn":
    """Run `rubric-fix`."""
    _start("fix")


def score() -> "NoReturn":
    """Run `rubric-score`."""
    _start("score")


def test() -> "NoReturn":
    """Run `rubric-test`."""
    _start("test")
