"""Missing vectors are filled in while the rows change."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proxy.memory.lifecycle.quarantine import Parts, release, set_apart
from proxy.memory.plan.changes import Change
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import load_settings
from proxy.store.passages import dense_text
from proxy.store.schema import NOUNS
from proxy.types import Chunk
from proxy.worker.destroy import destroy_file, destroy_memory, destroy_session, erase_scope
from tests.memory.rows import DIMENSION, NOW, bag, conversation, fact
from tests.store.sql_rows import make_scope

pytestmark = pytest.mark.anyio

ANNA = make_scope("anna")
SESSIONS, WORDS = ("ses_1", "ses_2"), ["tea", "chess", "violin", "Oslo", "bees", "harbour", "lathe", "zither"]
Meanwhile = Callable[[], Awaitable[None]]


class Slow:
    """Embedder by a hashed bag of words; runs ``meanwhile`` before it returns."""

    dimension, is_symmetric = DIMENSION, True

    def __init__(self, model: str) -> None:
        self.model = model
        self.meanwhile: Meanwhile | None = None

    async def embed(self, texts: Sequence[str], *, purpose: str) -> Any:
        if self.meanwhile is not None and texts:
            await self.meanwhile()
        return np.array([bag(text) for text in texts], np.float32).reshape(-1, DIMENSION)

    async def warm(self) -> None:
        """Load nothing."""

    async def close(self) -> None:
        """Release nothing."""


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    opened = await open_services(load_settings(flags={"server": {"data_dir": tmp_path}}))
    opened.embedder = Slow("bag")
    await opened.open_store()
    yield opened
    await opened.close()


async def put(services: Services, *, count: int) -> None:
    """Store ``count`` rows of each kind without vectors."""
    store = services.store
    said = [one for name in SESSIONS for one in conversation(name, *(f"I like {word} {name}" for word in WORDS))]
    await store.put_episodes(ANNA, said[:count], {}, "")
    facts = [fact(at, f"I like {word}", session=SESSIONS[at % 2]) for at, word in enumerate(WORDS)]
    await store.put_memories(ANNA, facts[:count], {}, "")
    chunks = [
        Chunk(f"doc_{at % 2}.{at}", "chunk", f"doc_{at % 2}", "a.md", f"On {w}", NOW) for at, w in enumerate(WORDS)
    ]
    await store.put_chunks(ANNA, chunks[:count], {}, "")


async def rows_of(services: Services) -> dict[str, Any]:
    return {row.id: row for noun in NOUNS for row in (await services.store.load(ANNA, noun)).items}


async def waiting(services: Services) -> int:
    return await services.store.count_unembedded(ANNA, services.embedder.model)


async def assert_vectors_fit(services: Services) -> None:
    for noun in NOUNS:
        batch = await services.store.load(ANNA, noun)
        for row, vector, model in zip(batch.items, batch.vectors.get("vector", ()), batch.models, strict=True):
            assert not model or np.allclose(vector, bag(dense_text(row)), atol=1e-5), row


async def one_change(services: Services, chance: random.Random) -> None:
    """Make one random change through the functions that serve users."""
    store, book, now = services.store, services.book, services.clock.now()
    facts, session = await store.memories(ANNA), chance.choice(SESSIONS)
    row = chance.choice(facts) if facts else None
    parts = Parts(services.index, services.book, services.ledger, services.quarantine)
    match chance.randrange(9):
        case 0 if row:
            edited = replace(row, text=f"{row.text} and {chance.choice(WORDS)}", updated_at=now)
            await book.apply(ANNA, [Change("edit", edited, row, "", "request")])
        case 1 if row:
            await book.apply(ANNA, [Change("pin", replace(row, pinned=not row.pinned), row, "", "request")])
        case 2 if row:
            await destroy_memory(services, ANNA, row.id)
        case 3:
            await destroy_session(services, ANNA, session)
        case 4:
            await destroy_file(services, ANNA, chance.choice(["doc_0", "doc_1"]))
        case 5 if chance.random() < 0.3:
            await erase_scope(services, ANNA, verify=False)
        case 6:
            entries = [one for one in await services.quarantine.all(ANNA) if one.target == session]
            if entries:
                await release(parts, ANNA, entries[0], now)
            else:
                await set_apart(parts, ANNA, "session", session, "request", now)
        case 7 if row:
            await book.apply(ANNA, [Change("edit", replace(row, agent=".p", updated_at=now), row, "", "move")])
        case _:
            await book.keep(ANNA, conversation(session, f"We drink {chance.choice(WORDS)}", first=chance.randrange(40)))


@pytest.mark.parametrize("seed", range(8))
async def test_filling_beside_changes_alters_no_row(services: Services, seed: int) -> None:
    chance, slow = random.Random(seed), services.embedder
    assert isinstance(slow, Slow)
    await put(services, count=len(WORDS))
    stands: dict[str, Any] = {}

    async def meanwhile() -> None:
        slow.meanwhile = None
        for _ in range(chance.randrange(3)):
            await one_change(services, chance)
        stands.update(rows=await rows_of(services))
        slow.meanwhile = meanwhile if chance.random() < 0.7 else None

    for _ in range(12):
        slow.meanwhile = meanwhile
        await services.book.fill_in(ANNA, chance.choice([2, 5, 128]))
        slow.meanwhile = None
        assert not stands or await rows_of(services) == stands["rows"]
        await assert_vectors_fit(services)
    while await services.book.fill_in(ANNA, 5):
        pass
    assert await waiting(services) == 0
    assert await services.store.has_unembedded(ANNA) is False
    await assert_vectors_fit(services)


async def test_a_running_conversation_gets_its_vectors(services: Services) -> None:
    slow = services.embedder
    assert isinstance(slow, Slow)
    await services.store.put_episodes(ANNA, conversation("ses_1", *WORDS), {}, "")
    told = iter(range(100))

    async def meanwhile() -> None:
        slow.meanwhile = None
        await services.book.keep(ANNA, conversation("ses_1", "Tea again", first=10 + next(told)))
        slow.meanwhile = meanwhile

    slow.meanwhile = meanwhile
    assert await services.book.fill_in(ANNA) == len(WORDS)
    assert await waiting(services) == 0


async def test_window_of_a_changed_turn_waits(services: Services) -> None:
    """A vector computed from text destroyed meanwhile is not stored, not even for the next turn's window."""
    slow, rows = services.embedder, conversation("ses_1", *WORDS)
    assert isinstance(slow, Slow)
    await services.store.put_episodes(ANNA, rows, {}, "")

    async def meanwhile() -> None:
        slow.meanwhile = None
        await services.store.put_episodes(ANNA, [replace(rows[2], text="…")], {}, "")

    slow.meanwhile = meanwhile
    await services.book.fill_in(ANNA)
    left = await services.store.unembedded(ANNA, "episodes")
    assert {row.id for row in left} == {row.id for row in rows[2:5]}
    while await services.book.fill_in(ANNA):
        pass
    assert await waiting(services) == 0


async def test_only_reembedding_touches_vectors_of_another_model(services: Services) -> None:
    await put(services, count=4)
    while await services.book.fill_in(ANNA):
        pass
    services.embedder.model = "bag2"  # type: ignore[misc]
    assert await waiting(services) == 12
    assert await services.book.fill_in(ANNA) == 0
    while await services.book.fill_in(ANNA, 3, renews=True):
        pass
    assert await waiting(services) == 0


async def test_endings_wait_for_no_vector(services: Services) -> None:
    """No search finds them, so a scope with endings is not checked for missing vectors again and again."""
    ending = replace(fact(1, "Oslo"), id=f"end_{'0' * 24}", metadata={"ending": True})
    await services.book.apply(ANNA, [Change("add", ending, None, "", "request")])
    assert await waiting(services) == 0
    assert await services.store.has_unembedded(ANNA) is False
