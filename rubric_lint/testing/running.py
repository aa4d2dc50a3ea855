"""Run the tests of files on recorded outputs, and turn what they do not meet into findings."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from rubric_lint.finding import Problem, Result
from rubric_lint.lint.engine import examine, report_faults
from rubric_lint.lint.found import Found, Look
from rubric_lint.lint.rubric_tests import count_tests, look_at_tests
from rubric_lint.messages import join_words, list_names, point_to_known
from rubric_lint.project.files import File, Unreadable, read
from rubric_lint.project.opening import open_stream
from rubric_lint.project.settings import FileSettings, SettingsFinder
from rubric_lint.project.settings_file import SettingsError
from rubric_lint.scoring.grading import Scored, ScoringRubric
from rubric_lint.scoring.loading import Loaded, RubricError, load_models
from rubric_lint.scoring.places import RubricPlaces
from rubric_lint.scoring.records import read_judged_by
from rubric_lint.testing.expectations import find_impossible, find_unmet
from rubric_lint.testing.reading import RubricTest, RubricTests, read_tests
from rubric_lint.testing.recordings import Recording, Recordings, Verified, Verifier, read_recordings
from rubric_lint.text.document import Document
from rubric_lint.text.source import Source, UndecodableError

OF_TESTS = frozenset({"unmet-expectation", "unrecorded-test", "broken-test"})
"""The rules that every run of tests applies, whatever the settings select."""

OF_FORM = frozenset({"syntax", "schema", "unknown-field", "bounds", "duplicate-id", "duplicate-key"})


class Ran(NamedTuple):
    """A test that was scored, and whether all its expectations were met."""

    test: RubricTest
    file: RubricTests
    result: Scored
    passed: bool


class Needed(NamedTuple):
    """A test without an output that counts: the recording to bring up to date, if any, and the criteria to judge."""

    test: RubricTest
    file: RubricTests
    recording: Recording | None
    stale: tuple[str, ...]


@dataclass
class Tested:
    """A rubric, and what its tests came to in all files of the run."""

    loaded: Loaded
    rubric: ScoringRubric
    places: RubricPlaces
    settings: FileSettings
    verifier: Verifier
    ran: list[Ran] = field(default_factory=list)
    needed: list[Needed] = field(default_factory=list)
    tests: int = 0

    @property
    def path(self) -> str:
        """The file of the rubric."""
        return self.loaded.document.source.name


class Runner:
    """Runs test files; `tested` has the rubrics that they test, by file and name.

    Of each file of recorded outputs, `idle` counts those that no test uses, and `unhashed` those that do not say which
    meaning of the rubric the judge saw.
    """

    def __init__(self, finder: SettingsFinder) -> None:
        self._finder = finder
        self._loaded: dict[str, dict[str, Loaded] | RubricError] = {}
        self.tested: dict[tuple[str, str], Tested] = {}
        self.recordings: dict[tuple[str, str], Recordings] = {}
        self._used: dict[str, set[str]] = {}
        self.idle: dict[str, int] = {}
        self.unhashed: dict[str, int] = {}
        self.mutations: dict[tuple[str, str], Any] = {}

    def run(self, file: File) -> Result | Unreadable:
        """Run the tests of a file."""
        data = read(file, may_be_stdin=False)
        if isinstance(data, Unreadable):
            return data
        return self.run_bytes(file, data)

    def run_bytes(self, file: File, data: bytes) -> Result:
        """Run the tests in the content of a file."""
        enabled = file.settings.enabled
        settings = file.settings._replace(enabled=None if enabled is None else enabled | OF_TESTS | OF_FORM)
        try:
            source = Source.from_bytes(file.name, data)
        except UndecodableError as fault:
            return report_faults(fault.source, [(fault.message, fault.span)], settings, "encoding")
        failed: set[object] = set()
        tested: list[str] = []
        look = Look(partial(self._look, file.name, failed, tested), OF_TESTS | OF_FORM)
        examined = examine(source, settings, look=look)
        tests = count_tests(examined.documents)
        if any(finding.rule in OF_FORM for finding in examined.result.findings):
            return examined.result._replace(failed=tests)
        return examined.result._replace(passed=tests - len(failed), failed=len(failed), tested=tuple(tested))

    def _look(self, name: str, failed: set[object], names: list[str], documents: Sequence[Document]) -> Iterator[Found]:
        """Find the problems of a file; add the ids of the tests that fail to `failed`, of all that run to `names`."""
        problems = list(look_at_tests(documents))
        yield from problems
        if problems or not documents:
            return
        document = documents[0]
        file = read_tests(name, document)
        tested = self.open_rubric(file.rubric, file.rubric_name)
        if isinstance(tested, str):
            failed.update(test.key for test in file.tests)
            yield Found("broken-test", Problem("untestable", ("rubric",), values={"reason": tested}), document)
            return
        recordings = self._open_recordings(file, tested)
        if isinstance(recordings, Problem):
            failed.update(test.key for test in file.tests)
            yield Found("broken-test", recordings, document)
            return
        self._count_idle(file, recordings)
        for test in file.tests:
            names.append(str(test.id))
            for rule, problem in self._run_test(test, file, tested, recordings):
                failed.add(test.key)
                yield Found(rule, problem._replace(values={"test": test.id, **problem.values}), document)

    def _run_test(
        self, test: RubricTest, file: RubricTests, tested: Tested, recordings: Recordings | None
    ) -> Iterator[tuple[str, Problem]]:
        tested.tests += 1
        if impossible := list(find_impossible(test, tested.rubric)):
            yield from (("broken-test", problem) for problem in impossible)
            return
        if lines := (recordings.twice.get(test.key) if recordings and test.output is None else None):
            values = {"file": file.outputs, "lines": join_words([str(line) for line in lines])}
            yield "broken-test", Problem("two-outputs", (*test.path, "id"), values=values)
            return
        recording = self._find_recording(test, recordings)
        if recording is None:
            tested.needed.append(Needed(test, file, None, tuple(tested.verifier.told)))
            values = {"reason": self._word_absence(test, file, recordings)}
            yield "unrecorded-test", Problem("missing", (*test.path, "id"), values=values)
            return
        verified: Verified = tested.verifier.verify(recording, test.texts)
        if verified.result is None:
            if test.output is None:
                tested.needed.append(Needed(test, file, recording, verified.stale))
            code, step = ("invalid", "id") if test.output is None else ("invalid-output", "output")
            yield "unrecorded-test", Problem(code, (*test.path, step), values={"reason": verified.fault})
            return
        unmet = list(find_unmet(test, file.document, verified.result, tested.places))
        tested.ran.append(Ran(test, file, verified.result, not unmet))
        yield from (("unmet-expectation", problem) for problem in unmet)

    def _find_recording(self, test: RubricTest, recordings: Recordings | None) -> Recording | None:
        if test.output is not None:
            return Recording(1, {"id": test.id, "output": test.output, **test.texts})
        return recordings.found.get(test.key) if recordings else None

    def _word_absence(self, test: RubricTest, file: RubricTests, recordings: Recordings | None) -> str:
        if recordings is None:
            return f"{file.outputs} does not exist; record it with --record, or add `output`"
        if other := recordings.others.get(test.key):
            return f"in {file.outputs} that id is recorded only for the rubric `{other}`"
        other_type = str(test.id) if isinstance(test.id, int) else _as_integer(test.id)
        if other_type is not None and json.dumps(other_type) in recordings.found:
            kind = "a string; put this id in quotes" if isinstance(test.id, int) else "a number; remove the quotes"
            return f"{file.outputs} has the id {json.dumps(other_type)}, which is {kind}"
        names = [str(recording.record["id"]) for recording in recordings.found.values()]
        near = point_to_known(str(test.id), names) if names else "it has none"
        hint = near if near.startswith("did you") else "record it with --record, or add `output`"
        return f"{file.outputs} has none with the id `{test.id}`; {hint}"

    def open_rubric(self, path: str, name: str) -> Tested | str:
        """Return a rubric to test, the only one of its file if `name` is empty; or why it cannot be tested."""
        try:
            models = self._load(path)
        except RubricError as fault:
            first, *more = fault.faults
            others = f" (and {len(more)} more)" if more else ""
            return f"the rubric cannot be tested: {first}{others}"
        if not name and len(models) > 1:
            return f"{path} has {len(models)} rubrics; name one after a `#`: {list_names(models)}"
        name = name or next(iter(models))
        if name not in models:
            return f"{path} has no rubric `{name}`; {point_to_known(name, models)}"
        key = (path, name)
        if key not in self.tested:
            loaded = models[name]
            try:
                rubric = loaded.prepare()
            except RubricError as fault:
                return f"the rubric cannot be tested: {fault}"
            settings = self._finder.for_file(path)
            self.tested[key] = Tested(loaded, rubric, RubricPlaces(loaded), settings, Verifier(rubric))
        return self.tested[key]

    def _load(self, path: str) -> dict[str, Loaded]:
        """Return the rubrics of a file by name.

        Raises:
            RubricError: if it cannot be read or has errors.
        """
        if path not in self._loaded:
            try:
                settings = self._finder.for_file(path)
                data = read(File(path, settings._replace(claimed=True)), may_be_stdin=False)
                if isinstance(data, Unreadable):
                    raise RubricError(f"{data.path}: {data.reason}")  # noqa: TRY301 (kept with the others)
                self._loaded[path] = load_models(path, data, settings)
            except SettingsError as fault:
                self._loaded[path] = RubricError(*fault.lines)
            except RubricError as fault:
                self._loaded[path] = fault
        found = self._loaded[path]
        if isinstance(found, RubricError):
            raise found.with_traceback(None)
        return found

    def _open_recordings(self, file: RubricTests, tested: Tested) -> Recordings | Problem | None:
        """Return the recordings for a file, None if there are none, or the problem in reading them."""
        if not file.names_outputs and all(test.output is not None for test in file.tests):
            return None
        key = (file.outputs, tested.rubric.name)
        path = ("outputs",) if file.names_outputs else ()
        if key not in self.recordings:
            try:
                with open_stream(file.outputs) as stream:
                    recordings = read_recordings(iter(partial(stream.read, 1 << 16), b""), tested.rubric.name)
            except FileNotFoundError:
                return None
            except (OSError, ValueError) as fault:
                reason = getattr(fault, "strerror", None) or fault
                return Problem("unreadable-outputs", path, values={"file": file.outputs, "reason": reason})
            self.recordings[key] = recordings
        recordings = self.recordings[key]
        if recordings.broken:
            line, fault_text = recordings.broken[0]
            more = f" ({len(recordings.broken) - 1} more like it)" if len(recordings.broken) > 1 else ""
            values = {"file": file.outputs, "at": line, "reason": f"{fault_text}{more}"}
            return Problem("faulty-outputs", path, values=values)
        return recordings

    def _count_idle(self, file: RubricTests, recordings: Recordings | None) -> None:
        """Count the recordings that no test uses."""
        if recordings is None:
            return
        used = self._used.setdefault(file.outputs, set())
        used |= {test.key for test in file.tests if test.output is None}
        self.idle[file.outputs] = len(recordings.found.keys() - used)
        records = [recordings.found[key].record for key in sorted(used & recordings.found.keys())]
        if unknown := sum(read_judged_by(record) is None for record in records):
            self.unhashed[file.outputs] = unknown


def _as_integer(text: str) -> int | None:
    return int(text) if len(text) < 20 and text.isascii() and text.isdecimal() else None
