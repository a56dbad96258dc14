"""Lock on a data folder: shared by its users, exclusive for a repair."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proxy.errors import ConfigError


@contextmanager
def occupied(folder: Path, *, alone: bool = False) -> Iterator[None]:
    """Lock a data folder for a block of code; the operating system releases the lock of a dead process.

    File systems without such locks allow every use.

    Raises:
        ConfigError: If another process repairs the folder; with ``alone``, if any other process uses it.
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
