"""Tested servers: a mock of OpenAI's specification, a scripted provider, and Throughline before either."""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from proxy.settings.load import environment
from tests.bench.processes import ROOT, Process, free_port
from tests.conformance.tools import NODE_BIN
from tests.fakes.acting import acting
from tests.fakes.provider import FakeProvider

KEY = "sk-conformance"
SPEC = (
    Path(environment().get("THROUGHLINE_DATA") or ROOT.parent / "shared" / "data") / "spec" / "openapi.transformed.yml"
)

_MEMORY = "My name is Ada and I live in Lisbon"  # its profile is injected into every conversation
_BRACKETS = [f"--validator-{what}={how}" for what in ("query-array-format", "form-array-format", "query-object-format",
                                                      "form-object-format") for how in ("brackets",)]  # fmt: skip


@dataclass(frozen=True)
class Routes:
    """Base URLs of the same provider by three routes."""

    direct: str
    off: str
    on: str


@contextmanager
def spec_mock(folder: Path) -> Iterator[Routes]:
    """Serve the specification, with its paths under ``/v1`` like a provider's."""
    head, separator, rest = SPEC.read_text().partition("\npaths:\n")
    paths, end, more = re.split(r"(\n)(?=[a-z])", rest, maxsplit=1)
    spec = folder / "spec.yml"
    spec.write_text(head + separator + re.sub(r"(?m)^  /", "  /v1/", paths) + end + more)
    port = free_port()
    command = [
        str(NODE_BIN / "steady"),
        "--host",
        "127.0.0.1",
        "-p",
        str(port),
        "-q",
        "--stream-interval=1",
        *_BRACKETS,
    ]
    mock = Process([*command, str(spec)], folder / "mock.log")
    try:
        mock.wait_listening(port)
        with _through(f"http://127.0.0.1:{port}/v1", folder) as routes:
            yield routes
    finally:
        mock.stop()


@contextmanager
def provider(folder: Path) -> Iterator[Routes]:
    """Serve a model that calls tools and fills in schemas."""
    fake = FakeProvider().start()
    fake.script(acting)
    try:
        with _through(fake.base_url, folder) as routes:
            yield routes
    finally:
        fake.stop()


@contextmanager
def _through(base_url: str, folder: Path) -> Iterator[Routes]:
    servers: dict[str, Process] = {}
    ports = {mode: free_port() for mode in ("off", "full")}
    try:
        for mode, port in ports.items():
            flags = ["--port", str(port), "--data-dir", str(folder / f"data-{mode}"), "--upstream", base_url]
            extra = {"THROUGHLINE_MEMORY__DEFAULT_MODE": mode, "THROUGHLINE_TELEMETRY__LOG_LEVEL": "warning"}
            servers[mode] = Process(
                [sys.executable, "-m", "proxy", "serve", *flags], folder / f"throughline-{mode}.log", extra
            )
        for mode, server in servers.items():
            server.wait_ready(f"http://127.0.0.1:{ports[mode]}/readyz")
        off, on = (f"http://127.0.0.1:{port}/v1" for port in ports.values())
        for key in (KEY, "My API Key"):
            _remember(on, key)
        yield Routes(base_url, off, on)
    finally:
        for server in servers.values():
            server.stop()


def _remember(base_url: str, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    body = json.dumps({"text": _MEMORY}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{base_url}/memories", body, headers), timeout=30):
        pass
