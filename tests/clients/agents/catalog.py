"""Agents: packages to install, commands for one conversation, and a user's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Agent:
    """One agent; ``$base_url $origin $key $home $work $prompt`` are filled into its texts.

    Args:
        name: Name of the product.
        packages: With their versions; npm packages begin with ``npm:``.
        command: The program, in the folder of the packages, and its arguments for one conversation.
        environment: Variables that a user sets, and variables that switch off telemetry.
        files: Contents of files in the home folder, by path.
        goes_on: A command that continues the last conversation, if there is one.
        compacts: A command that continues it and makes the agent summarise it.
        draws: A command that begins a conversation on a terminal.
        setup: A command before each conversation, in the form of ``command``.
        without: Dependencies that are not installed, for their size.
        has_tools: Whether it can be asked to read a file.
    """

    name: str
    packages: tuple[str, ...]
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    goes_on: tuple[str, ...] = ()
    compacts: tuple[str, ...] = ()
    draws: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    has_tools: bool = True

    @property
    def folder(self) -> str:
        return self.name.partition(",")[0].replace(" ", "-").lower()


CODEX = "npm:@openai/codex@0.171.0"
_CODEX = ("codex", "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access")
_CODEX_GOES_ON = (*_CODEX, "resume", "--last", "$prompt")
_CODEX_COMPACTS = (*_CODEX, "-c", "model_auto_compact_token_limit=10", "resume", "--last", "$prompt")
_CODEX_QUIET = """
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
"""
_AIDER = (
    "aider", "--model", "openai/gpt-4o", "--no-check-update", "--analytics-disable", "--no-show-model-warnings",
    "--no-pretty", "--yes-always", "notes.txt", "--message",
)  # fmt: skip

AGENTS = (
    Agent(
        "Codex, own provider",
        (CODEX,),
        (*_CODEX, "$prompt"),
        {"OPENAI_API_KEY": "$key"},
        {
            ".codex/config.toml": """
model = "gpt-5"
model_provider = "throughline"
"""
            + _CODEX_QUIET
            + """
