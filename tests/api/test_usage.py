"""``/v1/usage?by=user``: usage of each user of a key, and of no other key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.api.test_transfer import bring, taken_out
from tests.e2e.test_tenants_keys import made
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import Speaker, new_key, speaking

PEOPLE = ("ann", "bob")


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    with Running(
        tmp_path_factory.mktemp("keyed"), upstream=lasting_provider.base_url, auth={"mode": "keys"}
    ) as running:
        yield running


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def own_id(speaker: Speaker) -> str:
    """Return the requesting user's id as usage shows it."""
    return str(speaker.get("/usage")["user"])


def by_user(speaker: Speaker, **params: int) -> dict[str, int]:
    """Return the number of requests of each user that usage shows."""
    return {one["user"]: one["requests"] for one in speaker.get("/usage", by="user", **params)["data"]}


def forged(export: bytes, holder: str) -> bytes:
    """Return an export whose receipts name another key as their holder."""
    lines = [json.loads(line) for line in export.splitlines()[:-1]]
    for line in lines:
        if line.get("type") == "receipts":
            line["value"]["holder"] = holder
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return body + json.dumps({"type": "end", "sha256": hashlib.sha256(body).hexdigest()}).encode()


def test_usage_by_user_shows_users_of_the_key(server: Running, stack: ExitStack) -> None:
    key = new_key()
    ann, bob = (stack.enter_context(speaking(server, key, x_memory_user=name)) for name in PEOPLE)
    ann.say("I like tea")
    bob.say("I like coffee")
    bob.say("I like cake", model="gpt-4o-mini")
    expected = {own_id(ann): 1, own_id(bob): 2}
    assert len(expected) == 2
    assert by_user(ann) == by_user(bob, days=1) == expected
    with speaking(server, key) as nobody:
        assert by_user(nobody) == expected
    (found,) = [one for one in ann.get("/usage", by="user")["data"] if one["user"] == own_id(bob)]
    assert [(one["model"], one["requests"]) for one in found["models"]] == [("gpt-4o", 1), ("gpt-4o-mini", 1)]
    assert "ann" not in json.dumps(ann.get("/usage", by="user"))


def test_usage_by_user_shows_nothing_of_other_keys(server: Running, stack: ExitStack) -> None:
    """Two keys that name the same user are two tenants."""
    one, other = (stack.enter_context(speaking(server, new_key(), x_memory_user="ann")) for _ in range(2))
    one.say("I like tea")
    assert by_user(other) == {}
    other.say("I like tea")
    assert by_user(one) == {own_id(one): 1}
    assert by_user(other) == {own_id(other): 1}
    assert own_id(one) != own_id(other)


def test_bound_key_sees_its_own_user_alone(keyed: Running, stack: ExitStack) -> None:
    naming, key = made(keyed, tenant="office", may_name_users=True)
    bound, second = (made(keyed, tenant=key.tenant, user=name)[0] for name in PEOPLE)
    plain, _ = made(keyed, tenant=key.tenant)
    speakers = [stack.enter_context(speaking(keyed, text)) for text in (bound, second, plain)]
    boss = stack.enter_context(speaking(keyed, naming, x_memory_user="carl"))
    for speaker in (*speakers, boss):
        speaker.say("I like tea")
    for speaker in speakers:
        assert by_user(speaker) == {own_id(speaker): 1}
    assert by_user(boss) == {own_id(boss): 1}  # its own requests, not those of the tenant's other keys
    assert len({own_id(speaker) for speaker in (*speakers, boss)}) == 4


def test_usage_by_user_leaves_private_agents_out(server: Running, stack: ExitStack) -> None:
    key = new_key()
    ann, bob = (stack.enter_context(speaking(server, key, x_memory_user=name)) for name in PEOPLE)
    ann.http.post("/agents", json={"name": "gardener", "private": True}).raise_for_status()
    ann.say("I water the ferns", x_memory_agent="gardener")
    assert by_user(bob) == by_user(ann) == {}
    with speaking(server, key, x_memory_user="ann", x_memory_agent="gardener") as gardener:
        assert by_user(gardener) == {own_id(ann): 1}


def test_imported_receipts_count_for_no_key(server: Running, stack: ExitStack) -> None:
    """A file, which anyone can write, adds nothing to the usage of another key."""
    ann, stranger = (stack.enter_context(speaking(server, new_key())) for _ in range(2))
    ann.say("I like tea")
    holder = server.services.hasher.digest("tenant", "key", ann.key)
    bring(stranger, forged(taken_out(ann), holder))
    assert stranger.get("/usage")["data"][0]["requests"] == 1
    assert list(by_user(ann)) == [own_id(ann)]
    assert by_user(stranger) == {}
