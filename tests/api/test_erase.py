"""``POST /v1/erase``: no file has anything of the scope, and other users are not affected."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.shown.files import wait_read
from tests.talking import Speaker, speaking


def files_with(folder: Path, word: str) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and word.encode() in path.read_bytes()
    ]


def fill(speaker: Speaker) -> None:
    """Write to every store: turns, memories, an ending, a summary, a document, a receipt."""
    speaker.tell("My brother lives in Zanzibar", x_memory_session="one")
    speaker.tell("I am allergic to Ambergris", "What does Quillfeather mean?", x_memory_session="two")
    speaker.http.post("/sessions/two/end").raise_for_status()
    speaker.http.post("/memories", json={"text": "My boat is called Wobbegong"}).raise_for_status()
    speaker.http.post("/memories/forget", json={"text": "Ambergris"}).raise_for_status()
    speaker.say("Where does my brother live?", x_memory_session="three")
    upload = {"file": ("quillfeather.txt", b"The Quillfeather is a bird of Zanzibar. " * 40, "text/plain")}
    speaker.http.post("/documents", files=upload).raise_for_status()
    wait_read(speaker)


def block(speaker: Speaker, provider: FakeProvider, question: str) -> str:
    speaker.say(question, x_memory_mode="read")
    return str(provider.last.json["messages"])


def test_erasure_leaves_no_bytes_and_touches_no_others(tmp_path: Path) -> None:
    with FakeProvider() as provider:
        provider.script(agreeing)
        with (
            Running(tmp_path, upstream=provider.base_url) as server,
            speaking(server) as alice,
            speaking(server) as ben,
        ):
            fill(alice)
            ben.tell("My sister lives in Tromsø", "I am allergic to Ambergris")
            question = "Where does my sister live, and what am I allergic to?"
            before, exported = block(ben, provider, question), ben.memories(status="all")
            assert "Tromsø" in before
            assert files_with(tmp_path, "Zanzibar")
            receipt = alice.http.post("/erase", params={"verify": "true"})
            assert receipt.status_code == 200, receipt.text
            erased = receipt.json()
            assert erased["erased"]["rows"]["memories"] > 0
            assert erased["erased"]["rows"]["chunks"] > 0
            assert erased["erased"]["database"]["journal"] > 0
            assert erased["erased"]["files"]["files"] == 1
            assert erased["scrubbed"]
            proof = erased["verification"]
            assert proof["found"] == 0, proof
            assert proof["texts"] > 10
            assert proof["files"] > 3
            assert proof["bytes"] > 100_000
            for word in ("Zanzibar", "Quillfeather", "Wobbegong", "quillfeather.txt"):
                assert files_with(tmp_path, word) == []
            assert alice.memories(status="all") == []
            assert alice.sessions() == []
            assert alice.get("/state")["memories"] == {}
            assert "Zanzibar" not in block(alice, provider, "Where does my brother live?")
            assert block(ben, provider, question) == before
            assert ben.memories(status="all") == exported


def test_erasing_an_agent_leaves_the_users_other_memory(server: Running, alice: Speaker) -> None:
    alice.tell("My brother lives in Bergamo")
    with speaking(server, alice.key, x_memory_agent="tutor") as tutor:
        tutor.tell("My cousin lives in Paramaribo")
        receipt = tutor.http.post("/erase", params={"verify": "true"}).json()
        assert receipt["erased"]["rows"]["memories"] == 1
        assert receipt["verification"]["found"] == 0, receipt
        assert tutor.texts(status="all") == {"My brother lives in Bergamo"}
    assert alice.texts() == {"My brother lives in Bergamo"}
    assert files_with(server.settings.server.data_dir, "Paramaribo") == []


def test_proof_names_equal_words_of_another_user(server: Running, alice: Speaker) -> None:
    sentence = "My aunt sells marmalade in Valparaiso"
    alice.tell(sentence)
    with speaking(server) as ben:
        ben.tell(sentence)
        proof = alice.http.post("/erase", params={"verify": "true"}).json()["verification"]
        assert (proof["found"], proof["of_others"] > 0) == (0, True), proof
        assert ben.texts() == {sentence}
