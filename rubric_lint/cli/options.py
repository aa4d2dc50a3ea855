"""Define every option once, and what excludes what; a command names the ones that it takes."""

from __future__ import annotations

import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from rubric_lint.cli.commands import HELP, Command, Exit, Option, word_unknown
from rubric_lint.finding import LIST_CHOICES
from rubric_lint.messages import join_words, point_to_known
from rubric_lint.report import REPORTERS
from rubric_lint.run.console import Progress, complain
from rubric_lint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from click.shell_completion import CompletionItem

    from rubric_lint.project.settings import Overrides, SettingsFinder
    from rubric_lint.rules.rule import Rule
    from rubric_lint.run.given import Input
    from rubric_lint.scoring.loading import Loaded


STDIN = "-"
"""What stands for stdin among files."""


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
        from click.shell_completion import CompletionItem  # noqa: PLC0415

        return [CompletionItem(incomplete, type="file")]


class Choice(click.Choice):
    """One of several names. For an unknown one it suggests the nearest, or says what a former name is called now."""

    former: Mapping[str, str] = {"strict": "whole", "standard": "last"}

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return the message for an unknown value: the known ones, and which of them may be meant."""
        if self.former.get(value) in self.choices:
            return f"{value} is now called {self.former[value]}"
        return f"{value!r} is not one of {', '.join(self.choices)}{word_unknown(str(value), self.choices)}"


class Finite(click.FloatRange):
    """A range of finite numbers; it rejects `nan`, which compares with no bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a finite number", param, ctx)


class Spec(NamedTuple):
    """An option: its group in the full help, its help, and what it takes.

    `takes` is None for a flag, a word for what a text stands for (FILE and DIR are paths) with a `*` if the option can
    be repeated, the names to choose from, the bounds of an integer, or a type. `alone` is its value if none follows it.
    `reads` and `completes` are a function, of this module or at `module:function`.
    """

    group: str
    help: str
    takes: str | tuple[Any, ...] | click.ParamType | None = None
    default: Any = None
    metavar: str | None = None
    name: str | None = None
    alone: str | None = None
    reads: str | None = None
    completes: str | None = None
    more: Mapping[str, Any] = {}


_REPEAT = "Can be repeated."
_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
_POSITIVE = Finite(0, min_open=True)
_JUDGE = "score.judge_options"
_OUT = "results to a .jsonl, .csv (also with .gz or .zst) or .parquet file"
_SEVERITIES = ("error", "warning", "never")


def _by_ending(default: str, *others: str) -> Spec:
    """Return the option of a format that the name of the output file chooses too."""
    told = f"Report format.  [default: by the ending of --output, else {default}]"
    return Spec("Output", told, (default, *others), name="form")


_REPORT_FILE = Spec("Output", "Write the report to FILE: .json or .txt.", "FILE", reads="read_output")

