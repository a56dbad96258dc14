"""Play histories over all paths of the API."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fakes.provider import FakeProvider
from tests.fuzz.bounds import NAMES, Act, World
from tests.running import Running
from tests.serving import agreeing

_AT_ONCE = 20


def play_bounds(server: Running, provider: FakeProvider, count: int, *, first_seed: int = 0) -> None:
    """Play ``count`` histories, each of new scopes; the same seed gives the same histories.

    Each history runs all operations once, in a random order, by random scopes on random others' ids.

    Raises:
        AssertionError: If a scope sees data of another, or its data changes by another's operations.
    """

    @seed(first_seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(1, 2**32))
    def one(drawn: int) -> None:
        with closing(World(server, provider)) as world:
            world.seed()
            for by, acts in _rounds(Random(drawn), len(world.acts)):
                world.play(by, acts)

    one()


def run_bounds(count: int, *, first_seed: int = 0) -> None:
    """Play ``count`` histories on a separate server."""
    with FakeProvider() as provider, tempfile.TemporaryDirectory() as folder:
        provider.script(agreeing)
        upstream = {"url": provider.base_url, "api_key": "sk-provider"}
        with Running(Path(folder), upstream=upstream, auth={"mode": "keys"}) as server:
            play_bounds(server, provider, count, first_seed=first_seed)


def _rounds(random: Random, number: int) -> Iterator[tuple[int, list[Act]]]:
    """Yield a scope with its operations: every operation once, in random order, in groups."""
    order = random.sample(range(number), number)
    for at in range(0, number, _AT_ONCE):
        acts = [Act(what, random.randrange(len(NAMES)), random.randrange(60)) for what in order[at : at + _AT_ONCE]]
        yield random.randrange(len(NAMES)), acts
