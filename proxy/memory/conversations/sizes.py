"""Token counts of messages, cached because clients resend them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from proxy.dialects.base import Message, Part
from proxy.text import tokens

_OVERHEAD = 4  # of a message's frame
MEDIA_TOKENS = 900  # approximate tokens of an image
_MAX_KNOWN = 100_000
_MEDIA = ("image", "audio", "file", "document", "video")
_FIXED = ("tools", "functions", "system", "instructions", "response_format", "text")

_Key = tuple[int, int, int]


class Sizes:
    """Cache of token counts by hash of a message; it holds no texts."""

    def __init__(self) -> None:
        self._young: dict[_Key, int] = {}
        self._old: dict[_Key, int] = {}

    def known(self, message: Message) -> int | None:
        """Return the tokens of a message, None if they were not counted before."""
        text, media = _said(message)
        return self._find(_key(text, media))

    def exact(self, message: Message) -> int:
        """Return the tokens of a message, counting them if necessary."""
        return self._counted(*_said(message))

    def of_body(self, body: Mapping[str, Any]) -> int:
        """Return the tokens of a body's fields beside its messages: tools, instructions, schemas."""
        given = [body[name] for name in _FIXED if body.get(name)]
        return sum(self._counted(one if isinstance(one, str) else _dumped(one), 0) for one in given)

    def _counted(self, text: str, media: int) -> int:
        key = _key(text, media)
        found = self._find(key)
        if found is None:
            found = tokens.measure(text) + media * MEDIA_TOKENS + _OVERHEAD
            self._keep(key, found)
        return found

    def _find(self, key: _Key) -> int | None:
        found = self._young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self._keep(key, found)
        return found

    def _keep(self, key: _Key, count: int) -> None:
        if len(self._young) >= _MAX_KNOWN:
            self._old, self._young = self._young, {}
        self._young[key] = count


def estimated(message: Message) -> int:
    """Return a fast estimate of a message's tokens."""
    text, media = _said(message)
    return tokens.estimate(text) + media * MEDIA_TOKENS + _OVERHEAD


def weigh(sizes: Sizes, messages: Sequence[Message], near: int, newest: int) -> list[int]:
    """Return the tokens of each message: exact if the sum may be near a bound, else estimated for new messages.

    Args:
        sizes: Cache of token counts.
        messages: Messages of one request.
        near: The bound; a sum that is certainly far from it need not be exact.
        newest: Tokens of the newest messages that are counted exactly in any case.
    """
    counts = [sizes.known(message) for message in messages]
    guesses = [estimated(message) if count is None else count for message, count in zip(messages, counts, strict=True)]
    is_far = sum(guesses) > 2 * near or sum(guesses) * 2 < near
    seen = 0
    for index in range(len(messages) - 1, -1, -1):
        if counts[index] is None and (not is_far or seen < newest):
            guesses[index] = sizes.exact(messages[index])
        seen += guesses[index]
    return guesses


def _said(message: Message) -> tuple[str, int]:
    """Return the text of a message, calls and results included, and its number of images and other media."""
    if len(message.parts) == 1 and not message.tool_calls and message.parts[0].text:
        return message.parts[0].text, 0
    texts, media = [part.text for part in message.parts if part.text], 0
    for part in message.parts:
        if part.text or not part.data:
            continue
        if any(name in part.kind for name in _MEDIA):
            media += 1
        elif part.kind != "tool_use":  # counted as a call
            inner, more = _result(part)
            texts.append(inner)
            media += more
    texts += [_dumped(call) for call in message.tool_calls]
    return "\n".join(texts), media


def _result(part: Part) -> tuple[str, int]:
    content = part.data.get("content")
    if not isinstance(content, list):
        return _dumped(part.data), 0
    kinds = [str(one.get("type")) if isinstance(one, dict) else "" for one in content]
    seen = [any(name in kind for name in _MEDIA) for kind in kinds]
    plain = [one for one, is_media in zip(content, seen, strict=True) if not is_media]
    return _dumped(plain), sum(seen)


def _dumped(value: Any) -> str:
    try:
        return orjson.dumps(value, default=dict).decode()
    except orjson.JSONEncodeError:
        return ""


def _key(text: str, media: int) -> _Key:
    return hash(text), len(text), media
