"""An ephemeral conversation leaves no trace outside RAM: in no folder, temporary file or log."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, chat
from tests.launch import free_port, is_ready, wait_until
from tests.media import made
from tests.shown.standins import written
from tests.talking import assistant, user

SAID, ANSWERED, EARLY, PRINTED, UPLOADED, PICTURED, NAMED = SECRETS = (
    "zanzibarium", "quixotrope", "velvatoria", "marblewick", "thistledorn", "KORUNDIA", "ploverstein"
)  # fmt: skip
FILLER = "The harbour lists its ships, the ropes are counted and the ledger is put back on the shelf. " * 2


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    fake = FakeProvider().start()
    fake.script(_answer)
    yield fake
    fake.stop()


def _answer(seen: Seen) -> Reply | None:
    return chat(f"The {ANSWERED} is noted.", seen.json) if seen.path.endswith("/chat/completions") else None


class Served:
    """The command in a separate process, with its own temporary files and output."""

    def __init__(self, folder: Path, provider: FakeProvider, **env: str) -> None:
        self.data, self.temporary, self.log = folder / "data", folder / "tmp", folder / "log"
        self.temporary.mkdir()
        self.origin = f"http://127.0.0.1:{free_port()}"
        command = [sys.executable, "-m", "proxy", "serve", "--port", self.origin.rpartition(":")[2]]
        command += ["--data-dir", str(self.data), "--upstream", provider.base_url]
        named = dict.fromkeys(("TMPDIR", "TMP", "TEMP", "SQLITE_TMPDIR"), str(self.temporary))
        settings = {
            "TELEMETRY__LOG_LEVEL": "debug",
            "UPSTREAM__CONTEXT_WINDOWS": '{"tiny": 4000}',
            "MEDIA__TEXT_ONLY_MODELS": '["tiny"]',
            "MEMORY__DEADLINE_MS": "20000",
            **env,
        }
        told = {**named, **{f"THROUGHLINE_{name}": value for name, value in settings.items()}}
        command = ["/usr/bin/env", *(f"{name}={value}" for name, value in told.items()), *command]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def __enter__(self) -> Served:
        wait_until(lambda: is_ready(self.origin))
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    def traces(self) -> set[tuple[str, str]]:
        """Return the readable places with text of the conversation, including open files without a name."""
        named = [path for folder in (self.data, self.temporary) for path in folder.rglob("*") if path.is_file()]
        found = {(path.name, secret) for path in [*named, self.log] for secret in _secrets_in(_read(path))}
        for process in _group(self._process.pid):
            for one in _open_files(process):
                target = _target(one)
                if target.endswith(" (deleted)") and not target.startswith("/memfd:"):  # memfd files are in RAM
                    found |= {(target, secret) for secret in _secrets_in(_read(one))}
        return found


@contextmanager
def watched(served: Served) -> Iterator[None]:
    """Search for traces continuously, as files that exist only for a moment count too."""
    found: set[tuple[str, str]] = set()
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(0.02):
            found.update(served.traces())

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()
    assert found == set()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError:
        return b""


def _open_files(process: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return []


def _target(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _group(leader: int) -> list[int]:
    """Return the processes of the server's session: the server and its file readers."""
    running = (int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit())
    return [one for one in running if _session_of(one) == leader]


def _session_of(process: int) -> int:
    try:
        return os.getsid(process)
    except OSError:
        return 0


def _secrets_in(data: bytes) -> list[str]:
    """Return the conversation's texts in a file: verbatim, folded to lower case, or as base64."""
    folded = data.lower()
    return [
        secret
        for secret in SECRETS
        if secret.lower().encode() in folded
        or secret.encode("utf-16-le") in data
        or any(base64.b64encode(b"\0" * shift + secret.encode())[4:-4] in data for shift in range(3))
    ]


def _client(served: Served, mode: str, session: str) -> httpx.Client:
    named = {"Authorization": "Bearer sk-test-anna", "X-Memory-Mode": mode, "X-Memory-Session": session}
    return httpx.Client(base_url=f"{served.origin}/v1", headers=named, timeout=60)


def _post(http: httpx.Client, messages: list[dict[str, Any]]) -> dict[str, Any]:
    response = http.post("/chat/completions", json={"model": "tiny", "messages": messages})
    assert response.status_code == 200, response.text
    return dict(http.get(f"/receipts/{response.headers['x-memory-receipt']}").json())


def _converse(http: httpx.Client) -> None:
    """Send a statement, files and an upload, and exceed the window."""
    printed = base64.b64encode(made.pdf(f"The gate code of the {PRINTED} is 4411.", "The second page.")).decode()
    pictured = base64.b64encode(written(f"{PICTURED} 4711", "INVOICE")).decode()
    parts = [
        {"type": "text", "text": f"I use {SAID} as my password manager. Keep these."},
        {"type": "file", "file": {"filename": f"{NAMED}.pdf", "file_data": f"data:application/pdf;base64,{printed}"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{pictured}"}},
    ]
    _post(http, [{"role": "user", "content": parts}])
    book = f"{FILLER}\n\n" * 8000 + f"The {UPLOADED} lies in the drawer.\n"
    sent = http.post("/files", data={"purpose": "user_data"}, files={"file": ("book.txt", book.encode())})
    assert sent.status_code == 200, sent.text
    wait_until(lambda: http.get("/state").json()["pending_turns"] == 0)
    wait_until(lambda: all(one["status"] != "reading" for one in http.get("/images").json()["data"]))
    history = [user(f"The rehearsal of the {EARLY} choir is on Monday."), assistant()]
    for turn in range(60):
        history += [user(f"{turn}. {FILLER}"), assistant(f"Noted, {turn}.")]
    receipt = _post(http, [*history, user(f"When does the {EARLY} choir rehearse?")])
    assert receipt["compaction"]["messages_left_out"]


def test_ephemeral_conversation_leaves_nothing_on_disk_or_log(tmp_path: Path, provider: FakeProvider) -> None:
    with Served(tmp_path, provider) as served, _client(served, "ephemeral", "fleeting") as http:
        with watched(served):
            _converse(http)
        assert http.post("/sessions/fleeting/end").status_code == 200
        assert served.traces() == set()
        assert http.delete("/sessions/fleeting").json()["deleted"] is True
        assert http.get("/sessions/fleeting").status_code == 404
        assert served.traces() == set()
    assert served.traces() == set()


def test_nor_does_one_that_was_swept_away(tmp_path: Path, provider: FakeProvider) -> None:
    with (
        Served(tmp_path, provider, MEMORY__EPHEMERAL_TTL_S="12") as served,
        _client(served, "ephemeral", "idle") as http,
    ):
        _converse(http)
        with _client(served, "full", "lasting") as other:
            wait_until(lambda: other.get("/sessions/idle").status_code == 404)
        assert served.traces() == set()
    assert served.traces() == set()


def test_what_lasts_is_found_by_the_same_search(tmp_path: Path, provider: FakeProvider) -> None:
    with Served(tmp_path, provider) as served, _client(served, "full", "lasting") as http:
        _converse(http)
        wait_until(lambda: http.get("/state").json()["pending_turns"] == 0)
    assert {secret for _, secret in served.traces()} >= {SAID, ANSWERED, EARLY}
