"""Checks of an agent's conversations; each returns a remark, or raises with what it found."""

from __future__ import annotations

from typing import Any

import orjson

from tests.clients.agents.catalog import Agent
from tests.clients.agents.provider import ASK, BOTH, FACT, GO_ON, KNOWN, TELL, UNKNOWN, WORD, blocks
from tests.clients.agents.stage import Conversation, is_errand


def told(told: Conversation) -> str:
    assert told.code == 0, f"exit {told.code}: {told.output[-800:]}"
    assert any(FACT in seen.body.decode() for seen in told.arrived), "what was told did not arrive"
    assert WORD in told.output, f"the reply was not shown: {told.output[-800:]}"
    return ""


def read(told: Conversation) -> str:
    arrived = [seen for seen in told.arrived if f"{WORD}" in seen.body.decode()]
    assert arrived, "what the tool read did not arrive"
    return ""


def remembered(asked: Conversation) -> str:
    assert asked.code == 0, f"exit {asked.code}: {asked.output[-800:]}"
    shown = [block for seen in asked.arrived for block in blocks(seen.body)]
    assert any(FACT.rstrip(".") in block for block in shown), f"no block of memory holds it: {shown}"
    assert KNOWN in asked.output, f"the reply was not shown: {asked.output[-800:]}"
    return ""


def unknown(asked: Conversation) -> str:
    """Requests of one account get no memory of another account."""
    shown = [block for seen in asked.arrived for block in blocks(seen.body)]
    assert not shown, f"memory of another account: {shown}"
    assert UNKNOWN in asked.output, f"the reply was not shown: {asked.output[-800:]}"
    return ""


def own_words(known: list[str], kept: list[str]) -> str:
    """Memories, and turns stored for quoting, are only the user's words, without their wrappers."""
    strangers = {text.rstrip(".") for text in known} - {FACT.rstrip(".")} | set(kept) - {TELL, ASK, BOTH, GO_ON}
    assert not strangers, f"these are not the user's: {strangers}"
    assert TELL in kept, f"what was told is not among the turns kept: {kept}"
    return ""


def went_on(asked: Conversation, went_on: Conversation) -> str:
    """Memory's block is still in a turn, byte for byte, if the agent resends this turn unchanged."""
    assert went_on.code == 0, f"exit {went_on.code}: {went_on.output[-800:]}"
    first = {block for seen in asked.arrived for block in blocks(seen.body)}
    later = {block for seen in went_on.arrived for block in blocks(seen.body)}
    assert first, "nothing was put in at first"
    assert KNOWN in went_on.output, f"the reply was not shown: {went_on.output[-800:]}"
    if first <= later:
        return ""
    assert not _resends(asked, went_on), f"not put back: {first}, but {later}"
    return "it changes its turns"


def _resends(asked: Conversation, went_on: Conversation) -> bool:
    """Return whether an agent resends the user's first turn unchanged."""
    first, later = ([orjson.dumps(_uncached(turn)) for turn in _turns(one)] for one in (asked, went_on))
    return all(turn in later for turn in first)


def _turns(conversation: Conversation) -> list[Any]:
    body = orjson.loads(next(one.body for one in conversation.posted if not is_errand(one)))
    given = body.get("messages") or body.get("input")
    return [turn for turn in given if turn.get("role") == "user"]


def _uncached(value: Any) -> Any:
    """Return a JSON value without cache marks, which move with each turn."""
    if isinstance(value, list):
        return [_uncached(one) for one in value]
    if isinstance(value, dict):
        return {name: _uncached(one) for name, one in value.items() if name != "cache_control"}
    return value


def compacted(compacted: Conversation) -> str:
    assert compacted.code == 0, f"exit {compacted.code}: {compacted.output[-800:]}"
    errands = [one for one in compacted.posted if is_errand(one)]
    assert errands, f"no request of {len(compacted.posted)} was an errand"
    return ""


def drawn(drawn: Conversation) -> str:
    """On a terminal an agent also requests a title of the conversation, or suggestions for the next prompt."""
    assert drawn.code == 0, f"not on the terminal in time: {drawn.output[-800:]}"
    return ""


def errands(conversations: list[Conversation], agent: Agent) -> str:
    """An agent's own requests have no tools; they are forwarded unchanged, and no turn is classified as one."""
    count = 0
    for conversation in conversations:
        arrived = [seen.body for seen in conversation.arrived]
        for one in conversation.posted:
            is_turn = (
                "tools" in orjson.loads(one.body)
                if agent.has_tools
                else any(text in one.body.decode() for text in (TELL, ASK, GO_ON))
            )
            assert is_turn or is_errand(one), f"taken for a turn: {one.body[:600]!r}"
            if is_errand(one):
                count += 1
                assert one.body in arrived, f"changed on its way: {one.body[:600]!r}"
    return str(count)


def no_refusal(conversations: list[Conversation]) -> str:
    seen = [
        f"{one.request.method} {one.request.target} {one.status}" for each in conversations for one in each.exchanges
    ]
    upgrades = [line for line in seen if line.endswith(" 426")]
    refused = [line for line in seen if int(line.rpartition(" ")[2]) >= 400 and line not in upgrades]
    assert not refused, ", ".join(refused)
    return "426 once" if len(upgrades) == 1 else f"426 {len(upgrades)} times" if upgrades else ""
