"""Headers that cross the proxy."""

from __future__ import annotations

import pytest

from proxy.upstream.headers import READABLE_AT_ONCE, READABLE_WHOLE, client_key, downward, upward

CLIENT = [
    ("Host", "localhost:8787"),
    ("Authorization", "Bearer sk-client"),
    ("Content-Type", "application/json"),
    ("Content-Length", "12"),
    ("Connection", "keep-alive, X-Private"),
    ("X-Private", "hop"),
    ("Keep-Alive", "timeout=5"),
    ("Transfer-Encoding", "chunked"),
    ("TE", "trailers"),
    ("Upgrade", "h2c"),
    ("Expect", "100-continue"),
    ("Proxy-Authorization", "Basic x"),
    ("Cookie", "dashboard=1"),
    ("X-Memory-User", "anna"),
    ("x-memory-mode", "read"),
    ("X-OpenWebUI-User-Id", "7"),
    ("OpenAI-Organization", "org"),
    ("OpenAI-Project", "proj"),
    ("X-Client-Request-Id", "c1"),
    ("Idempotency-Key", "i1"),
    ("X-Stainless-Lang", "python"),
    ("User-Agent", "OpenAI/Python"),
    ("X-Forwarded-For", "1.2.3.4"),
    ("Accept-Encoding", "gzip, br;q=0.5, zstd, deflate"),
]


def names(headers: list[tuple[str, str]]) -> list[str]:
    return [name for name, _ in headers]


def test_rows_13_14_what_goes_up():
    assert names(upward(CLIENT, api_key=None)) == [
        "Authorization",
        "Content-Type",
        "OpenAI-Organization",
        "OpenAI-Project",
        "X-Client-Request-Id",
        "Idempotency-Key",
        "X-Stainless-Lang",
        "User-Agent",
        "Accept-Encoding",
    ]


def test_unreadable_codings_are_not_offered():
    assert ("Accept-Encoding", "gzip, deflate") in upward(CLIENT, api_key=None, codings=READABLE_WHOLE)
    assert ("Accept-Encoding", "identity") in upward(CLIENT, api_key=None, codings=READABLE_AT_ONCE)


def test_connection_header_removes_no_key_or_type():
    given = [("Connection", "Authorization, Content-Type"), ("Authorization", "Bearer k"), ("Content-Type", "a/b")]
    assert names(upward(given, api_key=None)) == ["Authorization", "Content-Type"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([("authorization", "Bearer mine")], [("authorization", "Bearer theirs")]),
        ([("x-api-key", "mine")], [("x-api-key", "theirs")]),
        ([("x-api-key", "mine"), ("Authorization", "Bearer mine")], [("x-api-key", "theirs")]),
        ([], [("Authorization", "Bearer theirs")]),
    ],
)
def test_routes_key_replaces_the_clients(given, expected):
    assert upward(given, api_key="theirs") == expected


def test_every_header_with_our_key_stays_back():
    given = [("Authorization", "Bearer k"), ("x-api-key", "k"), ("api-key", "k"), ("X-Goog-Api-Key", "k")]
    assert upward(given, api_key=None, forwards_auth=False) == []


def test_utf8_values_keep_their_bytes():
    as_asgi_has_it = "Zoë".encode().decode("latin-1")
    assert upward([("X-Title", as_asgi_has_it)], api_key=None) == [("X-Title", "Zoë")]
    assert upward([("X-Title", "Zo\xeb")], api_key=None) == [("X-Title", "Zo\xeb")]


def test_what_comes_down():
    given = [
        (b"Content-Type", b"application/json"),
        (b"Connection", b"close, X-Hop"),
        (b"X-Hop", b"1"),
        (b"Transfer-Encoding", b"chunked"),
        (b"X-RateLimit-Remaining-Tokens", b"5"),
        (b"Set-Cookie", b"a=1"),
        (b"Set-Cookie", b"b=\xe9"),
    ]
    assert downward(given) == [
        ("Content-Type", "application/json"),
        ("X-RateLimit-Remaining-Tokens", "5"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=\xe9"),
    ]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("Authorization", "Bearer  sk-1 ")], "sk-1"),
        ([("authorization", "bearer sk-1")], "sk-1"),
        ([("Authorization", "Basic abc")], None),
        ([("Authorization", "Bearer ")], None),
        ([("X-Api-Key", "sk-ant-1")], "sk-ant-1"),
        ([("api-key", "azure")], "azure"),
        ([("x-goog-api-key", "AIza")], "AIza"),
        ([], None),
    ],
)
def test_the_clients_key_is_found(headers, expected):
    assert client_key(headers) == expected


@pytest.mark.parametrize("given", ["Authorization", "x-api-key", "api-key", None])
def test_providers_key_is_in_one_header_only(given):
    sent = [(given, "Bearer none")] if given else []
    assert upward(sent, api_key="sk-route", key_header="x-api-key") == [("x-api-key", "sk-route")]
