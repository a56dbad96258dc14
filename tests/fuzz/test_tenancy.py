"""A sample of the histories of ``python -m tests.fuzz``."""

from __future__ import annotations

from tests.fakes.provider import FakeProvider
from tests.fuzz.tenancy import play
from tests.running import Running
from tests.serving import lasting_provider, server, upstream

__all__ = ["lasting_provider", "server", "upstream"]


def test_no_scope_sees_another(server: Running, upstream: FakeProvider) -> None:
    play(server, 8)
    assert upstream.seen
