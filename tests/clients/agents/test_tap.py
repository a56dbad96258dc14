"""The byte relay between an agent and the server."""

from __future__ import annotations

import gzip
from pathlib import Path

import httpx
import pytest

from proxy.settings.load import environment
from tests.clients.agents.catalog import AGENTS, OPEN_WEBUI, Agent
from tests.clients.agents.tap import Tap
from tests.clients.agents.terminal import run
from tests.fakes.provider import FakeProvider


def test_every_exchange_is_kept_as_sent() -> None:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "Hello"}]}'
    with FakeProvider() as provider, Tap(provider.port) as tap, httpx.Client(base_url=tap.origin) as http:
        assert http.post("/v1/chat/completions", content=body).status_code == 200
        assert http.post("/v1/chat/completions", content=b"{}").status_code == 400
        http.post("/v1/other", content=gzip.compress(body), headers={"Content-Encoding": "gzip"})
        with http.stream("POST", "/v1/chat/completions", content=body[:-1] + b', "stream": true}') as reply:
            assert b"[DONE]" in reply.read()
        kept = tap.exchanges()
        assert [seen.body for seen in provider.seen] == [one.request.body for one in kept]
    assert [one.status for one in kept] == [200, 400, 200, 200]
    assert [one.place for one in kept] == [(0, at) for at in range(4)]
    assert kept[2].body == body
    assert kept[0].headers["x-request-id"] == "req_fake"


def test_terminal_program_ends_once_it_shows_something(tmp_path: Path) -> None:
    command = ["sh", "-c", "test -t 1 && echo on a terminal; sleep 600"]
    code, output = run(command, tmp_path, environment(), lambda seen: "on a terminal" in seen, 60)
    assert (code, output.strip()) == (0, "on a terminal")
    assert run(["true"], tmp_path, environment(), lambda seen: False, 60)[0] == -1


@pytest.mark.parametrize("agent", [*AGENTS, OPEN_WEBUI], ids=lambda agent: agent.name)
def test_every_agent_is_pinned(agent: Agent) -> None:
    for package in agent.packages:
        version = package.partition("==")[2] or package.rpartition("@")[2]
        assert version[:1].isdigit(), package
        assert "://" not in package
