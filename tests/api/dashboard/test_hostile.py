"""Users' texts on every page are shown as text, each with its language and direction."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import quote

from tests.api.dashboard.browsing import MAX_PAGE_BYTES, Browser
from tests.shown.files import wait_read
from tests.talking import Speaker

MARK = "zaunkönig"
HOSTILE = (
    f"My {MARK} is called <script>alert('x')</script> at home.",
    f"My {MARK} wears \u202egnp.exe\u202c on the badge.",
    f"My {MARK} says {'w' * 3000} all day.",
    f"My {MARK} costs {{{{ 7 * 7 }}}} and '\"><img src=x onerror=alert(1)> euros.",
)
NAME = f"<marquee>{MARK}</marquee> & 'Söhne'"
_WITHOUT_END = frozenset({"meta", "link", "input", "img", "br"})
_NEVER = frozenset({"marquee", "script"})
_PLAIN = frozenset({"title", "option", "button", "textarea"})  # cannot have children, or are read aloud with their form


class _Reader(HTMLParser):
    """Parser that records a page's elements, and the users' texts outside elements with language and direction."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, frozenset[str]]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.bare: list[str] = []
        self.texts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _WITHOUT_END:
            self.open.append((tag, frozenset(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if MARK not in data:
            return
        self.texts += 1
        inside = [names for tag, names in self.open if tag != "html"]
        is_told = any("lang" in names for names in inside) and any("dir" in names for names in inside)
        tags = {tag for tag, _ in self.open}
        if tags & _NEVER or not (is_told or tags & _PLAIN):
            self.bare.append(f"{self.open[-1][0]}: {data.strip()[:80]}")


def _filled(alice: Speaker) -> Iterator[str]:
    """Fill every list with hostile texts, and yield the paths of the pages that show them."""
    for text in HOSTILE:
        alice.http.post("/memories", json={"text": text}).raise_for_status()
    session = alice.tell(*HOSTILE[:2], x_memory_session=NAME.encode()).headers["x-memory-session"]
    asked = alice.say(f"What does my {MARK} wear? {HOSTILE[0]}", x_memory_session=NAME.encode())
    alice.wait()
    alice.http.post("/tasks", json={"title": HOSTILE[3]}).raise_for_status()
    alice.http.post("/agents", json={"name": NAME, "capabilities": [NAME]}).raise_for_status()
    alice.tell(f"I look after the {MARK} on Fridays.", x_memory_project=NAME.encode())
    file = {"file": (f"{MARK}.md", f"# {HOSTILE[3]}\n\n{HOSTILE[0]}\n".encode())}
    document = alice.http.post("/documents", files=file).json()["id"]
    wait_read(alice)
    told = {"memory": alice.memories()[-1]["id"], "reason": HOSTILE[3]}
    alice.http.post("/quarantine", json=told).raise_for_status()
    yield from ("", "/memories", "/memories?project=*", "/conversations", "/files", "/reviews", "/tasks", "/quarantine", "/groups", "/numbers", "/moving")  # fmt: skip
    yield from (f"/try?question={quote(HOSTILE[3])}", f"/forget?text={MARK}", f"/memories?query={quote(HOSTILE[0])}")
    yield from (f"/memories/{alice.memories()[0]['id']}", f"/conversations/{session}", f"/documents/{document}")
    yield f"/receipts/{asked.headers['x-memory-receipt']}"


def test_hostile_texts_are_text_with_language_and_direction(browser: Browser, alice: Speaker) -> None:
    texts, bare = 0, list[str]()
    for path in _filled(alice):
        page = browser.get(path)
        assert len(page.encode()) < MAX_PAGE_BYTES, path
        reader = _Reader()
        reader.feed(page)
        texts += reader.texts
        bare += [f"{path}: {one}" for one in reader.bare]
        for tag, attributes in reader.elements:
            assert tag != "script" or str(attributes.get("src")).startswith("/dashboard/static/"), path
            assert not any(name.startswith("on") or name == "style" for name in attributes), path
            assert not str(attributes.get("href") or "").startswith(("javascript:", "data:")), path
            assert tag != "img" or str(attributes.get("src")).startswith("/dashboard/"), path
    assert bare == []
    assert texts > 30
