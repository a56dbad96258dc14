"""Stop signals: the first one lets running work finish, the second one ends the process at once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from types import FrameType

import uvicorn
from uvicorn.supervisors import Multiprocess

SIGNALS = (signal.SIGINT, signal.SIGTERM)

_ONE_S = 1.0  # `timeout` signals its command, then the group: signals within this count as one
_SIGNALLED = 128  # plus the signal's number: the shell's exit code of a signalled process


class StopRequests:
    """Counter of stop requests; the second one calls ``hurry``."""

    def __init__(self, hurry: Callable[[int], None]) -> None:
        self._hurry = hurry
        self._first_s: float | None = None

    def note(self, number: int) -> None:
        """Count one signal."""
        now_s = time.monotonic()
        if self._first_s is None:
            self._first_s = now_s
        elif now_s - self._first_s > _ONE_S:
            self._hurry(number)


def end_at_once(number: int) -> None:
    """End this process as ``kill -9`` does; turns whose reply a client has read are already journalled."""
    os._exit(_SIGNALLED + number)


class Server(uvicorn.Server):
    """Server that lets running replies finish at the first signal and ends at once at the second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._requests = StopRequests(end_at_once)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        self._requests.note(sig)
        if not self.should_exit:  # uvicorn would skip the shutdown steps at a second SIGINT
            super().handle_exit(sig, frame)


class Supervisor(Multiprocess):
    """Supervisor that kills its workers at the second signal.

    The workers do not count signals themselves: a terminal and systemd signal both them and the supervisor, which then
    passes its own signal on.
    """

    def terminate_all(self) -> None:
        """Pass the signal on, and kill the workers at another one."""
        requests = StopRequests(self._kill_all)
        requests.note(signal.SIGTERM)
        for one in SIGNALS:
            signal.signal(one, lambda number, _: requests.note(number))
        super().terminate_all()

    def _kill_all(self, number: int) -> None:
        for worker in self.processes:
            worker.process.kill()
        end_at_once(number)
