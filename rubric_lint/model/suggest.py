"""Build the commands that messages, reports and pages suggest, so that each runs as it is printed."""

import re
import shlex
from collections.abc import Sequence

from rubric_lint.model.messages import visible

Value = str | bool | Sequence[str] | None
"""The value of an option: None or False leaves it out, True is a flag, and several values repeat it."""

_STDIN = ("-", "<stdin>")


def suggest(command: str, *files: str, **options: Value) -> str:
    """Return a command line to copy, quoted for a shell: the command, its files, then its options in their order.

    A value that only the reader knows is given in capitals, such as MODEL. A name that cannot be shown becomes FILE.
    """
    words = ["rubric-lint", *command.split(), *map(name_file, files)]
    for name, value in options.items():
        option = f"--{name.rstrip('_').replace('_', '-')}"
        if value is True:
            words.append(option)
        elif isinstance(value, str):
            words += [option, value]
        else:
            for item in value or ():
                words += [option, item]
    return " ".join(shlex.quote(word) if visible(word) == word else "FILE" for word in words)


def name_file(file: str) -> str:
    """Return the name of a file as an argument that cannot be taken for an option."""
    if file in _STDIN:
        return "-"
    return f"./{file}" if file.startswith("-") else file


_COMMAND = re.compile("`rubric-lint [^`]*`")


def name_in(text: str, file: str) -> str:
    """Put a file into the commands of a text, in the place of FILE; stdin has no name, so its reader gives one."""
    name = _quote(file)
    return text if name == "-" else _swap(text, "FILE", name)


def unname_in(text: str, file: str) -> str:
    """Return a text with FILE in the place of the file in its commands, so that it is the same for all files."""
    return _swap(text, _quote(file), "FILE")


def _swap(text: str, old: str, new: str) -> str:
    return _COMMAND.sub(lambda found: found[0].replace(f" {old} ", f" {new} ").replace(f" {old}`", f" {new}`"), text)


def _quote(file: str) -> str:
    name = name_file(file)
    return shlex.quote(name) if visible(name) == name else "FILE"


EXTRAS = {
    "arrow": ("pyarrow", "pyarrow>=17"),
    "excel": ("openpyxl", "openpyxl>=3.1"),
    "judge": ("openai", "openai>=2"),
    "lsp": ("pygls", "pygls>=2"),
    "mcp": ("mcp", "mcp>=2.3"),
    "ray": ("ray", "ray[data]>=2.41"),
    "watch": ("watchfiles", "watchfiles>=1.0"),
}
"""The package that each extra brings, and how to ask pip for it."""


def format_need(extra: str) -> str:
    """Say which package is missing, and how to install it; no index needs to have rubric-lint itself."""
    package, requirement = EXTRAS[extra]
    return f"needs the {package} package; install it with: {shlex.join(['pip', 'install', requirement])}"
