"""The commands that a text suggests."""

import re

_COMMAND = r"rubric-(?:lint|fix|score|test)"
_INLINE = re.compile(rf"`({_COMMAND} [^`]+)`")
_OWN_LINE = re.compile(rf"^(?:Next: |To ask again: | +)({_COMMAND} .*)$", re.MULTILINE)


def list_inline(text):
    """The commands in backticks, without the ends of lines that prose has inside them."""
    return [" ".join(found.split()) for found in _INLINE.findall(text)]


def list_commands(text):
    """The commands that a program prints in backticks or on a line of their own, in their order, each once."""
    found = [(match.start(1), match[1]) for pattern in (_INLINE, _OWN_LINE) for match in pattern.finditer(text)]
    return list(dict.fromkeys(command for _, command in sorted(found)))
