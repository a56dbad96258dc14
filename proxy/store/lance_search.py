"""Search inside LanceDB for owners whose rows are too many to hold in memory, and the indices that it needs."""

from __future__ import annotations

import asyncio
import importlib
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from proxy.process.threads import in_thread
from proxy.store import filters
from proxy.store.schema import (
    LAYOUTS,
    NO_ROWS,
    Batch,
    Layout,
    Noun,
    Skimmed,
    T,
    Vector,
    from_arrow,
    skimmed,
)

if TYPE_CHECKING:
    from lancedb.table import AsyncTable

ROWS_BEFORE_INDEX = 8000
_MAX_TOKEN = 64
_BY_WORDS = 100
_BY_VECTOR = 60
_STRETCH = 2048  # rows
_SKIMMED = ("id", "agent", "record", "tokens", "lexical_version", "embedding_model", "stamp")
_PARTITION_ROWS = 8192  # scanning quantised rows is cheap, so few partitions and all of them probed
_PROBES = 32


@dataclass(frozen=True, slots=True)
class Candidates(Generic[T]):
    """The rows that may answer a query.

    Args:
        rows: With their vectors, without their index terms.
        words: BM25 score by id; rows that were not found by words are missing.
    """

    rows: Batch[T]
    words: dict[str, float]


NOTHING_FOUND: Candidates[Any] = Candidates(NO_ROWS, {})


async def find(
    table: AsyncTable,
    layout: Layout[T],
    terms: Collection[str],
    vector: Vector | None,
    *,
    where: str,
    limit: int,
    dimension: int,
) -> Candidates[T]:
    """Return the rows that fit best by words or by any of their vectors, turns with their neighbours.

    Args:
        table: At its newest version.
        layout: What it holds.
        terms: Index terms of the query.
        vector: Of the query; None searches by words alone.
        where: If given, a filter that all rows must pass; it costs a scan.
        limit: Most rows, neighbours aside.
        dimension: Length of the vectors.
    """
    names = ["words", *layout.vectors] if vector is not None else ["words"]
    searches = [_by_words(table, terms, where)]
    if vector is not None:
        searches += [_by_vector(table, vector, name, where) for name in layout.vectors]
    scores = dict(zip(names, await asyncio.gather(*searches), strict=True))
    rows = with_neighbours(layout, best(scores, limit))
    if not rows:
        return NOTHING_FOUND
    columns = ["record", "embedding_model", *layout.vectors]
    found = await table.take_row_ids(rows).select(columns).with_row_id().to_arrow()
    batch = from_arrow(layout, found, dimension=dimension, reads_terms=False)
    words, met = scores["words"], zip(found.column("_rowid").to_pylist(), batch.items, strict=True)
    return Candidates(batch, {item.id: words[row] for row, item in met if row in words})


def with_neighbours(layout: Layout[T], rows: Collection[int]) -> list[int]:
    """Return rows in order, turns with those beside them: written in order, they are mostly the neighbours."""
    if layout.noun != "episodes":
        return sorted(rows)
    return sorted({near for row in rows for near in (row, row - 1, row + 1) if near >= 0})


async def skim(
    table: AsyncTable, layout: Layout[T], *, above_stamp: int | None, dimension: int
) -> AsyncIterator[Skimmed]:
    """Yield what the rows are about: those of a later stamp where one is given, else all, some thousands at a time.

    A stretch after the other takes a fifth of the memory, and a third of the time, of one scan of many rows.

    Args:
        table: Nobody else may move it to another version meanwhile.
        layout: What it holds.
        above_stamp: Only rows written since.
        dimension: Length of the vectors.
    """
    columns = [*_SKIMMED, *layout.vectors]
    if above_stamp is not None:
        found = await table.query().where(filters.above("stamp", above_stamp)).select(columns).to_arrow()
        if found.num_rows:
            yield await in_thread("learn", skimmed, layout, found, dimension=dimension)
        return
    for first in range(0, await table.count_rows(), _STRETCH):
        query = table.query().select(columns).offset(first).limit(_STRETCH)
        yield await in_thread("learn", skimmed, layout, await query.to_arrow(), dimension=dimension)


async def index(table: AsyncTable, noun: Noun, *, above_rows: int) -> list[str]:
    """Make the indices that a table of more than ``above_rows`` lacks; return the columns that got one."""
    if await table.count_rows() <= above_rows:
        return []
    indexed = {column for config in await table.list_indices() for column in config.columns}
    made: list[str] = []
    lancedb_index = importlib.import_module("lancedb.index")
    if "tokens" not in indexed:
        words = lancedb_index.FTS(
            base_tokenizer="whitespace",
            max_token_length=_MAX_TOKEN,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        )
        await table.create_index("tokens", config=words)
        made.append("tokens")
    for name in LAYOUTS[noun].vectors:
        embedded = await table.count_rows(f"{name} IS NOT NULL")
        if name not in indexed and embedded > above_rows:  # a smaller part is scanned
            partitions = max(1, embedded // _PARTITION_ROWS)
            quantised = lancedb_index.IvfRq(distance_type="cosine", num_bits=4, num_partitions=partitions)
            await table.create_index(name, config=quantised)
            made.append(name)
    return made


async def _by_words(table: AsyncTable, terms: Collection[str], where: str) -> dict[int, float]:
    if not terms:
        return {}
    query = importlib.import_module("lancedb.query").MatchQuery(" ".join(terms), "tokens")
    found = table.query().nearest_to_text(query).limit(_BY_WORDS)
    return await _scores(found, where, "_score")


async def _by_vector(table: AsyncTable, vector: Vector, column: str, where: str) -> dict[int, float]:
    found = table.query().nearest_to(vector).column(column).distance_type("cosine").limit(_BY_VECTOR)
    # with a filter that lets few rows pass, a search without an open end would stop after the first partitions
    found = found.maximum_nprobes(0).minimum_nprobes(_PROBES)
    return await _scores(found, where, "_distance")


async def _scores(query: Any, where: str, column: str) -> dict[int, float]:
    if where:
        query = query.where(where)
    rows = await query.select([column]).with_row_id().to_arrow()
    values = rows.column(column).to_pylist()
    ids = rows.column("_rowid").to_pylist()
    return {row: value if column == "_score" else 1 - value for row, value in zip(ids, values, strict=True)}


def best(scores: Mapping[str, Mapping[int, float]], limit: int) -> list[int]:
    """Return the rows with the highest sum of scores, each list stretched to [0, 1]."""
    total: defaultdict[int, float] = defaultdict(float)
    for of in scores.values():
        if of:
            low, high = min(of.values()), max(of.values())
            for row, score in of.items():
                total[row] += (score - low) / (high - low) if high > low else 1.0
    return sorted(total, key=lambda row: -total[row])[:limit]
