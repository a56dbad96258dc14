"""Damaged files, seen from outside: the start fails with one message, or chat and memory work and report it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from proxy.cli.main import app
from proxy.settings.load import environment
from tests.damaging import WAYS
from tests.e2e.test_degraded import QUESTION, Locked, until
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import BOTH, FACT, Message, Speaker, outcome, speaking, user

KEY = "sk-damaged"
LATER = "I play the harpsichord"
NOTE = b"The boiler is a Viessmann 222. " * 20
TABLES = {"data": "lance/*/*.lance/data/*", "versions": "lance/*/*.lance/_versions/*.manifest"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder of a user with memories and a file."""
    folder = tmp_path_factory.mktemp("written")
    with FakeProvider() as provider:
        provider.script(agreeing)
        with Running(folder, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
            speaker.tell(FACT)
            speaker.tell("I live in Oslo")
            speaker.http.post("/files", files={"file": ("note.txt", NOTE)}, data={"purpose": "user_data"})
            until(lambda: speaker.get("/state")["pending_media"] == 0, "the file was not read")
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "data"))


@pytest.fixture
def provider(provider: FakeProvider) -> FakeProvider:
    provider.script(agreeing)
    return provider


def damage(folder: Path, files: str, way: str) -> None:
    for path in list(folder.glob(files)):
        WAYS[way](path)


def ready(server: Running) -> Message:
    return dict(httpx.get(f"{server.origin}/readyz").json())


def assert_it_goes_on(speaker: Speaker) -> None:
    assert speaker.texts() == {*BOTH, "I live in Oslo"}
    assert outcome(speaker.say(QUESTION))["outcome"] == "used"
    speaker.tell(LATER)
    assert speaker.texts() == {*BOTH, "I live in Oslo", LATER}
    until(lambda: speaker.get("/state")["pending_media"] == 0, "the file was not read again")
    found = speaker.http.post("/memories/search", json={"query": "boiler", "sources": ["chunk"]}).json()["data"]
    assert "Viessmann" in str(found)


