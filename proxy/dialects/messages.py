"""Anthropic's Messages: parse a copy of the request, splice into the original."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from proxy.dialects import splice
from proxy.dialects.attachments import MESSAGES
from proxy.dialects.base import ChatRequest, Message, Part
from proxy.dialects.binding import signed
from proxy.dialects.body import Contents, Insertion, leave_out, model_of, parse, replace_model, string
from proxy.dialects.messages_reply import accumulator
from proxy.dialects.messages_tool import MESSAGES_TOOL
from proxy.dialects.reply import parsed as parsed_copy
from proxy.dialects.splice import Edit, Span
from proxy.dialects.sse import EndWatch, terminal
from proxy.errors import ProxyError

__all__ = [
    "accumulator",
    "condense",
    "end_watch",
    "error_body",
    "insert",
    "read",
    "replace_model",
    "tool",
    "wire",
]

_STOP = terminal(
    rb'event: ?message_stop|data: ?\{[ \t]*"type"[ \t]*:[ \t]*"message_stop"[^\r\n]*', b"message_stop", 256
)
_ERROR_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
# Agents add notes beside the user's text, each as a marked block, and change them from request to request.
_NOTE_OPENS, _NOTE_CLOSES = "<system-reminder>", "</system-reminder>"
_MARK = "cache_control"
# Anthropic's coding agent sends ``user_id`` in this form up to 2.1.77, and as JSON since then.
_IN_ONE = re.compile(
    r"user_(?P<device>[0-9a-f]{64})_account_(?P<account>[0-9a-f-]*)_session_(?P<session>[0-9a-f-]{36})"
)
_MAX_USER_ID = 2048  # characters

wire = MESSAGES
tool = MESSAGES_TOOL


def read(body: bytes) -> ChatRequest:
    """Return a body as a ``ChatRequest``; the system prompt is not a message and is never changed.

    A user message with nothing but tool results has the role ``tool``, as it is a step of a tool loop.

    Raises:
        InvalidRequest: If it is not a JSON object.
        MissingModel: If it names no model; the upstream validates the messages.
    """
    parsed = parse(body)
    messages, metadata = parsed.get("messages"), parsed.get("metadata")
    names = _named(metadata) if isinstance(metadata, dict) else {}
    return ChatRequest(
        model=model_of(parsed),
        stream=parsed.get("stream") is True,
        messages=tuple(_message(i, one) for i, one in enumerate(messages)) if isinstance(messages, list) else (),
        body={**parsed, "metadata": names} if names else parsed,
        binds=True,
    )


def _named(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata with a ``user_id`` that is stable across conversations.

    A conversation's id inside the ``user_id`` becomes ``conversation_id``, unless there is one; the rest, the id of an
    account or a device, also becomes ``device_user``.
    """
    user_id = string(metadata.get("user_id"))
    found = _IN_ONE.fullmatch(user_id)
    if found is not None:
        return _apart(metadata, found["account"] or found["device"], found["session"])
    if user_id.startswith("{") and len(user_id) <= _MAX_USER_ID:
        given = parsed_copy(user_id.encode("utf-8", "replace"))
        if isinstance(given, dict):
            user = string(given.get("account_uuid")) or string(given.get("device_id"))
            if user and string(given.get("session_id")):
                return _apart(metadata, user, string(given["session_id"]))
    return dict(metadata)


def _apart(metadata: Mapping[str, Any], user: str, session: str) -> dict[str, Any]:
    return {"conversation_id": session, **metadata, "user_id": user, "device_user": user}


def insert(body: bytes, insertions: Sequence[Insertion]) -> bytes:
    """Return the body with each text appended to its message's content; every other byte is unchanged.

    A string grows before its closing quote. A list gets a text block after the last block, so that content covered by a
    ``cache_control`` mark is unchanged and tool results stay first. Clients send a message as a list of one block while
    it is the last, and as a string later: an insertion keeps the form in which it was first made. If any of the
    messages is missing or empty, nothing is inserted, and the result is ``body`` itself.
    """
    texts: dict[int, str] = {}
    apart: dict[int, bool | None] = {}
    for insertion in insertions:
        texts[insertion.message_index] = texts.get(insertion.message_index, "") + insertion.text
        apart.setdefault(insertion.message_index, insertion.apart)
    if not any(texts.values()):
        return body
    try:
        text = body.decode()
        contents = Contents(texts)
        contents.find(text)
        edits = [
            edit
            for index, added in texts.items()
            if added
            for edit in _growth(text, contents.found[index], added, apart=apart[index])
        ]
    except (ValueError, LookupError, RecursionError):
        return body
    return splice.apply(body, text, edits)


