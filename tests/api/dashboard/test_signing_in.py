"""Signing in, and the guards of forms and cookies."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from tests.api.dashboard.browsing import PAGES, Browser
from tests.running import Running
from tests.talking import Speaker, new_key


def test_browser_is_asked_for_a_key_others_not(server: Running) -> None:
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
        assert len(cookies) == 3  # the form's, the key's, and the form's deletion
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


def test_forged_form_changes_nothing(browser: Browser, alice: Speaker) -> None:
    """The form comes from another site, or lacks the CSRF token."""
    word = browser.csrf()
    for fields, headers in [
        ({"text": "I like spam"}, {}),
        ({"text": "I like spam", "csrf": "0" * 64}, {}),
        ({"text": "I like spam", "csrf": "ключ"}, {}),
        ({"text": "I like spam", "csrf": word}, {"sec-fetch-site": "cross-site"}),
    ]:
        answer = browser.http.post("/dashboard/memories", data=fields, headers=headers)
        assert answer.status_code == 403
        assert "<html" in answer.text
    imported = browser.http.post("/dashboard/import?csrf=wrong", files={"file": ("x.txt", b"I like spam")})
    assert imported.status_code == 403
    assert alice.memories() == []


def test_key_or_user_in_another_script_is_answered(server: Running) -> None:
    browser = Browser(server)
    with closing(browser.http) as http:
        for key, named in (("ключ", {}), ("no-key", {"user": "Аглая"})):
            assert browser.sign_in(key, **named).url.path == "/dashboard/"
        assert http.get("/dashboard/memories").status_code == 200
        assert http.post("/dashboard/sign-in", data={"csrf": "ключ", "key": "no-key"}).status_code == 403


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


@pytest.mark.parametrize("user", ["Müller", "Аглая", "O'Neil; drop", "小林"])
def test_a_user_has_any_name(server: Running, user: str) -> None:
    browser, key = Browser(server), new_key()
    with closing(browser.http), closing(server.http(key)) as http:
        named = {"x-memory-user": user.encode()}
        http.post("/memories", json={"text": "I keep bees in Aarhus"}, headers=named).raise_for_status()
        browser.sign_in(key, user=user)
        assert "Aarhus" in browser.get("/memories")


def test_sign_in_form_comes_first(server: Running) -> None:
    with closing(Browser(server).http) as http:
        assert http.post("/dashboard/sign-in", data={"key": "no-key"}).status_code == 403
        word = re.search(r'name="csrf" value="(\w+)"', http.get("/dashboard/sign-in").text)
        assert word is not None
        for sent in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            fields = {"csrf": word[1], "key": "no-key"}
            assert http.post("/dashboard/sign-in", data=fields, headers=sent).status_code == 403
