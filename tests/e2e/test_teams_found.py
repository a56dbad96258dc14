"""Teams: each way to look for memories shows others' shared memories, and nothing else of theirs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.office import ASKED, DEPLOYS, PRIVATE, Office, asked, found, looked_up, tool
from tests.fakes.provider import FakeProvider
from tests.talking import Speaker, speaking

WAYS: dict[str, Callable[[Speaker, FakeProvider], object]] = {
    "chat": asked,
    "recall tool": looked_up,
    "search": lambda speaker, _: found(speaker),
    "team list": lambda speaker, _: [
        speaker.get(f"/teams/{one['id']}/memories") for one in speaker.get("/teams")["data"]
    ],
    "all teams": lambda speaker, _: speaker.get("/teams/*/memories"),
    "MCP recall": lambda speaker, _: tool(speaker, "recall", query=ASKED),
    "MCP list": lambda speaker, _: tool(speaker, "list_memories"),
    "MCP query": lambda speaker, _: tool(speaker, "list_memories", query=ASKED),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_shows_what_is_shared_alone(staff: Office, upstream: FakeProvider, way: str) -> None:
    look = WAYS[way]
    staff.anna.tell(f"{PRIVATE}. {DEPLOYS}.")
    told = [f"We deploy the {name} service on Fridays" for name in ("mailing", "search")]
    with speaking(staff.anna.server, staff.anna.key, x_memory_project="atlas") as there:
        for text in told:
            there.http.post("/memories", json={"text": text}).raise_for_status()
    assert "billing service on" not in str(look(staff.ben, upstream)).replace(ASKED, "")
    shared = staff.share()
    shown = str(look(staff.ben, upstream))
    assert DEPLOYS in shown
    assert "anna" in shown
    for hidden in ("61,400", "Fridays", shared["memory"]):
        assert hidden not in shown
    for stranger in (staff.carl, staff.dora):
        assert DEPLOYS not in str(look(stranger, upstream))
    staff.anna.http.post(f"/memories/{shared['memory']}/unshare", json={"team": "billing"}).raise_for_status()
    assert DEPLOYS not in str(look(staff.ben, upstream))


def test_author_finds_own_memory_as_their_own(staff: Office) -> None:
    staff.anna.tell(DEPLOYS)
    staff.share()
    assert found(staff.anna) == []
    assert "shared" not in tool(staff.anna, "list_memories")["structuredContent"]


def test_searches_keep_to_what_they_are_asked(staff: Office) -> None:
    staff.anna.tell(DEPLOYS)
    staff.share()
    assert [one["author"] for one in found(staff.ben)] == ["anna"]
    assert found(staff.ben, sources=["episode", "chunk"]) == []
    assert found(staff.ben, as_of="2026-01-01T00:00:00Z") == []
    assert found(staff.ben, "What do you know about me?") == []
    assert found(staff.ben, "How do I bake sourdough bread?") == []
