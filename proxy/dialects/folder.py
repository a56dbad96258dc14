"""The folder that a coding agent works in, as it tells the model; pure."""

from __future__ import annotations

import re
from functools import cache

from proxy.dialects.authored import instructions
from proxy.dialects.base import ChatRequest
from proxy.dialects.wrappers import table

MAX_READ = 200_000  # characters of each text in which it is looked for


def working_folder(request: ChatRequest) -> str:
    """Return the folder, "" where none is told of; the first one counts, as agents go elsewhere on the way."""
    for text in instructions(request, MAX_READ):
        if found := _found(text, "line") or _found(text, "marked"):
            return found
    for message in request.messages:
        if message.role == "user":
            for part in message.parts:
                if found := _found(part.text, "marked"):
                    return found
    return ""


def _found(text: str, kind: str) -> str:
    match = _pattern(kind).search(text[:MAX_READ])
    if match is None:
        return ""
    path = next(value for value in match.groupdict().values() if value is not None)
    return path.strip().rstrip("/\\.,;:")


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    folders = table("folders")["folders"]
    rows = [
        one.replace("{path}", folders["path"].replace("?P<path>", f"?P<path{at}>"))
        for at, one in enumerate(folders[kind])
    ]
    return re.compile("|".join(f"(?:{row})" for row in rows), re.IGNORECASE | re.MULTILINE)
