"""Table of known providers: base URL, key variables, form of a key, wire format; seeded from LiteLLM's tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from proxy.settings.load import is_loopback

Wire = Literal["openai", "litellm"]


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider.

    Args:
        name: LiteLLM's name.
        base_url: Base URL up to and including ``/v1``; "" if only the operator or LiteLLM knows it.
        key_variables: Environment variables that may hold its key, best first.
        base_variables: Environment variables that may hold another base URL.
        key_form: Form of its keys; None: no form that distinguishes them from others.
        wire: ``openai``: bytes are relayed; ``litellm``: the adapter translates.
        is_local: A server of the operator that needs no key.
        is_ambient: Uses the host's (cloud) credentials, never a client's key.
        model_prefix: Prefix to add to model names that lack it.
    """

    name: str
    base_url: str = ""
    key_variables: tuple[str, ...] = ()
    base_variables: tuple[str, ...] = ()
    key_form: re.Pattern[str] | None = None
    wire: Wire = "openai"
    is_local: bool = False
    is_ambient: bool = False
    model_prefix: str = ""

    def has_form(self, key: str) -> bool:
        """Return whether a key has the form of this provider's keys; False if they have no distinct form."""
        return self.key_form is not None and self.key_form.fullmatch(key) is not None

    def is_strange(self, key: str) -> bool:
        """Return whether a key has the mark of another provider, so that it was not meant for this one."""
        return _MARKED.match(key) is not None and not self.has_form(key)

    def key_from(self, environ: Mapping[str, str]) -> str | None:
        """Return the key from the environment."""
        return next((environ[name] for name in self.key_variables if environ.get(name)), None)

    def base_from(self, environ: Mapping[str, str]) -> str:
        """Return the base URL from the environment, else the provider's own, without a final slash."""
        named = next((environ[name] for name in self.base_variables if environ.get(name)), None)
        return self.normal(named) if named else self.base_url

    def normal(self, base_url: str) -> str:
        """Return a base URL normalised for this provider's wire."""
        return normal_base(base_url) if self.wire == "openai" else base_url.strip().rstrip("/")

    def is_named(self, environ: Mapping[str, str]) -> bool:
        """Return whether the environment enables it: by its key, or by a base URL that clients' keys are sent to."""
        return self.key_from(environ) is not None or any(environ.get(name) for name in self.base_variables)

    def is_redirected(self, environ: Mapping[str, str]) -> bool:
        """Return whether the environment names another server than the provider's own."""
        base_url = self.base_from(environ)
        return bool(base_url) and base_url != self.base_url and not self.owns(base_url)

    def owns(self, base_url: str) -> bool:
        """Return whether a base URL is on the provider's own host or a subdomain, such as ``eu.api.openai.com``."""
        own, host = urlsplit(self.base_url).hostname or "", urlsplit(base_url).hostname or ""
        return bool(own) and (host == own or host.endswith(f".{own}"))


def normal_base(url: str) -> str:
    """Return a base URL without a final slash, and with ``/v1`` if it has no path at all."""
    stripped = url.strip().rstrip("/")
    return stripped if urlsplit(stripped).path else stripped + "/v1"


def elsewhere(environ: Mapping[str, str], port: int) -> dict[str, str]:
    """Return the environment without base URLs that point to a port of this machine.

    Operators set such a URL for the clients of this server, and may start the server in the same shell.
    """
    named = {name for listed in _PROVIDERS for name in listed.base_variables}
    return {key: value for key, value in environ.items() if key not in named or not _is_here(value, port)}


def provider(name: str) -> Provider | None:
    """Return a provider by LiteLLM's name for it."""
    return _BY_NAME.get(name)


def known() -> list[Provider]:
    """Return every provider of the table."""
    return _PROVIDERS


def unlisted(name: str) -> Provider:
    """Return a provider that only LiteLLM knows, with the usual names of its variables."""
    stem = name.upper().replace("-", "_")
    return Provider(name, "", (f"{stem}_API_KEY",), (f"{stem}_API_BASE",), wire="litellm")


def of_bare_name(model: str) -> Provider | None:
    """Return the provider of a well-known model name without a prefix."""
    return next((_BY_NAME[name] for name, form in _BARE_NAMES if form.match(model)), None)


