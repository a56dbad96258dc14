"""``python -m tests.clients``: run each client's script against a scripted provider through the proxy; print a table."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proxy.settings.load import environment
from tests.bench.processes import ROOT
from tests.clients.agents.catalog import AGENTS, OPEN_WEBUI, Agent
from tests.clients.agents.front_end import play_front_end
from tests.clients.agents.install import install
from tests.clients.agents.play import play, play_one_memory
from tests.clients.catalog import CLIENTS, NODE_PACKAGES, Client
from tests.conformance.tools import make_node_folder, make_venv
from tests.fakes.acting import acting
from tests.fakes.provider import FakeProvider
from tests.running import Running

HERE = Path(__file__).parent
HOME = ROOT / ".clients-venv"
ONE_MEMORY = "one memory over all"
_MAX_S = 300.0


def main() -> int:
    """Return 1 if a check failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("--only", default="", help="Run the clients whose name holds this.")
    parser.add_argument(
        "--direct", action="store_true", help="Ask the provider itself: only the memory checks may fail."
    )
    parser.add_argument("--trace", type=Path, help="Keep what each agent sent and printed in this folder.")
    chosen = parser.parse_args()
    only = chosen.only.lower()
    print(f"{'client':<26} {'version':<14} passed", flush=True)
    provider = FakeProvider().start()
    failures = 0
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder), upstream=provider.base_url) as server:
        provider.script(acting)
        for client in CLIENTS:
            if only in client.name.lower():
                failures += _show(client.name, _run(client, provider.base_url if chosen.direct else server.base_url))
        for agent in () if chosen.direct else (*AGENTS, OPEN_WEBUI):
            if only in agent.name.lower():
                failures += _show(agent.name, _play(agent, server, provider, chosen.trace))
    if not chosen.direct and only in ONE_MEMORY:
        failures += _show(ONE_MEMORY, play_one_memory(AGENTS, provider))
    provider.stop()
    return int(failures > 0)


def _show(name: str, result: Mapping[str, Any]) -> int:
    """Print a client's row of the table, and a line for each failure; return the number of failures."""
    print(f"{name:<26} {result['version']:<14} {', '.join(result['passed'])}", flush=True)
    for check, error in result["failed"].items():
        print(f"{'':<41} {check}: {error[:600]}", flush=True)
    return len(result["failed"])


def _play(agent: Agent, server: Running, provider: FakeProvider, trace: Path | None) -> Mapping[str, Any]:
    try:
        install(agent)
    except subprocess.CalledProcessError as error:
        return {"version": "-", "passed": [], "failed": {"installing": str(error)}}
    run = play_front_end if agent is OPEN_WEBUI else play
    return run(agent, server, provider, trace)


def _run(client: Client, base_url: str) -> Mapping[str, Any]:
    try:
        command = _command(client)
    except subprocess.CalledProcessError as error:
        return {"version": "-", "passed": [], "failed": {"installing": str(error)}}
    keys = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": f"sk-client-{client.folder}-{client.script}"}
    quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LANGSMITH_TRACING": "false", "PYTHONDONTWRITEBYTECODE": "1",
             "PYTHONPATH": str(HERE / "python")}  # fmt: skip
    kept = {name: value for name, value in environment().items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    done = subprocess.run(
        command, env={**kept, **quiet, **keys}, capture_output=True, text=True, check=False, timeout=_MAX_S
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"version"')]
    if not lines:
        return {"version": "?", "passed": [], "failed": {"the script": done.stderr[-600:]}}
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def _command(client: Client) -> list[str]:
    """Return the command of a client's script; its packages must be installed."""
    if not client.packages:
        return [sys.executable, str(HERE / "python" / client.script)]
    home = HOME / client.folder
    done, wanted = home / ".installed", "\n".join(client.packages)
    if not done.exists() or done.read_text() != wanted:
        if client.runs_on_node:
            make_node_folder(home, NODE_PACKAGES)
        else:
            make_venv(home, client.packages)
        done.write_text(wanted)
    if not client.runs_on_node:
        return [str(home / "bin" / "python"), str(HERE / "python" / client.script)]
    for script in (HERE / "node").glob("*.js"):
        shutil.copy(script, home)
    return ["node", str(home / client.script)]


if __name__ == "__main__":
    raise SystemExit(main())