@pytest.mark.parametrize(
    ("files", "way"), [("data", "half"), ("data", "gone"), ("data", "middle"), ("versions", "noise")]
)
def test_tables_damaged_before_the_start(folder: Path, provider: FakeProvider, files: str, way: str) -> None:
    damage(folder, TABLES[files], way)
    with Running(folder, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        assert_it_goes_on(speaker)
        assert {one["part"] for one in ready(server)["damage"]} == {"memories", "episodes", "chunks"}
        assert {one["part"] for one in speaker.get("/state")["damage"]} == {"memories", "episodes", "chunks"}
        assert len(list((folder / "lance" / "quarantine").iterdir())) == 3
    with Running(folder, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        assert len(list((folder / "lance" / "quarantine").iterdir())) == 3
        assert speaker.texts() == {*BOTH, "I live in Oslo", LATER}


@pytest.mark.parametrize("way", ["half", "gone"])
def test_tables_damaged_while_it_runs(folder: Path, provider: FakeProvider, way: str) -> None:
    with (
        Running(folder, upstream=provider.base_url) as server,
        speaking(server, KEY) as speaker,
        speaking(server) as other,
    ):
        other.tell("I play chess")
        (mine,) = {path.name.split("_")[1] for path in folder.glob("lance/*/chunks_*.lance")}
        damage(folder, f"lance/*/*_{mine}_*.lance/data/*", way)
        assert_it_goes_on(speaker)
        assert other.texts() == {"I play chess"}
        assert "damage" in speaker.get("/state")
        assert "damage" not in other.get("/state")


def test_versions_removed_while_it_runs(folder: Path, provider: FakeProvider) -> None:
    """No new table hides the loss: the next turn waits until the rows are there again."""
    with Running(folder, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        assert speaker.texts() >= BOTH
        damage(folder, TABLES["versions"], "gone")
        speaker.tell(LATER)
        assert speaker.texts() >= {*BOTH, "I live in Oslo", LATER}
        assert "damage" in speaker.get("/state")


def test_all_tables_removed(folder: Path, provider: FakeProvider) -> None:
    shutil.rmtree(folder / "lance")
    with Running(folder, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        assert_it_goes_on(speaker)


def test_lost_database_is_reported_and_memory_goes_on(folder: Path, provider: FakeProvider) -> None:
    damage(folder, "throughline.db", "empty")
    with Running(folder, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        assert [one["part"] for one in ready(server)["damage"]] == ["database"]
        assert speaker.texts() == {*BOTH, "I live in Oslo"}
        assert len(speaker.sessions()) == 2
        assert outcome(speaker.say(QUESTION))["outcome"] == "used"
        speaker.tell(LATER)
        assert LATER in speaker.texts()
    assert checked(folder, provider)[0] == 1
    assert checked(folder, provider, "--repair")[0] == 0
    assert checked(folder, provider)[0] == 0


def checked(folder: Path, provider: FakeProvider, *flags: str) -> tuple[int, list[str]]:
    """Run ``throughline check``; return its exit code and its lines about damage."""
    result = CliRunner().invoke(app, ["check", "--data-dir", str(folder), "--upstream", provider.base_url, *flags])
    return result.exit_code, [line for line in result.output.splitlines() if line[:4] in ("FAIL", "done")]


@pytest.mark.parametrize(
    ("files", "way", "found"),
    [
        ("throughline.db", "half", ["database"]),
        ("throughline.db", "noise", ["database"]),
        (TABLES["data"], "half", ["memories", "episodes", "chunks"]),
        (TABLES["versions"], "gone", ["memories", "episodes", "chunks"]),
        ("lance/*/episodes_*.lance/data/*", "noise", ["episodes"]),
        ("blobs/*/*", "middle", ["files"]),
        ("blobs/*/*", "gone", ["files"]),
    ],
)
def test_check_finds_damage_and_repair_mends_it(
    folder: Path, provider: FakeProvider, files: str, way: str, found: list[str]
) -> None:
    damage(folder, files, way)
    code, lines = checked(folder, provider)
    assert (code, [line.split()[1] for line in lines]) == (1, found)
    assert all(line.startswith("FAIL") for line in lines)
    assert all("--repair" in line for line in lines)
    code, lines = checked(folder, provider, "--repair")
    assert code == 0
    assert {line.split()[1] for line in lines} >= set(found)
    assert all(line.startswith("done") for line in lines)
    assert checked(folder, provider, "--repair") == (0, [])
    assert checked(folder, provider) == (0, [])


def test_purged_table_is_not_taken_for_damaged(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        made = [speaker.http.post("/memories", json={"text": f"I play the {of}"}).json() for of in ("tuba", "oboe")]
        for session in ("one", "two"):
            speaker.tell("I live in Oslo", x_memory_session=session)
        speaker.http.delete(f"/memories/{made[0]['id']}", params={"purge": True}).raise_for_status()
        speaker.http.delete("/sessions/one").raise_for_status()
    assert checked(tmp_path, provider) == (0, [])
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        assert "damage" not in ready(server)
        assert speaker.texts() == {"I play the oboe", "I live in Oslo"}
    assert not (tmp_path / "lance" / "quarantine").exists()


def test_check_puts_back_what_a_table_lacks(folder: Path, provider: FakeProvider) -> None:
    for table in folder.glob("lance/*/memories_*.lance"):
        min((table / "_versions").glob("*.manifest")).unlink()
    code, lines = checked(folder, provider)
    assert (code, [line.split()[1] for line in lines]) == (1, ["memories"])
    assert checked(folder, provider, "--repair")[0] == 0
    with Running(folder, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        assert speaker.texts() == {*BOTH, "I live in Oslo"}


def test_check_finds_conversations_that_the_database_has_lost(folder: Path, provider: FakeProvider) -> None:
    with sqlite3.connect(folder / "throughline.db") as connection:
        connection.execute("DELETE FROM sessions")
    code, lines = checked(folder, provider)
    assert (code, [line.split()[1] for line in lines]) == (1, ["database"])
    assert checked(folder, provider, "--repair")[0] == 0
    assert checked(folder, provider) == (0, [])


@pytest.mark.parametrize("files", ["throughline.db", "secret.key"])
def test_a_start_that_is_refused_is_one_message(folder: Path, files: str) -> None:
    damage(folder, files, "half")
    command = [sys.executable, "-m", "proxy", "serve", "--port", "0", "--data-dir", str(folder)]
    ended = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("throughline: ")
    assert ended.stderr.count("\n") == 1
    assert "restore secret.key" in ended.stderr or "throughline check --repair" in ended.stderr


@pytest.mark.parametrize("way", ["middle", "half", "empty", "gone"])
def test_a_damaged_upload_is_the_only_thing_missing(folder: Path, provider: FakeProvider, way: str) -> None:
    damage(folder, "blobs/*/*", way)
    with Running(folder, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        (file,) = speaker.get("/files")["data"]
        refused = speaker.http.get(f"/files/{file['id']}/content")
        assert refused.status_code == 404
        assert refused.json()["error"]["code"] == ("not_found" if way == "gone" else "content_damaged")
        content = [{"type": "text", "text": "What does it say?"}, {"type": "file", "file": {"file_id": file["id"]}}]
        response = speaker.post([{"role": "user", "content": content}])
        assert response.json()["choices"][0]["message"]["content"] == "All right."
        (told,) = speaker.receipt(response)["attachments"]
        assert (told["action"], told["reason"]) == ("refused", "missing" if way == "gone" else "damaged")
        again = speaker.http.post("/files", files={"file": ("note.txt", NOTE)}, data={"purpose": "user_data"}).json()
        assert speaker.http.get(f"/files/{again['id']}/content").content == NOTE


def test_failed_journal_is_reported_until_a_turn_succeeds(folder: Path, provider: FakeProvider) -> None:
    with Running(folder, upstream=provider.base_url) as server, speaking(server, KEY) as speaker:
        with Locked(folder, "broken"):
            assert outcome(speaker.say(LATER))["reason"] == "journal"
            told = httpx.get(f"{server.origin}/readyz")
            assert (told.status_code, told.json()["journal"]) == (503, False)
            assert "journal" in told.json()["failed_writes"]
        speaker.post([user("And now?")])
        assert ready(server)["status"] == "ready"
