"""Files uploaded for import, stored until their job is done."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from pathlib import Path

from proxy.errors import NotFound, StoreUnavailable
from proxy.process.threads import in_thread
from proxy.store.filters import owner
from proxy.types import Scope

_ID = re.compile(r"job_[0-9a-f]{24}")
_LEFTOVER_AGE_S = 3600.0


class Spool:
    """Files below one folder, with one subfolder per user."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, scope: Scope, job_id: str) -> Path:
        """Return the path of a job's file, which need not exist."""
        if _ID.fullmatch(job_id) is None:
            raise NotFound("There is no such file.")
        return self._folder / owner(scope.user) / job_id

    async def put(self, scope: Scope, job_id: str, chunks: AsyncIterator[bytes]) -> int:
        """Stream a file to the disk; return its size in bytes.

        Raises:
            StoreUnavailable: If it cannot be written.
        """
        path, size = self.path(scope, job_id), 0
        try:
            await in_thread("load", path.parent.mkdir, mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                async for chunk in chunks:
                    size += await in_thread("load", file.write, chunk)
                file.flush()
                await in_thread("load", os.fsync, descriptor)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise StoreUnavailable(f"the file could not be kept ({type(error).__name__}); is the disk full?") from error
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return size

    async def remove(self, scope: Scope, job_id: str) -> None:
        """Delete the file of a job; its folder stays, as another task may be opening a file in it."""
        await in_thread("load", self.path(scope, job_id).unlink, missing_ok=True)

    async def drop_owner(self, scope: Scope) -> None:
        """Delete all files of the user."""
        await in_thread("load", shutil.rmtree, self._folder / owner(scope.user), ignore_errors=True)

    def sweep(self, needed: Collection[str]) -> int:
        """Delete files that no job needs (left by a crash between writing file and row); return their number."""
        old, gone = time.time() - _LEFTOVER_AGE_S, 0
        for path in self._folder.glob("*/*"):
            if path.name not in needed and path.stat().st_mtime < old:
                path.unlink(missing_ok=True)
                gone += 1
        for folder in self._folder.glob("*"):
            if folder.stat().st_mtime < old:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()
        return gone
