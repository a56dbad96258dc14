"""In ``keys`` mode all share the provider's account: objects not handed out to a scope do not exist for it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from proxy.store.keys import Key
from tests.fakes import messages, replies, responses
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply
from tests.running import Running

HI = [{"role": "user", "content": "hi"}]


def answering(seen: Seen) -> Reply | None:
    if seen.path.endswith("/responses") and seen.method == "POST":
        return responses.reply(responses.Said("All right.", id=responses.new_id(), asked=seen.json))
    if seen.path.endswith("/messages"):
        return messages.agreeing(seen)
    if seen.path.endswith("/chat/completions"):
        return replies.chat("All right.", seen.json)
    return None


@pytest.fixture(scope="module")
def shared() -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        yield fake


@pytest.fixture
def account(shared: FakeProvider) -> FakeProvider:
    shared.clear()
    shared.script(answering)
    return shared


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory, shared: FakeProvider) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("data"), upstream=shared.base_url, auth={"mode": "keys"}) as server:
        yield server


@pytest.fixture(scope="module")
def anna(tenants: Running) -> httpx.Client:
    return tenants.http(made_key(tenants))


@pytest.fixture(scope="module")
def bert(tenants: Running) -> httpx.Client:
    return tenants.http(made_key(tenants))


def made_key(server: Running, **more: Any) -> str:
    services = server.services

    async def make() -> tuple[str, Key]:
        return await services.keys.create(now=services.clock.now(), **more)

    return server.call(make)[0]


def chat(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": list(parts)}], **more}


def ask(given: Any = "hi", **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": given, **more}


FOREIGN = [
    ("/chat/completions", chat({"type": "file", "file": {"file_id": "file-of-anna"}})),
    ("/chat/completions", chat({"type": "text", "text": "x"}, something_new={"deep": ["vs_of_anna"]})),
    ("/chat/completions", chat({"type": "image_url", "image_url": {"url": "gs://bucket/of-anna.png"}})),
    ("/chat/completions", {"model": "m", "messages": [*HI, {"role": "assistant", "audio": {"id": "audio_of_anna"}}]}),
    ("/chat/completions?conversation=conv_of_anna", chat({"type": "text", "text": "x"})),
    ("/responses", ask([{"type": "item_reference", "id": "msg_of_anna"}])),
    ("/responses", ask([{"id": "rs_of_anna"}])),
    ("/responses", ask([{"type": "reasoning", "id": "rs_of_anna", "summary": []}, *HI])),
    ("/responses", ask([{"role": "user", "content": [{"type": "input_file", "file_id": "file-of-anna"}]}])),
    ("/responses", ask([{"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", "file_id": "f"}]}])),
    ("/responses", ask(tools=[{"type": "file_search", "vector_store_ids": ["vs_of_anna"]}])),
    ("/responses", ask(tools=[{"type": "code_interpreter", "container": "cntr_of_anna"}])),
    ("/responses", ask(tools=[{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file-of-anna"]}}])),
    ("/responses", ask(tools=[{"type": "image_generation", "input_image_mask": {"file_id": "file-of-anna"}}])),
    ("/responses", ask(previous_response_id="resp_of_anna")),
    ("/responses", ask(conversation="conv_of_anna")),
    ("/responses", ask(conversation={"id": "conv_of_anna"})),
    ("/responses", ask(prompt={"id": "pmpt_of_anna"})),
    ("/messages", chat({"type": "document", "source": {"type": "file", "file_id": "file_of_anna"}})),
    ("/messages", chat({"type": "container_upload", "file_id": "file_of_anna"})),
    ("/messages", chat({"type": "text", "text": "x"}, container="container_of_anna")),
    ("/messages", chat({"type": "text", "text": "x"}, container={"skills": [{"type": "custom", "skill_id": "skill_of_anna"}]})),
    ("/messages/count_tokens", chat({"type": "document", "source": {"type": "file", "file_id": "file_of_anna"}})),
    ("/images/edits", {"model": "m", "prompt": "x", "images": [{"file_id": "file-of-anna"}]}),
    ("/audio/speech", {"model": "m", "input": "x", "voice": {"id": "voice_of_anna"}}),
    ("/embeddings?file_id=file-of-anna", {"model": "m", "input": "x"}),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["full", "off", "ephemeral"])
@pytest.mark.parametrize(("path", "body"), FOREIGN)
def test_foreign_object_is_404_before_anything_goes_up(
    bert: httpx.Client, account: FakeProvider, path: str, body: dict[str, Any], mode: str
) -> None:
    answer = bert.post(path, json=body, headers={"x-memory-mode": mode})
    assert answer.status_code == 404, answer.text
    error = answer.json()["error"]
    if path.startswith("/messages"):
        assert (answer.json()["type"], error["type"]) == ("error", "not_found_error")
    else:
        expected = "previous_response_not_found" if "previous_response_id" in body else "not_found"
        assert (error["type"], error["code"]) == ("invalid_request_error", expected)
    assert not account.seen


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/files/file-of-anna"), ("GET", "/files/file-of-anna/content"), ("DELETE", "/files/f1"),
        ("GET", "/responses/resp_of_anna"), ("DELETE", "/responses/r1"), ("POST", "/responses/r1/cancel"),
        ("GET", "/responses/r1/input_items"), ("GET", "/conversations/c1/items"), ("POST", "/conversations/c1/items"),
        ("GET", "/vector_stores/v1/files/f1/content"), ("POST", "/vector_stores/v1/search"), ("GET", "/batches/b1"),
        ("GET", "/containers/k1/files/f1/content"), ("GET", "/chat/completions/c1/messages"), ("GET", "/threads/t1/runs/r1"),
        ("GET", "/fine_tuning/jobs/j1"), ("POST", "/uploads/u1/parts"), ("GET", "/messages/batches/b1/results"),
        ("GET", "/models?after=file-of-anna"), ("GET", "/evals/e1/runs/r1"), ("GET", "/videos/v1/content"),
        ("POST", "/fil%65s/file-of-anna"), ("POST", "/batches?after=batch_of_anna"),
    ],
)  # fmt: skip
def test_paths_of_objects_of_others_are_404(bert: httpx.Client, account: FakeProvider, method: str, path: str) -> None:
    answer = bert.request(method, path, content=b"{}" if method == "POST" else None)
    assert answer.status_code == 404
    assert not account.seen


def test_anthropic_client_is_refused_in_its_wires_shape(bert: httpx.Client, account: FakeProvider) -> None:
    answer = bert.get("/files/file_of_anna/content", headers={"anthropic-version": "2023-06-01"})
    assert (answer.status_code, answer.json()["type"], answer.json()["error"]["type"]) == (
        404,
        "error",
        "not_found_error",
    )
    assert not account.seen


@pytest.mark.parametrize(
    "raw",
    [
        b'{"model": "m", "messages": [], "x\\ud800_id": "file-of-anna"}', b'{"model": "m", "messages": [], "file_id": "\\ud800"}',
        b'{"model": "m", "messages": [], "file_id": "%s"}' % (b"x" * 100_000), b'{"model": "m", "messages": [], "file_id": "\\u0000"}',
        b'{"model": "m", "messages": [], "n": 1e999, "file_ids": [%s]}' % b",".join(b'"f%d"' % n for n in range(12_000)),
        b'{"model": "m", "messages": [], "big": %s, "id": "file-of-anna"}' % (b"9" * 5000),
    ],
)  # fmt: skip
def test_odd_ids_are_refused_in_shape(bert: httpx.Client, account: FakeProvider, raw: bytes) -> None:
    for path in ("/chat/completions", "/images/edits"):
        answer = bert.post(path, content=raw, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 404)
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
        assert len(answer.text) < 1000
    assert not account.seen


def test_compressed_bodies_and_forms_are_checked(bert: httpx.Client, account: FakeProvider) -> None:
    packed = gzip.compress(orjson.dumps({"model": "m", "images": [{"file_id": "file-of-anna"}]}))
    sent = {"content-encoding": "gzip", "content-type": "application/json"}
    assert bert.post("/images/edits", content=packed, headers=sent).status_code == 404
    assert (
        bert.post("/images/edits", content=packed, headers={**sent, "content-encoding": "compress"}).status_code == 415
    )
    form = {"model": (None, "m"), "image": (None, "file-of-anna")}
    assert bert.post("/images/edits", files=form).status_code == 404
    assert bert.post("/images/edits", data={"model": "m", "file_id": "x"}).status_code == 404
    twice = b'{"model": "m", "images": [{"file_id": "file-of-anna", "file_id": ""}]}'
    assert bert.post("/images/edits", content=twice).status_code == 404
    assert not account.seen
    assert (
        bert.post("/images/edits", files={"model": (None, "m"), "image": ("a.png", b"file-of-anna")}).status_code == 200
    )


@pytest.mark.parametrize("mode", ["full", "read", "off", "ephemeral"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_handed_out_id_works_for_its_receiver(
    anna: httpx.Client, bert: httpx.Client, account: FakeProvider, stream: bool, mode: str
) -> None:
    """The user's request names it after one of the provider's replies did."""
    headers = {"x-memory-mode": mode}
    first = anna.post("/responses", json=ask(stream=stream), headers=headers)
    said = first.json() if not stream else final(first.text)
    reply_id, item_id = said["id"], said["output"][0]["id"]
    later = [
        ask(previous_response_id=reply_id),
        ask([*HI, {"type": "item_reference", "id": item_id}]),
        ask([*HI, *said["output"], *HI]),
    ]
    for body in later:
        assert anna.post("/responses", json=body, headers=headers).status_code == 200
    assert anna.get(f"/responses/{reply_id}").status_code == 200
    assert account.last.target == f"/v1/responses/{reply_id}"
    account.seen.clear()
    for body in later:
        assert bert.post("/responses", json=body, headers=headers).status_code == 404
    assert bert.get(f"/responses/{reply_id}").status_code == 404
    assert not account.seen


def final(stream: str) -> dict[str, Any]:
    data = [line.removeprefix("data: ") for line in stream.splitlines() if line.startswith("data: {")]
    return dict(orjson.loads(data[-1])["response"])


def test_ids_listed_below_own_objects_are_own(anna: httpx.Client, account: FakeProvider) -> None:
    reply_id = anna.post("/responses", json=ask()).json()["id"]
    listed = {"object": "list", "data": [{"id": "msg_listed", "type": "message"}]}
    account.then(replies.json_reply(listed))
    assert anna.get(f"/responses/{reply_id}/input_items").json() == listed
    assert anna.get(f"/responses/{reply_id}/input_items", params={"after": "msg_listed"}).status_code == 200
    assert anna.get(f"/responses/{reply_id}/input_items", params={"after": "msg_other"}).status_code == 404


def test_objects_of_users_and_agents_are_separate(tenants: Running, account: FakeProvider) -> None:
    http = tenants.http(made_key(tenants, may_name_users=True))
    one, two, agent = {"x-memory-user": "u1"}, {"x-memory-user": "u2"}, {"x-memory-user": "u1", "x-memory-agent": "a"}
    of_user = http.post("/responses", json=ask(), headers=one).json()["output"][0]["id"]
    of_agent = http.post("/responses", json=ask(), headers=agent).json()["output"][0]["id"]
    account.seen.clear()

    def status(id_: str, headers: dict[str, str]) -> int:
        body = ask([*HI, {"type": "item_reference", "id": id_}])
        return http.post("/responses", json=body, headers=headers).status_code

    assert [status(of_user, named) for named in (one, two, agent)] == [200, 404, 200]
    assert [status(of_agent, named) for named in (one, two, agent)] == [404, 404, 200]


def test_foreign_id_answers_like_one_that_never_existed(
    anna: httpx.Client, bert: httpx.Client, account: FakeProvider
) -> None:
    there = anna.post("/responses", json=ask()).json()["id"]
    nowhere = there[:-1] + "x"
    told = [
        bert.post("/responses", json=ask(previous_response_id=one)).text.replace(one, "") for one in (there, nowhere)
    ]
    assert told[0] == told[1]
    told = [bert.get(f"/responses/{one}").text.replace(one, "") for one in (there, nowhere)]
    assert told[0] == told[1]


def test_text_that_looks_like_an_id_is_text(bert: httpx.Client, account: FakeProvider) -> None:
    text = "file-of-anna msg_of_anna"
    for path, body in [
        ("/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "file-of-anna"}]}),
        ("/chat/completions", chat({"type": "text", "text": "vs_of_anna"}, user="conv_of_anna", metadata={"a": "resp_of_anna"})),
        ("/responses", ask("msg_of_anna", instructions="resp_of_anna", tools=[{"type": "function", "name": "file_reader"}])),
        ("/messages", chat({"type": "text", "text": "file_of_anna"}, system=text)),
        ("/embeddings", {"model": "m", "input": ["file-of-anna", "vs_of_anna"]}),
    ]:  # fmt: skip
        assert bert.post(path, json=body).status_code == 200, path


def test_what_was_handed_out_outlives_a_restart(tmp_path: Path, account: FakeProvider) -> None:
    key = ""
    for round_ in range(2):
        with Running(tmp_path, upstream=account.base_url, auth={"mode": "keys"}) as server:
            key = key or made_key(server)
            with server.http(key) as http:
                if not round_:
                    said = http.post("/responses", json=ask(), headers={"x-memory-mode": "off"}).json()
                body = ask(
                    [*HI, {"type": "item_reference", "id": said["output"][0]["id"]}], previous_response_id=said["id"]
                )
                assert http.post("/responses", json=body).status_code == 200
    for file in tmp_path.rglob("*.db*"):
        assert said["id"].encode() not in file.read_bytes()


@pytest.mark.parametrize("auth", [{"mode": "passthrough"}, {"mode": "keys", "share_provider_account": True}])
def test_ids_go_up_where_accounts_are_shared(tmp_path: Path, account: FakeProvider, auth: dict[str, Any]) -> None:
    """This also holds if the account is the client's own."""
    with Running(tmp_path, upstream=account.base_url, auth=auth) as server:
        key = made_key(server) if auth["mode"] == "keys" else "sk-client"
        with server.http(key, x_memory_mode="off") as http:
            for path, body in FOREIGN:
                assert http.post(path, json=body).status_code == 200
                assert account.last.json == body
            assert http.get("/responses/resp_of_anna").status_code == 200
