"""Cache results by everything they depend on: the bytes of a file, its name, its settings, and this build.

There is one cache file for each working folder, in a folder for this build of the tool. An invalid cache counts as
empty, and write errors are ignored. The cache folder may contain files of other tools, which are never deleted.
"""

# Paths are str, see lint/project/settings.py.
# ruff: noqa: PTH100, PTH103, PTH106, PTH109, PTH111, PTH112, PTH117, PTH118, PTH120, PTH123, PTH208

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

try:  # as `random` does: hashlib loads OpenSSL, which takes longer than all hashing here
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from rubric_lint.lint.project.opening import LIMIT, read_file
from rubric_lint.model.finding import Finding, NearMissStep, Related, Result, Severity, Unread
from rubric_lint.source.edits.intents import Fix
from rubric_lint.source.source import Edit, Source, Span, UndecodableError

if TYPE_CHECKING:  # `rubric-lint --help` needs no settings
    from rubric_lint.lint.project.settings import FileSettings

FOLDER = "RUBRIC_LINT_CACHE_DIR"
"""The environment variable with the cache folder."""

_KEPT = 20_000
"""The number of latest results to keep for a working folder; about 60 bytes each without findings."""

_OUTDATED = 30 * 24 * 3600
"""The seconds to keep the results of a build that is no longer used."""

_LIBRARIES = ("ruamel", "jsonschema")
"""The prefixes of the libraries that affect results."""


