"""Chat completions of the acting provider."""

from __future__ import annotations

from typing import Any

from tests.fakes import replies
from tests.fakes.acts import Act, Asked, Call, images, pieces, texts
from tests.fakes.replies import DONE, SSE_HEADERS, Reply, Text


def asked(body: dict[str, Any]) -> Asked:
    messages = body.get("messages") or []
    results = []
    while messages and messages[-1].get("role") in ("tool", "function"):
        results.insert(0, texts(messages[-1].get("content")))
        messages = messages[:-1]
    users = [one for one in messages if one.get("role") == "user"]
    content = users[-1].get("content") if users else ""
    tools = [one["function"] for one in body.get("tools") or [] if one.get("type") == "function"]
    tools += body.get("functions") or []
    choice = body.get("tool_choice") or ""
    shape = body.get("response_format") or {}
    schema = {"type": "object", "properties": {}} if shape.get("type") == "json_object" else None
    return Asked(
        texts(content),
        images(content),
        tuple(results),
        {tool["name"]: tool.get("parameters") or {} for tool in tools},
        choice if isinstance(choice, str) else (choice.get("function") or {}).get("name", ""),
        shape["json_schema"].get("schema", {}) if shape.get("type") == "json_schema" else schema,
    )


def reply(act: Act, body: dict[str, Any]) -> Reply:
    said = Text(act.text, model=body["model"])
    options = body.get("stream_options") or {}
    if not body.get("stream"):
        whole = replies.completion(said)
        if act.calls:
            message = {"role": "assistant", "content": None, "refusal": None, "annotations": []}
            message["tool_calls"] = [_call(call) for call in act.calls]
            whole["choices"][0] |= {"message": message, "finish_reason": "tool_calls"}
        return replies.json_reply(whole)
    chunks = replies.chunks(said, include_usage=bool(options.get("include_usage")))
    if act.calls:
        first, *_, last = [one for one in chunks if one["choices"]]
        usage = [one for one in chunks if not one["choices"]]
        first["choices"][0]["delta"]["content"] = None
        last["choices"][0]["finish_reason"] = "tool_calls"
        chunks = [first, *(_with(first, delta) for delta in _deltas(act)), last, *usage]
    return Reply([*map(replies.event, chunks), DONE], headers=SSE_HEADERS)


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _deltas(act: Act) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = []
    for index, call in enumerate(act.calls):
        named = _call(call)
        deltas.append({"index": index, **named, "function": {**named["function"], "arguments": ""}})
        deltas += [{"index": index, "function": {"arguments": piece}} for piece in pieces(call.arguments)]
    return [{"tool_calls": [delta]} for delta in deltas]


def _with(chunk: dict[str, Any], delta: dict[str, Any]) -> dict[str, Any]:
    return {**chunk, "choices": [{**chunk["choices"][0], "delta": delta}]}