OPTIONS: dict[str, Spec] = {
    "add-ignores": Spec("Adoption", "Add an ignore comment for every finding; fix nothing."),
    "address": Spec("Cluster", "Cluster to use, or auto.  [default: RAY_ADDRESS, else a local one]", "HOST:PORT"),
    "again": Spec("Requests", "Ask again for the invalid outputs of a results file, ANSWERS."),
    "agent": Spec("Output", "The coding agent to install it for.", "AGENT", reads="lint.setup:read_agent"),
    "allow-invalid": Spec("Verdicts", "Do not exit with 1 for invalid records; still show them."),
    "answer": Spec("Input", "The answer to judge; @FILE reads it from a file.", "TEXT", reads="score.prompt:read_text"),
    "answers": Spec("Input", "Print the requests for all answers of FILE instead.", "FILE"),
    "any-version": Spec("Input", "Also use results by another version of the rubric."),
    "api-key-env": Spec(
        "Model",
        "Environment variable with the API key. Can be repeated for MODEL.  [default: OPENAI_API_KEY]",
        "[MODEL=]NAME*",
    ),
    "base-url": Spec(
        "Model",
        "The API endpoint of models without one of their own.  [default: OpenAI]",
        "URL",
        reads=f"{_JUDGE}:check_url",
        more={"envvar": "OPENAI_BASE_URL", "show_envvar": True},
    ),
    "baseline": Spec("Adoption", "Hide the known findings listed in FILE.", "FILE"),
    "batch-format": Spec("Batch", "The provider's format.", ("openai", "anthropic"), "openai", "FORMAT"),
    "batch-requests": Spec("Batch", "Write the requests to FILE for a batch API instead of sending them.", "FILE"),
    "batch-results": Spec("Batch", f"Read replies from the results of a batch. {_REPEAT}", "FILE*"),
    "batch-size": Spec("Batch", "Most requests in one file.  [default: the provider's limit]", (1, None)),
    "bootstrap": Spec("Statistics", "Bootstrap draws for intervals; 0 for none.", (0, 100_000), 1999, name="draws"),
    "borderline": Spec(
        "Verdicts",
        "Lowest score that is borderline.  [default: the settings', or 0.6]",
        "SCORE",
        name="borderline_at",
        reads="score.options:read_threshold",
    ),
    "cache-dir": Spec("Output", "The folder of that cache.  [default: see `rubric-lint cache dir`]", "DIR"),
    "catch-rate": Spec("Tests", "Count the planted bad answers each criterion catches."),
    "check": Spec("Output", "Write nothing; exit with 1 if a file would change."),
    "choose": Spec(
        "Fixes",
        "Where a fix has several answers, apply this one, such as upper-keeps or add-band; without NAMES, list them.",
        "NAMES*",
        name="choices",
        reads="read_choices",
        completes="complete_choice",
        alone=LIST_CHOICES,
    ),
    "chosen": Spec(
        "Input", "How labels were chosen that do not say it.", ("random", "separate", "by-verdict"), metavar="WAY"
    ),
    "color": Spec("Output", "When to use color.", ("auto", "always", "never"), "auto"),
    "column-type": Spec("Input", "What the column `output` is.", ("text", "struct"), "text", name="column"),
    "compact": Spec("Output", "Write JSON Lines without criteria and the records' other fields."),
    "compare": Spec(
        "Report", "List what got worse since another run: judge outputs, or results of `score` by any rubric.", "FILE"
    ),
    "concurrency": Spec("Requests", "Most parallel requests; fewer after a refusal.", (1, 1000), 8),
    "config": Spec("Settings", "Use this settings file for all files.", "FILE"),
    "coverage": Spec("Tests", "Report bands, levels and gates that no test reaches."),
    "diff": Spec("Output", "Write nothing; show a diff of the changes."),
    "diff-base": Spec(
        "Adoption",
        "Report only findings on lines changed since the current branch left the Git revision REV, committed or not. "
        "In files that Git does not track, every line counts as changed.",
        "REV",
    ),
    "engine": Spec("Cluster", "Score Parquet files in parts with Ray Data. Run it again to resume.", ("ray",)),
    "explain": Spec(
        HELP,
        "Explain a rule, as `explain` does.",
        "RULE",
        reads="print_page",
        completes="complete_name",
        more={"is_eager": True, "expose_value": False},
    ),
    "extra-body": Spec(
        "Model", "Further fields of the request's body, as a JSON object.", "JSON", reads=f"{_JUDGE}:read_extra_body"
    ),
    "extract": Spec(
        "Input",
        "What of a raw text is the verdict: whole, all of it; last, an object at its end; only, its only object.",
        ("whole", "last", "only"),
        "last",
    ),
    "fail-below": Spec(
        "Exit code", f"Lowest acceptable value, such as alpha=0.6. {_REPEAT}", "[CRITERION:]STATISTIC=VALUE*"
    ),
    "fail-on": Spec("Rules", "Lowest severity that makes the exit code 1.", _SEVERITIES, "error", "SEVERITY"),
    "fail-on:verdict": Spec(
        "Verdicts",
        "Verdict that makes the exit code 1; worse ones do too.",
        ("fail", "borderline", "never"),
        "fail",
        "VERDICT",
    ),
    "fail-on-unread": Spec("Rules", "Exit with 1 if what looks like a rubric is not read."),
    "fail-on-worse": Spec("Verdicts", "Exit with 1 if more answers got worse than better since --compare."),
    "fail-under-doubt": Spec(
        "Verdicts", "Exit with 1 also where the 95% interval leaves one of these limits undecided."
    ),
    "field": Spec("Input", f"A field that your judge adds, to be ignored. {_REPEAT}", "NAME*", name="fields"),
    "fix": Spec("Fixes", "Apply safe fixes first, as `fix` does."),
    "force": Spec("Output", "Overwrite an existing file."),
    "force-exclude": Spec("Files", "Apply `exclude` even to paths given on the command line (for pre-commit)."),
    "form": Spec(
        "Output",
        "For an editor's YAML server alone, for one beside `rubric-lint lsp`, or for validators such as Ajv.",
        ("editor", "completion", "strict"),
        "editor",
    ),
    "format": Spec("Output", "Report format.", (), name="form"),
    "format:findings": Spec(
        "Output",
        "Report format.  [default: by --output, else full; in GitHub Actions github, for coding agents agent]",
        tuple(REPORTERS),
        metavar="FORMAT",
        name="form",
    ),
    "format:results": Spec(
        "Output", "Output format.  [default: table on a terminal, else jsonl]", ("jsonl", "json", "table"), name="form"
    ),
    "format:assess": _by_ending("full", "json", "markdown"),
    "format:agree": _by_ending("table", "json"),
    "format:diff": _by_ending("text", "markdown", "json"),
    "format:improve": _by_ending("full", "json"),
    "format:prompt": _by_ending("text", "messages"),
    "format:show": _by_ending("full", "json"),
    "header": Spec(
        "Model",
        f"HTTP header for every request to the default endpoint. {_REPEAT}",
        "NAME=VALUE*",
        name="headers",
        reads=f"{_JUDGE}:read_headers",
    ),
    "header-env": Spec(
        "Model",
        "The same with the value of an environment variable, for secrets.",
        "NAME=VARIABLE*",
        name="secret_headers",
        reads=f"{_JUDGE}:read_header_variables",
    ),
    "header-row": Spec("Input", "Row, or line of CSV, of the header.", (1, None)),
    "history": Spec("Input", "Compare the judged wordings of each criterion in Git."),
    "id": Spec("Requests", "The answer's id, on which the shuffled order depends.", "ID", name="key"),
    "ignore": Spec("Rules", "Leave out these rules.", "NAMES*", reads="read_names", completes="complete_name"),
    "ignore-column": Spec("Input", f"Leave out a column. {_REPEAT}", "COLUMN*", name="ignored"),
    "isolated": Spec("Settings", "Ignore all settings files."),
    "jobs": Spec("Input", "Processes that score large inputs.  [default: one for each core]", (1, None)),
    "judged": Spec("Judge outputs", f"Also report what these judge outputs show about the rubrics. {_REPEAT}", "FILE*"),
    "labels": Spec("Input", f"Labels of people for the same answers. {_REPEAT}", "FILE*"),
    "labels:done": Spec(
        "Input", f"Labels that there are: these answers are not drawn again. {_REPEAT}", "FILE*", name="labels"
    ),
    "look": Spec("Decision", "How often you have looked at these data as they grew, this time included.", (1, 1000), 1),
    "map": Spec(
        "Input",
        f"The column or field of the files that has FIELD, such as output=response. {_REPEAT}",
        "FIELD=COLUMN*",
        name="mapping",
        reads="score.options:read_mapping",
    ),
    "map:answers": Spec(
        "Input",
        f"The field of the answers that has FIELD (id, answer, question, reference, rubric), such as "
        f"answer=/response/text. {_REPEAT}",
        "FIELD=COLUMN*",
        name="fields",
        reads=f"{_JUDGE}:read_fields",
    ),
    "map:import": Spec(
        "Input",
        f"Read a column as a field (such as weight), a level (level 4) or scores (score 0-3). {_REPEAT}",
        "FIELD=COLUMN*",
        name="mapped",
    ),
    "max-attempts": Spec("Requests", "Attempts to get a valid output.", (1, 10), 3),
    "max-cost": Spec(
        "Requests",
        "Begin no answer that may make this run cost more than AMOUNT, by --prices.",
        "AMOUNT",
        reads=f"{_JUDGE}:read_amount",
    ),
    "max-invalid-share": Spec("Verdicts", "Exit with 1 if more outputs are invalid, instead of for each.", _SHARE),
    "max-requests": Spec("Requests", "Begin no answer that needs more than N requests in this run.", (0, None)),
    "max-tokens": Spec("Model", "Most tokens of a reply.  [default: the endpoint's]", (1, None)),
    "min-pass-share": Spec(
        "Verdicts",
        "Exit with 1 if fewer of the valid outputs pass. This and --fail-on-worse replace the default of --fail-on.",
        _SHARE,
    ),
    "model": Spec(
        "Model",
        "The model that judges: NAME, or NAME@URL at an endpoint of its own. Several are a panel.",
        "MODEL*",
        name="models",
        reads=f"{_JUDGE}:read_models",
    ),
    "model:order": Spec(
        "Requests", "The model, on which the shuffled order depends.", "NAME", reads="score.prompt:read_model"
    ),
    "mutate": Spec("Tests", "Report small changes of the rubric that no test notices."),
    "name": Spec("Format", "What messages call the format.  [default: the file]", "NAME"),
    "no-baseline": Spec("Adoption", "Ignore the baseline that the settings name."),
    "no-cache": Spec("Files", "Neither read nor write the cache; see `cache --help`."),
    "output": Spec("Output", "Write to FILE.  [default: stdout]", "FILE"),
    "output:export": Spec(
        "Output",
        "Write to FILE; without --to, the ending .yaml, .csv, .md or .xlsx chooses the format.  [default: stdout]",
        "FILE",
    ),
    "output:report": Spec(
        "Output",
        "Write the report to FILE, in the format of its ending (.json, .sarif, .xml for JUnit, .txt); print "
        "only the summary to stdout.",
        "FILE",
        reads="read_output",
    ),
    "output:assess": _REPORT_FILE._replace(help="Write the report to FILE: .json, .md or .txt."),
    "output:diff": _REPORT_FILE._replace(help="Write the report to FILE: .json, .md or .txt."),
    "output:prompt": _REPORT_FILE._replace(help="Write to FILE: .json for messages, .txt; with --answers .jsonl."),
    **{f"output:{name}": _REPORT_FILE for name in ("agree", "improve", "show")},
    "output:settings": Spec("Output", "Settings file to write; - prints tables.", "FILE"),
    "output:sheet": Spec("Output", "The sheet to write, .xlsx or .csv. An existing one is never replaced.", "FILE"),
    "output:journal": Spec(
        "Output",
        "Results file, JSON Lines; required with -; an existing one is resumed.  [default: NAME.judged.jsonl for "
        "NAME.jsonl]",
        "FILE",
    ),
    "output:results": Spec("Output", f"Write the {_OUT}; with --engine, to a folder.", "FILE"),
    "output:merged": Spec("Output", f"Write the {_OUT}.", "FILE"),
    "output:tests": Spec("Output", "File to write; - is stdout.  [default: named after RUBRIC]", "FILE"),
    "outputs": Spec("Input", "Judge outputs; report whose verdict changes.", "FILE"),
    "pass": Spec(
        "Verdicts",
        "Lowest score that passes.  [default: the settings', or 0.8]",
        "SCORE",
        name="pass_at",
        reads="score.options:read_threshold",
    ),
    "per-criterion": Spec("Requests", "Ask for one criterion per request."),
    "prices": Spec(
        "Output", "Prices of a million tokens by model, in TOML or JSON; the summary then has the cost.", "FILE"
    ),
    "probe": Spec("Requests", "Judge worse variants of N answers too.  [N: 20]", "[N]", reads="read_count", alone="20"),
    "question": Spec(
        "Input",
        "The question that the answer is for.  [default: that of the case, in Agent Skills]",
        "TEXT",
        reads="score.prompt:read_text",
    ),
    "quiet": Spec("Output", "Do not print the summary; report only problems."),
    "rater": Spec("Input", f"Compare only this rater. {_REPEAT}", "NAME*", name="raters"),
    "reason": Spec("Adoption", "With --add-ignores: the reason to write in each comment.", "TEXT"),
    "record": Spec("Tests", "Have a model judge answers without valid judge output."),
    "reference": Spec("Input", "A reference answer, known to be good.", "TEXT", reads="score.prompt:read_text"),
    "report": Spec("Report", "Also write an HTML report.", click.Path(dir_okay=False), metavar="FILE.html"),
    "require-rubrics": Spec(
        "Rules", "Exit with 1 if no rubrics are found, a named file has none, or one is not checked."
    ),
    "rescale": Spec("Input", "Turn whole scores of this scale, such as 1..5, into 0 to 10.", "LOW..HIGH"),
    "response-format": Spec(
        "Model",
        "How to request JSON from the endpoint.",
        ("json_schema", "json_object", "text"),
        "json_schema",
        "FORMAT",
    ),
    "results:valid": Spec(
        "Input", f"Draw only answers with a valid result in FILE. {_REPEAT}", "FILE*", name="results"
    ),
    "results": Spec(
        "Input",
        "Recorded judge outputs; with --model, the file to write and resume.  [default: NAME.judged.jsonl for "
        "NAME.jsonl]",
        "FILE*",
    ),
    "retries": Spec("Requests", "Retries after a failed request.", (0, 100), 5),
    "root": Spec(
        "Input",
        "Let the tools read and write in this folder; repeatable.  [default: the current folder]",
        click.Path(exists=True, file_okay=False),
        metavar="DIR",
        name="roots",
        more={"multiple": True},
    ),
    "rpm": Spec("Requests", "At most N requests per minute and endpoint.  [default: no limit]", _POSITIVE),
    "rubric": Spec("Input", "Use only this rubric of the file.", "NAME", name="name"),
    "rules": Spec(HELP, "List the rules."),
    "sample": Spec("Sample", "Answers to draw.", (1, None), 60),
    "sample:order": Spec("Requests", "The sample, on which the order depends.  [default: 1]", (1, None)),
    "samples": Spec("Requests", "Outputs per answer and model.", (1, 99), 1),
    "samples:two": Spec("Requests", "Outputs per answer and model.", (2, 99), 2),
    "scale": Spec("Format", "Scale of the scores: 1-5, or yes-no.", "LOW-HIGH", reads="lint.adopt:read_scale"),
    "seed": Spec("Model", "Seed of the sampling, if the endpoint takes one.", (0, 2**63 - 1)),
    "seed:draw": Spec("Statistics", "Seed of the random draws.", (0, None), 1),
    "select": Spec(
        "Rules",
        "Use only these rules (comma-separated names).",
        "NAMES*",
        reads="read_names",
        completes="complete_name",
    ),
    "shape": Spec(
        "Content",
        "How the judge answers.",
        ("checklist", "score-ranges", "holistic", "levels"),
        "checklist",
        metavar="SHAPE",
    ),
    "show-files": Spec("Files", "List the files that would be read, and what is skipped and why."),
    "show-settings": Spec("Settings", "Show the settings of each path, and where each one comes from."),
    "shuffle": Spec(
        "Requests", "Ask for the criteria in shuffled order.  [seed: 1]", "[SEED]", reads="read_seed", alone="1"
    ),
    "statistics": Spec("Output", "Show the number of findings per rule instead of the findings."),
    "stdin-filename": Spec("Files", "File name to use for stdin (selects format and settings).", "NAME"),
    "stdio": Spec("Input", "Communicate over stdin and stdout; always on, so you can omit it."),
    "strict": Spec("Output", "If anything would be lost, write nothing and exit with 1."),
    "suite": Spec("Content", "Write a suite with one case instead of a rubric file."),
    "table": Spec("Input", "The table to read.", "TABLE", "outputs"),
    "target": Spec("Statistics", "Share of bad answers to catch and of good ones to pass.", _SHARE, 0.8, "SHARE"),
    "temperature": Spec("Model", "Sampling temperature.  [default: the endpoint's]", Finite(0, 2)),
    "timeout": Spec("Requests", "Time limit of each request.", _POSITIVE, 120.0, "SECONDS"),
    "to": Spec("Output", "Format to write.", (), metavar="FORMAT", name="target"),
    "to:folder": Spec("Output", "Install it into DIR/rubric-lint instead.", "DIR", name="folder"),
    "to:version": Spec(
        "Conversion",
        "After fixing, convert suites for this version of AgentV.",
        ("agentv-4", "agentv-5"),
        name="target",
    ),
    "tpm": Spec("Requests", "At most about N tokens per minute and endpoint.  [default: no limit]", _POSITIVE),
    "tries": Spec("Decision", "Proposals of a model for one criterion.", (0, 20), 3),
    "unsafe-fixes": Spec("Fixes", "Also apply fixes that may change the meaning of a rubric."),
    "unsaid": Spec(
        "Conversion",
        "With --to: how to read a criterion without a gate.  [default: required, as in AgentV]",
        ("required", "optional"),
    ),
    "version": Spec(HELP, "Print the version.", reads="print_version", more={"is_eager": True, "expose_value": False}),
    "watch": Spec("Output", "Re-run when files change."),
    "worst": Spec("Output", "Disagreements to list.  [default: 10; HTML: 200; JSON: all]", (0, None)),
    "write": Spec("Output", "Write what is offered into RUBRIC.  [default: show a diff]"),
    "write-baseline": Spec("Adoption", "Record all current findings in the baseline."),
    "writer-model": Spec(
        "Model",
        "The model that proposes: NAME, or NAME@URL.  [default: the first --model]",
        "MODEL",
        name="writers",
        reads=f"{_JUDGE}:read_writer",
    ),
}
"""Every option by its name. Where commands differ, a word after a colon says which of several it is."""

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


