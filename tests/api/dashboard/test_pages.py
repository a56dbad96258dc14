"""The dashboard over HTTP, used by links and forms as by a browser without scripts."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.api.dashboard.browsing import MAX_PAGE_BYTES, PAGES, Browser
from tests.running import Running
from tests.talking import Speaker


def test_every_page_is_there_and_small(browser: Browser, alice: Speaker) -> None:
    for page in PAGES:
        assert len(browser.get(page)) < MAX_PAGE_BYTES  # also with an empty memory
    alice.tell("I like green tea.", "My sister lives in Tromsø.")
    for page in PAGES:
        text = browser.get(page)
        assert '<html lang="en">' in text
        assert len(text.encode()) < MAX_PAGE_BYTES


def test_memory_is_stated_found_corrected_closed_and_undone(browser: Browser, alice: Speaker) -> None:
    assert "Remembered." in browser.post("/memories", text="I play the serpent").text
    page = browser.get("/memories?query=serpent")
    found = re.search(r'href="/dashboard(/memories/mem_\w+)"', page)
    assert found is not None
    browser.post(found[1], action="edit", text="I play the ophicleide", kind="preference")
    one = browser.get(found[1])
    assert "ophicleide" in one
    assert "<del" in one
    browser.post(found[1], action="pin")
    assert alice.memories()[0]["pinned"]
    would = browser.get("/forget?text=ophicleide")
    assert "This would go" in would
    assert alice.texts() == {"I play the ophicleide"}
    gone = browser.post("/forget", text="ophicleide", seen=_seen(would))
    assert alice.texts() == set()
    batch = re.search(r'name="batch" value="(\w+)"', gone.text)
    assert batch is not None
    browser.post("/memories/undo", batch=batch[1])
    assert alice.texts() == {"I play the ophicleide"}
    browser.post(found[1], action="purge")
    assert alice.memories(status="all") == []


@pytest.mark.parametrize("id_", ["%00", "%0A", "x%3Fy", "%2E%2E", "%25zz", "%F0%9F%9B%B6", "x" * 60_000])
@pytest.mark.parametrize("page", ["memories", "conversations", "documents", "receipts"])
def test_page_of_no_possible_id_is_not_found(browser: Browser, page: str, id_: str) -> None:
    answer = browser.http.get(f"/dashboard/{page}/{id_}")
    assert answer.status_code == 404, answer.text
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "path", ["/memories/{memory}", "/memories/many", "/quarantine/{entry}", "/conversations/{said}"]
)
def test_unknown_action_of_a_form_is_refused(browser: Browser, alice: Speaker, path: str) -> None:
    said = alice.tell("I own a kayak").headers["x-memory-session"]
    memory = alice.http.post("/memories", json={"text": "I own a canoe"}).json()["id"]
    entry = alice.http.post("/quarantine", json={"memory": memory}).json()["id"]
    for fields in ({"action": "zzz"}, {}):
        answer = browser.post(path.format(memory=memory, entry=entry, said=said), id=memory, **fields)
        assert answer.status_code == 400
        assert "There is no such action here." in answer.text
    assert alice.get(f"/quarantine/{entry}")["memory"] == memory


def test_many_are_changed_at_once(browser: Browser, alice: Speaker) -> None:
    ids = [alice.http.post("/memories", json={"text": f"I own boat {n}"}).json()["id"] for n in range(3)]
    fields = {"csrf": browser.csrf(), "id": ids, "action": "close"}
    assert "3 closed." in browser.http.post("/dashboard/memories/many", data=fields).text
    assert alice.texts() == set()


def test_conversation_shows_injections_and_a_receipt_why(browser: Browser, alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.", x_memory_session="first")
    asked = alice.say("Where does my sister live?", x_memory_session="second")
    session, receipt = asked.headers["x-memory-session"], asked.headers["x-memory-receipt"]
    page = browser.get(f"/conversations/{session}")
    assert f"/dashboard/receipts/{receipt}" in page
    assert "Where does my sister live?" in page
    why = browser.get(f"/receipts/{receipt}")
    assert "My sister lives in Tromsø." in why
    browser.post(f"/conversations/{session}", action="delete")
    assert browser.http.get(f"/dashboard/conversations/{session}").status_code == 404


def test_list_is_imported_exported_and_everything_destroyed(browser: Browser, alice: Speaker) -> None:
    word = browser.csrf(browser.get("/moving"))
    browser.http.post(f"/dashboard/import?csrf={word}", files={"file": ("x.txt", b"- I keep bees in Aarhus")})
    while "queued" in (page := browser.get("/moving")) or "running" in page:
        pass
    assert alice.texts() == {"I keep bees in Aarhus"}
    assert "Aarhus" in browser.http.get("/dashboard/export").text
    assert browser.post("/erase", sure="no").status_code == 400
    assert "Nothing of it is left" in browser.post("/erase", sure="erase").text
    assert alice.memories(status="all") == []


def test_operators_key_sees_counts_and_no_texts(tmp_path: Path) -> None:
    with Running(tmp_path, auth={"mode": "keys"}) as server:
        database = ("--data-dir", str(tmp_path))
        browser = Browser(server)
        alice, boss = (_key("keys", "create", *more, *database) for more in ((), ("--operator",)))
        http = server.http(alice)
        http.post("/chat/completions", json={"model": "demo", "messages": [{"role": "user", "content": "I keep bees"}]})
        with closing(browser.http) as page:
            assert browser.sign_in("wrong").status_code == 403
            browser.sign_in(boss)
            seen = page.get("/dashboard/operator?over=month").text
            assert "1 users" in re.sub(r"<[^>]+>", "", seen)
            assert "bees" not in seen
            assert "/dashboard/operator" in page.get("/dashboard/numbers").text
        assert http.get("/operator").status_code == 403


def test_what_was_not_shown_is_not_forgotten(browser: Browser, alice: Speaker) -> None:
    browser.post("/memories", text="I own a kayak")
    seen = _seen(browser.get("/forget?text=kayak"))
    browser.post("/memories", text="I paddle the kayak in Oslo")
    page = browser.post("/forget", text="kayak", seen=seen)
    assert "Nothing is forgotten yet" in page.text
    assert len(alice.texts()) == 2
    browser.post("/forget", text="kayak", seen=_seen(page.text))
    assert alice.texts() == set()


def test_what_is_set_apart_is_shown_and_released(browser: Browser, alice: Speaker) -> None:
    session = alice.tell("I own a kayak").headers["x-memory-session"]
    browser.post(f"/conversations/{session}", action="quarantine", reason="copied from a letter")
    memory = alice.http.post("/memories", json={"text": "I own a canoe"}).json()["id"]
    alice.http.post("/quarantine", json={"memory": memory, "reason": "of somebody else"}).raise_for_status()
    page = browser.get("/quarantine")
    assert f"/dashboard/conversations/{session}" in page
    assert f"/dashboard/memories/{memory}" in page
    assert "copied from a letter" in page
    for one in alice.get("/quarantine")["data"]:
        browser.post(f"/quarantine/{one['id']}", action="release")
    assert "I own a canoe" in alice.texts()
    assert "data-keys" not in browser.get("/quarantine")


def test_a_closed_memory_is_back_with_one_click(browser: Browser, alice: Speaker) -> None:
    memory = alice.http.post("/memories", json={"text": "I own a kayak"}).json()["id"]
    page = browser.post(f"/memories/{memory}", action="close").text
    assert alice.texts() == set()
    batch = re.search(r'name="batch" value="(\w+)"', page)
    assert batch is not None
    browser.post("/memories/undo", batch=batch[1])
    assert alice.texts() == {"I own a kayak"}


def test_a_question_is_tried_without_a_trace(browser: Browser, alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.")
    before = len(alice.get("/receipts")["data"])
    page = browser.get("/try?question=Where+does+my+sister+live%3F")
    assert "Tromsø" in page
    assert "What the model would read" in page
    assert len(alice.get("/receipts")["data"]) == before


def test_receipt_shows_additions_and_a_memory_its_questions(browser: Browser, alice: Speaker) -> None:
    alice.http.post("/memories", json={"text": "My sister lives in Tromsø", "pinned": True})
    asked = alice.say("Where does my sister live?")
    alice.wait()
    why = browser.get(f"/receipts/{asked.headers['x-memory-receipt']}")
    assert re.search(r"<ins[^>]*>[^<]*&lt;memory", why)
    assert "<svg" in why
    memory = alice.memories()[0]["id"]
    assert "Where does my sister live?" in browser.get(f"/memories/{memory}")
    assert "Where does my sister live?" in browser.get("/conversations")


def test_numbers_are_charts_and_tables(browser: Browser, alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.")
    alice.say("Where does my sister live?")
    for over in ("day", "week", "month", "nonsense"):
        page = browser.get(f"/numbers?over={over}")
        assert page.count("<svg") >= 4
        assert "gpt-4o" in page
        assert "p95 ms" in page


def test_agents_own_memories_show_where_it_is_chosen(browser: Browser, alice: Speaker) -> None:
    alice.http.post("/agents", json={"name": "gardener", "private": True}).raise_for_status()
    alice.http.post("/memories", json={"text": "The ferns want water"}, headers={"x-memory-agent": "gardener"})
    assert "ferns" not in browser.get("/memories")
    page = browser.get("/memories?agent=gardener")
    link = re.search(r'href="/dashboard(/memories/mem_\w+\?agent=gardener)"', page)
    assert link is not None
    assert "The ferns want water" in browser.get(link[1])
    assert "Done." in browser.post(link[1], action="pin").text


def _seen(page: str) -> str:
    found = re.search(r'name="seen" value="(\w+)"', page)
    assert found is not None
    return found[1]


def _key(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "proxy", *words], capture_output=True, text=True, check=True)
    return done.stdout.split()[0]