def _is_here(url: str, port: int) -> bool:
    try:
        parts = urlsplit(url.strip())
        return parts.port == port and is_loopback(parts.hostname or "")
    except ValueError:
        return False


# Prefixes of keys that belong to exactly one provider.
_MARKED = re.compile(
    r"AIza|csk-|fw_|ghp_|github_pat_|gsk_|hf_|nvapi-|pplx-|r8_|sk-(?:admin|ant|or|proj|svcacct)-|tgp_v1_|xai-"
)
_BARE_NAMES = [
    (
        "openai",
        re.compile(
            r"gpt-|o\d|chatgpt-|codex-|ft:|text-embedding-|text-moderation-|omni-moderation-|davinci|babbage"
            r"|dall-e-|tts-|whisper-|computer-use-|sora-"
        ),
    ),
    ("anthropic", re.compile(r"claude-")),
    ("gemini", re.compile(r"gemini-")),
]


def _row(
    name: str,
    base_url: str,
    key_variables: str,
    base_variables: str = "",
    form: str = "",
    *,
    wire: Wire = "openai",
    is_local: bool = False,
    is_ambient: bool = False,
    model_prefix: str = "",
) -> Provider:
    return Provider(
        name=name,
        base_url=base_url,
        key_variables=tuple(key_variables.split()),
        base_variables=tuple(base_variables.split()),
        key_form=re.compile(form) if form else None,
        wire=wire,
        is_local=is_local,
        is_ambient=is_ambient,
        model_prefix=model_prefix,
    )


_HEX32, _ALNUM32, _ALNUM40 = r"[0-9a-f]{32}", r"[0-9A-Za-z]{32}", r"[0-9A-Za-z]{40}"
_TOGETHER_KEYS = "TOGETHER_API_KEY TOGETHER_AI_API_KEY TOGETHERAI_API_KEY TOGETHER_AI_TOKEN"
_FIREWORKS_KEYS = "FIREWORKS_API_KEY FIREWORKS_AI_API_KEY FIREWORKSAI_API_KEY FIREWORKS_AI_TOKEN"
_QWEN_URL = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"
_AWS = "AWS_BEARER_TOKEN_BEDROCK AWS_ACCESS_KEY_ID AWS_PROFILE AWS_ROLE_ARN"