class Given(SimpleNamespace):
    """The values of the arguments and options of a call, by their names."""

    def finder(self, overrides: Overrides | None = None) -> SettingsFinder:
        """Return a finder for the settings of files; raise SettingsError if the named settings file cannot be used."""
        from rubric_lint.project.settings import Overrides, SettingsFinder  # noqa: PLC0415  (not needed by --help)

        return SettingsFinder(overrides or Overrides(), file=self.config, isolated=self.isolated)


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

    def make(function: Callable[[Given], Any]) -> Command:
        firsts, _, others = options.partition("|")
        params: list[click.Parameter] = []
        for each in arguments.split():
            number = -1 if each[-1] in "*+" else 1
            is_required = each[-1] not in "?*"
            params.append(click.Argument([each.rstrip("?*+")], nargs=number, required=is_required, type=AnyPath()))
        params += [_make_option(each, is_first=True) for each in firsts.split()]
        params += [
            _make_option(each, is_first=False) for each in others.split() if each not in firsts.replace("!", "").split()
        ]
        rules = []
        for line in filter(str.strip, f"{_CLASHES}{clashes}".splitlines()):
            rule, mark, advice = line.strip().partition(";")
            option, verb, *others_named = rule.split()
            rules.append(Clash(option, verb == "needs", others_named, mark + advice))

        def run(**values: Any) -> Any:
            _check_call(params, rules)
            if not writes_at_end:
                return function(Given(**values))
            with Progress(sys.stderr).reporting_interrupt(lambda: "before anything was written"):
                return function(Given(**values))

        run.__module__ = function.__module__
        text = inspect.getdoc(function) or ""
        first = text.partition("\n\n")[0].replace("\n", " ")
        called = name or function.__name__.replace("_", "-")
        return Command(called, params=params, callback=run, help=text, short_help=short or first, **more)

    return make


