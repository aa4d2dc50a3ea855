"""What tests hold word for word: `snapshots/said/` has a file for each test file, with a part for each text in it.

Texts of one line from the rows of one test stand below each other in a part `TEST, each`.
`make renew` writes them anew, and deletes the parts of tests that are gone. Read the diff.
"""

import fcntl
import hashlib
import re
from functools import cache
from pathlib import Path

SNAPSHOTS = Path(__file__).parent.parent / "snapshots"
FOLDER = SNAPSHOTS / "said"
INPUTS = sorted(path for path in (SNAPSHOTS / "show").iterdir() if path.suffix != ".txt")
IF_RIGHT = "if the new words are right: make renew"
HEAD = re.compile(r"^==== (.+) ====\n", re.MULTILINE)
EACH = ", each"
LONGEST = 160  # characters of the name of a part
MOST_PARTS = 50  # of one test
ROW = re.compile(r"(\[.*?\](?: \(\d+\))?): (.*\n)")
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")


def check_file(renews, name, text):
    """Compare a text with a file of the snapshots, or make it the file."""
    path = SNAPSHOTS / name
    if renews:
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), IF_RIGHT


def check(renews, file, name, texts, folder):
    """Compare texts (a result of a program, lines or a text) with the part of that name, or make them the part."""
    pieces = (str(item).removesuffix("\n") for text in texts for item in flat(text))
    text = "".join(f"{item}\n" for item in pieces if item)
    text = PORT.sub("PORT", text.replace(str(folder), "FOLDER"))
    assert not HEAD.search(text)
    path = FOLDER / f"{file}.txt"
    if renews:
        rewrite(path, lambda parts: {**parts, name: text})
    else:
        assert text == read(path).get(name), IF_RIGHT


def flat(text):
    return [item for part in text for item in flat(part)] if isinstance(text, list | tuple) else [text]


@cache
def read(path):
    """Return the parts of a file by their names."""
    pieces = HEAD.split(path.read_text("utf-8"))[1:] if path.exists() else []
    parts = {}
    for name, text in zip(pieces[::2], pieces[1::2], strict=True):
        rows = ROW.findall(text) if name.endswith(EACH) else [("", text)]
        parts |= {name.removesuffix(EACH) + row: said for row, said in rows}
    return parts


def name_part(test, number):
    """Return the name of the part for what a test says for the first, second ... time; a long name holds a text."""
    name = f"{test} ({number})" if number > 1 else test
    if len(name) <= LONGEST:
        return name
    return f"{name[:LONGEST]}... {hashlib.sha256(name.encode()).hexdigest()[:8]}"


def has(file, test, words):
    """Return whether a part of this test has these words."""
    parts = read(FOLDER / f"{file}.txt")
    return any(words in parts.get(name_part(test, number), "") for number in range(1, MOST_PARTS + 1))


def forget(file, tests):
    """Delete the parts of tests that are not among these."""
    names = {name_part(test, number) for test in tests for number in range(1, MOST_PARTS + 1)}
    path = FOLDER / f"{file}.txt"
    if path.exists():
        rewrite(path, lambda parts: {name: text for name, text in parts.items() if name in names})


def rewrite(path, change):
    """Change the parts of a file, which other workers read and change too, and only with this lock."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        read.cache_clear()
        old = path.read_text("utf-8")
        new = write(change(read(path)))
        read.cache_clear()
        if new != old:
            path.write_text(new, "utf-8")


def write(parts):
    """Return the text of a file with these parts."""
    pieces = {}
    for name, text in sorted(parts.items()):
        test, bracket, row = name.partition("[")
        line = f"{bracket}{row}: {text}"
        fits = ROW.fullmatch(line)
        head = test + EACH if fits and fits.groups() == (bracket + row, text) else name
        pieces[head] = pieces.get(head, "") + (text if head == name else line)
    return "".join(f"==== {head} ====\n{text}" for head, text in sorted(pieces.items()))
