"""Fill a data folder with synthetic memories through the store's own API.

    python -m tests.bench.fill FOLDER MEMORIES

A filled folder is left unchanged. The load client's users have memories like all others.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from proxy.access.auth import Hasher, Identity, passthrough_identity, scope_of
from proxy.memory.vectors.embed import EmbeddedEmbedder
from proxy.settings.load import load_settings, quiet_libraries
from proxy.store.lance import LanceStore
from proxy.types import Scope
from tests.bench.load import USERS
from tests.bench.recall_scale import World, memories

KEY = "bench-key-of-nobody"
PER_USER = 100


async def fill(folder: Path, count: int) -> None:
    """Write ``count`` memories, evenly spread over users ``bench-0``, ``bench-1`` …."""
    settings = load_settings(flags={"server": {"data_dir": folder}})
    folder.mkdir(parents=True, exist_ok=True)
    hasher = Hasher.load(settings.auth, folder)
    identity = passthrough_identity(KEY, settings.auth, hasher, settings.server.host)
    embedder = EmbeddedEmbedder()
    store = await LanceStore.open(folder / "lance", dimension=embedder.dimension)
    world = World()
    users = max(USERS, count // PER_USER)
    for number in range(users):
        scope = user_scope(identity, number, hasher)
        if store.revision(scope, "memories")[0]:
            continue
        rows, vectors = memories(world, 0, count // users)
        await store.put_memories(scope, rows, vectors, embedder.model)
        if number % 1000 == 999:
            print(f"filled {number + 1} of {users} users", file=sys.stderr, flush=True)
    store.close()


def user_scope(identity: Identity, number: int, hasher: Hasher) -> Scope:
    return scope_of(identity, {"x-memory-user": f"bench-{number}"}, {}, hasher)


def main() -> None:
    quiet_libraries()
    asyncio.run(fill(Path(sys.argv[1]), int(sys.argv[2])))


if __name__ == "__main__":
    main()
