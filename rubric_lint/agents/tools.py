"""List the tools: what each does, its arguments, whether it writes, and the function that answers it."""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rubric_lint.agents.roots import CRASHED, Roots, ToolAnswer, ToolError
from rubric_lint.assess.diff.rubric_diff import add_places, compare_rubrics, pair_rubrics, prepare_all
from rubric_lint.convert.importing import ChoiceError, import_tables, read_choices
from rubric_lint.lint.fix import SAFE, FixSelection
from rubric_lint.lint.fix.run import FixOutcome, FixRun
from rubric_lint.lint.project.files import File, Unreadable, name_other_kind, read
from rubric_lint.lint.project.opening import SMALL_LIMIT, STDIN, read_file
from rubric_lint.lint.project.paths import is_there
from rubric_lint.lint.project.settings import Overrides, SettingsFinder
from rubric_lint.lint.run.argument import FileArgument, load_argument
from rubric_lint.lint.run.baseline import Baselines
from rubric_lint.lint.run.batch import FileOutcome, lint_bytes, lint_files
from rubric_lint.lint.run.console import Progress, report_crash
from rubric_lint.lint.run.linting import Find, LintRun
from rubric_lint.lint.run.summary import Failure, Reporter
from rubric_lint.model.messages import describe, expected_of, join_words, point_to_known, visible
from rubric_lint.model.schema_files import load_bundled
from rubric_lint.model.starter import RUBRICS, start
from rubric_lint.report import REPORTERS, Style, Write
from rubric_lint.report.changes import DiffReport, as_json, as_text
from rubric_lint.report.fixes import as_data, as_report, format_troubles, write_diff
from rubric_lint.report.scores import FORMS
from rubric_lint.report.show import SHOW_FORMATS
from rubric_lint.rules import BY_NAME, list_choices
from rubric_lint.scoring.loading import LoadedRubric, load_models
from rubric_lint.scoring.run import ScoringRun
from rubric_lint.scoring.show.source import ShowRun
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, as_bytes

Arguments = Mapping[str, Any]
Schema = Mapping[str, Any]


class Tool(NamedTuple):
    """A tool. `writes`: it can write files. `report`: the schema file of its answer, if the answer has one."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    answer: Callable[[Roots, Arguments], ToolAnswer]
    writes: bool = False
    report: str | None = None

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The schema of the data that it answers."""
        if self.report is None:
            return None
        # Without its address, which a client might download.
        return {name: value for name, value in load_bundled(self.report).items() if name != "$id"}


def check_arguments(given: Arguments, schema: Schema) -> None:
    """Check the arguments of a call; raise ToolError when one is unknown, missing or wrong; the message names it."""
    known = schema["properties"]
    for name in given:
        if name not in known:
            hint = point_to_known(name, known) if known else "this tool takes none"
            raise ToolError(f"unknown argument `{name}`; {hint}")
    missing = [f"`{name}`" for name in schema["required"] if name not in given]
    if missing:
        raise ToolError(f"missing {join_words(missing)}")
    from jsonschema import Draft202012Validator  # noqa: PLC0415  (a tenth of a second)

    error = next(Draft202012Validator(schema).iter_errors(dict(given)), None)
    if error is None:
        return
    name, *steps = error.absolute_path
    place = f"`{name}`{''.join(f'[{step}]' for step in steps)}"
    match error.validator:
        case "maxLength":
            length, most = len(error.instance), error.validator_value
            problem = f"it has {length:,} characters, and the limit is {most:,}; save it as a file and pass its path"
        case "enum":
            hint = point_to_known(str(error.instance), error.validator_value)
            problem = f"unknown value {describe(error.instance, '')}; {hint}"
        case "minItems":
            problem = "the list is empty; leave the argument out for the default"
        case _:
            problem = f"expected {expected_of(error.schema)}, found {describe(error.instance, str(error.instance))}"
    raise ToolError(f"{place}: {problem}")


