"""Helpers for tests of files over HTTP."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.running import WAIT_S
from tests.talking import Speaker

Body = dict[str, Any]


def upload(speaker: Speaker, path: Path | tuple[str, bytes], *, purpose: str = "user_data", **headers: str) -> Body:
    """Upload a file and return the file object."""
    name, data = (path.name, path.read_bytes()) if isinstance(path, Path) else path
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    response = speaker.http.post("/files", files={"file": (name, data)}, data={"purpose": purpose}, headers=named)
    assert response.status_code == 200, response.text
    return dict(response.json())


def wait_read(speaker: Speaker) -> None:
    """Wait until all uploaded files are ingested."""
    deadline = time.monotonic() + 4 * WAIT_S
    while (state := speaker.get("/state"))["pending_media"]:
        assert time.monotonic() < deadline, state
        time.sleep(0.05)


def show(speaker: Speaker, path: Path | tuple[str, bytes], **headers: str) -> Body:
    """Upload a file, wait until it is ingested and return its document or image."""
    file = upload(speaker, path, **headers)
    wait_read(speaker)
    noun = "documents" if file["document_id"] else "images"
    return dict(speaker.get(f"/{noun}/{file['document_id'] or file['image_id']}"))
