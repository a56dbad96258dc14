"""Scope of a request, its partitions, and the limits of a key.

A partition of a user's memory is one string: agent, project, and the session or file of a quarantine. ``""`` is the
common partition, ``a`` an agent's, ``.p`` a project's, ``a.p`` that of an agent in a project. The third part marks rows
in quarantine: those of ``..ses_1`` are visible only in that session.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product


def partition(agent: str = "", project: str = "", apart: str = "") -> str:
    """Return the partition of these parts, none of which has a dot.

    >>> partition(), partition("a"), partition(project="p"), partition("a", "p"), partition(apart="s")
    ('', 'a', '.p', 'a.p', '..s')
    """
    return f"{agent}.{project}.{apart}".rstrip(".")


def parts(name: str) -> tuple[str, str, str]:
    """Return agent, project and quarantine of a partition.

    >>> parts("a.p"), parts("..s")
    (('a', 'p', ''), ('', '', 's'))
    """
    agent, _, rest = name.partition(".")
    project, _, apart = rest.partition(".")
    return agent, project, apart


def without_project(name: str) -> str:
    """Return the partition without its project."""
    agent, _, apart = parts(name)
    return partition(agent, "", apart)


def settled(name: str) -> str:
    """Return the partition without its quarantine."""
    agent, project, _ = parts(name)
    return partition(agent, project)


def visible(name: str, *inside: str) -> tuple[str, ...]:
    """Return the partitions whose rows are visible from one: itself, and those common to it and others.

    Args:
        name: Partition of the request.
        inside: Ids of the session and the files of the request, whose quarantined rows are visible.

    >>> visible("a.p")
    ('', '.p', 'a', 'a.p')
    """
    agent, project, _ = parts(name)
    sets = ({"", agent}, {"", project}, {"", *inside})
    return tuple(sorted({partition(*one) for one in product(*sets)}))


def sees(name: str, other: str, *inside: str) -> bool:
    """Return whether rows of partition ``other`` are visible from partition ``name``, as in ``visible``."""
    if other in ("", name):
        return True
    agent, project, apart = parts(other)
    mine, its, _ = parts(name)
    return agent in ("", mine) and project in ("", its) and apart in ("", *inside)


def owns(name: str, other: str) -> bool:
    """Return whether rows of partition ``other`` may be read and changed by their id from partition ``name``.

    Without a project these are rows of all projects, with one its rows and common ones; both include quarantined rows.
    """
    agent, project, _ = parts(other)
    mine, its, _ = parts(name)
    return agent in ("", mine) and (not its or project in ("", its))


def inside(name: str, other: str) -> str:
    """Return partition ``name``, within the project of partition ``other`` if it has none itself."""
    agent, project, _ = parts(name)
    return partition(agent, project or parts(other)[1])


def widest(names: list[str], own: str) -> str:
    """Return the most common of partitions; ``own`` if ``names`` is empty.

    >>> widest([".p", ""], "a.p"), widest([".p"], "a.p"), widest([], "a.p")
    ('', '.p', 'a.p')
    """
    return min(names, key=lambda one: (sum(map(bool, parts(one))), one), default=own)


def covers(name: str, other: str) -> bool:
    """Return whether rows of partition ``other`` belong to ``name``: an agent, a project, or an agent in a project.

    >>> covers("a", "a.p"), covers(".p", "a.p"), covers(".p", "a"), covers("a.p", "a.p.s")
    (True, True, False, True)
    """
    agent, project, _ = parts(name)
    whose, where, _ = parts(other)
    return agent in ("", whose) and project in ("", where)


@dataclass(frozen=True, slots=True)
class Team:
    """Users of one tenant who read each other's shared memories.

    Args:
        id: 32 hex digits, a keyed hash of tenant and name.
        name: Name that the operator gave when creating the key.
    """

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Scope:
    """User and partition of memory; each part is a keyed hash or a generated id, safe in file names and filters.

    Args:
        tenant: 32 hex digits, a keyed hash of the client's key or of a Throughline key's binding.
        user: 32 hex digits, a keyed hash of tenant and user id; alone it identifies the user of all tables.
        agent: Partition of the user's memory (see ``partition``): 32 hex digits for an agent or app of the user, and
            for a project; "" for the user at large.
        session: Id of the session (``ses_`` + 24 hex digits), "" for none.
        also: Further visible partitions: rows that an agent, common by now, learned while it was private.
        inside: Ids of attached files, whose quarantined rows are visible.
        teams: Teams of the key whose shared memories are read in addition; nothing is stored in them.
    """

    tenant: str
    user: str
    agent: str = ""
    session: str = ""
    inside: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    teams: tuple[Team, ...] = ()

    def sees(self, agent: str) -> bool:
        """Return whether rows of partition ``agent`` may be shown in this scope."""
        return any(sees(one, agent, self.session, *self.inside) for one in (self.agent, *self.also))

    def owns(self, agent: str) -> bool:
        """Return whether rows of partition ``agent`` may be read and changed by their ids."""
        return any(owns(one, agent) for one in (self.agent, *self.also))

    def at(self, agent: str) -> Scope:
        """Return this scope within the project of partition ``agent``, for work on a row of it."""
        return replace(self, agent=inside(self.agent, agent), also=tuple(inside(one, agent) for one in self.also))

    @property
    def partitions(self) -> tuple[str, ...]:
        """Partitions whose rows may be shown here, except for rows in quarantine with the session."""
        return tuple(sorted({name for one in (self.agent, *self.also) for name in visible(one)}))

    @property
    def asker(self) -> str:
        """Id of the requesting agent, private or common; "" for none."""
        return next((agent for one in (self.agent, *self.also) if (agent := parts(one)[0])), "")

    @property
    def project(self) -> str:
        """Id of the project, "" for none."""
        return parts(self.agent)[1]


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits of a key; None means no limit."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrent_streams: int | None = None
    body_bytes: int | None = None

    @property
    def is_limited(self) -> bool:
        """Return whether any limit but the size of a body is set."""
        rates = (self.requests_per_minute, self.tokens_per_minute, self.concurrent_streams)
        return any(limit is not None for limit in rates)

    def over(self, default: Allowance) -> Allowance:
        """Return this allowance; None takes the default's limit, and 0 means no limit."""

        def chosen(own: int | None, other: int | None) -> int | None:
            return (other if own is None else own) or None

        return Allowance(
            chosen(self.requests_per_minute, default.requests_per_minute),
            chosen(self.tokens_per_minute, default.tokens_per_minute),
            chosen(self.concurrent_streams, default.concurrent_streams),
            chosen(self.body_bytes, default.body_bytes),
        )


UNSAID = Allowance()
