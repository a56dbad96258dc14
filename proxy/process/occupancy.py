"""Lock on a data folder: shared by its users, exclusive for a repair and for a moment of a start."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from proxy.errors import ConfigError

_WAIT_S, _PAUSE_S = 1.0, 0.02  # for a start that is alone for a moment


@contextmanager
def occupied(folder: Path, *, alone: bool = False) -> Iterator[int]:
    """Lock a data folder for a block of code and yield the lock's descriptor.

    The operating system releases the lock of a dead process. File systems without such locks allow every use.

    Raises:
        ConfigError: If another process repairs the folder; with ``alone``, if any other process uses it.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            if alone:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                _share(descriptor)
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
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def first(descriptor: int) -> Iterator[bool]:
    """Yield whether this process alone uses the data folder; as long as the block runs, no other begins to.

    File systems without locks never say so.

    Args:
        descriptor: What ``occupied`` yielded.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        is_first = False
    else:
        is_first = True
    try:
        yield is_first
    finally:
        with suppress(OSError):
            _share(descriptor)  # a refused lock has lost the shared one too


def _share(descriptor: int) -> None:
    end = time.monotonic() + _WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(_PAUSE_S)
        else:
            return
