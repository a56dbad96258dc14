"""The Responses API for providers behind LiteLLM; most of them get a chat completion instead."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from proxy.errors import UpstreamUnreachable
from proxy.process.threads import in_thread
from proxy.upstream import providers
from proxy.upstream.base import Target, WholeResponse
from proxy.upstream.kept import KeptReplies
from proxy.upstream.litellm_reply import response_headers
from proxy.upstream.litellm_responses_body import Translation, arguments, is_terminal
from proxy.upstream.litellm_stream import Failure, Source, outcome
from proxy.upstream.responses_shape import dumped

# Named as in LiteLLM's own lists of models.
OVER_CHAT = "use_chat_completions_api"

_EVENTS, _JSON = "text/event-stream; charset=utf-8", "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """One request through LiteLLM.

    Args:
        body: Parsed body.
        key: The client's key, under which its conversation is stored.
        address: LiteLLM's arguments for address, key and timeout.
        takes_extra_body: Forward unknown fields in the body that LiteLLM sends.
        created: Seconds since the epoch.
    """

    body: Mapping[str, Any]
    key: str
    address: Mapping[str, Any]
    takes_extra_body: bool
    created: float


async def respond(litellm: Any, call: Call, target: Target, kept: KeptReplies) -> WholeResponse | ReplyStream | Failure:
    """Send the request; return the whole reply, the stream after its first event, or the failure before it.

    Raises:
        InvalidRequest: If the request cannot be translated.
    """
    body = call.body
    model = f"openai/{target.model or body.get('model')}" if is_of_openai_wire(target) else str(target.model)
    is_native = await _is_native(model, target)
    asked = kept.asked(call.key, {**body, "previous_response_id": None} if is_native else body)
    given = body.get("input") if is_native else asked.items
    named = arguments(
        body,
        given,
        model=model,
        provider=target.provider,
        params=target.params,
        is_native=is_native,
        takes_extra_body=call.takes_extra_body,
    )
    response = await outcome(litellm.aresponses(**named, **call.address))
    if isinstance(response, Failure):
        return response
    translation = Translation(body, call.created, is_native=is_native)

    def keep() -> None:
        if translation.has_ended and not is_native and body.get("store") is not False:
            kept.keep(call.key, translation.id, asked, translation.output)

    if body.get("stream") is not True:
        whole = dumped(translation.whole(response))
        keep()
        return WholeResponse(200, response_headers(response, _JSON), whole)
    stream = ReplyStream(response, translation, keep)
    failure = await stream.begin()
    if failure is not None:
        await stream.aclose()
        return failure
    return stream


def over_chat(target: Target, litellm: Any) -> Target:
    """Return the target of a Responses request: through LiteLLM if the server of ``target`` lacks that API."""
    return replace(target, upstream=litellm) if target.params.get(OVER_CHAT) is True else target


def is_of_openai_wire(target: Target) -> bool:
    """Return whether a target speaks OpenAI's wire format; it is behind LiteLLM only if it lacks this path."""
    known = providers.provider(target.provider)
    return target.provider == "openai_like" or (known is not None and known.wire == "openai")


class ReplyStream:
    """Translated stream of a response.

    Args:
        response: LiteLLM's stream, before its first event.
        translation: Translation of its events.
        keep: Called before each event is sent; stores the reply once it is complete.
    """

    def __init__(self, response: Any, translation: Translation, keep: Callable[[], None]) -> None:
        self.status = 200
        self.headers: list[tuple[str, str]] = []
        self._response = response
        self._translation = translation
        self._keep = keep
        self._first: Any = None
        chunks = getattr(response, "litellm_custom_stream_wrapper", None)
        self._source = None if chunks is None else Source(chunks)
        self._chunks = chunks

    async def begin(self) -> Failure | None:
        """Wait for the first event; return the failure if there is none."""
        self._first = await self._next()
        self.headers = response_headers(self._chunks or self._response, _EVENTS)
        if self._first is None:
            return Failure(UpstreamUnreachable("The provider ended its reply before it began. Try again."))
        return self._first if isinstance(self._first, Failure) else None

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the events; a stream cut by the provider ends with an error."""
        event = self._first
        while event is not None:
            if isinstance(event, Failure):
                yield self._translation.broken(event.error)
                return
            if is_terminal(event) and self._source is not None and self._source.was_cut:
                break
            written = self._translation.event(event)
            self._keep()
            yield written
            if self._translation.is_through:
                return
            event = await self._next()
        yield self._translation.broken(
            UpstreamUnreachable("The provider's stream ended before its reply did. Send the request again.")
        )

    async def aclose(self) -> None:
        """Disconnect from the provider."""
        if self._source is not None:
            await self._source.aclose()
            return
        close = getattr(getattr(self._response, "response", None), "aclose", None)
        if close is not None:
            await close()

    async def _next(self) -> Any:
        return await outcome(anext(aiter(self._response), None))


async def _is_native(model: str, target: Target) -> bool:
    """Return whether the provider has the Responses API itself, according to LiteLLM."""
    main = await in_thread("load", importlib.import_module, "litellm.responses.main")
    how = {"api_base": target.base_url or None, OVER_CHAT: is_of_openai_wire(target) or target.params.get(OVER_CHAT)}
    provider = "openai" if is_of_openai_wire(target) else target.provider
    return bool(main.provider_stores_the_conversation(model, provider, how))
