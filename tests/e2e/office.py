"""Members of a team and outsiders on one server, and the ways to look for shared memories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.e2e.test_recall_tool import Model, call
from tests.e2e.test_tenants_keys import made
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Message, Speaker, speaking

DEPLOYS = "We deploy the billing service on Thursdays"
PRIVATE = "I earn 61,400 crowns a month"
ASKED = "On which day do we deploy the billing service?"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    with Running(
        tmp_path_factory.mktemp("office"), upstream=lasting_provider.base_url, auth={"mode": "keys"}
    ) as running:
        yield running


class Office:
    """Anna and Ben of one team, Carl of their tenant without a team, Dora of another tenant with a team of that name."""

    def __init__(self, server: Running, stack: ExitStack) -> None:
        anna, key = made(server, user="anna", teams=["billing"])
        ben, _ = made(server, user="ben", tenant=key.tenant, teams=["billing", "tea"])
        carl, _ = made(server, user="carl", tenant=key.tenant)
        dora, _ = made(server, user="dora", teams=["billing"])
        self.anna, self.ben, self.carl, self.dora = (
            stack.enter_context(speaking(server, text)) for text in (anna, ben, carl, dora)
        )

    def share(self, text: str = DEPLOYS, team: str = "billing") -> Message:
        """Share Anna's memory of this text."""
        (memory,) = [one for one in self.anna.memories() if one["text"].rstrip(".") == text]
        response = self.anna.http.post(f"/memories/{memory['id']}/share", json={"team": team})
        assert response.status_code == 200, response.text
        return dict(response.json())


@pytest.fixture
def staff(office: Running) -> Iterator[Office]:
    with ExitStack() as stack:
        yield Office(office, stack)


def asked(speaker: Speaker, upstream: FakeProvider, text: str = ASKED, **headers: str) -> str:
    """Ask in a new conversation and return the provider's messages."""
    speaker.say(text, **headers)
    return str(upstream.last.json["messages"])


def shared_of(speaker: Speaker, team: str = "billing") -> list[Message]:
    return list(speaker.get(f"/teams/{team}/memories")["data"])


def found(speaker: Speaker, text: str = ASKED, **body: Any) -> list[Message]:
    """Return the memories of other authors in a search."""
    response = speaker.http.post("/memories/search", json={"query": text, "limit": 200, **body})
    assert response.status_code == 200, response.text
    return [one for one in response.json()["data"] if "author" in one]


def tool(speaker: Speaker, name: str, **arguments: Any) -> Any:
    """Call a tool over MCP."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    accepted = {"accept": "application/json, text/event-stream"}
    response = speaker.http.post(f"{speaker.server.origin}/mcp", json=asked, headers=accepted)
    assert response.status_code == 200, response.text
    return response.json()["result"]


def looked_up(speaker: Speaker, upstream: FakeProvider, text: str = ASKED) -> str:
    """Return the ``recall`` tool's result for a model."""
    model = Model()
    model.rounds = [[call("recall", json.dumps({"query": text}))]]
    upstream.script(model)
    sent = {"X_Memory_Tools": "on", "X_Memory_Budget": "0"}
    told = speaker.post([{"role": "user", "content": "And now?"}], **sent).json()["choices"][0]["message"]["content"]
    upstream.clear()
    upstream.script(agreeing)
    return str(told)
