"""Stable part of a conversation's requests, which keeps it on one deployment."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import takewhile

from proxy.access.auth import session_name
from proxy.dialects.base import ChatRequest, Message
from proxy.upstream.affinity import Conversation


def conversation_of(request: ChatRequest, headers: Mapping[str, str]) -> Conversation:
    """Return by what a conversation is known again: the client's name for it, else the messages that it begins with.

    A ``prompt_cache_key`` alone names no conversation: a whole application may send one and the same.
    """
    name = session_name(headers, request.body) or request.conversation
    if name and name != request.prompt_cache_key:
        return Conversation(_digest(name), is_named=True)
    begin = list(takewhile(lambda message: message.role != "assistant", request.messages))
    users = [at for at, message in enumerate(begin) if message.role == "user"]
    opening = begin[: users[0] + 1] if users else begin
    rest = request.messages[len(begin) :]
    return Conversation(_digest(*map(_said, opening)), _digest(_said(rest[0])) if rest else "")


def opening_of(body: bytes) -> Conversation:
    """Return the conversation of a request that has none: equal requests are spread, too."""
    return Conversation(hashlib.blake2b(body, digest_size=16).hexdigest())


def _said(message: Message) -> str:
    calls = [str(call.get("id")) for call in message.tool_calls]
    return "\0".join((message.role, message.text, *calls))


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\1".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
