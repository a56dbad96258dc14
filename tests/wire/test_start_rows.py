"""Start-up for clients and operators: the list of models, and a refused start."""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from proxy.upstream.catalogue import ASK_S
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Hang, json_reply
from tests.running import Running
from tests.wire.rawhttp import send


def test_row_93_models_are_listed_although_a_provider_hangs(tmp_path: Path) -> None:
    """A coding agent's model discovery: display names, in pages, faster than its timeout."""
    with FakeProvider() as slow, FakeProvider() as quick:
        slow.script(lambda _: Hang())
        data = [{"id": f"m{i}", "object": "model"} for i in range(3)]
        quick.script(lambda _: json_reply({"object": "list", "data": data}))
        models = [
            {"model_name": name, "litellm_params": {"model": model, "api_base": base, "api_key": "sk-own"}}
            for name, model, base in (
                ("claude-mine", "openai/x", quick.base_url),
                ("slow/*", "hosted_vllm/*", slow.base_url),
                ("quick/*", "hosted_vllm/*", quick.base_url),
            )
        ]
        with Running(tmp_path, models=models, wait=False, memory={"enabled": False}) as server:
            assert ASK_S < 3
            answers = [
                send(server.origin, "GET", f"/v1/models?limit={limit}", [("Authorization", "Bearer EMPTY")])
                for limit in ("1000", "2")
            ]
    whole, page = (orjson.loads(answer.body) for answer in answers)
    assert [answer.status for answer in answers] == [200, 200]
    assert {one["id"] for one in whole["data"]} == {"claude-mine", "quick/m0", "quick/m1", "quick/m2", "demo"}
    assert all(one["display_name"] == one["id"] for one in whole["data"])
    assert (len(page["data"]), page["has_more"], whole["has_more"]) == (2, True, False)


WRONG = {
    "port": ["--port", "{taken}"],
    "yaml": ["--config", "{yaml}"],
    "setting": ["--config", "{setting}"],
    "no file": ["--config", "/nowhere/config.yaml"],
    "url": ["--upstream", "localhost:9"],
    "folder": ["--data-dir", "/proc/nowhere"],
    "bind": ["--host", "0.0.0.0"],
}


@pytest.mark.parametrize("why", WRONG)
def test_row_95_refused_start_is_one_message(tmp_path: Path, why: str) -> None:
    (tmp_path / "yaml").write_text("server: [\n")
    (tmp_path / "setting").write_text("server: {prot: 1}\n")
    command = [sys.executable, "-m", "proxy"]
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        known = {"taken": held.getsockname()[1], "yaml": tmp_path / "yaml", "setting": tmp_path / "setting"}
        flags = [one.format(**known) for one in WRONG[why]]
        folder = [] if why == "folder" else ["--data-dir", str(tmp_path / "data")]
        port = [] if why == "port" else ["--port", "0"]
        help_s, _ = cpu_s([*command, "--help"])
        refused_s, ended = cpu_s([*command, "serve", *folder, *port, *flags])
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Traceback" not in ended.stderr
    assert 0 < len(ended.stderr.strip().splitlines()) <= 3, ended.stderr
    assert refused_s < 6 * help_s + 1  # no heavy module was imported: that takes 4 s


def cpu_s(command: list[str]) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Run a command to its end and return its CPU seconds and result."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended
