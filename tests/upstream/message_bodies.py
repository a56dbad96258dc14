"""Bodies and events of the Messages API, for tests of translation to and from it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}

TOOL = {"name": "weather", "description": "d", "input_schema": {"type": "object"}, "cache_control": {"type": "x"}}

TURNS = [
    {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}, PNG]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "21"}, PNG]},
            {"type": "text", "text": "So?"},
        ],
    },
]


def events_of(stream: bytes) -> list[dict[str, Any]]:
    blocks = [block.splitlines() for block in stream.split(b"\n\n") if block]
    made = [json.loads(data.removeprefix(b"data: ")) for _, data in blocks]
    assert [name for name, _ in blocks] == [b"event: " + one["type"].encode() for one in made]
    return made


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)

blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "tool_use", "tool_result", "document", "thinking", "search_result"])},
    optional={"text": anything, "content": anything, "source": anything, "input": anything, "id": anything},
)
