"""No user's file waits until another user's long document is ingested."""

from __future__ import annotations

from tests.running import Running
from tests.shown.files import upload
from tests.talking import speaking

LONG = "\n\n".join(f"Keeper {number} of the pier wrote of lamp {number * 7} in the book." for number in range(30_000))


def test_short_file_is_read_beside_anothers_long_one(server: Running) -> None:
    with speaking(server) as alice, speaking(server) as ben:
        upload(alice, ("book.txt", LONG.encode()))
        upload(ben, ("note.txt", b"The ferry leaves at nine."))
        while ben.get("/state")["pending_media"]:
            pass
        assert ben.get("/documents")["data"][0]["status"] == "ready"
        assert alice.get("/documents")["data"][0]["status"] == "processing"
        alice.http.post("/erase").raise_for_status()
