"""Images and files in a request on any wire: which there are, and what can stand in their place."""

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
Place = tuple[int, ...]  # index of the message, of the part, and in a result of a tool that of the part in there
_Found = tuple[Place, Mapping[str, Any], bool]
_LISTS = ("content", "output")
_ROLES = frozenset({"user", "tool"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_RESULT = "tool_result"
_NESTED = 3


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image or file that a message of the user, or a tool's result, carries or names.

    Args:
        place: Where it stands.
        kind: As the wire has it; what it really is, its bytes tell.
        name: Of the file, "" where it has none.
        declared: Media type that the client says it is.
        data: Its bytes in Base64.
        text: Its text, where the wire takes documents as such.
        url: Where it is, on the web.
        file_id: Of an upload.
        part: As parsed; not to be changed.
        is_of_tool: A tool answered it; the user did not send it.
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
    """Attachments as one wire writes them.

    Args:
        key: Name of the list of messages on the top level.
        text_kind: Type of a text part in a user's message.
        name: Which wire.
    """

    key: str
    text_kind: str
    name: Literal["chat", "responses", "messages"]

    def attachments(self, body: Mapping[str, Any]) -> list[Attachment]:
        """Return the attachments of all messages of the user and results of tools, in order."""
        messages = body.get(self.key)
        found: list[Attachment] = []
        for index, raw in enumerate(messages if isinstance(messages, list) else ()):
            for place, part, is_of_tool in _parts_of(index, raw) if isinstance(raw, dict) else ():
                if (one := _attachment(place, part)) is not None:
                    found.append(replace(one, is_of_tool=True) if is_of_tool else one)
        return found

    def text_part(self, text: str, instead_of: Attachment) -> dict[str, Any]:
        """Return a part that says something in an attachment's place."""
        mark = instead_of.part.get(_MARK)
        return {"type": self.text_kind, "text": text, **({_MARK: mark} if mark is not None else {})}

    def data_part(self, instead_of: Attachment, data: str, media_type: str, name: str) -> dict[str, Any]:
        """Return the part that carries bytes (in Base64) of which an attachment names an upload."""
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
        """Return the body with some parts replaced, all of them or (the same object) none."""
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
    """Return the parts of what the user sent or a tool answered: where, what, and whether a tool says it.

    Args:
        index: Of the message in its list.
        message: As parsed, of any wire.
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
    """Finds where parts stand, in one pass; of repeated keys the last counts, as parsers have it."""

    def __init__(self, text: str, key: str, wanted: Collection[Place]) -> None:
        self._text, self._key = text, key
        self._wanted = wanted
        self._starts = {place[:depth] for place in wanted for depth in (1, 2)}
        self._nested = {place[:2] for place in wanted if len(place) == _NESTED}
        self._at: Place = ()
        self._spans: dict[str, dict[Place, tuple[int, int]]] = {}
        self.found: dict[Place, tuple[int, int]] = {}

    def find(self) -> None:
        """Fill in ``found``: by place, start and end.

        Raises:
            ValueError: If the text is not as it was parsed.
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
        """Note the parts of a tool's result; return where it ends."""

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
    """Return what a URL names or, where it is one of data, carries."""
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
