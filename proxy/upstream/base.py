"""Protocol of upstreams: a request, its target, and a reply in chunks.

UpstreamUnreachable
└── UpstreamCut: the reply broke off after its first byte; whatever was relayed must not look like success
UpstreamTimeout
└── ClientGaveUp: the silence was as long as the client itself would bear
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from proxy.errors import UpstreamTimeout, UpstreamUnreachable
from proxy.upstream.headers import find

# The silence that openai-python bears (its HTTP client's read timeout), and what openai-node waits for a reply's head.
_SILENCE_HEADER = "x-stainless-read-timeout"
_HEAD_HEADER = "x-stainless-timeout"


class UpstreamCut(UpstreamUnreachable):
    """The provider's reply broke off after its first byte; the client's connection must break off too."""

    code = "upstream_cut"


class ClientGaveUp(UpstreamTimeout):
    """The provider was silent for as long as the client waits: no fault of a deployment, and nobody to try on for."""


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """A client's request on its way up.

    Args:
        method: As the client sent it.
        path: What follows ``/v1``, percent-encoding kept: ``/chat/completions``.
        query: Raw query string without ``?``.
        headers: The client's, in order; the upstream leaves out what must not go up.
        body: Whole, or in pieces that are sent on as they come.
        stream: Whether the client asked for a stream of events.
        readable: The reply is going to be read by us: only content codings that we can decode are offered, for a
            stream none, so that its end can be seen going by.
    """

    method: str
    path: str
    query: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | AsyncIterable[bytes] = b""
    stream: bool = False
    readable: bool = False


class UpstreamResponse(Protocol):
    """A reply whose head has arrived; the caller closes it, also after the last chunk."""

    @property
    def status(self) -> int:
        """HTTP status of the provider."""

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Response headers without the hop-by-hop ones, repeats kept."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; can be walked once.

        Raises:
            UpstreamCut: If the body breaks off.
        """

    async def aclose(self) -> None:
        """Let go of the connection; before the end of the body this hangs up on the provider at once."""


class Upstream(Protocol):
    """A way to reach providers."""

    async def send(self, request: UpstreamRequest, target: Target) -> UpstreamResponse:
        """Send a request and return when the head of the reply (of a stream: its first event) is there.

        Raises:
            UpstreamUnreachable: If there is no connection, or no API at its other end.
            UpstreamTimeout: If the provider stays silent for longer than the client would wait.
        """

    async def aclose(self) -> None:
        """Close every connection."""


@dataclass(frozen=True, slots=True)
class Target:
    """Destination of a request, and its key.

    Args:
        upstream: What sends it.
        model: Name to send; None: as the client wrote it.
        base_url: Up to and with ``/v1``, no slash at the end; empty where the upstream knows it.
        api_key: Key to send; None: see ``forwards_auth``.
        provider: As LiteLLM names it: ``openai``, ``groq``, ``anthropic`` …
        params: ``litellm_params`` of the deployment without model, key and base URL.
        timeout_s: Most seconds of silence; None: as long as the client waits.
        stream_timeout_s: The same for streams; None: ``timeout_s``.
        connect_timeout_s: Most seconds to connect.
        forwards_auth: Without ``api_key``, the client's own key goes up (never so in ``keys`` mode).
        uses_ambient: The host's own credentials (a cloud's) stand in for a key.
        serves: The model's name on our side: what the client asked for, or what stands in for it.
        key_header: Where ``api_key`` goes, in lower case; empty: where the client put its own, else ``Authorization``.
        deployment: Names the deployment among others of the same model.
        account: Names the deployment and whose key goes there.
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
    """Return a request's body, collected where it comes in pieces."""
    if isinstance(request.body, bytes):
        return request.body
    return b"".join([piece async for piece in request.body])


@dataclass(slots=True)
class WholeResponse:
    """A reply that is there in full, made by us in the shape of a provider's."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body at once."""
        if self.body:
            yield self.body

    async def aclose(self) -> None:
        """Nothing to let go of."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Bounds in seconds; None: none.

    Args:
        silence_s: Between two pieces of a reply, and before its head.
        head_s: From the sending of the request to the head of the reply.
        is_clients: The client itself set the tighter bound: when it is over, nobody waits any more.
    """

    silence_s: float | None
    head_s: float | None
    is_clients: bool


def patience(request: UpstreamRequest, target: Target) -> Patience:
    """Return how long to wait for this reply."""
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
