"""Command and environment of child processes that run a module of this package."""

from __future__ import annotations

import sys
from pathlib import Path

import proxy


def command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package."""
    return [sys.executable, "-P", "-B", "-m", module, *arguments]


def bare_environment() -> dict[str, str]:
    """Return an environment without keys and proxies, so that a malicious file cannot use them in a child."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": str(Path(proxy.__file__).resolve().parents[1]),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
    }
