"""Resolution of keys to identities, and of identities to scopes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.access import auth
from proxy.access.auth import Hasher, Identity, passthrough_identity, session_name
from proxy.access.person import is_unfilled
from proxy.errors import NamesNobody
from proxy.settings.sections import AuthSettings
from proxy.types import Scope

HASHER = Hasher(b"secret")
SETTINGS = AuthSettings()


NOW = datetime(2026, 11, 24, 9, tzinfo=UTC)
JWT_SECRET = "front-end"


def scope_of(
    identity: Identity, headers: dict[str, str], body: dict[str, Any], hasher: Hasher, settings: AuthSettings = SETTINGS
) -> Scope:
    return auth.scope_of(identity, headers, auth.person_of(identity, headers, body, settings, NOW), hasher)


def identified(key: str, host: str = "127.0.0.1") -> Identity:
    return passthrough_identity(key, SETTINGS, HASHER, host)


@given(st.text(), st.text(), st.text(), st.text())
def test_parts_of_a_digest_cannot_merge(a: str, b: str, c: str, d: str) -> None:
    if (a, b) != (c, d):
        assert HASHER.digest("kind", a, b) != HASHER.digest("kind", c, d)


@given(st.text(min_size=1), st.text(min_size=1).filter(lambda name: not is_unfilled(name)))
def test_users_of_different_keys_are_different(key: str, user: str) -> None:
    mine, other = (
        Identity(HASHER.digest("tenant", "key", key)),
        Identity(HASHER.digest("tenant", "key", key + "x")),
    )
    headers = {"x-memory-user": user}
    assert scope_of(mine, headers, {}, HASHER).user != scope_of(other, headers, {}, HASHER).user


def test_keys_own_user_cannot_be_named() -> None:
    me = identified("sk-anna")
    own = scope_of(me, {}, {}, HASHER).user
    assert own != scope_of(me, {"x-memory-user": me.tenant}, {}, HASHER).user
    assert own == scope_of(me, {}, {}, HASHER).user


@pytest.mark.parametrize("key", SETTINGS.placeholder_keys)
def test_placeholders_are_one_tenant_on_loopback_only(key: str) -> None:
    assert identified(key).tenant == identified("EMPTY").tenant
    assert identified(key, "0.0.0.0").reason == "no-identity"


@given(st.text(min_size=1), st.text(min_size=1))
def test_local_user_is_every_key_on_loopback(key: str, other: str) -> None:
    here = [passthrough_identity(one, SETTINGS, HASHER, "127.0.0.1", "ana") for one in (key, other, "EMPTY")]
    assert len({scope_of(one, {}, {"user": "x"}, HASHER) for one in here}) == 1
    assert passthrough_identity(key, SETTINGS, HASHER, "0.0.0.0", "ana") == identified(key, "0.0.0.0")


def test_a_placeholder_is_an_exact_string() -> None:
    assert identified("EMPTY ").tenant != identified("EMPTY").tenant


def test_no_key_is_no_identity() -> None:
    assert identified("") == Identity(reason="no-identity")


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
    bound = Identity("t" * 32, user="anna", may_name=False)
    assert scope_of(bound, {"x-openwebui-user-id": "ben"}, {"user": "ben"}, HASHER) == scope_of(bound, {}, {}, HASHER)


def test_conversation_aliases_count_in_order() -> None:
    """Values of other types do not count."""
    body = {"metadata": {"conversation_id": 7}, "prompt_cache_key": "last"}
    assert session_name({}, body) == "last"
    assert session_name({"x-sm-conversation-id": "c", "x-openwebui-chat-id": "b"}, body) == "b"
    assert session_name({"x-memory-session": " a "}, body) == "a"
    assert session_name({}, {"metadata": "no object"}) == ""


def test_secret_is_made_once_and_is_private(tmp_path: Path) -> None:
    first, again = Hasher.load(SETTINGS, tmp_path), Hasher.load(SETTINGS, tmp_path)
    assert first.digest("x", "y") == again.digest("x", "y")
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]


UNFILLED = [
    "{{USER_ID}}",
    "u-{{USER_ID}}",
    "${USER_ID}",
    "$USER_ID",
    "%USER_ID%",
    "<user-id>",
    "{user}",
    "%7B%7Bid%7D%7D",
]
NOTHING = ["undefined", "null", "None", "nil", "NaN", "[object Object]", "(null)"]


@pytest.mark.parametrize("name", [*UNFILLED, *NOTHING])
def test_unfilled_template_names_nobody(name: str) -> None:
    me = identified("sk-anna")
    for headers, body in (
        ({"x-memory-user": name}, {}),
        ({"x-openwebui-user-id": name}, {}),
        ({"x-sm-user-id": name}, {}),
        ({}, {"user": name}),
        ({}, {"metadata": {"user_id": name}}),
    ):
        with pytest.raises(NamesNobody):
            scope_of(me, headers, body, HASHER)
    assert session_name({"x-memory-session": name, "x-openwebui-chat-id": "c"}, {}) == "c"
    assert scope_of(me, {"x-memory-agent": name}, {}, HASHER) == scope_of(me, {}, {}, HASHER)


@pytest.mark.parametrize("name", ["ana", "Null Island", "a$b", "100%", "<ana@example.org>", "用户", "-", "🦊"])
def test_other_names_are_people(name: str) -> None:
    me = identified("sk-anna")
    assert scope_of(me, {"x-memory-user": name}, {}, HASHER) != scope_of(me, {}, {}, HASHER)


def jwt(secret: str = JWT_SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    told = {"sub": "ana", "iss": "open-webui", "exp": NOW.timestamp() + 300, **claims}
    signed = ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": algorithm, "typ": "JWT"}, told)
    )
    signature = hmac.digest(secret.encode(), signed.encode(), hashlib.sha256)
    return f"{signed}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def test_signed_user_equals_a_named_one() -> None:
    me, settings = identified("sk-anna"), AuthSettings(openwebui_jwt_secret=JWT_SECRET)
    signed = scope_of(me, {"x-openwebui-user-jwt": jwt()}, {}, HASHER, settings)
    assert signed == scope_of(me, {"x-openwebui-user-id": "ana"}, {}, HASHER)
    other = {"x-openwebui-user-jwt": jwt(), "x-memory-user": "ben"}
    assert scope_of(me, other, {}, HASHER, settings) == scope_of(me, {"x-memory-user": "ben"}, {}, HASHER)


@pytest.mark.parametrize(
    "token",
    [
        jwt("other"),
        jwt(algorithm="none"),
        jwt(iss="somebody"),
        jwt(exp=NOW.timestamp() - 120),
        jwt(sub=""),
        jwt(sub=7),
        jwt(exp="soon"),
        jwt()[:-2],
        jwt().rpartition(".")[0] + ".",
        "a.b",
        "é.é.é",
        "",
    ],
)
def test_a_signature_that_does_not_hold_names_nobody(token: str) -> None:
    settings = AuthSettings(openwebui_jwt_secret=JWT_SECRET)
    with pytest.raises(NamesNobody):
        scope_of(
            identified("sk-anna"), {"x-openwebui-user-jwt": token, "x-openwebui-user-id": "ana"}, {}, HASHER, settings
        )


def test_unsigned_user_of_a_signing_client_is_nobody() -> None:
    settings = AuthSettings(openwebui_jwt_secret=JWT_SECRET)
    with pytest.raises(NamesNobody):
        scope_of(identified("sk-anna"), {"x-openwebui-user-id": "ana"}, {}, HASHER, settings)
    with pytest.raises(NamesNobody):
        scope_of(identified("sk-anna"), {"x-openwebui-user-jwt": jwt()}, {}, HASHER)


def test_device_of_a_personal_key_is_that_person() -> None:
    body = {"metadata": {"user_id": "d", "device_user": "d"}}
    me = identified("sk-anna")
    assert scope_of(me, {}, body, HASHER) == scope_of(me, {}, {}, HASHER)
    ours = Identity("t" * 32, own="key_1")
    assert scope_of(ours, {}, body, HASHER) == scope_of(ours, {}, {"user": "d"}, HASHER)
