"""Partitions of a user's memory, each one string: agent, project, and the conversation or file it is apart with.

Standard library only. ``""`` is what is common; ``a`` an agent's, ``.p`` a project's, ``a.p`` what an agent learned
in a project; a third part names what is in quarantine: ``..ses_1`` is found only inside of that conversation.
"""

from __future__ import annotations

from itertools import product


def partition(agent: str = "", project: str = "", apart: str = "") -> str:
    """Return the partition of these parts, none of which has a dot.

    >>> partition(), partition("a"), partition(project="p"), partition("a", "p"), partition(apart="s")
    ('', 'a', '.p', 'a.p', '..s')
    """
    return f"{agent}.{project}.{apart}".rstrip(".")


def parts(name: str) -> tuple[str, str, str]:
    """Return agent, project and what is apart.

    >>> parts("a.p"), parts("..s")
    (('a', 'p', ''), ('', '', 's'))
    """
    agent, _, rest = name.partition(".")
    project, _, apart = rest.partition(".")
    return agent, project, apart


def without_project(name: str) -> str:
    """Return the partition of the same agent for what is no project's."""
    agent, _, apart = parts(name)
    return partition(agent, "", apart)


def settled(name: str) -> str:
    """Return the partition without what sets it apart."""
    agent, project, _ = parts(name)
    return partition(agent, project)


def visible(name: str, *inside: str) -> tuple[str, ...]:
    """Return the partitions whose rows are seen from one: it, and what is common to it and others.

    Args:
        name: The partition of who asks.
        inside: Ids of the conversation and the files in which it is asked; what is apart with them is seen.

    >>> visible("a.p")
    ('', '.p', 'a', 'a.p')
    """
    agent, project, _ = parts(name)
    sets = ({"", agent}, {"", project}, {"", *inside})
    return tuple(sorted({partition(*one) for one in product(*sets)}))


def sees(name: str, other: str, *inside: str) -> bool:
    """Return whether rows of partition ``other`` are seen from partition ``name``; as ``visible``, for one."""
    if other in ("", name):
        return True
    agent, project, apart = parts(other)
    mine, its, _ = parts(name)
    return agent in ("", mine) and project in ("", its) and apart in ("", *inside)


def owns(name: str, other: str) -> bool:
    """Return whether rows of partition ``other`` may be read and changed by their id from partition ``name``.

    Without a project all projects are one's own, and so is what is in quarantine; from a project no other one is.
    """
    agent, project, _ = parts(other)
    mine, its, _ = parts(name)
    return agent in ("", mine) and (not its or project in ("", its))


def inside(name: str, other: str) -> str:
    """Return the partition of who asks from ``name``, inside of the project of a row of partition ``other``."""
    agent, project, _ = parts(name)
    return partition(agent, project or parts(other)[1])


def widest(names: list[str], own: str) -> str:
    """Return the most common of partitions; ``own`` where there is none.

    >>> widest([".p", ""], "a.p"), widest([".p"], "a.p"), widest([], "a.p")
    ('', '.p', 'a.p')
    """
    return min(names, key=lambda one: (sum(map(bool, parts(one))), one), default=own)


def covers(name: str, other: str) -> bool:
    """Return whether rows of partition ``other`` belong to an agent, a project, or an agent's part of a project.

    >>> covers("a", "a.p"), covers(".p", "a.p"), covers(".p", "a"), covers("a.p", "a.p.s")
    (True, True, False, True)
    """
    agent, project, _ = parts(name)
    whose, where, _ = parts(other)
    return agent in ("", whose) and project in ("", where)
