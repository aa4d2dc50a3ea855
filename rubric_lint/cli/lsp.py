"""`rubric-lint lsp`: the language server, for editors to start."""

import sys

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.console import complain


@click.command()
@click.option("--stdio", is_flag=True, help="Talk over standard input and output; the only way, so it can be left out.")
def lsp(*, stdio: bool) -> int:  # noqa: ARG001 (some editors always pass it)
    """Start the language server, which editors talk to.

    It ends when the editor says so (exit code 0) or is gone (1).
    """
    try:
        import pygls.lsp.server  # noqa: F401, PLC0415  (a third of a second)
    except ImportError:
        complain("the language server needs the pygls package; install it with: pip install 'rubric-lint[lsp]'")
        return Exit.USAGE
    from rubric_lint.lsp.server import Server  # noqa: PLC0415

    if sys.stdin.isatty():
        complain("this is for editors to start; it waits for messages of the Language Server Protocol")
    return Exit.CLEAN if Server().run() else Exit.FOUND
