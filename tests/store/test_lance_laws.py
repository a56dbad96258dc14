"""Any memory survives encoding and storing: laws over hostile texts and times."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.clock import from_ms
from proxy.store.lance import LanceStore
from proxy.store.schema import EPISODES, MEMORIES, decode, from_arrow, to_arrow
from proxy.types import STATUSES, Kind, Memory
from tests.store.lance_rows import ANNE, DIMENSION, turn

pytestmark = pytest.mark.anyio


hostile_text = st.text(max_size=30)


moments = st.integers(0, 4 * 10**12).map(from_ms)


memories = st.builds(
    Memory,
    id=st.from_regex(r"mem_[0-9a-f]{24}", fullmatch=True),
    kind=st.sampled_from(get_args(Kind)),
    text=hostile_text,
    created_at=moments,
    updated_at=moments,
    valid_from=moments,
    subject=hostile_text,
    relation=hostile_text,
    object=hostile_text,
    quote=hostile_text,
    confidence=st.floats(0, 1),
    status=st.sampled_from(STATUSES),
    valid_to=st.none() | moments,
    expires_at=st.none() | moments,
    uses=st.integers(0, 2**40),
    turns=st.lists(hostile_text, max_size=3).map(tuple),
    metadata=st.dictionaries(hostile_text, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | hostile_text),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(st.lists(memories, max_size=4))
def test_any_memory_survives_its_row(items):
    table = to_arrow(MEMORIES, items, {"vector": [None] * len(items)}, [None] * len(items), dimension=4, stamp=1)
    assert from_arrow(MEMORIES, table, dimension=4).items == items
    assert decode(MEMORIES, table) == items


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=5
)
@given(items=st.lists(memories, min_size=1, max_size=3, unique_by=lambda memory: memory.id))
async def test_any_memory_survives_the_store(items, tmp_path_factory):
    store = await LanceStore.open(tmp_path_factory.mktemp("lance"), dimension=DIMENSION)
    await store.put_memories(ANNE, items, {}, "m")
    await store.put_memories(ANNE, items, {}, "m")
    found = {memory.id: memory for memory in await store.memories(ANNE)}
    assert found == {memory.id: memory for memory in items}


def test_lone_surrogates_are_mended_not_refused():
    row = turn(1, text=json.loads('"a\\ud800b"'))
    table = to_arrow(EPISODES, [row], {name: [None] for name in EPISODES.vectors}, [None], dimension=4, stamp=1)
    assert decode(EPISODES, table)[0].text == "a\ufffdb"
