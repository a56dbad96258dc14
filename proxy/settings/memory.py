"""Settings of memory, the embedder and the stores."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from proxy.settings.section import Section


class MemorySettings(Section):
    """Learning, recall and injection."""

    enabled: bool = Field(True, description="False: a plain proxy.")
    default_mode: Literal["full", "read", "write", "observe", "off"] = Field(
        "full", description="Mode of a request without `X-Memory-Mode`."
    )
    local_user: str = Field(
        "", description="In `passthrough` mode on loopback, the one user that every key means; empty: each key its own."
    )
    projects: bool = Field(
        False, description="Whether the working folder that a coding agent tells of is a project; the header always is."
    )
    quarantine_injections: bool = Field(
        True, description="Whether a file whose text gives the model orders of its own is set apart until released."
    )
    quarantine_secrets: bool = Field(
        False, description="Whether a file that holds keys or passwords is set apart too; they are left out anyway."
    )
    deadline_ms: int = Field(300, ge=1, description="Milliseconds memory may take before the first token.")
    budget_tokens: int = Field(600, ge=0, description="Tokens of memory put into a request.")
    max_budget_tokens: int = Field(8000, ge=4000, description="Cap on `X-Memory-Budget`.")
    extraction_model: str | None = Field(
        None,
        description="Model that judges which older statements a message ends, as LiteLLM names it; unset, or without a "
        "key: the built-in engine alone.",
    )
    extraction_api_key: SecretStr | None = Field(None, description="Key for it; unset: the provider's own variable.")
    extraction_base_url: str | None = Field(None, description="Base URL for it; unset: the provider's.")
    extraction_timeout_s: float | None = Field(
        None, gt=0, description="Seconds one call to it may take; unset: 60, or 300 for a base URL on this machine."
    )
    model_debounce_s: float = Field(
        4.0,
        ge=0,
        description="Seconds without a message before `extraction_model` is asked: one call for several turns.",
    )
    conversation_fresh_s: float = Field(
        3600.0,
        ge=0,
        description="Seconds within which the same first message without a session is a replay; later it is new.",
    )
    ephemeral_ttl_s: float = Field(
        3600.0, gt=0, description="Idle seconds after which an ephemeral conversation is gone."
    )
    compact_at: float = Field(
        0.75,
        ge=0,
        le=1,
        description="Share of the model's window at which the oldest turns give way to a summary; 0: never.",
    )
    session_idle_minutes: float = Field(
        60.0, ge=0, description="Idle minutes after which a conversation ends and is summed up; 0: never by itself."
    )
    opening_summaries: int = Field(
        2, ge=0, le=5, description="Summaries of the last conversations that open a new one's memory."
    )
    summary_model: str | None = Field(
        None,
        description="Model that writes summaries, of documents too, in the background; unset: they are extractive.",
    )
    summary_api_key: SecretStr | None = Field(None, description="Key for it; unset: the provider's own variable.")
    summary_base_url: str | None = Field(None, description="Base URL for it; unset: the provider's.")
    review_days: float = Field(
        30.0,
        ge=0,
        description="Days that a request to forget waits for a decision; then it counts as approved. 0: for ever.",
    )
    compress_days: float = Field(
        7.0, ge=0, description="Days without use after which a long memory is told in short, with its id; 0: never."
    )
    commands: bool = Field(
        False,
        description="Whether `/memory …` in a chat is answered here, for all keys; else `keys create --commands`.",
    )
    archive_unused: bool = Field(
        False, description="Whether memories are archived that nobody used for long; pinned ones never are."
    )
    archive_days: float = Field(
        30.0, ge=0, description="Days without use after which a memory is archived, or would be; 0: never."
    )
    expire_days: dict[str, float] = Field({}, description="The same by kind: `{event: 90}`; 0: never.")


class EmbedderSettings(Section):
    """Embedding model."""

    model: str = Field(
        "builtin",
        description="`builtin`: in the package, English first; `multilingual`: fetched once; else LiteLLM's.",
    )
    hub_url: str = Field("https://huggingface.co", description="Whence `multilingual` is fetched: a hub or mirror.")
    api_key: SecretStr | None = Field(None, description="Key for it; unset: the provider's own variable.")
    base_url: str | None = Field(None, description="Base URL for it; unset: the provider's.")
    dimension: int = Field(384, ge=1, le=8192, description="Length of its vectors; `builtin`, `multilingual`: 384.")


class StoreSettings(Section):
    """Stores of memories, turns and the journal."""

    database_url: str | None = Field(
        None,
        description="URL of the journal (`postgresql://…`, with the extra `postgres`); unset: SQLite in the folder.",
    )
    synchronous: Literal["normal", "full"] = Field(
        "normal", description="SQLite's durability: `normal` survives a crash of ours, `full` also a power cut."
    )
    index_cache_bytes: int = Field(96 * 2**20, ge=0, description="Memory for users' search indexes, in bytes.")
    receipts_days: float = Field(30.0, ge=0, description="Days that receipts are kept.")
    journal_days: float = Field(
        1.0,
        ge=0,
        description="Days that a learned turn stays in the journal, from which damaged tables are made again.",
    )
    conversations_days: float = Field(
        90.0, gt=0, description="Days after its last use that a conversation is recognised and goes on where it stood."
    )
