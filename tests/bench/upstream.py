"""A provider that costs almost nothing: canned bytes, one loop, a separate process.

python -m tests.bench.upstream PORT [MILLISECONDS BETWEEN TWO CHUNKS]
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import cast

import uvloop

CHUNKS = 22
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\nx-request-id: req_bench\r\n%s\r\n"


def completion() -> bytes:
    """Return the whole reply."""
    message = {"role": "assistant", "content": " ".join(_words()), "refusal": None}
    body = {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "bench",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 40, "completion_tokens": CHUNKS - 2, "total_tokens": 38 + CHUNKS},
    }
    raw = json.dumps(body).encode()
    return _HEAD % (b"application/json", b"content-length: %d\r\n" % len(raw)) + raw


def stream() -> list[bytes]:
    """Return the streamed reply, one piece per event; the head is in the first."""
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": f"{word} "} for word in _words()]
    events = [_event(delta, None) for delta in deltas] + [_event({}, "stop")]
    pieces = [_framed(b"data: " + event + b"\n\n") for event in events]
    pieces[0] = _HEAD % (b"text/event-stream; charset=utf-8", b"transfer-encoding: chunked\r\n") + pieces[0]
    return [*pieces[:-1], pieces[-1] + _framed(b"data: [DONE]\n\n") + b"0\r\n\r\n"]


class Provider(asyncio.Protocol):
    """One keep-alive connection."""

    def __init__(self, whole: bytes, pieces: list[bytes], pause_s: float) -> None:
        self._whole, self._pieces = whole, pieces
        self._pause_s = pause_s
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        size = _length(head)
        if not found or len(rest) < size:
            return
        self._buffer = rest[size:]
        if b'"stream":true' in rest[:size].replace(b'": ', b'":'):
            self._send(0)
        elif self._transport is not None:
            self._transport.write(self._whole)

    def _send(self, at: int) -> None:
        if self._transport is None:
            return
        self._transport.write(self._pieces[at])
        if at + 1 < len(self._pieces):
            asyncio.get_running_loop().call_later(self._pause_s, self._send, at + 1)


def _words() -> list[str]:
    return [f"word{number:02d}" for number in range(CHUNKS - 2)]


def _event(delta: dict[str, str], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    body = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1700000000, "model": "bench"}
    return json.dumps({**body, "choices": [choice]}).encode()


def _framed(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _length(head: bytes) -> int:
    _, found, after = head.lower().partition(b"content-length:")
    return int(after.split(b"\r\n", 1)[0]) if found else 0


async def main(port: int, pause_s: float) -> None:
    whole, pieces = completion(), stream()
    server = await asyncio.get_running_loop().create_server(
        lambda: Provider(whole, pieces, pause_s), "127.0.0.1", port, backlog=512
    )
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.0))