def _make_option(text: str, *, is_first: bool) -> Option:
    key, _, choices = text.rstrip("!").partition("=")
    name, is_required = key.partition(":")[0], text.endswith("!")
    spec = OPTIONS[key]
    takes: Any = tuple(choices.split(",")) if choices else spec.takes
    default = takes[0] if choices and isinstance(takes, tuple) and not is_required else spec.default
    settings: dict[str, Any] = {"required": is_required, "metavar": spec.metavar}
    if takes is None:
        settings["is_flag"] = True
    elif isinstance(takes, str):
        settings["multiple"], settings["metavar"] = takes.endswith("*"), takes.removesuffix("*")
        settings["type"] = AnyPath() if settings["metavar"] in {"FILE", "DIR"} else None
    elif isinstance(takes, click.ParamType):
        settings["type"] = takes
        settings["metavar"] = spec.metavar or ("SHARE" if takes is _SHARE else "N")
    elif isinstance(takes[0], int):
        settings["type"], settings["metavar"] = click.IntRange(*takes), "N"
    else:
        settings["type"] = Choice(takes)
    if spec.alone is not None:
        settings |= {"is_flag": False, "flag_value": spec.alone}
    if default is not None:
        settings["default"] = default
    help_text = spec.help
    if isinstance(settings.get("type"), Choice) and spec.metavar:
        before, mark, after = help_text.partition("  [")
        help_text = f"{before.removesuffix('.')}: {join_words(settings['type'].choices, 'or')}.{mark}{after}"
    settings["show_default"] = default is not None and "[default" not in help_text
    settings["callback"] = spec.reads and _load(spec.reads)
    settings["shell_complete"] = spec.completes and globals()[spec.completes]
    short = {"output": "-o", "quiet": "-q"}.get(name)
    names = [spec.name or name.replace("-", "_"), *([short] if short else []), f"--{name}"]
    made = Option(names, help=help_text, **settings | dict(spec.more))
    made.group, made.is_first = spec.group, is_first
    return made