class _Refused(list[str]):
    """Messages on the files that were not read; their names cannot break lines."""

    def refuse(self, message: str) -> None:
        self.append(visible(message))

    def report_crash(self, fault: Exception, file: str) -> None:
        """Take a file that made rubric-lint crash."""
        report_crash(fault, file)
        self.refuse(f"{file}: {CRASHED}: {type(fault).__name__}: {fault}")

    def check(self, files: int) -> None:
        """Refuse a call of which no file could be read; raise ToolError with all messages."""
        if self and not files:
            raise ToolError("\n".join(self))


class _CallFiles(NamedTuple):
    """The files of a call: how to find them, and their content if that was given as a text."""

    paths: list[str]
    find: Find
    data: bytes | None

    @classmethod
    def of(cls, roots: Roots, given: Arguments, finder: SettingsFinder) -> "_CallFiles":
        """Take the files that a call names."""
        text = _find_text(roots, given)
        if text is None:
            return cls([roots.require(path) for path in given.get("paths", ["."])], roots.find, None)
        name, data = text
        file = File(name, finder.for_file(name))
        return cls([name], lambda *_: [file], data)

    def hooks(self, refused: _Refused) -> dict[str, Any]:
        """Return the arguments with which a run reads these files, and reports those that it cannot read."""
        reading = read if self.data is None else lambda _: self.data
        return {"find": self.find, "read": reading, "refuse": refused.refuse, "report_crash": refused.report_crash}


def _find_text(roots: Roots, given: Arguments, prefix: str = "") -> tuple[str, bytes] | None:
    """Return the name and content of the argument `text`, with a prefix, or None; raise ToolError if it is wrong."""
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


def _find_settings(given: Arguments) -> SettingsFinder:
    select = frozenset(given["select"]) if "select" in given else None
    ignore = frozenset(given.get("ignore", ()))
    if select and select <= ignore:
        raise ToolError("`ignore` names every rule of `select`, so none would run; remove one of them")
    return SettingsFinder(Overrides(select, ignore))


class _JsonAndText(Reporter):
    """Writes a report as JSON for programs and as a text for the agent, and keeps what could not be read."""

    def __init__(self, formats: Mapping[str, Callable[[Write, Style], Any]], form: str) -> None:
        self.failures = _Refused()
        self._data, self._text = io.StringIO(), io.StringIO()
        self._reporters = formats["json"](self._data.write, Style()), formats[form](self._text.write, Style())

    def add(self, result: Any) -> None:
        for reporter in self._reporters:
            reporter.add(result)

    def fail(self, failure: Failure) -> None:
        reason = f"{CRASHED}: {failure.reason}" if failure.is_fault else failure.reason
        self.failures.refuse(f"{failure.file}: {reason}")

    def end(self, *totals: Any) -> None:
        for reporter in self._reporters:
            reporter.end(*totals)

    def answer(self, notes: Iterable[str]) -> ToolAnswer:
        text = self._text.getvalue() + "".join(f"{note}\n" for note in notes)
        return ToolAnswer(text, json.loads(self._data.getvalue()))


def lint(roots: Roots, given: Arguments) -> ToolAnswer:
    """Check a text, or files and folders."""
    finder = _find_settings(given)
    reporter, progress = _JsonAndText(REPORTERS, "agent"), Progress(io.StringIO())
    paths, find, data = _CallFiles.of(roots, given, finder)

    def lint_all(files: Iterable[File | Unreadable]) -> Iterator[tuple[File | Unreadable, FileOutcome]]:
        if data is None:  # in one process: workers would be forked from a program with threads
            return lint_files(files, processes=1)
        return ((file, lint_bytes(file, data)) for file in files if isinstance(file, File))

    run = LintRun(reporter, progress, [Baselines(finder, None, renews=False)], find=find, lint=lint_all)
    summary = run.lint_all(paths, "", finder)
    reporter.failures.check(summary.files)
    reporter.end(summary)
    return reporter.answer([*reporter.failures, *run.explaining.format_lines()])


