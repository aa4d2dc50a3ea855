"""Define `rubric-lint lsp`, which starts the language server for editors."""

import os
import signal
import sys

import click

from rubric_lint.cli.commands import Command, Exit, end_at_once, option
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


@click.command(
    cls=Command,
    examples={
        "rubric-lint mcp": "What a coding agent runs in the folder of the project",
        "rubric-lint mcp --root examples": "Allow one folder and nothing else",
    },
    exits={Exit.CLEAN: "the agent disconnected", Exit.USAGE: "usage error, or the mcp package is not installed"},
)
@option(
    "Input",
    "--root",
    "roots",
    metavar="DIR",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Let the tools read and write in this folder; repeatable.  [default: the current folder]",
)
def mcp(*, roots: tuple[str, ...]) -> int:
    """Start the MCP server over stdin and stdout, for use by coding agents.

    Relative paths start at the first --root. Paths and symlinks that leave all roots are refused.
    """
    try:
        import mcp.server.stdio  # noqa: F401, PLC0415  (a second)
    except ImportError:
        complain("the MCP server needs the mcp package, version 2; install it with: pip install 'rubric-lint[mcp]'")
        return Exit.USAGE
    from rubric_lint.mcp.roots import Roots  # noqa: PLC0415
    from rubric_lint.mcp.server import serve  # noqa: PLC0415

    if sys.stdin.isatty():
        complain("waiting for Model Context Protocol messages; this command is meant to be started by a coding agent")
    allowed = Roots(roots or (".",))
    if roots:
        os.chdir(roots[0])
    end_at_once()
    serve(allowed)
    return Exit.CLEAN
