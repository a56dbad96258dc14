"""The dashboard over HTTP, as a browser without scripts uses it: by links and forms."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path

import httpx
import pytest

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

    def sign_in(self, key: str) -> httpx.Response:
        return self.http.post("/dashboard/sign-in", data={"key": key})

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
    with Browser(server).http as http:
        answer = http.post("/dashboard/sign-in", data={"key": alice.key}, follow_redirects=False)
        cookie = answer.headers["set-cookie"]
        assert {"httponly", "samesite=strict", "path=/dashboard"} <= {one.strip().lower() for one in cookie.split(";")}
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
    gone = browser.post("/forget", text="ophicleide")
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
        alice, boss = (_key("keys", "create", *more, *database) for more in ((), ("--operator",)))
        http = server.http(alice)
        http.post("/chat/completions", json={"model": "demo", "messages": [{"role": "user", "content": "I keep bees"}]})
        with closing(Browser(server).http) as page:
            assert page.post("/dashboard/sign-in", data={"key": "wrong"}).status_code == 403
            page.post("/dashboard/sign-in", data={"key": boss})
            seen = page.get("/dashboard/operator").text
            assert "1 users" in re.sub(r"<[^>]+>", "", seen)
            assert "bees" not in seen
            assert "/dashboard/operator" in page.get("/dashboard/numbers").text
        assert http.get("/operator").status_code == 403


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
    catalogue = set(re.findall(r'^"((?:[^"\\]|\\.)*)" = ', (folder / "words.toml").read_text("utf-8"), re.MULTILINE))
    assert written == {text.replace('\\"', '"') for text in catalogue}
