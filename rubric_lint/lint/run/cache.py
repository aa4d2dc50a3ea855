"""Cache results by everything they depend on: the bytes of a file, its name, its settings, and this build.

There is one cache file for each working folder, in a folder for this build of the tool. An invalid cache counts as
empty, and write errors are ignored. The cache folder may contain files of other tools, which are never deleted.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

try:  # as `random` does: hashlib loads OpenSSL, which takes longer than all hashing here
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from rubric_lint.lint.project.opening import LIMIT, read_file
from rubric_lint.lint.project.paths import is_folder, make_absolute
from rubric_lint.model.finding import Finding, NearMissStep, Related, Result, Severity, Unread
from rubric_lint.source.edits.intents import Fix
from rubric_lint.source.source import Edit, Source, Span, UndecodableError
from rubric_lint.source.values import as_mapping

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


def cache_folder() -> Path | None:
    """Return the cache folder: RUBRIC_LINT_CACHE_DIR, or one in the user's cache folder; None if there is none."""
    named = os.environ.get(FOLDER)
    if named:
        return make_absolute(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or r"~\AppData\Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        # The XDG Base Directory Specification says to ignore relative paths.
        if not Path(base).is_absolute():
            base = "~/.cache"
    # An unknown user, as in a container, has no home: `~` stays unchanged, where `Path.expanduser` raises.
    folder = Path(os.path.expanduser(base), "rubric-lint")  # noqa: PTH111
    return folder if folder.is_absolute() else None


def identify_tool() -> str:
    """Return an identity that changes with every build, every edit of the tool's files, and its libraries."""
    digest = _digest(sys.version.encode())
    package = Path(__file__).parents[2]
    schemas = package.with_name("schemas")  # in a checkout; otherwise in the package
    for folder in (package, schemas):
        for name, size, changed in sorted(_walk(folder)):
            digest.update(f"{name}\0{size}\0{changed}\0".encode("utf-8", "surrogateescape"))
    for place in sys.path:
        with suppress(OSError):  # Python skips what is no folder or unreadable too
            found = sorted(name for name in os.listdir(place) if name.startswith(_LIBRARIES))  # noqa: PTH208
            digest.update("\0".join(found).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _walk(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Yield every file of the tool below `folder`, with its size in bytes and modification time in nanoseconds."""
    pending = [str(folder)]
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
    """The cached results for the files of one working folder, stored in the file at `path`; None: they are not."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, Any] = _load(path) if path else {}
        self._fresh: dict[str, Any] = {}
        self._settings: dict[int, tuple[FileSettings, blake2b]] = {}

    @classmethod
    def here(cls) -> "Cache":
        """Open the cache for this working folder and this build of the tool; empty if there is no cache folder."""
        folder = cache_folder()
        if folder is None:
            return cls(None)
        place = _digest(bytes(Path.cwd())).hexdigest()
        return cls(folder / (_BUILD + identify_tool()) / place)

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
        folder = self._path.parent
        with suppress(OSError):
            if not folder.is_dir():
                folder.mkdir(parents=True)
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
    if folder is None:
        return 0
    paths = _list_builds(folder)
    judged = folder / JUDGED
    if is_folder(judged):
        paths.append(judged)
    count = 0
    for path in paths:
        for _, _, names in os.walk(path):
            count += len(names) - names.count(_TAG)
        shutil.rmtree(path)
    with suppress(OSError):  # if it contains other files, or does not exist
        folder.rmdir()
    return count


_BUILD = "rubric-lint-"
"""The prefix of our folders, which no other tool uses."""

JUDGED = "rubric-lint-judge"
"""The folder with the replies of judges, which every build can use."""

_TAG = "CACHEDIR.TAG"


def _list_builds(folder: Path) -> list[Path]:
    ours = re.compile(_BUILD + "[0-9a-f]{32}")
    try:
        named = [path for path in folder.iterdir() if ours.fullmatch(path.name)]
        return [path for path in named if path.is_dir() and not path.is_symlink()]
    except OSError:
        return []


def _begin(ours: Path) -> None:
    """Mark the folder as a cache for backup tools (bford.info/cachedir), and delete results of unused builds."""
    (ours / _TAG).write_text("Signature: 8a477f597d28d172789f06886806bc55\n# The cache of rubric-lint.\n", "ascii")
    import shutil  # noqa: PLC0415  (as above)

    for build in _list_builds(ours.parent):
        if build != ours and build.stat().st_mtime < time.time() - _OUTDATED:
            shutil.rmtree(build, ignore_errors=True)


def _load(path: Path) -> dict[str, Any]:
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
    return as_mapping(known)


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
