"""Answer the tools that read files: lint, show, fix, score and diff."""

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from rubric_lint.agree.changes import compare, locate, pair_rubrics, prepare_all
from rubric_lint.finding import Result
from rubric_lint.fix import SAFE, Fixed, FixSelection
from rubric_lint.fix import fix as fix_data
from rubric_lint.fix.run import FixOutcome, FixRun, FixTotals
from rubric_lint.mcp.roots import CRASHED, Answer, Roots, ToolError
from rubric_lint.messages import visible
from rubric_lint.project.files import STDIN, File, Unreadable, read
from rubric_lint.project.opening import SMALL_LIMIT, read_file
from rubric_lint.project.settings import Overrides, SettingsFinder
from rubric_lint.report import REPORTERS, Style
from rubric_lint.report.changes import Comparison, as_json, as_text
from rubric_lint.report.fixes import as_data, as_report, word_troubles, write_diff
from rubric_lint.report.scores import FORMS
from rubric_lint.report.show import SHOW_FORMATS
from rubric_lint.run.baseline import Baselines
from rubric_lint.run.batch import FileOutcome, lint_bytes, lint_files
from rubric_lint.run.console import Progress, report_crash
from rubric_lint.run.given import Input, read_given
from rubric_lint.run.linting import Find, LintRun
from rubric_lint.run.summary import Failure, Reporter, Summary, Unchecked
from rubric_lint.scoring.loading import Loaded, load_models
from rubric_lint.scoring.run import Scoring
from rubric_lint.show import Shown
from rubric_lint.show.run import ShowRun
from rubric_lint.text.path import Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, as_bytes


class _Refused(list[str]):
    """Messages on the files that were not read; their names cannot break lines."""

    def refuse(self, message: str) -> None:
        """Take a file that cannot be read."""
        self.append(visible(message))

    def report_crash(self, fault: Exception, file: str) -> None:
        """Take a file that made rubric-lint crash."""
        report_crash(fault, file)
        self.refuse(f"{file}: {CRASHED}: {type(fault).__name__}: {fault}")


