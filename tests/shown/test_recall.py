"""What was shown in one conversation is found in a later one."""

from __future__ import annotations

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.shown.files import show
from tests.talking import speaking

NOTES = (
    "# Harbour lamps\n\nThe lamp at the north pier is called Velorum and burns for nineteen seconds.\n\n"
    "# Keepers\n\nThe keeper of the lamp changes every second Tuesday.\n"
)


def test_a_text_file_is_recalled_in_a_later_chat(server: Running, upstream: FakeProvider) -> None:
    with speaking(server) as speaker:
        document = show(speaker, ("harbour-notes.md", NOTES.encode()))
        assert document["status"] == "ready", document
        assert document["fraction"] == 1.0
        response = speaker.say("How long does the lamp at the north pier burn?")
        sent = upstream.last.json["messages"][-1]["content"]
        assert "nineteen seconds" in sent
        assert "harbour-notes.md" in sent
        entries = speaker.receipt(response)["injected"]
        assert [entry["source"] for entry in entries] == ["chunk"]
        assert "nineteen seconds" in entries[0]["text"]
