"""ChatGPT's export: ``conversations.json``, each conversation a tree of messages with one visible path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proxy.memory.lifecycle.transfer.entries import Conversation, Remark, moment_of

_SPOKEN = frozenset({"text", "multimodal_text"})


def is_one(value: Any) -> bool:
    """Return whether a value is a conversation of such an export."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def entries(value: Any) -> Iterator[Conversation]:
    """Yield the conversation of a value."""
    if not is_one(value):
        return
    remarks = [remark for node in _path(value) if (remark := _remark(node)) is not None]
    id_ = str(value.get("conversation_id") or value.get("id") or value.get("create_time") or "")
    if remarks and id_:
        yield Conversation(id_, str(value.get("title") or ""), tuple(remarks))


def _path(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the nodes from the root to the current node; if none is set, to the newest."""
    nodes: Mapping[str, Any] = {key: node for key, node in value["mapping"].items() if isinstance(node, dict)}
    at = str(value.get("current_node") or "")
    if at not in nodes:
        leaves = [key for key, node in nodes.items() if not node.get("children")]
        at = max(leaves, key=lambda key: _time(_message(nodes[key])) or 0.0, default="")
    found: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while at in nodes and at not in seen:
        seen.add(at)
        found.append(nodes[at])
        at = str(nodes[at].get("parent") or "")
    return found[::-1]


def _remark(node: Mapping[str, Any]) -> Remark | None:
    message = _message(node)
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, dict) else None
    if role not in ("user", "assistant") or not isinstance(content, dict) or _is_hidden(message):
        return None
    if content.get("content_type") not in _SPOKEN or message.get("recipient", "all") != "all":
        return None
    parts = content.get("parts")
    text = "\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""
    if not text.strip():
        return None
    return Remark("user" if role == "user" else "assistant", text, moment_of(_time(message)))


def _is_hidden(message: Mapping[str, Any]) -> bool:
    metadata = message.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("is_visually_hidden_from_conversation"))


def _message(node: Mapping[str, Any]) -> Mapping[str, Any]:
    message = node.get("message")
    return message if isinstance(message, dict) else {}


def _time(message: Mapping[str, Any]) -> float | None:
    seconds = message.get("create_time")
    return float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None
