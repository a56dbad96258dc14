from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from proxy.errors import ConfigError, StoreDamaged, StoreUnavailable
from proxy.store.sql import Database

pytestmark = pytest.mark.anyio

CREATE = sa.text("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
INSERT = sa.text("INSERT INTO notes (id) VALUES (:id)")


@pytest.fixture
async def notes(db: Database) -> Database:
    await db.submit(lambda connection: connection.execute(CREATE).close())
    return db


def put(note: int, connection: sa.Connection) -> int:
    connection.execute(INSERT, {"id": note})
    return note


async def ids(db: Database) -> list[int]:
    query = sa.text("SELECT id FROM notes ORDER BY id")
    return list(await db.query(lambda connection: connection.execute(query).scalars().all()))


async def test_concurrent_writers_share_transactions(notes: Database) -> None:
    commits: list[sa.Connection] = []
    count = commits.append
    sa.event.listen(sa.Engine, "commit", count)
    try:
        results = await asyncio.gather(*(notes.submit(lambda c, n=n: put(n, c)) for n in range(50)))
    finally:
        sa.event.remove(sa.Engine, "commit", count)
    assert results == list(range(50))
    assert await ids(notes) == list(range(50))
    assert len(commits) < 10


async def test_a_failing_callback_fails_alone(notes: Database) -> None:
    def break_after_writing(connection: sa.Connection) -> None:
        put(1000, connection)
        raise KeyError("mine")

    works = [lambda c, n=n: put(n, c) for n in range(50)]
    works[25] = break_after_writing
    results = await asyncio.gather(*map(notes.submit, works), return_exceptions=True)
    assert isinstance(results[25], KeyError)
    assert await ids(notes) == [n for n in range(50) if n != 25]


async def test_a_failing_statement_fails_alone(notes: Database) -> None:
    works = [lambda c, n=n: put(n % 49, c) for n in range(50)]
    results = await asyncio.gather(*map(notes.submit, works), return_exceptions=True)
    assert [type(result) for result in results if isinstance(result, Exception)] == [sa.exc.IntegrityError]
    assert await ids(notes) == list(range(49))


async def test_a_cancelled_caller_does_not_undo_its_write(notes: Database) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(notes.submit(lambda c, n=n: put(n, c))) for n in range(5)]
        await asyncio.sleep(0)
        tasks[3].cancel()
    assert tasks[3].cancelled()
    assert 3 in await ids(notes)


async def test_close_commits_what_is_queued(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sql.db"
    first = await Database.open(url)
    await first.submit(lambda connection: connection.execute(CREATE).close())
    tasks = [asyncio.ensure_future(first.submit(lambda c, n=n: put(n, c))) for n in range(20)]
    await asyncio.sleep(0)
    await first.close()
    assert [await task for task in tasks] == list(range(20))
    second = await Database.open(url)
    assert await ids(second) == list(range(20))
    await second.close()
    with pytest.raises(StoreUnavailable):
        await second.submit(lambda connection: put(1, connection))


async def test_a_read_sees_one_moment(notes: Database) -> None:
    def look(connection: sa.Connection) -> int:
        count = sa.text("SELECT count(*) FROM notes")
        before = connection.execute(count).scalar_one()
        asyncio.run_coroutine_threadsafe(notes.submit(lambda c: put(7, c)), loop).result()
        return connection.execute(count).scalar_one() - before

    loop = asyncio.get_running_loop()
    assert await notes.query(look) == 0
    assert await ids(notes) == [7]


async def test_memory_database_is_shared_by_readers_and_writers() -> None:
    db = await Database.open("sqlite://")
    await db.submit(lambda connection: connection.execute(CREATE).close())
    await asyncio.gather(*(db.submit(lambda c, n=n: put(n, c)) for n in range(5)), *(ids(db) for _ in range(5)))
    assert await ids(db) == list(range(5))
    await db.close()


@pytest.mark.parametrize("url", ["mysql://localhost/x", "no url", ""])
async def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        await Database.open(url)


@pytest.mark.parametrize("missing", ["asyncpg", "greenlet"])
def test_postgres_without_its_extra_is_explained(missing: str) -> None:
    """This runs in a separate process, which has not imported them yet."""
    tried = (
        f"import sys, asyncio; sys.modules[{missing!r}] = None\n"
        "from proxy.store.sql import Database\n"
        "asyncio.run(Database.open('postgresql://localhost/x'))"
    )
    told = subprocess.run([sys.executable, "-c", tried], capture_output=True, text=True, check=False).stderr
    assert "ConfigError: Postgres needs the extra: pip install 'throughline[postgres]'" in told


async def test_an_unusable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "sql.db").write_bytes(b"no database, but long enough to be taken for one" * 100)
    with pytest.raises(StoreDamaged, match="check --repair"):
        await Database.open(f"sqlite:///{tmp_path}/sql.db")


async def test_files_are_readable_by_their_owner_only(db: Database, tmp_path: Path) -> None:
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path


async def test_failed_commit_does_not_block_the_next_write(tmp_path: Path) -> None:
    """A deferred constraint fails at COMMIT, which leaves SQLite's transaction open."""
    sa.event.listen(sa.Engine, "connect", enforce_constraints)
    try:
        db = await Database.open(f"sqlite:///{tmp_path}/sql.db")
        await db.submit(lambda connection: connection.execute(CREATE).close())
        owed = "CREATE TABLE owed (id INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)"
        await db.submit(lambda connection: connection.exec_driver_sql(owed).close())
        with pytest.raises(sa.exc.IntegrityError):
            await db.submit(lambda connection: connection.exec_driver_sql("INSERT INTO owed VALUES (7)").close())
        assert await db.submit(lambda connection: put(1, connection)) == 1
        assert await ids(db) == [1]
        await db.close()
    finally:
        sa.event.remove(sa.Engine, "connect", enforce_constraints)


def enforce_constraints(connection: sqlite3.Connection, _: object) -> None:
    connection.execute("PRAGMA foreign_keys=ON").close()


async def test_full_disk_does_not_block_the_next_write(notes: Database, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(tmp_path / "sql.db-wal"), hard))
    try:
        with pytest.raises(StoreUnavailable):
            await notes.submit(lambda connection: put(1, connection))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert await notes.submit(lambda connection: put(2, connection)) == 2
    assert await ids(notes) == [2]


async def test_database_without_room_says_so(notes: Database) -> None:
    def fill(connection: sa.Connection) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}").close()
        for note in range(10_000):
            put(note, connection)

    with pytest.raises(StoreUnavailable, match="disk is full"):
        await notes.submit(fill)
