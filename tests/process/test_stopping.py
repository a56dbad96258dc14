"""Signals to a server: after the first, replies are completed; a second one ends it without waiting."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import DONE, Gate
from tests.launch import is_ready, process, wait_until
from tests.running import WAIT_S, Running
from tests.wire.rawhttp import Wiretap, send

HEADERS = [("Authorization", "Bearer sk-a"), ("Content-Type", "application/json")]
UNHURRIED = {"THROUGHLINE_SERVER__GRACEFUL_SHUTDOWN_S": "600"}


def asking(text: str, *, stream: bool) -> bytes:
    return orjson.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": text}]})


def gated(provider: FakeProvider) -> Gate:
    gate = Gate()
    provider.script(lambda seen: replies.gated(replies.stream(), gate, after=2) if seen.json.get("stream") else None)
    return gate


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_second_signal_ends_a_server_at_once(
    tmp_path: Path, provider: FakeProvider, workers: str, number: signal.Signals
) -> None:
    gated(provider)
    with process(tmp_path, provider, THROUGHLINE_SERVER__WORKERS=workers, **UNHURRIED) as (running, origin):
        path, said = "/v1/chat/completions", asking("I use Shram for planning", stream=False)
        assert send(origin, "POST", path, HEADERS, said).status == 200
        with Wiretap(origin, "POST", path, HEADERS, asking("And now?", stream=True)) as tap:
            tap.until(b"Hello")
            wait_until(signalled(running.send_signal, number, lambda: running.poll() is not None))
            assert running.returncode == 128 + number
            assert DONE not in tap.rest()
    with Running(tmp_path, upstream=provider.base_url) as again, again.http("sk-a") as http:
        again.wait_learned("sk-a")
        assert "I use Shram for planning" in {one["text"] for one in http.get("/memories").json()["data"]}


def test_signal_sent_twice_counts_once(tmp_path: Path, provider: FakeProvider) -> None:
    """`timeout` sends it so: to its command, and again to the group."""
    gate = gated(provider)
    with process(tmp_path, provider, **UNHURRIED) as (running, origin):
        with Wiretap(origin, "POST", "/v1/chat/completions", HEADERS, asking("Hello", stream=True)) as tap:
            tap.until(b"Hello")
            running.send_signal(signal.SIGTERM)
            running.send_signal(signal.SIGTERM)
            wait_until(lambda: not is_ready(origin))
            gate.open()
            assert DONE in tap.rest()
        assert running.wait(WAIT_S) in (0, -signal.SIGTERM)


def signalled(send_signal: Callable[[int], None], number: int, has_ended: Callable[[], bool]) -> Callable[[], bool]:
    """Return a condition that sends the signal again at each check until it is met."""

    def is_met() -> bool:
        send_signal(number)
        return has_ended()

    return is_met
