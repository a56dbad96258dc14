"""Translate an Anthropic Messages request to a chat completion, for providers without Messages.

Content that the model needs but cannot receive is refused; hints that do not change the question are left out. The
whole list is in ``deploy/dialects.md``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.errors import InvalidRequest

_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_COPIED = ("temperature", "top_p", "stream")
_REASONS = re.compile(r"\A(?:.*/)?(?:o\d|gpt-(?:[5-9]|oss)|grok-[34])")
_EFFORT_NAMES = {"low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
_EFFORTS = ((4096, "high"), (2048, "medium"), (0, "low"))

_Block = Mapping[str, Any]
_Parts = list[dict[str, Any]]

# Blocks that other models neither need nor understand: an earlier reply's server tools, and thinking blocks.
_PASSED_OVER = frozenset({"thinking", "redacted_thinking", "server_tool_use", "compaction", "fallback"})


@dataclass(frozen=True, slots=True)
class Side:
    """Features that the translated provider accepts.

    Args:
        model: Model name to send.
        knows_claude: A Claude behind another provider, which supports cache marks and signed thinking blocks.
        top_k: Accepts ``top_k``.
        new_limit: Requires ``max_completion_tokens``.
        counts_streams: Accepts ``stream_options``.
        reasons: Accepts ``reasoning_effort``, or ignores unknown fields.
    """

    model: str
    knows_claude: bool = False
    top_k: bool = False
    new_limit: bool = False
    counts_streams: bool = True
    reasons: bool = False

    @property
    def thinks(self) -> bool:
        """Return whether the reasoning effort can be set."""
        return self.reasons or _REASONS.match(self.model) is not None


def completion_of(body: Mapping[str, Any], side: Side) -> dict[str, Any]:
    """Return the equivalent chat completion request.

    Raises:
        InvalidRequest: If a part of the request cannot be translated.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidRequest("messages: at least one message is required.", param="messages")
    if body.get("mcp_servers"):
        raise InvalidRequest(f"mcp_servers: only Anthropic runs them; {side.model!r} is another provider's.")
    made: dict[str, Any] = {"model": side.model, "messages": _messages(body.get("system"), messages, side)}
    made.update({key: body[key] for key in _COPIED if key in body})
    if isinstance(body.get("max_tokens"), int):
        made["max_completion_tokens" if side.new_limit else "max_tokens"] = body["max_tokens"]
    if body.get("stop_sequences"):
        made["stop"] = body["stop_sequences"]
    if side.top_k and "top_k" in body:
        made["top_k"] = body["top_k"]
    if body.get("stream") is True and side.counts_streams:
        made["stream_options"] = {"include_usage": True}
    return {**made, **_tools(body, side), **_format(body), **_thinking(body, side)}


def asks_to_think(body: Mapping[str, Any]) -> bool:
    """Return whether the client enabled thinking, in any of its forms."""
    thinking = body.get("thinking")
    return isinstance(thinking, Mapping) and thinking.get("type") not in (None, "disabled")


def _messages(system: object, messages: Sequence[object], side: Side) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    if system:
        made.append({"role": "system", "content": _system(system, side)})
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise InvalidRequest(f"messages.{number}: it must be an object.")
        role, content = message.get("role"), message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if not isinstance(content, str | list) or not all(isinstance(block, Mapping) for block in blocks):
            raise InvalidRequest(f"messages.{number}.content: it must be a string or a list of blocks.")
        if role == "assistant":
            made.append(_assistant(blocks, side))
        elif role == "system":
            made.append({"role": "system", "content": _as_text(blocks)})
        else:
            made += _user(blocks, side)
    return made


def _system(system: object, side: Side) -> Any:
    if not isinstance(system, list):
        return system
    blocks = [block for block in system if isinstance(block, Mapping)]
    if side.knows_claude:
        return _parts_of(blocks, keeps_marks=True)
    return "\n\n".join(str(block.get("text", "")) for block in blocks)


def _user(blocks: Sequence[Mapping[str, Any]], side: Side) -> list[dict[str, Any]]:
    """Return a user's message, preceded by the tool results as separate messages."""
    made, seen = _results_of([block for block in blocks if block.get("type") == "tool_result"])
    said = [block for block in blocks if block.get("type") != "tool_result"]
    parts = seen + _parts_of(said, keeps_marks=side.knows_claude)
    if parts:
        made.append({"role": "user", "content": _content(parts)})
    return made


def _assistant(blocks: Sequence[Mapping[str, Any]], side: Side) -> dict[str, Any]:
    text = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    made: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
    thoughts = [dict(block) for block in blocks if block.get("type") in ("thinking", "redacted_thinking")]
    if thoughts and side.knows_claude:
        made["thinking_blocks"] = thoughts
    if calls:
        made["tool_calls"] = [_call(block) for block in calls]
    return made


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
    return {"id": block.get("id"), "type": "function", "function": {"name": block.get("name"), "arguments": arguments}}


def _content(parts: _Parts) -> Any:
    """Return the parts; a single plain text as a string, which every server accepts."""
    if len(parts) == 1 and parts[0].keys() == {"type", "text"}:
        return parts[0]["text"]
    return parts


