"""Check, fix and score with the YAML rubrics of LLM judges.

`lint_source(name, data)` and `fix_source(name, data)` check and fix a file, `load_rubrics(name, data)` reads its
rubrics, `score(rubric, output)` scores a judge output, `show_source(name, data)` describes a file, and
`import_source(name, data)` makes a rubric file of a table. Only the names in `__all__` are public.
"""

from rubric_lint.version import __version__

# Not from `typing`, which loads many modules: until a program has started, Ctrl+C would show a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from rubric_lint.api import find_settings, fix_source, import_source, lint_source, show_source
    from rubric_lint.convert.importing import Imported, ImportMessage
    from rubric_lint.judge.prompt import JudgedCase, Message, output_schema, write_prompt
    from rubric_lint.lint.engine import RuleError
    from rubric_lint.lint.fix import Applied, Fixed, Left, Note
    from rubric_lint.lint.project.settings import FileSettings, SettingsError
    from rubric_lint.model.criterion import Shape
    from rubric_lint.model.finding import Finding, Related, Result, Severity, Unread
    from rubric_lint.scoring import OutputError, RubricError, load_rubrics, score, score_samples
    from rubric_lint.scoring.engines.batch import ScoredBatch, ScoredRow, score_batch, score_batches
    from rubric_lint.scoring.engines.rows import RowError
    from rubric_lint.scoring.grading import (
        CriterionResult,
        Grade,
        JudgeOutput,
        Scored,
        ScoringCriterion,
        ScoringRubric,
        Verdict,
        combine_samples,
    )
    from rubric_lint.scoring.output import parse_output
    from rubric_lint.scoring.show import Shown, ShownBand, ShownCriterion, ShownExample, ShownLevel, ShownRubric
    from rubric_lint.scoring.totals import CriterionTotals, RubricTotals, Totals
    from rubric_lint.source.edits.intents import Fix
    from rubric_lint.source.source import Edit, Position, Source, Span

__all__ = [
    "Applied",
    "CriterionResult",
    "CriterionTotals",
    "Edit",
    "FileSettings",
    "Finding",
    "Fix",
    "Fixed",
    "Grade",
    "ImportMessage",
    "Imported",
    "JudgeOutput",
    "JudgedCase",
    "Left",
    "Message",
    "Note",
    "OutputError",
    "Position",
    "Related",
    "Result",
    "RowError",
    "RubricError",
    "RubricTotals",
    "RuleError",
    "Scored",
    "ScoredBatch",
    "ScoredRow",
    "ScoringCriterion",
    "ScoringRubric",
    "SettingsError",
    "Severity",
    "Shape",
    "Shown",
    "ShownBand",
    "ShownCriterion",
    "ShownExample",
    "ShownLevel",
    "ShownRubric",
    "Source",
    "Span",
    "Totals",
    "Unread",
    "Verdict",
    "__version__",
    "combine_samples",
    "find_settings",
    "fix_source",
    "import_source",
    "lint_source",
    "load_rubrics",
    "output_schema",
    "parse_output",
    "score",
    "score_batch",
    "score_batches",
    "score_samples",
    "show_source",
    "write_prompt",
]
_HOMES = {
    "api": ("find_settings", "fix_source", "import_source", "lint_source", "show_source"),
    "lint.project.settings": ("FileSettings", "SettingsError"),
    "model.criterion": ("Shape",),
    "source.edits.intents": ("Fix",),
    "model.finding": ("Finding", "Related", "Result", "Severity", "Unread"),
    "lint.fix": ("Applied", "Fixed", "Left", "Note"),
    "lint.engine": ("RuleError",),
    "convert.importing": ("ImportMessage", "Imported"),
    "scoring": ("OutputError", "RubricError", "load_rubrics", "score", "score_samples"),
    "scoring.grading": (
        "CriterionResult",
        "Grade",
        "JudgeOutput",
        "Scored",
        "ScoringCriterion",
        "ScoringRubric",
        "Verdict",
        "combine_samples",
    ),
    "scoring.engines.batch": ("ScoredBatch", "ScoredRow", "score_batch", "score_batches"),
    "scoring.engines.rows": ("RowError",),
    "judge.prompt": ("JudgedCase", "Message", "output_schema", "write_prompt"),
    "scoring.output": ("parse_output",),
    "scoring.totals": ("CriterionTotals", "RubricTotals", "Totals"),
    "scoring.show": ("Shown", "ShownBand", "ShownCriterion", "ShownExample", "ShownLevel", "ShownRubric"),
    "source.source": ("Edit", "Position", "Source", "Span"),
}


def __getattr__(name: str) -> object:
    # Imported on first use: the commands start with this module and load only what they need.
    for module, names in _HOMES.items():
        if name in names:
            from importlib import import_module  # noqa: PLC0415

            return getattr(import_module(f"rubric_lint.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
