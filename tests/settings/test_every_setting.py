"""All settings, each with the test file that changes it; a setting without a test is an unchecked promise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proxy.settings.load import every_setting

TESTS = Path(__file__).parents[1]

TESTED = {
    "server": {
        "host": "settings/test_load.py",
        "port": "settings/test_load.py",
        "data_dir": "cli/test_main.py",
        "workers": "e2e/test_process_faults.py",
        "allow_insecure_bind": "e2e/test_tenants.py",
        "max_body_bytes": "e2e/test_messages_identity.py",
        "request_timeout_s": "e2e/test_slow_clients.py",
        "graceful_shutdown_s": "settings/test_sections.py",
        "heartbeat_s": "wire/test_heartbeat_rows.py",
        "cors_origins": "api/test_cors.py",
    },
    "auth": {
        "mode": "e2e/test_limits.py",
        "placeholder_keys": "settings/test_sections.py",
        "secret": "settings/test_sections.py",
        "openwebui_jwt_secret": "settings/test_sections.py",
        "share_provider_account": "e2e/test_provider_objects.py",
    },
    "limits": {
        "requests_per_minute": "e2e/test_limits.py",
        "tokens_per_minute": "e2e/test_limits.py",
        "concurrent_streams": "e2e/test_limits.py",
    },
    "upstream": {
        "url": "wire/test_silence_rows.py",
        "api_key": "settings/test_sections.py",
        "connect_timeout_s": "wire/test_silence_rows.py",
        "chat_only": "e2e/test_responses.py",
        "context_windows": "e2e/test_long.py",
    },
    "router_settings": {
        "num_retries": "e2e/test_routing.py",
        "retry_after": "e2e/test_routing.py",
        "timeout": "e2e/test_routing.py",
        "stream_timeout": "e2e/test_routing.py",
        "allowed_fails": "e2e/test_routing.py",
        "cooldown_time": "e2e/test_routing.py",
        "fallbacks": "e2e/test_routing.py",
        "default_fallbacks": "e2e/test_routing.py",
        "context_window_fallbacks": "e2e/test_routing.py",
        "model_group_alias": "e2e/test_routing.py",
    },
    "memory": {
        "enabled": "e2e/test_bridges.py",
        "default_mode": "settings/test_memory_settings.py",
        "local_user": "wire/test_one_memory_rows.py",
        "projects": "api/test_projects.py",
        "leave_out": "e2e/test_left_out_topics.py",
        "quarantine_injections": "api/test_quarantine.py",
        "quarantine_secrets": "api/test_quarantine.py",
        "deadline_ms": "e2e/test_degraded.py",
        "budget_tokens": "settings/test_memory_settings.py",
        "max_budget_tokens": "settings/test_memory_settings.py",
        "extractor": "memory/model/test_access.py",
        "extraction_model": "e2e/test_degraded.py",
        "extraction_api_key": "e2e/test_degraded.py",
        "extraction_base_url": "e2e/test_degraded.py",
        "extraction_timeout_s": "e2e/test_degraded.py",
        "model_debounce_s": "settings/test_memory_settings.py",
        "conversation_fresh_s": "settings/test_memory_settings.py",
        "ephemeral_ttl_s": "e2e/test_ephemeral.py",
        "compact_at": "settings/test_memory_settings.py",
        "session_idle_minutes": "settings/test_memory_settings.py",
        "opening_summaries": "settings/test_memory_settings.py",
        "summary_model": "shown/test_abstracts.py",
        "summary_api_key": "shown/test_abstracts.py",
        "summary_base_url": "shown/test_abstracts.py",
        "review_days": "api/test_reviews.py",
        "compress_days": "settings/test_memory_settings.py",
        "commands": "e2e/test_commands.py",
        "archive_unused": "api/test_hygiene.py",
        "archive_days": "settings/test_memory_settings.py",
        "expire_days": "settings/test_memory_settings.py",
    },
    "embedder": {
        "model": "e2e/test_degraded_embedder.py",
        "hub_url": "settings/test_sections.py",
        "api_key": "e2e/test_degraded_embedder.py",
        "base_url": "e2e/test_degraded_embedder.py",
        "dimension": "e2e/test_degraded_embedder.py",
    },
    "store": {
        "database_url": "e2e/test_postgres.py",
        "synchronous": "settings/test_store_settings.py",
        "index_cache_bytes": "settings/test_store_settings.py",
        "receipts_days": "settings/test_store_settings.py",
        "journal_days": "settings/test_store_settings.py",
        "conversations_days": "settings/test_store_settings.py",
    },
    "media": {
        "max_file_bytes": "settings/test_sections.py",
        "limits": "settings/test_load.py",
        "ocr": "shown/test_silence.py",
        "ocr_languages": "media/test_tesseract.py",
        "fetch_urls": "shown/test_fetching.py",
        "caption_model": "shown/test_captions.py",
        "caption_api_key": "shown/test_captions.py",
        "caption_base_url": "shown/test_captions.py",
        "caption_deadline_ms": "shown/test_captions.py",
        "text_only_models": "shown/test_captions.py",
        "tool_results": "shown/test_tool_results.py",
    },
    "files": {"handling": "shown/test_handling.py"},
    "worker": {
        "enabled": "e2e/test_forgetting.py",
        "concurrency": "worker/test_loop.py",
        "lease_s": "e2e/test_process_faults.py",
    },
    "telemetry": {
        "log_level": "telemetry/test_silence.py",
        "log_format": "telemetry/test_silence.py",
        "access_log": "telemetry/test_access.py",
        "metrics": "settings/test_sections.py",
        "otlp_endpoint": "telemetry/test_tracing.py",
    },
}


def test_table_holds_every_setting_and_no_other() -> None:
    listed = {f"{section}.{field}" for section, fields in TESTED.items() for field in fields}
    assert listed == {f"{section}.{field}" for section, field, _ in every_setting()}


@pytest.mark.parametrize(
    ("section", "field", "file"),
    [(section, field, file) for section, fields in TESTED.items() for field, file in fields.items()],
)
def test_setting_is_set_in_its_test(section: str, field: str, file: str) -> None:
    """The setting occurs in a mapping, as a keyword or as a variable; its reader judges the test's assertions."""
    set_so = rf'"{field}":|\b{field}=|{section}__{field}|{section}\.{field} = '
    assert re.search(set_so, (TESTS / file).read_text(), re.IGNORECASE)
