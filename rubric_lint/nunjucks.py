"""Texts that stay themselves where a system renders Nunjucks in them, as promptfoo and AgentV 5 do."""

import re
from typing import Any

RENDERS = frozenset({"promptfoo", "agentv-a7"})
"""The dialects whose texts are templates."""

# Not `{% raw %}`: promptfoo fills in `{{ env.NAME }}` when it loads a file, wherever that stands.
# An end of a comment without its beginning is an error.
_MARKS = re.compile(r"\{[{%#]|#\}")
_ESCAPED = re.compile(r'\{\{ "(\{[{%#]|#\})" \}\}')


def escape(data: Any) -> Any:
    """Return data in which Nunjucks renders every text as it is written here."""
    match data:
        case str():
            return _MARKS.sub(r'{{ "\g<0>" }}', data)
        case list():
            return [escape(item) for item in data]
        case dict():
            return {key: escape(value) for key, value in data.items()}
    return data


def unescape(text: str) -> str:
    """Return the text that `escape` was given."""
    return _ESCAPED.sub(r"\1", text)


def is_template(data: Any) -> bool:
    """Return whether Nunjucks makes something else of a text, or of one in a list or mapping; escapes are not meant."""
    match data:
        case str():
            return _MARKS.search(_ESCAPED.sub("", data)) is not None
        case list():
            return any(map(is_template, data))
        case dict():
            return any(map(is_template, data.values()))
    return False