class _Both(Reporter):
    """Writes the findings as JSON for programs and as lines for the agent, and keeps what could not be read."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self._data, self._lines = io.StringIO(), io.StringIO()
        look = Style()
        self._reporters = REPORTERS["json"](self._data.write, look), REPORTERS["agent"](self._lines.write, look)

    def add(self, result: Result) -> None:
        """Take the findings of one file."""
        for reporter in self._reporters:
            reporter.add(result)

    def fail(self, failure: Failure) -> None:
        """Take a file that was not linted."""
        reason = f"{CRASHED}: {failure.reason}" if failure.is_fault else failure.reason
        self.failures.append(visible(f"{failure.file}: {reason}"))

    def end(self, summary: Summary) -> None:
        """Write the summary."""
        for reporter in self._reporters:
            reporter.end(summary)

    def answer(self, notes: list[str]) -> Answer:
        """Return the report, in both forms."""
        text = self._lines.getvalue() + "".join(f"{note}\n" for note in notes)
        return Answer(text, json.loads(self._data.getvalue()))


def lint(roots: Roots, given: Mapping[str, Any]) -> Answer:
    """Check a text, or files and folders."""
    finder = _find_settings(given)
    sieves = [Baselines(finder, None, renews=False)]
    reporter = _Both()
    paths, find, data = _take_files(roots, given, finder)
    # One process: workers would be forked from a program with threads.
    lint = partial(lint_files, processes=1) if data is None else partial(_lint_text, data)
    run = LintRun(reporter, _silent_progress(), sieves, find=find, lint=lint)
    summary = run.lint_all(paths, "", finder)
    if reporter.failures and not summary.files:
        raise ToolError("\n".join(reporter.failures))
    reporter.end(summary)
    return reporter.answer([*reporter.failures, *run.explaining.word()])


def _lint_text(data: bytes, files: Iterable[File | Unreadable]) -> Iterator[tuple[File | Unreadable, FileOutcome]]:
    """Lint files as if they had this content."""
    for file in files:
        if isinstance(file, File):
            yield file, lint_bytes(file, data)


def show(roots: Roots, given: Mapping[str, Any]) -> Answer:
    """Describe what a text, or files and folders, hold."""
    finder = SettingsFinder()
    refused = _Refused()
    written = {form: io.StringIO() for form in SHOW_FORMATS}
    reports = [make(written[form].write, Style()) for form, make in SHOW_FORMATS.items()]

    def report(shown: Shown) -> None:
        for each in reports:
            each.add(shown)

    paths, find, data = _take_files(roots, given, finder)
    run = ShowRun(
        report,
        _silent_progress(),
        find=find,
        read=read if data is None else lambda _: data,
        refuse=refused.refuse,
        report_crash=refused.report_crash,
    )
    summary = run.show_all(paths, "", finder)
    if refused and not summary.files:
        raise ToolError("\n".join(refused))
    for each in reports:
        each.end(summary)
    notes = "".join(f"{note}\n" for note in refused)
    return Answer(written["full"].getvalue() + notes, json.loads(written["json"].getvalue()))


def fix(roots: Roots, given: Mapping[str, Any]) -> Answer:
    """Fix a text, or files; write files only with `write`."""
    finder = _find_settings(given)
    wish = FixSelection(given.get("unsafe", False), tuple(given.get("choose", ())))
    writes = given.get("write", False)
    outcomes: list[FixOutcome] = []
    refused = _Refused()
    text = take_text(roots, given)
    if text is None:
        paths = _require_paths(roots, given)
        run = FixRun(
            outcomes.append,
            _silent_progress(),
            is_dry=not writes,
            **wish._asdict(),
            refuse=refused.refuse,
            report_crash=refused.report_crash,
            find=roots.find,
        )
        totals = run.fix_all(paths, "", finder)
        near = list(run.explaining.word())
        if refused and not totals.files:
            raise ToolError("\n".join(refused))
    elif writes:
        raise ToolError("`write` needs `paths`; a text is returned fixed, and never written")
    else:
        name, data = text
        outcome = FixOutcome(fix_data(name, data, finder.for_file(name), **wish._asdict()), wish)
        outcomes, totals = [outcome], FixTotals()
        explaining = Unchecked(())
        explaining.add(name, outcome.fixed.result)
        near = list(explaining.word())
        totals.add(outcome)
        for fault in outcome.fixed.faults():
            line, column, _ = outcome.fixed.result.source.position(fault.span.start)
            refused.refuse(f"{name}: not fixed: {line}:{column} syntax: {fault.message}")
    changed = [outcome for outcome in outcomes if outcome.is_changed]
    report = json.loads(as_report([as_data(outcome) for outcome in outcomes], totals))
    report["written"] = writes
    report["proofs"] = [_prove(outcome, has_text=text is not None) for outcome in changed]
    lines = [*map(_word_proof, report["proofs"]), *(line for each in outcomes for line in word_troubles(each))]
    diffs = "".join(write_diff(outcome, color=False) for outcome in changed)
    return Answer("\n".join([f"{diffs}{totals.word(is_dry=not writes)}", *lines, *refused, *near]) + "\n", report)


def _prove(outcome: FixOutcome, *, has_text: bool) -> dict[str, Any]:
    """Return the diff of a file, what the proof found to have changed in its data, and the text where it was given."""
    fixed = outcome.fixed
    return {
        "file": report_name(outcome.name),
        "diff": write_diff(outcome, color=False),
        "data": _list_changed_data(fixed),
        "comments_kept": True,  # otherwise the proof fails, and the file stays as it is
        "meaning_proven_unchanged": outcome.wish == SAFE,
        **({"text": fixed.text} if has_text else {}),
    }


def _list_changed_data(fixed: Fixed) -> dict[str, list[str]]:
    """Return the JSON Pointers of the scalars that were added, removed and changed, each list sorted.

    A renamed field counts as one removed and one added. In a file of several documents, a pointer begins with the
    number of its document.
    """
    before, after = dict(_scalars(fixed.before)), dict(_scalars(fixed.result.source if fixed.applied else fixed.before))
    return {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "changed": sorted(name for name in before.keys() & after.keys() if before[name] != after[name]),
    }


def _scalars(source: Source) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each scalar's pointer, and its type and value, which tell `1` from `true` and from `1.0`."""
    for document in read_documents(source)[0]:
        stack: list[tuple[Path, Any]] = [((), document.data)]
        seen: set[int] = set()  # a value that aliases share is listed where it is written
        while stack:
            path, value = stack.pop()
            if not isinstance(value, dict | list):
                yield document.pointer(path), (type(value).__name__, repr(value))
            elif id(value) not in seen:
                seen.add(id(value))
                items = value.items() if isinstance(value, dict) else enumerate(value)
                stack += reversed([((*path, step), item) for step, item in items])


