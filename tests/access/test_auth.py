"""Keys to identities, identities to scopes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.access.auth import Hasher, Identity, passthrough_identity, scope_of, session_name
from proxy.settings.serving import AuthSettings

HASHER = Hasher(b"secret")
SETTINGS = AuthSettings()


def identified(key: str, host: str = "127.0.0.1") -> Identity:
    return passthrough_identity(key, SETTINGS, HASHER, host)


@given(st.text(), st.text(), st.text(), st.text())
def test_parts_of_a_digest_cannot_run_into_each_other(a: str, b: str, c: str, d: str) -> None:
    if (a, b) != (c, d):
        assert HASHER.digest("kind", a, b) != HASHER.digest("kind", c, d)


@given(st.text(min_size=1), st.text(min_size=1))
def test_users_of_different_keys_are_different_whatever_they_are_called(key: str, user: str) -> None:
    mine, other = (
        Identity(key, HASHER.digest("tenant", "key", key)),
        Identity("x", HASHER.digest("tenant", "key", key + "x")),
    )
    headers = {"x-memory-user": user}
    assert scope_of(mine, headers, {}, HASHER).user != scope_of(other, headers, {}, HASHER).user


def test_a_key_is_its_own_user_and_no_user_id_can_name_it() -> None:
    me = identified("sk-anna")
    own = scope_of(me, {}, {}, HASHER).user
    assert own != scope_of(me, {"x-memory-user": me.tenant}, {}, HASHER).user
    assert own == scope_of(me, {}, {}, HASHER).user


@pytest.mark.parametrize("key", SETTINGS.placeholder_keys)
def test_placeholders_are_one_local_tenant_on_loopback_and_nobody_elsewhere(key: str) -> None:
    assert identified(key).tenant == identified("EMPTY").tenant
    assert identified(key, "0.0.0.0").reason == "no-identity"


def test_a_placeholder_is_an_exact_string() -> None:
    assert identified("EMPTY ").tenant != identified("EMPTY").tenant


def test_no_key_is_no_identity() -> None:
    assert identified("") == Identity("", reason="no-identity")


def test_aliases_of_the_user_count_in_their_order() -> None:
    headers = {"x-memory-user": "1", "x-openwebui-user-id": "2", "x-sm-user-id": "3"}
    body = {"safety_identifier": "4", "metadata": {"user_id": "5"}, "user": "6"}
    me = identified("sk-anna")
    found = []
    for name in [*headers, "safety_identifier", "metadata", "user"]:
        found.append(scope_of(me, headers, body, HASHER).user)
        headers.pop(name, None)
        body.pop(name, None)
    expected = [scope_of(me, {"x-memory-user": str(n)}, {}, HASHER).user for n in range(1, 7)]
    assert found == expected


def test_a_bound_key_names_nobody() -> None:
    bound = Identity("k", "t" * 32, user="anna", may_name=False)
    assert scope_of(bound, {"x-openwebui-user-id": "ben"}, {"user": "ben"}, HASHER) == scope_of(bound, {}, {}, HASHER)


def test_aliases_of_the_conversation_count_in_their_order_and_odd_types_do_not() -> None:
    body = {"metadata": {"conversation_id": 7}, "prompt_cache_key": "last"}
    assert session_name({}, body) == "last"
    assert session_name({"x-sm-conversation-id": "c", "x-openwebui-chat-id": "b"}, body) == "b"
    assert session_name({"x-memory-session": " a "}, body) == "a"
    assert session_name({}, {"metadata": "no object"}) == ""


def test_the_secret_is_made_once_and_is_nobody_elses_to_read(tmp_path: Path) -> None:
    first, again = Hasher.load(SETTINGS, tmp_path), Hasher.load(SETTINGS, tmp_path)
    assert first.digest("x", "y") == again.digest("x", "y")
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]
