"""Replies made by Throughline itself, in each wire format, whole or as a stream."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import orjson

from proxy.upstream.base import UpstreamResponse, WholeResponse
from proxy.upstream.demo import EVENTS, JSON, ChatReply, EventResponse
from proxy.upstream.messages import PATH as MESSAGES
from proxy.upstream.messages_reply import MessageWriter, message_of
from proxy.upstream.responses_shape import DemoReply

RESPONSE_ID = "resp_memory_"  # prefix of the ids of such replies in the Responses format
_HEX = 24


def own_reply(path: str, body: Mapping[str, Any], text: str, created: int) -> UpstreamResponse:
    """Return a reply with the given text.

    Args:
        path: Path of the request, below ``/v1``.
        body: Parsed body of the request.
        text: Text of the reply.
        created: Seconds since the epoch.
    """
    model, streams = str(body.get("model") or ""), bool(body.get("stream"))
    if path == "/responses":
        said = DemoReply(response_id(body), created, model, text, body, 0)
        return EventResponse(said.events(), EVENTS) if streams else WholeResponse(200, JSON, said.whole())
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    reply = ChatReply(f"chatcmpl-memory-{secrets.token_hex(12)}", created, text, usage, model, None)
    if path == MESSAGES:
        if not streams:
            return WholeResponse(200, JSON, orjson.dumps(message_of(reply.completion(), thinks=False)))
        writer = MessageWriter(thinks=False)
        events = [event for chunk in reply.events(include_usage=True) if (event := writer.feed(chunk))]
        return EventResponse([*events, writer.close()], EVENTS)
    if not streams:
        return WholeResponse(200, JSON, orjson.dumps(reply.completion()))
    options = body.get("stream_options")
    counts = isinstance(options, dict) and bool(options.get("include_usage"))
    return EventResponse(reply.events(include_usage=counts), EVENTS)


def response_id(body: Mapping[str, Any]) -> str:
    """Return an id for a reply; it contains the id of the previous reply, from which the provider continues."""
    before = body.get("previous_response_id")
    return f"{RESPONSE_ID}{secrets.token_hex(_HEX // 2)}{before if isinstance(before, str) else ''}"


def before(reply_id: str) -> str:
    """Return the id of the provider's reply before an own reply, "" if there is none; any other id unchanged."""
    return reply_id[len(RESPONSE_ID) + _HEX :] if reply_id.startswith(RESPONSE_ID) else reply_id
