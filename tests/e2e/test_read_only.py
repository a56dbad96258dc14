"""Tables that are read-only for a while: readiness reports it, and recovers by itself."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.provider import FakeProvider
from tests.launch import process, wait_until

NOBODY = 65_534


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a data folder outside the folders that only their creator may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name) / "data"


def allow(folder: Path, mode: int) -> None:
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(mode)


def test_readiness_recovers_once_tables_can_be_written(folder: Path, provider: FakeProvider) -> None:
    """Root may write to read-only files, so under root the server runs as another user."""
    user = NOBODY if os.geteuid() == 0 else None
    without_worker = {"THROUGHLINE_WORKER__ENABLED": "false"}  # it would write again by itself
    with process(folder, provider, user=user, **without_worker) as (_, origin), httpx.Client(base_url=origin) as http:
        http.headers["authorization"] = "Bearer sk-test-readiness"

        def failed() -> dict[str, Any]:
            return dict(http.get("/readyz").json().get("failed_writes", {}))

        assert http.post("/v1/memories", json={"text": "I play the bassoon"}).status_code == 200
        allow(folder / "lance", 0o555)
        assert http.post("/v1/memories", json={"text": "I play the oboe"}).status_code == 503
        assert "store" in failed()
        allow(folder / "lance", 0o755)
        wait_until(lambda: not failed())
        assert not list(folder.rglob(".tmp_probe*"))
        assert http.post("/v1/memories", json={"text": "I play the flute"}).status_code == 200
