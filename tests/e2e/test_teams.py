"""Teams: a memory that its author shares reaches the others of the team, as it is now, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.test_transfer import MEMORY, bring, exported
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
