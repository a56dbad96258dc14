"""``auth.mode: keys``: Throughline keys, bound to users or naming them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from proxy.store.keys import Key
from tests.e2e.test_tenants import SHARED
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import speaking, user


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    """Return a server in ``keys`` mode whose route has its own provider key."""
    config = tmp_path_factory.mktemp("config") / "config.yaml"
    config.write_text(f"upstream:\n  url: {lasting_provider.base_url}\n  api_key: sk-provider-secret\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THROUGHLINE_CONFIG", str(config))
        running = Running(tmp_path_factory.mktemp("locked"), auth={"mode": "keys"})
    with running:
        yield running


def made(server: Running, **bindings: object) -> tuple[str, Key]:
    services = server.services
    return server.call(lambda: services.keys.create(now=services.clock.now(), **bindings))


def test_neither_our_keys_nor_the_providers_leak(locked: Running, upstream: FakeProvider) -> None:
    text, _ = made(locked)
    with speaking(locked, text) as speaker:
        response = speaker.tell(SHARED)
        assert speaker.texts() == {SHARED}
    assert upstream.last.header("authorization") == "Bearer sk-provider-secret"
    assert text not in str(upstream.last.headers)
    assert text.encode() not in upstream.last.body
    assert "sk-provider-secret" not in str(response.headers) + response.text
    with speaking(locked, text) as speaker:
        passed = speaker.http.get("/models")
        assert upstream.last.header("authorization") == "Bearer sk-provider-secret"
        assert "sk-provider-secret" not in str(passed.headers) + passed.text


@pytest.mark.parametrize("key", ["", "sk-anything", "tl-unknown", "ollama"])
@pytest.mark.parametrize("path", ["/chat/completions", "/models", "/memories", "/state", "/sessions", "/files"])
def test_unknown_keys_are_refused_in_openais_shape(
    locked: Running, upstream: FakeProvider, key: str, path: str
) -> None:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    method = "POST" if path == "/chat/completions" else "GET"
    body = {"model": "gpt-4o", "messages": [user("hi")]} if method == "POST" else None
    response = httpx.request(method, locked.base_url + path, json=body, headers=headers)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_api_key"
    assert response.headers["x-request-id"]
    assert upstream.seen == []


def test_a_revoked_key_stops_at_once(locked: Running) -> None:
    text, key = made(locked)
    with speaking(locked, text) as speaker:
        speaker.say("hello")
        services = locked.services
        locked.call(lambda: services.keys.revoke(key.id, now=services.clock.now()))
        refused = speaker.http.post("/chat/completions", json={"model": "gpt-4o", "messages": [user("hi")]})
        assert refused.status_code == 401
        assert speaker.http.get("/memories").status_code == 401


def test_bound_key_is_one_user_only(locked: Running) -> None:
    text, key = made(locked, user="ann")
    second, _ = made(locked, user="ann", tenant=key.tenant)
    with speaking(locked, text) as ann, speaking(locked, second) as same, speaking(locked, text) as posing:
        ann.tell(SHARED, body={"user": "bob"}, x_openwebui_user_id="carl")
        assert ann.texts() == {SHARED}
        assert same.texts() == {SHARED}
        ann.say("hi", x_memory_user="ann")
        for path, method in (("/chat/completions", "POST"), ("/memories", "GET")):
            body = {"model": "gpt-4o", "messages": [user("hi")]} if method == "POST" else None
            refused = posing.http.request(method, path, json=body, headers={"x-memory-user": "bob"})
            assert refused.status_code == 403
            assert refused.json()["error"]["code"] == "forbidden"


def test_naming_key_reaches_users_of_its_tenant_only(locked: Running) -> None:
    text, key = made(locked, may_name_users=True)
    bound, _ = made(locked, user="ann", tenant=key.tenant)
    stranger, _ = made(locked, may_name_users=True)
    with (
        speaking(locked, text, x_memory_user="ann") as ann,
        speaking(locked, text, x_memory_user="bob") as bob,
        speaking(locked, bound) as same,
        speaking(locked, stranger, x_memory_user="ann") as other,
    ):
        ann.tell(SHARED)
        assert same.texts() == {SHARED}
        assert bob.memories() == []
        assert other.memories() == []


def test_key_without_names_is_its_own_user(locked: Running) -> None:
    text, key = made(locked)
    sibling, _ = made(locked, tenant=key.tenant)
    with speaking(locked, text) as one, speaking(locked, sibling) as two:
        one.tell(SHARED, body={"user": "bob", "metadata": {"user_id": "bob"}})
        assert one.texts() == {SHARED}
        assert two.memories() == []
        refused = one.http.get("/memories", headers={"x-memory-user": "bob"})
        assert refused.status_code == 403


def test_bound_key_may_not_set_the_time(locked: Running) -> None:
    text, _ = made(locked)
    with speaking(locked, text) as speaker:
        speaker.tell(SHARED, x_memory_time="2001-01-01T00:00:00Z")
        assert not speaker.memories()[0]["valid_from"].startswith("2001")


def test_our_key_is_not_on_disk(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url, auth={"mode": "keys"}) as server:
        text, _ = made(server, user="ann")
        with speaking(server, text) as speaker:
            speaker.tell(SHARED)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
