"""Random histories of several scopes at once: whatever is done, no scope sees a word or an id of another."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import Any

import httpx
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.running import Running

# Two keys; two users of one key whose names are alike; two agents and two projects of one user.
SCOPES = ("key", "user-1", "user-10", "User-1", "agent-a", "agent-b", "project-a", "project-b")
_SAID = ("I use {} for drawing", "My boat is called {}", "I like {}", "Please forget that I like {}")
_ACTS = ("say", "add", "list", "search", "forget", "edit", "delete", "read", "sessions", "end", "drop")

Act = tuple[str, int, int, int]  # what, by which scope, with which word, aimed at whose things
ACTS = st.lists(
    st.tuples(
        st.sampled_from(_ACTS), st.integers(0, len(SCOPES) - 1), st.integers(0, 3), st.integers(0, len(SCOPES) - 1)
    ),
    min_size=4,
    max_size=14,
)


@dataclass
class Member:
    """One scope: how it asks, and what is its own."""

    name: str
    headers: dict[str, str]
    words: list[str]
    memories: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)


class World:
    """Members of one run, all new; ``act`` does one thing and checks what comes back."""

    def __init__(self, server: Running) -> None:
        self._http = httpx.Client(base_url=server.base_url, timeout=20)
        run = secrets.token_hex(4)
        self.members = [_member(name, at, run) for at, name in enumerate(SCOPES)]
        self._words = {word: member for member in self.members for word in member.words}
        self._word = re.compile("|".join(self._words))

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def act(self, act: Act) -> None:
        """Do one thing; every answer is looked through for words of others."""
        what, by, word, whose = act
        getattr(self, f"_{what}")(self.members[by], self.members[by].words[word], self.members[whose])

    def look_everywhere(self) -> None:
        """Ask each scope for everything that it can see."""
        for member in self.members:
            for path in ("/memories?status=all&limit=1000", "/sessions?limit=1000", "/documents", "/state"):
                self._ask(member, "GET", path)
            for other in self.members:
                word = other.words[0]
                self._ask(member, "POST", "/memories/search", {"query": word, "sources": ["fact", "episode"]}, word)

    def _ask(self, member: Member, method: str, path: str, body: Any = None, asked: str = "") -> httpx.Response:
        answer = self._http.request(method, path, json=body, headers=member.headers)
        assert answer.status_code < 500, (path, answer.text)
        seen = {word for word in self._word.findall(answer.text) if self._words[word] is not member}
        assert seen <= {asked}, f"{member.name} sees {seen} at {method} {path}: {answer.text[:500]}"
        return answer

    def _say(self, member: Member, word: str, _: Member) -> None:
        said = _SAID[len(member.sessions) % len(_SAID)].format(word)
        body = {"model": "m", "messages": [{"role": "user", "content": said}]}
        answer = self._ask(member, "POST", "/chat/completions", body)
        member.sessions.append(answer.headers["x-memory-session"])

    def _add(self, member: Member, word: str, _: Member) -> None:
        member.memories.append(self._ask(member, "POST", "/memories", {"text": f"I like {word}"}).json()["id"])

    def _list(self, member: Member, word: str, _: Member) -> None:
        self._ask(member, "GET", f"/memories?query={word}")

    def _search(self, member: Member, _: str, whose: Member) -> None:
        word = whose.words[0]
        self._ask(member, "POST", "/memories/search", {"query": word, "sources": ["fact", "episode"]}, word)

    def _forget(self, member: Member, _: str, whose: Member) -> None:
        self._ask(member, "POST", "/memories/forget", {"query": whose.words[0]}, whose.words[0])
        self._ask(member, "POST", "/memories/forget", {"ids": _strangers(member, whose, "memories")[:50] or ["mem_0"]})

    def _edit(self, member: Member, word: str, whose: Member) -> None:
        self._foreign(member, whose, "PATCH", "memories", "", {"text": f"I like {word}"})

    def _delete(self, member: Member, _: str, whose: Member) -> None:
        self._foreign(member, whose, "DELETE", "memories")

    def _read(self, member: Member, _: str, whose: Member) -> None:
        self._foreign(member, whose, "GET", "memories")
        self._foreign(member, whose, "GET", "memories", "/history")
        self._foreign(member, whose, "POST", "memories", "/restore")

    def _sessions(self, member: Member, _: str, whose: Member) -> None:
        self._foreign(member, whose, "GET", "sessions")

    def _end(self, member: Member, _: str, whose: Member) -> None:
        self._foreign(member, whose, "POST", "sessions", "/end")

    def _drop(self, member: Member, _: str, whose: Member) -> None:
        self._foreign(member, whose, "DELETE", "sessions")

    def _foreign(self, member: Member, whose: Member, method: str, noun: str, rest: str = "", body: Any = None) -> None:
        """Reach for a thing of another: byte for byte the answer to an id that never was."""
        for id_ in _strangers(member, whose, noun)[-2:]:
            never = id_[:-6] + "000000"
            answers = [self._ask(member, method, f"/{noun}/{one}{rest}", body) for one in (id_, never)]
            assert [answer.status_code for answer in answers] == [404, 404]
            assert answers[0].text.replace(id_, never) == answers[1].text


def _member(name: str, at: int, run: str) -> Member:
    key = f"sk-{run}-first" if name == "key" else f"sk-{run}-second"
    headers = {"authorization": f"Bearer {key}"}
    if name.startswith("agent"):
        headers |= {"x-memory-user": "shared", "x-memory-agent": name}
    elif name.startswith("project"):
        headers |= {"x-memory-user": "shared", "x-memory-project": name}
    elif name != "key":
        headers["x-memory-user"] = name
    return Member(name, headers, [f"zor{run}{'abcdefgh'[at]}{'wxyz'[word]}q" for word in range(4)])


def _strangers(member: Member, whose: Member, noun: str) -> list[str]:
    return [] if member is whose else list(getattr(whose, noun))


def play(server: Running, count: int, *, first_seed: int = 0) -> None:
    """Play so many histories; the same ones for the same seed.

    Raises:
        AssertionError: With the shortest history found in which a scope sees anything of another.
    """

    @seed(first_seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(ACTS)
    def one(acts: list[Act]) -> None:
        with World(server) as world:
            for act in acts:
                world.act(act)
            world.look_everywhere()

    one()
