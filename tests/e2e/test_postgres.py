"""With a Postgres of its own, everything goes as it does on SQLite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.fakes.postgres import postgres
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Speaker, new_key, speaking

__all__ = ["postgres"]


def injected(speaker: Speaker, provider: FakeProvider, text: str) -> str:
    speaker.say(text)
    return str(provider.last.json["messages"][-1]["content"])


def test_it_learns_forgets_and_outlives_a_restart(
    tmp_path: Path, provider: FakeProvider, postgres: Callable[[str], str]
) -> None:
    provider.script(agreeing)
    key, question = new_key(), "What are the productivity tools that I use?"
    options = {"upstream": provider.base_url, "store": {"database_url": postgres("template1")}}
    with Running(tmp_path, **options) as server, speaking(server, key) as anne:
        told = anne.tell("I use Shram and Magnet as productivity tools.")
        assert anne.texts() == {"I use Shram as productivity tools.", "I use Magnet as productivity tools."}
        assert anne.receipt(told)["learned"]
        assert "Magnet" in injected(anne, provider, question)
    with Running(tmp_path, **options) as server, speaking(server, key) as anne, speaking(server) as ben:
        assert anne.texts() == {"I use Shram as productivity tools.", "I use Magnet as productivity tools."}
        gone = anne.tell("I don't use Magnet anymore.")
        assert anne.texts() == {"I use Shram as productivity tools."}
        sent = injected(anne, provider, question)
        assert "Shram" in sent
        assert "Magnet" not in sent
        assert "Shram" not in injected(ben, provider, question)
        assert ben.sessions() != []
        assert ben.memories() == []
        session = gone.headers["x-memory-session"]
        assert anne.http.post(f"/sessions/{session}/end").json()["ended_at"]
        assert anne.http.delete(f"/sessions/{session}").status_code == 200
        assert session not in {one["id"] for one in anne.sessions()}
    assert not list(tmp_path.glob("*.db"))
