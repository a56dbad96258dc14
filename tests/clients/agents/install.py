"""Install each agent into a separate folder outside the repository; fetched once, never by CI."""

from __future__ import annotations

import json
from pathlib import Path

from proxy.settings.load import environment
from tests.clients.agents.catalog import Agent
from tests.conformance.tools import make_node_folder, make_venv


def home() -> Path:
    """Return the folder of all agents."""
    cache = environment().get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "throughline-clients"


def install(agent: Agent) -> None:
    """Fetch an agent's packages unless they are installed.

    Raises:
        subprocess.CalledProcessError: If a package cannot be fetched.
    """
    folder = home() / agent.folder
    done, wanted = folder / ".installed", "\n".join(agent.packages)
    if done.exists() and done.read_text() == wanted:
        return
    node = [name.removeprefix("npm:") for name in agent.packages if name.startswith("npm:")]
    python = [name for name in agent.packages if not name.startswith("npm:")]
    if node:
        make_node_folder(folder, node)
    if python:
        make_venv(folder, python, without=agent.without)
    done.write_text(wanted)


def program_of(agent: Agent, name: str) -> list[str]:
    """Return the command of an agent's program."""
    folder = home() / agent.folder
    is_node = agent.packages[0].startswith("npm:")
    return [str(folder / "node_modules" / ".bin" / name if is_node else folder / "bin" / name)]


def version_of(agent: Agent) -> str:
    """Return the installed version of an agent's first package."""
    folder, first = home() / agent.folder, agent.packages[0]
    if not first.startswith("npm:"):
        return first.partition("==")[2]
    name = first.removeprefix("npm:").rpartition("@")[0]
    version: str = json.loads((folder / "node_modules" / name / "package.json").read_text())["version"]
    return version
