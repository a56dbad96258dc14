"""Lock on a data folder: those who use it share the lock, a repair holds it alone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proxy.errors import ConfigError


@contextmanager
def occupied(folder: Path, *, alone: bool = False) -> Iterator[None]:
    """Use a data folder for a block of code; the system ends the use of a process that dies.

    A file system without such locks lets everyone in.

    Raises:
        ConfigError: If another process repairs the folder; with ``alone`` if one uses it at all.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            name = str(folder.resolve())
            raise ConfigError(
                f"Another process of Throughline uses the data folder {name!r}. Stop the server and its workers, then "
                "repair."
                if alone
                else f"`throughline check --repair` is at work on the data folder {name!r}. Wait until it is done."
            ) from error
        except OSError:
            pass
        yield
    finally:
        os.close(descriptor)
