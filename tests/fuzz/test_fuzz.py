"""A sample of what ``python -m tests.fuzz`` does by the thousand."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.provider import FakeProvider
from tests.fuzz.run import fuzz, sturdy
from tests.running import Running


def test_nothing_is_answered_by_an_error_of_ours(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(sturdy)
    with Running(tmp_path, upstream=provider.base_url) as server:
        findings = fuzz(server.origin, 300)
    assert findings.failures == []
    assert findings.statuses[200] > 50
