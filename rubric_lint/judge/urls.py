"""Tell whether requests can be sent to an address."""

import re
from ipaddress import IPv4Address
from urllib.parse import urlsplit

_IPV4 = re.compile(r"\d+(?:\.\d+){3}", re.ASCII)


def is_url(url: str) -> bool:
    """Return whether requests can be sent to this base URL."""
    if not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        host.encode("idna")  # what has no such form cannot be called
        if _IPV4.fullmatch(host):
            IPv4Address(host)
        return bool(parts.scheme in {"http", "https"} and host and (parts.port is None or parts.port > 0))
    except ValueError:
        return False
