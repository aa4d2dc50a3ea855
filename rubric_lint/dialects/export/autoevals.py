"""Write one criterion with levels as a classifier of Braintrust autoevals, which chooses one of some answers."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects.export.criteria import BY_ITS_ANSWERS, choose_only, level_worths, lost_gates
from rubric_lint.dialects.export.entries import as_number, sort_levels
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportError,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_verdicts,
    require_shape,
    task_of,
)
from rubric_lint.dialects.export.texts import to_yaml
from rubric_lint.format.criterion import Criterion, Level, Shape
from rubric_lint.text.path import Path

_TITLE = "autoevals"
_SHAPES = (Shape.LEVELS,)
_TEMPLATE = "{{"


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write the file that `LLMClassifier.from_spec_file` reads; the number of a level is the name of its answer."""
    name, rubric = choose_only(rubrics, _TITLE)
    require_shape(name, rubric, _TITLE, _SHAPES, "its judge chooses one of some answers, once")
    if len(rubric.criteria) > 1:
        message = f"{_TITLE} asks for one choice, and there are {len(rubric.criteria)} criteria; write a file for each"
        raise ExportError(name, rubric.criteria[1].path, message)
    criterion = rubric.criteria[0]
    worths, losses = level_worths(name, criterion, _TITLE)
    levels = sort_levels(criterion)
    task = criterion.outcome or task_of(rubric) or ""
    _refuse_template(name, criterion.outcome_path, task)
    lines = [_line(name, level, losses) for level in levels]
    scores = {str(level.number): as_number(worth) for level, worth in zip(levels, worths, strict=True)}
    losses += [*_lost_name(name, criterion), *lost_gates(name, rubric, _TITLE)]
    losses += lost_verdicts(name, rubric, _TITLE)
    prompt = "\n".join([BY_ITS_ANSWERS, "", *lines, "", *_data(task)])
    data: dict[str, Any] = {"prompt": prompt, "choice_scores": scores}
    return Export(to_yaml(data), tuple(losses))


def _data(task: str) -> Iterator[str]:
    if task:
        yield from ("[What is judged]", task, "")
    yield from ("[Input]", "{{input}}", "", "[Output]", "{{output}}")


def _line(name: str, level: Level, losses: list[Loss]) -> str:
    text = level.outcome or ""
    _refuse_template(name, level.outcome_path, text)
    joined = " ".join(text.split())
    if joined != text:
        losses.append(Loss(name, level.outcome_path, f"white space in this text: an answer of {_TITLE} is one line"))
    return f"({level.number}) {joined}"


def _refuse_template(name: str, path: Path, text: str) -> None:
    if _TEMPLATE in text:
        raise ExportError(name, path, f"{_TITLE} fills in what follows `{_TEMPLATE}`, and has no escape for it")


def _lost_name(name: str, criterion: Criterion) -> Iterator[Loss]:
    if criterion.has_own_id:
        message = f"the name `{criterion.id}`: a classifier is named where it is used"
        yield Loss(name, (*criterion.path, "id"), message)


TARGET = ExportTarget(_TITLE, "a classifier with choices and their scores, as YAML", write, shapes=_SHAPES)
