"""A provider for real clients that obeys: calls tools, fills in schemas, counts images; on three wires."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.fakes import acting_chat, acting_messages, acting_responses
from tests.fakes.acts import Act, Asked, Call
from tests.fakes.provider import Seen
from tests.fakes.replies import Reply, error

WIRES = {
    "/chat/completions": acting_chat,
    "/responses": acting_responses,
    "/messages": acting_messages,
}


def acting(seen: Seen) -> Reply | None:
    """Reply to a request of one of the three wires; other requests get the default echo."""
    wire = next((wire for path, wire in WIRES.items() if seen.method == "POST" and seen.path.endswith(path)), None)
    is_compaction = seen.method == "POST" and seen.path.endswith("/responses/compact")
    if wire is None and not is_compaction:
        return None
    try:
        body = orjson.loads(seen.body)
    except orjson.JSONDecodeError:
        return error(400, "We could not parse the JSON body of your request.", "invalid_json")
    if wire is None:
        return None if body.get("model") else error(400, "you must provide a model parameter", "missing_model")
    if not body.get("model"):
        return error(400, "you must provide a model parameter", "missing_required_parameter")
    asked = wire.asked(body)
    if not asked.question and not asked.images and not asked.results:
        return error(400, "There is nothing to answer.", "empty_array")
    return wire.reply(decide(asked), body)


def decide(asked: Asked) -> Act:
    """Call the named tool, or the first one; else fill in the schema; else repeat the whole question."""
    if asked.tools and not asked.results and asked.choice != "none":
        named = asked.choice if asked.choice in asked.tools else next(iter(asked.tools))
        arguments = orjson.dumps(example(asked.tools[named] or {}, asked.question)).decode()
        return Act(calls=(Call("call_1", named, arguments),))
    if asked.schema is not None:
        return Act(orjson.dumps(example(asked.schema, asked.question)).decode())
    parts = [f"You said: {asked.question}"]
    parts += [f"I see {asked.images} image(s)."] if asked.images else []
    parts += [f"The tool said: {result}" for result in asked.results]
    return Act(" ".join(parts))


def example(schema: Mapping[str, Any], question: str) -> Any:
    """Return a value that fits a JSON schema; numbers and capitalised words come from the question."""
    return _Example(schema, question.partition("<memory")[0]).of(schema)


@dataclass
class _Example:
    root: Mapping[str, Any]
    question: str
    depth: int = field(default=0)

    def of(self, schema: Mapping[str, Any]) -> Any:
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        kind = next(one for one in kind if one != "null") if isinstance(kind, list) else kind
        if kind == "object":
            named = re.findall(r"'(\w+)'", self.question) if schema is self.root else []
            properties = schema.get("properties") or {name: {"type": "string"} for name in named}
            return {name: self.of(one) for name, one in properties.items()}
        if kind == "array":
            return [self.of(schema.get("items") or {})] * max(1, schema.get("minItems", 1))
        return self._scalar(kind, schema)

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while True:
            if "$ref" in schema:
                found: Any = self.root
                for part in schema["$ref"].removeprefix("#/").split("/"):
                    found = found[part]
                schema = found
            elif choices := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
                schema = next((one for one in choices if one.get("type") != "null"), choices[0])
            else:
                return schema

    def _scalar(self, kind: str, schema: Mapping[str, Any]) -> Any:
        numbers = re.findall(r"\d+", self.question)
        if kind in ("integer", "number"):
            return int(numbers[0]) if numbers else schema.get("minimum", 1)
        if kind == "boolean":
            return True
        if kind == "null":
            return None
        words = re.findall(r"[\u4e00-\u9fff]+", self.question) or re.findall(r"(?<=\s)[A-Z][a-z]+", self.question)
        return words[-1] if words else "text"
