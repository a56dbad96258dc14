"""Play Open WebUI: a statement and a file in one chat, a question in the next, and a question by another account."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.clients.agents import checks
from tests.clients.agents.catalog import Agent
from tests.clients.agents.install import program_of, version_of
from tests.clients.agents.open_webui import OpenWebUI
from tests.clients.agents.play import Report, kept
from tests.clients.agents.provider import ASK, FILE, TELL, WORD, script
from tests.clients.agents.stage import Conversation, is_errand, variables_of, write
from tests.clients.agents.tap import Exchange, Tap
from tests.fakes.provider import FakeProvider
from tests.running import Running

_MODEL = "fake-model"
_TASKS = 3  # per chat: title, tags, follow-up questions; with a file also its search queries


def play_front_end(agent: Agent, server: Running, provider: FakeProvider, trace: Path | None) -> Mapping[str, Any]:
    """Return version, passed and failed checks of Open WebUI."""
    key = "sk-front-open-webui"
    report = Report(version_of(agent))
    with tempfile.TemporaryDirectory(prefix="front-") as folder, Tap(server.port) as tap:
        work = Path(folder)
        (work / FILE).write_text(f"{WORD}\n")
        provider.script(script(work))
        names = {"base_url": f"{tap.origin}/v1", "origin": tap.origin, "key": key, "home": folder, "work": folder}
        with OpenWebUI(program_of(agent, agent.command[0]), _free_port(), work, variables_of(agent, names)) as front:

            def chat(text: str, *files: str) -> Conversation:
                before, seen = {one.place for one in tap.exchanges()}, len(provider.seen)

                def new() -> list[Exchange]:
                    return [one for one in tap.exchanges() if one.place not in before]

                answer = front.chat(_MODEL, text, files, lambda: sum(map(is_errand, new())) >= _TASKS + len(files))
                return Conversation(0, answer, new(), provider.seen[seen:])

            ana = front.sign_up("ana")
            told = chat(TELL, front.upload(work / FILE))
            server.wait_learned(key, X_OpenWebUI_User_Id=ana)
            asked = chat(ASK)
            server.wait_learned(key, X_OpenWebUI_User_Id=ana)
            front.sign_up("bob")
            of_another = chat(ASK)
    played = {"told": told, "asked": asked, "of another": of_another}
    for name, conversation in played.items() if trace is not None else ():
        write(conversation, trace / agent.folder, name)
    report.check("told", lambda: checks.told(told))
    report.check("file", lambda: checks.read(told))
    report.check("memory", lambda: checks.remembered(asked))
    report.check("users apart", lambda: checks.unknown(of_another))
    report.check("own words", lambda: checks.own_words(*kept(server, key, X_OpenWebUI_User_Id=ana)))
    report.check("errands", lambda: checks.errands([told, asked, of_another], agent))
    report.check("no refusal", lambda: checks.no_refusal([told, asked, of_another]))
    return report.as_json


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
