"""The server keeps SQLite's locks for as long as it runs: other programs must not take its database for abandoned."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx

from proxy.settings.load import environment
from proxy.store.sql import Database
from tests.e2e.test_crash import KEYS, Served, wait_for
from tests.fakes.provider import FakeProvider
from tests.talking import user

LOCKS = Path("/proc/locks")  # Linux only


def is_locked(folder: Path) -> bool:
    """Return whether the database and its shared memory are locked; True where the system does not tell."""
    inodes = [(folder / name).stat().st_ino for name in ("throughline.db", "throughline.db-shm")]
    return not LOCKS.exists() or all(f":{inode} " in LOCKS.read_text() for inode in inodes)


def say(http: httpx.Client, text: str) -> None:
    http.post("/chat/completions", json={"model": "m", "messages": [user(text)]}).raise_for_status()


def texts(http: httpx.Client) -> set[str]:
    return {row["text"] for row in http.get("/memories").json()["data"]}


def test_turn_after_a_verified_erase_survives_kill(tmp_path: Path, provider: FakeProvider) -> None:
    served = Served(tmp_path, provider.base_url, THROUGHLINE_WORKER__LEASE_S="2")  # what the dead held
    served.start()
    try:
        http = served.http(KEYS[0])
        wait_for(lambda: http.get("/state").status_code == 200, "the server did not become ready")
        say(http, "I play the tuba")
        assert is_locked(tmp_path)
        receipt = http.post("/erase", params={"verify": True}).json()
        assert receipt["verification"]["found"] == 0
        assert receipt["verification"]["files"] > 0
        assert is_locked(tmp_path)
        command = [sys.executable, "-m", "proxy", "keys", "list", "--data-dir", str(tmp_path)]
        subprocess.run(command, env=environment(), check=True, capture_output=True)
        assert is_locked(tmp_path)
        say(http, "I play the oboe")
        served.kill()
        served.start()
        wait_for(lambda: http.get("/state").status_code == 200, "the server did not become ready")
        wait_for(lambda: texts(http) == {"I play the oboe"}, "the turn is lost")
    finally:
        served.close()


def test_second_opening_in_one_process_keeps_the_locks(tmp_path: Path) -> None:
    async def open_twice() -> bool:
        url = f"sqlite:///{tmp_path / 'throughline.db'}"
        first = await Database.open(url)
        await first.query(lambda connection: None)
        await (await Database.open(url)).close()
        try:
            return is_locked(tmp_path)
        finally:
            await first.close()

    assert asyncio.run(open_twice())
