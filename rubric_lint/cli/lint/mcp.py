"""Define `rubric-lint mcp`, which starts the Model Context Protocol server for coding agents."""

import os
import sys

import click

from rubric_lint.cli.exits import Exit, end_at_once
from rubric_lint.cli.help import Command, option
from rubric_lint.run.console import complain


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
