"""Projects over real sockets: each has its own memory beside the common one, and never sees another's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.shown.files import wait_read
from tests.talking import Message, Speaker, new_key, speaking

ALPHA, BETA = {"x_memory_project": "alpha"}, {"x_memory_project": "beta"}


def sent(upstream: FakeProvider) -> str:
    return str(upstream.last.json["messages"])


def test_pages_hold_every_project_once(server: Running) -> None:
    key, names = new_key(), {"alpha", "beta", "gamma"}
    for name in names:
        with speaking(server, key, x_memory_project=name) as speaker:
            speaker.tell("We deploy the billing service with Nomad")
    with speaking(server, key) as anna:
        first = anna.get("/projects", limit=2)
        rest = anna.get("/projects", limit=2, after=first["last_id"])
    assert (first["has_more"], rest["has_more"]) == (True, False)
    shown = [one["name"] for one in (*first["data"], *rest["data"])]
    assert sorted(shown) == sorted(names)


def test_project_sees_its_own_and_general_memories(server: Running, upstream: FakeProvider) -> None:
    key = new_key()
    with speaking(server, key) as anna, speaking(server, key, **ALPHA) as alpha, speaking(server, key, **BETA) as beta:
        alpha.tell("We deploy the billing service with Nomad")
        beta.tell("We deploy the billing service with Fargate")
        anna.tell("I moved to Leeds last spring")
        for own, other, speaker in (("Nomad", "Fargate", alpha), ("Fargate", "Nomad", beta)):
            speaker.say("What do we deploy the billing service with?")
            assert own in sent(upstream)
            assert other not in sent(upstream)
            assert other not in str(speaker.memories())
            assert "Leeds" in str(speaker.memories())
            found = speaker.http.post("/memories/search", json={"query": "billing service deploy Nomad Fargate"})
            assert own in found.text
            assert other not in found.text
        anna.say("What do we deploy the billing service with?")
        assert "Nomad" not in sent(upstream)
        assert "Fargate" not in sent(upstream)


def test_statement_about_the_person_is_of_all_projects(server: Running, upstream: FakeProvider) -> None:
    key = new_key()
    with speaking(server, key, **ALPHA) as alpha, speaking(server, key, **BETA) as beta:
        alpha.tell("I am allergic to hazelnuts", x_memory_session="one")
        alpha.tell("My sister lives in Oslo", x_memory_session="two")
        alpha.tell("I prefer tabs over spaces here", x_memory_session="three")
        assert beta.texts() == {"I am allergic to hazelnuts", "My sister lives in Oslo"}
        projects = {memory["text"]: memory["project"] for memory in alpha.memories()}
        assert projects == {
            "I am allergic to hazelnuts": None,
            "My sister lives in Oslo": None,
            "I prefer tabs over spaces here": "alpha",
        }
        beta.say("Where does my sister live?")
        assert "Oslo" in sent(upstream)


def test_a_memory_is_stored_and_listed_by_project(alice: Speaker) -> None:
    made = alice.http.post("/memories", json={"text": "The mascot is an otter", "project": "zoo"}).json()
    assert made["project"] == "zoo"
    again = alice.http.post("/memories", json={"text": "The mascot is an otter", "project": "zoo"}).json()
    assert again["id"] == made["id"]
    other = alice.http.post("/memories", json={"text": "The mascot is an otter", "project": "park"}).json()
    alice.http.post("/memories", json={"text": "I play the lute"})
    assert other["id"] != made["id"]
    assert alice.texts() == {"I play the lute"}
    assert [row["id"] for row in alice.memories(project="zoo")] == [made["id"]]
    assert [row["id"] for row in alice.memories(project="zoo", query="mascot")] == [made["id"]]
    assert {row["project"] for row in alice.memories(project="*")} == {"zoo", "park", None}
    assert alice.memories(project="none such") == []
    listed = alice.get("/projects")["data"]
    assert {one["name"]: one["memories"] for one in listed} == {"zoo": 1, "park": 1}
    assert alice.get("/projects/zoo")["id"] in {one["id"] for one in listed}
    assert alice.http.get("/projects/nothing").status_code == 404


def test_a_memory_names_its_project_wherever_shown(alice: Speaker) -> None:
    made, other = (
        alice.http.post("/memories", json={"text": text, "project": "alpha"}).json()
        for text in ("We deploy with Nomad", "We build with Bazel")
    )
    at = f"/memories/{made['id']}"
    alice.http.post(f"{at}/pin").raise_for_status()
    linked = alice.http.post(f"{at}/link", json={"id": other["id"]}).json()
    steps = alice.get(f"{at}/history")["data"]
    gone = alice.http.post("/memories/forget", json={"ids": [made["id"]]}).json()
    back = alice.http.post("/memories/undo", json={"batch": gone["batch"]}).json()
    shown = [
        linked,
        *gone["closed"],
        *back["restored"],
        *(step[side] for step in steps for side in ("before", "after")),
    ]
    assert {one["project"] for one in shown if one} == {"alpha"}


def test_id_of_another_project_is_unknown(server: Running) -> None:
    key = new_key()
    with speaking(server, key) as anna, speaking(server, key, **ALPHA) as alpha, speaking(server, key, **BETA) as beta:
        made = alpha.http.post("/memories", json={"text": "The mascot is an otter"}).json()
        said = alpha.tell("The mascot of our launch is an otter called Bo")
        session = said.headers["x-memory-session"]
        receipt = said.headers["x-memory-receipt"]
        for path in (f"/memories/{made['id']}", f"/sessions/{session}", f"/receipts/{receipt}"):
            assert beta.http.get(path).status_code == 404, path
            assert anna.http.get(path).status_code == 200, path
        assert beta.http.patch(f"/memories/{made['id']}", json={"text": "No otter"}).status_code == 404
        assert beta.http.delete(f"/memories/{made['id']}").status_code == 404
        assert beta.http.get("/projects/alpha").status_code == 404
        assert beta.get("/projects")["data"] == []
        assert beta.get("/sessions")["data"] == []
        assert beta.get("/state")["memories"] == {}
        named = beta.http.post("/memories", json={"text": "The mascot is a hare", "project": "alpha"})
        assert named.status_code == 400
        assert anna.http.delete(f"/memories/{made['id']}").status_code == 200
        assert alpha.http.get(f"/memories/{made['id']}").json()["status"] == "closed"


def test_one_project_is_erased_alone(server: Running, upstream: FakeProvider) -> None:
    key = new_key()
    with speaking(server, key) as anna, speaking(server, key, **ALPHA) as alpha, speaking(server, key, **BETA) as beta:
        alpha.tell("We keep the archive in Trondheim")
        beta.tell("We keep the archive in Bergen")
        anna.tell("I play the harpsichord")
        receipt = alpha.http.post("/erase?verify=true").json()
        assert receipt["verification"]["found"] == 0, receipt
        assert alpha.texts() == {"I play the harpsichord"}
        assert beta.texts() == {"I play the harpsichord", "We keep the archive in Bergen"}
        assert [one["name"] for one in anna.get("/projects")["data"]] == ["beta"]
        alpha.say("Where do we keep the archive?")
        assert "Trondheim" not in sent(upstream)


WORDS = st.sampled_from(["Nomad", "Fargate", "Heroku", "Render"])


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(own=WORDS, theirs=WORDS, noun=st.sampled_from(["billing service", "archive", "search index"]))
def test_no_read_of_one_shows_the_other(
    server: Running, upstream: FakeProvider, own: str, theirs: str, noun: str
) -> None:
    """Two projects of one user and a second user, with texts that differ only in a mark."""
    upstream.clear()
    upstream.script(agreeing)
    key, marks = new_key(), ("quartz", "basalt", "gneiss")
    with (
        speaking(server, key, **ALPHA) as alpha,
        speaking(server, key, **BETA) as beta,
        speaking(server, new_key(), **ALPHA) as ben,
    ):
        speakers = (alpha, beta, ben)
        for speaker, mark, where in zip(speakers, marks, (own, theirs, own), strict=True):
            speaker.tell(f"We deploy the {noun} with {where} under the name {mark}")
            speaker.http.post("/memories", json={"text": f"The {noun} is called {mark}"})
            speaker.http.post("/tasks", json={"title": f"renew the certificate of {mark}"})
        for speaker, mark in zip(speakers, marks, strict=True):
            others = [one for one in marks if one != mark]
            reply = speaker.say(f"Under which name do we deploy the {noun}?")
            shown = [
                sent(upstream),
                *(str(speaker.get(path)) for path in ("/memories", "/sessions", "/projects", "/tasks", "/quarantine")),
                str(speaker.memories(project="*", status="all")),
                str(speaker.memories(query=f"name of the {noun}")),
                str(speaker.receipt(reply)),
                speaker.http.post("/memories/search", json={"query": f"{noun} name {others[0]}", "limit": 50}).text,
                *(str(speaker.episodes(one["id"])) for one in speaker.sessions()),
            ]
            assert mark in shown[0]
            for one in others:
                assert not any(one in text for text in shown), one


FOLDERS: list[tuple[list[Message], str]] = [
    ([{"role": "system", "content": "You are an agent.\n<env>\nWorking directory: /home/ann/shop\n</env>"}], "shop"),
    ([{"role": "user", "content": "<environment_context>\n  <cwd>/srv/mill</cwd>\n</environment_context>"}], "mill"),
]


@pytest.mark.parametrize(("opening", "name"), FOLDERS)
def test_working_folder_is_a_project_where_switched_on(
    tmp_path: Path, upstream: FakeProvider, opening: list[Message], name: str
) -> None:
    with Running(tmp_path, upstream=upstream.base_url, memory={"projects": True}) as server, speaking(server) as anna:
        anna.post([*opening, {"role": "user", "content": "We number the crates of this app by harvest"}])
        anna.wait()
        (project,) = anna.get("/projects")["data"]
        assert project["name"].endswith(name)
        assert anna.texts() == set()
        assert anna.texts(project=project["name"]) == {"We number the crates of this app by harvest"}


def test_file_belongs_to_the_project_it_came_in(server: Running, upstream: FakeProvider) -> None:
    key, question = new_key(), "What is the keeper's parrot called?"
    with speaking(server, key) as anna, speaking(server, key, **ALPHA) as alpha, speaking(server, key, **BETA) as beta:
        text = b"# Notes\n\nThe harbour opens at six.\n\nThe keeper's parrot is called Balthasar."
        document = alpha.http.post("/documents", files={"file": ("notes.md", text)}).json()["id"]
        wait_read(alpha)
        for speaker, sees in ((alpha, True), (beta, False), (anna, False)):
            speaker.say(question, x_memory_mode="read")
            assert ("Balthasar" in sent(upstream)) is sees
            assert len(speaker.get("/documents")["data"]) == sees
        assert beta.http.get(f"/documents/{document}").status_code == 404
        assert beta.http.get(f"/documents/{document}/chunks").status_code == 404
        assert beta.http.get(f"/documents/{document}/content").status_code == 404
        assert beta.http.delete(f"/documents/{document}").status_code == 404
        own = beta.http.post("/documents", files={"file": ("notes.md", text)}).json()["id"]
        assert own != document
        wait_read(beta)
        assert alpha.http.delete(f"/documents/{document}").status_code == 200
        beta.say(question, x_memory_mode="read")
        assert "Balthasar" in sent(upstream)


def test_same_conversation_in_two_projects_is_two(server: Running) -> None:
    key = new_key()
    with speaking(server, key, **ALPHA) as alpha, speaking(server, key, **BETA) as beta:
        one = alpha.tell("We number the crates by harvest", "And the barrels by year")
        two = beta.tell("We number the crates by harvest", "And the barrels by year")
        assert one.headers["x-memory-session"] != two.headers["x-memory-session"]
        assert alpha.texts() == beta.texts()
        assert {row["id"] for row in alpha.memories()}.isdisjoint({row["id"] for row in beta.memories()})
        forgotten = alpha.http.post("/memories/forget", json={"text": "crates"}).json()
        assert len(forgotten["closed"]) == 1
        assert "We number the crates by harvest" in beta.texts()


@pytest.mark.parametrize("noun", ["sessions", "documents"])
def test_lists_are_filtered_by_project(server: Running, noun: str) -> None:
    key = new_key()
    with speaking(server, key) as anna, speaking(server, key, **ALPHA) as alpha, speaking(server, key, **BETA) as beta:
        alpha.http.post("/memories", json={"text": "The mascot is an otter", "project": "alpha"})
        made = {}
        for name, speaker in {"": anna, "alpha": alpha, "beta": beta}.items():
            if noun == "sessions":
                made[name] = speaker.tell(f"The mascot of {name} is an otter").headers["x-memory-session"]
            else:
                file = {"file": ("notes.md", f"The mascot of {name} is an otter.".encode())}
                made[name] = speaker.http.post("/documents", files=file).json()["id"]

        def listed(speaker: Speaker, project: str) -> set[str]:
            return {row["id"] for row in speaker.get(f"/{noun}", project=project)["data"]}

        assert listed(anna, "") == {made[""]}
        assert listed(anna, "alpha") == {made["alpha"]}
        assert listed(anna, anna.get("/projects/alpha")["id"]) == {made["alpha"]}
        assert listed(anna, "*") == set(made.values())
        assert listed(alpha, "alpha") == {made["alpha"]}
        assert listed(alpha, "*") == {made[""], made["alpha"]}
        for project in ("beta", "%", "never"):
            assert listed(alpha, project) == set()


STORING: dict[str, Callable[[Speaker], object]] = {
    "memory": lambda speaker: speaker.http.post("/memories", json={"text": "The mascot is an otter"}),
    "task": lambda speaker: speaker.http.post("/tasks", json={"title": "feed the otter"}),
    "document": lambda speaker: speaker.http.post("/documents", files={"file": ("otter.md", b"The otter swims.")}),
    "upload": lambda speaker: speaker.http.post(
        "/files", files={"file": ("otter.md", b"The otter swims.")}, data={"purpose": "assistants"}
    ),
    "import": lambda speaker: speaker.http.post("/import", content=b'[{"memory": "The mascot is an otter"}]'),
    "conversation": lambda speaker: speaker.say("Good morning"),
    "reading": lambda speaker: speaker.say("Good morning", x_memory_mode="read"),
}


@pytest.mark.parametrize("kind", STORING)
def test_project_is_listed_whatever_is_stored(server: Running, upstream: FakeProvider, kind: str) -> None:
    key = new_key()
    with speaking(server, key) as anna, speaking(server, key, **ALPHA) as alpha:
        alpha.get("/memories")
        assert anna.get("/projects")["data"] == []
        STORING[kind](alpha)
        assert [one["name"] for one in anna.get("/projects")["data"]] == ["alpha"]


def test_refused_request_lists_no_project(server: Running) -> None:
    key = new_key()
    with speaking(server, key) as anna, speaking(server, key, **ALPHA) as alpha:
        refused = alpha.http.post("/memories", json={"text": "The mascot is an otter", "project": "beta"})
        assert refused.status_code == 400
        assert anna.get("/projects")["data"] == []
