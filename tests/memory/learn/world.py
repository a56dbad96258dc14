"""One user's memory in process, without a server or an index: takes turns, returns memories and quotable text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from proxy.memory.learn.learn import learn, read
from proxy.memory.learn.past import Past, Row
from proxy.memory.plan.changes import Change, is_ending, undo_changes
from proxy.memory.visibility.visibility import Withheld
from proxy.types import Memory, Said, Scope, Turn

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)


class World:
    """All stored rows and memories of one user."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}
        self.rows: list[Row] = []
        self.turns = 0

    def say(self, text: str, *, reply: str = "OK.", session: str = "", live: bool = True, seq: int = 0) -> list[Change]:
        """Play one turn, a day after the last one; without ``session`` each turn opens a new conversation."""
        self.turns += 1
        number, at = self.turns, START + self.turns * DAY
        scope = Scope("0" * 32, "1" * 32, session=session or f"s{number}")
        said = Said(f"m{number}", "user", text, live, seq)
        turn = Turn(f"t{number}", scope, (said,), reply, "complete", "m", at, f"r{number}", seq + 1)
        own = [
            Row(said.id, text, "user", at, scope.session, seq, turn.id, live),
            Row(turn.reply_id, reply, "assistant", at, scope.session, seq + 1, turn.id),
        ]
        changes = self.learn(turn, own)
        self.rows += own
        return changes

    def learn(self, turn: Turn, own: Sequence[Row]) -> list[Change]:
        """Learn from a turn and apply its changes."""
        changes = learn(turn, read(turn), Past(list(self.memories.values()), list(self.rows), own), turn.at)
        self.take(changes)
        return changes

    def take(self, changes: Sequence[Change]) -> None:
        """Apply changes."""
        self.memories |= {change.memory.id: change.memory for change in changes}

    def undo(self, batch: str) -> None:
        """Undo a batch."""
        self.take(undo_changes(batch, list(self.memories.values()), START + 365 * DAY))

    @property
    def active(self) -> list[str]:
        """Texts of active memories, in the order in which they were stated."""
        rows = [row for row in self.memories.values() if row.status == "active" and not is_ending(row)]
        return [row.text for row in sorted(rows, key=lambda row: (row.valid_from, row.start))]

    @property
    def endings(self) -> list[Memory]:
        """Records of closed memories."""
        return [row for row in self.memories.values() if is_ending(row)]

    @property
    def quotable(self) -> list[str]:
        """Quotable text of each turn and reply, in order."""
        withheld = Withheld.of(self.memories.values())
        return [shown for row in self.rows if (shown := withheld.visible(row.id, row.text)) is not None]

    def copy(self) -> World:
        """Return an independent copy."""
        other = World()
        other.memories, other.rows, other.turns = dict(self.memories), list(self.rows), self.turns
        return other


def told(*messages: str, session: str = "") -> World:
    """Return the memory of a user who sent these messages; without ``session`` each opens a new conversation."""
    world = World()
    for at, message in enumerate(messages):
        world.say(message, session=session, seq=2 * at)
    return world
