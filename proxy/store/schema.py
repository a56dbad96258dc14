"""Schema of LanceDB tables: a few columns to search by, and the whole value as one JSON record.

The cost of reading a row grows with its columns, so all fields without search or filter are in ``record``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from proxy.clock import from_ms, to_ms
from proxy.store.codec import upgraded
from proxy.store.passages import lexical_text
from proxy.text.lexical import LEXICAL_VERSION, tokens
from proxy.text.thread_mark import unmarked
from proxy.types import Chunk, Episode, Memory

if TYPE_CHECKING:
    import pyarrow as pa

Noun = Literal["memories", "episodes", "chunks"]
Vector = NDArray[np.float32]
T = TypeVar("T", Memory, Episode, Chunk)

Revision = tuple[str, str]  # name of a table, and its newest manifest; later ones sort first
NOUNS: tuple[Noun, ...] = ("memories", "episodes", "chunks")


@dataclass(frozen=True, slots=True)
class Layout(Generic[T]):
    """Layout of one noun's table.

    Args:
        noun: Noun of the table.
        of: Type of the values.
        times: Names of datetime fields; in the record they are milliseconds since the epoch, in UTC.
        tuples: Names of tuple fields.
        vectors: Names of the vector columns.
    """

    noun: Noun
    of: type[T]
    times: tuple[str, ...]
    tuples: tuple[str, ...]
    vectors: tuple[str, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the values' fields."""
        return tuple(self.of.__dataclass_fields__)


MEMORIES = Layout(
    "memories",
    Memory,
    ("created_at", "updated_at", "valid_from", "valid_to", "last_used_at", "expires_at"),
    ("turns", "earlier", "later"),
    ("vector",),
)
EPISODES = Layout("episodes", Episode, ("at",), (), ("vector", "trail_vector"))
CHUNKS = Layout("chunks", Chunk, ("at", "taken_at"), (), ("vector",))
LAYOUTS: dict[Noun, Layout[Any]] = {"memories": MEMORIES, "episodes": EPISODES, "chunks": CHUNKS}


@dataclass(frozen=True, slots=True)
class Batch(Generic[T]):
    """Rows from the store, column by column for the search index.

    Args:
        items: The values, in table order.
        tokens: Each row's index terms.
        vectors: By column name, a float32 matrix of one line per row; a missing vector is a line of zeros.
        models: The embedding model of each row, "" while its vectors are pending.
        stamp: Highest stamp of the rows; 0 for no rows, or if stamps were not read.
    """

    items: list[T]
    tokens: list[list[str]]
    vectors: dict[str, Vector]
    models: list[str]
    stamp: int


@dataclass(frozen=True, slots=True)
class Written(Generic[T]):
    """One commit to a user's table.

    Args:
        before: Revision of the table before the commit.
        after: Revision of the table after the commit.
        rows: The written rows, as a load would return them.
    """

    before: Revision
    after: Revision
    rows: Batch[T]


@dataclass(frozen=True, slots=True)
class Skimmed:
    """Rows column by column, with their values still encoded.

    Args:
        ids: Ids of the rows.
        agents: Partitions of the rows.
        records: The encoded values.
        tokens, vectors, models, stamp: As in ``Batch``.
        marked: The memories among them that every query needs (see ``MARKS``).
    """

    ids: list[str]
    agents: list[str]
    records: list[str]
    tokens: list[list[str]]
    vectors: dict[str, Vector]
    models: list[str]
    stamp: int
    marked: list[Memory]


SUMMARY_MARKS = ('"kind":"summary"',)
# A memory with one of these in its record is needed for every query: it is closed, waits for review, fills a slot, or
# belongs in every prompt.
MARKS = (
    '"status":"closed"', '"status":"superseded"', '"status":"retracted"', '"status":"review"', '"status":"quarantined"',
    '"ending":"', '"slot":', '"profile":true', '"pinned":true', '"task":',
)  # fmt: skip
ENDINGS = "end_"  # id prefix of rows that record closings and are not memories
NO_ROWS: Batch[Any] = Batch([], [], {}, [], 0)


@functools.cache
def arrow_schema(noun: Noun, dimension: int) -> pa.Schema:
    """Return the table's Arrow schema; all columns except the id are nullable, so that new ones can be added later."""
    import pyarrow as pa  # noqa: PLC0415 - takes part of a second and is loaded in the background

    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("agent", pa.string()),
            pa.field("session", pa.string()),
            pa.field("record", pa.string()),
            pa.field("tokens", pa.string()),
            pa.field("lexical_version", pa.int64()),
            pa.field("embedding_model", pa.string()),
            pa.field("stamp", pa.int64()),
            *(pa.field(name, pa.list_(pa.float32(), dimension)) for name in LAYOUTS[noun].vectors),
        ]
    )


def to_arrow(
    layout: Layout[T],
    items: Sequence[T],
    vectors: Mapping[str, Sequence[Vector | None]],
    models: Sequence[str | None],
    *,
    dimension: int,
    stamp: int,
) -> pa.Table:
    """Return rows as an Arrow table for writing; invalid Unicode in texts is replaced, not refused.

    Raises:
        ValueError: If a vector has another length than ``dimension``.
    """
    import pyarrow as pa  # noqa: PLC0415

    columns: dict[str, Any] = {
        "id": [item.id for item in items],
        "agent": [item.agent for item in items],
        "session": [item.session for item in items],
        "record": [encoded(layout, item) for item in items],
        "tokens": [" ".join(tokens(_clean(lexical_text(item)))) for item in items],
        "lexical_version": [LEXICAL_VERSION] * len(items),
        "embedding_model": list(models),
        "stamp": [stamp] * len(items),
    }
    for name in layout.vectors:
        columns[name] = _vector_column(vectors[name], dimension)
    return pa.table(columns, schema=arrow_schema(layout.noun, dimension))


