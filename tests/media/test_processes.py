"""A file may make its reader process hang, crash, exhaust memory or run forever, but never the server."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from pathlib import Path

import anyio
import pytest

from proxy.media.base import MediaRefused, Sniffed
from proxy.media.limits import Limits
from proxy.media.processes import Worker, end_idle, run
from proxy.media.read import read_document, read_image
from tests.media import made

pytestmark = pytest.mark.anyio

LIMITS = Limits()
TEXT = Sniffed("document", "text/plain", "text")
_OTHERS: set[int] = set()  # children of other tests: a browser, a server


@pytest.fixture(autouse=True)
def _no_process_left():
    end_idle()  # of earlier tests
    _OTHERS.update(running())
    yield
    end_idle()
    _OTHERS.clear()


def job(path: Path, **more: object) -> dict[str, object]:
    asked = {"job": "document", "path": str(path), "media_type": "text/plain", "reader": "text"}
    return asked | {"limits": LIMITS.to_dict(), "timeout_s": 20, "cpu_s": 20, "memory_bytes": 2**30} | more


def children() -> list[int]:
    """Return the processes started by this test."""
    return [pid for pid in running() if pid not in _OTHERS]


def running() -> list[int]:
    found = []
    for thread in Path(f"/proc/{os.getpid()}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has just ended
            found += [int(pid) for pid in (thread / "children").read_text().split()]
    return found


async def reason_of(path: Path, **more: object) -> str:
    with pytest.raises(MediaRefused) as caught:
        await run("parse", job(path, **more))
    return caught.value.reason


def fifo(tmp_path: Path) -> Path:
    """Return a file that blocks its reader."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


async def opened(path: Path) -> None:
    """Wait until the file is open for reading, then keep its reader blocked."""
    while True:
        try:
            os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # no reader has opened it yet
            await anyio.sleep(0.01)
        else:
            return


async def test_hang_is_ended_at_the_deadline(tmp_path):
    before = time.monotonic()
    assert await reason_of(fifo(tmp_path), timeout_s=0.5) == "timeout"
    assert time.monotonic() - before < 15
    with anyio.fail_after(30):
        while children():  # it was killed; the system removes it later
            await anyio.sleep(0.01)


async def test_crash_is_contained(tmp_path):
    path = fifo(tmp_path)

    async def crash() -> None:
        await opened(path)
        os.kill(children()[0], signal.SIGSEGV)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(crash)
        assert await reason_of(path) == "malformed"
    assert await run("parse", job(made.saved(tmp_path, "tea")))  # the next file is read


async def test_memory_is_limited(tmp_path):
    path = made.saved(tmp_path, b"tea \xff\n" * 30_000_000)
    assert await reason_of(path, memory_bytes=250 * 2**20) == "memory"


async def test_processor_time_is_limited(tmp_path):
    path = made.saved(tmp_path, "<p>" + "<div><b>tea</b></div><table><tr><td>x</td></tr></table>" * 200_000)
    assert await reason_of(path, reader="html", cpu_s=1) == "timeout"


async def test_reading_stops_when_nobody_waits_any_more(tmp_path):
    path = fifo(tmp_path)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, "parse", job(path))
        await opened(path)
        tasks.cancel_scope.cancel()
    with anyio.fail_after(10):
        while children():
            await anyio.sleep(0.01)


async def test_process_is_used_again_and_ends_when_asked(tmp_path):
    path = made.saved(tmp_path, "tea")
    await run("parse", job(path))
    pids = children()
    await run("parse", job(path))
    assert children() == pids
    end_idle()
    assert children() == []


async def test_process_that_ended_while_idle_is_replaced(tmp_path):
    path = made.saved(tmp_path, "tea")
    await run("parse", job(path))
    os.kill(children()[0], signal.SIGKILL)
    assert await run("parse", job(path))


async def test_process_ends_when_idle_and_with_the_server(tmp_path):
    for worker, is_closed in ((Worker(0.05), False), (Worker(60), True)):
        assert worker.ask(job(made.saved(tmp_path, "tea")), lambda _: None)["result"]
        if is_closed:
            worker.hang_up()  # as when the server has ended
        with anyio.fail_after(10):
            while worker.is_alive:
                await anyio.sleep(0.01)
        worker.end()


async def test_files_are_read_however_many_connections_are_open(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4096), hard), hard))
    taken = [os.dup(0) for _ in range(1100)]
    try:
        assert await run("parse", job(made.saved(tmp_path, "tea")))
    finally:
        for number in taken:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_server_goes_on_while_a_file_is_read(tmp_path):
    path, ticks = fifo(tmp_path), 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reason_of, path)
        await opened(path)
        while ticks < 20:
            await anyio.sleep(0.01)
            ticks += 1
        tasks.cancel_scope.cancel()
    assert ticks == 20


async def test_process_gets_none_of_our_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    await run("parse", job(made.saved(tmp_path, "tea")))
    assert b"sk-secret" not in Path(f"/proc/{children()[0]}/environ").read_bytes()


async def test_progress_is_told_on_the_way(tmp_path):
    told: list[float] = []
    path = made.saved(tmp_path, made.pdf(*["tea"] * 300))
    await read_document(path, Sniffed("document", "application/pdf", "pdf"), LIMITS, told.append)
    assert len(told) > 3
    assert told == sorted(told)
    assert told[-1] == 1.0


async def test_oversized_file_is_refused_unread(tmp_path):
    path = made.saved(tmp_path, b"x" * 5000)
    with pytest.raises(MediaRefused) as caught:
        await read_document(path, TEXT, Limits(max_file_bytes=4096))
    assert caught.value.reason == "too_large"
    with pytest.raises(MediaRefused):
        await read_image(path, Limits(max_file_bytes=4096))
