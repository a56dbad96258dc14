"""How memories and episodes lie in a LanceDB table: columns, and rows to values and back."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from proxy.clock import from_ms, to_ms
from proxy.lexical import LEXICAL_VERSION, tokens
from proxy.store.passages import lexical_text
from proxy.types import Episode, Memory

if TYPE_CHECKING:
    import pyarrow as pa

Noun = Literal["memories", "episodes"]
Vector = NDArray[np.float32]
Cell = Literal["text", "time", "int", "float", "bool", "texts", "json"]
T = TypeVar("T", Memory, Episode)

NOUNS: tuple[Noun, ...] = ("memories", "episodes")
BOOKKEEPING = ("tokens", "lexical_version", "embedding_model", "stamp")


@dataclass(frozen=True, slots=True)
class Layout(Generic[T]):
    """One noun's table: the value's fields as columns, and which vectors a row carries."""

    noun: Noun
    of: type[T]
    cells: Mapping[str, Cell]
    vectors: tuple[str, ...]


MEMORIES = Layout(
    "memories",
    Memory,
    {
        "id": "text",
        "kind": "text",
        "text": "text",
        "created_at": "time",
        "updated_at": "time",
        "valid_from": "time",
        "subject": "text",
        "relation": "text",
        "object": "text",
        "quote": "text",
        "source": "text",
        "confidence": "float",
        "provenance": "text",
        "status": "text",
        "valid_to": "time",
        "last_used_at": "time",
        "uses": "int",
        "expires_at": "time",
        "pinned": "bool",
        "priority": "int",
        "agent": "text",
        "session": "text",
        "turns": "texts",
        "single": "bool",
        "metadata": "json",
    },
    ("vector",),
)
EPISODES = Layout(
    "episodes",
    Episode,
    {
        "id": "text",
        "session": "text",
        "turn": "text",
        "seq": "int",
        "role": "text",
        "text": "text",
        "at": "time",
        "agent": "text",
        "piece": "int",
    },
    ("vector", "window_vector"),
)
LAYOUTS: dict[Noun, Layout[Any]] = {"memories": MEMORIES, "episodes": EPISODES}


@dataclass(frozen=True, slots=True)
class Batch(Generic[T]):
    """Rows as they come from the store, column-wise where the index wants columns.

    Args:
        items: The values, in table order.
        tokens: Each row's index terms.
        vectors: By column name, a matrix of one line per row; a missing vector is a line of zeros.
        models: The embedding model of each row, "" while its vectors are pending.
        stamp: The greatest stamp among the rows, 0 where there are none.
    """

    items: list[T]
    tokens: list[list[str]]
    vectors: dict[str, Vector]
    models: list[str]
    stamp: int


@functools.cache
def arrow_schema(noun: Noun, dimension: int) -> pa.Schema:
    """Return the table's Arrow schema; every column but the id may be null, so that later ones can be added."""
    import pyarrow as pa  # noqa: PLC0415 - takes part of a second and is loaded in the background

    types = {
        "text": pa.string(),
        "time": pa.int64(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "texts": pa.list_(pa.string()),
        "json": pa.string(),
    }
    layout = LAYOUTS[noun]
    fields = [pa.field(name, types[cell], nullable=name != "id") for name, cell in layout.cells.items()]
    fields += [
        pa.field("tokens", pa.string()),
        pa.field("lexical_version", pa.int64()),
        pa.field("embedding_model", pa.string()),
        pa.field("stamp", pa.int64()),
    ]
    fields += [pa.field(name, pa.list_(pa.float32(), dimension)) for name in layout.vectors]
    return pa.schema(fields)


def to_arrow(
    layout: Layout[T],
    items: Sequence[T],
    vectors: Mapping[str, Sequence[Vector | None]],
    models: Sequence[str | None],
    *,
    dimension: int,
    stamp: int,
) -> pa.Table:
    """Return rows ready to be written; text that is no valid Unicode is mended, not refused."""
    import pyarrow as pa  # noqa: PLC0415

    count = len(items)
    columns: dict[str, Any] = {
        name: [_ENCODERS[cell](getattr(item, name)) for item in items] for name, cell in layout.cells.items()
    }
    columns["tokens"] = [" ".join(tokens(_clean(lexical_text(item)))) for item in items]
    columns["lexical_version"] = [LEXICAL_VERSION] * count
    columns["embedding_model"] = list(models)
    columns["stamp"] = [stamp] * count
    for name in layout.vectors:
        columns[name] = [None if vector is None else _unit(vector, dimension) for vector in vectors[name]]
    return pa.table(columns, schema=arrow_schema(layout.noun, dimension))


def from_arrow(layout: Layout[T], table: pa.Table, *, dimension: int) -> Batch[T]:
    """Return what ``table`` holds; vectors of another dimension count as missing."""
    names = set(table.column_names)
    cells = [
        [_DECODERS[cell](value) for value in table.column(name).to_pylist()]
        for name, cell in layout.cells.items()
        if name in names
    ]
    fields = [name for name in layout.cells if name in names]
    items = [layout.of(**dict(zip(fields, row, strict=True))) for row in zip(*cells, strict=True)]
    stamps = table.column("stamp").to_numpy() if table.num_rows else np.zeros(1, dtype=np.int64)
    return Batch(
        items,
        _terms(items, table),
        {name: _matrix(table, name, dimension) for name in layout.vectors},
        [model or "" for model in table.column("embedding_model").to_pylist()],
        int(stamps.max()),
    )


def _terms(items: Sequence[Memory | Episode], table: pa.Table) -> list[list[str]]:
    """Return stored tokens, made anew where another version of the lexicon made them."""
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


def _unit(vector: Vector, dimension: int) -> Vector | None:
    """Return ``vector`` at length one; a zero or broken one counts as missing."""
    line = np.asarray(vector, dtype=np.float32)
    if line.shape != (dimension,):
        raise ValueError(f"a vector has shape {line.shape}; the store holds {dimension} dimensions")
    length = float(np.linalg.norm(line))
    return cast("Vector", line / length) if np.isfinite(length) and length > 0 else None


def _clean(text: str) -> str:
    """Return ``text`` with lone surrogates replaced: they exist in JSON, but not in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_ENCODERS: dict[Cell, Callable[[Any], Any]] = {
    "text": _clean,
    "time": lambda moment: None if moment is None else to_ms(moment),
    "int": int,
    "float": float,
    "bool": bool,
    "texts": lambda texts: [_clean(text) for text in texts],
    "json": json.dumps,
}
_DECODERS: dict[Cell, Callable[[Any], Any]] = {
    "text": lambda text: text or "",
    "time": lambda ms: None if ms is None else from_ms(ms),
    "int": lambda number: number or 0,
    "float": lambda number: 0.0 if number is None else number,
    "bool": bool,
    "texts": lambda texts: tuple(texts or ()),
    "json": lambda text: json.loads(text) if text else {},
}
