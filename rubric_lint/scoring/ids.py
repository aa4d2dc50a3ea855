"""The ids by which all commands join records of one answer."""

import json
from collections.abc import Container

Key = str | tuple[str, ...]
"""The id of an answer: a string, or a tuple that begins with what to show: the JSON of any other id, or its rubric."""

RecordId = tuple[str, Key]
"""The name of a rubric, and the id of an answer; records of different rubrics may share an id."""


def make_id_key(name: object) -> Key:
    """Return the key of an id; in one file, `1` and `"1"` are different ids."""
    if isinstance(name, str):
        return name
    if type(name) is int:
        return (str(name),)
    return (json.dumps(name, sort_keys=True, default=str),)


def name_key(key: Key) -> str:
    """Return an id as messages and tables show it."""
    return key if isinstance(key, str) else key[0]


def change_type(found: RecordId) -> RecordId:
    """Return an id in the other type: of `1` it is `"1"`."""
    rubric, key = found
    own_key = (key,) if isinstance(key, str) else key[0]
    return rubric, own_key


def find_id(wanted: RecordId, known: Container[RecordId], own: Container[RecordId] = ()) -> RecordId | None:
    """Return the id that another file has of the same answer; None if it has none.

    Tables do not tell `1` from `"1"`, so either joins the other. A file with both tells them apart, and then the types
    have to be the same: `own` are the ids of the file with the wanted one.
    """
    if wanted in known:
        return wanted
    other = change_type(wanted)
    return other if other in known and other not in own else None