def from_arrow(layout: Layout[T], table: pa.Table, *, dimension: int, reads_terms: bool = True) -> Batch[T]:
    """Return the rows of ``table``; vectors that are absent or of another dimension count as missing."""
    items = decode(layout, table)
    models = [of or "" for of in table.column("embedding_model").to_pylist()]
    stamps = table.column("stamp").to_numpy() if "stamp" in table.column_names else np.zeros(0)
    return Batch(
        items,
        _terms(items, table) if reads_terms else [[] for _ in items],
        {name: _matrix(table, name, dimension) for name in layout.vectors},
        models,
        int(stamps.max(initial=0)),
    )


def skimmed(layout: Layout[T], table: pa.Table, *, dimension: int) -> Skimmed:
    """Return the rows of ``table`` without decoding their values, except the marked memories."""
    stored, versions = table.column("tokens").to_pylist(), table.column("lexical_version").to_pylist()
    terms = [(text or "").split() for text in stored]
    if stale := [at for at, version in enumerate(versions) if version != LEXICAL_VERSION]:
        for at, item in zip(stale, decode(layout, table.take(stale)), strict=True):
            terms[at] = tokens(lexical_text(item))
    records: list[str] = table.column("record").to_pylist()
    marked: list[Memory] = []
    if layout.noun == "memories":
        decode_one = decoder(MEMORIES)
        marked = [decode_one(record) for record in records if any(mark in record for mark in MARKS)]
    return Skimmed(
        table.column("id").to_pylist(),
        [agent or "" for agent in table.column("agent").to_pylist()],
        records,
        terms,
        {name: _matrix(table, name, dimension) for name in layout.vectors},
        [model or "" for model in table.column("embedding_model").to_pylist()],
        int(table.column("stamp").to_numpy().max(initial=0)),
        marked,
    )


def decode(layout: Layout[T], table: pa.Table) -> list[T]:
    """Return the values in a table that has at least the column ``record``."""
    decode_one = decoder(layout)
    return [decode_one(record) for record in table.column("record").to_pylist()]


def encoded(layout: Layout[T], item: T) -> str:
    """Return a value as its record: JSON with times in milliseconds."""
    record = {name: getattr(item, name) for name in layout.fields}
    for name in layout.times:
        record[name] = None if record[name] is None else to_ms(record[name])
    try:
        return orjson.dumps(record).decode()
    except TypeError:  # lone surrogates, valid in JSON but not in UTF-8, or numbers beyond 64 bits
        return _clean(json.dumps(record, ensure_ascii=False))


def decoder(layout: Layout[T]) -> Callable[[str | bytes], T]:
    """Return the function that decodes a record into a value."""
    times, tuples, of = layout.times, layout.tuples, layout.of
    # Setting 25 fields takes 17 us through the frozen class's constructor, 2 us through the descriptors of its slots.
    setters = [(name, getattr(of, name).__set__) for name in layout.fields]
    may_be_marked = layout.noun == "chunks"  # chunks of earlier versions have marks in their text

    def decode_one(record: str | bytes) -> T:
        fields = orjson.loads(record)
        for name in times:
            if (moment := fields.get(name)) is not None:
                fields[name] = from_ms(moment)
        for name in tuples:
            fields[name] = tuple(fields.get(name) or ())
        if may_be_marked and isinstance(fields.get("text"), str):
            fields["text"] = unmarked(fields["text"])
        value = object.__new__(of)
        try:
            for name, put in setters:
                put(value, fields[name])
        except KeyError:  # written by an earlier version
            known = {name: value for name, value in fields.items() if name in layout.fields}
            return of(**(upgraded(known, fields) if layout.noun == "memories" else known))
        return value

    return decode_one


def _terms(items: Sequence[Memory | Episode | Chunk], table: pa.Table) -> list[list[str]]:
    """Return stored tokens; recompute those that were not read or are of another lexical version."""
    if "tokens" not in table.column_names:
        return [tokens(lexical_text(item)) for item in items]
    return [
        (stored or "").split() if version == LEXICAL_VERSION else tokens(lexical_text(item))
        for item, stored, version in zip(
            items, table.column("tokens").to_pylist(), table.column("lexical_version").to_pylist(), strict=True
        )
    ]


def _matrix(table: pa.Table, name: str, dimension: int) -> Vector:
    lines = np.zeros((table.num_rows, dimension), dtype=np.float32)
    if name not in table.column_names or table.schema.field(name).type.list_size != dimension:
        return lines
    column = table.column(name).combine_chunks()
    present = column.is_valid().to_numpy(zero_copy_only=False)
    lines[present] = column.drop_null().flatten().to_numpy().reshape(-1, dimension)
    return lines


def _vector_column(vectors: Sequence[Vector | None], dimension: int) -> pa.Array:
    """Return vectors as a column, normalised to norm 1; a zero or non-finite vector counts as missing."""
    import pyarrow as pa  # noqa: PLC0415

    lines = np.zeros((len(vectors), dimension), dtype=np.float32)
    for at, vector in enumerate(vectors):
        if vector is not None:
            if np.shape(vector) != (dimension,):
                raise ValueError(f"a vector has shape {np.shape(vector)}; the store holds {dimension} dimensions")
            lines[at] = vector
    lengths = np.linalg.norm(lines, axis=1)
    present = np.isfinite(lengths) & (lengths > 0)
    lines[present] /= lengths[present, np.newaxis]
    lines[~present] = 0
    return pa.FixedSizeListArray.from_arrays(lines.ravel(), dimension, mask=pa.array(~present))


def _clean(text: str) -> str:
    """Return ``text`` with lone surrogates replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
