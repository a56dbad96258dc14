"""Rules for headers that cross the proxy, in either direction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

# RFC 9110 section 7.6.1, and older ones that still occur.
HOP_BY_HOP = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "trailers",
        "transfer-encoding",
        "upgrade",
    ]
)

# A browser's cookies belong to this host (the dashboard), never to a provider.
_NOT_UP = HOP_BY_HOP | {"host", "content-length", "cookie", "expect"}

# Key headers of OpenAI, Anthropic, Azure and Gemini.
KEY_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key"})

# Headers for a memory, about a front end's users, and those that a proxy in front adds about them: never forwarded.
_PRIVATE = (
    "x-memory-",
    "x-openwebui-",
    "x-librechat-",
    "x-sm-",
    "x-supermemory-",
    "x-forwarded-",
    "x-original-forwarded-",
    "x-auth-request-",
    "x-authentik-",
    "x-pomerium-",
    "x-vouch-",
    "x-webauth-",
    "x-goog-authenticated-user-",
    "x-ms-client-principal",
    "x-amzn-oidc-",
    "cf-access-",
    "tailscale-user-",
    "remote-",
)
_PRIVATE_WHOLE = frozenset(
    {"forwarded", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip", "fly-client-ip", "x-remote-user"}
)

# Codings that the standard library decodes once a reply is whole; and those that can be read in a stream.
READABLE_WHOLE = frozenset({"gzip", "deflate", "identity"})
READABLE_AT_ONCE = frozenset({"identity"})


def upward(
    headers: Iterable[tuple[str, str]],
    *,
    api_key: str | None,
    forwards_auth: bool = True,
    codings: Collection[str] | None = None,
    key_header: str = "",
) -> list[tuple[str, str]]:
    """Return the client's headers to forward to the provider, in order.

    Args:
        headers: Headers as the client sent them, values decoded as latin-1.
        api_key: Key that replaces the client's, in the same header.
        forwards_auth: Without ``api_key``: whether to forward the client's own key.
        codings: Content codings to offer to the provider; None: all that the client accepts.
        key_header: Another header for ``api_key``, by its lower-case name.
    """
    given = list(headers)
    dropped = _NOT_UP | _named_by_connection(given)
    kept: list[tuple[str, str]] = []
    has_key = False
    for name, value in given:
        lower = name.lower()
        if lower in dropped or lower in _PRIVATE_WHOLE or lower.startswith(_PRIVATE):
            continue
        if lower in KEY_HEADERS and (api_key is not None or not forwards_auth):
            if api_key is not None and not has_key:
                kept.append(_key(key_header or name, api_key))
                has_key = True
        elif lower == "accept-encoding" and codings is not None:
            kept.append((name, _only(codings, value)))
        else:
            kept.append((name, value if value.isascii() else _as_utf8(value)))
    if api_key is not None and not has_key:
        kept.append(_key(key_header or "Authorization", api_key))
    return kept


def downward(raw_headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Return the provider's headers to relay to the client; the body keeps its length and coding."""
    given = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw_headers]
    dropped = HOP_BY_HOP | _named_by_connection(given)
    return [(name, value) for name, value in given if name.lower() not in dropped and not is_of_memory(name)]


def is_of_memory(name: str) -> bool:
    """Return whether a reply's header is about memory: those of another Throughline upstream are not relayed."""
    return name.lower().startswith("x-memory")


def find(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    """Return the first value of a header, by its lower-case name."""
    return next((value for key, value in headers if key.lower() == name), None)


def value_of(headers: Iterable[tuple[str, str]], name: str) -> str:
    """Return the first value of a header, by its lower-case name; "" if it is absent."""
    return find(headers, name) or ""


def is_event_stream(headers: Iterable[tuple[str, str]]) -> bool:
    """Return whether a reply is a stream of events, by its content type."""
    return value_of(headers, "content-type").startswith("text/event-stream")


def by_name(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the values by lower-case name, decoded as UTF-8 if valid; of repeated headers the last."""
    return {name.lower(): value if value.isascii() else _as_utf8(value) for name, value in headers}


def client_key(headers: Iterable[tuple[str, str]]) -> str | None:
    """Return the client's key from any key header; an empty one counts as none."""
    by_name: Mapping[str, str] = {name.lower(): value for name, value in reversed(list(headers))}
    scheme, _, token = by_name.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return next(
        (by_name[name].strip() for name in ("x-api-key", "api-key", "x-goog-api-key") if by_name.get(name)), None
    )


def _key(name: str, api_key: str) -> tuple[str, str]:
    return name, f"Bearer {api_key}" if name.lower() == "authorization" else api_key


def _named_by_connection(headers: Iterable[tuple[str, str]]) -> frozenset[str]:
    values = [value for name, value in headers if name.lower() == "connection"]
    # "close" and "keep-alive" name no header; authorization is never hop-by-hop, even if listed here.
    named = {token.strip().lower() for value in values for token in value.split(",")}
    return frozenset(named - KEY_HEADERS - {"close", "keep-alive", "content-type", ""})


def _only(codings: Collection[str], value: str) -> str:
    offered = [part.strip() for part in value.split(",")]
    kept = [part for part in offered if part.partition(";")[0].strip().lower() in codings]
    return ", ".join(kept) or "identity"


def _as_utf8(value: str) -> str:
    # ASGI decodes header bytes as latin-1 and aiohttp encodes as UTF-8: keep the bytes if they are UTF-8.
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value
