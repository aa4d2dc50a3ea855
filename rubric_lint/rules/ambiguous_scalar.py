"""A plain scalar that readers of YAML 1.1 and of YAML 1.2 read differently."""

from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.messages import list_types
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.source.edits.intents import Repair, ReplaceValue
from rubric_lint.source.scalar import resolve


def check(rubric: Rubric) -> Iterator[Problem]:
    """Report each ambiguous scalar, with advice for the type that the field expects."""
    for path, (text, readings, advice) in rubric.ambiguous:
        types = list_types(rubric.schema.find(path[len(rubric.path) :]))
        scalar = [kind for kind in types if kind not in ("object", "array")]
        cure = _CURES.get(scalar[0], advice) if len(scalar) == 1 else advice
        repair = None
        if scalar == ["string"] and isinstance(resolve(text), str):
            repair = Repair(f'write `"{text}"`', (ReplaceValue(path, f'"{text}"'),), safe=False)
        yield Problem("two-readings", path, values={"text": text, "readings": readings, "cure": cure}, repair=repair)


_NUMBER = "write it as a plain decimal number"
_CURES = {"string": "put it in quotes", "boolean": "write true or false", "number": _NUMBER, "integer": _NUMBER}
"""The advice for each expected type."""

RULE = Rule(
    "ambiguous-scalar", Severity.WARNING, {"two-readings": "`{text}` is {readings}; {cure}"}, check, fix="unsafe"
)
