"""A clock that ran a day ahead and was set right: nothing that was said waits until the day has passed."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from proxy.clock import Clock
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import BOTH, FACT, new_key, speaking


class Ahead(Clock):
    """A clock that is a day ahead."""

    def now(self) -> datetime:
        return super().now() + timedelta(days=1)


def test_turns_of_a_clock_ahead_are_learned(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(agreeing)
    key = new_key()
    waiting = {"upstream": provider.base_url, "clock": Ahead(), "worker": {"enabled": False}}
    with Running(tmp_path, **waiting) as server, speaking(server, key) as anne:
        anne.say(FACT)
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, key) as anne:
        anne.wait()
        assert anne.texts() == BOTH
