"""Several providers behind one model: the chosen one, the fallbacks, and the client's view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from proxy.clock import ManualClock
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate, Hang, Raw, Reply
from tests.running import Running
from tests.wire.rawhttp import Wiretap

MESSAGES = [{"role": "user", "content": "hi"}]
SILENT = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def providers() -> Iterator[list[FakeProvider]]:
    fakes = [FakeProvider().start() for _ in range(3)]
    yield fakes
    for fake in fakes:
        fake.stop()


def deployment(fake: FakeProvider | str, name: str = "m", **params: Any) -> dict[str, Any]:
    base = fake if isinstance(fake, str) else fake.base_url
    return {
        "model_name": name,
        "litellm_params": {"model": "openai/real", "api_base": base, "api_key": "sk-own", **params},
    }


@contextmanager
def routed(
    folder: Path, models: list[dict[str, Any]], clock: ManualClock | None = None, **sections: Any
) -> Iterator[Running]:
    with Running(folder, models=models, clock=clock, wait=False, memory={"enabled": False}, **sections) as server:
        yield server


def ask(server: Running, *, model: str = "m", stream: bool = False, **more: Any) -> httpx.Response:
    body = {"model": model, "messages": MESSAGES, "stream": stream, **more.pop("body", {})}
    with server.http(**more) as http:
        return http.post("/chat/completions", json=body)


def fixed(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return deployments with fixed ids, so that the choice is the same in every run."""
    return [{**one, "model_info": {"id": f"deployment-{number}"}} for number, one in enumerate(listed)]


def ordered(providers: list[FakeProvider]) -> list[dict[str, Any]]:
    """Return deployments of which the first is always tried first."""
    return [deployment(fake, order=number) for number, fake in enumerate(providers)]


