"""Container files: all files and commands that they use exist, and the health check recognises a ready server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import anyio
import pytest
import yaml
from aiohttp import web

from proxy.settings.load import ENV_PREFIX, Settings, every_setting
from tests.fakes.http import listening
from tests.running import Running

ROOT = Path(__file__).resolve().parent.parent
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
SERVICE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]["throughline"]
PORT = f"{ENV_PREFIX}SERVER__PORT"


def _copied() -> set[str]:
    """Return the paths that the container file copies from the checkout."""
    lines = re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
    return {source.removeprefix("./") for line in lines for source in line.split()[:-1]}


def _health(port: int) -> tuple[list[str], dict[str, str]]:
    """Return the health check's command for this Python, and its environment."""
    (command,) = re.findall(r"^HEALTHCHECK .*\\\n\s+CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    program, *arguments = json.loads(command)
    assert program == "python"
    return [sys.executable, *arguments], {PORT: str(port)}


def test_builder_gets_only_what_is_copied() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert rules[0] == "*"
    assert {rule.removeprefix("!") for rule in rules[1:] if rule.startswith("!")} == _copied()
    assert [path for path in _copied() if not (ROOT / path).exists()] == []


def test_variables_of_both_files_are_settings() -> None:
    known = {f"{ENV_PREFIX}{section}__{name}".upper() for section, name, _ in every_setting()}
    named = re.findall(rf"{ENV_PREFIX}[A-Z_]+(?==)", DOCKERFILE + "\n".join(SERVICE["environment"]))
    assert PORT in named
    assert set(named) <= known


def test_what_is_uninstalled_is_what_only_development_needs() -> None:
    (arguments,) = re.findall(r"python (deploy/leftovers\.py [a-z ]+)\)", DOCKERFILE)
    printed = subprocess.run([sys.executable, *arguments.split()], capture_output=True, text=True, check=True, cwd=ROOT)
    gone = set(printed.stdout.split())
    assert gone >= {"pytest", "mypy", "ruff", "hypothesis", "import-linter"}
    of_module = packages_distributions()
    running = ("proxy", "pip", "litellm", "lancedb", "openai", "httpx", "rapidocr", "cv2", "onnxruntime", "uvicorn")
    assert {name for module in running for name in of_module[module]} & gone == set()


def test_container_has_only_needed_rights() -> None:
    users = re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)
    assert users
    assert users[-1] not in ("root", "0")
    assert "--uid 10001" in DOCKERFILE
    assert "install -d -m 700" in DOCKERFILE
    assert SERVICE["read_only"] is True
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in SERVICE
    assert all(port.startswith("127.0.0.1:") for port in SERVICE["ports"])


def test_a_stop_leaves_running_replies_their_time() -> None:
    assert int(SERVICE["stop_grace_period"].removesuffix("s")) > Settings().server.graceful_shutdown_s


def test_the_health_check_passes_at_a_ready_server(tmp_path: Path) -> None:
    with Running(tmp_path) as server:
        command, environment = _health(int(server.origin.rsplit(":", 1)[1]))
        assert subprocess.run(command, env=environment, check=False).returncode == 0


@pytest.mark.anyio
async def test_health_check_fails_until_ready() -> None:
    async def warming(_: web.Request) -> web.Response:
        return web.Response(status=503)

    app = web.Application()
    app.router.add_get("/readyz", warming)
    async with listening(app) as port:
        command, environment = _health(port)
        assert (await anyio.run_process(command, env=environment, check=False)).returncode == 1


def test_words_of_the_code_keep_the_rules() -> None:
    done = subprocess.run([sys.executable, ROOT / "deploy" / "words.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
