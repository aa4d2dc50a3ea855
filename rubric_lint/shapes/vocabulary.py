"""The words that teams use when they write a rubric in a form of their own, from `vocabulary.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path as File
from typing import Any

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Containers:
    """What holds criteria: `strong` words do, `common` ones hold anything, `sections` hold parts of one rubric."""

    strong: Words
    common: Words
    sections: Words


@dataclass(frozen=True, slots=True)
class Fields:
    """Our field of a criterion = the names that teams give it, the likeliest first."""

    id: Words
    text: Words
    weight: Words
    points: Words
    levels: Words
    gate: Words
    parts: Words
    negative: Words
    positive: Words
    scale: Words


@dataclass(frozen=True, slots=True)
class LevelWords:
    """The fields of a level, and the `words` that are names of levels; `two` are ladders of no and yes."""

    score: Words
    named: Words
    text: Words
    words: frozenset[str]
    two: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside the criteria, or in a mapping of `settings` there."""

    settings: Words
    passes: Words
    scale: Words
    levels: Words
    lowest: Words
    highest: Words
    total: Words
    version: Words


@dataclass(frozen=True, slots=True)
class Foreign:
    """Signs of what people or programs judge, or of what was judged already."""

    never: frozenset[str]
    beside: frozenset[str]
    words: frozenset[str]
    entry: Words
    plain: frozenset[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All words of `vocabulary.toml`; `sets` are those that say what a key is by one of its words."""

    containers: Containers
    fields: Fields
    levels: LevelWords
    beside: Beside
    foreign: Foreign
    files: Mapping[str, str]
    sets: Mapping[str, frozenset[str]]


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary."""
    table: dict[str, Any] = tomllib.loads(File(__file__).with_name("vocabulary.toml").read_text("utf-8"))
    levels, foreign = table["levels"], table["foreign"]
    beside = {"passes" if key == "pass" else key: tuple(words) for key, words in table["beside"].items()}
    return Vocabulary(
        containers=Containers(**_tuples(table["containers"])),
        fields=Fields(**_tuples(table["fields"])),
        levels=LevelWords(
            tuple(levels["score"]),
            tuple(levels["named"]),
            tuple(levels["text"]),
            frozenset(levels["words"]) | levels["two"].keys() | {*levels["two"].values()},
            levels["two"],
        ),
        beside=Beside(**beside),
        foreign=Foreign(
            frozenset(foreign["never"]),
            frozenset(foreign["beside"]),
            frozenset(foreign["words"]),
            tuple(foreign["entry"]),
            frozenset(foreign["plain"]),
        ),
        files=table["files"],
        sets={name: frozenset(words.split()) for name, words in table["sets"].items()},
    )


def _tuples(table: Mapping[str, list[str]]) -> dict[str, Words]:
    return {key: tuple(words) for key, words in table.items()}
