"""Count the results of a run and describe them in a sentence."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import add
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from rubric_lint.model.finding import Result, Severity, Unread
from rubric_lint.model.messages import counted, join_words, list_names, pluralize
from rubric_lint.model.suggest import Value, suggest, unname_in

if TYPE_CHECKING:
    from rubric_lint.lint.project.files import Skipped
    from rubric_lint.lint.project.settings import Overrides


def join_notes(notes: Iterable[tuple[int, str]]) -> str:
    """Join notes about counts; those about 0 are left out."""
    return "; ".join(note for count, note in notes if count)


_MOST_PATHS = 3
"""The most paths that a suggested command names."""


class RunScope(NamedTuple):
    """What a run read, for the commands that it suggests: its paths, and what else chooses files and findings.

    `fixable` are the files that have fixes to suggest. `wish` are the fixes that a run made without writing files: the
    next one begins again.
    """

    paths: Collection[str] = (".",)
    stdin_name: str = "<stdin>"
    overrides: "Overrides | None" = None
    settings: Mapping[str, Value] = MappingProxyType({})
    fixable: Collection[str] = ()
    wish: Mapping[str, Value] = MappingProxyType({})

    def suggest_fix(self, **how: Value) -> str:
        """Return the command that fixes the files, or only those with fixes where the paths are many."""
        few = 0 < len(self.fixable) <= _MOST_PATHS < len(self.paths)
        files = self.fixable if few else self.paths
        options: dict[str, Value] = {}
        if self.overrides:
            options["select"] = ",".join(sorted(self.overrides.select or ())) or None
            options["ignore"] = ",".join(sorted(self.overrides.ignore)) or None
        if "-" in files and self.stdin_name != "<stdin>":
            options["stdin_filename"] = self.stdin_name
        return format_command("fix", files, **{**options, **self._options, **self.wish, **how})

    def suggest_files(self) -> str:
        """Return the command that lists what is read and what is left out."""
        command = "" if list(self.paths) == ["."] else "check"  # a folder may have the name of a command
        return format_command(command, self.paths, **self._options, show_files=True)

    @property
    def _options(self) -> Mapping[str, Value]:
        is_forced = self.overrides is not None and self.overrides.force_exclude
        return {"force_exclude": is_forced, **self.settings}


def format_command(command: str, paths: Collection[str], **options: Value) -> str:
    """Return a command for the paths of a run; paths that are too many to print are only counted."""
    if list(paths) == ["."]:
        return f"`{suggest(command, **options)}`"
    if len(paths) <= _MOST_PATHS:
        return f"`{suggest(command, *paths, **options)}`"
    given = suggest(command, **options).removeprefix(f"rubric-lint {command}").strip()
    shown = f"`{command}` on the same {len(paths)} paths"
    return f"{shown} with `{given}`" if given else shown


def format_unsafe(count: int, scope: RunScope) -> str:
    """Say how to make so many fixes that may change the meaning."""
    return f"{counted(count, 'fix', 'fixes')} may change the meaning: {scope.suggest_fix(unsafe_fixes=True)}"


def format_open(count: int, scope: RunScope) -> str:
    """Say how to see so many fixes of which only the author can choose one."""
    return f"{counted(count, 'fix needs', 'fixes need')} your choice: {scope.suggest_fix(choose=True)}"


class Summary(NamedTuple):
    """Counts over the files of a run. `files` were linted; `unreadable` and `faults` (crashes) were not.

    `known` findings are in a baseline, `untouched` ones are on unchanged lines, and `unchanged_files` were not read.
    `passed_over` counts broken symlinks and pipes, `outside` symlinks out of the repository, which are not followed,
    `other_kinds` named files of kinds that are not read, `excluded_files` and `excluded_folders` those that the
    settings exclude. `unread` counts rubrics that are recognized but not checked, or only in part, `near_misses` what
    may be rubrics but may belong to other tools. `selected` names the rules of --select, `idle` those that did not run,
    and `partly_idle` those that ran on some files only. `tests` counts rubric tests; `passed` and `failed` those that
    were run. `review` has what else `rubric-test` or `--judged` computed, by name, as JSON. `scope` is what the run
    read.
    """

    files: int = 0
    files_with_rubrics: int = 0
    files_with_findings: int = 0
    rubrics: int = 0
    criteria: int = 0
    errors: int = 0
    warnings: int = 0
    ignored: int = 0
    safe_fixes: int = 0
    unsafe_fixes: int = 0
    unreadable: int = 0
    faults: int = 0
    known: int = 0
    untouched: int = 0
    unchanged_files: int = 0
    passed_over: int = 0
    other_kinds: int = 0
    outside: int = 0
    excluded_files: int = 0
    excluded_folders: int = 0
    unread: int = 0
    near_misses: int = 0
    selected: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    partly_idle: tuple[str, ...] = ()
    tests: int = 0
    passed: int = 0
    failed: int = 0
    review: tuple[tuple[str, Any], ...] = ()
    hints: int = 0
    choices: int = 0
    scope: RunScope = RunScope()

    @property
    def findings(self) -> int:
        """The number of errors, warnings and hints."""
        return self.errors + self.warnings + self.hints

    @property
    def is_empty(self) -> bool:
        """True if there was nothing to check; unchanged files, which are not read, may have something."""
        return not (self.rubrics or self.findings or self.tests or self.unchanged_files)

    @classmethod
    def of(cls, result: "Result") -> Self:
        """Return the counts of one file."""
        severities = [finding.severity for finding in result.findings]
        fixes = [finding.fix.safe for finding in result.findings if finding.fix]
        choices = [finding for finding in result.findings if finding.choices and not finding.fix]
        return cls(
            files=1,
            files_with_rubrics=int(result.rubrics > 0),
            files_with_findings=int(bool(result.findings)),
            rubrics=result.rubrics,
            criteria=result.criteria,
            errors=severities.count(Severity.ERROR),
            warnings=severities.count(Severity.WARNING),
            hints=severities.count(Severity.HINT),
            ignored=result.ignored,
            safe_fixes=sum(fixes),
            unsafe_fixes=len(fixes) - sum(fixes),
            choices=len(choices),
            unread=sum(place.is_known for place in result.unread),
            near_misses=sum(not place.is_known for place in result.unread),
            tests=result.tests,
            passed=result.passed,
            failed=result.failed,
        )

    @classmethod
    def left_out(cls, skipped: "Skipped") -> Self:
        """Return the counts of what a search skipped."""
        return cls(
            passed_over=len(skipped.dead),
            outside=len(skipped.outside),
            other_kinds=len(skipped.other_kinds),
            excluded_files=skipped.files,
            excluded_folders=skipped.folders,
        )

    def plus(self, other: "Summary") -> "Summary":
        """Return the sum of both; only a whole run can be repeated."""
        return Summary(*map(add, self[:-1], other[:-1]))

    def __str__(self) -> str:
        """Return the sentence on findings, and a second line on anything skipped."""
        return self._outcome() + self.format_notes()

    def format_notes(self) -> str:
        """Return the line on anything fixable, hidden or skipped, after a line break; empty if there is nothing."""
        has_fixes = self.safe_fixes + self.unsafe_fixes + self.choices > 0
        but = ", but not left out by `fix`" if has_fixes else ""
        more = [
            (self.safe_fixes, f"{counted(self.safe_fixes, 'fix is', 'fixes are')} safe: {self.scope.suggest_fix()}"),
            (self.unsafe_fixes, format_unsafe(self.unsafe_fixes, self.scope)),
            (self.choices, format_open(self.choices, self.scope)),
            (self.ignored, f"{counted(self.ignored, 'finding')} ignored"),
            (self.known, f"{counted(self.known, 'finding')} hidden by the baseline{but}"),
            (self.untouched, f"{counted(self.untouched, 'finding')} on unchanged lines hidden{but}"),
            (self.unchanged_files, f"{counted(self.unchanged_files, 'unchanged file')} not read{but}"),
            (self.unread, f"{counted(self.unread, 'rubric')} not checked, or only in part"),
            (self.near_misses, f"{counted(self.near_misses, 'near miss', 'near misses')} not checked"),
            *self.format_left_out(),
            (self.unreadable, f"{counted(self.unreadable, 'file')} could not be read"),
            (self.faults, f"{counted(self.faults, 'file')} not linted because rubric-lint crashed"),
        ]
        notes = join_notes(more)
        return f"\n{notes}." if notes else ""

    def format_left_out(self) -> list[tuple[int, str]]:
        """List what a search skipped, as numbers with their notes."""
        them = pluralize(self.outside, "it", "them")
        excluded = ((self.excluded_folders, "folder"), (self.excluded_files, "file"))
        folders_and_files = " and ".join(counted(count, noun) for count, noun in excluded if count)
        why = "by default or by `exclude`" if self.excluded_folders else "by `exclude`"
        dead = counted(self.passed_over, "broken symlink or pipe", "broken symlinks or pipes")
        outside = counted(self.outside, "symlink")
        return [
            (self.passed_over, f"{dead} skipped"),
            (self.outside, f"{outside} out of the repository skipped; name {them} to check {them}"),
            (self.other_kinds, f"{counted(self.other_kinds, 'file')} skipped: not YAML, JSON, TOML or Python"),
            (self.excluded_folders + self.excluded_files, f"{folders_and_files} skipped {why}"),
        ]

    def _outcome(self) -> str:
        if not self.files:
            return format_nothing_read("checked", self.scope, has_notes=bool(self.format_notes()))
        if self.passed or self.failed:
            share = f"{self.passed} of " if self.failed else ""
            outcome = f"{share}{counted(self.passed + self.failed, 'test')} passed"
            return f"{outcome}; found {self._format_findings()}." if self.findings else f"{outcome}."
        if not self.findings and not self.rubrics and not self.tests:
            return f"0 rubrics found in {counted(self.files, 'file')}."
        contents: list[str] = []
        if self.rubrics or not self.tests:
            contents += [
                f"{counted(self.files_with_rubrics, 'file')} with rubrics",
                counted(self.rubrics, "rubric"),
                counted(self.criteria, "criterion", "criteria"),
            ]
        if self.tests:
            contents.append(counted(self.tests, "rubric test"))
        listed = ", ".join(contents)
        if self.findings:
            where = f"{self.files_with_findings:,} of {self.files:,} files" if self.files > 1 else "1 file"
            return f"Found {self._format_findings()} in {where} ({listed})."
        other = "other " if self.ignored + self.known + self.untouched else ""
        rules = f" of {list_names(self.selected)}" if self.selected else ""
        idle = f"; {list_names(self.idle)} did not run" if self.idle else ""
        if self.partly_idle:
            idle += f"; {list_names(self.partly_idle)} did not run on every file"
        return f"No {other}findings{rules} in {counted(self.files, 'file')} ({listed}){idle}."

    def _format_findings(self) -> str:
        return format_severities(self.errors, self.warnings, self.hints)


def format_severities(errors: int, warnings: int, hints: int = 0) -> str:
    """Return the numbers of findings in words, without those that are 0: `1 error, 2 warnings and 1 hint`."""
    counts = ((errors, "error"), (warnings, "warning"), (hints, "hint"))
    return join_words([counted(count, noun) for count, noun in counts if count])


def format_nothing_read(done: str, scope: RunScope, *, has_notes: bool) -> str:
    """Return the sentence of a run without files; `has_notes`: what follows says why."""
    hint = "" if has_notes else f"; {scope.suggest_files()} lists what is left out and why"
    return f"0 files {done}{hint}."


def format_skipped(skipped: "Skipped") -> list[tuple[int, str]]:
    """List what a search skipped, as numbers with their notes."""
    return Summary.left_out(skipped).format_left_out()


def format_hard_links(count: int) -> str:
    """Return the warning on other names of a file that was replaced."""
    holds = pluralize(count, "holds", "hold")
    return f"{counted(count, 'other hard link')} to the file still {holds} the old text"


_MOST = 10
"""How many lines of one kind are shown; the rest are counted."""

UNKNOWN = "no field of a known format found"
TESTS = "it holds rubric tests, which `rubric-lint test FILE` runs"
EMPTY = "it is empty"
"""Reasons why a file without near misses has no rubrics."""

_LEAST = (True, 1)
"""A rank behind that of every near miss."""


class NearMiss(NamedTuple):
    """The near misses of one reason: the likeliest of them, its file, and how many more there are."""

    file: str
    unread: Unread
    more: int = 0

    @property
    def place(self) -> str:
        """The place of the likeliest: `FILE:LINE:COLUMN`."""
        return f"{self.file}:{self.unread.line}:{self.unread.column}"

    @property
    def reason(self) -> str:
        """The reason, and how many more places have it."""
        reason = self.unread.reason
        return f"{reason} ({self.more} more like it)" if self.more else reason


class NearMisses:
    """Collect near misses by reason: memory depends on how many reasons there are, not on how many files."""

    def __init__(self) -> None:
        self._likeliest: dict[tuple[str, bool], NearMiss] = {}

    def add(self, file: str, unread: Iterable[Unread]) -> None:
        """Add the near misses of a file."""
        for place in unread:
            key = unname_in(place.reason, file), place.is_known
            known = self._likeliest.get(key)
            if known is None:
                self._likeliest[key] = NearMiss(file, place)
            else:
                first = NearMiss(file, place) if place.rank < known.unread.rank else known
                self._likeliest[key] = first._replace(more=known.more + 1)

    def __iter__(self) -> Iterator[NearMiss]:
        """Yield them, the likeliest rubrics first."""
        yield from sorted(self._likeliest.values(), key=lambda miss: miss.unread.rank)


class Unchecked:
    """Collect what was not checked in a run.

    `named` are the files that the user named; each one without rubrics is explained, unless `by_hook` says that a hook
    named them all. In a group of files, which are a suite and what it names, one file with rubrics is enough.
    """

    def __init__(self, named: Iterable[str], *, by_hook: bool = False) -> None:
        self._named = frozenset(named)
        self._by_hook = by_hook
        self._explained: list[tuple[tuple[bool, int], str]] = []
        self._near = NearMisses()
        self._waiting: list[tuple[str, str, Result]] = []
        self._filled: set[str] = set()
        self._bare = 0

    @property
    def bare(self) -> int:
        """The number of named files without rubrics."""
        self._settle()
        return self._bare

    def add(self, name: str, result: Result, reason: str = "", group: str = "") -> None:
        """Add the result of a file; `reason` says why it has no rubrics, if known, and `group` what it belongs to."""
        if group and result.rubrics:
            self._filled.add(group)
        is_bare = name in self._named and not (result.rubrics or result.tests)
        if group and is_bare:
            self._waiting.append((group, name, result))
        elif is_bare:
            self._explain(name, result, reason)
        else:
            self._near.add(name, result.unread)

    def _settle(self) -> None:
        """Explain the files of groups in which no file has rubrics."""
        for group, name, result in self._waiting:
            if group in self._filled:
                self._near.add(name, result.unread)
            else:
                self._explain(name, result, unknown=f"{UNKNOWN} in the suite and the files that it names")
        self._waiting.clear()

    def _explain(self, name: str, result: Result, reason: str = "", unknown: str = UNKNOWN) -> None:
        """Say why a named file has no rubrics."""
        self._bare += 1
        if result.findings or (self._by_hook and not reason):
            self._near.add(name, result.unread)
            return
        near = NearMisses()
        near.add(name, result.unread)
        lines = [(miss.unread.rank, f"{miss.place}: no rubrics found: {miss.reason}") for miss in near]
        self._explained += lines or [(_LEAST, f"{name}: no rubrics found: {reason or unknown}")]

    def format_lines(self) -> Iterator[str]:
        """Yield the messages on named files without rubrics, then on near misses; the likeliest rubrics come first."""
        self._settle()
        explained = [line for _, line in sorted(self._explained, key=lambda pair: pair[0])]
        yield from _shorten(explained, "file without rubrics", "files without rubrics")
        near = list(self._near)
        yield from _shorten([f"{miss.place}: not checked: {miss.reason}" for miss in near], "reason", "reasons")
        if len(near) > _MOST or any(miss.more for miss in near):
            yield f"{format_command('show', sorted(self._named))} lists all that was not checked"


def _shorten(lines: list[str], one: str, many: str) -> Iterator[str]:
    yield from lines[:_MOST]
    if len(lines) > _MOST:
        yield f"and {counted(len(lines) - _MOST, f'more {one}', f'more {many}')}"


class Failure(NamedTuple):
    """A file that was not linted, and why; `is_fault` is true for a crash."""

    file: str
    reason: str
    is_fault: bool = False


class Reporter(Protocol):
    """Write results one by one in one format; a reporter keeps no result, so memory stays small."""

    def add(self, result: Result) -> None:
        """Take the findings of one file."""

    def fail(self, failure: Failure) -> None:
        """Take a file that was not linted; stderr reports it too, so only some formats write it."""

    def end(self, summary: Summary) -> None:
        """Write what comes after the last file."""
