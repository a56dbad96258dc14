"""Random histories of several scopes at once: for any history, no scope sees words or ids of another."""

from __future__ import annotations

import json
import re
import secrets
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import httpx
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.running import WAIT_S, Running

# Two keys; two users of one key with similar names; two agents and two projects of one user.
SCOPES = ("key", "user-1", "user-10", "User-1", "agent-a", "agent-b", "project-a", "project-b")
_SAID = ("I use {} for drawing", "My boat is called {}", "I like {}", "Please forget that I like {}")
_ACTS = (
    *("say", "add", "list", "search", "forget", "edit", "delete", "read", "sessions", "end", "drop"),
    *("upload", "take", "remember", "apart", "import", "register", "review", "export", "receipt", "operate"),
)
_LISTS = (
    *("/memories?status=all&limit=1000", "/sessions?limit=1000", "/documents", "/images", "/state", "/tasks"),
    *("/agents", "/projects", "/usage", "/reviews?status=all"),
)
_OWN = ("/export", "/quarantine", "/jobs", "/files?purpose=assistants")  # with data that is reached by id

Act = tuple[str, int, int, int]  # operation, its scope, its word, the scope whose ids it uses
ACTS = st.lists(
    st.tuples(
        st.sampled_from(_ACTS), st.integers(0, len(SCOPES) - 1), st.integers(0, 3), st.integers(0, len(SCOPES) - 1)
    ),
    min_size=4,
    max_size=14,
)


@dataclass
class Member:
    """One scope: its headers and its own data."""

    name: str
    headers: dict[str, str]
    words: list[str]
    memories: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    quarantine: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)

    @property
    def is_alone(self) -> bool:
        """Whether it is a separate user; agents and projects of one user see each other's names."""
        return not self.name.startswith(("agent", "project"))

    def reaches(self, other: Member) -> bool:
        """Return whether another's data is reachable by id: an agent outside projects reaches those of all projects."""
        return other is self or (self.name.startswith("agent") and other.name.startswith("project"))


class World:
    """Members of one run, all new; ``act`` runs one operation and checks the responses."""

    def __init__(self, server: Running) -> None:
        self._http = httpx.Client(base_url=server.base_url, timeout=WAIT_S)
        run = secrets.token_hex(4)
        self.members = [_member(name, at, run) for at, name in enumerate(SCOPES)]
        self._words = {word: member for member in self.members for word in member.words}
        self._word = re.compile("|".join(self._words))

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def act(self, act: Act) -> None:
        """Run one operation; every response is searched for others' words."""
        what, by, word, whose = act
        getattr(self, f"_{what}")(self.members[by], self.members[by].words[word], self.members[whose])

    def look_everywhere(self) -> None:
        """Request everything that each scope can see."""
        for member in self.members:
            for path in _LISTS:
                self._ask(member, "GET", path)
            for path in _OWN:
                self._ask(member, "GET", path, is_own=True)
            for other in self.members:
                word = other.words[0]
                self._ask(member, "POST", "/memories/search", {"query": word, "sources": ["fact", "episode"]}, word)

    def _ask(
        self,
        member: Member,
        method: str,
        path: str,
        body: Any = None,
        asked: str = "",
        *,
        is_own: bool = False,
        **sent: Any,
    ) -> httpx.Response:
        answer = self._http.request(method, path, json=body, headers=member.headers, **sent)
        assert answer.status_code < 500, (path, answer.text)
        may_see = member.reaches if is_own else lambda other: other is member
        seen = {word for word in self._word.findall(answer.text) if not may_see(self._words[word])}
        assert seen <= {asked}, f"{member.name} sees {seen} at {method} {path}: {answer.text[:500]}"
        return answer

    def _say(self, member: Member, word: str, _: Member) -> None:
        said = _SAID[len(member.sessions) % len(_SAID)].format(word)
        body = {"model": "m", "messages": [{"role": "user", "content": said}]}
        answer = self._ask(member, "POST", "/chat/completions", body)
        member.sessions.append(answer.headers["x-memory-session"])
        member.receipts.append(answer.headers["x-memory-receipt"])

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

    def _upload(self, member: Member, word: str, _: Member) -> None:
        upload = {"file": (f"{word}.md", f"The {word} stands in the cellar.".encode())}
        kept = self._ask(member, "POST", "/files", files=upload, data={"purpose": "assistants"}).json()
        member.files.append(kept["id"])
        member.documents.append(kept["document_id"])

    def _take(self, member: Member, _: str, whose: Member) -> None:
        for noun, rest in (("files", ""), ("files", "/content"), ("documents", ""), ("documents", "/chunks")):
            self._foreign(member, whose, "GET", noun, rest)
        for noun in ("files", "documents"):
            self._foreign(member, whose, "DELETE", noun)

    def _remember(self, member: Member, word: str, whose: Member) -> None:
        member.tasks.append(self._ask(member, "POST", "/tasks", {"title": f"renew the {word}"}).json()["id"])
        self._foreign(member, whose, "GET", "tasks")
        self._foreign(member, whose, "PATCH", "tasks", "", {"status": "done"})

    def _apart(self, member: Member, _: str, whose: Member) -> None:
        for id_ in member.memories[-1:]:
            entry = self._ask(member, "POST", "/quarantine", {"memory": id_, "reason": member.words[0]}).json()
            member.quarantine.append(entry["id"])
        for name, noun in (("memory", "memories"), ("session", "sessions"), ("document", "documents")):
            for id_ in _strangers(member, whose, noun)[-1:]:
                assert self._ask(member, "POST", "/quarantine", {name: id_}).status_code == 404
        for method, rest in (("GET", ""), ("POST", "/release"), ("DELETE", "")):
            self._foreign(member, whose, method, "quarantine", rest)

    def _import(self, member: Member, word: str, whose: Member) -> None:
        file = json.dumps([{"memory": f"I like {word}"}]).encode()
        member.jobs.append(self._ask(member, "POST", "/import", content=file).json()["id"])
        self._foreign(member, whose, "GET", "jobs")

    def _register(self, member: Member, word: str, whose: Member) -> None:
        if member.is_alone:
            made = self._ask(member, "POST", "/agents", {"name": word, "capabilities": [word]}).json()
            member.agents.append(made["id"])
            self._ask(member, "POST", "/memories", {"text": f"I like {word}", "project": word})
        for method in ("GET", "DELETE"):
            self._foreign(member, whose, method, "agents")
        if whose.is_alone and whose is not member:
            assert self._ask(member, "GET", f"/projects/{whose.words[0]}", asked=whose.words[0]).status_code == 404

    def _review(self, member: Member, _: str, whose: Member) -> None:
        self._foreign(member, whose, "POST", "reviews", "", {"decision": "approve"}, of="memories")

    def _export(self, member: Member, _: str, __: Member) -> None:
        self._ask(member, "GET", "/export", is_own=True)

    def _receipt(self, member: Member, _: str, whose: Member) -> None:
        self._foreign(member, whose, "GET", "receipts")
        for noun in ("memories", "sessions", "documents", "quarantine", "jobs", "tasks"):
            for id_ in _strangers(member, whose, noun)[-1:]:  # used as a cursor
                never = _never(id_)
                answers = [self._ask(member, "GET", f"/{noun}?after={one}") for one in (id_, never)]
                assert [answer.status_code for answer in answers] == [404, 404]
                assert answers[0].text.replace(id_, never) == answers[1].text

    def _operate(self, member: Member, _: str, __: Member) -> None:
        assert self._ask(member, "GET", "/operator").status_code == 403

    def _foreign(
        self, member: Member, whose: Member, method: str, noun: str, rest: str = "", body: Any = None, *, of: str = ""
    ) -> None:
        """Use another's id: the response equals that for an unknown id, byte for byte."""
        for id_ in _strangers(member, whose, of or noun)[-2:]:
            never = _never(id_)
            answers = [self._ask(member, method, f"/{noun}/{one}{rest}", body) for one in (id_, never)]
            assert [answer.status_code for answer in answers] == [404, 404]
            assert answers[0].text.replace(id_, never) == answers[1].text


