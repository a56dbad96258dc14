"""The check of commit subjects, on messages and on a temporary repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "deploy" / "subjects.py"
GOOD = "recall: long statements stand alone"


def run(script: Path, *arguments: object) -> tuple[int, str]:
    command = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("message", "is_good"),
    [
        (f"{GOOD}\n\nA body of any length, {'x' * 99}.\n", True),
        ("memory manager: items move with an export", True),
        ("recall, store: two small files join their users", True),
        ("Merge branch 'main' into recall", True),
        ("Fixed a bug", False),
        ("recall:", False),
        ("recall: long statements stand alone.", False),
        (f"recall: {'x' * 53}", False),
        (f"recall: {'x' * 52}", True),
    ],
)
def test_message_of_a_hook_is_checked(tmp_path: Path, message: str, *, is_good: bool) -> None:
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text(message)
    code, told = run(SCRIPT, file)
    assert (code, told == "") == (int(not is_good), is_good)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_commits_after_the_check_are_checked(tmp_path: Path) -> None:
    script = tmp_path / "deploy" / SCRIPT.name
    script.parent.mkdir()
    script.write_bytes(SCRIPT.read_bytes())
    assert run(script) == (0, "")  # no repository

    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    def commit(subject: str) -> None:
        git("commit", "--allow-empty", "--no-verify", "-m", subject)

    git("init", "--initial-branch", "main")
    commit("Before the rule")
    git("add", "deploy")
    commit("The rule itself")
    assert run(script) == (0, "")
    commit(GOOD)
    assert run(script) == (0, "")
    commit("Whatever")
    code, told = run(script)
    assert (code, told) == (1, "'Whatever': write `room: what is so now`\n")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert run(script) == (0, "")
