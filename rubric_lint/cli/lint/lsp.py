"""Define `rubric-lint lsp`, which starts the language server for editors."""

import signal
import sys

import click

from rubric_lint.cli.exits import Exit, end_at_once
from rubric_lint.cli.help import Command, option
from rubric_lint.run.console import complain


@click.command(
    cls=Command,
    examples={"rubric-lint lsp": "What an editor runs"},
    exits={
        Exit.CLEAN: "the editor asked the server to exit",
        Exit.FOUND: "the editor disconnected",
        Exit.USAGE: "usage error, or pygls is not installed",
    },
)
@option("Input", "--stdio", is_flag=True, help="Communicate over stdin and stdout; always on, so you can omit it.")
def lsp(*, stdio: bool) -> int:  # noqa: ARG001 (some editors always pass it)
    """Start the language server, for use by editors."""
    try:
        import pygls.lsp.server  # noqa: F401, PLC0415  (a third of a second)
    except ImportError:
        complain("the language server needs the pygls package; install it with: pip install 'rubric-lint[lsp]'")
        return Exit.USAGE
    from rubric_lint.lsp.features import Server  # noqa: PLC0415

    end_at_once()
    if hasattr(signal, "SIGPIPE"):
        # Not as cat and grep do: a thread may still wake the event loop, through a pipe, while that is being closed.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if sys.stdin.isatty():
        complain("waiting for Language Server Protocol messages; this command is meant to be started by an editor")
    return Exit.CLEAN if Server().run() else Exit.FOUND
