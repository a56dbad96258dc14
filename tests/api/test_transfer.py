"""``/v1/export``, ``/v1/import`` and ``/v1/jobs`` over HTTP: exports return, and other programs' files are read."""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.provider import FakeProvider
from tests.media.made import png
from tests.running import Running
from tests.serving import agreeing
from tests.shown.files import wait_read
from tests.talking import Message, Speaker, speaking

QUESTIONS = (
    "Where does my sister live?",
    "What does my flat look like, and which colour has its door?",
    "¿Qué no puede comer Vera?",
    "Wo arbeite ich?",
    "How long does the lamp of the harbour burn?",
    "Which instrument do I play?",
    "What am I allergic to?",
)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as one:
        one.script(agreeing)
        yield one


def done(speaker: Speaker, job: Message) -> Message:
    """Return a job once it has ended."""
    while job["status"] in ("queued", "running"):
        time.sleep(0.02)
        job = speaker.get(f"/jobs/{job['id']}")
    return job


def bring(speaker: Speaker, content: bytes, **params: Any) -> Message:
    response = speaker.http.post("/import", content=content, params=params)
    assert response.status_code == 202, response.text
    return done(speaker, response.json())


def taken_out(speaker: Speaker) -> bytes:
    response = speaker.http.get("/export")
    assert response.status_code == 200, response.text
    return response.content


def live(speaker: Speaker) -> None:
    """Write to every store: turns, memories, an ending, a link, a summary, a document, a picture."""
    speaker.tell("My sister Ylva lives in Tromsø.", x_memory_session="one", x_memory_time="2026-03-01T10:00:00Z")
    speaker.tell("My flat has a green door.", "And it is on the third floor.", x_memory_time="2026-03-02T10:00:00Z")
    speaker.tell("My flat has a blue door now.", x_memory_time="2026-03-12T10:00:00Z")
    speaker.tell("Mi hija Vera es celíaca.", x_memory_time="2026-03-03T10:00:00Z")
    speaker.tell("Ich arbeite als Tischlerin in Lübeck.", x_memory_time="2026-03-04T10:00:00Z")
    speaker.tell("I use Shram and Magnet.", x_memory_time="2026-03-05T10:00:00Z")
    speaker.tell("I don't use Magnet anymore.", x_memory_time="2026-03-06T10:00:00Z")
    speaker.tell("The atlas listens on port 4711.", x_memory_project="atlas", x_memory_time="2026-03-07T10:00:00Z")
    speaker.http.post("/agents", json={"name": "gardener", "private": True}).raise_for_status()
    speaker.tell("I water the ferns on Mondays.", x_memory_agent="gardener", x_memory_time="2026-03-08T10:00:00Z")
    speaker.http.post("/sessions/one/end").raise_for_status()
    speaker.http.post("/memories", json={"text": "I play the theorbo", "pinned": True}).raise_for_status()
    speaker.http.post("/memories", json={"text": "I am allergic to hazelnuts"}).raise_for_status()
    speaker.http.post("/memories/forget", json={"text": "hazelnuts"}).raise_for_status()
    text = b"# Harbour\n\nThe lamp of the harbour burns for nineteen seconds.\n"
    speaker.http.post("/documents", files={"file": ("harbour.md", text)}).raise_for_status()
    speaker.http.post("/documents", files={"file": ("sea.png", png(64, 64))}).raise_for_status()
    wait_read(speaker)
    speaker.wait()


def blocks(speaker: Speaker, provider: FakeProvider) -> list[str]:
    found = []
    for question in QUESTIONS:
        speaker.say(question, x_memory_mode="read", x_memory_time="2026-05-01T10:00:00Z")
        found.append(json.dumps(provider.last.json["messages"], ensure_ascii=False))
    for question, named in (
        ("Which port does the atlas listen on?", {"x_memory_project": "atlas"}),
        ("When do I water the ferns?", {"x_memory_agent": "gardener"}),
    ):
        speaker.say(question, x_memory_mode="read", x_memory_time="2026-05-01T10:00:00Z", **named)
        found.append(json.dumps(provider.last.json["messages"], ensure_ascii=False))
    return found


