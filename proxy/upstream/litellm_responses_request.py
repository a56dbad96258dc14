"""From a client's Responses request to the arguments of LiteLLM's call: an explicit list, nothing else gets through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.errors import InvalidRequest
from proxy.upstream.litellm_request import FORCED, NOT_FOR_CALLS, PROVIDER_PARAMS

# What LiteLLM turns into a chat completion.
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

# What a provider takes besides that has the Responses wire itself. Not `metadata`: to LiteLLM it is a side channel.
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

# What only a provider with this wire could do; LiteLLM would do the first itself, with keys of the server's.
_REFUSED_TOOLS = frozenset({"file_search", "code_interpreter", "image_generation", "mcp", "local_shell", "shell"})


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
        body: As the client sent it, parsed.
        items: The input, with what it continues.
        model: With the provider's prefix.
        provider: As LiteLLM names it.
        params: ``litellm_params`` of the deployment: defaults, and settings that are the operator's alone.
        is_native: The provider has this wire itself; else LiteLLM asks it for a chat completion.
        takes_extra_body: Fields unknown to us go on in the body that LiteLLM sends.

    Raises:
        InvalidRequest: If it asks for what cannot be carried across.
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
    """Return what a chat completion has as well, and LiteLLM leaves out for models that it does not know."""
    text = given.get("text")
    verbosity = text.get("verbosity") if isinstance(text, Mapping) else None
    said = {**{name: given.get(name) for name in ("user", "service_tier")}, "verbosity": verbosity}
    return {name: value for name, value in said.items() if value is not None}
