"""Spans and GenAI metrics as received by a collector over real sockets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from structlog.typing import EventDict

from proxy.cli.check import _telemetry
from proxy.settings.load import load_settings
from proxy.settings.sections import TelemetrySettings
from proxy.telemetry.otel import open_tracing
from tests.fakes import replies
from tests.fakes.collector import Collector, attributes
from tests.fakes.provider import FakeProvider
from tests.running import Running

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
SERVER, INTERNAL, CLIENT = 2, 1, 3


def ask(text: str = "Hello", *, stream: bool = False, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], "stream": stream, **more}


def serving(tmp_path: Path, provider: FakeProvider, collector: Collector, **sections: Any) -> Running:
    return Running(tmp_path, upstream=provider.base_url, telemetry={"otlp_endpoint": collector.url}, **sections)


@pytest.fixture(autouse=True)
def key_of_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20of-the-collector")


@pytest.mark.parametrize("stream", [False, True])
def test_request_is_a_span_tree_under_the_clients(tmp_path: Path, provider: FakeProvider, stream: bool) -> None:
    with Collector() as collector:
        with serving(tmp_path, provider, collector) as server:
            with server.http(traceparent=TRACEPARENT, tracestate="vendor=secret") as http:
                first = http.post("/chat/completions", json=ask("I use Shram as a productivity tool", stream=stream))
            server.wait_learned()
            with server.http(traceparent=TRACEPARENT, tracestate="vendor=secret") as http:
                body = ask("What productivity tool do I use", stream=stream, stream_options={"include_usage": True})
                second = http.post("/chat/completions", json=body if stream else ask("What productivity tool do I use"))
        assert (first.status_code, second.status_code) == (200, 200)
    # Fidelity: the provider gets the client's bytes.
    assert {(seen.header("traceparent"), seen.header("tracestate")) for seen in provider.seen} == {
        (TRACEPARENT, "vendor=secret")
    }
    roots = [span for span in collector.spans if span.kind == SERVER and span.name == "POST /v1/chat/completions"]
    assert [(span.trace_id.hex(), span.parent_span_id.hex()) for span in roots] == [(TRACE, PARENT)] * 2
    root = roots[1]
    told = attributes(root)
    assert told["http.route"] == "/v1/chat/completions"
    assert told["http.response.status_code"] == 200
    counted = [told[f"throughline.memory.{name}"] for name in ("outcome", "count", "tokens")]
    assert "{}; n={}; tokens={}".format(*counted) == second.headers["x-memory"]
    assert counted[0] == "used"
    assert told["throughline.receipt.id"] == second.headers["x-memory-receipt"]
    children = {span.name: span for span in collector.spans if span.parent_span_id == root.span_id}
    assert children.keys() >= {
        "throughline.recall", "throughline.assemble", "chat gpt-4o", "throughline.relay",
    }  # fmt: skip
    names = {span.name: span for span in collector.spans if span.trace_id.hex() == TRACE}
    recall = children["throughline.recall"]
    for step in ("throughline.embed", "throughline.search"):
        assert recall.span_id in {span.parent_span_id for span in collector.spans if span.name == step}
    assert "throughline.remember" in names
    for span in collector.spans:
        assert span.start_time_unix_nano <= span.end_time_unix_nano


def test_span_of_a_model_call_follows_the_conventions(tmp_path: Path, provider: FakeProvider) -> None:
    with Collector() as collector:
        with serving(tmp_path, provider, collector) as server, server.http() as http:
            answer = http.post("/chat/completions", json=ask(stream=True, stream_options={"include_usage": True}))
        assert answer.status_code == 200
    call = collector.named("chat gpt-4o")
    told = attributes(call)
    assert call.kind == CLIENT
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.provider.name"] == told["gen_ai.system"]
    assert told["gen_ai.request.model"] == "gpt-4o"
    assert told["gen_ai.response.model"] == "gpt-4o"
    assert told["gen_ai.response.finish_reasons"] == ["stop"]
    assert told["gen_ai.response.id"].startswith("chatcmpl")
    assert told["gen_ai.usage.input_tokens"] > 0
    assert told["gen_ai.usage.output_tokens"] > 0
    assert (told["server.address"], told["server.port"]) == ("127.0.0.1", provider.port)
    assert told["http.response.status_code"] == 200
    assert 0 < told["gen_ai.response.time_to_first_chunk"] < 60
    assert collector.services == {"throughline"}
    assert {headers["authorization"] for headers in collector.headers} == {"Bearer of-the-collector"}
    usage = collector.metrics["gen_ai.client.token.usage"]
    assert {point["gen_ai.token.type"]: point["sum"] for point in usage} == {
        "input": told["gen_ai.usage.input_tokens"],
        "output": told["gen_ai.usage.output_tokens"],
    }
    for name in ("gen_ai.client.operation.duration", "gen_ai.server.time_to_first_token"):
        (point,) = collector.metrics[name]
        assert point["sum"] > 0
        assert (point["gen_ai.request.model"], point["gen_ai.operation.name"]) == ("gpt-4o", "chat")


def test_learning_is_linked_to_the_request_behind_it(tmp_path: Path, provider: FakeProvider) -> None:
    with Collector() as collector, serving(tmp_path, provider, collector) as server:
        with server.http(traceparent=TRACEPARENT) as http:
            http.post("/chat/completions", json=ask("I use Shram as a productivity tool"))
        server.wait_learned()
    root = collector.named("POST /v1/chat/completions")
    index, learn = collector.named("throughline.index"), collector.named("throughline.learn")
    for job in (index, learn):
        assert [link.span_id for link in job.links] == [root.span_id]
        assert job.trace_id.hex() != TRACE
    assert attributes(index)["throughline.index.episodes"] == 2
    assert attributes(learn) | {"throughline.learn.add": 1} == attributes(learn)


def test_what_failed_says_how(tmp_path: Path, provider: FakeProvider) -> None:
    provider.then(replies.error(429, "slow down"))
    with Collector() as collector, serving(tmp_path, provider, collector) as server, server.http() as http:
        assert http.post("/chat/completions", json=ask()).status_code == 429
        assert http.post("/chat/completions", content=b"[]").status_code == 400
        assert http.post("/embeddings", json={"model": "text-embedding-3-small", "input": "x"}).status_code == 200
    call = collector.named("chat gpt-4o")
    assert (attributes(call)["error.type"], call.status.code) == ("429", 2)
    roots = [span for span in collector.spans if span.kind == SERVER and span.name == "POST /v1/chat/completions"]
    assert {attributes(span).get("error.type") for span in roots} == {None, "invalid_request"}
    assert "error.type" in collector.metrics["gen_ai.client.operation.duration"][0]
    embeddings = collector.named("embeddings text-embedding-3-small")
    assert attributes(embeddings)["gen_ai.operation.name"] == "embeddings"


def test_an_unsampled_parent_sends_nothing(tmp_path: Path, provider: FakeProvider) -> None:
    unsampled = f"00-{TRACE}-{PARENT}-00"
    with (
        Collector() as collector,
        serving(tmp_path, provider, collector) as server,
        server.http(traceparent=unsampled) as http,
    ):
        http.post("/chat/completions", json=ask())
    assert [span.name for span in collector.spans if span.kind != INTERNAL or span.trace_id.hex() == TRACE] == []


def test_without_an_endpoint_nothing_is_made(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, server.http(traceparent=TRACEPARENT) as http:
        assert http.post("/chat/completions", json=ask()).status_code == 200
        assert server.services.tracing is None
    assert provider.last.header("traceparent") == TRACEPARENT
    with Running(tmp_path / "b", upstream=provider.base_url) as server, server.http() as http:
        http.post("/chat/completions", json=ask())
    assert provider.last.header("traceparent") is None


def test_each_try_is_a_call_of_its_own(tmp_path: Path, provider: FakeProvider) -> None:
    provider.then(replies.error(503, "busy"))
    models = [
        {"model_name": "gpt-4o", "litellm_params": {"model": f"openai/{name}", "api_base": base, "api_key": "sk-x"}}
        for name, base in (("gpt-4o", provider.base_url), ("gpt-4o-spare", f"{provider.base_url}/"))
    ]
    with Collector() as collector:
        telemetry = {"otlp_endpoint": f"{collector.url}/"}
        running = Running(tmp_path, models=models, telemetry=telemetry, router_settings={"num_retries": 1})
        with running as server, server.http() as http:
            assert http.post("/chat/completions", json=ask()).status_code == 200
    calls = [attributes(span) for span in collector.spans if span.name == "chat gpt-4o"]
    assert [(call.get("error.type"), call["http.response.status_code"]) for call in calls] == [
        ("503", 503),
        (None, 200),
    ]
    assert [call["gen_ai.provider.name"] for call in calls] == ["openai", "openai"]


def test_opentelemetrys_own_variable_is_enough(
    tmp_path: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "chats")
        monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
        with Running(tmp_path, upstream=provider.base_url) as server, server.http() as http:
            http.post("/chat/completions", json=ask())
        assert collector.services == {"chats"}
        assert collector.metrics == {}
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert open_tracing(TelemetrySettings(), {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "x"}) is None


def test_a_missing_sdk_is_said_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[EventDict]
) -> None:
    settings = load_settings(flags={"telemetry": {"otlp_endpoint": "http://user:password@collector.example:4318"}})
    (fine,) = _telemetry(settings)
    assert fine.is_fine
    assert fine.text == "OpenTelemetry to collector.example"
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    assert open_tracing(settings.telemetry, {}) is None
    (line,) = [line for line in log_lines if line["log_level"] == "error"]
    (finding,) = _telemetry(settings)
    assert not finding.is_fine
    for text in (finding.text, line["mend"]):
        assert "pip install 'throughline[otel]'" in text
    assert _telemetry(load_settings()) == []