def _tools(body: Mapping[str, Any], side: Side) -> dict[str, Any]:
    tools = body.get("tools")
    if not isinstance(tools, list) or not tools:
        return {}
    made: dict[str, Any] = {"tools": [_tool(tool, side) for tool in tools]}
    choice = body.get("tool_choice")
    if isinstance(choice, Mapping):
        kind = choice.get("type")
        if kind == "tool":
            made["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}}
        elif kind in _CHOICES:
            made["tool_choice"] = _CHOICES[kind]
        if choice.get("disable_parallel_tool_use") is True:
            made["parallel_tool_calls"] = False
    return made


def _tool(tool: object, side: Side) -> dict[str, Any]:
    given = tool if isinstance(tool, Mapping) else {}
    if given.get("type", "custom") != "custom" or not given.get("name"):
        kind = given.get("type") or "a tool without a name"
        raise InvalidRequest(f"tools: {kind!r} is a tool of Anthropic's own; {side.model!r} is another provider's.")
    function = {"name": given["name"], "parameters": given.get("input_schema") or {"type": "object", "properties": {}}}
    function.update({key: given[key] for key in ("description", "strict") if key in given})
    marks = {"cache_control": given["cache_control"]} if side.knows_claude and "cache_control" in given else {}
    return {"type": "function", "function": function, **marks}


def _format(body: Mapping[str, Any]) -> dict[str, Any]:
    output = body.get("output_config")
    wanted = output.get("format") if isinstance(output, Mapping) else body.get("output_format")
    if not isinstance(wanted, Mapping) or wanted.get("type") != "json_schema":
        return {}
    schema = {"name": "answer", "schema": wanted.get("schema"), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _thinking(body: Mapping[str, Any], side: Side) -> dict[str, Any]:
    if side.knows_claude:
        return {"thinking": dict(body["thinking"])} if asks_to_think(body) else {}
    if not side.thinks:
        return {}
    thinking, output = _mapping(body.get("thinking")), _mapping(body.get("output_config"))
    effort = output.get("effort")
    if isinstance(effort, str) and effort in _EFFORT_NAMES and thinking.get("type") != "disabled":
        return {"reasoning_effort": _EFFORT_NAMES[effort]}
    budget = thinking.get("budget_tokens")
    if not asks_to_think(body) or not isinstance(budget, int):
        return {}
    return {"reasoning_effort": next(name for least, name in _EFFORTS if budget >= least or not least)}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _parts_of(blocks: Sequence[_Block], *, keeps_marks: bool = False) -> _Parts:
    """Return a user's blocks as parts of a chat message.

    Args:
        blocks: Blocks other than tool results.
        keeps_marks: Whether to keep ``cache_control``.

    Raises:
        InvalidRequest: If a block's content is not in the request, or its kind does not exist in chat messages.
    """
    made: _Parts = []
    for block in blocks:
        found = _parts(block)
        if found and keeps_marks and "cache_control" in block:
            found[-1]["cache_control"] = block["cache_control"]
        made += found
    return made


def _results_of(blocks: Sequence[_Block]) -> tuple[_Parts, _Parts]:
    """Return tool results as messages, and as separate parts their images, which such messages cannot hold."""
    messages, images = [], []
    for block in blocks:
        content, name = block.get("content"), block.get("tool_use_id")
        inner = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        parts = _parts_of([one for one in inner if isinstance(one, Mapping)])
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        if block.get("is_error") is True:
            text = f"Error: {text}"
        others = [part for part in parts if part["type"] != "text"]
        if others:
            images += [{"type": "text", "text": f"What the tool call {name} returned:"}, *others]
        messages.append({"role": "tool", "tool_call_id": name, "content": text})
    return messages, images


def _as_text(blocks: Sequence[_Block]) -> str:
    """Return the joined text of text blocks."""
    return "\n\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")


def _parts(block: _Block) -> _Parts:
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


def _image(source: _Block) -> dict[str, Any]:
    if source.get("type") == "base64":
        url = f"data:{source.get('media_type')};base64,{source.get('data')}"
    elif source.get("type") == "url":
        url = str(source.get("url"))
    else:
        raise InvalidRequest("messages: an image kept by Anthropic cannot be carried to this model's provider.")
    return {"type": "image_url", "image_url": {"url": url}}


def _document(block: _Block, source: _Block) -> _Parts:
    kind = source.get("type")
    if kind == "text":
        return [{"type": "text", "text": _titled(block, str(source.get("data", "")))}]
    if kind == "content":
        content = source.get("content")
        if isinstance(content, str):
            return [{"type": "text", "text": _titled(block, content)}]
        inner = _parts_of([one for one in content if isinstance(one, Mapping)]) if isinstance(content, list) else []
        return [{"type": "text", "text": _titled(block, "")}, *inner] if block.get("title") else inner
    if kind == "base64":
        data = f"data:{source.get('media_type')};base64,{source.get('data')}"
        return [{"type": "file", "file": {"filename": str(block.get("title") or "document.pdf"), "file_data": data}}]
    raise InvalidRequest("messages: a document that is not in the request cannot be carried to this model's provider.")


def _source(block: _Block) -> _Block:
    source = block.get("source")
    return source if isinstance(source, Mapping) else {}


def _inner_text(block: _Block) -> str:
    content = block.get("content")
    blocks = [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
    return _as_text(blocks)


def _titled(block: _Block, text: str) -> str:
    lines = [str(block[key]) for key in ("title", "source", "context") if isinstance(block.get(key), str)]
    return "\n".join([*lines, text]).strip()