def test_export_comes_back_on_another_server_after_erasure(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path / "old", upstream=provider.base_url) as old, speaking(old) as alice:
        live(alice)
        before = blocks(alice, provider)
        exported = taken_out(alice)
        projects = [one["name"] for one in alice.get("/projects")["data"]]
        listed, images = alice.memories(status="all"), alice.get("/images")["data"]
        alice.http.post("/erase").raise_for_status()
        assert alice.memories(status="all") == []
    with Running(tmp_path / "new", upstream=provider.base_url) as new, speaking(new) as alice:
        job = bring(alice, exported)
        assert (job["status"], job["error"], job["format"]) == ("done", None, "throughline")
        assert job["progress"]["done"] == job["progress"]["total"] > 20
        assert blocks(alice, provider) == before
        assert "Tromsø" in before[0]
        assert "blue door" in before[1]
        assert "hazelnut" not in before[6]
        assert "4711" in before[7]
        assert "Mondays" in before[8]
        assert {one["id"]: one["text"] for one in alice.memories(status="all")} == {
            one["id"]: one["text"] for one in listed
        }
        assert [one["name"] for one in alice.get("/projects")["data"]] == projects == ["atlas"]
        (image,) = alice.get("/images")["data"]
        assert image["id"] == images[0]["id"]
        assert alice.http.get(f"/images/{image['id']}/content").content == png(64, 64)
        again = bring(alice, exported)
        assert (again["status"], sum(again["counts"].values()) - again["counts"].get("blobs", 0)) == ("done", 0)
        assert blocks(alice, provider) == before
        assert not list((tmp_path / "new" / "imports").rglob("job_*"))


def test_damaged_export_is_refused_before_anything_is_stored(server: Running) -> None:
    with speaking(server) as alice, speaking(server) as ben:
        alice.tell("My sister Ylva lives in Tromsø.")
        exported = taken_out(alice)
        lines = exported.splitlines(keepends=True)
        later = json.dumps({**json.loads(lines[0]), "version": 99}).encode() + b"\n"
        for broken, why in [
            (b"".join(lines[:-1]), "broke off"),
            (b"".join([*lines[:2], *lines[3:]]), "checksum"),
            (exported.replace("Tromsø".encode(), b"Berlin!"), "checksum"),
            (b"".join([later, *lines[1:]]), "version 99"),
        ]:
            job = bring(ben, broken)
            assert job["status"] == "failed"
            assert why in job["error"]
        assert ben.memories(status="all") == []


def chat_node(id_: str, parent: str | None, role: str, text: str, at: float, **more: Any) -> Message:
    content = {"content_type": "text", "parts": [text]}
    message = {"id": id_, "author": {"role": role}, "create_time": at, "content": content, "recipient": "all", **more}
    return {"id": id_, "message": message, "parent": parent, "children": []}


CHATGPT: Any = [
    {
        "title": "Move",
        "conversation_id": "c-1",
        "create_time": 1767261600.0,
        "current_node": "d",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
            "a": chat_node("a", "root", "user", "I moved to Porto last week.", 1767261600.0),
            "x": chat_node("x", "a", "assistant", "A reply that was regenerated.", 1767261601.0),
            "b": chat_node("b", "a", "assistant", "Congratulations!", 1767261602.0),
            "c": chat_node("c", "b", "user", "My password is hunter2-Zebra-91! and I love fado.", 1767261700.0),
            "d": chat_node("d", "c", "assistant", "Fado is lovely.", 1767261702.0),
        },
    }
]
CLAUDE: Any = [
    {
        "uuid": "u-1",
        "name": "Dog",
        "created_at": "2026-01-05T10:00:00Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "My dog is called Bramble.", "created_at": "2026-01-05T10:00:00Z",
             "content": [{"type": "text", "text": "My dog is called Bramble."}],
             "attachments": [{"file_name": "vet.txt", "extracted_content": "Bramble weighs 14 kilograms."}]},
            {"uuid": "m2", "sender": "assistant", "text": "Lovely name.", "created_at": "2026-01-05T10:00:05Z"},
        ],
    }
]  # fmt: skip
MEM0: Any = {
    "results": [{"id": "1", "memory": "Plays chess on Thursdays", "user_id": "u", "created_at": "2025-11-01T08:00:00Z"}]
}


