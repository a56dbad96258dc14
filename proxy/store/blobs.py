"""Content-addressed bytes of uploaded files and images: one folder per user, or in memory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

from proxy.errors import ContentDamaged, NotFound, StoreUnavailable
from proxy.process.threads import in_thread
from proxy.store.filters import owner
from proxy.types import Scope

_NAME = re.compile(r"[0-9a-f]{64}(?:\.webp)?")
_DIGEST = 64  # length of a name that is a SHA-256 in hex
_QUARANTINE = "quarantine"
_DAMAGED = "The content was damaged on the disk of the server and cannot be given out. Upload it again."
_DRAFT = ".draft-"
_LEFTOVER_AGE_S = 3600.0


class DiskBlobs:
    """Blobs below one folder, written atomically."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, scope: Scope, data: bytes, name: str = "") -> str:
        """Store bytes and return their name, by default their SHA-256; existing bytes are not written again.

        Raises:
            StoreUnavailable: If the bytes cannot be written.
        """
        name = name or await in_thread("cpu", digest, data)
        try:
            await in_thread("load", self._write, self._path(scope, name), data)
        except OSError as error:
            raise StoreUnavailable(f"a file could not be kept ({type(error).__name__}); is the disk full?") from error
        return name

    async def get(self, scope: Scope, name: str) -> bytes:
        """Return a blob.

        Raises:
            NotFound: If there is none of this name.
            ContentDamaged: If its bytes do not match its SHA-256.
        """
        try:
            data, is_whole = await in_thread("load", _read, self._path(scope, name))
        except OSError as error:
            raise NotFound("The content is not there any more.") from error
        if not is_whole:
            raise ContentDamaged(_DAMAGED)
        return data

    async def remove(self, scope: Scope, name: str) -> None:
        """Delete a blob, its thumbnail and its quarantined copy."""
        aside = self._folder / _QUARANTINE / owner(scope.user) / name
        for path in (self._path(scope, name), self._path(scope, f"{name}.webp"), aside):
            with contextlib.suppress(FileNotFoundError):
                await in_thread("load", path.unlink)

    async def drop_owner(self, scope: Scope) -> None:
        """Delete all blobs of the user."""
        for folder in (self._of(scope), self._folder / _QUARANTINE / owner(scope.user)):
            await in_thread("load", shutil.rmtree, folder, ignore_errors=True)

    async def usage(self, scope: Scope) -> tuple[int, int]:
        """Return the number of the user's files, thumbnails included, and their total bytes."""

        def measure() -> tuple[int, int]:
            sizes = [path.stat().st_size for path in self._of(scope).glob("*")]
            return len(sizes), sum(sizes)

        return await in_thread("load", measure)

    @asynccontextmanager
    async def file(self, scope: Scope, name: str) -> AsyncIterator[Path]:
        """Yield the path of a blob; the caller must only read it.

        Raises:
            NotFound: If there is none of this name.
            ContentDamaged: If its bytes do not match its SHA-256.
        """
        path = self._path(scope, name)
        if not path.is_file():
            raise NotFound("The content is not there any more.")
        if len(name) == _DIGEST and not await in_thread("load", _is_whole, path):
            raise ContentDamaged(_DAMAGED)
        yield path

    async def flaw(self, scope: Scope, name: str) -> str:
        """Return the defect of a blob: ``missing``, ``altered``, or "" for none."""
        path = self._path(scope, name)
        if not path.is_file():
            return "missing"
        return "" if await in_thread("load", _is_whole, path) else "altered"

    async def set_aside(self, scope: Scope, name: str) -> str:
        """Move an altered blob into the quarantine folder; return its new path, "" if there is no such file."""
        path, quarantine = self._path(scope, name), self._folder / _QUARANTINE / owner(scope.user)
        if not path.is_file():
            return ""
        quarantine.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.replace(quarantine / name)
        return str(quarantine / name)

    def sweep(self, known: Mapping[str, Collection[str]]) -> int:
        """Delete files that no row names (left by a crash between writing file and row); return their number.

        Args:
            known: The names in use, by user.
        """
        old, gone = time.time() - _LEFTOVER_AGE_S, 0
        for path in (one for one in self._folder.glob("*/*") if one.is_file()):
            in_use = path.name.removesuffix(".webp") in known.get(path.parent.name, ())
            if not in_use and path.stat().st_mtime < old:
                path.unlink(missing_ok=True)
                gone += 1
        return gone

    def _write(self, path: Path, data: bytes) -> None:
        if path.exists() and (len(path.name) != _DIGEST or _is_whole(path)):
            os.utime(path)  # a new mtime keeps `sweep` off it until its row is written
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        draft = path.with_name(f"{_DRAFT}{secrets.token_hex(8)}")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

    def _of(self, scope: Scope) -> Path:
        return self._folder / owner(scope.user)

    def _path(self, scope: Scope, name: str) -> Path:
        if _NAME.fullmatch(name) is None:
            raise NotFound("There is no such content.")
        return self._of(scope) / name


class RamBlobs:
    """In-memory counterpart of ``DiskBlobs``; nothing reaches a disk."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], bytes] = {}

    async def put(self, scope: Scope, data: bytes, name: str = "") -> str:
        """Store bytes and return their name."""
        name = name or await in_thread("cpu", digest, data)
        self._kept[scope.user, name] = data
        return name

    async def get(self, scope: Scope, name: str) -> bytes:
        """Return a blob."""
        try:
            return self._kept[scope.user, name]
        except KeyError:
            raise NotFound("The content is not there any more.") from None

    async def remove(self, scope: Scope, name: str) -> None:
        """Delete a blob and its thumbnail."""
        for gone in (name, f"{name}.webp"):
            self._kept.pop((scope.user, gone), None)

    async def drop_owner(self, scope: Scope) -> None:
        """Delete all blobs of the user."""
        for key in [key for key in self._kept if key[0] == scope.user]:
            del self._kept[key]

    async def usage(self, scope: Scope) -> tuple[int, int]:
        """Return the number of the user's blobs and their total bytes."""
        sizes = [len(data) for key, data in self._kept.items() if key[0] == scope.user]
        return len(sizes), sum(sizes)

    @asynccontextmanager
    async def file(self, scope: Scope, name: str) -> AsyncIterator[Path]:
        """Yield a ``/proc`` path through which the reader process can open the bytes in memory."""
        data = await self.get(scope, name)
        descriptor = os.memfd_create("blob")
        try:
            with os.fdopen(os.dup(descriptor), "wb") as file:
                file.write(data)
            yield Path(f"/proc/{os.getpid()}/fd/{descriptor}")
        finally:
            os.close(descriptor)

    def sweep(self, known: Mapping[str, Collection[str]]) -> int:
        """Return 0: no blob outlives the process, so nothing is left over."""
        del known
        return 0


Blobs: TypeAlias = "DiskBlobs | RamBlobs"


def _read(path: Path) -> tuple[bytes, bool]:
    """Return a file's bytes, and whether they match the digest in its name."""
    data = path.read_bytes()
    return data, len(path.name) != _DIGEST or digest(data) == path.name


def _is_whole(path: Path) -> bool:
    """Return whether a file can be read and its SHA-256 is its name."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == path.name
    except OSError:
        return False


def is_name(name: str) -> bool:
    """Return whether a name has the form of a SHA-256 in hex."""
    return len(name) == _DIGEST and _NAME.fullmatch(name) is not None


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes in hex."""
    return hashlib.sha256(data).hexdigest()
