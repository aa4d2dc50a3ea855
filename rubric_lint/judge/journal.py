"""Append results to a file, one line per judged answer, such that a run can stop at any point and resume.

A run resumes only if the answers, the rubric, the models and the settings are unchanged.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from rubric_lint.judge.answers import Answer
from rubric_lint.judge.asking import JudgeOptions
from rubric_lint.judge.call import Call
from rubric_lint.judge.prompt import JudgedCase, write_prompt
from rubric_lint.lint.project.opening import LIMIT, open_stream
from rubric_lint.lint.project.writing import lock, open_whole
from rubric_lint.model.messages import join_words


class JournalError(Exception):
    """A results file that this run cannot resume, and why."""


class Journal:
    """A results file, opened to append the answers that it lacks.

    Each line that cost something is on disk before `append` returns. If a killed run left a partial last line, a
    missing line end is added and an incomplete record is removed. The file is locked for other runs.

    Raises:
        JournalError: when another run has locked the file, or it contains anything but results.
        OSError: when it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unsynced = False
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        try:
            self._lock()
            found = list(self._read())
            self.judged = {key: fingerprint for key, fingerprint, _ in found}
            last = {(key, fingerprint): number for number, (key, fingerprint, _) in enumerate(found)}
            self.renewed = {
                number
                for number, (key, fingerprint, is_valid) in enumerate(found)
                if not is_valid and last[key, fingerprint] > number
            }
            self.invalid = {
                key for number, (key, _, is_valid) in enumerate(found) if not is_valid and number not in self.renewed
            }
        except BaseException:
            os.close(self._file)
            raise

    judged: Mapping[str, str]
    """The answers judged when the file was opened: the id as JSON, and the fingerprint of the request."""

    invalid: set[str]
    """The ids of those whose output is invalid."""

    renewed: set[int]
    """The numbers of invalid records that a later one renews: it has the same id and is of the same request.

    `judge` never writes both, as a new record takes the place of the invalid one; who joins files has both.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._unsynced:
                self._write(b"")
        finally:
            os.close(self._file)

    def read(self) -> Iterator[tuple[str, bytes]]:
        """Yield each record in the file that no later one renews: its id as JSON, and its line."""
        with open_stream(self._path) as lines:
            for number, line in enumerate(iter(partial(lines.readline, LIMIT), b"")):
                if number not in self.renewed:
                    yield _identify(line)[0], line

    @contextmanager
    def renewing(self) -> Iterator[Self]:
        """Yield a journal for new results of the answers whose output is invalid, and at the end put them in place.

        Until then they are in another file, whose name ends in `.again`. If this run is killed, the next one resumes
        with it. `invalid` then has the ids whose output still is.

        Raises:
            JournalError: if the new file contains anything but results.
            WriteError: if the file cannot be replaced; the new results stay in the new file.
        """
        again = Path(f"{self._path}.again")
        with type(self)(again) as journal:
            is_other = any(self.judged.get(key) != asked for key, asked in journal.judged.items())
        if is_other:  # of a results file that is gone
            again.unlink()
        try:
            with type(self)(again) as journal:
                yield journal
        finally:
            with type(self)(again) as journal:
                self.replace({key: line for key, line in journal.read() if key in self.invalid})
                self.invalid -= journal.judged.keys() - journal.invalid
            again.unlink()

    def replace(self, lines: Mapping[str, bytes]) -> None:
        """Put lines in the place of those with their ids, and remove records that a later one renews.

        Invalid ones go to the end: a run that a limit ends asks first for what no run has asked for again.

        Raises:
            WriteError: if the file cannot be replaced.
        """
        if not lines and not self.renewed:
            return
        last = {key: line for key, line in lines.items() if not _identify(line)[2]}
        with open_whole(str(self._path), "wb") as whole:
            for key, line in self.read():
                if key not in last:
                    whole.write(lines.get(key, line))
            whole.writelines(last.values())
            if os.name == "nt":  # which replaces no open file
                os.close(self._file)
                self._file = os.open(os.devnull, os.O_RDWR)

    def append(self, record: Mapping[str, Any], *, is_costly: bool = True) -> None:
        """Append one line. One that can be made again at no cost may reach the disk later, at the latest at the end."""
        self._write(encode(record) + b"\n", waits=is_costly)

    def _write(self, data: bytes, *, waits: bool = True) -> None:
        """Append bytes; with `waits`, all that was appended so far is on disk when this returns."""
        try:
            while data:
                data = data[os.write(self._file, data) :]
            self._unsynced = True
            if waits:
                os.fsync(self._file)
                self._unsynced = False
        except OSError as fault:
            raise OSError(fault.errno, fault.strerror, str(self._path)) from None

    def _lock(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise JournalError("is not a regular file; results need a file that can be read again")
        # Another run may have replaced the file since it was opened.
        if not lock(self._file) or not os.path.samestat(os.fstat(self._file), self._path.stat()):
            raise JournalError("another run is writing to it")

    def _read(self) -> Iterator[tuple[str, str, bool]]:
        line = torn = b""
        with open_stream(self._path) as lines:
            for number, line in enumerate(iter(partial(lines.readline, LIMIT), b""), start=1):
                try:
                    yield _identify(line)
                except ValueError:
                    if line.endswith(b"\n") or len(line) == LIMIT or not _is_torn(line):
                        message = f"line {number} is not a result of a judge run; name another file"
                        raise JournalError(message) from None
                    torn = line
        if torn:
            os.ftruncate(self._file, os.fstat(self._file).st_size - len(torn))
        elif line and not line.endswith(b"\n"):
            self._write(b"\n")


def encode(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of JSON in UTF-8, with escapes only if it has lone surrogates."""
    try:
        return json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which an escape in the answers can create
        return json.dumps(record).encode()


