"""The dashboard over HTTP, as a browser without scripts uses it: by links and forms."""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import get_args

import httpx
import pytest

from proxy.types import Kind, Mode, Status
from tests.running import Running
from tests.talking import Speaker, new_key, speaking

MAX_PAGE_BYTES = 100_000
PAGES = ["", "/memories", "/conversations", "/files", "/reviews", "/tasks", "/quarantine", "/groups", "/try?question=tea",
         "/numbers", "/numbers?over=month", "/moving", "/forget?text=tea"]  # fmt: skip
HOSTILE = ['<script>alert("x")</script> is my favourite string', "My badge says \u202eevil\u202c", "My word is " + "w" * 5000,
           "My sign is {{ 7 * 7 }} and <img src=x onerror=alert(1)>", "My row is '\"><b>bold"]  # fmt: skip


class Browser:
    """Follows links and sends forms, without a script."""

    def __init__(self, server: Running) -> None:
        self.http = httpx.Client(base_url=server.origin, headers={"accept": "text/html"}, follow_redirects=True)

    def sign_in(self, key: str, **fields: str) -> httpx.Response:
        word = self.csrf(self.http.get("/dashboard/sign-in").text)
        return self.http.post("/dashboard/sign-in", data={"csrf": word, "key": key, **fields})

    def get(self, path: str) -> str:
        answer = self.http.get(f"/dashboard{path}")
        assert answer.status_code == 200, (path, answer.text)
        return answer.text

    def csrf(self, page: str = "") -> str:
        found = re.search(r'name="csrf" value="(\w+)"', page or self.get("/memories"))
        assert found is not None
        return found[1]

    def post(self, path: str, **fields: str) -> httpx.Response:
        return self.http.post(f"/dashboard{path}", data={"csrf": self.csrf(), **fields})


@pytest.fixture
def alice(server: Running) -> Iterator[Speaker]:
    with speaking(server) as one:
        yield one


@pytest.fixture
def browser(server: Running, alice: Speaker) -> Iterator[Browser]:
    one = Browser(server)
    with closing(one.http):
        assert one.sign_in(alice.key).url.path == "/dashboard/"
        yield one


def test_a_browser_is_asked_for_a_key_and_other_clients_get_an_index(server: Running) -> None:
    with Browser(server).http as http:
        assert http.get("/").url.path == "/dashboard/sign-in"
        index = http.get("/", headers={"accept": "application/json"}).json()
        assert (index["object"], index["mcp"]) == ("index", "/mcp")
        for path in PAGES:
            assert http.get(f"/dashboard{path}").url.path == "/dashboard/sign-in"


def test_the_cookie_is_sealed_and_pages_are_guarded(server: Running, alice: Speaker) -> None:
    browser = Browser(server)
    with browser.http as http:
        cookies = http.get("/dashboard/sign-in").headers.get_list("set-cookie")
        http.follow_redirects = False
        cookies += browser.sign_in(alice.key).headers.get_list("set-cookie")
        assert len(cookies) == 4  # the form's twice, the key's, and the form's end
        for cookie in cookies:
            told = {one.strip().lower() for one in cookie.split(";")}
            assert {"httponly", "samesite=strict", "path=/dashboard"} <= told
            assert alice.key not in cookie
        page = http.get("/dashboard/memories")
        policy = page.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"<script(?! src)|<style|\son\w+=|style=", page.text)


def test_every_page_is_there_and_small(browser: Browser, alice: Speaker) -> None:
    for page in PAGES:
        assert len(browser.get(page)) < MAX_PAGE_BYTES  # also of an empty memory
    alice.tell("I like green tea.", "My sister lives in Tromsø.")
    for page in PAGES:
        text = browser.get(page)
        assert '<html lang="en">' in text
        assert len(text.encode()) < MAX_PAGE_BYTES


def test_a_memory_is_stated_found_corrected_closed_and_undone(browser: Browser, alice: Speaker) -> None:
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


def test_many_are_changed_at_once(browser: Browser, alice: Speaker) -> None:
    ids = [alice.http.post("/memories", json={"text": f"I own boat {n}"}).json()["id"] for n in range(3)]
    fields = {"csrf": browser.csrf(), "id": ids, "action": "close"}
    assert "3 closed." in browser.http.post("/dashboard/memories/many", data=fields).text
    assert alice.texts() == set()


def test_a_conversation_shows_what_was_put_in_and_a_receipt_why(browser: Browser, alice: Speaker) -> None:
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


def test_hostile_texts_are_shown_as_text(browser: Browser, alice: Speaker) -> None:
    for text in HOSTILE:
        alice.http.post("/memories", json={"text": text}).raise_for_status()
    page = browser.get("/memories")
    for text in HOSTILE:
        assert html.escape(text)[:60].replace("&quot;", "&#34;").replace("&#x27;", "&#39;") in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "49" not in page.partition("My sign is")[2][:20]


