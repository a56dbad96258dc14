"""Client of Throughline as an application would use it: chat completions and the memory API."""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import aiohttp

from proxy.errors import ProxyError
from proxy.evals.metrics import injected_text
from proxy.evals.server import NEUTRAL_REPLY, REQUEST_ID, ScriptedUpstream, cpu_s

MODEL = "scripted"
_SETTLE_S = 300.0
_REQUEST_S = 120.0


class EvalFailed(ProxyError):
    """The server under test failed, so that nothing can be measured."""

    code = "eval_failed"


@dataclass(frozen=True, slots=True)
class Asked:
    """Result of one request.

    Args:
        insertions: Injected texts, in order of the messages.
        sent: Messages sent by the client.
        received: Messages received by the upstream.
        memory: Value of ``X-Memory``.
        receipt: Value of ``X-Memory-Receipt``.
        wall_ms: Duration of the whole request; the scripted upstream answers at once.
        steps: Value of ``Server-Timing``.
    """

    insertions: tuple[str, ...]
    sent: Sequence[Mapping[str, Any]]
    received: Sequence[Mapping[str, Any]]
    memory: str
    receipt: str
    wall_ms: float
    steps: str = ""

    @property
    def outcome(self) -> str:
        """Use of memory in one or two words: ``used``, ``none``, ``degraded (deadline)``."""
        first, _, rest = self.memory.partition(";")
        reason = rest.partition("reason=")[2].partition(";")[0].strip()
        return f"{first} ({reason})" if reason else first

    @property
    def text(self) -> str:
        """All injected texts, one after the other."""
        return "\n".join(self.insertions)


