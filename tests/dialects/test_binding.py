"""Bound thoughts: the prefix that they are bound to, and edits that touch nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import binding

THOUGHT = {"type": "thinking", "thinking": "So.", "signature": "Eq4="}
HIDDEN = {"type": "redacted_thinking", "data": "Zz=="}
TEXT = {"type": "text", "text": "Yes."}
words = st.text(max_size=8)
blocks = st.sampled_from([THOUGHT, HIDDEN, TEXT, {"type": "tool_use", "id": "t", "name": "n", "input": {"a": [1]}}])
contents = st.one_of(words, st.lists(blocks, max_size=4))
messages = st.lists(st.builds(lambda role, content: {"role": role, "content": content}, st.sampled_from(["user", "assistant"]), contents), max_size=6)  # fmt: skip
thinking = st.one_of(
    st.none(),
    st.dictionaries(words.filter(lambda name: name != "block_binding"), words, max_size=3),
    st.fixed_dictionaries({"type": st.just("adaptive"), "block_binding": st.dictionaries(words, words, max_size=1)}),
)
bodies = st.fixed_dictionaries({"model": words, "messages": messages}, optional={"thinking": thinking, "x": words})


def marked(value: Any) -> Any:
    """Return the value with cache marks, reversed keys, and strings as lists of one block."""
    if isinstance(value, list):
        return [marked(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: marked(one) for key, one in reversed(value.items())}
    if isinstance(made.get("content"), str):
        made["content"] = [{"text": made["content"], "type": "text", "cache_control": {"type": "ephemeral"}}]
    return {**made, "cache_control": {"type": "ephemeral"}} if "type" in made else made


@given(bodies)
def test_marks_order_and_forms_change_no_prefix(body: dict[str, Any]) -> None:
    assert binding.digest(body) == binding.digest(marked(body))
    assert binding.digest(body) == binding.digest({**body, "max_tokens": 9, "stream": True})


@given(bodies, st.integers(0, 6), words)
def test_exactly_the_words_before_a_thought_count(body: dict[str, Any], end: int, word: str) -> None:
    said = body["messages"]
    end = min(end, len(said))
    longer = {**body, "messages": [*said[:end], {"role": "user", "content": word}, *said[end:]]}
    assert binding.digest(body, end) == binding.digest(longer, end)
    assert binding.digest(body) != binding.digest(longer)
    assert binding.digest(body) != binding.digest({**body, "system": word})


def test_attribution_of_a_coding_agent_does_not_count() -> None:
    system = [{"type": "text", "text": f"x-anthropic-billing-header: cch={n};"} for n in range(2)]
    first, second = ({"system": [one, TEXT], "messages": []} for one in system)
    assert binding.digest(first) == binding.digest(second)


@given(bodies)
def test_only_the_wish_to_drop_is_added(body: dict[str, Any]) -> None:
    raw = json.dumps(body).encode()
    made = json.loads(binding.dropping(raw))
    if not isinstance(body.get("thinking"), dict):
        assert made == body
        return
    wish = {**body["thinking"].get("block_binding", {}), binding.CHOICE: binding.DROP}
    assert made == {**body, "thinking": {**body["thinking"], "block_binding": wish}}


@given(bodies)
def test_without_thoughts_all_else_stands(body: dict[str, Any]) -> None:
    raw = json.dumps(body).encode()
    made = json.loads(binding.without_thoughts(raw))
    kept = [
        {**one, "content": [block for block in one["content"] if not binding.signature_of(block)]}
        if isinstance(one["content"], list)
        else one
        for one in body["messages"]
    ]
    is_empty = any(not now["content"] and was["content"] for now, was in zip(kept, body["messages"], strict=True))
    assert made == (body if is_empty else {**body, "messages": kept})


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"thinking": {', b'{"messages": [{"content": [', b"\xff"])
def test_what_is_no_request_comes_back(raw: bytes) -> None:
    assert binding.dropping(raw) == raw
    assert binding.without_thoughts(raw) == raw


@given(st.lists(st.tuples(st.sampled_from(["anthropic-beta", "Anthropic-Beta", "x-a"]), words), max_size=3))
def test_the_beta_stands_once_behind_the_clients_own(headers: list[tuple[str, str]]) -> None:
    made = binding.with_beta(headers)
    assert binding.with_beta(made) == made
    assert sum(binding.BETA in value for _, value in made) == 1
    assert [one for one in headers if one not in made] in ([], [(name, v) for name, v in headers if name != "x-a"][-1:])


def test_signatures_are_those_of_the_assistants_thoughts() -> None:
    body = {
        "messages": [{"role": "assistant", "content": [THOUGHT, TEXT, HIDDEN]}, {"role": "user", "content": [THOUGHT]}]
    }
    assert binding.last_signed(body, 9) == ["Zz=="]
    assert binding.place_of(body, "Eq4=") == 0
    assert binding.place_of(body, "other") is None
