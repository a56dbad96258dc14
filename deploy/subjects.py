"""Check the subjects of commits, and print those that break the rule: `room: what is so now`, at most 60 characters.

With a file, as git's hook `commit-msg` gives it, the message in it; else the last 10 commits after this check came in
that no remote has. Where there is no git, nothing is checked.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAX_CHARACTERS = 60
MAX_COMMITS = 10
_SUBJECT = re.compile(r"[a-z][a-z0-9 ,_/-]*: \S.*[^\s.]")
_BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ")


def reason(subject: str) -> str:
    """Return what is wrong with a subject, "" for nothing.

    >>> reason("recall: long statements stand alone")
    ''
    >>> reason("Fixed a bug.")
    'write `room: what is so now`'
    """
    if subject.startswith(_BY_GIT):
        return ""
    if len(subject) > MAX_CHARACTERS:
        return f"{len(subject)} characters, more than {MAX_CHARACTERS}"
    return "" if _SUBJECT.fullmatch(subject) else "write `room: what is so now`"


def subjects() -> list[str]:
    """Return the subjects of the commits to be checked."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        return []
    begun = _git("log", "--diff-filter=A", "--format=%H", "--", __file__)
    if not begun:
        return []
    return _git("log", "--no-merges", "--format=%s", f"-{MAX_COMMITS}", "HEAD", "--not", begun[-1], "--remotes")


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S607 - as a developer has it
    return done.stdout.splitlines()


def main(arguments: Sequence[str]) -> int:
    """Print the subjects that break the rule; return 1 if there are any."""
    given = [Path(name).read_text("utf-8").partition("\n")[0] for name in arguments]
    found = [(subject, wrong) for subject in (given or subjects()) if (wrong := reason(subject))]
    for subject, wrong in found:
        print(f"{subject!r}: {wrong}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
