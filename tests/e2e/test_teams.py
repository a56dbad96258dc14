"""Teams: a memory that its author shares reaches the others of the team, as it is now, and nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.test_transfer import MEMORY, bring, exported
from tests.e2e.test_recall_tool import Model, call
from tests.e2e.test_tenants_keys import made
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Message, Speaker, speaking

DEPLOYS = "We deploy the billing service on Thursdays"
PRIVATE = "I earn 61,400 crowns a month"
ASKED = "On which day do we deploy the billing service?"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    with Running(
        tmp_path_factory.mktemp("office"), upstream=lasting_provider.base_url, auth={"mode": "keys"}
    ) as running:
        yield running


class Office:
    """Anna and Ben of one team, Carl of the same tenant and none, Dora of another tenant with a team of that name."""

    def __init__(self, server: Running, stack: ExitStack) -> None:
        anna, key = made(server, user="anna", teams=["billing"])
        ben, _ = made(server, user="ben", tenant=key.tenant, teams=["billing", "tea"])
        carl, _ = made(server, user="carl", tenant=key.tenant)
        dora, _ = made(server, user="dora", teams=["billing"])
        self.anna, self.ben, self.carl, self.dora = (
            stack.enter_context(speaking(server, text)) for text in (anna, ben, carl, dora)
        )

    def share(self, text: str = DEPLOYS, team: str = "billing") -> Message:
        """Have Anna share what she told."""
        (memory,) = [one for one in self.anna.memories() if one["text"].rstrip(".") == text]
        response = self.anna.http.post(f"/memories/{memory['id']}/share", json={"team": team})
        assert response.status_code == 200, response.text
        return dict(response.json())


@pytest.fixture
def staff(office: Running) -> Iterator[Office]:
    with ExitStack() as stack:
        yield Office(office, stack)


def asked(speaker: Speaker, upstream: FakeProvider, text: str = ASKED, **headers: str) -> str:
    """Ask in a new conversation and return what went to the provider."""
    speaker.say(text, **headers)
    return str(upstream.last.json["messages"])


def shared_of(speaker: Speaker, team: str = "billing") -> list[Message]:
    return list(speaker.get(f"/teams/{team}/memories")["data"])


def found(speaker: Speaker, text: str = ASKED, **body: Any) -> list[Message]:
    """What a search shows of others."""
    response = speaker.http.post("/memories/search", json={"query": text, "limit": 200, **body})
    assert response.status_code == 200, response.text
    return [one for one in response.json()["data"] if "author" in one]


def tool(speaker: Speaker, name: str, **arguments: Any) -> Any:
    """Call a tool over MCP."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    accepted = {"accept": "application/json, text/event-stream"}
    response = speaker.http.post(f"{speaker.server.origin}/mcp", json=asked, headers=accepted)
    assert response.status_code == 200, response.text
    return response.json()["result"]


def looked_up(speaker: Speaker, upstream: FakeProvider, text: str = ASKED) -> str:
    """What the ``recall`` tool tells a model."""
    model = Model()
    model.rounds = [[call("recall", json.dumps({"query": text}))]]
    upstream.script(model)
    sent = {"X_Memory_Tools": "on", "X_Memory_Budget": "0"}
    told = speaker.post([{"role": "user", "content": "And now?"}], **sent).json()["choices"][0]["message"]["content"]
    upstream.clear()
    upstream.script(agreeing)
    return str(told)


