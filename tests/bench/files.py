"""Costs of files and images, from outside: ``python -m tests.bench.files`` or ``make bench ARGS=--files``.

Every file is sent to a running server and awaited; then it is sent again. After that, chats with and without an image
go to the provider directly and through the server, in turn. Nothing is asserted.
"""

from __future__ import annotations

import base64
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.client import Client
from tests.bench.processes import Load, Process, running
from tests.bench.shown import Kind, kinds, picture, warm_up
from tests.bench.targets import start_throughline, start_upstream

_BLIND = "blind"
_ENVIRONMENT = {
    "THROUGHLINE_MEDIA__TEXT_ONLY_MODELS": f'["{_BLIND}"]',
    "THROUGHLINE_MEDIA__CAPTION_DEADLINE_MS": "60000",
}
_PAGE_TOKENS = 700  # of files without pages
_SENDINGS = 20
_ROUNDS, _NEW_ROUNDS = 15, 4
_MAX_CHAT_S = 60.0  # no further round of chats after this time
_PAUSE_MS = 3.0  # between two chunks: no real reply is there at once, and its end waits for what is stored
_IDLE_S, _IDLE_SHARE = 0.2, 0.1
_MAX_SETTLING_S = 20.0
_MB = 2**20


@dataclass(slots=True)
class Row:
    """Costs of one kind of file."""

    kind: Kind
    pages: float = 0.0
    found_s: float = 0.0
    ready_s: float = 0.0
    cpu_s: float = 0.0
    again_ms: float = 0.0
    again_cpu_ms: float = 0.0
    peaks_bytes: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Chats:
    """Milliseconds to first token and end, by route and content."""

    ms: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, name: str, times_ms: tuple[float, float]) -> None:
        """Add one chat: first token and end."""
        self.ms.setdefault(name, []).append(times_ms)

    def median(self, name: str) -> tuple[float, float]:
        """Return the medians of first token and end."""
        first, end = zip(*self.ms[name], strict=True)
        return statistics.median(first), statistics.median(end)

    def added(self, name: str) -> tuple[float, float]:
        """Return the delay that an image adds on its route, to first token and end."""
        with_image, without = self.median(name), self.median(f"{name.partition(',')[0]}, text")
        return with_image[0] - without[0], with_image[1] - without[1]


def main() -> None:
    """Run the measurements and print the two tables."""
    started_at = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="bench-files-", dir="/var/tmp") as folder, running([]) as processes:
        upstream_port, server, port = _start(Path(folder), processes)
        client = Client(port, "files")
        rows: list[Row] = []
        for is_seen in (False, True):
            for name, data in warm_up(is_seen=is_seen):
                client.read(name, data)
            rows += [_row(kind, client, server) for kind in kinds() if kind.is_seen == is_seen]
        chats = _chats(Client(upstream_port, "direct"), Client(port, "chats"), server)
    print(f"\n{files_table(rows)}\n\n{chats_table(chats)}\n")
    print(
        f"{time.perf_counter() - started_at:.0f} s in all; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores. "
        f"A page of what knows no pages is {_PAGE_TOKENS} tokens. CPU is that of the server with the processes that "
        "read, embedding included."
    )


def files_table(rows: list[Row]) -> str:
    """Return the table of file kinds."""
    head = (
        "kind", "files", "pages", "found: pages/s", "embedded: pages/s", "CPU-ms a page", "again: ms", "again: CPU-ms",
        "peak of the reader, MB", "of the server, MB",
    )  # fmt: skip
    return _aligned([head, *(_cells(row) for row in rows)])


def chats_table(chats: Chats) -> str:
    """Return the table of chats; an image's delay stands next to its delay on the direct route."""
    lines: list[tuple[str, ...]] = [
        ("chat", "first token, ms", "end, ms", "image: first", "end", "beyond: first", "end")
    ]
    direct = chats.added("direct, image")
    for name in sorted(chats.ms, key=lambda one: one.partition(",")[0]):
        added = chats.added(name)
        is_own = not name.startswith("direct") and not name.endswith("text")
        cells = [f"{ms:.1f}" for ms in chats.median(name)]
        cells += ["-", "-"] if name.endswith("text") else [f"{ms:+.1f}" for ms in added]
        cells += [f"{ms - base:+.1f}" for ms, base in zip(added, direct, strict=True)] if is_own else ["-", "-"]
        lines.append((name, *cells))
    return _aligned(lines)


