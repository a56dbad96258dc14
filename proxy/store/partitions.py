"""Conditions on the column ``agent``, which holds the partition of a row."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from proxy.partition import parts
from proxy.types import Scope


def owned(scope: Scope, column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Return the condition for rows that may be read and changed by their id: without a project, of all projects."""
    agent, project, _ = parts(scope.agent)
    if project:
        return column.in_(scope.partitions)
    agents = {agent, *(parts(one)[0] for one in scope.also)} - {""}
    return sa.or_(column.in_(scope.partitions), column.like(".%"), *(column.like(f"{one}.%") for one in sorted(agents)))


def covered(scope: Scope, column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Return the condition for all rows of an agent, of a project, or of an agent in a project."""
    agent, project, _ = parts(scope.agent)
    if agent:
        name = f"{agent}.{project}" if project else agent
        return sa.or_(column == name, column.like(f"{name}.%"))
    return sa.or_(column.like(f"%.{project}"), column.like(f"%.{project}.%"))
