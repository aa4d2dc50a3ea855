"""A film of half a minute in which the programs run on the examples: `docs/images/film.svg`.

`PYTHONPATH=tools python tools/film.py` runs them and writes it; a test does the same and compares.
"""

import fcntl
import html
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILM = ROOT / "docs/images/film.svg"
SCENES = (
    "rubric-lint examples/support-bot.yaml --select overlap,unknown-field,vague-outcome",
    "rubric-lint fix --diff examples/legacy.yaml",
    "rubric-lint score examples/summary.rubric.yaml examples/summary.outputs.jsonl --format table --allow-invalid",
    "rubric-lint assess examples/replies.rubric.yaml examples/replies.judged.jsonl --labels examples/replies.labels.jsonl",  # noqa: E501
)
COLUMNS, ROWS = 118, 24
SECONDS = 7.5
"""How long a scene lasts, of which its command is typed in the first fifth."""
_WIDTH, _HEIGHT, _MARGIN = 7.8, 18, 14
"""The size of a character and the margin, in pixels."""
_CODE = re.compile(r"\x1b\[(\d*)m")
_CLASSES = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "34": "l", "35": "m", "36": "c"}
_STYLE = """\
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
text { fill: #d7dae0; white-space: pre }
.b { font-weight: 700 } .d { fill: #8b919c } .r { fill: #ff7b72 } .g { fill: #7ee787 } .y { fill: #e3b341 }
.l { fill: #79c0ff } .m { fill: #d2a8ff } .c { fill: #56d4dd }
"""


def run(command: str, folder: Path) -> list[str]:
    """What a command writes to a terminal of this width, line by line, with its colors."""
    program, *arguments = command.split()
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "HOME": str(folder)}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen(
        [Path(sys.executable).parent / program, *arguments], cwd=folder, env=environment, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        written = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    assert process.returncode in {0, 1, 4}, written.decode()  # 4: nothing is decided
    return written.decode().splitlines()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # what Linux says where nobody writes any more
        return b""


def draw() -> str:
    """The film as SVG: scenes one above the other, of which style sheets show one at a time."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(ROOT / "examples", Path(name, "examples"))
        drawn = [_scene(number, command, run(command, Path(name))) for number, command in enumerate(SCENES)]
    width, height = round(COLUMNS * _WIDTH) + 2 * _MARGIN, ROWS * _HEIGHT + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="rubric-lint in a terminal">\n<style>\n{_STYLE}{"".join(_timing(n) for n in range(len(SCENES)))}'
        "@media (prefers-reduced-motion: reduce) { g { animation: none !important } .s + .s { opacity: 0 } }\n"
        f'</style>\n<rect width="{width}" height="{height}" rx="8" fill="#16191f"/>\n{"".join(drawn)}</svg>\n'
    )


def _timing(number: int) -> str:
    whole = len(SCENES)
    start, typed, end = (100 / whole * (number + part) for part in (0, 0.2, 1))
    length = len(SCENES[number]) + 2
    before = f"0% {{ opacity: 0 }} {start:g}%" if number else "0%"
    scene = f"{before} {{ opacity: 1 }} {end:g}%, 100% {{ opacity: 0 }}"
    output = f"0% {{ opacity: 0 }} {typed:g}%, 100% {{ opacity: 1 }}"
    typing = f"0%, {start:g}% {{ clip-path: inset(0 100% 0 0) }} {typed:g}%, 100% {{ clip-path: inset(0 0 0 0) }}"
    seconds = f"{whole * SECONDS:g}s"
    return (
        f"@keyframes s{number} {{ {scene} }}\n"
        f"@keyframes o{number} {{ {output} }}\n"
        f"@keyframes t{number} {{ {typing} }}\n"
        f".s{number} {{ animation: s{number} {seconds} step-end infinite }} "
        f".o{number} {{ animation: o{number} {seconds} step-end infinite }} "
        f".t{number} {{ animation: t{number} {seconds} steps({length}) infinite }}\n"
    )


def _scene(number: int, command: str, lines: list[str]) -> str:
    shown = lines[: ROWS - 1]
    rows = "".join(_row(place, "".join(_spans(line))) for place, line in enumerate(shown, start=1))
    prompt = _row(0, f'<tspan class="g">$</tspan> <tspan class="b">{html.escape(command)}</tspan>')
    return f'<g class="s s{number}"><g class="t t{number}">{prompt}</g><g class="o o{number}">{rows}</g></g>\n'


def _row(place: int, content: str) -> str:
    return f'<text x="{_MARGIN}" y="{_MARGIN + (place + 1) * _HEIGHT - 5}">{content}</text>' if content else ""


def _spans(line: str) -> Iterator[str]:
    """The pieces of a line, each in the color that the codes before it set."""
    classes: list[str] = []
    first, *rest = _CODE.split(line)
    yield html.escape(first)
    for code, text in zip(rest[::2], rest[1::2], strict=True):
        classes = [] if code in {"", "0"} else [*classes, _CLASSES[code]]
        if text:
            yield f'<tspan class="{" ".join(classes)}">{html.escape(text)}</tspan>' if classes else html.escape(text)


if __name__ == "__main__":
    FILM.write_text(draw(), "utf-8")
