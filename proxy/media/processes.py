"""Child processes that read files, one kind for parsing and one for OCR; started on demand, ended when idle."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

import structlog

from proxy.media.base import MediaRefused
from proxy.process.child import bare_environment, command
from proxy.process.threads import in_thread
from proxy.settings.load import environment

Kind = Literal["parse", "ocr"]
Tell = Callable[[float], None]

_log = structlog.get_logger(__name__)
_IDLE_S: dict[Kind, float] = {"parse": 60.0, "ocr": 90.0}
_GRACE_S = 2.0
_CHUNK = 2**20
_MAX_ANSWER_BYTES = 2**29
_TIME = (signal.SIGXCPU, signal.SIGALRM)
_MEMORY = (signal.SIGABRT, signal.SIGKILL)

_idle: dict[Kind, list[Worker]] = {"parse": [], "ocr": []}
_lock = threading.Lock()


async def run(kind: Kind, job: dict[str, Any], progress: Tell | None = None) -> Any:
    """Run a job in a process of its kind and return its result.

    Args:
        kind: Kind of process; two parse at a time, one does OCR, and further jobs wait.
        job: ``job``, ``timeout_s``, ``cpu_s``, ``memory_bytes`` and the job's own parameters.
        progress: Called on this loop with the completed share, from 0 to 1.

    Raises:
        MediaRefused: The process's refusal, or ``timeout``, ``memory`` or ``malformed`` if it was killed or crashed.
    """
    loop = asyncio.get_running_loop()
    task = _Task(job, (lambda share: _tell(loop, progress, share)) if progress else lambda _: None)
    try:
        return await in_thread(kind, task.run, kind)
    except asyncio.CancelledError:
        task.cancel()
        raise
    finally:
        loop.call_later(_IDLE_S[kind] + _GRACE_S, _bury, kind)


def end_idle() -> None:
    """End the idle processes; new ones start on demand."""
    with _lock:
        workers = [worker for idle in _idle.values() for worker in idle]
        for idle in _idle.values():
            idle.clear()
    for worker in workers:
        worker.end()


atexit.register(end_idle)


def _bury(kind: Kind) -> None:
    """Reap processes that have ended by themselves."""
    with _lock:
        ended = [worker for worker in _idle[kind] if not worker.is_alive]
        _idle[kind][:] = [worker for worker in _idle[kind] if worker not in ended]
    for worker in ended:
        worker.end()


def _tell(loop: asyncio.AbstractEventLoop, progress: Tell, share: float) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed, so progress has no receiver
        loop.call_soon_threadsafe(progress, share)


class _Task:
    """A job that another thread may cancel."""

    def __init__(self, job: dict[str, Any], tell: Tell) -> None:
        self._job, self._tell = job, tell
        self._worker: Worker | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        with _lock:
            self._is_cancelled, worker = True, self._worker
        if worker is not None:
            worker.kill()

    def run(self, kind: Kind) -> Any:
        for _ in range(2):
            with _lock:
                if self._is_cancelled:
                    raise MediaRefused("Nobody waits for this file any more.", "cancelled")
                self._worker = worker = _taken(kind)
            answer = worker.ask(self._job, self._tell)
            with _lock:
                self._worker = None
            if answer is not None:
                return _result(kind, worker, answer)
            worker.end()
        raise MediaRefused("The process that reads files does not start; see the log.", "unavailable")


def _taken(kind: Kind) -> Worker:
    while _idle[kind]:
        worker = _idle[kind].pop()
        if worker.is_alive:
            return worker
        worker.end()
    return Worker(_IDLE_S[kind])


def _result(kind: Kind, worker: Worker, answer: dict[str, Any]) -> Any:
    if worker.is_alive and answer.get("reason") != "memory":
        with _lock:
            _idle[kind].append(worker)
    else:
        worker.end()
    if "refused" in answer:
        if "error" in answer:
            _log.warning("a file could not be read", error=answer["error"])
        raise MediaRefused(answer["refused"], answer["reason"])
    return answer["result"]


class Worker:
    """Server side of a child process; used by one thread at a time.

    Args:
        idle_s: Seconds without work after which the process ends by itself.
    """

    def __init__(self, idle_s: float) -> None:
        self._process = subprocess.Popen(  # noqa: S603 -- our own module
            command("proxy.media.child", str(idle_s)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=_environment(),
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._poll = select.poll()  # a busy server has more open files than select supports
        self._poll.register(self._process.stdout, select.POLLIN)
        self._unread = b""

    @property
    def is_alive(self) -> bool:
        """Return whether the process is running."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill the process with its children; the thread that waits for its answer returns."""
        if self.is_alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # the process leads its own process group

    def hang_up(self) -> None:
        """Close standard input, so that the process ends after its current job."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def end(self) -> None:
        """Kill the process and close its pipes."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def ask(self, job: dict[str, Any], tell: Tell) -> dict[str, Any] | None:
        """Return the answer to a job, None if the process ended before accepting it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
        except OSError:
            return None
        deadline, heard = time.monotonic() + job["timeout_s"], False
        while (line := self._line(deadline)) is not None:
            heard, message = True, json.loads(line)
            if "progress" not in message:
                return message if isinstance(message, dict) else None
            tell(float(message["progress"]))
        is_late = time.monotonic() >= deadline
        self.kill()
        code = self._process.wait()
        return _died(-code, job, is_late=is_late) if heard or is_late else None

    def _line(self, deadline: float) -> bytes | None:
        """Return the next line, None if the process ended or the deadline passed."""
        assert self._process.stdout is not None
        pieces = [self._unread]
        while b"\n" not in pieces[-1]:
            left = deadline - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                return None
            pieces.append(os.read(self._process.stdout.fileno(), _CHUNK))
            if not pieces[-1] or sum(map(len, pieces)) > _MAX_ANSWER_BYTES:
                return None
        line, _, self._unread = b"".join(pieces).partition(b"\n")
        return line


def _died(number: int, job: dict[str, Any], *, is_late: bool) -> dict[str, Any]:
    if is_late or number in _TIME:
        seconds = job["timeout_s"] if is_late else job["cpu_s"]
        return {"refused": f"Reading the file took longer than {seconds:g} seconds.", "reason": "timeout"}
    if number in _MEMORY:
        return {"refused": "Reading the file takes more memory than allowed.", "reason": "memory"}
    return {
        "refused": "The file is damaged: what reads it crashed.",
        "reason": "malformed",
        "error": f"signal {number}",
    }


def _environment() -> dict[str, str]:
    """Return an environment without keys and proxies, which a malicious file could use."""
    tessdata = environment().get("TESSDATA_PREFIX")
    return {
        **bare_environment(),
        **({"TESSDATA_PREFIX": tessdata} if tessdata else {}),
        "ORT_DISABLE_TELEMETRY": "1",
        "HF_HUB_OFFLINE": "1",
    }
