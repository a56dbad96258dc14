"""Record of one request, created by the edge and filled in by its endpoint; the source of metrics and logs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from proxy.api.asgi import Message, Scope
from proxy.dialects.usage import Spent, UsageMeter, spent
from proxy.errors import ProxyError
from proxy.pipeline.exchange import Exchange, Memories
from proxy.telemetry.names import method_of, route_of, word
from proxy.types import Scope as Owner
from proxy.upstream.failover import Attempt

PASSAGE = "throughline.passage"  # key under which the outermost layer stores it in the scope
CLIENT_LEFT = 499  # nginx's status for a client that disconnected before the head of its reply


@dataclass(slots=True)
class Passage:
    """Record of a request, from its head to the end of the reply.

    Attributes:
        request_id: As the client sees it.
        length: Bytes of the body, None if the head does not declare them.
        model: As the client wrote it; "" if there is an exchange.
    """

    method: str
    path: str
    bytes_in: int
    traceparent: str = ""
    start_s: float = field(default_factory=time.perf_counter)

    # the reply
    status: int = CLIENT_LEFT
    request_id: str = ""
    is_stream: bool = False
    first_byte_s: float | None = None
    end_s: float = 0.0
    bytes_out: int = 0
    length: int | None = None
    has_ended: bool = False
    meter: UsageMeter | None = None

    # set by the endpoint
    exchange: Exchange | None = None
    owner: Owner | None = None
    model: str = ""
    refusal: str = ""
    attempts: list[Attempt] = field(default_factory=list)

    def see(self, message: Message) -> None:
        """Update the record from a message to the client."""
        if message["type"] == "http.response.body":
            size = len(message.get("body", b""))
            if size and self.first_byte_s is None:
                self.first_byte_s = time.perf_counter()
            self.bytes_out += size
            self.has_ended = not message.get("more_body", False)
            if self.meter is not None:
                self.meter.feed(message.get("body", b""))
        elif message["type"] == "http.response.start":
            self.status = message["status"]
            headers = {name.lower(): value for name, value in message["headers"]}
            if (length := headers.get(b"content-length", b"")).isdigit():
                self.length = int(length)
            self.request_id = word(headers.get(b"x-request-id", b"").decode("latin-1"))
            self.is_stream = headers.get(b"content-type", b"").startswith(b"text/event-stream")
            if self.model and self.status < 400:
                self.meter = UsageMeter()
                self.meter.decode(headers.get(b"content-encoding", b"").decode("latin-1"))

    @property
    def is_whole(self) -> bool:
        """Return whether the client has the whole reply: it may disconnect before the final empty chunk is sent."""
        if self.has_ended or (self.length is not None and self.bytes_out >= self.length):
            return True
        reply = self.exchange.relayed.reply if self.exchange is not None else None
        return self.is_stream and reply is not None and reply.complete

    @property
    def route(self) -> str:
        """The path without its ids."""
        return route_of(self.path)

    @property
    def verb(self) -> str:
        """The method, if it is standard."""
        return method_of(self.method)

    @property
    def memories(self) -> Memories | None:
        """Memory's work on the request; None for requests of another kind."""
        return self.exchange.memories() if self.exchange is not None else None

    @property
    def tries(self) -> list[Attempt]:
        """Targets that were tried, in order."""
        return self.exchange.relayed.attempts if self.exchange is not None else self.attempts

    @property
    def spent(self) -> Spent:
        """Usage as the provider counted it."""
        if self.exchange is not None:
            return spent(self.exchange.relayed.usage)
        return spent(self.meter.usage() if self.meter is not None else None)

    @property
    def code(self) -> str:
        """Error code, if the reply was a ProxyError."""
        return self.refusal or (self.exchange.relayed.refusal if self.exchange is not None else "")


def passage_of(scope: Scope) -> Passage:
    """Return the record of a request; a detached one if there is no outermost layer."""
    found = scope.get(PASSAGE)
    return found if isinstance(found, Passage) else Passage(scope["method"], scope["path"], 0)


def note_refusal(scope: Scope, error: ProxyError) -> None:
    """Record that a ProxyError is the reply."""
    passage_of(scope).refusal = error.code
