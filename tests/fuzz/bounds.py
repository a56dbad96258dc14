"""Random operations on all paths of the API, by scopes with near-identical data: no scope affects another."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.fakes.provider import FakeProvider
from tests.fuzz.bounds_paths import DASHBOARD, DASHBOARD_ONE, USERS, Operation, filled, noun_of, operations
from tests.running import Running

NAMES = ("first", "other-tenant", "other-user", "project-left", "project-right")
_TEAMS = {"first": ("cooks",), "other-tenant": ("cooks",)}  # two teams of one name, each with one user
_ID = re.compile(r"\b(?:mem|ses|doc|img|rcpt|job|qua|end|req|shr)_[0-9a-f]{24}\b")
_VARYING = re.compile(
    r'"(?:request_id|exported_at|last_at|last_used_at|at|now)": ?"[^"]*"|name="csrf" value="\w+"'
    r'|"pending_vectors": ?\d+'  # upkeep fills them in at its next tick
)
_OF_EXPORT = re.compile(r'^\{"(?:format|type":"end)".*\n', re.MULTILINE)
_PAUSE_S = 0.03
_COMMANDS = ("/memory", "/memory export", "/memory undo", "/memory forget {}")
_SAID = ("My boat is called {}", "I use {} for drawing", "Remind me to sell {} in May", "Please forget my boat")
_TOOLS = ("recall", "list_memories", "remember", "forget")
LOOKS = ("/v1/memories?status=all&limit=1000", "/v1/export", "/v1/receipts?limit=1000", "/v1/sessions?limit=1000")


@dataclass(frozen=True, slots=True)
class Act:
    """One operation.

    Args:
        what: Number of the operation, in ``World.acts``.
        whose: Number of the scope whose ids it uses.
        pick: Selects among ids, texts and tools.
    """

    what: int
    whose: int
    pick: int


@dataclass
class Member:
    """One scope: its headers, its word, and the ids in its responses."""

    name: str
    headers: dict[str, str]
    word: str
    browser: httpx.Client | None
    ids: list[str] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)

    def of(self, prefix: str) -> list[str]:
        return [id_ for id_ in self.ids if id_.startswith(prefix)]


class World:
    """Scopes of one run, all new, on a server in ``keys`` mode."""

    def __init__(self, server: Running, provider: FakeProvider) -> None:
        self._server, self._provider = server, provider
        self._http = httpx.Client(base_url=server.origin, timeout=30)
        self.operations = operations(self._http.get("/openapi.json").json())
        self.acts = [*self.operations, "say", "command", "mcp", "dashboard"]
        self.members = self._members()
        self._words = {member.word: member for member in self.members}
        self._word = re.compile("|".join(self._words))
        self._owner: dict[str, Member] = {}

    def close(self) -> None:
        self._http.close()
        for member in self.members:
            if member.browser is not None:
                member.browser.close()

    def _members(self) -> list[Member]:
        run, tenant = secrets.token_hex(3), ""
        found, keys = list[Member](), dict[str, str]()
        for at, name in enumerate(NAMES):
            user = {"other-user": "ben"}.get(name, "cleo" if "project" in name else "ann")
            if user == "cleo" and user in keys:
                text = keys[user]
            else:
                text, key = self._key("" if name == "other-tenant" else tenant, user, _TEAMS.get(name, ()))
                tenant = tenant or key.tenant
                keys[user] = text
            headers = {"authorization": f"Bearer {text}"}
            browser = None
            if "project" in name:
                headers["x-memory-project"] = name
            else:
                browser = httpx.Client(base_url=self._server.origin, headers={"accept": "text/html"}, timeout=30)
                page = browser.get("/dashboard/sign-in").text
                csrf = re.findall(r'name="csrf" value="(\w+)"', page)
                assert browser.post("/dashboard/sign-in", data={"csrf": csrf[0], "key": text}).status_code == 303
            found.append(Member(name, headers, f"zor{run}{'abcde'[at]}q", browser))
        return found

    def _key(self, tenant: str, user: str, teams: Sequence[str]) -> Any:
        services = self._server.services
        return self._server.call(
            lambda: services.keys.create(
                now=services.clock.now(), tenant=tenant, user=user, takes_commands=True, teams=teams
            )
        )

    def seed(self) -> None:
        """Give each scope the same data, except for its own word."""
        for member in self.members:
            for text in _SAID[:2]:
                self.say(member, text.format(member.word))
            self.ask(member, "POST", "/v1/memories", json={"text": f"The boat is called {member.word}"})
            named = {"file": ("notes.md", f"# Boat\n\nThe boat is called {member.word}.".encode())}
            self.ask(member, "POST", "/v1/documents", files=named)
            self.ask(member, "POST", "/v1/import", content=f"- I sail with {member.word}")
        for member in self.members:
            self.settle(member)
        for member in self.members:
            member.seen = self.look(member)

    def play(self, by: int, acts: Sequence[Act]) -> None:
        """Run operations of one scope, and check that the others see no effect."""
        member = self.members[by]
        others = [one for one in self.members if one is not member]
        for act in acts:
            what = self.acts[act.what]
            if isinstance(what, Operation):
                self._operate(member, self.members[act.whose], what, act.pick)
            else:
                getattr(self, f"_{what}")(member, self.members[act.whose], act.pick)
        self.settle(member)
        for one in others:
            now, seen = self.look(one), one.seen
            changed = [_difference(path, seen[path], now[path]) for path in seen if seen[path] != now[path]]
            done = [self.acts[act.what] for act in acts]
            assert not changed, f"{done} by {member.name} changes what {one.name} sees: {changed}"
        member.seen = self.look(member)

    def settle(self, member: Member) -> None:
        """Wait until all turns, files and imports of a scope are learned."""
        while True:
            state = self.ask(member, "GET", "/v1/state").json()
            jobs = self.ask(member, "GET", "/v1/jobs").json()["data"]
            if not (state["pending_turns"] or state["pending_media"] or any(_is_open(one) for one in jobs)):
                return
            time.sleep(_PAUSE_S)

    def look(self, member: Member) -> dict[str, str]:
        """Return the responses to all reads without an id, without values that depend on the time."""
        seen = {}
        paths = [one.path for one in self.operations if one.method == "GET" and "{" not in one.path]
        for path in (*paths, *LOOKS):
            text = self.ask(member, "GET", path).text
            if text.startswith('{"format":'):  # of an export: without its time
                text = "\n".join(sorted(_OF_EXPORT.sub("", text).splitlines()))  # upkeep moves rows
            seen[path] = _VARYING.sub("", text)
        return seen

    def ask(self, member: Member, method: str, path: str, *, asked: str = "", **sent: Any) -> httpx.Response:
        """Send a request and search its response for other scopes' words and ids."""
        answer = self._http.request(method, path, headers=member.headers, **sent)
        self._screen(member, answer, f"{method} {path}", asked + str(sent) + path)
        return answer

    def _screen(self, member: Member, answer: httpx.Response, where: str, sent: str) -> None:
        assert answer.status_code < 500, (where, answer.text)
        text = f"{answer.text} {answer.headers.get('x-memory-session')} {answer.headers.get('x-memory-receipt')}"
        words = {word for word in self._word.findall(text) if self._words[word] is not member and word not in sent}
        assert not words, f"{member.name} sees {words} at {where}: {answer.text[:800]}"
        for id_ in _ID.findall(text):
            if id_ in sent:
                continue
            owner = self._owner.setdefault(id_, member)
            assert owner is member, f"{member.name} sees {id_} of {owner.name} at {where}: {answer.text[:800]}"
            if id_ not in member.ids:
                member.ids.append(id_)

    def _operate(self, member: Member, whose: Member, one: Operation, pick: int) -> None:
        if one.path == "/v1/erase" and pick % 4:
            return  # else every history would soon be empty
        if one.path.startswith(USERS) and "x-memory-project" in member.headers:
            return  # agents belong to the user, across projects
        for prefix in one.prefixes or ("",):
            ids = whose.of(prefix) if prefix else [""]
            id_ = ids[pick % len(ids)] if ids else f"{prefix}_{secrets.token_hex(12)}"
            word = whose.word if one.path.endswith(("/search", "/forget")) else member.word
            answer = self._send(member, one, id_, word)
            if id_ and whose is not member:
                never = f"{prefix}_{secrets.token_hex(12)}"
                other = self._send(member, one, never, word)
                assert answer.status_code == other.status_code, (one, answer.text, other.text)
                if "{" in one.path:
                    assert answer.status_code in (400, 404), (one, answer.text)
                if answer.status_code >= 400:
                    assert answer.text.replace(id_, never) == other.text, (one, answer.text, other.text)

    def _send(self, member: Member, one: Operation, id_: str, word: str) -> httpx.Response:
        path = re.sub(r"\{[^}]*\}", id_, one.path)
        sent: dict[str, Any] = {}
        if one.body is not None:
            sent["json"] = filled(one.body, id_, word)
        elif one.is_upload:
            sent["files"] = {"file": ("notes.md", f"- I row with {member.word}".encode())}
        return self.ask(member, one.method, path, **sent)

    def say(self, member: Member, text: str) -> None:
        """Send a message in a new conversation; the forwarded request contains no other scope's words."""
        body = {"model": "m", "messages": [{"role": "user", "content": text}]}
        seen = len(self._provider.seen)
        self.ask(member, "POST", "/v1/chat/completions", json=body)
        for one in self._provider.seen[seen:]:
            words = {word for word in self._word.findall(one.body.decode()) if self._words[word] is not member}
            assert words <= set(self._word.findall(text)), f"the provider is told {words} for {member.name}"

    def _say(self, member: Member, whose: Member, pick: int) -> None:
        said = (*_SAID, "What is {} to me, and what is my boat called?")[pick % 5]
        self.say(member, said.format(whose.word if pick % 5 == 4 else member.word))

    def _command(self, member: Member, whose: Member, pick: int) -> None:
        self.say(member, _COMMANDS[pick % len(_COMMANDS)].format(whose.word))

    def _mcp(self, member: Member, whose: Member, pick: int) -> None:
        name = _TOOLS[pick % len(_TOOLS)]
        given = {"recall": {"query": whose.word}, "remember": {"text": f"I like {member.word}"}}.get(name, {})
        if name == "forget":
            given = {"ids": whose.of("mem")[-1:] or ["mem_0"]}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
        answer = self._http.post(
            "/mcp",
            json=call,
            headers={**member.headers, "accept": "application/json, text/event-stream"},
        )
        assert answer.status_code == 200, answer.text
        self._screen(member, answer, f"mcp {name}", json.dumps(given))

    def _dashboard(self, member: Member, whose: Member, pick: int) -> None:
        if member.browser is None:
            return
        for path in DASHBOARD:
            self._page(member, path.format(word=whose.word))
        path, prefix = DASHBOARD_ONE[pick % len(DASHBOARD_ONE)]
        for id_ in whose.of(prefix)[-2:] if whose is not member else []:
            never = f"{prefix}_{secrets.token_hex(12)}"
            answers = [self._page(member, path.format(id=one)) for one in (id_, never)]
            assert [answer.status_code for answer in answers] == [404, 404], path

    def _page(self, member: Member, path: str) -> httpx.Response:
        assert member.browser is not None
        answer = member.browser.get(f"/dashboard{path}")
        self._screen(member, answer, f"dashboard {path}", path)
        return answer


def _is_open(job: dict[str, Any]) -> bool:
    return job["status"] not in ("done", "failed")


def _difference(path: str, before: str, now: str) -> tuple[str, str, str]:
    """Return the path and its text before and after: the changed lines, or the text around the first change."""
    if "\n" in before:
        lines, others = set(before.splitlines()), set(now.splitlines())
        return path, "\n".join(sorted(lines - others)), "\n".join(sorted(others - lines))
    at = next((at for at, both in enumerate(zip(before, now, strict=False)) if both[0] != both[1]), 0)
    return path, before[max(at - 200, 0) : at + 200], now[max(at - 200, 0) : at + 200]


def covered(world: World) -> Iterator[str]:
    """Yield the parameters of paths without a known kind of id."""
    for one in world.operations:
        for name in re.findall(r"\{(\w+)", one.path):
            if noun_of(name) is None:
                yield f"{one.method} {one.path}"
