"""List the tools: what each does, its arguments, whether it writes, and the function that answers it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rubric_lint.format.schema_files import load_bundled
from rubric_lint.format.starter import RUBRICS, start
from rubric_lint.lint.importing import ChoiceError, TableFile, choose, import_tables
from rubric_lint.mcp.checking import diff, fix, lint, read_one, score, show
from rubric_lint.mcp.roots import Answer, Roots, ToolError
from rubric_lint.messages import describe, expected_of, join_words, point_to_known
from rubric_lint.project.files import name_other_kind
from rubric_lint.project.opening import SMALL_LIMIT
from rubric_lint.project.repository import name_schema
from rubric_lint.project.settings import SettingsFinder
from rubric_lint.rules import BY_NAME, list_choices

Schema = Mapping[str, Any]

RULES = list(BY_NAME)


def text(description: str, **more: Any) -> Schema:
    """Return the schema of a string."""
    return {"type": "string", "description": description, **more}


def flag(description: str) -> Schema:
    """Return the schema of a switch that is off by default."""
    return {"type": "boolean", "default": False, "description": description}


def rules(description: str) -> Schema:
    """Return the schema of a list of rule names."""
    return {"type": "array", "items": {"type": "string", "enum": RULES}, "description": description}


def choices(description: str) -> Schema:
    """Return the schema of a list of names of choices."""
    return {"type": "array", "items": {"type": "string", "enum": list(list_choices())}, "description": description}


PATHS: Schema = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "description": "Files and folders, relative to the root or absolute. Default: the root. Not together with `text`.",
}

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


def check_arguments(given: Mapping[str, Any], schema: Schema) -> None:
    """Check the arguments of a call.

    Raises:
        ToolError: when one is unknown, missing or wrong; the message names it.
    """
    known = schema["properties"]
    if unknown := [name for name in given if name not in known]:
        hint = point_to_known(unknown[0], known) if known else "this tool takes none"
        raise ToolError(f"unknown argument `{unknown[0]}`; {hint}")
    if missing := [name for name in schema["required"] if name not in given]:
        raise ToolError(f"missing {join_words([f'`{name}`' for name in missing])}")
    for name, value in given.items():
        _check_value(f"`{name}`", value, known[name])


def _check_value(place: str, value: Any, schema: Schema) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415  (a tenth of a second)

    error = next(iter(Draft202012Validator(schema).iter_errors(value)), None)
    if error is None:
        return
    place += "".join(f"[{step}]" for step in error.absolute_path)
    match error.validator:
        case "maxLength":
            length, most = len(error.instance), error.validator_value
            raise ToolError(
                f"{place}: it has {length:,} characters, and the limit is {most:,}; save it as a file and pass its path"
            )
        case "enum":
            hint = point_to_known(str(error.instance), error.validator_value)
            raise ToolError(f"{place}: unknown value {describe(error.instance, '')}; {hint}")
        case "minItems":
            raise ToolError(f"{place}: the list is empty; leave the argument out for the default")
        case _:
            found = describe(error.instance, str(error.instance))
            raise ToolError(f"{place}: expected {expected_of(error.schema)}, found {found}")


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


class Tool(NamedTuple):
    """A tool. `writes`: it can write files. `report`: the schema file of its answer, if the answer has one."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    answer: Callable[[Roots, Mapping[str, Any]], Answer]
    writes: bool = False
    report: str | None = None

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The schema of the data that it answers."""
        if self.report is None:
            return None
        # Without its address, which a client might download.
        return {name: value for name, value in load_bundled(self.report).items() if name != "$id"}


def explain(_roots: Roots, given: Mapping[str, Any]) -> Answer:
    """Return the page of a rule."""
    rule = BY_NAME[given["rule"]]
    return Answer(f"{rule.page}\n{rule.url}\n", {**rule.to_json(), "page": rule.page})


def list_rules(_roots: Roots, _given: Mapping[str, Any]) -> Answer:
    """List the rules."""
    lines = [f"{rule.name} ({rule.severity}{f'; fix: {rule.kinds}' if rule.kinds else ''}): {rule.summary}" for rule in
             BY_NAME.values()]  # fmt: skip
    return Answer("\n".join(lines) + "\n", {"rules": [rule.to_json() for rule in BY_NAME.values()]})


def init(roots: Roots, given: Mapping[str, Any]) -> Answer:
    """Return a file to start from, and with `path` write it."""
    shape, path = given.get("shape", SHAPE["default"]), given.get("path")
    suite = given.get("suite", False)
    schema = name_schema("suite" if suite else "rubric", path or "-")
    if path is None:
        content = start(shape, schema, suite=suite, as_json=False)
        return Answer(content, {"file": None, "written": False, "text": content})
    if kind := name_other_kind(roots.require(path)):
        raise ToolError(f"{path} would not be checked, as it is {kind}; choose a name that ends in .yaml or .json")
    content = start(shape, schema, suite=suite, as_json=path.lower().endswith(".json"))
    try:
        with Path(path).open("xb") as stream:
            stream.write(content.encode())
    except FileExistsError:
        raise ToolError(f"{path}: already exists; name another file") from None
    return Answer(content, {"file": path, "written": True, "text": content})


def _file(which: str, what: str) -> dict[str, Schema]:
    """Return the arguments for one file: its path, or its text."""
    return {
        which: text(f"{what}: the path of a file, or a file in a Git revision such as HEAD:suites/support.yaml."),
        f"{which}_text": text(f"{what} as a text, instead of `{which}`. Needs `name`.", maxLength=SMALL_LIMIT),
    }


_SOURCES = {"paths": PATHS, "text": TEXT, "name": NAME}

_OUTPUTS: Schema = {
    "type": "array",
    "items": {"type": ["object", "string"]},
    "minItems": 1,
    "description": "What the judge returned: objects, raw texts, or records {id, rubric, output}.",
}

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
                "select": rules("Run only these rules."),
                "ignore": rules("Run all rules except these."),
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
                "choose": choices(
                    "Where a finding lists `choices`, of which only an author can pick one, apply the first of these."
                ),
                "write": flag("Write the files. Without it, nothing is written."),
                "select": rules("Apply only the fixes of these rules."),
                "ignore": rules("Leave out the fixes of these rules."),
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
        "Describe the rubrics in files: shape, criteria, shares, gates, and what example answers score; and what is "
        "nearly a rubric, with the reason why it is not read. Call it to see what a file means before you change it.",
        arguments(_SOURCES),
        show,
        report="show/v1.json",
    ),
    Tool(
        "score",
        "Score judge outputs",
        "Turn what a judge returned into scores and verdicts by a rubric, with exact arithmetic. An output that does "
        "not match the rubric is invalid, never 0, and says why.",
        arguments(
            {
                **_file("rubric", "The file of rubrics"),
                "name": NAME,
                "outputs": _OUTPUTS,
                "outputs_path": text("A file of outputs, JSON Lines or JSON, of at most 1 MB; instead of `outputs`."),
            }
        ),
        score,
    ),
    Tool(
        "diff",
        "Compare rubrics",
        "Report what changed in meaning between two versions of a file of rubrics: outcomes, shares, gates, "
        "thresholds. Comments, order and notation do not count.",
        arguments({**_file("old", "The old version"), **_file("new", "The new version"), "name": NAME}),
        diff,
        report="diff/v1.json",
    ),
    Tool(
        "import",
        "Import a table",
        "Return a rubric file made of the tables in CSV, an Excel workbook or Markdown, and what there is to say of "
        "them: what was not read, and findings at their cells. Writes nothing. Nothing is guessed: a column with an "
        "unknown header is an error that says what to pass in `map`.",
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
                "ignore_columns": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "description": "The columns to leave out.",
                },
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