def _start(work: Path, processes: list[Process | Load]) -> tuple[int, Process, int]:
    upstream, upstream_port = start_upstream(work, _PAUSE_MS)
    processes.append(upstream)
    server, port = start_throughline(upstream_port, 0, work, work, _ENVIRONMENT)
    processes.append(server)
    return upstream_port, server, port


def _row(kind: Kind, client: Client, server: Process) -> Row:
    row = Row(kind)
    _settle(client, server)
    server.forget_peaks()
    before = server.cpu_s()
    for name, data in kind.files:
        read = client.read(name, data)
        row.found_s += read.found_s
        row.ready_s += read.ready_s
        row.pages += _pages(read.body)
    row.cpu_s = server.cpu_s() - before
    row.peaks_bytes = server.peaks_bytes()
    _settle(client, server)
    before, started_at = server.cpu_s(), time.perf_counter()
    for _ in range(_SENDINGS):
        for name, data in kind.files:
            client.show(name, data)
    sendings = _SENDINGS * len(kind.files)
    row.again_ms = (time.perf_counter() - started_at) * 1000 / sendings
    _settle(client, server)
    row.again_cpu_ms = (server.cpu_s() - before) * 1000 / sendings
    print(f"{kind.name} done", flush=True)
    return row


def _pages(item: dict[str, Any]) -> float:
    if item["object"] == "image":
        return 1.0
    is_paged = item["media_type"] == "application/pdf"
    return float(item["pages"]) if is_paged else float(item["tokens"]) / _PAGE_TOKENS


def _chats(direct: Client, ours: Client, server: Process) -> Chats:
    chats, image = Chats(), picture()
    ways: list[tuple[str, Client, str, Callable[[], bytes | None]]] = [
        ("direct, text", direct, "seeing", lambda: None),
        ("direct, image", direct, "seeing", lambda: image),
        ("seeing, text", ours, "seeing", lambda: None),
        ("seeing, image again", ours, "seeing", lambda: image),
        ("text-only, text", ours, _BLIND, lambda: None),
        ("text-only, image again", ours, _BLIND, lambda: image),
    ]
    fresh = [
        ("seeing, new image", ours, "seeing", lambda: image + secrets.token_bytes(16)),
        ("text-only, new image", ours, _BLIND, lambda: image + secrets.token_bytes(16)),
    ]
    started_at = time.perf_counter()
    for number in range(_ROUNDS + 1):
        if time.perf_counter() - started_at > _MAX_CHAT_S and number > _NEW_ROUNDS:
            break
        for name, client, model, shown in [*ways, *(fresh if number <= _NEW_ROUNDS else [])]:
            if client is ours:
                _settle(ours, server)
            times_ms = client.chat(model, _content(shown()), secrets.token_hex(8))
            if number:  # the first round is a warm-up
                chats.add(name, times_ms)
    print("chats done", flush=True)
    return chats


def _content(image: bytes | None) -> Any:
    text = f"What do you make of this, in a word? {secrets.token_hex(4)}"
    if image is None:
        return text
    url = f"data:image/jpeg;base64,{base64.b64encode(image).decode()}"
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]


def _settle(client: Client, server: Process) -> None:
    """Wait until all files and turns are ingested and learned and the server is idle."""
    deadline = time.perf_counter() + _MAX_SETTLING_S
    while time.perf_counter() < deadline:
        before = server.cpu_s()
        time.sleep(_IDLE_S)
        if server.cpu_s() - before <= _IDLE_SHARE * _IDLE_S and not client.pending():
            return


def _cells(row: Row) -> tuple[str, ...]:
    own, reader = row.peaks_bytes
    return (
        row.kind.name + (" (own)" if row.kind.is_own else ""),
        str(len(row.kind.files)),
        f"{row.pages:.0f}",
        f"{row.pages / row.found_s:.1f}",
        f"{row.pages / row.ready_s:.1f}",
        f"{1000 * row.cpu_s / row.pages:.0f}",
        f"{row.again_ms:.1f}",
        f"{row.again_cpu_ms:.1f}",
        f"{reader / _MB:.0f}",
        f"{own / _MB:.0f}",
    )


def _aligned(lines: list[tuple[str, ...]]) -> str:
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))]
        )
        for line in lines
    )


if __name__ == "__main__":
    main()
