"""Define `rubric-lint lsp`, which starts the language server for editors."""

import os
import signal
import sys

from rubric_lint.cli.commands import Exit, end_at_once
from rubric_lint.cli.options import Given, command
from rubric_lint.run.console import complain


@command(
    "",
    "stdio",
    examples={"rubric-lint lsp": "What an editor runs"},
    exits={
        Exit.CLEAN: "the editor asked the server to exit",
        Exit.FOUND: "the editor disconnected",
        Exit.USAGE: "usage error, or pygls is not installed",
    },
)
def lsp(_given: Given) -> int:
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


@command(
    "",
    "root",
    examples={
        "rubric-lint mcp": "What a coding agent runs in the folder of the project",
        "rubric-lint mcp --root examples": "Allow one folder and nothing else",
    },
    exits={Exit.CLEAN: "the agent disconnected", Exit.USAGE: "usage error, or the mcp package is not installed"},
)
def mcp(given: Given) -> int:
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
    allowed = Roots(given.roots or (".",))
    if given.roots:
        os.chdir(given.roots[0])
    end_at_once()
    serve(allowed)
    return Exit.CLEAN
