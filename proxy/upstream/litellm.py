"""Upstream for providers of other wire formats, through LiteLLM; the only module that imports it, and lazily."""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import structlog

from proxy.clock import Clock
from proxy.errors import (
    CallRefused,
    InvalidJson,
    InvalidRequest,
    NotFound,
    ProxyError,
    Unauthorized,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from proxy.process.threads import in_thread
from proxy.settings.load import quiet_libraries, set_default_variable
from proxy.upstream import headers as crossing
from proxy.upstream import litellm_reply as reply
from proxy.upstream.base import (
    ClientGaveUp,
    Target,
    UpstreamRequest,
    UpstreamResponse,
    WholeResponse,
    patience,
    whole_body,
)
from proxy.upstream.connections import handle_everywhere
from proxy.upstream.kept import KeptReplies
from proxy.upstream.litellm_callbacks import QUIETLY, Callbacks
from proxy.upstream.litellm_error import error_object, translate
from proxy.upstream.litellm_request import arguments, check
from proxy.upstream.litellm_responses import Call, is_of_openai_wire, respond
from proxy.upstream.litellm_stream import Failure, LiteLLMStream, outcome

_log = structlog.get_logger(__name__)

_MAX_SILENCE_S = 3600.0
_REFUSING = frozenset({400, 413, 422})
_OF_THE_ACCOUNT = re.compile(r"credit|billing|balance|quota|payment|api key", re.IGNORECASE)  # the operator can fix it
_OPENAI_SDK_PROVIDERS = frozenset({"azure", "azure_ai", "openai"})
_ITS_OWN_WARNINGS = (
    ".*conflict with protected namespace.*",
    ".*Accessing the.*attribute on the instance is deprecated.*",
    ".*`ReadOnly` qualifier.*",
)


async def load() -> Any:
    """Return LiteLLM's module, imported in a thread the first time (seconds of CPU, some 200 MB)."""
    return await in_thread("load", _import)


class LiteLLMUpstream:
    """Upstream that translates chat completions and responses with LiteLLM."""

    def __init__(self, clock: Clock | None = None, callbacks: Callbacks | None = None) -> None:
        self._clock = clock or Clock()
        self._kept = KeptReplies(self._clock)
        self._callbacks = callbacks

    async def send(self, request: UpstreamRequest, target: Target) -> UpstreamResponse:
        """Send a request; return once the reply, or its first event, has arrived. Other paths are a 404.

        Raises:
            UpstreamUnreachable: If the provider could not be reached.
            UpstreamTimeout: If it sent nothing for too long.
            Unauthorized: If there is no key to send.
        """
        if request.method == "POST" and request.path == "/responses":
            return await self._respond(request, target)
        if request.method != "POST" or request.path != "/chat/completions":
            raise NotFound(
                f"{target.provider!r} does not serve {request.path!r} here; only /chat/completions and /responses."
            )
        body = _parsed(await whole_body(request))
        if not isinstance(body.get("messages"), list) or not body["messages"]:
            raise InvalidRequest("'messages' must be a list of at least one message.", param="messages")
        litellm = await self._load()
        model = target.model or str(body.get("model"))
        check(body, model=model, knows_functions=lambda: _knows_functions(litellm, model, target.provider))
        call = {
            **arguments(
                body,
                model=model,
                provider=target.provider,
                params=target.params,
                takes_extra_body=_takes_extra_body(litellm, target.provider),
            ),
            **_address(request, target),
        }
        response = await outcome(litellm.acompletion(**call))
        if isinstance(response, Failure):
            return _failed(response.error, target.provider, gave_up=patience(request, target).is_clients)
        if not call["stream"]:
            return _whole(response)
        options = call.get("stream_options") or {}
        stream = LiteLLMStream(response, include_usage=options.get("include_usage") is True)
        failure = await stream.begin()
        if failure is not None:
            await stream.aclose()
            return _failed(failure.error, target.provider, gave_up=patience(request, target).is_clients)
        return stream

    async def _respond(self, request: UpstreamRequest, target: Target) -> UpstreamResponse:
        body = _parsed(await whole_body(request))
        litellm = await self._load()
        call = Call(
            body=body,
            key=crossing.client_key(request.headers) or "",
            address=_address(request, target),
            takes_extra_body=is_of_openai_wire(target) or _takes_extra_body(litellm, target.provider),
            created=self._clock.now().timestamp(),
        )
        response = await respond(litellm, call, target, self._kept)
        if isinstance(response, Failure):
            return _failed(response.error, target.provider, gave_up=patience(request, target).is_clients)
        return response

    async def _load(self) -> Any:
        litellm = await load()
        callbacks, self._callbacks = self._callbacks, None
        if callbacks is not None:
            callbacks.start(litellm)  # on the event loop: some callbacks start tasks
        return litellm

    async def aclose(self) -> None:
        """Close LiteLLM's connections, if it was loaded."""
        if _import.cache_info().currsize:
            await _import().close_litellm_async_clients()


@dataclass(frozen=True, slots=True)
class Completion:
    """Result of a background call.

    Args:
        text: Text of the reply, JSON if a schema was given; the model may have violated the schema.
        usage: Usage object of the provider.
        cost_usd: Cost by LiteLLM's price list; None if the model is not in it.
        finish_reason: ``stop``, ``length``, ``content_filter`` …; None if not given.
        refusal: The provider's refusal text, if it has a field for it.
    """

    text: str
    usage: Mapping[str, Any] | None = None
    cost_usd: float | None = None
    finish_reason: str | None = None
    refusal: str | None = None


async def complete(
    *,
    model: str,
    messages: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any] | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout_s: float = 60.0,
    params: Mapping[str, Any] | None = None,
) -> Completion:
    """Call a model for Throughline's own background work, with the operator's key.

    Args:
        model: LiteLLM's name of the model.
        messages: Messages in OpenAI's format.
        schema: JSON schema of the reply.
        api_key: Key; None: from the provider's own variable.
        base_url: Base URL; None: the provider's.
        timeout_s: Timeout of the whole call.
        params: Further arguments, such as ``temperature`` or ``max_tokens``.

    Raises:
        CallRefused: If the provider rejects this call itself.
        UpstreamUnreachable: If the provider failed otherwise; the message states the failure.
        UpstreamTimeout: If it took too long.
    """
    litellm = await load()
    shape = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
    call = {
        **(params or {}),
        **({"response_format": shape} if schema is not None else {}),
        "model": model,
        "messages": list(messages),
        "api_key": api_key,
        "api_base": base_url,
        "timeout": timeout_s,
        "drop_params": True,
        "max_retries": 0,
        "num_retries": 0,
        **QUIETLY,
    }
    response = await outcome(litellm.acompletion(**call))
    if isinstance(response, Failure):
        failed = _failed(response.error, model)
        said = error_object(response.error)["message"]
        is_refused = failed.status in _REFUSING and not _OF_THE_ACCOUNT.search(said)
        kind = CallRefused if is_refused else UpstreamUnreachable
        raise kind(f"{model} answered {failed.status}: {said}") from response.error
    hidden = getattr(response, "_hidden_params", None) or {}
    usage, cost_usd = reply.usage(response), hidden.get("response_cost")
    if not response.choices:
        return Completion("", usage, cost_usd)
    choice = response.choices[0]
    message = choice.message
    extras = getattr(message, "provider_specific_fields", None) or {}  # LiteLLM stores OpenAI's refusal here
    refusal = getattr(message, "refusal", None) or extras.get("refusal")
    return Completion(message.content or "", usage, cost_usd, choice.finish_reason, refusal)


