"""Play two conversations of an agent through the proxy, each in a separate process, and check the results."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.client import OK
from pathlib import Path
from typing import Any

import orjson

from tests.clients.agents import checks
from tests.clients.agents.catalog import Agent
from tests.clients.agents.install import version_of
from tests.clients.agents.provider import ASK, BOTH, GO_ON, TELL, WORD
from tests.clients.agents.stage import Conversation, Stage, is_errand, is_posted
from tests.clients.agents.tap import Exchange
from tests.fakes.provider import FakeProvider
from tests.running import Running


@dataclass
class Report:
    """Results of a run, as other clients' scripts print them."""

    version: str
    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def check(self, name: str, check: Callable[[], str]) -> None:
        """Pass unless ``check`` raises an ``AssertionError``, whose text is then the failure."""
        try:
            seen = check()
        except AssertionError as error:
            self.failed[name] = str(error)
        else:
            self.passed.append(f"{name} ({seen})" if seen else name)

    @property
    def as_json(self) -> Mapping[str, Any]:
        return {"version": self.version, "passed": self.passed, "failed": self.failed}


def play_one_memory(agents: Sequence[Agent], provider: FakeProvider) -> Mapping[str, Any]:
    """Tell the first agent something and ask the others, each with its own key and process; all keys are one user's."""
    report = Report(f"{len(agents)} agents")
    with tempfile.TemporaryDirectory(prefix="agents-") as folder:
        local = {"local_user": "ana"}
        with Running(Path(folder) / "data", upstream=provider.base_url, memory=local) as server:
            for at, agent in enumerate(agents):
                home = Path(folder) / str(at)
                home.mkdir()
                seen = Stage(agent, home, f"sk-one-{at}", server, provider, None).converse(ASK if at else TELL, "one")
                server.wait_learned("sk-one-0")
                check = checks.remembered if at else checks.told
                report.check(f"{'asked' if at else 'told'} {agent.name}", partial(check, seen))
    return report.as_json


def play(agent: Agent, server: Running, provider: FakeProvider, trace: Path | None) -> Mapping[str, Any]:
    """Return version, passed and failed checks of one agent."""
    key = f"sk-agent-{agent.name.replace(' ', '-').replace(',', '').lower()}"
    played: dict[str, Conversation] = {}
    with tempfile.TemporaryDirectory(prefix="agent-") as folder:
        stage = Stage(agent, Path(folder), key, server, provider, trace)
        played["told"] = stage.converse(TELL, "told")
        server.wait_learned(key)
        played["asked"] = stage.converse(ASK, "asked")
        if agent.goes_on:
            played["went on"] = stage.converse(GO_ON, "went-on", agent.goes_on)
        if agent.compacts:
            played["compacted"] = stage.converse(GO_ON, "compacted", agent.compacts)
        if agent.draws:
            played["drawn"] = stage.converse(BOTH, "drawn", agent.draws, _is_drawn)
        server.wait_learned(key)
    return _report(agent, played, *kept(server, key)).as_json


def _is_drawn(_output: str, exchanges: list[Exchange]) -> bool:
    """Return whether the read file was forwarded, and one of the agent's own requests, such as a title, was sent."""
    has_read = any(one.status == OK and WORD in one.body.decode() for one in exchanges if is_posted(one))
    return has_read and any(map(is_errand, exchanges))


def kept(server: Running, key: str, **headers: str) -> tuple[list[str], list[str]]:
    """Return the memories of a key, and the user's messages in the stored turns."""
    with server.http(key, **headers) as http:
        memories = [one["text"] for one in http.get("/memories").json()["data"]]
        rows = [orjson.loads(line) for line in http.get("/export").text.splitlines()[1:]]
    turns = [row["value"] for row in rows if row["type"] == "episodes"]
    return memories, [turn["text"] for turn in turns if turn["role"] == "user"]


def _report(agent: Agent, played: Mapping[str, Conversation], memories: list[str], turns: list[str]) -> Report:
    report = Report(version_of(agent))
    report.check("told", lambda: checks.told(played["told"]))
    if agent.has_tools:
        report.check("tool", lambda: checks.read(played["told"]))
    report.check("memory", lambda: checks.remembered(played["asked"]))
    if agent.goes_on:
        report.check("goes on", lambda: checks.went_on(played["asked"], played["went on"]))
    if agent.compacts:
        report.check("compacts", lambda: checks.compacted(played["compacted"]))
    if agent.draws:
        report.check("on a terminal", lambda: checks.drawn(played["drawn"]))
    report.check("own words", lambda: checks.own_words(memories, turns))
    report.check("errands", lambda: checks.errands(list(played.values()), agent))
    report.check("no refusal", lambda: checks.no_refusal(list(played.values())))
    return report
