"""Pictures of the built site: those to look at in `build/pictures`, and those of the README in `docs/images`.

`make site` first, then `PYTHONPATH=.:tools python tools/site_pictures.py`.
"""

import shutil
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path

from report_pictures import ROOT, browse, prefer

SITE = ROOT / "build/site"
LOOKED_AT = ("", "get-started/", "guides/ci/", "rules/", "rules/bands-and-levels/", "commands/", "settings/", "api/")
WIDTHS = (1200, 400)
HEIGHT = 1400
CHOSEN = {
    "site.png": ("", "light", 1200, 760),
    "site-dark.png": ("", "dark", 1200, 760),
    "site-rule.png": ("rules/overlap/", "light", 1200, 760),
}
"""The pictures in `docs/images`: the page, the scheme, the width and the height in pixels."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def take(url: str, scheme: str, size: tuple[int, int], picture: Path) -> None:
    """Write a picture of the page at `url`, `size` pixels wide and high."""
    with tempfile.TemporaryDirectory() as profile:
        options = (prefer(scheme), f"--screenshot={picture}", "--window-size={},{}".format(*size))
        browse(url, Path(profile), *options, "--virtual-time-budget=3000")


def main() -> None:
    """Take all of them."""
    assert SITE.is_dir(), "build the site first: make site"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}/"
    folder = ROOT / "build/pictures"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for page, width, scheme in product(LOOKED_AT, WIDTHS, ("light", "dark")):
        name = page.strip("/").replace("/", "-") or "home"
        take(home + page, scheme, (width, HEIGHT), folder / f"{name}-{width}-{scheme}.png")
    (ROOT / "docs/images").mkdir(exist_ok=True)
    for name, (page, scheme, width, height) in CHOSEN.items():
        take(home + page, scheme, (width, height), ROOT / "docs/images" / name)
    server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
