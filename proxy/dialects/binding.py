"""Thinking blocks that Anthropic's newest models bind to their prefix: find them, or ask to drop them. Pure.

The prefix is the system prompt, the tools and every message before the block; the order of keys, spacing and cache
marks do not count. A request whose prefix has changed is refused, unless it asks the provider to drop such blocks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from proxy.dialects import splice
from proxy.dialects.body import changed, string
from proxy.dialects.splice import Edit

BETA_HEADER, BETA = "anthropic-beta", "thinking-binding-controls-2026-08-01"
FIELD, CHOICE, DROP = "block_binding", "prefix_mismatch_behavior", "drop_block"

_SIGNED = {"thinking": "signature", "redacted_thinking": "data"}
_ASKS = frozenset({"adaptive", "enabled"})
_MARK = "cache_control"
_ATTRIBUTION = "x-anthropic-billing-header"  # start of a coding agent's first system block, which changes often
_REFUSAL = "bound to a different conversation"


def signature_of(block: object) -> str:
    """Return the signature of a signed thinking block, "" for any other block.

    >>> signature_of({"type": "thinking", "thinking": "So.", "signature": "Eq4="})
    'Eq4='
    """
    if not isinstance(block, Mapping):
        return ""
    found = block.get(_SIGNED.get(str(block.get("type")), ""))
    return found if isinstance(found, str) else ""


def signed(message: object) -> list[str]:
    """Return the signatures of the thinking blocks in an assistant message."""
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        return []
    content = message.get("content")
    return [found for block in content if (found := signature_of(block))] if isinstance(content, list) else []


def last_signed(body: Mapping[str, Any], limit: int) -> list[str]:
    """Return up to ``limit`` signatures of a request: the last of each message, last message first."""
    found: list[str] = []
    for message in reversed(_messages(body)):
        found += signed(message)[-1:]
        if len(found) == limit:
            break
    return found


def place_of(body: Mapping[str, Any], signature: str) -> int | None:
    """Return the index of the last message with this signature, None if there is none."""
    found = _messages(body)
    return next((i for i in reversed(range(len(found))) if signature in signed(found[i])), None)


def digest(body: Mapping[str, Any], end: int | None = None) -> str:
    """Return a digest of the prefix of message ``end``, or of the reply: 32 hex digits."""
    state = hashlib.blake2b(digest_size=16)
    pieces: Iterable[object] = (_system(body.get("system")), body.get("tools"), *_messages(body)[:end])
    for piece in pieces:
        state.update(hashlib.blake2b(_canonical(piece), digest_size=16).digest())
    return state.hexdigest()


def is_refusal(told: str) -> bool:
    """Return whether a provider's error says that a thinking block does not match its prefix."""
    return _REFUSAL in told


def has_choice(body: Mapping[str, Any]) -> bool:
    """Return whether the client itself sets the handling of blocks that do not match their prefix."""
    thinking = body.get("thinking")
    binding = thinking.get(FIELD) if isinstance(thinking, Mapping) else None
    return isinstance(binding, Mapping) and CHOICE in binding


def asks_to_think(body: Mapping[str, Any]) -> bool:
    """Return whether the request enables ``thinking``, whose parameter sets the handling of such blocks."""
    thinking = body.get("thinking")
    return isinstance(thinking, Mapping) and string(thinking.get("type")) in _ASKS


def dropping(raw: bytes) -> bytes:
    """Return the body with the parameter that drops unmatched thinking blocks; every other byte is unchanged."""
    return changed(raw, "thinking", _wishing)


def _wishing(thinking: str) -> str | None:
    """Return the JSON of a ``thinking`` value with the parameter added, None if that is not possible."""
    if thinking[0] != "{":
        return None
    members: dict[str, tuple[int, int]] = {}

    def note(name: str, start: int) -> int:
        members[name] = (start, splice.value_end(thinking, start))
        return members[name][1]

    splice.walk_object(thinking, 0, note)
    wish = f'"{CHOICE}":"{DROP}"'
    if FIELD not in members:
        return f'{thinking[:-1]}{"," if members else ""}"{FIELD}":{{{wish}}}}}'
    start, end = members[FIELD]
    if thinking[start] != "{":
        return None
    is_empty = not thinking[start + 1 : end - 1].strip()
    return f"{thinking[: end - 1]}{'' if is_empty else ','}{wish}{thinking[end - 1 :]}"


def without_thoughts(raw: bytes) -> bytes:
    """Return the body without signed thinking blocks; unchanged if that would leave a message empty."""
    edits: list[Edit] = []

    def on_top(key: str, at: int) -> int | None:
        return splice.walk_array(text, at, on_message) if key == "messages" and text[at] == "[" else None

    def on_message(_: int, at: int) -> int | None:
        return splice.walk_object(text, at, on_member) if text[at] == "{" else None

    def on_member(key: str, at: int) -> int | None:
        if key != "content" or text[at] != "[":
            return None
        blocks: list[tuple[int, int, bool]] = []

        def on_block(_: int, start: int) -> int:
            end = splice.value_end(text, start)
            blocks.append((start, end, bool(signature_of(orjson.loads(text[start:end])))))
            return end

        end = splice.walk_array(text, at, on_block)
        kept = [text[start:stop] for start, stop, is_signed in blocks if not is_signed]
        if len(kept) < len(blocks):
            if not kept:
                raise ValueError("nothing would be left of a reply")
            edits.append(Edit(at, end, f"[{','.join(kept)}]"))
        return end

    try:
        text = raw.decode()
        splice.walk_object(text, splice.root(text), on_top)
    except (ValueError, RecursionError):
        return raw
    return splice.apply(raw, text, edits)


def with_beta(headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers with the beta that the parameter needs, after the client's own.

    >>> with_beta([("Anthropic-Beta", "a,b")])
    [('Anthropic-Beta', 'a,b,thinking-binding-controls-2026-08-01')]
    """
    named = list(headers)
    places = [at for at, (name, _) in enumerate(named) if name.lower() == BETA_HEADER]
    if any(BETA in named[at][1] for at in places):
        return named
    if not places:
        return [*named, (BETA_HEADER, BETA)]
    name, value = named[places[-1]]
    named[places[-1]] = (name, f"{value},{BETA}" if value.strip() else BETA)
    return named


def _messages(body: Mapping[str, Any]) -> list[Any]:
    found = body.get("messages")
    return found if isinstance(found, list) else []


def _system(system: object) -> object:
    if isinstance(system, str):
        return [{"type": "text", "text": system}]
    if not isinstance(system, list):
        return _plain(system)
    return [_plain(one) for one in system if not _is_attribution(one)]


def _is_attribution(block: object) -> bool:
    return isinstance(block, Mapping) and str(block.get("text", "")).startswith(_ATTRIBUTION)


def _canonical(value: object) -> bytes:
    plain = _plain(value)
    try:
        return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONEncodeError, RecursionError):
        return repr(plain).encode("utf-8", "surrogatepass")


def _plain(value: object) -> object:
    """Return a value without cache marks, and with string contents as the equivalent list of one block."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    made = {key: _plain(one) for key, one in value.items() if key != _MARK}
    if isinstance(made.get("content"), str):
        made["content"] = [{"type": "text", "text": made["content"]}]
    return made
