"""The local user: a placeholder key opens memory only to requests to a loopback name of this machine."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.fakes.provider import FakeProvider
from tests.running import Running


def state(server: Running, host: str) -> int:
    named = {"host": host, "authorization": "Bearer EMPTY"}
    return httpx.get(f"{server.base_url}/state", headers=named).status_code


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "LOCALHOST:8787", "127.0.0.1", "127.9.9.9:80", "[::1]", "[::1]:8787"]
)
def test_a_loopback_name_is_the_local_user(server: Running, host: str) -> None:
    assert state(server, host) == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8787", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1", "0.0.0.0",
     "[::2]:8787", "[", "127.0.0.1@evil.example", "evil.example#@127.0.0.1"],
)  # fmt: skip
def test_any_other_name_is_nobody(server: Running, host: str) -> None:
    assert state(server, host) in (400, 401)


def test_client_without_a_host_is_the_local_user(server: Running) -> None:
    parts = urlsplit(server.origin)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as client:
        client.sendall(b"GET /v1/state HTTP/1.0\r\nAuthorization: Bearer EMPTY\r\n\r\n")
        assert client.recv(65_536).split(b"\r\n")[0].endswith(b" 200 OK")


def sent_key(server: Running, provider: FakeProvider, host: str, path: str) -> str | None:
    """Return the key that the provider gets for a made-up one."""
    named = {"host": host, "authorization": "Bearer made-up"}
    httpx.post(f"{server.base_url}{path}", headers=named, json={"model": "m", "messages": [], "input": "x"})
    return provider.last.header("authorization")


@pytest.mark.parametrize("path", ["/chat/completions", "/responses", "/embeddings", "/audio/speech"])
def test_operators_key_is_not_lent_to_rebound_names(tmp_path: Path, upstream: FakeProvider, path: str) -> None:
    own = {"url": upstream.base_url, "api_key": "sk-own"}
    listed = {"cors_origins": ["https://chat.example.org"]}
    with Running(tmp_path, upstream=own, server=listed) as lender:
        for host in ("evil.example", "evil.example:8787", "localhost.evil.example", "127.0.0.1.evil.example"):
            assert sent_key(lender, upstream, host, path) == "Bearer made-up"
        for host in ("localhost:8787", "127.0.0.1", "[::1]", "box", "host.docker.internal:8787", "chat.example.org"):
            assert sent_key(lender, upstream, host, path) == "Bearer sk-own"
