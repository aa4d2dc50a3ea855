"""Find what every conversion can lose: fields, comments and templates."""

from collections.abc import Iterable, Iterator

from rubric_lint.dialects.export.fields import FormatField
from rubric_lint.format.rubric import Rubric
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import RENDERS, is_template
from rubric_lint.text.path import Path
from rubric_lint.text.source import Span
from rubric_lint.text.tree import Tree

_SCHEMA = "$schema"


def lost_fields(fields: Iterable[FormatField], target: str, title: str) -> Iterator[tuple[Path, str]]:
    """Find the fields that a target does not write, each with its place and a message."""
    for field in fields:
        if not field.is_carried(target):
            told = ", which the judge sees" if field.is_told else ""
            yield field.path, f"`{field.path[-1]}`{told}: {title} has no field for it"


def lost_templates(rubric: Rubric, title: str) -> Iterator[tuple[Path, str]]:
    """Find the templates that another system fills in before a judge sees them; a target gets them as plain text."""
    if rubric.view is None or rubric.dialect not in RENDERS:
        return
    for entry in rubric.entries:
        place = rubric.view.place(entry.path)
        if is_template(rubric.view.document.value(place)):
            whose = rubric.view.dialect.title
            message = f"the template in `{entry.id}`, which {whose} fills in: {title} uses it as plain text"
            yield place, message


def lost_formula(rubric: Rubric, title: str) -> Iterator[tuple[Path, str]]:
    """Find the formula that joins the score of a grader of OpenAI with those of others."""
    if rubric.dialect != "openai-graders" or "graders" not in rubric.path:
        return
    multi = rubric.path[: rubric.path.index("graders")]
    if rubric.view and "calculate_output" in rubric.view.document.value(multi):
        place = (*multi, "calculate_output")
        yield place, f"`calculate_output`, which joins the scores of the graders: {title} has no field for it"


def lost_comments(tree: Tree, within: Iterable[Span]) -> list[Span]:
    """Find the comments of a file within the lines of some spans, except those that name a schema."""
    source = tree.source
    lines = [(source.position(start).line, source.position(end).line) for start, end in within]
    return [
        comment
        for comment in tree.comments
        if _SCHEMA not in source.slice(comment)
        and any(first <= source.position(comment.start).line <= last for first, last in lines)
    ]


def whole(document: Document) -> Span:
    """Return the span of a document and its preamble."""
    return Span(document.preamble.start, document.span(()).end)
