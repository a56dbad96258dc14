"""Checks of what a browser's page may have sent: of which site it is, and whether its key counts for a route."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from proxy.settings.load import Settings, is_loopback
from proxy.upstream.headers import client_key, find

_WEB = ("http", "https", "")
_PRIVATE = (".localhost", ".local", ".internal", ".home.arpa")  # domains in which nobody can register a name


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


def key_for_routes(headers: Iterable[tuple[str, str]], settings: Settings) -> str | None:
    """Return the client's key for the choice of a route, None where no key of the operator's may stand in for it.

    A page can point its own name at this machine (DNS rebinding) and send any key. Names of the origins in
    ``server.cors_origins`` are the operator's.
    """
    given, server = list(headers), settings.server
    if settings.auth.mode == "passthrough" and is_loopback(server.host):
        host = _parts(f"//{find(given, 'host') or ''}")[1]
        if _is_public(host) and host not in {_parts(origin)[1] for origin in server.cors_origins}:
            return None
    return client_key(given)


def _is_public(host: str) -> bool:
    """Return whether a host is a name that anybody could own: no address, and of no private domain."""
    try:
        ip_address(host)
    except ValueError:
        return "." in host and not host.rstrip(".").endswith(_PRIVATE)
    return False


def _parts(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme.lower(), parts.hostname or ""
