"""Output of ``throughline serve`` at start."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from proxy.cli import preflight
from proxy.cli.check import diagnose
from proxy.cli.main import app
from proxy.cli.preflight import require_space
from proxy.cli.start import banner
from proxy.errors import ConfigError
from proxy.settings.load import environment, load_settings


@pytest.mark.parametrize(("mode", "said"), [("passthrough", "Bearer no-key"), ("keys", "`throughline keys create`")])
def test_banners_curl_line_has_a_valid_key(mode: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    text = banner(load_settings(flags={"auth": {"mode": mode}}))
    assert said in text
    assert ("no-key" in text) == (mode == "passthrough")


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ({}, "extractor  built in\n"),
        ({"extraction_model": "groq/llama"}, "extractor  built in (no key for groq/llama;"),
        ({"extraction_model": "groq/llama", "extraction_api_key": "gsk_x"}, "extractor  groq/llama\n"),
        ({"extraction_model": "groq/llama", "extraction_api_key": "gsk_x", "extractor": "builtin"}, "or  built in\n"),
    ],
)
def test_banner_names_the_extractor_at_work(memory: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    assert said in banner(load_settings(flags={"memory": memory}))


def test_check_fails_a_judge_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    flags = {"server": {"data_dir": tmp_path}, "memory": {"extraction_model": "groq/llama"}}
    (found,) = [one for one in asyncio.run(diagnose(load_settings(flags=flags))) if one.name == "extractor"]
    assert not found.is_fine
    assert "memory.extraction_api_key, or GROQ_API_KEY" in found.text


def test_json_log_is_json_from_line_one(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ended = run("serve", "--port", port, "--data-dir", str(tmp_path), THROUGHLINE_TELEMETRY__LOG_FORMAT="json")
    lines: list[dict[str, Any]] = [json.loads(line) for line in ended.stderr.splitlines()]
    assert (ended.returncode, ended.stdout, len(lines)) == (2, "", 1)
    assert (lines[0]["event"], lines[0]["level"]) == ("start refused", "error")
    assert port in lines[0]["reason"]


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process."""
    command = [sys.executable, "-m", "proxy", *words]
    return subprocess.run(command, env={**environment(), **variables}, capture_output=True, text=True, check=False)


def refused(*words: str, **variables: str) -> str:
    """Return the one message of a refused start."""
    ended = run("serve", "--port", "0", *words, **variables)
    assert ended.returncode == 2, ended.stderr
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 6
    return ended.stderr


def test_a_taken_port_is_named_with_the_mend(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = refused("--port", port, "--data-dir", str(tmp_path / "data"))
    assert port in said
    assert "--port" in said
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("server:\n  cors_origins: [a, b\nmemory:\n  enabled: true\n", ["line 3"]),
        ("server:\n  port: 1\n host: x\n", ["line 3"]),
        ("- server\n", ["line 1"]),
        ("1: 2\n", ["line 1", "name"]),
        ("memory:\n  deadline_ms: 300\n  deadline_ms: 400\n", ["deadline_ms", "line 2", "line 3"]),
        ("server:\n  port: 1\nmemory:\n  enabled: true\nserver:\n  workers: 2\n", ["server", "line 1", "line 5"]),
        ("server:\n  host: 2024-13-45\n", ["month", "quotes"]),
        ("memory: " + "[" * 3000 + "\n", ["deeply"]),
        ("memory: on please\n", ["memory", "line 1", "below"]),
        ("memory.enabled: true\n", ["memory.enabled", "line 1", "`memory:`", "`enabled:`"]),
        ("server:\n  graceful_shutdown_s: .inf\n", ["graceful_shutdown_s", "line 2", "finite"]),
        ("server:\n  prot: 9000\n", ["server.prot", "line 2", "server.port"]),
        ("sever:\n  port: 9000\n", ["sever", "line 1"]),
        ("memory:\n  enabled: true\nserver:\n  workers: many\n", ["server.workers", "line 4", "integer"]),
        ("upstream:\n  url: 127.0.0.1:9999/v1\n", ["upstream.url", "line 2", "http://"]),
        ("memory:\n  summary_base_url: my server\n", ["summary_base_url", "line 2", "http://"]),
        ("model_list:\n  - litellm_params:\n      model: openai/gpt-4o\n", ["model_name"]),
        (
            "model_list:\n  - model_name: a\n    litellm_params: {model: openai/a, api_base: here}\n",
            ["api_base", "http://"],
        ),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, text: str, said: list[str]) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    message = refused("--config", str(path), "--data-dir", str(tmp_path))
    assert all(part in message for part in (*said, *(["config.yaml"] if "model" not in text else []))), message


def test_a_wrong_secret_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    for text in ("auth:\n  secret: 12345678\n", "upstream:\n  api_key: [12345678]\n"):
        path.write_text(text)
        said = refused("--config", str(path))
        assert "line 2" in said
        assert "12345678" not in said


