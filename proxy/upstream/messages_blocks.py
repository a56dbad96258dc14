"""From Anthropic's content blocks to the parts of a chat message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.errors import InvalidRequest

Block = Mapping[str, Any]
Parts = list[dict[str, Any]]

# What other models neither need nor understand: an earlier reply's own tools, and thoughts.
_PASSED_OVER = frozenset({"thinking", "redacted_thinking", "server_tool_use", "compaction", "fallback"})


def parts_of(blocks: Sequence[Block], *, keeps_marks: bool = False) -> Parts:
    """Return what a user says as parts of a chat message.

    Args:
        blocks: Without results of tools.
        keeps_marks: ``cache_control`` goes along.

    Raises:
        InvalidRequest: If a block's content is not in the request, or of a kind that no chat message has.
    """
    made: Parts = []
    for block in blocks:
        found = _parts(block)
        if found and keeps_marks and "cache_control" in block:
            found[-1]["cache_control"] = block["cache_control"]
        made += found
    return made


def results_of(blocks: Sequence[Block]) -> tuple[Parts, Parts]:
    """Return the results of tools as messages, and the images in them, which such messages cannot hold, as parts."""
    messages, images = [], []
    for block in blocks:
        content, name = block.get("content"), block.get("tool_use_id")
        inner = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        parts = parts_of([one for one in inner if isinstance(one, Mapping)])
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        if block.get("is_error") is True:
            text = f"Error: {text}"
        others = [part for part in parts if part["type"] != "text"]
        if others:
            images += [{"type": "text", "text": f"What the tool call {name} returned:"}, *others]
        messages.append({"role": "tool", "tool_call_id": name, "content": text})
    return messages, images


def as_text(blocks: Sequence[Block]) -> str:
    """Return what blocks of text say."""
    return "\n\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")


def _parts(block: Block) -> Parts:
    kind = str(block.get("type"))
    if kind == "text":
        return [{"type": "text", "text": str(block.get("text") or "")}]
    if kind == "image":
        return [_image(_source(block))]
    if kind == "document":
        return _document(block, _source(block))
    if kind == "search_result":
        return [{"type": "text", "text": _titled(block, _inner_text(block))}]
    if kind in _PASSED_OVER or kind.endswith("_tool_result"):
        return []
    raise InvalidRequest(f"messages: a block of the type {kind!r} cannot be carried to this model's provider.")


def _image(source: Block) -> dict[str, Any]:
    if source.get("type") == "base64":
        url = f"data:{source.get('media_type')};base64,{source.get('data')}"
    elif source.get("type") == "url":
        url = str(source.get("url"))
    else:
        raise InvalidRequest("messages: an image kept by Anthropic cannot be carried to this model's provider.")
    return {"type": "image_url", "image_url": {"url": url}}


def _document(block: Block, source: Block) -> Parts:
    kind = source.get("type")
    if kind == "text":
        return [{"type": "text", "text": _titled(block, str(source.get("data", "")))}]
    if kind == "content":
        content = source.get("content")
        if isinstance(content, str):
            return [{"type": "text", "text": _titled(block, content)}]
        inner = parts_of([one for one in content if isinstance(one, Mapping)]) if isinstance(content, list) else []
        return [{"type": "text", "text": _titled(block, "")}, *inner] if block.get("title") else inner
    if kind == "base64":
        data = f"data:{source.get('media_type')};base64,{source.get('data')}"
        return [{"type": "file", "file": {"filename": str(block.get("title") or "document.pdf"), "file_data": data}}]
    raise InvalidRequest("messages: a document that is not in the request cannot be carried to this model's provider.")


def _source(block: Block) -> Block:
    source = block.get("source")
    return source if isinstance(source, Mapping) else {}


def _inner_text(block: Block) -> str:
    content = block.get("content")
    blocks = [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
    return as_text(blocks)


def _titled(block: Block, text: str) -> str:
    lines = [str(block[key]) for key in ("title", "source", "context") if isinstance(block.get(key), str)]
    return "\n".join([*lines, text]).strip()