def show(roots: Roots, given: Arguments) -> ToolAnswer:
    """Describe what a text, or files and folders, hold."""
    finder, reporter = SettingsFinder(), _JsonAndText(SHOW_FORMATS, "full")
    files = _CallFiles.of(roots, given, finder)
    run = ShowRun(reporter.add, Progress(io.StringIO()), **files.hooks(reporter.failures))
    summary = run.show_all(files.paths, "", finder)
    reporter.failures.check(summary.files)
    reporter.end(summary)
    return reporter.answer(reporter.failures)


def fix(roots: Roots, given: Arguments) -> ToolAnswer:
    """Fix a text, or files; write files only with `write`."""
    finder, refused = _find_settings(given), _Refused()
    selection = FixSelection(given.get("unsafe", False), tuple(given.get("choose", ())))
    writes = given.get("write", False)
    files = _CallFiles.of(roots, given, finder)
    if writes and files.data is not None:
        raise ToolError("`write` needs `paths`; a text is returned fixed, and never written")
    outcomes: list[FixOutcome] = []
    options = {**selection._asdict(), **files.hooks(refused)}
    run = FixRun(outcomes.append, Progress(io.StringIO()), is_dry=not writes, **options)
    totals = run.fix_all(files.paths, "", finder)
    refused.check(totals.files)
    changed = [outcome for outcome in outcomes if outcome.is_changed]
    report = json.loads(as_report([as_data(outcome) for outcome in outcomes], totals))
    report["written"] = writes
    report["proofs"] = [_prove(outcome, has_text=files.data is not None) for outcome in changed]
    notes = [_format_proof(proof) for proof in report["proofs"]]
    for outcome in outcomes:
        notes += format_troubles(outcome)
    notes += [*refused, *run.explaining.format_lines()]
    diffs = "".join(proof["diff"] for proof in report["proofs"])
    return ToolAnswer("\n".join([f"{diffs}{totals.format(is_dry=not writes)}", *notes]) + "\n", report)


def _format_proof(proof: Mapping[str, Any]) -> str:
    changes = [f"{kind} {', '.join(pointers)}" for kind, pointers in proof["data"].items() if pointers]
    data = f"{visible('; '.join(changes) or 'no value changed')}; every other value and every comment is as before"
    scored = ", and the rubrics are scored as before" if proof["meaning_proven_unchanged"] else ""
    return f"{visible(proof['file'])}: proof: {data}{scored}"


def _prove(outcome: FixOutcome, *, has_text: bool) -> dict[str, Any]:
    """Return the diff of a file, what the proof found to have changed in its data, and the text where it was given.

    The data are the JSON Pointers of the scalars that were added, removed and changed, each list sorted. A renamed
    field counts as one removed and one added. In a file of several documents, a pointer begins with the number of its
    document.
    """
    fixed = outcome.fixed
    before = dict(_scalars(fixed.before))
    after = dict(_scalars(fixed.result.source)) if fixed.applied else before
    proof = {
        "file": outcome.name.encode("utf-8", "replace").decode(),  # as the JSON reports write it
        "diff": write_diff(outcome, color=False),
        "data": {
            "added": sorted(after.keys() - before.keys()),
            "removed": sorted(before.keys() - after.keys()),
            "changed": sorted(name for name in before.keys() & after.keys() if before[name] != after[name]),
        },
        "comments_kept": True,  # otherwise the proof fails, and the file stays as it is
        "meaning_proven_unchanged": outcome.wish == SAFE,
    }
    if has_text:
        proof["text"] = fixed.text
    return proof


