"""Texts on pages: their size, their language, and those that would be something else than text."""

from __future__ import annotations

import html
import re
import tomllib
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import get_args

import pytest

from proxy.types import Kind, Mode, Status
from tests.api.dashboard.browsing import HOSTILE, MAX_PAGE_BYTES, PAGES, Browser
from tests.running import Running
from tests.shown.files import wait_read
from tests.talking import Speaker, speaking


@pytest.mark.parametrize("letter", ["&", "w ", "\u6f22"])
def test_no_page_outgrows_its_limit(server: Running, letter: str) -> None:
    browser = Browser(server)
    with speaking(server) as bob, closing(browser.http):
        browser.sign_in(bob.key)
        text = (letter * 6000)[:6000]
        for n in range(45):
            bob.http.post("/memories", json={"text": f"{n} {text}"}).raise_for_status()
        messages = [{"role": ("user", "assistant")[n % 2], "content": f"{n} {text * 3}"} for n in range(9)]
        session = bob.post(messages, x_memory_mode="write").headers["x-memory-session"]
        document = bob.http.post("/documents", files={"file": ("long.txt", f"{text}\n\n".encode() * 8)}).json()["id"]
        bob.wait()
        wait_read(bob)
        (first, *_) = bob.memories()
        questions = [f"{n} {text} What is it?" for n in range(8)]
        for n in range(1, 9):
            asked = bob.say(*questions[:n], x_memory_session="asking", x_memory_budget="4000")
        pages = [
            *PAGES,
            f"/memories/{first['id']}",
            f"/receipts/{asked.headers['x-memory-receipt']}",
            f"/conversations/{session}",
            f"/documents/{document}",
        ]
        for page in pages:
            assert len(browser.get(page).encode()) < MAX_PAGE_BYTES, page


def test_a_long_conversation_is_walked_by_pages(browser: Browser, alice: Speaker) -> None:
    texts = [f"The boat number {n} is {'very ' * 2000}old." for n in range(12)]
    for n in range(1, len(texts) + 1):
        session = alice.say(*texts[:n], x_memory_mode="write").headers["x-memory-session"]
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


def test_text_too_long_for_a_page_is_plain(browser: Browser, alice: Speaker) -> None:
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


def test_texts_carry_their_language(browser: Browser, alice: Speaker) -> None:
    texts = {"fr": "J'habite avec ma sœur à Lyon et je suis boulangère", "de": "Ich wohne mit meiner Schwester in Lübeck",
             "es": "Mi hija es celíaca y no come pan", "ru": "Меня зовут Аглая, я живу в Туле", "zh": "我对花生过敏"}  # fmt: skip
    for text in texts.values():
        alice.http.post("/memories", json={"text": text}).raise_for_status()
    shown = re.findall(r'<p class="text" lang="(\w*)" dir="auto"><a [^>]*>([^<]*)</a>', browser.get("/memories"))
    assert {code: html.unescape(text) for code, text in shown} == texts


def test_hostile_texts_are_shown_as_text(browser: Browser, alice: Speaker) -> None:
    for text in HOSTILE:
        alice.http.post("/memories", json={"text": text}).raise_for_status()
    page = browser.get("/memories")
    for text in HOSTILE:
        assert html.escape(text)[:60].replace("&quot;", "&#34;").replace("&#x27;", "&#39;") in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "49" not in page.partition("My sign is")[2][:20]


def test_every_text_of_the_pages_is_catalogued() -> None:
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
