"""Translate LiteLLM's exceptions to the provider's errors: status, code, headers and message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from proxy.errors import ProxyError, UpstreamTimeout, UpstreamUnreachable
from proxy.upstream.litellm_reply import provider_headers

_PREFIX = re.compile(
    r"^(?:litellm\.)?(?=\w*(?:Error|Exception|Timeout|Policy))\w++:\s*(?:\w+ ?(?:Exception|Error)?\s*-\s*)?"
)
_JSON = re.compile(r"\A[^\[{]*+([\[{].*[\]}])", re.DOTALL)
_CODES = {
    "ContextWindowExceededError": "context_length_exceeded",
    "ContentPolicyViolationError": "content_policy_violation",
}
_MAX_CHAIN = 8


@dataclass(frozen=True, slots=True)
class ProviderError:
    """A provider's error as an HTTP reply in OpenAI's shape."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def translate(error: Exception, place: str) -> ProviderError | ProxyError:
    """Return the provider's own error, or a ProxyError if the provider sent none.

    Args:
        error: Error that LiteLLM raised.
        place: Name of the provider, for messages.
    """
    if isinstance(error, ProxyError):
        return error
    told = next((one for one in _chain(error) if _status(one) and _headers(one)), None)
    if told is not None and not _is_html(told):
        return _provider_error(error, told)
    status = _status(told or error) or 500
    if type(error).__name__ == "Timeout" or isinstance(error, TimeoutError) or status == 408:
        return UpstreamTimeout(f"{place} did not answer in time. Raise the client's timeout.")
    if status < 500:
        return _provider_error(error, error)
    missing = next((one for one in _chain(error) if isinstance(one, ModuleNotFoundError)), None)
    if missing is not None:
        return UpstreamUnreachable(
            f"{place} needs the Python package {str(missing.name).partition('.')[0]!r}, which is not installed beside "
            "Throughline. Install it, or use the provider's own OpenAI-compatible endpoint (deploy/bridges.md)."
        )
    *_, root = _chain(error)
    if told is not None:
        return UpstreamUnreachable(f"{place} answered {status} with an HTML page, not with an API error. Try again.")
    if any(_is_of_the_network(one) for one in _chain(error)):
        mend = "Check the network, and api_base if it is set; then try again."
        return UpstreamUnreachable(f"Cannot reach {place} ({type(root).__name__}). {mend}")
    return UpstreamUnreachable(
        f"The exchange with {place} could not be translated ({type(root).__name__}). "
        "Send the request without its rarer fields, or use the provider's own OpenAI-compatible endpoint."
    )


def error_object(error: Exception) -> dict[str, Any]:
    """Return the inner object of an error in OpenAI's shape."""
    told = next((one for one in _chain(error) if _status(one) and _headers(one)), error)
    text = str(getattr(told, "message", None) or told)
    inner = _inner(text)
    kind = inner.get("type") or inner.get("status")
    code = _CODES.get(type(error).__name__) or inner.get("code") or inner.get("status") or kind
    if isinstance(code, int):
        code = inner.get("status") or kind
    return {
        "message": str(inner.get("message") or _PREFIX.sub("", text, count=1)),
        "type": str(kind or getattr(error, "type", None) or "upstream_error"),
        "param": inner.get("param"),
        "code": str(code) if code is not None else None,
    }


def _provider_error(error: Exception, told: BaseException) -> ProviderError:
    status = _status(told) or 500
    headers = [("content-type", "application/json"), *provider_headers(_headers(told))]
    return ProviderError(status, headers, orjson.dumps({"error": error_object(error)}, default=str))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes; LiteLLM maps 529 to 500, so the original error is needed."""
    seen: BaseException | None = error
    # The innermost error with both status and headers is the provider's; LiteLLM's own have empty headers.
    for _ in range(_MAX_CHAIN):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and 400 <= status <= 599 else None


def _headers(error: BaseException) -> list[tuple[str, str]]:
    for holder in (error, getattr(error, "response", None)):
        found = getattr(holder, "headers", None)
        if found:
            return [(str(name), str(value)) for name, value in found.items()]
    return []


def _inner(text: str) -> dict[str, Any]:
    match = _JSON.search(text)
    if match is None:
        return {}
    try:
        found = orjson.loads(match[1])
    except orjson.JSONDecodeError:
        return {}
    if isinstance(found, list):
        found = found[0] if found else {}
    error = found.get("error", found) if isinstance(found, dict) else {}
    return error if isinstance(error, dict) else {"message": str(error)}


def _is_html(error: BaseException) -> bool:
    kinds = [value for name, value in _headers(error) if name.lower() == "content-type"]
    return (_status(error) or 0) >= 500 and any("html" in kind.lower() for kind in kinds)


def _is_of_the_network(error: BaseException) -> bool:
    return isinstance(error, OSError) or type(error).__module__.partition(".")[0] in ("aiohttp", "httpcore", "httpx")
