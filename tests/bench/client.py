"""A client for files and chats that keeps one connection open and times each step."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.bench.fill import KEY

_BOUNDARY = "bench-of-files"
_PATIENCE_S = 170.0
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Read:
    """Times of an ingested file: until search finds its words, and until it is done."""

    body: dict[str, Any]
    found_s: float
    ready_s: float


class Client:
    """One user of one server."""

    def __init__(self, port: int, user: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
        self._headers = {"Authorization": f"Bearer {KEY}", "X-Memory-User": user}

    def show(self, name: str, data: bytes) -> dict[str, Any]:
        """Upload a file and return its document or image."""
        head = (
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        body = head.encode() + data + f"\r\n--{_BOUNDARY}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
        found: dict[str, Any] = json.loads(self._whole("POST", "/v1/documents", body, kind))
        if "id" not in found:
            raise SystemExit(f"{name} was refused: {found}")
        return found

    def read(self, name: str, data: bytes) -> Read:
        """Upload a file and wait until it is ingested."""
        started_at = time.perf_counter()
        item = self.show(name, data)
        found_s = 0.0
        while item["status"] == "processing":
            time.sleep(_POLL_S)
            item = self.look(item)
            if not found_s and (item["status"] == "ready" or item.get("chunks")):
                found_s = time.perf_counter() - started_at
        return Read(item, found_s, time.perf_counter() - started_at)

    def look(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the current state of a document or image."""
        found: dict[str, Any] = json.loads(self._whole("GET", f"/v1/{item['object']}s/{item['id']}", None, {}))
        return found

    def pending(self) -> int:
        """Return the number of this user's files and turns still to be ingested or learned."""
        state = json.loads(self._whole("GET", "/v1/state", None, {}))
        return int(state["pending_media"]) + int(state["pending_turns"])

    def chat(self, model: str, content: Any, session: str) -> tuple[float, float]:
        """Send a streamed chat of one turn; return the milliseconds to its first byte and to its end."""
        body = json.dumps({"model": model, "stream": True, "messages": [{"role": "user", "content": content}]})
        headers = {"Content-Type": "application/json", "X-Memory-Session": session, **self._headers}
        started_at = time.perf_counter()
        self._connection.request("POST", "/v1/chat/completions", body.encode(), headers)
        response = self._connection.getresponse()
        response.read(1)
        first_ms = (time.perf_counter() - started_at) * 1000
        response.read()
        if response.status != 200:
            raise SystemExit(f"A chat was answered {response.status}.")
        return first_ms, (time.perf_counter() - started_at) * 1000

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _whole(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> bytes:
        self._connection.request(method, path, body, {**self._headers, **headers})
        return self._connection.getresponse().read()
