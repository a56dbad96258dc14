"""Tasks over real sockets: stated in a chat or created by API, recalled where relevant, and completed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from proxy.clock import iso
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import Message, Speaker, new_key, speaking

AT = "2026-11-26T09:00:00Z"  # a Thursday


def sent(upstream: FakeProvider) -> str:
    return str(upstream.last.json["messages"])


def tasks(speaker: Speaker, **params: str) -> list[Message]:
    return list(speaker.get("/tasks", **params)["data"])


def make(speaker: Speaker, **body: object) -> Message:
    response = speaker.http.post("/tasks", json=body)
    assert response.status_code == 200, response.text
    return dict(response.json())


STATED = [
    ("Remind me to renew the passport before June", "renew the passport before June", "2027-05-31"),
    ("Could you please remind me to call my mum tomorrow?", "call my mum tomorrow", "2026-11-27"),
    ("I need to submit the tax form by 4 December", "submit the tax form by 4 December", "2026-12-04"),
    ("Please put buying oil filters on my list", "buying oil filters", None),
    ("Erinnere mich daran, morgen den Müll rauszubringen", "morgen den Müll rauszubringen", "2026-11-27"),
    ("提醒我明天续签护照", "明天续签护照", "2026-11-27"),
]


@pytest.mark.parametrize(("said", "title", "due"), STATED)
def test_a_commitment_in_a_chat_is_a_task(alice: Speaker, said: str, title: str, due: str | None) -> None:
    alice.tell(said, x_memory_time=AT)
    (task,) = tasks(alice)
    assert (task["object"], task["title"], task["due"], task["status"]) == ("task", title, due, "open")
    assert task["text"] == said
    alice.tell(said, x_memory_time=AT, x_memory_session="again")
    assert len(tasks(alice)) == 1


@pytest.mark.parametrize(
    "said",
    [
        "You never remind me to drink water",
        "My wife always reminds me to take out the bins",
        "Did I ask you to remind me to call Bob?",
        "I need to know how tides work",
        "I have to say that was a lovely evening",
        "Remind me what a monad is",
        "If you could remind me to breathe I would be fine",
        "He said: remind me to buy milk",
        "I have to work until Friday",
    ],
)
def test_what_is_no_commitment_is_no_task(alice: Speaker, said: str) -> None:
    alice.tell(said, x_memory_time=AT)
    assert tasks(alice) == []


DONE = [
    ("Remind me to renew the passport before June", "I renewed the passport this morning", "done"),
    ("Remind me to call my mum tomorrow", "I've already called my mum", "done"),
    ("Please remind me to buy milk", "I bought the milk", "done"),
    ("I need to submit the tax form by 4 December", "The tax form is done", "done"),
    ("Remind me to renew the passport", "I no longer need to renew the passport", "cancelled"),
    ("Ich muss bis Freitag den Bericht abgeben", "Ich habe den Bericht abgegeben", "done"),
    ("提醒我明天续签护照", "我已经续签了护照", "done"),
    ("Remind me to renew the passport", "I found the passport", "open"),
    ("Remind me to renew the passport", "My sister renewed the passport", "open"),
    ("Remind me to renew the passport", "I haven't renewed the passport yet", "open"),
    ("Remind me to renew the passport", "Have I renewed the passport?", "open"),
    ("Remind me to renew the passport", "If I renewed the passport, I could fly", "open"),
    ("Remind me to renew the passport", "I renew my library card every year", "open"),
]


@pytest.mark.parametrize(("said", "then", "status"), DONE)
def test_it_is_done_when_the_user_says_so(alice: Speaker, said: str, then: str, status: str) -> None:
    alice.tell(said, x_memory_time=AT, x_memory_session="one")
    alice.tell(then, x_memory_session="two")
    (task,) = tasks(alice, status="all")
    assert task["status"] == status
    assert len(tasks(alice)) == (status == "open")


def test_two_that_may_be_meant_stay_open(alice: Speaker) -> None:
    for place in ("in Leeds", "in York"):
        make(alice, title=f"pay the rent {place}")
    alice.tell("I paid the rent")
    assert {task["status"] for task in tasks(alice, status="all")} == {"open"}


def test_due_before_compares_moments(alice: Speaker) -> None:
    early = make(alice, title="post the letters", due="2030-02-01T00:30:00+02:00")
    make(alice, title="sweep the chimney", due="2030-02-01")
    make(alice, title="mend the roof")
    for end in ("2030-02-01", "2030-01-31T23:00:00Z", "2030-02-01T01:00:00+02:00"):
        assert [task["id"] for task in tasks(alice, due_before=end)] == [early["id"]]
    assert len(tasks(alice, due_before="2030-02-02")) == 2
    told = alice.http.get("/tasks", params={"due_before": "zzz"})
    assert (told.status_code, told.json()["error"]["param"]) == (400, "due_before")


def test_tasks_are_listed_by_priority_and_due_date(alice: Speaker) -> None:
    late = make(alice, title="sweep the chimney", due="2030-09-01")
    soon = make(
        alice, title="post the letters", due="2030-02-01T12:00:00+01:00", description="both of them", agent="cook"
    )
    first = make(alice, title="mend the roof", priority=9)
    assert soon["due"] == "2030-02-01T11:00:00Z"
    assert [task["title"] for task in tasks(alice)] == ["mend the roof", "post the letters", "sweep the chimney"]
    assert make(alice, title="mend the roof")["id"] == first["id"]
    assert [task["id"] for task in tasks(alice, agent="cook")] == [soon["id"]]
    page = alice.get("/tasks", limit=1)
    assert page["has_more"]
    assert alice.get("/tasks", after=page["last_id"], limit=5)["data"][0]["id"] == soon["id"]
    changed = alice.http.patch(
        f"/tasks/{late['id']}", json={"due": None, "status": "waiting_for_human", "priority": 10}
    )
    assert (changed.json()["due"], changed.json()["status"]) == (None, "waiting_for_human")
    assert tasks(alice)[0]["id"] == late["id"]
    assert [task["id"] for task in tasks(alice, status="waiting_for_human")] == [late["id"]]
    alice.http.patch(f"/tasks/{first['id']}", json={"status": "done"})
    assert first["id"] not in {task["id"] for task in tasks(alice)}
    assert alice.get(f"/memories/{first['id']}")["status"] == "closed"
    again = alice.http.patch(f"/tasks/{first['id']}", json={"status": "in_progress", "title": "mend the whole roof"})
    assert (again.json()["status"], again.json()["text"]) == ("in_progress", "mend the whole roof")
    assert alice.http.delete(f"/tasks/{first['id']}").json()["deleted"] is True
    assert first["id"] not in {task["id"] for task in tasks(alice)}


def test_what_cannot_be_meant_is_refused(alice: Speaker) -> None:
    task = make(alice, title="post the letters")
    for body in (
        {},
        {"title": ""},
        {"title": "a", "due": "soon"},
        {"title": "a", "priority": 11},
        {"title": "a", "x": 1},
    ):
        assert alice.http.post("/tasks", json=body).status_code == 400, body
    for body in ({}, {"status": "gone"}, {"title": None}, {"due": "2026-13-01"}):
        assert alice.http.patch(f"/tasks/{task['id']}", json=body).status_code == 400, body
    assert alice.http.get("/tasks/mem_0").status_code == 404
    made = alice.http.post("/memories", json={"text": "I play the lute"}).json()
    assert alice.http.get(f"/tasks/{made['id']}").status_code == 404


def test_task_is_recalled_in_its_own_block(server: Running, upstream: FakeProvider) -> None:
    now = server.services.clock.now()
    with speaking(server) as anna:
        make(anna, title="sweep the chimney of the cottage", due=iso(now + timedelta(days=300)))
        make(anna, title="collect the spectacles", due=iso(now + timedelta(hours=20)))
        anna.say("What is 17 times 23?", x_memory_mode="read")
        assert "[open tasks]" in sent(upstream)
        assert "collect the spectacles" in sent(upstream)
        assert "due 20" in sent(upstream)
        assert "chimney" not in sent(upstream)
        anna.say("What is 17 times 23?", "And 18 times 23?", x_memory_mode="read")
        anna.say("What is on my to-do list? What's left to do?", x_memory_mode="read")
        assert "collect the spectacles" in sent(upstream)
        assert "chimney of the cottage" in sent(upstream)
        anna.say("Which chimney was to be swept, and when?", x_memory_mode="read")
        assert "chimney of the cottage [due 20" in sent(upstream)


def test_what_is_done_is_not_told_as_open(server: Running, upstream: FakeProvider) -> None:
    with speaking(server) as anna:
        task = make(anna, title="collect the spectacles", due=iso(server.services.clock.now()))
        anna.http.patch(f"/tasks/{task['id']}", json={"status": "done"})
        anna.say("What's left to do? Show me my tasks", x_memory_mode="read")
        assert "spectacles" not in sent(upstream)


def test_nobody_else_sees_or_reaches_it(server: Running, upstream: FakeProvider) -> None:
    key = new_key()
    with (
        speaking(server, key) as anna,
        speaking(server, key, x_memory_project="alpha") as alpha,
        speaking(server, key, x_memory_project="beta") as beta,
        speaking(server) as ben,
    ):
        task = make(alpha, title="renew the quartz certificate", due=iso(server.services.clock.now()))
        own = make(beta, title="renew the basalt certificate")
        for other in (beta, ben):
            assert "quartz" not in str(tasks(other, status="all"))
            assert other.http.get(f"/tasks/{task['id']}").status_code == 404
            assert other.http.patch(f"/tasks/{task['id']}", json={"status": "done"}).status_code == 404
            assert other.http.delete(f"/tasks/{task['id']}").status_code == 404
            other.say("What are my tasks? What is due?", x_memory_mode="read")
            assert "quartz" not in sent(upstream)
        beta.tell("I renewed the quartz certificate")
        assert alpha.get(f"/tasks/{task['id']}")["status"] == "open"
        assert beta.get(f"/tasks/{own['id']}")["status"] == "open"
        assert [one["title"] for one in tasks(anna, project="alpha")] == ["renew the quartz certificate"]


def test_it_survives_a_new_start(tmp_path: Path, upstream: FakeProvider) -> None:
    key = new_key()
    with Running(tmp_path, upstream=upstream.base_url) as server, speaking(server, key) as anna:
        make(anna, title="post the letters", due="2030-01-01")
    with Running(tmp_path, upstream=upstream.base_url) as server, speaking(server, key) as anna:
        assert [task["due"] for task in tasks(anna)] == ["2030-01-01"]