def condense(body: bytes, drop: Collection[int], host: int, text: str) -> bytes:
    """Return the body without messages ``drop``, a text prepended to ``host``; every other byte is unchanged."""
    return leave_out(body, drop, host, text, key="messages", kind="text")


def end_watch() -> EndWatch:
    """Return a fresh detector of ``message_stop``."""
    return EndWatch(_STOP)


def error_body(error: ProxyError, request_id: str = "") -> bytes:
    """Return a ProxyError in Anthropic's shape."""
    kind = _ERROR_TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    shaped: dict[str, Any] = {"type": "error", "error": {"type": kind, "message": str(error)}}
    return orjson.dumps({**shaped, "request_id": request_id} if request_id else shaped)


def _message(index: int, raw: object) -> Message:
    if not isinstance(raw, dict):
        return Message(index, "")
    content = raw.get("content")
    parts = _parts(content)
    results = [part for part in parts if part.kind == "tool_result"]
    is_step = bool(results) and not any(part.text.strip() for part in parts)
    role = string(raw.get("role"))
    signatures = signed(raw)
    return Message(
        index=index,
        role="tool" if role == "user" and is_step else role,
        parts=parts,
        tool_calls=tuple(part.data for part in parts if part.kind == "tool_use"),
        tool_call_id=string(results[0].data.get("tool_use_id")) if results else "",
        is_insertable=isinstance(content, str | list) and bool(content) and not is_step,
        signature=signatures[-1] if signatures else "",
        is_list=isinstance(content, list),
    )


def _parts(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return () if _is_note(content) else (Part("text", content),)
    if not isinstance(content, list):
        return ()
    parts = (_part(one) for one in content)
    return tuple(part for part in parts if not _is_note(part.text))


def _part(raw: object) -> Part:
    if not isinstance(raw, dict):
        return Part("")
    kind, text = string(raw.get("type")), string(raw.get("text"))
    return Part("text", text, raw) if kind == "text" else Part(kind, "", _unmarked(raw))


def _is_note(text: str) -> bool:
    stripped = text.strip()
    return stripped.startswith(_NOTE_OPENS) and stripped.endswith(_NOTE_CLOSES)


def _unmarked(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block without its cache marks, which clients move with every request."""
    block = {key: value for key, value in raw.items() if key != _MARK}
    inner = block.get("content")
    if isinstance(inner, list):
        block["content"] = [
            {key: value for key, value in one.items() if key != _MARK} if isinstance(one, dict) else one
            for one in inner
        ]
    return block


def _growth(text: str, content: Span | None, added: str, *, apart: bool | None) -> list[Edit]:
    """Return the edits that append a text to a content; an empty one stays empty: the provider is to refuse it."""
    if content is None or text[content.start] not in '"[':
        raise ValueError("no content that can grow")
    at = content.end - 1
    if not text[content.start + 1 : at].strip(" \t\n\r"):
        raise ValueError("an empty content")
    block = f'{{"type":"text","text":{splice.quoted(added)}}}'
    if text[content.start] == '"':
        if apart:
            opening = Edit(content.start, content.start, '[{"type":"text","text":')
            return [opening, Edit(content.end, content.end, f"}},{block}]")]
        return [Edit(at, at, splice.quoted(added)[1:-1])]
    alone = _only_text(text, content) if apart is False else None
    if alone is not None:
        return [Edit(alone.end - 1, alone.end - 1, splice.quoted(added)[1:-1])]
    return [Edit(at, at, f",{block}")]


def _only_text(text: str, content: Span) -> Span | None:
    """Return the span of the text of a list's only block; None if it has several blocks, or the block no text."""
    found: list[Span | None] = []

    def on_block(_: int, at: int) -> int | None:
        found.append(None)
        if text[at] != "{":
            return None

        def on_member(key: str, start: int) -> int:
            end = splice.value_end(text, start)
            if key == "text" and text[start] == '"':
                found[-1] = Span(start, end)
            return end

        return splice.walk_object(text, at, on_member)

    splice.walk_array(text, content.start, on_block)
    return found[0] if len(found) == 1 else None
