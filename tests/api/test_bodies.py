"""A body that a memory endpoint cannot read is refused with the fault and the remedy."""

from __future__ import annotations

import httpx
import pytest

from tests.talking import Speaker

ENDPOINTS = [
    ("POST", "/memories"),
    ("POST", "/memories/search"),
    ("POST", "/memories/forget"),
    ("PATCH", "/memories/mem_000000000000000000000000"),
]


def said_of(response: httpx.Response) -> str:
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", None, "invalid_request")
    return str(error["message"])


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_json_of_another_type_is_refused_with_mend(alice: Speaker, method: str, path: str, content_type: str) -> None:
    headers = {"content-type": content_type} if content_type else {}
    body = b'{"text": "I like tea", "query": "tea"}'
    said = said_of(alice.http.request(method, path, content=body, headers=headers))
    assert "`Content-Type: application/json`" in said
    assert repr(content_type) in said or "no `Content-Type`" in said


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "There is no body"),
        (b'["text"]', "must be a JSON object"),
        (b'{"text": ', "is not valid JSON: Expecting value at character 9"),
        (b'{"text": "caf\xe9"}', "Send JSON in UTF-8."),
        (b"[" * 100_000, "Send it flatter."),
        (b'{"text": ' + b"9" * 5000 + b"}", "Send it as a string."),
    ],
)
def test_body_that_is_no_object_is_refused(alice: Speaker, method: str, path: str, body: bytes, said: str) -> None:
    headers = {"content-type": "application/json; charset=utf-8"}
    assert said in said_of(alice.http.request(method, path, content=body, headers=headers))


def test_json_of_a_vendors_type_is_read(alice: Speaker) -> None:
    headers = {"content-type": "application/vnd.tea+json"}
    assert alice.http.post("/memories", content=b'{"text": "I like tea"}', headers=headers).status_code == 200
