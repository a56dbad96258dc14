"""Throughline's export: everything of a scope as JSON lines, and its import.

The first line is the manifest: format, version, and the number of entries of each kind. The last line has the SHA-256
of all lines before it. Vectors are omitted, as the import computes them; so is data that only this server can use.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from proxy.clock import is_storable, iso
from proxy.errors import InvalidRequest, NotFound
from proxy.memory.changes.book import Book
from proxy.memory.index.cache import IndexCache
from proxy.memory.plan.changes import is_ending
from proxy.store.blobs import Blobs
from proxy.store.dump import AT_HOME, MOVED, Dump, row_of
from proxy.store.filters import is_id
from proxy.store.ram import Rows
from proxy.store.schema import LAYOUTS, NOUNS, Noun, decoder, encoded
from proxy.text.secrets import redact
from proxy.types import Chunk, Episode, Memory, Scope
from proxy.types.scope import partition, parts

FORMAT, VERSION = "throughline.export", 1
BATCH = 200  # lines stored at a time
MAX_NUMBER = 2**31 - 1  # in a row; the index holds 32 bits
MAX_LINE_BYTES = 512 * 2**20  # a document of the largest size in base64
_BLOB = re.compile(r"[0-9a-f]{64}(?:\.webp)?")
_NAMED = (b'{"type":"agents"', b'{"type":"projects"')
_WORDS = ("text", "quote", "context")


class _OfEnding(BaseModel):
    """Metadata by which an ending withholds texts; a malformed one would fail every recall."""

    hides: list[tuple[str, int, int]] = []
    texts: list[str] = []
    terms: list[tuple[str, list[str], bool]] = []


_CHECKED: Mapping[Noun, TypeAdapter[Any]] = {
    "memories": TypeAdapter(Memory),
    "episodes": TypeAdapter(Episode),
    "chunks": TypeAdapter(Chunk),
}


Numbered = tuple[int, Mapping[str, Any]]  # number of its line, and the entry


@dataclass(frozen=True, slots=True)
class Places:
    """Stores that an export reads and an import writes."""

    store: Rows
    index: IndexCache
    book: Book
    dump: Dump
    blobs: Blobs


@dataclass(frozen=True, slots=True)
class Manifest:
    """Manifest of an export.

    Attributes:
        named: Kind (``agents``, ``projects``), id and name of entries whose ids are valid only on their server.
    """

    owner: str
    counts: Mapping[str, int]
    named: tuple[tuple[str, str, str], ...] = ()

    @property
    def total(self) -> int:
        """Count of entries."""
        return sum(self.counts.values())


async def export(places: Places, scope: Scope, now: datetime) -> AsyncIterator[bytes]:
    """Yield the lines of an export of the scope's data; for a user, of all agents and projects.

    For a project or an agent: its own data and the common data, nothing of another.
    """
    rows = {
        noun: [row for row in await _rows_of(places, scope, noun) if not scope.agent or scope.owns(row.agent)]
        for noun in NOUNS
    }
    memories = [row.id for row in rows["memories"]]
    tables = await places.dump.count(scope, memories)
    names = await _blobs(places, scope)
    counts: dict[str, int] = {**tables, **{noun: len(found) for noun, found in rows.items()}, "blobs": len(names)}
    digest = hashlib.sha256()

    def line(value: Mapping[str, Any]) -> bytes:
        data = orjson.dumps(value) + b"\n"
        digest.update(data)
        return data

    head = {"format": FORMAT, "version": VERSION, "created_at": iso(now), "owner": scope.user}
    yield line({**head, "counts": {name: number for name, number in counts.items() if number}})
    written = dict.fromkeys(counts, 0)
    for name in tables:
        async for row in places.dump.rows(scope, name, memories):
            if written[name] < tables[name]:  # rows added after the count belong to the next export
                written[name] += 1
                yield line({"type": name, "value": row})
    for name in names:
        written["blobs"] += 1
        try:
            data = base64.b64encode(await places.blobs.get(scope, name)).decode()
        except NotFound:  # damaged or missing: the other entries are still worth exporting
            data = ""
        yield line({"type": "blobs", "value": {"name": name, "base64": data}})
    for noun in NOUNS:
        for item in rows[noun]:
            yield line({"type": noun, "value": orjson.loads(encoded(LAYOUTS[noun], item))})
    yield orjson.dumps({"type": "end", "sha256": digest.hexdigest()}) + b"\n"


def examine(path: Path) -> Manifest:
    """Read a whole export, and return its manifest.

    Raises:
        InvalidRequest: If it is incomplete, was changed, or has a later version.
    """
    digest, number, last = hashlib.sha256(), 0, b""
    head: dict[str, Any] = {}
    named: list[tuple[str, str, str]] = []
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
            digest.update(last)
            last = line
            if number == 1:
                head = _object(line, number)
            elif line.startswith(_NAMED):
                entry = _object(line, number)
                value = _value(entry, number)
                named.append((str(entry["type"]), str(value.get("id")), str(value.get("name"))))
    end = _object(last, number)
    if head.get("format") != FORMAT:
        raise InvalidRequest("The first line is no manifest of an export of this server.")
    if not isinstance(head.get("version"), int) or head["version"] > VERSION:
        raise InvalidRequest(f"The export is of version {head.get('version')!r}; this server reads up to {VERSION}.")
    if end.get("type") != "end":
        raise InvalidRequest("The export has no end: it broke off. Export it again.")
    if end.get("sha256") != digest.hexdigest():
        raise InvalidRequest("The export is not as it was written: its checksum differs. Export it again.")
    counts = head.get("counts")
    told = counts.items() if isinstance(counts, dict) else ()
    known = {name: number for name, number in told if isinstance(number, int)}
    return Manifest(str(head.get("owner", "")), known, tuple(named))


def lines(path: Path) -> Iterator[Numbered]:
    """Yield the entries of an examined export, each with the number of its line."""
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
            entry = _object(line, number)
            if number > 1 and entry.get("type") != "end":
                yield number, entry


async def restore(
    places: Places,
    scope: Scope,
    manifest: Manifest,
    entries: Sequence[Numbered],
    ids: Mapping[str, str],
) -> tuple[dict[str, int], list[str]]:
    """Add entries of an export to a scope; existing rows stay unchanged.

    Args:
        places: Stores to write to.
        scope: The new owner.
        manifest: Of the export.
        entries: Each with the number of its line.
        ids: Present ids of agents and projects, by their ids in the export.

    Returns:
        Number of added entries by kind, and notes on single entries.

    Raises:
        InvalidRequest: If an entry is malformed; the message names its line.
    """
    added: dict[str, int] = {}
    notes: list[str] = []
    tables: list[tuple[str, dict[str, Any]]] = []
    found: dict[Noun, list[Any]] = {}
    for number, entry in entries:
        kind, value = str(entry.get("type")), _value(entry, number)
        if kind == "blobs":
            added["blobs"] = added.get("blobs", 0) + await _put_blob(places, scope, value, number)
        elif kind in MOVED:
            if _has_place(kind, value, is_home=manifest.owner == scope.user):
                tables.append((kind, _row(kind, _moved(kind, value, ids), number)))
        elif kind in LAYOUTS:
            noun: Noun = LAYOUTS[kind].noun
            found.setdefault(noun, []).append(_item(noun, _moved(kind, value, ids), number, notes))
    if tables:
        added["rows"] = await places.dump.put(scope, tables)
    for noun, items in found.items():
        added[noun] = await _put_items(places, scope, noun, items)
    return added, notes


async def _put_items(places: Places, scope: Scope, noun: Noun, items: Sequence[Any]) -> int:
    new = list({item.id: item for item in items}.values())
    if await places.index.lacks(scope, noun, [item.id for item in items]) is None:
        known = {row.id for row in await _rows_of(places, scope, noun)}
        new = [item for item in new if item.id not in known]
    if not new:
        return 0
    if noun == "memories":
        await places.book.rewrite(scope, new)
    elif noun == "episodes":
        await places.book.keep(scope, new)
    else:
        await places.book.shelve(scope, new, await places.book.embedded(new))
    return len(new)


def _has_place(kind: str, value: Mapping[str, Any], *, is_home: bool) -> bool:
    """Return whether a row is meaningful here; old exports had links of a conversation without their position."""
    return kind not in AT_HOME or (is_home and (kind != "chain" or "seq" in value))


def _row(kind: str, value: Mapping[str, Any], number: int) -> dict[str, Any]:
    try:
        return row_of(kind, value)
    except InvalidRequest as error:
        raise InvalidRequest(f"Line {number}: {error}") from error


def _item(noun: Noun, value: Mapping[str, Any], number: int, notes: list[str]) -> Any:
    """Return a row; redact a secret in it, and note its line."""
    try:
        item = decoder(LAYOUTS[noun])(orjson.dumps(value))
        if not all(is_storable(value[name]) for name in LAYOUTS[noun].times if value.get(name) is not None):
            raise InvalidRequest(
                f"Line {number} is no entry of {noun}: a time in it is before the year 1 or after 9999."
            )
        item = _CHECKED[noun].validate_python({name: getattr(item, name) for name in LAYOUTS[noun].fields})
        if isinstance(item, Memory) and is_ending(item):
            _OfEnding.model_validate(item.metadata)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        field = wrong["loc"][0]
        raise InvalidRequest(
            f"Line {number} is no entry of {noun}: its {field!r} does not fit ({wrong['msg']})."
        ) from error
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise InvalidRequest(f"Line {number} is no entry of {noun}.") from error
    if any(
        isinstance(value, int) and abs(value) > MAX_NUMBER
        for value in (getattr(item, name) for name in LAYOUTS[noun].fields)
    ):
        raise InvalidRequest(f"Line {number} is no entry of {noun}: a number in it is beyond {MAX_NUMBER}.")
    names = _WORDS if isinstance(item, Memory) else ("text",)
    if not all(isinstance(getattr(item, name), str) for name in ("id", *names)) or not is_id(item.id):
        raise InvalidRequest(f"Line {number} has no id or no text.")
    clean = {name: redact(getattr(item, name)) for name in names}
    if any(clean[name] != getattr(item, name) for name in names):
        notes.append(f"line {number}: a secret was left out")
        return replace(item, **clean)
    return item


def _moved(kind: str, value: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    """Return an entry in the partition that its agent and project have here."""
    moved = dict(value)
    agent, project, apart = parts(str(value.get("agent") or ""))
    moved["agent"] = partition(ids.get(agent, agent), ids.get(project, project), apart)
    if kind in ("agents", "projects"):
        moved["id"] = ids.get(str(value.get("id")), value.get("id"))
    return moved


async def _put_blob(places: Places, scope: Scope, value: Mapping[str, Any], number: int) -> int:
    name, data = value.get("name"), value.get("base64")
    if not isinstance(name, str) or _BLOB.fullmatch(name) is None or not isinstance(data, str):
        raise InvalidRequest(f"Line {number} is no content of a file.")
    if not data:
        return 0
    try:
        raw = base64.b64decode(data)
    except ValueError as error:
        raise InvalidRequest(f"Line {number} is no content of a file.") from error
    if "." not in name and hashlib.sha256(raw).hexdigest() != name:
        raise InvalidRequest(f"Line {number}: the content of a file is not what its name says.")
    await places.blobs.put(scope, raw, name)
    return 1


async def _blobs(places: Places, scope: Scope) -> list[str]:
    """Return the blob names of the scope's files, thumbnails included."""
    found: list[str] = []
    async for row in places.dump.rows(scope, "media", ()):
        found += [row["sha256"], f"{row['sha256']}.webp"] if row["kind"] == "image" else [row["sha256"]]
    return list(dict.fromkeys(found))


async def _rows_of(places: Places, scope: Scope, noun: Noun) -> list[Any]:
    if noun == "memories":
        return list(await places.store.memories(scope))
    if noun == "episodes":
        return list(await places.store.episodes(scope))
    return list(await places.store.chunks(scope))


def _value(entry: Mapping[str, Any], number: int) -> dict[str, Any]:
    value = entry.get("value")
    if not isinstance(value, dict):
        raise InvalidRequest(f"Line {number} has no value.")
    return value


def _object(line: bytes, number: int) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"Line {number} is no JSON; did the file break off?") from error
    if not isinstance(value, dict):
        raise InvalidRequest(f"Line {number} is no JSON object.")
    return value
