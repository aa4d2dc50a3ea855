"""Find rubrics in text, which is not linted: Markdown that is named for rubrics, and signs of scales in prompts."""

import re
from itertools import islice

from rubric_lint.model.finding import NearMissStep, Unread
from rubric_lint.model.suggest import suggest
from rubric_lint.source.source import Source

NOTEBOOK = ".ipynb"

SUFFIXES = (".md", ".markdown", ".txt", NOTEBOOK)
"""The suffixes of documents: Markdown, plain text, which prompts are, and notebooks."""

_RUBRIC_FILE = ".rubric.yaml"

_FOR_JUDGES = re.compile(
    r"(?:^|[/\\])(?:\.claude|\.?agents?|[^/\\]*evals?|evaluations?|judges?|prompts?|skills?)[/\\]|eval[^/\\]*\Z",
    re.IGNORECASE,
)
_OF_JUDGES = re.compile(rb"\b(?:LLMs?|[Jj]udges?|[Ee]vals?)\b")
_OF_COURSES = re.compile(
    rb"\b(?:students?|homework|assignments?|courses?|lectures?|semesters?|syllabus|teachers?|instructors?|classmates"
    rb"|labs?|LMS|submissions?|bonus|kudos|graded|grades)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(rb"^[ \t]*+(?:\|?[ \t]*+:?-++:?[ \t]*+\||[|*+ \t-]*+\d|#.*\d)", re.MULTILINE)


def is_document(name: str) -> bool:
    """Return whether a name is that of a document that may hold a rubric."""
    base = _base_of(name)
    return base.endswith(NOTEBOOK) or (base.endswith(SUFFIXES) and ("rubric" in base or "judge" in base))


def name_successor(name: str) -> str:
    """Return the name of the file that takes the place of a document, as the advice for it says."""
    stem = name[: name.rfind(".")]
    ending = ".py" if name.endswith(NOTEBOOK) else _RUBRIC_FILE
    return stem + ending


def _base_of(name: str) -> str:
    return re.split(r"[/\\]", name.lower())[-1]


def could_hold_criteria(data: bytes, path: str) -> bool:
    """Return whether a document that nobody named may hold a rubric for judges: its folder or its words say so."""
    is_for_judges = _FOR_JUDGES.search(path) is not None
    if "rubric" in _base_of(path) and not is_for_judges:
        is_for_judges = _OF_JUDGES.search(data) is not None and not _OF_COURSES.search(data)
    return is_for_judges and _NUMBERED.search(data) is not None


def find_in_document(source: Source) -> tuple[Unread, ...]:
    """Report the criteria of a document as not checked, and whether they can be imported."""
    from rubric_lint.formats.search.scales_in_text import find_labels  # noqa: PLC0415
    from rubric_lint.formats.sheets.cells import TableError  # noqa: PLC0415  (few documents are named for rubrics)
    from rubric_lint.formats.sheets.markdown_file import read_blocks  # noqa: PLC0415
    from rubric_lint.formats.sheets.reading import count_criteria  # noqa: PLC0415

    name = source.name
    if name.endswith(NOTEBOOK):
        reason = f"this is a notebook; save its code as {name_successor(name)} to check its metrics"
        return (Unread(reason, 1, 1, is_known=False, signs=2),)
    try:
        count, line = count_criteria(source)
    except TableError as refusal:
        blocks = read_blocks(source)
        is_headed = bool(blocks.tables) and any("rubric" in heading.title.lower() for heading in blocks.headings)
        is_named = "rubric" in _base_of(name) or is_headed
        if not (is_named or len(find_labels(source.text)) > 2) or not _FOR_JUDGES.search(name):
            return ()
        advice = "it reads tables with columns such as `criterion`, `weight` and `description`"
        reason = f"`import` finds no rubric in this document: {refusal.message.partition(';')[0]}; {advice}"
        line, column = map(int, refusal.place.full.rsplit(":", 2)[1:])
        return (Unread(reason, line, column, is_known=False, signs=1),)
    command = suggest("import", name, output=name_successor(name))
    criteria = "its criterion is" if count == 1 else f"its {count} criteria are"
    kind = "plain text" if name.lower().endswith(".txt") else "Markdown"
    reason = f"{criteria} in {kind}, which is not checked; `{command}` writes a rubric file"
    return (Unread(reason, line, 1, is_known=False, signs=2, steps=(NearMissStep("run", "import"),)),)


_ASKS = re.compile(
    r"\b(?:scor(?:e|es|ing)|rat(?:e|ing)|grade|scale)\b[^.\n]{0,60}?\b\d{1,3}(?:\.\d)?[ \t]?"
    "(?:-|\N{EN DASH}|to|and)"
    r"[ \t]?\d{1,3}\b",
    re.IGNORECASE,
)


def may_ask_for_scores(text: str) -> bool:
    """Return whether a text asks for a score of a scale: `Score it from 1 to 5`."""
    return _ASKS.search(text) is not None


_ORDERS = re.compile(
    r"^[^\w\n]*+(?:you are|judge|evaluate|assess|rate|score|grade|compare|decide|say whether)\b",
    re.IGNORECASE | re.MULTILINE,
)


def is_prompt(text: str) -> bool:
    """Return whether a text tells a judge to give a score: several lines, of which one orders so."""
    return "\n" in text.strip() and _ORDERS.search(text) is not None and may_ask_for_scores(text)


_STEP = re.compile(
    r"(?:^|\\n)[ \t]*+(?:[-*•+][ \t]++)?[*\"'`(\[]{0,2}(?:score[ \t]*+)?\d{1,3}\b[^\w\n]", re.IGNORECASE | re.MULTILINE
)


def may_hold_scale(text: str) -> bool:
    """Return whether three lines of a file, or of strings in it, begin as steps of a scale do."""
    return len(list(islice(_STEP.finditer(text), 3))) == 3