def _scalars(source: Source) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each scalar's pointer, and its type and value, which tell `1` from `true` and from `1.0`."""
    for document in read_documents(source)[0]:
        for path in [(), *document.extents]:
            value = document.value(path)
            if not isinstance(value, dict | list):
                yield document.pointer(path), (type(value).__name__, repr(value))


def score(roots: Roots, given: Arguments) -> ToolAnswer:
    """Score judge outputs by the rubrics of a file."""
    rubrics = prepare_all(_load(_read_one(roots, given, "rubric")))
    reporter = _JsonAndText(FORMS, "table")
    scoring = ScoringRun(rubrics, reporter.add, Progress(io.StringIO(), "scoring", "outputs"))
    if not scoring.run("outputs", io.BytesIO(_read_outputs(roots, given))):
        raise ToolError("no judge outputs found; a judge output is what the judge returned, as an object or a text")
    causes = {"invalid": scoring.causes.to_json()} if scoring.totals.invalid else {}
    reporter.end(scoring.totals, causes)
    return reporter.answer(scoring.warnings())


def _read_outputs(roots: Roots, given: Arguments) -> bytes:
    """Return the outputs of a file, or those of the call as JSON Lines; a text is what a judge wrote."""
    outputs: Iterable[Any] | None = given.get("outputs")
    path: str | None = given.get("outputs_path")
    if (outputs is None) == (path is None):
        raise ToolError("give either `outputs` or `outputs_path`")
    if outputs is None:
        return read_file(roots.require(path or ""), SMALL_LIMIT)
    records = [{"output": output} if isinstance(output, str) else output for output in outputs]
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def diff(roots: Roots, given: Arguments) -> ToolAnswer:
    """Compare the meaning of the rubrics of two files."""
    files = [_read_one(roots, given, "old"), _read_one(roots, given, "new")]
    was, now = map(_load, files)
    changes = compare_rubrics(pair_rubrics(prepare_all(was), prepare_all(now)))
    comparison = DiffReport(files[0].label, files[1].label, tuple(add_places(change, was, now) for change in changes))
    return ToolAnswer("\n".join(as_text(comparison)) + "\n", json.loads(as_json(comparison)))


def _read_one(roots: Roots, given: Arguments, which: str) -> FileArgument:
    """Return a file that is given by its path, as a Git revision, or as a text."""
    path: str | None = given.get(which)
    text = _find_text(roots, given, f"{which}_")
    if (path is None) == (text is None):
        raise ToolError(f"give either `{which}` or `{which}_text`")
    if text is not None:
        return FileArgument(text[0], text[0], text[1])
    name = path or ""
    if name.startswith("-") and name != STDIN:  # Git would take it for an option
        raise ToolError(f"`{which}`: {name}: name a file, or a file in a Git revision such as HEAD:suite.yaml")
    if "\0" in name or ":" not in name or is_there(name):
        roots.require(name)
    found = load_argument(name)
    roots.require(found.path)  # of a file in a revision, its place in the work tree
    return found


def _load(file: FileArgument) -> dict[str, LoadedRubric]:
    return load_models(file.label, file.data, SettingsFinder().for_file(file.path))


def import_file(roots: Roots, given: Arguments) -> ToolAnswer:
    """Return the tables of a file as a rubric file, and what there is to say of them."""
    file = _read_one(roots, given, "file")
    columns = given.get("map", {}).items()
    try:
        choices = read_choices(
            columns, given.get("ignore_columns", ()), given.get("rescale"), given.get("rubric"), given.get("header_row")
        )
        imported = import_tables(*file, SettingsFinder().for_file(file.path), choices)
    except ChoiceError as wrong:
        raise ToolError(str(wrong)) from None
    return ToolAnswer(
        "\n".join([*(message.word() for message in imported.messages), imported.text]), imported.to_json()
    )


def explain(_roots: Roots, given: Arguments) -> ToolAnswer:
    """Return the page of a rule."""
    rule = BY_NAME[given["rule"]]
    return ToolAnswer(f"{rule.page}\n{rule.url}\n", {**rule.to_json(), "page": rule.page})


