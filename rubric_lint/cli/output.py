"""Write the report to stdout, or to a file that is replaced only when the report is complete."""

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import open_output
from rubric_lint.lint.project.paths import find_ending, follow_links, is_same
from rubric_lint.lint.run.console import Progress
from rubric_lint.model.finding import Result
from rubric_lint.model.messages import UserError, join_words
from rubric_lint.report import Style, Write

if TYPE_CHECKING:
    from rubric_lint.lint.project.files import File, Unreadable
    from rubric_lint.lint.run.batch import FileOutcome
    from rubric_lint.lint.run.linting import Lint

SHARED_SKILLS = ".agents/skills"
"""The folder of a project in which agents look for skills, as https://agentskills.io recommends.

Their documentation says so: developers.openai.com/codex/skills, cursor.com/docs/skills, opencode.ai/docs/skills,
geminicli.com/docs/cli/using-agent-skills, block.github.io/goose, docs.augmentcode.com/cli/skills. Only Claude Code has
a folder of its own: code.claude.com/docs/en/skills.
"""


class Agent(NamedTuple):
    """A coding agent: its name, the variables that only its commands see, where it says so, and its skills folder."""

    name: str
    variables: tuple[str, ...]
    source: str
    skills: str = SHARED_SKILLS


AGENTS = (
    Agent("any", ("AI_AGENT",), "https://github.com/vercel/vercel/tree/main/packages/detect-agent"),
    Agent("any", ("AGENT",), "https://github.com/agentsmd/agents.md/issues/136"),
    Agent("claude", ("CLAUDECODE",), "https://code.claude.com/docs/en/env-vars", ".claude/skills"),
    Agent(
        "codex",
        ("CODEX_CI", "CODEX_SANDBOX", "CODEX_THREAD_ID"),
        "https://developers.openai.com/codex/environment-variables; https://github.com/openai/codex/pull/9366",
    ),
    Agent("copilot", ("COPILOT_AGENT",), "https://github.com/microsoft/vscode/pull/316267"),
    Agent("copilot", ("COPILOT_CLI",), "https://github.com/dynatrace-oss/dtctl/pull/289, which looked"),
    Agent("cursor", ("CURSOR_AGENT",), "https://github.com/databricks/cli/pull/4287"),
    Agent("gemini", ("GEMINI_CLI",), "https://github.com/google-gemini/gemini-cli/pull/21032"),
    Agent("opencode", ("OPENCODE",), "https://github.com/vercel/vercel/pull/15834"),
    Agent("goose", ("GOOSE_TERMINAL",), "https://github.com/aaif-goose/goose/pull/4205"),
    Agent("amp", ("AMP_CURRENT_THREAD_ID",), "https://github.com/microsoft/vscode/issues/311734"),
    Agent("antigravity", ("ANTIGRAVITY_AGENT",), "https://www.npmjs.com/package/@vercel/detect-agent 1.2.7"),
    Agent("auggie", ("AUGMENT_AGENT",), "https://www.npmjs.com/package/std-env 4.3.0"),
)
"""The agents. Left out: `CURSOR_TRACE_ID` and `REPL_ID`, which terminals of people have too."""

CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID")
"""The variables of CI systems; the last four belong to those that do not set `CI`."""

_OFF = frozenset({"", "0", "false", "no", "off"})


def find_agent(environment: Mapping[str, str]) -> Agent | None:
    """Return the coding agent that runs this command, the one that names itself before `any`; None in CI."""
    if _is_any_set(CI, environment):
        return None
    found = [agent for agent in AGENTS if _is_any_set(agent.variables, environment)]
    return max(found, key=lambda agent: agent.name != "any", default=None)


def _is_any_set(names: Iterable[str], environment: Mapping[str, str]) -> bool:
    return any(environment.get(name, "").lower() not in _OFF for name in names)


_COLUMNS = 120
"""The width of output that does not go to a terminal, fixed so that reports can be compared."""


def wants_color(choice: str) -> bool:
    """Return whether to use color: `always`, `never`, or `auto`, which depends on the environment and the terminal.

    NO_COLOR (no-color.org) outweighs FORCE_COLOR (force-color.org; 0 and false turn colors off, as in Node.js), which
    outweighs CLICOLOR_FORCE and CLICOLOR (bixense.com/clicolors). An empty variable counts as unset.
    """
    if choice != "auto":
        return choice == "always"
    variable = os.environ.get
    if variable("NO_COLOR"):
        return False
    force = variable("FORCE_COLOR")
    if force:
        return force.lower() not in {"0", "false"}
    if variable("CLICOLOR_FORCE", "0") not in {"", "0"}:
        return True
    return sys.stdout.isatty() and variable("TERM") != "dumb" and variable("CLICOLOR") != "0"


