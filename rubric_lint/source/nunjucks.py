"""Escape text for systems that render Nunjucks, such as promptfoo and AgentV 5."""

import re
from collections.abc import Callable
from typing import Any, Literal

from rubric_lint.source.path import find_strings
from rubric_lint.source.source import Edit, Span, splice

RENDERS = frozenset({"promptfoo", "agentv-a7"})
"""The dialects whose strings are templates."""

# Not `{% raw %}`: promptfoo fills in `{{ env.NAME }}` anywhere when it loads a file. The end of a comment without its
# beginning is an error.
_MARKS = re.compile(r"\{[{%#]|#\}")
_ESCAPED = re.compile(r'\{\{ "(\{[{%#]|#\})" \}\}')
_ENV_4 = re.compile(r"\$\{\{\s*(\w+)\s*\}\}")
_ENV_5 = re.compile(r"\{\{\s*env\.(\w+)\s*\}\}")

Marks = Literal["templates", "env", "all"]
"""What to replace: the marks of templates; `${{ NAME }}` of AgentV 4 with `{{ env.NAME }}`; or both."""

_PATTERNS: dict[Marks, re.Pattern[str]] = {
    "templates": _MARKS,
    "env": _ENV_4,
    "all": re.compile(f"{_ENV_4.pattern}|{_MARKS.pattern}"),
}


def escape(data: Any, *, has_escapes: bool = False, marks: Marks = "templates") -> Any:
    """Return data in which Nunjucks renders every string as it is in `data`; with `has_escapes`, its escapes stay."""

    def write(text: str) -> str:
        found = find_marks(text, has_escapes=has_escapes, marks=marks)
        return splice(text, [Edit(Span(at, at + len(mark)), replace_mark(mark)) for at, mark in found])

    return _change_strings(data, write)


def unescape(data: Any) -> Any:
    """Reverse `escape`."""
    return _change_strings(data, lambda text: _ESCAPED.sub(r"\1", text))


def _change_strings(data: Any, change: Callable[[str], str]) -> Any:
    match data:
        case str():
            return change(data)
        case list():
            return [_change_strings(item, change) for item in data]
        case dict():
            return {key: _change_strings(value, change) for key, value in data.items()}
    return data


def replace_mark(mark: str) -> str:
    """Escape one mark, as `escape` does."""
    found = _ENV_4.fullmatch(mark)
    return f"{{{{ env.{found[1]} }}}}" if found else f'{{{{ "{mark}" }}}}'


def name_variables(text: str) -> str:
    """Return a text in which the variables of the environment are written as in AgentV 4: `${{ NAME }}`."""
    return _ENV_5.sub(r"${{ \1 }}", _ENV_4.sub(r"${{ \1 }}", text))


def find_environment(text: str) -> set[str]:
    """Return the names in `${{ NAME }}`: of the environment in AgentV 4, variables after a dollar sign in AgentV 5."""
    return {found[1] for found in _ENV_4.finditer(text)}


def names_environment(text: str) -> bool:
    """Return whether a text has a variable of the environment as AgentV 5 writes it: `{{ env.NAME }}`."""
    return _ENV_5.search(text) is not None


def find_marks(text: str, *, has_escapes: bool = True, marks: Marks = "templates") -> list[tuple[int, str]]:
    """Return the places and texts of the marks that `escape` replaces; with `has_escapes`, not those of escapes."""
    blank = _ESCAPED.sub(lambda found: " " * len(found[0]), text) if has_escapes else text
    return [(found.start(), found[0]) for found in _PATTERNS[marks].finditer(blank)]


def is_template(data: Any) -> bool:
    """Return whether Nunjucks would change a string, or one in a list or mapping; escapes do not count."""
    return any(_MARKS.search(_ESCAPED.sub("", text)) for _, text in find_strings((), data))


_STRING = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
_TAG = re.compile(
    rf"""\{{%-?\s*(?P<verbatim>raw|verbatim)\s*-?%\}}.*?(?:\{{%-?\s*end(?P=verbatim)\s*-?%\}}|\Z)
    | \{{\#.*?\#\}}
    | \{{\{{-?(?P<value>(?:{_STRING}|(?!\}}\}})[^"'])*)\}}\}}
    | \{{%-?\s*(?P<name>\w*)(?P<rest>(?:{_STRING}|(?!%\}})[^"'])*)%\}}""",
    re.DOTALL | re.VERBOSE,
)
_NAME = re.compile(r"\s*([A-Za-z_]\w*)(?:\.\w+)*\s*-?\Z")
_ENDS = {
    "if": "endif",
    "ifAsync": "endif",
    "for": "endfor",
    "asyncEach": "endeach",
    "asyncAll": "endall",
    "switch": "endswitch",
    "set": "endset",
    **{name: f"end{name}" for name in ("macro", "call", "block", "filter")},
}
_WITHIN = {
    "else": ("if", "ifAsync", "for", "asyncEach", "asyncAll"),
    **dict.fromkeys(("elif", "elseif"), ("if", "ifAsync")),
    **dict.fromkeys(("case", "default"), ("switch",)),
}
_ALONE = frozenset({"include", "extends", "import", "from"})


def find_broken(text: str) -> str:
    """Return the first tag of a text at which Nunjucks fails: opened, closed or named wrongly; empty if there is none.

    Whether an expression in a tag makes sense is not checked.
    """
    pending: list[tuple[str, str]] = []
    start = 0
    for tag in _TAG.finditer(text):
        mark = _MARKS.search(text, start, tag.start())
        if mark:
            return mark[0]
        start = tag.end()
        value, name = tag["value"], tag["name"]
        if value is not None and not value.strip(" \t\r\n-"):
            return tag[0]
        if name is None or name in _ALONE or (name == "set" and "=" in tag["rest"]):
            continue
        if name in _ENDS:
            pending.append((name, tag[0]))
        elif pending and name == _ENDS[pending[-1][0]]:
            pending.pop()
        elif not (pending and pending[-1][0] in _WITHIN.get(name, ())):
            return tag[0]
    mark = _MARKS.search(text, start)
    if mark:
        return mark[0]
    return pending[-1][1] if pending else ""


def find_names(text: str) -> list[str]:
    """Return the names of the variables that a text asks for as they are, without filters, in `{{ name }}`.

    Empty if the text has tags such as `for` or `set`, which can give names a value.
    """
    tags = list(_TAG.finditer(text))
    values = [tag["value"] for tag in tags if tag["value"] is not None]
    if any(tag["name"] is not None for tag in tags):
        return []
    return [found[1] for found in map(_NAME.match, values) if found]