def cache_folder() -> str:
    """Return the cache folder: RUBRIC_LINT_CACHE_DIR, or one in the user's cache folder; "" if there is none."""
    named = os.environ.get(FOLDER)
    if named:
        return os.path.abspath(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        # The XDG Base Directory Specification says to ignore relative paths.
        base = base if os.path.isabs(base) else os.path.expanduser("~/.cache")
    # An unknown user, as in a container, has no home: `~` stays unchanged.
    return os.path.join(base, "rubric-lint") if os.path.isabs(base) else ""


def identify_tool() -> str:
    """Return an identity that changes with every build, every edit of the tool's files, and its libraries."""
    digest = _digest(sys.version.encode())
    package = os.path.abspath(f"{__file__}/../../..")
    schemas = os.path.join(os.path.dirname(package), "schemas")  # in a checkout; otherwise in the package
    for folder in (package, schemas):
        for name, size, changed in sorted(_walk(folder)):
            digest.update(f"{name}\0{size}\0{changed}\0".encode("utf-8", "surrogateescape"))
    for folder in filter(os.path.isdir, sys.path):
        with suppress(OSError):  # Python skips unreadable folders too
            found = sorted(name for name in os.listdir(folder) if name.startswith(_LIBRARIES))
            digest.update("\0".join(found).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _walk(folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield every file of the tool below `folder`, with its size in bytes and modification time in nanoseconds."""
    pending = [folder]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".json", ".toml")):
                    facts = entry.stat()
                    yield entry.path, facts.st_size, facts.st_mtime_ns
                elif "." not in entry.name and entry.name != "__pycache__":
                    pending.append(entry.path)


def _digest(data: bytes = b"") -> blake2b:
    return blake2b(data, digest_size=16)


class Cache:
    """The cached results for the files of one working folder, stored in the file at `path`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: dict[str, Any] = _load(path)
        self._fresh: dict[str, Any] = {}
        self._settings: dict[int, tuple[FileSettings, blake2b]] = {}

    @classmethod
    def here(cls) -> "Cache":
        """Open the cache for this working folder and this build of the tool; empty if there is no cache folder."""
        folder = cache_folder()
        if not folder:
            return cls("")
        place = _digest(os.getcwd().encode("utf-8", "surrogateescape")).hexdigest()
        return cls(os.path.join(folder, _BUILD + identify_tool(), place))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        self.save()

    def __len__(self) -> int:
        return len(self._known)

    def key(self, name: str, data: bytes, settings: "FileSettings") -> str:
        """Return the cache key of a file."""
        known = self._settings.get(id(settings))
        if known is None:
            known = self._settings[id(settings)] = settings, _digest(repr(_order(settings)).encode())
        digest = known[1].copy()
        digest.update(name.encode("utf-8", "surrogateescape") + b"\0")  # its folder may show what it is
        digest.update(data)
        return digest.hexdigest()

    def get(self, key: str, name: str, data: bytes, *, edits: bool = True) -> Result | None:
        """Return the cached result for a key, for the file with this name and these bytes, or None.

        A result without the edits of its fixes counts only if the run does without `edits`.
        """
        found = self._known.get(key)
        if found is None or not _matches(found, _RESULT):
            return None
        rubrics, criteria, ignored, tests, findings, unread = found
        if edits and any(map(_lacks_edits, findings)):
            return None
        source = _decode(name, data) if findings else Source(name, "")
        places = tuple(map(_unpack_unread, unread))
        return Result(source, tuple(map(_unpack, findings)), rubrics, criteria, ignored, places, tests=tests)

    def put(self, key: str, result: Result, *, edits: bool = True) -> None:
        """Store a result; without `edits`, those of its fixes are left out, unless they are made anyway."""
        packed = []
        for finding in result.findings:
            fix = finding.fix and _pack_fix(finding.fix, edits=edits)
            choices = [_pack_fix(choice, edits=edits) for choice in finding.choices]
            related = [[place.message, *place.span] for place in finding.related]
            values = [[name, str(value)] for name, value in finding.values.items()]
            head = [finding.code, values, finding.severity, finding.message, *finding.span, finding.pointer]
            packed.append([*head, related, fix, choices])
        counts = [result.rubrics, result.criteria, result.ignored, result.tests]
        self._fresh[key] = [*counts, packed, result.unread]

    def save(self) -> None:
        """Write new results atomically: interrupted or concurrent writes leave a complete file."""
        if not self._fresh or not self._path:
            return
        from rubric_lint.lint.project.writing import create_temporary  # noqa: PLC0415

        results = {**self._known, **self._fresh}
        latest = dict(list(results.items())[-_KEPT:])
        body = json.dumps(latest, separators=(",", ":")).encode()
        folder = os.path.dirname(self._path)
        with suppress(OSError):
            if not os.path.isdir(folder):
                os.makedirs(folder)
                _begin(folder)
            with create_temporary(self._path, 0o600) as (descriptor, temporary):
                with os.fdopen(descriptor, "wb") as file:
                    file.write(_digest(body).hexdigest().encode() + b"\n" + body)
                temporary.replace(self._path)


def clear() -> int:
    """Delete the cache of all builds and folders, and the replies of judges; return the number of files.

    Raises:
        OSError: if a file cannot be deleted.
    """
    import shutil  # noqa: PLC0415  (few runs delete anything)

    folder = cache_folder()
    paths = [build.path for build in _builds(folder)]
    judged = os.path.join(folder, JUDGED)
    if folder and os.path.isdir(judged):
        paths.append(judged)
    count = 0
    for path in paths:
        for _, _, names in os.walk(path):
            count += len(names) - names.count(_TAG)
        shutil.rmtree(path)
    with suppress(OSError):  # if it contains other files, or does not exist
        os.rmdir(folder)
    return count


_BUILD = "rubric-lint-"
"""The prefix of our folders, which no other tool uses."""

JUDGED = "rubric-lint-judge"
"""The folder with the replies of judges, which every build can use."""

_TAG = "CACHEDIR.TAG"


def _builds(folder: str) -> "list[os.DirEntry[str]]":
    ours = re.compile(_BUILD + "[0-9a-f]{32}")
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if ours.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _begin(ours: str) -> None:
    """Mark the folder as a cache for backup tools (bford.info/cachedir), and delete results of unused builds."""
    with open(os.path.join(ours, _TAG), "w", encoding="ascii") as file:
        file.write("Signature: 8a477f597d28d172789f06886806bc55\n# The cache of rubric-lint.\n")
    import shutil  # noqa: PLC0415  (as above)

    for build in _builds(os.path.dirname(ours)):
        if build.path != ours and build.stat().st_mtime < time.time() - _OUTDATED:
            shutil.rmtree(build.path, ignore_errors=True)


def _load(path: str) -> dict[str, Any]:
    try:
        check, _, body = read_file(path, LIMIT).partition(b"\n")
    except OSError:
        return {}
    if check != _digest(body).hexdigest().encode():
        return {}
    try:
        known = json.loads(body)
    except (ValueError, RecursionError):  # the checksum detects accidents, not tampering
        return {}
    return known if isinstance(known, dict) else {}


def _decode(name: str, data: bytes) -> Source:
    try:
        return Source.from_bytes(name, data)
    except UndecodableError as fault:
        return fault.source  # the finding that reports it has its place


def _order(value: Any) -> Any:
    """Normalise settings to be the same in every process: sort sets and mappings."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return sorted(value.items())
    return [_order(item) for item in value] if isinstance(value, tuple) else value


def _pack_fix(fix: Fix, *, edits: bool) -> list[Any]:
    made = [[*edit.span, edit.text] for edit in fix.edits] if edits or fix.is_made else None
    return [fix.title, fix.safe, made, fix.choice]


# The form of cached values: a type, a list with the form of all its items, or a tuple of forms.
_SPANNED = (int, int)
_EDITS = [(*_SPANNED, str)]
_FIX = (str, bool, _EDITS, str)
_FINDING = (str, [(str, str)], frozenset(Severity), str, *_SPANNED, str, [(str, *_SPANNED)], _FIX, [_FIX])
_UNREAD = (str, *_SPANNED, bool, int, [(str, str)])
_RESULT = (int, int, int, int, [_FINDING], [_UNREAD])


def _matches(value: Any, form: Any) -> bool:
    """Return whether a value from the file has the form that `put` gives it; a fix and its edits may be null."""
    if value is None:
        return form is _FIX or form is _EDITS
    if isinstance(form, list):
        return type(value) is list and all(_matches(item, form[0]) for item in value)
    if isinstance(form, tuple):
        return type(value) is list and len(value) == len(form) and all(map(_matches, value, form))
    if isinstance(form, frozenset):
        return type(value) is str and value in form
    return type(value) is form and (form is not int or value >= 0)


def _lacks_edits(packed: list[Any]) -> bool:
    """Return whether the edits of a fix of a packed finding were left out."""
    *_, fix, choices = packed
    return any(one[2] is None for one in [fix, *choices] if one)


def _unpack_unread(packed: list[Any]) -> Unread:
    reason, line, column, is_known, signs, steps = packed
    return Unread(reason, line, column, is_known, signs, tuple([NearMissStep(*step) for step in steps]))


def _unpack(packed: list[Any]) -> Finding:
    """Unpack a finding, without the parts that only `rubric-fix` needs, which lints by itself."""
    code, values, severity, message, start, end, pointer, related, fix, choices = packed
    return Finding(
        code.partition(".")[0],
        Severity(severity),
        message,
        Span(start, end),
        pointer,
        tuple(Related(text, Span(*span)) for text, *span in related),
        fix and _unpack_fix(fix),
        choices=tuple(_unpack_fix(choice) for choice in choices if choice),
        code=code,
        values=dict(values),
    )


def _unpack_fix(packed: list[Any]) -> Fix:
    title, is_safe, edits, choice = packed
    if edits is None:
        return Fix(title, None, is_safe, choice=choice)
    return Fix(title, tuple(Edit(Span(*span), text) for *span, text in edits), is_safe, choice=choice)
