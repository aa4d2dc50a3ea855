"""The commands that a text suggests."""

import re

_INLINE = re.compile(r"`(rubric-(?:lint|fix|score|test)(?: [^`]*)?)`")
_OWN_LINE = re.compile(r"^(?:.*?: +| *)(rubric-(?:lint|fix|score|test) \S.*)$", re.MULTILINE)


def list_commands(text):
    """The commands that a text prints in backticks or at the end of a line, in their order, each once."""
    found = [(match.start(1), match[1]) for pattern in (_INLINE, _OWN_LINE) for match in pattern.finditer(text)]
    return list(dict.fromkeys(command for _, command in sorted(found)))
