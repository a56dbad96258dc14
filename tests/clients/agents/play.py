"""Plays two conversations of an agent through us, each in a process of its own, and checks what came of them."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import orjson

from proxy.settings.load import environment
from tests.clients.agents.catalog import Agent
from tests.clients.agents.install import program_of, version_of
from tests.clients.agents.provider import ASK, FACT, FILE, GO_ON, KNOWN, TELL, WORD, blocks, script
from tests.clients.agents.tap import Exchange, Tap
from tests.fakes.acting import WIRES
from tests.fakes.provider import FakeProvider, Seen
from tests.running import Running

_MOST_S = 60.0
_NOWHERE = "http://127.0.0.1:9"  # whoever calls home is refused at once, and no run waits for a host
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ")


@dataclass
class Report:
    """What a run showed, as the scripts of other clients print it."""

    version: str
    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def check(self, name: str, check: Callable[[], str]) -> None:
        """Pass where ``check`` finds nothing to complain about; an ``AssertionError`` says what was seen."""
        try:
            seen = check()
        except AssertionError as error:
            self.failed[name] = str(error)
        else:
            self.passed.append(f"{name} ({seen})" if seen else name)

    @property
    def as_json(self) -> Mapping[str, Any]:
        return {"version": self.version, "passed": self.passed, "failed": self.failed}


@dataclass(frozen=True)
class Conversation:
    """What one process printed, asked the server, and what of it arrived at the provider."""

    code: int
    output: str
    exchanges: list[Exchange]
    arrived: list[Seen]

    @property
    def posted(self) -> list[Exchange]:
        """The requests for a reply of a model."""
        return [
            one
            for one in self.exchanges
            if one.request.method == "POST" and any(one.request.path.endswith(path) for path in WIRES)
        ]


def play(agent: Agent, server: Running, provider: FakeProvider, trace: Path | None) -> Mapping[str, Any]:
    """Return version, passed and failed checks of one agent."""
    key = f"sk-agent-{agent.name.replace(' ', '-').replace(',', '').lower()}"
    report = Report(version_of(agent))
    with tempfile.TemporaryDirectory(prefix="agent-") as folder:
        stage = _Stage(agent, Path(folder), key, server, provider, trace)
        told = stage.converse(TELL, "told")
        server.wait_learned(key)
        asked = stage.converse(ASK, "asked")
        more = [stage.converse(GO_ON, name, command)
                for name, command in (("went-on", agent.goes_on), ("compacted", agent.compacts)) if command]  # fmt: skip
        server.wait_learned(key)
    with server.http(key) as http:
        known = [one["text"] for one in http.get("/memories").json()["data"]]
    report.check("told", lambda: _told(told, agent))
    if agent.has_tools:
        report.check("tool", lambda: _read(told))
    report.check("memory", lambda: _remembered(asked))
    if agent.goes_on:
        report.check("goes on", lambda: _went_on(asked, more[0]))
    if agent.compacts:
        report.check("compacts", lambda: _compacted(more[-1]))
    report.check("own words", lambda: _own_words(known))
    report.check("errands", lambda: _errands([told, asked, *more], agent))
    report.check("no refusal", lambda: _no_refusal([told, asked, *more]))
    return report.as_json


@dataclass(frozen=True)
class _Stage:
    agent: Agent
    folder: Path
    key: str
    server: Running
    provider: FakeProvider
    trace: Path | None

    def converse(self, prompt: str, name: str, command: Sequence[str] = ()) -> Conversation:
        """Run one process; without a command it begins a conversation."""
        home, work = self.folder / "home", self.folder / "work"
        home.mkdir(exist_ok=True)
        work.mkdir(exist_ok=True)
        (work / FILE).write_text(f"{WORD}\n")
        self.provider.script(script(work))
        seen_before = len(self.provider.seen)
        with Tap(int(self.server.origin.rpartition(":")[2])) as tap:
            names = {"base_url": f"{tap.origin}/v1", "origin": tap.origin, "key": self.key, "prompt": prompt,
                     "home": str(home), "work": str(work)}  # fmt: skip
            filled = {path: Template(text).substitute(names) for path, text in self.agent.files.items()}
            for path, text in filled.items():
                (home / path).parent.mkdir(parents=True, exist_ok=True)
                (home / path).write_text(text)
            code, output = self._run(command or self.agent.command, names, home, work)
            conversation = Conversation(code, output, tap.exchanges(), self.provider.seen[seen_before:])
        if self.trace is not None:
            _write(conversation, self.trace / self.agent.folder, name)
        return conversation

    def _run(self, command: Sequence[str], names: Mapping[str, str], home: Path, work: Path) -> tuple[int, str]:
        variables = {name: Template(text).substitute(names) for name, text in self.agent.environment.items()}
        kept = {name: value for name, value in environment().items() if name in _KEPT}
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE)
        local = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        quiet = {"HOME": str(home), "TERM": "dumb", "NO_COLOR": "1", "DO_NOT_TRACK": "1"}
        output = ""
        for called in filter(None, (self.agent.setup, command)):
            program, *arguments = (Template(one).substitute(names) for one in called)
            try:
                done = subprocess.run(
                    [*program_of(self.agent, program), *arguments], cwd=work,
                    env={**kept, **proxies, **local, **quiet, **variables}, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=_MOST_S,
                )  # fmt: skip
            except subprocess.TimeoutExpired as error:
                return -1, f"{output}It did not end within {_MOST_S:.0f} s. {error.output!r}"
            output += done.stdout
            if done.returncode:
                break
        return done.returncode, output


def _told(told: Conversation, agent: Agent) -> str:
    assert told.code == 0, f"exit {told.code}: {told.output[-800:]}"
    assert any(FACT in seen.body.decode() for seen in told.arrived), "what was told did not arrive"
    if agent.has_tools:
        assert WORD in told.output, f"the reply was not shown: {told.output[-800:]}"
    return ""


def _read(told: Conversation) -> str:
    arrived = [seen for seen in told.arrived if f"{WORD}" in seen.body.decode()]
    assert arrived, "what the tool read did not arrive"
    return ""


def _remembered(asked: Conversation) -> str:
    assert asked.code == 0, f"exit {asked.code}: {asked.output[-800:]}"
    shown = [block for seen in asked.arrived for block in blocks(seen.body)]
    assert any(FACT.rstrip(".") in block for block in shown), f"no block of memory holds it: {shown}"
    assert KNOWN in asked.output, f"the reply was not shown: {asked.output[-800:]}"
    return ""


def _own_words(known: list[str]) -> str:
    strangers = [text for text in known if text.rstrip(".") not in (FACT.rstrip("."),)]
    assert not strangers, f"these are not the user's: {strangers}"
    return ""


def _went_on(asked: Conversation, went_on: Conversation) -> str:
    """What memory put into a turn stands there byte for byte when the agent sends this turn again as it was."""
    assert went_on.code == 0, f"exit {went_on.code}: {went_on.output[-800:]}"
    first = {block for seen in asked.arrived for block in blocks(seen.body)}
    later = {block for seen in went_on.arrived for block in blocks(seen.body)}
    assert first, "nothing was put in at first"
    assert KNOWN in went_on.output, f"the reply was not shown: {went_on.output[-800:]}"
    if first <= later:
        return ""
    assert not _resends(asked, went_on), f"not put back: {first}, but {later}"
    return "it changes its turns"


def _resends(asked: Conversation, went_on: Conversation) -> bool:
    """Return whether an agent sends its first turn of the user again as it was."""
    first, later = ([orjson.dumps(_uncached(turn)) for turn in _turns(one)] for one in (asked, went_on))
    return all(turn in later for turn in first)


def _turns(conversation: Conversation) -> list[Any]:
    body = orjson.loads(next(one.body for one in conversation.posted if not _is_errand(one)))
    given = body.get("messages") or body.get("input")
    return [turn for turn in given if turn.get("role") == "user"]


def _uncached(value: Any) -> Any:
    """Return a value of JSON without marks for the provider's cache, which move on with each turn."""
    if isinstance(value, list):
        return [_uncached(one) for one in value]
    if isinstance(value, dict):
        return {name: _uncached(one) for name, one in value.items() if name != "cache_control"}
    return value