def list_rules(_roots: Roots, _given: Arguments) -> ToolAnswer:
    """List the rules."""
    lines = []
    for rule in BY_NAME.values():
        fix = f"; fix: {rule.kinds}" if rule.kinds else ""
        lines.append(f"{rule.name} ({rule.severity}{fix}): {rule.summary}\n")
    return ToolAnswer("".join(lines), {"rules": [rule.to_json() for rule in BY_NAME.values()]})


def init(roots: Roots, given: Arguments) -> ToolAnswer:
    """Return a file to start from, and with `path` write it."""
    shape, path = given.get("shape", SHAPE["default"]), given.get("path")
    suite = given.get("suite", False)
    other_kind = None if path is None else name_other_kind(roots.require(path))
    if other_kind:
        raise ToolError(
            f"{path} would not be checked, as it is {other_kind}; choose a name that ends in .yaml or .json"
        )
    content = start(shape, suite=suite, as_json=(path or "").lower().endswith(".json"))
    if path is not None:
        try:
            with Path(path).open("xb") as stream:
                stream.write(content.encode())
        except FileExistsError:
            raise ToolError(f"{path}: already exists; name another file") from None
    return ToolAnswer(content, {"file": path, "written": path is not None, "text": content})


RULES = list(BY_NAME)


def text(description: str, **more: Any) -> Schema:
    """Return the schema of a string."""
    return {"type": "string", "description": description, **more}


def flag(description: str) -> Schema:
    """Return the schema of a switch that is off by default."""
    return {"type": "boolean", "default": False, "description": description}


def names(description: str, known: Iterable[str] = RULES) -> Schema:
    """Return the schema of a list of names, of rules by default."""
    return {"type": "array", "items": {"type": "string", "enum": list(known)}, "description": description}


def several(items: Schema, description: str) -> Schema:
    """Return the schema of a list with at least one item."""
    return {"type": "array", "items": items, "minItems": 1, "description": description}


PATHS = several(
    {"type": "string"},
    "Files and folders, relative to the root or absolute. Default: the root. Not together with `text`.",
)

TEXT = text("The content of one file, instead of `paths`; saved or not. Needs `name`.", maxLength=SMALL_LIMIT)

NAME = text(
    "The file name of the text, such as suites/support.yaml: its suffix selects YAML, JSON or JSON Lines, and its "
    "folder the settings. The file need not exist."
)

SHAPE = text(
    "How the judge answers: yes or no for each criterion (checklist), a score from 0 to 10 for each (score-ranges) or "
    "for the whole answer (holistic), or one of the named levels of each (levels).",
    enum=list(RUBRICS),
    default=next(iter(RUBRICS)),
)


