"""Contracts of clients: how they knock, what they ask for themselves, and what of a message is the user's."""

from __future__ import annotations

import gzip
from typing import Any

import orjson
import pytest

from proxy.process.connection import without_offers
from tests.fakes import messages as fake_messages
from tests.fakes.replies import JSON_HEADERS, Reply
from tests.wire.conftest import FACT, KEY, QUESTION, WIRES, Wire, ask, asked_anywhere, without_memory
from tests.wire.rawhttp import Wiretap

KNOCK = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "eA=="),
]
TOLD = {"Authorization": f"Bearer {KEY}"}
OFFER = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAEAAEAA"}
REMINDER = "<system-reminder>\nI live in Kiel.\n</system-reminder>"


KNOCKED = ["/v1/responses", "/v1/responses?model=m", "/v1/realtime", "/v1/chat/completions", "/mcp", "/", "/healthz"]


@pytest.mark.parametrize("path", [*KNOCKED, "/openapi.json", "/dashboard", "/elsewhere"])
@pytest.mark.parametrize("key", [TOLD, {}])
def test_row_81_websocket_is_refused_so_http_follows(plain: Wire, path: str, key: dict[str, str]) -> None:
    with Wiretap(plain.server.origin, "GET", path, [*KNOCK, *key.items()]) as tap:
        head, _, body = tap.until(b"}}").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 426")
    assert b"connection: upgrade, close" in head
    assert b"upgrade: HTTP/1.1" in head
    error = orjson.loads(body)["error"]
    assert (error["code"], "over HTTP" in error["message"]) == ("upgrade_required", True)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
def test_row_81_h2c_offer_is_ignored_and_body_read(plain: Wire, path: str) -> None:
    body = orjson.dumps(asked_anywhere())
    head = {**OFFER, **TOLD, "Content-Type": "application/json", "X-Memory-Mode": "off"}
    with Wiretap(plain.server.origin, "POST", path, head.items(), body) as tap:
        assert tap.until(b"\r\n\r\n").startswith(b"HTTP/1.1 200")
    assert plain.seen.body == body
    assert plain.seen.header("upgrade") is None


def test_row_81_head_without_an_offer_is_unchanged() -> None:
    head = b"POST /upgrade: HTTP/1.1\r\nX-Upgrade: h2c\r\nUpgrade: websocket\r\nHost: a"
    assert without_offers(head) == head


def test_row_83_compaction_calls_pass_untouched_and_teach_nothing(remembering: Wire) -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "I live in Kiel."}]}
    body = orjson.dumps({"model": "gpt-4o", "input": [item], "instructions": "Go on."})
    remembering.send(body, "/v1/responses/compact")
    assert remembering.seen.body == body
    triggered = orjson.dumps({"model": "gpt-4o", "input": [item, {"type": "compaction_trigger"}]})
    answer = remembering.send(triggered, "/v1/responses")
    assert remembering.seen.body == triggered
    assert answer.header("x-memory") == "off; n=0; tokens=0; reason=errand"
    assert not any("Kiel" in text for text in texts(remembering))


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": f"### Task:\nWrite a title.\nJSON: {{\"title\": \"\"}}\n<chat_history>\nUSER: {FACT}\n</chat_history>"}]},
        {"messages": [{"role": "system", "content": "You are a title generator. Output ONLY a title."}, {"role": "user", "content": FACT}]},
        {"messages": [{"role": "user", "content": "quota"}], "max_tokens": 1},
        {"messages": [{"role": "user", "content": f"Page content:\n---\n{FACT}\n---\n\nWhich version? Provide an answer based only on this."}]},
        {"messages": [{"role": "system", "content": "Available Tools: []\nYour task is to choose the tools. Return only JSON."}, {"role": "user", "content": f'Query: History:\nUSER: """{FACT}"""\nQuery: {FACT}'}]},
    ],
)  # fmt: skip
def test_row_88_errand_is_verbatim_and_leaves_no_trace(remembering: Wire, body: dict[str, Any]) -> None:
    raw = orjson.dumps({"model": "gpt-4o", **body})
    before = state(remembering)
    answer = remembering.send(raw)
    assert remembering.seen.body == raw
    assert answer.header("x-memory") == "off; n=0; tokens=0; reason=errand"
    assert (answer.header("x-memory-session"), answer.header("x-memory-receipt")) == (None, None)
    assert state(remembering) == before


def test_row_88_request_classes_of_a_coding_agent(remembering: Wire) -> None:
    asked = {"model": "gpt-4o", "max_tokens": 9, "messages": [{"role": "user", "content": QUESTION}]}
    main = remembering.send(asked, "/v1/messages", x_claude_code_request_class="main")
    aside = remembering.send(asked, "/v1/messages", x_claude_code_request_class="auxiliary")
    assert (main.header("x-memory") or "").startswith("used")
    assert aside.header("x-memory") == "off; n=0; tokens=0; reason=errand"


