"""Builders of LanceDB filters, used for every filter; they accept only Throughline's own names and numbers.

LanceDB's filters are SQL text without parameters, so any value that is not an id or a number raises.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from proxy.store.codec import FORMER_STATUSES
from proxy.types import Scope, Status
from proxy.types.scope import visible

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_PART = re.compile(r'"[a-z_]{1,32}":(?:"(?:[a-z]{1,16}")?|true)?')
_OWNER = re.compile(r"[0-9a-f]{32}")


def is_id(value: str) -> bool:
    """Return whether ``value`` has the form of a Throughline id."""
    return _ID.fullmatch(value) is not None


def owner(value: str) -> str:
    """Return ``value`` if it can name a user's tables.

    Raises:
        ValueError: If it is anything but 32 hex digits.
    """
    if _OWNER.fullmatch(value) is None:
        raise ValueError(f"an owner is 32 hex digits, not {value!r}")
    return value


def any_of(column: str, values: Collection[str]) -> str:
    """Return the filter for rows whose ``column`` is one of ``values``, which are Throughline ids or words.

    Raises:
        ValueError: If there is no value, or one that is not an id.
    """
    if not values:
        raise ValueError(f"a filter on {column!r} needs a value")
    return f"{_column(column)} IN ({', '.join(_quoted(value) for value in values)})"


def above(column: str, bound: int) -> str:
    """Return the filter for rows whose whole-number ``column`` is greater than ``bound``."""
    return f"{_column(column)} > {int(bound):d}"


def missing(column: str) -> str:
    """Return the filter for rows where ``column`` is null."""
    return f"{_column(column)} IS NULL"


def other_than(column: str, value: str) -> str:
    """Return the filter for rows where ``column`` is null or not ``value``, a name that the operator configured.

    Raises:
        ValueError: If the name has unprintable characters.
    """
    if not value.isprintable():
        raise ValueError(f"{value!r} is no name")
    name = value.replace("'", "''")
    return either(missing(column), f"{_column(column)} != '{name}'")


def either(*filters: str) -> str:
    """Return the filter for rows that pass any of ``filters``, each made by this module."""
    return " OR ".join(f"({one})" for one in filters)


def tells(column: str, part: str) -> str:
    """Return the filter for rows whose JSON ``column`` has this Throughline key and value, as ``"pinned":true``.

    Raises:
        ValueError: If it is anything else.
    """
    if _PART.fullmatch(part) is None:
        raise ValueError(f"{part!r} is no key and value of ours")
    return f"{_column(column)} LIKE '%{part}%'"


def begins(column: str, prefix: str) -> str:
    """Return the filter for rows whose ``column`` begins with a prefix of ids.

    Raises:
        ValueError: If no id can begin with ``prefix``.
    """
    if not is_id(prefix):
        raise ValueError(f"no id of ours begins with {prefix!r}")
    return f"starts_with({_column(column)}, '{prefix}')"


def neither(*filters: str) -> str:
    """Return the filter for rows that pass none of ``filters``, each made by this module."""
    return f"NOT ({either(*filters)})"


def both(*filters: str) -> str:
    """Return the filter for rows that pass all of ``filters``, each made by this module."""
    return " AND ".join(f"({one})" for one in filters)


def _quoted(value: str) -> str:
    if value and not is_id(value):
        raise ValueError(f"{value!r} cannot be an id of ours")
    return f"'{value}'"


def _column(name: str) -> str:
    if not name.isidentifier() or not name.isascii():
        raise ValueError(f"{name!r} is no column")
    return name


def seen_by(scope: Scope) -> str:
    """Return the filter for rows that the scope sees."""
    inside = [one for one in (scope.session, *scope.inside) if is_id(one)]
    names = {name for one in (scope.agent, *scope.also) for name in visible(one, *inside)}
    return any_of("agent", sorted(names))


def of_status(status: Status) -> str:
    """Return the filter for memories of a status, including its names in earlier versions."""
    names = (status, *(former for former, now in FORMER_STATUSES.items() if now == status))
    return either(*(tells("record", f'"status":"{name}"') for name in names))
