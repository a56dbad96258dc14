"""Statements of the hot path: compiled once, run on the driver's cursor, half the CPU of ``Connection.execute``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import sqlalchemy as sa

from proxy.errors import StoreUnavailable


class Prepared:
    """A Core statement as a string of its engine.

    Args:
        statement: Its parameters are ``bindparam``s; for an INSERT the ``columns`` are.
        dialect: Of the engine that will run it.
        columns: The columns of an INSERT.
    """

    def __init__(self, statement: Any, dialect: sa.Dialect, *, columns: Sequence[str] | None = None) -> None:
        self._statement, self._dialect, self._columns = statement, dialect, columns
        self._failures = dialect.loaded_dbapi.Error

    def execute(self, connection: sa.Connection, values: Mapping[str, Any]) -> None:
        """Run it once, for its effect."""
        self._run(connection, "execute", self._bind(values))

    def execute_all(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it for each row; for none do nothing."""
        if rows:
            self._run(connection, "executemany", [self._bind(row) for row in rows])

    def fetch(self, connection: sa.Connection, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """Run it and return its rows."""
        rows = self._run(connection, "execute", self._bind(values), is_query=True)
        decoders = self._compiled.decoders
        if not decoders:
            return rows
        return [tuple(decode(value) for decode, value in zip(decoders, row, strict=True)) for row in rows]

    @cached_property
    def _compiled(self) -> _Compiled:
        # On first use: a long statement takes milliseconds, and most processes never need some of them.
        dialect = self._dialect
        compiled = self._statement.compile(dialect=dialect, column_keys=self._columns)
        parameters = [
            (name, compiled.params[name], compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect))
            for name in compiled.positiontup
        ]
        columns = getattr(self._statement, "selected_columns", ())
        decoders = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
        return _Compiled(str(compiled), parameters, [decode or _as_is for decode in decoders] if any(decoders) else [])

    def _run(self, connection: sa.Connection, method: str, parameters: Any, *, is_query: bool = False) -> Sequence[Any]:
        cursor = connection.connection.cursor()
        try:
            getattr(cursor, method)(self._compiled.sql, parameters)
            return cursor.fetchall() if is_query else ()
        except self._failures as error:
            raise StoreUnavailable(f"the database refused a statement: {type(error).__name__}") from error
        finally:
            cursor.close()

    def _bind(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(
            values.get(name, default) if encode is None else encode(values.get(name, default))
            for name, default, encode in self._compiled.parameters
        )


class _Compiled(NamedTuple):
    sql: str
    parameters: list[tuple[str, Any, Callable[[Any], Any] | None]]
    decoders: list[Callable[[Any], Any]]


def _as_is(value: Any) -> Any:
    return value
