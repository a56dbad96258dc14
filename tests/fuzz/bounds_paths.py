"""Operations of the API, from its OpenAPI document, and the bodies sent to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

OPEN = ("/health", "/readyz", "/metrics")  # of the whole server: no scope, no texts
_NOUNS = {
    "memory_id": "mem",
    "task_id": "mem",
    "session_id": "ses",
    "document_id": "doc",
    "image_id": "img",
    "receipt_id": "rcpt",
    "job_id": "job",
    "entry_id": "qua",
    "review_id": "end",
    "agent_id": "agent",
    "project_id": "project",
    "team_id": "team",
}
_BODY_NOUNS = {"id": "mem", "ids": "mem", "memory": "mem", "item_id": "mem", "task_id": "mem", "batch": "end"}
_BODY_NOUNS |= {"request_id": "end", "session": "ses", "document": "doc"}
_TEXTS = frozenset({"text", "query", "content", "title", "question", "answer", "reason"})
USERS = ("/v1/agents", "/memory-manager/agents")  # of the user, not of a project
_MULTIPART = frozenset({("POST", "/v1/documents"), ("POST", "/v1/import")})
DASHBOARD = (
    "/",
    "/memories?query={word}",
    "/conversations",
    "/files",
    "/reviews",
    "/tasks",
    "/quarantine",
    "/groups",
    "/try?question={word}",
    "/numbers",
    "/moving",
    "/forget?text={word}",
    "/export",
)
DASHBOARD_ONE = (
    ("/memories/{id}", "mem"),
    ("/conversations/{id}", "ses"),
    ("/documents/{id}", "doc"),
    ("/receipts/{id}", "rcpt"),
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    Args:
        method: In capitals.
        path: With its parameter in braces.
        body: Example of its JSON body, or None.
        prefixes: Prefixes of the ids in its path, or else in its body.
        is_upload: Whether it accepts a file.
    """

    method: str
    path: str
    body: dict[str, Any] | None
    prefixes: tuple[str, ...]
    is_upload: bool


def operations(document: dict[str, Any]) -> list[Operation]:
    """Return the operations of an OpenAPI document, except those of the whole server."""
    found = []
    for path, methods in document["paths"].items():
        if path.startswith(OPEN):
            continue
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            body = content.get("application/json", {}).get("example")
            named = [_NOUNS.get(name, "") for name in re.findall(r"\{(\w+)", path)]
            inside = [_BODY_NOUNS[name] for name in body or {} if name in _BODY_NOUNS]
            prefixes = tuple(dict.fromkeys(named or inside))
            found.append(Operation(method.upper(), path, body, prefixes, (method.upper(), path) in _MULTIPART))
    return found


def noun_of(parameter: str) -> str | None:
    """Return the prefix of the ids that a path's parameter accepts."""
    return _NOUNS.get(parameter)


def filled(body: dict[str, Any], id_: str, word: str) -> dict[str, Any]:
    """Return a body with an id and a word filled in."""
    return {
        name: ([id_] if isinstance(value, list) else id_)
        if id_ and name in _BODY_NOUNS
        else f"{value} {word}"
        if name in _TEXTS
        else value
        for name, value in body.items()
    }
