"""Replies of Bedrock's Converse API, whole and as a stream of its binary events."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import orjson

from tests.fakes.provider import Seen
from tests.fakes.replies import Reply, json_reply

_TEXT = 7  # type of a header's value
_USAGE = {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7}


def agreeing(seen: Seen) -> Reply | None:
    """Answer ``POST /model/{id}/converse`` and ``/converse-stream``."""
    if seen.path.endswith("/converse"):
        said = {"message": {"role": "assistant", "content": [{"text": "All right."}]}}
        return json_reply({"output": said, "stopReason": "end_turn", "usage": _USAGE, "metrics": {"latencyMs": 1}})
    if not seen.path.endswith("/converse-stream"):
        return None
    events: list[tuple[str, dict[str, Any]]] = [
        ("messageStart", {"role": "assistant"}),
        *(("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": piece}}) for piece in ("All ", "right.")),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": _USAGE, "metrics": {"latencyMs": 1}}),
    ]
    kind = (("Content-Type", "application/vnd.amazon.eventstream"),)
    return Reply([_frame(name, body) for name, body in events], headers=kind)


def error(status: int, kind: str, message: str) -> Reply:
    """Return an error in Bedrock's shape."""
    headers = (("Content-Type", "application/json"), ("x-amzn-RequestId", "req-aws"), ("x-amzn-ErrorType", kind))
    return json_reply({"message": message}, status, headers)


def _frame(name: str, body: dict[str, Any]) -> bytes:
    headers = b"".join(
        _header(key, value)
        for key, value in ((":event-type", name), (":content-type", "application/json"), (":message-type", "event"))
    )
    payload = orjson.dumps(body)
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


def _header(name: str, value: str) -> bytes:
    return bytes([len(name)]) + name.encode() + bytes([_TEXT]) + struct.pack(">H", len(value)) + value.encode()
