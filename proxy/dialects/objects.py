"""Provider objects named in a request or handed out by a reply; the naming fields are data. Pure.

The data are in ``objects.toml``: fields, forms of ids, collections in paths, and places in replies.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any
from urllib.parse import parse_qsl, unquote

from proxy.errors import InvalidJson

_DATA: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(
    resources.files("proxy.dialects").joinpath("objects.toml").read_text("utf-8")
)


def _by_name(section: str) -> dict[str, str]:
    return {name: kind for kind, names in _DATA[section].items() for name in names}


_FIELDS, _OBJECTS, _TYPES, _COLLECTIONS = map(_by_name, ("fields", "objects", "types", "paths"))
_FORMS = _by_name("forms")
_VERBS = frozenset(_DATA["verbs"]["none"])
_WORDS = frozenset(_DATA["words"]["none"])
_FREE, _ADDRESSES = tuple(_DATA["words"]["free"]), tuple(_DATA["words"]["addresses"])
_TEXT, _WHOLE = frozenset(_DATA["own"]["text"]), frozenset(_DATA["own"]["whole"])
_ID_FIELDS = frozenset({"id", "ids", *_DATA["own"]["cursors"]})
_CALLS = frozenset(_DATA["own"]["calls"])
_PREFIXES = "|".join(re.escape(form) for form in sorted(_FORMS, key=len, reverse=True))
_FORM = re.compile(rf"(?<!\s)\s*+(?P<form>{_PREFIXES})(?P<rest>\S++)\s*+")
_PLAIN_ID = re.compile(r"[\w.:-]+")
_SHORT = 6  # characters; a shorter word after a form counts as an id only in fields of ids
_LISTS_OF_ITEMS = frozenset({"input", "items"})
# An id that looks generated, of any form: providers add new kinds of items every few months.
_MADE = re.compile(r"[a-z]{2,12}_[0-9A-Za-z]{20,}")
# Bodies without a match name no object, so most need no second parsing; letters may be escaped in JSON.
_HINT = re.compile(
    "|".join(
        (
            '"(?:' + "|".join(map(re.escape, {*_FIELDS, *_OBJECTS, "id"})) + r')"\s*:',
            rf'"\s*(?:{_PREFIXES})',
            r"\\u00[2-7]|\\/",
        )
    ).encode()
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A provider's object that a request names.

    Args:
        kind: Kind in words: ``file``, ``vector store`` …
        id: Provider's id.
        param: Field that names it; "" in a path.
    """

    kind: str
    id: str
    param: str = ""


class _Object(list[tuple[str, Any]]):
    """A JSON object as all its pairs: of a repeated name, servers may read either value."""