def _load(place: str) -> Callable[..., Any]:
    """Return a callback that loads a function, of this module or at `module:function`, and gives it the value."""
    module, _, function = place.rpartition(":")

    def call(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is None:
            return None
        ctx.meta[READ_NOW] = param
        return getattr(import_module(f"rubric_lint.cli.{module or 'options'}"), function)(value)

    return call


class Clash(NamedTuple):
    """An option that needs one of `others`, or is excluded by any of them."""

    option: str
    needs: bool
    others: list[str]
    advice: str


def _check_call(params: Iterable[click.Parameter], rules: Iterable[Clash]) -> None:
    """Reject a call with options that contradict each other, or that lack another one.

    Raises:
        click.UsageError: for the first of `rules` that is broken.
    """
    ctx = click.get_current_context()
    read = [ctx.params.get(param.name or "") for param in params if param.name in _READ]
    dashes = sum(each.count(STDIN) if isinstance(each, tuple) else each == STDIN for each in read if each is not None)
    if dashes > 1:
        raise click.UsageError("stdin can be read only once")
    names = {name: param for param in params if isinstance(param, Option) for name in param.opts}

    def is_given(name: str) -> bool:
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
        for other in () if needs else filter(is_given, others):
            what = "used with stdin" if other == STDIN else f"combined with {other}"
            raise click.UsageError(f"{option} cannot be {what}{advice}")


def _rules() -> Mapping[str, Rule]:
    from rubric_lint.rules import BY_NAME  # noqa: PLC0415  (not needed by --help)

    return BY_NAME


def read_name(value: str) -> str:
    """Return the name of a rule; raise click.BadParameter when no rule has this name; it suggests the nearest one."""
    if value in _rules():
        return value
    hint = word_unknown(value, _rules()) or "; `rubric-lint --rules` lists them"
    raise click.BadParameter(f"unknown rule {value!r}{hint}")


def read_names(values: tuple[str, ...]) -> frozenset[str]:
    """Return the names of rules in an option that may be repeated and may hold comma-separated names."""
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if values and not names:
        raise click.BadParameter("is empty; name a rule")
    return frozenset(name for name in names if read_name(name))


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
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if values and not names:
        raise click.BadParameter("is empty; name a choice")
    for name in names:
        from rubric_lint.rules import list_choices  # noqa: PLC0415  (not needed by --help)

        known = list_choices()
        if name not in {*known, LIST_CHOICES}:
            hint = word_unknown(name, known) or f"; there are {', '.join(known)}"
            if os.path.exists(name):  # noqa: PTH110  (pathlib is slow to load)
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
    from click.shell_completion import CompletionItem  # noqa: PLC0415

    before, comma, word = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + name, help=text)
        for name, text in known.items()
        if name.startswith(word) and name not in before.split(",")
    ]


