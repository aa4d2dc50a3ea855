"""Define `rubric-lint cache`, which shows or clears the results of earlier runs."""

import click

from rubric_lint.cli.commands import Group
from rubric_lint.run.cache import FOLDER, cache_folder, clear


@click.group(
    cls=Group,
    help=f"Show or clear the cache of results from earlier runs. Set the environment variable {FOLDER} to move it.",
    short_help="Show or clear the cache of results from earlier runs.",
    examples={"rubric-lint cache dir": "Print the cache folder", "rubric-lint cache clear": "Delete all results"},
)
def cache() -> None:
    """Group the cache commands."""


@cache.command("dir", examples={"rubric-lint cache dir": "Print the cache folder"})
def show_folder() -> None:
    """Print the cache folder."""
    click.echo(_require_folder())


@cache.command("clear", examples={"rubric-lint cache clear": "Delete all results"})
def clear_all() -> None:
    """Delete all cached results, of every version and working folder, and the replies of judges."""
    folder = _require_folder()
    count = clear()
    click.echo(f"Removed {count} file{'' if count == 1 else 's'} from {folder}.")


def _require_folder() -> str:
    if folder := cache_folder():
        return folder
    raise click.UsageError(f"there is no cache because you have no home folder; set {FOLDER} to use one")
