"""Errors: the provider's verbatim; Throughline's in the same shape."""

from __future__ import annotations

from pathlib import Path

import openai
import orjson
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import JSON_HEADERS, Reply
from tests.running import Running
from tests.wire.conftest import KEY, PATHS, Wire, ask, asked_anywhere
from tests.wire.rawhttp import send

_CODES = ["context_length_exceeded", "invalid_api_key", "insufficient_quota", "model_not_found", "content_filter"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 429, 500, 503])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_43_status_and_body_are_verbatim(wire: Wire, status: int, stream: bool) -> None:
    body = b'{ "error" : {"message":"no \\u2014 really","type":"t","param":null,"code":null,"extra":[1.0]}, "more":1}\n'
    answer = wire.through(Reply([body], status), ask(stream=stream))
    assert (answer.status, answer.body) == (status, body)


@pytest.mark.parametrize("path", PATHS[1:])
@pytest.mark.parametrize("status", [401, 413, 429, 503])
def test_row_43_so_they_are_on_every_path(wire: Wire, path: str, status: int) -> None:
    body = b'{ "error" : {"message":"no","type":"t"}, "more":1.0}\n'
    steer = (("retry-after-ms", "6500"), ("x-ratelimit-remaining-tokens", "0"), ("openai-version", "2020-10-01"))
    wire.provider.then(Reply([body], status, (*JSON_HEADERS, *steer)))
    answer = wire.send(asked_anywhere(stream=True), path)
    assert (answer.status, answer.body) == (status, body)
    assert {name: answer.header(name) for name, _ in steer} == dict(steer)
    assert answer.header("x-request-id")


def test_row_43_body_without_json_is_verbatim(wire: Wire) -> None:
    answer = wire.through(Reply([b"slow down\n"], 429, (("Content-Type", "text/plain"),)), ask())
    assert (answer.status, answer.body, answer.header("content-type")) == (429, b"slow down\n", "text/plain")


@pytest.mark.parametrize("code", _CODES)
def test_row_44_codes_are_kept(wire: Wire, code: str) -> None:
    refusal = replies.error(400, "no", code)
    wire.provider.then(refusal, refusal)  # a refusal that memory may have caused is retried once without memory
    with pytest.raises(openai.BadRequestError) as caught:
        wire.openai.chat.completions.create(**ask())
    wire.provider.clear()
    assert (caught.value.code, caught.value.type) == (code, "fake_error")


def test_row_45_headers_that_steer_retries_are_kept(wire: Wire) -> None:
    steer = {"retry_after": "7", "retry_after_ms": "6500", "x_should_retry": "false"}
    answer = wire.through(replies.error(429, **steer), ask())
    assert {name: answer.header(name.replace("_", "-")) for name in steer} == steer


def test_row_46_rate_limit_headers_are_kept(wire: Wire) -> None:
    limits = {
        f"x-ratelimit-{what}-{of}": f"{at}{what[0]}"
        for at, what in enumerate(("limit", "remaining", "reset"))
        for of in ("requests", "tokens")
    }
    answer = wire.through(Reply([b"{}"], headers=(*JSON_HEADERS, *limits.items())), ask())
    assert {name: answer.header(name) for name in limits} == limits


