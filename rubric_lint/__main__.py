"""`python -m rubric_lint` is `rubric-lint`, for editors that know an interpreter and no path."""

from rubric_lint.cli.exits import launch
from rubric_lint.cli.lint import cli

launch(cli, "rubric-lint")