def test_a_form_of_another_site_or_without_its_word_changes_nothing(browser: Browser, alice: Speaker) -> None:
    word = browser.csrf()
    for fields, headers in [
        ({"text": "I like spam"}, {}),
        ({"text": "I like spam", "csrf": "0" * 64}, {}),
        ({"text": "I like spam", "csrf": word}, {"sec-fetch-site": "cross-site"}),
    ]:
        answer = browser.http.post("/dashboard/memories", data=fields, headers=headers)
        assert answer.status_code == 403
        assert "<html" in answer.text
    imported = browser.http.post("/dashboard/import?csrf=wrong", files={"file": ("x.txt", b"I like spam")})
    assert imported.status_code == 403
    assert alice.memories() == []


def test_one_visitor_sees_nothing_of_another(server: Running, browser: Browser, alice: Speaker) -> None:
    memory = alice.http.post("/memories", json={"text": "I keep bees in Aarhus"}).json()["id"]
    other = Browser(server)
    with closing(other.http) as http:
        other.sign_in(new_key())
        for page in PAGES:
            assert "Aarhus" not in http.get(f"/dashboard{page}").text
        assert http.get(f"/dashboard/memories/{memory}").status_code == 404
        forged = http.cookies["throughline"][:-8] + "AAAAAAA="
        http.cookies.clear()
        sent = http.get("/dashboard/memories", headers={"cookie": f"throughline={forged}"})
        assert sent.url.path == "/dashboard/sign-in"
    assert "Aarhus" in browser.get("/memories")


def test_a_list_is_brought_in_taken_out_and_everything_destroyed(browser: Browser, alice: Speaker) -> None:
    word = browser.csrf(browser.get("/moving"))
    browser.http.post(f"/dashboard/import?csrf={word}", files={"file": ("x.txt", b"- I keep bees in Aarhus")})
    while "queued" in (page := browser.get("/moving")) or "running" in page:
        pass
    assert alice.texts() == {"I keep bees in Aarhus"}
    assert "Aarhus" in browser.http.get("/dashboard/export").text
    assert browser.post("/erase", sure="no").status_code == 400
    assert "Nothing of it is left" in browser.post("/erase", sure="erase").text
    assert alice.memories(status="all") == []


def test_an_operators_key_sees_counts_of_all_and_nobodys_texts(tmp_path: Path) -> None:
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


def _seen(page: str) -> str:
    found = re.search(r'name="seen" value="(\w+)"', page)
    assert found is not None
    return found[1]


def _key(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "proxy", *words], capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


def test_every_text_of_the_interface_is_in_the_catalogue() -> None:
    folder = resources.files("proxy.api.dashboard")
    assert isinstance(folder, Path)
    written = {
        text
        for page in (folder / "templates").glob("*.html")
        for _, text in re.findall(r"""\b_\((["'])(.*?)\1""", page.read_text("utf-8"))
    }
    for module in folder.glob("*.py"):
        written |= set(re.findall(r'\bsay\(\s*"(.*?)"', module.read_text("utf-8")))
    catalogue = tomllib.loads((folder / "words.toml").read_text("utf-8"))
    assert written == set(catalogue["words"])
    assert {*get_args(Kind), *get_args(Status), *get_args(Mode)} - {"off"} <= set(catalogue["values"])


def test_what_was_not_shown_is_not_forgotten(browser: Browser, alice: Speaker) -> None:
    browser.post("/memories", text="I own a kayak")
    seen = _seen(browser.get("/forget?text=kayak"))
    browser.post("/memories", text="I paddle the kayak in Oslo")
    page = browser.post("/forget", text="kayak", seen=seen)
    assert "Nothing is forgotten yet" in page.text
    assert len(alice.texts()) == 2
    browser.post("/forget", text="kayak", seen=_seen(page.text))
    assert alice.texts() == set()


def test_a_closed_memory_is_back_with_one_click(browser: Browser, alice: Speaker) -> None:
    memory = alice.http.post("/memories", json={"text": "I own a kayak"}).json()["id"]
    page = browser.post(f"/memories/{memory}", action="close").text
    assert alice.texts() == set()
    batch = re.search(r'name="batch" value="(\w+)"', page)
    assert batch is not None
    browser.post("/memories/undo", batch=batch[1])
    assert alice.texts() == {"I own a kayak"}


@pytest.mark.parametrize("letter", ["&", "w ", "\u6f22", "<b>"])
def test_no_page_outgrows_its_limit(server: Running, letter: str) -> None:
    browser = Browser(server)
    with speaking(server) as bob, closing(browser.http):
        browser.sign_in(bob.key)
        text = (letter * 6000)[:6000]
        for n in range(45):
            bob.http.post("/memories", json={"text": f"{n} {text}"}).raise_for_status()
        messages = [{"role": ("user", "assistant")[n % 2], "content": f"{n} {text * 3}"} for n in range(21)]
        session = bob.post(messages, x_memory_mode="write").headers["x-memory-session"]
        document = bob.http.post("/documents", files={"file": ("long.txt", f"{text}\n\n".encode() * 40)}).json()["id"]
        bob.wait()
        while bob.get("/state")["pending_media"]:
            pass
        (first, *_) = bob.memories()
        pages = [*PAGES, f"/memories/{first['id']}", f"/conversations/{session}", f"/documents/{document}"]
        for page in pages:
            assert len(browser.get(page).encode()) < MAX_PAGE_BYTES, page


