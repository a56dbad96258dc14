"""``throughline export``, ``import``, ``erase`` and ``reembed`` as a user runs them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from proxy.services.opening import open_services
from proxy.settings.load import load_settings
from proxy.store.stamps import owners
from proxy.types import Scope
from tests.running import Running
from tests.talking import new_key, speaking


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "proxy", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_memory_is_exported_destroyed_and_imported(tmp_path: Path) -> None:
    with Running(tmp_path / "data") as server, speaking(server) as alice:
        alice.http.post("/memories", json={"text": "I keep bees in Aarhus"}).raise_for_status()
        where = ("--url", server.origin, "--key", alice.key)
        file = tmp_path / "out.jsonl"
        taken = run("export", str(file), *where)
        assert (taken.returncode, taken.stdout) == (0, "")
        assert "Aarhus" in file.read_text("utf-8")
        again = run("export", str(file), *where)
        assert (again.returncode, again.stderr.count("\n")) == (2, 1)
        assert "is there already" in again.stderr
        erased = run("erase", "--yes", *where)
        assert json.loads(erased.stdout)["verification"]["found"] == 0
        assert alice.memories(status="all") == []
        brought = run("import", str(file), *where)
        assert brought.returncode == 0, brought.stderr
        assert "1 memories" in brought.stdout
        assert [one["text"] for one in alice.memories()] == ["I keep bees in Aarhus"]
        piped = run("export", *where)
        assert "Aarhus" in piped.stdout


def test_failure_is_one_line_with_the_mend(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('[{"no": "export"}]', "utf-8")
    with Running(tmp_path / "data") as server:
        where = ("--url", server.origin, "--key", new_key())
        for words, told in [
            (("import", str(broken), *where), "no export that is known"),
            (("export", "--url", "http://127.0.0.1:1"), "throughline serve"),
            (("export", "--url", "localhost:1"), "must begin with http"),
            (("export", str(tmp_path / "none" / "o.jsonl"), *where), "cannot be written (No such file or directory)"),
            (("export", "--url", server.origin, "--key", ""), "--key or --user is empty"),
            (("erase", "--yes", "--user", "a\nb", *where), "such as a line break"),
        ]:
            failed = run(*words)
            assert (failed.returncode, failed.stderr.count("\n")) == (2, 1), failed.stderr
            assert told in failed.stderr


def test_user_is_named_in_any_script(tmp_path: Path) -> None:
    name = "ü 李"
    with Running(tmp_path / "data") as server, speaking(server) as alice:
        whose = {"x-memory-user": name.encode()}
        alice.http.post("/memories", json={"text": "I keep bees in Aarhus"}, headers=whose).raise_for_status()  # type: ignore[arg-type]
        where = ("--url", server.origin, "--key", alice.key)
        assert "Aarhus" in run("export", "--user", name, *where).stdout
        erased = run("erase", "--yes", "--user", name, *where)
        assert erased.returncode == 0, erased.stderr
        assert "Aarhus" not in run("export", "--user", name, *where).stdout


def test_vectors_of_another_model_are_computed_anew(tmp_path: Path) -> None:
    with Running(tmp_path) as server, speaking(server) as alice:
        alice.http.post("/memories", json={"text": "I keep bees in Aarhus"}).raise_for_status()
    asyncio.run(_as_another_model_left_it(tmp_path))
    for told in ("1 rows have new vectors.\n", "0 rows have new vectors.\n"):
        done = run("reembed", "--data-dir", str(tmp_path))
        assert (done.returncode, done.stdout) == (0, told), done.stderr


async def _as_another_model_left_it(folder: Path) -> None:
    services = await open_services(load_settings(None, {"server": {"data_dir": folder}}))
    await services.open_store()
    (name,) = await owners(services.database)
    owner = Scope("", name)
    rows = await services.store.memories(owner)
    await services.store.put_memories(owner, rows, {row.id: np.ones(384, np.float32) for row in rows}, "another model")
    await services.close()
