"""Read the API key of an endpoint from the environment."""

import os
import re

KEY = "OPENAI_API_KEY"
"""The environment variable with the API key, if no option names another."""

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


class ApiKeyError(Exception):
    """A key that is missing or cannot be sent, and what to do."""


def is_variable(name: str) -> bool:
    """Return whether this is the name of an environment variable, and not a key given by mistake."""
    return bool(_VARIABLE.fullmatch(name))


def read_key(variable: str, *, is_needed: bool, option: str, advice: str) -> str:
    """Return the key in an environment variable, or an empty string.

    `option` is what names the variable, and `advice` what to do when it is not set, both as errors write them.

    Raises:
        ApiKeyError: when the key is needed and missing, or cannot be sent.
    """
    key = os.environ.get(variable, "").strip()
    # A key passed by mistake as the name of the variable must not appear in a log.
    shown = variable if is_variable(variable) else f"the variable named by {option}"
    if not key and is_needed:
        raise ApiKeyError(f"{shown} is not set. Set it, {advice} for an endpoint without a key")
    if not (key.isascii() and key.isprintable()):
        raise ApiKeyError(f"the key in {shown} contains characters that are not allowed in HTTP headers")
    return key