def test_a_long_conversation_is_walked_by_pages(browser: Browser, alice: Speaker) -> None:
    texts = [f"The boat number {n} is {'very ' * 2000}old." for n in range(12)]
    session = alice.say(*texts, x_memory_mode="write").headers["x-memory-session"]
    alice.wait()
    seen, at = "", f"/conversations/{session}"
    while at:
        page = browser.get(at)
        seen += page
        more = re.search(r'rel="next" href="([^"]*)"', page)
        at = f"/conversations/{session}{more[1]}" if more else ""
    for n in range(12):
        assert seen.count(f"The boat number {n} is") == 1
    back = re.search(r'rel="prev" href="([^"]*)"', page)
    assert back is not None
    assert "The boat number" in browser.get(f"/conversations/{session}{back[1]}")


def test_what_is_too_long_for_a_page_is_there_as_plain_text(browser: Browser, alice: Speaker) -> None:
    text = "The boat is " + "<b>very</b> " * 3000 + "old."
    session = alice.say(text, x_memory_mode="write").headers["x-memory-session"]
    alice.wait()
    link = re.search(
        r'href="/dashboard(/conversations/[^"]*/messages/[^"]*)"', browser.get(f"/conversations/{session}")
    )
    assert link is not None
    whole = browser.http.get(f"/dashboard{link[1]}")
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert "".join(whole.text.split()) == "".join(text.split())


def test_a_question_is_tried_without_a_trace(browser: Browser, alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.")
    before = len(alice.get("/receipts")["data"])
    page = browser.get("/try?question=Where+does+my+sister+live%3F")
    assert "Tromsø" in page
    assert "What the model would read" in page
    assert len(alice.get("/receipts")["data"]) == before


def test_a_receipt_shows_what_was_added_and_the_memory_its_questions(browser: Browser, alice: Speaker) -> None:
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


def test_texts_carry_their_language(browser: Browser, alice: Speaker) -> None:
    texts = {"fr": "J'habite avec ma sœur à Lyon et je suis boulangère", "de": "Ich wohne mit meiner Schwester in Lübeck",
             "es": "Mi hija es celíaca y no come pan", "ru": "Меня зовут Аглая, я живу в Туле", "zh": "我对花生过敏"}  # fmt: skip
    for text in texts.values():
        alice.http.post("/memories", json={"text": text}).raise_for_status()
    page = browser.get("/memories")
    for code, text in texts.items():
        told = re.search(
            rf'<p class="text" lang="(\w*)" dir="auto"><a [^>]*>{re.escape(html.escape(text, quote=False)[:6].replace("'", "&#39;"))}',
            page,
        )
        assert told is not None, text
        assert told[1] in (code, "" if code == "fr" else code)


def test_an_agents_own_memories_are_seen_where_it_is_chosen(browser: Browser, alice: Speaker) -> None:
    alice.http.post("/agents", json={"name": "gardener", "private": True}).raise_for_status()
    alice.http.post("/memories", json={"text": "The ferns want water"}, headers={"x-memory-agent": "gardener"})
    assert "ferns" not in browser.get("/memories")
    page = browser.get("/memories?agent=gardener")
    link = re.search(r'href="/dashboard(/memories/mem_\w+\?agent=gardener)"', page)
    assert link is not None
    assert "The ferns want water" in browser.get(link[1])
    assert "Done." in browser.post(link[1], action="pin").text


@pytest.mark.parametrize("user", ["Müller", "Аглая", "O'Neil; drop", "小林"])
def test_a_user_has_any_name(server: Running, user: str) -> None:
    browser, key = Browser(server), new_key()
    with closing(browser.http), closing(server.http(key)) as http:
        named = {"x-memory-user": user.encode()}
        http.post("/memories", json={"text": "I keep bees in Aarhus"}, headers=named).raise_for_status()
        browser.sign_in(key, user=user)
        assert "Aarhus" in browser.get("/memories")


def test_a_form_of_signing_in_is_asked_for_first(server: Running) -> None:
    with closing(Browser(server).http) as http:
        assert http.post("/dashboard/sign-in", data={"key": "no-key"}).status_code == 403
        word = re.search(r'name="csrf" value="(\w+)"', http.get("/dashboard/sign-in").text)
        assert word is not None
        for sent in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            fields = {"csrf": word[1], "key": "no-key"}
            assert http.post("/dashboard/sign-in", data=fields, headers=sent).status_code == 403
