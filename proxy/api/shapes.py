"""How our nouns look in JSON: OpenAI-shaped objects and lists, times in ISO 8601 UTC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from proxy.clock import iso
from proxy.store.sessions import Session
from proxy.types import Episode, Hit, Memory


def listing(data: Sequence[dict[str, Any]], *, has_more: bool = False) -> dict[str, Any]:
    """Return a list object; ``after=last_id`` asks for what follows."""
    ids = [entry["id"] for entry in data if "id" in entry]
    return {
        "object": "list",
        "data": list(data),
        "first_id": ids[0] if ids else None,
        "last_id": ids[-1] if ids else None,
        "has_more": has_more,
    }


def memory_shape(memory: Memory) -> dict[str, Any]:
    """Return a memory as the API shows it."""
    return {
        "id": memory.id,
        "object": "memory",
        "kind": memory.kind,
        "text": memory.text,
        "subject": memory.subject,
        "relation": memory.relation,
        "object_value": memory.object,
        "quote": memory.quote,
        "source": memory.source,
        "provenance": memory.provenance,
        "confidence": round(memory.confidence, 3),
        "status": memory.status,
        "valid_from": iso(memory.valid_from),
        "valid_to": _when(memory.valid_to),
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "last_used_at": _when(memory.last_used_at),
        "expires_at": _when(memory.expires_at),
        "uses": memory.uses,
        "pinned": memory.pinned,
        "priority": memory.priority,
        "session": memory.session,
        "metadata": memory.metadata,
    }


def hit_shape(hit: Hit) -> dict[str, Any]:
    """Return a ranked entry as receipts and searches show it."""
    return {
        "source": hit.source,
        "id": hit.id,
        "text": hit.text,
        "score": round(hit.score, 4),
        "tokens": hit.tokens,
        "when": _when(hit.when),
        "session": hit.session,
        "role": hit.role,
        "kind": hit.kind,
    }


def session_shape(session: Session) -> dict[str, Any]:
    """Return a conversation as the API shows it; ``name`` is the client's own id for it."""
    return {
        "id": session.id,
        "object": "session",
        "name": session.name or None,
        "created_at": iso(session.created_at),
        "last_at": iso(session.last_at),
        "ended_at": _when(session.ended_at),
        "turns": session.turns,
    }


def episode_shape(episode: Episode) -> dict[str, Any]:
    """Return one message of a conversation."""
    return {
        "id": episode.id,
        "object": "session.message",
        "turn": episode.turn,
        "role": episode.role,
        "text": episode.text,
        "at": iso(episode.at),
    }


def _when(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None
