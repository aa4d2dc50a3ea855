"""Refuse arguments of the Python API that are of another type than their parameter."""

import os
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from types import CodeType
from typing import ParamSpec, SupportsIndex, TypeVar

from rubric_lint.model.messages import join_words

P = ParamSpec("P")
R = TypeVar("R")
Kinds = type | tuple[type, ...]

NONE = type(None)
MANY = Collection
"""What can be read several times and has items, but is not a string, bytes or a mapping."""

_WORDS: Mapping[type, str] = {
    str: "a string",
    bytes: "bytes",
    bool: "True or False",
    int: "an integer",
    SupportsIndex: "an integer",
    float: "a number",
    os.PathLike: "a path",
    Mapping: "a mapping",
    MANY: "a list",
    NONE: "None",
}


def takes(**kinds: Kinds) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function raise a TypeError for an argument that is of none of the types of its parameter."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        code: CodeType = function.__code__
        names = code.co_varnames[: code.co_argcount]

        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            for name, value in (*zip(names, args, strict=False), *named.items()):
                if name in kinds:
                    require(name, value, kinds[name])
            return function(*args, **named)

        return call

    return decorate


def require(name: str, value: object, kinds: Kinds) -> None:
    """Raise a TypeError if the value of an argument is of none of these types. A boolean is no number here."""
    expected = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, bool):
        fits = bool in expected
    elif isinstance(value, str | bytes | Mapping):
        fits = isinstance(value, tuple(kind for kind in expected if kind is not MANY))
    else:
        fits = isinstance(value, expected) or (float in expected and isinstance(value, int))
    if not fits:
        words = join_words([_WORDS.get(kind, kind.__name__) for kind in expected], "or")
        raise TypeError(f"{name} is a value of the type {type(value).__name__}; expected {words}")


def require_items(name: str, values: Collection[object], kind: type) -> None:
    """Raise a TypeError if an item of a list is of another type."""
    for number, value in enumerate(values):
        require(f"{name}[{number}]", value, kind)
