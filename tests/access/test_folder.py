"""A data folder is bound to its secret, and reports parts that do not belong together."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from proxy.access.folder import open_folder
from proxy.clock import ManualClock
from proxy.errors import ConfigError, StoreDamaged
from proxy.settings.load import Settings, load_settings
from proxy.store.incidents import Incidents
from proxy.store.journal import Journal
from tests.damaging import WAYS
from tests.store.sql_rows import NOW, make_record, make_scope

pytestmark = pytest.mark.anyio

ANNA = make_scope("anna")


def settings_of(folder: Path, **sections: dict[str, str]) -> Settings:
    return load_settings(flags={"server": {"data_dir": folder}, **sections})


async def opened(folder: Path, **sections: dict[str, str]) -> list[str]:
    """Open a folder as a start does; return the parts reported as damaged."""
    found = await open_folder(settings_of(folder, **sections), ManualClock(NOW), looks_closely=True)
    parts = [incident.part for incident in await Incidents(found.database).unseen()]
    await found.database.close()
    return parts


async def write(folder: Path) -> None:
    """Write a turn to the database and a user's file beside it."""
    found = await open_folder(settings_of(folder), ManualClock(NOW))
    await Journal(found.database).record(ANNA, make_record(ANNA, "1"))
    await found.database.close()
    (folder / "blobs" / ANNA.user).mkdir(parents=True)
    (folder / "blobs" / ANNA.user / "0").write_bytes(b"shown")
    await opened(folder)


@pytest.mark.parametrize("way", WAYS)
async def test_folder_with_data_is_refused_with_another_secret(tmp_path: Path, way: str) -> None:
    await write(tmp_path)
    secret = (tmp_path / "secret.key").read_bytes()
    WAYS[way](tmp_path / "secret.key")
    for _ in range(2):
        with pytest.raises(ConfigError, match="this folder was written with another secret; restore secret"):
            await opened(tmp_path)
    (tmp_path / "secret.key").write_bytes(secret)
    assert await opened(tmp_path) == []


async def test_another_secret_of_the_settings_is_refused(tmp_path: Path) -> None:
    await write(tmp_path)
    with pytest.raises(ConfigError, match="restore secret"):
        await opened(tmp_path, auth={"secret": "another"})


@pytest.mark.parametrize("way", WAYS)
async def test_without_data_any_secret_will_do(tmp_path: Path, way: str) -> None:
    await opened(tmp_path)
    WAYS[way](tmp_path / "secret.key")
    assert await opened(tmp_path) == []
    assert (tmp_path / "secret.key").read_bytes().strip()


@pytest.mark.parametrize("way", ["empty", "gone"])
async def test_lost_database_is_reported_until_seen(tmp_path: Path, way: str) -> None:
    await write(tmp_path)
    WAYS[way](tmp_path / "throughline.db")
    assert await opened(tmp_path) == ["database"]
    assert await opened(tmp_path) == ["database"]
    found = await open_folder(settings_of(tmp_path), ManualClock(NOW))
    assert await Incidents(found.database).see(now=NOW) == 1
    await found.database.close()
    assert await opened(tmp_path) == []


@pytest.mark.parametrize("way", ["empty", "gone"])
async def test_lost_database_makes_no_other_secret_fit(tmp_path: Path, way: str) -> None:
    await write(tmp_path)
    WAYS[way](tmp_path / "throughline.db")
    (tmp_path / "secret.key").write_text("another")
    with pytest.raises(ConfigError, match="another secret"):
        await opened(tmp_path)


@pytest.mark.parametrize("way", ["half", "noise", "middle"])
async def test_a_damaged_database_is_refused_with_the_mend(tmp_path: Path, way: str) -> None:
    await write(tmp_path)
    WAYS[way](tmp_path / "throughline.db")
    with pytest.raises(StoreDamaged, match="throughline check --repair"):
        await opened(tmp_path)


@pytest.mark.parametrize("way", WAYS)
async def test_a_damaged_stamp_is_written_again(tmp_path: Path, way: str) -> None:
    await write(tmp_path)
    WAYS[way](tmp_path / "blobs" / "stamp.json")
    assert await opened(tmp_path) == []
    assert (tmp_path / "blobs" / "stamp.json").read_text() == (tmp_path / "lance" / "stamp.json").read_text()


async def test_parts_of_two_folders_are_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "secret.key").write_text("the same")
        await write(folder)
    shutil.rmtree(one / "blobs")
    shutil.copytree(other / "blobs", one / "blobs")
    with pytest.raises(ConfigError, match="different data folders"):
        await opened(one)
