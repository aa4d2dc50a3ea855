"""`rubric-lint cache`: where the results of earlier runs are, and how to get rid of them."""

import click

from rubric_lint.cache import FOLDER, cache_folder, clear


@click.group(
    help=f"Show or clear the results that are kept from run to run. The environment variable {FOLDER} moves them."
)
def cache() -> None:
    """Nothing of its own: the commands do it all."""


@cache.command("dir")
def show_folder() -> None:
    """Print the folder."""
    click.echo(_require_folder())


@cache.command("clear")
def clear_all() -> None:
    """Take all results away, of every version and working folder."""
    folder = _require_folder()
    count = clear()
    click.echo(f"Removed {count} file{'' if count == 1 else 's'} from {folder}.")


def _require_folder() -> str:
    if folder := cache_folder():
        return folder
    raise click.UsageError(f"nothing is kept, as you have no home folder; set {FOLDER} to keep results")
