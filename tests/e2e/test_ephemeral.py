"""Ephemeral conversations: remembered while they last, never on disk, deleted at their end."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.worker.sweep import sweep
from tests.e2e.test_scenarios import ask
from tests.running import Running

SECRET = "Zanzibarium"


def _is_on_disk(folder: Path, text: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_ephemeral_conversation_is_recalled_and_leaves_no_trace(tmp_path: Path) -> None:
    with Running(tmp_path) as server:
        client = server.client(X_Memory_Mode="ephemeral", X_Memory_Session="burn after reading")
        ask(client, f"I use {SECRET} as my password manager")
        server.wait_learned()
        assert SECRET in ask(client, "Which password manager do I use?")
        with server.http() as http:
            assert http.get("/sessions/burn after reading").json()["turns"] == 2
            assert http.get("/memories").json()["data"] == []
        assert SECRET not in ask(server.client(), "Which password manager is it that I use?")
        assert _is_on_disk(tmp_path, SECRET) == []
        with server.http() as http:
            assert http.delete("/sessions/burn after reading").json()["deleted"] is True
            assert http.get("/sessions/burn after reading").status_code == 404
        assert SECRET not in ask(client, "And which password manager do I use?")
    assert _is_on_disk(tmp_path, SECRET) == []


def test_an_idle_ephemeral_conversation_is_swept_away(tmp_path: Path) -> None:
    with Running(tmp_path, memory={"ephemeral_ttl_s": 0.001}) as server:
        client = server.client(X_Memory_Mode="ephemeral")
        raw = client.chat.completions.with_raw_response.create(
            model="demo", messages=[{"role": "user", "content": f"I use {SECRET} daily"}]
        )
        server.wait_learned()
        part = server.services.ephemeral
        assert part is not None
        assert server.call(sweep, part) == 1
        with server.http() as http:
            assert http.get(f"/receipts/{raw.headers['x-memory-receipt']}").status_code == 404
            assert http.get("/sessions").json()["data"] == []


@pytest.mark.parametrize("mode", ["full", "read"])
def test_lasting_memory_stays_out_of_ephemeral_conversations(tmp_path: Path, mode: str) -> None:
    with Running(tmp_path) as server:
        ask(server.client(), "I use Shram as a productivity tool")
        server.wait_learned()
        assert "Shram" in ask(server.client(X_Memory_Mode=mode), "Which productivity tool do I use?")
        assert "Shram" not in ask(server.client(X_Memory_Mode="ephemeral"), "Which productivity tool do I use?")