DEAD_ADDRESS = "http://127.0.0.1:1/v1"
FAILURES = {
    "429": replies.error(429, "slow down", retry_after="1"),
    "500": replies.error(500),
    "503": replies.error(503),
    "529": replies.error(529),
    "408": replies.error(408),
    "401": replies.error(401, code="invalid_api_key"),
    "403": replies.error(403),
    "404": replies.error(404, code="model_not_found"),
    "html": replies.html(502),
    "reset": Raw([], abort=True),
    "cut-before-the-first-byte": Raw([SILENT], abort=True),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("failure", list(FAILURES))
def test_another_deployment_answers_before_the_first_byte(
    tmp_path: Path, providers: list[FakeProvider], failure: str, stream: bool
) -> None:
    providers[0].then(FAILURES[failure])
    with routed(tmp_path, ordered(providers)) as server:
        answer = ask(server, stream=stream)
    assert answer.status_code == 200
    assert "echo: hi" in answer.text if not stream else "[DONE]" in answer.text
    assert [len(fake.seen) for fake in providers] == [1, 1, 0]
    assert providers[1].last.json["model"] == "real"
    assert providers[1].last.body == providers[0].last.body


def test_a_dead_address_is_no_end(tmp_path: Path, providers: list[FakeProvider]) -> None:
    models = [deployment(DEAD_ADDRESS, order=0), deployment(providers[0], order=1)]
    with routed(tmp_path, models) as server:
        assert ask(server).status_code == 200


def test_silent_deployment_is_left_after_its_timeout(tmp_path: Path, providers: list[FakeProvider]) -> None:
    providers[0].script(lambda _: Hang())
    models = [deployment(providers[0], order=0, timeout=0.2), deployment(providers[1], order=1)]
    with routed(tmp_path, models) as server:
        assert ask(server).status_code == 200
        assert ask(server, stream=True).status_code == 200
    assert len(providers[1].seen) == 2


def test_streams_have_a_timeout_of_their_own(tmp_path: Path, providers: list[FakeProvider]) -> None:
    providers[0].script(lambda _: Hang())
    models = [deployment(providers[0], order=0, timeout=60, stream_timeout=0.2), deployment(providers[1], order=1)]
    with routed(tmp_path, models) as server:
        assert ask(server, stream=True).status_code == 200


@pytest.mark.parametrize("header", ["x-stainless-read-timeout", "x-stainless-timeout"])
def test_client_hang_up_does_not_cool_a_deployment(tmp_path: Path, providers: list[FakeProvider], header: str) -> None:
    providers[0].script(lambda seen: Hang() if seen.header(header) else None)
    with routed(tmp_path, ordered(providers)) as server:
        answer = ask(server, **{header.replace("-", "_"): "0.2"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "upstream_timeout")
        assert ask(server).status_code == 200
    assert providers[0].seen[-1].header(header) is None
    assert not providers[1].seen + providers[2].seen


@pytest.mark.parametrize("status", [400, 409, 413, 422])
def test_client_error_is_relayed_without_another_try(
    tmp_path: Path, providers: list[FakeProvider], status: int
) -> None:
    providers[0].then(replies.error(status, "no", "its_own_code"))
    with routed(tmp_path, ordered(providers)) as server:
        answer = ask(server)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, "its_own_code")
    assert [len(fake.seen) for fake in providers] == [1, 0, 0]


def test_last_providers_error_is_relayed_when_all_fail(tmp_path: Path, providers: list[FakeProvider]) -> None:
    last = replies.error(429, "the last one's", "its_code", retry_after="7", x_ratelimit_limit_requests="3")
    for fake, reply in zip(providers, [replies.error(500), last], strict=False):
        fake.then(reply)
    models = [*ordered(providers[:2]), deployment(DEAD_ADDRESS, order=9)]
    with routed(tmp_path, models) as server:
        answer = ask(server)
    assert answer.status_code == 429
    assert answer.content == last.chunks[0]
    assert (answer.headers["retry-after"], answer.headers["x-ratelimit-limit-requests"]) == ("7", "3")


def test_one_deployment_is_never_asked_twice(tmp_path: Path, providers: list[FakeProvider]) -> None:
    for failure in (replies.error(500), replies.error(401), Raw([], abort=True)):
        providers[0].then(failure)
        with routed(tmp_path, [deployment(providers[0])]) as server:
            assert ask(server).status_code in (500, 401, 502)
        assert len(providers[0].seen) == 1
        providers[0].clear()


def test_retries_are_made_where_the_operator_wants_them(tmp_path: Path, providers: list[FakeProvider]) -> None:
    providers[0].then(replies.error(500), replies.error(503))
    with routed(tmp_path, [deployment(providers[0])], router_settings={"num_retries": 2, "retry_after": 0}) as server:
        assert ask(server).status_code == 200
    assert len(providers[0].seen) == 3


def test_nobody_takes_over_after_the_first_byte(tmp_path: Path, providers: list[FakeProvider]) -> None:
    first = replies.event(replies.chunks()[0])
    providers[0].then(Reply([first], headers=replies.SSE_HEADERS, framing="chunked", cut=True))
    body = {"model": "m", "messages": MESSAGES, "stream": True}
    with (
        routed(tmp_path, ordered(providers)) as server,
        server.http() as http,
        http.stream("POST", "/chat/completions", json=body) as answer,
    ):
        assert answer.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            list(answer.iter_raw())
    assert [len(fake.seen) for fake in providers] == [1, 0, 0]


def test_fallbacks_do_not_delay_events(tmp_path: Path, providers: list[FakeProvider]) -> None:
    """With fallbacks configured, each event is relayed before the next arrives."""
    gate = Gate()
    providers[0].then(replies.gated(replies.stream(), gate, 1))
    with (
        routed(tmp_path, ordered(providers)) as server,
        server.http() as http,
        http.stream("POST", "/chat/completions", json={"model": "m", "messages": MESSAGES, "stream": True}) as answer,
    ):
        pieces = answer.iter_raw()
        assert next(pieces).startswith(b"data: ")
        gate.open()
        assert b"".join(pieces).endswith(replies.DONE)


def test_failing_deployment_cools_and_comes_back(tmp_path: Path, providers: list[FakeProvider]) -> None:
    clock = ManualClock()
    providers[0].script(lambda _: replies.error(500))
    with routed(tmp_path, ordered(providers), clock, router_settings={"cooldown_time": 30}) as server:
        for _ in range(3):
            assert ask(server).status_code == 200
        assert [len(fake.seen) for fake in providers] == [1, 3, 0]
        providers[0].script(None)
        clock.advance(timedelta(seconds=31))
        assert ask(server).status_code == 200
        assert [len(fake.seen) for fake in providers] == [2, 3, 0]


@pytest.mark.parametrize("allowed", [0, 2])
def test_deployment_cools_beyond_its_allowed_fails(tmp_path: Path, providers: list[FakeProvider], allowed: int) -> None:
    providers[0].script(lambda _: replies.error(500))
    router = {"allowed_fails": allowed}
    with routed(tmp_path, ordered(providers), ManualClock(), router_settings=router) as server:
        for _ in range(5):
            assert ask(server).status_code == 200
    assert len(providers[0].seen) == allowed + 1


def test_cooling_deployments_are_asked_when_all_cool(tmp_path: Path, providers: list[FakeProvider]) -> None:
    with routed(tmp_path, ordered(providers), ManualClock()) as server:
        for fake in providers:
            fake.then(replies.error(500))
        assert ask(server).status_code == 500
        assert ask(server).status_code == 200


def test_bad_client_key_does_not_cool_a_deployment(tmp_path: Path, providers: list[FakeProvider]) -> None:
    models = [deployment(providers[0], order=0, api_key=None), deployment(providers[1], order=1, api_key=None)]
    refusing = {"sk-bad": replies.error(401)}
    providers[0].script(lambda seen: refusing.get((seen.header("authorization") or "")[7:]))
    with routed(tmp_path, models, ManualClock()) as server:
        assert ask(server, key="sk-bad").status_code == 200
        assert ask(server, key="sk-bad").status_code == 200
        assert ask(server, key="sk-good").status_code == 200
    assert [seen.header("authorization") for seen in providers[0].seen] == ["Bearer sk-bad", "Bearer sk-good"]


def test_weights_are_respected_and_equal_openings_are_spread(tmp_path: Path, providers: list[FakeProvider]) -> None:
    models = fixed([deployment(providers[0], weight=3), deployment(providers[1], weight=1)])
    with routed(tmp_path, models) as server, server.http() as http:
        for _ in range(200):
            assert http.post("/chat/completions", json={"model": "m", "messages": MESSAGES}).status_code == 200
    assert 120 <= len(providers[0].seen) <= 180


def test_conversation_stays_with_its_healthy_deployment(tmp_path: Path, providers: list[FakeProvider]) -> None:
    with routed(tmp_path, fixed([deployment(fake) for fake in providers])) as server, server.http() as http:
        begun = Counter()
        for number in range(12):
            messages = [{"role": "user", "content": f"conversation {number}"}]
            for turn in range(3):
                before = [len(fake.seen) for fake in providers]
                http.post("/chat/completions", json={"model": "m", "messages": messages}).raise_for_status()
                asked = next(at for at, fake in enumerate(providers) if len(fake.seen) > before[at])
                begun[number, asked] += 1
                messages += [{"role": "assistant", "content": f"answer {turn}"}, {"role": "user", "content": "more"}]
    assert set(begun.values()) == {3}
    assert len({asked for _, asked in begun}) == 3


def test_a_named_session_stays_whatever_its_messages(tmp_path: Path, providers: list[FakeProvider]) -> None:
    with routed(tmp_path, [deployment(fake) for fake in providers]) as server:
        for number in range(6):
            body = {"messages": [{"role": "user", "content": str(number)}]}
            ask(server, x_memory_session="one", body=body).raise_for_status()
    assert sorted(len(fake.seen) for fake in providers) == [0, 0, 6]


def test_another_model_stands_in_when_all_deployments_failed(tmp_path: Path, providers: list[FakeProvider]) -> None:
    models = [
        deployment(providers[0]),
        deployment(providers[1]),
        deployment(providers[2], "spare", model="openai/spare"),
    ]
    for fake in providers[:2]:
        fake.script(lambda _: replies.error(503))
    with routed(tmp_path, models, router_settings={"fallbacks": [{"m": ["nothing", "spare"]}]}) as server:
        assert ask(server).status_code == 200
    assert [len(fake.seen) for fake in providers] == [1, 1, 1]
    assert providers[2].last.json["model"] == "spare"


def test_default_fallback_serves_any_failing_model(tmp_path: Path, providers: list[FakeProvider]) -> None:
    providers[0].script(lambda _: replies.error(500))
    models = [deployment(providers[0], "bad"), deployment(providers[1], "good")]
    with routed(tmp_path, models, router_settings={"default_fallbacks": ["good"]}) as server:
        assert ask(server, model="bad").status_code == 200


def test_wider_model_takes_what_does_not_fit(tmp_path: Path, providers: list[FakeProvider]) -> None:
    models = [deployment(providers[0]), deployment(providers[1], "wide", model="openai/wide")]
    too_long = replies.error(400, "This model's maximum context length is 8 tokens.", "context_length_exceeded")
    wider = {"context_window_fallbacks": [{"m": ["wide"]}]}
    with routed(tmp_path, models, router_settings=wider) as server:
        providers[0].then(too_long, replies.error(400, "something else"))
        assert ask(server).status_code == 200
        refused = ask(server)
    assert (refused.status_code, refused.json()["error"]["message"]) == (400, "something else")
    assert len(providers[1].seen) == 1


def test_an_alias_is_the_model_that_it_names(tmp_path: Path, providers: list[FakeProvider]) -> None:
    aliases = {"gpt-4": "m", "hidden": {"model": "m", "hidden": True}}
    with routed(tmp_path, [deployment(providers[0])], router_settings={"model_group_alias": aliases}) as server:
        for name in aliases:
            assert ask(server, model=name).status_code == 200
        with server.client() as client:
            names = [model.id for model in client.models.list()]
    assert {seen.json["model"] for seen in providers[0].seen} == {"real"}
    assert names == ["m", "gpt-4", "demo"]


def test_other_paths_fail_over_too(tmp_path: Path, providers: list[FakeProvider]) -> None:
    providers[0].then(replies.error(500))
    with routed(tmp_path, ordered(providers)) as server, server.client() as client:
        answer = client.embeddings.create(model="m", input=["a"], encoding_format="float")
    assert answer.model == "real"
    assert [len(fake.seen) for fake in providers] == [1, 1, 0]


def test_no_further_try_after_a_hang_up(tmp_path: Path, providers: list[FakeProvider]) -> None:
    providers[0].then(Hang())
    body = orjson.dumps({"model": "m", "messages": MESSAGES})
    with routed(tmp_path, ordered(providers)) as server:
        with Wiretap(server.origin, "POST", "/v1/chat/completions", [("Authorization", "Bearer sk-x")], body):
            providers[0].wait(lambda: len(providers[0].seen) == 1)
        providers[0].wait(lambda: providers[0].seen[0].hung_up_at is not None)
    assert not providers[1].seen + providers[2].seen