def print_page(value: str) -> None:
    """Print the page of a rule with its URL and exit."""
    ctx = click.get_current_context()
    if not ctx.resilient_parsing:
        rule = _rules()[read_name(value)]
        click.echo(f"{rule.page}\n{rule.url}")
        ctx.exit()


def print_rules(form: str | None) -> None:
    """Print the rules as a table, or as JSON for programs.

    Raises:
        click.UsageError: when `form` is a format for findings.
    """
    if form == "json":
        import json  # noqa: PLC0415  (the table needs none)

        click.echo(json.dumps([rule.to_json() for rule in _rules().values()], indent=1))
        return
    if form is not None:
        raise click.UsageError("--rules supports only --format json")
    rows = [(rule.name, rule.severity, rule.kinds, rule.summary) for rule in _rules().values()]
    table = [("NAME", "SEVERITY", "FIX", "FINDS"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        click.echo("  ".join(f"{cell:<{cells}}" for cell, cells in zip(row, widths, strict=True)).rstrip())


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
    from rubric_lint.project.writing import WriteError, open_whole  # noqa: PLC0415  (most output goes to stdout)

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
    real = os.path.realpath(report)
    for name in read:
        if name != "-" and os.path.realpath(name) == real:
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


def watch(paths: tuple[str, ...], show: Callable[..., object], *others: Any, **settings: Any) -> Exit:
    """Run again whenever files change, until the program is interrupted or cannot watch."""
    from rubric_lint.run.watching import Watch, WatchError  # noqa: PLC0415  (few runs watch)

    try:
        Watch(paths, show, *others, **settings).run()
    except WatchError as fault:
        complain(str(fault))
        return Exit.USAGE


def require_rubric(name: str, known: Collection[str]) -> None:
    """Check that a file has a rubric with this name; raise click.UsageError if not; it suggests the nearest one."""
    if name not in known:
        raise click.UsageError(f"no rubric is named `{name}`; {point_to_known(name, known)}")


def load_given(given: Input, finder: SettingsFinder) -> dict[str, Loaded]:
    """Return the rubrics of a file argument by name.

    Raises:
        UnusableError: when there are none.
        InvalidError: when they have errors.
        SettingsError: when the settings of the file are invalid.
    """
    from rubric_lint.run.given import InvalidError, UnusableError  # noqa: PLC0415
    from rubric_lint.scoring.loading import InvalidRubricError, RubricError, load_models  # noqa: PLC0415

    try:
        return load_models(given.label, given.data, finder.for_file(given.path))
    except InvalidRubricError as wrong:
        raise InvalidError(*wrong.faults) from None
    except RubricError as wrong:
        raise UnusableError(*wrong.faults) from None
