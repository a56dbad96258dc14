from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proxy.services import Services
from proxy.types import Episode
from proxy.worker.destroy import destroy_memory
from tests.store.lance_rows import fact
from tests.store.sql_rows import NOW, make_scope

pytestmark = pytest.mark.anyio

ANNA = make_scope("anna")
SECRET = "I play the zither."
TEXTS = ("The soup is good.", SECRET, "It rains.", "The bus is late.", "Good night.")
SAID = [Episode(f"msg_{at}", ANNA.session, f"turn_{at}", at, "user", text, NOW) for at, text in enumerate(TEXTS)]


async def windows(services: Services) -> dict[str, np.ndarray]:
    batch = await services.store.load(ANNA, "episodes")
    return {row.id: batch.vectors["trail_vector"][at] for at, row in enumerate(batch.items)}


async def test_windows_hold_no_share_of_a_purged_sentence(services: Services) -> None:
    """The windows of the turns after it are embedded again."""
    await services.book.keep(ANNA, SAID)
    await services.book.rewrite(ANNA, [memory := replace(fact(1, SECRET), quote=SECRET)])
    before = await windows(services)
    await destroy_memory(services, ANNA, memory.id)
    waiting = await services.store.unembedded(ANNA, "episodes", services.embedder.model)
    assert {row.id for row in waiting} == {"msg_1", "msg_2", "msg_3"}
    while await services.book.fill_in(ANNA):
        pass
    after = await windows(services)
    same = {id_ for id_, vector in after.items() if np.array_equal(vector, before[id_])}
    assert same == {"msg_0", "msg_4"}
