"""Compound files (MS-CFB), used by old Office formats and Outlook's messages: streams by path, within limits."""

from __future__ import annotations

import struct
from pathlib import Path

from proxy.media.base import MediaRefused

_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER_BYTES, _ENTRY_BYTES = 512, 128
_SHIFTS, _MINI_SHIFT = (9, 12), 6
_LAST = 0xFFFFFFFA  # larger values are not sector numbers
_IN_HEADER = 109  # sector numbers of the allocation table in the header
_STREAM, _FOLDERS = 2, (1, 5)
_MAX_ENTRIES = 50_000
_NOBODY = 0xFFFFFFFF


class Compound:
    """A compound file; a sector chain with a cycle, or beyond the end of the file, counts as damage.

    Raises:
        MediaRefused: ``malformed``, if it is not a compound file.
    """

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        if len(self._data) < _HEADER_BYTES or not self._data.startswith(_MAGIC):
            raise _damaged()
        self._shift = self._number(30, 2)
        if self._shift not in _SHIFTS or self._number(32, 2) != _MINI_SHIFT:
            raise _damaged()
        self._cutoff = self._number(56, 4)
        self._table = self._words(self._table_sectors())
        self._mini_table = self._words(self._chain(self._number(60, 4)))
        self.streams = self._listed()
        self._mini = self._whole(self._root[0], self._root[1])

    def read(self, path: str) -> bytes:
        """Return a stream, empty if there is none of that path."""
        start, size = self.streams.get(path, (0, 0))
        if not size:
            return b""
        if size >= self._cutoff:
            return self._whole(start, size)
        pieces, sector, left = [], start, size
        while left > 0 and sector < _LAST:
            at = sector << _MINI_SHIFT
            pieces.append(self._mini[at : at + (1 << _MINI_SHIFT)])
            left -= 1 << _MINI_SHIFT
            sector = self._after(self._mini_table, sector)
        return b"".join(pieces)[:size]

    def _number(self, at: int, size: int) -> int:
        return int.from_bytes(self._data[at : at + size], "little")

    def _sector(self, number: int) -> bytes:
        at = (number + 1) << self._shift
        if number >= _LAST or at >= len(self._data):
            raise _damaged()
        return self._data[at : at + (1 << self._shift)]

    def _table_sectors(self) -> list[int]:
        """Return the sectors of the allocation table."""
        places = list(struct.unpack_from(f"<{_IN_HEADER}I", self._data, 76))
        more, seen = self._number(68, 4), 0
        while more < _LAST and seen <= len(self._data) >> self._shift:
            *found, more = self._words([more])
            places += found
            seen += 1
        return [place for place in places if place < _LAST][: len(self._data) >> self._shift]

    def _words(self, sectors: list[int]) -> list[int]:
        data = b"".join(map(self._sector, sectors))
        return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))

    def _chain(self, start: int) -> list[int]:
        sectors: list[int] = []
        while start < _LAST:
            if len(sectors) > len(self._table):
                raise _damaged()
            sectors.append(start)
            start = self._after(self._table, start)
        return sectors

    @staticmethod
    def _after(table: list[int], sector: int) -> int:
        if sector >= len(table):
            raise _damaged()
        return table[sector]

    def _whole(self, start: int, size: int) -> bytes:
        return b"".join(map(self._sector, self._chain(start)))[:size] if size else b""

    def _listed(self) -> dict[str, tuple[int, int]]:
        """Return start and size of every stream, by path."""
        directory = b"".join(map(self._sector, self._chain(self._number(48, 4))))
        count = min(len(directory) // _ENTRY_BYTES, _MAX_ENTRIES)
        entries = [directory[at * _ENTRY_BYTES : (at + 1) * _ENTRY_BYTES] for at in range(count)]
        if not entries:
            raise _damaged()
        self._root = struct.unpack_from("<II", entries[0], 116)
        streams: dict[str, tuple[int, int]] = {}
        seen: set[int] = {0}
        waiting = [(struct.unpack_from("<I", entries[0], 76)[0], "")]
        while waiting:
            number, folder = waiting.pop()
            if number == _NOBODY or number in seen or number >= count:
                continue
            seen.add(number)
            entry = entries[number]
            length, kind = struct.unpack_from("<HB", entry, 64)
            left, right, child = struct.unpack_from("<III", entry, 68)
            path = folder + entry[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
            waiting += [(left, folder), (right, folder)]
            if kind == _STREAM:
                start, size = struct.unpack_from("<II", entry, 116)
                streams[path] = (start, size)
            elif kind in _FOLDERS:
                waiting.append((child, f"{path}/"))
        return streams


def _damaged() -> MediaRefused:
    return MediaRefused("The file is damaged and cannot be read.", "malformed")
