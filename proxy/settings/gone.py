"""Settings that went, and what holds in their place: said to whoever still has one."""

from __future__ import annotations

_MEDIA = "media.limits (`small`, `normal` or `large`) holds in its place"
_PACE = "nothing replaces it, the pause is a constant of the worker's now"

GONE = {
    "embedder.cache_bytes": "it is 16 MB now",
    "embedder.threads": "it is 1 now; server.workers uses more processors",
    "files.keep_purposes": "`user_data`, `vision`, `assistants` are kept; files.handling may be `forward`, for none",
    "limits.body_bytes": "server.max_body_bytes holds in its place, and `keys create --max-body` for one key",
    "media.caption_timeout_s": "it is 60 now; media.caption_deadline_ms bounds what a request waits",
    "media.document_tokens": "it is 4000 now",
    "media.fetch_max_redirects": "it is 3 now",
    "media.fetch_timeout_s": "it is 15 now",
    "memory.compact_at_models": "upstream.context_windows sets a model's window; memory.compact_at is a share of it",
    "memory.compact_to": "it is 0.2 now; memory.compact_at says when turns give way",
    "memory.excerpt_tokens": "it is 2000 now; `X-Memory-Budget` asks for more",
    "memory.keep_turns": "it is 2 now",
    "memory.max_closed_per_turn": "it is 12 now; what goes beyond waits for review",
    "memory.max_facts_per_turn": "every statement of a message is kept",
    "memory.profile_tokens": "it is 150 now, within memory.budget_tokens",
    "memory.summary_tokens": "it is 2000 now",
    "store.metadata_cache_bytes": "it is 32 MB now; store.index_cache_bytes is the larger share",
    "upstream.read_timeout_s": "router_settings.timeout holds in its place",
    "telemetry.otlp_headers": "OpenTelemetry's own variable OTEL_EXPORTER_OTLP_HEADERS holds in its place",
    "worker.max_attempts": "it is 6 now",
    **dict.fromkeys(("memory.builtin_debounce_s", "memory.max_wait_s"), _PACE),
    **dict.fromkeys(("worker.gather_s", "worker.poll_s", "worker.retry_base_s"), _PACE),
    **dict.fromkeys(
        (
            "media.max_cells", "media.max_pages", "media.max_pixels", "media.max_text_chars",
            "media.max_unpacked_bytes", "media.ocr_max_pages", "media.ocr_memory_bytes", "media.ocr_timeout_s",
            "media.parse_cpu_s", "media.parse_memory_bytes", "media.parse_timeout_s",
        ),
        _MEDIA,
    ),
}  # fmt: skip


def gone(name: str) -> str | None:
    """Return what is to be said of a setting that went, None of any other name.

    >>> gone("memory.keep_turns")
    'this setting is gone: it is 2 now; remove it'
    """
    return f"this setting is gone: {GONE[name]}; remove it" if name in GONE else None
