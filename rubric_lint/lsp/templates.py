"""Keep JSON that names lines, and write it again where those lines have moved."""

import re
from typing import NamedTuple

_LINE = re.compile(r'(?<=[lL]ine": )\d+')  # no JSON string contains this, because its quotes are escaped


class Template(NamedTuple):
    """JSON of the protocol without its line numbers, and these."""

    text: str
    lines: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "Template":
        """Take the line numbers out of JSON."""
        return cls(_LINE.sub("%d", text.replace("%", "%%")), tuple(map(int, _LINE.findall(text))))

    def write(self, more: int) -> str:
        """Return the JSON with `more` added to each line."""
        return self.text % (tuple(line + more for line in self.lines) if more else self.lines)
