"""Define every option once, and what excludes what; a command names the ones that it takes."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TextIO

import click

from rubric_lint.cli.commands import Command, Exit, Option, format_near, format_unknown
from rubric_lint.cli.given import GIVEN, Given
from rubric_lint.lint.project.opening import STDIN
from rubric_lint.lint.project.paths import exists, is_same
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.finding import LIST_CHOICES
from rubric_lint.model.messages import UserError, join_words, point_to_known
from rubric_lint.report import REPORTERS
from rubric_lint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from click.shell_completion import CompletionItem

    from rubric_lint.lint.project.settings import SettingsFinder
    from rubric_lint.lint.run.argument import FileArgument
    from rubric_lint.rules.rule import Rule
    from rubric_lint.scoring.loading import LoadedRubric


class AnyPath(click.ParamType):
    """A path, which need not exist. `click.Path` would look at the file system and load translations."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path unchanged; reject the empty one that an unset shell variable leaves."""
        if value == "" and param:
            if param.name == "paths":
                raise click.UsageError("a path is empty; omit it to check the current folder", ctx)
            name = param.opts[0].upper() if isinstance(param, click.Argument) else max(param.opts, key=len)
            raise click.UsageError(f"{name} is empty; name a file", ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Let the shell complete file names."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class Choice(click.Choice):
    """One of several names. For an unknown one it suggests the nearest.

    `hint` ends the message if no name is near.
    """

    def __init__(self, names: Sequence[str], hint: str = "") -> None:
        super().__init__(names)
        self.hint = hint

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return the message for an unknown value: the known ones, and which of them may be meant."""
        hint = format_unknown(str(value), self.choices) or self.hint
        return f"{value!r} is not one of {', '.join(self.choices)}{hint}"


class Finite(click.FloatRange):
    """A range of finite numbers; it rejects `nan`, which compares with no bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a finite number", param, ctx)


class OptionSpec(NamedTuple):
    """An option: its group in the full help, what it takes, its help, and what `_TABLE` says more."""

    group: str
    takes: str
    help: str
    more: Mapping[str, str]


_MAP = "Read FIELD from PATH, as output=reply.text, records=LIST or criteria=LIST[NAME:VALUE]."
"""What all commands that read judge outputs say of `--map`."""

_TABLE = f"""
Adoption
    add-ignores  Add an ignore comment for every finding; fix nothing.
    baseline FILE  Hide the known findings listed in FILE.
    diff-base REV  Report only findings on lines changed since the current branch left the Git revision REV, committed
        or not. In files that Git does not track, every line counts as changed.
    no-baseline  Ignore the baseline that the settings name.
    reason TEXT  With --add-ignores: the reason to write in each comment.
    write-baseline  Record all current findings in the baseline.
Cluster
    engine ray|  Score Parquet files with Ray Data, on the cluster of RAY_ADDRESS or on this machine.
Requests
    again  Ask again for the invalid judge outputs of a results file, ANSWERS.
    concurrency 1..1000 default=8  Most parallel requests.
    id ID name=key  The answer's id, on which the shuffled order depends.
    max-attempts 1..10 default=3  Attempts to get a valid judge output.
    max-cost AMOUNT reads=score.judge_options:read_amount  Spend at most AMOUNT in this run, by --prices. Without
        --max-tokens, a reply then has at most 8192 tokens.
    max-requests 0..  Send at most N requests in this run, retries included.
    model:order NAME reads=score.prompt:read_model  The model, on which the shuffled order depends.
    per-criterion  Ask for one criterion per request.
    probe [N] alone=20 reads=read_count  Judge worse variants of N answers too.  [N: 20]
    retries 0..100 default=5  Retries after a failed request.
    rpm <positive>  At most N requests per minute and endpoint.  [default: no limit]
    sample:order 1..  The sample, on which the order depends.  [default: 1]
    samples 1..99 default=1  Judge outputs per answer and model.
    samples:two 2..99 default=2  Judge outputs per answer and model.
    shuffle [SEED] alone=1 reads=read_seed  Ask for the criteria in shuffled order.  [seed: 1]
    timeout <positive> default=120.0 metavar=SECONDS  Time limit of each request.
    tpm <positive>  At most about N tokens per minute and endpoint.  [default: no limit]
Output
    agent AGENT reads=lint.setup:read_agent  The coding agent to install it for.
    cache-dir DIR  Folder of the cache of replies.  [default: see `rubric-lint cache dir`]
    check  Write nothing; exit with 1 if a file would change.
    color auto|always|never default=auto  When to use color.
    compact  Write JSON Lines without criteria and the records' other fields.
    diff  Write nothing; show a diff of the changes.
    force  Overwrite an existing file.
    form editor|completion|strict default=editor  For an editor's YAML server alone, for one that runs with
        `rubric-lint lsp`, or for validators such as Ajv.
    format FORMAT name=form  Report format.
    format:findings {"|".join(REPORTERS)} metavar=FORMAT name=form  Report format.  [default: by --output, else full; in
        GitHub Actions github, for coding agents agent]
    format:results jsonl|json|table name=form  Output format.  [default: table on a terminal, else jsonl]
    format:assess full|json|markdown name=form  Report format.  [default: by the ending of --output, else full]
    format:agree table|json name=form  Report format.  [default: by the ending of --output, else table]
    format:diff text|markdown|json name=form  Report format.  [default: by the ending of --output, else text]
    format:improve full|json name=form  Report format.  [default: by the ending of --output, else full]
    format:prompt text|messages name=form  Report format.  [default: by the ending of --output, else text]
    format:show full|json name=form  Report format.  [default: by the ending of --output, else full]
    output FILE  Write to FILE.  [default: stdout]
    output:export FILE  Write to FILE; without --to, the ending .yaml, .csv, .md or .xlsx chooses the format.  [default:
        stdout]
    output:report FILE reads=read_output  Write the report to FILE, in the format of its ending (.json, .sarif, .xml for
        JUnit, .txt); print only the summary to stdout.
    output:markdown FILE reads=read_output  Write the report to FILE: .json, .md or .txt.
    output:prompt FILE reads=read_output  Write to FILE: .json for messages, .txt; with --answers .jsonl.
    output:text FILE reads=read_output  Write the report to FILE: .json or .txt.
    output:settings FILE  Settings file to write; - prints tables.
    output:sheet FILE  The sheet to write, .xlsx or .csv. An existing one is never replaced.
    output:journal FILE  Results file, JSON Lines; required with -; an existing one is resumed.  [default:
        NAME.judged.jsonl for NAME.jsonl]
    output:results FILE  Write the results to a .jsonl, .csv (also with .gz or .zst) or .parquet file; with --engine, to
        a folder.
    output:merged FILE  Write the results to a .jsonl, .csv (also with .gz or .zst) or .parquet file.
    output:tests FILE  File to write; - is stdout.  [default: named after RUBRIC]
    prices FILE  Prices of a million tokens by model, in TOML or JSON; the summary then has the cost.
    quiet  Do not print the summary; report only problems.
    statistics  Show the number of findings per rule instead of the findings.
    strict  If anything would be lost, write nothing and exit with 1.
    to FORMAT metavar=FORMAT name=target  Format to write.
    to:target FORMAT metavar=FORMAT name=target  Format to write.
    to:folder DIR name=folder  Install it into DIR/rubric-lint instead.
    watch  Re-run when files change.
    worst 0..  Disagreements to list.  [default: 10; HTML: 200; JSON: all]
    write  Write what is offered into RUBRIC.  [default: show a diff]
Verdicts
    allow-invalid  Do not exit with 1 for invalid records; still show them.
    borderline SCORE name=borderline_at reads=score.options:read_threshold  Lowest score that is borderline.  [default:
        the settings', or 0.6]
    fail-on:verdict fail|borderline|never default=fail metavar=VERDICT  Verdict that makes the exit code 1; worse ones
        do too.
    fail-on-worse  Exit with 1 if more answers got worse than better since --compare.
    fail-under-doubt  Exit with 1 also where the 95% interval leaves one of these limits undecided.
    max-invalid-share <share>  Exit with 1 if more judge outputs are invalid, instead of for each.
    min-pass-share <share>  Exit with 1 if fewer of the valid judge outputs pass. This and --fail-on-worse replace the
        default of --fail-on.
    pass SCORE name=pass_at reads=score.options:read_threshold  Lowest score that passes.  [default: the settings', or
        0.8]
Input
    answer TEXT reads=score.prompt:read_text  The answer to judge; @FILE reads it from a file.
    answers FILE  Print the requests for all answers of FILE instead.
    any-version  Also use results by another version of the rubric.
    chosen random|separate|by-verdict metavar=WAY  How labels were chosen that do not say it.
    extract whole|last|only default=last  Which part of a raw text is the verdict: whole, all of it; last, an object
        at its end; only, its only object.
    extra-fields refuse|accept  Fields of a judge output that nobody asked for: refuse them, or score without reading
        them.  [default: refuse with --extract whole, else numbers and booleans only]
    grades LETTER=VALUE* reads=score.options:read_grades  What letter grades such as
        `GRADE: C` are worth, as C=10,P=5,I=0; in a checklist 1 or 0. Only for
        rubrics with one criterion.
    header-row 1..  Row, or line of CSV, of the header.
    ignore-column COLUMN* name=ignored  Leave out a column. Can be repeated.
    labels FILE*  Human labels for the same answers. Can be repeated.
    labels:done FILE* name=labels  Existing labels; those answers are skipped. Can be repeated.
    map FIELD=PATH* name=mapping reads=:read_mapping  {_MAP} Can be repeated.
    map:sides FIELD=PATH* name=mapping reads=:read_mapping  {_MAP} judge.FIELD is of results, human.FIELD
        of labels. Can be repeated.
    map:answers FIELD=PATH* name=mapping reads=:read_mapping  Read FIELD (id, answer, question, reference,
        rubric) from PATH, as answer=reply.text or records=LIST. Can be repeated.
    map:import FIELD=COLUMN* name=mapped  Read a column as a field (such as weight), a level (level 4) or scores (score
        0-3). Can be repeated.
    outputs FILE  Judge outputs; report whose verdict changes.
    question TEXT reads=score.prompt:read_text  The question that the answer is for.  [default: that of the case, in
        Agent Skills]
    rater NAME* name=raters  Compare only this rater. Can be repeated.
    reference TEXT reads=score.prompt:read_text  A reference answer, known to be good.
    rescale LOW..HIGH  Turn whole scores of this scale, such as 1..5, into 0 to 10.
    results:valid FILE* name=results  Draw only answers with a valid result in FILE. Can be repeated.
    results FILE*  Recorded judge outputs; with --model, the file to write and resume.  [default: NAME.judged.jsonl for
        NAME.jsonl]
    root <folder>* name=roots  Let the tools read and write in this folder; repeatable.  [default: the current folder]
    rubric NAME name=name  Use only this rubric of the file.
    stdio  Communicate over stdin and stdout; always on, so you can omit it.
Model
    api-key-env [MODEL=]NAME*  Environment variable with the API key. Can be repeated for MODEL.  [default:
        OPENAI_API_KEY]
    base-url URL reads=score.judge_options:check_url envvar=OPENAI_BASE_URL  The API endpoint of models without one of
        their own.  [default: OpenAI]
    extra-body JSON reads=score.judge_options:read_extra_body  Further fields of the request's body, as a JSON object.
    header NAME=VALUE* name=headers reads=score.judge_options:read_headers  HTTP header for every request to the default
        endpoint. Can be repeated.
    header-env NAME=VARIABLE* name=secret_headers reads=score.judge_options:read_header_variables  The same with the
        value of an environment variable, for secrets.
    max-tokens 1..  Most tokens of a reply.  [default: the endpoint's]
    model MODEL* name=models reads=score.judge_options:read_models  The model that judges: NAME, or NAME@URL at an
        endpoint of its own. Several are a panel.
    response-format json_schema|json_object|text default=json_schema metavar=FORMAT  How to request JSON from the
        endpoint.
    seed 0..9223372036854775807  Seed of the sampling, if the endpoint takes one.
    temperature <temperature>  Sampling temperature.  [default: the endpoint's]
    writer-model MODEL name=writers reads=score.judge_options:read_writer  The model that proposes: NAME, or
        NAME@URL.  [default: the first --model]
Batch
    batch-format openai|anthropic default=openai metavar=FORMAT  The provider's format.
    batch-requests FILE  Write the requests to FILE for a batch API instead of sending them.
    batch-results FILE*  Read replies from the results of a batch. Can be repeated.
    batch-size 1..  Most requests in one file.  [default: the provider's limit]
Statistics
    seed:draw 0.. default=1  Seed of the random draws.
    target <share> default=0.8  Share of bad answers to catch and of good ones to pass.
Tests
    catch-rate  Count the planted bad answers each criterion catches.
    coverage  Report bands, levels and gates that no test reaches.
    mutate  Report small changes of the rubric that no test notices.
    record  Have a model judge answers without valid judge output.
Fixes
    choose NAMES* name=choices alone={LIST_CHOICES} reads=read_choices completes=complete_choice  Where a fix has
        several answers, apply this one, such as upper-keeps or add-band; without NAMES, list them.
    fix  Apply safe fixes first, as `fix` does.
    unsafe-fixes  Also apply fixes that may change the meaning of a rubric.
Report
    compare FILE  List what got worse since another run: judge outputs, or results of `score` by any rubric.
    report <page> reads=output:read_page  Also write an HTML report.
Settings
    config FILE  Use this settings file for all files.
    isolated  Ignore all settings files.
    show-settings  Show the settings of each path, and where each one comes from.
Help
    version - reads=print_version eager=yes  Print the version.
Exit code
    fail-below [CRITERION:]STATISTIC=VALUE*  Lowest acceptable value, such as alpha=0.6. Can be repeated.
Rules
    fail-on error|warning|never default=error metavar=SEVERITY  Lowest severity that makes the exit code 1.
    fail-on-unread  Exit with 1 if what looks like a rubric is not read.
    ignore NAMES* reads=read_names completes=complete_name  Leave out these rules.
    require-rubrics  Exit with 1 if no rubrics are found, a named file has none, or one is not checked.
    select NAMES* reads=read_names completes=complete_name  Use only these rules (comma-separated names).
Files
    force-exclude  For hooks: apply `exclude` to named paths too, and accept paths without rubrics or tests.
    no-cache  Neither read nor write the cache; see `cache --help`.
    show-files  List the files that would be read, and what is skipped and why.
    stdin-filename NAME  File name to use for stdin (selects format and settings).
Judge outputs
    judged FILE*  Also report what these judge outputs show about the rubrics. Can be repeated.
Decision
    by FIELD  Also report each value of this field of the answers, such as language.
    fail-on:line fail|borderline|never default=fail metavar=VERDICT  Verdict that makes an answer bad, as for `score`;
        worse ones do too, and never counts as fail.
    label-scale [PERSON=]LOW..HIGH* name=label_scales reads=score.options:read_label_scales  Scale of the labels, worst
        to best, such as 1..5, or of those of one person. Can be repeated.
        [default: the rubric's]
    look 1..10 default=1  How often you have looked at these data as they grew, this time included.
    runs 1..99 default=1  Judge outputs that you combine into a verdict when you use the rubric.
    tries 0..20 default=3  Proposals of a model for one criterion.
Format
    name NAME  What messages call the format.  [default: the file]
    scale LOW-HIGH reads=lint.adopt:read_scale  Scale of the scores: 1-5, or yes-no.
    pass:adopt MARK name=passes reads=lint.adopt:read_mark  Lowest score that passes, on the scale of the files.
    better higher|lower metavar=SCORES  Which scores are better.
    map:adopt ROLE=KEY* name=mapped reads=lint.adopt:read_roles  Say what a key is: weight, gate, outcome, unused or any
        other setting of a table. Can be repeated.
Sample
    sample 1.. default=60  Answers to draw.
Content
    shape checklist|score-ranges|holistic|levels|scale default=checklist metavar=SHAPE  How the judge answers.
    suite  Write a suite with one case instead of a rubric file.
Conversion
    to:version agentv-4|agentv-5|v3 name=target  After fixing, convert suites for this version of AgentV, or raise
        rubrics of ours to version 3, with the thresholds of the settings.
    unsaid required|optional  With --to: how to read a criterion without a gate.  [default: required, as in AgentV]
"""
"""Every option, by the groups of the full help: its name, what it takes, more about it, two spaces, and its help.

Where commands differ, a word after a colon says which of several it is. It takes nothing (a flag; then `-` may stand
there), a word for what a text stands for (FILE and DIR are paths), names to choose from, the bounds of an integer, or
one of `_TYPES`; with a `*`, it can be repeated. `alone` is its value if none follows it. `reads` and `completes` are a
function, of this module or at `module:function`. What is `eager` acts at once and has no value.
"""

_FLAG = "-"
"""What a flag takes: nothing."""

_TYPES: dict[str, tuple[click.ParamType, str]] = {
    "<share>": (Finite(0, 1, min_open=True, max_open=True), "SHARE"),
    "<positive>": (Finite(0, min_open=True), "N"),
    "<temperature>": (Finite(0, 2), "N"),
    "<page>": (click.Path(dir_okay=False), "FILE.html"),
    "<folder>": (click.Path(exists=True, file_okay=False), "DIR"),
}
"""The type of value that each word stands for, and how help shows such a value."""


def _read_table(text: str) -> Iterator[tuple[str, OptionSpec]]:
    group = ""
    for line in re.sub(r"\n {8}", " ", text).strip().split("\n"):
        if not line.startswith(" "):
            group = line
            continue
        head, _, help_text = line.strip().partition("  ")
        key, *words = head.split()
        takes, *settings = words or [_FLAG]
        yield key, OptionSpec(group, takes, help_text, dict(setting.split("=") for setting in settings))


OPTIONS = dict(_read_table(_TABLE))
"""Every option by its name."""

JUDGING = (
    "base-url api-key-env temperature seed max-tokens extra-body header header-env response-format per-criterion "
    "max-attempts concurrency rpm tpm timeout retries"
)
"""The options of all commands that ask a model."""

_READ = ("answers", "compare", "file", "files", "labels", "new", "old", "outputs", "results", "rubric")
"""The arguments and options that name files to read."""

READ_NOW = f"{__name__}.read_now"
"""What holds in `meta` of a context the option whose value is being read."""

_CLASHES = """
    --config excludes --isolated
    --stdin-filename needs -
"""
"""What holds for every command that has both: `A needs B` or `A excludes B [C ...]`; what follows `;` is advice."""


def command(
    arguments: str,
    options: str,
    *,
    name: str | None = None,
    clashes: str = "",
    short: str | None = None,
    writes_at_end: bool = False,
    **more: Any,
) -> Callable[[Callable[[Given], Any]], Command]:
    """Return a decorator that makes a command of a function of the values that are given.

    `arguments` are names with their number (`?` at most one, `*` any, `+` at least one). `options` are names of
    `OPTIONS`, those of the first help screen before a `|` (they may be repeated after it); `format=text,json` says what
    there is to choose from, the default first, and `!` after a name that it is required. `clashes` are written as those
    of all commands; `more` is what `Command` takes. A command that `writes_at_end` says on Ctrl+C that it has written
    nothing.
    """
    params = _make_params(arguments, options)
    rules = list(_read_clashes(f"{_CLASHES}{clashes}"))
    reads_records = not {"map", "map:sides", "map:answers"}.isdisjoint(options.split())

    def make(function: Callable[[Given], Any]) -> Command:
        call = partial(_run_and_describe, function) if reads_records else function

        def run(**values: Any) -> Any:
            _check_call(params, rules)
            if not writes_at_end:
                return call(Given(**values))
            with Progress(sys.stderr).reporting_interrupt(lambda: "before anything was written"):
                return call(Given(**values))

        run.__module__ = function.__module__
        text = inspect.getdoc(function) or ""
        first = text.partition("\n\n")[0].replace("\n", " ")
        name_of_command = name or function.__name__.replace("_", "-")
        return Command(name_of_command, params=params, callback=run, help=text, short_help=short or first, **more)

    return make


def _make_params(arguments: str, options: str) -> list[click.Parameter]:
    """Return the arguments and options that `command` takes; an option on the first screen is there only once."""
    params: list[click.Parameter] = []
    for argument in arguments.split():
        number = -1 if argument[-1] in "*+" else 1
        is_required = argument[-1] not in "?*"
        params.append(click.Argument([argument.rstrip("?*+")], nargs=number, required=is_required, type=AnyPath()))
    firsts, _, others = options.partition("|")
    params += [_make_option(option, is_first=True) for option in firsts.split()]
    known = firsts.replace("!", "").split()
    params += [_make_option(option, is_first=False) for option in others.split() if option not in known]
    return params


def _read_clashes(text: str) -> Iterator[Clash]:
    for line in filter(str.strip, text.splitlines()):
        rule, mark, advice = line.strip().partition(";")
        option, verb, *others = rule.split()
        yield Clash(option, verb == "needs", others, mark + advice)


def _run_and_describe(function: Callable[[Given], Any], given: Given) -> Any:
    """Run a command that reads records; where it could use none of a file, say what else can be done with the file."""
    try:
        code = function(given)
    except UserError as wrong:
        for line in wrong.lines:
            complain(line)
        code = Exit.USAGE
    values = vars(given)
    has_records = any(values.get(name) for name in ("answers", "outputs", "results", "judged", "labels"))
    if has_records and (code or values.get("judged") or values.get("outputs")):
        from rubric_lint.cli.score.describing import describe_files

        for line in describe_files(given, function.__name__):
            click.echo(line, err=True)
    return code


_HINTS = {
    "to:target": "; for any other system, use --to json and write what it needs from that",
    "to:version": "; without --to, version 1 becomes version 2, and nothing goes back to an older version",
}
"""What to do instead of an unknown value, by option."""


_SHORT = {"output": ["-o"], "quiet": ["-q"]}
"""The short names of options."""


def _make_option(text: str, *, is_first: bool) -> Option:
    """Return the option that a word of `command` names: `KEY`, `KEY!` or `KEY=choice,choice`."""
    key, _, choices = text.rstrip("!").partition("=")
    name = key.partition(":")[0]
    group, takes, help_text, more = OPTIONS[key]
    names = choices.split(",") if choices else _list_names(takes.removesuffix("*"))
    default = names[0] if choices else more.get("default")
    if names and "metavar" in more:
        before, mark, after = help_text.partition("  [")
        help_text = f"{before.removesuffix('.')}: {join_words(names, 'or')}.{mark}{after}"
    settings: dict[str, Any] = {
        "required": text.endswith("!"),
        "multiple": takes.endswith("*"),
        "metavar": more.get("metavar"),
        "show_default": default is not None and "[default" not in help_text,
        "callback": _load(more["reads"]) if "reads" in more else None,
        "shell_complete": globals()[more["completes"]] if "completes" in more else None,
    }
    if names:
        settings["type"] = Choice(names, _HINTS.get(key, ""))
    else:
        settings |= _describe_value(takes.removesuffix("*"), more)
    if "alone" in more:
        settings |= {"is_flag": False, "flag_value": more["alone"]}
    if default:
        settings["default"] = default
    if "envvar" in more:
        settings |= {"envvar": more["envvar"], "show_envvar": True}
    if "eager" in more:
        settings |= {"is_eager": True, "expose_value": False}
    declarations = [more.get("name") or name.replace("-", "_"), *_SHORT.get(name, []), f"--{name}"]
    option = Option(declarations, help=help_text, **settings)
    option.group, option.is_first = group, is_first
    return option


def _list_names(takes: str) -> list[str]:
    """Return the names that an option takes; none if it takes something else. `ray|` has one."""
    return [name for name in takes.split("|") if name] if "|" in takes else []


def _describe_value(takes: str, more: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of click for what an option takes, other than names to choose from."""
    bounds = re.fullmatch(r"(\d+)\.\.(\d*)", takes)
    if takes == _FLAG:
        return {"is_flag": True}
    if bounds:
        highest = int(bounds[2]) if bounds[2] else None
        return {"type": click.IntRange(int(bounds[1]), highest), "metavar": "N"}
    if takes in _TYPES:
        kind, metavar = _TYPES[takes]
        return {"type": kind, "metavar": more.get("metavar") or metavar}
    return {"type": AnyPath() if takes in {"FILE", "DIR"} else None, "metavar": takes}


def read_mapping(values: tuple[str, ...]) -> dict[str, str]:
    """Return the columns of fields; most runs have none, and load nothing for it."""
    if not values:
        return {}
    from rubric_lint.scoring.records import mapping

    try:
        return mapping.read_mapping(values)
    except mapping.MappingError as fault:
        raise click.BadParameter(str(fault)) from None


def _load(place: str) -> Callable[..., Any]:
    """Return a callback that loads a function, of this module or at `module:function`, and gives it the value."""
    module, _, function = place.rpartition(":")

    def call(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is None:
            return None
        ctx.meta[READ_NOW] = param
        ctx.meta.setdefault(GIVEN, {})[param.name] = value
        return getattr(import_module(f"rubric_lint.cli.{module or 'options'}"), function)(value)

    return call


class Clash(NamedTuple):
    """An option that needs one of `others`, or is excluded by any of them."""

    option: str
    needs: bool
    others: list[str]
    advice: str


def _check_call(params: Iterable[click.Parameter], rules: Iterable[Clash]) -> None:
    """Reject a call with options that contradict each other or lack another one, by the first rule that is broken."""
    ctx = click.get_current_context()
    dashes = 0  # how many of the files to read are stdin
    for param in params:
        value = ctx.params.get(param.name) if param.name in _READ else None
        files = value if isinstance(value, tuple) else (value,)
        dashes += files.count(STDIN)
    if dashes > 1:
        raise click.UsageError("stdin can be read only once")
    names = {name: param for param in params if isinstance(param, Option) for name in param.opts}

    def is_given(name: str) -> bool:
        """Return whether the command line has an option, or with `-`, a file that is stdin."""
        if name == STDIN:
            return dashes > 0 or STDIN in (ctx.params.get("paths") or ())
        source = ctx.get_parameter_source(names[name].name or "") if name in names else None
        return source is click.core.ParameterSource.COMMANDLINE

    for option, needs, others, advice in rules:
        if option not in names or not is_given(option):
            continue
        if needs and not any(map(is_given, others)):
            what = "the path -, which reads stdin" if others == [STDIN] else join_words(others, "or")
            raise click.UsageError(f"{option} requires {what}{advice}")
        if not needs:
            for other in filter(is_given, others):
                what = "used with stdin" if other == STDIN else f"combined with {other}"
                raise click.UsageError(f"{option} cannot be {what}{advice}")


def _rules() -> Mapping[str, Rule]:
    from rubric_lint.rules import BY_NAME

    return BY_NAME


def read_name(value: str) -> str:
    """Return the name of a rule; raise click.BadParameter when no rule has this name; it suggests the nearest one."""
    if value in _rules():
        return value
    from rubric_lint.rules import find_near_rules

    hint = format_near(find_near_rules(value)) or "; `rubric-lint explain` lists them"
    raise click.BadParameter(f"unknown rule {value!r}{hint}")


def read_names(values: tuple[str, ...]) -> frozenset[str]:
    """Return the names of rules in an option that may be repeated and may hold comma-separated names."""
    return frozenset(map(read_name, _split_names(values, "a rule")))


def _split_names(values: tuple[str, ...], what: str) -> list[str]:
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if values and not names:
        raise click.BadParameter(f"is empty; name {what}")
    return names


def check_names(select: frozenset[str], ignore: frozenset[str]) -> None:
    """Reject a call that selects rules and ignores all of them, because none would run.

    Raises:
        click.UsageError: when it does.
    """
    if select and select <= ignore:
        raise click.UsageError("--ignore names every rule of --select, so none would run; remove one of them")


def read_choices(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of choices in an option that may be repeated and may hold comma-separated names, in order.

    Raises:
        click.BadParameter: when no rule has a choice of this name; it suggests the nearest one.
    """
    names = _split_names(values, "a choice")
    if not names:
        return ()
    from rubric_lint.rules import list_choices

    known = list_choices()
    for name in names:
        if name not in {*known, LIST_CHOICES}:
            hint = format_unknown(name, known) or f"; there are {', '.join(known)}"
            if exists(name):
                hint = f"; write the path before --choose{hint}"
            raise click.BadParameter(f"unknown choice {name!r}{hint}")
    return tuple(names)


def complete_choice(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a choice, also after a comma."""
    return _complete({name: text for rule in _rules().values() for name, text in rule.choices.items()}, incomplete)


def complete_name(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a rule, also after a comma."""
    return _complete({name: rule.summary for name, rule in _rules().items()}, incomplete)


def _complete(known: Mapping[str, str], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    before, comma, word = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + name, help=text)
        for name, text in known.items()
        if name.startswith(word) and name not in before.split(",")
    ]


def print_version(value: bool) -> None:
    """Print the version and exit."""
    ctx = click.get_current_context()
    if value and not ctx.resilient_parsing:
        click.echo(f"rubric-lint {__version__}")
        ctx.exit()


def read_output(value: str) -> str | None:
    """Return the report file; None is stdout."""
    return None if value == STDIN else value


def require_file_name(name: str, option: str) -> None:
    """Reject `-`, which means stdout in other options and would here create a file of that name.

    Raises:
        click.UsageError: when the name is `-`.
    """
    if name == "-":
        raise click.UsageError(f"{option}: -: does not mean stdout here; name a file")


@contextmanager
def open_output(name: str, option: str) -> Iterator[TextIO]:
    """Yield a stream to the file that an option names; replace the file at the end unless an error is raised.

    Raises:
        click.UsageError: when the file cannot be written.
    """
    from rubric_lint.lint.project.writing import WriteError, open_whole

    require_file_name(name, option)
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open_whole(name))
        except WriteError as fault:
            raise click.UsageError(f"{option}: {name}: {fault}") from None
        yield stream


def open_page(report: str | None, *read: str) -> AbstractContextManager[TextIO | None]:
    """Open the file of the HTML report before the first result, so that a long run cannot end without it.

    Raises:
        click.UsageError: when it cannot be written, or is one of the files `read`.
    """
    if report is None:
        return nullcontext()
    for name in read:
        if name != "-" and is_same(name, report):
            raise click.UsageError(f"--report: {report}: is also an input and would be overwritten; name another file")
    return open_output(report, "--report")


def read_seed(value: str) -> int:
    """Read a seed, which is optional: what follows the option may be a file."""
    if not re.fullmatch(r"[0-9]{1,18}", value):
        advice = "write --shuffle=SEED, or put --shuffle after the files"
        raise click.BadParameter(f"{value!r} is not a seed, an integer from 0; {advice}")
    return int(value)


def read_count(value: str) -> int:
    """Read a number from 1, which is optional: what follows the option may be a file."""
    if not re.fullmatch(r"[1-9][0-9]{0,5}", value):
        advice = "write --probe=N, or put --probe after the files"
        raise click.BadParameter(f"{value!r} is not a number from 1; {advice}")
    return int(value)


TEXT_FORMATS = ("full", "concise", "agent", "vscode")
"""The formats for readers, which --watch can repeat."""


def check_watch(form: str | None, *, has_file: bool) -> None:
    """Refuse --watch for a report in a file, or in a format that cannot be repeated.

    Raises:
        click.UsageError: naming the formats that can.
    """
    if has_file or form not in {None, *TEXT_FORMATS}:
        raise click.UsageError(f"--watch supports only --format {join_words(TEXT_FORMATS, 'or')}, on stdout")


def write_figures(lines: Iterable[str], form: str, write: Callable[[str], object]) -> None:
    """Write what else was computed: into a report for readers, else on stderr; the JSON report has the figures."""
    for line in lines:
        if form in TEXT_FORMATS:
            write(f"{line}\n")
        elif form != "json":
            click.echo(line, err=True)


def watch(given: Given, show: Callable[..., object], progress: Progress, **how: Any) -> NoReturn:
    """Run again whenever files change, until the program is interrupted; raise UserError if it cannot watch."""
    from rubric_lint.lint.run.watching import Watch

    settings: dict[str, Any] = {"config": given.config, "isolated": given.isolated}
    Watch(given.paths, show, progress, given.overrides, **settings, **how).run()


def require_rubric(name: str, known: Collection[str]) -> None:
    """Check that a file has a rubric with this name; raise click.UsageError if not; it suggests the nearest one."""
    if name not in known:
        raise click.UsageError(f"no rubric is named `{name}`; {point_to_known(name, known)}")


def load_argument_rubrics(argument: FileArgument, finder: SettingsFinder) -> dict[str, LoadedRubric]:
    """Return the rubrics of a file argument by name.

    Raises:
        RubricError: when there are none, or they have errors.
        SettingsError: when the settings of the file are invalid.
    """
    from rubric_lint.scoring.loading import load_models

    return load_models(argument.label, argument.data, finder.for_file(argument.path))