@pytest.mark.parametrize("path", WIRES)
def test_row_89_wrapped_question_is_asked_without_its_wrapper(remembering: Wire, path: str) -> None:
    parts = [
        REMINDER,
        f"<user_query>\n{QUESTION}\n</user_query>\n\n<environment_details>\nI use Jenkins.\n</environment_details>",
    ]
    kind = "input_text" if path.endswith("responses") else "text"
    message = {"role": "user", "content": [{"type": kind, "text": part} for part in parts]}
    key = "input" if path.endswith("responses") else "messages"
    answer = remembering.send({"model": "gpt-4o", "max_tokens": 9, key: [message]}, path)
    assert (answer.header("x-memory") or "").startswith("used"), answer.header("x-memory")
    assert b"Shram" in remembering.seen.body
    remembering.server.wait_learned(KEY, x_memory_user=remembering.user)
    assert texts(remembering) == {FACT}
    with remembering.api as api:
        receipt = api.get(f"/receipts/{answer.header('x-memory-receipt')}").json()
    assert receipt["query"] == QUESTION


@pytest.mark.parametrize("path", [*WIRES, "/v1/embeddings"])
def test_row_90_private_headers_stay_here(wire: Wire, path: str) -> None:
    private = {
        "x_openwebui_user_email": "ana@example.org",
        "x_openwebui_user_name": "Ana",
        "x_sm_project": "shop",
        "x_forwarded_user": "ana",
        "remote_user": "ana",
        "cookie": "a=b",
    }
    public = {"openai_project": "proj", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    assert wire.send(asked_anywhere(), path, **private, **public).status == 200
    assert not [name for name in private if wire.seen.header(name.replace("_", "-"))]
    assert all(wire.seen.header(name.replace("_", "-")) == value for name, value in public.items())


@pytest.mark.parametrize("name", ["{{USER_ID}}", "${USER}", "undefined", "[object Object]"])
def test_row_91_unfilled_name_template_is_nobodys(remembering: Wire, name: str) -> None:
    for header in ("x_memory_user", "x_openwebui_user_id", "x_openwebui_user_jwt"):
        named = {**remembering.headers, header.replace("_", "-"): name}
        if header != "x_memory_user":
            named.pop("x-memory-user")
        raw = orjson.dumps(ask())
        tap = Wiretap(remembering.server.origin, "POST", "/v1/chat/completions", named.items(), raw)
        with tap:
            head = tap.until(b"\r\n\r\n")
        assert b"x-memory: off; n=0; tokens=0; reason=no-identity" in head.lower()
        assert remembering.seen.body == raw


@pytest.mark.parametrize("path", ["/v1/models", "/healthz", "/readyz", "/health/liveliness", "/health/readiness"])
def test_row_92_head_answers_like_get_without_body(plain: Wire, path: str) -> None:
    answer = plain.send(b"", path, "HEAD")
    assert (answer.status, answer.body) == (200, b"")


@pytest.mark.parametrize("path", [*WIRES, "/v1/models", "/v1/embeddings", "/v1/files"])
def test_row_92_options_are_the_providers(plain: Wire, path: str) -> None:
    theirs = (("Allow", "POST, OPTIONS"), ("Content-Length", "0"))
    plain.provider.then(Reply([], 204, headers=theirs))
    answer = plain.send(b"", path, "OPTIONS")
    assert (answer.status, answer.header("allow")) == (204, "POST, OPTIONS")
    assert (plain.seen.method, plain.seen.path) == ("OPTIONS", path)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/healthz", "HEAD, GET"),
        ("POST", "/", "HEAD, GET"),
        ("OPTIONS", "/mcp", "HEAD, GET, POST, DELETE"),
        ("TRACE", "/v1/models", "HEAD, GET, POST, PUT, PATCH, DELETE, OPTIONS"),
    ],
)
def test_row_92_other_methods_are_a_405_with_the_mend(plain: Wire, method: str, path: str, allowed: str) -> None:
    answer = plain.send(b"", path, method)
    error = orjson.loads(answer.body)["error"]
    assert (answer.status, error["code"], error["type"]) == (405, "method_not_allowed", "invalid_request_error")
    assert f"Use {allowed.replace(', ', ' or ')} there." in error["message"]
    assert answer.header("allow") == allowed


@pytest.mark.parametrize("path", ["/v1/v1/chat/completions", "/chat/completions", "/v1//chat/completions/"])
def test_row_94_every_spelling_of_the_url_works(plain: Wire, path: str) -> None:
    assert plain.send(ask(), path).status == 200
    assert plain.seen.path == "/v1/chat/completions"


