"""A load client that costs almost nothing, in a separate process.

Reads one job per line from standard input and writes one result per line::

    {"port": 8787, "clients": 16, "seconds": 1.0, "most": 400, "is_stream": false, "headers": {}, "seed": 0}
    {"first_ms": […], "end_ms": […], "embed_ms": […], "failed": 0, "wall_s": 1.0}
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import time
from typing import Any, cast

import uvloop

USERS = 64
_MAX_SAMPLES = 4000
_PROMPT = (
    "Compare what topic7word11 and topic42word3 said about w15 and w230 before the meeting, and tell me in one or "
    "two sentences which of them to follow. Reference "
)
_DEADLINE_S = 60.0
_MAX_HEAD = 4096
_NUMBER = re.compile(rb"[0-9.]+")


class Job:
    """One burst over several connections; each sends its next request when the reply has ended."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job
        self._numbers = itertools.count(int(job["seed"]))
        self._left = int(job["most"])
        self._stop_at = time.perf_counter() + float(job["seconds"])
        self._open = int(job["clients"])
        self.finished = asyncio.get_running_loop().create_future()
        self.first_ms: list[float] = []
        self.end_ms: list[float] = []
        self.embed_ms: list[float] = []  # the embedder's part of each, from Server-Timing
        self.failed = 0

    def next_request(self) -> bytes | None:
        """Return the next request, each of a new conversation; None when the burst is over."""
        if self._left <= 0 or time.perf_counter() >= self._stop_at:
            return None
        self._left -= 1
        number = next(self._numbers)
        messages = [
            {"role": "system", "content": "You are a helpful assistant. Answer briefly."},
            {"role": "user", "content": f"{_PROMPT}{number:09d}."},
        ]
        body = json.dumps({"model": "bench", "stream": bool(self._job["is_stream"]), "messages": messages}).encode()
        named = {
            "X-Memory-User": f"bench-{number % USERS}",
            "X-Memory-Session": f"bench-{number}",
            **self._job["headers"],
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{self._job['port']}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
        )
        return head.encode() + body

    def record(self, sent_at: float, first_at: float, reply: bytes, *, is_fine: bool) -> None:
        """Store the times of a reply that has just ended."""
        if not is_fine:
            self.failed += 1
            return
        self.first_ms.append((first_at - sent_at) * 1000)
        self.end_ms.append((time.perf_counter() - sent_at) * 1000)
        _, found, after = reply[:_MAX_HEAD].partition(b"embed;dur=")
        self.embed_ms.append(float(_NUMBER.match(after)[0]) if found else 0.0)  # type: ignore[index]

    def closed(self) -> None:
        """Count a connection that has nothing left to send."""
        self._open -= 1
        if self._open == 0 and not self.finished.done():
            self.finished.set_result(None)


class Connection(asyncio.Protocol):
    """One keep-alive connection."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._buffer = bytearray()
        self._sent_at = self._first_at = 0.0
        self._is_waiting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._is_waiting:
            self._job.record(self._sent_at, self._sent_at, b"", is_fine=False)
        self._job.closed()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head_end = self._buffer.find(b"\r\n\r\n")
        if head_end < 0 or len(self._buffer) == head_end + 4:
            return
        if not self._first_at:
            self._first_at = time.perf_counter()
        if _is_whole(self._buffer, head_end):
            is_fine = self._buffer.startswith(b"HTTP/1.1 200")
            self._job.record(self._sent_at, self._first_at, bytes(self._buffer[:_MAX_HEAD]), is_fine=is_fine)
            self._is_waiting = False
            self._send()

    def _send(self) -> None:
        request = self._job.next_request()
        if request is None:
            self._transport.close()
            return
        self._buffer.clear()
        self._first_at = 0.0
        self._is_waiting = True
        self._sent_at = time.perf_counter()
        self._transport.write(request)


def _is_whole(buffer: bytearray, head_end: int) -> bool:
    head = bytes(buffer[:head_end]).lower()
    _, found, after = head.partition(b"content-length:")
    if found:
        return len(buffer) - head_end - 4 >= int(after.split(b"\r\n", 1)[0])
    return buffer.endswith(b"0\r\n\r\n")


async def run(order: dict[str, Any]) -> dict[str, Any]:
    """Run one burst."""
    job = Job(order)
    start = time.perf_counter()
    loop = asyncio.get_running_loop()
    for _ in range(int(order["clients"])):
        await loop.create_connection(lambda: Connection(job), "127.0.0.1", int(order["port"]))
    await asyncio.wait_for(job.finished, _DEADLINE_S)
    wall_s = time.perf_counter() - start
    first, end = job.first_ms, job.end_ms
    return {
        "first_ms": first[:_MAX_SAMPLES],
        "end_ms": end[:_MAX_SAMPLES],
        "embed_ms": job.embed_ms[:_MAX_SAMPLES],
        "done": len(end),
        "failed": job.failed,
        "wall_s": wall_s,
    }


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(uvloop.run(run(json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
