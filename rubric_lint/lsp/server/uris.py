"""Convert between the URIs of an editor and the paths of files."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH100

import os
import re
from urllib.parse import quote, unquote, unquote_to_bytes, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:")


def path_of(uri: str) -> str | None:
    """Return the path of a `file:` URI; None for another URI, or if no file can have that path.

    Bytes that are not UTF-8 are kept, unlike in pygls.
    """
    try:
        parts = urlsplit(uri)
        path = os.fsdecode(unquote_to_bytes(parts.path))
    except ValueError:  # not a URI, or with half a surrogate pair
        return None
    if parts.scheme != "file" or not path or "\0" in path:
        return None
    if parts.netloc:
        path = f"//{unquote(parts.netloc)}{path}"
    elif _DRIVE.match(path):
        path = path[1].lower() + path[2:]
    return path.replace("/", os.sep)


def uri_of(path: str) -> str:
    """Return the URI of a file."""
    path = os.path.abspath(path).replace(os.sep, "/")
    host, rest = "", path
    if path.startswith("//"):
        host, slash, rest = path[2:].partition("/")
        rest = slash + rest
    elif _DRIVE.match(f"/{path}"):
        return f"file:///{path[0].lower()}:{_quote(path[2:])}"
    return f"file://{_quote(host)}{_quote(rest)}"


def identify(path: str) -> str:
    """Return the path of a file without links; the same path if no file can have it."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path


def _quote(text: str) -> str:
    return quote(text.encode("utf-8", "surrogateescape"))
