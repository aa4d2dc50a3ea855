"""Find the schema that a document follows, for an editor that hands it to the YAML server beside ours."""

from functools import cache

from rubric_lint.format.schema_files import catalogue
from rubric_lint.lsp.server.analysis import Analysis
from rubric_lint.text.source import Kind, kind_of

SCHEMA = "rubric-lint/schema"
"""The notification that a document follows a schema, by the name of its file in the form for completion."""


def find_schema(analysis: Analysis) -> str:
    """Return the file name of the schema for completion of a YAML document; empty if no rubric in it has one."""
    is_yaml = kind_of(analysis.state.name) is Kind.YAML
    for located in analysis.rubrics if is_yaml else ():
        view, settings = located.rubric.view, analysis.state.settings
        kind = "rubric" if settings and settings.is_rubric_file else "suite"
        source = view.dialect.schema.partition("#")[0] if view else f"{located.rubric.version}/{kind}.json"
        if source in _list_files():
            return _list_files()[source]
    return ""


@cache
def _list_files() -> dict[str, str]:
    """Return the names of the files for completion by the sources of their schemas."""
    files = [file for entry in catalogue() for file in entry.forms if file.form == "completion"]
    return {file.source: file.bundled_name for file in files}
