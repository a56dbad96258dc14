"""Names allowed in metric labels, span attributes and log lines: from a closed set, or validated before."""

from __future__ import annotations

import re
from collections.abc import Callable

OTHER = "other"
_MAX_NAMES = 200
_MAX_SEGMENTS = 4
_NAME = re.compile(r"[\w./:@+-]{1,100}", re.ASCII)

# Path segments that are not ids.
_SEGMENTS = frozenset(
    {
        "v1", "healthz", "readyz", "health", "liveliness", "readiness", "metrics",
        "audio", "batches", "cancel", "chat", "compact", "completions", "content", "conversations", "count_tokens",
        "edits", "embeddings", "files", "fine_tuning", "generations", "images", "input_items", "input_tokens", "items",
        "jobs", "messages", "models", "moderations", "realtime", "rerank", "responses", "search", "speech",
        "transcriptions", "translations", "uploads", "variations", "vector_stores", "videos",
        "agents", "chunks", "documents", "end", "erase", "export", "forget", "history", "import", "memories",
        "link", "pin", "receipts", "restore", "reviews", "sessions", "state", "tasks", "thumbnail", "undo", "unlink",
        "unpin", "usage", "openapi.json",
        "memory-manager", "add", "retrieve", "create", "update", "quarantine", "human", "request", "answer",
    }
)  # fmt: skip

_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})

# Provider names of the GenAI conventions that differ from LiteLLM's.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai_like": "openai",  # it uses OpenAI's wire format
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


class Names:
    """Set of validated names, limited to ``most``, so that client-supplied names cannot inflate label cardinality."""

    def __init__(self, most: int = _MAX_NAMES) -> None:
        self._most = most
        self._known: set[str] = set()

    def label(self, name: str, is_real: Callable[[], bool]) -> str:
        """Return a name, or ``other``.

        Args:
            name: Name from a client; "" stays "".
            is_real: Check that the name exists; called only for a new name.
        """
        if name in self._known or not name:
            return name
        if len(self._known) >= self._most or not _NAME.fullmatch(name) or not is_real():
            return OTHER
        self._known.add(name)
        return name


def word(text: object) -> str:
    """Return ``text`` if it has the form of a name or an id, otherwise ""."""
    return text if isinstance(text, str) and _NAME.fullmatch(text) else ""


def route_of(path: str) -> str:
    """Return a path with ids replaced: ``/v1/memories/{id}/history``."""
    segments = path.strip("/").split("/", _MAX_SEGMENTS)[:_MAX_SEGMENTS]
    return "/" + "/".join(segment if segment in _SEGMENTS else "{id}" for segment in segments if segment)


def method_of(method: str) -> str:
    """Return the HTTP method, or ``OTHER`` if non-standard, to bound label cardinality."""
    return method if method in _METHODS else OTHER


def provider_name(provider: str) -> str:
    """Return a provider's name by the GenAI conventions."""
    return _PROVIDERS.get(provider, provider)
