"""Describe the arguments of the tools as JSON Schemas, and check the arguments of a call."""

from collections.abc import Mapping
from typing import Any

from rubric_lint.format.starter import RUBRICS
from rubric_lint.mcp.roots import ToolError
from rubric_lint.messages import describe, expected_of, join_words, point_to_known
from rubric_lint.project.opening import SMALL_LIMIT
from rubric_lint.rules import BY_NAME, CHOICES

Schema = Mapping[str, Any]

RULES = list(BY_NAME)


def text(description: str, **more: Any) -> Schema:
    """Return the schema of a string."""
    return {"type": "string", "description": description, **more}


def flag(description: str) -> Schema:
    """Return the schema of a switch that is off by default."""
    return {"type": "boolean", "default": False, "description": description}


def rules(description: str) -> Schema:
    """Return the schema of a list of rule names."""
    return {"type": "array", "items": {"type": "string", "enum": RULES}, "description": description}


def choices(description: str) -> Schema:
    """Return the schema of a list of names of choices."""
    return {"type": "array", "items": {"type": "string", "enum": list(CHOICES)}, "description": description}


PATHS: Schema = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "description": "Files and folders, relative to the root or absolute. Default: the root. Not together with `text`.",
}

TEXT = text("The content of one file, instead of `paths`; saved or not. Needs `name`.", maxLength=SMALL_LIMIT)

NAME = text(
    "The file name of the text, such as suites/support.yaml: its suffix selects YAML, JSON or JSON Lines, and its "
    "folder the settings. The file need not exist."
)

SHAPE = text(
    "How the judge answers: yes or no for each criterion (checklist), a score from 0 to 10 for each (score-ranges) or "
    "for the whole answer (holistic), or one of the named levels of each (levels).",
    enum=list(RUBRICS),
    default=next(iter(RUBRICS)),
)


def arguments(properties: Mapping[str, Schema], *required: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def check_arguments(given: Mapping[str, Any], schema: Schema) -> None:
    """Check the arguments of a call.

    Raises:
        ToolError: when one is unknown, missing or wrong; the message names it.
    """
    known = schema["properties"]
    if unknown := [name for name in given if name not in known]:
        hint = point_to_known(unknown[0], known) if known else "this tool takes none"
        raise ToolError(f"unknown argument `{unknown[0]}`; {hint}")
    if missing := [name for name in schema["required"] if name not in given]:
        raise ToolError(f"missing {join_words([f'`{name}`' for name in missing])}")
    for name, value in given.items():
        _check_value(f"`{name}`", value, known[name])


def _check_value(place: str, value: Any, schema: Schema) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415  (a tenth of a second)

    error = next(iter(Draft202012Validator(schema).iter_errors(value)), None)
    if error is None:
        return
    place += "".join(f"[{step}]" for step in error.absolute_path)
    match error.validator:
        case "maxLength":
            length, most = len(error.instance), error.validator_value
            raise ToolError(
                f"{place}: it has {length:,} characters, and the limit is {most:,}; save it as a file and pass its path"
            )
        case "enum":
            hint = point_to_known(str(error.instance), error.validator_value)
            raise ToolError(f"{place}: unknown value {describe(error.instance, '')}; {hint}")
        case "minItems":
            raise ToolError(f"{place}: the list is empty; leave the argument out for the default")
        case _:
            found = describe(error.instance, str(error.instance))
            raise ToolError(f"{place}: expected {expected_of(error.schema)}, found {found}")
