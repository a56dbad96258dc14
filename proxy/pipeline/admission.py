"""Step 0: who is asking and whether they may, before the body is read; a page of a browser may less."""

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
_PRIVATE = (".localhost", ".local", ".internal", ".home.arpa")  # domains in which nobody can register a name


@dataclass(frozen=True, slots=True)
class Admission:
    """A client that was let in.

    Args:
        identity: Who it is.
        ticket: Counts its request; to be closed.
        body_bytes: The largest body that it may send.
        limit_name: The setting that says so.
    """

    identity: Identity
    ticket: Ticket
    body_bytes: int
    limit_name: str


async def admit(headers: Iterable[tuple[str, str]], services: Services, *, counts: bool = True) -> Admission:
    """Identify a client and count its request, unless it is one that costs nothing.

    Raises:
        Unauthorized: In ``keys`` mode, without a key of ours.
        Forbidden: If a page of another site comes with a placeholder.
        RateLimited: If it has had its requests for now.
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
    """Return what ``find`` finds for a model; a key of certain models learns nothing of others, not whether they exist.

    Raises:
        ModelNotFound: If the key may not use it, or there is none.
        Forbidden: If the request names no model, and the key is one of certain models.
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
    """Return what the request's key stands for.

    Raises:
        Unauthorized: In ``keys`` mode, without a key of ours.
        Forbidden: If a page of another site comes with a placeholder.
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


def _brought(key: str, headers: Mapping[str, str], services: Services) -> Identity:
    """Identify a client that brings its provider's key, or a placeholder, which identifies this machine's user only."""
    settings = services.settings
    host, local_user = settings.server.host, settings.memory.local_user
    if key and (local_user or key in settings.auth.placeholder_keys):  # what the key is decides nothing
        if _is_foreign_page(headers):
            raise Forbidden("A page of another site may not use a placeholder key here. Send a key of your provider.")
        host = host if "host" not in headers or _is_named_here(headers) else ""
    return passthrough_identity(key, settings.auth, services.hasher, host, local_user)


def _is_foreign_page(headers: Mapping[str, str]) -> bool:
    """Return whether a page of another machine asks; programs, extensions and pages of this machine are not foreign."""
    origin = headers.get("origin", "").strip()
    if not origin:
        return False
    scheme, host = _parts(origin)
    return scheme in _WEB and not is_loopback(host)


def _is_named_here(headers: Mapping[str, str]) -> bool:
    """Return whether the client asked for a loopback name; a page that rebinds its own name does not."""
    return is_loopback(_parts(f"//{headers.get('host', '')}")[1])


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
