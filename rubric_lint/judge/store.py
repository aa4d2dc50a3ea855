"""Keep valid replies for later runs, by everything that affects them.

This is sqlite3 and no package for caches: diskcache, also with JSON, runs what a changed file says (CVE-2025-69872).
"""

import json
import math
import random
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from rubric_lint.judge.call import Call, hash_json
from rubric_lint.judge.endpoint import Exchange
from rubric_lint.lint.project.opening import SMALL_LIMIT
from rubric_lint.scoring.records.reply import Reply, Tokens

NAME = "replies-1.sqlite3"
"""The file in the folder of the cache; the number changes with what it holds."""

_MOST_BYTES = 512_000_000
"""The size of the file from which half of the replies are dropped."""

_PATIENCE = 10.0
"""Seconds to wait for another run that writes."""

_TABLE = "CREATE TABLE IF NOT EXISTS replies (number INTEGER PRIMARY KEY, key TEXT UNIQUE, reply TEXT)"

_IMMATERIAL = frozenset(
    ("metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "store", "user")
)
"""The fields of a body that change the handling of a request, not its reply."""


def make_key(call: Call, body: Mapping[str, Any], sample: int) -> str:
    """Return the key of a reply: a hash of the endpoint, the body and the number of the sample, in a canonical form."""
    material = {name: value for name, value in body.items() if name not in _IMMATERIAL}
    return hash_json([call.endpoint, sorted(map(list, call.headers)), material, sample])


class ReplyStore:
    """The replies in a folder. Several runs may use it at once; a broken or full one counts as empty.

    When it is opened, only the `most` latest replies are kept.

    `fault` says why nothing can be read or written any more; empty if all is well.
    """

    def __init__(self, folder: Path, most: int = 100_000) -> None:
        self._most = most
        self.fault = ""
        self._database: Any = None
        try:
            import sqlite3  # noqa: PLC0415  (some builds of Python lack it)
        except ImportError as fault:
            self.fault = str(fault)
            return
        self._errors = (OSError, sqlite3.Error)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = folder / NAME
            # SQLite would create it as the umask says, and replies may be confidential.
            path.touch(mode=0o600)
            # Without transactions of Python's: other runs write in between, and VACUUM is refused inside one.
            self._database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
            self._prepare(sqlite3.OperationalError)
        except self._errors as fault:
            self.fault = str(fault)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._database:
            self._database.close()

    def _prepare(self, locked: type[Exception]) -> None:
        """Create the table. Another run that does the same at this moment locks the file, even to those that wait."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                self._database.execute("PRAGMA journal_mode=WAL")
                # With WAL, a loss of power costs the latest replies at most, and never the file.
                self._database.execute("PRAGMA synchronous=NORMAL")
                self._database.execute(_TABLE)
                _drop_oldest(self._database, self._most)
            except locked as fault:
                if "locked" not in str(fault) or time.monotonic() > end:
                    raise
                time.sleep(random.uniform(0.01, 0.1))  # noqa: S311 (spreads load, keeps no secret)
            else:
                return

    def get(self, key: str) -> Exchange | None:
        """Return the kept reply, or None."""
        found = self._execute("SELECT reply FROM replies WHERE key = ?", key)
        if found:
            with suppress(ValueError, TypeError, KeyError, RecursionError):  # of another program, or damaged
                return _unpack(json.loads(found[0], parse_constant=_refuse_constant))
        return None

    def put(self, key: str, exchange: Exchange) -> None:
        """Keep a reply in place of an earlier one."""
        reply = exchange.reply
        sent = exchange.sent.isoformat() if exchange.sent else None
        fields = {"text": reply.text, "tokens": reply.tokens, "model": reply.model}
        packed = json.dumps({**fields, "sent": sent, "seconds": exchange.seconds})
        if len(packed) <= SMALL_LIMIT:
            self._execute("INSERT OR REPLACE INTO replies (key, reply) VALUES (?, ?)", key, packed)

    def _execute(self, statement: str, *values: str) -> Any:
        """Return the first row of what a statement finds; None if it finds nothing, or fails."""
        if self.fault or self._database is None:
            return None
        try:
            with closing(self._database.execute(statement, values)) as rows:
                return rows.fetchone()
        except self._errors as fault:
            self.fault = str(fault)
            return None


def _drop_oldest(database: Any, kept: int) -> None:
    (size,) = database.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    if size > _MOST_BYTES:
        (count,) = database.execute("SELECT count(*) FROM replies").fetchone()
        kept = min(kept, count // 2)
    oldest = "DELETE FROM replies WHERE number <= (SELECT max(number) FROM replies) - ?"
    # Only VACUUM makes the file smaller; it writes all of it anew.
    if database.execute(oldest, (kept,)).rowcount and size > _MOST_BYTES:
        database.execute("VACUUM")


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _unpack(packed: Any) -> Exchange:
    text, model, seconds = packed["text"], packed["model"], packed["seconds"]
    if not isinstance(text, str) or not isinstance(model, str | None) or not isinstance(seconds, float | int | None):
        raise TypeError
    if seconds is not None and not math.isfinite(seconds):
        raise ValueError
    tokens = Tokens(*(count if type(count) is int and count >= 0 else None for count in packed["tokens"]))
    sent = None if packed["sent"] is None else datetime.fromisoformat(packed["sent"])
    return Exchange(Reply(text, None, tokens, model), sent, seconds, is_cached=True)
