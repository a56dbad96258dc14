"""Conditions on the column ``agent``, which holds the partition of a row."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from proxy.types import Scope
from proxy.types.partition import partition, parts


def owned(scope: Scope, column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Return the condition for rows that may be read and changed by their id: without a project, of all projects."""
    agent, project, _ = parts(scope.agent)
    if project:
        return column.in_(scope.partitions)
    agents = {agent, *(parts(one)[0] for one in scope.also)} - {""}
    return sa.or_(column.in_(scope.partitions), column.like(".%"), *(column.like(f"{one}.%") for one in sorted(agents)))


def reached(scope: Scope, column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Return the condition for all rows that ``Scope.owns``, those in quarantine included."""
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
    """Return the condition for all rows of an agent, of a project, or of an agent in a project."""
    agent, project, _ = parts(scope.agent)
    if agent:
        name = f"{agent}.{project}" if project else agent
        return sa.or_(column == name, column.like(f"{name}.%"))
    return sa.or_(column.like(f"%.{project}"), column.like(f"%.{project}.%"))
