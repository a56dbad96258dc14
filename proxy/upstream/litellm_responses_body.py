"""Translate a Responses request to arguments of LiteLLM's call, and LiteLLM's objects back to Responses.

The arguments are an explicit allow-list; a reply has all the fields that OpenAI's replies always have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.errors import InvalidRequest
from proxy.upstream.litellm_error import error_object
from proxy.upstream.litellm_reply import plain
from proxy.upstream.litellm_request import FORCED, NOT_FOR_CALLS, PROVIDER_PARAMS
from proxy.upstream.responses_shape import EventWriter, new_id, response

# Parameters that LiteLLM translates to a chat completion.
_TRANSLATED = frozenset(
    {
        "instructions",
        "max_output_tokens",
        "parallel_tool_calls",
        "prompt_cache_key",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_p",
        "user",
    }
)

# Further parameters for a provider with the Responses API. Not `metadata`: LiteLLM uses it as a side channel.
_NATIVE = frozenset(
    {
        "background",
        "context_management",
        "conversation",
        "include",
        "max_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_retention",
        "store",
        "top_logprobs",
        "truncation",
    }
)

# Tools that only a provider with this API can run; LiteLLM would run the first itself, with the server's keys.
_REFUSED_TOOLS = frozenset({"file_search", "code_interpreter", "image_generation", "mcp", "local_shell", "shell"})

_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})

_NOT_OURS = frozenset({"phase", "provider_specific_fields"})
_TEXT_PARTS = frozenset({"output_text", "text"})


def arguments(
    body: Mapping[str, Any],
    items: Any,
    *,
    model: str,
    provider: str,
    params: Mapping[str, Any],
    is_native: bool,
    takes_extra_body: bool,
) -> dict[str, Any]:
    """Return the keyword arguments of ``aresponses`` without address, key and time limit.

    Args:
        body: Parsed body as the client sent it.
        items: The input, preceded by the items that it continues.
        model: Model name with the provider's prefix.
        provider: LiteLLM's name of the provider.
        params: ``litellm_params`` of the deployment: defaults, and settings that only the operator may set.
        is_native: The provider has this API itself; else LiteLLM sends it a chat completion.
        takes_extra_body: Forward unknown fields in the body that LiteLLM sends.

    Raises:
        InvalidRequest: If the request cannot be translated.
    """
    if not is_native:
        _check(body)
    of_provider = PROVIDER_PARAMS.get(provider, ())
    known = _TRANSLATED | _NATIVE if is_native else _TRANSLATED
    given = {key: value for key, value in body.items() if (key in known or key in of_provider) and value is not None}
    operators = {key: value for key, value in params.items() if key not in NOT_FOR_CALLS}
    made: dict[str, Any] = {
        "drop_params": True,
        **operators,
        **given,
        "model": model,
        "input": items,
        "stream": body.get("stream") is True,
        "max_retries": 0,
        "num_retries": 0,
        "use_chat_completions_api": not is_native,
        "_skip_mcp_handler": True,
    }
    if takes_extra_body:
        more = operators.get("extra_body")
        made["extra_body"] = {**(more if isinstance(more, dict) else {}), **_unknown(body, given, is_native=is_native)}
    forced = [name for name in FORCED if name in given]
    if forced:
        made["allowed_openai_params"] = [*operators.get("allowed_openai_params", ()), *forced]
    return made


def _check(body: Mapping[str, Any]) -> None:
    for name in ("conversation", "prompt"):
        if body.get(name) is not None:
            raise InvalidRequest(
                f"{name!r} stands with a provider of the Responses API, which this model's provider is not. "
                "Send what it says in `input` and `instructions`.",
                param=name,
            )
    if body.get("background") is True:
        raise InvalidRequest(
            "'background' is not available for this model, whose provider keeps no replies.", param="background"
        )
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind in _REFUSED_TOOLS:
            raise InvalidRequest(
                f"The tool {kind!r} runs at OpenAI and is not available for this model. Leave it out, or use a model "
                "whose provider has the Responses API.",
                param="tools",
            )


def _unknown(body: Mapping[str, Any], given: Mapping[str, Any], *, is_native: bool) -> dict[str, Any]:
    known = {"model", "input", "stream", "stream_options"} | (set() if is_native else _NATIVE | {"metadata"})
    beyond = {key: value for key, value in body.items() if key not in known and key not in given}
    return beyond if is_native else {**_of_chat(given), **beyond}


def _of_chat(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that chat completions also have, but that LiteLLM drops for models unknown to it."""
    text = given.get("text")
    verbosity = text.get("verbosity") if isinstance(text, Mapping) else None
    said = {**{name: given.get(name) for name in ("user", "service_tier")}, "verbosity": verbosity}
    return {name: value for name, value in said.items() if value is not None}


