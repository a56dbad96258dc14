"""The model that a ``multipart/form-data`` body names: read, and replaced, without touching another byte. Pure."""

from __future__ import annotations

import re

from proxy.errors import InvalidRequest

_BOUNDARY = re.compile(r';\s*boundary=(?:"((?:[^"\\]|\\.)+)"|([^\s;]+))', re.IGNORECASE)
_PART = re.compile(
    rb"(?<![ \t])[ \t]*+\r\n(?:[^\r\n]++\r\n)*?"
    rb'content-disposition:[^\r\n]*?;[ \t]*name=(?:"model"|model)[ \t]*(?:;[^\r\n]*)?\r\n'
    rb"(?:[^\r\n]+\r\n)*\r\n(?P<value>[^\r\n]*)(?=\r\n--)",
    re.IGNORECASE,
)


def model_of(body: bytes, content_type: str) -> str:
    """Return the model that a form names, "" where it names none.

    Raises:
        InvalidRequest: If it names several.
    """
    found = {match["value"] for match in _parts(body, content_type)}
    if len(found) > 1:
        raise InvalidRequest("The form names more than one model.", param="model")
    return found.pop().decode("utf-8", "replace") if found else ""


def with_model(body: bytes, content_type: str, name: str) -> bytes:
    """Return the form under another name of the model."""
    for match in reversed(_parts(body, content_type)):
        body = body[: match.start("value")] + name.encode() + body[match.end("value") :]
    return body


def _parts(body: bytes, content_type: str) -> list[re.Match[bytes]]:
    if not content_type.lower().lstrip().startswith("multipart/form-data"):
        return []
    match = _BOUNDARY.search(content_type)
    boundary = re.sub(r"\\(.)", r"\1", match[1]) if match and match[1] else match[2] if match else ""
    if not boundary:
        return []
    line = b"--" + boundary.encode("latin-1", "replace")
    found, at = [], body.find(line)
    while at >= 0:
        if (at == 0 or body[at - 2 : at] == b"\r\n") and (part := _PART.match(body, at + len(line))) is not None:
            found.append(part)
        at = body.find(line, at + len(line))
    return found
