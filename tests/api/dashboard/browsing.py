"""A browser without scripts: follows links and sends forms."""

from __future__ import annotations

import re

import httpx

from tests.running import Running

MAX_PAGE_BYTES = 100_000
PAGES = ["", "/memories", "/conversations", "/files", "/reviews", "/tasks", "/quarantine", "/groups", "/try?question=tea",
         "/numbers", "/numbers?over=month", "/moving", "/forget?text=tea"]  # fmt: skip
HOSTILE = ['<script>alert("x")</script> is my favourite string', "My badge says \u202eevil\u202c", "My word is " + "w" * 5000,
           "My sign is {{ 7 * 7 }} and <img src=x onerror=alert(1)>", "My row is '\"><b>bold"]  # fmt: skip


class Browser:
    """Browser that follows links and sends forms, without scripts."""

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
