"""Errors that are raised on purpose, each with its HTTP status and OpenAI-shaped body.

ProxyError
├── InvalidRequest (400)
│   ├── InvalidJson
│   ├── MissingModel
│   ├── PreviousReplyNotFound
│   ├── InvalidHeader
│   └── NamesNobody
├── Unauthorized (401)
├── Forbidden (403)
├── NotFound (404)
│   ├── ModelNotFound
│   ├── ContentDamaged
│   └── NotHandedOut
│       └── ReplyNotHandedOut
├── MethodNotAllowed (405)
├── RequestTimeout (408)
├── Conflict (409)
├── BodyTooLarge (413)
├── UnsupportedEncoding (415)
├── UpgradeRequired (426)
├── HeadTooLarge (431)
├── RateLimited (429)
├── UpstreamUnreachable (502)
├── UpstreamTimeout (504)
├── StoreUnavailable (503)
│   └── LeaseLost (in proxy.store.leases)
├── MediaRefused (400, in proxy.media.base)
├── EmbeddingFailed (503, in proxy.memory.vectors.embed)
└── ConfigError (500, never over HTTP: refused at start)
    └── StoreDamaged
"""

from __future__ import annotations

from typing import Any, ClassVar

MAX_JSON_LEVELS = 900  # every parser accepts it: orjson up to 1,024, the standard library fewer than its 1,000 frames


class ProxyError(Exception):
    """Base of all errors raised on purpose. ``str(error)`` states the problem and the remedy."""

    status: ClassVar[int] = 500
    type: ClassVar[str] = "throughline_error"
    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, *, param: str | None = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.param = param
        self.headers = headers or {}

    def body(self) -> dict[str, Any]:
        """Return the error in OpenAI's shape."""
        error = {"message": str(self), "type": self.type, "param": self.param, "code": self.code}
        return {"error": error}


class InvalidRequest(ProxyError):
    """The request is malformed, as judged by Throughline and not by the provider."""

    status, type, code = 400, "invalid_request_error", "invalid_request"


class InvalidJson(InvalidRequest):
    """The body is not JSON, or a parser rejects it: nested too deeply, not UTF-8, a number too long."""

    def __init__(self, error: BaseException) -> None:
        match error:
            case RecursionError():
                said = f"The body is nested too deeply: JSON is read up to {MAX_JSON_LEVELS} levels. Send it flatter."
            case UnicodeDecodeError():
                said = "The body is not UTF-8. Send JSON in UTF-8."
            case _ if "integer string conversion" in str(error):
                said = "A number in the body has too many digits. Send it as a string."
            case _:
                said = f"The body is not valid JSON: {error}."
        super().__init__(said)


class MissingModel(InvalidRequest):
    """The body names no model."""

    code = "missing_model"


class PreviousReplyNotFound(InvalidRequest):
    """The request continues a reply that is not stored here."""

    code = "previous_response_not_found"


class InvalidHeader(InvalidRequest):
    """An ``X-Memory-*`` header has an invalid value."""

    code = "invalid_header"


class NamesNobody(InvalidRequest):
    """The request names its user by a text that identifies no user, such as an unfilled template."""

    code = "names_nobody"


class Unauthorized(ProxyError):
    """The key is missing or unknown."""

    status, type, code = 401, "invalid_request_error", "invalid_api_key"


class Forbidden(ProxyError):
    """The key is not allowed to do this."""

    status, type, code = 403, "permission_error", "forbidden"


class NotFound(ProxyError):
    """The object does not exist in this scope."""

    status, type, code = 404, "invalid_request_error", "not_found"


_LISTED = {  # noun: the path that lists the existing objects
    "memory": "/v1/memories?status=all",
    "conversation": "/v1/sessions",
    "session": "/v1/sessions",
    "receipt": "/v1/receipts",
    "review": "/v1/reviews?status=all",
    "document": "/v1/documents",
    "image": "/v1/images",
    "item": "/memory-manager/state/export",
    "task": "/v1/tasks?status=all",
    "job": "/v1/jobs",
    "agent": "/v1/agents",
    "project": "/v1/projects",
    "entry of the quarantine": "/v1/quarantine",
}


def unknown(noun: str, id_: str, *, param: str = "id") -> NotFound:
    """Return the error for an id unknown in this scope: the same for another scope's object as for none at all."""
    mend = f" GET {_LISTED[noun]} lists yours." if noun in _LISTED else ""
    return NotFound(f"There is no {noun} {id_[:80]!r}.{mend}", param=param)


def no_place(noun: str, after: str) -> NotFound:
    """Return the error for a page that starts after an entry missing from the list."""
    return NotFound(
        f"There is no {noun} {after[:80]!r} in this list to continue after. Ask for the first page again.",
        param="after",
    )


class ModelNotFound(NotFound):
    """No route serves the model."""

    code = "model_not_found"


class ContentDamaged(NotFound):
    """The bytes of a file differ from those that were stored."""

    code = "content_damaged"


class NotHandedOut(NotFound):
    """The request names a provider's object that was not handed out in its scope."""


class ReplyNotHandedOut(NotHandedOut):
    """The request continues a reply that was not handed out in its scope."""

    code = "previous_response_not_found"


class MethodNotAllowed(ProxyError):
    """The path exists, but not for this method."""

    status, type, code = 405, "invalid_request_error", "method_not_allowed"


class RequestTimeout(ProxyError):
    """The client did not send its whole request in time."""

    status, type, code = 408, "invalid_request_error", "request_timeout"


class Conflict(ProxyError):
    """The state of the object does not allow the operation."""

    status, type, code = 409, "invalid_request_error", "conflict"


class BodyTooLarge(ProxyError):
    """The request body exceeds ``server.max_body_bytes``."""

    status, type, code = 413, "invalid_request_error", "body_too_large"


class UnsupportedEncoding(ProxyError):
    """The request body has an unsupported compression."""

    status, type, code = 415, "invalid_request_error", "unsupported_encoding"


class UpgradeRequired(ProxyError):
    """The client asks for a WebSocket; only HTTP is served."""

    status, type, code = 426, "invalid_request_error", "upgrade_required"


class HeadTooLarge(ProxyError):
    """The request's headers exceed the size limit."""

    status, type, code = 431, "invalid_request_error", "headers_too_large"


class RateLimited(ProxyError):
    """Too many requests."""

    status, type, code = 429, "rate_limit_error", "rate_limit_exceeded"


class UpstreamUnreachable(ProxyError):
    """The provider could not be reached, or its answer is not an API response."""

    status, type, code = 502, "upstream_error", "upstream_unreachable"


class UpstreamTimeout(ProxyError):
    """The provider did not answer in time."""

    status, type, code = 504, "upstream_error", "upstream_timeout"


class CallRefused(ProxyError):
    """The provider refused a call that Throughline itself made; a retry would be refused again."""

    status, type, code = 502, "upstream_error", "call_refused"


class StoreUnavailable(ProxyError):
    """A store cannot be read or written right now."""

    status, type, code = 503, "throughline_error", "store_unavailable"


class ConfigError(ProxyError):
    """The settings are invalid; raised at start, with the remedy."""

    code = "config_error"


class StoreDamaged(ConfigError):
    """A store is damaged in a way that only a person can repair."""

    code = "store_damaged"
