"""Clients: packages to install, scripts that check them, and a user's configuration lines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Client:
    """One client.

    Args:
        name: Name of the product.
        script: Path under ``python/`` or ``node/``.
        packages: Contents of its environment; without any, it runs as it is.
    """

    name: str
    script: str
    packages: tuple[str, ...] = ()

    @property
    def runs_on_node(self) -> bool:
        return self.script.endswith(".js")

    @property
    def folder(self) -> str:
        return "node" if self.runs_on_node else self.name.replace(" ", "-").lower()


NODE_PACKAGES = ("openai@6", "ai@6", "@ai-sdk/openai@3", "@ai-sdk/openai-compatible@2", "zod@4")

CLIENTS = (
    Client("curl", "curl_line.py"),
    Client("Open WebUI headers", "open_webui_headers.py"),
    Client("openai python 1", "openai_sdk.py", ("openai>=1.99,<2",)),
    Client("openai python 2", "openai_sdk.py", ("openai>=2,<3",)),
    Client("openai python 3", "openai_sdk.py", ("openai>=3,<4",)),
    Client("openai node", "openai_sdk.js", NODE_PACKAGES),
    Client("Vercel AI SDK", "vercel_ai.js", NODE_PACKAGES),
    Client("LangChain", "langchain_chat.py", ("langchain>=1,<2", "langchain-openai>=1,<2")),
    Client("LlamaIndex", "llama_index_chat.py", ("llama-index-core<0.15", "llama-index-llms-openai-like")),
    Client("openai-agents", "agents_sdk.py", ("openai-agents<1",)),
    Client("instructor", "instructor_sdk.py", ("instructor>=1,<2",)),
    Client("pydantic-ai", "pydantic_ai_agent.py", ("pydantic-ai-slim[openai]>=2,<3",)),
    Client("LiteLLM SDK", "litellm_sdk.py", ("litellm[mcp]==1.106.2",)),
    Client("Anthropic SDK", "anthropic_sdk.py", ("anthropic>=1,<3",)),
)
