"""Render HTML pages from the templates in `templates/`. What others wrote is escaped wherever a template prints it."""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from rubric_lint.report.visible import visible
from rubric_lint.version import __version__

_LONGEST, _LONGEST_SAID = 4000, 100_000
"""The most characters to show of a name or message, and of a quoted text: question, answer, reference, reasons."""

_TEMPLATES = Path(__file__).parent / "templates"
SCRIPT = _TEMPLATES / "report.js"


def as_html(text: str, most: int = _LONGEST) -> Markup:
    """Escape a foreign text for the page: shortened, with invisible characters shown and markup escaped."""
    shown = text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"
    lines = shown.replace("\r\n", "\n").split("\n")
    return Markup(escape("\n".join(visible(line.expandtabs(4)) for line in lines)))  # noqa: S704 (escaped here)


def _print(value: Any) -> Any:
    return as_html(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def name_answer(answer: bool | int) -> str:
    """Return an answer as a word: yes, no or the number."""
    return ("yes" if answer else "no") if isinstance(answer, bool) else str(answer)


def name_id(name: Any) -> str:
    """Return an id as the page shows it; numbers keep all their digits."""
    return name if isinstance(name, str) else json.dumps(name, default=str)


def format_score(score: Any) -> str:
    """Return a score with three digits."""
    return "none" if score is None else f"{float(score):.3f}"


@cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_print,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        number=lambda count: f"{count:,}",
        quoted=lambda text: as_html(text, _LONGEST_SAID),
        answer=name_answer,
        id=name_id,
        score=format_score,
        to_data=lambda each: each.to_json(),
        verdict_now=lambda verdict: f"{verdict or 'invalid'} now",
    )
    return environment


def render_page(template: str, *, has_script: bool = False, **values: Any) -> str:
    """Render a self-contained page up to its end, which `close_page` renders.

    A script may only be that of `close_page`, by its hash.
    """
    digest = b64encode(sha256(SCRIPT.read_text("utf-8").encode()).digest()).decode() if has_script else ""
    policy = Markup(f"; script-src 'sha256-{digest}'" if has_script else "")  # noqa: S704 (a hash)
    return _make_environment().get_template(template).render(version=__version__, policy=policy, **values)


def close_page(*, has_script: bool = False) -> str:
    """Render the end of a page, with the script that the data before it is for."""
    script = f"<script>{SCRIPT.read_text('utf-8')}</script>\n" if has_script else ""
    return f"{script}</body>\n</html>\n"
