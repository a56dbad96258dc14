"""Answers to ``/memory …`` typed into a chat, by the same functions as ``/v1/memories``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from proxy.api.forgetting import ForgetBody, UndoBody, forget, undo
from proxy.api.memory_lists import list_memories
from proxy.errors import ProxyError
from proxy.memory.plan.changes import FORGOTTEN, hides_of, is_ending
from proxy.pipeline.commands import Command
from proxy.pipeline.exchange import Exchange
from proxy.services import Services
from proxy.types import Memory, Scope
from proxy.upstream.base import UpstreamResponse
from proxy.upstream.own_reply import own_reply

MAX_COMMAND = 2000  # characters
MAX_SHOWN = 30  # memories in a list
MAX_EXPORTED = 1000
MAX_EXPORT = 60_000  # characters
HELP = """`/memory` lists what I remember of you.
`/memory forget WORDS` forgets what holds these words, at once; `/memory undo` takes the last one back.
`/memory off` and `/memory on` switch memory off and on in this conversation.
`/memory export` writes everything down here."""


async def answer_command(exchange: Exchange, services: Services, command: Command) -> UpstreamResponse:
    """Execute a command, and return the reply in the dialect of the request."""
    scope = exchange.required_scope
    try:
        text = await _text(exchange, services, scope, command)
    except ProxyError as error:
        text = f"That did not work: {error}"
    body = exchange.request.body if exchange.request else {}
    return own_reply(exchange.path, body, text, int(services.clock.now().timestamp()))


async def _text(exchange: Exchange, services: Services, scope: Scope, command: Command) -> str:
    word, rest = command.word, command.rest
    if (length := len(word) + len(rest)) > MAX_COMMAND:
        return f"A command has at most {MAX_COMMAND} characters, and this one has {length}. Say it in fewer words."
    if word in ("", "list", "show") and not rest:
        return await _list(services, scope)
    if word == "forget":
        return await _forget(services, scope, rest)
    if word == "undo":
        return await _undo(services, scope, rest)
    if word in ("off", "on") and not rest:
        return await _switch(exchange, services, scope, is_off=word == "off")
    if word == "export" and not rest:
        return await _export(services, scope)
    return HELP if word == "help" else f"There is no such command.\n\n{HELP}"


async def _list(services: Services, scope: Scope) -> str:
    found = await _memories(services, scope)
    if not found:
        return f"I remember nothing of you yet.\n\n{HELP}"
    more = len(found) - MAX_SHOWN
    rest = f"\n… and {more} more; `/memory export` writes down all of them." if more > 0 else ""
    return f"What I remember of you ({len(found)}):\n{_lines(found[:MAX_SHOWN])}{rest}\n\n{HELP}"


async def _forget(services: Services, scope: Scope, text: str) -> str:
    if not text:
        return "Say what to forget: `/memory forget WORDS`. `/memory` lists what I remember."
    done = await forget(scope, services, ForgetBody(text=text))
    pending = done["pending_turns"]
    later = f"\n\nMessages not learned yet: {pending}. Say it again once they are." if pending else ""
    if done["batch"] is None:
        return f"Nothing that I keep holds the words {text!r}. `/memory` lists what I remember.{later}"
    ending = await services.store.memory(scope, done["batch"])
    sentences = len(hides_of(ending)) if ending is not None else 0
    gone = [*done["closed"], *done["review"]]
    told = f"Forgotten:\n{_lines(gone)}" if gone else "Forgotten."
    hidden = f"\nSentences of earlier messages that are not shown any more: {sentences}." if sentences else ""
    return f"{told}{hidden}\n\n`/memory undo` takes it back.{later}"


async def _undo(services: Services, scope: Scope, batch: str) -> str:
    if not batch:
        rows = [row for row in await services.store.memories(scope) if scope.sees(row.agent)]
        last = max(filter(_is_request, rows), key=lambda row: (row.created_at, row.id), default=None)
        if last is None:
            return "There is nothing to take back."
        batch = last.id
    done = await undo(scope, services, UndoBody(batch=batch[:100]))
    restored = done["restored"]
    return f"Taken back. I remember again:\n{_lines(restored)}" if restored else "Taken back."


async def _switch(exchange: Exchange, services: Services, scope: Scope, *, is_off: bool) -> str:
    request = exchange.request
    is_chained = request is not None and (request.is_kept or exchange.continues)
    if not scope.session and is_chained:
        return (
            "This conversation has no name by which I could know it again. Send its id as `X-Memory-Session`, or "
            "`X-Memory-Mode: off` with each request."
        )
    if scope.session:
        await services.silenced.switch(scope, is_off=is_off, now=services.clock.now())
    if is_off:
        return (
            "Memory is off in this conversation: nothing is recalled, and nothing is learned from what is said from "
            "now on. `/memory on` switches it on again."
        )
    return "Memory is on in this conversation. What was said while it was off is not learned."


async def _export(services: Services, scope: Scope) -> str:
    lines: list[str] = []
    room = MAX_EXPORT
    found = await _memories(services, scope)
    for memory in found:
        kept = {name: memory[name] for name in ("id", "kind", "text", "valid_from", "created_at")}
        line = json.dumps(kept, ensure_ascii=False).replace("```", "`\u200b``")
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    fence = "```jsonl\n" + "".join(f"{line}\n" for line in lines) + "```"
    return (
        f"{len(lines)} of {len(found)} memories:\n{fence}\n\nEverything, with conversations and files, is at "
        "`GET /v1/export`, or `throughline export FILE`."
    )


async def _memories(services: Services, scope: Scope) -> Sequence[dict[str, Any]]:
    found = await list_memories(scope, services, limit=MAX_EXPORTED)
    return [memory for memory in found["data"] if memory["kind"] != "summary"]


def _lines(memories: Sequence[dict[str, Any]]) -> str:
    return "\n".join(f"- {' '.join(memory['text'].split())} ({memory['valid_from'][:10]})" for memory in memories)


def _is_request(row: Memory) -> bool:
    """Return whether a row records a request to forget that is in force."""
    return is_ending(row) and bool(row.metadata.get(FORGOTTEN)) and row.status in ("closed", "review")
