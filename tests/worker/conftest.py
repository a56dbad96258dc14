"""Fixtures of the worker's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.clock import ManualClock
from proxy.process.pace import Pace
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import load_settings
from tests.store.sql_rows import NOW


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    """Return in-memory services with a manual clock."""
    flags = {"server": {"data_dir": tmp_path}, "worker": {"concurrency": 1}}
    lasting = await open_services(load_settings(flags=flags), clock=ManualClock(NOW))
    assert lasting.ephemeral is not None
    lasting.ephemeral.pace = Pace(poll_s=0.01, gather_s=0.0, max_attempts=3)
    yield lasting.ephemeral
    await lasting.close()
