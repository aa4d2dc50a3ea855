"""The neutral form, JSON: what `rubric-lint show --format json` prints, which `schemas/show/v1.json` describes.

`rubric-lint convert` takes the content from there. Here is what it keeps, so that all else is reported as lost.
"""

from rubric_lint.convert.export.target import ExportContext, ExportTarget


def _write_nothing(_writing: ExportContext) -> str:
    return ""


JSON = ExportTarget(
    "json",
    "JSON",
    _write_nothing,
    shows=frozenset({"id"}),
    names_rubrics=True,
    has_version_3=True,
    keeps={"pass", "borderline"},
    writes_mark=True,
)
