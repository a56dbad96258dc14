"""Settings of memory, the embedder and the stores."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from proxy.settings.sections import Section


class MemorySettings(Section):
    """Learning, recall and injection."""

    enabled: bool = Field(True, description="Learn and recall; False: a plain proxy.")
    default_mode: Literal["full", "read", "write", "observe", "off"] = Field(
        "full", description="Mode of a request without `X-Memory-Mode`."
    )
    local_user: str = Field(
        "", description="User of every key in `passthrough` mode on loopback; empty: each key is a user of its own."
    )
    projects: bool = Field(
        False,
        description="Take the working folder that a coding agent names for a project, besides `X-Memory-Project`.",
    )
    leave_out: list[Literal["health", "religion", "politics", "sexuality", "origin"]] = Field(
        [],
        description="Topics about which nothing that is said is stored, as far as words tell; files are kept whole.",
    )
    quarantine_injections: bool = Field(
        True, description="Set apart, until released, files whose text gives the model orders."
    )
    quarantine_secrets: bool = Field(
        False, description="Set apart files that hold keys or passwords; their values are left out in any case."
    )
    deadline_ms: int = Field(300, ge=1, description="Milliseconds that memory may take before the first token.")
    budget_tokens: int = Field(600, ge=0, description="Tokens of memory added to a request.")
    max_budget_tokens: int = Field(8000, ge=4000, description="Highest `X-Memory-Budget` that is granted, in tokens.")
    extractor: Literal["auto", "model", "builtin"] = Field(
        "auto",
        description="`auto`: judged by `extraction_model` where it and its key are set; `builtin`: never; "
        "`model`: no start without.",
    )
    extraction_model: str | None = Field(
        None, description="Model that judges which statements a message ends, as LiteLLM names it; unset: built in."
    )
    extraction_api_key: SecretStr | None = Field(
        None, description="Key of `extraction_model`; unset: the provider's own variable."
    )
    extraction_base_url: str | None = Field(None, description="Base URL of `extraction_model`; unset: the provider's.")
    extraction_timeout_s: float | None = Field(
        None,
        gt=0,
        description="Seconds of one call to `extraction_model` or `summary_model`; unset: 60, or 300 for a "
        "base URL on this machine.",
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
        3600.0, gt=0, description="Seconds without use after which an ephemeral conversation is gone."
    )
    compact_at: float = Field(
        0.75,
        ge=0,
        le=1,
        description="Share of the model's window at which the oldest turns are replaced by a summary; 0: never.",
    )
    session_idle_minutes: float = Field(
        60.0,
        ge=0,
        description="Minutes without a message after which a conversation ends and is summed up; 0: never by itself.",
    )
    opening_summaries: int = Field(
        2, ge=0, le=5, description="Summaries of the last conversations added to the first message of a new one."
    )
    summary_model: str | None = Field(
        None,
        description="Model that writes summaries of conversations and documents in the background; unset: extracts.",
    )
    summary_api_key: SecretStr | None = Field(
        None, description="Key of `summary_model`; unset: the provider's own variable."
    )
    summary_base_url: str | None = Field(None, description="Base URL of `summary_model`; unset: the provider's.")
    review_days: float = Field(
        30.0,
        ge=0,
        description="Days that an unclear request to forget waits for a decision before it counts as "
        "approved; 0: for ever.",
    )
    compress_days: float = Field(
        7.0, ge=0, description="Days without use after which a long memory is recalled in short, with its id; 0: never."
    )
    commands: bool = Field(
        False,
        description="Answer `/memory …` in the chats of all keys; False: of keys made with `--commands`.",
    )
    archive_unused: bool = Field(False, description="Archive memories after `archive_days`; pinned ones never.")
    archive_days: float = Field(
        30.0, ge=0, description="Days without use after which a memory is due for the archive; 0: never."
    )
    expire_days: dict[str, float] = Field({}, description="`archive_days` by kind of memory: `{event: 90}`; 0: never.")


class EmbedderSettings(Section):
    """Embedding model."""

    model: str = Field(
        "builtin",
        description="`builtin`: in the package, English first; `multilingual`: fetched once; else a model as "
        "LiteLLM names it.",
    )
    hub_url: str = Field(
        "https://huggingface.co", description="Base URL of the hub or mirror that `multilingual` is fetched from."
    )
    api_key: SecretStr | None = Field(
        None, description="Key of a model of LiteLLM's; unset: the provider's own variable."
    )
    base_url: str | None = Field(None, description="Base URL of a model of LiteLLM's; unset: the provider's.")
    dimension: int = Field(
        384, ge=1, le=8192, description="Length of the vectors; of `builtin` and `multilingual` 384."
    )


class StoreSettings(Section):
    """Stores of memories, turns and the journal."""

    database_url: str | None = Field(
        None,
        description="URL of the database (`postgresql://…`, with the extra `postgres`); unset: SQLite in the "
        "data folder.",
    )
    synchronous: Literal["normal", "full"] = Field(
        "normal", description="Durability of SQLite: `normal` survives the end of the process, `full` also a power cut."
    )
    index_cache_bytes: int = Field(96 * 2**20, ge=0, description="Bytes of RAM for users' search indexes.")
    receipts_days: float = Field(30.0, ge=0, description="Days that receipts are kept.")
    journal_days: float = Field(
        1.0,
        ge=0,
        description="Days that a learned turn stays in the journal, from which damaged tables are rebuilt.",
    )
    conversations_days: float = Field(
        90.0, gt=0, description="Days after its last use within which a conversation is recognised and goes on."
    )
