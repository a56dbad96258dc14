"""A server and a provider shared by one module's tests; each test uses a new client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, chat
from tests.running import Running
from tests.talking import Speaker, speaking


@pytest.fixture(scope="module")
def lasting_provider() -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        fake.script(agreeing)
        yield fake


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("data")
    with Running(folder, upstream=lasting_provider.base_url) as running:
        yield running


@pytest.fixture
def upstream(lasting_provider: FakeProvider) -> Iterator[FakeProvider]:
    """Return the shared provider without earlier tests' scripts."""
    lasting_provider.clear()
    lasting_provider.script(agreeing)
    yield lasting_provider
    lasting_provider.clear()
    lasting_provider.script(agreeing)


@pytest.fixture
def alice(server: Running) -> Iterator[Speaker]:
    """Return a client with a new key."""
    with speaking(server) as speaker:
        yield speaker


def agreeing(seen: Seen) -> Reply | None:
    """Reply without a word of the question, as an echo would be stored with the turn."""
    return chat("All right.", seen.json) if seen.path.endswith("/chat/completions") else None
