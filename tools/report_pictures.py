"""The pictures of the HTML report in `docs/`, taken of the examples.

`PYTHONPATH=. python tools/report_pictures.py` takes them; look at them after it.
"""

import contextlib
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from click.testing import CliRunner

from rubric_lint.cli.score.score import cli

ROOT = Path(__file__).parent.parent
EXAMPLE = ("examples/summary.rubric.yaml", "examples/summary.outputs.jsonl")
PICTURES = {"light": ROOT / "docs/images/report.png", "dark": ROOT / "docs/images/report-dark.png"}
SIZE = (1000, 1560)
MADE = "1767225600"
"""When the page says that it was made, in seconds since 1970."""

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking")  # fmt: skip
_SCHEMES = {"light": "1", "dark": "0"}
_END = b"\0\0\0\0IEND\xaeB`\x82"
_MARK = b"page\0"


def browse(page: Path | str, profile: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page, a file or an address, in Chromium."""
    assert CHROMIUM, "Chromium takes the pictures (apt-get install chromium)"
    address = page if isinstance(page, str) else page.as_uri()
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *options, address]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, stdin=subprocess.DEVNULL)


def prefer(scheme: str) -> str:
    """The option by which the reader prefers light or dark."""
    return f"--blink-settings=preferredColorScheme={_SCHEMES[scheme]}"


def write_page(path: Path) -> None:
    """Have `rubric-score` write the page of the example."""
    arguments = [*EXAMPLE, "--isolated", "--report", str(path)]
    with contextlib.chdir(ROOT):  # the page repeats the names of the files in commands
        result = CliRunner(env={"SOURCE_DATE_EPOCH": MADE}).invoke(cli, arguments, standalone_mode=False)
    assert result.return_value == 1, result.output  # the example holds answers that fail


def take(scheme: str, page: Path, folder: Path) -> bytes:
    """A picture of the page, which says what it was taken of."""
    picture = folder / f"{scheme}.png"
    browse(page, folder / scheme, prefer(scheme), f"--screenshot={picture}", "--window-size={},{}".format(*SIZE))
    data = picture.read_bytes()
    assert data.endswith(_END)
    return data.removesuffix(_END) + _chunk(b"tEXt", _MARK + digest(page)) + _END


def subject(picture: bytes) -> bytes:
    """The digest of the page that a picture was taken of."""
    return picture.partition(b"tEXt" + _MARK)[2][:64]


def size(picture: bytes) -> tuple[int, int]:
    """Width and height of a PNG."""
    return int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])


def digest(page: Path) -> bytes:
    """The digest of a page."""
    return hashlib.sha256(page.read_bytes()).hexdigest().encode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)


def main() -> None:
    """Take both pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_page(folder / "report.html")
        for scheme, path in PICTURES.items():
            path.write_bytes(take(scheme, folder / "report.html", folder))


if __name__ == "__main__":
    sys.exit(main())
