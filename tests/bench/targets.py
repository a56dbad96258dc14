"""Compared targets: the provider itself, Throughline in its modes, and LiteLLM's proxy if installed."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.figures import Figures
from tests.bench.fill import KEY
from tests.bench.processes import ROOT, Process, free_port

PEER = ROOT / ".bench-venv" / "bin" / "litellm"
_PEER_CONFIG = """model_list:
  - model_name: bench
    litellm_params: {{model: openai/bench, api_base: "{url}", api_key: {key}}}
litellm_settings: {{telemetry: false}}
general_settings: {{master_key: {key}}}
"""
_NEVER_CHANGED = frozenset({".lance", ".manifest", ".txn"})
_WAITING = re.compile(rb'^throughline_journal_turns\{state="(?:index|learn)"\} ([0-9.]+)', re.MULTILINE)
_LOOK_S = 0.25
_SETTLE_S = 60.0


@dataclass(slots=True)
class Target:
    """One route to the provider.

    Args:
        learns: Work continues after the replies; its CPU time counts, and it must not disturb the next burst.
    """

    name: str
    port: int
    process: Process | None = None
    headers: dict[str, str] = field(default_factory=dict)
    learns: bool = False
    figures: Figures = field(init=False)

    def __post_init__(self) -> None:
        self.figures = Figures(self.name)
        self.headers = {"Authorization": f"Bearer {KEY}", **self.headers}

    def cpu_s(self) -> float:
        return self.process.cpu_s() if self.process is not None else 0.0

    def weigh(self) -> None:
        """Record the server's memory, and the cost of its start."""
        if self.process is not None:
            self.figures.rss_bytes = self.process.rss_bytes()
            self.figures.ready_after_s = self.process.ready_after_s
            self.figures.ready_cpu_s = self.process.ready_cpu_s

    def settle(self) -> None:
        """Wait until the server has learned all turns, at most some seconds."""
        if self.process is None or not self.learns:
            return
        deadline = time.perf_counter() + _SETTLE_S
        while _waiting(self.port) and time.perf_counter() < deadline:
            time.sleep(_LOOK_S)


def start_upstream(work: Path, pause_ms: float = 0.0) -> tuple[Process, int]:
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.upstream", str(port), str(pause_ms)]
    process = Process(command, work / "upstream.log")
    process.wait_listening(port)
    return process, port


def start_throughline(
    upstream_port: int, memories: int, folder: Path, work: Path, extra: Mapping[str, str] | None = None
) -> tuple[Process, int]:
    """Start ``throughline serve`` with ``memories`` memories; the filled folder itself stays unchanged."""
    data = work / f"data-{memories}"
    if memories:
        filled = folder / str(memories)
        subprocess.run([sys.executable, "-m", "tests.bench.fill", str(filled), str(memories)], cwd=ROOT, check=True)
        shutil.copytree(filled, data, copy_function=_link)
    return serve(upstream_port, data, work / f"throughline-{memories}.log", extra)


def serve(upstream_port: int, data: Path, log: Path, extra: Mapping[str, str] | None = None) -> tuple[Process, int]:
    """Start ``throughline serve`` on a data folder."""
    port = free_port()
    command = [sys.executable, "-m", "proxy", "serve", "--port", str(port), "--data-dir", str(data)]
    process = Process([*command, "--upstream", f"http://127.0.0.1:{upstream_port}/v1"], log, extra)
    try:
        process.wait_ready(f"http://127.0.0.1:{port}/readyz")
    except SystemExit:
        process.stop()
        raise
    return process, port


def start_peer(upstream_port: int, work: Path) -> Target:
    key = f"sk-{secrets.token_hex(32)}"  # it refuses to start without a key, or with a weak one
    config = work / "litellm.yaml"
    config.write_text(_PEER_CONFIG.format(url=f"http://127.0.0.1:{upstream_port}/v1", key=key))
    port = free_port()
    quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "LITELLM_LOG": "ERROR"}
    process = Process([str(PEER), "--config", str(config), "--port", str(port)], work / "litellm.log", quiet)
    process.wait_ready(f"http://127.0.0.1:{port}/health/liveliness")
    return Target("LiteLLM", port, process, {"Authorization": f"Bearer {key}"})


def _waiting(port: int) -> int:
    """Return the number of turns not indexed or learned yet."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
        return sum(int(float(count)) for count in _WAITING.findall(page.read()))


def _link(source: str, target: str) -> None:
    """Link the files that LanceDB never changes, copy the rest."""
    (os.link if Path(source).suffix in _NEVER_CHANGED else shutil.copy2)(source, target)
