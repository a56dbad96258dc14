"""Claude's export: ``conversations.json``, each conversation a list of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proxy.memory.lifecycle.transfer.entries import Conversation, Remark, moment_of


def is_one(value: Any) -> bool:
    """Return whether a value is a conversation of such an export."""
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def entries(value: Any) -> Iterator[Conversation]:
    """Yield the conversation of a value."""
    if not is_one(value):
        return
    remarks = [
        remark
        for message in value["chat_messages"]
        if isinstance(message, dict) and (remark := _remark(message)) is not None
    ]
    if remarks and value.get("uuid"):
        yield Conversation(str(value["uuid"]), str(value.get("name") or ""), tuple(remarks))


def _remark(message: Mapping[str, Any]) -> Remark | None:
    sender = message.get("sender")
    if sender not in ("human", "assistant"):
        return None
    text = _text(message)
    listed = message.get("attachments")
    files = tuple(
        (str(one.get("file_name") or "attachment"), str(one["extracted_content"]))
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and one.get("extracted_content")
    )
    if not text.strip() and not files:
        return None
    return Remark("user" if sender == "human" else "assistant", text, moment_of(message.get("created_at")), files)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = [
        str(part["text"])
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
    ]
    return "\n".join(parts) or str(message.get("text") or "")
