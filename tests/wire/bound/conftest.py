"""A provider that binds thoughts, a server in front of it, and a conversation of a user with memories."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.binding import BindingProvider
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import new_key
from tests.wire.bound.talk import OPEN, TOLD, Talk, tell


@pytest.fixture(autouse=True)
def closed_clients() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture(scope="module")
def lasting() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lasting: FakeProvider) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("data"), upstream=lasting.base_url) as running:
        yield running


@pytest.fixture
def provider(lasting: FakeProvider) -> BindingProvider:
    lasting.clear()
    script = BindingProvider()
    lasting.script(script)
    return script


@pytest.fixture
def talk(server: Running, provider: BindingProvider) -> Talk:
    """Return a conversation of a user with memories."""
    made = Talk(server.base_url, new_key())
    tell(made, *TOLD)
    return made
