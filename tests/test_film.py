"""The film of the README shows what the programs write now."""

import sys

import film
import pytest

pytestmark = [pytest.mark.repository, pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")]


def test_the_film_shows_what_the_programs_write(renews):
    drawn = film.draw()
    if renews:
        film.FILM.write_text(drawn, "utf-8")
    assert film.FILM.read_text("utf-8") == drawn, "if the new words are right: make renew"
