"""Images and files in a request of any wire format: find them, and replace them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from proxy.dialects import splice
from proxy.dialects.body import string
from proxy.dialects.splice import Edit

_DATA_URL = "data:"
_BASE64 = ";base64"
_MARK = "cache_control"
Place = tuple[int, ...]  # index of the message, of its part, and inside a tool's result of the inner part
_Found = tuple[Place, Mapping[str, Any], bool]
_LISTS = ("content", "output")
_ROLES = frozenset({"user", "tool"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_RESULT = "tool_result"
_NESTED = 3


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image or file that a user message, or a tool's result, contains or references.

    Args:
        place: Indexes of its part in the request.
        kind: Kind by the part's type; the bytes decide the real one.
        name: Name of the file, "" if it has none.
        declared: Media type that the client declares.
        data: Content in Base64.
        text: Content as text, if the wire format has text documents.
        url: Web address of the content.
        file_id: Id of an upload.
        part: Parsed part; read-only.
        is_of_tool: True if it is in a tool's result, not in a user message.
    """

    place: Place
    kind: Literal["image", "file"]
    name: str = ""
    declared: str = ""
    data: str = field(default="", repr=False)
    text: str = field(default="", repr=False)
    url: str = ""
    file_id: str = ""
    part: Mapping[str, Any] = field(default_factory=dict, repr=False)
    is_of_tool: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """Format of attachments on one wire.

    Args:
        key: Name of the top-level list of messages.
        text_kind: Type of a text part in a user's message.
        name: Name of the wire format.
    """

    key: str
    text_kind: str
    name: Literal["chat", "responses", "messages"]

    def attachments(self, body: Mapping[str, Any]) -> list[Attachment]:
        """Return the attachments of all user messages and tool results, in order."""
        messages = body.get(self.key)
        found: list[Attachment] = []
        for index, raw in enumerate(messages if isinstance(messages, list) else ()):
            for place, part, is_of_tool in _parts_of(index, raw) if isinstance(raw, dict) else ():
                if (one := _attachment(place, part)) is not None:
                    found.append(replace(one, is_of_tool=True) if is_of_tool else one)
        return found

    def text_part(self, text: str, instead_of: Attachment) -> dict[str, Any]:
        """Return a text part that replaces an attachment, with its cache mark."""
        mark = instead_of.part.get(_MARK)
        return {"type": self.text_kind, "text": text, **({_MARK: mark} if mark is not None else {})}

    def data_part(self, instead_of: Attachment, data: str, media_type: str, name: str) -> dict[str, Any]:
        """Return the part with the content (in Base64) of the upload that an attachment references."""
        is_image = media_type.startswith("image/")
        url = f"{_DATA_URL}{media_type}{_BASE64},{data}"
        if self.name == "messages":
            source = {"type": "base64", "media_type": media_type, "data": data}
            kept = {key: value for key, value in instead_of.part.items() if key not in ("type", "source")}
            return {"type": "image" if is_image else "document", "source": source, **kept}
        if self.name == "responses":
            kept = {"detail": instead_of.part["detail"]} if is_image and "detail" in instead_of.part else {}
            if is_image:
                return {"type": "input_image", "image_url": url, **kept}
            return {"type": "input_file", "filename": name, "file_data": url}
        if is_image:
            return {"type": "image_url", "image_url": {"url": url}}
        return {"type": "file", "file": {"filename": name, "file_data": url}}

    def replace(self, body: bytes, parts: Mapping[Place, Mapping[str, Any]]) -> bytes:
        """Return the body with all given parts replaced, or the same object if one cannot be replaced."""
        if not parts:
            return body
        try:
            text = body.decode()
            finder = _Finder(text, self.key, parts)
            finder.find()
            edits = [Edit(*finder.found[place], orjson.dumps(part).decode()) for place, part in parts.items()]
        except (ValueError, LookupError, RecursionError):
            return body
        return splice.apply(body, text, edits)


CHAT = Wire("messages", "text", "chat")


RESPONSES = Wire("input", "input_text", "responses")


MESSAGES = Wire("messages", "text", "messages")


def _parts_of(index: int, message: Mapping[str, Any]) -> list[_Found]:
    """Return the parts of a user message or a tool's result: place, part, and whether it is of a tool.

    Args:
        index: Index of the message in its list.
        message: Parsed message of any wire format.
    """
    role, is_output = string(message.get("role")), string(message.get("type")) in _OUTPUTS
    if role not in _ROLES and not is_output:
        return []
    listed = next((found for name in _LISTS if isinstance(found := message.get(name), list)), [])
    parts: list[_Found] = []
    for number, part in enumerate(listed):
        if not isinstance(part, dict):
            continue
        inner = part.get("content") if part.get("type") == _RESULT else None
        if isinstance(inner, list):
            parts += [((index, number, at), one, True) for at, one in enumerate(inner) if isinstance(one, dict)]
        else:
            parts.append(((index, number), part, is_output or role == "tool"))
    return parts


