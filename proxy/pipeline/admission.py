"""Step 0, admission: identify the client and check its rights before the body is read; web pages have fewer rights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TypeVar
from urllib.parse import urlsplit

from proxy.access.auth import Identity, passthrough_identity
from proxy.access.limits import UNLIMITED, Ticket
from proxy.errors import Forbidden, ModelNotFound, Unauthorized
from proxy.services import Services
from proxy.settings.load import Settings, is_loopback
from proxy.upstream.headers import by_name, client_key, find

T = TypeVar("T")
_WEB = ("http", "https", "")
_PRIVATE = (".localhost", ".local", ".internal", ".home.arpa")  # domains without public registration


@dataclass(frozen=True, slots=True)
class Admission:
    """Rights of an admitted client.

    Args:
        identity: Identity of the client.
        ticket: Ticket that counts the request; the caller closes it.
        body_bytes: Limit of the request body, in bytes.
        limit_name: Name of the setting with that limit.
    """

    identity: Identity
    ticket: Ticket
    body_bytes: int
    limit_name: str


async def admit(headers: Iterable[tuple[str, str]], services: Services, *, counts: bool = True) -> Admission:
    """Identify a client and, if ``counts``, count its request.

    Raises:
        Unauthorized: In ``keys`` mode, without a Throughline key.
        Forbidden: If a page of another site sends a placeholder key.
        RateLimited: If the key has no requests left for now.
    """
    settings = services.settings
    identity = await identity_of(headers, services)
    allowance = identity.allowance.over(settings.allowance)
    most = settings.server.max_body_bytes
    own = allowance.body_bytes or most
    return Admission(
        identity,
        services.limits.admit(identity.holder, allowance) if counts else UNLIMITED,
        min(own, most),
        "the limit of this key" if own < most else "server.max_body_bytes",
    )


def permitted(identity: Identity, model: str, find: Callable[[], T]) -> T:
    """Return the result of ``find`` for a model; a key restricted to models cannot tell whether others exist.

    Raises:
        ModelNotFound: If the key may not use the model, or it does not exist.
        Forbidden: If the request names no model, and the key is restricted to models.
    """
    if not identity.models:
        return find()
    if not model:
        raise Forbidden("This key is for certain models, and the request names none. Name one in `model`.")
    if identity.may_use(model):
        try:
            return find()
        except ModelNotFound:
            pass
    raise ModelNotFound(
        f"There is no model {model[:200]!r} for this key. GET /v1/models lists those that there are.", param="model"
    )


async def identity_of(headers: Iterable[tuple[str, str]], services: Services) -> Identity:
    """Return the identity of the request's key.

    Raises:
        Unauthorized: In ``keys`` mode, without a Throughline key.
        Forbidden: If a page of another site sends a placeholder key.
    """
    settings = services.settings
    key = client_key(headers) or ""
    if settings.auth.mode == "passthrough":
        return _brought(key, by_name(headers), services)
    if not key:
        raise Unauthorized(
            "You didn't provide an API key. Send one of this server's keys as `Authorization: Bearer KEY`; "
            "its operator makes them with `throughline keys create`."
        )
    found = await services.keys.lookup(key)
    if found is None:
        raise Unauthorized(
            "Incorrect API key provided: it is not one of this server's keys. Its operator makes them with "
            "`throughline keys create`."
        )
    tenant = services.hasher.digest("tenant", "keys", found.tenant)
    return Identity(
        tenant,
        found.user,
        found.id,
        may_name=found.may_name_users and not found.user,
        allowance=found.allowance,
        models=found.models,
        offers_recall=found.offers_recall,
        is_operator=found.is_operator,
        takes_commands=found.takes_commands,
        teams=found.teams,
    )


def key_for_routes(headers: Iterable[tuple[str, str]], settings: Settings) -> str | None:
    """Return the client's key for the choice of a route; None if no operator's key may replace it.

    A web page can point its own name at this machine (DNS rebinding) and send any key. Names of the origins in
    ``server.cors_origins`` are the operator's.
    """
    given, server = list(headers), settings.server
    if settings.auth.mode == "passthrough" and is_loopback(server.host):
        host = _parts(f"//{find(given, 'host') or ''}")[1]
        if _is_public(host) and host not in {_parts(origin)[1] for origin in server.cors_origins}:
            return None
    return client_key(given)


def _brought(key: str, headers: Mapping[str, str], services: Services) -> Identity:
    """Identify a client by its provider's key, or by a placeholder, which identifies only this machine's user."""
    settings = services.settings
    host, local_user = settings.server.host, settings.memory.local_user
    if key and (local_user or key in settings.auth.placeholder_keys):  # the key does not identify the user
        if _is_foreign_page(headers):
            raise Forbidden("A page of another site may not use a placeholder key here. Send a key of your provider.")
        host = host if "host" not in headers or _is_named_here(headers) else ""
    return passthrough_identity(key, settings.auth, services.hasher, host, local_user)


def _is_foreign_page(headers: Mapping[str, str]) -> bool:
    """Return whether a web page of another machine sent it; programs, extensions and local pages are not foreign."""
    origin = headers.get("origin", "").strip()
    if not origin:
        return False
    scheme, host = _parts(origin)
    return scheme in _WEB and not is_loopback(host)


def _is_named_here(headers: Mapping[str, str]) -> bool:
    """Return whether the ``Host`` header is a loopback name; a page that rebinds its own name sends another."""
    return is_loopback(_parts(f"//{headers.get('host', '')}")[1])


def _is_public(host: str) -> bool:
    """Return whether a host could be a public domain name: neither an address nor in a private domain."""
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