@lru_cache(maxsize=1)
def _import() -> Any:
    quiet_libraries()
    # DEV would read a .env file of the working directory into the environment.
    set_default_variable("LITELLM_MODE", "PRODUCTION")
    set_default_variable("LITELLM_LOG", "CRITICAL")
    # LiteLLM takes a hundred equal chunks for a loop and would abort the stream.
    set_default_variable("REPEATED_STREAMING_CHUNK_LIMIT", str(10**9))
    found = importlib.util.find_spec("litellm")
    for folder in found.submodule_search_locations or () if found else ():
        set_default_variable("TIKTOKEN_CACHE_DIR", str(Path(folder) / "litellm_core_utils" / "tokenizers"))
    handle_everywhere()
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.disable_hf_tokenizer_download = True
    litellm.turn_off_message_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        # Its lines may hold prompts and keys.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    # LiteLLM filters these warnings itself at its import, but if other code imported it earlier, its filters may be
    # gone. Its types are built on first use, which would always fail if warnings are errors.
    for message in _ITS_OWN_WARNINGS:
        warnings.filterwarnings("ignore", message=message)
    _warm(litellm)
    return litellm


def _warm(litellm: Any) -> None:
    """Make one mocked call without network: LiteLLM's first call imports for another half second."""
    tool = {"type": "function", "function": {"name": "none", "parameters": {"type": "object", "properties": {}}}}
    try:
        litellm.completion(
            model="anthropic/claude-sonnet-4-5",
            messages=[{"role": "user", "content": "-"}],
            tools=[tool],
            api_key="-",
            mock_response="-",
        )
    except tuple(litellm.LITELLM_EXCEPTION_TYPES) as error:
        _log.warning("LiteLLM was not warmed, its first call will be slow", error=type(error).__name__)


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidJson(error) from error
    if not isinstance(body, dict):
        raise InvalidRequest("The body must be a JSON object.")
    return body


def _address(request: UpstreamRequest, target: Target) -> dict[str, Any]:
    """Return the address, key and timeout of the call: from the route, never from the body."""
    key = target.api_key or (crossing.client_key(request.headers) if target.forwards_auth else None)
    if key is None and is_of_openai_wire(target):
        key = "none"  # a local server may need no key, but the client library does
    if key is None and not target.uses_ambient:
        raise Unauthorized(
            f"There is no key for {target.provider!r}. "
            "Send one as a bearer token, or set the provider's key on the server."
        )
    return {"api_key": key, "api_base": target.base_url or None, "timeout": _silence_s(request, target)}


def _silence_s(request: UpstreamRequest, target: Target) -> float:
    bounds = patience(request, target)
    given = [one for one in (bounds.silence_s, bounds.head_s) if one is not None]
    return min(given, default=_MAX_SILENCE_S)


def _takes_extra_body(litellm: Any, provider: str) -> bool:
    return provider in _OPENAI_SDK_PROVIDERS or provider in litellm.openai_compatible_providers


def _knows_functions(litellm: Any, model: str, provider: str) -> bool:
    known = litellm.get_supported_openai_params(model.removeprefix(f"{provider}/"), custom_llm_provider=provider)
    return "functions" in (known or ())


def _whole(response: Any) -> WholeResponse:
    return WholeResponse(200, reply.response_headers(response, "application/json"), reply.completion(response))


def _failed(error: Exception, place: str, *, gave_up: bool = False) -> WholeResponse:
    translated = translate(error, place)
    if gave_up and isinstance(translated, UpstreamTimeout):
        raise ClientGaveUp(str(translated)) from error
    if isinstance(translated, ProxyError):
        raise translated from error
    return WholeResponse(translated.status, translated.headers, translated.body)
