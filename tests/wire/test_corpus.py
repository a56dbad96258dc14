"""Recorded streams of real providers, replayed by the fake one: bytes out are bytes in, memory off and on."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.config import environment
from tests.fakes.replies import DONE, SSE_HEADERS, Reply
from tests.wire.conftest import Wire, ask

_CHECKOUT = Path(__file__).parents[2]
_DATA = Path(environment().get("THROUGHLINE_DATA") or _CHECKOUT.parent / "shared" / "data")

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


def recordings() -> list[object]:
    own = [pytest.param(_REASONING, id="own-reasoning"), pytest.param(_TOOLS, id="own-tools")]
    files = sorted((_DATA / "wire" / "chunks").glob("*/*.chunks.txt"))
    return own + [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in files]


@pytest.mark.parametrize("recording", recordings())
def test_recorded_stream_comes_out_as_it_went_in(wire: Wire, recording: str | Path) -> None:
    text = recording.read_text() if isinstance(recording, Path) else recording
    events = [b"data: " + line.encode() + b"\n\n" for line in text.split("\n") if line.strip()]
    pieces = [*events, DONE]
    wire.provider.then(Reply(pieces, headers=SSE_HEADERS, framing="chunked"))
    answer = wire.send(ask(stream=True))
    assert (answer.status, answer.body) == (200, b"".join(pieces))
