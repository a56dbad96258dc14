"""What every test shares."""

from __future__ import annotations

import pytest

from tests.fakes.fixtures import provider

__all__ = ["anyio_backend", "provider"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
