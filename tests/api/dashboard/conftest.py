"""A user who chats, and the user's browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.api.dashboard.browsing import Browser
from tests.running import Running
from tests.talking import Speaker, speaking


@pytest.fixture
def alice(server: Running) -> Iterator[Speaker]:
    with speaking(server) as one:
        yield one


@pytest.fixture
def browser(server: Running, alice: Speaker) -> Iterator[Browser]:
    one = Browser(server)
    with closing(one.http):
        assert one.sign_in(alice.key).url.path == "/dashboard/"
        yield one
