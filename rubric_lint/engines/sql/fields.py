"""Find out from the schema what each field of a judge output means."""

import re
from typing import Any, NamedTuple

from rubric_lint.format.criterion import Shape
from rubric_lint.format.schema_files import CURRENT, load
from rubric_lint.scoring.form import near_misses

_OFTEN = (
    *("explanation", "rationale", "justification", "reason", "reasons", "reasoning", "overall_reasoning", "thinking"),
    *("comment", "comments", "feedback", "note", "notes", "analysis", "summary", "details", "description"),
    *("evidence", "quote", "quotes", "citation", "citations", "excerpt", "examples"),
    *("confidence", "certainty", "criterion", "criteria", "criterion_id", "name", "title", "index", "weight"),
    *("strengths", "weaknesses", "issues", "problems", "improvements", "suggestion", "suggestions"),
    *("id", "rubric", "question", "answer", "response", "language", "model", "version", "timestamp", "date"),
)
"""Fields that judges like to add. Of these, the query passes over those that scoring ignores."""


class FieldError(ValueError):
    """A field that a judge is said to add cannot be ignored."""


class Fields(NamedTuple):
    """The fields of an output or of a check.

    `required` are there, the last one decides if it is not `checks`; `texts` are strings where they are, `forbidden`
    belong to other shapes, and `ignored` may hold anything.
    """

    required: tuple[str, ...]
    texts: tuple[str, ...]
    forbidden: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def known(self) -> tuple[str, ...]:
        """The fields with which a query can decide whether an output is valid."""
        return (*self.required, *self.texts, *self.forbidden, *self.ignored)


def fields_of(shape: Shape, extra: tuple[str, ...] = ()) -> tuple[Fields, Fields | None]:
    """Return the fields of an output of this shape, and of its checks; `extra` are fields that a judge adds.

    Raises:
        FieldError: if scoring does not ignore one of `extra` in an output or in a check.
    """
    definitions = load(f"{CURRENT}/judge-output.json")["definitions"]
    output = definitions[shape]
    if shape is Shape.HOLISTIC:
        return _read(output, definitions, extra), None
    check = definitions[_refer(output["properties"]["checks"]["items"])]
    return _read(output, definitions, extra), _read(check, definitions, extra)


def _read(form: Any, definitions: Any, extra: tuple[str, ...]) -> Fields:
    properties, required = form["properties"], tuple(form["required"])
    parts = [definitions[_refer(part)] for part in form["allOf"]]
    patterns = [pattern for part in parts for pattern in part.get("then", part)["patternProperties"]]

    def is_ignored(name: str) -> bool:
        named = name in properties or any(re.search(pattern, name) for pattern in patterns)
        return not named and not near_misses((name,), required)

    if wrong := [name for name in extra if not is_ignored(name) and name not in properties]:
        raise FieldError(f"`{wrong[0]}` may decide the score or contradict it, so that it cannot be ignored")
    texts = tuple(name for name, rule in properties.items() if rule and _refer(rule) == "reasoning")
    forbidden = tuple(name for name, rule in properties.items() if rule is False)
    ignored = tuple(name for name in dict.fromkeys((*_OFTEN, *extra)) if is_ignored(name))
    return Fields(required, texts, forbidden, ignored)


def _refer(rule: Any) -> str:
    """Return the name of the definition that a rule refers to."""
    return str(rule.get("$ref", "")).rsplit("/", 1)[-1]
