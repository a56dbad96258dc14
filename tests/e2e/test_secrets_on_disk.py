"""Secrets in messages, files, uploads or names are in no file of the data folder and in no log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.test_ephemeral_traces import Served
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, chat
from tests.launch import wait_until
from tests.talking import user
from tests.text import said

KEY = "sk-test-anna"
EVERY = 5  # of the phrasings; the tests of ``redact`` cover the others
SAMPLE = [
    case for case in said.SECRETS[::EVERY] if min(map(len, case[1])) >= 6
]  # a shorter one may occur in any file by chance
REPLIED, SHOWN, TOOL, STATED, META, SESSION, USER, FILED = OTHERS = (
    "Karotte-82xQ!", "Tannenbaum77zy", "Rab1tH0le99", "Quack-221-Ente!", "mango!Tree7788", "Zebra2041!stripe",
    "sk-proj-aB3dE9xQ7zP1mN5kL0wR2tYvC4uS8h", "Wiesel2049?grau",
)  # fmt: skip
MODEL = "sk-ant-api03-aB3dE9xQ7zP1mN5kL0wR2tYvC4uS8hJ6fG"
LASTING = "zanzibarium"  # stated beside them, and found by the same search


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    fake = FakeProvider().start()
    fake.script(_answer)
    yield fake
    fake.stop()


def _answer(seen: Seen) -> Reply | None:
    return (
        chat(f"Noted. By the way, the door's password is {REPLIED}.", seen.json)
        if seen.path.endswith("/chat/completions")
        else None
    )


def _client(served: Served, session: str = "") -> httpx.Client:
    named = {"Authorization": f"Bearer {KEY}"} | ({"X-Memory-Session": session} if session else {})
    return httpx.Client(base_url=f"{served.origin}/v1", headers=named, timeout=60)


def _say(http: httpx.Client, messages: list[dict[str, Any]], model: str = "tiny", **headers: str) -> str:
    response = http.post("/chat/completions", json={"model": model, "messages": messages}, headers=headers)
    assert response.status_code == 200, response.text
    return str(response.headers.get("x-memory-receipt", ""))


def _settle(http: httpx.Client) -> None:
    wait_until(lambda: http.get("/state").json()["pending_turns"] == 0)
    wait_until(lambda: all(one["status"] != "processing" for one in http.get("/documents").json()["data"]))


def _left(served: Served, secrets: list[str]) -> set[tuple[str, str]]:
    """Return the files, blobs aside, that contain a secret verbatim or in lower case."""
    files = [path for path in served.data.rglob("*") if path.is_file() and "blobs" not in path.parts]
    found = set()
    for path in [*files, served.log]:
        data = path.read_bytes()
        folded = data.lower()
        found |= {(path.name, one) for one in secrets if one.encode() in data or one.lower().encode() in folded}
    return found


def test_turn_with_a_secret_is_kept_redacted(tmp_path: Path, provider: FakeProvider) -> None:
    secrets = [secret for _, all_of_it in SAMPLE for secret in all_of_it]
    with Served(tmp_path, provider) as served, _client(served) as http:
        for text, _ in SAMPLE:
            _say(http, [user(f"I keep a jar of {LASTING}. By the way:\n\n{text}")])
        _settle(http)
        assert any(SAMPLE[0][1][0] in str(seen.json) for seen in provider.seen)  # the request itself is not changed
        shown = "".join(http.get(path).text for path in ("/memories?status=all&limit=500", "/sessions?limit=500"))
        assert [secret for secret in secrets if secret in shown] == []
        assert _left(served, secrets) == set()
        assert {one for _, one in _left(served, [LASTING])} == {LASTING}
    assert _left(served, [*secrets, REPLIED]) == set()


def test_files_tools_names_memories_are_kept_without_secrets(tmp_path: Path, provider: FakeProvider) -> None:
    env = f"# The {LASTING} service\n\nDB_HOST=db\nDB_PASSWORD={FILED}\nMODE=dev\n"
    with Served(tmp_path, provider) as served, _client(served, f"my password is {SESSION}") as http:
        kept = http.post(
            "/files", data={"purpose": "user_data"}, files={"file": (f"password {SHOWN}.env", env.encode())}
        )
        assert kept.status_code == 200, kept.text
        call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        tool = [
            user("Read the settings of the zanzibarium, please."),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": f'{{"api_token": "{TOOL}"}}'},
        ]
        receipt = _say(http, tool)
        _say(http, [user("I like the sea.")], model=MODEL, **{"X-Memory-User": USER})
        body = {"text": f"The password of the {LASTING} is {STATED}", "metadata": {"password": META}}
        assert http.post("/memories", json=body).status_code == 200
        assert http.post("/memories", json={"text": "x", "kind": f"password {STATED}"}).status_code in (400, 422)
        _settle(http)
        (document,) = http.get("/documents").json()["data"]
        chunks = http.get(f"/documents/{document['id']}/chunks").text
        assert LASTING in chunks
        read = [chunks, str(document), http.get(f"/receipts/{receipt}").text, http.get("/memories").text]
        read += [http.get("/sessions").text, httpx.get(f"{served.origin}/metrics").text]
        assert [one for one in (*OTHERS, MODEL) if any(one in text for text in read)] == []
        content = http.get(f"/files/{kept.json()['id']}/content")
        assert FILED in content.text  # the file itself is unchanged
        named = http.get(f"/sessions/my password is {SESSION}")
        assert named.status_code == 200  # a conversation is found by the client's name for it
    assert _left(served, [*OTHERS, MODEL]) == set()
