"""Read the labels of Markdown fences, and find code that sets a score."""

import re
from enum import Enum, auto
from functools import cache

from rubric_lint.scoring.blanks import IN_LINE


class Label(Enum):
    """What the label of a fence says about its content: a verdict, something else, or unknown."""

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
"""Fence labels that allow a verdict: names of languages, and names for the verdict itself."""

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
    """Classify the text after the opening marks of a fence."""
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
    """Return whether a piece of code in any language sets a score, as a verdict would."""
    return _NAMES_SCORE.search(text, start, end) is not None


def find_closing(text: str, marks: str, start: int, end: int) -> re.Match[str] | None:
    """Return the line that closes a fence which opens with these marks; `start` is the end of its first line."""
    found = text.find(marks, start, end)  # a line is sought from there on, as most lines have none of them
    if found < 0:
        return None
    return _closing_fence(marks[0], len(marks)).search(text, max(start, text.rfind("\n", start, found)), end)


@cache
def _closing_fence(mark: str, length: int) -> re.Pattern[str]:
    """Return the pattern of a line that closes a fence which opens with so many of these marks."""
    return re.compile(rf"^[{IN_LINE}]*{mark}{{{length},}}[{IN_LINE}]*$", re.MULTILINE)