def zipped(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return made.getvalue()


def changed(archive: bytes, *, at: int, to: bytes) -> bytes:
    """Return a zip archive with bytes of its first entry overwritten, also in its directory if the field is there."""
    directory = archive.index(b"PK\x01\x02") + at + 2
    made = bytearray(archive)
    made[at : at + len(to)] = to
    if at < 30:  # inside the entry's header
        made[directory : directory + len(to)] = to
    return bytes(made)


MEMORY: Message = {"id": "mem_" + "0" * 24, "kind": "fact", "text": "I play the bassoon."}
TIMED: Message = {**MEMORY, **dict.fromkeys(("created_at", "updated_at", "valid_from"), 1767261600000)}

SHOWN: Message = {
    "id": "doc_1",
    "name": "a.txt",
    "media_type": "text/plain",
    "size_bytes": 1,
    "sha256": "0" * 64,
    "created_at": 1767261600000,
    "status": "ready",
}
RECEIPT: Message = {"id": "rcpt_1", "agent": "", "session": "", "created_ms": 1}
ASKED: Message = {"id": "rcpt_1", "created_at": "2026-01-01T00:00:00Z"}
PROJECT: Message = {"id": "p", "agent": ".p", "name": "atlas", "created_ms": 1, "last_ms": 1}


def of_file(**changes: Any) -> Message:
    """Return the exported row of a document, with a changed body."""
    row = {"id": "doc_1", "agent": "", "kind": "document", "sha256": "0" * 64, "status": "ready", "attempts": 0}
    return {"type": "media", "value": {**row, "created_ms": 1, "due_ms": 1, "body": {**SHOWN, **changes}}}


def exported(*entries: Message) -> bytes:
    """Return an export in this server's format, with entries that it would not write."""
    head = {"format": "throughline.export", "version": 1, "owner": "0" * 32, "counts": {"memories": "many"}}
    lines = b"".join(json.dumps(line).encode() + b"\n" for line in (head, *entries))
    return lines + json.dumps({"type": "end", "sha256": hashlib.sha256(lines).hexdigest()}).encode() + b"\n"


def test_chatgpt_export_is_learned_at_its_own_times(server: Running) -> None:
    with speaking(server) as alice:
        for content in (
            json.dumps(CHATGPT).encode(),
            zipped("export/conversations.json", json.dumps(CHATGPT).encode()),
        ):
            job = bring(alice, content)
            assert (job["status"], job["format"]) == ("done", "chatgpt")
        assert alice.http.get("/jobs").json()["data"][1]["counts"] == {"conversations": 1, "turns": 2}
        assert job["counts"] == {"conversations": 0, "turns": 0}  # the same conversation, imported again
        (moved,) = [one for one in alice.memories() if "Porto" in one["text"]]
        assert moved["valid_from"].startswith("2026-01-01T10:00:00")
        assert job["notes"] == ["conversation 'Move', message 3: a secret was left out"]
        said = json.dumps(alice.memories(status="all")) + json.dumps(alice.get("/sessions"))
        assert "hunter2" not in said
        found = alice.http.post("/memories/search", json={"query": "regenerated reply"}).json()
        assert "regenerated" not in json.dumps(found)


def test_a_claude_export_brings_its_attachments(server: Running) -> None:
    with speaking(server) as alice:
        job = bring(alice, json.dumps(CLAUDE).encode())
        assert (job["format"], job["counts"]) == ("claude", {"conversations": 1, "turns": 1, "documents": 1})
        assert [one["text"] for one in alice.memories()] == ["My dog is called Bramble."]
        wait_read(alice)
        found = alice.http.post("/memories/search", json={"query": "how much does Bramble weigh"}).json()["data"]
        assert any("14 kilograms" in one["text"] for one in found)


def test_mem0_export_and_pasted_list_are_stated_once(server: Running) -> None:
    with speaking(server) as alice:
        for _ in range(2):
            assert bring(alice, json.dumps(MEM0).encode())["format"] == "mem0"
            job = bring(alice, "- I like rye bread\n2. Ich mag Kümmel\n\n• я люблю чай\n".encode())
            assert job["format"] == "list"
        assert job["counts"] == {"memories": 0}
        texts = {one["text"]: one for one in alice.memories()}
        assert set(texts) == {"Plays chess on Thursdays", "I like rye bread", "Ich mag Kümmel", "я люблю чай"}
        assert texts["Plays chess on Thursdays"]["valid_from"].startswith("2025-11-01")
        assert {one["source"] for one in texts.values()} == {"import"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'[{"what": "is this"}]', "no export that is known"),
        (b'[{"mapping": {}, "title": "x"}, {"mapp', "ends in the middle"),
        (b"\x00\x01\x02\x03", "not text in UTF-8"),
        (zipped("notes.txt", b"hello"), "no conversations.json"),
        (zipped("conversations.json", b"[" + b" " * 40_000_000 + b"]"), "unpacks to more"),
        (changed(zipped("conversations.json", b"[]"), at=6, to=b"\x01"), "damaged or locked"),
        (changed(zipped("conversations.json", b"[]"), at=8, to=b"\x63"), "damaged or locked"),
        (changed(zipped("conversations.json", b"[{}, {}, {}]"), at=50, to=b"\xff\xff"), "damaged or locked"),
        (b'[{"memory": ' + b"[" * 50_000 + b"]" * 50_000 + b"}]", "nested too deeply"),
        (exported({"type": "agents", "value": [1]}), "Line 2"),
        (exported({"type": "blobs", "value": {"name": "a" * 64, "base64": "é"}}), "Line 2"),
        (exported({"type": "memories", "value": {**MEMORY, "context": 5}}), "Line 2"),
        (exported({"type": "memories", "value": {**MEMORY, "created_at": 10**18}}), "Line 2"),
        (
            exported({"type": "memories", "value": {**TIMED, "kind": "gossip"}}),
            "Line 2 is no entry of memories: its 'kind'",
        ),
        (exported({"type": "memories", "value": {**TIMED, "status": "asleep"}}), "its 'status'"),
        (exported({"type": "memories", "value": {**TIMED, "earlier": [5]}}), "its 'earlier'"),
        (exported({"type": "memories", "value": {**TIMED, "metadata": []}}), "its 'metadata'"),
        (
            exported({"type": "memories", "value": {**TIMED, "metadata": {"ending": "e", "hides": [["row", [], 1]]}}}),
            "its 'hides'",
        ),
        (exported({"type": "receipts", "value": {**RECEIPT, "body": {**ASKED, "timings": 2**70}}}), "its 'timings'"),
        (
            exported({"type": "receipts", "value": {**RECEIPT, "body": {**ASKED, "usage": {"input_tokens": "x"}}}}),
            "its 'usage'",
        ),
        (exported(of_file(created_at="yesterday")), "describes no file"),
        (exported(of_file(status="eaten")), "its 'status' does not fit"),
        (exported(of_file(notes=5)), "describes no file"),
        (exported(of_file(sha256="../x")), "it names no content"),
        (exported({"type": "costs", "value": {"calls": 2**63}}), "no fitting"),
        (exported({"type": "projects", "value": {**PROJECT, "last_ms": 2**62}}), "no fitting 'last_ms'"),
    ],
)
def test_unknown_export_is_refused_with_mend(server: Running, content: bytes, why: str) -> None:
    with speaking(server) as alice:
        job = bring(alice, content)
        assert job["status"] == "failed"
        assert why in job["error"]


def test_jobs_and_exports_are_of_their_owner_alone(server: Running) -> None:
    with speaking(server) as alice, speaking(server) as ben:
        job = bring(alice, b"- I keep bees in Aarhus")
        assert ben.http.get(f"/jobs/{job['id']}").status_code == 404
        assert ben.get("/jobs")["data"] == []
        assert b"Aarhus" in taken_out(alice)
        assert b"Aarhus" not in taken_out(ben)
        assert alice.http.post("/import", content=b"").status_code == 400