@dataclass(slots=True)
class Translation:
    """Translation of one reply, with its state.

    Args:
        body: Parsed body of the request.
        created: Seconds since the epoch.
        is_native: The provider has this API itself: its reply is relayed as it is.
        id: Id of the reply, generated here if it is translated from a chat completion.
        output: Items of the reply, once they are known.
        has_ended: The provider's reply is complete.
        is_through: A terminal event was written.
    """

    body: Mapping[str, Any]
    created: float
    is_native: bool
    id: str = field(default_factory=new_id)
    output: list[dict[str, Any]] = field(default_factory=list)
    has_ended: bool = False
    is_through: bool = False
    _writer: EventWriter = field(default_factory=EventWriter)

    def whole(self, given: Any) -> dict[str, Any]:
        """Return the translation of a whole reply."""
        made = self._response(plain(given), "completed")
        self.has_ended = made["status"] in ("completed", "incomplete")
        return made

    def event(self, given: Any) -> bytes:
        """Return the client's event for one of LiteLLM's events."""
        event = _filled(_clean(plain(given)))
        kind = _kind(event.get("type"))
        event["type"] = kind
        if isinstance(event.get("response"), dict):
            state = "in_progress" if kind not in _TERMINAL else kind.partition(".")[2]
            event["response"] = self._response(event["response"], state)
        self.has_ended = self.has_ended or kind in ("response.completed", "response.incomplete")
        self.is_through = self.is_through or kind in _TERMINAL
        event.pop("sequence_number", None)
        if kind == "response.reasoning_summary_text.delta" and event.get("summary_index") is None:
            event["summary_index"] = 0
        return self._writer.event(event)

    def broken(self, error: Exception) -> bytes:
        """Return the event that ends a stream which broke off."""
        return self._writer.error(error_object(error))

    def _response(self, given: Mapping[str, Any], state: str) -> dict[str, Any]:
        if self.is_native:
            self.id = str(given.get("id") or self.id)
            made = {**response(self.body, id_=self.id, created=self.created, model="", status=state)}
            made.update({key: value for key, value in _clean(given).items() if key in made or value is not None})
        else:
            made = response(
                self.body,
                id_=self.id,
                created=self.created,
                model=str(given.get("model") or ""),
                status=str(given.get("status") or state),
                output=[_filled(_clean(item)) for item in given.get("output") or ()],
                usage=given.get("usage"),
                error=given.get("error"),
                incomplete=given.get("incomplete_details"),
            )
        self.output = made["output"] or self.output
        return made


def is_terminal(event: Any) -> bool:
    """Return whether one of LiteLLM's events ends a reply without failure."""
    return _kind(getattr(event, "type", None)) in ("response.completed", "response.incomplete")


def _kind(value: Any) -> str:
    return str(getattr(value, "value", value))


def _clean(value: Any) -> Any:
    """Return a value without LiteLLM's own additions."""
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key not in _NOT_OURS}
        return {key: _clean(one) for key, one in kept.items() if key != "cost" or one is not None}
    return [_clean(one) for one in value] if isinstance(value, list) else value


def _filled(value: Any) -> Any:
    """Return an event or an item with the lists that clients iterate without checking that they exist."""
    if isinstance(value, list):
        return [_filled(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: one if key == "response" else _filled(one) for key, one in value.items()}
    kind = _kind(made.get("type"))
    if kind in _TEXT_PARTS or kind in ("response.output_text.delta", "response.output_text.done"):
        made["logprobs"] = made.get("logprobs") or []
    if kind in _TEXT_PARTS:
        made["annotations"] = made.get("annotations") or []
    if kind == "reasoning":
        made["summary"] = made.get("summary") or []
    return made
