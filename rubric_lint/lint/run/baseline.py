"""Leave out the findings that a baseline has, and record the findings of a run for a new one."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from rubric_lint.lint.project.files import RealFolders, name_other_kind
from rubric_lint.lint.project.paths import exists, follow_links, is_file, is_folder, make_absolute, relate
from rubric_lint.lint.project.repository import find_root
from rubric_lint.lint.project.settings import FileSettings, SettingsError, SettingsFinder, shorten_path
from rubric_lint.model.finding import Result

if TYPE_CHECKING:
    from rubric_lint.lint.run.baseline_file import KnownFinding

_OF_OTHERS = (".htm", ".jsonl", ".ndjson", ".pdf", ".py", ".sarif", ".toml", ".yaml", ".yml")
"""Endings of other formats than JSON, besides those of kinds that are not read."""


@dataclass(frozen=True, slots=True)
class _Baseline:
    """One baseline in use; `settled` are its findings that this run can confirm or refute."""

    folder: Path
    known: "dict[str, set[KnownFinding]]"
    found: "set[KnownFinding]"
    settled: "set[KnownFinding]"
    files: set[str]


class Baselines:
    """Leaves out the findings in the baseline at `path`, or else in the one that a file's settings name.

    With `renews`, all findings are left out and recorded for a new baseline.
    """

    counted_as = "known"
    skipped_as = ""

    def __init__(self, finder: SettingsFinder, path: str | None, *, renews: bool) -> None:
        self._finder = finder
        self._path = None if path is None else str(make_absolute(path))
        self._renews = renews
        self._baselines: dict[str, _Baseline] = {}
        self._folders = RealFolders()
        if self._path:
            self._open(self._path)

    def needs_file(self, name: str) -> bool:  # noqa: ARG002 (the interface of a filter)
        """Return True, as every file may have new findings."""
        return True

    def filter(self, result: Result, settings: FileSettings) -> Result:
        """Return the result without the findings in the baseline.

        Raises:
            SettingsError: if a baseline is invalid.
        """
        name = result.source.name
        path = self._path or self._find(name)
        if path is None:
            return result
        baseline = self._open(path)
        file = normalize("NFC", relate(self._folders.locate(name), baseline.folder).as_posix())
        baseline.files.add(file)
        from rubric_lint.lint.run.baseline_file import find_settled, identify  # noqa: PLC0415  (most runs have none)

        found = identify(result, file)
        baseline.found.update(found)
        baseline.settled.update(find_settled(baseline.known.get(file, set()), result, settings))
        if self._renews:
            return result._replace(findings=())
        known = baseline.known.get(file, set())
        left = (finding for finding, identity in zip(result.findings, found, strict=True) if identity not in known)
        return result._replace(findings=tuple(left))

    def _find(self, name: str) -> str | None:
        """Return the baseline that settings name; raise SettingsError to write one outside of their repository."""
        settings = self._finder.find_nearest(name)
        path = settings.baseline
        if path is not None and settings.origin and self._renews and path not in self._baselines:
            root = find_root(follow_links(settings.origin.parent))
            if not follow_links(path).is_relative_to(root):
                reason = (
                    f"the baseline {shorten_path(path)} is outside the repository; name it with --baseline to write it"
                )
                raise SettingsError(shorten_path(settings.origin), reason)
        return path

    def _open(self, path: str) -> _Baseline:
        if path not in self._baselines:
            if self._renews and (name_other_kind(path) or path.lower().endswith(_OF_OTHERS)):
                reason = "a baseline is JSON; end its name in .json, or give it an ending that no other format has"
                raise SettingsError(shorten_path(path), reason)
            is_new = self._renews and not exists(path)
            if self._renews and not is_new and not (is_file(path) or is_folder(path)):
                raise SettingsError(
                    shorten_path(path), "the baseline is not a file that can be replaced; name another one"
                )
            from rubric_lint.lint.run.baseline_file import read_known  # noqa: PLC0415  (most runs have none)

            known: dict[str, set[KnownFinding]] = {}
            findings = () if is_new else read_known(Path(path), shorten_path(path))
            for finding in findings:
                known.setdefault(finding.file, set()).add(finding)
            self._baselines[path] = _Baseline(follow_links(Path(path).parent), known, set(), set(), set())
        return self._baselines[path]

    def gone(self) -> Iterator[tuple[str, str, str, int, bool]]:
        """Find the findings in the baselines that the files of this run do not have.

        Yield the baseline, the file, the rule, their number, and whether the file itself is gone.
        """
        for path, baseline in self._baselines.items():
            missing = {file for file in baseline.known.keys() - baseline.files if not self._exists(baseline, file)}
            lost = baseline.settled - baseline.found
            lost.update(*(baseline.known[file] for file in missing))
            for (file, rule), count in sorted(Counter((finding.file, finding.rule) for finding in lost).items()):
                yield shorten_path(path), file, rule, count, file in missing

    def write(self) -> Iterator[tuple[str, int, int, int]]:
        """Rewrite the baselines; findings that this run can neither confirm nor refute stay.

        Yield each baseline, with the numbers of its findings, of new ones and of those that are gone.

        Raises:
            SettingsError: if one cannot be written.
        """
        for path, baseline in self._baselines.items():
            before: set[KnownFinding] = set()
            before.update(*baseline.known.values())
            kept = {finding for finding in before - baseline.settled if self._exists(baseline, finding.file)}
            after = kept | baseline.found
            from rubric_lint.lint.run.baseline_file import write_known  # noqa: PLC0415  (few runs write one)

            write_known(Path(path), shorten_path(path), after)
            yield shorten_path(path), len(after), len(after - before), len(before - after)

    @staticmethod
    def _exists(baseline: _Baseline, file: str) -> bool:
        return exists(baseline.folder / file)
