"""Clients that are slow, never end, do not read, or disconnect by the hundred, against the real command."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate, Reply
from tests.launch import process, wait_until
from tests.wire.rawhttp import Wiretap, send

MIB = 2**20
SILENT_CLIENTS = 20
REPLY_BYTES = 16 * MIB
HANG_UPS = 60
SOON_S = 20.0  # on a busy machine; without the disconnect it would never end
KEY = ("Authorization", "Bearer sk-slow-client")

Server = tuple[subprocess.Popen[bytes], str]


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, fake: FakeProvider) -> Iterator[Server]:
    with process(tmp_path_factory.mktemp("data"), fake, THROUGHLINE_SERVER__REQUEST_TIMEOUT_S="1") as running:
        yield running


@pytest.fixture
def origin(server: Server, fake: FakeProvider) -> str:
    fake.clear()
    return server[1]


def asked(text: str = "hi", **more: object) -> bytes:
    return orjson.dumps({"model": "m", "messages": [{"role": "user", "content": text}], "stream": True, **more})


def connected(origin: str, *, receive_bytes: int = 0) -> socket.socket:
    parts = urlsplit(origin)
    connection = socket.socket()
    if receive_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.settimeout(30)
    connection.connect((parts.hostname, parts.port))
    return connection


def head(length: int, path: str = "/v1/chat/completions", *more: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", ": ".join(KEY), "Content-Type: application/json", *more]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


def answer_on(connection: socket.socket) -> tuple[int, dict[str, object]]:
    """Read a response up to the end of the connection or of its body."""
    received = b""
    while piece := connection.recv(65_536):
        received += piece
        if b"}}" in received:
            break
    status, _, rest = received.partition(b"\r\n")
    return int(status.split()[1]), json.loads(rest.partition(b"\r\n\r\n")[2])["error"]


def resident_bytes(process_id: int) -> int:
    return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def handles(process_id: int) -> int:
    return len(os.listdir(f"/proc/{process_id}/fd"))


@pytest.mark.parametrize("memory", ["off", "full"])
def test_client_that_reads_nothing_costs_little(server: Server, origin: str, fake: FakeProvider, memory: str) -> None:
    piece = replies.event(replies.chunks("word " * 400)[1])
    endless = Reply([piece] * (REPLY_BYTES // len(piece)), headers=replies.SSE_HEADERS, framing="chunked")
    fake.script(lambda _: endless)
    before = resident_bytes(server[0].pid)
    body = asked()
    with ExitStack() as clients:
        for _ in range(SILENT_CLIENTS):
            client = clients.enter_context(connected(origin, receive_bytes=4096))
            client.sendall(head(len(body), "/v1/chat/completions", f"X-Memory-Mode: {memory}") + body)
        fake.wait(lambda: len(fake.seen) == SILENT_CLIENTS)
        wait_until(lambda: is_quiet(server[0].pid))
        assert resident_bytes(server[0].pid) - before < 3 * MIB * SILENT_CLIENTS
        assert not any(seen.answered for seen in fake.seen), "the provider was not held back"
        closed_at = time.monotonic()
    fake.wait(lambda: all(seen.hung_up_at for seen in fake.seen))
    assert max(seen.hung_up_at or 0 for seen in fake.seen) - closed_at < SOON_S


def is_quiet(process_id: int) -> bool:
    """Return whether a process used almost no CPU for 0.3 s, so all it received is processed."""
    before = cpu_ticks(process_id)
    time.sleep(0.3)
    return cpu_ticks(process_id) - before <= 3


def cpu_ticks(process_id: int) -> int:
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_hang_ups_leave_nothing_open(server: Server, origin: str, fake: FakeProvider) -> None:
    warm(origin, fake)
    before = handles(server[0].pid)
    gate = Gate()
    fake.script(lambda _: replies.gated(replies.stream(), gate, after=3))
    taps = [Wiretap(origin, "POST", "/v1/chat/completions", [KEY], asked(f"I am {n}")) for n in range(HANG_UPS)]
    for tap in taps:
        tap.until(b"Hello")
    closed_at = time.monotonic()
    for number, tap in enumerate(taps):
        tap.close() if number % 2 else tap.reset()
    fake.wait(lambda: all(seen.hung_up_at for seen in fake.seen))
    assert max(seen.hung_up_at or 0 for seen in fake.seen) - closed_at < SOON_S
    wait_until(lambda: handles(server[0].pid) < before + HANG_UPS // 2)  # the databases' own pool may have grown


def warm(origin: str, fake: FakeProvider) -> None:
    """Open all connection pools."""
    with Wiretap(origin, "POST", "/v1/chat/completions", [KEY], asked("I like tea")) as tap:
        tap.until(b"[DONE]")
    fake.clear()


@pytest.mark.parametrize(
    ("beginning", "drop"),
    [
        (b"", b""),
        (b"", b"\r\n"),
        (b"POS", b""),
        (b"POST /v1/chat", b"a"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-A: ", b"a"),
    ],
    ids=["silent", "lines", "method", "path", "header"],
)
def test_head_that_never_ends_is_closed(origin: str, beginning: bytes, drop: bytes) -> None:
    """This holds even if it arrives byte by byte; other clients are served meanwhile."""
    with ExitStack() as stack:
        connections = [stack.enter_context(connected(origin)) for _ in range(20)]
        for connection in connections:
            connection.sendall(beginning)
        open_ones = list(connections)
        while open_ones:
            for connection in open_ones:
                connection.sendall(drop)
            assert send(origin, "GET", "/healthz").status == 200
            answered, _, _ = select.select(open_ones, [], [], 0.2)
            for connection in answered:
                status, error = answer_on(connection)
                assert (status, error["code"]) == (408, "request_timeout")
            open_ones = [one for one in open_ones if one not in answered]


def test_endless_head_on_a_used_connection_is_closed(origin: str) -> None:
    with connected(origin) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" in connection.recv(65_536)
        connection.sendall(b"G")
        assert answer_on(connection)[0] == 408


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_body_that_never_ends_is_closed(origin: str, chunked: bool) -> None:
    with connected(origin) as connection:
        begin = head(1000).replace(b"Content-Length: 1000", b"Transfer-Encoding: chunked") if chunked else head(1000)
        connection.sendall(begin + (b"1\r\n{\r\n" if chunked else b"{"))
        status, error = answer_on(connection)
        assert (status, error["code"]) == (408, "request_timeout")
        assert connection.recv(10) == b""


def test_slow_body_that_goes_on_is_read(origin: str, fake: FakeProvider) -> None:
    """It takes longer than the timeout in total, but is never without progress for so long."""
    body = asked("x" * 8000)
    with connected(origin) as connection:
        connection.sendall(head(len(body)))
        for at in range(0, len(body), 1000):
            connection.sendall(body[at : at + 1000])
            time.sleep(0.25)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
    assert fake.last.json["messages"][0]["content"].startswith("x" * 8000)


def test_slow_reply_is_not_a_slow_request(origin: str, fake: FakeProvider) -> None:
    gate = Gate()
    fake.then(replies.gated(replies.stream(), gate, after=1))
    with Wiretap(origin, "POST", "/v1/chat/completions", [KEY], asked()) as tap:
        tap.until(b"assistant")
        time.sleep(1.5)
        gate.open()
        assert b"[DONE]" in tap.until(b"[DONE]")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings", "/v1/memories"])
@pytest.mark.parametrize("more", [(), ("Connection: close",)], ids=["kept", "closed"])
def test_refusal_is_read_after_the_whole_body(origin: str, path: str, more: tuple[str, ...]) -> None:
    """The client reads nothing before it has written the whole body."""
    size, piece = 70 * MIB, b" " * MIB
    with connected(origin) as connection:
        connection.sendall(head(size, path, *more))
        for _ in range(size // MIB):
            connection.sendall(piece)
        status, error = answer_on(connection)
    assert (status, error["code"]) == (413, "body_too_large")


def test_connection_serves_on_after_a_refused_body(origin: str, fake: FakeProvider) -> None:
    with connected(origin) as connection:
        connection.sendall(head(70 * MIB))
        for _ in range(70):
            connection.sendall(b" " * MIB)
        assert answer_on(connection)[0] == 413
        body = asked()
        connection.sendall(head(len(body)) + body)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
    assert len(fake.seen) == 1


def test_endless_body_is_not_read_for_ever(origin: str) -> None:
    sent = 0
    with connected(origin) as connection:
        connection.sendall(head(10**12))
        try:
            while sent < 2**30:
                connection.sendall(b" " * MIB)
                sent += MIB
        except OSError:
            pass
    assert sent < 2**30


@pytest.mark.parametrize("text", [b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n", b"nonsense\r\n\r\n"])
def test_what_is_no_http_is_refused_in_shape(origin: str, text: bytes) -> None:
    with connected(origin) as connection:
        connection.sendall(text)
        status, error = answer_on(connection)
    assert (status, error["type"]) == (400, "invalid_request_error")


def test_giant_head_is_refused(origin: str) -> None:
    with connected(origin) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        try:
            for number in range(2000):
                connection.sendall(b"X-A%d: %s\r\n" % (number, b"a" * 10_000))
        except OSError:
            pass
        assert answer_on(connection)[0] in (400, 431)
