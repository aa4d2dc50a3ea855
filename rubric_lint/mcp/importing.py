"""Answer the tool that makes rubrics of tables."""

from collections.abc import Mapping
from typing import Any

from rubric_lint.lint.importing import ChoiceError, TableFile, choose, import_tables
from rubric_lint.mcp.answer import Answer
from rubric_lint.mcp.roots import Roots, ToolError
from rubric_lint.mcp.scoring import read_one
from rubric_lint.project.settings import SettingsFinder


def import_file(roots: Roots, given: Mapping[str, Any]) -> Answer:
    """Return the tables of a file as a rubric file, and what there is to say of them."""
    file = TableFile(*read_one(roots, given, "file"))
    columns = given.get("map", {}).items()
    try:
        choices = choose(
            columns, given.get("ignore_columns", ()), given.get("rescale"), given.get("rubric"), given.get("header_row")
        )
        imported = import_tables(file, SettingsFinder().for_file(file.path), choices)
    except ChoiceError as wrong:
        raise ToolError(str(wrong)) from None
    return Answer("\n".join([*(each.word() for each in imported.messages), imported.text]), imported.to_json())
