"""No response to one scope depends on another: a sample of the histories of ``python -m tests.fuzz``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.provider import FakeProvider
from tests.fuzz.bounds import World, covered
from tests.fuzz.bounds_play import play_bounds
from tests.running import Running
from tests.serving import lasting_provider

__all__ = ["lasting_provider"]


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    upstream = {"url": lasting_provider.base_url, "api_key": "sk-provider"}
    with Running(tmp_path_factory.mktemp("bounds"), upstream=upstream, auth={"mode": "keys"}) as server:
        yield server


def test_every_path_is_covered(locked: Running, lasting_provider: FakeProvider) -> None:
    world = World(locked, lasting_provider)
    try:
        assert not list(covered(world))
    finally:
        world.close()


def test_no_answer_depends_on_another_scope(locked: Running, lasting_provider: FakeProvider) -> None:
    play_bounds(locked, lasting_provider, 1)