@pytest.mark.parametrize(
    "refusal",
    [
        b'{"error":{"message":"This model\'s maximum context length is 9 tokens","type":"invalid_request_error","code":"context_length_exceeded"}}',
        b'{"error":{"message":"The prompt was flagged","type":"invalid_request_error","code":"content_policy_violation"}}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_packed", [False, True])
def test_row_97_request_refused_for_memory_is_resent_verbatim(
    remembering: Wire, refusal: bytes, *, is_packed: bool
) -> None:
    coding = (("content-encoding", "gzip"),) if is_packed else ()
    body = gzip.compress(refusal) if is_packed else refusal
    reply = Reply([body], 400, headers=(*JSON_HEADERS, *coding))
    raw = orjson.dumps(ask())
    remembering.provider.then(reply)
    answer = remembering.send(raw)
    assert (answer.status, answer.header("x-memory")) == (200, "degraded; n=0; tokens=0; reason=refused")
    first, second = remembering.provider.seen[-2:]
    assert b"Shram" in first.body
    assert second.body == raw
    with remembering.api as api:
        receipt = api.get(f"/receipts/{answer.header('x-memory-receipt')}").json()
    assert (receipt["injected"], receipt["degraded"]) == ([], ["refused"])


def test_row_97_refusal_of_the_clients_body_is_relayed(remembering: Wire) -> None:
    refusal = b'{"error":{"message":"Unknown field `foo`","type":"invalid_request_error","code":null,"param":"foo"}}'
    remembering.provider.then(Reply([refusal], 400))
    before = len(remembering.provider.seen)
    answer = remembering.send(ask())
    assert (answer.status, answer.body, len(remembering.provider.seen) - before) == (400, refusal, 1)
    again = b'{"error":{"message":"maximum context length","type":"invalid_request_error","code":"context_length_exceeded"}}'
    remembering.provider.then(Reply([again], 400), Reply([again], 400))
    answer = remembering.send(ask())
    assert (answer.status, answer.body) == (400, again)


ATTRIBUTION = {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.328; cc_entrypoint=cli;"}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_86_what_anthropic_adds_crosses_untouched(wire: Wire, *, stream: bool) -> None:
    """Headers in pairs with their fields, the attribution block first and alone, marks; down ``input_transformations``."""
    marked = {"type": "text", "text": "You are terse.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    clear = {"role": "system", "content": "Be brief.", "clear_at": "next_user_message"}
    body = {
        "model": "claude-x",
        "max_tokens": 9,
        "system": [ATTRIBUTION, marked],
        "messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}, clear],
        "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
        "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}, "new": [1.0, None]},
        "unheard_of": {"b": 1, "a": 2},
        "stream": stream,
    }
    raw = orjson.dumps(body)
    named = {
        "anthropic_version": "2023-06-01",
        "anthropic_beta": "a-2026,thinking-binding-controls-2026-08-01",
        "anthropic_dangerous_direct_browser_access": "true",
        "anthropic_unheard_of": "x",
    }
    dropped = [{"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}]
    reply = fake_messages.reply(fake_messages.Said(), body, input_transformations=dropped)
    wire.provider.then(reply)
    answer = wire.send(raw, "/v1/messages", **named)
    assert answer.body == b"".join(piece for piece in reply.chunks if isinstance(piece, bytes))
    assert b"input_transformations" in answer.body
    assert without_memory(wire.seen.body) == raw
    assert orjson.loads(wire.seen.body)["system"] == body["system"]
    assert {name: wire.seen.header(name.replace("_", "-")) for name in named} == named


@pytest.mark.parametrize("path", WIRES)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500, 529])
def test_row_87_errors_keep_their_retry_hints(wire: Wire, path: str, status: int) -> None:
    body = b'{"type":"error", "error":{"type":"x_error","message":"No, \\u00e9."},"request_id":null, "more":1.0}'
    told = {
        "retry-after": "61",
        "x-should-retry": "false",
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": "1790000000",
        "anthropic-ratelimit-requests-remaining": "0",
        "request-id": "req_1",
    }
    wire.provider.then(Reply([body], status, headers=(*JSON_HEADERS, *told.items())))
    before = len(wire.provider.seen)
    answer = wire.send(asked_anywhere(), path)
    assert (answer.status, answer.body, len(wire.provider.seen) - before) == (status, body, 1)
    assert {name: answer.header(name) for name in told} == told


def texts(wire: Wire) -> set[str]:
    with wire.api as api:
        return {memory["text"] for memory in api.get("/memories").json()["data"]}


def state(wire: Wire) -> Any:
    """Return all that is stored of the test's user."""
    with wire.api as api:
        return [api.get(path).json() for path in ("/state", "/sessions", "/memories")]