class _Finder:
    """Locator of parts, in one pass; of repeated keys the last counts, as in JSON parsers."""

    def __init__(self, text: str, key: str, wanted: Collection[Place]) -> None:
        self._text, self._key = text, key
        self._wanted = wanted
        self._starts = {place[:depth] for place in wanted for depth in (1, 2)}
        self._nested = {place[:2] for place in wanted if len(place) == _NESTED}
        self._at: Place = ()
        self._spans: dict[str, dict[Place, tuple[int, int]]] = {}
        self.found: dict[Place, tuple[int, int]] = {}

    def find(self) -> None:
        """Fill in ``found``: start and end by place.

        Raises:
            ValueError: If the text has another structure than when it was parsed.
        """
        splice.walk_object(self._text, splice.root(self._text), self._on_top)

    def _on_top(self, key: str, at: int) -> int | None:
        if key != self._key:
            return None
        self.found = {}
        return splice.walk_array(self._text, at, self._on_message)

    def _on_message(self, index: int, at: int) -> int | None:
        if (index,) not in self._starts:
            return None
        self._at, self._spans = (index,), {}
        end = splice.walk_object(self._text, at, self._on_member)
        spans = next((self._spans[name] for name in _LISTS if name in self._spans), {})
        self.found |= {place: span for place, span in spans.items() if place in self._wanted}
        return end

    def _on_member(self, key: str, at: int) -> int | None:
        if key not in _LISTS or self._text[at] != "[":
            return None
        spans = self._spans[key] = {}

        def on_part(number: int, start: int) -> int:
            place = (*self._at, number)
            end = self._inside(place, start, spans) if place in self._nested else splice.value_end(self._text, start)
            spans[place] = (start, end)
            return end

        return splice.walk_array(self._text, at, on_part)

    def _inside(self, place: Place, at: int, spans: dict[Place, tuple[int, int]]) -> int:
        """Note the parts of a tool's result; return its end."""

        def on_member(key: str, start: int) -> int | None:
            if key != "content" or self._text[start] != "[":
                return None
            return splice.walk_array(self._text, start, on_part)

        def on_part(number: int, start: int) -> int:
            end = splice.value_end(self._text, start)
            spans[*place, number] = (start, end)
            return end

        return splice.walk_object(self._text, at, on_member)


def _attachment(place: Place, part: Mapping[str, Any]) -> Attachment | None:
    kind = string(part.get("type"))
    reader = _READERS.get(kind)
    return reader(place, part) if reader is not None else None


def _image_url(place: Place, part: Mapping[str, Any]) -> Attachment | None:
    inner = part.get("image_url")
    return _located(place, "image", string(inner.get("url")) if isinstance(inner, dict) else string(inner), "", part)


def _file(place: Place, part: Mapping[str, Any]) -> Attachment | None:
    inner = part.get("file")
    return _sent_file(place, inner, part) if isinstance(inner, dict) else None


def _input_image(place: Place, part: Mapping[str, Any]) -> Attachment | None:
    if file_id := string(part.get("file_id")):
        return Attachment(place, "image", file_id=file_id, part=part)
    return _image_url(place, part)


def _input_file(place: Place, part: Mapping[str, Any]) -> Attachment | None:
    return _sent_file(place, part, part)


def _sent_file(place: Place, inner: Mapping[str, Any], part: Mapping[str, Any]) -> Attachment | None:
    name = string(inner.get("filename"))
    if file_id := string(inner.get("file_id")):
        return Attachment(place, "file", name, file_id=file_id, part=part)
    data = string(inner.get("file_data"))
    if data and not data.startswith(_DATA_URL):
        return Attachment(place, "file", name, data=data, part=part)
    return _located(place, "file", data or string(inner.get("file_url")), name, part)


def _source(place: Place, part: Mapping[str, Any]) -> Attachment | None:
    source = part.get("source")
    if not isinstance(source, dict):
        return None
    kind: Literal["image", "file"] = "image" if part.get("type") == "image" else "file"
    name, declared = string(part.get("title")), string(source.get("media_type"))
    match source.get("type"):
        case "base64":
            return Attachment(place, kind, name, declared, data=string(source.get("data")), part=part)
        case "text":
            return Attachment(place, kind, name, declared or "text/plain", text=string(source.get("data")), part=part)
        case "url":
            return _located(place, kind, string(source.get("url")), name, part)
        case "file":
            return Attachment(place, kind, name, file_id=string(source.get("file_id")), part=part)
        case _:
            return None


def _located(
    place: Place, kind: Literal["image", "file"], url: str, name: str, part: Mapping[str, Any]
) -> Attachment | None:
    """Return the attachment of a web address, or the content of a data URL."""
    if not url.startswith(_DATA_URL):
        return Attachment(place, kind, name, url=url, part=part) if url else None
    head, comma, data = url.partition(",")
    if not comma or not head.endswith(_BASE64):
        return None
    return Attachment(place, kind, name, head[len(_DATA_URL) : -len(_BASE64)].partition(";")[0], data=data, part=part)


_READERS = {
    "image_url": _image_url,
    "file": _file,
    "input_image": _input_image,
    "input_file": _input_file,
    "image": _source,
    "document": _source,
}
