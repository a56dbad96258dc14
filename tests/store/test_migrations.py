from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from proxy.errors import ConfigError
from proxy.store.migrations import MIGRATIONS
from proxy.store.sql import Database
from proxy.store.tables import metadata

pytestmark = pytest.mark.anyio

OPEN = """
import asyncio, sys
from proxy.store.sql import Database
async def main():
    db = await Database.open(sys.argv[1])
    await db.close()
asyncio.run(main())
"""


async def test_migrated_tables_are_the_tables_of_the_code(db: Database) -> None:
    def compare(connection: sa.Connection) -> None:
        inspector = sa.inspect(connection)
        assert set(inspector.get_table_names()) - {"meta"} == set(metadata.tables)
        for table in metadata.sorted_tables:
            found = {column["name"]: column["nullable"] for column in inspector.get_columns(table.name)}
            assert set(found) == set(table.c.keys())
            rowid = {column.name for column in table.primary_key if isinstance(column.type, sa.BigInteger)}
            expected = {column.name: bool(column.nullable) for column in table.c if column.name not in rowid}
            assert {name: found[name] for name in expected} == expected
            assert set(inspector.get_pk_constraint(table.name)["constrained_columns"]) == set(
                table.primary_key.c.keys()
            )

    await db.query(compare)


async def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sql.db"
    schema = sa.text("SELECT name, sql FROM sqlite_master ORDER BY name")
    version = sa.text("SELECT version FROM meta")
    seen = []
    for _ in range(2):
        db = await Database.open(url)
        seen.append(await db.query(lambda connection: connection.execute(schema).all()))
        assert await db.query(lambda connection: connection.execute(version).scalars().all()) == [len(MIGRATIONS)]
        await db.close()
    assert seen[0] == seen[1]


async def test_several_processes_may_start_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sql.db"
    starts = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", OPEN, url, stderr=asyncio.subprocess.PIPE)
        for _ in range(4)
    ]
    for process in starts:
        _, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()


async def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sql.db"
    db = await Database.open(url)
    await db.submit(lambda connection: connection.execute(sa.text("UPDATE meta SET version = 1000")).close())
    await db.close()
    with pytest.raises(ConfigError, match="newer"):
        await Database.open(url)
