"""From a client's chat completion to the arguments of LiteLLM's call: an explicit list, nothing else gets through."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

# What OpenAI's API knows and LiteLLM translates.
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

# What providers' own APIs know beyond that, by their names for it. Not everything unknown may pass as an argument:
# among LiteLLM's own names are api_base, vertex_credentials and aws_bedrock_runtime_endpoint.
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

# Passed as they stand although LiteLLM's model map may not know that the model takes them.
FORCED = ("thinking",)

# Of a deployment's litellm_params: what its router reads, and what is set for each call here.
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
        body: As the client sent it, parsed.
        model: With the provider's prefix.
        provider: As LiteLLM names it.
        params: ``litellm_params`` of the deployment: defaults, and settings that are the operator's alone.
        takes_extra_body: Fields unknown to us go on in the body that LiteLLM sends.
    """
    of_provider = PROVIDER_PARAMS.get(provider, ())
    given = {key: value for key, value in body.items() if key in _OPENAI_PARAMS or key in of_provider}
    operators = {key: value for key, value in params.items() if key not in NOT_FOR_CALLS}
    made: dict[str, Any] = {
        # The providers' own OpenAI endpoints ignore what they do not know; so do we, not LiteLLM's refusal.
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


def _unknown(body: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    known = {"model", "messages", "stream", "stream_options"}
    return {key: value for key, value in body.items() if key not in known and key not in given}


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