def _word_proof(proof: Mapping[str, Any]) -> str:
    data = [f"{kind} {', '.join(pointers)}" for kind, pointers in proof["data"].items() if pointers]
    scored = ", and the rubrics are scored as before" if proof["meaning_proven_unchanged"] else ""
    rest = f"every other value and every comment is as before{scored}"
    return f"{visible(proof['file'])}: proof: {visible('; '.join(data) or 'no value changed')}; {rest}"


def report_name(name: str) -> str:
    """Return a file name as the JSON reports write it."""
    return name.encode("utf-8", "replace").decode()


def take_text(roots: Roots, given: Mapping[str, Any], prefix: str = "") -> tuple[str, bytes] | None:
    """Return the name and the content of the argument `text`, with a prefix, or None if it was not given.

    Raises:
        ToolError: when a text has no name or comes with paths, or the name is outside the roots.
    """
    text, name = given.get(f"{prefix}text"), given.get("name")
    if text is None:
        if name is not None and not any(key.endswith("text") for key in given):
            raise ToolError("`name` is the file name of a text; give `text` too, or use `paths` for files")
        return None
    if "paths" in given:
        raise ToolError("give `paths` or `text`, not both")
    if name is None:
        raise ToolError(f"`{prefix}text` needs `name`, the file name that selects its format and its settings")
    return roots.require(name), as_bytes(text)


def _silent_progress() -> Progress:
    return Progress(io.StringIO())


def _take_files(roots: Roots, given: Mapping[str, Any], finder: SettingsFinder) -> tuple[list[str], Find, bytes | None]:
    """Return the paths of a call, how to find their files, and the content if that was given as a text."""
    if (text := take_text(roots, given)) is None:
        return _require_paths(roots, given), roots.find, None
    name, data = text
    file = File(name, finder.for_file(name))
    return [name], lambda *_: [file], data


def _require_paths(roots: Roots, given: Mapping[str, Any]) -> list[str]:
    return [roots.require(path) for path in given.get("paths", ["."])]


def _find_settings(given: Mapping[str, Any]) -> SettingsFinder:
    select = frozenset(given["select"]) if "select" in given else None
    ignore = frozenset(given.get("ignore", ()))
    if select and select <= ignore:
        raise ToolError("`ignore` names every rule of `select`, so none would run; remove one of them")
    return SettingsFinder(Overrides(select, ignore))


def score(roots: Roots, given: Mapping[str, Any]) -> Answer:
    """Score judge outputs by the rubrics of a file."""
    rubrics = prepare_all(_load(read_one(roots, given, "rubric")))
    written, shown = io.StringIO(), io.StringIO()
    writer, table = FORMS["json"](written.write, Style()), FORMS["table"](shown.write, Style())

    def write(results: list[str]) -> None:
        writer.add(results)
        table.add(results)

    scoring = Scoring(rubrics, write, Progress(io.StringIO(), "scoring", "outputs"))
    if not scoring.run("outputs", io.BytesIO(_read_outputs(roots, given))):
        raise ToolError("no outputs found; an output is what the judge returned, as an object or a text")
    writer.end(scoring.totals, {})
    table.end(scoring.totals, {})
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
