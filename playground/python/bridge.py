"""Answer the requests of the page: each is an object in JSON, and so is its answer."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import rubric_lint
from rubric_lint.api import fix_source, import_source, lint_source, show_source
from rubric_lint.lint.engine import DEFAULTS
from rubric_lint.lint.fix import Applied, Fixed, find_trouble
from rubric_lint.lint.fix.run import FixOutcome
from rubric_lint.lint.project.settings import claim_by_name
from rubric_lint.lint.run.summary import Summary
from rubric_lint.model.finding import Result
from rubric_lint.report import REPORTERS, Style
from rubric_lint.report.fixes import format_troubles, write_diff
from rubric_lint.scoring import OutputError, RubricError, score
from rubric_lint.scoring.loading import load_models
from rubric_lint.source.source import as_bytes, splice

Answer = dict[str, Any]

VERSION = rubric_lint.__version__


def answer(request: str) -> str:
    """Return the answer to a request, which names what to do, the file and its text."""
    call = json.loads(request)
    return json.dumps(_ANSWERS[call.pop("do")](**call))


def lint(name: str, text: str) -> Answer:
    """Return the JSON report of `rubric-lint`, and its summary as a sentence.

    Of a text without rubrics, `imported` is the rubric file that `rubric-lint import` makes of its words.
    """
    result = lint_source(name, text)
    summary = Summary.of(result)
    imported = None if result.rubrics or not text.strip() else import_source("rubric.md", text).text
    return {"report": _report(result, summary), "summary": str(summary), "imported": imported}


def _report(result: Result, summary: Summary) -> Any:
    written: list[str] = []
    reporter = REPORTERS["json"](written.append, Style())
    reporter.add(result)
    reporter.end(summary)
    return json.loads("".join(written))


def fix_one(name: str, text: str, finding: int, choice: str) -> Answer:
    """Return the text after a fix of one finding, counted as in the report, and the diff.

    `choice` is the name of one of several fixes; empty for the plain one. The fix is proven as editors prove it; if the
    proof fails, the text is missing.
    """
    result = lint_source(name, text)
    found = result.findings[finding]
    fix = next((each for each in (found.fix, *found.choices) if each and each.choice == choice), None)
    if fix is None:
        return {"text": None, "diff": "", "troubles": [found.obstacle or "this finding has no fix"]}
    if doubt := find_trouble(result, [(found, fix)], claim_by_name(name, DEFAULTS)):
        return {"text": None, "diff": "", "troubles": [doubt]}
    old = result.source
    new = old._replace(text=splice(old.text, fix.edits))
    after = result._replace(source=new)
    return _fixed(Fixed(old, as_bytes(text), after, (Applied(found.rule, fix.title),)), [])


def fix_all(name: str, text: str) -> Answer:
    """Return the text after all safe fixes, the diff, and a line for each thing that was not fixed."""
    fixed = fix_source(name, text)
    return _fixed(fixed, [*format_troubles(FixOutcome(fixed))])


def _fixed(fixed: Fixed, troubles: list[str]) -> Answer:
    diff = write_diff(FixOutcome(fixed), color=False)
    return {"text": fixed.data.decode() if fixed.is_changed else None, "diff": diff, "troubles": troubles}


def show(name: str, text: str) -> Answer:
    """Return what `rubric-lint show` says of the file."""
    return show_source(name, text).to_json()


def score_output(name: str, text: str, output: str, rubric: str | None) -> Answer:
    """Return the names of the rubrics, and the result of a judge output for the named one, else for the first.

    `result` is what `rubric-score` writes; without one, `faults` say why.
    """
    try:
        models = load_models(name, as_bytes(text), claim_by_name(name, DEFAULTS))
    except RubricError as fault:
        return {"rubrics": [], "rubric": None, "result": None, "faults": [*fault.faults]}
    chosen = rubric if rubric in models else next(iter(models))
    answered: Answer = {"rubrics": [*models], "rubric": chosen, "result": None, "faults": []}
    if not output.strip():
        return answered
    try:
        answered["result"] = score(models[chosen].prepare(), output).to_json()
    except RubricError as fault:
        answered["faults"] = [*fault.faults]
    except OutputError as fault:
        answered["faults"] = [f"{fault.path}: {fault.message}" if fault.path else fault.message]
    return answered


_ANSWERS: Mapping[str, Callable[..., Answer]] = {
    "lint": lint,
    "show": show,
    "fix-one": fix_one,
    "fix-all": fix_all,
    "score": score_output,
}
