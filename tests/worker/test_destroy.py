"""Destroyed data is gone from every file, wherever the work was interrupted and however often it is repeated."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from proxy.process.threads import drain
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import load_settings
from proxy.store.destructions import Doomed
from proxy.store.stamps import owners
from proxy.types import Scope
from proxy.worker.destroy import resume, scrub
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import chat
from tests.running import Running
from tests.shown.files import wait_read
from tests.talking import speaking

pytestmark = pytest.mark.anyio

SAID, CORRECTED, STATED = "zorplindwort", "quabbelfrunk", "mirtelschnapf"  # successive texts of one memory
WRITTEN, ASKED = "vexilbrandow", "fromplegwist"
WORDS: dict[Doomed, tuple[str, ...]] = {
    "memory": (SAID, CORRECTED, STATED),
    "media": (WRITTEN,),
    "session": (ASKED,),
    "scope": (SAID, CORRECTED, STATED, WRITTEN, ASKED),
}


@dataclass
class Filled:
    """A data folder with data of every kind, and their ids."""

    folder: Path
    ids: dict[Doomed, str]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    folder = tmp_path_factory.mktemp("filled")
    with (
        FakeProvider() as provider,
        Running(folder, upstream=provider.base_url) as server,
        speaking(server) as speaker,
    ):
        provider.script(lambda seen: chat("Noted.", seen.json))
        speaker.tell(f"I play the {SAID}", x_memory_session="music")
        (memory,) = speaker.memories()
        speaker.say("What do I play?", x_memory_session="music again")
        for at, word in enumerate((CORRECTED, STATED)):
            speaker.http.patch(f"/memories/{memory['id']}", json={"text": f"I play the {word}"}).raise_for_status()
            speaker.say("What do I play now?", x_memory_session=f"music {at}")
        speaker.http.post("/memories", json={"text": "My aunt lives in Bergamo"}).raise_for_status()
        speaker.tell(f"What is a {ASKED}?", x_memory_session="asked")
        speaker.http.post("/sessions/asked/end").raise_for_status()
        notes = {"file": ("notes.md", f"# Notes\n\nThe {WRITTEN} hangs in the hall.".encode())}
        document = speaker.http.post("/documents", files=notes).json()
        wait_read(speaker)
        speaker.say("Where does the thing hang that the notes are about?")
        speaker.wait()
        session = speaker.get("/sessions/asked")["id"]
        ids: dict[Doomed, str] = {"memory": memory["id"], "media": document["id"], "session": session, "scope": ""}
    return Filled(folder, ids)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Services]:
    services = await open_services(load_settings(flags={"server": {"data_dir": folder}}))
    try:
        await services.open_store()
        yield services
    finally:
        await drain(10)
        await services.close()


async def begin(services: Services, noun: Doomed, id_: str) -> Scope:
    (owner,) = await owners(services.database)
    await services.destructions.begin(Scope("", owner), noun, id_, now=services.clock.now())
    return Scope("", owner)


async def was_cut(services: Services, commits: int) -> bool:
    """Cancel at the n-th database commit; return whether the work had so many."""
    loop, left = asyncio.get_running_loop(), commits
    task = asyncio.ensure_future(resume(services, until=services.clock.now()))

    def count(_: sa.Connection) -> None:
        nonlocal left
        left -= 1
        if not left:
            loop.call_soon_threadsafe(task.cancel)

    sa.event.listen(sa.Engine, "commit", count)
    try:
        await asyncio.wait([task])
    finally:
        sa.event.remove(sa.Engine, "commit", count)
    return task.cancelled()


def places_of(folder: Path, words: tuple[str, ...]) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [
        f"{word} in {path.relative_to(folder)}"
        for path in files
        for word in words
        if word.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("noun", WORDS)
async def test_destruction_cut_at_any_commit_is_ended(filled: Filled, tmp_path: Path, noun: Doomed) -> None:
    commits, is_cut = 0, True
    while is_cut:
        commits += 1
        folder = tmp_path / str(commits)
        shutil.copytree(filled.folder, folder)
        async with opened(folder) as services:
            scope = await begin(services, noun, filled.ids[noun])
            is_cut = await was_cut(services, commits)
        async with opened(folder) as services:
            assert await resume(services, until=services.clock.now())
            assert not await services.destructions.is_open(scope, noun, filled.ids[noun])
            assert await scrub(services)
            assert not await services.destructions.awaits_scrub()
        assert places_of(folder, WORDS[noun]) == [], f"cut at commit {commits}"
        others = tuple(word for words in WORDS.values() for word in words if word not in WORDS[noun])
        assert {place.split()[0] for place in places_of(folder, others)} == set(others)
        shutil.rmtree(folder)
    assert commits > 4
