from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from proxy.store.agents import Agent, Agents
from proxy.store.destructions import Destructions
from proxy.store.erase import OWNED, Erasure
from proxy.store.files import Files, Upload
from proxy.store.handed import Handed
from proxy.store.history import History
from proxy.store.incidents import Incident, Incidents
from proxy.store.jobs import Job, Jobs
from proxy.store.journal import Journal
from proxy.store.leases import Leases
from proxy.store.media import Media
from proxy.store.projects import Projects
from proxy.store.quarantine import Apart, Quarantine
from proxy.store.sessions import Sessions
from proxy.store.shares import Shares
from proxy.store.silenced import Silenced
from proxy.store.sql import Database
from proxy.store.tables import keys, leases, metadata, stamps
from proxy.store.uses import Uses
from proxy.types import Document, Memory, Scope
from tests.store.sql_rows import NOW, make_record, make_scope
from tests.store.test_history import Step

pytestmark = pytest.mark.anyio

ANNA, BEN = make_scope("anna"), make_scope("ben")
TURNS = 200
OPERATOR_TABLES = {keys, stamps}  # a key's user is the operator's data, revoked separately


async def fill(db: Database, owners: dict[str, Scope], *, turns: int, seed: int = 0) -> None:
    """Write each owner's word to every table.

    Keys are unordered and values of all sizes, so that rows of several owners share index pages, which split in the
    middle, overflow and are reused.
    """
    journal, history, uses, dice = Journal(db), History(db), Uses(db), random.Random(seed)
    for n in range(turns):
        word = dice.choice(sorted(owners))
        scope = replace(owners[word], session=f"{dice.random()}{word}", agent=make_scope(word).user if n % 3 else "")
        text = f"{word} " * dice.choice([1, 5, 20, 100, 500])
        await journal.record(scope, make_record(scope, f"{dice.random()}{word}", text=text, name=f"{word}{n}"))
        memory = Memory(f"mem_{dice.random()}{word}", "fact", text, NOW, NOW, NOW)
        await history.append(scope, [Step("add", memory, memory)])
        sha256 = hashlib.sha256(f"{seed}{n}{word}".encode()).hexdigest()
        shown = Document(f"doc_{n}{word}", word, "text/plain", n, sha256, NOW, scope.agent, outline=text)
        await Media(db).add(scope, shown)
        await Files(db).add(scope, Upload(f"file-{n}{word}", shown.id, word, "user_data", n, NOW, agent=scope.agent))
        uses.note(scope, [memory.id], now=NOW)
        project = replace(scope, agent=f".{sha256[:32]}")
        await Projects(db).note(project, text, now=NOW)
        await Agents(db).put(scope, Agent(sha256[:32], text, (word,), is_private=True, created_at=NOW))
        await Quarantine(db).add(scope, Apart(f"qua_{n}{word}", "document", shown.id, text, "user", NOW))
        await Incidents(db).note(scope, Incident("memories", text, NOW, place=word))
        await Jobs(db).add(scope, Job(f"job_{n}{word}", scope, NOW, notes=(text,)))
        await Silenced(db).switch(scope, is_off=True, now=NOW)
        await Destructions(db).begin(scope, "memory", f"mem_{n}{word}", now=NOW)
        await Shares(db).put(scope, sha256[:32], memory.id, agent=scope.agent, author=word, now=NOW)
        await Handed(db).note(scope, [f"msg_{n}{word}"], now=NOW)
        if n % 20 == 19:
            await uses.flush()
            seqs = [item.seq for item in await journal.items(scope)]
            await journal.plan(scope, seqs[:4], {"changes": word * dice.choice([3, 300])})
            await journal.retry(scope, seqs[:3], due=NOW, error=word)
            await journal.finish(scope, seqs[:2], now=NOW)
            await journal.prune(before=NOW + timedelta(days=1))


def found(folder: Path, word: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def test_every_table_is_an_owners_or_the_operators() -> None:
    assert set(OWNED) | {leases} | OPERATOR_TABLES == set(metadata.sorted_tables)


@pytest.mark.parametrize("seed", [0, 5, 6])  # without VACUUM each seed leaves bytes behind
async def test_erasing_leaves_no_byte_in_any_file(db: Database, tmp_path: Path, seed: int) -> None:
    await fill(db, {"heather": BEN, "magnolia": ANNA}, turns=TURNS, seed=seed)
    assert await Leases(db).acquire(ANNA, "magnolia", 10, NOW)
    before = await Erasure(db).count(ANNA)
    assert all(before.values())
    assert found(tmp_path, "magnolia")
    erased = await Erasure(db).erase(ANNA)
    await Leases(db).release(ANNA, "magnolia")
    assert erased.rows == before
    assert await db.scrub()
    assert found(tmp_path, "magnolia") == []
    assert found(tmp_path, ANNA.user) == []
    assert not any((await Erasure(db).count(ANNA)).values())


async def test_erasing_one_owner_leaves_the_others_whole(db: Database) -> None:
    await fill(db, {"heather": BEN, "magnolia": ANNA}, turns=40)
    before = await Erasure(db).count(BEN)
    await Erasure(db).erase(ANNA)
    assert await Erasure(db).count(BEN) == before


async def test_deleted_conversation_leaves_the_disk_with_a_scrub(db: Database, tmp_path: Path) -> None:
    await fill(db, {"heather": BEN}, turns=20)
    for session in ("magnolia1", "magnolia2"):
        scope = make_scope("anna", session=session)
        await Journal(db).record(scope, make_record(scope, session, text=session, name=session))
        await Sessions(db).delete(scope, scope.session)
    assert await db.scrub()
    assert found(tmp_path, "magnolia") == []
