"""A provider of Anthropic's wire that binds each thought to the text before it, and refuses it after any other."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.messages import Said, error, reply
from tests.fakes.provider import Seen
from tests.fakes.replies import Reply, json_reply

BETA = "thinking-binding-controls-2026-08-01"
REFUSAL = (
    "messages.{0}.content.{1}: Invalid `signature` in `thinking` block. The block is bound to a different "
    'conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)


@dataclass
class BindingProvider:
    """Script of a provider that calls the first tool if the last message is about a tool.

    Attributes:
        refusals: Number of refused requests.
        dropped: Number of dropped thoughts.
        knows_the_wish: Whether it supports the field ``block_binding``.
    """

    bound: dict[str, str] = field(default_factory=dict)
    refusals: int = 0
    dropped: int = 0
    knows_the_wish: bool = True

    def __call__(self, seen: Seen) -> Reply | None:
        is_count = seen.path.endswith("/messages/count_tokens")
        if not is_count and not seen.path.endswith("/messages"):
            return None
        asked = seen.json
        thinking = asked.get("thinking") or {}
        wish = thinking.get("block_binding")
        if wish is not None and (BETA not in (seen.header("anthropic-beta") or "") or not self.knows_the_wish):
            return self._refused("thinking.block_binding: Extra inputs are not permitted")
        lost = list(self._lost(asked))
        if lost and (wish or {}).get("prefix_mismatch_behavior") != "drop_block":
            return self._refused(REFUSAL.format(*lost[0]))
        self.dropped += len(lost)
        if is_count:
            return json_reply({"input_tokens": len(json.dumps(asked)) // 4})
        return self._answer(asked, lost)

    def _answer(self, asked: dict[str, Any], lost: list[tuple[int, int]]) -> Reply:
        signature = secrets.token_hex(12)
        self.bound[signature] = prefix(asked, len(asked["messages"]))
        last = asked["messages"][-1]["content"]
        wants_tool = bool(asked.get("tools")) and "tool_result" not in json.dumps(last) and "tool" in json.dumps(last)
        tool = {"id": f"toolu_{signature}", "name": "look", "input": {}}
        said = Said("" if wants_tool else "All right.", [tool] if wants_tool else (), "Let me see.", 3, signature)
        drops = [
            {"type": "thinking_dropped", "path": f"messages.{i}.content.{j}", "reason": "prefix_binding_mismatch"}
            for i, j in lost
        ]
        return reply(said, asked, **({"input_transformations": drops} if drops else {}))

    def _lost(self, asked: dict[str, Any]) -> Any:
        for index, message in enumerate(asked["messages"]):
            blocks = message["content"] if isinstance(message["content"], list) else []
            for place, block in enumerate(blocks):
                if block["type"] == "thinking" and self.bound.get(block["signature"]) != prefix(asked, index):
                    yield index, place

    def _refused(self, message: str) -> Reply:
        self.refusals += 1
        return error(400, "invalid_request_error", message)


def prefix(asked: dict[str, Any], end: int) -> str:
    """Return a digest of the text before a message; ignores cache marks, order of keys and spacing."""
    bound = [asked.get("system"), asked.get("tools"), *asked["messages"][:end]]
    return hashlib.sha256(json.dumps(_unmarked(bound), sort_keys=True).encode()).hexdigest()


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmarked(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: _unmarked(one) for key, one in value.items() if key != "cache_control"}
    if isinstance(made.get("content"), str):
        made["content"] = [{"type": "text", "text": made["content"]}]
    return made