def in_body(body: bytes) -> list[Reference]:
    """Return the objects that a JSON body names at any depth, in order.

    Raises:
        InvalidJson: If it is not JSON.
    """
    if not body.strip() or (b"\x00" not in body[:4] and _HINT.search(body) is None):
        return []
    try:
        parsed = json.loads(body, object_pairs_hook=_Object, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise InvalidJson(error) from error
    return list(dict.fromkeys(_walk(parsed)))


def in_fields(pairs: Iterable[tuple[str, str]]) -> list[Reference]:
    """Return the objects that query parameters or form fields name."""
    found = (_in_field(name, value) for name, value in pairs)
    return [one for one in found if one is not None]


def in_query(query: str) -> list[Reference]:
    """Return the objects that a raw query string names."""
    return in_fields((unquote(name), _settled(value)) for name, value in parse_qsl(query))


def in_path(segments: Sequence[str]) -> list[Reference]:
    """Return the objects that the decoded segments of a path name."""
    found = []
    for at, segment in enumerate(segments):
        if segment in _VERBS or segment in _COLLECTIONS:
            continue
        kind = _kind_of(segment, is_id=True) or _COLLECTIONS.get(segments[at - 1] if at else "")
        if kind is not None:
            found.append(Reference(kind, segment))
    return found


def handed_out(reply: object, wire: str) -> list[str]:
    """Return the ids that a reply, or one event of it, hands out.

    Args:
        reply: Parsed reply or event.
        wire: ``responses``, ``chat``, ``messages``; ``below`` for a read of an object that the caller owns.
    """
    ids = (one for path in _PLACES.get(wire, ()) for one in _at(reply, path))
    return list(dict.fromkeys(one for one in ids if isinstance(one, str) and one))


_PLACES = {wire: [path.split(".") for path in paths] for wire, paths in _DATA["handed"].items()}


def _walk(root: object) -> Iterator[Reference]:
    """Yield the objects that a parsed body names; not recursive, as a body may be nested deeply."""
    stack: list[tuple[str, object]] = [("", root)]
    while stack:
        field, value = stack.pop()
        if isinstance(value, _Object):
            yield from _of_object(field, value)
            is_call = any(name == "type" and isinstance(one, str) and one in _CALLS for name, one in value)
            stack += [(name, one) for name, one in reversed(value) if not _is_own(name, one, is_call=is_call)]
        elif isinstance(value, list):
            stack += [(field, one) for one in reversed(value)]
        elif isinstance(value, str) and (found := _in_field(field, value)) is not None:
            yield found


def _is_own(name: str, value: object, *, is_call: bool) -> bool:
    """Return whether a field, with its whole content, is the client's own data."""
    if name in _WHOLE or (name in _TEXT and isinstance(value, str)):
        return True
    return is_call and (name == "id" or (name == "input" and isinstance(value, _Object)))


def _of_object(field: str, pairs: _Object) -> Iterator[Reference]:
    """Yield the references by ``id`` of a JSON object whose field or type marks it as one."""
    ids = [one for name, one in pairs if name == "id" and isinstance(one, str) and one]
    if not ids:
        return
    types = [one for name, one in pairs if name == "type" and isinstance(one, str)]
    kind = _FIELDS.get(field) or _OBJECTS.get(field) or next((_TYPES[one] for one in types if one in _TYPES), None)
    names_only = all(name in ("id", "type") for name, _ in pairs)
    if kind is None and field in _LISTS_OF_ITEMS:
        is_made = any(_MADE.fullmatch(one) and not one.startswith(_FREE) for one in ids)
        kind = "item" if names_only or is_made else None
    if kind is not None:
        yield from (Reference(kind, one, field or "id") for one in ids)


def _in_field(field: str, value: str) -> Reference | None:
    """Return the object named by a string in a field, or in a field's list."""
    field = field.rpartition("[")[2].rstrip("]") or field.partition("[")[0]
    if field in _TEXT or not value:
        return None
    kind = _kind_of(value, is_id=field in _ID_FIELDS or field.endswith(("_id", "_ids", "Id")))
    if kind is None and field in _FIELDS and not value.lower().startswith(_ADDRESSES):
        kind = _FIELDS[field]
    return Reference(kind, value, field) if kind is not None else None


def _kind_of(value: str, *, is_id: bool) -> str | None:
    """Return the kind of an id by its form; None if the value is not an id."""
    match = _FORM.fullmatch(value) if len(value) < _MAX else _FORM.match(value[:_MAX])
    if match is None or value in _WORDS or value.startswith(_FREE):
        return None
    form, rest = match["form"], match["rest"]
    if "//" in form:
        return _FORMS[form]
    if not _PLAIN_ID.fullmatch(rest) or (len(rest) < _SHORT and not is_id):
        return None
    return _FORMS[form]


_MAX = 4096  # characters; longer values are data, and an address is recognised by its beginning


def _settled(value: str) -> str:
    """Return a value URL-decoded until it no longer changes, as servers may decode repeatedly."""
    while (decoded := unquote(value)) != value:
        value = decoded
    return value


def _at(value: object, path: Sequence[str]) -> Iterator[object]:
    if not path:
        yield value
    elif path[0] == "*":
        for one in value if isinstance(value, list) else ():
            yield from _at(one, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _at(value[path[0]], path[1:])
