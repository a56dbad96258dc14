"""Provider object ids that a request names, at any depth, and ids that a reply hands out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects.objects import handed_out, in_body, in_fields, in_path, in_query
from proxy.errors import InvalidRequest


def ids(body: Any) -> set[str]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return {one.id for one in in_body(raw)}


def chat(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": list(parts)}], **more}


def item(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "input": [fields]}


def tool(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "input": "hi", "tools": [fields]}


NAMED = [
    (chat({"type": "file", "file": {"file_id": "file-of-anna"}}), {"file-of-anna"}),
    (chat({"type": "file", "file": {"file_id": "any look"}}), {"any look"}),
    ({"messages": [{"role": "assistant", "audio": {"id": "a1"}}], "audio": {"voice": "alloy", "format": "wav"}}, {"a1"}),
    (item(type="item_reference", id="msg_of_anna"), {"msg_of_anna"}),
    (item(type="item_reference", id="any look"), {"any look"}),
    (item(id="any look"), {"any look"}),
    (item(id="any look", type=None), {"any look"}),
    (item(type="reasoning", id="rs_1", summary=[], encrypted_content="x"), {"rs_1"}),
    (item(type="newer_kind", id="qq_" + "0a" * 16), {"qq_" + "0a" * 16}),
    (item(type="function_call", id="fc_1", call_id="call_1", name="f", arguments="{}"), {"fc_1"}),
    (item(type="mcp_approval_response", approval_request_id="mcpr_1", approve=True), {"mcpr_1"}),
    (item(role="user", content=[{"type": "input_file", "file_id": "f"}, {"type": "input_image", "file_id": "g"}]), {"f", "g"}),
    (item(type="function_call_output", call_id="c", output=[{"type": "input_file", "file_id": "f"}]), {"f"}),
    (item(type="code_interpreter_call", id="ci_1", container_id="k", code="", outputs=[]), {"ci_1", "k"}),
    (tool(type="file_search", vector_store_ids=["vs_of_anna", "other"]), {"vs_of_anna", "other"}),
    (tool(type="code_interpreter", container="cntr_1"), {"cntr_1"}),
    (tool(type="code_interpreter", container={"type": "auto", "file_ids": ["f"]}), {"f"}),
    (tool(type="shell", environment={"type": "container_reference", "container_id": "k"}), {"k"}),
    (tool(type="image_generation", input_image_mask={"file_id": "f"}), {"f"}),
    ({"input": "hi", "previous_response_id": "x", "conversation": "c"}, {"x", "c"}),
    ({"input": "hi", "conversation": {"id": "c"}}, {"c"}),
    ({"prompt": {"id": "p", "version": "2", "variables": {"doc": {"type": "input_file", "file_id": "f"}}}}, {"p", "f"}),
    ({"input": "hi", "voice": {"id": "v"}}, {"v"}),
    ({"container": {"id": "k", "skills": [{"type": "custom", "skill_id": "skill_1"}]}}, {"k", "skill_1"}),
    ({"container": "k"}, {"k"}),
    (chat({"type": "document", "source": {"type": "file", "file_id": "f"}}), {"f"}),
    (chat({"type": "image_url", "image_url": {"url": "gs://bucket/of-anna.pdf"}}), {"gs://bucket/of-anna.pdf"}),
    (chat({"type": "file", "file": {"file_id": "gs://b/x"}}), {"gs://b/x"}),
    ({"cachedContent": "cachedContents/1", "x": "cachedContents/of-anna"}, {"cachedContents/1", "cachedContents/of-anna"}),
    ({"training_file": "f", "input_file_id": "g"}, {"f", "g"}),
    ({"a": [[{"b": {"something_new": ["resp_of_anna", "batch_of_anna"]}}]]}, {"resp_of_anna", "batch_of_anna"}),
    ({"anything_id": "asst_1"}, {"asst_1"}),
    ({"assistant_id": "1", "thread": {"messages": [{"attachments": [{"file_id": "f"}]}]}}, {"1", "f"}),
    (b'{"file_id": "a", "file_id": "b"}', {"a", "b"}),
    (b'{"file\\u005fid": "a", "x": "\\u0066ile-of-anna"}', {"a", "file-of-anna"}),
    (b' [ {"file_id"\n:\t"a"} ] ', {"a"}),
]  # fmt: skip

NOT_NAMED = [
    chat({"type": "text", "text": "file-of-anna"}),
    {"messages": [{"role": "system", "content": "resp_of_anna"}, {"role": "tool", "tool_call_id": "fc_1", "content": "vs_of_anna"}]},
    {"messages": [{"role": "assistant", "tool_calls": [{"id": "fc_1", "type": "function", "function": {"name": "file_read_all", "arguments": '{"file_id": "file-x"}'}}]}]},
    {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "fc_1", "name": "n", "input": {"file_id": "file-of-anna"}}]}]},
    {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "msg_of_anna", "content": "file-of-anna"}]}]},
    {"input": "msg_of_anna", "instructions": "vs_of_anna", "metadata": {"thread": "thread_of_anna"}},
    {"input": ["file-of-anna", "resp_of_anna"], "model": "file-embedding-model"},
    {"tools": [{"type": "function", "function": {"name": "thread_reader", "parameters": {"properties": {"file_id": {"enum": ["file-of-anna"]}}}}}]},
    {"tools": [{"name": "n", "input_schema": {"properties": {"id": {"const": "msg_of_anna"}}}}]},
    {"tools": [{"type": "file_search"}, {"type": "code_interpreter", "container": {"type": "auto"}}], "tool_choice": {"type": "file_search"}},
    {"include": ["file_search_call.results"], "prompt": "file-of-anna", "voice": "alloy", "stop": ["msg_of_anna"]},
    {"conversation": None, "previous_response_id": None, "file_ids": [], "user": "conv_of_anna", "prompt_cache_key": "conv_of_anna"},
    {"container": {"skills": [{"type": "anthropic", "skill_id": "pptx"}]}},
    chat({"type": "file", "file": {"file_id": "https://example.test/a.pdf"}}),
    chat({"type": "image_url", "image_url": {"url": "https://example.test/files/file-of-anna.png"}}),
    chat({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}),
    item(type="message", role="assistant", id="__fake_id__", content=[]),
    {"tags": ["ci_cd", "vs_x"], "effort": "msg of anna", "x": "profile-picture"},
    b"", b"plain words", b"{", b'{"file": 1}',
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), NAMED)
def test_what_a_body_names_is_found(body: Any, expected: set[str]) -> None:
    assert ids(body) == expected


@pytest.mark.parametrize("body", NOT_NAMED)
def test_text_and_data_of_the_client_name_nothing(body: Any) -> None:
    assert ids(body) == set()


def test_unreadable_body_that_may_name_objects_is_refused() -> None:
    for body in (b'{"file_id": "a"', b'{"id": ' + b"[" * 200_000, b'"file-of-anna'):
        with pytest.raises(InvalidRequest):
            in_body(body)


LEAVES = st.none() | st.booleans() | st.text(max_size=8)
KEYS = st.sampled_from(["a", "b", "input", "content", "messages", "tools", "type", "x_y", "output"])
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
AROUND = st.lists(
    st.sampled_from(["list", *("a", "b", "content", "messages", "tools", "output", "source")]), max_size=12
)


@given(AROUND, TREES, st.booleans())
def test_depth_hides_nothing(around: list[str], beside: Any, indents: bool) -> None:
    body: Any = {"vector_store_ids": ["vs_of_anna"], "beside": beside}
    for layer in around:
        body = [beside, body] if layer == "list" else {layer: body, "beside": beside}
    raw = json.dumps(body, indent=2 if indents else None).encode()
    assert "vs_of_anna" in ids(raw)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("responses/r1", {"r1"}),
        ("responses/resp_1/input_items", {"resp_1"}),
        ("responses/r1/cancel", {"r1"}),
        ("chat/completions/c1/messages", {"c1"}),
        ("vector_stores/v/file_batches/b/files", {"v", "b"}),
        ("vector_stores/v/files/f/content", {"v", "f"}),
        ("containers/k/files/f/content", {"k", "f"}),
        ("conversations/c/items/i", {"c", "i"}),
        ("threads/t/runs/r/steps/s", {"t", "r", "s"}),
        ("fine_tuning/jobs/j/checkpoints", {"j"}),
        ("messages/batches/b/results", {"b"}),
        ("evals/e/runs/r/output_items/o", {"e", "r", "o"}),
        ("something/new/file-of-anna", {"file-of-anna"}),
        ("files", set()),
        ("responses/compact", set()),
        ("embeddings", set()),
        ("audio/speech", set()),
    ],
)
def test_ids_in_paths_are_found(path: str, expected: set[str]) -> None:
    assert {one.id for one in in_path(path.split("/"))} == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("after=file-of-anna&limit=3", {"file-of-anna"}),
        ("after=%66ile-of-anna", {"file-of-anna"}),
        ("after=%2566ile-of-anna", {"file-of-anna"}),
        ("vector_store_id=v&file_ids[]=f&filter[file_id]=g", {"v", "f", "g"}),
        ("conversation=c", {"c"}),
        ("order=desc&purpose=batch_output&model=m&include[]=file_search_call.results", set()),
    ],
)
def test_ids_in_queries_are_found(query: str, expected: set[str]) -> None:
    assert {one.id for one in in_query(query)} == expected
    assert {one.id for one in in_fields([("image", "file-of-anna"), ("prompt", "file-of-anna")])} == {"file-of-anna"}


def test_reply_hands_out_no_echoed_ids() -> None:
    reply = {
        "id": "resp_1",
        "previous_response_id": "resp_of_anna",
        "tools": [{"type": "file_search", "vector_store_ids": ["vs_of_anna"]}],
        "metadata": {"id": "file-of-anna"},
        "output": [
            {"type": "mcp_list_tools", "id": "mcpl_1", "tools": [{"annotations": {"file_id": "file-of-anna", "id": "msg_of_anna"}}]},
            {"type": "code_interpreter_call", "id": "ci_1", "container_id": "cntr_1", "outputs": [{"logs": '"id":"msg_of_anna"'}]},
            {"type": "message", "id": "msg_1", "content": [{"text": '{"id": "file-of-anna"}', "annotations": [{"file_id": "cfile_1"}]}]},
        ],
    }  # fmt: skip
    mine = ["resp_1", "mcpl_1", "ci_1", "msg_1", "cntr_1", "cfile_1"]
    assert sorted(handed_out(reply, "responses")) == sorted(mine)
    assert sorted(handed_out({"type": "response.completed", "response": reply}, "responses")) == sorted(mine)
    assert handed_out({"type": "response.output_item.done", "item": {"id": "rs_1"}}, "responses") == ["rs_1"]
    said = {
        "content": [
            {"type": "tool_use", "id": "toolu_1", "input": {"file_id": "file-of-anna", "container": {"id": "x"}}}
        ]
    }
    assert handed_out({**said, "container": {"id": "container_1"}}, "messages") == ["container_1"]
    assert handed_out({"choices": [{"message": {"audio": {"id": "audio_1"}}}]}, "chat") == ["audio_1"]
    assert handed_out({"object": "list", "data": [{"id": "msg_1", "file_id": "file-x"}]}, "below") == ["msg_1"]
    for odd in (None, [], "x", {"output": {}}, {"output": [1, {"id": 2}]}, {"response": []}):
        assert handed_out(odd, "responses") == []
