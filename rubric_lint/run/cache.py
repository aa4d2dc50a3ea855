"""The results of earlier runs, by what they depend on: the bytes of a file, its name, its settings, and this tool.

One file a working folder, below a folder for this very build of the tool. Whatever is wrong with it, it counts as
empty; what cannot be written is not kept: a cache may be slow, but neither wrong nor in the way. It may stand among the
files of others, of which nothing is taken away.
"""

# Paths are str here, see config.py.
# ruff: noqa: PTH100, PTH103, PTH105, PTH106, PTH108, PTH109, PTH111, PTH112, PTH117, PTH118, PTH119, PTH120, PTH123, PTH208

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Self

try:  # as `random` does: hashlib brings OpenSSL along, which takes longer to load than all there is to hash here
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from rubric_lint.finding import Edit, Finding, Fix, Related, Result, Severity, Unread
from rubric_lint.project.opening import LIMIT, read_file
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.source import Source, Span, UndecodableError

FOLDER = "RUBRIC_LINT_CACHE_DIR"
"""The environment variable that says where the cache is."""

_KEPT = 20_000
"""How many results are kept for a working folder, the latest; some 60 bytes each where nothing was found."""

_OUTDATED = 30 * 24 * 3600
"""For how many seconds the results of a build are kept that writes no more."""

_LIBRARIES = ("ruamel", "jsonschema", "referencing")
"""How the names of the libraries begin that have a say in a result."""


def cache_folder() -> str:
    """Where the cache is: as RUBRIC_LINT_CACHE_DIR says, or in the user's folder for caches; "" for a user without."""
    if named := os.environ.get(FOLDER):
        return os.path.abspath(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        # What is relative is to be ignored, says the XDG Base Directory Specification.
        base = base if os.path.isabs(base) else os.path.expanduser("~/.cache")
    # A user that the system does not know, as in a container, has no home: `~` stays as it is.
    return os.path.join(base, "rubric-lint") if os.path.isabs(base) else ""


def identify_tool() -> str:
    """What changes with every build of this tool, every edit of its files, and the libraries that it stands on."""
    digest = _digest(sys.version.encode())
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    schemas = os.path.join(os.path.dirname(package), "schemas")  # in a checkout; otherwise inside the package
    for folder in (package, schemas):
        for name, size, changed in sorted(_walk(folder)):
            digest.update(f"{name}\0{size}\0{changed}\0".encode("utf-8", "surrogateescape"))
    for folder in filter(os.path.isdir, sys.path):
        with suppress(OSError):  # Python passes by what it may not read, too
            found = sorted(name for name in os.listdir(folder) if name.startswith(_LIBRARIES))
            digest.update("\0".join(found).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _walk(folder: str) -> Iterator[tuple[str, int, int]]:
    """Every file of ours below `folder`, with its size in bytes and when it was changed, in nanoseconds."""
    pending = [folder]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".json")):
                    facts = entry.stat()
                    yield entry.path, facts.st_size, facts.st_mtime_ns
                elif "." not in entry.name and entry.name != "__pycache__":
                    pending.append(entry.path)


def _digest(data: bytes = b"") -> blake2b:
    return blake2b(data, digest_size=16)