def _compacted(compacted: Conversation) -> str:
    assert compacted.code == 0, f"exit {compacted.code}: {compacted.output[-800:]}"
    errands = [one for one in compacted.posted if _is_errand(one)]
    assert errands, f"no request of {len(compacted.posted)} was an errand"
    return ""


def _is_errand(exchange: Exchange) -> bool:
    return "reason=errand" in exchange.headers.get("x-memory", "")


def _errands(conversations: list[Conversation], agent: Agent) -> str:
    """Requests of an agent for itself come without its tools; they go up as they came, and no turn is taken for one."""
    count = 0
    for conversation in conversations:
        arrived = [seen.body for seen in conversation.arrived]
        for one in conversation.posted:
            is_turn = (
                "tools" in orjson.loads(one.body)
                if agent.has_tools
                else any(text in one.body.decode() for text in (TELL, ASK, GO_ON))
            )
            assert is_turn or _is_errand(one), f"taken for a turn: {one.body[:600]!r}"
            if _is_errand(one):
                count += 1
                assert one.body in arrived, f"changed on its way: {one.body[:600]!r}"
    return str(count)


def _no_refusal(conversations: list[Conversation]) -> str:
    seen = [
        f"{one.request.method} {one.request.target} {one.status}" for each in conversations for one in each.exchanges
    ]
    upgrades = [line for line in seen if line.endswith(" 426")]
    refused = [line for line in seen if int(line.rpartition(" ")[2]) >= 400 and line not in upgrades]
    assert not refused, ", ".join(refused)
    return "426 once" if len(upgrades) == 1 else f"426 {len(upgrades)} times" if upgrades else ""


def _write(conversation: Conversation, folder: Path, name: str) -> None:
    """Keep what was sent and printed, for whoever looks into a failure."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_text(conversation.output)
    for at, one in enumerate(conversation.exchanges):
        head = {"request": f"{one.request.method} {one.request.target}", "headers": one.request.headers,
                "status": one.status, "answer": one.headers}  # fmt: skip
        (folder / f"{name}-{at}.json").write_bytes(orjson.dumps(head, option=orjson.OPT_INDENT_2) + b"\n" + one.body)
    for at, seen in enumerate(conversation.arrived):
        (folder / f"{name}-up-{at}.json").write_bytes(seen.target.encode() + b"\n" + seen.body)
