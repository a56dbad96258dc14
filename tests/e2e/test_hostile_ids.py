"""Ids, names and texts that imitate others or carry code."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import quote

import pytest

from tests.e2e.hostile import CHAT, answer_anything, assert_refused, call, chat, wait_learned
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import lasting_provider, server, upstream
from tests.talking import new_key, speaking

__all__ = ["lasting_provider", "server", "upstream"]

HOSTILE = {
    "quote": "a'b\"c`d",
    "sql": "x' OR '1'='1'; DROP TABLE sessions; --",
    "lance": "id') OR true OR id IN ('",
    "like": "%_%",
    "comment": "/* */ -- #",
    "traversal": "../../../../etc/passwd",
    "windows": "..\\..\\windows",
    "slashes": "a//b/./c/",
    "url": "https://example.test/chat?id=1&b=2#top",
    "unicode": "Zoë 漢字 🙂 \u202ertl",
    "combining": "Zoe\u0308",
    "percent": "%00%2e%2e%2f",
    "json": '{"a": ["b"]}',
    "long": "x" * 10_000,
    "dots": "..",
    "number": "0",
    "end": "x/end",
}

UNFILLED = {"template": "${7*7}{{7*7}}<script>alert(1)</script>", "null": "null", "variable": "%USER%"}

IN_PATHS = {
    **HOSTILE,
    **UNFILLED,
    "nul": "a\x00b",
    "newline": "a\r\nX-Evil: 1",
    "surrogate": "\udcff",
    "id": "mem_" + "0" * 24,
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_have_a_memory_of_their_own(server: Running, upstream: FakeProvider, hostile: str) -> None:
    upstream.script(answer_anything)
    key = new_key()
    names = {"x_memory_user": hostile, "x_memory_session": hostile, "x_memory_agent": hostile}
    answer, _ = call(server, "POST", CHAT, chat("I use Shram"), key=key, **names)
    assert answer.status == 200
    wait_learned(server, key, **names)
    learned = call(server, "GET", "/v1/memories", key=key, **names)[1]["data"]
    assert [one["text"] for one in learned] == ["I use Shram"]
    by_name, found = call(server, "GET", f"/v1/sessions/{quote(hostile, safe='')}", key=key, **names)
    assert (by_name.status, found["name"], found["turns"]) == (200, hostile, 1)
    shown = answer.header("x-memory-session") or ""
    assert call(server, "GET", f"/v1/sessions/{quote(shown, safe='')}", key=key, **names)[1]["id"] == found["id"]
    for other in ({}, {"x_memory_user": hostile + "2"}, {"x_memory_user": "%"}):
        assert call(server, "GET", "/v1/memories", key=key, **other)[1]["data"] == []
        assert call(server, "GET", f"/v1/sessions/{quote(hostile, safe='')}", key=key, **other)[0].status == 404


@pytest.mark.parametrize("unfilled", UNFILLED.values(), ids=UNFILLED)
def test_unfilled_name_template_has_no_memory(server: Running, upstream: FakeProvider, unfilled: str) -> None:
    upstream.script(answer_anything)
    answer, _ = call(server, "POST", CHAT, chat("I use Shram"), key=new_key(), x_memory_user=unfilled)
    assert (answer.status, answer.header("x-memory")) == (200, "off; n=0; tokens=0; reason=no-identity")


@pytest.mark.parametrize("hostile", IN_PATHS.values(), ids=IN_PATHS)
def test_hostile_ids_in_paths_are_404(server: Running, upstream: FakeProvider, stranger: str, hostile: str) -> None:
    """Ids of no scope and of another scope get the same response, and nothing reaches the provider."""
    upstream.script(answer_anything)
    id_ = quote(hostile.encode("utf-8", "surrogateescape"), safe="")
    for method, path in [
        ("GET", f"/v1/memories/{id_}"),
        ("PATCH", f"/v1/memories/{id_}"),
        ("DELETE", f"/v1/memories/{id_}"),
        ("GET", f"/v1/memories/{id_}/history"),
        ("POST", f"/v1/memories/{id_}/restore"),
        ("GET", f"/v1/receipts/{id_}"),
        ("GET", f"/v1/sessions/{id_}"),
        ("DELETE", f"/v1/sessions/{id_}"),
        ("POST", f"/v1/sessions/{id_}/end"),
        ("GET", f"/v1/memories?after={id_}"),
        ("GET", f"/v1/sessions?after={id_}"),
    ]:
        answer, parsed = call(server, method, path, {"text": "x"} if method == "PATCH" else None, key=stranger)
        assert_refused(answer, parsed, 404)
    assert not upstream.seen


def test_ids_of_another_scope_are_unknown(server: Running) -> None:
    owner, other = new_key(), new_key()
    with speaking(server, owner) as alice:
        response = alice.tell("I use Shram", x_memory_session="s1")
        ids = [("memories", alice.memories()[0]["id"]), ("receipts", response.headers["x-memory-receipt"]),
               ("sessions", alice.sessions()[0]["id"]), ("sessions", "s1")]  # fmt: skip
        for noun, id_ in ids:
            mine, _ = call(server, "GET", f"/v1/{noun}/{id_}", key=owner)
            foreign, parsed = call(server, "GET", f"/v1/{noun}/{id_}", key=other)
            nobody, missing = call(server, "GET", f"/v1/{noun}/{'0' * len(id_)}", key=other)
            assert (mine.status, foreign.status, nobody.status) == (200, 404, 404)
            assert parsed["error"]["message"].replace(id_, "") == missing["error"]["message"].replace(
                "0" * len(id_), ""
            )
        for noun, id_ in ids:
            if noun != "receipts":
                assert call(server, "DELETE", f"/v1/{noun}/{id_}", key=other)[0].status == 404
        assert [memory["status"] for memory in alice.memories()] == ["active"]


@pytest.mark.parametrize(
    "body",
    [
        {"text": ""}, {"text": 7}, {}, {"text": "x", "kind": "nope"}, {"text": "x", "confidence": 7},
        {"text": "x", "priority": 10**30}, {"text": "x", "expires_at": "soon"}, {"text": "x", "\ud800": 1},
        {"text": "x" * 20_001}, {"text": "x", "metadata": 5}, {"text": "x", "unknown": 1},
    ],
    ids=range(11),
)  # fmt: skip
def test_bad_memories_are_400(server: Running, body: dict[str, Any]) -> None:
    answer, parsed = call(server, "POST", "/v1/memories", body)
    assert_refused(answer, parsed, 400)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=99999", "kind=nope", "status=nope", "as_of=soon", "limit=1&limit=x"]
)
def test_bad_queries_are_400(server: Running, query: str) -> None:
    answer, parsed = call(server, "GET", f"/v1/memories?{query}")
    assert_refused(answer, parsed, 400)


@pytest.mark.parametrize(
    "text",
    [*HOSTILE.values(), *UNFILLED.values(), "a\x00b", "\ud83d lone", "x" * 20_000],
    ids=[*HOSTILE, *UNFILLED, "nul", "surrogate", "longest"],
)
def test_hostile_texts_are_stored_found_and_forgotten(server: Running, text: str) -> None:
    key = new_key()
    answer, made = call(server, "POST", "/v1/memories", {"text": text, "metadata": {text[:50]: [text]}}, key=key)
    if answer.status == 400:
        assert_refused(answer, made, 400)
        return
    assert answer.status == 200
    for path, body in [
        ("/v1/memories/search", {"query": text}),
        ("/v1/memories/forget", {"text": text, "dry_run": True}),
    ]:
        assert call(server, "POST", path, body, key=key)[0].status == 200
    listed, page = call(
        server, "GET", f"/v1/memories?query={quote(text[:500].encode('utf-8', 'replace'), safe='')}", key=key
    )
    assert (listed.status, {one["id"] for one in page["data"]} <= {made["id"]}) == (200, True)
    assert call(server, "POST", CHAT, chat(f"What about {text[:200]}?"), key=key)[0].status == 200
    assert call(server, "DELETE", f"/v1/memories/{made['id']}", key=key)[0].status == 200


@pytest.fixture(scope="module")
def stranger() -> str:
    """Return the key of a user whose memories must stay untouched."""
    return f"sk-test-{secrets.token_hex(8)}"
