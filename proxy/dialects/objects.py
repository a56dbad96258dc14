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
_SHORT = 6  # a word as short as this behind a form is an id in fields of ids only
_LISTS_OF_ITEMS = frozenset({"input", "items"})
# An id of the kind that providers make, whatever its form: of items there are new kinds every few months.
_MADE = re.compile(r"[a-z]{2,12}_[0-9A-Za-z]{20,}")
# Bodies without any of this name nothing, so most need no second parsing; a letter may be written as an escape.
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
    """An object of the provider that a request names.

    Args:
        kind: In words: ``file``, ``vector store`` …
        id: The provider's.
        param: The field that names it; "" in a path.
    """

    kind: str
    id: str
    param: str = ""


class _Object(list[tuple[str, Any]]):
    """A JSON object with every pair of it: of a name that stands twice, servers may read either value."""


def in_body(body: bytes) -> list[Reference]:
    """Return what a JSON body names, at any depth, in its order.

    Raises:
        InvalidJson: If it is none.
    """
    if not body.strip() or (b"\x00" not in body[:4] and _HINT.search(body) is None):
        return []
    try:
        parsed = json.loads(body, object_pairs_hook=_Object, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise InvalidJson(error) from error
    return list(dict.fromkeys(_walk(parsed)))


def in_fields(pairs: Iterable[tuple[str, str]]) -> list[Reference]:
    """Return what the parameters of a query, or the fields of a form, name."""
    found = (_in_field(name, value) for name, value in pairs)
    return [one for one in found if one is not None]


def in_query(query: str) -> list[Reference]:
    """Return what a raw query string names."""
    return in_fields((unquote(name), _settled(value)) for name, value in parse_qsl(query))


def in_path(segments: Sequence[str]) -> list[Reference]:
    """Return what a path names, from the decoded segments of it."""
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
        reply: As parsed.
        wire: ``responses``, ``chat``, ``messages``; ``below`` where an object of the caller's own is read.
    """
    ids = (one for path in _PLACES.get(wire, ()) for one in _at(reply, path))
    return list(dict.fromkeys(one for one in ids if isinstance(one, str) and one))


_PLACES = {wire: [path.split(".") for path in paths] for wire, paths in _DATA["handed"].items()}


def _walk(root: object) -> Iterator[Reference]:
    """Yield what a parsed body names; not recursive, since a body may be nested deeply."""
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
    """Return whether a field is the client's own, with all that is in it."""
    if name in _WHOLE or (name in _TEXT and isinstance(value, str)):
        return True
    return is_call and (name == "id" or (name == "input" and isinstance(value, _Object)))


def _of_object(field: str, pairs: _Object) -> Iterator[Reference]:
    """Yield what an object names by its ``id``, where its field or its type says that it does."""
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
    """Return what a string in a field names, or in a list of it."""
    field = field.rpartition("[")[2].rstrip("]") or field.partition("[")[0]
    if field in _TEXT or not value:
        return None
    kind = _kind_of(value, is_id=field in _ID_FIELDS or field.endswith(("_id", "_ids", "Id")))
    if kind is None and field in _FIELDS and not value.lower().startswith(_ADDRESSES):
        kind = _FIELDS[field]
    return Reference(kind, value, field) if kind is not None else None


def _kind_of(value: str, *, is_id: bool) -> str | None:
    """Return of what kind an id is by its look; None: it is none."""
    match = _FORM.fullmatch(value) if len(value) < _MAX else _FORM.match(value[:_MAX])
    if match is None or value in _WORDS or value.startswith(_FREE):
        return None
    form, rest = match["form"], match["rest"]
    if "//" in form:
        return _FORMS[form]
    if not _PLAIN_ID.fullmatch(rest) or (len(rest) < _SHORT and not is_id):
        return None
    return _FORMS[form]


_MAX = 4096  # longer values are data; of addresses the beginning tells


def _settled(value: str) -> str:
    """Return a value as a server reads it that decodes again and again."""
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