WAYS: dict[str, Callable[[Speaker, FakeProvider], object]] = {
    "chat": asked,
    "recall tool": looked_up,
    "search": lambda speaker, _: found(speaker),
    "team list": lambda speaker, _: [
        speaker.get(f"/teams/{one['id']}/memories") for one in speaker.get("/teams")["data"]
    ],
    "all teams": lambda speaker, _: speaker.get("/teams/*/memories"),
    "MCP recall": lambda speaker, _: tool(speaker, "recall", query=ASKED),
    "MCP list": lambda speaker, _: tool(speaker, "list_memories"),
    "MCP query": lambda speaker, _: tool(speaker, "list_memories", query=ASKED),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_shows_what_is_shared_alone(staff: Office, upstream: FakeProvider, way: str) -> None:
    look = WAYS[way]
    staff.anna.tell(f"{PRIVATE}. {DEPLOYS}.")
    told = [f"We deploy the {name} service on Fridays" for name in ("mailing", "search")]
    with speaking(staff.anna.server, staff.anna.key, x_memory_project="atlas") as there:
        for text in told:
            there.http.post("/memories", json={"text": text}).raise_for_status()
    assert "billing service on" not in str(look(staff.ben, upstream)).replace(ASKED, "")
    shared = staff.share()
    shown = str(look(staff.ben, upstream))
    assert DEPLOYS in shown
    assert "anna" in shown
    for hidden in ("61,400", "Fridays", shared["memory"]):
        assert hidden not in shown
    for stranger in (staff.carl, staff.dora):
        assert DEPLOYS not in str(look(stranger, upstream))
    staff.anna.http.post(f"/memories/{shared['memory']}/unshare", json={"team": "billing"}).raise_for_status()
    assert DEPLOYS not in str(look(staff.ben, upstream))


def test_author_finds_own_memory_as_their_own(staff: Office) -> None:
    staff.anna.tell(DEPLOYS)
    staff.share()
    assert found(staff.anna) == []
    assert "shared" not in tool(staff.anna, "list_memories")["structuredContent"]


def test_searches_keep_to_what_they_are_asked(staff: Office) -> None:
    staff.anna.tell(DEPLOYS)
    staff.share()
    assert [one["author"] for one in found(staff.ben)] == ["anna"]
    assert found(staff.ben, sources=["episode", "chunk"]) == []
    assert found(staff.ben, as_of="2026-01-01T00:00:00Z") == []
    assert found(staff.ben, "What do you know about me?") == []
    assert found(staff.ben, "How do I bake sourdough bread?") == []


def test_readers_cannot_change_what_is_shared(staff: Office, upstream: FakeProvider) -> None:
    staff.anna.tell(DEPLOYS)
    memory = staff.share()["memory"]
    before = staff.anna.get(f"/memories/{memory}")
    (seen,) = found(staff.ben)
    for id_ in (seen["id"], seen["id"].partition("-")[0], memory):
        path = f"/memories/{id_}"
        answers = [staff.ben.http.patch(path, json={"text": "We never deploy"}), staff.ben.http.delete(path)]
        answers += [staff.ben.http.delete(path, params={"purge": "true"}), staff.ben.http.get(path)]
        answers += [staff.ben.http.post(f"{path}/{verb}") for verb in ("restore", "pin")]
        answers += [staff.ben.http.post("/memories/forget", json={"ids": [id_]})]
        answers += [staff.ben.http.post("/quarantine", json={"memory": id_, "reason": "x"})]
        assert {answer.status_code for answer in answers} == {404}
        assert tool(staff.ben, "forget", ids=[id_], dry_run=False)["isError"]
    gone = tool(staff.ben, "forget", text="billing service", dry_run=False)["structuredContent"]
    assert (gone["closed"], gone["review"]) == ([], [])
    assert not staff.ben.http.post("/memories/forget", json={"text": "billing"}).json()["closed"]
    staff.ben.tell(
        "Forget that we deploy the billing service on Thursdays.", "We don't deploy the billing service anymore."
    )
    made = tool(staff.ben, "remember", text=DEPLOYS)["structuredContent"]
    assert made["id"] not in (memory, seen["id"])
    assert staff.anna.get(f"/memories/{memory}") == before
    assert [one["text"].rstrip(".") for one in shared_of(staff.ben)] == [DEPLOYS]


def test_expired_memory_is_shared_no_longer(staff: Office) -> None:
    staff.anna.tell(DEPLOYS)
    memory = staff.share()["memory"]
    path = f"/memories/{memory}"
    staff.anna.http.patch(path, json={"expires_at": "2026-01-01T00:00:00Z"}).raise_for_status()
    assert found(staff.ben) == shared_of(staff.ben) == []
    assert staff.ben.get("/teams")["data"][0]["memories"] == 0
    refused = staff.anna.http.post(f"{path}/share", json={"team": "billing"})
    assert refused.status_code == 400
    staff.anna.http.post(f"{path}/restore").raise_for_status()
    assert [one["author"] for one in shared_of(staff.ben)] == ["anna"]


def test_shared_memory_reaches_the_team_with_its_author(staff: Office, upstream: FakeProvider) -> None:
    staff.anna.tell(f"{PRIVATE}. {DEPLOYS}.")
    assert DEPLOYS not in asked(staff.ben, upstream)
    staff.share()
    sent = asked(staff.ben, upstream)
    assert f"anna: {DEPLOYS}" in sent
    assert "shared by others in this user's team" in sent
    assert "61,400" not in sent
    assert shared_of(staff.ben)[0]["author"] == "anna"
    assert staff.ben.memories() == []


def test_nobody_outside_the_team_learns_of_it(staff: Office, upstream: FakeProvider) -> None:
    staff.anna.tell(DEPLOYS)
    shown = staff.share()
    for stranger in (staff.carl, staff.dora):
        assert DEPLOYS not in asked(stranger, upstream)
    assert shared_of(staff.dora) == []
    assert staff.carl.get("/teams")["data"] == []
    assert staff.carl.http.get("/teams/billing/memories").status_code == 404
    assert staff.ben.http.get(f"/memories/{shown['memory']}").status_code == 404
    assert staff.ben.http.post(f"/memories/{shown['memory']}/share", json={"team": "tea"}).status_code == 404
    (seen,) = shared_of(staff.ben)
    assert seen["memory"] is None


def test_an_import_shares_nothing(staff: Office) -> None:
    """A file that anybody can write names no team and no author."""
    (team,) = (one for one in staff.ben.get("/teams")["data"] if one["name"] == "billing")
    share = {"id": f"shr_{'0' * 24}", "team": team["id"], "memory": MEMORY["id"], "author": "anna", "agent": ""}
    stamp = 1_790_000_000_000
    told = {"type": "memories", "value": {**MEMORY, "created_at": stamp, "updated_at": stamp, "valid_from": stamp}}
    bring(staff.carl, exported(told, {"type": "shares", "value": {**share, "at_ms": stamp}}))
    assert staff.carl.texts() == {MEMORY["text"]}
    assert shared_of(staff.ben) == []


def test_its_author_is_not_told_it_twice(staff: Office, upstream: FakeProvider) -> None:
    staff.anna.tell(DEPLOYS)
    staff.share()
    assert asked(staff.anna, upstream).count(DEPLOYS) == 1


def test_a_header_names_one_team(staff: Office, upstream: FakeProvider) -> None:
    staff.anna.tell(DEPLOYS)
    staff.share()
    assert DEPLOYS not in asked(staff.ben, upstream, x_memory_team="tea")
    assert DEPLOYS in asked(staff.ben, upstream, x_memory_team="billing")
    refused = staff.carl.http.get("/memories", headers={"x-memory-team": "billing"})
    assert refused.status_code == 403
    assert "throughline keys update" in refused.json()["error"]["message"]


def test_a_correction_reaches_running_conversations(staff: Office, upstream: FakeProvider) -> None:
    staff.anna.tell(DEPLOYS)
    memory = staff.share()["memory"]
    assert DEPLOYS in asked(staff.ben, upstream)
    mended = "We deploy the billing service on Mondays"
    assert staff.anna.http.patch(f"/memories/{memory}", json={"text": mended}).status_code == 200
    staff.ben.say(ASKED, "And who does it?")
    assert DEPLOYS not in str(upstream.last.json["messages"])
    assert mended in asked(staff.ben, upstream)


@pytest.mark.parametrize("end", ["close", "purge", "unshare", "quarantine", "erase"])
def test_memory_its_author_ends_leaves_the_team(
    staff: Office, office: Running, upstream: FakeProvider, end: str
) -> None:
    staff.anna.tell(DEPLOYS)
    memory = staff.share()["memory"]
    assert DEPLOYS in asked(staff.ben, upstream)
    http = staff.anna.http
    response = {
        "close": lambda: http.delete(f"/memories/{memory}"),
        "purge": lambda: http.delete(f"/memories/{memory}", params={"purge": "true"}),
        "unshare": lambda: http.post(f"/memories/{memory}/unshare", json={"team": "billing"}),
        "quarantine": lambda: http.post("/quarantine", json={"memory": memory}),
        "erase": lambda: http.post("/erase"),
    }[end]()
    assert response.status_code == 200, response.text
    assert DEPLOYS not in asked(staff.ben, upstream)
    staff.ben.say(ASKED, "And who does it?")  # the conversation that carried it goes on
    assert DEPLOYS not in str(upstream.last.json["messages"])
    assert shared_of(staff.ben) == []


def test_only_what_holds_is_shared(staff: Office) -> None:
    staff.anna.tell(DEPLOYS)
    memory = staff.share()["memory"]
    again = staff.share()
    assert [one["id"] for one in shared_of(staff.anna)] == [again["id"]]
    staff.anna.http.delete(f"/memories/{memory}")
    refused = staff.anna.http.post(f"/memories/{memory}/share", json={"team": "billing"})
    assert refused.status_code == 400
    unknown = staff.anna.http.post(f"/memories/{memory}/share", json={"team": "tea"})
    assert unknown.status_code == 404


def test_a_receipt_shows_what_the_team_gave(staff: Office, upstream: FakeProvider) -> None:
    staff.anna.tell(DEPLOYS)
    staff.share()
    response = staff.ben.say(ASKED)
    receipt = staff.ben.receipt(response)
    assert DEPLOYS in [one["text"] for one in receipt["injected"]]


def test_nameless_team_key_shares_under_its_id(office: Running) -> None:
    text, key = made(office, teams=["billing"])
    with speaking(office, text) as speaker:
        memory = speaker.http.post("/memories", json={"text": DEPLOYS}).json()["id"]
        shown = speaker.http.post(f"/memories/{memory}/share", json={"team": "billing"}).json()
        assert shown["author"] == key.id
        assert speaker.get("/teams")["data"][0]["memories"] == 1


def test_erased_words_leave_the_others_disk(tmp_path: Path, provider: FakeProvider) -> None:
    word = "Quillfeather"
    with Running(tmp_path, upstream=provider.base_url, auth={"mode": "keys"}) as server, ExitStack() as stack:
        provider.script(agreeing)  # a reply that quotes a shared memory is the reader's own conversation
        staff = Office(server, stack)
        staff.anna.tell(f"Our next release is called {word}")
        memory = staff.share(f"Our next release is called {word}")["memory"]
        assert word in asked(staff.ben, provider, "What is our next release called?")
        staff.ben.wait()
        assert staff.anna.http.delete(f"/memories/{memory}", params={"purge": "true"}).status_code == 200
        assert staff.anna.http.post("/erase", params={"verify": "true"}).json()["verification"]["found"] == 0
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    assert holding == []


PEOPLE, TEAMS = ("anna", "ben", "carl"), {"red": ("anna", "ben"), "blue": ("ben", "carl")}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.sampled_from(("tell", "share", "unshare", "close", "restore", "correct", "purge")),
        st.sampled_from(sorted(TEAMS)),
    ),
    max_size=12,
)


