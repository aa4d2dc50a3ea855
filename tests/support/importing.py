"""Imports a file as `rubric-lint import` does, in this process."""

from pathlib import Path

import commands

HEAD = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v2.schema.json\nrubrics:\n"


def import_file(name, content, *options):
    """The exit code, the rubrics without the first lines of a rubric file, and what is said without the program's name.

    The content goes to a file in the current folder, or to stdin for `-`.
    """
    data = content if isinstance(content, bytes) else content.encode()
    if name != "-":
        Path(name).write_bytes(data)
    done = commands.run("rubric-lint", "import", name, *options, stdin=data)
    usage = "Error: " if done.stderr.startswith("Usage: ") else ""
    errors = done.stderr[done.stderr.find(usage) :].replace("rubric-lint: ", "")
    return done.returncode, done.stdout.removeprefix(HEAD), errors
