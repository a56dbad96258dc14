"""Files that wait to be imported: one per job, each owner's in a folder of their own, deleted when the job ends."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from io import FileIO
from pathlib import Path

from proxy.errors import NotFound, StoreUnavailable
from proxy.process.threads import in_thread
from proxy.store.filters import is_id, owner
from proxy.types import Scope


class Spool:
    """The files below one folder, readable by its user only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def write(self, scope: Scope, job_id: str, chunks: AsyncIterator[bytes]) -> int:
        """Keep what arrives, durable when this returns; return its bytes. A body that breaks off leaves nothing.

        Raises:
            StoreUnavailable: If it cannot be written.
        """
        path, size = self.path(scope, job_id), 0
        try:
            file = await in_thread("load", _create, path)
            try:
                async for chunk in chunks:
                    size += await in_thread("load", file.write, chunk)
                await in_thread("load", _flush, file.fileno())
            except BaseException:
                path.unlink(missing_ok=True)
                raise
            finally:
                file.close()
        except OSError as error:
            raise StoreUnavailable(f"the file could not be kept ({type(error).__name__}); is the disk full?") from error
        return size

    async def remove(self, scope: Scope, job_id: str) -> None:
        """Delete a job's file."""
        await in_thread("load", lambda: self.path(scope, job_id).unlink(missing_ok=True))

    async def drop_owner(self, scope: Scope) -> int:
        """Delete the files of all jobs of the owner; return how many there were."""
        folder = self._folder / owner(scope.user)
        count = sum(1 for path in folder.glob("*"))
        await in_thread("load", shutil.rmtree, folder, ignore_errors=True)
        return count

    def path(self, scope: Scope, job_id: str) -> Path:
        """Return where a job's file lies.

        Raises:
            NotFound: If the id can be none.
        """
        if not is_id(job_id) or job_id.startswith("."):
            raise NotFound("There is no such job.")
        return self._folder / owner(scope.user) / job_id


def _create(path: Path) -> FileIO:
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    return FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w")


def _flush(descriptor: int) -> None:
    os.fsync(descriptor)