@pytest.mark.parametrize("command", ["serve", "check", "worker"])
def test_data_folder_without_a_name_is_refused(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unset variable, as in `--data-dir "$DATA"`, would mean the current folder."""
    for words, variable in (["--data-dir", ""], None), ([], " "):
        if variable is not None:
            monkeypatch.setenv("THROUGHLINE_SERVER__DATA_DIR", variable)
        result = CliRunner().invoke(app, [command, *words])
        assert isinstance(result.exception, ConfigError)
        assert "no name" in str(result.exception)


@pytest.mark.parametrize("name", ["lance", "blobs"])
def test_file_in_place_of_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("in the way")
    result = CliRunner().invoke(app, ["serve", "--port", "0", "--data-dir", str(tmp_path)])
    assert isinstance(result.exception, ConfigError)
    assert str(tmp_path / name) in str(result.exception)


def test_list_in_a_variable_must_be_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THROUGHLINE_SERVER__CORS_ORIGINS", "https://chat.example.org")
    result = CliRunner().invoke(app, ["check"])
    assert isinstance(result.exception, ConfigError)
    assert "THROUGHLINE_SERVER__CORS_ORIGINS" in str(result.exception)


def test_a_wrong_variable_or_flag_is_named(tmp_path: Path) -> None:
    assert "THROUGHLINE_SERVER__PORT" in refused(THROUGHLINE_SERVER__PROT="1")
    assert "THROUGHLINE_SERVER__WORKERS" in refused(THROUGHLINE_SERVER__WORKERS="many")
    assert "--upstream" in refused("--upstream", "my provider")
    assert "OPENAI_BASE_URL" in refused("--data-dir", str(tmp_path), OPENAI_BASE_URL="here/v1")
    assert "is a folder" in refused("--config", str(tmp_path))
    assert "--host" in refused("--host", "203.0.113.1", THROUGHLINE_SERVER__ALLOW_INSECURE_BIND="true")


@pytest.mark.parametrize(
    ("behind", "mend"), [("anna:pass@h/v1", "@"), ("anna@h", "@"), ("h/v1?api=1", "?"), ("h/v1#x", "#"), ("h?", "?")]
)
def test_base_url_of_more_than_path_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behind: str, mend: str
) -> None:
    """No request could be sent to it: the path is appended to it, and the key goes into a header."""
    url, config = f"http://{behind}", tmp_path / "config.yaml"
    params = {"model": "openai/gpt-4o", "api_base": url}
    sources = [
        ("--upstream", ["--upstream", url], {}),
        ("line 2", [], {"memory": {"extraction_base_url": url}}),
        ("'mine'", [], {"model_list": [{"model_name": "mine", "litellm_params": params}]}),
        ("OPENAI_BASE_URL", [], {}),
    ]
    for place, flags, settings in sources:
        config.write_text(yaml.safe_dump(settings))
        monkeypatch.setenv("OPENAI_BASE_URL", url if place == "OPENAI_BASE_URL" else "")
        words = ["serve", "--port", "0", "--data-dir", str(tmp_path / "data"), "--config", str(config), *flags]
        error = CliRunner().invoke(app, words).exception
        assert isinstance(error, ConfigError)
        assert all(part in str(error) for part in (place, mend, "leave out"))
        assert not re.search("anna|pass", str(error))


def test_wrong_url_is_shown_without_its_password() -> None:
    said = refused("--upstream", "http://anna:pa/ss@h/v1")
    assert "--upstream" in said
    assert not re.search("anna|pa/ss", said)


def test_data_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "throughline.db")) as database:
        database.executescript("CREATE TABLE meta (version INTEGER NOT NULL); INSERT INTO meta VALUES (9999);")
    said = refused("--data-dir", str(tmp_path))
    assert "newer version" in said
    assert str(tmp_path) in said


def test_a_full_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(flags={"server": {"data_dir": tmp_path}})
    require_space(settings)
    monkeypatch.setattr(preflight, "MIN_FREE_BYTES", 2**62)
    with pytest.raises(ConfigError, match=r"full.*--data-dir"):
        require_space(settings)
    (found,) = asyncio.run(diagnose(settings))
    assert (found.name, found.is_fine) == ("data", False)
    assert "full" in found.text


def test_the_version_is_shown() -> None:
    ended = run("--version")
    assert ended.returncode == 0
    assert re.fullmatch(r"throughline \d+\.\d+\S*\n", ended.stdout)


def test_help_imports_no_part_of_the_house() -> None:
    words = "import sys; from proxy.cli.main import main; sys.argv = ['throughline', '--help']\n"
    words += "try: main()\nexcept SystemExit: print(*(name for name in sys.modules if name.startswith('proxy.')))"
    ended = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert all(name in ended.stdout for name in ("serve", "check", "keys", "ingest", "mcp", "eval"))
    imported = set(ended.stdout.splitlines()[-1].split())
    assert imported == {"proxy.cli", "proxy.cli.main", "proxy.errors"}


@pytest.mark.parametrize("words", [["serve", "--port", "0"], ["keys", "create"], ["worker"]])
def test_impossible_data_folder_is_refused_with_mend(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    result = CliRunner().invoke(app, [*words, "--data-dir", str(tmp_path / "file" / "data")])
    assert isinstance(result.exception, ConfigError)
    assert "THROUGHLINE_SERVER__DATA_DIR" in str(result.exception)
    assert result.output == ""


def test_read_only_disk_is_refused_with_its_mend(tmp_path: Path) -> None:
    mount = f"mount --bind {tmp_path} {tmp_path} && mount -o remount,ro,bind {tmp_path}"
    apart = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*apart, mount], capture_output=True, check=False).returncode:
        pytest.skip("no folder can be mounted here")
    command = f"{mount} && exec {sys.executable} -m proxy serve --port 0 --data-dir {tmp_path}"
    ended = subprocess.run([*apart, command], capture_output=True, text=True, env=environment(), check=False)
    assert ended.returncode == 2
    assert "Mount its disk writable" in ended.stderr
    assert "chown" not in ended.stderr


def test_check_names_a_bad_data_folder_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    result = CliRunner().invoke(app, ["check", "--data-dir", str(tmp_path / "file" / "data")])
    assert result.exit_code == 1
    assert re.findall(r"^FAIL +(\w+)", result.output, re.MULTILINE) == ["data"]
