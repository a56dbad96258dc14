"""Recorded traffic of real providers: the repository's samples, and all files of the shared data if present."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import yaml

from proxy.settings.load import environment

_CHECKOUT = Path(__file__).parents[2]
WIRE = Path(environment().get("THROUGHLINE_DATA") or _CHECKOUT.parent / "shared" / "data") / "wire"

_CODED = {"content-length", "content-encoding", "transfer-encoding"}  # the recorder has decoded them

_REASONING = r"""
{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"Let me "},"finish_reason":null}],"usage":null}
{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"think é…"},"finish_reason":null}],"usage":null}
{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"content":"Tea \"it\" is \u2615"},"finish_reason":null}],"usage":null}
{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1e1,"total_tokens":13}}
"""
_TOOLS = r"""
{"id":"","object":"chat.completion.chunk","created":0,"model":"","prompt_filter_results":[{"prompt_index":0}],"choices":[]}
{"id":"c2","object":"chat.completion.chunk","created":2,"model":"m-2","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"look","arguments":""}}]},"finish_reason":null,"content_filter_results":{}}]}
{"id":"c2","object":"chat.completion.chunk","created":2,"model":"m-2","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"at\": 1}"}}]},"finish_reason":null}]}
{"id":"c2","object":"chat.completion.chunk","created":2,"model":"m-2","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"x_groq":{"id":"r","usage":{"queue_time":0.0101}}}
"""
_RESPONSE = r"""
{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","output":[],"usage":null},"sequence_number":0}
{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Té \u2615","logprobs":[],"sequence_number":1,"obfuscation":"aB"}
{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[],"usage":{"input_tokens":1}},"sequence_number":2}
"""
_MESSAGE = r"""
{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"ping"}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Té \u2615"}}
{"type":"content_block_stop","index":0}
{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}
{"type":"message_stop"}
"""


@dataclass(frozen=True)
class Recording:
    """Recorded events, one JSON text per line."""

    name: str
    text: str

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.split("\n") if line.strip()]

    @property
    def is_of_messages(self) -> bool:
        return '"message_start"' in self.lines[0]

    @property
    def is_of_responses(self) -> bool:
        return '"response.created"' in self.lines[0]

    @property
    def events(self) -> list[bytes]:
        return [b"data: " + line.encode() + b"\n\n" for line in self.lines]

    @property
    def named_events(self) -> list[bytes]:
        """Events with the ``event:`` line that Anthropic and the Responses API send before each."""
        kinds = [orjson.loads(line)["type"] for line in self.lines]
        return [f"event: {kind}\n".encode() + event for kind, event in zip(kinds, self.events, strict=True)]


@dataclass(frozen=True)
class Interaction:
    """One recorded request and its response."""

    name: str
    method: str
    target: str
    body: bytes
    content_type: str
    status: int
    headers: tuple[tuple[str, str], ...]
    reply: bytes


def recordings() -> list[Recording]:
    own = {"own-reasoning": _REASONING, "own-tools": _TOOLS, "own-response": _RESPONSE, "own-message": _MESSAGE}
    files = sorted([*WIRE.glob("chunks/*/*.chunks.txt"), *WIRE.glob("other-wire/*/*.chunks.txt")])
    shared = [Recording(f"{path.parent.name}/{path.name}", path.read_text()) for path in files]
    return [*(Recording(name, text) for name, text in own.items()), *shared]


def interactions() -> list[Interaction]:
    return [one for path in sorted(WIRE.glob("openai/*.yaml")) for one in _interactions(path)]


def _interactions(path: Path) -> list[Interaction]:
    recorded = yaml.safe_load(path.read_text())["interactions"]
    return [_interaction(f"{path.stem}-{at}", one["request"], one["response"]) for at, one in enumerate(recorded)]


def _interaction(name: str, request: dict[str, Any], response: dict[str, Any]) -> Interaction:
    headers = [(key, value) for key, values in response["headers"].items() for value in values]
    kept = tuple((key, value) for key, value in headers if key.lower() not in _CODED)
    url = urlsplit(request["url"])
    target = url.path + (f"?{url.query}" if url.query else "")
    content_type = request["headers"]["Content-Type"][0]
    reply = (response.get("body") or "").encode()
    body = (request.get("body") or "").encode()
    return Interaction(name, request["method"], target, body, content_type, response["code"], kept, reply)