@dataclass
class Told:
    """What a person told last, and a plain model of what becomes of it.

    Args:
        http: Client of the person.
        author: Who it is.
        text: Words as they are now.
        holds: Whether it is active.
        teams: Where it is shared.
    """

    http: httpx.Client
    author: str
    text: str
    holds: bool = True
    teams: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        response = self.http.post("/memories", json={"text": self.text})
        self.path = f"/memories/{response.json()['id']}"

    def act(self, action: str, team: str, words: str) -> None:
        """Do one thing to the memory, where it can be done."""
        if action in ("share", "unshare"):
            self.share(team, is_on=action == "share")
        elif action == "restore" and not self.holds:
            self.http.post(f"{self.path}/restore").raise_for_status()
            self.holds = True
        elif action == "close" and self.holds:
            self.http.delete(self.path).raise_for_status()
            self.holds = False
        elif action == "correct" and self.holds:
            self.http.patch(self.path, json={"text": words}).raise_for_status()
            self.text = words
        elif action == "purge":
            self.http.delete(self.path, params={"purge": "true"}).raise_for_status()
            self.teams = frozenset()

    def share(self, team: str, *, is_on: bool) -> None:
        response = self.http.post(f"{self.path}/{'share' if is_on else 'unshare'}", json={"team": team})
        expected = 404 if self.author not in TEAMS[team] else 400 if is_on and not self.holds else 200
        assert response.status_code == expected, response.text
        if expected == 200:
            self.teams = self.teams | {team} if is_on else self.teams - {team}


