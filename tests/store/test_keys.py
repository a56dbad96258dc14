from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from proxy.errors import NotFound
from proxy.store.keys import PREFIX, Keys
from proxy.store.sql import Database
from proxy.types import Allowance
from tests.store.sql_rows import HOSTILE, NOW, ON_BOTH

pytestmark = [pytest.mark.anyio, ON_BOTH]


@pytest.fixture
def keys(db: Database) -> Keys:
    return Keys(db)


async def test_a_key_is_found_by_its_text(keys: Keys) -> None:
    text, key = await keys.create(now=NOW, tenant="a" * 32, user="anna", note="laptop")
    assert text.startswith(PREFIX)
    assert await keys.lookup(text) == key
    assert (key.tenant, key.user, key.may_name_users, key.note) == ("a" * 32, "anna", False, "laptop")


async def test_a_key_without_a_tenant_gets_its_own(keys: Keys) -> None:
    _, first = await keys.create(now=NOW)
    _, second = await keys.create(now=NOW, may_name_users=True)
    assert first.tenant != second.tenant
    assert second.may_name_users


async def test_a_revoked_key_is_unknown(keys: Keys) -> None:
    text, key = await keys.create(now=NOW)
    for days in (1, 2):
        revoked = await keys.revoke(key.id, now=NOW + timedelta(days=days))
        assert revoked.revoked_at == NOW + timedelta(days=1)
    assert await keys.lookup(text) is None
    assert await keys.all() == [revoked]
    with pytest.raises(NotFound):
        await keys.revoke("key_unknown", now=NOW)


async def test_the_key_itself_is_not_on_disk(db: Database, keys: Keys, tmp_path: Path) -> None:
    text, _ = await keys.create(now=NOW)
    for path in tmp_path.iterdir():
        assert text.removeprefix(PREFIX).encode() not in path.read_bytes()


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_keys_are_unknown(keys: Keys, text: str) -> None:
    await keys.create(now=NOW, note=text, user=text)
    assert await keys.lookup(text) is None
    assert [(key.note, key.user) for key in await keys.all()] == [(text, text)]


async def test_limits_and_models_are_kept_and_changed(keys: Keys) -> None:
    limits = Allowance(requests_per_minute=5, body_bytes=0)
    text, key = await keys.create(now=NOW, allowance=limits, models=["gpt-*"])
    assert await keys.lookup(text) == key
    assert (key.allowance, key.models) == (limits, ("gpt-*",))
    await keys.update(key.id, limits={"tokens_per_minute": 7, "body_bytes": None})
    changed = await keys.update(key.id, models=[])
    assert changed.allowance == Allowance(requests_per_minute=5, tokens_per_minute=7)
    assert changed.models == ()
    assert await keys.update(key.id) == await keys.lookup(text) == changed
    with pytest.raises(NotFound):
        await keys.update("key_unknown", models=["x"])