# fmt: off
_OPENAI_WIRE = [
    _row("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL OPENAI_API_BASE",
         r"sk-(?!ant-|or-)[\w-]+"),
    _row("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "GROQ_API_BASE", r"gsk_\w+"),
    _row("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "MISTRAL_API_BASE", _ALNUM32),
    _row("codestral", "https://codestral.mistral.ai/v1", "CODESTRAL_API_KEY", "CODESTRAL_API_BASE", _ALNUM32),
    _row("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "DEEPSEEK_API_BASE", f"sk-{_HEX32}"),
    _row("together_ai", "https://api.together.xyz/v1", _TOGETHER_KEYS, "TOGETHER_AI_API_BASE",
         rf"tgp_v1_[\w-]+|{_HEX32}{_HEX32}"),
    _row("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY OR_API_KEY", "OPENROUTER_API_BASE",
         r"sk-or-[\w-]+"),
    _row("xai", "https://api.x.ai/v1", "XAI_API_KEY", "XAI_API_BASE", r"xai-\w+"),
    _row("fireworks_ai", "https://api.fireworks.ai/inference/v1", _FIREWORKS_KEYS, "FIREWORKS_API_BASE", r"fw_\w+",
         model_prefix="accounts/fireworks/models/"),
    _row("perplexity", "https://api.perplexity.ai", "PERPLEXITYAI_API_KEY PERPLEXITY_API_KEY", "PERPLEXITY_API_BASE",
         r"pplx-\w+"),
    _row("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "CEREBRAS_API_BASE", r"csk-\w+"),
    _row("nvidia_nim", "https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY NVIDIA_API_KEY",
         "NVIDIA_NIM_API_BASE", r"nvapi-[\w-]+"),
    _row("sambanova", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY", "SAMBANOVA_API_BASE"),
    _row("deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY", "DEEPINFRA_API_BASE", _ALNUM32),
    _row("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "MOONSHOT_API_BASE"),
    _row("dashscope", _QWEN_URL, "DASHSCOPE_API_KEY", "DASHSCOPE_API_BASE", f"sk-{_HEX32}"),
    _row("zai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "ZAI_API_BASE"),
    _row("volcengine", "https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY", "VOLCENGINE_API_BASE"),
    _row("nebius", "https://api.studio.nebius.ai/v1", "NEBIUS_API_KEY", "NEBIUS_API_BASE"),
    _row("novita", "https://api.novita.ai/v3/openai", "NOVITA_API_KEY", "NOVITA_API_BASE"),
    _row("hyperbolic", "https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY", "HYPERBOLIC_API_BASE"),
    _row("lambda_ai", "https://api.lambda.ai/v1", "LAMBDA_API_KEY", "LAMBDA_API_BASE"),
    _row("featherless_ai", "https://api.featherless.ai/v1", "FEATHERLESS_AI_API_KEY", "FEATHERLESS_API_BASE"),
    _row("baseten", "https://inference.baseten.co/v1", "BASETEN_API_KEY", "BASETEN_API_BASE"),
    _row("meta_llama", "https://api.llama.com/compat/v1", "LLAMA_API_KEY", "LLAMA_API_BASE"),
    _row("vercel_ai_gateway", "https://ai-gateway.vercel.sh/v1", "VERCEL_AI_GATEWAY_API_KEY"),
    _row("github", "https://models.inference.ai.azure.com", "GITHUB_API_KEY", "GITHUB_API_BASE"),
]
_OWN_SERVERS = [
    _row("ollama", "http://localhost:11434/v1", "OLLAMA_API_KEY", "OLLAMA_API_BASE", is_local=True),
    _row("ollama_chat", "http://localhost:11434/v1", "OLLAMA_API_KEY", "OLLAMA_API_BASE", is_local=True),
    _row("lm_studio", "http://localhost:1234/v1", "LM_STUDIO_API_KEY", "LM_STUDIO_API_BASE", is_local=True),
    _row("llamafile", "http://localhost:8080/v1", "LLAMAFILE_API_KEY", "LLAMAFILE_API_BASE", is_local=True),
    _row("hosted_vllm", "", "HOSTED_VLLM_API_KEY", "HOSTED_VLLM_API_BASE", is_local=True),
    _row("litellm_proxy", "", "LITELLM_PROXY_API_KEY", "LITELLM_PROXY_API_BASE", is_local=True),
]
_OTHER_WIRES = [
    _row("anthropic", "", "ANTHROPIC_API_KEY", "ANTHROPIC_API_BASE ANTHROPIC_BASE_URL", r"sk-ant-[\w-]+",
         wire="litellm"),
    _row("gemini", "", "GEMINI_API_KEY GOOGLE_API_KEY", "GEMINI_API_BASE", r"AIza[\w-]{35}|AQ\.[\w-]+",
         wire="litellm"),
    _row("cohere", "", "COHERE_API_KEY CO_API_KEY", "COHERE_API_BASE", _ALNUM40, wire="litellm"),
    _row("cohere_chat", "", "COHERE_API_KEY CO_API_KEY", "COHERE_API_BASE", _ALNUM40, wire="litellm"),
    _row("huggingface", "", "HF_TOKEN HUGGINGFACE_API_KEY", "HUGGINGFACE_API_BASE", r"hf_\w+", wire="litellm"),
    _row("replicate", "", "REPLICATE_API_KEY REPLICATE_API_TOKEN", "", r"r8_\w+", wire="litellm"),
    _row("azure", "", "AZURE_API_KEY AZURE_OPENAI_API_KEY", "AZURE_API_BASE", wire="litellm"),
    _row("bedrock", "", _AWS, wire="litellm", is_ambient=True),
    _row("sagemaker", "", _AWS, wire="litellm", is_ambient=True),
    _row("vertex_ai", "", "GOOGLE_APPLICATION_CREDENTIALS VERTEXAI_PROJECT", wire="litellm", is_ambient=True),
]
# fmt: on

_PROVIDERS = [*_OPENAI_WIRE, *_OWN_SERVERS, *_OTHER_WIRES]
_BY_NAME = {listed.name: listed for listed in _PROVIDERS}
