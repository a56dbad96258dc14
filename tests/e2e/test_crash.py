"""``kill -9`` at random moments: every turn whose end a client has read is stored exactly once."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from proxy.settings.load import environment
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Gate, Reply, chat, gated
from tests.launch import free_port
from tests.talking import Message, assistant, user

SEED = 20260101
CONVERSATIONS = 50
THREADS = 4
KILLS = 5
WAIT_S = 180.0
KEYS = ("sk-crash-ann", "sk-crash-bob")


class Served:
    """The real command in a separate process; its port and data folder stay the same."""

    def __init__(self, folder: Path, upstream: str, **variables: str) -> None:
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._command = [sys.executable, "-m", "proxy", "serve", "--port", str(self.port), "--data-dir", str(folder)]
        self._command += ["--upstream", upstream]
        self._variables = {**environment(), **variables}
        self._process: subprocess.Popen[bytes] | None = None
        # Created once, as each new client reads the system's certificates.
        self._clients = {key: self._client(key) for key in (*KEYS, "")}

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).parents[2],
            env=self._variables,
        )
        wait_for(self.is_up, "the server did not come up")

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def is_up(self) -> bool:
        try:
            return self.http("").get(f"{self.base_url.removesuffix('/v1')}/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def http(self, key: str) -> httpx.Client:
        return self._clients[key]

    def close(self) -> None:
        self.kill()
        for client in self._clients.values():
            client.close()

    def _client(self, key: str) -> httpx.Client:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.base_url, headers=headers, timeout=WAIT_S)


@dataclass
class Conversation:
    """One client's messages in one or two turns, and the number of turns answered to the end."""

    number: int
    turns: int
    answered: int = 0
    tries: int = 0

    @property
    def key(self) -> str:
        return KEYS[self.number % len(KEYS)]

    @property
    def name(self) -> str:
        return f"chat-{self.number}"

    def said(self, turn: int) -> str:
        tool = f"Tool{self.number}q" if turn == 0 else f"Thing{self.number}q"
        return f"I use {tool} for drawing"

    def messages(self, turn: int) -> list[Message]:
        messages = []
        for earlier in range(turn):
            messages += [user(self.said(earlier)), assistant(reply_to(self.said(earlier)))]
        return [*messages, user(self.said(turn))]


@dataclass
class Clients:
    """Threads that hold conversations and repeat each request, as SDKs do, until its end was read."""

    server: Served
    conversations: list[Conversation]
    ends: int = 0
    broken: int = 0  # streams that began without an end
    changed: threading.Condition = field(default_factory=threading.Condition)
    errors: list[BaseException] = field(default_factory=list)

    def start(self) -> list[threading.Thread]:
        shares = [self.conversations[at::THREADS] for at in range(THREADS)]
        threads = [threading.Thread(target=self._hold, args=(share,), daemon=True) for share in shares]
        for thread in threads:
            thread.start()
        return threads

    def wait_ends(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.ends >= count or bool(self.errors), WAIT_S)

    def _hold(self, share: list[Conversation]) -> None:
        try:
            for conversation in share:
                for turn in range(conversation.turns):
                    wait_for(lambda c=conversation, t=turn: self._ask(c, t), "a request was never answered")
        except BaseException as error:
            self.errors.append(error)
            raise

    def _ask(self, conversation: Conversation, turn: int) -> bool:
        body = {"model": "m", "stream": True, "messages": conversation.messages(turn)}
        headers = {"x-memory-session": conversation.name, "x-stainless-retry-count": str(conversation.tries)}
        conversation.tries += 1
        has_begun = False
        try:
            http = self.server.http(conversation.key)
            with http.stream("POST", "/chat/completions", json=body, headers=headers) as response:
                has_begun = True
                assert response.status_code == 200
                assert "data: [DONE]" in response.iter_lines()
        except httpx.TransportError:
            self.broken += has_begun
            return False
        with self.changed:
            conversation.answered = turn + 1
            self.ends += 1
            self.changed.notify_all()
        return True


def test_what_a_client_has_read_survives_every_kill(tmp_path: Path, provider: FakeProvider) -> None:
    chance = random.Random(SEED)
    stuck = Gate()
    asked = itertools.count()
    held = {chance.randrange(10 * at, 10 * at + 8) for at in range(KILLS)}

    def script(seen: Seen) -> Reply:
        body = seen.json
        whole = chat(reply_to(body["messages"][-1]["content"].partition("\n\n<memory")[0]), body)
        return gated(whole, stuck, 3) if next(asked) in held else whole

    provider.script(script)
    server = Served(tmp_path, provider.base_url, THROUGHLINE_WORKER__LEASE_S="4")  # leases of the killed process
    clients = Clients(server, [Conversation(n, turns=1 + (n % 3 == 0)) for n in range(CONVERSATIONS)])
    total = sum(conversation.turns for conversation in clients.conversations)
    server.start()
    try:
        threads = clients.start()
        for at in range(1, KILLS + 1):
            clients.wait_ends(at * total // (KILLS + 2))
            threading.Event().wait(chance.random() * 0.15)
            seen = {conversation.name: conversation.answered for conversation in clients.conversations}
            server.kill()
            server.start()
            kept = {session["name"]: session["turns"] for session in sessions(server)}
            lost = {name: answered for name, answered in seen.items() if kept.get(name, 0) < answered}
            assert lost == {}
        stuck.open()
        for thread in threads:
            thread.join(WAIT_S)
        assert clients.errors == []
        assert clients.ends == total
        assert clients.broken >= KILLS
        retry_all(clients)
        for key in KEYS:
            check_everything_once(server, key, [one for one in clients.conversations if one.key == key])
    finally:
        server.close()


def retry_all(clients: Clients) -> None:
    """Send answered requests again, as SDKs may do."""
    for conversation in clients.conversations[::5]:
        for turn in range(conversation.turns):
            assert clients._ask(conversation, turn)


def check_everything_once(server: Served, key: str, conversations: list[Conversation]) -> None:
    http = server.http(key)
    wait_for(lambda: http.get("/state").json().get("pending_turns") == 0, "not everything was learned")
    assert http.get("/state").json()["dead_turns"] == 0
    found = {session["name"]: session for session in http.get("/sessions", params={"limit": 1000}).json()["data"]}
    assert found.keys() == {conversation.name for conversation in conversations}
    for conversation in conversations:
        assert found[conversation.name]["turns"] == conversation.turns
        messages = http.get(f"/sessions/{conversation.name}").json()["messages"]
        expected = []
        for turn in range(conversation.turns):
            expected += [("user", conversation.said(turn)), ("assistant", reply_to(conversation.said(turn)))]
        assert [(message["role"], message["text"]) for message in messages] == expected
        assert len({message["id"] for message in messages}) == len(messages)
    memories = http.get("/memories", params={"limit": 1000, "status": "all"}).json()["data"]
    stated = Counter(memory["text"] for memory in memories)
    said = [conversation.said(turn) for conversation in conversations for turn in range(conversation.turns)]
    assert stated == Counter(said)
    for memory in memories[:5]:
        assert len(http.get(f"/memories/{memory['id']}/history").json()["data"]) == 1


def sessions(server: Served) -> list[Message]:
    found: list[Message] = []
    for key in KEYS:
        found += server.http(key).get("/sessions", params={"limit": 1000}).json()["data"]
    return found


def reply_to(text: str) -> str:
    return f"Understood, that is noted: {text.upper()} and that is all."


def wait_for(is_done: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_done():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.03)
