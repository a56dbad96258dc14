"""Keys on the command line: created, shown, changed, revoked."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner, Result

from proxy.cli.main import app
from proxy.errors import ConfigError
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import speaking


def keys(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["keys", *words, "--data-dir", str(folder)])


def test_key_is_made_and_shown_with_limits(tmp_path: Path) -> None:
    made = keys(tmp_path, "create", "--rpm", "5", "--tpm", "1000", "--max-streams", "2", "--max-body", "99",
                "--models", "gpt-*, o1", "--models", "claude-*", "--note", "laptop")  # fmt: skip
    text = made.output.split()[0]
    shown = keys(tmp_path, "list").output
    assert text.startswith("tl-")
    assert text not in shown
    assert "rpm 5  tpm 1000  streams 2  body 99  models gpt-*,o1,claude-*  laptop" in shown
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if text.encode() in path.read_bytes()]


def test_key_made_before_the_first_start_works(tmp_path: Path, provider: FakeProvider) -> None:
    text = keys(tmp_path, "create", "--user", "anna").output.split()[0]
    with Running(tmp_path, upstream=provider.base_url, auth={"mode": "keys"}) as server, speaking(server, text) as anna:
        assert anna.memories() == []


def test_key_of_one_user_cannot_name_users(tmp_path: Path) -> None:
    refused = keys(tmp_path, "create", "--names-users", "--user", "anna").exception
    assert isinstance(refused, ConfigError)
    assert "Leave out --user or --names-users" in str(refused)
    assert keys(tmp_path, "list").output == ""


def test_a_key_is_changed_where_it_is_said(tmp_path: Path) -> None:
    key_id = re.search(r"key_\w+", keys(tmp_path, "create", "--rpm", "5", "--models", "gpt-*").output)
    assert key_id is not None
    changed = keys(tmp_path, "update", key_id[0], "--tpm", "7", "--rpm", "0").output
    assert "rpm unlimited  tpm 7  models gpt-*" in changed
    assert "models" not in keys(tmp_path, "update", key_id[0], "--models", "*").output
    assert "rpm unlimited  tpm 7" in keys(tmp_path, "list").output


def test_a_key_may_have_commands(tmp_path: Path) -> None:
    key_id = re.search(r"key_\w+", keys(tmp_path, "create", "--commands").output)
    assert key_id is not None
    assert "  commands" in keys(tmp_path, "list").output
    assert "commands" not in keys(tmp_path, "update", key_id[0], "--no-commands").output


def test_a_key_may_be_offered_the_recall_tool(tmp_path: Path) -> None:
    key_id = re.search(r"key_\w+", keys(tmp_path, "create", "--recall-tool").output)
    assert key_id is not None
    assert "recall tool" in keys(tmp_path, "list").output
    assert "recall tool" in keys(tmp_path, "update", key_id[0], "--rpm", "3").output
    assert "recall tool" not in keys(tmp_path, "update", key_id[0], "--no-recall-tool").output


def test_an_ended_key_is_shown_as_such(tmp_path: Path) -> None:
    key_id = re.search(r"key_\w+", keys(tmp_path, "create").output)
    assert key_id is not None
    assert keys(tmp_path, "revoke", key_id[0]).output == f"{key_id[0]} is revoked\n"
    assert "revoked 20" in keys(tmp_path, "list").output


def test_an_unknown_key_is_named(tmp_path: Path) -> None:
    assert str(keys(tmp_path, "update", "key_x", "--rpm", "1").exception) == "no key 'key_x'"
