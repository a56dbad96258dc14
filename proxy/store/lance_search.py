"""Search inside LanceDB for users with too many rows to hold in memory, and its indices."""

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
_PARTITION_ROWS = 8192  # scanning quantised rows is cheap, so there are few partitions and all are probed
_PROBES = 32


@dataclass(frozen=True, slots=True)
class Candidates(Generic[T]):
    """Candidate rows of a query.

    Args:
        rows: The rows with their vectors, without their index terms.
        words: BM25 scores by id, of the rows found by lexical search.
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
    """Return the best rows by lexical score and by any of their vectors, turns with their neighbours.

    Args:
        table: The table at its newest version.
        layout: Layout of the table.
        terms: Index terms of the query.
        vector: Vector of the query; None for lexical search only.
        where: Filter that all rows must pass, "" for none; it costs a scan.
        limit: Maximum number of rows, not counting neighbours.
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
    """Return row ids in order, for episodes with the adjacent ids: mostly neighbours, as turns are appended."""
    if layout.noun != "episodes":
        return sorted(rows)
    return sorted({near for row in rows for near in (row, row - 1, row + 1) if near >= 0})


async def skim(
    table: AsyncTable, layout: Layout[T], *, above_stamp: int | None, dimension: int
) -> AsyncIterator[Skimmed]:
    """Yield the rows' skimmed form: all, some thousands at a time, or only those above ``above_stamp``.

    Reading in stretches takes a fifth of the memory and a third of the time of one scan of many rows.

    Args:
        table: A handle that stays at its version until the end.
        layout: Layout of the table.
        above_stamp: If given, only rows with a later stamp.
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
    """Create the missing indices of a table with more than ``above_rows`` rows; return their columns."""
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
        if name not in indexed and embedded > above_rows:  # below that, a scan is used
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
    # with a selective filter, a search with a limited number of probes would stop after the first partitions
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
    """Return the rows with the highest sum of scores, each list scaled to [0, 1]."""
    total: defaultdict[int, float] = defaultdict(float)
    for of in scores.values():
        if of:
            low, high = min(of.values()), max(of.values())
            for row, score in of.items():
                total[row] += (score - low) / (high - low) if high > low else 1.0
    return sorted(total, key=lambda row: -total[row])[:limit]
