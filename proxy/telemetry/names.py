"""Names that may stand in a label, an attribute or a line: of a closed set, or accepted by somebody before."""

from __future__ import annotations

import re
from collections.abc import Callable

OTHER = "other"
_MAX_NAMES = 200
_MAX_SEGMENTS = 4
_NAME = re.compile(r"[\w./:@+-]{1,100}", re.ASCII)

# Segments of paths that are no ids.
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

# The GenAI conventions' names for providers, where they are not LiteLLM's.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai_like": "openai",  # whose wire it speaks
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


class Names:
    """Names that were accepted before, at most so many of them: whatever a client makes up, labels stay few."""

    def __init__(self, most: int = _MAX_NAMES) -> None:
        self._most = most
        self._known: set[str] = set()

    def label(self, name: str, is_real: Callable[[], bool]) -> str:
        """Return a name, or ``other``.

        Args:
            name: As somebody outside wrote it; "" stays "".
            is_real: Whether it is more than made up; asked only where the name is new.
        """
        if name in self._known or not name:
            return name
        if len(self._known) >= self._most or not _NAME.fullmatch(name) or not is_real():
            return OTHER
        self._known.add(name)
        return name


def word(text: object) -> str:
    """Return what is shaped like a name or an id, "" for anything else."""
    return text if isinstance(text, str) and _NAME.fullmatch(text) else ""


def route_of(path: str) -> str:
    """Return a path with its ids left out: ``/v1/memories/{id}/history``."""
    segments = path.strip("/").split("/", _MAX_SEGMENTS)[:_MAX_SEGMENTS]
    return "/" + "/".join(segment if segment in _SEGMENTS else "{id}" for segment in segments if segment)


def method_of(method: str) -> str:
    """Return a method, or what stands for all those that nobody knows."""
    return method if method in _METHODS else OTHER


def provider_name(provider: str) -> str:
    """Return a provider's name by the GenAI conventions."""
    return _PROVIDERS.get(provider, provider)
