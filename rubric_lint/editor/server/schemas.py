"""Find the schema that a document follows, for an editor that hands it to the YAML server that runs with ours."""

from functools import cache

from rubric_lint.editor.server.analysis import Analysis
from rubric_lint.model.schema_files import catalogue
from rubric_lint.source.source import Kind, kind_of

SCHEMA = "rubric-lint/schema"
"""The notification that a document follows a schema, by the name of its file in the form for completion."""


def find_schema(analysis: Analysis) -> str:
    """Return the file name of the schema for completion of a YAML document; empty if no rubric in it has one."""
    is_yaml = kind_of(analysis.state.name) is Kind.YAML
    if not is_yaml:
        return ""
    for located in analysis.rubrics:
        rubric, settings = located.rubric, analysis.state.settings
        kind = "rubric" if (settings and settings.is_rubric_file) or not rubric.path else "suite"
        own = f"{rubric.version}/{kind}.json"
        source = rubric.view.dialect.schema.partition("#")[0] if rubric.view and rubric.dialect else own
        if source in _list_files():
            return _list_files()[source]
    return ""


@cache
def _list_files() -> dict[str, str]:
    """Return the names of the files for completion by the sources of their schemas."""
    files = [file for entry in catalogue() for file in entry.forms if file.form == "completion"]
    return {file.source: file.bundled_name for file in files}
