"""User and conversation in ``metadata.user_id``: some agents put both into it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from proxy.dialects.body import string
from proxy.dialects.copying import parsed

# The two forms in which Anthropic's own coding agent sends it: up to 2.1.77, and since then.
_IN_ONE = re.compile(
    r"user_(?P<device>[0-9a-f]{64})_account_(?P<account>[0-9a-f-]*)_session_(?P<session>[0-9a-f-]{36})"
)
_MAX_JSON = 2048


def named(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata with a ``user_id`` that stays the same from one conversation to the next.

    Where the id holds a conversation's as well, that one comes out as ``conversation_id``, unless there is one, and
    the rest, of a device or an account, as ``device_user`` too.
    """
    user_id = string(metadata.get("user_id"))
    found = _IN_ONE.fullmatch(user_id)
    if found is not None:
        return _apart(metadata, found["account"] or found["device"], found["session"])
    if user_id.startswith("{") and len(user_id) <= _MAX_JSON:
        given = parsed(user_id.encode("utf-8", "replace"))
        if isinstance(given, dict):
            user = string(given.get("account_uuid")) or string(given.get("device_id"))
            if user and string(given.get("session_id")):
                return _apart(metadata, user, string(given["session_id"]))
    return dict(metadata)


def _apart(metadata: Mapping[str, Any], user: str, session: str) -> dict[str, Any]:
    return {"conversation_id": session, **metadata, "user_id": user, "device_user": user}
