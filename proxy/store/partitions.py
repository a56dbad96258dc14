"""SQL conditions on the column ``agent``, which holds the partition of a row."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from proxy.types import Scope
from proxy.types.scope import partition, parts


def owned(scope: Scope, column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Return the condition for rows that a scope may access by id; without a project, rows of all projects."""
    agent, project, _ = parts(scope.agent)
    if project:
        return column.in_(scope.partitions)
    agents = {agent, *(parts(one)[0] for one in scope.also)} - {""}
    return sa.or_(column.in_(scope.partitions), column.like(".%"), *(column.like(f"{one}.%") for one in sorted(agents)))


def listed(scope: Scope, column: sa.Column[Any], project: str) -> sa.ColumnElement[bool]:
    """Return the condition for rows of a listing.

    Args:
        scope: The requesting scope.
        column: Partition column.
        project: Id of a project, for its own rows; ``*`` for all projects; "" for all rows that the scope sees.
    """
    if not project:
        return column.in_(scope.partitions)
    if project == "*":
        return owned(scope, column)
    is_its = sa.or_(column.endswith(f".{project}", autoescape=True), column.contains(f".{project}.", autoescape=True))
    return sa.and_(owned(scope, column), is_its)


def reached(scope: Scope, column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Return the condition for all rows that ``Scope.owns``, including quarantined ones."""
    found = []
    for one in (scope.agent, *scope.also):
        agent, project, _ = parts(one)
        for name in sorted({"", agent}):
            if not project:
                found += [column == name, column.like(f"{name}.%")]
            else:
                found += [column == partition(name), column.like(f"{partition(name)}..%")]
                found += [column == partition(name, project), column.like(f"{name}.{project}.%")]
    return sa.or_(*found)


def covered(scope: Scope, column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Return the condition for all rows of the scope's agent, project, or agent in a project."""
    agent, project, _ = parts(scope.agent)
    if agent:
        name = f"{agent}.{project}" if project else agent
        return sa.or_(column == name, column.like(f"{name}.%"))
    return sa.or_(column.like(f"%.{project}"), column.like(f"%.{project}.%"))
