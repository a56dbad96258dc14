"""A sample of the requests of ``python -m tests.fuzz``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog

from tests.fakes.provider import FakeProvider
from tests.fuzz.fields import BODIES, every_field
from tests.fuzz.run import ask_all, fuzz, sturdy
from tests.running import Running

SAMPLE = {"chat": 5, "responses": 5, "messages": 5}  # every n-th request; of other endpoints all


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with FakeProvider() as provider:
        provider.script(sturdy)
        with Running(tmp_path_factory.mktemp("data"), upstream=provider.base_url) as running:
            yield running


def test_nothing_is_answered_by_an_error_of_ours(server: Running) -> None:
    findings = fuzz(server.origin, 300)
    assert findings.failures == []
    assert findings.statuses[200] > 50


@pytest.mark.parametrize("name", BODIES)
def test_every_field_may_be_of_any_kind(
    server: Running, name: str, log_lines: list[structlog.typing.EventDict]
) -> None:
    with server.http("sk-fuzz-fields") as http:
        memory = http.post("/memories", json={"text": f"I know {name}"}).json()["id"]
        method, path, body = BODIES[name]
        unchanged = http.request(method, f"{server.origin}{path.format(id=memory)}", json=body)
    assert unchanged.status_code in (200, 404), unchanged.text
    findings = ask_all(server.origin, every_field(name, memory, of=SAMPLE.get(name, 1)))
    assert findings.failures == []
    assert findings.statuses.total() >= 16
    assert [line for line in log_lines if line["log_level"] in ("error", "critical")] == []


def test_memory_works_after_all_of_it(server: Running) -> None:
    server.wait_learned("sk-fuzz-fields")
    with server.http("sk-fuzz-after") as http:
        http.post("/memories", json={"text": "I like green tea"})
        found = http.post("/memories/search", json={"query": "green tea"}).json()["data"]
    assert found[0]["text"] == "I like green tea"
