"""A server with data for every page of the dashboard, and a browser's walk through the pages."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, chat
from tests.running import Running
from tests.shown.files import wait_read
from tests.talking import Speaker

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / ".browser-tools" / "node_modules"
CHROMIUM, NODE = shutil.which("chromium"), shutil.which("node")
IS_MISSING = not (CHROMIUM and NODE and (TOOLS / "axe-core").is_dir() and (TOOLS / "playwright-core").is_dir())
NEEDS = "needs chromium, node and `make browser-tools`"
TOLD = {
    "move": ("We moved to Tromsø in March; my sister Ylva lives two streets away.", "I am allergic to hazelnuts."),
    "trip": ("My trip to Rome costs 900 euros.", "The train to Rome leaves at seven."),
    "spanish": ("Mi hija Vera es celíaca.",),
    "german": ("Ich arbeite als Tischlerin in Lübeck.",),
    "russian": ("Меня зовут Аглая, и по субботам я пеку хлеб.",),
    "chinese": ("我对花生过敏，每天早上喝绿茶。",),
    "tools": ("I use Shram and Magnet for planning.",),
    "door": ("My flat has a green door.",),
}
LATER = ("My flat has a blue door now.", "I don't use Magnet anymore.", "Forget the trip to Rome with Anna")
QUESTIONS = ("Where does my sister live, and what must I not eat?", "Which colour has my door?", "What do I plan with?")
DOCUMENT = b"# Harbour handbook\n\n## Lights\n\nThe lamp of the harbour burns for nineteen seconds, then rests for five.\n\n## Berths\n\nGuests lie at pier three.\n"  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scene:
    """A server with one user's data, a key of the user and one of the operator."""

    server: Running
    key: str
    operator: str


@contextmanager
def furnished(folder: Path) -> Iterator[Scene]:
    """Serve the data of a user with entries on every page."""
    with FakeProvider() as provider, Running(folder, upstream=provider.base_url, auth={"mode": "keys"}) as server:
        provider.script(_answering)
        keys = [_key(folder, *more) for more in ((), ("--operator",))]
        speaker = Speaker(server, keys[0], user_agent="chatter/2.1")
        with closing(speaker.http):
            _live(speaker)
        yield Scene(server, *keys)


def walked(scene: Scene, shots: str = "") -> list[dict[str, Any]]:
    """Return the browser's findings on each page."""
    walk = Path(__file__).with_name("walk.cjs")
    command = [str(NODE), str(walk), scene.server.origin, scene.key, scene.operator, str(TOOLS), str(CHROMIUM), shots]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _answering(seen: Seen) -> Reply | None:
    """Reply without a word of the question, as an echo would be stored with the turn."""
    return chat("All right.", seen.json) if seen.path.endswith("/chat/completions") else None


def _key(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "proxy", "keys", "create", *words, "--data-dir", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0]


def _live(speaker: Speaker) -> None:
    for name, texts in TOLD.items():
        speaker.tell(*texts, x_memory_session=name)
    for text in LATER:
        speaker.tell(text, x_memory_session="later")
    speaker.tell("I look after the harbour atlas on Fridays.", x_memory_project="atlas")
    for body in ({"name": "gardener", "private": True}, {"name": "planner"}):
        speaker.http.post("/agents", json=body).raise_for_status()
    speaker.tell("I water the ferns on Mondays.", x_memory_agent="gardener")
    speaker.http.post("/sessions/tools/end").raise_for_status()
    speaker.http.post("/memories", json={"text": "I play the theorbo", "pinned": True}).raise_for_status()
    for title, due in (("Renew the passport", "2030-06-01T00:00:00Z"), ("Water the ferns", None)):
        speaker.http.post("/tasks", json={"title": title, **({"due": due} if due else {})}).raise_for_status()
    hidden = speaker.tell("The code of the cellar is in the blue tin.", x_memory_session="apart")
    told = {"session": hidden.headers["x-memory-session"], "reason": "copied from a letter"}
    speaker.http.post("/quarantine", json=told).raise_for_status()
    for name, data in (("harbour.md", DOCUMENT), ("sunset.png", _picture())):
        speaker.http.post("/documents", files={"file": (name, data)}).raise_for_status()
    wait_read(speaker)
    for question in QUESTIONS:
        speaker.say(question, x_memory_session="questions")
    speaker.say("How long does the lamp of the harbour burn?", model="gpt-4o-mini")
    speaker.wait()


def _picture() -> bytes:
    """Return a picture of the sun over the sea, with a line of text."""
    image = Image.new("RGB", (640, 400), "#f6c177")
    draw = ImageDraw.Draw(image)
    draw.ellipse((250, 130, 390, 270), fill="#eb6f5c")
    draw.rectangle((0, 240, 640, 400), fill="#2f6c80")
    for y in range(260, 400, 30):
        draw.line((80 + y % 70, y, 520 - y % 90, y), fill="#6fa8b5", width=4)
    draw.text((30, 30), "PIER THREE", fill="#1d1f21", font_size=48)
    made = io.BytesIO()
    image.save(made, "PNG")
    return made.getvalue()