def _identify(line: bytes) -> tuple[str, str, bool]:
    record = json.loads(line)
    match record:
        case {"id": str() | int() as key, "judge": {"fingerprint": str(fingerprint)}}:
            return json.dumps(key), fingerprint, "fault" not in record["judge"]
    raise ValueError


def _is_torn(line: bytes) -> bool:
    """Return whether a line is an incomplete object; nothing else is ever removed."""
    try:
        json.loads(line)
    except ValueError:
        return line == b"{" or line.startswith(b'{"')
    return False


class StaleError(Exception):
    """A results file with an answer that was judged under other conditions; the message says which."""


class EarlierResults(NamedTuple):
    """The results of earlier runs: the answers `judged`, how many of them are `invalid`, and the ids of `others`."""

    judged: int
    invalid: int
    others: tuple[str, ...]


def check_journal(
    answers: Iterable[Answer], journal: Journal, calls: Sequence[Call], options: JudgeOptions
) -> EarlierResults:
    """Compare the answers with the journal; `others` are its ids, as JSON, that are not among the answers.

    Raises:
        StaleError: when an answer, or the rubric, models or settings that it was judged with, has changed.
    """
    if not journal.judged:
        return EarlierResults(0, 0, ())
    others = dict.fromkeys(journal.judged)
    judged = invalid = 0
    stale: list[Answer] = []
    for answer in answers:
        fingerprint = journal.judged.get(answer.key)
        if not fingerprint:
            continue
        del others[answer.key]
        judged += 1
        if answer.key in journal.invalid:
            invalid += 1
        if fingerprint != make_fingerprint(answer, calls, options):
            stale.append(answer)
    if stale:
        first = stale[0]
        which = f"answer {first.key} was"
        if len(stale) > 1:
            which = f"{len(stale)} answers ({first.key} is the first) were"
        record = next(json.loads(line) for key, line in journal.read() if key == first.key)
        changed = join_words(_find_changed(record, first, calls, options))
        raise StaleError(f"{which} judged with another {changed}")
    return EarlierResults(judged, invalid, tuple(others))


def _find_changed(record: Mapping[str, Any], answer: Answer, calls: Sequence[Call], options: JudgeOptions) -> list[str]:
    """Return the names of the conditions of a record that have changed, as far as it says them."""
    about = record["judge"]
    panel = about.get("panel")
    members = [about]
    if isinstance(panel, list) and panel:
        members = [member for member in panel if isinstance(member, dict)]
    attempts = members[0].get("attempts") if members else None
    samples = len(attempts) if isinstance(attempts, list) else 0
    call = calls[0]
    sides = {
        "model": (sorted(str(member.get("model")) for member in members), sorted(call.model for call in calls)),
        "endpoint": ({str(member.get("endpoint")) for member in members}, {call.endpoint for call in calls}),
        "response format": (about.get("response_format"), call.response_format),
        "temperature": (about.get("temperature"), call.temperature),
        "--seed": (about.get("seed"), call.seed),
        "--max-tokens": (about.get("max_tokens"), call.max_tokens),
        "--extra-body": (about.get("extra_body"), call.describe().get("extra_body")),
        "--header": (about.get("headers"), call.describe().get("headers")),
        "number of samples": (samples, samples if "fault" in about else options.samples),
        "--per-criterion": (about.get("per_criterion", False), options.per_criterion),
        "--shuffle": (about.get("shuffle"), options.shuffle),
        "rubric": (about.get("rubric_hash"), answer.rubric.hash),
        "text": ([record.get(name) for name in JudgedCase._fields], list(answer.case)),
    }
    changed = [name for name, (before, now) in sides.items() if before != now]
    if changed:
        return changed
    # Neither the names and the order of the criteria, nor the values of headers, nor how the outputs are read are in a
    # record, and not the number of samples if one is invalid, because no more were taken.
    unknown = ["rubric"]
    if call.headers:
        unknown.append("--header")
    if "fault" in about:
        unknown.append("--samples")
    return [join_words([*unknown, "--extract", "--extra-fields"], "or")]


def make_fingerprint(answer: Answer, calls: Sequence[Call], options: JudgeOptions) -> str:
    """Return a hash of everything that affects the requests and the reading of their outputs; models in any order."""
    models = sorted((call.identify() for call in calls), key=lambda identity: identity[:2])
    how = [models, options.samples, *filter(None, options.reading), options.per_criterion, options.shuffle]
    asked = [*how, answer.rubric.hash, *write_prompt(answer.rubric, answer.case)]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
