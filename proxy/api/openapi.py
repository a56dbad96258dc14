"""``GET /openapi.json``: a description of the memory API, each operation with an example."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.openapi.utils import get_openapi

router = APIRouter()

MEMORY, SESSION, REVIEW = "mem_0123456789abcdef01234567", "ses_0123456789abcdef01234567", "end_0123456789abcdef01234567"
JOB = "job_0123456789abcdef01234567"

# Example bodies of operations. A test sends each of them to a running server.
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/v1/memories"): {"text": "I play the harpsichord", "kind": "preference", "pinned": True},
    ("patch", "/v1/memories/{memory_id}"): {"text": "I play the spinet", "expires_at": "2030-01-01T00:00:00Z"},
    ("post", "/v1/memories/search"): {"query": "which instrument do I play", "limit": 5, "sources": ["fact"]},
    ("post", "/v1/memories/preview"): {"text": "Which instrument do I play?", "budget": 600},
    ("post", "/v1/memories/forget"): {"text": "harpsichord", "dry_run": True},
    ("post", "/v1/memories/undo"): {"batch": REVIEW},
    ("post", "/v1/memories/{memory_id}/link"): {"ids": [MEMORY]},
    ("post", "/v1/memories/{memory_id}/unlink"): {"id": MEMORY},
    ("post", "/v1/memories/{memory_id}/share"): {"team": "cooks"},
    ("post", "/v1/memories/{memory_id}/unshare"): {"team": "cooks"},
    ("post", "/v1/quarantine"): {"memory": MEMORY, "reason": "told in jest"},
    ("post", "/v1/agents"): {"name": "cook", "capabilities": ["recipes", "shopping"], "private": True},
    ("patch", "/v1/agents/{agent_id}"): {"private": False},
    ("post", "/v1/tasks"): {"title": "renew the passport", "due": "2030-05-31", "priority": 8},
    ("patch", "/v1/tasks/{task_id}"): {"status": "done"},
    ("post", "/v1/reviews/{review_id}"): {"decision": "approve"},
    ("post", "/memory-manager/items/add"): {
        "content": "The settings page keeps the scroll position of each tab.",
        "content_type": "frontend",
        "priority": 7,
    },
    ("post", "/memory-manager/items/retrieve"): {"item_id": MEMORY, "decompress": True},
    ("post", "/memory-manager/items/search"): {"query": "how does the settings page scroll", "limit": 5},
    ("post", "/memory-manager/tasks/create"): {"title": "write the report", "priority": 5, "due": "2030-03-01"},
    ("post", "/memory-manager/tasks/update"): {"task_id": MEMORY, "status": "in_progress"},
    ("post", "/memory-manager/agents/create"): {"name": "clerk", "capabilities": ["letters"]},
    ("post", "/memory-manager/quarantine"): {
        "content": "The nightly build fails on Tuesdays.",
        "context_type": "bug_report",
        "reason": "not checked",
    },
    ("post", "/memory-manager/human/request"): {"question": "Which region?", "choices": ["eu", "us"]},
    ("post", "/memory-manager/human/answer"): {"request_id": REVIEW, "answer": "eu"},
}
FORMS = {("post", "/v1/documents"): "file=@notes.md", ("post", "/v1/import"): "file=@memories.txt"}
PROJECT = "0123456789abcdef0123456789abcdef"
_IDS = {
    "memory_id": MEMORY,
    "session_id": SESSION,
    "review_id": REVIEW,
    "project_id": PROJECT,
    "agent_id": PROJECT,
    "task_id": MEMORY,
    "entry_id": "qua_0123456789abcdef01234567",
    "job_id": JOB,
}
_ERROR = {
    "description": "What is wrong, and how to mend it.",
    "content": {
        "application/json": {
            "example": {
                "error": {
                    "message": "There is no memory 'mem_0'. GET /v1/memories?status=all lists yours.",
                    "type": "invalid_request_error",
                    "param": "id",
                    "code": "not_found",
                }
            }
        }
    },
}


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> dict[str, Any]:
    """Return the description; providers document their own wire formats."""
    state = request.app.state
    if getattr(state, "openapi", None) is None:
        state.openapi = described(request.app.routes)
    found: dict[str, Any] = state.openapi
    return found


def described(routes: list[Any]) -> dict[str, Any]:
    """Return an OpenAPI document of the routes that FastAPI knows."""
    found = get_openapi(
        title="Throughline",
        version="1",
        summary="The memory side: what is remembered, why, and how to change it.",
        routes=routes,
    )
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            _complete(method, path, operation)
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    found["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{"key": []}]
    return found


def _complete(method: str, path: str, operation: dict[str, Any]) -> None:
    operation["responses"].pop("422", None)  # an invalid request is a 400
    operation["responses"]["4XX"] = _ERROR
    body = BODIES.get((method, path))
    if body is not None:
        operation["requestBody"]["content"]["application/json"]["example"] = body
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["example"] = _IDS.get(parameter["name"], f"{parameter['name']}_0123456789abcdef")
    operation["x-codeSamples"] = [{"lang": "shell", "source": _curl(method, path, operation, body)}]


def _curl(method: str, path: str, operation: dict[str, Any], body: dict[str, Any] | None) -> str:
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", parameter["example"])
            path = path.replace("{" + parameter["name"] + ":path}", parameter["example"])
    verb = "" if method == "get" else f" -X {method.upper()}"
    sent = f" -H 'Content-Type: application/json' -d '{json.dumps(body)}'" if body is not None else ""
    sent += f" -F {form}" if (form := FORMS.get((method, path))) else ""
    return f"curl -s{verb} http://127.0.0.1:8787{path} -H 'Authorization: Bearer KEY'{sent}"
