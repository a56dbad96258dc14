"""One memory for several clients of one user: stated in one, recalled in the others, over three wire formats."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.provider import FakeProvider
from tests.running import TLS, Running
from tests.talking import FACT

QUESTION = "What are the productivity tools that I use?"
DEVICE = json.dumps({"device_id": "d" * 64, "account_uuid": "", "session_id": "0f0f0f0f-0000-4000-8000-000000000001"})
ENVIRONMENT = "<environment_context>\n  <cwd>/home/ana/shop</cwd>\n</environment_context>"
REMINDER = "<system-reminder>\nToday is Thursday.\n</system-reminder>"

Asked = tuple[str, dict[str, str], dict[str, Any]]


def sdk(text: str) -> Asked:
    """Return an SDK's chat, with a user of the application."""
    return "/chat/completions", {}, {"model": "m", "messages": [{"role": "user", "content": text}]}


def open_webui(text: str) -> Asked:
    """Return a front end's chat, with its account and chat id."""
    named = {
        "X-OpenWebUI-User-Id": "9f1c",
        "X-OpenWebUI-User-Email": "ana%40example.org",
        "X-OpenWebUI-Chat-Id": str(len(text)),
    }
    return "/chat/completions", named, {"model": "m", "stream": True, "messages": [{"role": "user", "content": text}]}


def codex(text: str) -> Asked:
    """Return a coding agent's Responses request, with the environment as a separate item."""
    items = [("developer", "Be brief."), ("user", ENVIRONMENT), ("user", text)]
    body = {
        "model": "m",
        "instructions": "You are a coding agent.",
        "input": [{"role": role, "content": [{"type": "input_text", "text": said}]} for role, said in items],
        "prompt_cache_key": f"thread-{len(text)}",
        "store": False,
    }
    return "/responses", {"session_id": f"thread-{len(text)}", "originator": "codex_cli_rs"}, body


def claude_code(text: str) -> Asked:
    """Return a coding agent's Messages request, with device metadata and a reminder beside the user's words."""
    blocks = [{"type": "text", "text": one} for one in (REMINDER, text)]
    body = {
        "model": "m",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.328;"}],
        "messages": [{"role": "user", "content": blocks}],
        "metadata": {"user_id": DEVICE},
    }
    return "/messages?beta=true", {"anthropic-version": "2023-06-01", "x-claude-code-session-id": "s"}, body


CLIENTS: dict[str, Callable[[str], Asked]] = {
    "sdk": sdk,
    "Open WebUI": open_webui,
    "Codex": codex,
    "Claude Code": claude_code,
}
SECTIONS: dict[str, dict[str, Any]] = {
    "keys": {"auth": {"mode": "keys"}},
    "local": {"memory": {"local_user": "ana"}},
    "one key": {},
}


class Person:
    """A user with four clients, each with a key of the tested set-up."""

    def __init__(self, server: Running, way: str, name: str) -> None:
        self.server, self.way, self.name = server, way, name
        self.tenant = secrets.token_hex(16)  # of the first key, as `keys create` prints it
        self.keys = {client: self._key(client) for client in CLIENTS}
        self.http = httpx.Client(base_url=server.base_url, timeout=30, verify=TLS)

    def send(self, client: str, text: str) -> httpx.Response:
        path, headers, body = CLIENTS[client](text)
        key = self.keys[client]
        own = {"x-api-key": key} if client == "Claude Code" else {"authorization": f"Bearer {key}"}
        response = self.http.post(path, json=body, headers={**headers, **own, **self._named})
        assert response.status_code == 200, response.text
        return response

    def wait(self) -> None:
        self.server.wait_learned(self.keys["sdk"], **{k.replace("-", "_"): v for k, v in self._named.items()})

    @property
    def _named(self) -> dict[str, str]:
        return {"x-memory-user": self.name} if self.way == "one key" else {}

    def _key(self, client: str) -> str:
        if self.way == "one key":
            return "sk-one-and-only"
        if self.way == "local":
            return {"sdk": "sk-proj-1", "Open WebUI": "ollama", "Codex": "gsk_2", "Claude Code": "sk-ant-3"}[client]
        services = self.server.services
        made = self.server.call(
            lambda: services.keys.create(now=services.clock.now(), user=self.name, tenant=self.tenant)
        )
        return str(made[0])


@pytest.fixture(scope="module")
def lasting() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.mark.parametrize("way", SECTIONS)
def test_row_96_told_in_one_client_known_in_others(tmp_path: Path, lasting: FakeProvider, way: str) -> None:
    upstream = {"url": lasting.base_url, "api_key": "sk-provider"} if way == "keys" else lasting.base_url
    with Running(tmp_path, upstream=upstream, **SECTIONS[way]) as server:
        tellers = list(CLIENTS) if way != "local" else ["Claude Code"]
        for number, teller in enumerate(tellers):
            person = Person(server, way, f"ana {number}" if way != "local" else "ana")
            with person.http:
                person.send(teller, FACT)
                person.wait()
                for client in CLIENTS:
                    if client != teller:
                        response = person.send(client, QUESTION)
                        assert response.headers["x-memory"].startswith("used"), (teller, client)
                        assert b"Shram" in lasting.last.body
                stranger = Person(server, way, f"ben {number}")
                with stranger.http:
                    if way != "local":
                        stranger.send("sdk", QUESTION)
                        assert b"Shram" not in lasting.last.body


def test_row_96_page_of_another_site_is_not_local(tmp_path: Path, lasting: FakeProvider) -> None:
    local = {"local_user": "ana"}
    with Running(tmp_path, upstream=lasting.base_url, memory=local) as server, server.http("sk-anything") as http:
        assert http.post("/memories", json={"text": FACT}).status_code == 200
        page = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
        assert http.get("/memories", headers=page).status_code == 403
        assert "Shram" not in http.get("/memories", headers={"host": "evil.example"}).text
        assert http.get("/memories", headers={"x-memory-user": "ben"}).status_code == 403
