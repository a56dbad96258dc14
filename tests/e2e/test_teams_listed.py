"""Teams: whatever members do to their memories, each sees the shared and active ones; checked with a plain model."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.e2e.test_tenants_keys import made
from tests.running import Running
from tests.talking import speaking

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
    """One user's last statement, and a plain model of its state.

    Args:
        http: Client of the user.
        author: Name of the user.
        text: Current text.
        holds: Whether the memory is active.
        teams: Teams that it is shared with.
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
        """Apply one action to the memory, if it is possible."""
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
