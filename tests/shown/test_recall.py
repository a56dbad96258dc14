"""Files of one conversation are recalled in a later one."""

from __future__ import annotations

import io

from pptx import Presentation

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.shown.files import show
from tests.talking import speaking

NOTES = (
    "# Harbour lamps\n\nThe lamp at the north pier is called Velorum and burns for nineteen seconds.\n\n"
    "# Keepers\n\nThe keeper of the lamp changes every second Tuesday.\n"
)


def test_text_file_is_recalled_in_later_chats(server: Running, upstream: FakeProvider) -> None:
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


def test_page_is_preferred_over_an_unnamed_file(server: Running, upstream: FakeProvider) -> None:
    deck = Presentation()
    for colour in ("amber", "green", "violet", "white"):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"The {colour} lamp"
        slide.placeholders[1].text = f"The {colour} lamp of the harbour burns in the night for the ships."
    file = io.BytesIO()
    deck.save(file)
    with speaking(server) as speaker:
        assert show(speaker, ("harbour.pptx", file.getvalue()))["status"] == "ready"
        response = speaker.say("What does page 3 say about the lamp that burns in the night?")
        assert "violet lamp" in speaker.receipt(response)["injected"][0]["text"]
