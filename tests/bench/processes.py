"""Processes of a run: started, awaited, measured by ``/proc``, and stopped."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from proxy.settings.load import environment

ROOT = Path(__file__).parents[2]
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_START_S = 120.0
_STOP_S = 20.0


class Process:
    """A server of the run, with its child processes."""

    def __init__(self, command: Sequence[str], log: Path, extra: Mapping[str, str] | None = None) -> None:
        self._started_at = time.perf_counter()
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                list(command), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env={**environment(), **(extra or {})},
            )  # fmt: skip
        self.ready_after_s = self.ready_cpu_s = 0.0

    def wait_ready(self, url: str) -> None:
        """Wait until ``url`` responds with 200, and store the time since the start."""
        while time.perf_counter() - self._started_at < _START_S:
            if self._process.poll() is not None:
                break
            if _answers(url):
                self.ready_after_s = time.perf_counter() - self._started_at
                self.ready_cpu_s = self.cpu_s()
                return
            time.sleep(0.02)
        raise SystemExit(f"{url} did not answer.\n{self._log.read_text(errors='replace')[-2000:]}")

    def wait_listening(self, port: int) -> None:
        """Wait until a process listens on a port."""
        while time.perf_counter() - self._started_at < _START_S:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.02)
        raise SystemExit(f"Nobody listens on port {port}.")

    def cpu_s(self) -> float:
        """Return the CPU time used so far by the process and its living descendants."""
        return sum(_cpu_ticks(pid) for pid in _family(self._process.pid)) * _TICK_S

    def rss_bytes(self) -> int:
        """Return the resident memory of the process and its descendants."""
        return sum(_rss_pages(pid) for pid in _family(self._process.pid)) * _PAGE_BYTES

    def peaks_bytes(self) -> tuple[int, int]:
        """Return the peak memory of the process, and of the largest descendant, since ``forget_peaks``."""
        own, *others = (_peak_bytes(pid) for pid in _family(self._process.pid))
        return own, max(others, default=0)

    def forget_peaks(self) -> None:
        """Reset the peaks of memory."""
        for pid in _family(self._process.pid):
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")

    def stop(self) -> None:
        """Terminate the process, by a kill if necessary."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Load:
    """The load client, one process for the whole run."""

    def __init__(self) -> None:
        self._seed = time.time_ns() // 1_000_000 % 100_000_000
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.load"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def burst(self, **job: Any) -> dict[str, Any]:
        """Run one burst and return its times; every request of a run is a new conversation."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**job, "seed": self._seed}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("The load client ended.")
        result: dict[str, Any] = json.loads(answer)
        self._seed += result["done"] + result["failed"] + 1
        return result

    def stop(self) -> None:
        """End the process."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()


@contextmanager
def running(processes: list[Process | Load]) -> Iterator[list[Process | Load]]:
    """Stop all processes in the list at the end of the block, the last first."""
    try:
        yield processes
    finally:
        for process in reversed(processes):
            process.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def get_json(url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    with urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers)), timeout=10) as response:
        found: dict[str, Any] = json.load(response)
        return found


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _family(root: int) -> list[int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents[int(entry.name)] = int(fields[1])
    family = [root]
    for pid in family:
        family += [child for child, parent in parents.items() if parent == pid]
    return family


def _peak_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu_ticks(pid: int) -> int:
    fields = _stat(pid)
    return sum(int(field) for field in fields[11:15]) if fields else 0


def _rss_pages(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[21]) if fields else 0
