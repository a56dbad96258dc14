"""The command in a separate process, for tests of signals and exits."""

from __future__ import annotations

import http.client
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from proxy.settings.load import environment
from tests.fakes.provider import FakeProvider
from tests.wire.rawhttp import send

_START_S = 120.0  # all modules are imported again


@contextmanager
def process(
    data_dir: Path, provider: FakeProvider, *, user: int | None = None, **variables: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run the command on a free port; ``variables`` are settings in its environment."""
    port = free_port()
    command = [sys.executable, "-m", "proxy", "serve", "--port", str(port), "--data-dir", str(data_dir)]
    running = subprocess.Popen(
        [*command, "--upstream", provider.base_url],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**environment(), **variables},
        user=user,
    )
    try:
        wait_until(lambda: is_ready(f"http://127.0.0.1:{port}"))
        yield running, f"http://127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait()


def free_port() -> int:
    """Return a port for a later server, outside the range that the system assigns to other tests' sockets."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port


def is_ready(origin: str) -> bool:
    try:
        return send(origin, "GET", "/readyz").status == 200
    except (OSError, http.client.HTTPException):
        return False


def wait_until(predicate: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _START_S
    while not predicate():
        assert time.monotonic() < deadline
        time.sleep(0.02)
