"""Scope of a request, and the limits of a key."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proxy.types.partition import inside, owns, parts, sees, visible


@dataclass(frozen=True, slots=True)
class Team:
    """Users of one tenant who read what any of them shares.

    Args:
        id: 32 hex digits, a keyed hash of tenant and name.
        name: As the operator wrote it when making the key.
    """

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Owner and partition of memory; each part is a keyed hash or a generated id, safe in file names and filters.

    Args:
        tenant: 32 hex digits, a keyed hash of the client's key or of our key's binding.
        user: 32 hex digits, a keyed hash of tenant and user id; alone it names the owner of all tables.
        agent: Partition of the user's memory (see ``partition``): 32 hex digits for an agent or app of the user, and
            for a project; "" for the user at large.
        session: Our id of the conversation (``ses_`` + 24 hex digits), "" where none is meant.
        also: Partitions that are seen besides: what an agent that is common by now learned while it was private.
        inside: Ids of attached files, in which what is in quarantine with them is seen.
        teams: Teams of the key whose shared memories are read besides; nothing is stored in them.
    """

    tenant: str
    user: str
    agent: str = ""
    session: str = ""
    inside: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    teams: tuple[Team, ...] = ()

    def sees(self, agent: str) -> bool:
        """Whether a row of this partition may be shown here: one's own, or the user's common ones."""
        return any(sees(one, agent, self.session, *self.inside) for one in (self.agent, *self.also))

    def owns(self, agent: str) -> bool:
        """Whether a row of this partition may be read and changed by its id."""
        return any(owns(one, agent) for one in (self.agent, *self.also))

    def at(self, agent: str) -> Scope:
        """Return this scope inside of the project of a row of this partition, for work on that row."""
        return replace(self, agent=inside(self.agent, agent), also=tuple(inside(one, agent) for one in self.also))

    @property
    def partitions(self) -> tuple[str, ...]:
        """Partitions whose rows may be shown here, those aside that are in quarantine with the conversation."""
        return tuple(sorted({name for one in (self.agent, *self.also) for name in visible(one)}))

    @property
    def asker(self) -> str:
        """Id of the agent that asks, whether it keeps to itself or is common; "" for none."""
        return next((agent for one in (self.agent, *self.also) if (agent := parts(one)[0])), "")

    @property
    def project(self) -> str:
        """Id of the project, "" for none."""
        return parts(self.agent)[1]


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits of a key; None: no limit."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrent_streams: int | None = None
    body_bytes: int | None = None

    @property
    def is_limited(self) -> bool:
        """Whether anything but the size of a body is limited."""
        rates = (self.requests_per_minute, self.tokens_per_minute, self.concurrent_streams)
        return any(limit is not None for limit in rates)

    def over(self, default: Allowance) -> Allowance:
        """Return this allowance, with the default where it says nothing and no limit where it says 0."""

        def chosen(own: int | None, other: int | None) -> int | None:
            return (other if own is None else own) or None

        return Allowance(
            chosen(self.requests_per_minute, default.requests_per_minute),
            chosen(self.tokens_per_minute, default.tokens_per_minute),
            chosen(self.concurrent_streams, default.concurrent_streams),
            chosen(self.body_bytes, default.body_bytes),
        )


UNSAID = Allowance()
