"""``throughline check`` beside other processes on the same folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from proxy.errors import ConfigError
from proxy.process.occupancy import first, occupied
from proxy.settings.load import environment
from tests.fakes.provider import FakeProvider
from tests.launch import process


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "proxy", *words]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120, check=False)


def test_repair_is_refused_while_a_server_runs(tmp_path: Path, provider: FakeProvider) -> None:
    words = ("check", "--data-dir", str(tmp_path), "--upstream", provider.base_url)
    with process(tmp_path, provider):
        refused = run(*words, "--repair")
        assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
        assert "Stop the server" in refused.stderr
        assert run(*words).returncode == 0
    assert run(*words, "--repair").returncode == 0


def test_server_does_not_start_during_a_repair(tmp_path: Path) -> None:
    with occupied(tmp_path, alone=True):
        refused = run("serve", "--port", "0", "--data-dir", str(tmp_path))
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "Wait until it is done" in refused.stderr


@pytest.mark.parametrize("command", [["reembed"], ["hygiene", "--apply"]])
def test_maintenance_does_not_run_during_a_repair(tmp_path: Path, command: list[str]) -> None:
    with occupied(tmp_path, alone=True):
        refused = run(*command, "--data-dir", str(tmp_path))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Wait until it is done" in refused.stderr


def test_leases_of_a_live_process_stay(tmp_path: Path) -> None:
    with occupied(tmp_path) as lock:
        with first(lock) as is_alone:
            assert is_alone
        with occupied(tmp_path), first(lock) as is_alone:
            assert not is_alone
        with pytest.raises(ConfigError), occupied(tmp_path, alone=True):
            pass
