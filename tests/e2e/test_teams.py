"""Teams: a memory shared by its author reaches the other members in its current text, and no other user."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.api.test_transfer import MEMORY, bring, exported
from tests.e2e.office import ASKED, DEPLOYS, PRIVATE, Office, asked, found, shared_of, tool
from tests.e2e.test_tenants_keys import made
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import speaking


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
    """A file, which anyone can write, determines neither team nor author."""
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
    staff.ben.say(ASKED, "And who does it?")  # continues the conversation that had it
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
        provider.script(agreeing)  # a reply that quotes a shared memory belongs to the reader's own conversation
        staff = Office(server, stack)
        staff.anna.tell(f"Our next release is called {word}")
        memory = staff.share(f"Our next release is called {word}")["memory"]
        assert word in asked(staff.ben, provider, "What is our next release called?")
        staff.ben.wait()
        assert staff.anna.http.delete(f"/memories/{memory}", params={"purge": "true"}).status_code == 200
        assert staff.anna.http.post("/erase", params={"verify": "true"}).json()["verification"]["found"] == 0
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    assert holding == []
