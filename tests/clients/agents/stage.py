"""Run an agent as its user would, in a separate home and folder, and record its requests and their arrival."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from string import Template

import orjson

from proxy.settings.load import environment
from tests.clients.agents import terminal
from tests.clients.agents.catalog import Agent
from tests.clients.agents.install import program_of
from tests.clients.agents.provider import FILE, WORD, script
from tests.clients.agents.tap import Exchange, Tap
from tests.fakes.acting import WIRES
from tests.fakes.provider import FakeProvider, Seen
from tests.running import Running

_MAX_S = 120.0
_MAX_ON_TERMINAL_S = 45.0
_NOWHERE = "http://127.0.0.1:9"  # telemetry is refused at once, and no run waits for a host
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ")

# Instruction files that agents read by themselves: never a statement of the conversation's user.
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "QWEN.md", ".clinerules/rules.md", ".continue/rules/rules.md")
NOT_TOLD = "I live in Rotterdam and my dog is called Biscuit. I always prefer tabs."

IsDone = Callable[[str, list[Exchange]], bool]


@dataclass(frozen=True)
class Conversation:
    """Output of one process, its requests, and the requests that reached the provider."""

    code: int
    output: str
    exchanges: list[Exchange]
    arrived: list[Seen]

    @property
    def posted(self) -> list[Exchange]:
        """Requests for a reply of a model."""
        return [one for one in self.exchanges if is_posted(one)]


def is_posted(exchange: Exchange) -> bool:
    """Return whether a request asks a model for a reply."""
    return exchange.request.method == "POST" and any(exchange.request.path.endswith(path) for path in WIRES)


def is_errand(exchange: Exchange) -> bool:
    """Return whether the proxy classified a request as the agent's own."""
    return "reason=errand" in exchange.headers.get("x-memory", "")


@dataclass(frozen=True)
class Stage:
    """Environment of one agent's conversations.

    Args:
        agent: The installed agent.
        folder: Contains its home and its working folder.
        key: The key that it sends.
        server: Receives its requests, through a tap.
        provider: Is scripted for each conversation.
        trace: Folder for sent and printed data, or None.
    """

    agent: Agent
    folder: Path
    key: str
    server: Running
    provider: FakeProvider
    trace: Path | None

    def converse(
        self, prompt: str, name: str, command: Sequence[str] = (), is_done: IsDone | None = None
    ) -> Conversation:
        """Run one process.

        Args:
            prompt: The user's message.
            name: Name of the conversation in the trace.
            command: Default: the command that begins a conversation.
            is_done: The process runs on a terminal until this is true; without it, it ends by itself.
        """
        home, work = self.folder / "home", self.folder / "work"
        home.mkdir(exist_ok=True)
        work.mkdir(exist_ok=True)
        (work / FILE).write_text(f"{WORD}\n")
        for path in INSTRUCTIONS:
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(f"# How we work\n\n{NOT_TOLD}\n")
        self.provider.script(script(work))
        seen_before = len(self.provider.seen)
        with Tap(self.server.port) as tap:
            names = {"base_url": f"{tap.origin}/v1", "origin": tap.origin, "key": self.key, "prompt": prompt,
                     "home": str(home), "work": str(work)}  # fmt: skip
            for path, text in self.agent.files.items():
                (home / path).parent.mkdir(parents=True, exist_ok=True)
                (home / path).write_text(Template(text).substitute(names))
            code, output = self._run(command or self.agent.command, names, is_done and (
                lambda seen: is_done(seen, tap.exchanges())))  # fmt: skip
            _end_daemons(home)
            conversation = Conversation(code, output, tap.exchanges(), self.provider.seen[seen_before:])
        if self.trace is not None:
            write(conversation, self.trace / self.agent.folder, name)
        return conversation

    def _run(
        self, command: Sequence[str], names: Mapping[str, str], is_done: Callable[[str], bool] | None
    ) -> tuple[int, str]:
        work, variables = Path(names["work"]), variables_of(self.agent, names)
        output = ""
        for called in filter(None, (self.agent.setup, command)):
            program, *arguments = (Template(one).substitute(names) for one in called)
            whole = [*program_of(self.agent, program), *arguments]
            if is_done is not None and called is command:
                on_screen = {**variables, "TERM": "xterm-256color"}
                return terminal.run(whole, work, on_screen, is_done, _MAX_ON_TERMINAL_S)
            try:
                done = subprocess.run(
                    whole, cwd=work, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, text=True, check=False, timeout=_MAX_S,
                )  # fmt: skip
            except subprocess.TimeoutExpired as error:
                return -1, f"{output}It did not end within {_MAX_S:.0f} s. {error.output!r}"
            output += done.stdout
            if done.returncode:
                break
        return done.returncode, output


def variables_of(agent: Agent, names: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of an agent's processes, with ``names`` filled in."""
    own = {name: Template(text).substitute(names) for name, text in agent.environment.items()}
    kept = {name: value for name, value in environment().items() if name in _KEPT}
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE)
    local = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    quiet = {"HOME": names["home"], "TERM": "dumb", "NO_COLOR": "1", "DO_NOT_TRACK": "1"}
    return {**kept, **proxies, **local, **quiet, **own}


def _end_daemons(home: Path) -> None:
    """End processes that an agent left running, so that the next conversation starts a new process."""
    mark = f"HOME={home}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended, or is another user's
            if mark in environ.read_bytes().split(b"\0"):
                os.kill(int(environ.parent.name), signal.SIGTERM)


def write(conversation: Conversation, folder: Path, name: str) -> None:
    """Write sent and printed data to files, for the analysis of a failure."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_text(conversation.output)
    for at, one in enumerate(conversation.exchanges):
        head = {"request": f"{one.request.method} {one.request.target}", "headers": one.request.headers,
                "status": one.status, "answer": one.headers}  # fmt: skip
        (folder / f"{name}-{at}.json").write_bytes(orjson.dumps(head, option=orjson.OPT_INDENT_2) + b"\n" + one.body)
    for at, seen in enumerate(conversation.arrived):
        (folder / f"{name}-up-{at}.json").write_bytes(seen.target.encode() + b"\n" + seen.body)
