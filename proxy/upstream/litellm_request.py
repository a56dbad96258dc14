"""Translate a client's chat completion to arguments of LiteLLM's call, by an explicit allow-list."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from proxy.errors import InvalidRequest

# Parameters of OpenAI's API that LiteLLM translates.
_OPENAI_PARAMS = frozenset(
    {
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "modalities",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    }
)

_ANTHROPIC = {"top_k", "cache_control", "container", "context_management", "inference_geo", "mcp_servers"}
_GEMINI = {"top_k", "cached_content", "media_resolution", "safety_settings", "speech_config", "thinking_config"}

# Further parameters of the providers' own APIs, by their names. Unknown fields must not pass as arguments: LiteLLM's
# own argument names include api_base, vertex_credentials and aws_bedrock_runtime_endpoint.
PROVIDER_PARAMS: Mapping[str, Collection[str]] = {
    "anthropic": _ANTHROPIC | {"output_config", "speed"},
    "bedrock": _ANTHROPIC | {"guardrailConfig", "performanceConfig"},
    "vertex_ai": _ANTHROPIC | _GEMINI | {"labels"},
    "gemini": _GEMINI,
    "cohere": {"citation_options", "connectors", "documents", "k", "p", "safety_mode"},
    "cohere_chat": {"citation_options", "connectors", "documents", "k", "p", "safety_mode"},
    "huggingface": {"repetition_penalty", "top_k", "typical_p"},
    "replicate": {"top_k", "min_tokens", "prompt_template"},
}

# Passed unchanged, although LiteLLM's model map may not know that the model accepts them.
FORCED = ("thinking",)

# In a deployment's litellm_params: those that LiteLLM's router reads, and those that are set for each call here.
NOT_FOR_CALLS = frozenset(
    {
        "use_chat_completions_api",
        "rpm",
        "tpm",
        "weight",
        "order",
        "timeout",
        "stream_timeout",
        "max_retries",
        "num_retries",
        "stream",
        "messages",
    }
)


# Kinds of parts that LiteLLM can handle.
_PARTS = frozenset(
    {
        *("text", "image_url", "input_audio", "audio_url", "video_url", "file", "document"),
        *("guarded_text", "grounding_source", "query"),
    }
)
_HEARD = frozenset({"input_audio", "audio_url", "video_url"})  # no Claude accepts these; LiteLLM silently drops them


def check(body: Mapping[str, Any], *, model: str, knows_functions: Callable[[], bool]) -> None:
    """Refuse content that the model needs, but that would not reach it.

    Args:
        body: Parsed body as the client sent it.
        model: Model name with the provider's prefix.
        knows_functions: Returns whether ``functions`` are translated; called only if the request has some.

    Raises:
        InvalidRequest: If the request has such content; the message names it.
    """
    for tool in _dicts(body.get("tools")):
        if tool.get("type") == "custom" and isinstance(tool.get("custom"), dict):
            raise InvalidRequest(
                "Tools of the type 'custom' are not available for this model's provider. Use 'function'.", param="tools"
            )
    if (body.get("functions") or _has_called_functions(body)) and not knows_functions():
        raise InvalidRequest(
            "'functions' are not available for this model's provider. Send them as `tools`, and calls of them as "
            "`tool_calls`.",
            param="functions",
        )
    refused = _HEARD if "claude" in model.lower() else frozenset()
    for kind in _kinds(body):
        if kind not in _PARTS or kind in refused:
            raise InvalidRequest(
                f"A part of the type {kind[:60]!r} cannot be carried to this model's provider. Leave it out.",
                param="messages",
            )


def _has_called_functions(body: Mapping[str, Any]) -> bool:
    return any(one.get("role") == "function" or one.get("function_call") for one in _dicts(body.get("messages")))


def _kinds(body: Mapping[str, Any]) -> Iterator[str]:
    for message in _dicts(body.get("messages")):
        if message.get("role") == "user":
            yield from (str(part.get("type")) for part in _dicts(message.get("content")))


def _dicts(value: object) -> Iterator[Mapping[str, Any]]:
    return (one for one in (value if isinstance(value, list) else ()) if isinstance(one, dict))


def arguments(
    body: Mapping[str, Any],
    *,
    model: str,
    provider: str,
    params: Mapping[str, Any],
    takes_extra_body: bool,
) -> dict[str, Any]:
    """Return the keyword arguments of ``acompletion`` without address, key and time limit.

    Args:
        body: Parsed body as the client sent it.
        model: Model name with the provider's prefix.
        provider: LiteLLM's name of the provider.
        params: ``litellm_params`` of the deployment: defaults, and settings that only the operator may set.
        takes_extra_body: Forward unknown fields in the body that LiteLLM sends.
    """
    of_provider = PROVIDER_PARAMS.get(provider, ())
    given = {key: value for key, value in body.items() if key in _OPENAI_PARAMS or key in of_provider}
    operators = {key: value for key, value in params.items() if key not in NOT_FOR_CALLS}
    given |= _allowed_tools(given)
    made: dict[str, Any] = {
        # The providers' own OpenAI endpoints ignore unknown parameters; so does this call, where LiteLLM would refuse.
        "drop_params": True,
        **operators,
        **given,
        "model": model,
        "messages": body.get("messages"),
        "stream": body.get("stream") is True,
        "max_retries": 0,
        "num_retries": 0,
    }
    if made["stream"] and isinstance(body.get("stream_options"), dict):
        made["stream_options"] = body["stream_options"]
    if takes_extra_body:
        made["extra_body"] = {**_dict(operators.get("extra_body")), **_unknown(body, given)}
    forced = [name for name in FORCED if name in given]
    if forced:
        made["allowed_openai_params"] = [*operators.get("allowed_openai_params", ()), *forced]
    return made


def _allowed_tools(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tools and the choice equivalent to ``allowed_tools``, which other providers do not support."""
    choice = given.get("tool_choice")
    allowed = choice.get("allowed_tools") if isinstance(choice, dict) else None
    if not isinstance(allowed, dict):
        return {}
    names = {_name(one) for one in _dicts(allowed.get("tools"))}
    return {
        "tool_choice": allowed.get("mode") or "auto",
        "tools": [one for one in _dicts(given.get("tools")) if _name(one) in names],
    }


def _name(tool: Mapping[str, Any]) -> str:
    return str(_dict(tool.get("function")).get("name") or tool.get("name"))


def _unknown(body: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    known = {"model", "messages", "stream", "stream_options"}
    return {key: value for key, value in body.items() if key not in known and key not in given}


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