def make_style(color: str = "auto", *, quiet: bool = False, is_file: bool = False) -> Style:
    """Return the look of a report on stdout or, with `is_file`, in a file."""
    if is_file:
        return Style(color == "always", quiet)
    return Style(wants_color(color), quiet, columns(), wraps=sys.stdout.isatty())


def columns() -> int:
    """Return the width of a row in terminal cells."""
    if not sys.stdout.isatty():
        return _COLUMNS
    import shutil

    return shutil.get_terminal_size().columns


def escape_what_cannot_be_encoded() -> None:
    """Make stdout escape characters that its encoding lacks, instead of raising an error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


_ENDINGS = {".json": "json", ".sarif": "sarif", ".xml": "junit", ".txt": "full"}
"""The formats that the ending of a file's name asks for."""


def choose_by_ending(
    name: str | None,
    endings: Mapping[str, str],
    default: str = "",
    *,
    option: str = "--output",
    advice: str = ", or name the format",
) -> str:
    """Return the kind of file that the ending of a name asks for, or the default without an ending.

    Raises:
        click.UsageError: when no kind has this ending, or the name has none and there is no default. It names the
            endings that there are, and ends with the advice.
    """
    folded = (name or "").lower()
    for known, kind in endings.items():
        if folded.endswith(known):
            return kind
    ending = find_ending(folded)
    if default and not ending:
        return default
    found = f"unknown ending {ending}" if ending else "it has no ending"
    single = [known for known in endings if known.count(".") == 1]
    raise click.UsageError(f"{option}: {name}: {found}; expected {join_words(single, 'or')}{advice}")


JSON_LINES = {".jsonl": "jsonl", ".ndjson": "jsonl"}
YAML = {".yaml": "yaml", ".yml": "yaml"}
"""The endings of files of which there is one kind."""

_OF_PAGE = {".html": "html", ".htm": "html"}


def read_page(value: str) -> str:
    """Return the file of an HTML report; raise click.UsageError if its name has the ending of something else."""
    choose_by_ending(value, _OF_PAGE, "html", option="--report", advice="")
    return value


def choose_format(requested: str | None, output_file: str | None) -> str:
    """Return the requested format, or the default for where the report goes."""
    if requested is not None:
        return requested
    if output_file is not None:
        return choose_by_ending(output_file, _ENDINGS, "full")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        return "github"
    return "agent" if find_agent(os.environ) and not sys.stdout.isatty() else "full"


@contextmanager
def open_report(name: str | None, progress: Progress, look: Style) -> Iterator[Write]:
    """Yield a function that writes the report; replace the file `name` at the end unless an error is raised.

    Raises:
        click.UsageError: when the file cannot be written.
    """
    if name is not None:
        with open_output(name, "--output") as stream:
            yield stream.write
        return

    def write(text: str) -> None:
        progress.clear()
        click.echo(text, nl=False, color=look.color)

    yield write


def protect_rubrics(name: str | None, lint: "Lint") -> "Lint":
    """Wrap `lint` so that the report never replaces a file `name` that contains rubrics.

    The returned function raises click.UsageError when it does.
    """
    if name is None:
        return lint
    from rubric_lint.lint.project.files import File

    real = follow_links(name)

    def lint_all(files: "Iterable[File | Unreadable]") -> "Iterator[tuple[File | Unreadable, FileOutcome]]":
        for file, outcome in lint(files):
            # The search may find an earlier JSON report, which contains no rubrics.
            is_ours = isinstance(outcome, Result) and bool(outcome.rubrics or outcome.findings)
            if is_ours and isinstance(file, File) and follow_links(file.name) == real:
                raise click.UsageError(f"--output: {name} contains rubrics and would be overwritten; name another file")
            yield file, outcome

    return lint_all


def refuse_same_file(file: str, output: str | None) -> None:
    """Check that --output is not the input file; raise click.UsageError if it is."""
    if output and "-" not in {output, file} and is_same(output, file):
        raise click.UsageError("--output is the input file; name another file, or use `fix`")


def has_content(file: Path, data: bytes) -> bool:
    """Return whether a small file has this content; what cannot be read, or is not a regular file, does not."""
    from rubric_lint.lint.project.opening import SMALL_LIMIT, read_file

    with suppress(OSError):
        return read_file(file, SMALL_LIMIT) == data
    return False


def write_result(data: bytes, output: str | None) -> int:
    """Write `data` to the file `output`, or to stdout if it is None or `-`, and return the exit code.

    Raises:
        UserError: if the file cannot be written.
    """
    if output in {None, "-"}:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return Exit.CLEAN
    from rubric_lint.lint.project.writing import WriteError, write_file

    try:
        write_file(Path(output), data)
    except WriteError as fault:
        raise UserError(f"{output}: {fault}") from None
    return Exit.CLEAN
