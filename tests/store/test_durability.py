"""Turns survive the death of the process once ``record`` has returned."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from proxy.store.journal import Journal
from proxy.store.sql import Database
from tests.store.sql_rows import NOW, make_scope

pytestmark = pytest.mark.anyio

RECORD = """
import asyncio, itertools, sys
from proxy.store.journal import Journal
from proxy.store.sql import Database
from tests.store.sql_rows import make_record, make_scope

async def line(journal, name):
    scope = make_scope("anna", session=name)
    for n in itertools.count():
        assert await journal.record(scope, make_record(scope, f"{name}.{n}"))
        print(f"turn_{name}.{n}", flush=True)

async def main():
    journal = Journal(await Database.open(sys.argv[1]))
    await asyncio.gather(*(line(journal, name) for name in "abcd"))

asyncio.run(main())
"""


async def test_recorded_turns_survive_kill_9(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sql.db"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RECORD, url, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert process.stdout is not None
    acknowledged = [await process.stdout.readline() for _ in range(200)]
    process.kill()
    acknowledged += (await process.stdout.read()).splitlines()
    await process.wait()
    db = await Database.open(url)
    claim = await Journal(db).claim("w", now=NOW, lease_s=1)
    await db.close()
    assert claim is not None
    kept = {item.id for item in claim.items}
    assert {line.decode().strip() for line in acknowledged} <= kept
    assert claim.scope.user == make_scope("anna").user