[model_providers.throughline]
name = "throughline"
base_url = "$base_url"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = false
[projects."$work"]
trust_level = "trusted"
"""
        },
        _CODEX_GOES_ON,
        _CODEX_COMPACTS,
        ("codex", "$prompt"),
    ),
    Agent(
        "Codex, built-in provider",
        (CODEX,),
        (*_CODEX, "$prompt"),
        {"CODEX_API_KEY": "$key", "OPENAI_API_KEY": "$key"},
        {".codex/config.toml": 'model = "gpt-5"\nopenai_base_url = "$base_url"\n' + _CODEX_QUIET},
        _CODEX_GOES_ON,
        _CODEX_COMPACTS,
    ),
    Agent(
        "Claude Code",
        ("npm:@anthropic-ai/claude-code@2.1.332",),
        ("claude", "-p", "$prompt", "--allowedTools", "Read"),
        {
            "ANTHROPIC_BASE_URL": "$origin",
            "ANTHROPIC_AUTH_TOKEN": "$key",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
        files={
            ".claude.json": '{"hasCompletedOnboarding": true, "projects": {"$work": {"hasTrustDialogAccepted": true}}}'
        },
        draws=("claude", "$prompt"),
        goes_on=("claude", "-p", "--continue", "$prompt"),
        compacts=("claude", "-p", "--continue", "/compact"),
    ),
    Agent(
        "opencode",
        ("npm:opencode-ai@1.18.33",),
        ("opencode", "run", "$prompt"),
        {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        {
            ".config/opencode/opencode.json": """{
  "provider": {
    "throughline": {
      "npm": "@ai-sdk/openai-compatible",
      "options": {"baseURL": "$base_url", "apiKey": "$key"},
      "models": {"gpt-5": {}}
    }
  },
  "model": "throughline/gpt-5",
  "autoupdate": false,
  "share": "disabled"
}"""
        },
        ("opencode", "run", "--continue", "$prompt"),
    ),
    Agent(
        "Qwen Code",
        ("npm:@qwen-code/qwen-code@0.24.4",),
        ("qwen", "--yolo", "-p", "$prompt"),
        {"OPENAI_BASE_URL": "$base_url", "OPENAI_API_KEY": "$key", "OPENAI_MODEL": "gpt-5"},
        {
            ".qwen/settings.json": """{
  "security": {"auth": {"selectedType": "openai"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "disableAutoUpdate": true}
}"""
        },
        ("qwen", "--yolo", "--continue", "-p", "$prompt"),
        draws=("qwen", "--yolo", "-i", "$prompt"),
    ),
    Agent(
        "Continue",
        ("npm:@continuedev/cli@1.5.47",),
        ("cn", "--config", "$home/config.yaml", "--auto", "-p", "$prompt"),
        {"CONTINUE_TELEMETRY_ENABLED": "0"},
        {
            "config.yaml": """name: mine
version: 0.0.1
schema: v1
models:
  - name: throughline
    provider: openai
    model: gpt-4o
    apiBase: $base_url
    apiKey: $key
    roles: [chat]
    capabilities: [tool_use]
"""
        },
        ("cn", "--config", "$home/config.yaml", "--auto", "--resume", "-p", "$prompt"),
        draws=("cn", "--config", "$home/config.yaml", "--auto", "$prompt"),
    ),
    Agent(
        "Cline",
        ("npm:cline@3.0.65",),
        ("cline", "--auto-approve", "true", "--timeout", "120", "$prompt"),
        setup=("cline", "auth", "-p", "openai", "-k", "$key", "-m", "gpt-5", "-b", "$base_url"),
    ),
    Agent(
        "aider",
        ("aider-chat==0.86.2",),
        (*_AIDER, "$prompt"),
        {"OPENAI_API_BASE": "$base_url", "OPENAI_API_KEY": "$key", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        compacts=(*_AIDER, "$prompt", "--restore-chat-history", "--max-chat-history-tokens", "10"),
        has_tools=False,
    ),
    Agent(
        "llm",
        ("llm==0.36",),
        ("llm", "--key", "$key", "-m", "throughline", "--functions", "$home/functions.py", "$prompt"),
        files={
            ".config/io.datasette.llm/extra-openai-models.yaml": """- model_id: throughline
  model_name: gpt-4o-mini
  api_base: $base_url
  api_key_name: throughline
  supports_tools: true
""",
            "functions.py": """def read_file(path: str) -> str:
    with open(path) as file:
        return file.read()
""",
        },
        goes_on=("llm", "--key", "$key", "--functions", "$home/functions.py", "-c", "$prompt"),
    ),
)

# Served, and used by its API; its own memory, and models that it would run locally, are off.
OPEN_WEBUI = Agent(
    "Open WebUI",
    ("open-webui==0.12.4",),
    ("open-webui",),
    {
        "OPENAI_API_BASE_URL": "$base_url",
        "OPENAI_API_KEY": "$key",
        "ENABLE_FORWARD_USER_INFO_HEADERS": "true",
        "ENABLE_OLLAMA_API": "false",
        "BYPASS_MODEL_ACCESS_CONTROL": "true",
        "RAG_EMBEDDING_ENGINE": "openai",
        "RAG_OPENAI_API_BASE_URL": "$base_url",
        "RAG_OPENAI_API_KEY": "$key",
        "WEBUI_SECRET_KEY": "secret",
        "OFFLINE_MODE": "true",
        "HF_HUB_OFFLINE": "1",
        "ENABLE_VERSION_UPDATE_CHECK": "false",
        "ANONYMIZED_TELEMETRY": "false",
        "SCARF_NO_ANALYTICS": "true",
    },
    without=("torch", "sentence-transformers", "accelerate"),
)
