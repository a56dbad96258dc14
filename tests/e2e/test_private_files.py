"""Files and folders of the data folder are readable only by the server's own user."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from proxy.settings.load import environment
from tests.e2e.test_slow_clients import KEY
from tests.fakes.provider import FakeProvider
from tests.launch import process, wait_until

LOOSE_UMASK = 0o022


@pytest.fixture
def loose_umask() -> object:
    before = os.umask(LOOSE_UMASK)
    yield
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    found = []
    for path in (folder, *folder.rglob("*")):
        try:
            mode = stat.S_IMODE(path.lstat().st_mode)
        except FileNotFoundError:
            continue  # swept in the meantime
        if mode & 0o077:
            found.append(f"{mode:o} {path.relative_to(folder)}")
    return found


@pytest.mark.usefixtures("loose_umask")
def test_everything_kept_is_private(tmp_path: Path, provider: FakeProvider) -> None:
    folder = tmp_path / "data"
    with process(folder, provider) as (_, origin), httpx.Client(base_url=f"{origin}/v1", headers=[KEY]) as http:
        http.post("/chat/completions", json={"model": "m", "messages": [{"role": "user", "content": "I like tea"}]})
        http.post("/documents", files={"file": ("a.txt", io.BytesIO(b"Tea is made of leaves."), "text/plain")})
        wait_until(lambda: http.get("/state").json()["pending_turns"] == 0)
        assert len(list((folder / "lance").rglob("*.lance"))) > 0
        assert readable_by_others(folder) == []


@pytest.mark.usefixtures("loose_umask")
def test_open_files_are_closed_and_the_folder_named(tmp_path: Path) -> None:
    """The folder may be one that others need, such as ``/tmp``, so its owner decides."""
    for name in ("lance", "blobs"):
        (tmp_path / name).mkdir(mode=0o755)
    (tmp_path / "secret.key").write_text("x" * 64)
    tmp_path.chmod(0o755)
    command = [sys.executable, "-m", "proxy", "check", "--data-dir", str(tmp_path)]
    done = subprocess.run(command, env=dict(environment()), capture_output=True, text=True, check=False)
    assert f"mode 755: other users of this machine may look into it; chmod 700 {str(tmp_path)!r}" in done.stdout
    assert readable_by_others(tmp_path) == ["755 ."]