def test_row_47_providers_request_id_is_kept(wire: Wire) -> None:
    answer = wire.through(replies.error(500), ask())
    assert [value for name, value in answer.headers if name.lower() == "x-request-id"] == ["req_fake"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings", "/v1/models", "/healthz", "/v1/state"])
def test_row_47_request_id_is_always_there(wire: Wire, path: str) -> None:
    wire.provider.script(lambda _: Reply([b"{}"], headers=(("Content-Type", "application/json"),)))
    method = "POST" if path.endswith(("completions", "embeddings")) else "GET"
    answer = wire.send(ask() if method == "POST" else b"", path, method)
    assert len([value for name, value in answer.headers if name.lower() == "x-request-id" and value]) == 1


def test_row_47_our_errors_have_a_request_id(wire: Wire) -> None:
    assert (wire.send(b"{").header("x-request-id") or "").startswith("req_")


def test_row_48_openai_headers_are_kept(wire: Wire) -> None:
    named = {"openai-version": "2020-10-01", "openai-organization": "org", "openai-processing-ms": "12",
             "openai-model": "gpt-4o", "x-custom": "1"}  # fmt: skip
    answer = wire.through(Reply([b"{}"], headers=(*JSON_HEADERS, *named.items())), ask())
    assert {name: answer.header(name) for name in named} == named


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_49_html_error_becomes_a_json_502(wire: Wire, stream: bool) -> None:
    answer = wire.through(replies.html(502), ask(stream=stream))
    error = orjson.loads(answer.body)["error"]
    assert (answer.status, answer.header("content-type"), error["type"]) == (502, "application/json", "upstream_error")
    assert b"<html" not in answer.body


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/models", "/v1/files"])
def test_row_49_html_error_elsewhere_becomes_json_502(wire: Wire, path: str) -> None:
    wire.provider.then(replies.html(503))
    answer = wire.send(b"{}" if path == "/v1/embeddings" else b"", path, "POST" if path == "/v1/embeddings" else "GET")
    assert (answer.status, orjson.loads(answer.body)["error"]["code"]) == (502, "upstream_unreachable")


def test_row_50_unknown_path_goes_to_the_provider(wire: Wire) -> None:
    wire.provider.then(replies.error(404, "Unknown request URL"))
    answer = wire.send({"a": 1}, "/v1/something/new?x=%2F&y=1+2")
    assert (answer.status, wire.seen.target) == (404, "/v1/something/new?x=%2F&y=1+2")
    assert orjson.loads(answer.body)["error"]["message"] == "Unknown request URL"


def test_row_50_unknown_path_without_provider_is_404(tmp_path: Path) -> None:
    with Running(tmp_path, wait=False) as server:
        answer = send(server.origin, "POST", "/v1/something/new", [("authorization", f"Bearer {KEY}")], b"{}")
        error = orjson.loads(answer.body)["error"]
    assert (answer.status, error["type"], error["code"]) == (404, "invalid_request_error", "not_found")


@pytest.mark.parametrize("base", ["/v1", "/v1/", "", "/", "//v1", "/v1/v1", "/v1//"])
def test_row_51_every_spelling_of_the_url_works(wire: Wire, base: str) -> None:
    path = f"{base.rstrip('/')}//chat/completions" if base.endswith("//") else f"{base.rstrip('/')}/chat/completions"
    assert wire.send(ask(), path).status == 200
    assert wire.send(ask(), path + "/").status == 200
    assert wire.seen.target == "/v1/chat/completions"


def test_row_51_slash_in_model_survives_without_v1(wire: Wire) -> None:
    wire.send(b"", "/models/org%2Fname%3Fx?a=%2F", "GET")
    assert wire.seen.target == "/v1/models/org%2Fname%3Fx?a=%2F"


def test_row_52_missing_key_of_ours_is_401(tmp_path: Path, provider: FakeProvider) -> None:
    body = orjson.dumps(ask())
    with Running(tmp_path, upstream=provider.base_url, wait=False, auth={"mode": "keys"}) as server:
        for path, method in [("/v1/chat/completions", "POST"), ("/v1/models", "GET"), ("/v1/memories", "GET")]:
            for headers in ([], [("authorization", "Bearer sk-wrong")], [("x-api-key", "wrong")]):
                answer = send(server.origin, method, path, headers, body if method == "POST" else b"")
                error = orjson.loads(answer.body)["error"]
                assert (answer.status, error["code"]) == (401, "invalid_api_key")
                assert "wrong" not in error["message"]
        with pytest.raises(openai.AuthenticationError) as caught:
            server.client("sk-wrong").chat.completions.create(**ask())
    assert caught.value.code == "invalid_api_key"
    assert not provider.seen


def test_unreachable_provider_is_502_on_every_path(tmp_path: Path) -> None:
    with Running(tmp_path, upstream="http://127.0.0.1:9/v1", wait=False) as server:
        for path, method in [("/v1/chat/completions", "POST"), ("/v1/embeddings", "POST"), ("/v1/models", "GET")]:
            body = orjson.dumps(ask()) if method == "POST" else b""
            answer = send(server.origin, method, path, [("authorization", f"Bearer {KEY}")], body)
            error = orjson.loads(answer.body)["error"]
            assert (answer.status, error["type"], error["code"]) == (502, "upstream_error", "upstream_unreachable")
