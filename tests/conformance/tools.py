"""Tools of the suites, in a separate virtual environment and node folder; fetched once, never by CI."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.processes import ROOT

HOME = ROOT / ".conformance-venv"
NODE = HOME / "node"
BIN = HOME / "bin"
NODE_BIN = NODE / "node_modules" / ".bin"

_PACKAGES = [
    "httpx-aiohttp", "httpx2", "inline-snapshot", "nest_asyncio==1.6.0", "pytest<10", "pytest-asyncio", "pytest-xdist",
    "respx", "rich", "dirty-equals", "langchain-openai>=1,<2", "langchain-tests>=1,<2", "llm-comply==0.5.0", "schemathesis>=4.32,<5",
]  # fmt: skip
_NODE_PACKAGES = ["@stdy/cli@0.22.2", "compatcanary@0.2.2"]


def openai_version() -> str:
    """Return the version of openai-python in the lock file."""
    locked = re.search(r"^openai==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert locked is not None
    return locked[1]


def install() -> None:
    """Fetch all missing tools."""
    version = openai_version()
    done = HOME / ".installed"
    wanted = "\n".join([f"openai=={version}", *_PACKAGES, *_NODE_PACKAGES])
    if done.exists() and done.read_text() == wanted:
        return
    print("Fetching the suites into .conformance-venv; this needs the network, once.", flush=True)
    make_venv(HOME, [f"openai=={version}", *_PACKAGES])
    _unpack_openai(version)
    make_node_folder(NODE, _NODE_PACKAGES)
    done.write_text(wanted)


def make_venv(home: Path, packages: Sequence[str], *, without: Sequence[str] = ()) -> None:
    """Create a virtual environment with packages, by uv: pip takes minutes to resolve these versions.

    Args:
        home: Folder of the environment.
        packages: With their versions.
        without: Dependencies to leave out.
    """
    uv = [sys.executable, "-m", "uv"]
    if importlib.util.find_spec("uv") is None:
        _run([sys.executable, "-m", "venv", str(home)])
        _run([str(home / "bin" / "python"), "-m", "pip", "install", "-q", "uv"])
        uv = [str(home / "bin" / "uv")]
    _run([*uv, "venv", "-q", "--allow-existing", "--python", sys.executable, str(home)])
    overrides = home / "overrides.txt"
    overrides.write_text("".join(f"{name}; sys_platform == 'never'\n" for name in without))
    python = str(home / "bin" / "python")
    _run([*uv, "pip", "install", "-q", "--python", python, "--override", str(overrides), *packages])


def make_node_folder(home: Path, packages: Sequence[str]) -> None:
    """Install node packages into a folder."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "package.json").write_text('{"private": true, "type": "module"}\n')
    _run(["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(home), *packages])


def openai_suite() -> Path:
    """Return the folder of openai-python's source, tests included."""
    return HOME / "suites" / f"openai-{openai_version()}"


def _unpack_openai(version: str) -> None:
    shutil.rmtree(HOME / "suites", ignore_errors=True)
    suites = HOME / "suites"
    _run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            "openai",
            f"openai=={version}",
            "-d",
            str(suites),
        ]
    )
    with tarfile.open(suites / f"openai-{version}.tar.gz") as archive:
        archive.extractall(suites, filter="data")
    shutil.rmtree(openai_suite() / "src")  # the installed package is tested, and pytest would import this one first


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, cwd=ROOT)
