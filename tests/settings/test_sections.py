"""Settings of the server, its keys and its providers, each changed and observed over HTTP."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import httpx
import pytest

from proxy.clock import Clock
from tests.access.test_auth import JWT_SECRET, jwt
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate
from tests.launch import process
from tests.running import WAIT_S, Running
from tests.serving import agreeing
from tests.talking import outcome, speaking
from tests.wire.rawhttp import Wiretap


def test_placeholder_keys_are_those_of_the_list(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(agreeing)
    auth = {"placeholder_keys": ["none-1", "none-2"]}
    with Running(tmp_path, upstream={"url": provider.base_url, "api_key": "sk-own"}, auth=auth) as server:
        with speaking(server, "none-1") as one:
            one.tell("I keep bees")
        assert provider.last.header("authorization") == "Bearer sk-own"
        for key, known in (("none-2", {"I keep bees"}), ("EMPTY", set())):
            with speaking(server, key) as other:
                assert other.texts() == known


def test_secret_decides_whose_memory_a_key_opens(tmp_path: Path, provider: FakeProvider) -> None:
    """A data folder moved to another machine opens with the same secret, without the file that stores it."""
    auth = {"secret": "of this house"}
    with Running(tmp_path, upstream=provider.base_url, auth=auth) as server, speaking(server, "sk-anna") as anna:
        anna.http.post("/memories", json={"text": "I keep bees"})
    assert not (tmp_path / "secret.key").exists()
    with Running(tmp_path, upstream=provider.base_url, auth=auth) as server, speaking(server, "sk-anna") as anna:
        assert anna.texts() == {"I keep bees"}


def test_openwebui_secret_lets_only_signed_users_in(tmp_path: Path, provider: FakeProvider) -> None:
    until = Clock().now().timestamp() + 300
    auth = {"openwebui_jwt_secret": JWT_SECRET}
    with Running(tmp_path, upstream=provider.base_url, auth=auth) as server, server.http() as http:
        for named, is_known in (
            ({"x-openwebui-user-jwt": jwt(exp=until)}, True),
            ({"x-openwebui-user-jwt": jwt("other", exp=until)}, False),
            ({"x-openwebui-user-id": "ana"}, False),
        ):
            body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
            answer = http.post("/chat/completions", json=body, headers=named)
            assert (outcome(answer)["outcome"] != "off") == is_known


@pytest.mark.parametrize(("metrics", "status"), [(True, 200), (False, 404)])
def test_metrics_are_served_where_wanted(tmp_path: Path, metrics: bool, status: int) -> None:
    with Running(tmp_path, telemetry={"metrics": metrics}, wait=False) as server:
        assert httpx.get(f"{server.origin}/metrics").status_code == status


def test_multilingual_model_comes_from_the_hub_named(tmp_path: Path, provider: FakeProvider) -> None:
    hub = provider.base_url.removesuffix("/v1")
    with Running(tmp_path, embedder={"model": "multilingual", "hub_url": f"{hub}/mirror/"}, wait=False):
        provider.wait(lambda: any(seen.path.startswith("/mirror/") for seen in provider.seen))
    assert "/resolve/main/" in provider.seen[0].path


def test_larger_file_than_allowed_is_refused(tmp_path: Path, provider: FakeProvider) -> None:
    media = {"max_file_bytes": 2048}
    with Running(tmp_path, upstream=provider.base_url, media=media) as server, server.http() as http:
        for size, status in ((2048, 200), (2049, 400)):
            answer = http.post("/documents", files={"file": ("notes.txt", b"bees " * 409 + b"x" * (size - 2045))})
            assert answer.status_code == status, answer.text
    assert "media.max_file_bytes" in answer.text


def test_running_reply_ends_with_the_shutdowns_time(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(lambda seen: replies.gated(replies.stream(), Gate(), after=2))
    variables = {"THROUGHLINE_SERVER__GRACEFUL_SHUTDOWN_S": "0"}
    with process(tmp_path, provider, **variables) as (running, origin):
        body = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"Hello"}]}'
        headers = [("Authorization", "Bearer sk-a"), ("X-Memory-Mode", "off")]
        with Wiretap(origin, "POST", "/v1/chat/completions", headers, body):
            provider.wait(lambda: len(provider.seen) == 1)
            started = time.monotonic()
            running.send_signal(signal.SIGTERM)
            assert running.wait(WAIT_S) in (0, -signal.SIGTERM)
            assert time.monotonic() - started < 30  # the default, which it would take at least
