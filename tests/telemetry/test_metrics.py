"""Prometheus: the counters, and that the dashboard and the sample query only existing metrics."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from prometheus_client import REGISTRY

from proxy.settings.load import environment
from proxy.telemetry import metrics
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.running import Running

DEPLOY = Path(__file__).resolve().parent.parent.parent / "deploy"
ASKED = {"model": "gpt-4o", "messages": [{"role": "user", "content": "I use Shram as a productivity tool"}]}


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"throughline_{name}", labels) or 0.0


class Since:
    """Counts since its creation, as the registry belongs to the process."""

    def __init__(self, *samples: tuple[str, dict[str, str]]) -> None:
        self._before = {self._key(name, labels): value(name, **labels) for name, labels in samples}

    def __call__(self, name: str, **labels: str) -> float:
        return value(name, **labels) - self._before[self._key(name, labels)]

    @staticmethod
    def _key(name: str, labels: dict[str, str]) -> Any:
        return name, tuple(sorted(labels.items()))


CHAT = {"route": "/v1/chat/completions"}
OK = {**CHAT, "model": "gpt-4o", "status": "200"}
COUNTED: list[tuple[str, dict[str, str]]] = [
    ("requests_total", {**OK, "memory": "none"}),
    ("requests_total", {**OK, "memory": "used"}),
    ("requests_total", {**OK, "memory": "off"}),
    ("requests_total", {**CHAT, "model": "gpt-4o", "status": "429", "memory": "off"}),
    ("requests_total", {**CHAT, "model": "other", "status": "404", "memory": "off"}),
    ("request_seconds_count", CHAT),
    ("first_byte_seconds_count", CHAT),
    ("first_token_seconds_count", {"model": "gpt-4o"}),
    ("tokens_total", {"model": "gpt-4o", "direction": "input"}),
    ("tokens_total", {"model": "gpt-4o", "direction": "output"}),
    ("upstream_seconds_count", {"provider": "openai"}),
    ("upstream_errors_total", {"provider": "openai", "status": "429"}),
    ("refusals_total", {"code": "model_not_found"}),
    ("injected_memories_total", {}),
    ("injected_tokens_total", {}),
    ("learn_lag_seconds_count", {}),
    ("job_seconds_count", {"kind": "learn"}),
    ("requests_in_flight", {}),
]


def test_what_operators_ask_for_is_counted(tmp_path: Path, provider: FakeProvider) -> None:
    since = Since(*COUNTED)
    models = [
        {
            "model_name": "gpt-4o",
            "litellm_params": {"model": "openai/gpt-4o", "api_base": provider.base_url, "api_key": "sk-x"},
        }
    ]
    with Running(tmp_path, models=models) as server:
        with server.http() as http:
            first = http.post("/chat/completions", json=ASKED)
        server.wait_learned()
        asked = {**ASKED, "messages": [{"role": "user", "content": "What productivity tool do I use"}]}
        with server.http() as http:
            second = http.post("/chat/completions", json={**asked, "stream": True})
            off = http.post("/chat/completions", json=ASKED, headers={"x-memory-mode": "off"})
            provider.then(replies.error(429))
            http.post("/chat/completions", json=ASKED, headers={"x-memory-mode": "off"})
            http.post("/chat/completions", json={**ASKED, "model": "made-up"})
    assert second.headers["x-memory"].startswith("used")
    for labels in (OK | {"memory": outcome} for outcome in ("none", "used", "off")):
        assert since("requests_total", **labels) == 1
    assert since("requests_total", **CHAT, model="gpt-4o", status="429", memory="off") == 1
    assert since("requests_total", **CHAT, model="other", status="404", memory="off") == 1
    assert since("request_seconds_count", **CHAT) == since("first_byte_seconds_count", **CHAT) == 5
    assert since("first_token_seconds_count", model="gpt-4o") == 1
    usage = [one.json()["usage"] for one in (first, off)]
    for direction, name in (("input", "prompt_tokens"), ("output", "completion_tokens")):
        assert since("tokens_total", model="gpt-4o", direction=direction) >= sum(one[name] for one in usage)
    assert since("upstream_seconds_count", provider="openai") == 4
    assert since("upstream_errors_total", provider="openai", status="429") == 1
    assert since("refusals_total", code="model_not_found") == 1
    count, tokens = re.findall(r"\d+", second.headers["x-memory"])
    assert (since("injected_memories_total"), since("injected_tokens_total")) == (int(count), int(tokens))
    assert since("learn_lag_seconds_count") >= 1
    assert since("job_seconds_count", kind="learn") >= 1
    assert since("requests_in_flight") == 0


def names(page: str) -> set[str]:
    return set(re.findall(r"^# TYPE (\w+)", page, re.MULTILINE))


@pytest.mark.parametrize("file", ["grafana.json", "prometheus.yml"])
def test_dashboard_and_alerts_ask_for_what_there_is(tmp_path: Path, file: str) -> None:
    with Running(tmp_path) as server:
        page = httpx.get(f"{server.origin}/metrics").text
    text = (DEPLOY / file).read_text()
    asked = {re.sub(r"_(bucket|count|sum)$", "", name) for name in re.findall(r"\bthroughline_\w+", text)}
    known = names(page) | {f"{name}_total" for name in names(page)}
    assert asked
    assert asked <= known
    if file == "grafana.json":
        drawn = {re.sub("_total$", "", name) for name in asked}
        assert {re.sub("_total$", "", name) for name in names(page) if name.startswith("throughline_")} - drawn == set()


def test_dashboards_labels_are_those_of_its_metrics() -> None:
    labels = {name: set(one._labelnames) for one in vars(metrics).values() if (name := getattr(one, "_name", ""))}
    for panel in orjson.loads((DEPLOY / "grafana.json").read_bytes())["panels"]:
        for target in panel["targets"]:
            for name in re.findall(r"throughline_\w+", target["expr"]):
                used = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
                assert used <= labels[re.sub("_(total|bucket|count|sum)$", "", name)], target


def test_processes_put_their_metrics_together(tmp_path: Path) -> None:
    code = """
import os, sys
from proxy.telemetry import metrics
if sys.argv[1] == "count":
    metrics.REFUSALS.labels("x").inc(); metrics.IN_FLIGHT.inc()
else:
    print(metrics.metrics_page().decode())
"""
    environ = {**environment(), "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, "count"], check=True, env=environ)
    done = subprocess.run([sys.executable, "-c", code, "show"], check=True, env=environ, capture_output=True, text=True)
    assert 'throughline_refusals_total{code="x"} 2.0' in done.stdout
    assert "throughline_requests_in_flight 2.0" not in done.stdout  # their processes have ended
