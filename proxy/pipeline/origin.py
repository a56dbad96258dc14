"""Whether a browser's page asks, and whose: a placeholder key is no secret that a foreign page could not guess."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from proxy.settings.load import is_loopback

_WEB = ("http", "https", "")


def is_foreign_page(headers: Mapping[str, str]) -> bool:
    """Whether a page of another machine asks; programs, extensions and pages of this machine are not foreign."""
    origin = headers.get("origin", "").strip()
    if not origin:
        return False
    scheme, host = _parts(origin)
    return scheme in _WEB and not is_loopback(host)


def is_named_here(headers: Mapping[str, str]) -> bool:
    """Whether the client asked for a loopback name; a page that rebinds its own name to this machine does not."""
    return is_loopback(_parts(f"//{headers.get('host', '')}")[1])


def _parts(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme.lower(), parts.hostname or ""
