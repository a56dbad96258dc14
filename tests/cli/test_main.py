"""What ``throughline serve`` says when it starts."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proxy.cli.main import app, banner
from proxy.errors import ConfigError
from proxy.settings.load import environment, load_settings


@pytest.mark.parametrize(("mode", "said"), [("passthrough", "Bearer no-key"), ("keys", "`throughline keys create`")])
def test_the_line_to_try_has_a_key_that_is_let_in(mode: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    text = banner(load_settings(flags={"auth": {"mode": mode}}))
    assert said in text
    assert ("no-key" in text) == (mode == "passthrough")


def test_a_json_log_holds_nothing_else_from_its_first_line_on(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "proxy", "serve", "--port", port, "--data-dir", str(tmp_path)]
        variables = {**environment(), "THROUGHLINE_TELEMETRY__LOG_FORMAT": "json"}
        ended = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    lines: list[dict[str, Any]] = [json.loads(line) for line in ended.stderr.splitlines()]
    assert ended.returncode != 0
    assert ended.stdout == ""
    assert (lines[0]["event"], lines[0]["base_url"]) == ("serving", f"http://127.0.0.1:{port}/v1")
    assert [line["level"] for line in lines if line.get("logger") == "uvicorn.error"] == ["error"]


@pytest.mark.parametrize("words", [["serve"], ["keys", "create"], ["worker"]])
def test_a_data_folder_that_cannot_be_made_is_refused_with_the_mend(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    result = CliRunner().invoke(app, [*words, "--data-dir", str(tmp_path / "file" / "data")])
    assert isinstance(result.exception, ConfigError)
    assert "THROUGHLINE_SERVER__DATA_DIR" in str(result.exception)
    assert result.output == ""


def test_a_check_says_once_what_is_wrong_with_the_data_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    result = CliRunner().invoke(app, ["check", "--data-dir", str(tmp_path / "file" / "data")])
    assert result.exit_code == 1
    assert re.findall(r"^FAIL +(\w+)", result.output, re.MULTILINE) == ["data"]
