"""Protocol of upstreams: a request, its target, and a reply in chunks.

UpstreamUnreachable
└── UpstreamCut: the reply broke off after its first byte; the relayed part must not look like success
UpstreamTimeout
└── ClientGaveUp: the provider was silent until the client's own timeout
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from proxy.errors import UpstreamTimeout, UpstreamUnreachable
from proxy.upstream.headers import find

# The read timeout of openai-python's HTTP client, and openai-node's timeout for the head of a reply.
_SILENCE_HEADER = "x-stainless-read-timeout"
_HEAD_HEADER = "x-stainless-timeout"


class UpstreamCut(UpstreamUnreachable):
    """The provider's reply broke off after its first byte; the client's connection must break off too."""

    code = "upstream_cut"


class ClientGaveUp(UpstreamTimeout):
    """The provider was silent until the client's own timeout: not a deployment's failure, and not worth a retry."""


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """A client's request to be forwarded.

    Args:
        method: HTTP method as the client sent it.
        path: Path after ``/v1``, percent-encoding kept: ``/chat/completions``.
        query: Raw query string without ``?``.
        headers: The client's headers in order; the upstream removes those that must not be forwarded.
        body: Whole body, or pieces that are forwarded as they arrive.
        stream: Whether the client asked for a stream of events.
        readable: Whether the proxy parses the reply: then it offers only content codings that it can decode, and for
            a stream none, so that its end can be detected.
    """

    method: str
    path: str
    query: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | AsyncIterable[bytes] = b""
    stream: bool = False
    readable: bool = False


class UpstreamResponse(Protocol):
    """A reply whose head has arrived; the caller must close it, also after the last chunk."""

    @property
    def status(self) -> int:
        """The provider's HTTP status."""

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Response headers without the hop-by-hop ones, repeats kept."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; can be iterated once.

        Raises:
            UpstreamCut: If the body breaks off.
        """

    async def aclose(self) -> None:
        """Release the connection; before the end of the body this disconnects from the provider at once."""


class Upstream(Protocol):
    """A way to reach providers."""

    async def send(self, request: UpstreamRequest, target: Target) -> UpstreamResponse:
        """Send a request; return once the head of the reply (of a stream: its first event) has arrived.

        Raises:
            UpstreamUnreachable: If the connection fails, or its other end is not an API.
            UpstreamTimeout: If the provider sends nothing for longer than the client would wait.
        """

    async def aclose(self) -> None:
        """Close every connection."""


@dataclass(frozen=True, slots=True)
class Target:
    """Destination of a request, and its key.

    Args:
        upstream: Upstream that sends the request.
        model: Model name to send; None: as the client wrote it.
        base_url: Base URL up to and including ``/v1``, without a final slash; "" if the upstream knows it.
        api_key: Key to send; None: see ``forwards_auth``.
        provider: LiteLLM's name of the provider: ``openai``, ``groq``, ``anthropic`` …
        params: ``litellm_params`` of the deployment without model, key and base URL.
        timeout_s: Maximum silence in seconds; None: as long as the client waits.
        stream_timeout_s: The same for streams; None: ``timeout_s``.
        connect_timeout_s: Connect timeout in seconds.
        forwards_auth: Without ``api_key``, forward the client's own key (never in ``keys`` mode).
        uses_ambient: The host's own (cloud) credentials replace a key.
        serves: Throughline's name of the model: the one that the client asked for, or its fallback.
        key_header: Header for ``api_key``, in lower case; "": the client's key header, else ``Authorization``.
        deployment: Id of the deployment among those of the same model.
        account: Id of the deployment and of the key that is sent there.
    """

    upstream: Upstream
    model: str | None = None
    base_url: str = ""
    api_key: str | None = field(default=None, repr=False)
    provider: str = "openai"
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    timeout_s: float | None = None
    connect_timeout_s: float = 10.0
    forwards_auth: bool = True
    uses_ambient: bool = False
    stream_timeout_s: float | None = None
    deployment: str = ""
    account: str = field(default="", repr=False)
    key_header: str = ""
    serves: str = ""


async def whole_body(request: UpstreamRequest) -> bytes:
    """Return a request's whole body, collecting its pieces."""
    if isinstance(request.body, bytes):
        return request.body
    return b"".join([piece async for piece in request.body])


@dataclass(slots=True)
class WholeResponse:
    """A complete reply, made by Throughline in the shape of a provider's."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body at once."""
        if self.body:
            yield self.body

    async def aclose(self) -> None:
        """Release nothing: there is no connection."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts in seconds; None: no limit.

    Args:
        silence_s: Maximum time between two chunks of a reply, and before its head.
        head_s: Maximum time from the sending of the request to the head of the reply.
        is_clients: True if the client set the tighter limit: after it, the client no longer waits.
    """

    silence_s: float | None
    head_s: float | None
    is_clients: bool


def patience(request: UpstreamRequest, target: Target) -> Patience:
    """Return the timeouts for this reply."""
    own = target.stream_timeout_s if request.stream and target.stream_timeout_s else target.timeout_s
    asked, head = _seconds(request.headers, _SILENCE_HEADER), _seconds(request.headers, _HEAD_HEADER)
    silence = min((one for one in (own, asked) if one is not None), default=None)
    asked_least = min((one for one in (asked, head) if one is not None), default=None)
    return Patience(silence, head, asked_least is not None and (own is None or asked_least <= own))


def _seconds(headers: Sequence[tuple[str, str]], name: str) -> float | None:
    text = find(headers, name)
    try:
        seconds = float(text) if text is not None else 0.0
    except ValueError:
        return None
    return seconds if 0 < seconds < math.inf else None
