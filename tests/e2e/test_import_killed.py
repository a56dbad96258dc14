"""An import whose server is killed goes on where it was, and doubles nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.api.test_transfer import chat_node
from tests.e2e.test_crash import KEYS, Served, wait_for
from tests.fakes.provider import FakeProvider

CONVERSATIONS = 160
KILLS = 2


def conversation(number: int) -> dict[str, Any]:
    at = 1_700_000_000.0 + number * 3600
    said = chat_node("a", None, "user", f"I keep the parcel number{number} in the shed.", at)
    return {
        "title": f"Parcel {number}",
        "conversation_id": f"c-{number}",
        "current_node": "b",
        "mapping": {"a": said, "b": chat_node("b", "a", "assistant", "Noted.", at + 1)},
    }


def test_an_import_survives_every_kill(tmp_path: Path) -> None:
    content = json.dumps([conversation(number) for number in range(CONVERSATIONS)]).encode()
    with FakeProvider() as provider:
        server = Served(tmp_path, provider.base_url, THROUGHLINE_WORKER__LEASE_S="2")  # what the dead held
        server.start()
        http, at = server.http(KEYS[0]), server.base_url
        job = http.post(f"{at}/import", content=content).json()["id"]
        for kill in range(1, KILLS + 1):
            wait_for(lambda kill=kill: progress(http, at, job) >= kill * 50, "the import does not get on")
            server.kill()
            server.start()
        wait_for(lambda: http.get(f"{at}/jobs/{job}").json()["status"] == "done", "the import does not end")
        ended = http.get(f"{at}/jobs/{job}").json()
        assert ended["progress"] == {"done": CONVERSATIONS, "total": CONVERSATIONS}
        assert ended["counts"]["turns"] >= CONVERSATIONS - KILLS  # the one that a kill meets may go uncounted
        texts = [one["text"] for one in http.get(f"{at}/memories?limit=1000").json()["data"]]
        assert sorted(texts) == sorted(f"I keep the parcel number{n} in the shed." for n in range(CONVERSATIONS))
        assert http.get(f"{at}/state").json()["episodes"] == 2 * CONVERSATIONS
        server.close()


def progress(http: Any, at: str, job: str) -> int:
    return int(http.get(f"{at}/jobs/{job}").json()["progress"]["done"])
