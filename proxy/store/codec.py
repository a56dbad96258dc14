"""Lossless serialisation: turns and memories as JSON bytes, and the column types of the SQL tables."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from proxy.clock import from_ms, in_utc, to_ms
from proxy.types import Memory, Said, Scope, Turn

# JSON that orjson cannot write or would read back changed (lone surrogates, integers over 64 bits) is written by
# the standard library behind one blank, which orjson never starts with.
_SLOW = b" "
_TURN_FIELDS = frozenset(field.name for field in dataclasses.fields(Turn))
_SCOPE_FIELDS = frozenset(field.name for field in dataclasses.fields(Scope)) - {"teams"}  # from the key, not the turn
_SCOPE_TUPLES = ("inside", "also")
_SAID_FIELDS = frozenset(field.name for field in dataclasses.fields(Said))
_MEMORY_FIELDS = frozenset(field.name for field in dataclasses.fields(Memory))
FORMER_STATUSES = {"superseded": "closed", "retracted": "closed"}
_MEMORY_TIMES = ("created_at", "updated_at", "valid_from", "valid_to", "last_used_at", "expires_at")
_MEMORY_TUPLES = ("turns", "earlier", "later")

_ESCAPED = re.compile(r"\\(\\|0|ud[89a-f][0-9a-f]{2})")
_TAME = re.compile(r"[^\x00\\\ud800-\udfff]*")


def dumps(value: Any) -> bytes:
    """Return ``value`` (JSON types, dataclasses, datetimes) as UTF-8 JSON.

    Raises:
        TypeError: If something in it has no JSON form.
    """
    try:
        return orjson.dumps(value, default=_default, option=orjson.OPT_PASSTHROUGH_DATETIME)
    except orjson.JSONEncodeError:
        return _SLOW + json.dumps(value, default=_default).encode()


def loads(data: bytes) -> Any:
    """Return the value given to ``dumps``, with tuples as lists, dataclasses as dicts and times as ISO 8601."""
    return json.loads(data) if data.startswith(_SLOW) else orjson.loads(data)


def turn_to_json(turn: Turn) -> bytes:
    """Return a turn as JSON."""
    return dumps(turn)


def turn_from_json(data: bytes) -> Turn:
    """Return the turn that ``turn_to_json`` wrote; fields that a later version added get their defaults."""
    fields = _known(loads(data), _TURN_FIELDS)
    scope = _known(fields["scope"], _SCOPE_FIELDS)
    fields["scope"] = Scope(**scope | {name: tuple(scope.get(name) or ()) for name in _SCOPE_TUPLES})
    fields["messages"] = tuple(Said(**_known(said, _SAID_FIELDS)) for said in fields["messages"])
    fields["at"] = datetime.fromisoformat(fields["at"])
    return Turn(**fields)


def memory_to_json(memory: Memory) -> bytes:
    """Return a memory as JSON."""
    return dumps(memory)


def memory_from_json(data: bytes) -> Memory:
    """Return the memory that ``memory_to_json`` wrote; fields that a later version added get their defaults."""
    stored = loads(data)
    fields = upgraded(_known(stored, _MEMORY_FIELDS), stored)
    for name in _MEMORY_TIMES:
        if fields.get(name) is not None:
            fields[name] = _representable(datetime.fromisoformat(fields[name]))
    for name in _MEMORY_TUPLES:
        fields[name] = tuple(fields.get(name, ()))
    return Memory(**fields)


def upgraded(fields: dict[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a memory from an earlier version, converted to the current format.

    Earlier versions stored a rewritten sentence about the user; the verbatim quote replaces it as the text.
    """
    fields["status"] = FORMER_STATUSES.get(str(fields.get("status", "active")), fields.get("status", "active"))
    if fields.get("kind") == "procedure":
        fields["kind"] = "instruction"
    is_rewritten = "context" not in stored and fields.get("quote") and str(fields.get("source", "")).startswith("turn:")
    if is_rewritten:
        fields["text"] = fields["quote"]
    return fields


def _representable(moment: datetime) -> datetime:
    """Return a time unchanged, or the nearest one that UTC can represent."""
    try:
        in_utc(moment)
    except ValueError:
        return from_ms(to_ms(moment))
    return moment


def _known(fields: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in names}


def _default(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")


class Text(sa.TypeDecorator[str]):
    """Column type for any Python string; escapes NUL and lone surrogates, which the engines refuse."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape characters that the engines refuse."""
        if value is None or (value.isascii() and "\\" not in value and "\0" not in value) or _TAME.fullmatch(value):
            return value
        return value.replace("\\", "\\\\").replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Undo the escapes."""
        if value is None or "\\" not in value:
            return value
        return _ESCAPED.sub(_unescape, value)


class Json(sa.TypeDecorator[Any]):
    """Column type for a JSON value, stored as bytes; None is NULL."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        """Write the value as JSON."""
        return None if value is None else dumps(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Read the value back."""
        return None if value is None else loads(value)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code == "\\":
        return code
    return "\0" if code == "0" else chr(int(code[1:], 16))
