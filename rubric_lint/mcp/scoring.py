"""Answer the tools that score outputs and compare rubrics: score and diff."""

import io
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from rubric_lint.agree.changes import compare, locate, pair_rubrics, prepare_all
from rubric_lint.mcp.answer import Answer
from rubric_lint.mcp.checking import take_text
from rubric_lint.mcp.roots import Roots, ToolError
from rubric_lint.project.files import STDIN
from rubric_lint.project.opening import SMALL_LIMIT, read_file
from rubric_lint.project.settings import SettingsFinder
from rubric_lint.report.base import Look
from rubric_lint.report.changes import Comparison, as_json, as_text
from rubric_lint.report.scores import FORMS
from rubric_lint.run.console import Progress
from rubric_lint.run.given import Input, read_given
from rubric_lint.scoring.loading import Loaded, load_models
from rubric_lint.scoring.run import Scoring


def score(roots: Roots, given: Mapping[str, Any]) -> Answer:
    """Score judge outputs by the rubrics of a file."""
    rubrics = prepare_all(_load(read_one(roots, given, "rubric")))
    written, shown = io.StringIO(), io.StringIO()
    writer, table = FORMS["json"](written.write, Look()), FORMS["table"](shown.write, Look())

    def write(results: list[str]) -> None:
        writer.add(results)
        table.add(results)

    scoring = Scoring(rubrics, write, Progress(io.StringIO(), "scoring", "outputs"))
    if not scoring.run("outputs", io.BytesIO(_read_outputs(roots, given))):
        raise ToolError("no outputs found; an output is what the judge returned, as an object or a text")
    writer.end(scoring.totals)
    table.end(scoring.totals)
    notes = "".join(f"{warning}\n" for warning in scoring.warnings())
    return Answer(shown.getvalue() + notes, json.loads(written.getvalue()))


def _read_outputs(roots: Roots, given: Mapping[str, Any]) -> bytes:
    """Return the outputs of a file, or those of the call as JSON Lines; a text is what a judge wrote."""
    outputs: Iterable[Any] | None = given.get("outputs")
    path: str | None = given.get("outputs_path")
    if (outputs is None) == (path is None):
        raise ToolError("give either `outputs` or `outputs_path`")
    if outputs is None:
        return read_file(roots.require(path or ""), SMALL_LIMIT)
    records = [{"output": output} if isinstance(output, str) else output for output in outputs]
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def diff(roots: Roots, given: Mapping[str, Any]) -> Answer:
    """Compare the meaning of the rubrics of two files."""
    files = [read_one(roots, given, "old"), read_one(roots, given, "new")]
    was, now = map(_load, files)
    changes = compare(pair_rubrics(prepare_all(was), prepare_all(now)))
    comparison = Comparison(files[0].label, files[1].label, tuple(locate(change, was, now) for change in changes))
    return Answer("\n".join(as_text(comparison)) + "\n", json.loads(as_json(comparison)))


def read_one(roots: Roots, given: Mapping[str, Any], which: str) -> Input:
    """Return a file that is given by its path, as a Git revision, or as a text."""
    path: str | None = given.get(which)
    text = take_text(roots, given, f"{which}_")
    if (path is None) == (text is None):
        raise ToolError(f"give either `{which}` or `{which}_text`")
    if text is not None:
        return Input(text[0], text[0], text[1])
    name = path or ""
    if name.startswith("-") and name != STDIN:  # Git would take it for an option
        raise ToolError(f"`{which}`: {name}: name a file, or a file in a Git revision such as HEAD:suite.yaml")
    if "\0" in name or ":" not in name or os.path.lexists(name):
        roots.require(name)
    found = read_given(name)
    roots.require(found.path)  # of a file in a revision, its place in the work tree
    return found


def _load(file: Input) -> dict[str, Loaded]:
    return load_models(file.label, file.data, SettingsFinder().for_file(file.path))