def arguments(properties: Mapping[str, Schema], *required: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _file(which: str, what: str) -> dict[str, Schema]:
    """Return the arguments for one file: its path, or its text."""
    return {
        which: text(f"{what}: the path of a file, or a file in a Git revision such as HEAD:suites/support.yaml."),
        f"{which}_text": text(f"{what} as a text, instead of `{which}`. Needs `name`.", maxLength=SMALL_LIMIT),
    }


_SOURCES = {"paths": PATHS, "text": TEXT, "name": NAME}

_OUTPUTS = several(
    {"type": ["object", "string"]}, "What the judge returned: objects, raw texts, or records {id, rubric, output}."
)

TOOLS = (
    Tool(
        "lint",
        "Check rubrics",
        "Find mistakes in LLM-judge rubrics (YAML, JSON): gaps and overlaps of score bands, unknown fields, vague "
        "outcomes, wrong weights and gates. Each finding has its place, its rule, and its edit if it can be fixed. "
        "Call it after each change to a file of rubrics.",
        arguments(
            {
                **_SOURCES,
                "select": names("Run only these rules."),
                "ignore": names("Run all rules except these."),
            }
        ),
        lint,
        report="report/v1.json",
    ),
    Tool(
        "fix",
        "Fix rubrics",
        "Apply the fixes of findings. Writes nothing unless `write` is true: it returns the diff, and the proof, which "
        "lists every value that changed; a fix that would change anything else is refused.",
        arguments(
            {
                **_SOURCES,
                "unsafe": flag("Also apply fixes that may change the meaning of a rubric."),
                "choose": names(
                    "Where a finding lists `choices`, of which only an author can pick one, apply the first of these.",
                    list_choices(),
                ),
                "write": flag("Write the files. Without it, nothing is written."),
                "select": names("Apply only the fixes of these rules."),
                "ignore": names("Leave out the fixes of these rules."),
            }
        ),
        fix,
        writes=True,
    ),
    Tool(
        "explain",
        "Explain a rule",
        "Return the page of a rule: what it finds, why that matters, a flagged and an accepted example.",
        arguments({"rule": text("The name of the rule.", enum=RULES)}, "rule"),
        explain,
    ),
    Tool(
        "rules", "List the rules", "List the rules, each with its severity, fix and summary.", arguments({}), list_rules
    ),
    Tool(
        "show",
        "Show rubrics",
        "Describe the rubrics in files: shape, criteria, weight shares, must-pass gates, and the scores of example "
        "answers; and what is nearly a rubric, with the reason why it is not read. Call it to see what a file means "
        "before you change it.",
        arguments(_SOURCES),
        show,
        report="show/v1.json",
    ),
    Tool(
        "score",
        "Score judge outputs",
        "Turn what a judge returned into scores and verdicts by a rubric, with exact arithmetic. A judge output that "
        "does not match the rubric is invalid, never 0, and says why.",
        arguments(
            {
                **_file("rubric", "The file of rubrics"),
                "name": NAME,
                "outputs": _OUTPUTS,
                "outputs_path": text(
                    "A file of judge outputs, JSON Lines or JSON, of at most 1 MB; instead of `outputs`."
                ),
            }
        ),
        score,
    ),
    Tool(
        "diff",
        "Compare rubrics",
        "Report what changed in meaning between two versions of a file of rubrics: outcomes, weight shares, must-pass "
        "gates, thresholds. Comments, order and notation do not count.",
        arguments({**_file("old", "The old version"), **_file("new", "The new version"), "name": NAME}),
        diff,
        report="diff/v1.json",
    ),
    Tool(
        "import",
        "Import a table",
        "Return a rubric file made of the tables in CSV, an Excel workbook or Markdown, and what there is to say of "
        "them: what was not read, and findings at their cells. Writes nothing. A column that may bear on the score and "
        "whose header does not say how is an error that says what to pass in `map`.",
        arguments(
            {
                **_file("file", "The file of tables (.csv, .tsv, .xlsx, .md)"),
                "name": NAME,
                "map": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "description": "What columns hold, by header: a field (weight), a level (level 4) or scores "
                    "(score 0-3).",
                },
                "ignore_columns": several({"type": "string"}, "The columns to leave out."),
                "rescale": text("Turn whole scores of this scale, such as 1..5, into 0 to 10."),
                "rubric": text("Import only this sheet, or the table under this heading."),
                "header_row": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "The row, or line of CSV, of the header.",
                },
            }
        ),
        import_file,
    ),
    Tool(
        "init",
        "Start a rubric",
        "Return a valid file to start from. With `path` it is written there, never over an existing file.",
        arguments(
            {
                "shape": SHAPE,
                "suite": flag("Start a suite with one test case instead of a rubric."),
                "path": text("The file to write. A name that ends in .json selects JSON."),
            }
        ),
        init,
        writes=True,
    ),
)
"""The tools, in the order in which an agent sees them."""

BY_TOOL_NAME = {tool.name: tool for tool in TOOLS}
