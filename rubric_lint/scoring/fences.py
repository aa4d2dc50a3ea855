"""What the label of a Markdown fence says about the object in it, and which fences of code name a score."""

import re
from enum import Enum, auto


class Label(Enum):
    """What a fence holds by its label: a verdict, surely something else, or who knows what."""

    VERDICT = auto()
    OTHER = auto()
    UNKNOWN = auto()


_VERDICT = frozenset(
    (
        "",
        *("json", "json5", "jsonc", "jsonl", "ndjson", "hjson", "application/json", "yaml", "yml"),
        *("js", "javascript", "ts", "typescript", "py", "python"),
        *("text", "txt", "plain", "plaintext", "none", "markdown", "md"),
        *("verdict", "result", "output", "response", "final", "grade", "score", "evaluation", "judgement", "judgment"),
    )
)
"""Languages in which such an object may be written, and names of what is asked for."""

_OTHER = frozenset(
    (
        *("draft", "example", "sample", "template", "schema", "format", "placeholder", "input", "prompt", "rubric"),
        *("answer", "question", "quote", "user", "attempt", "wrong", "incorrect", "bad", "old", "before", "injected"),
        *("think", "thinking", "thought", "thoughts", "reasoning", "analysis", "scratchpad", "notes", "plan"),
        *("tool_code", "tool_call", "tool_calls", "tool_output", "tool_outputs", "tool_response", "tool_result"),
        *("tool", "function_call", "function", "execute_result", "code_execution_result"),
    )
)

_WORD = re.compile(r"[\w/-]+")


def read_label(info: str) -> Label:
    """Return what the text behind the marks of a fence says."""
    words = [word.lower() for word in _WORD.findall(info[:300])]
    if not _OTHER.isdisjoint(words):
        return Label.OTHER
    return Label.VERDICT if "".join(words[:1]) in _VERDICT else Label.UNKNOWN


_NAMES_SCORE = re.compile(
    r"""
    (?<![\w.])["']?(?:final_|overall_|total_)?(?:score|satisfied|checks)["']?[ \t]*[:=](?!=)[ \t]*
    (?:[-+]?[0-9]|true\b|false\b|\[)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def names_score(text: str, start: int, end: int) -> bool:
    """Return whether a piece of code sets a score, as an object does, in whatever language."""
    return _NAMES_SCORE.search(text, start, end) is not None