class Cache:
    """The results that are known for the files of one working folder, kept in the file at `path`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: dict[str, Any] = _load(path)
        self._fresh: dict[str, Any] = {}
        self._settings: dict[int, tuple[FileSettings, blake2b]] = {}

    @classmethod
    def here(cls) -> "Cache":
        """The cache for this working folder and this build of the tool; an empty one where there is no place for it."""
        if not (folder := cache_folder()):
            return cls("")
        place = _digest(os.getcwd().encode("utf-8", "surrogateescape")).hexdigest()
        return cls(os.path.join(folder, _BUILD + identify_tool(), place))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        self.save()

    def __len__(self) -> int:
        return len(self._known)

    def key(self, name: str, data: bytes, settings: FileSettings) -> str:
        """What the result for a file depends on."""
        known = self._settings.get(id(settings))
        if known is None:
            known = self._settings[id(settings)] = settings, _digest(repr(_order(settings)).encode())
        digest = known[1].copy()
        digest.update(os.path.basename(name).encode("utf-8", "surrogateescape") + b"\0")
        digest.update(data)
        return digest.hexdigest()

    def get(self, key: str, name: str, data: bytes) -> Result | None:
        """The result that is known for a key, for the file of that name with those bytes."""
        found = self._known.get(key)
        if found is None or not _matches(found, _RESULT):
            return None
        rubrics, criteria, ignored, findings, unread = found
        source = _decode(name, data) if findings else Source(name, "")
        places = tuple(Unread(*each) for each in unread)
        return Result(source, tuple(map(_unpack, findings)), rubrics, criteria, ignored, places)

    def put(self, key: str, result: Result) -> None:
        """Keep a result."""
        packed = [_pack(finding) for finding in result.findings]
        self._fresh[key] = [result.rubrics, result.criteria, result.ignored, packed, result.unread]

    def save(self) -> None:
        """Write what is new; an interrupted write, or one of several at once, leaves a file that is whole."""
        if not self._fresh or not self._path:
            return
        import json  # noqa: PLC0415  (often nothing is new)
        import tempfile  # noqa: PLC0415

        results = {**self._known, **self._fresh}
        latest = dict(list(results.items())[-_KEPT:])
        body = json.dumps(latest, separators=(",", ":")).encode()
        folder = os.path.dirname(self._path)
        with suppress(OSError):
            if not os.path.isdir(folder):
                os.makedirs(folder)
                _begin(folder)
            handle, temporary = tempfile.mkstemp(dir=folder)
            try:
                with open(handle, "wb") as file:
                    file.write(_digest(body).hexdigest().encode() + b"\n" + body)
                os.replace(temporary, self._path)
            except OSError:
                os.unlink(temporary)


def clear() -> int:
    """Take the cache away, of all builds and folders; how many files it was.

    Raises:
        OSError: when something in it cannot be taken away.
    """
    import shutil  # noqa: PLC0415

    folder = cache_folder()
    count = 0
    for build in _builds(folder):
        count += sum(name != _TAG for _, _, names in os.walk(build.path) for name in names)
        shutil.rmtree(build.path)
    with suppress(OSError):  # where there is something else in it, or nothing at all
        os.rmdir(folder)
    return count


_BUILD = "rubric-lint-"
"""How the names of our folders begin, so that none of another tool is taken for one."""

_TAG = "CACHEDIR.TAG"


def _builds(folder: str) -> "list[os.DirEntry[str]]":
    """The folders of all builds, of this tool and no other."""
    import re  # noqa: PLC0415  (most runs only read)

    ours = re.compile(_BUILD + "[0-9a-f]{32}")
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if ours.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _begin(ours: str) -> None:
    """Tell backups that this is a cache (bford.info/cachedir), and drop what builds have left that are not used now."""
    with open(os.path.join(ours, _TAG), "w", encoding="ascii") as file:
        file.write("Signature: 8a477f597d28d172789f06886806bc55\n# The cache of rubric-lint.\n")
    import shutil  # noqa: PLC0415
    import time  # noqa: PLC0415

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
    import json  # noqa: PLC0415  (a first run does without)

    try:
        known = json.loads(body)
    except (ValueError, RecursionError):  # the checksum tells of accidents, and not of who wrote the file
        return {}
    return known if isinstance(known, dict) else {}


def _decode(name: str, data: bytes) -> Source:
    try:
        return Source.from_bytes(name, data)
    except UndecodableError as fault:
        return fault.source  # its places are those of the finding that says so


def _order(value: Any) -> Any:
    """The same for equal settings in every process: sets and mappings in the order of their names."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return sorted(value.items())
    return [_order(item) for item in value] if isinstance(value, tuple) else value


def _pack(finding: Finding) -> list[Any]:
    fix = finding.fix and [finding.fix.title, finding.fix.safe, [[*edit.span, edit.text] for edit in finding.fix.edits]]
    related = [[place.message, *place.span] for place in finding.related]
    return [finding.rule, finding.severity, finding.message, *finding.span, finding.pointer, related, fix]


# The form of what is kept: a type, a list of one form as a list of it, a fixed list of forms as a tuple of them.
_SPANNED = (int, int)
_FIX = (str, bool, [(*_SPANNED, str)])
_FINDING = (str, frozenset(Severity), str, *_SPANNED, str, [(str, *_SPANNED)], _FIX)
_UNREAD = (str, *_SPANNED, bool)
_RESULT = (int, int, int, [_FINDING], [_UNREAD])


def _matches(value: Any, form: Any) -> bool:
    """Return whether a value from the file has the form that `put` gives it; a fix may be null."""
    if isinstance(form, list):
        return type(value) is list and all(_matches(item, form[0]) for item in value)
    if isinstance(form, tuple):
        if value is None:
            return form is _FIX
        return type(value) is list and len(value) == len(form) and all(map(_matches, value, form))
    if isinstance(form, frozenset):
        return type(value) is str and value in form
    return type(value) is form and (form is not int or value >= 0)


def _unpack(packed: list[Any]) -> Finding:
    """A finding as it was, but for what only `rubric-fix` asks of it, which lints by itself."""
    rule, severity, message, start, end, pointer, related, fix = packed
    return Finding(
        rule,
        Severity(severity),
        message,
        Span(start, end),
        pointer,
        tuple(Related(text, Span(*span)) for text, *span in related),
        fix and Fix(fix[0], tuple(Edit(Span(*span), text) for *span, text in fix[2]), fix[1]),
    )