def _reaches(one: Told, name: str) -> bool:
    return any(name in TEAMS[team] for team in one.teams)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_a_team_lists_what_its_members_share_now(office: Running, steps: list[tuple[str, str, str]]) -> None:
    _, key = made(office)
    with ExitStack() as stack:
        speakers = {}
        for name in PEOPLE:
            teams = [team for team, members in TEAMS.items() if name in members]
            text, _ = made(office, user=name, tenant=key.tenant, teams=teams)
            speakers[name] = stack.enter_context(speaking(office, text)).http
        told: list[Told] = []
        last: dict[str, Told] = {}
        for number, (name, action, team) in enumerate(steps):
            words = f"We meet in room {number}"
            if action == "tell" or name not in last:
                last[name] = Told(speakers[name], name, words)
                told.append(last[name])
            else:
                last[name].act(action, team, words)
                if action == "purge":
                    del last[name]
        for team, name in product(TEAMS, PEOPLE):
            response = speakers[name].get(f"/teams/{team}/memories")
            assert response.status_code == (200 if name in TEAMS[team] else 404)
            shown = sorted((row["author"], row["text"]) for row in response.json().get("data", ()))
            shared = sorted((one.author, one.text) for one in told if one.holds and team in one.teams)
            assert shown == (shared if name in TEAMS[team] else [])
        for name in PEOPLE:
            others = {
                (one.author, one.text) for one in told if one.holds and one.author != name and _reaches(one, name)
            }
            hits = speakers[name].post("/memories/search", json={"query": "In which room do we meet?"}).json()["data"]
            assert {(hit["author"], hit["text"]) for hit in hits if "author" in hit} <= others
            listed = speakers[name].get("/teams/*/memories").json()["data"]
            assert {(row["author"], row["text"]) for row in listed if row["memory"] is None} == others
