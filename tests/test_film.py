"""The film of the README shows what the programs write now."""

import os
import sys

import film
import pytest

pytestmark = [pytest.mark.repository, pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")]


def test_the_film_shows_what_the_programs_write():
    drawn = film.draw()
    if os.environ.get("RENEW_SNAPSHOTS"):
        film.FILM.write_text(drawn, "utf-8")
    assert film.FILM.read_text("utf-8") == drawn, "RENEW_SNAPSHOTS=1 pytest tests/test_film.py"
