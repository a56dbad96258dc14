"""The newest memories of an owner, found without reading every record: lists of 100,000 are asked for by pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from proxy.clock import to_ms
from proxy.store.schema import MEMORIES, decoder
from proxy.types import Memory

if TYPE_CHECKING:
    import pyarrow as pa

_CREATED = r'"created_at":(?P<at>-?\d+)'  # in a record it stands before anything of the user's that is not escaped


def newest(table: pa.Table, *, status: str = "", before: tuple[datetime, str] | None = None) -> Iterator[Memory]:
    """Yield the memories of a table with ``id`` and ``record``, newest first, read as they are asked for.

    Args:
        table: The rows.
        status: Most rows of another one are left out; the caller still looks.
        before: Time and id behind which to go on; "" for all.
    """
    import pyarrow as pa  # noqa: PLC0415 - takes part of a second and is loaded in the background
    import pyarrow.compute as pc  # noqa: PLC0415

    if status:
        table = table.filter(pc.match_substring(table.column("record"), f'"status":"{status}"'))
    told = pc.extract_regex(table.column("record"), _CREATED)
    at = pc.cast(pc.struct_field(told, "at"), pa.int64())
    table = table.append_column("at", at)
    if before is not None:
        moment, id_ = to_ms(before[0]), before[1]
        is_older = pc.or_(pc.less(at, moment), pc.and_(pc.equal(at, moment), pc.less(table.column("id"), id_)))
        table = table.filter(is_older)
    order = pc.sort_indices(table, sort_keys=[("at", "descending"), ("id", "descending")])
    records, decode_one = table.column("record"), decoder(MEMORIES)
    for place in order:
        yield decode_one(records[place.as_py()].as_py())