class Client:
    """An application with one key and many users.

    Args:
        pid: Process id of the server under test, None if another process started it.
    """

    def __init__(
        self,
        http: aiohttp.ClientSession,
        base_url: str,
        upstream: ScriptedUpstream,
        key: str,
        pid: int | None = None,
    ) -> None:
        self._http = http
        self._base_url = base_url.rstrip("/").removesuffix("/v1")
        self._upstream = upstream
        self._key = key
        self._pid = pid

    def with_key(self, name: str) -> Client:
        """Return a client with its own key, which depends only on ``name``."""
        return Client(self._http, self._base_url, self._upstream, f"{self._key}-{name}", self._pid)

    async def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        user: str,
        session: str | None = None,
        time_of_turn: str | None = None,
        mode: str = "full",
        budget: int | None = None,
        reply: str = NEUTRAL_REPLY,
        model: str = MODEL,
        headers: Mapping[str, str] | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> Asked:
        """Post one chat completion and return the messages that the upstream received.

        An empty ``user`` or ``session`` sends no such header. ``headers`` override all others; ``fields`` are added to
        the body.

        Raises:
            EvalFailed: If the request fails or does not reach the scripted upstream.
        """
        request_id = f"req_{secrets.token_hex(12)}"
        self._upstream.expect(request_id, reply)
        sent = {REQUEST_ID: request_id, "X-Memory-Mode": mode, **self._as(user)}
        sent |= {"X-Memory-Session": session} if session else {}
        sent |= {"X-Memory-Time": time_of_turn} if time_of_turn else {}
        sent |= {"X-Memory-Budget": str(budget)} if budget is not None else {}
        sent |= headers or {}
        start = time.perf_counter()
        body = {"model": model, "messages": list(messages), **(fields or {})}
        async with self._http.post(f"{self._base_url}/v1/chat/completions", json=body, headers=sent) as response:
            text = await response.text()
            wall_ms = (time.perf_counter() - start) * 1000
            if response.status != 200:
                raise EvalFailed(f"A chat completion was answered with {response.status}: {text[:300]}")
            steps = response.headers.get("Server-Timing", "")
            memory, receipt = response.headers.get("X-Memory", ""), response.headers.get("X-Memory-Receipt", "")
        received = self._upstream.take(request_id)
        if received is None:
            raise EvalFailed(
                "The request did not reach the scripted upstream. With --base-url, the server must be running with "
                f"`--upstream {self._upstream.url}`."
            )
        insertions = () if model != MODEL else tuple(injected_text(messages, received))
        return Asked(insertions, messages, received, memory, receipt, wall_ms, steps)

    async def settle(self, user: str) -> None:
        """Wait until all messages of the user are stored and learned.

        Raises:
            EvalFailed: If there is no progress for five minutes.
        """
        least, since, pause_s = sys.maxsize, time.monotonic(), 0.02
        while (pending := _pending(await self.get("/v1/state", user))) > 0:
            if pending < least:
                least, since = pending, time.monotonic()
            if time.monotonic() - since > _SETTLE_S:
                raise EvalFailed(
                    f"{pending} turns of {user!r} are still pending after {_SETTLE_S:.0f} s without progress."
                )
            await asyncio.sleep(pause_s)
            pause_s = min(0.5, pause_s * 1.5)

    async def end(self, user: str, session: str) -> None:
        """End a session, so that its summary is written, as an idle hour would.

        Raises:
            EvalFailed: If the status is not 200.
        """
        await self.call("POST", f"/v1/sessions/{quote(session)}/end", user)

    async def get(self, path: str, user: str, **query: str) -> dict[str, Any]:
        """Return the JSON object at a path of the memory API.

        Raises:
            EvalFailed: If the status is not 200.
        """
        return await self.call("GET", path, user, query=query)

    async def call(
        self,
        method: str,
        path: str,
        user: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send one request to the memory API and return its JSON object.

        Raises:
            EvalFailed: If the status is not 200.
        """
        url, headers = f"{self._base_url}{path}", self._as(user)
        async with self._http.request(method, url, params=query, headers=headers, json=body) as response:
            if response.status != 200:
                raise EvalFailed(
                    f"{method} {path} was answered with {response.status}: {(await response.text())[:300]}"
                )
            found: dict[str, Any] = await response.json()
            return found

    async def resident_mb(self) -> float | None:
        """Return the resident memory of the server process in MB, None if unknown."""
        size = await self._metric("process_resident_memory_bytes")
        return None if size is None else size / 2**20

    async def cpu_s(self) -> float | None:
        """Return the CPU seconds of the server so far, None if unknown.

        Children are included if this process started the server; otherwise the server reports only itself.
        """
        own = None if self._pid is None else await asyncio.to_thread(cpu_s, self._pid)
        return await self._metric("process_cpu_seconds_total") if own is None else own

    async def _metric(self, name: str) -> float | None:
        async with self._http.get(f"{self._base_url}/metrics") as response:
            lines = (await response.text()).splitlines()
        found = [line.rpartition(" ")[2] for line in lines if line.startswith(f"{name} ")]
        return float(found[0]) if found else None

    async def ranked(self, user: str, receipt: str) -> list[dict[str, Any]]:
        """Return the injected and considered entries of a receipt, best first.

        Profile and opening are excluded, as they do not depend on the question.
        """
        body = await self.get(f"/v1/receipts/{receipt}", user)
        found = [entry for name in ("injected", "considered") for entry in body.get(name) or ()]
        unasked = frozenset((*body["profile"], *body["opening"]))
        entries = {entry["id"]: entry for entry in found if entry["id"] not in unasked}
        return sorted(entries.values(), key=lambda entry: -float(entry.get("score") or 0.0))

    async def memories(self, user: str, status: str = "active") -> list[dict[str, Any]]:
        """Return all memories of a user with a status ("all" for any)."""
        found: list[dict[str, Any]] = []
        query = {"limit": "1000", "status": status}
        while True:
            page = await self.get("/v1/memories", user, **query)
            found += page["data"]
            if not page.get("has_more") or not page["data"]:
                return found
            query["after"] = page["data"][-1]["id"]

    def _as(self, user: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}", **({"X-Memory-User": user} if user else {})}


def http_session() -> aiohttp.ClientSession:
    """Return the connection pool of an eval."""
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_REQUEST_S), trust_env=False)


def _pending(state: Mapping[str, Any]) -> int:
    return int(state.get("pending_turns", 0)) + int(state.get("pending_vectors", 0))
