"""LiteLLM's streams in OpenAI's wire format; a cut stream ends with an error, not as if complete."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import Any

from proxy.errors import UpstreamUnreachable
from proxy.upstream import litellm_reply as reply
from proxy.upstream.litellm_error import error_object

_EVENTS = "text/event-stream; charset=utf-8"
_GEMINI = "vertex_and_google_ai_studio_gemini"
_GEMINI_END = re.compile(r'(?<!\\)"finishReason"')


@dataclass(frozen=True, slots=True)
class Failure:
    """An error raised by a call into LiteLLM."""

    error: Exception


async def outcome(work: Awaitable[Any]) -> Any:
    """Await a call into LiteLLM; return an error that it raises as a ``Failure``."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - its hundred adapters raise whatever they please
        return Failure(error)


class LiteLLMStream:
    """Translated stream of a chat completion.

    Args:
        response: LiteLLM's stream, before its first chunk.
        include_usage: Whether the client asked for the chunk with the usage.
    """

    def __init__(self, response: Any, *, include_usage: bool) -> None:
        self.status = 200
        self.headers: list[tuple[str, str]] = []
        self._response = response
        self._first: Any = None
        self._source = Source(response)
        self._writer = reply.ChunkWriter(include_usage=include_usage)

    async def begin(self) -> Failure | None:
        """Wait for the first chunk; return the failure if there is none."""
        self._first = await outcome(anext(aiter(self._response), None))
        self.headers = reply.response_headers(self._response, _EVENTS)
        if self._first is None:
            return Failure(UpstreamUnreachable("The provider ended its reply before it began. Try again."))
        return self._first if isinstance(self._first, Failure) else None

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the events; a stream cut by the provider ends with an error instead of ``[DONE]``."""
        chunk = self._first
        while chunk is not None:
            if isinstance(chunk, Failure):
                yield reply.event({"error": error_object(chunk.error)})
                return
            if self._is_made_up(chunk):
                cut = UpstreamUnreachable("The provider's stream ended before its reply did. Send the request again.")
                yield reply.event(cut.body())
                return
            for event in self._writer.events(chunk):
                yield event
            chunk = await outcome(anext(aiter(self._response), None))
        yield reply.DONE

    async def aclose(self) -> None:
        """Disconnect from the provider."""
        await self._source.aclose()

    def _is_made_up(self, chunk: Any) -> bool:
        """Return whether LiteLLM invented the end: it sends ``stop`` for a stream that was cut."""
        return any(choice.finish_reason is not None for choice in chunk.choices) and self._source.was_cut


class Source:
    """Observer of LiteLLM's chunk stream; create it before the stream begins."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._lines = _observed(stream)

    @property
    def was_cut(self) -> bool:
        """Return whether the stream ended although the provider never marked its reply as complete."""
        if self._lines is not None and self._lines.is_used:
            return not self._lines.has_ended
        heard = [getattr(self._stream, f"{kind}_finish_reason", "") for kind in ("received", "intermittent")]
        return all(reason is None for reason in heard)

    async def aclose(self) -> None:
        """Disconnect from the provider."""
        # Anthropic's iterator has no aclose; closing its underlying iterator closes the socket.
        source = getattr(getattr(self._stream, "completion_stream", None), "streaming_response", None)
        await self._stream.aclose()
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()


class _Lines:
    """Gemini's lines on the way to LiteLLM, observed because LiteLLM reads a chunk without a reason as ``stop``."""

    def __init__(self) -> None:
        self.is_used = False
        self.has_ended = False
        self._source: Any = None

    def over(self, source: Any) -> _Lines:
        self.is_used = True
        self._source = source
        return self

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> Any:
        line = await anext(aiter(self._source))
        self.has_ended = self.has_ended or _GEMINI_END.search(str(line)) is not None
        return line

    async def aclose(self) -> None:
        await self._source.aclose()


def _observed(response: Any) -> _Lines | None:
    """Put an observer between the socket and LiteLLM, for the case that the stream is Gemini's."""
    make_call = getattr(response, "make_call", None)
    if make_call is None or getattr(response, "completion_stream", None) is not None:
        return None
    lines = _Lines()

    async def observed(*args: Any, **kwargs: Any) -> Any:
        stream = await make_call(*args, **kwargs)
        if type(stream).__module__.endswith(_GEMINI):
            stream.streaming_response = lines.over(stream.streaming_response)
        return stream

    response.make_call = observed
    return lines
