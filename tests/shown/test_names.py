"""The same bytes under several names are one document, shown under the name that a request uses."""

from __future__ import annotations

import base64

import pytest

from tests.fakes.provider import FakeProvider
from tests.media.made import pdf
from tests.running import Running
from tests.shown.files import show, upload, wait_read
from tests.shown.standins import written
from tests.talking import Message, Speaker, speaking, user

TEXT = b"The lamp at the north pier is called Velorum and burns for nineteen seconds."
PAGE = pdf("# Lease\nThe deposit for Gelmar Street is 1850 euros.")
SHEET = b"Name;Amount\nVelorum;19\nTrenk;23\n"


def asked(question: str, part: Message) -> list[Message]:
    return [{"role": "user", "content": [{"type": "text", "text": question}, part]}]


def by_id(file: Message) -> Message:
    return {"type": "file", "file": {"file_id": file["id"]}}


def carried(upstream: FakeProvider) -> str:
    return str(upstream.last.json["messages"][-1]["content"])


@pytest.mark.parametrize("data", [TEXT, PAGE], ids=["text", "pdf"])
def test_upload_reaches_the_model_under_its_name(alice: Speaker, upstream: FakeProvider, data: bytes) -> None:
    ending = "pdf" if data == PAGE else "txt"
    first, second = (upload(alice, (f"{name}.{ending}", data)) for name in ("pier", "harbour"))
    assert first["document_id"] == second["document_id"]
    for name, file in (("harbour", second), ("pier", first)):
        alice.post(asked("What is it?", by_id(file)))
        assert f"{name}.{ending}" in carried(upstream)
        assert ("pier" if name == "harbour" else "harbour") + f".{ending}" not in carried(upstream)


def test_second_name_of_a_file_is_found(alice: Speaker, upstream: FakeProvider) -> None:
    show(alice, ("accounts.csv", SHEET))
    document = show(alice, ("ledger.csv", SHEET))
    assert (document["name"], document["names"]) == ("accounts.csv", ["accounts.csv", "ledger.csv"])
    assert len(alice.get("/documents")["data"]) == 1
    assert document["status"] == "ready"
    assert alice.get("/state")["pending_vectors"] == 0
    for name in ("ledger.csv", "accounts.csv"):
        alice.post([user(f"What is in {name}?")])
        assert "accounts.csv / ledger.csv" in carried(upstream)
        assert "Trenk" in carried(upstream)


def test_second_name_of_an_image_is_found(alice: Speaker, upstream: FakeProvider) -> None:
    data = written("Nasturtium seedlings", "Watering schedule")
    show(alice, ("garden.png", data))
    image = show(alice, ("balcony.png", data))
    assert image["names"] == ["garden.png", "balcony.png"]
    alice.post([user("What does the picture balcony.png show?")])
    assert "balcony.png" in carried(upstream)


def test_file_sent_in_a_chat_keeps_both_names(alice: Speaker, upstream: FakeProvider) -> None:
    show(alice, ("accounts.csv", SHEET))
    url = f"data:text/csv;base64,{base64.b64encode(SHEET).decode()}"
    part = {"type": "file", "file": {"filename": "till.csv", "file_data": url}}
    response = alice.post(asked("Sum it up.", part), model="gpt-4o")
    assert alice.receipt(response)["attachments"][0]["action"] == "kept"
    wait_read(alice)
    assert alice.get("/documents")["data"][0]["names"] == ["accounts.csv", "till.csv"]


def test_deleted_upload_takes_only_its_name_along(alice: Speaker, upstream: FakeProvider) -> None:
    first, second = (upload(alice, (name, SHEET)) for name in ("accounts.csv", "ledger.csv"))
    wait_read(alice)
    assert alice.http.delete(f"/files/{first['id']}").json()["deleted"]
    wait_read(alice)
    document = alice.get(f"/documents/{second['document_id']}")
    assert (document["name"], document["names"]) == ("ledger.csv", ["ledger.csv"])
    alice.post([user("What is in ledger.csv?")])
    assert "Trenk" in carried(upstream)
    assert "accounts.csv" not in carried(upstream)
    assert alice.http.delete(f"/files/{second['id']}").json()["deleted"]
    assert alice.get("/documents")["data"] == []


def test_same_name_with_other_bytes_is_another_document(alice: Speaker, upstream: FakeProvider) -> None:
    for amount in (b"19", b"23"):
        show(alice, ("rent.txt", b"The rent of the lighthouse Velorum is " + amount + b" crowns a month."))
    assert [one["names"] for one in alice.get("/documents")["data"]] == [["rent.txt"], ["rent.txt"]]
    alice.post([user("What is the rent in rent.txt?")])
    assert "19 crowns" in carried(upstream)
    assert "23 crowns" in carried(upstream)


def test_names_of_another_user_stay_theirs(server: Running, alice: Speaker, upstream: FakeProvider) -> None:
    show(alice, ("accounts.csv", SHEET))
    with speaking(server) as bob:
        assert show(bob, ("secret-merger.csv", SHEET))["names"] == ["secret-merger.csv"]
    assert alice.get("/documents")["data"][0]["names"] == ["accounts.csv"]


def test_name_given_in_a_project_stays_there(alice: Speaker, upstream: FakeProvider) -> None:
    project = {"x_memory_project": "Merger"}
    general = upload(alice, ("accounts.csv", SHEET))
    wait_read(alice)
    inside = upload(alice, ("secret-merger.csv", SHEET), **project)
    wait_read(alice)
    alice.post(asked("What is it?", by_id(inside)), **project)
    assert "secret-merger.csv" in carried(upstream)
    [document] = alice.get("/documents")["data"]
    assert document["names"] == ["accounts.csv"]
    alice.post([user("What is in accounts.csv?")])
    assert "Trenk" in carried(upstream)
    assert "secret-merger" not in carried(upstream)
    assert alice.http.delete(f"/files/{inside['id']}", headers={"x-memory-project": "Merger"}).json()["deleted"]
    wait_read(alice)
    assert alice.get(f"/documents/{general['document_id']}")["names"] == ["accounts.csv"]