def _never(id_: str) -> str:
    """Return a similar id that never existed."""
    return id_[:-6] + "000000"


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
    return [] if member.reaches(whose) else list(getattr(whose, noun))


class Witness:
    """A user who does nothing more, so that none of its responses may change."""

    def __init__(self, server: Running) -> None:
        self.key = f"sk-{secrets.token_hex(8)}-witness"
        self.http = httpx.Client(
            base_url=server.base_url, headers={"authorization": f"Bearer {self.key}"}, timeout=WAIT_S
        )
        said = {"model": "m", "messages": [{"role": "user", "content": "I use Shram for drawing"}]}
        self.http.post("/chat/completions", json=said).raise_for_status()
        self.http.post("/memories", json={"text": "My boat is called Ora", "project": "harbour"}).raise_for_status()
        self.http.post("/agents", json={"name": "mate"}).raise_for_status()
        self.http.post("/documents", files={"file": ("log.md", b"The lathe stands aft.")}).raise_for_status()
        server.wait_learned(self.key)
        while self.http.get("/state").json()["pending_media"]:
            pass
        self.before = self.answers()

    def answers(self) -> set[tuple[str, str]]:
        """Return each line of the user's own data, and of a search for common words."""
        found = {path: self.http.get(path).text for path in (*_LISTS, *_OWN)}
        found["/export"] = "\n".join(found["/export"].splitlines()[1:-1])  # first and last line depend on the time
        asked = {"query": "which boat, and what for drawing?", "sources": ["fact", "episode", "chunk"]}
        found["/search"] = str(self.http.post("/memories/search", json=asked).json()["data"])
        return {(path, line) for path, told in found.items() for line in told.splitlines()}


def play(server: Running, count: int, *, first_seed: int = 0) -> None:
    """Play ``count`` histories; the same seed gives the same histories.

    Raises:
        AssertionError: With the shortest history in which a scope sees data of another.
    """

    witness = Witness(server)

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
        after = witness.answers()
        assert not after ^ witness.before, f"another user sees a change: {after ^ witness.before}"

    with closing(witness.http):
        one()
